//! Page of a run and the frame of all pages: pending decisions are shown, permitted actions are offered, and numbers agree.

use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::ReachCheckpoint;
use serde_json::json;

use crate::browser::Browser;
use crate::moves::{reading, scan, working};
use crate::person::Person;
use crate::scenario::Scenario;
use crate::showing::file;

/// Creates a run that waits for budget because its only action is used up.
async fn used_up(app: &Scenario, agent: &Person, worker: &Person) -> api::RunView {
    let run = working(app, json!({ "budget": { "limits": { "actions": 1 }, "warn_at_percent": 100 } })).await;
    agent.proposes(run.id, &reading()).await;
    agent.proposes(run.id, &reading()).await;
    worker.leases().await.unwrap();
    assert!(worker.leases().await.is_none());
    run
}

#[tokio::test]
async fn used_up_budget_is_raised_and_run_resumed() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = used_up(&app, &agent, &worker).await;
    let path = format!("/runs/{}", run.id);
    let (mut rita, olga) =
        (Browser::visiting(&app, &reviewer).await, Browser::visiting(&app, &app.team.operator).await);
    let page = rita.open(&path).await.is(200);
    assert!(page.text().contains("The budget is used up"), "{}", page.text());
    let form = rita.untouched(&page, "set-budget");
    assert!(form.fields.contains(&("actions".to_owned(), "1".to_owned())), "{:?}", form.fields);
    let bad = rita.send(&form.clone().with("actions", "lots")).await;
    assert!(bad.is(400).text().contains("`lots`"));
    rita.send(&form.clone()).await.is(409);
    rita.send(&form.with("actions", "5")).await.is(303);
    let view: api::RunView = reviewer.get(&format!("/api/v1{path}")).await.is(200).json();
    assert_eq!((view.status.as_str(), view.budget.unwrap().limits.actions), ("EXECUTING", Some(5)));
    let operators = olga.open(&path).await.is(200).text();
    assert!(!operators.contains("set-budget"), "only a reviewer gives more once the plan is approved");
    app.assert_sound().await;
}

#[tokio::test]
async fn raised_budget_in_french_is_offered_in_french() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = used_up(&app, &agent, &worker).await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    rita.language = "fr";
    let page = rita.open(&format!("/runs/{}", run.id)).await.is(200).text();
    for word in ["Le budget est épuisé", "Fixer le budget", "Reprendre l&#39;exécution aussitôt"] {
        let plain = word.replace("&#39;", "'");
        assert!(page.contains(word) || page.contains(&plain), "{word}: {page}");
    }
}

#[tokio::test]
async fn checkpoint_shows_arguments_output_and_diff() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let script = file(&app, "docs/notes.txt", b"bread\nwater\n").await;
    let wish = json!({ "tool": "sh", "arguments": ["-c", "sort docs/notes.txt --unlikely-option"], "files": [script], "outputs": ["docs/notes.txt"] });
    let action = agent.proposes(app.team.run, &wish).await;
    reviewer.approves(&action).await.is(200);
    let job = worker.leases().await.unwrap();
    worker.redeems(&job).await.is(200);
    let said = worker.uploads(&job, "stdout", b"two lines sorted\n").await;
    let left = worker.uploads(&job, "out/docs/notes.txt", b"bread\nwine\n").await;
    worker.reports(&job, &worker.manifest(&job, vec![said, left])).await.is(200);
    agent.post(&ReachCheckpoint { run: app.team.run }.path(), &json!({})).await.is(200);
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/runs/{}", app.team.run)).await.is(200).text();
    let (_, card) = page.split_once("id=\"checkpoint\"").unwrap();
    for shown in ["--unlikely-option", "two lines sorted", "class=\"come\"", "class=\"gone\"", "wine"] {
        assert!(card.contains(shown), "`{shown}` is not on the card:\n{card}");
    }
}

#[tokio::test]
async fn counts_of_actions_say_what_they_count() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = working(&app, json!({ "budget": { "limits": { "actions": 9 } } })).await;
    agent.proposes(run.id, &reading()).await;
    agent.proposes(run.id, &scan()).await;
    let job = worker.leases().await.unwrap();
    worker.executes(&job).await;
    let page = Browser::visiting(&app, &reviewer).await.open(&format!("/runs/{}", run.id)).await.is(200).text();
    assert!(page.contains("<dt>Actions proposed</dt><dd>2"), "{page}");
    assert!(page.contains("<dt>Actions executed</dt>") && !page.contains("<dt>Actions</dt>"), "{page}");
}

#[tokio::test]
async fn badge_counts_what_its_person_can_decide() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    agent.proposes(app.team.run, &scan()).await;
    app.team.draft(json!(["look"])).await;
    let badge = async |person: &Person| {
        let page = Browser::visiting(&app, person).await.open("/help").await.is(200).text();
        let (_, rest) = page.split_once("id=\"waiting\"").unwrap();
        rest.split_once('>').unwrap().1.split('<').next().unwrap().to_owned()
    };
    assert_eq!(badge(&reviewer).await, "2");
    assert_eq!((badge(&app.admin).await, badge(&app.team.operator).await), (String::new(), String::new()));
}

#[tokio::test]
async fn stopping_everything_takes_a_reason() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut rita = Browser::visiting(&app, &reviewer).await;
    let page = rita.open("/settings").await.is(200);
    let text = page.text();
    let (before, _) = text.split_once("id=\"halt\"").unwrap();
    assert!(before.rsplit("<details").next().unwrap().contains("<summary>Stop everything…"), "{before}");
    let form = rita.form(&page, "halt");
    rita.send(&form).await.is(400);
    assert!(!rita.open("/").await.is(200).text().contains("Everything is stopped"));
    rita.send(&form.with("reason", "smoke")).await.is(303);
    assert!(rita.open("/").await.is(200).text().contains("Everything is stopped"));
}
