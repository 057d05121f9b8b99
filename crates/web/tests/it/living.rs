//! Staying up to date: whoever has a page open is told that something happened to what it shows, and nothing more.

use axum::http::Method;
use placet_control::{Limits, Settings};
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{RevokeIdentity, StartSafeMode};
use serde_json::json;

use crate::browser::Browser;
use crate::moves::scan;
use crate::person::Person;
use crate::scenario::{PATIENCE, Scenario, Setup};

/// An open stream of a browser.
struct Stream(reqwest::Response);

impl Stream {
    async fn open(person: &Person, browser: &Browser, of: &str) -> Self {
        Self::open_at(person, browser, &format!("/live?of={of}")).await
    }

    /// Opens it as the script of this page does.
    async fn open_from(person: &Person, browser: &Browser, page: &str) -> Self {
        let [of, since] = ["data-live-of=\"", "data-live-since=\""].map(|name| {
            let value = page.split(name).nth(1).and_then(|rest| rest.split('"').next());
            value.unwrap_or_else(|| panic!("no {name} in {page}"))
        });
        Self::open_at(person, browser, &format!("/live?of={of}&since={since}")).await
    }

    async fn open_at(person: &Person, browser: &Browser, path: &str) -> Self {
        let cookie = format!("placet_visit={}", browser.visit.clone().unwrap());
        let request = person.anonymous(Method::GET, path).header("cookie", cookie);
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        Self(response)
    }

    /// What comes next; nothing when the stream has ended.
    async fn next(&mut self) -> Option<String> {
        let chunk = tokio::time::timeout(PATIENCE, self.0.chunk()).await.expect("news or the end").unwrap();
        chunk.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

#[tokio::test]
async fn t8_one_person_does_not_take_the_places_of_all_viewers() {
    let settings = Settings { limits: Limits { streams: 8, ..Limits::default() }, ..Settings::default() };
    let (app, _, reviewer, _) = Scenario::start_with(Setup { settings, ..Setup::default() }).await;
    let (browser, other) = (Browser::visiting(&app, &reviewer).await, Browser::visiting(&app, &app.team.second).await);
    let mut open = Vec::new();
    for _ in 0..2 {
        open.push(Stream::open(&reviewer, &browser, "inbox").await);
    }
    browser.open("/live?of=inbox").await.is(503);
    Stream::open(&app.team.second, &other, "inbox").await;
    open.pop();
    for _ in 0..200 {
        let cookie = format!("placet_visit={}", browser.visit.clone().unwrap());
        let again = reviewer.anonymous(Method::GET, "/live?of=inbox").header("cookie", cookie).send().await.unwrap();
        if again.status() == 200 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("a place that was left is not free again");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c16_an_open_page_is_told_that_something_happened_and_not_what() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let mut inbox = Stream::open(&reviewer, &rita, "inbox").await;
    let mut run = Stream::open(&reviewer, &rita, &app.team.run.to_string()).await;
    agent.proposes(app.team.run, &scan()).await;
    for stream in [&mut inbox, &mut run] {
        let news = stream.next().await.unwrap();
        assert!(news.contains("event: news") && !news.contains("nmap"), "{news}");
        assert!(!news.contains(|c: char| c.is_ascii_digit()), "how much is recorded is nobody's business: {news}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c16_what_happens_between_a_page_and_its_stream_is_told_at_once() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let rita = Browser::visiting(&app, &reviewer).await;
    for path in ["/".to_owned(), format!("/runs/{}", app.team.run), "/help".to_owned()] {
        let page = rita.open(&path).await.is(200).text();
        agent.proposes(app.team.run, &scan()).await;
        let mut stream = Stream::open_from(&reviewer, &rita, &page).await;
        let news = stream.next().await.unwrap();
        assert!(news.contains("event: news"), "{path}: {news}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c16_a_page_of_before_the_last_start_looks_again() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let mut stream = Stream::open_at(&reviewer, &rita, "/live?of=inbox&since=of-another-start").await;
    assert!(stream.next().await.unwrap().contains("event: news"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c16_news_of_other_projects_and_other_runs_do_not_come() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let others = app.neighbours("beta").await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let theirs = Browser::visiting(&app, &others.reviewer).await;
    let page = rita.open("/").await.is(200).text();
    let mut told = Stream::open(&others.reviewer, &theirs, "inbox").await;
    let mut streams = vec![Stream::open(&reviewer, &rita, "inbox").await];
    streams.push(Stream::open(&reviewer, &rita, &app.team.run.to_string()).await);
    others.agent.proposes(others.run, &scan()).await;
    assert!(told.next().await.unwrap().contains("event: news"), "whom it concerns is told");
    streams.push(Stream::open_from(&reviewer, &rita, &page).await);
    let cookie = format!("placet_visit={}", rita.visit.clone().unwrap());
    let foreign = reviewer.anonymous(Method::GET, &format!("/live?of={}", others.run)).header("cookie", cookie);
    assert_eq!(foreign.send().await.unwrap().status(), 404);
    // The first thing that concerns her is that she is revoked, which ends her streams: nothing came before that.
    app.admin.post(&RevokeIdentity { identity: reviewer.id }.path(), &json!({})).await.is(200);
    for (number, mut stream) in streams.into_iter().enumerate() {
        assert_eq!(stream.next().await, None, "stream {number}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c16_whoever_follows_one_run_is_told_what_concerns_everybody() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let mut run = Stream::open(&reviewer, &rita, &app.team.run.to_string()).await;
    app.team.second.post(&StartSafeMode {}.path(), &json!({ "reason": "something is wrong" })).await.is(200);
    let news = run.next().await.unwrap();
    assert!(news.contains("event: news") && !news.contains("wrong"), "{news}");
    let page = rita.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    assert!(page.contains("Safe mode") && page.contains("something is wrong"), "{page}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c16_whoever_is_revoked_is_told_nothing_any_more() {
    let (app, agent, _, _) = Scenario::start().await;
    let person = app.hire(json!({ "name": "eve", "roles": ["reviewer"], "projects": [app.team.project] })).await;
    let eve = Browser::visiting(&app, &person).await;
    let mut stream = Stream::open(&person, &eve, "inbox").await;
    app.admin.post(&RevokeIdentity { identity: person.id }.path(), &json!({})).await.is(200);
    agent.proposes(app.team.run, &scan()).await;
    let mut told = Vec::new();
    while let Some(news) = stream.next().await {
        told.push(news);
    }
    assert!(told.is_empty(), "{told:?}");
}
