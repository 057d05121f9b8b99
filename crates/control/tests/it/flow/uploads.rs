//! Limits and lifetime of uploaded bytes that no entry names.

use futures_util::future::join_all;
use placet_domain::digest::Digest;
use placet_domain::retention::Days;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::StoreEvidence;
use serde_json::json;

use crate::moves::{reading, scan_of_strangers};
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
    person.put(&StoreEvidence { project: app.team.project, digest }.path(), bytes).await
}

#[tokio::test]
async fn unnamed_uploads_of_one_identity_are_bounded() {
    let (app, agent, reviewer, _) = Scenario::start_with(bounded()).await;
    for number in 0..3 {
        uploads(&app, &agent, number).await.is(201);
    }
    let problem = uploads(&app, &agent, 3).await.problem(429, "too_many_uploads");
    assert!(problem.detail.contains("name them in an action"), "{problem:?}");
    uploads(&app, &agent, 0).await.is(201);
    uploads(&app, &reviewer, 10).await.is(201);
    uploads(&app, &reviewer, 11).await.is(201);
    uploads(&app, &reviewer, 12).await.problem(429, "too_many_uploads");
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
async fn worker_reports_beyond_the_bound_of_uploads() {
    let mut setup = Setup::default();
    setup.settings.limits.unnamed_bytes_per_identity = 1;
    setup.settings.limits.unnamed_bytes_per_project = 4_096;
    let (app, agent, _, worker) = Scenario::start_with(setup).await;
    uploads(&app, &agent, 0).await.problem(429, "too_many_uploads");
    agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let items = vec![worker.uploads(&job, "stdout", b"some").await, worker.uploads(&job, "stderr", b"more").await];
    worker.reports(&job, &worker.manifest(&job, items)).await.is(200);
    app.assert_sound().await;
}

#[tokio::test]
async fn uploads_of_workers_take_no_room_of_others() {
    let (app, agent, _, worker) = Scenario::start_with(bounded()).await;
    for number in 10..16 {
        uploads(&app, &worker, number).await.is(201);
    }
    uploads(&app, &agent, 0).await.is(201);
}

#[tokio::test]
async fn denied_proposal_leaves_the_bound_used() {
    let (app, agent, ..) = Scenario::start_with(bounded()).await;
    for number in 0..3 {
        uploads(&app, &agent, number).await.is(201);
    }
    let mut wish = scan_of_strangers();
    wish["files"] = json!([{ "path": "a", "digest": file(0).0, "size_bytes": SIZE }]);
    assert_eq!(agent.proposes(app.team.run, &wish).await.status.as_str(), "DENIED");
    uploads(&app, &agent, 3).await.problem(429, "too_many_uploads");
    app.pass_ms(DAY_MS);
    uploads(&app, &agent, 3).await.is(201);
}

#[tokio::test]
async fn reuploaded_evidence_of_finished_runs_stays() {
    let mut setup = Setup::default();
    setup.settings.retention.evidence_days = Some(Days::try_from(30).unwrap());
    let (app, agent, reviewer, worker) = Scenario::start_with(setup).await;
    let printed = b"22/tcp open ssh\n";
    agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let item = worker.uploads(&job, "stdout", printed).await;
    worker.reports(&job, &worker.manifest(&job, vec![item])).await.is(200);
    app.team.operator.cancels(app.team.run).await.is(200);
    app.pass_ms(2 * DAY_MS);
    let path = format!("/api/v1/projects/{}/evidence/{}", app.team.project, Digest::of(printed));
    reviewer.put(&path, &printed[..]).await.is(201);
    // Without a run that names it: shows that the removal has taken place.
    uploads(&app, &agent, 1).await.is(201);
    let before = app.size();
    app.pass_ms(26 * 3_600_000);
    app.until(before, "evidence.removed").await;
    reviewer.get(&path).await.is(200);
    let unnamed = format!("/api/v1/projects/{}/evidence/{}", app.team.project, file(1).0);
    app.admin.get(&unnamed).await.problem(410, "removed");
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
