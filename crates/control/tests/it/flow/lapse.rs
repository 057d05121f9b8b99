//! What runs out of time, what comes too late, and what nobody knows the end of.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::{LeaseJob, RevokeIdentity};
use serde_json::json;

use crate::moves::{reading, scan};
use crate::scenario::Scenario;

#[tokio::test]
async fn r32_a_worker_that_lost_its_lease_has_lost_its_say() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    app.pass_ms(job.lease_ms / 2);
    worker.beats(&job).await.is(200);
    app.pass_ms(job.lease_ms / 2);
    worker.beats(&job).await.is(200);
    app.pass_ms(job.lease_ms);
    app.until(0, "job.lease_lapsed").await;
    worker.beats(&job).await.problem(409, "lost_lease");
    assert_eq!(reviewer.sees(&action).await.action.status.as_str(), "INTERRUPTED");
    assert!(worker.leases().await.is_none(), "what was started is never silently run again");
}

#[tokio::test]
async fn r33_a_late_result_is_quarantined_and_can_be_read() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    app.pass_ms(job.lease_ms);
    app.until(0, "job.lease_lapsed").await;
    let before = app.size();
    let item = worker.uploads(&job, "stdout", b"too late").await;
    let late: api::CompletionView = worker.reports(&job, &worker.manifest(&job, vec![item])).await.is(200).json();
    assert!(late.quarantined);
    assert_eq!(late.action.status.as_str(), "INTERRUPTED");
    assert_eq!(app.kinds_from(before).await, ["evidence.kept", "evidence.quarantined"]);
    let path = format!("/api/v1/actions/{}/evidence", action.id);
    reviewer.get(&path).await.problem(404, "unknown");
    let kept = reviewer.get(&format!("{path}?digest={}", late.evidence)).await.is(200);
    assert_eq!(Digest::of(&kept.body), late.evidence);
    reviewer.get(&format!("{path}?digest={}", Digest::of(b"none"))).await.problem(404, "unknown");
    reviewer.get(&format!("{path}?digest={}", action.digest)).await.problem(404, "unknown");
}

#[tokio::test]
async fn what_was_interrupted_waits_for_a_person() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    reviewer.resolves(&action, "retry").await.problem(409, "not_now");
    app.pass_ms(job.lease_ms);
    app.until(0, "job.lease_lapsed").await;
    reviewer.resolves(&action, "maybe").await.problem(400, "bad_json");
    let again: api::ActionView = reviewer.resolves(&action, "retry").await.is(200).json();
    assert_eq!(
        (again.status.as_str(), again.approvals.len()),
        ("APPROVED", 1),
        "to run it again is to approve it again"
    );
    let job = worker.leases().await.unwrap();
    assert_eq!(job.attempt, 2);
    worker.redeems(&job).await.is(200);
    let before = app.size();
    app.pass_ms(job.lease_ms);
    app.until(before, "job.lease_lapsed").await;
    let over: api::ActionView = reviewer.resolves(&action, "abandon").await.is(200).json();
    assert_eq!(over.status.as_str(), "ABANDONED");
    reviewer.resolves(&action, "retry").await.problem(409, "not_now");
}

#[tokio::test]
async fn a_worker_that_waits_gets_work_as_soon_as_there_is_some() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let waiting = tokio::spawn(async move { worker.post(&LeaseJob {}.path(), &json!({ "wait_ms": 20_000 })).await });
    reviewer.approves(&action).await.is(200);
    let job: api::Job = waiting.await.unwrap().is(200).json();
    assert_eq!(job.action, action.id);
}

#[tokio::test]
async fn a_worker_that_was_revoked_while_it_waited_gets_nothing() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let id = worker.id;
    let waiting = tokio::spawn(async move { worker.post(&LeaseJob {}.path(), &json!({ "wait_ms": 20_000 })).await });
    app.admin.post(&RevokeIdentity { identity: id }.path(), &json!({})).await.is(200);
    reviewer.approves(&action).await.is(200);
    // At the door or in the queue: whichever notices first.
    waiting.await.unwrap().is(401);
    assert_eq!(reviewer.sees(&action).await.action.status.as_str(), "APPROVED", "nobody has it");
}
