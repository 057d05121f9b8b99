//! `.json` on the address of a page: what the API says, to the same visit, with the same rights, and to nobody else.

use reqwest::header;
use serde_json::Value;

use super::browser::Browser;
use crate::moves::{scan, sweep};
use crate::person::Answer;
use crate::scenario::Scenario;

fn json(answer: &Answer) -> Value {
    assert_eq!(answer.header("content-type"), "application/json", "{}", answer.text());
    assert_eq!((answer.header("cache-control"), answer.header("x-content-type-options")), ("no-store", "nosniff"));
    assert_eq!(answer.header("access-control-allow-origin"), "", "nobody from elsewhere reads it");
    assert_eq!(answer.header("cross-origin-resource-policy"), "same-origin");
    serde_json::from_slice(&answer.body).unwrap()
}

#[tokio::test]
async fn c16_json_behind_the_address_of_a_page_is_what_the_api_says_to_the_same_person() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    agent.proposes(app.team.run, &sweep()).await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let run = app.team.run;
    for (page, api) in [
        ("/inbox".to_owned(), "/api/v1/inbox".to_owned()),
        ("/inbox.json?tier=C".to_owned(), "/api/v1/inbox?tier=C".to_owned()),
        (format!("/actions/{}", action.id), format!("/api/v1/actions/{}/card", action.id)),
        ("/runs".to_owned(), "/api/v1/runs".to_owned()),
        (format!("/runs/{run}"), format!("/api/v1/runs/{run}")),
        ("/orders".to_owned(), "/api/v1/orders".to_owned()),
        ("/decisions".to_owned(), "/api/v1/decisions/summary".to_owned()),
        ("/me".to_owned(), "/api/v1/decisions/mine".to_owned()),
        ("/workers".to_owned(), "/api/v1/workers".to_owned()),
        ("/policy".to_owned(), "/api/v1/policy".to_owned()),
    ] {
        let address = if page.contains(".json") { page } else { format!("{page}.json") };
        let shown = json(&rita.open(&address).await.is(200));
        assert_eq!(shown, reviewer.get(&api).await.is(200).json::<Value>(), "{address}");
    }
    let auditor = app.another("auditor", 1).await;
    let paul = Browser::visiting(&app, &auditor).await;
    for (page, api) in [("/ledger/3.json", "/api/v1/ledger/proof?seq=3"), ("/ledger.json", "/api/v1/ledger/entries")] {
        assert_eq!(json(&paul.open(page).await.is(200)), auditor.get(api).await.is(200).json::<Value>(), "{page}");
    }
}

#[tokio::test]
async fn c16_whom_the_api_does_not_admit_gets_no_json_of_a_page_either() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let before = app.size();
    rita.open("/ledger.json").await.problem(403, "role");
    rita.open("/agents.json").await.problem(403, "role");
    assert_eq!(app.kinds_from(before).await, ["refused", "refused"], "and that is on the record, as by the API");
    // Nobody who is not signed in, nobody of another project, and no form.
    let stranger = Browser::of(&app, &reviewer);
    for path in ["/inbox.json", "/runs.json", "/policy.json", "/ledger/1.json"] {
        stranger.open(path).await.problem(401, "unauthorized");
    }
    let beta = app.neighbours("beta").await;
    let elsewhere = Browser::visiting(&app, &beta.reviewer).await;
    elsewhere.open(&format!("/actions/{}.json", action.id)).await.problem(404, "unknown");
    assert_eq!(json(&elsewhere.open("/inbox.json").await.is(200))["actions"], serde_json::json!([]));
    let told = rita.open("/settings.json").await.problem(404, "no_data");
    assert!(told.detail.contains("one's own doors"), "{}", told.detail);
    for path in ["/help.json", "/.json/nowhere", "/.json/api/v1/runs", "/.json/api/v1/runs.json", "/enter.json"] {
        assert_eq!(rita.open(path).await.status, 404, "{path}");
    }
    rita.open("/ledger/7&seq=8.json").await.is(403);
}

#[tokio::test]
async fn t8_a_page_of_strangers_reads_no_json_and_sends_none() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let visit = format!("placet_visit={}", rita.visit.clone().unwrap());
    let ask = |method, site: &'static str| {
        let request = reviewer.anonymous(method, "/runs.json").header(header::COOKIE, visit.clone());
        Answer::to(request.header("sec-fetch-site", site))
    };
    ask(reqwest::Method::GET, "same-origin").await.is(200);
    ask(reqwest::Method::GET, "none").await.is(200);
    for site in ["cross-site", "same-site", "whatever"] {
        ask(reqwest::Method::GET, site).await.problem(403, "csrf");
    }
    assert!(matches!(ask(reqwest::Method::POST, "same-origin").await.status, 404 | 405));
    // A token is no visit: programs have the API.
    Answer::to(reviewer.request(reqwest::Method::GET, "/runs.json")).await.problem(401, "unauthorized");
}

#[tokio::test]
async fn c16_pages_lead_to_their_json_at_their_foot_where_there_is_any() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let link = |to: &str| format!("<a class=\"data\" href=\"{to}\"");
    for (page, data) in [
        ("/".to_owned(), "/inbox.json".to_owned()),
        (format!("/actions/{}", action.id), format!("/actions/{}.json", action.id)),
        ("/runs".to_owned(), "/runs.json".to_owned()),
    ] {
        let shown = rita.open(&page).await.is(200).text();
        assert!(shown.contains(&link(&data)), "{page}: {shown}");
    }
    for page in ["/settings", "/help", "/agents"] {
        assert!(!rita.open(page).await.is(200).text().contains("class=\"data\""), "{page}");
    }
    let nowhere = rita.open("/runs/run_00000000000000000000000000000000").await.is(404).text();
    assert!(!nowhere.contains("class=\"data\""), "{nowhere}");
    let root = Browser::visiting(&app, &app.admin).await;
    assert!(root.open("/agents").await.is(200).text().contains(&link("/agents.json")));
}
