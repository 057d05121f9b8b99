//! What workers are: they say it when they start, it is written down when it is something new, and people see it beside what is here.

use placet_wire::endpoint::ListWorkers;
use placet_wire::{Endpoint as _, api};

use crate::moves::declaration;
use crate::scenario::Scenario;

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
