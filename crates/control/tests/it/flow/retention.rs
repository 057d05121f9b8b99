//! RETENTION over HTTP: what is removed after its time, who may do it, and what is told of it afterwards.

use std::path::PathBuf;

use placet_control::Settings;
use placet_domain::digest::Digest;
use placet_domain::id::ProjectId;
use placet_domain::retention::{Days, Retention};
use placet_wire::api;
use serde_json::json;

use crate::moves::reading;
use crate::person::Person;
use crate::scenario::{Scenario, Setup};

const HOUR_MS: u64 = 60 * 60 * 1_000;
const DAY_MS: u64 = 24 * HOUR_MS;

fn keeping(evidence_days: u32, results_days: Option<u32>) -> Settings {
    let days = |days| Days::try_from(days).unwrap();
    let retention = Retention { evidence_days: Some(days(evidence_days)), results_days: results_days.map(days) };
    Settings { retention, ..Settings::default() }
}

async fn start_with(settings: Settings) -> (Scenario, Person, Person, Person) {
    Scenario::start_with(Setup { settings, ..Setup::default() }).await
}

fn at(project: ProjectId, digest: Digest) -> String {
    format!("/api/v1/projects/{project}/evidence/{digest}")
}

fn retention(app: &Scenario, verb: &str) -> String {
    format!("/api/v1/projects/{}/retention{verb}", app.team.project)
}

fn file_of(app: &Scenario, digest: Digest) -> PathBuf {
    let hex = digest.to_hex();
    app.folder().join("evidence").join(&hex[..2]).join(&hex[2..])
}

/// A run that executed one action, which printed this, and is over.
async fn executed(app: &Scenario, agent: &Person, worker: &Person, printed: &'static [u8]) -> api::Job {
    agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let item = worker.uploads(&job, "stdout", printed).await;
    worker.reports(&job, &worker.manifest(&job, vec![item])).await.is(200);
    app.team.operator.cancels(app.team.run).await.is(200);
    job
}

#[tokio::test]
async fn c14_what_was_removed_says_when_and_with_which_entry_and_the_ledger_stays_whole() {
    let (app, agent, reviewer, worker) = start_with(keeping(30, None)).await;
    let printed = b"22/tcp open ssh\n";
    let job = executed(&app, &agent, &worker, printed).await;
    let path = at(app.team.project, Digest::of(printed));
    app.pass_ms(31 * DAY_MS);
    let size = app.size();
    let view: api::RetentionView = app.auditor.get(&retention(&app, "")).await.is(200).json();
    assert_eq!((view.removable_count, view.removable_bytes, view.evidence_days), (1, 16, Some(30)));
    assert_eq!(app.size(), size, "to look changes nothing");
    reviewer.get(&path).await.is(200);
    for person in [&agent, &reviewer, &worker, &app.auditor, &app.team.operator] {
        person.post(&retention(&app, "/expire"), &json!({})).await.problem(403, "role");
    }
    reviewer.get(&path).await.is(200);
    let size = app.size();
    let expired: api::ExpiryView = app.admin.post(&retention(&app, "/expire"), &json!({})).await.is(200).json();
    assert_eq!((expired.removed, expired.removed_bytes, expired.freed_bytes), (1, 16, 16));
    assert_eq!(app.kinds_from(size).await, ["evidence.removed"]);
    assert!(!file_of(&app, Digest::of(printed)).exists());
    let gone = reviewer.get(&path).await.problem(410, "removed");
    assert_eq!(gone.detail, format!("removed by retention on 2026-03-03, entry {size}"));
    app.neighbours("beta").await.reviewer.get(&path).await.problem(404, "unknown");
    app.auditor.get(&format!("/api/v1/actions/{}/evidence", job.action)).await.is(200);
    let expired: api::ExpiryView = app.admin.post(&retention(&app, "/expire"), &json!({})).await.is(200).json();
    assert_eq!(expired.removed, 0, "once");
    app.assert_sound().await;
    let check = app.store().check_evidence().await.unwrap();
    assert_eq!((check.removed, check.faults), (1, vec![]));
}

#[tokio::test]
async fn c14_where_nothing_is_said_nothing_is_removed_however_old_it_is() {
    let (app, agent, _, worker) = Scenario::start().await;
    executed(&app, &agent, &worker, b"old").await;
    app.pass_ms(20 * 365 * DAY_MS);
    let no = app.admin.post(&retention(&app, "/expire"), &json!({})).await.problem(422, "invalid");
    assert!(no.detail.contains("[retention]"), "{}", no.detail);
    app.auditor.get(&at(app.team.project, Digest::of(b"old"))).await.is(200);
}

#[tokio::test]
async fn c14_evidence_lost_without_an_entry_is_called_tampered() {
    let (app, agent, reviewer, worker) = start_with(keeping(30, None)).await;
    executed(&app, &agent, &worker, b"taken").await;
    std::fs::remove_file(file_of(&app, Digest::of(b"taken"))).unwrap();
    reviewer.get(&at(app.team.project, Digest::of(b"taken"))).await.problem(500, "tampered");
    let check = app.store().check_evidence().await.unwrap();
    assert_eq!(check.faults.len(), 1);
}

#[tokio::test]
async fn c14_what_somebody_uploads_again_is_kept_as_long_as_if_it_were_new() {
    let (app, _, _, worker) = start_with(keeping(1, None)).await;
    let path = at(app.team.project, Digest::of(b"again"));
    worker.put(&path, &b"again"[..]).await.is(201);
    app.pass_ms(DAY_MS - 1);
    let before = app.size();
    for _ in 0..2 {
        worker.put(&path, &b"again"[..]).await.is(201);
    }
    assert_eq!(app.kinds_from(before).await, ["evidence.kept"], "once an hour at most");
    app.pass_ms(HOUR_MS);
    let expired: api::ExpiryView = app.admin.post(&retention(&app, "/expire"), &json!({})).await.is(200).json();
    assert_eq!(expired.removed, 0);
    app.pass_ms(DAY_MS);
    let expired: api::ExpiryView = app.admin.post(&retention(&app, "/expire"), &json!({})).await.is(200).json();
    assert_eq!(expired.removed, 1);
    worker.put(&path, &b"again"[..]).await.is(201);
    assert_eq!(&worker.get(&path).await.is(200).body[..], b"again", "what was removed can be kept again");
    app.assert_sound().await;
}

#[tokio::test]
async fn c14_every_day_means_an_hour_after_the_start_and_then_daily() {
    let (mut app, agent, _, worker) = start_with(Settings { expires_daily: true, ..keeping(30, None) }).await;
    executed(&app, &agent, &worker, b"daily").await;
    app.stop().await;
    app.pass_ms(40 * DAY_MS);
    app.restart().await;
    let size = app.size();
    app.pass_ms(HOUR_MS - 1);
    tokio::time::sleep(std::time::Duration::from_millis(1_200)).await;
    assert!(!app.kinds_from(size).await.contains(&"evidence.removed".to_owned()));
    app.pass_ms(1);
    app.until(size, "evidence.removed").await;
    let entries = app.entries_from(size).await;
    let removal = entries.iter().find(|entry| entry.kind == "evidence.removed").unwrap();
    assert!(String::from_utf8_lossy(&removal.bytes).contains("\"actor\":\"runtime\""));
}

#[tokio::test]
async fn c14_what_is_preserved_is_not_removed_and_who_said_so_is_recorded() {
    let (app, agent, reviewer, worker) = start_with(keeping(1, None)).await;
    executed(&app, &agent, &worker, b"wanted").await;
    app.pass_ms(9 * DAY_MS);
    let wish = json!({ "run": app.team.run, "reason": "the auditors asked" });
    reviewer.post(&retention(&app, "/preserve"), &wish).await.problem(403, "role");
    let size = app.size();
    app.auditor.post(&retention(&app, "/preserve"), &wish).await.is(200);
    app.auditor.post(&retention(&app, "/preserve"), &wish).await.problem(409, "not_now");
    app.auditor.post(&retention(&app, "/end-preservation"), &wish).await.problem(403, "role");
    assert_eq!(app.kinds_from(size).await[0], "project.preservation_begun");
    let expired: api::ExpiryView = app.admin.post(&retention(&app, "/expire"), &json!({})).await.is(200).json();
    assert_eq!(expired.removed, 0);
    let strange = json!({ "run": app.neighbours("beta").await.run, "reason": "why not" });
    app.admin.post(&retention(&app, "/preserve"), &strange).await.problem(404, "unknown");
    app.admin.post(&retention(&app, "/end-preservation"), &wish).await.is(200);
    let expired: api::ExpiryView = app.admin.post(&retention(&app, "/expire"), &json!({})).await.is(200).json();
    assert_eq!(expired.removed, 1);
}
