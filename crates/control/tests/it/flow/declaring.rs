//! What workers are: they say it when they start, it is written down when it is something new, and people see it beside what is here.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::{DeclareWorker, ListWorkers};
use serde_json::{Value, json};

use crate::pages::Browser;
use crate::scenario::Scenario;

pub(crate) fn declaration(version: &str) -> Value {
    json!({ "declaration": {
        "version": version, "host": "<b>lab</b>", "kernel": "6.12\u{202e}", "actions_at_once": 2, "runs_at_once": 4,
        "cage": { "tier": "degraded", "missing": ["landlock"], "means": ["files are kept apart by mounts alone"] },
        "profiles": { "default": Digest::of(b"another cage"), "own": Digest::of(b"own") },
    } })
}

#[tokio::test]
async fn c16_what_a_worker_is_is_written_down_when_it_is_something_new_and_seen_by_people() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let path = "/api/v1/declaration";
    let before = app.size();
    worker.post(path, &declaration("9.9.9")).await.is(200);
    assert_eq!(app.kinds_from(before).await, ["identity.declared"]);
    worker.post(path, &declaration("9.9.9")).await.is(200);
    assert_eq!(app.size(), before + 1, "whoever starts again and is the same says nothing new");
    worker.post(path, &declaration(&"9".repeat(500))).await.problem(422, "invalid");
    for other in [&agent, &reviewer] {
        other.post(path, &declaration("1")).await.is(403);
    }
    let list: api::WorkerList = reviewer.get(&ListWorkers {}.path()).await.is(200).json();
    let seen = list.workers.iter().find(|seen| seen.id == worker.id).unwrap();
    let declared = seen.declaration.as_ref().unwrap();
    assert_eq!((declared.version.as_str(), declared.actions_at_once, declared.runs_at_once), ("9.9.9", 2, 4));
    assert!(seen.other_version && seen.other_profiles.contains(&"default".to_owned()), "{seen:?}");
    app.assert_sound().await;
}

#[tokio::test]
async fn c16_pages_of_workers_show_their_claims_harmless_and_say_what_is_not_as_here() {
    let (app, _, reviewer, worker) = Scenario::start().await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let silent = rita.open(&format!("/workers/{}", worker.id)).await.is(200).text();
    assert!(silent.contains("It has not said what it is"), "{silent}");
    worker.post(&DeclareWorker {}.path(), &declaration("9.9.9")).await.is(200);
    let list = rita.open("/workers").await.is(200).text();
    for part in ["9.9.9", "another one than the control plane", "0 of 2", "0 of 4", "degraded", "landlock"] {
        assert!(list.contains(part), "{part}: {list}");
    }
    let one = rita.open(&format!("/workers/{}", worker.id)).await.is(200).text();
    for part in ["&lt;b&gt;lab", "⟦U+202E⟧", "Not as here", "files are kept apart", "own"] {
        assert!(one.contains(part), "{part}: {one}");
    }
    rita.open(&format!("/workers/{}", reviewer.id)).await.is(404);
    let others = app.neighbours("beta").await;
    Browser::visiting(&app, &others.reviewer).await.open(&format!("/workers/{}", worker.id)).await.is(404);
}
