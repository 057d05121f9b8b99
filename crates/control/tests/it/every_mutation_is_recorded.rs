//! Every route that changes something writes to the ledger. One story walks all of them; a route it does not visit fails
//! the test, so that a new one cannot be forgotten.

use std::collections::BTreeSet;

use axum::http::Method;
use placet_control::{Hooks, Settings, route_table};
use placet_domain::digest::Digest;
use placet_domain::retention::{Days, Retention};
use placet_domain::worktree::Duties;
use placet_wire::api;
use serde_json::{Value, json};

use crate::moves::{closing, commit, declaration, fetching, opening, reading, scan, worktree_of};
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, Setup, scope};
use crate::webhooks::{Message, hook_of};

/// Calls routes by their pattern and remembers which.
struct Walk<'a> {
    app: &'a Scenario,
    walked: BTreeSet<(String, String)>,
}

impl Walk<'_> {
    /// Takes one step, which must succeed and must be recorded by whoever took it.
    async fn step(
        &mut self,
        person: &Person,
        route: &str,
        names: &[&str],
        body: &Value,
        seen: Option<Digest>,
    ) -> Answer {
        let (method, pattern) = route.split_once(' ').unwrap();
        let mut names = names.iter();
        let part =
            |part: &str| if part.starts_with('{') { (*names.next().unwrap()).to_owned() } else { part.to_owned() };
        let path = pattern.split('/').map(part).collect::<Vec<_>>().join("/");
        let before = self.app.size();
        let request = person.request(method.parse::<Method>().unwrap(), &path);
        let request = match seen {
            Some(digest) => request.header("if-match", format!("\"{digest}\"")),
            None => request,
        };
        self.settled(person, route, before, Answer::to(request.json(body)).await).await
    }

    /// An answer that must be a yes, and must be recorded as this person's doing.
    async fn settled(&mut self, person: &Person, route: &str, before: u64, answer: Answer) -> Answer {
        let (method, pattern) = route.split_once(' ').unwrap();
        assert!((200..300).contains(&answer.status), "{route}: {}", String::from_utf8_lossy(&answer.body));
        let entries = self.app.entries_from(before).await;
        assert!(!entries.is_empty(), "{route} left no trace");
        let mine = Value::from(person.id.to_string());
        let actor = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap()["actor"].clone();
        assert!(entries.iter().any(|entry| actor(&entry.bytes) == mine), "{route} is recorded as somebody else's");
        self.walked.insert((method.to_owned(), pattern.to_owned()));
        answer
    }

    async fn plain(&mut self, person: &Person, route: &str, names: &[&str], body: Value) -> Answer {
        self.step(person, route, names, &body, None).await
    }
}

/// People, a project and a scope.
async fn set_up(walk: &mut Walk<'_>) {
    let admin = &walk.app.admin;
    let project: api::ProjectView =
        walk.plain(admin, "POST /api/v1/projects", &[], json!({ "name": "gamma" })).await.json();
    let id = project.id.to_string();
    walk.plain(admin, "POST /api/v1/projects/{project}/scopes", &[&id], scope()).await;
    let new = json!({ "name": "temp", "roles": ["agent"] });
    let once: api::TokenOnce = walk.plain(admin, "POST /api/v1/identities", &[], new).await.json();
    let id = once.identity.id.to_string();
    walk.plain(admin, "POST /api/v1/identities/{identity}/token", &[&id], json!({})).await;
    walk.plain(admin, "POST /api/v1/identities/{identity}/link", &[&admin.id.to_string()], json!({})).await;
    let (away, rita) =
        (json!({ "to": walk.app.team.second.id, "until": "2026-02-07T00:00:00Z" }), &walk.app.team.reviewer);
    let name = rita.id.to_string();
    walk.plain(rita, "POST /api/v1/identities/{identity}/away", &[&name], away).await;
    walk.plain(rita, "POST /api/v1/identities/{identity}/back", &[&name], json!({})).await;
    walk.plain(admin, "POST /api/v1/identities/{identity}/revoke", &[&id], json!({})).await;
}

/// A run from its making to its end, twice sent back.
async fn undertake(walk: &mut Walk<'_>) -> String {
    let team = &walk.app.team;
    let new = json!({ "project": team.project, "goal": "g", "scope": "lab", "agent": team.agent.id });
    let run: api::RunView = walk.plain(&team.operator, "POST /api/v1/runs", &[], new).await.json();
    let intent = json!({ "project": team.project, "intent": "Run it", "scope": "lab", "agent": team.agent.id });
    walk.plain(&team.operator, "POST /api/v1/autonomous/executions", &[], intent).await;
    let id = run.id.to_string();
    let plan = json!({ "plan": ["look"] });
    walk.plain(&team.operator, "POST /api/v1/runs/{run}/submit", &[&id], plan.clone()).await;
    walk.plain(&team.reviewer, "POST /api/v1/runs/{run}/reject", &[&id], json!({ "reason": "why?" })).await;
    let run: api::RunView = walk.plain(&team.operator, "POST /api/v1/runs/{run}/submit", &[&id], plan).await.json();
    walk.step(&team.reviewer, "POST /api/v1/runs/{run}/approve", &[&id], &json!({}), Some(run.review)).await;
    walk.plain(&team.operator, "POST /api/v1/runs/{run}/start", &[&id], json!({})).await;
    walk.plain(&team.agent, "POST /api/v1/runs/{run}/attach", &[&id], json!({})).await;
    walk.plain(&team.reviewer, "POST /api/v1/runs/{run}/pause", &[&id], json!({})).await;
    walk.plain(&team.reviewer, "POST /api/v1/runs/{run}/resume", &[&id], json!({})).await;
    look_in_between(walk, &id).await;
    id
}

/// Checkpoints: passed, passed otherwise, sent back.
async fn look_in_between(walk: &mut Walk<'_>, run: &str) {
    let team = &walk.app.team;
    let decided = ["approve", "modify", "reject"];
    for (number, verb) in ["1", "2", "3"].into_iter().zip(decided) {
        let reached = "POST /api/v1/runs/{run}/checkpoints";
        let view: api::RunView = walk.plain(&team.agent, reached, &[run], json!({ "summary": "look" })).await.json();
        let body = if verb == "reject" { json!({ "reason": "no" }) } else { json!({}) };
        let route = format!("POST /api/v1/runs/{{run}}/checkpoints/{{number}}/{verb}");
        walk.step(&team.reviewer, &route, &[run, number], &body, Some(view.review)).await;
    }
    walk.plain(&team.agent, "POST /api/v1/runs/{run}/steps", &[run], json!({ "step": 1 })).await;
    let limits = json!({ "limits": { "actions": 100 } });
    walk.plain(&team.reviewer, "POST /api/v1/runs/{run}/budget", &[run], limits).await;
}

/// The organisation: money for it and its projects; everything stopped and let go on.
async fn organise(walk: &mut Walk<'_>) {
    let (admin, project) = (&walk.app.admin, walk.app.team.project.to_string());
    // What is under way has no budget, so nothing above it can be limited.
    let list: api::RunList = walk.app.team.operator.get("/api/v1/runs").await.is(200).json();
    for run in list.runs.iter().filter(|run| !run.status.is_final()) {
        walk.app.team.operator.cancels(run.id).await.is(200);
    }
    let limits = json!({ "limits": { "usd_micros": 1_000 } });
    walk.plain(admin, "POST /api/v1/organisation/budget", &[], limits).await;
    let limits = json!({ "limits": { "usd_micros": 500 } });
    walk.plain(admin, "POST /api/v1/projects/{project}/budget", &[&project], limits).await;
    let keep = json!({ "kept": true, "reason": "look into it" });
    walk.plain(admin, "POST /api/v1/projects/{project}/words", &[&project], keep).await;
    walk.plain(admin, "POST /api/v1/halt", &[], json!({ "reason": "fire" })).await;
    walk.plain(admin, "POST /api/v1/release", &[], json!({ "reason": "it is out" })).await;
    walk.plain(admin, "POST /api/v1/safe-mode", &[], json!({ "reason": "smoke" })).await;
    walk.plain(admin, "POST /api/v1/safe-mode/end", &[], json!({ "reason": "it was dust" })).await;
    walk.plain(admin, "POST /api/v1/passkeys/demand", &[], json!({ "reason": "an audit" })).await;
    walk.plain(admin, "POST /api/v1/passkeys/release", &[], json!({ "reason": "it is over" })).await;
}

/// Contents: preserved, and removed when they no longer are.
async fn retain(walk: &mut Walk<'_>) {
    let (admin, project) = (&walk.app.admin, walk.app.team.project.to_string());
    let path = format!("/api/v1/projects/{project}/evidence/{}", Digest::of(b"old"));
    walk.app.team.worker.put(&path, &b"old"[..]).await.is(201);
    let wish = json!({ "reason": "look into it" });
    walk.plain(admin, "POST /api/v1/projects/{project}/retention/preserve", &[&project], wish.clone()).await;
    walk.plain(admin, "POST /api/v1/projects/{project}/retention/end-preservation", &[&project], wish).await;
    walk.app.pass_ms(2 * 24 * 60 * 60 * 1_000);
    walk.plain(admin, "POST /api/v1/projects/{project}/retention/expire", &[&project], json!({})).await;
}

/// Actions: approved, rejected, withdrawn, executed, interrupted.
async fn act(walk: &mut Walk<'_>, run: &str) {
    let team = &walk.app.team;
    let propose = async |walk: &mut Walk<'_>, wish: Value| -> api::ActionView {
        walk.plain(&team.agent, "POST /api/v1/runs/{run}/actions", &[run], wish).await.json()
    };
    let (yes, no, back) = (propose(walk, scan()).await, propose(walk, scan()).await, propose(walk, scan()).await);
    let lost = propose(walk, reading()).await;
    let id = |action: &api::ActionView| action.id.to_string();
    walk.step(&team.reviewer, "POST /api/v1/actions/{action}/approve", &[&id(&yes)], &json!({}), Some(yes.review))
        .await;
    let reason = json!({ "reason": "no" });
    walk.step(&team.reviewer, "POST /api/v1/actions/{action}/reject", &[&id(&no)], &reason, Some(no.review)).await;
    let less = propose(walk, scan()).await;
    let amendment = json!({ "changes": { "timeout_ms": 1_000 }, "reason": "less" });
    let amended: api::ActionView = walk
        .step(&team.second, "POST /api/v1/actions/{action}/amend", &[&id(&less)], &amendment, Some(less.review))
        .await
        .json();
    walk.plain(&team.agent, "POST /api/v1/actions/{action}/withdraw", &[&id(&amended)], json!({})).await;
    walk.plain(&team.agent, "POST /api/v1/actions/{action}/withdraw", &[&id(&back)], json!({})).await;
    let done = job(walk, &yes).await;
    let digest = Digest::of(b"{}").to_string();
    let names = [&team.project.to_string()[..], &digest];
    walk.plain(&team.worker, "PUT /api/v1/projects/{project}/evidence/{digest}", &names, json!({})).await;
    let manifest = json!({ "manifest": team.worker.manifest(&done, vec![]) });
    walk.plain(&team.worker, "POST /api/v1/jobs/{action}/complete", &[&id(&yes)], manifest).await;
    let lapsing = job(walk, &lost).await;
    walk.app.pass_ms(lapsing.lease_ms);
    walk.app.until(0, "job.lease_lapsed").await;
    let resolution = json!({ "resolution": "abandon", "reason": "gone" });
    walk.plain(&team.reviewer, "POST /api/v1/actions/{action}/resolve", &[&id(&lost)], resolution).await;
}

/// A standing order: given, and taken back.
async fn order(walk: &mut Walk<'_>, run: &str) {
    let team = &walk.app.team;
    let action = team.agent.proposes(run.parse().unwrap(), &scan()).await;
    let (route, seen) = ("POST /api/v1/actions/{action}/order", Some(action.review));
    walk.step(&team.reviewer, route, &[&action.id.to_string()], &json!({}), seen).await;
    let reason = json!({ "reason": "enough" });
    walk.plain(&team.operator, "POST /api/v1/runs/{run}/orders/{number}/revoke", &[run, "1"], reason).await;
    team.agent.withdraws(&action).await.is(200);
}

/// Somebody is named who should look at it, and sets it aside.
async fn attend(walk: &mut Walk<'_>, run: &str) {
    let team = &walk.app.team;
    let action = team.agent.proposes(run.parse().unwrap(), &scan()).await;
    let id = action.id.to_string();
    let to = json!({ "to": team.second.id, "note": "look" });
    walk.plain(&team.reviewer, "POST /api/v1/actions/{action}/assign", &[&id], to).await;
    let until = walk.app.store().now().plus_ms(60_000).unix_ms();
    let until = json!({ "until": jiff::Timestamp::from_millisecond(until).unwrap().to_string() });
    walk.plain(&team.second, "POST /api/v1/actions/{action}/defer", &[&id], until).await;
    team.agent.withdraws(&action).await.is(200);
}

/// More of the network for an action under way: asked for, opened, closed again, refused.
async fn open_more(walk: &mut Walk<'_>, run: &str) {
    let team = &walk.app.team;
    let action = team.agent.proposes(run.parse().unwrap(), &fetching()).await;
    team.reviewer.approves(&action).await.is(200);
    let job = team.worker.leases().await.unwrap();
    team.worker.redeems(&job).await.is(200);
    let wishes = json!({ "attempt": job.attempt, "wishes": ["https://a.test/", "https://b.test/"] });
    walk.plain(&team.worker, "POST /api/v1/jobs/{action}/network", &[&job.action.to_string()], wishes).await;
    let list: api::WishList = team.reviewer.get(&format!("/api/v1/runs/{run}/wishes")).await.is(200).json();
    let route = |verb: &str| format!("POST /api/v1/runs/{{run}}/wishes/{{number}}/{verb}");
    let seen = Some(list.wishes[0].review);
    walk.step(&team.reviewer, &route("grant"), &[run, "1"], &json!({}), seen).await;
    walk.plain(&team.operator, &route("revoke"), &[run, "1"], json!({ "reason": "enough" })).await;
    walk.plain(&team.reviewer, &route("reject"), &[run, "2"], json!({ "reason": "no" })).await;
    let manifest = json!({ "manifest": team.worker.manifest(&job, vec![]) });
    team.worker.post(&format!("/api/v1/jobs/{}/complete", job.action), &manifest).await.is(200);
}

/// A simulation, of which something is done after all.
async fn perform(walk: &mut Walk<'_>) {
    let team = &walk.app.team;
    let run = crate::moves::working(walk.app, json!({ "mode": "SIMULATION" })).await;
    let action = team.agent.proposes(run.id, &scan()).await;
    team.agent.post(&format!("/api/v1/runs/{}/finish", run.id), &json!({})).await.is(200);
    let (route, id) = ("POST /api/v1/actions/{action}/perform", action.id.to_string());
    walk.step(&team.reviewer, route, &[&id], &json!({}), Some(action.review)).await;
    team.operator.cancels(run.id).await.is(200);
}

async fn job(walk: &mut Walk<'_>, action: &api::ActionView) -> api::Job {
    let (worker, id) = (&walk.app.team.worker, action.id.to_string());
    let job: api::Job = walk.plain(worker, "POST /api/v1/leases", &[], json!({})).await.json();
    assert_eq!(job.action, action.id);
    walk.plain(worker, "POST /api/v1/jobs/{action}/redeem", &[&id], json!({ "permit": job.permit })).await;
    walk.plain(worker, "POST /api/v1/jobs/{action}/heartbeat", &[&id], json!({ "attempt": job.attempt })).await;
    job
}

/// Another run, whose results wait.
async fn finished(walk: &mut Walk<'_>) -> api::RunView {
    let team = &walk.app.team;
    let run = team.draft(json!(["look"])).await;
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.agent.post(&path("attach"), &json!({})).await.is(200);
    team.agent.post(&path("finish"), &json!({})).await.is(200).json()
}

async fn end(walk: &mut Walk<'_>, run: &str) {
    let team = &walk.app.team;
    let done = json!({ "summary": "done" });
    let finish = walk.plain(&team.agent, "POST /api/v1/runs/{run}/finish", &[run], done).await;
    let (more, seen) = (json!({ "reason": "more" }), Some(finish.json::<api::RunView>().review));
    walk.step(&team.reviewer, "POST /api/v1/runs/{run}/reject-results", &[run], &more, seen).await;
    let finish = walk.plain(&team.agent, "POST /api/v1/runs/{run}/finish", &[run], json!({})).await;
    let seen = finish.json::<api::RunView>().review;
    walk.step(&team.reviewer, "POST /api/v1/runs/{run}/complete", &[run], &json!({}), Some(seen)).await;
    let first = team.run.to_string();
    walk.plain(&team.agent, "POST /api/v1/runs/{run}/fail", &[&first], json!({ "reason": "stuck" })).await;
    walk.plain(&team.operator, "POST /api/v1/runs/{run}/cancel", &[&first], json!({})).await;
}

/// A run that a worker hosts: saved, rolled back twice, collected, destroyed.
async fn host(walk: &mut Walk<'_>) {
    let team = &walk.app.team;
    walk.plain(&team.worker, "POST /api/v1/declaration", &[], declaration("0.0.0")).await;
    let new = json!({ "project": team.project, "goal": "g", "scope": "lab", "plan": ["look"],
                      "launch": { "program": "/usr/bin/true", "profile": "default" } });
    let run: api::RunView = team.operator.post("/api/v1/runs", &new).await.is(201).json();
    let (id, path) = (run.id.to_string(), |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id));
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    walk.plain(&team.worker, "POST /api/v1/runs/{run}/host", &[&id], json!({})).await;
    let saved = |number: u32| {
        let (workspace, memory) = (Digest::of(b"files"), Digest::of(b"memory"));
        json!({ "number": number, "workspace": workspace, "memory": memory, "files": 1, "size_bytes": 1 })
    };
    walk.plain(&team.worker, "POST /api/v1/runs/{run}/snapshots", &[&id], saved(0)).await;
    let once: api::TokenOnce =
        walk.plain(&team.worker, "POST /api/v1/runs/{run}/agent-token", &[&id], json!({})).await.json();
    let agent = team.worker.holding(&once.token);
    agent.post(&path("attach"), &json!({})).await.is(200);
    agent.post(&path("checkpoints"), &json!({ "summary": "look" })).await.is(200);
    team.worker.post(&path("snapshots"), &saved(1)).await.is(200);
    let (reason, mut back) = (json!({ "reason": "no" }), saved(1));
    walk.plain(&team.operator, "POST /api/v1/runs/{run}/checkpoints/{number}/rollback", &[&id, "1"], reason).await;
    for extra in ["files", "size_bytes"] {
        back.as_object_mut().unwrap().remove(extra);
    }
    walk.plain(&team.worker, "POST /api/v1/runs/{run}/restored", &[&id], back.clone()).await;
    let again = json!({ "to": 0, "reason": "further" });
    team.reviewer.post(&path("resume"), &json!({})).await.is(200);
    walk.plain(&team.operator, "POST /api/v1/runs/{run}/snapshot", &[&id], json!({})).await;
    let no_room = json!({ "fault": { "kind": "snapshot_failed", "error": "no room" } });
    walk.plain(&team.worker, "POST /api/v1/runs/{run}/snapshot-failed", &[&id], no_room).await;
    team.operator.post(&path("snapshot"), &json!({})).await.is(200);
    team.worker.post(&path("snapshots"), &saved(2)).await.is(200);
    walk.plain(&team.operator, "POST /api/v1/runs/{run}/rollback", &[&id], again).await;
    back["number"] = json!(0);
    team.worker.post(&path("restored"), &back).await.is(200);
    team.reviewer.post(&path("resume"), &json!({})).await.is(200);
    agent.post(&path("finish"), &json!({})).await.is(200);
    walk.plain(&team.worker, "POST /api/v1/runs/{run}/outputs", &[&id], json!({ "outputs": [] })).await;
    team.operator.post(&path("cancel"), &json!({})).await.is(200);
    walk.plain(&team.worker, "POST /api/v1/runs/{run}/destroyed", &[&id], json!({})).await;
}

/// Only asks, or answers what was asked: nothing is changed by it.
const QUESTIONS: &[&str] = &[
    "/api/v1/hostings",
    "/api/v1/runs/{run}/previews",
    // What programs say is kept in memory for those who watch.
    "/api/v1/runs/{run}/log",
    "/api/v1/jobs/{action}/log",
];

/// A worktree: given up once, then opened, worked in, exempted, closed and merged.
async fn open_close(walk: &mut Walk<'_>) {
    let team = &walk.app.team;
    let (project, id) = (team.project.to_string(), worktree_of(team, "backend", "PAY-1").to_string());
    let (operator, names) = (&team.operator, [&id[..]]);
    let duties = json!({ "duties": Duties::default() });
    walk.plain(&walk.app.admin, "POST /api/v1/projects/{project}/duties", &[&project], duties).await;
    let new = json!({ "opening": opening("backend", "PAY-1") });
    walk.plain(operator, "POST /api/v1/projects/{project}/worktrees", &[&project], new.clone()).await;
    walk.plain(operator, "POST /api/v1/worktrees/{worktree}/abort", &names, json!({ "reason": "no disk" })).await;
    walk.plain(operator, "POST /api/v1/projects/{project}/worktrees", &[&project], new).await;
    walk.plain(operator, "POST /api/v1/worktrees/{worktree}/settle", &names, json!({})).await;
    walk.plain(operator, "POST /api/v1/worktrees/{worktree}/adopt", &names, json!({ "reason": "all there" })).await;
    let work = json!({ "work": { "is": "harvested", "from": commit(1), "to": commit(2), "commits": 1 } });
    walk.plain(operator, "POST /api/v1/worktrees/{worktree}/work", &names, work).await;
    let wish = json!({ "paths": ["Makefile"], "reason": "a target" });
    let asked = "POST /api/v1/worktrees/{worktree}/exemptions";
    walk.plain(operator, asked, &names, wish.clone()).await;
    let view: api::WorktreeView = walk.plain(operator, asked, &names, wish).await.json();
    let (granted, refused) = (
        "POST /api/v1/worktrees/{worktree}/exemptions/{number}/grant",
        "POST /api/v1/worktrees/{worktree}/exemptions/{number}/refuse",
    );
    let seen = Some(view.exemptions[0].review);
    walk.step(&team.reviewer, granted, &[&id, "0"], &json!({}), seen).await;
    walk.plain(&team.reviewer, refused, &[&id, "1"], json!({ "reason": "once is enough" })).await;
    walk.plain(operator, "POST /api/v1/worktrees/{worktree}/close", &names, closing(&[])).await;
    let merge = json!({ "into": "main", "commit": commit(3) });
    walk.plain(&team.reviewer, "POST /api/v1/worktrees/{worktree}/merge", &names, merge).await;
}

#[tokio::test]
async fn b1_every_route_that_changes_something_writes_to_the_ledger() {
    let retention = Retention { evidence_days: Some(Days::try_from(1).unwrap()), results_days: None };
    let settings = Settings { retention, ..Settings::default() };
    let (mut app, agent, _, _) =
        Scenario::start_with(Setup { settings, evidence_key: Some([5; 32]), ..Setup::default() }).await;
    app.restart_with(Hooks::new(vec![], vec![hook_of("ci", &agent)]).unwrap()).await;
    let mut walk = Walk { app: &app, walked: BTreeSet::new() };
    set_up(&mut walk).await;
    open_close(&mut walk).await;
    let run = undertake(&mut walk).await;
    act(&mut walk, &run).await;
    order(&mut walk, &run).await;
    attend(&mut walk, &run).await;
    open_more(&mut walk, &run).await;
    perform(&mut walk).await;
    let (before, message) = (app.size(), json!({ "run": run, "proposal": scan() }));
    let answer = Message::of("msg_1", &message).send(&app, "ci").await;
    walk.settled(&agent, "POST /api/v1/hooks/{name}", before, answer).await;
    end(&mut walk, &run).await;
    let another = finished(&mut walk).await;
    let seen = Some(another.review);
    let id = another.id.to_string();
    walk.step(&app.team.reviewer, "POST /api/v1/runs/{run}/export", &[&id], &json!({}), seen).await;
    host(&mut walk).await;
    organise(&mut walk).await;
    retain(&mut walk).await;
    let walked = walk.walked;
    let mutating: BTreeSet<_> = route_table().into_iter().map(|(method, path, _)| (method, path)).collect();
    let mutating: BTreeSet<_> =
        mutating.into_iter().filter(|(method, _)| method == "POST" || method == "PUT").collect();
    // A second name leads to the same handler.
    let mutating: BTreeSet<_> =
        mutating.into_iter().filter(|(_, path)| !path.starts_with("/api/v1/autonomous/executions/")).collect();
    let mutating: BTreeSet<_> = mutating.into_iter().filter(|(_, path)| !QUESTIONS.contains(&path.as_str())).collect();
    assert_eq!(walked, mutating, "a route that changes something is missing in this story");
    app.assert_sound().await;
}

#[tokio::test]
async fn b6_the_only_route_that_deletes_refuses() {
    let (app, _, _, worker) = Scenario::start().await;
    let deleting: Vec<_> = route_table().into_iter().filter(|(method, ..)| method == "DELETE").collect();
    assert_eq!(deleting.len(), 1, "{deleting:?}");
    let digest = Digest::of(b"x");
    let path = format!("/api/v1/projects/{}/evidence/{digest}", app.team.project);
    worker.put(&path, &b"x"[..]).await.is(201);
    worker.delete(&path).await.problem(403, "immutable");
}

#[tokio::test]
async fn b11_reading_changes_nothing() {
    let (app, agent, _, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    for (method, path, _) in route_table() {
        if method != "GET" || path.ends_with("/stream") {
            continue;
        }
        let path = path.replace("{run}", &app.team.run.to_string()).replace("{action}", &action.id.to_string());
        let path =
            path.replace("{project}", &app.team.project.to_string()).replace("{digest}", &Digest::of(b"x").to_string());
        let path = path.replace("{number}", "1");
        app.auditor.get(&path).await;
        // What was said in calls is not for administrators; that they tried is recorded.
        if !path.ends_with("/words") {
            app.admin.get(&path).await;
        }
    }
    assert_eq!(app.size(), before);
}
