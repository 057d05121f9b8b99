//! The whole loop over HTTP, from proposal to proof.

use crate::moves::scan;
use crate::scenario::Scenario;

#[tokio::test]
async fn b3_the_nmap_example_waits_for_one_person() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    assert_eq!((action.verdict.tier.as_str(), action.verdict.risk), ("B", 0.35));
    assert_eq!(action.status.as_str(), "PENDING_APPROVAL");
    let sum: f64 = action.verdict.reasons.iter().map(|reason| reason.weight).sum();
    assert!((sum - action.verdict.risk).abs() < 1e-9, "{:?}", action.verdict.reasons);
    assert!(action.verdict.reasons.iter().all(|reason| !reason.because.is_empty()));
}
