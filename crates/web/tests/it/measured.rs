//! How people decide, on pages: who is asked to look twice, what everybody sees and what only oneself.

use placet_domain::approval::Asking;
use placet_wire::endpoint::ProposeAction;
use placet_wire::{Endpoint as _, api};

use crate::browser::Browser;
use crate::moves::{scan, sweep};
use crate::scenario::{Scenario, Setup, asking};

const MINUTE_MS: u64 = 60_000;

/// Approves an action after looking at it in the inbox for so long; where a name is asked for, it is typed.
async fn approves(app: &Scenario, browser: &mut Browser, action: &api::ActionView, looked_ms: u64) {
    let path = format!("/?action={}", action.id);
    let page = browser.open(&path).await.is(200);
    app.pass_ms(looked_ms);
    browser.open(&path).await.is(200);
    let form = browser.form(&page, "approve");
    browser.send(&form.with("confirm", "nmap")).await.is(303);
}

#[tokio::test]
async fn b4_who_decides_a_lot_in_a_short_time_is_asked_to_look_twice_until_they_paused() {
    let settings = asking(Asking { most_decided: 3, ..Asking::UNBOUNDED });
    let (app, agent, reviewer, _) = Scenario::start_with(Setup { settings, ..Setup::default() }).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    for _ in 0..3 {
        let action = agent.proposes(app.team.run, &scan()).await;
        let page = rita.open(&format!("/actions/{}", action.id)).await.is(200);
        assert!(!page.text().contains("name=\"confirm\""));
        let form = rita.form(&page, "approve");
        rita.send(&form).await.is(303);
    }
    let (one, two) = (agent.proposes(app.team.run, &scan()).await, agent.proposes(app.team.run, &scan()).await);
    let page = rita.open(&format!("/?action={}", one.id)).await.is(200);
    assert!(page.text().contains("You have decided a lot in a short time."), "{}", page.text());
    assert!(page.text().contains("name=\"confirm\"") && !page.text().contains("approve-all"));
    let form = rita.form(&page, "approve");
    rita.send(&form).await.is(422);
    // Nor many at once by a form that is made up.
    let mut batch = form.clone();
    batch.to = "/batch/approve".to_owned();
    batch.fields.extend([&one, &two].map(|item| ("item".to_owned(), format!("{} {}", item.id, item.review))));
    rita.send(&batch).await.is(422);
    // And no order, which is the widest yes.
    assert!(!page.text().contains("/order\""), "{}", page.text());
    let more = [("width", "exact"), ("minutes", "60"), ("times", "9")];
    let mut order = more.iter().fold(form.clone(), |form, (name, value)| form.with(name, value));
    order.to = format!("/actions/{}/order", one.id);
    rita.send(&order).await.is(409);
    rita.send(&form.clone().with("confirm", "nmap")).await.is(303);
    // To say no never takes more than a reason, and others are not slowed down.
    let mut ralf = Browser::visiting(&app, &app.team.second).await;
    assert!(!ralf.open(&format!("/actions/{}", two.id)).await.is(200).text().contains("name=\"confirm\""));
    let reject = rita.form(&rita.open(&format!("/actions/{}", two.id)).await.is(200), "reject");
    rita.send(&reject.with("reason", "twice")).await.is(303);
    let three = agent.proposes(app.team.run, &scan()).await;
    app.pass_ms(10 * MINUTE_MS);
    let page = rita.open(&format!("/actions/{}", three.id)).await.is(200);
    assert!(!page.text().contains("name=\"confirm\""), "after a pause it is as before");
    let form = ralf.form(&ralf.open(&format!("/actions/{}", three.id)).await.is(200), "approve");
    ralf.send(&form).await.is(303);
}

#[tokio::test]
async fn b4_where_two_people_decide_the_second_sees_who_said_yes_and_when() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    reviewer.approves(&action).await.is(200);
    app.pass_ms(3 * MINUTE_MS);
    let ralf = Browser::visiting(&app, &app.team.second).await;
    let card = ralf.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(card.contains("<strong>1 of 2</strong>"), "{card}");
    assert!(card.contains("rita-alpha said yes") && card.contains(">3 min ago</time>"), "{card}");
}

#[tokio::test]
async fn c17_figures_are_on_a_page_without_names_and_every_chart_has_its_table() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    for _ in 0..2 {
        let action = agent.proposes(app.team.run, &scan()).await;
        approves(&app, &mut rita, &action, 7 * MINUTE_MS).await;
    }
    agent.proposes(app.team.run, &scan()).await;
    for person in [&reviewer, &app.team.operator, &app.auditor, &app.admin] {
        let mut browser = Browser::visiting(&app, person).await;
        let page = browser.open("/decisions").await.is(200).text();
        for shown in ["How long questions waited", "7 min", "under 5 minutes", "<svg", "<table"] {
            assert!(page.contains(shown), "{shown}: {page}");
        }
        let main = page.split("<main").nth(1).unwrap();
        assert!(!main.contains("rita") && !main.contains(&reviewer.id.to_string()), "{main}");
        assert!(!page.contains("style="));
        browser.language = "fr";
        assert!(browser.open("/decisions").await.is(200).text().contains("Attente des questions"));
    }
    let own = rita.open("/me").await.is(200).text();
    assert!(own.contains("Only you see this page.") && own.contains("Longest row of approvals"), "{own}");
}

#[tokio::test]
async fn b4_an_agent_that_asked_too_often_is_one_item_of_the_inbox() {
    let settings = asking(Asking { most_asked: 4, most_undecided: 0, ..Asking::default() });
    let (app, agent, reviewer, _) = Scenario::start_with(Setup { settings, ..Setup::default() }).await;
    for _ in 0..4 {
        agent.proposes(app.team.run, &scan()).await;
    }
    for _ in 0..20 {
        agent.post(&ProposeAction { run: app.team.run }.path(), &scan()).await;
    }
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let inbox = rita.open("/").await.is(200).text();
    assert_eq!(inbox.matches(&format!("href=\"/runs/{}\"", app.team.run)).count(), 2, "the item, and the card's run");
    let path = format!("/runs/{}", app.team.run);
    let page = rita.open(&path).await.is(200);
    assert!(page.text().contains("QUESTIONS") && page.text().contains("has asked 4 times in 10 minutes"));
    for way in ["pause", "cancel", "approve"] {
        rita.form(&page, way);
    }
    let pass = rita.form(&page, "approve");
    rita.send(&pass).await.is(303);
    agent.proposes(app.team.run, &scan()).await;
}

#[tokio::test]
async fn c17_what_executions_took_of_the_machine_is_drawn_on_the_page_of_their_run() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    agent.proposes(app.team.run, &crate::moves::reading()).await;
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let mut manifest = worker.manifest(&job, Vec::new());
    (manifest.usage.cpu_ms, manifest.usage.peak_memory_bytes) = (61_000, 7 * 1_048_576);
    worker.reports(&job, &manifest).await.is(200);
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    assert!(page.contains("Processor time of executions") && page.contains("1 min 1 s"), "{page}");
    assert!(page.contains("Most memory of each execution") && page.contains("7 MiB"), "{page}");
}
