//! Money of runs that end, stand still or change hands while they call models: nothing is lost, and nothing is there twice.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CreateRun, HaltEverything, ListProjects};
use std::time::Duration;

use axum::http::Method;
use placet_domain::approval::Terms;
use placet_domain::budget::{Amounts, Purpose};
use placet_domain::command::{Command, Submission};
use placet_domain::digest::Digest;
use placet_domain::identity::Actor;
use placet_domain::run::{BudgetCommand, RunCommand};
use placet_store::Extras;
use placet_testkit::rounds;
use placet_wire::api;
use serde_json::json;

use super::models::{SCRIPT, World, asks, asks_for, money, slow_question};
use crate::person::Person;
use crate::scenario::PATIENCE;

const AGENTS: usize = 20;
/// What each run gets, and enough for all that are at work at once or have not given everything back yet.
const SHARE: u64 = 100_000;
const WHOLE: u64 = 20_000_000;

async fn project(world: &World) -> api::BudgetView {
    let list: api::ProjectList = world.app.admin.get(&ListProjects {}.path()).await.is(200).json();
    let project = list.projects.into_iter().find(|project| project.id == world.app.team.project).unwrap();
    project.budget.unwrap()
}

/// A run of this agent at work, with its share of the project's money.
async fn at_work(world: &World, agent: &Person) -> api::RunView {
    let team = &world.app.team;
    let mut new = money(SHARE);
    new["project"] = json!(team.project);
    new.as_object_mut().unwrap().extend(
        json!({ "goal": "g", "scope": "lab", "agent": agent.id, "plan": ["look"] }).as_object().unwrap().clone(),
    );
    let run: api::RunView = team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    agent.post(&path("attach"), &json!({})).await.is(200).json()
}

/// Calls a model, and is cancelled before, during or after the call: later with every round.
async fn round(world: &World, agent: &Person, number: usize, rounds: usize) {
    let run = at_work(world, agent).await;
    let calls = async {
        if number.is_multiple_of(3) {
            asks(agent, "large-1").await;
        }
        asks(agent, "large-1").await.status
    };
    let cancels = async {
        tokio::time::sleep(Duration::from_micros((number * 20_000 / rounds) as u64)).await;
        world.app.team.operator.cancels(run.id).await.is(200);
    };
    let (status, ()) = match number % 5 {
        // It hangs up besides.
        0 => (200, drop(tokio::time::timeout(Duration::from_millis(3), async { tokio::join!(calls, cancels) }).await)),
        _ => tokio::join!(calls, cancels),
    };
    assert!(matches!(status, 200 | 403), "{status}");
    if number.is_multiple_of(5) {
        world.app.team.operator.cancels(run.id).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c12_cancelled_runs_give_back_what_they_did_not_use() {
    let world = World::start().await;
    let limit = json!({ "limits": { "usd_micros": WHOLE }, "warn_at_percent": 100 });
    let path = format!("/api/v1/projects/{}/budget", world.app.team.project);
    world.app.admin.post(&path, &limit).await.is(200);
    let mut agents = Vec::new();
    for number in 0..AGENTS {
        agents.push(world.app.another("agent", number).await);
    }
    let most = rounds(10, 50);
    let rounds = agents.iter().map(|agent| async {
        for number in 0..most {
            round(&world, agent, number, most).await;
            let budget = project(&world).await;
            assert!(budget.spent.usd_micros + budget.held.usd_micros <= WHOLE, "{budget:?}");
        }
    });
    futures_util::future::join_all(rounds).await;
    let settled = async {
        while project(&world).await.held.usd_micros > 0 {
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::time::timeout(PATIENCE, settled).await.expect("what was held goes back");
    let (spent, heard) = (project(&world).await.spent.usd_micros, world.model.heard().len() as u64);
    assert_eq!(spent, heard * 100, "each call that was made, exactly");
    assert!(heard > (AGENTS * most / 10) as u64, "most of them called: {heard}");
    let called = world.app.kinds_from(0).await.iter().filter(|kind| *kind == "run.model_called").count() as u64;
    assert_eq!(called, heard, "each has its entry");
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c12_a_call_under_way_when_everything_is_stopped_is_charged_and_the_rest_goes_back() {
    let world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    let agent = world.agent.clone();
    let call = tokio::spawn(async move { asks_for(&agent, &slow_question()).await.status });
    tokio::time::sleep(Duration::from_millis(150)).await;
    assert!(world.sees(&run).await.budget.unwrap().held.usd_micros > 0, "it is under way");
    world.app.admin.post(&HaltEverything {}.path(), &json!({ "reason": "fire" })).await.is(200);
    asks(&world.agent, "large-1").await.is(403);
    assert_eq!(call.await.unwrap(), 200, "what was sent is paid, so it is given");
    let budget = world.settled(&run).await;
    assert_eq!((budget.spent.usd_micros, budget.held.usd_micros), (100, 0));
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c12_what_a_cancelled_run_had_held_when_the_control_plane_was_lost_is_spent_by_its_project_too() {
    let mut world = World::start().await;
    let limit = json!({ "limits": { "usd_micros": WHOLE }, "warn_at_percent": 100 });
    let path = format!("/api/v1/projects/{}/budget", world.app.team.project);
    world.app.admin.post(&path, &limit).await.is(200);
    // One that was made by one that was made by the first.
    let first = world.run(money(1_000_000)).await;
    let mut run = first.clone();
    for share in [500_000, 200_000] {
        let mut wishes = money(share);
        wishes["parent"] = json!(run.id);
        run = world.run(wishes).await;
    }
    // What a control plane held that was killed then, nobody else knows of.
    let (purpose, amounts) = (Purpose::Call("model-lost".to_owned()), Amounts { usd_micros: 700, ..Amounts::NONE });
    let hold = Command::Run { id: run.id, command: RunCommand::Budget(BudgetCommand::Hold { purpose, amounts }) };
    let (terms, policy) = (Terms::default(), Digest::of(b"any"));
    let hold = Submission { actor: Actor::Runtime, command: hold, terms, policy, idempotency: None };
    world.app.store().submit(hold, Extras::default()).await.unwrap();
    world.app.team.operator.cancels(first.id).await.is(200);
    assert_eq!(project(&world).await.held.usd_micros, 700);
    world.app.restart().await;
    let budget = project(&world).await;
    assert_eq!((budget.held.usd_micros, budget.spent.usd_micros), (0, 700), "nobody knows how much of it was used");
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c12_what_a_call_took_that_the_ledger_refuses_to_record_is_spent_all_the_same() {
    // No entry has a name as long as this; a file of settings could not hold it either.
    let world = World::with(SCRIPT, |models| models.upstreams[0].name = "x".repeat(300)).await;
    let run = world.run(money(1_000_000)).await;
    asks(&world.agent, "large-1").await.is(200);
    asks(&world.agent, "large-1").await.is(200);
    let budget = world.settled(&run).await;
    assert_eq!((budget.spent.tokens, budget.spent.usd_micros), (30, 200), "exactly what both of them took");
    let kinds = world.app.kinds_from(0).await;
    assert!(!kinds.contains(&"run.model_called".to_owned()), "nothing is recorded that was refused: {kinds:?}");
    world.app.assert_sound().await;
}

/// A hosted run at work that may call models, and its agent.
async fn hosted(world: &World) -> (api::RunView, Person) {
    let team = &world.app.team;
    let launch = json!({ "program": "/usr/bin/python3", "arguments": ["agent.py"], "profile": "default" });
    let mut new = money(1_000_000);
    new.as_object_mut().unwrap().extend(
        json!({ "project": team.project, "goal": "g", "scope": "lab", "plan": ["look"], "launch": launch })
            .as_object()
            .unwrap()
            .clone(),
    );
    let run: api::RunView = team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.worker.post(&path("host"), &json!({})).await.is(200);
    let snapshot =
        json!({ "number": 0, "workspace": Digest::of(b"f"), "memory": Digest::of(b"m"), "files": 1, "size_bytes": 1 });
    team.worker.post(&path("snapshots"), &snapshot).await.is(200);
    let agent = equipped(world, &run).await;
    (agent.post(&path("attach"), &json!({})).await.is(200).json(), agent)
}

async fn equipped(world: &World, run: &api::RunView) -> Person {
    let path = format!("/api/v1/runs/{}/agent-token", run.id);
    let once: api::TokenOnce = world.app.team.worker.post(&path, &json!({})).await.is(200).json();
    world.app.team.worker.holding(&once.token)
}

#[tokio::test]
async fn e1_a_call_under_way_ends_well_when_the_token_of_its_agent_is_replaced_and_the_old_one_opens_no_other() {
    let world = World::start().await;
    let (run, agent) = hosted(&world).await;
    let calling = agent.clone();
    let call = tokio::spawn(async move { asks_for(&calling, &slow_question()).await.status });
    tokio::time::sleep(Duration::from_millis(150)).await;
    let renewed = equipped(&world, &run).await;
    asks(&agent, "large-1").await.is(401);
    asks(&renewed, "large-1").await.is(200);
    assert_eq!(call.await.unwrap(), 200);
    let listed = agent.request(Method::GET, "/v1/models").send().await.unwrap();
    assert_eq!(listed.status(), 401, "not even to look");
    assert_eq!(world.settled(&run).await.spent.usd_micros, 200, "both are charged");
    assert_eq!(world.model.heard().len(), 2);
}
