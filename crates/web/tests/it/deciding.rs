//! Every decision by a page: the same flow, the same record, on exactly what was shown.

use placet_wire::endpoint::AssignAction;
use placet_wire::{Endpoint as _, api};
use serde_json::json;

use crate::browser::{Browser, Filled};
use crate::moves::{deletion, scan, sweep};
use crate::person::Person;
use crate::scenario::Scenario;

pub(crate) async fn state(person: &Person, action: &api::ActionView) -> String {
    let detail = person.sees(action).await;
    detail.action.status.as_str().to_owned()
}

async fn status(person: &Person, run: &impl ToString) -> String {
    let view: api::RunView = person.get(&format!("/api/v1/runs/{}", run.to_string())).await.is(200).json();
    view.status.to_string()
}

#[tokio::test]
async fn b4_what_is_approved_on_a_page_is_recorded_as_its_person_and_leads_to_what_comes_next() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open("/").await.is(200);
    let form = browser.form(&page, "approve");
    let before = app.size();
    let onward = browser.send(&form).await.is(303).header("location").to_owned();
    assert_eq!(onward, format!("/?just={}", action.id));
    assert_eq!(state(&reviewer, &action).await, "APPROVED");
    let recorded = app.bodies_from(before).await;
    assert!(recorded.contains("action.approved") && recorded.contains(&reviewer.id.to_string()), "{recorded}");
    let next = browser.open(&onward).await.is(200).text();
    assert!(next.contains("Nothing waits for you.") && next.contains("You approved"), "{next}");
    browser.send(&form).await.is(409);
}

#[tokio::test]
async fn b4_a_page_that_is_older_than_what_stands_decides_nothing_and_says_so() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
    let other = placet_domain::digest::Digest::of(b"what somebody else was shown").to_string();
    let stale = browser.form(&page, "approve").with("seen", &other);
    let refused = browser.send(&stale).await.is(412);
    assert!(
        refused.text().contains("It is not what you saw any more.") && refused.text().contains("Nothing was changed.")
    );
    assert!(refused.text().contains(&format!("href=\"/actions/{}\"", action.id)), "and where to look again");
    assert_eq!(state(&reviewer, &action).await, "PENDING_APPROVAL");
}

#[tokio::test]
async fn b4_why_somebody_rejects_is_not_lost_where_another_one_was_faster() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
    let form = browser.form(&page, "reject").with("reason", "the host is in use until noon");
    app.team.second.rejects(&action).await.is(200);
    let told = browser.send(&form).await.is(409).text();
    assert!(told.contains("What you wrote") && told.contains("the host is in use until noon"), "{told}");
    assert!(
        told.contains("Refused by a person.") && !told.contains("propose something else"),
        "advice for agents: {told}"
    );
    // What the script of an open page shows above what they write.
    let now = browser.open(&format!("/actions/{}", action.id)).await.is(200).text();
    let (_, meanwhile) = now.split_once("data-meanwhile=\"Decided meanwhile;").expect("what happened meanwhile");
    let line = meanwhile.split("</p>").next().unwrap();
    assert!(line.contains("action.rejected") && line.contains("<strong>ralf-alpha</strong>"), "{line}");
    assert!(page.text().contains(&format!("data-at=\"/actions/{}\"", action.id)), "and where it looks");
}

#[tokio::test]
async fn b4_where_two_people_are_asked_each_types_what_it_is_and_nobody_twice() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &sweep()).await;
    let path = format!("/actions/{}", action.id);
    let mut first = Browser::visiting(&app, &reviewer).await;
    let form = first.form(&first.open(&path).await.is(200), "approve");
    first.send(&form.clone().with("confirm", "yes")).await.is(422);
    first.send(&form.with("confirm", "nmap")).await.is(303);
    let again = first.open(&path).await.is(200).text();
    assert!(again.contains("You cannot decide this") && again.contains("another person"), "{again}");
    assert!(again.contains("rita-alpha") && !again.contains("id=\"approve\""));
    let mut second = Browser::visiting(&app, &app.team.second).await;
    let form = second.form(&second.open(&path).await.is(200), "approve");
    second.send(&form.with("confirm", "nmap")).await.is(303);
    assert_eq!(state(&reviewer, &action).await, "APPROVED");
}

#[tokio::test]
async fn b4_a_rejection_needs_a_reason_that_the_agent_reads() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let form = browser.form(&browser.open("/").await.is(200), "reject");
    browser.send(&form).await.is(422);
    browser.send(&form.with("reason", "not on a Friday <b>")).await.is(303);
    assert_eq!(agent.sees(&action).await.action.because.as_deref(), Some("not on a Friday <b>"));
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200).text();
    assert!(page.contains("not on a Friday &lt;b&gt;") && !page.contains("<b>\""));
}

#[tokio::test]
async fn b4_an_action_is_amended_on_a_page_and_the_new_one_is_shown() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open(&format!("/actions/{}", action.id)).await.is(200);
    let form = browser.form(&page, "amend").with("arguments", "-sn\r\n").with("reason", "versions are not needed");
    let answer = browser.send(&form.with("timeout_seconds", "")).await.is(303);
    let shown = browser.open(answer.header("location")).await.is(200).text();
    assert!(shown.contains("nmap -sn 10.0.0.5") && shown.contains("What a reviewer made of"), "{shown}");
    assert_eq!(state(&reviewer, &action).await, "SUPERSEDED");
}

#[tokio::test]
async fn b4_identical_actions_are_one_row_and_are_approved_each_by_itself() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let mut same = Vec::new();
    for _ in 0..3 {
        same.push(agent.proposes(app.team.run, &scan()).await);
    }
    let other =
        agent.proposes(app.team.run, &json!({ "tool": "nmap", "arguments": ["-sn"], "target": "10.0.0.6" })).await;
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let page = browser.open(&format!("/?action={}", same[0].id)).await.is(200);
    assert!(page.text().contains("+2 identical"), "{}", page.text());
    let form = browser.form(&page, "approve-all");
    // One of them is decided elsewhere meanwhile: the others stand, and what was not is told.
    app.team.second.rejects(&same[1]).await.is(200);
    let before = app.size();
    let told = browser.send(&form).await.is(409).text();
    assert!(told.contains("2 were approved, 1 were not") && !told.contains("Nothing was changed"), "{told}");
    assert_eq!(app.kinds_from(before).await.iter().filter(|kind| *kind == "action.approved").count(), 2);
    assert_eq!(state(&reviewer, &other).await, "PENDING_APPROVAL");
}

#[tokio::test]
async fn d9_what_was_interrupted_again_since_a_page_was_made_is_not_decided_by_it() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let path = format!("/actions/{}", action.id);
    interrupt(&app, &worker, &reviewer, &action).await;
    let old = browser.form(&browser.open(&path).await.is(200), "resolve");
    app.team.second.resolves(&action, "retry").await.is(200);
    interrupt(&app, &worker, &reviewer, &action).await;
    let decision = [("resolution", "abandon"), ("reason", "enough")];
    let filled = |form: Filled| decision.iter().fold(form, |form, (name, value)| form.with(name, value));
    assert!(browser.send(&filled(old)).await.is(412).text().contains("tried again"));
    assert_eq!(state(&reviewer, &action).await, "INTERRUPTED");
    let new = browser.form(&browser.open(&path).await.is(200), "resolve");
    browser.send(&filled(new)).await.is(303);
    assert_eq!(state(&reviewer, &action).await, "ABANDONED");
}

/// A worker takes it up, begins, and is not heard of again.
pub(crate) async fn interrupt(app: &Scenario, worker: &Person, reviewer: &Person, action: &api::ActionView) {
    let job = worker.leases().await.expect("it can be taken up");
    worker.redeems(&job).await.is(200);
    app.pass_ms(120_000);
    for _ in 0..200 {
        if state(reviewer, action).await == "INTERRUPTED" {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("it was not interrupted");
}

#[tokio::test]
async fn b4_what_is_not_identical_or_needs_two_people_is_not_approved_many_at_once_whatever_is_sent() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (one, two) = (agent.proposes(app.team.run, &scan()).await, agent.proposes(app.team.run, &scan()).await);
    let other =
        agent.proposes(app.team.run, &json!({ "tool": "nmap", "arguments": ["-sn"], "target": "10.0.0.6" })).await;
    let (swept, again) = (agent.proposes(app.team.run, &sweep()).await, agent.proposes(app.team.run, &sweep()).await);
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let mut form = browser.form(&browser.open(&format!("/?action={}", one.id)).await.is(200), "approve-all");
    assert!(
        browser.open(&format!("/?action={}", one.id)).await.text().contains(&format!("href=\"/actions/{}\"", two.id))
    );
    let before = app.size();
    for items in [[&one, &other], [&swept, &again]] {
        form.fields.retain(|(name, _)| name != "item");
        form.fields.extend(items.map(|item| ("item".to_owned(), format!("{} {}", item.id, item.review))));
        browser.send(&form.clone().with("confirm", "nmap")).await.is(400);
    }
    assert_eq!(app.size(), before);
}

#[tokio::test]
async fn b4_what_somebody_spoke_about_meanwhile_is_not_approved_with_others() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let (one, two) = (agent.proposes(app.team.run, &scan()).await, agent.proposes(app.team.run, &scan()).await);
    let mut browser = Browser::visiting(&app, &reviewer).await;
    let form = browser.form(&browser.open(&format!("/?action={}", one.id)).await.is(200), "approve-all");
    let to = json!({ "to": "ralf-alpha", "note": "not before I looked" });
    app.team.operator.post(&AssignAction { action: two.id }.path(), &to).await.is(200);
    let told = browser.send(&form).await.is(409).text();
    assert!(told.contains("1 were approved, 1 were not") && told.contains("somebody said something"), "{told}");
    assert_eq!(
        (state(&reviewer, &one).await, state(&reviewer, &two).await),
        ("APPROVED".into(), "PENDING_APPROVAL".into())
    );
}

#[tokio::test]
async fn b4_actions_that_need_two_people_are_never_approved_many_at_once() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for _ in 0..2 {
        agent.proposes(app.team.run, &sweep()).await;
    }
    let page = Browser::visiting(&app, &reviewer).await.open("/").await.is(200).text();
    assert!(!page.contains("approve-all") && !page.contains("identical"), "{page}");
}

#[tokio::test]
async fn c9_a_run_is_led_by_pages_from_its_plan_to_its_results() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let run = app.team.draft(json!(["look around", "report"])).await;
    let path = format!("/runs/{}", run.id);
    let (mut rita, mut olga) =
        (Browser::visiting(&app, &reviewer).await, Browser::visiting(&app, &app.team.operator).await);
    let inbox = rita.open("/").await.is(200).text();
    assert!(inbox.contains("Plan to approve") && inbox.contains(&path), "{inbox}");
    let page = rita.open(&path).await.is(200);
    for bound in ["Everything that you approve", "10.0.0.0/24", "CHECKPOINT", "look around"] {
        assert!(page.text().contains(bound), "`{bound}` is approved and not shown:\n{}", page.text());
    }
    let approve = rita.form(&page, "approve");
    rita.send(&approve).await.is(303);
    let start = olga.form(&olga.open(&path).await.is(200), "start");
    olga.send(&start).await.is(303);
    agent.post(&format!("/api/v1{path}/attach"), &json!({})).await.is(200);
    agent.post(&format!("/api/v1{path}/checkpoints"), &json!({ "summary": "half way \u{202e}there" })).await.is(200);
    let page = rita.open(&path).await.is(200);
    assert!(page.text().contains("Checkpoint 1") && page.text().contains("⟦U+202E⟧"), "{}", page.text());
    let modify = rita.form(&page, "modify").with("note", "mind the gap").with("plan", "report only\r\n\r\n");
    rita.send(&modify).await.is(303);
    let view: api::RunView = reviewer.get(&format!("/api/v1{path}")).await.is(200).json();
    assert_eq!((view.status.as_str(), view.plan.last().unwrap().as_str()), ("EXECUTING", "report only"));
    agent.post(&format!("/api/v1{path}/finish"), &json!({ "summary": "all done" })).await.is(200);
    let complete = rita.form(&rita.open(&path).await.is(200), "complete");
    rita.send(&complete).await.is(303);
    assert_eq!(status(&reviewer, &run.id).await, "COMPLETED");
}

#[tokio::test]
async fn c9_a_checkpoint_is_rejected_a_run_is_paused_resumed_and_ended_by_pages() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let path = format!("/runs/{}", app.team.run);
    let mut rita = Browser::visiting(&app, &reviewer).await;
    agent.post(&format!("/api/v1{path}/checkpoints"), &json!({})).await.is(200);
    let reject = rita.form(&rita.open(&path).await.is(200), "reject").with("reason", "look closer");
    rita.send(&reject).await.is(303);
    assert_eq!(status(&reviewer, &app.team.run).await, "EXECUTING");
    for (form, then) in [("pause", "PAUSED"), ("resume", "EXECUTING"), ("cancel", "CANCELLED")] {
        let filled = rita.form(&rita.open(&path).await.is(200), form).with("reason", "enough");
        rita.send(&filled).await.is(303);
        assert_eq!(status(&reviewer, &app.team.run).await, then);
    }
    assert!(!rita.open(&path).await.is(200).text().contains("id=\"pause\""));
}

#[tokio::test]
async fn c9_a_run_that_waits_for_an_action_leads_to_the_action() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &deletion()).await;
    let rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    assert!(page.contains("decide on that") && page.contains(&format!("href=\"/actions/{}\"", action.id)), "{page}");
    assert!(!page.contains("checkpoints/1/approve"));
}

#[tokio::test]
async fn d11_the_switch_is_thrown_on_a_page_and_every_page_says_so() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let halt = rita.form(&rita.open("/settings").await.is(200), "halt").with("reason", "smoke");
    rita.send(&halt).await.is(303);
    assert!(rita.open("/").await.is(200).text().contains("Everything is stopped"));
    let settings = rita.open("/settings").await.is(200).text();
    assert!(!settings.contains("id=\"release\""), "a reviewer does not let things go on");
    let mut root = Browser::visiting(&app, &app.admin).await;
    let release = root.form(&root.open("/settings").await.is(200), "release").with("reason", "it was toast");
    root.send(&release).await.is(303);
    assert!(!rita.open("/").await.is(200).text().contains("Everything is stopped"));
}
