//! What is the same question: every field of what is sealed, and why somebody is asked.

use placet_domain::action::{ActionCommand, ActionEvent, ActionState, ActionStatus as Status};
use placet_domain::approval::{Extent, Ground, Width, class, deed};
use placet_domain::canonical;
use placet_domain::digest::Digest;
use placet_domain::policy::{Tier, Verdict};
use placet_domain::proposal::{Action, ActionSpec, Tools};
use placet_domain::record::Event;
use placet_domain::refusal::Refusal;
use placet_domain::run::RunStatus;
use serde_json::{Value, json};

use super::{extent, ordered};
use crate::people::Who;
use crate::scenario::{World, action_id, project_id, run_id, scope, verdict};

/// What an agent can write differently, field by field: each of it is another question.
#[test]
fn b4_nothing_that_is_sealed_may_differ() {
    let world = ordered(9);
    let first = &world.seal("build it", Who::Agent, world.run);
    let of = |spec: &ActionSpec| class(Width::Exact, world.project, spec, &judged(first));
    let told = serde_json::to_value(first.spec()).unwrap();
    let changes = [
        ("v", json!(2)),
        ("scope", json!(Digest::of(b"another"))),
        ("tool", json!("bash")),
        ("tool_version", json!(Digest::of(b"another"))),
        ("kind", json!("read_file")),
        ("argv", json!(["/bin/sh", "-c", "build it", ""])),
        ("program_digest", json!(Digest::of(b"swapped"))),
        ("environment", json!({ "LANG": "C" })),
        ("target", json!("10.0.0.5")),
        ("files", json!([{ "path": "src/a", "digest": Digest::of(b"a"), "size_bytes": 1 }])),
        ("outputs", json!(["src/out"])),
        ("network", json!(["www.example.org"])),
        ("credentials", json!([{ "name": "github", "to": ["https://api.example.org/repos"] }])),
        ("profile", json!("wider")),
        ("profile_digest", json!(Digest::of(b"wider"))),
        ("limits", json!({ "timeout_ms": 1, "memory_bytes": 1, "output_bytes": 1, "file_bytes": 1, "processes": 1 })),
    ];
    let told_of: Vec<&str> = changes.iter().map(|(name, _)| *name).chain(["run", "agent"]).collect();
    for (field, other) in &changes {
        let mut spec = told.clone();
        spec[*field] = other.clone();
        let spec: ActionSpec = serde_json::from_value(spec).unwrap_or_else(|error| panic!("{field}: {error}"));
        assert_ne!(of(&spec), of(first.spec()), "`{field}` may differ unseen");
        assert_ne!(deed(&spec, Ground::Bare), deed(first.spec(), Ground::Bare), "`{field}` may differ unseen");
    }
    let fields = told.as_object().unwrap().keys();
    assert!(fields.into_iter().all(|name| told_of.contains(&name.as_str())), "a field that nobody tried: {told}");
}

#[test]
fn b4_a_deed_is_the_same_whoever_wants_it_in_whatever_run() {
    let mut world = ordered(9);
    let first = world.seal("build it", Who::Agent, world.run);
    let mut told = serde_json::to_value(first.spec()).unwrap();
    told["run"] = json!(run_id(77));
    told["agent"] = json!(Who::Worker.id());
    let elsewhere: ActionSpec = serde_json::from_value(told).unwrap();
    assert_eq!(deed(first.spec(), Ground::Bare), deed(&elsewhere, Ground::Bare));
    world.agent().proposes("delete it").unwrap();
    let grave = world.action().clone();
    assert!(grave.deed.is_some() && grave.question().is_some());
    assert_eq!(grave.shared_question().is_some(), grave.verdict.tier() == Tier::B);
}

/// Ledgers hold entries from before actions named their deed.
#[test]
fn b4_r35_an_older_entry_names_no_deed_reads_as_it_was_written_and_its_action_stands_alone() {
    let mut world = ordered(9);
    let records = world.agent().proposes("delete it").unwrap();
    let Some(Event::Action(_, first)) = records.into_iter().map(|record| record.event).next() else {
        panic!("an action begins with an entry of its own")
    };
    let mut told = serde_json::to_value(&first).unwrap();
    assert!(told.as_object_mut().unwrap().remove("deed").is_some(), "new entries name it: {told}");
    let older: ActionEvent = serde_json::from_value(told.clone()).unwrap();
    assert_eq!(serde_json::to_value(&older).unwrap(), told, "nothing is put into what was written");
    let mut state = world.action().clone();
    state.deed = None;
    assert_eq!((state.question(), state.shared_question()), (None, None), "what is not said is not guessed");
}

/// `make test` does what the Makefile says that stands there, and that is another one in every run.
#[test]
fn b4_among_the_files_of_a_run_the_same_words_are_another_deed() {
    let world = ordered(9);
    let spec = world.seal("build it", Who::Agent, world.run);
    let of = |ground| deed(spec.spec(), ground);
    let (here, there) = (Ground::Workspace(world.run), Ground::Workspace(run_id(77)));
    assert!(of(here) != of(there) && of(here) != of(Ground::Bare));
}

/// Nothing that is part of a question can be left out of it unseen: what is folded, and found within a project, rests on it.
#[test]
fn b4_another_project_tier_reason_or_deed_is_another_question() {
    let mut world = ordered(9);
    world.agent().proposes("delete it").unwrap();
    let told = serde_json::to_value(world.action()).unwrap();
    let asked = |place: &str, other: Value| {
        let mut state = told.clone();
        *state.pointer_mut(place).expect("it is there") = other;
        serde_json::from_value::<ActionState>(state).expect("a state").question().expect("it names its deed")
    };
    let same = world.action().question().unwrap();
    for (place, other) in [
        ("/project", json!(project_id(77))),
        ("/verdict/tier", json!("A")),
        (
            "/verdict/reasons",
            json!([{ "rule": "new", "demands": "B", "weight": 0.1, "because": { "code": "rule", "text": "it looks odd" } }]),
        ),
        ("/deed", json!(Digest::of(b"another"))),
    ] {
        assert_ne!(asked(place, other), same, "with another `{place}` it asks the same");
    }
    for (place, other) in [("/run", json!(run_id(77))), ("/proposer", json!(Who::Worker.id()))] {
        assert_eq!(asked(place, other), same, "whose it is does not matter: `{place}`");
    }
}

fn judged(action: &Action) -> Verdict {
    verdict(action.digest(), Digest::of(b"policy 1"), Tier::B)
}

#[test]
fn b4_what_is_asked_for_other_reasons_is_another_question() {
    let mut world = ordered(9);
    let action = world.seal("build it", Who::Agent, world.run);
    let reason = json!([{ "rule": "new", "demands": "B", "weight": 0.1, "because": { "code": "rule", "text": "it looks odd" } }]);
    let mut odd = serde_json::to_value(judged(&action)).unwrap();
    odd["reasons"] = reason;
    let (action, verdict) = (Box::new(action), serde_json::from_value(odd).unwrap());
    world.action = action_id(world.fresh_number());
    world.agent().act(ActionCommand::Propose { action, verdict, advice: None }).unwrap();
    assert_eq!((world.status(), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_other_words_of_the_same_tool_wait_for_a_person() {
    let mut world = ordered(9);
    world.agent().proposes("build it, and more").unwrap();
    assert_eq!((world.status(), world.order().used), (Status::PendingApproval, 0));
}

const WRITING: &str = "[write]\nprogram = \"/bin/write\"\nkind = \"modify_file\"\n\n\
    [send]\nprogram = \"/bin/send\"\nkind = \"modify_file\"\nnetwork = \"named\"\n";

fn writing(world: &World, tool: &str, content: &[u8], more: &Value) -> Action {
    let file = json!({ "path": "src/notes.md", "digest": Digest::of(content), "size_bytes": content.len() });
    let mut proposal = json!({ "tool": tool, "arguments": ["src/notes.md"], "files": [file] });
    proposal.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    let proposal = serde_json::from_value(proposal).expect("a proposal");
    let agent = Who::Agent.id().expect("an identity");
    let tools = Tools::parse(WRITING).expect("tools");
    Action::seal(&proposal, &tools, &scope(), world.run, agent).expect("a sealable proposal")
}

fn proposes(world: &mut World, action: &Action) -> Status {
    world.action = action_id(world.fresh_number());
    let (action, verdict) = (Box::new(action.clone()), judged(action));
    world.agent().act(ActionCommand::Propose { action, verdict, advice: None }).expect("the run is at work");
    world.status()
}

#[test]
fn b4_other_contents_pass_only_where_somebody_said_so_and_only_into_the_same_files() {
    let mut world = World::new().with_run(RunStatus::Executing);
    let none = json!({});
    let first = writing(&world, "write", b"one", &none);
    assert_eq!(proposes(&mut world, &first), Status::PendingApproval);
    let (seen, action) = (world.action().review(), Box::new(first));
    let extent = Extent { width: Width::Contents, ..extent(9) };
    world.reviewer().act(ActionCommand::GiveOrder { seen, action, extent }).unwrap();
    let other = writing(&world, "write", b"two, and longer", &none);
    assert_eq!(proposes(&mut world, &other), Status::Approved);
    let elsewhere = json!({ "files": [{ "path": "src/other.md", "digest": Digest::of(b"one"), "size_bytes": 3 }] });
    let more = json!({ "outputs": ["src/notes.md"] });
    for (different, how) in [(elsewhere, "another path"), (more, "another output")] {
        let different = writing(&world, "write", b"one", &different);
        assert_eq!(proposes(&mut world, &different), Status::PendingApproval, "{how}");
    }
    assert_eq!(world.order().used, 1);
}

#[test]
fn b4_what_could_be_sent_or_run_is_never_left_open() {
    let mut world = World::new().with_run(RunStatus::Executing);
    let sent = writing(&world, "send", b"one", &json!({ "network": ["www.example.org"] }));
    proposes(&mut world, &sent);
    let (seen, action) = (world.action().review(), Box::new(sent));
    let extent = Extent { width: Width::Contents, ..extent(9) };
    let refused = world.reviewer().act(ActionCommand::GiveOrder { seen, action, extent });
    assert!(matches!(&refused, Err(Refusal::Invalid { why }) if why.contains("without network")), "{refused:?}");
}

#[test]
fn b4_a_credential_of_the_team_is_asked_about_each_time() {
    let mut world = World::new().with_run(RunStatus::Executing);
    let plain = writing(&world, "send", b"one", &json!({ "network": ["https://api.example.org/"] }));
    let mut spec = serde_json::to_value(plain.spec()).unwrap();
    spec["credentials"] = json!([{ "name": "github", "to": ["https://api.example.org/repos"] }]);
    let spec: ActionSpec = serde_json::from_value(spec).unwrap();
    let action = Action::open(&canonical::to_bytes(&spec)).unwrap();
    assert_eq!(proposes(&mut world, &action), Status::PendingApproval);
    let (seen, action) = (world.action().review(), Box::new(action));
    let refused = world.reviewer().act(ActionCommand::GiveOrder { seen, action, extent: extent(1) });
    assert!(matches!(&refused, Err(Refusal::Invalid { why }) if why.contains("credential")), "{refused:?}");
}
