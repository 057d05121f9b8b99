//! What becomes a task, and what is refused before anything is planned with it.

use placet_domain::catalogue::{Capability, NetworkUse};
use placet_domain::planning::{DataClass, DeclaredStep, Input, Intent, PlanRefusal, encode};
use placet_domain::prose::Prose;
use placet_domain::refusal::Refusal;
use placet_domain::run::Mode;

use super::{intent, planned, refused, the};

fn input(path: &str, class: DataClass, shared: bool) -> Input {
    Input { path: the(path), class, shared, digest: None }
}

fn step(title: &str) -> DeclaredStep {
    serde_json::from_value(serde_json::json!({ "title": title })).expect("a step")
}

#[test]
fn c3_what_was_not_shared_and_what_is_confidential_never_becomes_part_of_a_task() {
    let with = |inputs: Vec<Input>| Intent { inputs, ..intent("Summarise the minutes") };
    let refusal = refused(&with(vec![
        input("public.md", DataClass::Public, false),
        input("minutes.md", DataClass::Internal, false),
        input("salaries.csv", DataClass::Confidential, true),
    ]));
    let PlanRefusal::Intent(objections) = &refusal else { panic!("{refusal}") };
    let places: Vec<&str> = objections.iter().map(|objection| objection.place.as_str()).collect();
    assert_eq!(places, ["inputs[1]", "inputs[2]"]);
    assert!(refusal.to_string().contains("share it explicitly"), "{refusal}");
    assert!(refusal.to_string().contains("never enters a cage"), "{refusal}");
    let shared = encode(&with(vec![input("minutes.md", DataClass::Internal, true)])).unwrap();
    assert_eq!(shared.inputs.len(), 1);
}

#[test]
fn c7_the_words_of_a_goal_say_what_an_agent_must_be_able_to_do() {
    let task = encode(&intent("Fix the parser, then run its tests and document it. Run them twice.")).unwrap();
    assert_eq!(task.verbs, ["fix", "run", "document"]);
    assert_eq!(task.needs, [Capability::WriteCode, Capability::RunCode, Capability::WriteText]);
}

#[test]
fn c7_a_goal_that_says_nothing_is_refused_with_what_to_do() {
    let refusal = refused(&intent("Make it nice"));
    assert!(refusal.to_string().contains("name a template, or declare steps"), "{refusal}");
    assert!(matches!(Refusal::from(refusal), Refusal::Invalid { .. }));
}

#[test]
fn c7_declared_steps_are_the_plan_in_their_order() {
    let steps = vec![
        step("Implement the parser"),
        DeclaredStep { checkpoint: false, ..step("Run the tests") },
        step("Document it"),
    ];
    let plan = planned(&Intent { steps, ..intent("A parser") });
    let seen: Vec<_> =
        plan.subtasks.iter().map(|subtask| (subtask.number, subtask.capability, subtask.gate_after)).collect();
    let expected =
        [(1, Capability::WriteCode, true), (2, Capability::RunCode, false), (3, Capability::WriteText, true)];
    assert_eq!(seen, expected);
}

#[test]
fn c9_a_step_whose_acts_always_ask_and_the_last_one_cannot_be_without_a_checkpoint() {
    let quiet = |title| DeclaredStep { checkpoint: false, ..step(title) };
    let task = encode(&Intent {
        steps: vec![quiet("Notify the team"), quiet("Draft a text"), quiet("Report")],
        ..intent("x")
    });
    let subtasks = placet_domain::planning::decompose(&task.unwrap(), super::templates()).unwrap();
    let gates: Vec<bool> = subtasks.iter().map(|subtask| subtask.gate_after).collect();
    assert_eq!(gates, [true, false, true]);
}

#[test]
fn a_step_of_unknown_meaning_needs_a_capability() {
    let refusal = refused(&Intent { steps: vec![step("Ponder")], ..intent("x") });
    assert!(refusal.to_string().contains("steps[0]") && refusal.to_string().contains("write_code"), "{refusal}");
    let told = DeclaredStep { capability: Some(Capability::WriteText), ..step("Ponder") };
    assert_eq!(planned(&Intent { steps: vec![told], ..intent("x") }).subtasks.len(), 1);
}

#[test]
fn steps_and_a_template_together_are_refused_and_so_is_a_template_nobody_knows() {
    let both = Intent { steps: vec![step("Run it")], template: Some(the("code_change")), ..intent("x") };
    assert!(refused(&both).to_string().contains("one or the other"));
    let unknown = Intent { template: Some(the("haiku")), ..intent("x") };
    assert_eq!(
        refused(&unknown).to_string(),
        "there is no template `haiku`; there are code_change; price_scrape; research_report"
    );
}

#[test]
fn everything_that_stands_against_an_intent_is_told_at_once() {
    let twice = vec![input("a", DataClass::Public, false), input("a", DataClass::Public, false)];
    let mut wrong = Intent { inputs: twice, steps: vec![DeclaredStep { turns: 0, ..step("Run it") }], ..intent("x") };
    wrong.ceiling.tokens = Some(u64::MAX);
    wrong.constraints.rules = vec![the("kind"); 201];
    let said = refused(&wrong).to_string();
    for part in ["inputs[1]", "steps[0]", "ceiling.tokens", "constraints.rules"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn an_intent_is_read_strictly_and_has_careful_defaults() {
    let read = |text: &str| serde_json::from_str::<Intent>(text);
    let least = read(r#"{"goal":"Fix it"}"#).unwrap();
    assert_eq!(least, intent("Fix it"));
    assert_eq!(least.mode, Mode::Supervised, "who says nothing is asked about every action");
    for wrong in [
        r#"{"goal":""}"#,
        r#"{"goal":"x","gaol":"y"}"#,
        r#"{"goal":"x","inputs":[{"path":"../a","class":"PUBLIC"}]}"#,
        r#"{"goal":"x","inputs":[{"path":"a","class":"SECRET"}]}"#,
        r#"{"goal":"x","mode":"AUTONOMOUS"}"#,
        r#"{"goal":"x","base":"relative"}"#,
        r#"{"goal":"x","ceiling":{"tokens":-1}}"#,
    ] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
    assert!(read(&format!(r#"{{"goal":"{}"}}"#, "x".repeat(2001))).is_err());
}

#[test]
fn what_no_entry_of_the_ledger_can_hold_is_refused_with_what_to_do() {
    let long = |letter: &str| the::<Prose<300>>(&format!("Run {}", letter.repeat(290)));
    let steps: Vec<DeclaredStep> = (0..200).map(|_| DeclaredStep { title: long("x"), ..step("Run it") }).collect();
    let task = refused(&Intent { steps, ..intent("x") });
    assert!(matches!(task, PlanRefusal::TooLarge { what: "task", .. }), "{task}");
    assert!(task.to_string().contains("40960 can be recorded; say it in fewer words"), "{task}");
    let short: Vec<DeclaredStep> = (0..200).map(|_| step(&format!("Implement {}", "x".repeat(80)))).collect();
    let plan = refused(&Intent { steps: short, ..intent("x") });
    assert!(matches!(plan, PlanRefusal::TooLarge { what: "plan", .. }), "{plan}");
}

#[test]
fn who_browses_visits_pages_also_where_nobody_counted_them() {
    let plan = planned(&intent("Browse the catalogue of the museum"));
    assert_eq!((plan.subtasks[0].pages, plan.estimate.worst.pages), (10, 10));
    assert_eq!(plan.cage.network, NetworkUse::Filtered);
    let counted = DeclaredStep { pages: Some(3), ..step("Visit the front pages") };
    let steps = vec![counted, step("Visit the others"), step("Report")];
    let pages: Vec<u64> =
        planned(&Intent { steps, ..intent("x") }).subtasks.iter().map(|subtask| subtask.pages).collect();
    assert_eq!(pages, [3, 10, 0]);
}
