//! What a terminal decides by: the rows and cards of the pages, and news of all runs, each within somebody's reach and no further.

use placet_wire::Endpoint as _;
use placet_wire::api::StreamQuery;
use placet_wire::api::{self, StandsFor};
use placet_wire::endpoint::FollowRuns;
use placet_wire::endpoint::{ListWorkers, LockScope, RevokeIdentity, ShowCard};
use placet_wire::{EventStream, StreamEvent};
use serde_json::json;

use crate::moves::{deletion, scan};
use crate::person::Person;
use crate::scenario::{PATIENCE, Scenario, scope};

async fn inbox(person: &Person) -> api::InboxView {
    person.get("/api/v1/inbox").await.is(200).json()
}

async fn card(person: &Person, action: &api::ActionView) -> api::CardView {
    person.get(&ShowCard { action: action.id }.path()).await.is(200).json()
}

/// The stream of all runs from so many of the newest events on.
fn newest(last: u32) -> FollowRuns {
    FollowRuns { query: StreamQuery { last: Some(last), ..StreamQuery::default() } }
}

async fn next(stream: &mut EventStream) -> Option<StreamEvent> {
    tokio::time::timeout(PATIENCE, stream.next()).await.expect("an event or the end")
}

#[tokio::test]
async fn b4_identical_actions_are_one_row_with_names_and_digests_and_runs_that_stand_still_follow() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let first = agent.proposes(app.team.run, &scan()).await;
    let twin = agent.proposes(app.team.run, &scan()).await;
    agent.proposes(app.team.run, &deletion()).await;
    app.team.draft(json!(["look"])).await;
    let inbox = inbox(&reviewer).await;
    assert_eq!(inbox.waiting, 3);
    let tiers: Vec<&str> = inbox.actions.iter().map(|row| row.action.verdict.tier.as_str()).collect();
    assert_eq!(tiers, ["C", "B"], "the riskiest first, identical ones once");
    let row = &inbox.actions[1];
    assert_eq!(
        (row.action.id, row.twins.len(), row.twins[0].id, row.twins[0].review),
        (first.id, 1, twin.id, twin.review)
    );
    assert!(row.agent.contains("alpha") && !row.goal.is_empty(), "{row:?}");
    assert!(inbox.runs.iter().any(|run| run.why == StandsFor::Plan), "{:?}", inbox.runs);
}

#[tokio::test]
async fn b4_a_card_tells_what_a_page_tells_and_who_decided_when() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = card(&reviewer, &action).await;
    assert!(before.may_decide && before.cannot.is_none() && before.approved_by.is_empty());
    assert_eq!(before.detail.action.review, action.review);
    let by_admin: api::CardView = app.admin.get(&ShowCard { action: action.id }.path()).await.is(200).json();
    assert!(!by_admin.may_decide && by_admin.cannot.is_some(), "who does not review is told so");
    reviewer.rejects(&action).await.is(200);
    let after = card(&reviewer, &action).await;
    assert!(!after.may_decide && after.cannot.is_none());
    let last = after.entries.iter().find(|entry| entry.event == "action_rejected").unwrap();
    assert!(last.by.contains("rita"), "{last:?}");
}

#[tokio::test]
async fn b2_rows_cards_workers_and_news_end_at_the_wall_of_a_project() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let action = agent.proposes(app.team.run, &scan()).await;
    assert_eq!(inbox(&others.reviewer).await.waiting, 0);
    others.reviewer.get(&ShowCard { action: action.id }.path()).await.problem(404, "unknown");
    let ours = format!("project={}", app.team.project);
    others.reviewer.get(&format!("/api/v1/inbox?{ours}")).await.problem(404, "unknown");
    others.reviewer.get(&format!("/api/v1/stream?{ours}")).await.problem(404, "unknown");
    let mut stream = others.reviewer.client().follow(FollowRuns { query: StreamQuery::default() }, None).await.unwrap();
    agent.proposes(app.team.run, &scan()).await;
    let theirs = others.agent.proposes(others.run, &scan()).await;
    let event = next(&mut stream).await.unwrap();
    assert!(event.data.contains(&theirs.id.to_string()), "{event:?}");
    let workers: api::WorkerList = reviewer.get(&ListWorkers {}.path()).await.is(200).json();
    assert!(workers.workers.iter().all(|worker| worker.id != others.worker.id), "{workers:?}");
}

#[tokio::test]
async fn c16_all_runs_are_followed_from_now_on_and_nothing_is_missed_on_the_way() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let mut stream = reviewer.client().follow(FollowRuns { query: StreamQuery::default() }, None).await.unwrap();
    let action = agent.proposes(app.team.run, &scan()).await;
    let first = next(&mut stream).await.unwrap();
    assert_eq!(first.event, "action_proposed", "not what was before");
    assert!(first.data.contains(&action.id.to_string()));
    drop(stream);
    reviewer.rejects(&action).await.is(200);
    let mut again =
        reviewer.client().follow(FollowRuns { query: StreamQuery::default() }, Some(first.seq)).await.unwrap();
    let mut seen = Vec::new();
    while seen.last().map(String::as_str) != Some("action_rejected") {
        seen.push(next(&mut again).await.unwrap().event);
    }
    assert_eq!(seen, ["action_judged", "action_rejected"]);
}

#[tokio::test]
async fn b2_of_what_belongs_to_no_run_only_that_it_happened_is_told() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut stream = reviewer.client().follow(FollowRuns { query: StreamQuery::default() }, None).await.unwrap();
    let mut named = scope();
    named["name"] = json!("secret-name");
    app.team.operator.post(&LockScope { project: app.team.project }.path(), &named).await.is(201);
    let event = next(&mut stream).await.unwrap();
    assert_eq!((event.event.as_str(), event.data.as_str()), ("other", "{}"));
}

#[tokio::test]
async fn b1_whoever_is_revoked_follows_no_more() {
    let (app, agent, _, _) = Scenario::start().await;
    let person = app.hire(json!({ "name": "eve", "roles": ["reviewer"], "projects": [app.team.project] })).await;
    let mut stream = person.client().follow(FollowRuns { query: StreamQuery::default() }, None).await.unwrap();
    app.admin.post(&RevokeIdentity { identity: person.id }.path(), &json!({})).await.is(200);
    agent.proposes(app.team.run, &scan()).await;
    assert_eq!(next(&mut stream).await, None);
}

#[tokio::test]
async fn b4_rows_tell_what_would_be_done_and_whose_it_is_from_the_sealed_bytes_alone() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let tricky =
        json!({ "tool": "nmap", "arguments": ["-sn"], "target": "10.0.0.6", "justification": "sh -c 'harmless'" });
    let action = agent.proposes(app.team.run, &tricky).await;
    let detail = reviewer.sees(&action).await;
    let title = detail.spec.title();
    assert!(title.starts_with("nmap -sn") && !title.contains("harmless"), "{title}");
    let queue: api::QueueView = reviewer.get("/api/v1/queue").await.is(200).json();
    let row = &inbox(&reviewer).await.actions[0].action;
    let after: api::ActionView = reviewer.approves(&action).await.is(200).json();
    for view in [&detail.action, &queue.actions[0], row, &after] {
        assert_eq!(view.title.as_ref(), Some(&title));
        assert!(view.agent.as_ref().is_some_and(|agent| agent.contains("alpha")), "{view:?}");
    }
}

#[tokio::test]
async fn d9_an_interruption_tells_whose_it_was_and_when_and_a_word_on_it_is_about_that_attempt() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    assert!(reviewer.sees(&action).await.interruption.is_none());
    reviewer.approves(&action).await.is(200);
    let begun = worker.leases().await.expect("it can be taken up");
    worker.redeems(&begun).await.is(200);
    app.pass_ms(5_000);
    worker.beats(&begun).await.is(200);
    lapse(&app, &reviewer, &action).await;
    let lost = card(&reviewer, &action).await.detail.interruption.expect("how it broke off");
    assert_eq!((lost.attempt, lost.worker), (1, worker.id));
    assert!(!lost.worker_name.is_empty() && lost.worker_name != worker.id.to_string(), "{lost:?}");
    assert!(lost.leased_at <= lost.started_at && lost.started_at < lost.heard_at, "{lost:?}");
    assert!(lost.heard_at < lost.interrupted_at, "{lost:?}");
    assert!(agent.sees(&action).await.interruption.is_none(), "where things run is not for agents");
    let word = |attempt: u32| json!({ "resolution": "retry", "reason": "it only looks", "attempt": attempt });
    let path = format!("/api/v1/actions/{}/resolve", action.id);
    reviewer.post(&path, &word(2)).await.problem(412, "stale");
    reviewer.post(&path, &word(1)).await.is(200);
    assert!(reviewer.sees(&action).await.interruption.is_none());
    let again = worker.leases().await.expect("it can be taken up");
    worker.redeems(&again).await.is(200);
    lapse(&app, &reviewer, &action).await;
    reviewer.post(&path, &word(1)).await.problem(412, "stale");
    assert_eq!(reviewer.sees(&action).await.interruption.map(|lost| lost.attempt), Some(2));
}

/// Its worker is not heard of again.
async fn lapse(app: &Scenario, reviewer: &Person, action: &api::ActionView) {
    app.pass_ms(120_000);
    for _ in 0..200 {
        if reviewer.sees(action).await.action.status.as_str() == "INTERRUPTED" {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it was not interrupted");
}

#[tokio::test]
async fn b4_everything_that_somebody_is_named_for_is_reached_however_small_the_pages_are() {
    let (app, agent, rita, _) = Scenario::start().await;
    let (ralf, run) = (&app.team.second, app.team.run);
    for number in 0..5 {
        let action = agent.proposes(run, &scan()).await;
        let wish = json!({ "tool": "nmap", "arguments": ["-sn"], "target": format!("10.0.0.{}", 6 + number) });
        agent.proposes(run, &wish).await;
        let path = format!("/api/v1/actions/{}/assign", action.id);
        rita.post(&path, &json!({ "to": "ralf-alpha" })).await.is(200);
    }
    let whole: api::InboxView = ralf.get("/api/v1/inbox?whose=mine").await.is(200).json();
    let order: Vec<_> = whole.actions.iter().map(|row| row.action.id).collect();
    let named = whole.actions.iter().take_while(|row| row.attention.assigned.is_some()).count();
    assert_eq!((named, order.len(), whole.next), (5, 10, None));
    for limit in 1..=10 {
        let (mut seen, mut after) = (Vec::new(), String::new());
        loop {
            let path = format!("/api/v1/inbox?whose=mine&limit={limit}{after}");
            let page: api::InboxView = ralf.get(&path).await.is(200).json();
            assert!(!page.actions.is_empty() && page.actions.len() <= limit, "no page is empty or too long: {limit}");
            seen.extend(page.actions.iter().map(|row| row.action.id));
            let Some(next) = page.next else { break };
            after = format!("&after={next}");
        }
        assert_eq!(seen, order, "{limit}");
    }
    for strange in ["whose=mine&after=70-1", "whose=others&after=i70-1", "after=x"] {
        ralf.get(&format!("/api/v1/inbox?{strange}")).await.problem(400, "bad_query");
    }
}

#[tokio::test]
async fn c16_whoever_begins_to_watch_is_told_what_happened_last() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    agent.proposes(app.team.run, &scan()).await;
    let last = agent.proposes(app.team.run, &scan()).await;
    let mut stream = reviewer.client().follow(newest(2), None).await.unwrap();
    for name in ["action_proposed", "action_judged"] {
        let event = next(&mut stream).await.unwrap();
        assert!(event.event == name && event.data.contains(&last.id.to_string()), "{event:?}");
    }
    reviewer.approves(&last).await.is(200);
    let then = next(&mut stream).await.unwrap();
    assert_eq!(then.event, "action_approved", "and then what happens: {then:?}");
    let mut on = reviewer.client().follow(newest(200), Some(then.seq - 1)).await.unwrap();
    assert_eq!(next(&mut on).await.unwrap().seq, then.seq, "whoever was there goes on where they were");
    let mut all = reviewer.client().follow(newest(200), None).await.unwrap();
    assert!(next(&mut all).await.unwrap().seq < last_seq(&app) - 4, "as far back as it is told");
}

fn last_seq(app: &Scenario) -> u64 {
    app.size() - 1
}
