//! AMEND: approving something else than what was proposed, over HTTP.

use axum::http::Method;
use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::StoreEvidence;
use serde_json::{Value, json};

use crate::moves::{deletion, scan};
use crate::person::{Answer, Person};
use crate::scenario::Scenario;

fn without_versions() -> Value {
    json!({ "arguments": ["-Pn", "-p", "1-1000"] })
}

async fn amended(reviewer: &Person, action: &api::ActionView, changes: Value) -> api::ActionView {
    reviewer.amends(action, changes).await.is(201).json()
}

#[tokio::test]
async fn b4_a_reviewer_approves_with_changes_and_only_the_changed_bytes_run() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    let new = amended(&reviewer, &action, without_versions()).await;
    let kinds = app.kinds_from(before).await;
    assert_eq!(kinds, ["action.superseded", "action.proposed", "action.judged", "action.approved"]);
    assert_eq!((new.status.as_str(), new.verdict.risk), ("APPROVED", 0.25));
    assert_eq!((new.proposer, new.approvals[0].reviewer), (agent.id, reviewer.id));
    let amendment = new.amendment.clone().unwrap();
    assert_eq!(amendment, api::AmendmentView { of: action.id, amenders: vec![reviewer.id], no_riskier: true });
    let old = reviewer.sees(&action).await.action;
    assert_eq!((old.status.as_str(), old.superseded_by), ("SUPERSEDED", Some(new.id)));
    assert_eq!(old.because.as_deref(), Some("safer like this"));
    let job = worker.leases().await.unwrap();
    assert_eq!(job.action, new.id);
    assert!(job.sealed.contains(r#"["/usr/bin/nmap","-Pn","-p","1-1000","10.0.0.5"]"#), "{}", job.sealed);
    worker.executes(&job).await;
    assert!(worker.leases().await.is_none(), "what was proposed never runs");
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_what_a_reviewer_may_change_is_shown_as_it_was_proposed() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let shown = serde_json::to_value(reviewer.sees(&action).await.proposal).unwrap();
    assert_eq!(
        shown,
        json!({ "tool": "nmap", "arguments": ["-sV", "-Pn", "-p", "1-1000"], "target": "10.0.0.5" }),
        "without the agent's own words"
    );
    reviewer.amends(&action, shown).await.problem(422, "invalid");
}

#[tokio::test]
async fn b4_changes_that_make_no_proposal_are_refused_and_say_why() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    for (changes, status, code, says) in [
        (json!({}), 422, "bad_change", "name at least one field"),
        (json!({ "argv": ["/bin/sh"] }), 422, "bad_change", "unknown field `argv`"),
        (json!({ "arguments": "-sV" }), 422, "bad_change", "expected a sequence"),
        (json!({ "justification": "safe" }), 422, "bad_change", "the agent's own"),
        (json!({ "tool": "nc" }), 422, "unsealable", "no tool `nc`"),
        (json!({ "arguments": ["--script", "x"] }), 422, "unsealable", "does not take"),
        (json!({ "environment": { "LD_PRELOAD": "x" } }), 422, "unsealable", "LD_PRELOAD"),
        (json!({ "timeout_ms": 600_001 }), 422, "unsealable", "more than the tool's"),
        (
            json!({ "files": [{ "path": "a", "digest": Digest::of(b"nowhere"), "size_bytes": 7 }] }),
            422,
            "missing_evidence",
            "not uploaded",
        ),
    ] {
        let problem = reviewer.amends(&action, changes).await.problem(status, code);
        assert!(problem.detail.contains(says), "{problem:?}");
    }
    let path = format!("/api/v1/actions/{}/amend", action.id);
    let changes = without_versions();
    reviewer.post_if(&path, action.review, &json!({ "changes": changes })).await.problem(400, "bad_json");
    let silent = json!({ "changes": changes, "reason": " " });
    reviewer.post_if(&path, action.review, &silent).await.problem(422, "invalid");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn b4_a_reviewer_hands_over_a_changed_file() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let kept = async |person: &Person, bytes: &'static [u8]| {
        let digest = Digest::of(bytes);
        person.put(&StoreEvidence { project: app.team.project, digest }.path(), bytes).await.is(201);
        json!([{ "path": "list.txt", "digest": digest, "size_bytes": bytes.len() }])
    };
    let mut wish = scan();
    wish["files"] = kept(&agent, b"everything\n").await;
    let action = agent.proposes(app.team.run, &wish).await;
    let files = kept(&reviewer, b"a little\n").await;
    let new = amended(&reviewer, &action, json!({ "files": files })).await;
    assert_eq!(new.status.as_str(), "APPROVED");
    let job = worker.leases().await.unwrap();
    assert!(job.sealed.contains(&Digest::of(b"a little\n").to_string()));
    assert!(!job.sealed.contains(&Digest::of(b"everything\n").to_string()));
}

#[tokio::test]
async fn b4_an_amendment_under_one_key_has_one_effect_and_one_answer() {
    let (mut app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &deletion()).await;
    let path = format!("/api/v1/actions/{}/amend", action.id);
    let body = json!({ "changes": { "arguments": ["docs/older.md"] }, "reason": "the other one" });
    let ask = async |reviewer: &Person| {
        let request = reviewer.request(Method::POST, &path).header("if-match", format!("\"{}\"", action.review));
        Answer::to(request.header("idempotency-key", "k").json(&body)).await
    };
    let first = ask(&reviewer).await.is(201);
    let size = app.size();
    assert_eq!(ask(&reviewer).await.is(201).body, first.body);
    app.restart().await;
    assert_eq!(ask(&reviewer).await.is(201).body, first.body);
    assert_eq!(app.kinds_from(size).await.iter().filter(|kind| kind.starts_with("action.")).count(), 0);
    let other = json!({ "changes": { "arguments": ["docs/x.md"] }, "reason": "no, this one" });
    let request = reviewer.request(Method::POST, &path).header("if-match", format!("\"{}\"", action.review));
    Answer::to(request.header("idempotency-key", "k").json(&other)).await.problem(409, "key_reused");
}

#[tokio::test]
async fn b4_the_audit_trail_says_who_amended_what_and_the_ledger_is_sound_after_a_restart() {
    let (mut app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let new = amended(&reviewer, &action, without_versions()).await;
    let path = format!("/api/v1/runs/{}/audit", app.team.run);
    let trail: api::AuditTrail = app.auditor.get(&path).await.is(200).json();
    let row = trail.rows.iter().find(|row| row.event == "action.superseded").unwrap();
    assert_eq!(
        (row.action.clone(), row.approver.clone()),
        (Some(action.id.to_string()), Some(reviewer.id.to_string()))
    );
    assert_eq!(row.approval_status.as_deref(), Some("amended"));
    let rows: Vec<_> = trail.rows.iter().filter(|row| row.action == Some(new.id.to_string())).collect();
    assert!(rows.iter().all(|row| row.actor == reviewer.id.to_string()), "its amender did all of it");
    app.restart().await;
    assert_eq!(reviewer.sees(&new).await.action.amendment.unwrap().of, action.id);
    app.assert_sound().await;
}
