//! Links in messages lead to the decision, and pages say for whom somebody stands in.

use std::time::Duration;

use placet_wire::Endpoint as _;
use placet_wire::endpoint::StartAbsence;
use serde_json::{Value, json};

use crate::browser::Browser;
use crate::moves::{reading, scan, sweep};
use crate::room::Room;
use crate::scenario::{PATIENCE, Scenario};
use crate::telling::{telling, to_room};

const MINUTE_MS: u64 = 60_000;

/// The last word of the text that begins like a link to something of ours.
fn link(text: &str, app: &Scenario) -> String {
    let base = format!("http://{}", app.address());
    let found =
        text.split_whitespace().find(|word| word.starts_with(&base)).unwrap_or_else(|| panic!("no link: {text}"));
    found.trim_start_matches(&base).to_owned()
}

#[tokio::test]
async fn b4_what_waits_is_told_and_the_link_lands_on_the_decision_and_later_on_who_decided_it() {
    let room = Room::open().await;
    let (app, agent, reviewer) = telling(vec![to_room("team", &room)]).await;
    agent.proposes(app.team.run, &reading()).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let told = room.until_taken(1).await;
    assert!(told[0].contains("nmap waits for a decision (agent ada-alpha, project alpha)"), "{}", told[0]);
    assert!(told[0].contains("tier B, one reviewer") && told[0].contains("survey the lab"), "{}", told[0]);
    assert!(!told[0].contains("-sV") && !told[0].contains("10.0.0.5"), "no argument and no target: {}", told[0]);
    let path = link(&told[0], &app);
    assert_eq!(path, format!("/actions/{}", action.id));
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open(&path).await.is(200);
    assert!(page.text().contains("id=\"approve\""));
    app.team.second.approves(&action).await.is(200);
    let later = browser.open(&path).await.is(200).text();
    assert!(later.contains("Decided already") && later.contains("ralf-alpha"), "by whom: {later}");
    assert!(later.contains("action.approved") && !later.contains("id=\"approve\"") && !later.contains("id=\"reject\""));
    let late = browser.form(&page, "approve");
    browser.send(&late).await.is(409);
}

#[tokio::test]
async fn b4_the_link_of_a_message_says_that_it_was_amended_or_ran_out_meanwhile() {
    let room = Room::open().await;
    let (app, agent, reviewer) = telling(vec![to_room("team", &room)]).await;
    let amended = agent.proposes(app.team.run, &scan()).await;
    let path = link(&room.until_taken(1).await[0], &app);
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let before = browser.open(&path).await.is(200);
    let next: Value = app.team.second.amends(&amended, json!({ "arguments": ["-sV"] })).await.is(201).json();
    let later = browser.open(&path).await.is(200).text();
    assert!(later.contains("Decided already") && later.contains("ralf-alpha"), "{later}");
    assert!(
        later.contains("action.superseded") && later.contains(&format!("/actions/{}", next["id"].as_str().unwrap())),
        "it leads on: {later}"
    );
    assert!(!later.contains("id=\"approve\"") && !later.contains("id=\"amend\""), "{later}");
    browser.send(&browser.form(&before, "approve")).await.is(409);
    let lapsing = agent.proposes(app.team.run, &sweep()).await;
    let path = format!("/actions/{}", lapsing.id);
    room.until(|room| room.taken().iter().any(|text| text.contains(&path)), "the second").await;
    app.pass_ms(25 * 60 * MINUTE_MS);
    // Her visit is over too: whoever comes by the link a day later signs in again.
    let browser = Browser::visiting(&app, &reviewer).await;
    let later = browser.open(&path).await.is(200).text();
    assert!(!later.contains("id=\"approve\"") && !later.contains("id=\"reject\""), "{later}");
    let said = async {
        while !browser.open(&path).await.is(200).text().contains("action.expired") {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(PATIENCE, said).await.expect("the clockwork notices, and the page says that it ran out");
    assert!(browser.open(&path).await.is(200).text().contains("Decided already"));
    reviewer.approves(&lapsing).await.problem(409, "not_now");
}

#[tokio::test]
async fn a13_the_inbox_says_for_whom_somebody_stands_in() {
    let (app, _, rita, _) = Scenario::start().await;
    let away = json!({ "to": "ralf-alpha", "until": "2026-02-02T09:30:00Z" });
    rita.post(&StartAbsence { identity: rita.id }.path(), &away).await.is(200);
    let ralf = Browser::visiting(&app, &app.team.second).await;
    let inbox = ralf.open("/").await.is(200).text();
    assert!(inbox.contains("You stand in for") && inbox.contains("rita-alpha"), "{inbox}");
}

#[tokio::test]
async fn a13_by_the_settings_page_one_goes_away_and_comes_back() {
    let (app, _, rita, _) = Scenario::start().await;
    let mut browser = Browser::visiting(&app, &rita).await;
    let form = browser.form(&browser.open("/settings").await.is(200), "go-away");
    browser.send(&form.clone().with("to", "nobody").with("days", "7")).await.is(404);
    browser.send(&form.clone().with("to", "ralf-alpha").with("days", "91")).await.is(422);
    browser.send(&form.with("to", "ralf-alpha").with("days", "7")).await.is(303);
    let page = browser.open("/settings").await.is(200);
    assert!(page.text().contains("ralf-alpha") && page.text().contains("is told instead of you"), "{}", page.text());
    let before = app.size();
    let back = browser.form(&page, "back");
    browser.send(&back).await.is(303);
    assert_eq!(app.kinds_from(before).await, ["identity.came_back"]);
    browser.language = "fr";
    assert!(browser.open("/settings").await.is(200).text().contains("Pendant combien de jours"));
}
