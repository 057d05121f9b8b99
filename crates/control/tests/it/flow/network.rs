//! What an action under way was refused: who is asked, who may open it, and what reaches the worker.

use placet_domain::permit::Slip;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::UpdateNetwork;
use serde_json::json;

use crate::moves::fetching;
use crate::person::Answer;
use crate::scenario::{Scenario, rules_with};

async fn under_way(app: &Scenario) -> api::Job {
    let team = &app.team;
    let action = team.agent.proposes(team.run, &fetching()).await;
    team.reviewer.approves(&action).await.is(200);
    let job = team.worker.leases().await.unwrap();
    team.worker.redeems(&job).await.is(200);
    job
}

async fn ask(app: &Scenario, job: &api::Job, wishes: &[&str]) -> Answer {
    let body = json!({ "attempt": job.attempt, "wishes": wishes });
    app.team.worker.post(&UpdateNetwork { action: job.action }.path(), &body).await
}

async fn wishes(app: &Scenario) -> Vec<api::WishView> {
    let path = format!("/api/v1/runs/{}/wishes", app.team.run);
    app.team.reviewer.get(&path).await.is(200).json::<api::WishList>().wishes
}

async fn grant(app: &Scenario, wish: &api::WishView, lasts_ms: u64) -> Answer {
    let path = format!("/api/v1/runs/{}/wishes/{}/grant", app.team.run, wish.number);
    app.team.reviewer.post_if(&path, wish.review, &json!({ "lasts_ms": lasts_ms })).await
}

fn slip(app: &Scenario, answer: &Answer) -> Slip {
    let view: api::NetworkView = serde_json::from_slice(&answer.body).unwrap();
    app.stolen_signer().verifier().check_slip(&view.slip).unwrap()
}

#[tokio::test]
async fn c5_a_grant_is_told_to_the_worker_of_the_action_until_it_ends() {
    let (app, ..) = Scenario::start().await;
    let job = under_way(&app).await;
    let answer = ask(&app, &job, &["https://a.test/", "https://a.test:8443/", "GET http://b.test/"]).await.is(200);
    assert!(slip(&app, &answer).grants.is_empty(), "nothing opens by itself");
    let asked = wishes(&app).await;
    let openings: Vec<&str> = asked.iter().map(|wish| wish.opening.as_str()).collect();
    assert_eq!(openings, ["https://a.test:443/", "GET http://b.test:80/"], "one for each host");
    grant(&app, &asked[0], 60_000).await.is(200);
    let told = slip(&app, &ask(&app, &job, &[]).await.is(200));
    assert_eq!((told.action, told.attempt), (job.action, job.attempt));
    assert_eq!(told.grants[0].opening.to_string(), "https://a.test:443/");
    assert!((1..=60_000).contains(&told.grants[0].left_ms));
    grant(&app, &asked[1], 1_000).await.is(200);
    assert_eq!(slip(&app, &ask(&app, &job, &[]).await.is(200)).grants.len(), 2);
    app.pass_ms(1_000);
    assert_eq!(slip(&app, &ask(&app, &job, &[]).await.is(200)).grants.len(), 1, "it has an end");
    let statuses: Vec<String> = wishes(&app).await.into_iter().map(|wish| wish.status).collect();
    assert_eq!(statuses, ["GRANTED", "EXPIRED"]);
}

#[tokio::test]
async fn c5_only_the_worker_of_an_attempt_under_way_asks_and_is_told() {
    let (app, ..) = Scenario::start().await;
    let job = under_way(&app).await;
    let thief = app.another("worker", 1).await;
    let path = format!("/api/v1/jobs/{}/network", job.action);
    let body = json!({ "attempt": job.attempt, "wishes": ["https://evil.test/"] });
    thief.post(&path, &body).await.problem(409, "lost_lease");
    let early = json!({ "attempt": job.attempt + 1, "wishes": ["https://evil.test/"] });
    app.team.worker.post(&path, &early).await.problem(409, "lost_lease");
    app.team.agent.post(&path, &body).await.problem(403, "role");
    assert!(wishes(&app).await.is_empty());
}

#[tokio::test]
async fn c5_nobody_is_asked_about_places_that_are_not_public_or_that_the_tool_may_not_reach() {
    let (app, ..) = Scenario::start().await;
    let job = under_way(&app).await;
    let special =
        ["http://127.0.0.1/", "http://169.254.169.254/", "https://[::1]/", "http://192.168.0.1/", "10.0.0.0/8"];
    ask(&app, &job, &special).await.is(200);
    assert!(wishes(&app).await.is_empty());
    ask(&app, &job, &["http://10.0.0.6/"]).await.is(200);
    assert_eq!(wishes(&app).await.len(), 1, "the scope lists this one");
}

#[tokio::test]
async fn c5_the_policy_forbids_what_it_would_forbid_in_a_proposal() {
    let rule = r#"
@id("ours.never")
@risk("0.50")
@reason("never there")
@matches("sh x ~https://bad.test/")
@misses("sh x ~https://good.test/")
forbid (principal, action == Action::"execute_code", resource)
when { context.network.contains("https://bad.test:443/") };"#;
    let (mut app, ..) = Scenario::start().await;
    app.restart_under(rules_with(rule)).await;
    let job = under_way(&app).await;
    ask(&app, &job, &["https://bad.test/", "https://good.test/"]).await.is(200);
    let asked = wishes(&app).await;
    assert_eq!(asked.iter().map(|wish| wish.opening.as_str()).collect::<Vec<_>>(), ["https://good.test:443/"]);
}

#[tokio::test]
async fn c5_a_grant_is_on_what_was_seen_bounded_and_by_somebody_else() {
    let (app, ..) = Scenario::start().await;
    let job = under_way(&app).await;
    ask(&app, &job, &["https://a.test/", "https://b.test/"]).await.is(200);
    let asked = wishes(&app).await;
    grant(&app, &asked[0], 9 * 3_600_000).await.problem(422, "invalid");
    let path = format!("/api/v1/runs/{}/wishes/1/grant", app.team.run);
    app.team.reviewer.post_if(&path, asked[1].review, &json!({})).await.problem(412, "stale");
    app.team.reviewer.post(&path, &json!({})).await.problem(428, "unseen");
    app.team.agent.post_if(&path, asked[0].review, &json!({})).await.problem(403, "role");
    app.team.operator.post_if(&path, asked[0].review, &json!({})).await.problem(403, "role");
    assert!(wishes(&app).await.iter().all(|wish| wish.status == "WAITING"));
}
