//! How people decide, as the API tells it: waits, outcomes and ages without names, and one's own habits for oneself.

use placet_wire::endpoint::ShowOwnDecisions;
use placet_wire::{Endpoint as _, api};

use crate::metrics::{metrics, value};
use crate::moves::{scan, sweep};
use crate::person::Person;
use crate::scenario::Scenario;

const MINUTE_MS: u64 = 60_000;

async fn summary(person: &Person) -> api::DecisionSummary {
    person.get("/api/v1/decisions/summary").await.is(200).json()
}

#[tokio::test]
async fn c17_a_summary_tells_waits_outcomes_and_what_waits_now() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    for (minutes, yes) in [(1, true), (2, true), (9, false)] {
        let action = agent.proposes(app.team.run, &scan()).await;
        app.pass_ms(minutes * MINUTE_MS);
        let answer = if yes { reviewer.approves(&action).await } else { reviewer.rejects(&action).await };
        answer.is(200);
    }
    let swept = agent.proposes(app.team.run, &sweep()).await;
    app.pass_ms(70 * MINUTE_MS);
    reviewer.approves(&swept).await.is(200);
    let told = summary(&reviewer).await;
    assert_eq!((told.counts.approved, told.counts.rejected, told.counts.single_operator), (3, 1, 0));
    let waited = told.waited.unwrap();
    assert_eq!((waited.median_ms, waited.p90_ms, waited.count), (2 * MINUTE_MS, 70 * MINUTE_MS, 4));
    assert_eq!((told.waiting.count, told.waiting.oldest_ms), (1, Some(70 * MINUTE_MS)));
    let ages: Vec<_> = told.waiting.ages.iter().map(|row| (row.tier.as_str(), row.under_1_day)).collect();
    assert_eq!(ages, [("B", 0), ("C", 1)]);
    let metrics = metrics(&app).await;
    assert_eq!(value(&metrics, "decisions_total{outcome=\"approved\",tier=\"B\"}"), 2.0);
    assert_eq!(value(&metrics, "decisions_total{outcome=\"rejected\",tier=\"B\"}"), 1.0);
    assert_eq!(value(&metrics, "questions_oldest_seconds"), 70.0 * 60.0);
    app.assert_sound().await;
}

#[tokio::test]
async fn c17_figures_have_no_names_and_of_habits_everybody_sees_their_own_alone() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    for person in [&reviewer, &app.admin, &app.auditor, &app.team.operator] {
        let told = String::from_utf8(person.get("/api/v1/decisions/summary").await.is(200).body.to_vec()).unwrap();
        assert!(!told.contains("rita") && !told.contains(&reviewer.id.to_string()), "{told}");
    }
    let of = |mine: api::HabitView| mine.counts.approved;
    assert_eq!(of(reviewer.get(&ShowOwnDecisions {}.path()).await.is(200).json()), 1);
    for person in [&app.admin, &app.team.second] {
        assert_eq!(of(person.get(&ShowOwnDecisions {}.path()).await.is(200).json()), 0);
    }
    let asked = format!("/api/v1/decisions/mine?reviewer={}", reviewer.id);
    let told = app.admin.get(&asked).await;
    assert!(told.status == 400 || told.json::<api::HabitView>().counts.approved == 0, "nobody asks for another's");
}

#[tokio::test]
async fn c17_people_outside_a_project_learn_nothing_of_how_it_is_decided() {
    let (app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.approves(&action).await.is(200);
    agent.proposes(app.team.run, &scan()).await;
    let neighbours = app.neighbours("beta").await;
    let told = summary(&neighbours.reviewer).await;
    assert_eq!((told.counts.approved, told.waiting.count, told.tiers.len()), (0, 0, 0));
    let path = format!("/api/v1/decisions/summary?project={}", app.team.project);
    neighbours.reviewer.get(&path).await.problem(404, "unknown");
    assert_eq!(reviewer.get(&path).await.is(200).json::<api::DecisionSummary>().counts.approved, 1);
}

#[tokio::test]
async fn c17_figures_are_of_thirty_days_and_survive_a_restart() {
    let (mut app, agent, reviewer, _) = Scenario::start().await;
    let action = agent.proposes(app.team.run, &scan()).await;
    reviewer.rejects(&action).await.is(200);
    app.restart().await;
    assert_eq!(summary(&reviewer).await.counts.rejected, 1);
    app.pass_ms(31 * 24 * 60 * MINUTE_MS);
    assert_eq!(summary(&reviewer).await.counts.rejected, 0);
}

#[tokio::test]
async fn c17_who_works_alone_is_counted_as_such() {
    let (app, _, _, _) = Scenario::start().await;
    let (sole, agent, run) = app.works_alone().await;
    let action = agent.proposes(run.id, &scan()).await;
    let approved: api::ActionView = sole.approves(&action).await.is(200).json();
    assert!(approved.approvals[0].single_operator);
    assert_eq!(summary(&sole).await.counts.single_operator, 1);
    assert_eq!(value(&metrics(&app).await, "single_operator_approvals_total"), 1.0);
}
