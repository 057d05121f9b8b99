//! Worktrees over HTTP: one agent, one ticket, one worktree, and whoever has the duty.

use placet_wire::api;
use serde_json::{Value, json};

use crate::moves::{closing, commit, opening, worktree_of};
use crate::person::{Answer, Person};
use crate::scenario::Scenario;

async fn open(app: &Scenario, person: &Person, agent: &str, ticket: &str) -> Answer {
    let path = format!("/api/v1/projects/{}/worktrees", app.team.project);
    person.post(&path, &json!({ "opening": opening(agent, ticket) })).await
}

async fn say(app: &Scenario, person: &Person, word: &str, body: Value) -> Answer {
    let id = worktree_of(&app.team, "backend", "PAY-1");
    person.post(&format!("/api/v1/worktrees/{id}/{word}"), &body).await
}

/// A worktree of `backend` at `PAY-1` that is there.
async fn opened() -> Scenario {
    let (app, _, _, _) = Scenario::start().await;
    open(&app, &app.team.operator, "backend", "PAY-1").await.is(201);
    say(&app, &app.team.operator, "settle", json!({})).await.is(200);
    app
}

#[tokio::test]
async fn a1_one_agent_has_one_worktree_for_one_ticket() {
    let app = opened().await;
    let operator = &app.team.operator;
    let again = open(&app, operator, "backend", "PAY-1").await.problem(409, "not_now");
    assert!(again.detail.contains("--resume"), "{}", again.detail);
    open(&app, operator, "database", "PAY-1").await.is(201);
    open(&app, operator, "backend", "PAY-2").await.is(201);
    let list: api::WorktreeList = operator.get("/api/v1/worktrees?ticket=PAY-1").await.is(200).json();
    let agents: Vec<_> = list.worktrees.iter().map(|worktree| worktree.opening.agent.as_str()).collect();
    assert_eq!(agents, ["backend", "database"]);
    app.assert_sound().await;
}

#[tokio::test]
async fn a1_what_is_over_can_be_taken_up_again() {
    let app = opened().await;
    say(&app, &app.team.operator, "abort", json!({ "reason": "the ticket moved" })).await.is(200);
    let view: api::WorktreeView = open(&app, &app.team.operator, "backend", "PAY-1").await.is(201).json();
    assert_eq!((view.sitting, view.status.as_str()), (2, "OPENING"));
    app.assert_sound().await;
}

#[tokio::test]
async fn a1_branch_and_place_follow_from_agent_and_ticket() {
    let (app, _, _, _) = Scenario::start().await;
    for (field, other) in [("branch", "main"), ("path", "../elsewhere")] {
        let mut opening = opening("backend", "PAY-1");
        opening[field] = other.into();
        let path = format!("/api/v1/projects/{}/worktrees", app.team.project);
        app.team.operator.post(&path, &json!({ "opening": opening })).await.problem(422, "invalid");
    }
}

#[tokio::test]
async fn a13_only_the_accountable_decide_and_the_responsible_only_work() {
    let (app, _, _, _) = Scenario::start().await;
    let (operator, reviewer) = (&app.team.operator, &app.team.reviewer);
    let names = |duty: &str| -> Value {
        let (accountable, responsible) = (json!(["@reviewer"]), json!(["@operator"]));
        json!({ "accountable": accountable, "responsible": responsible, "informed": [format!("{duty}-list")] })
    };
    let table = ["start", "execute", "scope_check", "close", "merge"];
    let duties: Value = table.iter().map(|duty| ((*duty).to_owned(), names(duty))).collect();
    let path = format!("/api/v1/projects/{}/duties", app.team.project);
    operator.post(&path, &json!({ "duties": duties })).await.problem(403, "role");
    app.admin.post(&path, &json!({ "duties": duties })).await.is(200);
    let before = app.size();
    open(&app, operator, "backend", "PAY-1").await.problem(403, "duty");
    assert_eq!(app.kinds_from(before).await, ["refused"], "the attempt is recorded");
    open(&app, reviewer, "backend", "PAY-1").await.is(201);
    say(&app, reviewer, "settle", json!({})).await.is(200);
    let work = json!({ "work": { "is": "harvested", "from": commit(1), "to": commit(2), "commits": 1 } });
    let view: api::WorktreeView = say(&app, operator, "work", work).await.is(200).json();
    assert_eq!(view.tip.as_str(), commit(2));
    say(&app, operator, "close", closing(&[])).await.problem(403, "duty");
    say(&app, reviewer, "close", closing(&[])).await.is(200);
}

#[tokio::test]
async fn a13_nobody_can_leave_an_operation_without_somebody_who_answers_for_it() {
    let (app, _, _, _) = Scenario::start().await;
    let path = format!("/api/v1/projects/{}/duties", app.team.project);
    let mut table = app.admin.get(&path).await.is(200).json::<Value>();
    table["duties"]["close"]["accountable"] = json!([]);
    let problem = app.admin.post(&path, &table).await.problem(422, "invalid");
    assert!(problem.detail.contains("`close`"), "{}", problem.detail);
    table["duties"]["close"]["accountable"] = json!(["@agent"]);
    app.admin.post(&path, &table).await.problem(400, "bad_json");
}

#[tokio::test]
async fn a13_the_informed_are_told_and_nobody_else() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let path = format!("/api/v1/projects/{}/duties", app.team.project);
    let mut table = app.admin.get(&path).await.is(200).json::<Value>();
    table["duties"]["start"]["informed"] = json!(["@reviewer"]);
    app.admin.post(&path, &table).await.is(200);
    open(&app, &app.team.operator, "backend", "PAY-1").await.is(201);
    let told: api::NoticeList = reviewer.get("/api/v1/notices").await.is(200).json();
    let seen: Vec<_> = told.notices.iter().map(|notice| (notice.event.as_str(), notice.ticket.as_str())).collect();
    assert_eq!(seen, [("worktree.opening", "PAY-1")]);
    assert_eq!(told.notices[0].actor, app.team.operator.id.to_string());
    let later = format!("/api/v1/notices?after={}", told.next);
    assert!(reviewer.get(&later).await.is(200).json::<api::NoticeList>().notices.is_empty());
    assert!(app.team.operator.get("/api/v1/notices").await.is(200).json::<api::NoticeList>().notices.is_empty());
}

#[tokio::test]
async fn consulted_people_are_asked_and_decisions_record_their_answers() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let path = format!("/api/v1/projects/{}/duties", app.team.project);
    let mut table = app.admin.get(&path).await.is(200).json::<Value>();
    table["duties"]["close"]["consulted"] = json!(["@reviewer"]);
    table["duties"]["merge"]["consulted"] = json!(["@auditor"]);
    app.admin.post(&path, &table).await.is(200);
    let operator = &app.team.operator;
    open(&app, operator, "backend", "PAY-1").await.is(201);
    say(&app, operator, "settle", json!({})).await.is(200);
    let asked = |list: &api::NoticeList| -> Vec<String> {
        list.notices.iter().flat_map(|notice| notice.consulted_on.clone()).collect()
    };
    let told: api::NoticeList = reviewer.get("/api/v1/notices").await.is(200).json();
    assert_eq!(asked(&told), ["close"], "asked as soon as it can be closed");
    let advice = |on: &str, said: &str| json!({ "work": { "is": "advised", "on": on, "said": said } });
    say(&app, operator, "work", advice("close", "mine counts too")).await.problem(403, "duty");
    say(&app, &reviewer, "work", advice("merge", "not asked")).await.problem(403, "duty");
    let view: api::WorktreeView = say(&app, &reviewer, "work", advice("close", "wait for PAY-2")).await.is(200).json();
    assert_eq!((view.advice[0].said.as_str(), view.advice[0].by), ("wait for PAY-2", reviewer.id));
    let before = app.size();
    say(&app, operator, "close", closing(&[])).await.is(200);
    let closed = app.bodies_from(before).await;
    let answered = r#"{"on":"close","person":"@reviewer","said":"wait for PAY-2"}"#;
    let open = r#"{"on":"merge","person":"@auditor"}"#;
    assert!(closed.contains(&format!(r#""consulted":[{answered},{open}]"#)), "{closed}");
    app.assert_sound().await;
}

#[tokio::test]
async fn a6_r8_an_exemption_is_granted_by_somebody_else_for_exactly_what_was_seen() {
    let app = opened().await;
    let (operator, reviewer) = (&app.team.operator, &app.team.reviewer);
    let wish = json!({ "paths": ["Makefile"], "reason": "a new target" });
    let view: api::WorktreeView = say(&app, operator, "exemptions", wish).await.is(200).json();
    assert!(view.exempted().is_empty(), "asking is not having");
    let path = format!("/api/v1/worktrees/{}/exemptions/0/grant", view.id);
    let seen = view.exemptions[0].review;
    operator.post_if(&path, seen, &json!({})).await.problem(403, "role");
    let other = placet_domain::digest::Digest::of(b"something else");
    reviewer.post_if(&path, other, &json!({})).await.problem(412, "stale");
    let view: api::WorktreeView = reviewer.post_if(&path, seen, &json!({})).await.is(200).json();
    assert_eq!(view.exempted()[0].as_str(), "Makefile");
    reviewer.post_if(&path, seen, &json!({})).await.problem(409, "exists");
}

#[tokio::test]
async fn a12_what_is_not_done_is_not_closed_unless_somebody_answers_for_it() {
    let app = opened().await;
    let operator = &app.team.operator;
    let problem = say(&app, operator, "close", closing(&["secrets"])).await.problem(409, "undone");
    assert!(problem.detail.contains("secrets"), "{}", problem.detail);
    let mut forced = closing(&["secrets"]);
    forced["force"] = " ".into();
    say(&app, operator, "close", forced.clone()).await.problem(422, "invalid");
    forced["force"] = "a false alarm: the key is a test vector".into();
    let view: api::WorktreeView = say(&app, operator, "close", forced).await.is(200).json();
    assert_eq!(view.forced.as_deref(), Some("a false alarm: the key is a test vector"));
    app.assert_sound().await;
}

#[tokio::test]
async fn a1_twenty_that_open_the_same_worktree_at_once_open_it_once() {
    let (app, _, _, _) = Scenario::start().await;
    let tries = (0..20).map(|_| open(&app, &app.team.operator, "backend", "PAY-1"));
    let mut statuses = Vec::new();
    for answer in futures(tries).await {
        statuses.push(answer.status);
    }
    assert_eq!(statuses.iter().filter(|status| **status == 201).count(), 1, "{statuses:?}");
    assert_eq!(statuses.iter().filter(|status| **status == 409).count(), 19, "{statuses:?}");
}

/// All of them at once.
async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<_> = all.map(|one| (Box::pin(one), None)).collect();
    std::future::poll_fn(|context| {
        for (one, done) in &mut waiting {
            if done.is_none()
                && let std::task::Poll::Ready(output) = one.as_mut().poll(context)
            {
                *done = Some(output);
            }
        }
        if waiting.iter().all(|(_, done)| done.is_some()) {
            std::task::Poll::Ready(())
        } else {
            std::task::Poll::Pending
        }
    })
    .await;
    waiting.into_iter().filter_map(|(_, done)| done).collect()
}
