//! Finding things from any page: by an id, a number, words or the end of an id, and only what one may see.

use serde_json::json;

use crate::browser::Browser;
use crate::moves::scan;
use crate::scenario::Scenario;

#[tokio::test]
async fn c16_what_is_named_exactly_is_led_to_and_words_and_ends_of_ids_are_found() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (wanted, other) = (
        agent.proposes(app.team.run, &json!({ "tool": "sh", "arguments": ["make Harvest"] })).await,
        agent.proposes(app.team.run, &scan()).await,
    );
    let rita = Browser::visiting(&app, &reviewer).await;
    let (page, run) = (format!("/actions/{}", wanted.id), app.team.run);
    for (words, place) in [(wanted.id.to_string(), page.clone()), (run.to_string(), format!("/runs/{run}"))] {
        assert_eq!(rita.open(&format!("/find?q={words}")).await.is(303).header("location"), place);
    }
    let end = wanted.id.to_string().split_off(28);
    for words in ["hARVEST", "+harvest+", &end, &format!("act_%E2%80%A6{end}")] {
        let found = rita.open(&format!("/find?q={words}")).await.is(200).text();
        assert!(found.contains(&page) && !found.contains(&other.id.to_string()), "{words}: {found}");
    }
    let nothing = rita.open("/find?q=nowhere%20%3Cb%3E").await.is(200).text();
    assert!(nothing.contains("Nothing of that was found") && nothing.contains("1 newest run,"), "{nothing}");
    assert!(nothing.contains("nowhere &lt;b&gt;") && !nothing.contains("nowhere <b>"), "{nothing}");
}

#[tokio::test]
async fn c16_nobody_finds_what_they_may_not_see() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &json!({ "tool": "sh", "arguments": ["make harvest"] })).await;
    let stranger = Browser::visiting(&app, &app.neighbours("beta").await.reviewer).await;
    for words in ["harvest", &action.id.to_string(), &app.team.run.to_string(), &agent.id.to_string()] {
        let found = stranger.open(&format!("/find?q={words}")).await.is(200).text();
        assert!(found.contains("Nothing of that was found"), "{words}: {found}");
    }
    // The number of an entry leads to the ledger those who read it, and nobody else.
    let rita = Browser::visiting(&app, &reviewer).await;
    assert!(rita.open("/find?q=3").await.is(200).text().contains("Nothing of that was found"));
    let admin = Browser::visiting(&app, &app.admin).await;
    assert_eq!(admin.open("/find?q=%233").await.is(303).header("location"), "/ledger/3");
    assert!(admin.open("/find?q=9999999").await.is(200).text().contains("Nothing of that was found"));
    assert!(admin.open(&format!("/find?q={}", "x".repeat(4_000))).await.is(200).text().len() < 20_000);
}
