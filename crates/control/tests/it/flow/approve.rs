//! APPROVE: who may say yes, to what, and for how long.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CreateRun, ShowAction};
use serde_json::json;

use crate::moves::{deletion, scan};
use crate::person::Answer;
use crate::scenario::Scenario;

#[tokio::test]
async fn b4_one_reviewer_approves_tier_b_and_sees_what_was_approved() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let shown = reviewer.get(&ShowAction { action: action.id }.path()).await.is(200);
    assert_eq!(shown.header("etag"), format!("\"{}\"", action.review));
    let approved = reviewer.approves(&action).await.is(200).json::<placet_wire::api::ActionView>();
    assert_eq!(approved.status.as_str(), "APPROVED");
    assert_eq!(approved.approvals[0].reviewer, reviewer.id);
    assert!(!approved.approvals[0].single_operator);
    assert!(reviewer.get("/api/v1/queue").await.is(200).json::<placet_wire::api::ActionList>().actions.is_empty());
}

#[tokio::test]
async fn b4_two_different_people_for_tier_c() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &deletion()).await;
    let half = reviewer.approves(&action).await.is(200).json::<placet_wire::api::ActionView>();
    assert_eq!((half.status.as_str(), half.approvals_missing), ("PENDING_APPROVAL", 1));
    let before = app.size();
    reviewer.approves(&action).await.problem(403, "same_person");
    assert_eq!(app.kinds_from(before).await, ["refused"]);
    let whole = app.team.second.approves(&action).await.is(200).json::<placet_wire::api::ActionView>();
    assert_eq!((whole.status.as_str(), whole.approvals.len()), ("APPROVED", 2));
}

#[tokio::test]
async fn b4_who_stands_behind_the_agent_cannot_approve_and_the_attempt_is_recorded() {
    let (app, _, _, _) = Scenario::start().await;
    let owner = app.another("reviewer", 1).await;
    let owned = json!({ "name": "kid", "roles": ["agent"], "projects": [app.team.project], "parent": owner.id });
    let agent = app.hire(owned).await;
    let new = json!({ "project": app.team.project, "goal": "g", "scope": "lab", "agent": agent.id, "plan": ["p"] });
    let run: placet_wire::api::RunView = app.team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    owner.post_if(&path("approve"), run.review, &json!({})).await.problem(403, "kin");
    app.team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    app.team.operator.post(&path("start"), &json!({})).await.is(200);
    agent.post(&path("attach"), &json!({})).await.is(200);
    let action = agent.proposes(run.id, &scan()).await;
    let before = app.size();
    owner.approves(&action).await.problem(403, "kin");
    let entries = app.entries_from(before).await;
    assert_eq!(entries.len(), 1);
    let entry: serde_json::Value = serde_json::from_slice(&entries[0].bytes).unwrap();
    assert_eq!((&entry["kind"], &entry["actor"]), (&json!("refused"), &json!(owner.id)));
    assert_eq!((&entry["action"], &entry["body"]["code"]), (&json!(action.id), &json!("kin")));
}

#[tokio::test]
async fn b4_nobody_decides_on_what_they_have_not_seen() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    let rejection = json!({ "reason": "no" });
    let amendment = json!({ "changes": { "timeout_ms": 1_000 }, "reason": "less" });
    for (verb, body) in [("approve", json!({})), ("reject", rejection), ("amend", amendment)] {
        let path = format!("/api/v1/actions/{}/{verb}", action.id);
        reviewer.post(&path, &body).await.problem(428, "unseen");
        let stale = reviewer.post_if(&path, Digest::of(b"something else"), &body).await.problem(412, "stale");
        assert!(stale.detail.contains("look again"), "{stale:?}");
        // The digest of the action is not that of the review: what was shown counts, with its verdict.
        reviewer.post_if(&path, action.digest, &body).await.problem(412, "stale");
        for nonsense in ["*", "W/\"x\"", "\"\"", "sha256:", "sha256:ABCDEF"] {
            let request = reviewer.request(axum::http::Method::POST, &path).header("if-match", nonsense).json(&body);
            Answer::to(request).await.problem(400, "bad_digest");
        }
    }
    assert_eq!(app.size(), before);
    assert_eq!(reviewer.sees(&action).await.action.status.as_str(), "PENDING_APPROVAL");
}

#[tokio::test]
async fn b4_a_plan_is_approved_as_it_was_seen() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let draft = app.team.draft(json!([])).await;
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", draft.id);
    let submit = async |plan: &str| {
        let body = json!({ "plan": [plan] });
        app.team.operator.post(&path("submit"), &body).await.is(200).json::<placet_wire::api::RunView>()
    };
    let first = submit("look").await;
    reviewer.post(&path("reject"), &json!({ "reason": "say how" })).await.is(200);
    let second = submit("look closely").await;
    reviewer.post_if(&path("approve"), first.review, &json!({})).await.problem(412, "stale");
    reviewer.post(&path("approve"), &json!({})).await.problem(428, "unseen");
    reviewer.post_if(&path("approve"), second.review, &json!({})).await.is(200);
}

#[tokio::test]
async fn b4_results_are_accepted_as_they_were_seen() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let path = |verb: &str| format!("/api/v1/runs/{}{verb}", app.team.run);
    let finish = async |summary: &str| {
        let body = json!({ "summary": summary });
        agent.post(&path("/finish"), &body).await.is(200).json::<placet_wire::api::RunView>()
    };
    let first = finish("three hosts").await;
    reviewer.post(&path("/reject-results"), &json!({ "reason": "count again" })).await.problem(428, "unseen");
    reviewer.post_if(&path("/reject-results"), first.review, &json!({ "reason": "count again" })).await.is(200);
    let second = finish("four hosts").await;
    let before = app.size();
    reviewer.post(&path("/complete"), &json!({})).await.problem(428, "unseen");
    reviewer.post_if(&path("/complete"), first.review, &json!({})).await.problem(412, "stale");
    assert_eq!(app.size(), before);
    reviewer.post_if(&path("/complete"), second.review, &json!({})).await.is(200);
}

#[tokio::test]
async fn b4_silence_is_never_consent() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let undecided = agent.proposes(app.team.run, &scan()).await;
    app.pass_ms(24 * 3_600_000);
    // Either the deadline is noticed with the decision, or the clockwork was faster.
    let late = reviewer.approves(&undecided).await.any_problem();
    assert!(matches!((late.status, late.code.as_str()), (410, "expired") | (409, "not_now")), "{late:?}");
    app.until(0, "action.expired").await;
    let seen = app.size();
    let approved = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&approved).await.is(200);
    app.pass_ms(3_600_000);
    assert!(worker.leases().await.is_none(), "an approval that ran out is worth nothing");
    app.until(seen, "action.expired").await;
    assert_eq!(reviewer.sees(&approved).await.action.status.as_str(), "EXPIRED");
}

#[tokio::test]
async fn b4_a_rejection_has_a_reason_that_the_agent_reads() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let path = format!("/api/v1/actions/{}/reject", action.id);
    reviewer.post_if(&path, action.review, &json!({ "reason": "  " })).await.problem(422, "invalid");
    reviewer.post_if(&path, action.review, &json!({ "reason": "x".repeat(2_001) })).await.problem(422, "invalid");
    reviewer.rejects(&action).await.is(200);
    assert_eq!(agent.sees(&action).await.action.because.as_deref(), Some("not today"));
    reviewer.approves(&action).await.problem(409, "not_now");
}
