//! Hosted runs over HTTP: what a host is told, what it reports, and what becomes of the agent's credential.

use placet_domain::digest::Digest;
use placet_domain::run::Wanted;
use placet_wire::endpoint::{
    CancelRun, CreateRun, IssueAgentToken, ListHostings, ListIdentities, ReleaseHalt, RevokeIdentity, ShowRun,
    StoreEvidence,
};
use placet_wire::{Endpoint as _, api};
use serde_json::{Value, json};

use crate::hosting::{at_work, snapshot, started, wanted};
use crate::metrics::{metrics, value};
use crate::scenario::Scenario;

#[tokio::test]
async fn e1_a_hosted_run_has_an_agent_of_its_own_whose_credential_comes_and_goes_with_it() {
    let (app, ..) = Scenario::start().await;
    let (run, agent) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    assert_ne!(run.agent, team.agent.id);
    team.agent.post(&path("finish"), &json!({})).await.is(404);
    let again: api::TokenOnce = team.worker.post(&path("agent-token"), &json!({})).await.is(200).json();
    agent.get(&ShowRun { run: run.id }.path()).await.is(401);
    let agent = team.worker.holding(&again.token);
    agent.post(&path("finish"), &json!({ "summary": "done" })).await.is(200);
    assert_eq!(wanted(&team.worker, &run).await, Some(Wanted::Collected));
    team.worker.post(&path("agent-token"), &json!({})).await.is(409);
    team.worker.post(&path("outputs"), &json!({ "outputs": [] })).await.is(200);
    let seen: api::RunView = team.reviewer.get(&ShowRun { run: run.id }.path()).await.is(200).json();
    agent.get(&ShowRun { run: run.id }.path()).await.is(200);
    team.reviewer.post_if(&path("complete"), seen.review, &json!({})).await.is(200);
    // Its worker may be lost: nobody waits for it.
    agent.get(&ShowRun { run: run.id }.path()).await.is(401);
    assert_eq!(wanted(&team.worker, &run).await, Some(Wanted::Destroyed));
    for _ in 0..2 {
        team.worker.post(&path("destroyed"), &json!({})).await.is(200);
    }
    assert_eq!(wanted(&team.worker, &run).await, None);
    app.assert_sound().await;
}

#[tokio::test]
async fn c19_what_was_not_uploaded_is_no_output() {
    let (app, ..) = Scenario::start().await;
    let (run, agent) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    agent.post(&path("finish"), &json!({})).await.is(200);
    let (bytes, digest) = (b"result".to_vec(), Digest::of(b"result"));
    let output =
        |size: u64| json!({ "outputs": [{ "id": 1, "path": "report.md", "digest": digest, "size_bytes": size }] });
    team.worker.post(&path("outputs"), &output(6)).await.is(422);
    team.worker.put(&StoreEvidence { project: team.project, digest }.path(), bytes).await.is(201);
    team.worker.post(&path("outputs"), &output(7)).await.is(422);
    let seen: api::RunView = team.worker.post(&path("outputs"), &output(6)).await.is(200).json();
    assert_eq!(seen.outputs[0].path, "report.md");
}

#[tokio::test]
async fn c19_what_nobody_let_out_only_reviewers_and_its_host_can_fetch_and_agents_only_what_is_their_own() {
    let (app, ..) = Scenario::start().await;
    let (run, agent) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    let url = |bytes: &[u8]| format!("/api/v1/projects/{}/evidence/{}", team.project, Digest::of(bytes));
    let files: [&[u8]; 3] = [b"for them", b"not for them", b"of somebody else"];
    for bytes in files {
        team.worker.put(&url(bytes), bytes.to_vec()).await.is(201);
        agent.get(&url(bytes)).await.is(404);
    }
    let other = app.another("worker", 2).await;
    // A digest in its own words opens nothing.
    let words = json!({ "summary": format!("look at {}", Digest::of(files[2])) });
    agent.post(&path("finish"), &words).await.is(200);
    let output = |id: usize| json!({ "id": id, "path": format!("docs/{id}.md"), "digest": Digest::of(files[id - 1]), "size_bytes": files[id - 1].len() });
    let twice = json!({ "outputs": [output(1), { "id": 2, "path": "docs/1.md", "digest": Digest::of(files[1]), "size_bytes": files[1].len() }] });
    team.worker.post(&path("outputs"), &twice).await.is(422);
    team.worker.post(&path("outputs"), &json!({ "outputs": [output(1), output(2)] })).await.is(200);
    for bytes in &files[..2] {
        for person in [&team.operator, &other] {
            person.get(&url(bytes)).await.is(403);
        }
        for person in [&team.reviewer, &team.worker, &agent] {
            person.get(&url(bytes)).await.is(200);
        }
        team.agent.get(&url(bytes)).await.is(404);
    }
    agent.get(&url(files[2])).await.is(404);
    team.operator.get(&url(files[2])).await.is(200);
    let seen: api::RunView = team.reviewer.get(&ShowRun { run: run.id }.path()).await.is(200).json();
    team.reviewer.post_if(&path("export"), seen.review, &json!({ "output_ids": [1] })).await.is(200);
    team.operator.get(&url(files[0])).await.is(200);
    team.operator.get(&url(files[1])).await.is(403);
}

#[tokio::test]
async fn c3_an_agent_is_given_only_what_was_uploaded_and_may_be_given() {
    let (app, ..) = Scenario::start().await;
    let (team, digest) = (&app.team, Digest::of(b"data"));
    let new = |launch: Value| json!({ "project": team.project, "goal": "g", "scope": "lab", "plan": ["look"], "launch": launch });
    let launch = |more: Value| {
        let mut launch = json!({ "program": "/usr/bin/true", "profile": "default" });
        launch.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        new(launch)
    };
    let input = |class: &str, shared: bool| {
        launch(json!({ "inputs": [{ "path": "a.csv", "class": class, "shared": shared, "digest": digest }] }))
    };
    let before: Vec<_> = identities(&app).await;
    team.operator.post(&CreateRun {}.path(), &input("PUBLIC", false)).await.is(422);
    team.operator.put(&StoreEvidence { project: team.project, digest }.path(), b"data".to_vec()).await.is(201);
    team.operator.post(&CreateRun {}.path(), &input("CONFIDENTIAL", true)).await.is(422);
    team.operator.post(&CreateRun {}.path(), &input("INTERNAL", false)).await.is(422);
    team.operator.post(&CreateRun {}.path(), &launch(json!({ "profile": "no-such-cage" }))).await.is(422);
    let both = json!({ "project": team.project, "goal": "g", "scope": "lab", "agent": team.agent.id,
                       "launch": { "program": "/usr/bin/true" } });
    team.operator.post(&CreateRun {}.path(), &both).await.is(422);
    assert_eq!(identities(&app).await, before, "nobody was made for what was refused");
    team.operator.post(&CreateRun {}.path(), &input("INTERNAL", true)).await.is(201);
    assert_eq!(identities(&app).await.len(), before.len() + 1);
}

#[tokio::test]
async fn c19_what_was_let_out_is_kept_by_its_own_setting() {
    let day_ms = 24 * 60 * 60 * 1_000;
    let days = |days: u32| Some(placet_domain::retention::Days::try_from(days).unwrap());
    let retention = placet_domain::retention::Retention { evidence_days: days(10), results_days: days(100) };
    let settings = placet_control::Settings { retention, ..Default::default() };
    let (app, ..) = Scenario::start_with(crate::scenario::Setup { settings, ..Default::default() }).await;
    let (run, agent) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    agent.post(&path("finish"), &json!({})).await.is(200);
    let evidence = |bytes: &[u8]| format!("/api/v1/projects/{}/evidence/{}", team.project, Digest::of(bytes));
    for bytes in [&b"draft"[..], b"report"] {
        team.worker.put(&evidence(bytes), bytes).await.is(201);
    }
    let output = |id: u32, bytes: &[u8]| json!({ "id": id, "path": format!("docs/{id}.txt"), "digest": Digest::of(bytes), "size_bytes": bytes.len() });
    let outputs = json!({ "outputs": [output(1, b"draft"), output(2, b"report")] });
    team.worker.post(&path("outputs"), &outputs).await.is(200);
    let seen: api::RunView = team.reviewer.get(&ShowRun { run: run.id }.path()).await.is(200).json();
    team.reviewer.post_if(&path("export"), seen.review, &json!({ "output_ids": [2] })).await.is(200);
    team.worker.post(&path("destroyed"), &json!({})).await.is(200);
    let expire = async || {
        let path = format!("/api/v1/projects/{}/retention/expire", team.project);
        app.admin.post(&path, &json!({})).await.is(200).json::<api::ExpiryView>().removed
    };
    app.pass_ms(50 * day_ms);
    assert_eq!(expire().await, 1, "what nobody let out");
    team.reviewer.get(&evidence(b"draft")).await.problem(410, "removed");
    team.reviewer.get(&evidence(b"report")).await.is(200);
    app.pass_ms(51 * day_ms);
    assert_eq!(expire().await, 1);
    team.reviewer.get(&evidence(b"report")).await.problem(410, "removed");
}

/// Those who are not revoked.
async fn identities(app: &Scenario) -> Vec<String> {
    let list: api::IdentityList = app.admin.get(&ListIdentities {}.path()).await.is(200).json();
    list.identities.into_iter().filter(|identity| !identity.revoked).map(|identity| identity.name).collect()
}

#[tokio::test]
async fn c11_only_its_host_speaks_for_a_run_and_only_of_what_is_wanted() {
    let (app, ..) = Scenario::start().await;
    let (run, agent) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    let other = app.another("worker", 2).await;
    other.post(&path("host"), &json!({})).await.is(409);
    assert_eq!(wanted(&other, &run).await, None, "it is none of its business");
    for (verb, body) in [("snapshots", snapshot(1)), ("agent-token", json!({})), ("destroyed", json!({}))] {
        assert!([403, 409].contains(&other.post(&path(verb), &body).await.status), "{verb}");
        agent.post(&path(verb), &body).await.is(403);
        team.operator.post(&path(verb), &body).await.is(403);
    }
    team.worker.post(&path("snapshots"), &snapshot(1)).await.is(409);
    agent.post(&path("checkpoints"), &json!({ "summary": "look" })).await.is(200);
    team.worker.post(&path("snapshots"), &snapshot(7)).await.is(422);
    let seen: api::RunView = team.worker.post(&path("snapshots"), &snapshot(1)).await.is(200).json();
    assert_eq!(seen.snapshots.len(), 2);
    let card: api::CheckpointView = team.reviewer.get(&path("checkpoint")).await.is(200).json();
    let saved = card.saved.as_ref().map(|saved| (saved.number, saved.files, saved.size_bytes, saved.steps_done));
    assert_eq!((card.snapshot, saved), (Some(1), Some((1, 1, 1, 0))));
    for option in ["approve", "modify", "pause", "rollback", "cancel"] {
        assert!(card.options.iter().any(|has| has == option), "{option}: {:?}", card.options);
    }
    let back = json!({ "to": 0, "reason": "start over" });
    team.operator.post(&path("rollback"), &back).await.is(200);
    team.reviewer.post(&path("resume"), &json!({})).await.is(409);
    let mut wrong = snapshot(0);
    for extra in ["files", "size_bytes"] {
        wrong.as_object_mut().unwrap().remove(extra);
    }
    let right = wrong.clone();
    wrong["workspace"] = json!(Digest::of(b"something else"));
    team.worker.post(&path("restored"), &wrong).await.is(422);
    team.worker.post(&path("restored"), &right).await.is(200);
    team.reviewer.post(&path("resume"), &json!({})).await.is(200);
    assert_eq!(value(&metrics(&app).await, "runs_rollbacks_total"), 1.0);
}

#[tokio::test]
async fn e1_an_agent_is_nobody_any_more_when_its_run_is_cancelled_alone_or_with_its_parent() {
    let (app, ..) = Scenario::start().await;
    let (parent, first) = at_work(&app).await;
    let team = &app.team;
    let new = json!({ "project": team.project, "goal": "g", "scope": "lab", "plan": ["look"], "parent": parent.id,
                      "launch": { "program": "/usr/bin/true", "profile": "default" } });
    let child: api::RunView = team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", child.id);
    team.reviewer.post_if(&path("approve"), child.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.worker.post(&path("host"), &json!({})).await.is(200);
    team.worker.post(&path("snapshots"), &snapshot(0)).await.is(200);
    let once: api::TokenOnce = team.worker.post(&path("agent-token"), &json!({})).await.is(200).json();
    let second = team.worker.holding(&once.token);
    second.get(&ShowRun { run: child.id }.path()).await.is(200);
    team.operator.post(&CancelRun { run: parent.id }.path(), &json!({})).await.is(200);
    first.get(&ShowRun { run: parent.id }.path()).await.is(401);
    let seen: api::RunView = team.operator.get(&ShowRun { run: child.id }.path()).await.is(200).json();
    assert_eq!(seen.status, placet_domain::run::RunStatus::Cancelled);
    // The clockwork finds those that ended with another.
    while second.get(&ShowRun { run: child.id }.path()).await.status != 401 {
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn d11_while_everything_is_stopped_no_process_of_any_run_is_wanted_and_none_is_offered() {
    let (app, ..) = Scenario::start().await;
    let (run, agent) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    agent.post(&path("checkpoints"), &json!({ "summary": "look" })).await.is(200);
    team.worker.post(&path("snapshots"), &snapshot(1)).await.is(200);
    assert_eq!(wanted(&team.worker, &run).await, Some(Wanted::Still));
    let waiting = started(team).await;
    let before: api::HostingList = team.worker.post(&ListHostings {}.path(), &json!({})).await.is(200).json();
    let asked = json!({ "wait_ms": 20_000, "seen": before.seen });
    let asked = team.worker.post("/api/v1/hostings", &asked);
    let halt = json!({ "reason": "fire" });
    let (answer, _) = tokio::join!(asked, team.reviewer.post("/api/v1/halt", &halt));
    let news: api::HostingList = answer.is(200).json();
    let told: Vec<_> = news.hostings.iter().map(|hosting| (hosting.run.id, hosting.wanted)).collect();
    assert_eq!(told, [(run.id, Wanted::Stopped)], "at once, and nothing that it could take in");
    app.admin.post(&ReleaseHalt {}.path(), &json!({ "reason": "out" })).await.is(200);
    assert_eq!(wanted(&team.worker, &run).await, Some(Wanted::Still));
    assert_eq!(wanted(&team.worker, &waiting).await, Some(Wanted::Running));
}

#[tokio::test]
async fn e1_an_agent_that_was_revoked_is_not_equipped_and_nothing_is_recorded_of_it() {
    let (app, ..) = Scenario::start().await;
    let (run, _) = at_work(&app).await;
    app.admin.post(&RevokeIdentity { identity: run.agent }.path(), &json!({})).await.is(200);
    let size = app.size();
    let no = app.team.worker.post(&IssueAgentToken { run: run.id }.path(), &json!({})).await.problem(422, "invalid");
    assert!(no.detail.contains("revoked"), "{}", no.detail);
    assert_eq!(app.size(), size);
}

#[tokio::test]
async fn nobody_fills_the_ledger_by_being_refused() {
    let (app, ..) = Scenario::start().await;
    let (run, _) = at_work(&app).await;
    let (other, size) = (app.another("worker", 2).await, app.size());
    for _ in 0..100 {
        other.post(&IssueAgentToken { run: run.id }.path(), &json!({})).await.is(403);
    }
    let noted = app.kinds_from(size).await.into_iter().filter(|kind| kind.contains("refused")).count();
    assert_eq!(noted, 20, "enough to see it");
}

#[tokio::test]
async fn a_host_that_waits_hears_of_news_at_once_and_of_nothing_else() {
    let (app, ..) = Scenario::start().await;
    let team = &app.team;
    let first: api::HostingList = team.worker.post(&ListHostings {}.path(), &json!({})).await.is(200).json();
    let waiting = json!({ "wait_ms": 20_000, "seen": first.seen });
    let asked = team.worker.post("/api/v1/hostings", &waiting);
    let (answer, run) = tokio::join!(asked, started(team));
    let news: api::HostingList = answer.is(200).json();
    assert_eq!(news.hostings.iter().map(|hosting| hosting.run.id).collect::<Vec<_>>(), [run.id]);
    let patient = json!({ "wait_ms": 300, "seen": news.seen });
    let same: api::HostingList = team.worker.post(&ListHostings {}.path(), &patient).await.is(200).json();
    assert_eq!(same.seen, news.seen);
}

#[tokio::test]
async fn c11_what_a_rollback_would_change_is_asked_of_the_host_and_nothing_of_it_is_kept() {
    let (app, ..) = Scenario::start().await;
    let (run, _) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    team.reviewer.get(&path("rollback/7")).await.is(404);
    team.reviewer.get(&path("rollback/0?wait_ms=10")).await.is(503);
    let part = json!({ "created": 1, "changed": 0, "removed": 2, "mode_changed": 0, "lines": [], "left_off": 3 });
    let preview = json!({ "workspace": part, "memory": part, "drift": [], "drift_left_off": 0 });
    let report = json!({ "number": 0, "preview": preview });
    let other = app.another("worker", 2).await;
    let before = app.size();
    let host = async {
        // Whoever waits for news hears of the question at once.
        let mut seen: api::HostingList = team.worker.post(&ListHostings {}.path(), &json!({})).await.is(200).json();
        while seen.hostings.iter().all(|hosting| hosting.preview != Some(0)) {
            let waiting = json!({ "wait_ms": 20_000, "seen": seen.seen });
            seen = team.worker.post(&ListHostings {}.path(), &waiting).await.is(200).json();
        }
        other.post(&path("previews"), &report).await.is(403);
        team.worker.post(&path("previews"), &report).await.is(200);
    };
    let asking = path("rollback/0?wait_ms=20000");
    let (answer, ()) = tokio::join!(team.reviewer.get(&asking), host);
    let answer: api::RollbackPreview = answer.is(200).json();
    assert_eq!((answer.workspace.removed, answer.memory.left_off), (2, 3));
    assert_eq!(app.size(), before, "a question leaves nothing");
    let list: api::HostingList = team.worker.post(&ListHostings {}.path(), &json!({})).await.is(200).json();
    assert!(list.hostings.iter().all(|hosting| hosting.preview.is_none()), "it is answered");
}

#[tokio::test]
async fn c11_who_asks_the_same_again_does_not_wait_until_the_host_looks_by_itself() {
    let (app, ..) = Scenario::start().await;
    let (run, _) = at_work(&app).await;
    let (team, path) = (&app.team, |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    let part = json!({ "created": 0, "changed": 0, "removed": 0, "mode_changed": 0, "lines": [], "left_off": 0 });
    let preview = json!({ "workspace": part, "memory": part, "drift": [], "drift_left_off": 0 });
    let report = json!({ "number": 0, "preview": preview });
    let asked_since = async |seen: Option<Digest>| -> Digest {
        let mut seen = seen;
        loop {
            let waiting = json!({ "wait_ms": 20_000, "seen": seen });
            let list: api::HostingList = team.worker.post(&ListHostings {}.path(), &waiting).await.is(200).json();
            seen = Some(list.seen);
            if list.hostings.iter().any(|hosting| hosting.preview == Some(0)) {
                return list.seen;
            }
        }
    };
    let asking = path("rollback/0?wait_ms=15000");
    let (ask, begun) = (async || team.reviewer.get(&asking).await.is(200), std::time::Instant::now());
    let host = async {
        let first = asked_since(None).await;
        team.worker.post(&path("previews"), &report).await.is(200);
        // All that the host knows is the first question; the second one looks the same, and is not.
        asked_since(Some(first)).await;
        team.worker.post(&path("previews"), &report).await.is(200);
    };
    let person = async {
        ask().await;
        ask().await;
    };
    tokio::join!(person, host);
    assert!(begun.elapsed() < std::time::Duration::from_secs(10), "{:?}", begun.elapsed());
}
