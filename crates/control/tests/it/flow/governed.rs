//! Modes, checkpoints, budgets and the switch, by HTTP.

use axum::http::Method;
use placet_domain::digest::Digest;
use placet_wire::endpoint::{
    CompleteJob, CreateRun, HaltEverything, ProposeAction, RedeemPermit, ReleaseHalt, SendHeartbeat, ShowOrganisation,
    ShowRun,
};
use placet_wire::{Endpoint as _, api};
use serde_json::{Value, json};

use crate::moves::{deletion, reading, scan, scan_of_strangers, working};
use crate::person::Answer;
use crate::scenario::Scenario;

async fn sees(app: &Scenario, run: &api::RunView) -> api::RunView {
    app.auditor.get(&ShowRun { run: run.id }.path()).await.is(200).json()
}

#[tokio::test]
async fn c10_a_checkpoint_shows_everything_there_is_to_decide_on() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run =
        working(&app, json!({ "checkpoints": { "every_steps": 1 }, "budget": { "limits": { "actions": 9 } } })).await;
    let (base, none) = (format!("/api/v1/runs/{}", run.id), json!({}));
    reviewer.get(&format!("{base}/checkpoint")).await.problem(404, "unknown");
    let done = agent.proposes(run.id, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.post(&RedeemPermit { action: done.id }.path(), &json!({ "permit": job.permit })).await.is(200);
    app.pass_ms(90_000);
    let left = [("stdout", &b"said"[..]), ("out/docs/a.md", b"# a"), ("out/shots/page.PNG", b"picture")];
    let mut items = Vec::new();
    for (name, bytes) in left {
        items.push(worker.uploads(&job, name, bytes).await);
    }
    let manifest = json!({ "manifest": worker.manifest(&job, items) });
    worker.post(&CompleteJob { action: done.id }.path(), &manifest).await.is(200);
    let waiting = agent.proposes(run.id, &scan()).await;
    agent.post(&format!("{base}/steps"), &json!({ "step": 1, "summary": "looked around" })).await.is(200);
    let seen: api::CheckpointView = reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    assert_eq!((seen.number, seen.kind.as_str(), seen.step, seen.of_steps, seen.percent), (1, "STEP", 1, 3, 33));
    assert_eq!((seen.run, seen.summary.as_str(), seen.worked_ms), (run.id, "looked around", 90_000));
    for (pieces, path, bytes) in
        [(&seen.outputs, "docs/a.md", &b"# a"[..]), (&seen.screenshots, "shots/page.PNG", b"picture")]
    {
        let [piece] = pieces.as_slice() else { panic!("{path}: {pieces:?}") };
        assert_eq!((piece.action, piece.path.as_str(), piece.size_bytes), (done.id, path, bytes.len() as u64));
        assert_eq!(piece.digest, Digest::of(bytes));
        assert_eq!(reviewer.get(&piece.link).await.is(200).body, bytes, "what is shown can be fetched");
    }
    assert!(seen.longer.is_empty() && seen.saved.is_none(), "all is shown, and nobody hosts it");
    assert_eq!(seen.actions_done.iter().map(|action| action.id).collect::<Vec<_>>(), [done.id]);
    assert_eq!(seen.actions_next.iter().map(|action| action.id).collect::<Vec<_>>(), [waiting.id]);
    assert_eq!((seen.steps_next.as_slice(), seen.spent.actions), (&["write".to_owned(), "tell".to_owned()][..], 1));
    assert!(
        ["approve", "modify", "reject", "pause", "cancel"]
            .iter()
            .all(|option| seen.options.iter().any(|has| has == option))
    );
    let decide = format!("{base}/checkpoints/1/approve");
    reviewer.post(&decide, &none).await.is(428);
    reviewer.post_if(&format!("{base}/checkpoints/2/approve"), seen.review, &none).await.problem(404, "unknown");
    agent.post_if(&decide, seen.review, &none).await.is(403);
    let on: api::RunView = reviewer.post_if(&decide, seen.review, &none).await.is(200).json();
    assert_eq!((on.status.as_str(), on.checkpoint, on.steps_done), ("EXECUTING", None, 1));
    reviewer.post_if(&decide, seen.review, &none).await.problem(409, "not_now");
}

#[tokio::test]
async fn c10_an_agent_cannot_crowd_out_what_there_is_to_see_at_its_checkpoint() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = working(&app, json!({})).await;
    let base = format!("/api/v1/runs/{}", run.id);
    let done = agent.proposes(run.id, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    worker
        .post(&CompleteJob { action: done.id }.path(), &json!({ "manifest": worker.manifest(&job, vec![]) }))
        .await
        .is(200);
    let lost = agent.proposes(run.id, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let before = app.size();
    app.pass_ms(60_000);
    app.until(before, "job.lease_lapsed").await;
    for _ in 0..201 {
        agent.proposes(run.id, &scan_of_strangers()).await;
    }
    agent.post(&format!("{base}/checkpoints"), &json!({ "summary": "nothing to see" })).await.is(200);
    let seen: api::CheckpointView = reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    let ids = |actions: &[api::ActionView]| actions.iter().map(|action| action.id).collect::<Vec<_>>();
    assert_eq!((ids(&seen.actions_done), ids(&seen.actions_interrupted)), (vec![done.id], vec![lost.id]));
    assert!(seen.longer.is_empty(), "{:?}", seen.longer);
    reviewer.post_if(&format!("{base}/checkpoints/1/approve"), seen.review, &json!({})).await.is(200);
    for _ in 0..51 {
        agent.proposes(run.id, &scan()).await;
    }
    app.pass_ms(1);
    agent.post(&format!("{base}/checkpoints"), &json!({ "summary": "again" })).await.is(200);
    let seen: api::CheckpointView = reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    assert!(seen.actions_done.is_empty(), "that was seen at the checkpoint before");
    assert_eq!((seen.actions_next.len(), seen.longer.as_slice()), (50, &["actions_next".to_owned()][..]));
}

#[tokio::test]
async fn c2_who_approves_a_plan_sees_where_it_will_stand_still_what_passes_by_itself_and_who_pays() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let rules =
        json!({ "every_steps": 2, "every_ms": 60_000, "before": ["execute_code"], "auto_pass_after_ms": 1_000 });
    let new = json!({
        "project": app.team.project, "goal": "g", "scope": "lab", "agent": app.team.agent.id, "plan": ["look"],
        "checkpoints": rules, "parent": app.team.run, "budget": { "limits": { "actions": 9 } },
    });
    let run: api::RunView = app.team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let seen: Value = reviewer.get(&ShowRun { run: run.id }.path()).await.is(200).json();
    assert_eq!((&seen["checkpoints"], &seen["parent"]), (&rules, &json!(app.team.run)));
    assert_eq!(seen["budget"]["limits"], json!({ "actions": 9 }));
    for rule in ["every_steps", "every_ms", "auto_pass_after_ms"] {
        let mut new = new.clone();
        new["checkpoints"] = json!({ rule: 0 });
        let no = app.team.operator.post(&CreateRun {}.path(), &new).await.problem(422, "invalid");
        assert!(no.detail.contains(rule), "{}", no.detail);
    }
}

#[tokio::test]
async fn c10_who_sends_an_agent_back_decides_about_what_they_saw_and_about_no_later_checkpoint() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let run = working(&app, json!({})).await;
    let base = format!("/api/v1/runs/{}", run.id);
    let looks = |summary: &str| json!({ "summary": summary });
    agent.post(&format!("{base}/checkpoints"), &looks("first")).await.is(200);
    let seen: api::CheckpointView = reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    let (reject, no) = (format!("{base}/checkpoints/1/reject"), json!({ "reason": "no" }));
    reviewer.post(&reject, &no).await.problem(428, "unseen");
    reviewer.post_if(&reject, seen.review, &no).await.is(200);
    agent.post(&format!("{base}/checkpoints"), &looks("second")).await.is(200);
    let late = reviewer.request(Method::POST, &reject).header("if-match", format!("\"{}\"", seen.review));
    Answer::to(late.header("idempotency-key", "late").json(&no)).await.problem(412, "stale");
    assert_eq!(sees(&app, &run).await.checkpoint, Some(2), "nobody has seen that one");
}

#[tokio::test]
async fn c9_an_action_that_always_asks_stops_its_run_until_somebody_decided() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &deletion()).await;
    let path = format!("/api/v1/runs/{}", app.team.run);
    let seen: api::CheckpointView = reviewer.get(&format!("{path}/checkpoint")).await.is(200).json();
    assert_eq!((seen.kind.as_str(), seen.action), ("ACTION", Some(action.id)));
    assert!(!seen.options.iter().any(|option| option == "approve"), "the action is what is decided on");
    let around = format!("{path}/checkpoints/1/approve");
    reviewer.post_if(&around, seen.review, &json!({})).await.problem(422, "invalid");
    agent.post(&format!("{path}/actions"), &reading()).await.problem(409, "run_not_active");
    reviewer.approves(&action).await.is(200);
    app.team.second.approves(&action).await.is(200);
    let run: api::RunView = reviewer.get(&path).await.is(200).json();
    assert_eq!(run.status.as_str(), "EXECUTING");
    app.assert_sound().await;
}

#[tokio::test]
async fn c2_a_supervised_run_asks_about_everything_and_a_simulation_does_nothing_that_others_notice() {
    let (app, agent, _, worker) = Scenario::start().await;
    let supervised = working(&app, json!({ "mode": "SUPERVISED" })).await;
    let action = agent.proposes(supervised.id, &reading()).await;
    assert_eq!((action.verdict.tier.as_str(), action.status.as_str()), ("B", "PENDING_APPROVAL"));
    let simulation = working(&app, json!({ "mode": "SIMULATION" })).await;
    let action = agent.proposes(simulation.id, &scan()).await;
    assert_eq!(action.status.as_str(), "REHEARSED");
    assert!(worker.leases().await.is_none());
    let observing = working(&app, json!({ "effect": "observe" })).await;
    let action = agent.proposes(observing.id, &scan()).await;
    assert_eq!(action.status.as_str(), "DENIED");
    app.assert_sound().await;
}

#[tokio::test]
async fn c12_a_project_with_a_budget_gives_each_run_its_share() {
    let (app, _, _, _) = Scenario::start().await;
    let path = format!("/api/v1/projects/{}/budget", app.team.project);
    let limits = json!({ "limits": { "usd_micros": 100 } });
    let unbound = app.admin.post(&path, &limits).await.problem(409, "budget");
    assert!(
        unbound.detail.contains(&app.team.run.to_string()),
        "a run is under way without a budget: {}",
        unbound.detail
    );
    app.team.operator.cancels(app.team.run).await.is(200);
    app.admin.post(&path, &limits).await.is(200);
    let new = |usd: u64| {
        json!({ "project": app.team.project, "goal": "g", "scope": "lab", "agent": app.team.agent.id, "plan": ["p"],
            "budget": { "limits": { "usd_micros": usd } } })
    };
    app.team.operator.post(&CreateRun {}.path(), &new(60)).await.is(201);
    let short = app.team.operator.post(&CreateRun {}.path(), &new(60)).await.problem(409, "budget");
    assert!(short.detail.contains("40 usd_micros left of 100"), "{}", short.detail);
    app.team.operator.post(&CreateRun {}.path(), &new(40)).await.is(201);
    app.assert_sound().await;
}

#[tokio::test]
async fn c9_time_at_work_brings_a_run_to_a_checkpoint_without_anybody_asking() {
    let (app, _, _, _) = Scenario::start().await;
    let run = working(&app, json!({ "checkpoints": { "every_ms": 60_000 } })).await;
    let before = app.size();
    app.pass_ms(60_000);
    app.until(before, "run.checkpoint_reached").await;
    assert_eq!(sees(&app, &run).await.status.as_str(), "CHECKPOINT_REACHED");
}

#[tokio::test]
async fn d11_the_switch_stops_everything_at_once_and_says_why() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let job = worker.leases().await.unwrap();
    worker.post(&RedeemPermit { action: action.id }.path(), &json!({ "permit": job.permit })).await.is(200);
    agent.post(&HaltEverything {}.path(), &json!({ "reason": "me" })).await.is(403);
    reviewer.post(&HaltEverything {}.path(), &json!({ "reason": "agents misbehave" })).await.is(200);
    let beat = json!({ "attempt": job.attempt });
    let told = worker.post(&SendHeartbeat { action: action.id }.path(), &beat).await.problem(409, "halted");
    assert!(told.detail.contains("agents misbehave"), "{}", told.detail);
    agent.post(&ProposeAction { run: app.team.run }.path(), &reading()).await.problem(409, "halted");
    let view: api::OrganisationView = reviewer.get(&ShowOrganisation {}.path()).await.is(200).json();
    assert!(view.halted && view.because.as_deref() == Some("agents misbehave"));
    reviewer.post(&ReleaseHalt {}.path(), &json!({ "reason": "fine" })).await.is(403);
    app.admin.post(&ReleaseHalt {}.path(), &json!({ "reason": "fine" })).await.is(200);
    worker.post(&SendHeartbeat { action: action.id }.path(), &beat).await.is(200);
    app.assert_sound().await;
}
