//! EVIDENCE: by content, complete, unchangeable, and only for those who may see it.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::{FinishRun, ListSecrets};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Item};
use placet_testkit::rounds;
use placet_wire::api;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::moves::reading;
use crate::person::{Answer, Person};
use crate::scenario::Scenario;

fn path(project: impl ToString, digest: Digest) -> String {
    format!("/api/v1/projects/{}/evidence/{digest}", project.to_string())
}

#[tokio::test]
async fn b6_evidence_is_named_by_its_content() {
    let (app, _, _, worker) = Scenario::start().await;
    let (bytes, before) = (b"22/tcp open ssh\n", app.size());
    let digest = Digest::of(bytes);
    let kept: api::KeptBlob = worker.put(&path(app.team.project, digest), &bytes[..]).await.is(201).json();
    assert_eq!((kept.digest, kept.size_bytes), (digest, 16));
    assert_eq!(app.kinds_from(before).await, ["evidence.kept"]);
    let read = app.auditor.get(&path(app.team.project, digest)).await.is(200);
    assert_eq!(&read.body[..], bytes);
    assert_eq!(read.header("etag"), format!("\"{digest}\""));
    assert_eq!(read.header("content-disposition"), "attachment");
    assert_eq!(read.header("x-content-type-options"), "nosniff");
    worker.put(&path(app.team.project, digest), &bytes[..]).await.is(201);
    assert_eq!(app.size(), before + 1, "what is kept already is not kept again");
    let request = app.auditor.request(axum::http::Method::GET, &path(app.team.project, digest));
    let again = Answer::to(request.header("if-none-match", format!("\"{digest}\""))).await.is(304);
    assert!(again.body.is_empty());
}

#[tokio::test]
async fn b6_bytes_under_another_name_are_refused_and_leave_nothing() {
    let (app, _, _, worker) = Scenario::start().await;
    let (digest, before) = (Digest::of(b"promised"), app.size());
    worker.put(&path(app.team.project, digest), &b"delivered"[..]).await.problem(422, "wrong_digest");
    app.auditor.get(&path(app.team.project, digest)).await.problem(404, "unknown");
    app.auditor.get(&path(app.team.project, Digest::of(b"delivered"))).await.problem(404, "unknown");
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn b6_a_changed_byte_is_detected_when_it_is_read() {
    let (app, _, _, worker) = Scenario::start().await;
    let digest = Digest::of(b"open ports: none");
    worker.put(&path(app.team.project, digest), &b"open ports: none"[..]).await.is(201);
    let (folder, file) = (digest.to_hex()[..2].to_owned(), digest.to_hex()[2..].to_owned());
    let file = app.folder().join("evidence").join(folder).join(file);
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(&file, b"open ports: many").unwrap();
    let answer = app.auditor.get(&path(app.team.project, digest)).await;
    answer.problem(500, "tampered");
    assert!(!String::from_utf8_lossy(&answer.body).contains("many"), "nothing of it is shown");
}

#[tokio::test]
async fn b6_evidence_is_never_deleted() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let digest = Digest::of(b"x");
    worker.put(&path(app.team.project, digest), &b"x"[..]).await.is(201);
    let before = app.size();
    for person in [&agent, &reviewer, &worker, &app.admin, &app.auditor, &app.team.operator] {
        person.delete(&path(app.team.project, digest)).await.problem(403, "immutable");
    }
    assert_eq!(app.size(), before);
    app.auditor.get(&path(app.team.project, digest)).await.is(200);
}

#[tokio::test]
async fn b6_what_one_project_keeps_does_not_exist_for_another() {
    let (app, _, _, worker) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let digest = Digest::of(b"secret");
    worker.put(&path(app.team.project, digest), &b"secret"[..]).await.is(201);
    others.worker.get(&path(others.project, digest)).await.problem(404, "unknown");
    others.worker.get(&path(app.team.project, digest)).await.problem(404, "unknown");
    others.worker.put(&path(app.team.project, digest), &b"secret"[..]).await.problem(404, "unknown");
    app.auditor.get(&path(others.project, digest)).await.problem(404, "unknown");
}

#[tokio::test]
async fn b6_no_evidence_no_result() {
    let (app, agent, _, worker) = Scenario::start().await;
    agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let before = app.size();
    let missing = Item { name: "stdout".to_owned(), digest: Digest::of(b"never sent"), size_bytes: 10 };
    worker.reports(&job, &worker.manifest(&job, vec![missing])).await.problem(422, "missing_evidence");
    let item = worker.uploads(&job, "stdout", b"hello").await;
    let resized = Item { size_bytes: 6, ..item.clone() };
    worker.reports(&job, &worker.manifest(&job, vec![resized])).await.problem(422, "missing_evidence");
    for name in ["../escape", "/etc/passwd", "a//b", ""] {
        let item = Item { name: name.to_owned(), ..item.clone() };
        worker.reports(&job, &worker.manifest(&job, vec![item])).await.problem(422, "bad_evidence");
    }
    assert_eq!(app.kinds_from(before).await, ["evidence.kept"]);
    let other_bytes =
        placet_domain::evidence::Manifest { executed: Digest::of(b"other"), ..worker.manifest(&job, vec![]) };
    worker.reports(&job, &other_bytes).await.problem(403, "permit");
    let done: api::CompletionView = worker.reports(&job, &worker.manifest(&job, vec![item])).await.is(200).json();
    assert_eq!((done.quarantined, done.action.status.as_str()), (false, "SUCCEEDED"));
    let manifest = app.auditor.get(&format!("/api/v1/actions/{}/evidence", job.action)).await.is(200);
    assert_eq!(Digest::of(&manifest.body), done.evidence);
}

#[tokio::test]
async fn b6_an_execution_that_ended_badly_has_evidence_too() {
    let (app, agent, _, worker) = Scenario::start().await;
    agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    app.auditor.get(&format!("/api/v1/actions/{}/evidence", job.action)).await.problem(404, "unknown");
    let failed = placet_domain::evidence::Manifest { exit: Exit::Signal(9), ..worker.manifest(&job, vec![]) };
    let done: api::CompletionView = worker.reports(&job, &failed).await.is(200).json();
    assert_eq!(done.action.status.as_str(), "FAILED");
    assert_eq!(done.action.because.as_deref(), Some("signal 9"));
    agent.post(&FinishRun { run: app.team.run }.path(), &json!({ "summary": "done" })).await.is(200);
}

/// As programs print them. Made of pieces, so that it is a secret to nobody else.
fn token() -> String {
    ["gh", "p_", "wJ4k9QzT2mX7vB1nR5cY8dL3", "fH6sA0eU9pKq"].concat()
}

#[tokio::test]
async fn a9_secrets_in_evidence_are_recorded_and_told_and_never_shown() {
    let (app, agent, _, worker) = Scenario::start().await;
    agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let before = app.size();
    let printed: &'static str = format!("fetching\nusing {}\n", token()).leak();
    let items = vec![
        worker.uploads(&job, "stdout", printed.as_bytes()).await,
        worker.uploads(&job, "stderr", b"nothing of note").await,
    ];
    let kept = app.auditor.get(&path(job.project, items[0].digest)).await.is(200);
    assert_eq!(&kept.body[..], printed.as_bytes(), "evidence stays as it was");
    worker.reports(&job, &worker.manifest(&job, items)).await.is(200);
    let told = app.auditor.get(&ListSecrets { action: job.action }.path()).await.is(200);
    assert!(!String::from_utf8_lossy(&told.body).contains(&token()[4..]), "where, and never what");
    let told: api::SecretList = told.json();
    let [stdout, stderr] = &told.pieces[..] else { panic!("two pieces: {told:?}") };
    assert!(stderr.secrets.is_empty() && stderr.more == 0);
    let [seen] = &stdout.secrets[..] else { panic!("one secret: {stdout:?}") };
    assert_eq!((stdout.name.as_str(), seen.line, seen.column), ("stdout", 2, 7));
    assert_eq!(seen.shown, "ghp_**** (40 bytes)");
    let entries = app.bodies_from(before).await;
    assert!(entries.contains(&seen.fingerprint) && !entries.contains(&token()[4..]), "{entries}");
}

#[tokio::test]
async fn a9_what_is_full_of_secrets_is_recorded_in_a_few_lines() {
    let (app, _, _, worker) = Scenario::start().await;
    let bytes = format!("{}\n", token()).repeat(100_000);
    let (digest, before) = (Digest::of(bytes.as_bytes()), app.size());
    worker.put(&path(app.team.project, digest), bytes.into_bytes()).await.is(201);
    let entries = app.bodies_from(before).await;
    assert!(entries.contains("\"more\":99900") && entries.len() < 50_000, "{} bytes", entries.len());
}

/// Uploads with a bare socket, and hangs up after a while without hearing the answer.
async fn hangs_up(app: &Scenario, worker: &Person, bytes: &[u8], after: Duration) -> Digest {
    let digest = Digest::of(bytes);
    let line = format!("PUT {} HTTP/1.1", path(app.team.project, digest));
    let (token, length) = (&worker.token, bytes.len());
    let head = format!(
        "{line}\r\nhost: 127.0.0.1\r\nauthorization: Bearer {token}\r\ncontent-type: application/octet-stream\r\n"
    );
    let mut socket = TcpStream::connect(app.address()).await.unwrap();
    socket.write_all(format!("{head}content-length: {length}\r\n\r\n").as_bytes()).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    tokio::time::sleep(after).await;
    digest
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c14_what_an_uploader_who_hung_up_left_on_the_disk_is_kept_by_the_ledger() {
    let (app, _, _, worker) = Scenario::start().await;
    let mut left = Vec::new();
    let rounds = rounds(100, 400) as u64;
    for round in 0..rounds {
        let after = Duration::from_micros(round * 10_000 / rounds);
        left.push(hangs_up(&app, &worker, &round.to_be_bytes().repeat(4_096), after).await);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mut stored = 0;
    for digest in left {
        let kept = app.store().kept(app.team.project, digest).await.unwrap().is_some();
        let there = app.store().blobs().has(digest).await.unwrap();
        assert!(kept || !there, "{digest} lies there, and nobody knows of it");
        stored += usize::from(there);
    }
    assert!(stored > 0, "some of them came far enough");
    app.assert_sound().await;
}
