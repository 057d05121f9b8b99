//! Budgets of runs, and of those who pay for them: the organisation, a project, a parent run.

use placet_domain::action::ActionStatus;
use placet_domain::budget::{Amounts, Ceiling, Purpose, Resource};
use placet_domain::command::Command;
use placet_domain::evidence::Exit;
use placet_domain::organisation::OrganisationCommand;
use placet_domain::project::ProjectCommand;
use placet_domain::reason::StatusReason;
use placet_domain::run::{Allowance, BudgetCommand, CallCommand, GateKind, Hosting, RunCommand, RunStatus};
use proptest::prelude::*;

use crate::people::Who;
use crate::scenario::{HOUR_MS, World, run_id};
use crate::trials::{call_count, model_call, pass_gate, worth};

fn usd(usd_micros: u64) -> Allowance {
    let ceiling = Ceiling { usd_micros: Some(usd_micros), ..Ceiling::default() };
    Allowance { ceiling, warn_at_percent: 80 }
}

fn call(name: &str) -> Purpose {
    Purpose::Call(name.to_owned())
}

fn project_gets(world: &mut World, allowance: Allowance) -> crate::scenario::Outcome {
    let command = ProjectCommand::SetBudget { allowance };
    world.submit(Who::Admin, Command::Project { id: world.project, command })
}

/// A run of somebody who may spend so much.
fn spending(usd_micros: u64) -> World {
    let mut world = World::new();
    world.ceiling = Some(usd(usd_micros).ceiling);
    world.executing()
}

#[test]
fn c12_calls_of_models_are_charged_one_by_one_to_what_is_held_and_the_rest_goes_back() {
    let mut world = spending(100);
    world
        .clockwork()
        .run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("purse"), amounts: worth(50) }))
        .unwrap();
    let calls = vec![model_call(3, 10), model_call(4, 5)];
    world.clockwork().run(RunCommand::Call(CallCommand::Charge { purpose: call("purse"), calls })).unwrap();
    let budget = world.run().budget.clone().unwrap();
    assert_eq!((budget.spent.usd_micros, budget.spent.tokens, budget.held().usd_micros), (15, 7, 35));
    assert_eq!(world.ledger.iter().filter(|record| record.kind() == "run.model_called").count(), 2, "one entry each");
    world
        .clockwork()
        .run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("purse"), spent: Amounts::NONE }))
        .unwrap();
    assert_eq!(world.run().budget.as_ref().unwrap().left(Resource::UsdMicros), Some(85));
}

#[test]
fn b10_calls_that_are_counted_cost_nothing_and_are_told_whatever_became_of_the_run() {
    let mut world = spending(100);
    let before = world.run().clone();
    let counts = || RunCommand::Call(CallCommand::Count { counts: vec![call_count(3), call_count(40)] });
    world.clockwork().run(counts()).unwrap();
    assert_eq!(*world.run(), before, "nothing is different");
    assert_eq!(world.ledger.iter().filter(|record| record.kind() == "run.calls_counted").count(), 2);
    let none = RunCommand::Call(CallCommand::Count { counts: vec![call_count(0)] });
    assert_eq!(world.clockwork().run(none).unwrap_err().code(), "invalid");
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    world.clockwork().run(counts()).unwrap();
    assert_eq!(world.agent().run(counts()).unwrap_err().code(), "role");
}

/// The price of a model was wrong by a thousand, and a call took everything. Nothing is taken back: a person gives more, which is an entry
/// of its own beside the one that is wrong.
#[test]
fn r31_a_price_that_was_wrong_is_made_up_for_by_an_entry_of_a_person_and_nothing_is_rewritten() {
    let mut world = spending(100);
    world
        .clockwork()
        .run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("purse"), amounts: worth(50) }))
        .unwrap();
    let charge = RunCommand::Call(CallCommand::Charge { purpose: call("purse"), calls: vec![model_call(3, 10_000)] });
    world.clockwork().run(charge).unwrap();
    assert_eq!((world.run_status(), world.ledger.last().unwrap().kind()), (RunStatus::Paused, "run.exhausted"));
    let written = world.ledger.clone();
    for who in [Who::Agent, Who::Worker, Who::Operator, Who::Runtime] {
        let more = RunCommand::Budget(BudgetCommand::Set { allowance: usd(20_000) });
        assert_eq!(world.by(who).run(more).unwrap_err().code(), "role", "{who:?}");
    }
    world.reviewer().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(20_000) })).unwrap();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
    let budget = world.run().budget.clone().unwrap();
    assert_eq!((budget.spent.usd_micros, budget.left(Resource::UsdMicros)), (10_000, Some(10_000)), "it stays charged");
    assert_eq!(world.ledger[..written.len()], written[..], "what was written stays");
    assert!(world.ledger[written.len()..].iter().any(|record| record.kind() == "run.budget_set"));
}

#[test]
fn c12_a_call_that_took_more_than_was_held_is_charged_all_the_same_and_asked_about() {
    let mut world = spending(100);
    world
        .clockwork()
        .run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("purse"), amounts: worth(10) }))
        .unwrap();
    let charge = RunCommand::Call(CallCommand::Charge { purpose: call("purse"), calls: vec![model_call(1, 85)] });
    world.clockwork().run(charge).unwrap();
    let gate = world.run().gate.clone().expect("a checkpoint");
    assert_eq!((gate.kind, gate.resource), (GateKind::Cost, Some(Resource::UsdMicros)));
    let late = RunCommand::Call(CallCommand::Charge { purpose: call("purse"), calls: vec![model_call(1, 1)] });
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    world.clockwork().run(late).unwrap();
    assert_eq!(
        world.run().budget.as_ref().unwrap().spent.usd_micros,
        86,
        "what was called is recorded, whatever came since"
    );
}

#[test]
fn c12_room_on_the_disk_is_what_is_there_when_a_run_is_saved_and_too_much_of_it_stops_the_run() {
    let mut world = World::new().governed();
    world.ceiling = Some(Ceiling { disk_bytes: Some(20), ..Ceiling::default() });
    let mut world = world.with_run(RunStatus::SpawningSandbox);
    assert_eq!(world.run().budget.as_ref().unwrap().spent.disk_bytes, 30);
    world.agent().run(RunCommand::Attach).unwrap();
    assert_eq!((world.run_status(), world.ledger.last().unwrap().kind()), (RunStatus::Paused, "run.exhausted"));
}

#[test]
fn c12_a_run_whose_agent_wants_more_than_is_left_pauses_and_can_go_on() {
    let mut world = spending(100);
    world.clockwork().run(RunCommand::RunDry { resource: Resource::UsdMicros }).unwrap();
    assert_eq!((world.run_status(), world.ledger.last().unwrap().kind()), (RunStatus::Paused, "run.exhausted"));
    world.reviewer().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(200) })).unwrap();
    world.reviewer().run(RunCommand::Resume).unwrap();
    for who in [Who::Agent, Who::Worker, Who::Operator] {
        let charge = RunCommand::Call(CallCommand::Charge { purpose: call("purse"), calls: vec![model_call(1, 1)] });
        assert_eq!(world.by(who).run(charge).unwrap_err().code(), "role", "{who:?}");
    }
}

#[test]
fn c12_a_run_that_used_up_its_budget_and_was_rolled_back_gets_more_and_goes_on() {
    let mut world = World::new().governed();
    world.ceiling = Some(usd(100).ceiling);
    let mut world = world.executing();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(100) })).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("a"), spent: worth(101) })).unwrap();
    assert_eq!(world.run_status(), RunStatus::Paused, "more was used than there is");
    world.operator().run(RunCommand::RollBack { to: 0, reason: "start over".to_owned() }).unwrap();
    world.host_catches_up();
    assert_eq!(world.reviewer().run(RunCommand::Resume).unwrap_err().code(), "budget");
    assert_eq!(
        world.operator().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(200) })).unwrap_err().code(),
        "role"
    );
    world.reviewer().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(200) })).unwrap();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
}

#[test]
fn c12_whoever_is_told_to_give_a_run_a_budget_first_can_do_so() {
    for status in [RunStatus::Approved, RunStatus::SpawningSandbox, RunStatus::Failed, RunStatus::PendingExport] {
        let mut world = World::new().with_run(status);
        assert_eq!(project_gets(&mut world, usd(1_000)).unwrap_err().code(), "budget", "{status}");
        world.reviewer().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(100) })).unwrap();
        project_gets(&mut world, usd(1_000)).unwrap();
    }
}

#[test]
fn c12_a_threshold_that_is_crossed_is_a_checkpoint_and_an_empty_budget_a_pause_that_takes_more_money() {
    let mut world = spending(100);
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(90) })).unwrap();
    assert_eq!(
        world
            .clockwork()
            .run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("b"), amounts: worth(11) }))
            .unwrap_err()
            .code(),
        "budget"
    );
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("a"), spent: worth(80) })).unwrap();
    let gate = world.run().gate.clone().expect("a checkpoint");
    assert_eq!((gate.kind, gate.resource), (GateKind::Cost, Some(Resource::UsdMicros)));
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("c"), amounts: worth(20) })).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("c"), spent: worth(20) })).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing, "what there is can be used to the last");
    world.clockwork().run(RunCommand::RunDry { resource: Resource::UsdMicros }).unwrap();
    assert_eq!((world.run_status(), world.ledger.last().unwrap().kind()), (RunStatus::Paused, "run.exhausted"));
    assert_eq!(world.reviewer().run(RunCommand::Resume).unwrap_err().code(), "budget");
    assert_eq!(
        world.operator().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(200) })).unwrap_err().code(),
        "role"
    );
    assert_eq!(
        world.reviewer().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(99) })).unwrap_err().code(),
        "budget"
    );
    world.reviewer().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(200) })).unwrap();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing);
}

#[test]
fn c12_an_action_that_the_budget_does_not_cover_is_not_leased_and_the_run_pauses_instead() {
    let mut world = World::new();
    world.ceiling = Some(Ceiling { actions: Some(1), ..Ceiling::default() });
    let mut world = world.with_action("read it", ActionStatus::Leased);
    let first = world.action;
    world.agent().proposes("read more").unwrap();
    world.worker().leases().unwrap();
    assert_eq!((world.status(), world.run_status()), (ActionStatus::Approved, RunStatus::Paused));
    assert_eq!(world.ledger.last().unwrap().kind(), "run.exhausted");
    world.action = first;
    assert_eq!(world.run().budget.as_ref().unwrap().held().actions, 1);
}

#[test]
fn c12_a_lease_that_came_to_nothing_gives_back_what_was_held_for_it() {
    let mut world = World::new().governed().with_action("read it", ActionStatus::Leased);
    world.wait_ms(HOUR_MS);
    world.clockwork().lapses().unwrap();
    let budget = world.run().budget.clone().unwrap();
    assert_eq!((budget.held(), budget.spent.actions), (Amounts::NONE, 0));
    let mut lost = World::new().governed().with_action("read it", ActionStatus::Interrupted);
    assert_eq!(lost.run().budget.as_ref().unwrap().spent.actions, 1, "what was started counts");
    lost.reviewer().resolves(placet_domain::action::Resolution::Retry).unwrap();
    lost.worker().leases().unwrap();
    lost.worker().redeems().unwrap();
    lost.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(lost.run().budget.as_ref().unwrap().spent.actions, 2);
}

#[test]
fn c12_time_at_work_is_spent_and_when_it_is_gone_the_run_pauses() {
    let mut world = World::new();
    world.ceiling = Some(Ceiling { wall_ms: Some(3_600_000), ..Ceiling::default() });
    let mut world = world.executing();
    world.wait_ms(HOUR_MS / 2);
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    world.wait_ms(100 * HOUR_MS);
    world.operator().run(RunCommand::Resume).unwrap();
    world.wait_ms(HOUR_MS / 2);
    world.clockwork().run(RunCommand::Lapse).unwrap();
    assert_eq!(world.run_status(), RunStatus::Paused, "who was not asked in time is stopped in time");
    assert_eq!(world.run().budget.as_ref().unwrap().spent.wall_ms, 3_600_000);
}

#[test]
fn c12_runs_together_never_get_more_than_their_project_has() {
    let mut world = World::new();
    project_gets(&mut world, usd(100)).unwrap();
    assert_eq!(
        world.operator().creates_run(&["look"]).unwrap_err().code(),
        "budget",
        "a part is limited where the whole is"
    );
    let mut made = 0;
    for number in 1..=5 {
        world.run = run_id(number);
        world.ceiling = Some(usd(30).ceiling);
        made += u32::from(world.operator().creates_run(&["look"]).is_ok());
    }
    assert_eq!(made, 3);
    assert_eq!(world.projects[&world.project].budget.as_ref().unwrap().left(Resource::UsdMicros), Some(10));
    world.run = run_id(1);
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!(
        world.projects[&world.project].budget.as_ref().unwrap().left(Resource::UsdMicros),
        Some(40),
        "it spent nothing"
    );
}

#[test]
fn c12_what_a_run_spent_stays_spent_in_its_project() {
    let mut world = World::new();
    project_gets(&mut world, usd(100)).unwrap();
    world.ceiling = Some(usd(60).ceiling);
    let mut world = world.executing();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(25) })).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("a"), spent: worth(25) })).unwrap();
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!(world.projects[&world.project].budget.as_ref().unwrap().left(Resource::UsdMicros), Some(75));
}

#[test]
fn c12_projects_together_never_get_more_than_the_organisation_has() {
    let mut world = World::new();
    let command = OrganisationCommand::SetBudget { allowance: usd(100) };
    world.submit(Who::Admin, Command::Organisation(command)).unwrap();
    project_gets(&mut world, usd(70)).unwrap();
    world.project = crate::scenario::project_id(2);
    assert_eq!(project_gets(&mut world, usd(40)).unwrap_err().code(), "budget");
    project_gets(&mut world, usd(30)).unwrap();
    world.project = crate::scenario::project_id(1);
    assert_eq!(project_gets(&mut world, usd(71)).unwrap_err().code(), "budget");
    project_gets(&mut world, usd(20)).unwrap();
    assert_eq!(world.organisation.budget.as_ref().unwrap().left(Resource::UsdMicros), Some(50));
    let unlimited = Allowance { ceiling: Ceiling::default(), warn_at_percent: 80 };
    assert_eq!(project_gets(&mut world, unlimited).unwrap_err().code(), "budget");
}

#[test]
fn c12_a_child_is_paid_by_its_parent_and_gives_back_what_it_did_not_use() {
    let mut world = spending(100);
    let parent = world.run;
    world.run = run_id(2);
    let RunCommand::Create(mut founding) = world.new_run(&["look"]) else { unreachable!("a new run") };
    (founding.parent, founding.hosting) = (Some(parent), Hosting::External);
    founding.allowance = Some(usd(101));
    assert_eq!(world.operator().run(RunCommand::Create(founding.clone())).unwrap_err().code(), "budget");
    founding.allowance = Some(usd(60));
    world.operator().run(RunCommand::Create(founding)).unwrap();
    assert_eq!(world.runs[&parent].budget.as_ref().unwrap().left(Resource::UsdMicros), Some(40));
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!(world.runs[&parent].budget.as_ref().unwrap().left(Resource::UsdMicros), Some(100));
}

/// A second run, made by the one that sentences were about.
fn child(world: &mut World, allowance: Option<Allowance>) -> crate::scenario::Outcome {
    let parent = world.run;
    world.run = run_id(2);
    let RunCommand::Create(mut founding) = world.new_run(&["look"]) else { unreachable!("a new run") };
    (founding.parent, founding.hosting, founding.allowance) = (Some(parent), Hosting::External, allowance);
    let outcome = world.operator().run(RunCommand::Create(founding));
    if outcome.is_err() {
        world.run = parent;
    }
    outcome
}

fn left(world: &World) -> Option<u64> {
    world.projects[&world.project].budget.as_ref().and_then(|budget| budget.left(Resource::UsdMicros))
}

#[test]
fn c12_the_child_of_a_run_without_a_budget_is_paid_by_the_project() {
    let mut world = World::new().executing();
    assert_eq!(world.run().budget, None);
    project_gets(&mut world, usd(100)).unwrap_err();
    world.reviewer().run(RunCommand::Budget(BudgetCommand::Set { allowance: usd(30) })).unwrap();
    project_gets(&mut world, usd(100)).unwrap();
    assert_eq!(left(&world), Some(70), "what was given before is held too");
    let mut world = World::new();
    let (unlimited, tokens) = (Ceiling::default(), Ceiling { tokens: Some(5), ..Ceiling::default() });
    project_gets(&mut world, Allowance { ceiling: unlimited, warn_at_percent: 80 }).unwrap();
    let mut world = world.executing();
    project_gets(&mut world, Allowance { ceiling: tokens, warn_at_percent: 80 }).unwrap_err();
    child(&mut world, Some(usd(5))).unwrap();
    let budget = world.projects[&world.project].budget.clone().unwrap();
    assert_eq!(budget.held_for(&Purpose::Run(world.run)), Some(worth(5)), "nobody else pays for it");
}

#[test]
fn c12_a_run_that_is_over_pays_for_nobody_any_more_and_what_it_had_made_is_over_too() {
    let mut world = World::new();
    project_gets(&mut world, usd(200)).unwrap();
    world.ceiling = Some(usd(100).ceiling);
    let mut world = world.executing();
    child(&mut world, Some(usd(60))).unwrap();
    world.reviewer().approves_plan().unwrap();
    world.operator().run(RunCommand::Start).unwrap();
    world.agent().run(RunCommand::Attach).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(5) })).unwrap();
    world.run = run_id(1);
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    let child_run = &world.runs[&run_id(2)];
    assert_eq!(child_run.status, RunStatus::Cancelled);
    assert_eq!(child_run.because, Some(StatusReason::ParentOver));
    assert_eq!(left(&world), Some(195), "all but what the child may have spent is free again");
    assert_eq!(world.run().budget.as_ref().unwrap().held(), worth(5), "nobody knows yet whether it did");
    world.run = run_id(2);
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("a"), spent: worth(2) })).unwrap();
    assert_eq!(left(&world), Some(198), "now it is known, also to who paid for who paid for it");
    assert_eq!(world.runs[&run_id(1)].budget.as_ref().unwrap().held(), Amounts::NONE);
    assert_eq!(spent_by_project(&world), 2);
}

fn spent_by_project(world: &World) -> u64 {
    world.projects[&world.project].budget.as_ref().map_or(0, |budget| budget.spent.usd_micros)
}

/// A project with so much, and a chain of runs, each made by the one before and each at work.
fn chain(length: u8, whole: u64) -> World {
    let mut world = World::new();
    project_gets(&mut world, usd(whole)).expect("an administrator gives");
    world.ceiling = Some(usd(whole).ceiling);
    let mut world = world.executing();
    for number in 2..=length {
        let parent = world.run;
        world.run = run_id(number.into());
        let RunCommand::Create(mut founding) = world.new_run(&["look"]) else { unreachable!("a new run") };
        (founding.parent, founding.hosting) = (Some(parent), Hosting::External);
        founding.allowance = Some(usd(whole / u64::from(number)));
        world.operator().run(RunCommand::Create(founding)).expect("a run");
        world.reviewer().approves_plan().expect("a reviewer");
        world.operator().run(RunCommand::Start).expect("it starts");
        world.agent().run(RunCommand::Attach).expect("it is attached to");
    }
    world
}

#[test]
fn c12_what_is_held_for_calls_when_a_run_is_cancelled_goes_back_exactly_when_they_are_over() {
    let mut world = chain(1, 100);
    world
        .clockwork()
        .run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("purse"), amounts: worth(40) }))
        .unwrap();
    let charge = |usd_micros| {
        RunCommand::Call(CallCommand::Charge { purpose: call("purse"), calls: vec![model_call(1, usd_micros)] })
    };
    world.clockwork().run(charge(7)).unwrap();
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!((left(&world), spent_by_project(&world)), (Some(60), 7), "a call may be under way");
    world.clockwork().run(charge(33)).unwrap();
    assert_eq!((left(&world), spent_by_project(&world)), (Some(60), 40), "all of it is used");
    world.clockwork().run(charge(3)).unwrap();
    assert_eq!(
        (left(&world), spent_by_project(&world)),
        (Some(57), 43),
        "and a little more, which was spent all the same"
    );
    world
        .clockwork()
        .run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("purse"), spent: Amounts::NONE }))
        .unwrap();
    assert_eq!((left(&world), spent_by_project(&world)), (Some(57), 43));
    let budget = world.projects[&world.project].budget.clone().unwrap();
    assert_eq!(budget.held(), Amounts::NONE);
}

proptest! {
    /// Runs that made each other hold, call, let go and are cancelled, in whatever order: the project never has more out than there is,
    /// and when everything is over it has spent exactly what was spent.
    #[test]
    fn c12_in_whatever_order_runs_end_their_project_has_spent_what_they_spent(
        moves in prop::collection::vec((1u128..4, 0u8..4, 1u64..40, 0u64..101), 1..60),
    ) {
        let mut world = chain(3, 1_000);
        let (mut open, mut spent, mut names) = (Vec::new(), 0, 0);
        for (run, kind, amount, percent) in moves {
            world.run = run_id(run);
            match kind {
                0 => {
                    names += 1;
                    let purpose = call(&format!("part-{names}"));
                    let hold = RunCommand::Budget(BudgetCommand::Hold { purpose: purpose.clone(), amounts: worth(amount) });
                    open.extend(world.clockwork().run(hold).ok().map(|_| (run, purpose, amount)));
                }
                1 if !open.is_empty() => {
                    let (run, purpose, held) = &mut open[0];
                    let used = *held * percent / 100;
                    *held -= used;
                    (world.run, spent) = (run_id(*run), spent + used);
                    let charge = RunCommand::Call(CallCommand::Charge { purpose: purpose.clone(), calls: vec![model_call(1, used)] });
                    world.clockwork().run(charge).unwrap();
                }
                2 if !open.is_empty() => {
                    let (run, purpose, held) = open.remove(0);
                    let lost = held * percent / 100;
                    (world.run, spent) = (run_id(run), spent + lost);
                    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose, spent: worth(lost) })).unwrap();
                }
                _ if percent > 80 => drop(world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() })),
                _ => {}
            }
            let budget = world.projects[&world.project].budget.clone().unwrap();
            prop_assert!(budget.committed().usd_micros <= 1_000, "{:?}", budget);
        }
        world.run = run_id(1);
        drop(world.operator().run(RunCommand::Cancel { reason: "all of it".to_owned() }));
        for (run, purpose, _) in open {
            world.run = run_id(run);
            world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose, spent: Amounts::NONE })).unwrap();
        }
        let budget = world.projects[&world.project].budget.clone().unwrap();
        prop_assert_eq!((budget.spent.usd_micros, budget.held()), (spent, Amounts::NONE));
    }
}

#[test]
fn c12_only_a_run_that_is_approved_and_not_over_has_others_made() {
    for (status, may) in [
        (RunStatus::Draft, false),
        (RunStatus::PendingApproval, false),
        (RunStatus::Executing, true),
        (RunStatus::Paused, true),
        (RunStatus::Completed, false),
        (RunStatus::Cancelled, false),
    ] {
        let mut world = World::new().with_run(status);
        let outcome = child(&mut world, None);
        assert_eq!(outcome.is_ok(), may, "{status}: {outcome:?}");
    }
}

#[test]
fn c12_a_limit_above_binds_what_is_below_also_when_it_comes_later() {
    let organisation = |allowance| Command::Organisation(OrganisationCommand::SetBudget { allowance });
    let mut world = World::new();
    world.submit(Who::Admin, organisation(usd(100))).unwrap();
    world.ceiling = Some(usd(10).ceiling);
    let refusal = world.by(Who::Creator).creates_run(&["look"]).unwrap_err();
    assert_eq!(refusal.code(), "budget");
    assert!(refusal.to_string().contains("organisation"), "{refusal}");
    project_gets(&mut world, usd(50)).unwrap();
    world.by(Who::Creator).creates_run(&["look"]).unwrap();

    let mut later = spending(40);
    later.submit(Who::Admin, organisation(usd(100))).expect_err("what its project may use nobody knows");
    project_gets(&mut later, usd(30)).expect_err("its run has more");
    project_gets(&mut later, usd(50)).unwrap();
    assert_eq!(left(&later), Some(10));
    later.submit(Who::Admin, organisation(usd(49))).expect_err("its project has more");
    later.submit(Who::Admin, organisation(usd(60))).unwrap();
    assert_eq!(later.organisation.budget.as_ref().unwrap().left(Resource::UsdMicros), Some(10));
    let actions = Ceiling { actions: Some(9), ..usd(50).ceiling };
    let refusal = project_gets(&mut later, Allowance { ceiling: actions, warn_at_percent: 80 }).unwrap_err();
    assert!(refusal.to_string().contains("actions"), "its run could do as many as it likes: {refusal}");
}

#[test]
fn c12_what_was_approved_before_there_was_a_limit_starts_only_with_a_share_of_it() {
    let mut world = World::new().with_run(RunStatus::Approved);
    let refusal = project_gets(&mut world, usd(100)).unwrap_err();
    assert!(refusal.to_string().contains(&world.run.to_string()), "it says which run lacks a budget: {refusal}");
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    project_gets(&mut world, usd(100)).unwrap();
}

#[test]
fn c12_a_run_with_children_gets_no_limit_that_does_not_bind_them() {
    let mut world = World::new().executing();
    child(&mut world, None).unwrap();
    world.run = run_id(1);
    let set = RunCommand::Budget(BudgetCommand::Set { allowance: usd(70) });
    assert_eq!(world.reviewer().run(set.clone()).unwrap_err().code(), "budget");
    world.run = run_id(2);
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    world.run = run_id(1);
    world.reviewer().run(set).unwrap();
}

#[test]
fn c12_the_time_of_a_child_is_time_of_its_parent() {
    let mut world = World::new();
    let hours = |hours: u64| Ceiling { wall_ms: Some(hours * 3_600_000), ..Ceiling::default() };
    world.ceiling = Some(hours(10));
    let mut world = world.executing();
    child(&mut world, Some(Allowance { ceiling: hours(4), warn_at_percent: 100 })).unwrap();
    world.reviewer().approves_plan().unwrap();
    world.operator().run(RunCommand::Start).unwrap();
    world.agent().run(RunCommand::Attach).unwrap();
    world.run = run_id(1);
    world.operator().run(RunCommand::Pause { reason: "lunch".to_owned() }).unwrap();
    world.wait_ms(3 * HOUR_MS);
    world.run = run_id(2);
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    let spent = |world: &World| world.runs[&run_id(1)].budget.as_ref().unwrap().spent.wall_ms;
    assert_eq!(spent(&world), 3 * 3_600_000);
    world.run = run_id(1);
    world.operator().run(RunCommand::Resume).unwrap();
    world.wait_ms(HOUR_MS);
    world.operator().run(RunCommand::Pause { reason: "tea".to_owned() }).unwrap();
    assert_eq!(spent(&world), 4 * 3_600_000, "its own hour comes on top");
    world.operator().run(RunCommand::Resume).unwrap();
    assert_eq!(world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()), Some(4 * HOUR_MS), "80 % of ten");
}

#[test]
fn c12_a_threshold_that_is_crossed_while_nobody_can_be_asked_is_asked_about_afterwards() {
    let mut world = spending(100);
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(85) })).unwrap();
    world.agent().run(RunCommand::ReachGate { summary: "half way".to_owned() }).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("a"), spent: worth(85) })).unwrap();
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    let gate = world.run().gate.clone().expect("the other question");
    assert_eq!((gate.number, gate.kind, gate.resource), (2, GateKind::Cost, Some(Resource::UsdMicros)));
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    assert_eq!(world.run_status(), RunStatus::Executing, "and only once");
}

#[test]
fn c12_a_child_that_uses_most_of_its_parents_budget_brings_the_parent_to_a_checkpoint() {
    let mut world = spending(100);
    child(&mut world, Some(usd(90))).unwrap();
    world.reviewer().approves_plan().unwrap();
    world.operator().run(RunCommand::Start).unwrap();
    world.agent().run(RunCommand::Attach).unwrap();
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(85) })).unwrap();
    world.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
    assert_eq!(world.runs[&run_id(1)].gate, None, "it is held, and not known to be spent");
    world.clockwork().run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("a"), spent: worth(85) })).unwrap();
    let parent = &world.runs[&run_id(1)];
    assert_eq!(parent.gate.as_ref().map(|gate| gate.kind), Some(GateKind::Cost), "{:?}", parent.status);
}

#[test]
fn c12_only_the_clockwork_charges_a_run() {
    for who in [Who::Agent, Who::Worker, Who::Reviewer, Who::Operator, Who::Admin] {
        let mut world = spending(100);
        let hold = RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(1) });
        assert_eq!(world.by(who).run(hold).unwrap_err().code(), "role", "{who:?}");
    }
}

#[test]
fn c12_most_of_the_time_at_work_is_a_checkpoint_and_only_one() {
    let mut world = World::new();
    world.ceiling = Some(Ceiling { wall_ms: Some(100_000), ..Ceiling::default() });
    let mut world = world.executing();
    assert_eq!(world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()), Some(80_000));
    world.wait_ms(80_000);
    world.clockwork().run(RunCommand::Lapse).unwrap();
    let gate = world.run().gate.clone().expect("a checkpoint");
    assert_eq!((gate.kind, gate.resource), (GateKind::Cost, Some(Resource::WallMs)));
    world.wait_ms(HOUR_MS);
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).unwrap();
    assert_eq!(world.run().due().map(|due| due.unix_ms() - world.now.unix_ms()), Some(20_000), "the rest of its time");
}

#[test]
fn c12_a_budget_that_is_just_enough_is_enough() {
    let mut world = World::new();
    world.ceiling = Some(Ceiling { actions: Some(1), ..Ceiling::default() });
    let mut world = world.with_action("read it", ActionStatus::Succeeded);
    assert_eq!(world.run().budget.as_ref().unwrap().left(Resource::Actions), Some(0));
    let pass = pass_gate(world.run());
    world.reviewer().run(pass).expect("a person was told that most of it is used");
    world.agent().run(RunCommand::Finish { summary: "read".to_owned() }).expect("nothing more is wanted");
    assert_eq!(world.run_status(), RunStatus::PendingExport);
}

#[test]
fn c12_pages_are_paid_for_by_what_a_tool_may_visit_whatever_kind_it_is() {
    let mut world = World::new();
    world.ceiling = Some(Ceiling { pages: Some(25), ..Ceiling::default() });
    let mut world = world.executing();
    for spent in [10, 20] {
        world.agent().proposes("read by visit").unwrap();
        world.worker().leases().unwrap();
        assert_eq!(world.run().budget.as_ref().unwrap().held().pages, spent);
    }
    world.agent().proposes("read by visit").unwrap();
    world.worker().leases().unwrap();
    assert_eq!((world.status(), world.run_status()), (ActionStatus::Approved, RunStatus::Paused));
    assert_eq!(world.run().because, Some(StatusReason::BudgetUsedUp { resource: Resource::Pages }));
}

#[test]
fn c12_that_most_of_a_projects_budget_is_used_is_on_the_record_once() {
    let mut world = World::new();
    project_gets(&mut world, usd(1_000)).unwrap();
    let told = |world: &World| world.ledger.iter().filter(|record| record.kind() == "project.mostly_used").count();
    for (spent, times) in [(700, 0), (150, 1), (50, 1)] {
        world.ceiling = Some(usd(spent).ceiling);
        world.run = run_id(u128::from(spent));
        let mut one = world.executing();
        one.clockwork()
            .run(RunCommand::Budget(BudgetCommand::Hold { purpose: call("a"), amounts: worth(spent) }))
            .unwrap();
        one.clockwork()
            .run(RunCommand::Budget(BudgetCommand::Settle { purpose: call("a"), spent: worth(spent) }))
            .unwrap();
        one.operator().run(RunCommand::Cancel { reason: "enough".to_owned() }).unwrap();
        assert_eq!(told(&one), times, "{spent}");
        world = one;
    }
    project_gets(&mut world, usd(5_000)).unwrap();
    let left = world.projects[&world.project].budget.as_ref().unwrap().asks_first_in(Resource::UsdMicros);
    assert_eq!(left, Some(3_100), "of a larger limit it is told again");
}
