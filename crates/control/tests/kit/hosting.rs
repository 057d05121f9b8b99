//! Runs that a worker hosts, with an agent of their own.

use placet_domain::digest::Digest;
use placet_domain::run::Wanted;
use placet_wire::endpoint::{ApprovePlan, CreateRun, ListHostings, StartRun};
use placet_wire::{Endpoint as _, api};
use serde_json::{Value, json};

use crate::person::Person;
use crate::scenario::{Scenario, Team};

/// A run whose agent a worker starts.
pub(crate) async fn hosted(team: &Team, more: Value) -> api::RunView {
    let mut launch = json!({ "program": "/usr/bin/python3", "arguments": ["agent.py"], "profile": "default" });
    launch.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let new = json!({ "project": team.project, "goal": "g", "scope": "lab", "plan": ["look"], "launch": launch });
    team.operator.post(&CreateRun {}.path(), &new).await.is(201).json()
}

pub(crate) async fn started(team: &Team) -> api::RunView {
    let run = hosted(team, json!({})).await;
    team.reviewer.post_if(&ApprovePlan { run: run.id }.path(), run.review, &json!({})).await.is(200);
    team.operator.post(&StartRun { run: run.id }.path(), &json!({})).await.is(200).json()
}

pub(crate) async fn wanted(host: &Person, run: &api::RunView) -> Option<Wanted> {
    let list: api::HostingList = host.post(&ListHostings {}.path(), &json!({})).await.is(200).json();
    list.hostings.into_iter().find(|hosting| hosting.run.id == run.id).map(|hosting| hosting.wanted)
}

pub(crate) fn snapshot(number: u32) -> Value {
    let (workspace, memory) = (Digest::of(b"files"), Digest::of(b"memory"));
    json!({ "number": number, "workspace": workspace, "memory": memory, "files": 1, "size_bytes": 1 })
}

/// Hosted, saved once, its agent at work; with the agent's own voice.
pub(crate) async fn at_work(app: &Scenario) -> (api::RunView, Person) {
    let team = &app.team;
    let run = started(team).await;
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    assert_eq!(wanted(&team.worker, &run).await, Some(Wanted::Running));
    team.worker.post(&path("host"), &json!({})).await.is(200);
    assert_eq!(wanted(&team.worker, &run).await, Some(Wanted::Snapshot { number: 0 }));
    team.worker.post(&path("snapshots"), &snapshot(0)).await.is(200);
    let once: api::TokenOnce = team.worker.post(&path("agent-token"), &json!({})).await.is(200).json();
    let agent = team.worker.holding(&once.token);
    let run = agent.post(&path("attach"), &json!({})).await.is(200).json();
    (run, agent)
}
