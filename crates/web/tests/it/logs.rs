//! What programs say while they work, on pages.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_wire::Endpoint as _;
use placet_wire::api::{LogKind, LogView};
use placet_wire::endpoint::{ReportActionLog, ReportAgentLog};
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::hosting::at_work;
use crate::moves::reading;
use crate::scenario::Scenario;

fn said(start: u64, at: usize, text: &str) -> Value {
    json!({ "start": start, "at": at, "said": [{ "stream": "stdout", "bytes": STANDARD.encode(text) }] })
}

#[tokio::test]
async fn c16_the_page_of_an_action_shows_what_its_program_says() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    worker.post(&ReportActionLog { action: action.id }.path(), &said(1, 0, "half done\n")).await.is(200);
    let rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(page.contains("What its program says") && page.contains("half done"), "{page}");
}

#[tokio::test]
async fn c16_what_an_agent_says_stands_on_the_page_of_its_run_and_what_follows_is_fetched_alone() {
    let (app, ..) = Scenario::start().await;
    let (run, _) = at_work(&app).await;
    let (team, path) = (&app.team, ReportAgentLog { run: run.id }.path());
    let rita = Browser::visiting(&app, &team.reviewer).await;
    let silent = rita.open(&format!("/runs/{}", run.id)).await.is(200).text();
    assert!(silent.contains("What its agent says") && silent.contains("data-log="), "{silent}");
    team.worker.post(&path, &said(1, 0, "<b>one</b>\n\u{202e}two\n")).await.is(200);
    let page = rita.open(&format!("/runs/{}", run.id)).await.is(200).text();
    assert!(page.contains("&lt;b&gt;one") && page.contains("⟦U+202E⟧"), "{page}");
    let next = page.split("data-log-next=\"").nth(1).and_then(|rest| rest.split('"').next()).unwrap();
    team.worker.post(&path, &said(1, 10_000, "rest of a line\nthree\n")).await.is(200);
    let more = rita.open(&format!("/runs/{}/log?after={next}", run.id)).await.is(200).text();
    assert!(more.contains("three") && !more.contains("one") && !more.contains("<nav"), "{more}");
    assert!(more.contains("bytes were skipped"), "{more}");
    let whole = rita.open(&format!("/runs/{}/log", run.id)).await.is(200).text();
    assert!(whole.contains("one") && whole.contains("three") && whole.contains("<nav"), "{whole}");
    let view: LogView = team.reviewer.get(&path).await.is(200).json();
    assert!(view.pieces.iter().any(|piece| piece.is == LogKind::Skipped && piece.bytes > 9_000), "{view:?}");
}
