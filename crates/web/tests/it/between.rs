//! What comes between somebody with a browser and a page: told as a page, with the way to all others, in their language; to programs as ever.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::ShowCaller;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::browser::Browser;
use crate::moves::{scan, until_status, waiting};
use crate::scenario::{PATIENCE, Scenario, Setup};

/// A form of which only the beginning comes: its request stays under way.
async fn begun(app: &Scenario, browser: &Browser, path: &str) -> TcpStream {
    let (address, origin, language) = (app.address(), browser.origin(), browser.language);
    let visit = browser.visit.as_deref().unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\norigin: {origin}\r\ncookie: placet_visit={visit}\r\naccept: text/html\r\n\
         accept-language: {language}\r\nconnection: close\r\ncontent-type: application/x-www-form-urlencoded\r\n\
         content-length: 50\r\n\r\ncsrf="
    );
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// With the way to other pages, and nothing for machines.
fn assert_among_pages(told: &str) {
    assert!(told.contains("<nav") && told.contains("href=\"/runs\"") && told.contains("role=\"alert\""), "{told}");
    assert!(!told.contains("about:blank"), "{told}");
}

async fn until_open(browser: &Browser, status: u16) -> String {
    let asked = async {
        loop {
            let answer = browser.open("/").await;
            if answer.status == status {
                return answer.text();
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, asked).await.unwrap_or_else(|_| panic!("it never answered {status}"))
}

fn with_room_for(requests: usize) -> Setup {
    let mut setup = Setup::default();
    setup.settings.limits.requests_in_flight = requests;
    setup
}

#[tokio::test]
async fn c16_whoever_has_too_much_under_way_is_told_so_among_the_other_pages_and_what_to_do() {
    let (app, agent, reviewer, _) = Scenario::start_with(with_room_for(4)).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let held = begun(&app, &rita, &format!("/actions/{}/reject", action.id)).await;
    let told = until_open(&rita, 429).await;
    assert_among_pages(&told);
    assert!(told.contains("wait for one to end") && told.contains("Nothing was changed"), "{told}");
    rita.language = "fr";
    let told = rita.open("/").await.is(429).text();
    assert!(told.contains("trop de demandes en cours") && told.contains("Exécutions"), "{told}");
    reviewer.get(&ShowCaller {}.path()).await.problem(429, "too_many");
    drop(held);
    until_open(&rita, 200).await;
}

#[tokio::test]
async fn c16_when_there_is_too_much_at_once_that_is_told_among_the_other_pages() {
    let (app, _, reviewer, _) = Scenario::start_with(with_room_for(4)).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let mut workers = Vec::new();
    for number in 0..4 {
        workers.push(app.another("worker", number).await);
    }
    let all = waiting(&workers);
    until_status(&reviewer, "/api/v1/whoami", 503).await;
    let told = until_open(&rita, 503).await;
    assert_among_pages(&told);
    assert!(told.contains("try again in a moment"), "{told}");
    // A stranger is told as much, and nothing of who else there is.
    rita.visit = None;
    let told = until_open(&rita, 503).await;
    assert!(told.contains("try again in a moment") && !told.contains("href=\"/runs\""), "{told}");
    drop(all);
}

#[tokio::test]
async fn c16_a_form_that_takes_too_long_says_so_among_the_other_pages_and_not_that_nothing_happened() {
    let mut setup = Setup::default();
    setup.settings.limits.request_ms = 500;
    let (app, agent, reviewer, _) = Scenario::start_with(setup).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let place = format!("/actions/{}", action.id);
    for (language, words, unsaid) in [
        ("en", "look at what became of it before you try again", "Nothing was changed"),
        ("fr", "regardez ce qu&#39;il en est avant de recommencer", "Rien n"),
    ] {
        rita.language = language;
        let mut slow = begun(&app, &rita, &format!("{place}/reject")).await;
        let mut told = String::new();
        tokio::time::timeout(PATIENCE, slow.read_to_string(&mut told)).await.unwrap().unwrap();
        assert!(told.starts_with("HTTP/1.1 408"), "{told}");
        assert_among_pages(&told);
        assert!(told.contains("cache-control: no-store") && told.contains("x-content-type-options: nosniff"), "{told}");
        let told = told.replace('\'', "&#39;");
        assert!(told.contains(words) && !told.contains(unsaid), "{told}");
        assert!(told.contains(&format!("href=\"{place}\"")) && told.contains("content-security-policy"), "{told}");
    }
}

#[tokio::test]
async fn c16_a_form_of_another_page_is_refused_among_the_pages_of_whoever_sent_it() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
    let form = rita.form(&page, "reject").with("reason", "no");
    let before = app.size();
    let told = rita.send_from("http://127.0.0.1:1", &form).await.is(403).text();
    assert_among_pages(&told);
    assert!(told.contains("Nothing was changed"), "{told}");
    rita.language = "fr";
    let told = rita.send_from("http://127.0.0.1:1", &form).await.is(403).text();
    assert!(told.contains("ne vient pas d") && told.contains("Exécutions"), "{told}");
    assert_eq!(app.size(), before);
}
