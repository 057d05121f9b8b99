//! Limits and lifetime of uploaded bytes that no entry names.

use futures_util::future::join_all;
use placet_domain::digest::Digest;
use serde_json::json;

use crate::person::{Answer, Person};
use crate::scenario::{Scenario, Setup};

const SIZE: usize = 10_000;
const DAY_MS: u64 = 24 * 3_600_000;

/// Limits with room for three files of one identity and five of a project.
fn bounded() -> Setup {
    let mut setup = Setup::default();
    setup.settings.limits.unnamed_bytes_per_identity = 3 * SIZE as u64;
    setup.settings.limits.unnamed_bytes_per_project = 5 * SIZE as u64;
    setup
}

fn file(number: u8) -> (Digest, Vec<u8>) {
    let bytes = vec![number; SIZE];
    (Digest::of(&bytes), bytes)
}

async fn uploads(app: &Scenario, person: &Person, number: u8) -> Answer {
    let (digest, bytes) = file(number);
    person.put(&format!("/api/v1/projects/{}/evidence/{digest}", app.team.project), bytes).await
}

#[tokio::test]
async fn unnamed_uploads_of_one_identity_are_bounded() {
    let (app, agent, _, worker) = Scenario::start_with(bounded()).await;
    for number in 0..3 {
        uploads(&app, &agent, number).await.is(201);
    }
    let problem = uploads(&app, &agent, 3).await.problem(429, "too_many_uploads");
    assert!(problem.detail.contains("name them in an action"), "{problem:?}");
    uploads(&app, &agent, 0).await.is(201);
    uploads(&app, &worker, 10).await.is(201);
    uploads(&app, &worker, 11).await.is(201);
    uploads(&app, &worker, 12).await.problem(429, "too_many_uploads");
    let (digest, _) = file(0);
    let wish =
        json!({ "tool": "cat", "arguments": ["a"], "files": [{ "path": "a", "digest": digest, "size_bytes": SIZE }] });
    agent.proposes(app.team.run, &wish).await;
    uploads(&app, &agent, 3).await.is(201);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_uploads_share_one_bound() {
    let (app, agent, ..) = Scenario::start_with(bounded()).await;
    let answers = join_all((0..8).map(|number| uploads(&app, &agent, number))).await;
    let kept = answers.iter().filter(|answer| answer.status == 201).count();
    assert!((1..=3).contains(&kept), "{kept} of three places were given");
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        assert_eq!(answer.status, 429, "{}", answer.text());
    }
}

#[tokio::test]
async fn refused_upload_leaves_nothing_on_the_disk() {
    let (app, agent, ..) = Scenario::start().await;
    app.admin.post("/api/v1/halt", &json!({ "reason": "stop" })).await.is(200);
    let answer = uploads(&app, &agent, 1).await;
    let (digest, _) = file(1);
    let is_there = app.store().blobs().has(digest).await.unwrap();
    assert_eq!(is_there, answer.status == 201, "{}", answer.text());
}

#[tokio::test]
async fn uploads_that_nothing_names_are_removed_after_a_day() {
    let (app, agent, ..) = Scenario::start().await;
    let (named, _) = file(0);
    uploads(&app, &agent, 0).await.is(201);
    uploads(&app, &agent, 1).await.is(201);
    app.pass_ms(DAY_MS - 1_000);
    let young = app.size();
    let wish =
        json!({ "tool": "cat", "arguments": ["a"], "files": [{ "path": "a", "digest": named, "size_bytes": SIZE }] });
    agent.proposes(app.team.run, &wish).await;
    uploads(&app, &agent, 2).await.is(201);
    app.pass_ms(2 * 3_600_000);
    app.until(young, "evidence.removed").await;
    let removed = app.kinds_from(young).await.iter().filter(|kind| *kind == "evidence.removed").count();
    assert_eq!(removed, 1);
    let path = |number| format!("/api/v1/projects/{}/evidence/{}", app.team.project, file(number).0);
    app.admin.get(&path(1)).await.problem(410, "removed");
    app.admin.get(&path(0)).await.is(200);
    app.admin.get(&path(2)).await.is(200);
    app.assert_sound().await;
}
