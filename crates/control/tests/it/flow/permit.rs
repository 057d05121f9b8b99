//! DISPATCH: permits that are forged, replayed, expired, or for something or somebody else.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use placet_domain::permit::PermitSigner;
use placet_wire::api;
use serde_json::{Value, json};

use crate::moves::scan;
use crate::person::Answer;
use crate::scenario::Scenario;

/// The permit was refused for this reason, and the attempt is the one new entry of the ledger.
#[track_caller]
fn refused(answer: &Answer, kinds: &[String], why: &str) {
    let problem = answer.problem(403, "permit");
    assert!(problem.detail.contains(why), "{why}: {problem:?}");
    assert_eq!(kinds, ["refused"], "{why}");
}

async fn leased(app: &Scenario, wish: &Value) -> api::Job {
    let action = app.team.agent.proposes(app.team.run, wish).await;
    if action.approvals_missing > 0 {
        app.team.reviewer.approves(&action).await.is(200);
    }
    app.team.worker.leases().await.expect("something was approved")
}

#[tokio::test]
async fn b5_a_forged_permit_is_refused_and_recorded() {
    let (app, _, _, worker) = Scenario::start().await;
    let job = leased(&app, &scan()).await;
    let (content, signature) = job.permit.split_once('.').unwrap();
    let told = URL_SAFE_NO_PAD.decode(content).unwrap();
    let longer = String::from_utf8(told.clone()).unwrap().replace("\"attempt\":1", "\"attempt\":2");
    let by_another = PermitSigner::from_seed(&[1; 32]).verifier();
    assert!(by_another.check(&job.permit).is_err(), "the key is not everybody's");
    let forgeries = [
        (format!("{}.{signature}", URL_SAFE_NO_PAD.encode(longer)), "signature"),
        (format!("{content}.{}", URL_SAFE_NO_PAD.encode([0; 64])), "signature"),
        (content.to_owned(), "not a permit"),
        (format!("{content}."), "not a permit"),
        (format!("{}.{signature}", URL_SAFE_NO_PAD.encode(&told[1..])), "signature"),
        (String::new(), "not a permit"),
        ("x".repeat(100_000), "not a permit"),
        (format!("{}.{}", job.permit, "x"), "not a permit"),
    ];
    for (forgery, why) in forgeries {
        let before = app.size();
        let answer = worker.redeems_token(&job, &forgery).await;
        refused(&answer, &app.kinds_from(before).await, why);
    }
    worker.redeems(&job).await.is(200);
}

#[tokio::test]
async fn b5_a_permit_counts_once() {
    let (app, _, _, worker) = Scenario::start().await;
    let job = leased(&app, &scan()).await;
    worker.redeems(&job).await.is(200);
    for _ in 0..3 {
        let before = app.size();
        let answer = worker.redeems(&job).await;
        refused(&answer, &app.kinds_from(before).await, "has been used");
    }
    worker.reports(&job, &worker.manifest(&job, vec![])).await.is(200);
    let before = app.size();
    let answer = worker.redeems(&job).await;
    refused(&answer, &app.kinds_from(before).await, "has been used");
}

#[tokio::test]
async fn b5_a_permit_is_for_one_worker() {
    let (app, _, _, worker) = Scenario::start().await;
    let thief = app.another("worker", 1).await;
    let job = leased(&app, &scan()).await;
    let before = app.size();
    let answer = thief.redeems(&job).await;
    refused(&answer, &app.kinds_from(before).await, "another worker");
    let before = app.size();
    let report = thief.reports(&job, &thief.manifest(&job, vec![])).await;
    refused(&report, &app.kinds_from(before).await, "attempt that is over");
    thief.beats(&job).await.problem(409, "lost_lease");
    worker.redeems(&job).await.is(200);
}

#[tokio::test]
async fn b5_even_our_own_signature_is_worth_nothing_without_a_lease() {
    let (app, _, _, worker) = Scenario::start().await;
    let job = leased(&app, &scan()).await;
    let (content, _) = job.permit.split_once('.').unwrap();
    let content: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(content).unwrap()).unwrap();
    let resigned = |change: Value| {
        let mut changed = content.clone();
        changed.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        app.stolen_signer().sign(&serde_json::from_value(changed).unwrap())
    };
    let cases = [
        (json!({ "attempt": 2 }), "attempt that is over"),
        (json!({ "digest": format!("sha256:{}", "0".repeat(64)) }), "other bytes"),
        (json!({ "worker": app.team.reviewer.id }), "another worker"),
    ];
    for (change, why) in cases {
        let before = app.size();
        let answer = worker.redeems_token(&job, &resigned(change)).await;
        refused(&answer, &app.kinds_from(before).await, why);
    }
    app.pass_ms(job.lease_ms);
    let before = app.size();
    let answer = worker.redeems_token(&job, &resigned(json!({ "expires_at": 9_000_000_000_000_000_u64 }))).await;
    answer.problem(403, "permit");
    app.until(before, "refused").await;
}

#[tokio::test]
async fn b5_nothing_starts_in_a_run_that_stands_still() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let job = leased(&app, &scan()).await;
    let waiting = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&waiting).await.is(200);
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", app.team.run);
    reviewer.post(&path("pause"), &json!({ "reason": "wait" })).await.is(200);
    worker.redeems(&job).await.problem(409, "run_not_active");
    assert!(worker.leases().await.is_none());
    reviewer.post(&path("resume"), &json!({})).await.is(200);
    worker.redeems(&job).await.is(200);
    assert_eq!(worker.leases().await.unwrap().action, waiting.id);
}
