//! Runs that are planned from an intent, the fifteen steps, and one resource under two names (C7, C13).

use placet_domain::run::StepState;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::SetProjectBudget;
use serde_json::{Value, json};

use crate::moves::reading;
use crate::person::{Answer, StreamAt};
use crate::scenario::Scenario;

const EXECUTIONS: &str = "/api/v1/autonomous/executions";

/// A wish for a run by an intent, with some more wishes.
fn wish(app: &Scenario, intent: Value, more: Value) -> Value {
    let (project, agent) = (app.team.project, app.team.agent.id);
    let mut new = json!({ "project": project, "scope": "lab", "agent": agent, "intent": intent });
    for (key, value) in more.as_object().unwrap() {
        new[key] = value.clone();
    }
    new
}

async fn asks(app: &Scenario, intent: Value, more: Value) -> Answer {
    app.team.operator.post(EXECUTIONS, &wish(app, intent, more)).await
}

async fn planned(app: &Scenario) -> api::ExecutionView {
    let intent = json!({ "goal": "Implement a parser, run it and report", "mode": "CHECKPOINT" });
    asks(app, intent, json!({})).await.is(201).json()
}

#[tokio::test]
async fn c13_an_execution_is_planned_from_a_sentence_and_waits_for_a_person() {
    let (app, ..) = Scenario::start().await;
    let before = app.size();
    let answer = asks(&app, json!("Implement a parser and run it"), json!({})).await.is(201);
    let raw: Value = answer.json();
    let fields = ["execution_id", "task_plan", "estimated_cost"];
    assert!(fields.iter().all(|field| !raw[field].is_null()), "{raw}");
    let made: api::ExecutionView = answer.json();
    assert_eq!((made.run.id, made.status.as_str()), (made.execution_id, "PENDING_APPROVAL"));
    assert_eq!(made.task_plan.len(), 2);
    assert!(made.task_plan.iter().all(|step| step.checkpoint));
    let cost = &made.estimated_cost;
    assert!(cost.worst.usd_micros > cost.likely.usd_micros && cost.basis.contains("`ours`"), "{cost:?}");
    let held = made.run.budget.as_ref().unwrap().limits;
    assert_eq!((held.usd_micros, held.tokens), (Some(cost.worst.usd_micros), Some(cost.worst.tokens)));
    assert_eq!(made.run.products.as_ref().unwrap().selection.as_ref().unwrap().chosen.as_str(), "ours");
    let kinds = app.kinds_from(before).await;
    let planned = ["intent_stated", "encoded", "decomposed", "agent_selected", "cage_configured", "estimated"];
    assert_eq!(kinds[1..7].iter().map(|kind| kind.strip_prefix("run.").unwrap()).collect::<Vec<_>>(), planned);
    app.assert_sound().await;
}

#[tokio::test]
async fn c13_one_resource_answers_under_both_names_from_approval_to_export() {
    let (app, ..) = Scenario::start().await;
    let (team, made) = (&app.team, planned(&app).await);
    let (execution, run) =
        (format!("{EXECUTIONS}/{}", made.execution_id), format!("/api/v1/runs/{}", made.execution_id));
    let both: [Value; 2] =
        [team.reviewer.get(&execution).await.is(200).json(), team.reviewer.get(&run).await.is(200).json()];
    assert_eq!(both[0], both[1]);
    let none = json!({});
    team.reviewer.post_if(&format!("{execution}/approve"), made.run.review, &none).await.is(200);
    team.operator.post(&format!("{execution}/start"), &none).await.is(200);
    team.agent.post(&format!("{execution}/attach"), &none).await.is(200);
    team.operator.post(&format!("{execution}/pause"), &json!({ "reason": "wait" })).await.is(200);
    team.operator.post(&format!("{execution}/resume"), &none).await.is(200);
    for (step, verb, body) in [(1, "approve", none.clone()), (2, "modify", json!({ "note": "shorter" }))] {
        team.agent.post(&format!("{execution}/steps"), &json!({ "step": step, "summary": "so far" })).await.is(200);
        let seen: api::CheckpointView = team.reviewer.get(&format!("{execution}/checkpoint")).await.is(200).json();
        assert_eq!(seen.number, step);
        let decide = format!("{execution}/checkpoints/{step}/{verb}");
        team.reviewer.post_if(&decide, seen.review, &body).await.is(200);
    }
    team.agent.post(&format!("{execution}/checkpoints"), &json!({ "summary": "look" })).await.is(200);
    let seen: api::CheckpointView = team.reviewer.get(&format!("{execution}/checkpoint")).await.is(200).json();
    let again = json!({ "reason": "again" });
    team.reviewer.post_if(&format!("{execution}/checkpoints/3/reject"), seen.review, &again).await.is(200);
    team.reviewer
        .post(&format!("{execution}/checkpoints/3/rollback"), &json!({ "reason": "back" }))
        .await
        .problem(404, "unknown");
    team.agent.post(&format!("{execution}/finish"), &json!({ "summary": "done" })).await.is(200);
    let done: api::RunView = team.reviewer.get(&execution).await.is(200).json();
    let ended: api::RunView =
        team.reviewer.post_if(&format!("{execution}/export"), done.review, &none).await.is(200).json();
    assert_eq!(ended.status.as_str(), "COMPLETED");
    let trails: [Value; 2] = [
        team.reviewer.get(&format!("{execution}/audit")).await.is(200).json(),
        team.reviewer.get(&format!("{run}/audit")).await.is(200).json(),
    ];
    assert_eq!(trails[0], trails[1]);
    let listed: api::RunList = team.reviewer.get(EXECUTIONS).await.is(200).json();
    assert!(listed.runs.iter().any(|run| run.id == made.execution_id && run.products.is_none()), "lists are short");
    let mut stream = team.reviewer.client().follow(StreamAt(format!("{execution}/stream")), None).await.unwrap();
    assert_eq!(stream.next().await.unwrap().event, "created");
    app.assert_sound().await;
}

#[tokio::test]
async fn c7_all_fifteen_steps_of_a_run_are_read_from_one_route() {
    let (app, ..) = Scenario::start().await;
    let (team, made) = (&app.team, planned(&app).await);
    let path = format!("/api/v1/runs/{}/pipeline", made.execution_id);
    let view: api::PipelineView = team.agent.get(&path).await.is(200).json();
    assert_eq!(view.steps.iter().map(|step| step.number).collect::<Vec<_>>(), (1..=15).collect::<Vec<_>>());
    let now: Vec<&str> =
        view.steps.iter().filter(|step| step.state == StepState::Now).map(|s| s.name.as_str()).collect();
    assert_eq!(now, ["plan"]);
    assert!(view.steps[..8].iter().all(|step| step.state == StepState::Done && step.at.is_some()), "{view:?}");
    assert!(view.steps[3].product.starts_with("ours: "), "{view:?}");
    let declared = format!("/api/v1/runs/{}/pipeline", team.run);
    let view: api::PipelineView = team.reviewer.get(&declared).await.is(200).json();
    assert!(view.steps[..6].iter().all(|step| step.product.starts_with("declared by a person")), "{view:?}");
    let recorded = app.bodies_from(0).await;
    let kinds: Vec<&str> = view.steps[6..10].iter().map(|step| step.entry.as_str()).collect();
    assert!(kinds.iter().all(|kind| recorded.contains(kind)), "{kinds:?}");
    let strangers = app.neighbours("beta").await;
    strangers.reviewer.get(&path).await.problem(404, "unknown");
}

#[tokio::test]
async fn c7_what_cannot_be_planned_is_refused_with_everything_that_stands_against_it() {
    let (app, ..) = Scenario::start().await;
    let before = app.size();
    let secret = json!({ "goal": "Implement it", "inputs": [{ "path": "keys.txt", "class": "CONFIDENTIAL" }] });
    let cases = [
        (json!("Do something"), "name a template, or declare steps"),
        (json!({ "goal": "x", "template": "nowhere" }), "there is no template `nowhere`"),
        (secret, "CONFIDENTIAL, which never enters a cage"),
    ];
    for (intent, why) in cases {
        let no = asks(&app, intent, json!({})).await.problem(422, "invalid");
        assert!(no.detail.contains(why), "{no:?}");
    }
    // Everybody is listed with what they lack.
    let nobody: Value = asks(&app, json!("Send the invoices"), json!({})).await.is(422).json();
    assert!(nobody["detail"].as_str().unwrap().contains("ours lacks capabilities (needs send_messages"), "{nobody}");
    for (intent, why) in [(json!({ "goal": "x", "gaol": 1 }), "gaol"), (json!(7), "intent"), (json!(""), "intent")] {
        let no = asks(&app, intent, json!({})).await.problem(400, "bad_json");
        assert!(!no.detail.contains("Intent") && !no.detail.is_empty(), "{why}: {no:?}");
    }
    assert_eq!(app.size(), before, "nothing was recorded");
    app.team.agent.post(EXECUTIONS, &wish(&app, json!("Run it"), json!({}))).await.problem(403, "role");
}

#[tokio::test]
async fn c12_a_plan_that_the_project_cannot_pay_is_refused_before_it_is_shown() {
    let (app, ..) = Scenario::start().await;
    let limits = json!({ "limits": { "usd_micros": 1_000 } });
    app.team.operator.cancels(app.team.run).await.is(200);
    app.admin.post(&SetProjectBudget { project: app.team.project }.path(), &limits).await.is(200);
    let no = asks(&app, json!("Implement a parser"), json!({})).await.problem(409, "budget");
    assert!(no.detail.contains("the plan cannot be paid by its project"), "{no:?}");
    let less = json!({ "budget": { "limits": { "usd_micros": 900 } } });
    let made: api::ExecutionView = asks(&app, json!("Implement a parser"), less).await.is(201).json();
    assert_eq!(made.run.budget.unwrap().limits.usd_micros, Some(900));
}

#[tokio::test]
async fn c13_the_same_request_again_plans_nothing_again() {
    let (app, ..) = Scenario::start().await;
    let wish = wish(&app, json!("Implement a parser"), json!({}));
    let first: api::ExecutionView = app.team.operator.post_once(EXECUTIONS, "k1", &wish).await.is(201).json();
    let size = app.size();
    let again: api::ExecutionView = app.team.operator.post_once(EXECUTIONS, "k1", &wish).await.is(201).json();
    assert_eq!((first.execution_id, app.size()), (again.execution_id, size));
}

#[tokio::test]
async fn c2_a_planned_run_is_carried_out_as_its_intent_says() {
    let (app, ..) = Scenario::start().await;
    let team = &app.team;
    let made: api::ExecutionView = asks(&app, json!("Run it"), json!({})).await.is(201).json();
    assert_eq!(made.run.mode.as_str(), "SUPERVISED", "who says nothing is asked about every action");
    let path = |verb: &str| format!("{EXECUTIONS}/{}/{verb}", made.execution_id);
    team.reviewer.post_if(&path("approve"), made.run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.agent.post(&path("attach"), &json!({})).await.is(200);
    let action = team.agent.proposes(made.execution_id, &reading()).await;
    assert_eq!(action.status.as_str(), "PENDING_APPROVAL");
}
