//! Whoever decides a lot types a name before anything happens, whichever form it is; and where two people are asked, everybody does.

use placet_domain::approval::Asking;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::FinishRun;
use serde_json::json;

use crate::browser::{Browser, Filled};
use crate::moves::{scan, sweep, working};
use crate::person::Person;
use crate::scenario::{Scenario, Setup, asking};

/// A team of whom everybody is asked to look twice after one decision, and has made it.
async fn hurried() -> (Scenario, Person, Person, Person) {
    let settings = asking(Asking { most_decided: 1, ..Asking::UNBOUNDED });
    let (app, agent, reviewer, worker) = Scenario::start_with(Setup { settings, ..Setup::default() }).await;
    let first = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&first).await.is(200);
    (app, agent, reviewer, worker)
}

/// A form does nothing until the name is typed that it asks for.
async fn takes_name(app: &Scenario, browser: &mut Browser, form: Filled, name: &str) {
    let before = app.size();
    for typed in ["", "something else"] {
        browser.send(&form.clone().with("confirm", typed)).await.is(422);
    }
    assert_eq!(app.size(), before);
    browser.send(&form.with("confirm", name)).await.is(303);
    assert!(app.size() > before);
}

#[tokio::test]
async fn b4_a_terminal_learns_with_the_card_that_its_person_has_decided_a_lot() {
    let (app, agent, reviewer, _) = hurried().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let path = format!("/api/v1/actions/{}/card", action.id);
    let card = async |person: &Person| person.get(&path).await.is(200).json::<placet_wire::api::CardView>();
    assert!(card(&reviewer).await.look_twice);
    assert!(!card(&app.team.second).await.look_twice, "it is told of oneself alone");
    reviewer.approves(&action).await.is(200);
}

#[tokio::test]
async fn b4_who_decides_a_lot_is_slowed_down_whichever_way_they_let_an_action_happen() {
    let (app, agent, reviewer, worker) = hurried().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
    let amend =
        rita.form(&page, "amend").with("arguments", "-sn\r\n").with("reason", "less").with("timeout_seconds", "");
    takes_name(&app, &mut rita, amend, "nmap").await;
    // What was interrupted is tried again with the name, and given up without.
    for resolution in ["retry", "abandon"] {
        let job = worker.leases().await.expect("it can be taken up");
        worker.redeems(&job).await.is(200);
        let path = format!("/actions/{}", job.action);
        app.pass_ms(120_000);
        let page = loop {
            let page = rita.open(&path).await.is(200);
            if page.text().contains("id=\"resolve\"") {
                break page;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        };
        assert!(page.text().contains("name=\"confirm\""), "{}", page.text());
        let form = rita.form(&page, "resolve").with("reason", "looked").with("resolution", resolution);
        if resolution == "retry" {
            takes_name(&app, &mut rita, form, "nmap").await;
        } else {
            rita.send(&form).await.is(303);
        }
    }
    // What was rehearsed is done.
    let run = working(&app, json!({ "mode": "SIMULATION" })).await;
    let action = agent.proposes(run.id, &scan()).await;
    agent.post(&FinishRun { run: run.id }.path(), &json!({ "summary": "done" })).await.is(200);
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
    let perform = rita.form(&page, "perform");
    takes_name(&app, &mut rita, perform, "nmap").await;
}

#[tokio::test]
async fn b4_who_decides_a_lot_is_slowed_down_where_a_run_waits_for_them() {
    let (app, agent, reviewer, _) = hurried().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let name = "ada-alpha";
    let run = app.team.draft(json!(["look around"])).await;
    let path = format!("/runs/{}", run.id);
    let plan = rita.form(&rita.open(&path).await.is(200), "approve");
    takes_name(&app, &mut rita, plan, name).await;
    let api = format!("/api/v1{path}");
    app.team.operator.post(&format!("{api}/start"), &json!({})).await.is(200);
    agent.post(&format!("{api}/attach"), &json!({})).await.is(200);
    agent.post(&format!("{api}/checkpoints"), &json!({ "summary": "look" })).await.is(200);
    let page = rita.open(&path).await.is(200);
    assert!(page.text().contains("You have decided a lot in a short time."), "{}", page.text());
    let modify = rita.form(&page, "modify").with("note", "carefully");
    rita.send(&modify).await.is(422);
    let pass = rita.form(&page, "approve");
    takes_name(&app, &mut rita, pass, name).await;
    agent.post(&format!("{api}/finish"), &json!({ "summary": "done" })).await.is(200);
    let complete = rita.form(&rita.open(&path).await.is(200), "complete");
    takes_name(&app, &mut rita, complete, name).await;
}

#[tokio::test]
async fn b4_where_two_people_are_asked_to_change_it_takes_the_name_as_well() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
    let amend =
        rita.form(&page, "amend").with("arguments", "-sV\r\n").with("reason", "less").with("timeout_seconds", "");
    takes_name(&app, &mut rita, amend, "nmap").await;
}
