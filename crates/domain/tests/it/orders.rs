//! Standing orders: one yes for actions that are the same question. Everything that an agent could do to get more than somebody meant.

use placet_domain::action::{ActionCommand, ActionEvent, ActionStatus as Status, Resolution};
use placet_domain::approval::{Approval, Extent, MOST_TIMES, Width, class};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::evidence::Exit;
use placet_domain::identity::{IdentityCommand, Reach};
use placet_domain::organisation::OrganisationCommand;
use placet_domain::policy::{Tier, Verdict};
use placet_domain::proposal::{Action, ActionKind, ActionSpec, Tools};
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::run::{MOST_ORDERS, Mode, Order, RunCommand, RunStatus, Stand};
use serde_json::{Value, json};

use crate::people::Who;
use crate::scenario::{HOUR_MS, MINUTE_MS, Outcome, World, action_id, verdict};

const AN_HOUR: u64 = 3_600_000;

pub(crate) const fn extent(times: u32) -> Extent {
    Extent { width: Width::Exact, lasts_ms: AN_HOUR, times }
}

impl World {
    /// Gives an order on the action that waits; these are its words.
    fn orders(&mut self, who: Who, words: &str, extent: Extent) -> Outcome {
        let action = Box::new(self.seal(words, Who::Agent, self.run));
        let seen = self.action().review();
        self.by(who).act(ActionCommand::GiveOrder { seen, action, extent })
    }

    fn order(&self) -> &Order {
        self.run().orders.last().expect("an order was given")
    }

    fn stand(&self) -> Stand {
        self.order().stand(self.run(), self.policy, self.now)
    }
}

/// A run in which "build it" is approved and so are the next few.
fn ordered(times: u32) -> World {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.orders(Who::Reviewer, "build it", extent(times)).unwrap();
    assert_eq!(world.status(), Status::Approved);
    world
}

fn proposes_again(world: &mut World) -> Status {
    world.agent().proposes("build it").unwrap();
    world.status()
}

fn kinds(records: &[Record]) -> Vec<&'static str> {
    records.iter().map(Record::kind).collect()
}

fn approval(records: &[Record]) -> Approval {
    let approved = records.iter().find_map(|record| match &record.event {
        Event::Action(_, ActionEvent::Approved { approval, .. }) => Some(approval.clone()),
        _ => None,
    });
    approved.expect("an approval")
}

#[test]
fn b4_an_order_approves_the_action_it_is_given_on_and_the_next_ones_of_its_class_as_its_giver() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let given = world.orders(Who::Reviewer, "build it", extent(2)).unwrap();
    assert_eq!(kinds(&given), ["action.approved", "run.order_given"]);
    assert_eq!(approval(&given).order, None, "that one somebody looked at");
    let used = world.agent().proposes("build it").unwrap();
    assert_eq!(kinds(&used), ["action.proposed", "action.judged", "action.approved", "run.order_used"]);
    let by = approval(&used);
    assert_eq!((by.order, Some(by.reviewer)), (Some(1), Who::Reviewer.id()));
    assert_eq!(by.review, world.action().review(), "it is a yes to what this action is");
    assert_eq!(world.status(), Status::Approved);
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.worker().completes(Exit::Code(0)).unwrap();
    assert_eq!(world.status(), Status::Succeeded);
}

#[test]
fn b4_an_order_is_for_so_many_and_not_for_one_more() {
    let mut world = ordered(2);
    for expected in [Status::Approved, Status::Approved, Status::PendingApproval, Status::PendingApproval] {
        assert_eq!(proposes_again(&mut world), expected);
    }
    assert_eq!((world.order().used, world.stand()), (2, Stand::UsedUp));
}

#[test]
fn b4_an_order_ends_at_its_time_and_nothing_it_approved_begins_after_it() {
    let mut world = ordered(9);
    world.wait_ms(HOUR_MS - 1);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    assert_eq!(world.action().deadline, world.order().until, "the yes of an order is over with the order");
    world.wait_ms(1);
    assert_eq!(world.worker().leases(), Err(Refusal::Expired));
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Expired, Status::PendingApproval));
}

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
    }
    let fields = told.as_object().unwrap().keys();
    assert!(fields.into_iter().all(|name| told_of.contains(&name.as_str())), "a field that nobody tried: {told}");
}

fn judged(action: &Action) -> Verdict {
    verdict(action.digest(), Digest::of(b"policy 1"), Tier::B)
}

#[test]
fn b4_what_is_asked_for_other_reasons_is_another_question() {
    let mut world = ordered(9);
    let action = world.seal("build it", Who::Agent, world.run);
    let reason = json!([{ "rule": "new", "demands": "B", "weight": 0.1, "because": "it looks odd" }]);
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

#[test]
fn b4_orders_are_given_only_where_one_person_is_asked() {
    let mut world = World::new().with_action("delete it", Status::PendingApproval);
    let refused = world.orders(Who::Reviewer, "delete it", extent(1));
    assert!(matches!(&refused, Err(Refusal::Invalid { why }) if why.contains("one person")), "{refused:?}");
    assert!(world.action().approvals.is_empty(), "and the yes that would come with it is not given either");
}

#[test]
fn b4_no_order_is_given_where_a_person_is_always_asked() {
    let mut always = World::new().with_action("build and mail it", Status::PendingApproval);
    assert_eq!(always.run_status(), RunStatus::CheckpointReached, "that kind always asks");
    let mut supervised = World::new();
    supervised.posture.mode = Mode::Supervised;
    let mut supervised = supervised.with_action("build it", Status::PendingApproval);
    let mut agreed = World::new();
    agreed.posture.gates.before.insert(ActionKind::ExecuteCode);
    let mut agreed = agreed.with_action("build it", Status::PendingApproval);
    for (world, words) in
        [(&mut always, "build and mail it"), (&mut supervised, "build it"), (&mut agreed, "build it")]
    {
        let refused = world.orders(Who::Reviewer, words, extent(1));
        assert!(matches!(&refused, Err(Refusal::Invalid { why }) if why.contains("each time")), "{refused:?}");
        assert_eq!(world.status(), Status::PendingApproval);
    }
}

#[test]
fn b4_an_order_has_bounds_that_nobody_goes_beyond() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.terms.longest_order_ms = 2 * AN_HOUR;
    for wrong in [
        extent(0),
        extent(MOST_TIMES + 1),
        Extent { lasts_ms: 0, ..extent(1) },
        Extent { lasts_ms: 2 * AN_HOUR + 1, ..extent(1) },
        // A program that runs code is not let run other code.
        Extent { width: Width::Contents, ..extent(1) },
    ] {
        assert!(matches!(world.orders(Who::Reviewer, "build it", wrong), Err(Refusal::Invalid { .. })), "{wrong:?}");
    }
    world.terms.longest_order_ms = 0;
    assert!(matches!(world.orders(Who::Reviewer, "build it", extent(1)), Err(Refusal::Invalid { .. })));
    assert!(world.run().orders.is_empty() && world.status() == Status::PendingApproval);
}

#[test]
fn b4_an_order_is_about_what_was_seen_and_about_those_bytes() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let action = Box::new(world.seal("build it", Who::Agent, world.run));
    let seen = Digest::of(b"something else");
    let stale = ActionCommand::GiveOrder { seen, action, extent: extent(1) };
    assert!(matches!(world.reviewer().act(stale), Err(Refusal::Stale { .. })));
    let other = world.orders(Who::Reviewer, "build something else", extent(1));
    assert!(matches!(other, Err(Refusal::Invalid { .. })), "{other:?}");
    assert!(world.run().orders.is_empty());
}

/// The whole table of who may give one, and for whom it then counts.
#[test]
fn b4_r7_who_could_not_approve_the_action_gives_no_order_on_it() {
    for (start, alone) in [(World::new as fn() -> World, false), (World::single_operator, true)] {
        for who in Who::ALL.iter().copied() {
            let mut world = start().with_action("build it", Status::PendingApproval);
            let may = world.clone().by(who).approves().is_ok();
            let given = world.orders(who, "build it", extent(3));
            assert_eq!(given.is_ok(), may, "{who:?} {alone} {given:?}");
            let Ok(given) = given else { continue };
            let used = world.agent().proposes("build it").unwrap();
            assert_eq!(approval(&used).single_operator, approval(&given).single_operator, "{who:?}");
            assert_eq!(approval(&used).single_operator, alone && matches!(who, Who::Parent | Who::Grandparent));
        }
    }
}

#[test]
fn b4_the_order_of_somebody_who_is_no_longer_trusted_is_void() {
    let mut world = ordered(9);
    let id = Who::Reviewer.id().unwrap();
    world.submit(Who::Admin, Command::Identity { id, command: IdentityCommand::Revoke }).unwrap();
    assert_eq!((proposes_again(&mut world), world.order().used), (Status::PendingApproval, 0));
    // Nor does it count if they no longer reach the project, or no longer review; by whatever way that came about.
    let mut world = ordered(9);
    world.identities.get_mut(&id).unwrap().reach = Reach::Only([].into());
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
    let mut world = ordered(9);
    world.identities.get_mut(&id).unwrap().roles.clear();
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
    let mut world = ordered(9);
    world.identities.remove(&id);
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
}

#[test]
fn b4_r7_independence_is_looked_at_again_when_an_order_is_used() {
    let mut world = ordered(9);
    let agent = world.identities[&Who::Agent.id().unwrap()].clone();
    // As if the giver had turned out to come from the agent.
    let kin = world.identities.get_mut(&Who::Reviewer.id().unwrap()).unwrap();
    kin.lineage = placet_domain::identity::Lineage::below(&agent);
    assert_eq!((proposes_again(&mut world), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_under_another_policy_an_order_says_nothing_and_what_it_approved_waits_again() {
    let mut world = ordered(9);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.change_policy();
    world.clockwork().rejudges(Tier::B).unwrap();
    assert_eq!(world.status(), Status::PendingApproval, "judged again, decided again");
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Void, Status::PendingApproval));
}

#[test]
fn b4_what_is_judged_again_into_the_class_is_not_let_pass() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.change_policy();
    let waiting = world.action;
    world.agent().proposes("build it").unwrap();
    world.orders(Who::Reviewer, "build it", extent(9)).unwrap();
    world.action = waiting;
    world.clockwork().rejudges(Tier::B).unwrap();
    assert_eq!((world.status(), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_a_rollback_ends_every_order_and_brings_no_uses_back() {
    let mut world = World::new().governed().with_action("build it", Status::PendingApproval);
    world.orders(Who::Reviewer, "build it", extent(5)).unwrap();
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.operator().run(RunCommand::RollBack { to: 0, reason: "again".to_owned() }).unwrap();
    world.host_catches_up();
    world.reviewer().run(RunCommand::Resume).unwrap();
    assert_eq!((world.stand(), world.order().used), (Stand::Void, 1));
    assert_eq!(proposes_again(&mut world), Status::PendingApproval);
}

#[test]
fn b4_who_takes_an_order_back_also_stops_what_it_approved_and_nobody_has_begun() {
    let mut world = ordered(9);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    let waiting = world.action;
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.worker().leases().unwrap();
    let revoke = RunCommand::RevokeOrder { number: 1, reason: "enough".to_owned() };
    assert!(world.agent().run(revoke.clone()).is_err(), "an agent has no say in it");
    let revoked = world.operator().run(revoke.clone()).unwrap();
    assert_eq!(kinds(&revoked), ["run.order_revoked"]);
    assert_eq!(world.worker().redeems().unwrap_err().code(), "not_now", "leased, and still not begun");
    world.action = waiting;
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Withdrawn);
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Revoked, Status::PendingApproval));
    assert_eq!(world.operator().run(revoke).unwrap_err().code(), "not_now");
}

#[test]
fn b4_who_rejects_an_action_ends_the_orders_for_its_tool() {
    let mut world = ordered(9);
    world.agent().proposes("build it otherwise").unwrap();
    let rejected = world.second_reviewer().rejects("this is not what I meant").unwrap();
    assert_eq!(kinds(&rejected), ["action.rejected", "run.order_revoked"]);
    assert_eq!((world.stand(), proposes_again(&mut world)), (Stand::Revoked, Status::PendingApproval));
}

#[test]
fn b4_what_waits_when_an_order_is_given_waits_on() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let earlier = world.action;
    world.agent().proposes("build it").unwrap();
    world.orders(Who::Reviewer, "build it", extent(9)).unwrap();
    world.action = earlier;
    assert_eq!((world.status(), world.order().used), (Status::PendingApproval, 0));
}

#[test]
fn b4_an_order_stays_in_its_run() {
    let mut world = ordered(9);
    world.run = crate::scenario::run_id(2);
    let mut world = world.with_run(RunStatus::Executing);
    world.agent().proposes("build it").unwrap();
    assert_eq!(world.status(), Status::PendingApproval, "the same agent, the same words, another run");
}

#[test]
fn b4_what_a_reviewer_amends_is_not_let_pass_by_an_order() {
    let mut world = ordered(9);
    world.agent().proposes("build it otherwise").unwrap();
    // Its author stands behind the agent, so their own yes does not count: somebody else is asked.
    let mut alone = world.clone();
    alone.reviewer().amends("build it").unwrap();
    assert_eq!(alone.order().used, 0);
    assert_eq!(alone.action().approvals.first().map(|approval| approval.order), Some(None), "a yes of their own");
}

#[test]
fn b4_what_is_rehearsed_and_what_is_tried_again_is_not_let_pass() {
    let mut world = ordered(9);
    assert_eq!(proposes_again(&mut world), Status::Approved);
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses().unwrap();
    assert_eq!(world.status(), Status::Interrupted);
    let used = world.order().used;
    world.second_reviewer().resolves(Resolution::Retry).unwrap();
    assert_eq!((world.order().used, world.action().approvals[0].order), (used, None), "a person said so");
    let mut world = World::performing("build and mail it");
    let refused = world.orders(Who::Reviewer, "build and mail it", extent(1));
    assert!(refused.is_err(), "{refused:?}");
}

#[test]
fn b4_pause_halt_and_safe_mode_come_before_orders() {
    let mut paused = ordered(9);
    paused.operator().run(RunCommand::Pause { reason: "wait".to_owned() }).unwrap();
    assert_eq!(paused.agent().proposes("build it").unwrap_err().code(), "run_not_active");
    let reason = || "smoke".to_owned();
    for (stop, code) in [
        (OrganisationCommand::Halt { reason: reason() }, "halted"),
        (OrganisationCommand::EnterSafeMode { reason: reason() }, "safe_mode"),
    ] {
        let mut world = ordered(9);
        world.agent().proposes("build it otherwise").unwrap();
        let waiting = world.action;
        world.submit(Who::Admin, Command::Organisation(stop)).unwrap();
        assert_eq!(world.agent().proposes("build it").unwrap_err().code(), code);
        world.action = waiting;
        let given = world.orders(Who::Reviewer, "build it otherwise", extent(1));
        assert_eq!(given.unwrap_err().code(), code, "nor is one given meanwhile");
    }
}

#[test]
fn b4_a_run_has_so_many_orders_and_no_more() {
    let mut world = World::new().with_run(RunStatus::Executing);
    for number in 0..=MOST_ORDERS {
        let words = format!("build it {number}");
        world.agent().proposes(&words).unwrap();
        let given = world.orders(Who::Reviewer, &words, extent(1));
        assert_eq!(given.is_ok(), number < MOST_ORDERS, "{number}");
    }
    assert_eq!(world.status(), Status::PendingApproval);
}

const WRITING: &str = "[write]\nprogram = \"/bin/write\"\nkind = \"modify_file\"\n\n\
    [send]\nprogram = \"/bin/send\"\nkind = \"modify_file\"\nnetwork = \"named\"\n";

fn writing(world: &World, tool: &str, content: &[u8], more: &Value) -> Action {
    let file = json!({ "path": "src/notes.md", "digest": Digest::of(content), "size_bytes": content.len() });
    let mut proposal = json!({ "tool": tool, "arguments": ["src/notes.md"], "files": [file] });
    proposal.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap_or_default());
    let proposal = serde_json::from_value(proposal).unwrap();
    let agent = Who::Agent.id().unwrap();
    Action::seal(&proposal, &Tools::parse(WRITING).unwrap(), &crate::scenario::scope(), world.run, agent).unwrap()
}

fn proposes(world: &mut World, action: &Action) -> Status {
    world.action = action_id(world.fresh_number());
    let (action, verdict) = (Box::new(action.clone()), judged(action));
    world.agent().act(ActionCommand::Propose { action, verdict, advice: None }).unwrap();
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
fn b6_an_order_is_read_back_from_the_ledger_as_it_was_given() {
    let mut world = ordered(3);
    proposes_again(&mut world);
    let given = world.ledger.iter().find(|record| record.kind() == "run.order_given").unwrap();
    let body = given.body();
    assert_eq!((&body["times"], &body["width"]), (&json!(3), &json!("exact")));
    for record in &world.ledger {
        assert_eq!(&Record::read(record.about, record.kind(), record.body()).unwrap(), record);
    }
}
