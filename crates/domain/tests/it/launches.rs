//! What an agent is started with: approved as it is, and nothing in it that an agent must not get.

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Lineage, Reach, Role};
use placet_domain::planning::{DataClass, Input};
use placet_domain::proposal::FileOperand;
use placet_domain::record::Record;
use placet_domain::refusal::Refusal;
use placet_domain::run::{Founding, Hosting, Launch, RunCommand, RunStatus};

use crate::people::Who;
use crate::scenario::{World, launch};

fn created(launch: Launch) -> Result<World, Refusal> {
    let mut world = World::new();
    world.hosting = Hosting::Hosted(Box::new(launch));
    let create = Command::Run { id: world.run, command: world.new_run(&["look"]) };
    world.submit(Who::Operator, create).map(|_| world)
}

fn why(launch: Launch) -> String {
    match created(launch) {
        Err(Refusal::Invalid { why }) => why,
        other => panic!("{:?}", other.map(|world| world.run_status())),
    }
}

fn file(path: &str) -> FileOperand {
    FileOperand { path: path.to_owned(), digest: Digest::of(path.as_bytes()), size_bytes: 1 }
}

fn input(path: &str, class: DataClass, shared: bool) -> Input {
    Input { path: path.parse().expect("a path"), class, shared, digest: Some(Digest::of(b"content")) }
}

#[test]
fn e1_an_agent_comes_with_its_program_its_files_and_what_is_shared_with_it() {
    let given = Launch {
        files: vec![file("agent.py"), file("lib/tools.py")],
        inputs: vec![input("prices.csv", DataClass::Public, false), input("notes.md", DataClass::Internal, true)],
        ..launch()
    };
    let world = created(given.clone()).expect("a run");
    assert_eq!((world.run_status(), world.run().hosting.launch()), (RunStatus::PendingApproval, Some(&given)));
}

#[test]
fn c1_privacy_what_is_confidential_or_was_not_shared_is_never_given_to_an_agent() {
    for (class, shared) in
        [(DataClass::Confidential, false), (DataClass::Confidential, true), (DataClass::Internal, false)]
    {
        let said = why(Launch { inputs: vec![input("salaries.csv", class, shared)], ..launch() });
        assert!(said.contains("`salaries.csv` is not given to an agent") && said.contains(class.as_str()), "{said}");
    }
    let unnamed = Input { digest: None, ..input("a.csv", DataClass::Public, false) };
    assert!(why(Launch { inputs: vec![unnamed], ..launch() }).contains("without its digest"));
}

#[test]
fn c1_representational_a_yes_to_one_agent_is_no_yes_to_another() {
    let review = |launch: Launch| created(launch).expect("a run").run().review();
    let other_program = Launch { program: "/usr/bin/perl".to_owned(), ..launch() };
    let other_argument = Launch { arguments: vec!["-c".to_owned()], ..launch() };
    let other_file = Launch { files: vec![file("agent.py")], ..launch() };
    let other_cage = Launch { profile_digest: Digest::of(b"wider"), ..launch() };
    let other_input = Launch { inputs: vec![input("a.csv", DataClass::Public, false)], ..launch() };
    for other in [other_program, other_argument, other_file, other_cage, other_input] {
        assert_ne!(review(launch()), review(other.clone()), "{other:?}");
    }
}

#[test]
fn what_cannot_be_started_or_laid_down_is_refused_with_a_reason() {
    let program = |program: &str| Launch { program: program.to_owned(), ..launch() };
    for bad in ["python3", "", "./agent", "/a\0b"] {
        assert!(why(program(bad)).contains("absolute path"), "{bad:?}");
    }
    assert!(why(Launch { arguments: vec!["x".to_owned(); 101], ..launch() }).contains("at most 100 arguments"));
    for trick in ["../x", "/etc/passwd", "a/../../b", ".git/hooks/x"] {
        let _ = why(Launch { files: vec![file(trick)], ..launch() });
    }
    assert!(why(Launch { files: vec![file("a"), file("a")], ..launch() }).contains("given twice"));
    assert!(why(Launch { files: vec![file("a/b"), file("a")], ..launch() }).contains("lies below another file"));
    let many = (0..501).map(|n| file(&n.to_string())).collect();
    assert!(why(Launch { files: many, ..launch() }).contains("at most 500 files"));
}

/// A hosted run whose agent is made with it, from whoever makes it.
fn with_own_agent(world: &World, change: impl FnOnce(&mut Founding)) -> Command {
    let RunCommand::Create(mut founding) = world.new_run(&["look"]) else { unreachable!("a new run is created") };
    founding.agent = IdentityId::from_uuid(uuid::Uuid::from_u128(777));
    founding.agent_lineage = Lineage::below(world.actor(Who::Operator).identity().expect("a person"));
    founding.agent_token = Some(Digest::of(b"nobody knows it"));
    change(&mut founding);
    Command::Run { id: world.run, command: RunCommand::Create(founding) }
}

fn hosted() -> World {
    let mut world = World::new();
    world.hosting = Hosting::Hosted(Box::new(launch()));
    world
}

#[test]
fn e1_a_run_and_its_agent_are_made_together_and_the_agent_is_an_agent_of_that_project_alone() {
    let mut world = hosted();
    let made = world.submit(Who::Operator, with_own_agent(&world, |_| {})).expect("a run");
    assert_eq!(made.last().map(Record::kind), Some("identity.registered"), "in the same commit");
    let agent = &world.identities[&world.run().agent];
    assert_eq!((agent.roles.clone(), agent.reach.clone()), ([Role::Agent].into(), Reach::Only([world.project].into())));
    assert_eq!(agent.lineage, world.run().agent_lineage);
    world.run = crate::scenario::run_id(99);
    let again = with_own_agent(&world, |_| {});
    assert_eq!(world.submit(Who::Operator, again).unwrap_err().code(), "exists", "an agent is made once");
}

#[test]
fn e1_nobody_makes_an_agent_of_somebody_else_or_one_that_comes_by_itself_in_this_way() {
    let mut world = hosted();
    let foreign = with_own_agent(&world, |founding| founding.agent_lineage = Lineage::default());
    assert_eq!(world.submit(Who::Operator, foreign).unwrap_err().code(), "invalid");
    let external = with_own_agent(&world, |founding| founding.hosting = Hosting::External);
    assert_eq!(world.submit(Who::Operator, external).unwrap_err().code(), "invalid");
    let by_agent = with_own_agent(&world, |_| {});
    assert_eq!(world.submit(Who::Agent, by_agent).unwrap_err().code(), "role");
    assert!(world.runs.is_empty());
}
