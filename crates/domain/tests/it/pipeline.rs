//! Runs that are founded on an intent, and the fifteen steps that every run goes through (C7).

use placet_domain::budget::{Amounts, Ceiling};
use placet_domain::catalogue::Catalogue;
use placet_domain::command::Command;
use placet_domain::planning::{Intent, Preparation};
use placet_domain::project::ProjectCommand;
use placet_domain::record::Record;
use placet_domain::run::{
    Allowance, Founding, GateKind, GateRules, Mode, Run, RunCommand, RunStatus, StepState, pipeline,
};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use crate::catalogue::own;
use crate::people::Who;
use crate::planning::{catalogue, intent, started, templates, the};
use crate::scenario::{Outcome, World};
use crate::trials::{pass_gate, run_worlds};

fn prepared(intent: Intent) -> Preparation {
    Preparation::of(intent, catalogue(), templates()).unwrap_or_else(|refusal| panic!("{refusal}"))
}

/// Prices of fifty pages: eight steps, of which the first seven have a checkpoint but for one.
fn scrape() -> Preparation {
    let template = Some(the("price_scrape"));
    prepared(Intent { template, mode: Mode::Checkpoint, ..intent("Prices of the shop") })
}

/// A run that says what was planned for it, but for what a test makes of it.
fn founding(world: &World, prepared: Preparation, but: impl FnOnce(&mut Founding)) -> RunCommand {
    let RunCommand::Create(mut founding) = world.new_run(&[]) else { unreachable!("a new run") };
    founding.goal = prepared.goal().to_owned();
    founding.plan = prepared.steps();
    founding.posture = prepared.posture(None);
    founding.allowance = Some(prepared.allowance(None));
    founding.prepared = Some(Box::new(prepared));
    but(&mut founding);
    RunCommand::Create(founding)
}

fn founds(world: &mut World, prepared: Preparation) -> Outcome {
    let command = founding(world, prepared, |_| {});
    world.by(Who::Creator).run(command)
}

fn states(run: &Run) -> Vec<StepState> {
    pipeline(run).iter().map(|step| step.state).collect()
}

/// What holds of every run at every moment: what is done comes before what comes, and one thing at a time is under way, but
/// that a checkpoint is part of the execution.
pub(crate) fn sound(run: &Run) -> Result<(), TestCaseError> {
    let steps = pipeline(run);
    let states: Vec<StepState> = steps.iter().map(|step| step.state).collect();
    let first_to_come = states.iter().position(|state| *state == StepState::ToCome).unwrap_or(states.len());
    let done_later = states[first_to_come..].contains(&StepState::Done);
    prop_assert!(!done_later, "{}: {states:?}", run.status);
    let now: Vec<u32> = steps.iter().filter(|step| step.state == StepState::Now).map(|step| step.number).collect();
    prop_assert!(now.len() <= 1 || now == [11, 12], "{}: {now:?}", run.status);
    let over = run.status.is_final() || run.status == RunStatus::Failed;
    prop_assert!(over || !now.is_empty(), "{}: {states:?}", run.status);
    prop_assert!(!over || !states.contains(&StepState::ToCome), "{}: {states:?}", run.status);
    let waits = [RunStatus::PendingApproval, RunStatus::CheckpointReached, RunStatus::PendingExport];
    if waits.contains(&run.status) {
        let decides = steps.iter().any(|step| step.state == StepState::Now && (step.is_decision || step.number == 13));
        prop_assert!(decides, "{}: {states:?}", run.status);
    }
    Ok(())
}

#[test]
fn c7_a_run_founded_on_an_intent_leaves_one_entry_for_each_step_of_planning() {
    let mut world = World::new();
    let records = founds(&mut world, scrape()).unwrap();
    let kinds: Vec<&str> = records.iter().map(Record::kind).collect();
    assert_eq!(
        kinds,
        [
            "run.created",
            "run.intent_stated",
            "run.encoded",
            "run.decomposed",
            "run.agent_selected",
            "run.cage_configured",
            "run.estimated",
            "run.budget_set",
            "run.submitted",
        ]
    );
    for record in &records {
        let read = Record::read(record.about, record.kind(), record.body()).unwrap();
        assert_eq!(read, *record, "{}", record.kind());
    }
    assert_eq!(world.run_status(), RunStatus::PendingApproval);
}

#[test]
fn c7_what_is_approved_is_what_was_planned_and_nothing_else() {
    let mut world = World::new();
    founds(&mut world, scrape()).unwrap();
    let run = world.run().clone();
    let mut changed = vec![run.clone(); 4];
    let products = |run: &mut Run| run.products.take().unwrap();
    let estimate = |run: &mut Run| {
        let mut products = products(run);
        products.estimate.as_mut().unwrap().worst.usd_micros += 1;
        run.products = Some(products);
    };
    let network = |run: &mut Run| {
        let mut products = products(run);
        products.cage.as_mut().unwrap().network = placet_domain::catalogue::NetworkUse::Filtered;
        products.cage.as_mut().unwrap().limits.pages += 1;
        run.products = Some(products);
    };
    estimate(&mut changed[0]);
    network(&mut changed[1]);
    changed[2].products = None;
    changed[3].posture.gates.after.clear();
    assert!(changed.iter().all(|other| other.review() != run.review()));
    world.reviewer().approves_plan().unwrap();
}

#[test]
fn c7_a_run_takes_steps_checkpoints_and_budget_from_its_plan_where_nothing_is_said() {
    let mut world = World::new();
    let prepared = scrape();
    let worst = prepared.plan().estimate.worst;
    founds(&mut world, prepared).unwrap();
    let run = world.run();
    assert_eq!((run.plan.len(), run.plan[1].as_str()), (8, "Read prices from ten pages (1 of 5)"));
    // After each ten pages, as both the entry and the template say; the last step is followed by the results.
    assert_eq!(run.posture.gates.after.iter().copied().collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    assert_eq!(run.posture.mode, Mode::Checkpoint);
    assert_eq!(run.budget.as_ref().unwrap().ceiling, Ceiling::at(worst));
    world.reviewer().approves_plan().unwrap();
    world.operator().run(RunCommand::Start).unwrap();
    world.agent().run(RunCommand::Attach).unwrap();
    world.agent().run(RunCommand::FinishStep { step: 1, summary: "these fifty".to_owned() }).unwrap();
    assert_eq!(world.run().gate.as_ref().map(|gate| gate.kind), Some(GateKind::Step));
}

#[test]
fn c4_the_frequency_of_an_entry_is_kept_in_steps_minutes_and_pages() {
    let of = |every: &str, like: &str, goal: Intent| {
        let text = started(&own("ours", like));
        let at = text.lines().find(|line| line.starts_with("checkpoint = ")).unwrap().to_owned();
        let text = text.replace(&at, &format!("checkpoint = {every}"));
        let catalogue = Catalogue::with([("ours.toml", text.as_str())]).unwrap();
        Preparation::of(goal, &catalogue, templates()).unwrap().posture(None).gates
    };
    let free = || {
        let steps =
            r#"[{"title":"Run it","checkpoint":false},{"title":"Run it","checkpoint":false},{"title":"Run it"}]"#;
        Intent { steps: serde_json::from_str(steps).unwrap(), ..intent("x") }
    };
    let none = GateRules::default;
    assert_eq!(of("{ steps = 2 }", "code_agent", free()), GateRules { every_steps: Some(2), ..none() });
    assert_eq!(of("{ minutes = 5 }", "code_agent", free()), GateRules { every_ms: Some(300_000), ..none() });
    let steps = r#"[{"title":"Browse","pages":6,"checkpoint":false},{"title":"Browse","pages":4,"checkpoint":false},
        {"title":"Browse","pages":9,"checkpoint":false},{"title":"Browse","pages":1}]"#;
    let pages = Intent { steps: serde_json::from_str(steps).unwrap(), ..intent("x") };
    assert_eq!(of("{ pages = 10 }", "browser_agent", pages), GateRules { after: [2].into(), ..none() });
}

#[test]
fn c9_what_is_said_replaces_the_usual_and_no_checkpoint_of_a_sub_task() {
    let said = GateRules { every_steps: Some(5), ..GateRules::default() };
    let gates = scrape().posture(Some(said)).gates;
    assert_eq!((gates.every_steps, gates.after.len()), (Some(5), 6));
}

#[test]
fn c12_no_run_gets_more_than_the_entry_of_its_agent_allows() {
    let prepared = scrape();
    let limits = prepared.plan().cage.limits;
    let wish = Allowance { ceiling: Ceiling { tokens: Some(u64::MAX), ..Ceiling::default() }, warn_at_percent: 50 };
    let allowance = prepared.allowance(Some(wish));
    assert_eq!((allowance.ceiling, allowance.warn_at_percent), (Ceiling::at(limits), 50));
    let less = Allowance { ceiling: Ceiling::at(Amounts { tokens: 7, ..limits }), warn_at_percent: 50 };
    assert_eq!(prepared.allowance(Some(less)), less);
}

#[test]
fn c7_a_run_that_says_something_else_than_what_was_planned_is_not_founded() {
    let others: [fn(&mut Founding); 7] = [
        |founding| founding.goal.push('!'),
        |founding| drop(founding.plan.pop()),
        |founding| founding.plan[0].push('!'),
        |founding| founding.posture.mode = Mode::Supervised,
        |founding| founding.posture.gates.after.clear(),
        |founding| founding.allowance = None,
        |founding| founding.allowance.as_mut().unwrap().ceiling.tokens = Some(u64::MAX),
    ];
    for other in others {
        let mut world = World::new();
        let command = founding(&world, scrape(), other);
        let refusal = world.by(Who::Creator).run(command).unwrap_err();
        assert!(refusal.to_string().contains("plan again"), "{refusal}");
    }
}

#[test]
fn c12_a_plan_that_cannot_be_paid_is_refused_before_anybody_sees_it() {
    let mut world = World::new();
    let worst = scrape().plan().estimate.worst;
    let little = Ceiling { usd_micros: Some(worst.usd_micros - 1), ..Ceiling::default() };
    let give = |ceiling| ProjectCommand::SetBudget { allowance: Allowance { ceiling, warn_at_percent: 80 } };
    world.submit(Who::Admin, Command::Project { id: world.project, command: give(little) }).unwrap();
    let refusal = founds(&mut world, scrape()).unwrap_err();
    assert_eq!(refusal.code(), "budget");
    let why =
        format!("the plan cannot be paid by its project: the budget has {} usd_micros left", worst.usd_micros - 1);
    assert!(refusal.to_string().contains(&why), "{refusal}");
    assert!(world.runs.is_empty());
    let enough = Ceiling { usd_micros: Some(worst.usd_micros), ..Ceiling::default() };
    world.submit(Who::Admin, Command::Project { id: world.project, command: give(enough) }).unwrap();
    founds(&mut world, scrape()).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "project.allotted");
}

#[test]
fn c7_all_fifteen_steps_are_there_in_every_state_and_say_where_the_run_stands() {
    for (name, world) in run_worlds() {
        let steps = pipeline(world.run());
        assert_eq!(steps.map(|step| step.number), std::array::from_fn(|index| u32::try_from(index).unwrap() + 1));
        sound(world.run()).unwrap_or_else(|broken| panic!("{name}: {broken}"));
    }
    let decisions: Vec<u32> = pipeline(World::new().with_run(RunStatus::Draft).run())
        .iter()
        .filter(|step| step.is_decision)
        .map(|step| step.number)
        .collect();
    assert_eq!(decisions, [9, 12, 14], "a person decides about the plan, at checkpoints and about the results");
}

#[test]
fn c7_a_run_goes_through_the_pipeline_step_by_step() {
    use StepState::{Done, Now, Skipped, Stopped, ToCome};
    let mut world = World::new();
    founds(&mut world, scrape()).unwrap();
    assert_eq!(states(world.run()), [vec![Done; 8], vec![Now], vec![ToCome; 6]].concat());
    world.reviewer().approves_plan().unwrap();
    world.operator().run(RunCommand::Start).unwrap();
    assert_eq!(states(world.run())[8..11], [Done, Now, ToCome]);
    world.agent().run(RunCommand::Attach).unwrap();
    world.agent().run(RunCommand::FinishStep { step: 1, summary: "these fifty".to_owned() }).unwrap();
    assert_eq!(states(world.run())[9..13], [Done, Now, Now, ToCome]);
    let mut cancelled = world.clone();
    cancelled.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!(states(cancelled.run())[8..], [Done, Done, Stopped, Stopped, Skipped, Skipped, Skipped]);
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    assert_eq!(states(world.run())[10..12], [Now, ToCome]);
    world.agent().run(RunCommand::Finish { summary: "a table".to_owned() }).unwrap();
    assert_eq!(states(world.run())[10..12], [Now, Now], "looks that were agreed are not left out");
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    assert_eq!(states(world.run())[10..], [Stopped, Done, Skipped, Now, ToCome], "one of eight steps was reported");
    let seen = world.run().review();
    world.reviewer().run(RunCommand::ApproveResults { seen, chosen: None }).unwrap();
    assert_eq!(states(world.run())[12..], [Skipped, Done, Done]);
    let steps = pipeline(world.run());
    assert!(steps[3].product.to_string().starts_with("our_browser_agent: "), "{}", steps[3].product);
    assert!(steps[10].product.to_string().starts_with("1 of 8 steps"), "{}", steps[10].product);
    assert!(steps[..12].iter().filter(|step| step.number < 11).all(|step| step.at.is_some()));
}

#[test]
fn c7_an_execution_is_done_when_every_step_of_it_was_reported() {
    let mut world = World::new();
    world.by(Who::Creator).creates_run(&["look", "write"]).unwrap();
    world.reviewer().approves_plan().unwrap();
    world.operator().run(RunCommand::Start).unwrap();
    world.agent().run(RunCommand::Attach).unwrap();
    let mut hasty = world.clone();
    hasty.agent().run(RunCommand::Finish { summary: "all of it, believe me".to_owned() }).unwrap();
    let execution = &pipeline(hasty.run())[10];
    assert_eq!((execution.state, execution.product.to_string().as_str()), (StepState::Stopped, "0 of 2 steps"));
    for step in 1..=2 {
        world.agent().run(RunCommand::FinishStep { step, summary: "done".to_owned() }).unwrap();
    }
    world.agent().run(RunCommand::Finish { summary: "both".to_owned() }).unwrap();
    let execution = &pipeline(world.run())[10];
    assert_eq!((execution.state, execution.at.is_some()), (StepState::Done, true));
}

#[test]
fn c7_of_a_run_that_nobody_planned_a_person_declared_the_first_six_steps() {
    let mut world = World::new();
    world.by(Who::Creator).creates_run(&["look", "write"]).unwrap();
    let steps = pipeline(world.run());
    assert!(steps[..6].iter().all(|step| step.product.to_string().starts_with("declared by a person")), "{steps:?}");
    assert!(steps[..7].iter().all(|step| step.state == StepState::Done));
    let draft = World::new().with_run(RunStatus::Draft);
    assert_eq!(pipeline(draft.run())[2].state, StepState::Now, "its plan is missing");
}

#[test]
fn c7_a_plan_that_a_person_wrote_after_a_rejection_says_so() {
    let mut world = World::new();
    founds(&mut world, scrape()).unwrap();
    world.reviewer().run(RunCommand::RejectPlan { reason: "too many pages".to_owned() }).unwrap();
    assert_eq!(pipeline(world.run())[8].product.to_string(), "sent back: too many pages");
    world.by(Who::Creator).run(RunCommand::Submit { plan: vec!["ten pages".to_owned()] }).unwrap();
    let product = pipeline(world.run())[2].product.to_string();
    assert!(product.ends_with("since then a person wrote 1 steps"), "{product}");
}
