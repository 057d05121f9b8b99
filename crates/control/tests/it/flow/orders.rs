//! ORDER: one yes for actions that are the same question, over HTTP, and everything an agent tries to make more of it.

use placet_domain::digest::Digest;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::FollowRun;
use placet_wire::endpoint::{GiveOrder, ListOrders, ListRunOrders, PreviewOrder, ReplaceToken};
use serde_json::{Value, json};

use crate::metrics::{metrics, value};
use crate::moves::{fetching, scan};
use crate::person::{Answer, Person};
use crate::scenario::{PATIENCE, Scenario, Setup};

async fn order(person: &Person, on: &api::ActionView, body: Value) -> Answer {
    person.post_if(&GiveOrder { action: on.id }.path(), on.review, &body).await
}

/// The first scan waits, and an order is given on it.
async fn ordered(app: &Scenario, times: u32) -> api::OrderView {
    let action = app.team.agent.proposes(app.team.run, &scan()).await;
    order(&app.team.reviewer, &action, json!({ "times": times })).await.is(201).json()
}

async fn standing(person: &Person) -> Vec<api::OrderView> {
    person.get(&ListOrders {}.path()).await.is(200).json::<api::OrderList>().orders
}

async fn status_of(app: &Scenario, wish: &Value) -> String {
    app.team.agent.proposes(app.team.run, wish).await.status.to_string()
}

#[tokio::test]
async fn b4_an_order_lets_its_like_pass_and_every_entry_says_so() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let first = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    let given: api::OrderView =
        order(&reviewer, &first, json!({ "times": 1, "lasts_ms": 60_000 })).await.is(201).json();
    assert_eq!((given.number, given.status.as_str(), given.giver), (1, "STANDS", reviewer.id));
    assert!(given.title.starts_with("nmap ") && given.agent.contains("alpha"), "what it is about: {given:?}");
    assert!(given.giver_name.starts_with("rita"), "and who gave it: {given:?}");
    assert_eq!(app.kinds_from(before).await, ["action.approved", "run.order_given"]);
    let before = app.size();
    let passed = agent.proposes(app.team.run, &scan()).await;
    assert_eq!((passed.status.as_str(), passed.approvals[0].order), ("APPROVED", Some(1)));
    assert_eq!(passed.approvals[0].reviewer, reviewer.id);
    let kinds = app.kinds_from(before).await;
    assert_eq!(kinds, ["action.proposed", "action.judged", "action.approved", "run.order_used"]);
    assert_eq!(status_of(&app, &scan()).await, "PENDING_APPROVAL", "one is one");
    let trail: api::AuditTrail = app.auditor.get(&format!("/api/v1/runs/{}/audit", app.team.run)).await.is(200).json();
    let told: Vec<&str> = trail.rows.iter().filter_map(|row| row.approval_status.as_deref()).collect();
    assert!(told.contains(&"approved by order 1") && told.contains(&"order given"), "{told:?}");
    let mut done = vec![worker.leases().await.unwrap().action, worker.leases().await.unwrap().action];
    done.sort();
    assert_eq!(done, [first.id, passed.id], "and both are executed");
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_an_order_takes_what_was_seen_and_stays_within_its_bounds() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let before = app.size();
    let path = format!("/api/v1/actions/{}/order", action.id);
    reviewer.post(&path, &json!({})).await.problem(428, "unseen");
    reviewer.post_if(&path, Digest::of(b"another"), &json!({})).await.problem(412, "stale");
    for wrong in
        [json!({ "times": 0 }), json!({ "times": 1_001 }), json!({ "lasts_ms": 0 }), json!({ "lasts_ms": 28_800_001 })]
    {
        order(&reviewer, &action, wrong).await.problem(422, "invalid");
    }
    order(&reviewer, &action, json!({ "width": "contents" })).await.problem(422, "invalid");
    for wrong in [json!({ "width": "everything" }), json!({ "until": "18:00" })] {
        let refused = order(&reviewer, &action, wrong).await;
        assert!((400..500).contains(&refused.status), "{}", refused.text());
    }
    assert_eq!(app.size(), before, "and nothing was decided");
    order(&agent, &action, json!({})).await.problem(403, "role");
    order(&app.team.operator, &action, json!({})).await.problem(403, "role");
}

#[tokio::test]
async fn b4_where_a_team_gives_no_orders_nobody_is_offered_one() {
    let mut setup = Setup::default();
    setup.settings.terms.longest_order_ms = 0;
    let (app, agent, reviewer, _) = Scenario::start_with(setup).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let no = order(&reviewer, &action, json!({})).await.problem(422, "invalid");
    assert!(no.detail.contains("longest_order_ms"), "{}", no.detail);
}

#[tokio::test]
async fn b4_an_order_is_taken_back_by_whoever_watches_and_what_it_approved_is_withdrawn() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    ordered(&app, 9).await;
    let first = worker.leases().await.unwrap();
    let waiting = agent.proposes(app.team.run, &scan()).await;
    let path = format!("/api/v1/runs/{}/orders/1/revoke", app.team.run);
    let why = json!({ "reason": "the lab called" });
    agent.post(&path, &why).await.problem(403, "role");
    app.team.operator.post(&path, &json!({ "reason": "" })).await.problem(422, "invalid");
    let list: api::OrderList = app.team.operator.post(&path, &why).await.is(200).json();
    assert_eq!(
        (list.orders[0].status.as_str(), list.orders[0].because.as_deref()),
        ("REVOKED", Some("the lab called"))
    );
    let withdrawn = agent.sees(&waiting).await.action;
    assert_eq!(withdrawn.status.as_str(), "WITHDRAWN");
    assert!(withdrawn.because.is_some_and(|because| because.contains("order")), "and its agent is told why");
    assert!(worker.leases().await.is_none());
    worker.redeems(&first).await.is(200);
    assert_eq!(status_of(&app, &scan()).await, "PENDING_APPROVAL");
    app.team.operator.post(&path, &why).await.problem(409, "not_now");
    assert!(standing(&reviewer).await.is_empty());
    app.assert_sound().await;
}

#[tokio::test]
async fn b4_an_order_ends_with_its_time_and_with_its_run() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    ordered(&app, 9).await;
    assert_eq!(status_of(&app, &scan()).await, "APPROVED");
    app.pass_ms(3_600_000);
    assert_eq!(status_of(&app, &scan()).await, "PENDING_APPROVAL");
    assert!(standing(&reviewer).await.is_empty());
    let listed: api::OrderList = reviewer.get(&ListRunOrders { run: app.team.run }.path()).await.is(200).json();
    assert_eq!((listed.orders[0].status.as_str(), listed.orders[0].used), ("EXPIRED", 1));
    let other = app.team.start_run().await;
    assert_eq!(agent.proposes(other, &scan()).await.status.as_str(), "PENDING_APPROVAL", "nor did it leave its run");
}

#[tokio::test]
async fn b4_an_agent_that_follows_its_run_is_not_told_of_orders() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    ordered(&app, 9).await;
    let last = app.kinds_from(0).await.iter().rposition(|kind| kind == "run.order_given").unwrap() as u64;
    for (person, is_told) in [(&reviewer, true), (&agent, false)] {
        let mut stream = person.client().follow(FollowRun { run: app.team.run }, None).await.unwrap();
        let mut told = String::new();
        loop {
            let event = tokio::time::timeout(PATIENCE, stream.next()).await.expect("an event").expect("it goes on");
            told += &format!("{event:?}");
            if event.seq >= last {
                break;
            }
        }
        assert_eq!(told.contains("order_given"), is_told, "{told}");
    }
}

#[tokio::test]
async fn b4_a_new_token_of_its_giver_ends_an_order() {
    let (app, _, reviewer, _) = Scenario::start().await;
    ordered(&app, 9).await;
    app.admin.post(&ReplaceToken { identity: reviewer.id }.path(), &json!({})).await.is(200);
    assert_eq!(status_of(&app, &scan()).await, "PENDING_APPROVAL", "whoever had the old one may have given it");
}

#[tokio::test]
async fn t8_people_of_another_project_learn_nothing_of_orders() {
    let (app, _, _, _) = Scenario::start().await;
    ordered(&app, 9).await;
    let beta = app.neighbours("beta").await;
    assert!(standing(&beta.reviewer).await.is_empty());
    beta.reviewer.get(&ListRunOrders { run: app.team.run }.path()).await.problem(404, "unknown");
    let path = format!("/api/v1/runs/{}/orders/1/revoke", app.team.run);
    beta.operator.post(&path, &json!({ "reason": "mischief" })).await.problem(404, "unknown");
    app.team.agent.get(&ListOrders {}.path()).await.problem(403, "role");
    app.team.agent.get(&ListRunOrders { run: app.team.run }.path()).await.problem(403, "role");
    assert_eq!(standing(&app.team.second).await.len(), 1);
}

#[tokio::test]
async fn b4_what_an_order_would_have_covered_is_told_with_what_was_rejected() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (no, other) = (agent.proposes(app.team.run, &scan()).await, agent.proposes(app.team.run, &fetching()).await);
    reviewer.rejects(&no).await.is(200);
    reviewer.approves(&other).await.is(200);
    let action = agent.proposes(app.team.run, &scan()).await;
    let offer: api::OrderOffer = reviewer.get(&PreviewOrder { action: action.id }.path()).await.is(200).json();
    assert_eq!((offer.refused, offer.most_times), (None, 1_000));
    assert_eq!(offer.widths.len(), 1, "other contents are not offered for what runs");
    let covered: Vec<(String, &str)> =
        offer.widths[0].would_cover.iter().map(|past| (past.action.to_string(), past.status.as_str())).collect();
    assert_eq!(covered, [(no.id.to_string(), "REJECTED")]);
}

#[tokio::test]
async fn c17_approvals_by_order_are_counted_apart_and_are_nobodys_waiting_time() {
    let (app, _, _, _) = Scenario::start().await;
    ordered(&app, 9).await;
    let waited = value(&metrics(&app).await, "approval_wait_seconds_count{about=\"action\"}");
    status_of(&app, &scan()).await;
    status_of(&app, &scan()).await;
    let metrics = metrics(&app).await;
    assert!((value(&metrics, "orders_total{event=\"used\"}") - 2.0).abs() < f64::EPSILON);
    assert!((value(&metrics, "orders_total{event=\"given\"}") - 1.0).abs() < f64::EPSILON);
    assert!((value(&metrics, "approval_wait_seconds_count{about=\"action\"}") - waited).abs() < f64::EPSILON);
}
