//! The control plane comes back with other rules: what waits is judged again, and old approvals are void.

use placet_domain::policy::DEFAULT_TOOLS;
use placet_wire::api;

use crate::moves::{reading, scan, sweep};
use crate::scenario::{Scenario, rules_of, rules_with};

/// Scans now take two people.
pub(super) const STRICTER: &str = r#"
@id("scan.two")
@risk("0.10")
@reason("the lab asked for two pairs of eyes")
@matches("nmap -sV @10.0.0.5")
@misses("cat README.md")
forbid (principal, action == Action::"network_scan", resource)
unless { context.approvals >= 2 };
"#;

#[tokio::test]
async fn c12_pending_and_approved_actions_are_judged_again_and_approvals_are_void() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    let run = app.team.run;
    let pending = agent.proposes(run, &scan()).await;
    let approved = agent.proposes(run, &scan()).await;
    reviewer.approves(&approved).await.is(200);
    let half = agent.proposes(run, &sweep()).await;
    reviewer.approves(&half).await.is(200);
    let automatic = agent.proposes(run, &reading()).await;
    let before = app.size();
    app.restart_under(rules_with(STRICTER)).await;
    let kinds = app.kinds_from(before).await;
    assert_eq!(kinds[0], "runtime.started");
    assert_eq!(kinds.iter().filter(|kind| *kind == "action.judged").count(), 4, "{kinds:?}");
    for (old, status, missing) in
        [(&pending, "PENDING_APPROVAL", 2), (&approved, "PENDING_APPROVAL", 2), (&half, "PENDING_APPROVAL", 2)]
    {
        let now = reviewer.sees(old).await.action;
        assert_eq!((now.status.as_str(), now.approvals_missing, now.approvals.len()), (status, missing, 0));
        assert_ne!(now.verdict.policy, old.verdict.policy);
        reviewer.approves(old).await.problem(412, "stale");
        reviewer.approves(&now).await.is(200);
    }
    let job = worker.leases().await.expect("what needs nobody still goes on");
    assert_eq!(job.action, automatic.id);
    assert!(worker.leases().await.is_none());
    app.assert_sound().await;
}

#[tokio::test]
async fn the_same_policy_after_a_restart_voids_nothing() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let before = app.size();
    app.restart().await;
    assert_eq!(app.kinds_from(before).await, ["runtime.started"]);
    assert_eq!(worker.leases().await.unwrap().action, action.id);
}

#[tokio::test]
async fn r4_a_tool_that_was_changed_voids_what_was_approved_for_it() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    let approved = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&approved).await.is(200);
    let automatic = agent.proposes(app.team.run, &reading()).await;
    let other_nmap = DEFAULT_TOOLS.replace("limits.timeout_ms = 600000", "limits.timeout_ms = 300000");
    assert_ne!(other_nmap, DEFAULT_TOOLS);
    app.restart_under(rules_of(&other_nmap, "")).await;
    let now = reviewer.sees(&approved).await.action;
    assert_eq!((now.status.as_str(), now.verdict.tier.as_str()), ("DENIED", "D"));
    assert!(now.verdict.reasons.iter().any(|reason| reason.because.contains("was changed")), "{:?}", now.verdict);
    assert_eq!(worker.leases().await.unwrap().action, automatic.id, "other tools are not concerned");
    assert!(worker.leases().await.is_none());
    assert_eq!(agent.proposes(app.team.run, &scan()).await.status.as_str(), "PENDING_APPROVAL");
}

#[tokio::test]
async fn what_ran_out_while_nobody_was_there_does_not_keep_it_from_starting() {
    let (mut app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    app.stop().await;
    app.pass_ms(48 * 3_600_000);
    app.restart_under(rules_with(STRICTER)).await;
    assert_eq!(reviewer.sees(&action).await.action.status.as_str(), "EXPIRED");
}

#[tokio::test]
async fn a_permit_from_before_the_change_starts_nothing() {
    let (mut app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let job = worker.leases().await.unwrap();
    app.restart_under(rules_with(STRICTER)).await;
    worker.redeems(&job).await.problem(409, "not_now");
    let before = app.size();
    app.pass_ms(job.lease_ms);
    app.until(before, "action.judged").await;
    assert!(worker.leases().await.is_none(), "nor does the approval from before");
    let now: api::ActionView = reviewer.sees(&action).await.action;
    assert_eq!((now.status.as_str(), now.approvals_missing), ("PENDING_APPROVAL", 2));
}
