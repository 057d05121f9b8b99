//! Pages of somebody who works alone.

use placet_wire::api;

use crate::browser::Browser;
use crate::moves::scan;
use crate::scenario::Scenario;

#[tokio::test]
async fn c17_pages_mark_approvals_of_somebody_who_works_alone() {
    let (app, ..) = Scenario::start().await;
    let (sole, agent, run) = app.works_alone().await;
    let action = agent.proposes(run.id, &scan()).await;
    let _approved: api::ActionView = sole.approves(&action).await.is(200).json();
    let browser = Browser::visiting(&app, &sole).await;
    let card = browser.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(card.contains("alone, as the person behind the agent"), "{card}");
    let page = browser.open(&format!("/runs/{}", run.id)).await.is(200).text();
    assert!(page.contains("One person works alone here"), "{page}");
    let own = browser.open("/me").await.is(200).text();
    assert!(own.contains("What you approved alone") && own.contains(&action.id.to_string()), "{own}");
}
