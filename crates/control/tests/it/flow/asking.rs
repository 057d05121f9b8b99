//! Agents that ask people too much, through the real server: at once, again and again, by taking back, across a restart.

use futures_util::future::join_all;
use placet_domain::approval::Asking;
use placet_domain::id::RunId;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::ProposeAction;
use serde_json::{Value, json};

use crate::metrics::{metrics, value};
use crate::moves::{reading, scan};
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, Setup, asking};

const MINUTE_MS: u64 = 60_000;

async fn bounded(most_undecided: u32, most_asked: u32) -> (Scenario, Person, Person, Person) {
    let settings = asking(Asking { most_undecided, most_asked, ..Asking::default() });
    Scenario::start_with(Setup { settings, ..Setup::default() }).await
}

async fn asks(agent: &Person, run: RunId, wish: &Value) -> Answer {
    agent.post(&ProposeAction { run }.path(), wish).await
}

async fn waiting(reviewer: &Person) -> usize {
    reviewer.get("/api/v1/queue?limit=1000").await.is(200).json::<api::ActionList>().actions.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b4_a_thousand_questions_at_once_against_a_bound_of_twenty_leave_twenty() {
    let (app, agent, reviewer, _) = bounded(20, 0).await;
    let before = app.size();
    let wishes: Vec<Value> = (0..1_000)
        .map(|number| match number % 2 {
            0 => scan(),
            _ => json!({ "tool": "nmap", "arguments": ["-sV", "-p", number.to_string()], "target": "10.0.0.5" }),
        })
        .collect();
    let mut answers = Vec::new();
    // As many at a time as one identity may have under way.
    for some in wishes.chunks(100) {
        answers.extend(join_all(some.iter().map(|wish| asks(&agent, app.team.run, wish))).await);
    }
    assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 20);
    for answer in answers.iter().filter(|answer| answer.status != 201) {
        answer.problem(429, "too_many_questions");
        assert_eq!(answer.header("retry-after"), "60");
    }
    assert_eq!(waiting(&reviewer).await, 20);
    let kinds = app.kinds_from(before).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "run.overasked").count(), 1);
    assert_eq!(kinds.len(), 20 * 2 + 1, "twenty questions and one word about the rest: {kinds:?}");
    let told = metrics(&app).await;
    assert_eq!(value(&told, "questions_untaken_total{why=\"undecided\"}"), 980.0);
    assert_eq!(value(&told, "questions_waiting"), 20.0);
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_a_question_that_was_not_taken_can_be_asked_again_under_the_same_name() {
    let (app, agent, reviewer, _) = bounded(1, 0).await;
    let asked = agent.proposes(app.team.run, &scan()).await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    for _ in 0..2 {
        agent.post_once(&path, "k1", &scan()).await.problem(429, "too_many_questions");
    }
    reviewer.approves(&asked).await.is(200);
    let taken: api::ActionView = agent.post_once(&path, "k1", &scan()).await.is(201).json();
    let again: api::ActionView = agent.post_once(&path, "k1", &scan()).await.is(201).json();
    assert_eq!(again.id, taken.id, "and then it has one effect");
}

#[tokio::test]
async fn b4_what_needs_no_person_goes_through_and_a_decision_makes_room_also_after_a_restart() {
    let (mut app, agent, reviewer, _) = bounded(3, 0).await;
    let run = app.team.run;
    let mut asked: Vec<api::ActionView> = Vec::new();
    for _ in 0..3 {
        asked.push(agent.proposes(run, &scan()).await);
    }
    let told = asks(&agent, run, &scan()).await.problem(429, "too_many_questions").detail;
    assert!(told.contains("3 questions wait") && told.contains("action_approved"), "{told}");
    agent.proposes(run, &reading()).await;
    app.restart().await;
    asks(&agent, run, &scan()).await.problem(429, "too_many_questions");
    reviewer.approves(&asked[0]).await.is(200);
    agent.proposes(run, &scan()).await;
    asks(&agent, run, &scan()).await.problem(429, "too_many_questions");
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_to_pause_the_run_that_asked_too_much_does_not_let_another_one_ask() {
    let (app, agent, reviewer, _) = bounded(0, 5).await;
    let other = app.team.start_run().await;
    for _ in 0..5 {
        agent.proposes(app.team.run, &scan()).await;
    }
    asks(&agent, app.team.run, &scan()).await.problem(429, "too_many_questions");
    let base = format!("/api/v1/runs/{}", app.team.run);
    app.team.operator.post(&format!("{base}/pause"), &json!({ "reason": "later" })).await.is(200);
    // Also when what was asked is long ago: nobody has looked at it.
    app.pass_ms(11 * MINUTE_MS);
    let before = app.size();
    asks(&agent, other, &scan()).await.problem(429, "too_many_questions");
    assert_eq!(app.size(), before);
    app.team.operator.post(&format!("{base}/resume"), &json!({})).await.is(200);
    let seen: api::CheckpointView = reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    reviewer.post_if(&format!("{base}/checkpoints/1/approve"), seen.review, &json!({})).await.is(200);
    agent.proposes(other, &scan()).await;
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_questions_of_a_run_that_is_over_count_no_more_and_what_was_asked_long_ago_neither() {
    let (app, agent, reviewer, _) = bounded(3, 4).await;
    for _ in 0..3 {
        agent.proposes(app.team.run, &scan()).await;
    }
    reviewer.cancels(app.team.run).await.is(200);
    let other = app.team.start_run().await;
    agent.proposes(other, &scan()).await;
    app.pass_ms(10 * MINUTE_MS);
    agent.proposes(other, &scan()).await;
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_the_same_request_sent_again_is_answered_the_same_and_asks_nobody_twice() {
    let (app, agent, _, _) = bounded(1, 0).await;
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    agent.proposes(app.team.run, &scan()).await;
    let named = |key: &str| agent.request(axum::http::Method::POST, &path).header("idempotency-key", key).json(&scan());
    for _ in 0..3 {
        Answer::to(named("one")).await.problem(429, "too_many_questions");
    }
    assert_eq!(app.kinds_from(0).await.iter().filter(|kind| *kind == "run.overasked").count(), 1);
}

#[tokio::test]
async fn actions_of_one_agent_that_wait_are_bounded() {
    let settings = asking(Asking { most_waiting: 3, ..Asking::UNBOUNDED });
    let (app, agent, reviewer, worker) = Scenario::start_with(Setup { settings, ..Setup::default() }).await;
    for wish in [reading(), reading(), scan()] {
        asks(&agent, app.team.run, &wish).await.is(201);
    }
    let second = app.team.start_run().await;
    for run in [app.team.run, second] {
        let before = app.size();
        let problem = asks(&agent, run, &reading()).await;
        assert_eq!(problem.header("retry-after"), "5");
        let problem = problem.problem(429, "too_many_actions");
        assert!(problem.detail.contains("wait until some are done"), "{problem:?}");
        assert_eq!(app.size(), before, "who is refused fills no ledger");
    }
    let others = app.neighbours("beta").await;
    asks(&others.agent, others.run, &reading()).await.is(201);
    let job = worker.leases().await.unwrap();
    worker.executes(&job).await;
    asks(&agent, app.team.run, &reading()).await.is(201);
    drop(reviewer);
}
