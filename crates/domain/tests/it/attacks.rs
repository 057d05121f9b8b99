//! How one might get something done that nobody approved: each way tried, each way closed.

use std::collections::BTreeSet;

use ed25519_dalek::{Signer as _, SigningKey};
use placet_domain::action::{ActionCommand, ActionState, ActionStatus as Status};
use placet_domain::budget::Amounts;
use placet_domain::command::{About, Command};
use placet_domain::decide::Loaded;
use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Item, SecretsSeen};
use placet_domain::identity::{IdentityCommand, Reach, Role};
use placet_domain::permit::Permit;
use placet_domain::policy::Tier;
use placet_domain::project::{ProjectCommand, Separation};
use placet_domain::proposal::{Action, Proposal, Tools};
use placet_domain::record::{PlannerAsked, Record, Unreadable};
use placet_domain::refusal::{PermitFlaw, Refusal};
use placet_domain::run::{RunCommand, RunStatus};
use placet_domain::time::Timestamp;
use serde_json::json;

use crate::people::Who;
use crate::scenario::{Outcome, World, action_id, complete, project_id, run_id, signer, verdict};
use crate::trials::{ACTION_TRIALS, Move};

/// Gives a command about an action under the name of a run.
fn act(world: &mut World, who: Who, (action, run): (u128, u128), command: ActionCommand) -> Outcome {
    world.submit(who, Command::Action { id: action_id(action), run: run_id(run), command })
}

/// A world with two executing runs; sentences are about the first.
fn two_runs() -> World {
    let mut world = World::new().executing();
    world.run = run_id(2);
    let mut world = world.executing();
    world.run = run_id(1);
    world
}

#[test]
fn b1_an_agent_cannot_bring_its_own_verdict_for_other_bytes() {
    let mut world = World::new().executing();
    let (harmless, harmful) =
        (world.seal("read it", Who::Agent, world.run), world.seal("leak it", Who::Agent, world.run));
    let of_the_harmless = verdict(harmless.digest(), world.policy, Tier::A);
    let propose = ActionCommand::Propose { action: Box::new(harmful), verdict: of_the_harmless, advice: None };
    assert_eq!(world.agent().act(propose).unwrap_err().code(), "invalid");
}

#[test]
fn b1_an_action_sealed_for_another_run_agent_or_scope_is_refused() {
    let mut world = two_runs();
    let of = |world: &World, who, run| {
        let action = world.seal("read it", who, run);
        let verdict = verdict(action.digest(), world.policy, Tier::A);
        ActionCommand::Propose { action: Box::new(action), verdict, advice: None }
    };
    let other_run = of(&world, Who::Agent, run_id(2));
    assert_eq!(world.agent().act(other_run), Err(Refusal::OtherAgent));
    let other_agent = of(&world, Who::OtherAgent, run_id(1));
    assert_eq!(world.agent().act(other_agent.clone()), Err(Refusal::OtherAgent));
    assert_eq!(world.by(Who::OtherAgent).act(other_agent), Err(Refusal::OtherAgent));
    let mut elsewhere = world.clone();
    elsewhere.runs.clear();
    let mut wider = serde_json::to_value(world.run()).unwrap();
    wider["scope"]["allow"] = json!(["**"]);
    elsewhere.runs.insert(run_id(1), serde_json::from_value(wider).unwrap());
    let other_scope = of(&elsewhere, Who::Agent, run_id(1));
    assert_eq!(world.agent().act(other_scope).unwrap_err().code(), "invalid");
}

#[test]
fn b1_an_old_verdict_at_proposal_time_opens_nothing() {
    let mut world = World::new().executing();
    let action = world.seal("read it", Who::Agent, world.run);
    let old = verdict(action.digest(), Digest::of(b"a laxer policy"), Tier::A);
    world.agent().act(ActionCommand::Propose { action: Box::new(action), verdict: old, advice: None }).unwrap();
    assert_eq!(world.worker().leases().unwrap_err().code(), "not_now");
}

#[test]
fn b2_an_action_is_reached_only_through_its_own_run() {
    let mut world = two_runs().with_action("build it", Status::PendingApproval);
    let action = world.action;
    world.operator().run(RunCommand::Cancel { reason: String::new() }).unwrap();
    for trial in ACTION_TRIALS.iter().filter(|trial| trial.kind != Move::Propose) {
        let command = trial.kind.command(&world, trial.usual);
        let through_the_other = Command::Action { id: action, run: run_id(2), command };
        assert_eq!(
            world.submit(trial.usual, through_the_other),
            Err(Refusal::Unknown { what: "action" }),
            "{}",
            trial.label
        );
    }
}

#[test]
fn b2_the_name_of_an_action_is_taken_once_and_for_all_runs() {
    let mut world = two_runs().with_action("build it", Status::Rejected);
    world.run = run_id(2);
    let again = world.proposal(Who::Agent, "read it");
    assert_eq!(world.agent().act(again), Err(Refusal::Exists { what: "action" }));
}

#[test]
fn b4_the_same_bytes_proposed_again_need_their_own_approval() {
    let mut world = World::new().with_action("build it", Status::Succeeded);
    let first = world.action().clone();
    world.agent().proposes("build it").unwrap();
    assert_eq!(world.action().digest, first.digest);
    assert_eq!((world.status(), world.action().approvals.len()), (Status::PendingApproval, 0));
}

#[test]
fn b5_a_permit_for_the_same_bytes_of_another_action_is_refused() {
    let world = World::new().with_action("build it", Status::Leased);
    let permit = world.permit();
    let mut world = world.with_action("build it", Status::Leased);
    let refusal = world.worker().act(ActionCommand::Redeem { permit }).unwrap_err();
    assert_eq!(refusal, PermitFlaw::OtherAction.into());
}

#[test]
fn b2_the_same_words_in_another_run_are_other_bytes() {
    let world = two_runs();
    let digest = |run| world.seal("build it", Who::Agent, run).digest();
    assert_ne!(digest(run_id(1)), digest(run_id(2)));
}

#[test]
fn b5_a_signature_of_our_key_for_another_purpose_is_no_permit() {
    use base64::Engine as _;
    let base64 = base64::engine::general_purpose::URL_SAFE_NO_PAD;
    let world = World::new().with_action("build it", Status::Leased);
    let content = serde_json::to_vec(&Permit::for_lease(world.action()).unwrap()).unwrap();
    let signature = SigningKey::from_bytes(&[7; 32]).sign(&content);
    let token = format!("{}.{}", base64.encode(&content), base64.encode(signature.to_bytes()));
    assert_eq!(signer().verifier().check(&token), Err(PermitFlaw::Forged));
}

#[test]
fn b1_a_revoked_identity_does_nothing_any_more() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let id = Who::Reviewer.id().unwrap();
    world.submit(Who::Admin, Command::Identity { id, command: IdentityCommand::Revoke }).unwrap();
    assert_eq!(world.reviewer().approves(), Err(Refusal::Revoked));
    assert_eq!(world.status(), Status::PendingApproval);
}

#[test]
fn b1_that_a_stranger_or_a_revoked_one_tried_can_still_be_recorded() {
    let mut world = World::new();
    let about = About { project: Some(project_id(1)), ..About::default() };
    let note = Command::NoteRefusal { about, tried: "redeem", refusal: PermitFlaw::Forged.into() };
    world.submit(Who::Stranger, note).unwrap();
    assert_eq!(world.ledger.last().unwrap().kind(), "refused");
}

#[test]
fn b2_projects_are_walls() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    assert_eq!(world.by(Who::Stranger).approves(), Err(Refusal::Unknown { what: "project" }));
    assert_eq!(
        world.by(Who::Stranger).run(RunCommand::Cancel { reason: String::new() }).unwrap_err().code(),
        "unknown"
    );
    let lock = ProjectCommand::LockScope { name: "web".to_owned(), scope: crate::scenario::scope() };
    let lock = |id| Command::Project { id, command: lock.clone() };
    assert_eq!(world.submit(Who::Stranger, lock(project_id(1))).unwrap_err().code(), "unknown");
    world.submit(Who::Stranger, lock(project_id(2))).unwrap();
    let keep = |project| Command::KeepBlob {
        project,
        digest: Digest::of(b"x"),
        size_bytes: 1,
        secrets: SecretsSeen::default(),
    };
    assert_eq!(world.submit(Who::Stranger, keep(project_id(1))).unwrap_err().code(), "unknown");
}

#[test]
fn b1_no_agent_or_worker_touches_projects_scopes_or_identities() {
    let mut world = World::new();
    for who in [Who::Agent, Who::Worker, Who::Auditor, Who::Reviewer] {
        let create = ProjectCommand::Create { name: "mine".to_owned(), separation: Separation::SingleOperator };
        let lock = ProjectCommand::LockScope { name: "web".to_owned(), scope: crate::scenario::scope() };
        let start = Command::NoteStart { version: "0".to_owned(), policy: Digest::of(b""), tools: Digest::of(b"") };
        let asked = PlannerAsked { run: run_id(9), model: "large-1".to_owned(), most: Amounts::NONE };
        let mine = Who::Agent.id().unwrap();
        for command in [
            Command::Project { id: project_id(9), command: create },
            Command::Project { id: project_id(1), command: lock },
            Command::Identity {
                id: mine,
                command: IdentityCommand::ReplaceToken { token: Digest::of(b"known to me"), proof: None },
            },
            start,
            Command::AskPlanner { project: project_id(1), asked },
        ] {
            let name = command.name();
            assert_eq!(world.submit(who, command).unwrap_err().code(), "role", "{name} by {}", who.name());
        }
    }
}

#[test]
fn e6_what_an_agent_brings_into_the_world_has_no_more_rights_than_it() {
    let mut world = World::new();
    let agent = world.identities[&Who::Agent.id().unwrap()].clone();
    for (role, fine) in [
        (Role::Reviewer, false),
        (Role::Operator, false),
        (Role::Admin, false),
        (Role::Worker, false),
        (Role::Agent, true),
    ] {
        let (id, roles) =
            (placet_domain::id::IdentityId::from_uuid(uuid::Uuid::from_u128(500)), BTreeSet::from([role]));
        let (parent, token) = (Some(agent.clone()), Digest::of(b"t"));
        let command = IdentityCommand::Register {
            name: "child".to_owned(),
            roles,
            reach: Reach::Everywhere,
            parent: parent.map(Box::new),
            token,
        };
        assert_eq!(world.submit(Who::Admin, Command::Identity { id, command }).is_ok(), fine, "{role}");
    }
}

#[test]
fn b1_an_identity_is_not_registered_over_another() {
    let mut world = World::new();
    let command = IdentityCommand::Register {
        name: "its agent".to_owned(),
        roles: [Role::Admin].into(),
        reach: Reach::Everywhere,
        parent: None,
        token: Digest::of(b"mine"),
    };
    let id = Who::Agent.id().unwrap();
    assert_eq!(world.submit(Who::Admin, Command::Identity { id, command }), Err(Refusal::Exists { what: "identity" }));
}

#[test]
fn b4_at_the_end_of_time_everything_has_expired_and_nothing_wraps_around() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    world.now = Timestamp::from_unix_ms(i64::MAX);
    assert_eq!(world.reviewer().approves(), Err(Refusal::Expired));
    world.agent().proposes("read it").unwrap();
    assert_eq!(world.worker().leases(), Err(Refusal::Expired), "a deadline that cannot lie in the future has passed");
}

#[test]
fn b4_terms_without_end_do_not_wrap_around() {
    let mut world = World::new().executing();
    world.terms.decide_within_ms = u64::MAX;
    world.terms.dispatch_within_ms = u64::MAX;
    world.terms.lease_ms = u64::MAX;
    let mut world = world.with_action("delete it", Status::Leased);
    assert_eq!(world.action().deadline, Timestamp::END);
    let token = signer().sign(&Permit::for_lease(world.action()).unwrap());
    assert!(signer().verifier().check(&token).is_ok(), "a permit without end can be read back");
    world.worker().redeems().unwrap();
}

#[test]
fn b4_terms_of_nothing_permit_nothing() {
    let mut world = World::new().executing();
    world.terms.decide_within_ms = 0;
    world.agent().proposes("build it").unwrap();
    assert_eq!(world.reviewer().approves(), Err(Refusal::Expired));
    world.terms.dispatch_within_ms = 0;
    world.agent().proposes("read it").unwrap();
    assert_eq!(world.worker().leases(), Err(Refusal::Expired));
}

#[test]
fn b5_attempts_do_not_wrap_around() {
    let world = World::new().with_action("build it", Status::Approved);
    let mut worn_out = serde_json::to_value(world.action()).unwrap();
    worn_out["attempt"] = json!(u32::MAX);
    let worn_out: ActionState = serde_json::from_value(worn_out).unwrap();
    let loaded = Loaded { run: Some(world.run().clone()), action: Some(worn_out), ..Loaded::default() };
    let command = ActionCommand::Lease { worker: Who::Worker.id().unwrap() };
    let command = Command::Action { id: world.action, run: world.run, command };
    let submission = world.submission(world.actor(Who::Worker), command);
    assert_eq!(world.decide(&loaded, &submission).unwrap_err().code(), "invalid");
}

#[test]
fn b5_a_clock_set_back_revives_nothing_that_lapsed() {
    let mut world = World::new().with_action("build it", Status::Leased);
    let permit = world.permit();
    world.wait_ms(60_000);
    world.clockwork().lapses().unwrap();
    world.wait_ms(-60_000);
    assert_eq!(world.worker().act(ActionCommand::Redeem { permit }), Err(PermitFlaw::Replayed.into()));
}

#[test]
fn b6_two_reports_never_share_a_digest_however_large_their_numbers() {
    let world = World::new().with_action("build it", Status::Executing);
    let with = |wall_ms: u64| {
        let mut manifest = world.manifest(Who::Worker, 1, Exit::Code(0));
        manifest.usage.wall_ms = wall_ms;
        manifest
    };
    let (one, other) = (with(1 << 53), with((1 << 53) + 1));
    let mut world = world.clone();
    for manifest in [one, other] {
        assert_eq!(world.worker().act(complete(manifest)).unwrap_err().code(), "invalid");
    }
    let mut sized = with(1);
    sized.items = vec![Item { name: "out".to_owned(), digest: Digest::of(b""), size_bytes: u64::MAX }];
    assert_eq!(world.worker().act(complete(sized)).unwrap_err().code(), "invalid");
}

#[test]
fn b4_two_wishes_never_become_the_same_bytes_however_large_their_numbers() {
    let tools = Tools::parse("[sh]\nprogram = \"/bin/sh\"\nkind = \"execute_code\"\n").unwrap();
    let seal = |size_bytes: u64| {
        let file = json!({ "path": "a", "digest": Digest::of(b"a"), "size_bytes": size_bytes });
        let proposal: Proposal = serde_json::from_value(json!({ "tool": "sh", "files": [file] })).unwrap();
        Action::seal(&proposal, &tools, &crate::scenario::scope(), run_id(1), Who::Agent.id().unwrap())
    };
    assert!(Action::open(seal((1 << 53) - 1).unwrap().bytes()).is_ok());
    for size_bytes in [1 << 53, (1 << 53) + 1, u64::MAX] {
        assert!(seal(size_bytes).is_err(), "{size_bytes}");
    }
}

#[test]
fn b11_a_ledger_entry_means_one_thing_or_is_refused() {
    let read = |kind: &str, body| {
        Record::read(About { run: Some(run_id(1)), action: Some(action_id(1)), project: None }, kind, body)
    };
    assert!(
        matches!(read("run.resumed", json!({"is": "started"})), Err(Unreadable::Kind(_))),
        "kind and body disagree"
    );
    assert!(matches!(read("action.approved", json!({"is": "deadline_lapsed"})), Err(Unreadable::Kind(_))));
    assert!(matches!(
        read("run.paused", json!({"is": "paused", "reason": "x", "more": 1})),
        Err(Unreadable::Body { .. })
    ));
    assert!(matches!(read("run.vanished", json!({"is": "vanished"})), Err(Unreadable::Body { .. })));
    assert!(matches!(read("gossip.heard", json!({})), Err(Unreadable::Kind(_))));
    let nameless = Record::read(About::default(), "run.started", json!({"is": "started"}));
    assert!(matches!(nameless, Err(Unreadable::Nameless { what: "run", .. })));
    assert!(read("run.started", json!({"is": "started"})).is_ok());
    assert!(read("run.started", json!({"is": "started", "more": 1})).is_err(), "nothing rides along unread");
    let revoked = json!({"identity": Who::Agent.id(), "event": {"is": "revoked", "more": 1}});
    assert!(read("identity.revoked", revoked).is_err(), "not even further down");
}

#[test]
fn b4_words_in_reasons_change_nothing_but_the_reason() {
    let mut world = World::new().with_action("build it", Status::PendingApproval);
    let words = "no\",\"is\":\"approved\u{202e}\n";
    world.reviewer().rejects(words).unwrap();
    let record = world.ledger.last().unwrap();
    assert_eq!((record.kind(), &record.body()["reason"]), ("action.rejected", &json!(words)));
    assert_eq!(world.status(), Status::Rejected);
}

#[test]
fn c8_a_finished_run_takes_no_late_approval_and_starts_nothing() {
    let mut world = World::new().with_action("build it", Status::Approved);
    world.agent().run(RunCommand::Finish { summary: "done".to_owned() }).unwrap();
    assert_eq!(world.run_status(), RunStatus::PendingExport);
    assert_eq!(world.worker().leases().unwrap_err().code(), "run_not_active");
    let id = u128::from(2_u8);
    let unknown = act(&mut world, Who::Worker, (id, 1), ActionCommand::Lease { worker: Who::Worker.id().unwrap() });
    assert_eq!(unknown, Err(Refusal::Unknown { what: "action" }));
}
