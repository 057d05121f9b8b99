//! Contents that are removed after their time: what stays, what goes, and what a crash or a race makes of it.

use placet_domain::action::ActionCommand;
use placet_domain::command::{Command, Submission};
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::id::{ProjectId, RunId};
use placet_domain::identity::{Actor, Reach, Role};
use placet_domain::organisation::OrganisationCommand;
use placet_domain::project::ProjectCommand;
use placet_domain::proposal::{Action, FileOperand, Proposal, Tools};
use placet_domain::refusal::Refusal;
use placet_domain::retention::{Days, Expiry, Retention};
use placet_domain::run::{Run, RunCommand};
use placet_store::{Expirable, Receipt, Store, SubmitError};

use crate::world::{
    Ground, World, asking, by, executing_run, make_project, new_action, policy, register, submit, verdict,
};

const DAY_MS: i64 = 24 * 60 * 60 * 1_000;

fn after_days(days: u32) -> Retention {
    Retention { evidence_days: Some(Days::try_from(days).unwrap()), results_days: None }
}

/// Stores bytes and has a project keep them, as an upload does.
async fn keep(store: &Store, project: ProjectId, bytes: &[u8]) -> Digest {
    let _keeping = store.blobs().keeping().await;
    let digest = store.blobs().put(bytes.to_vec()).await.unwrap();
    let command =
        Command::KeepBlob { project, digest, size_bytes: bytes.len() as u64, secrets: SecretsSeen::default() };
    submit(store, asking(Actor::Runtime, command)).await.unwrap();
    digest
}

/// An action of this run that needs these bytes as a file.
fn proposal(world: &World, run: &Run, digest: Digest) -> Submission {
    let tools = Tools::parse("[sh]\nprogram = \"/bin/sh\"\nkind = \"execute_code\"\nprefix = [\"-c\"]").unwrap();
    let proposal = Proposal {
        tool: "sh".parse().unwrap(),
        arguments: vec!["cat x".to_owned()],
        target: None,
        environment: std::collections::BTreeMap::new(),
        files: vec![FileOperand { path: "x".to_owned(), digest, size_bytes: 4 }],
        outputs: Vec::new(),
        network: Vec::new(),
        credentials: std::collections::BTreeSet::new(),
        timeout_ms: None,
        justification: String::new(),
    };
    let action = Action::seal(&proposal, &tools, &run.scope, run.id, world.agent.id).unwrap();
    let verdict = verdict(action.digest(), policy(), "D", 0.9);
    let command = ActionCommand::Propose { action: Box::new(action), verdict, advice: None };
    asking(by(&world.agent), Command::Action { id: new_action(), run: run.id, command })
}

async fn cancel(world: &World, run: RunId) {
    let command = RunCommand::Cancel { reason: "enough".to_owned() };
    submit(&world.store, asking(by(&world.operator), Command::Run { id: run, command })).await.unwrap();
}

async fn another_run(world: &World) -> Run {
    executing_run(&world.store, world.project, &world.operator, &world.reviewers[0], &world.agent).await
}

async fn found(world: &World, retention: Retention) -> Expirable {
    world.store.expirable(world.project, retention).await.unwrap()
}

async fn digests(world: &World, retention: Retention) -> Vec<Digest> {
    found(world, retention).await.expiry.contents.iter().map(|content| content.digest).collect()
}

async fn remove(store: &Store, project: ProjectId, expiry: Expiry) -> Result<Receipt, SubmitError> {
    submit(store, asking(Actor::Runtime, Command::RemoveBlobs { project, expiry: Box::new(expiry) })).await
}

/// Removes what may be removed, entries and bytes; how many there were.
async fn expire(world: &World, retention: Retention) -> usize {
    let receipt = remove(&world.store, world.project, found(world, retention).await.expiry).await.unwrap();
    world.store.sweep().await.unwrap();
    receipt.records.len()
}

pub(super) async fn c14_contents_stay_until_every_run_that_names_them_is_over_and_old<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (shared, alone) =
        (keep(&world.store, world.project, b"both").await, keep(&world.store, world.project, b"none").await);
    let other = another_run(&world).await;
    for run in [&world.run, &other] {
        submit(&world.store, proposal(&world, run, shared)).await.unwrap();
    }
    cancel(&world, other.id).await;
    ground.clock().move_by_ms(30 * DAY_MS);
    assert_eq!(digests(&world, after_days(10)).await, [alone], "one of two runs is not over");
    assert_eq!(digests(&world, Retention::default()).await, [], "nothing is said, nothing is removed");
    cancel(&world, world.run.id).await;
    let view = found(&world, after_days(10)).await;
    assert_eq!((view.expiry.contents.len(), view.needed, view.young), (1, 0, 1), "it was over just now");
    assert_eq!(expire(&world, after_days(10)).await, 1);
    assert!(world.store.blobs().has(shared).await.unwrap() && !world.store.blobs().has(alone).await.unwrap());
    ground.clock().move_by_ms(10 * DAY_MS);
    assert_eq!(expire(&world, after_days(10)).await, 1);
    assert!(!world.store.blobs().has(shared).await.unwrap());
    assert_eq!(world.store.kept(world.project, shared).await.unwrap(), None);
    let removal = world.store.removal(world.project, shared).await.unwrap().unwrap();
    assert_eq!(world.store.entry(removal.seq).await.unwrap().unwrap().kind, "evidence.removed");
    assert_eq!(world.store.check_projections().await.unwrap(), []);
    assert!(world.store.scrub().await.unwrap().is_sound());
}

pub(super) async fn c14_what_is_named_after_the_look_is_not_removed<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (named, again, free) = (
        keep(&world.store, world.project, b"name").await,
        keep(&world.store, world.project, b"keep").await,
        keep(&world.store, world.project, b"free").await,
    );
    ground.clock().move_by_ms(30 * DAY_MS);
    let seen = found(&world, after_days(1)).await.expiry;
    assert_eq!(seen.contents.len(), 3);
    submit(&world.store, proposal(&world, &world.run, named)).await.unwrap();
    keep(&world.store, world.project, b"keep").await;
    let receipt = remove(&world.store, world.project, seen.clone()).await.unwrap();
    assert_eq!(receipt.records.len(), 1, "only what nobody touched since");
    assert_eq!(remove(&world.store, world.project, seen).await.unwrap().records, [], "and once");
    world.store.sweep().await.unwrap();
    for (digest, stays) in [(named, true), (again, true), (free, false)] {
        assert_eq!(world.store.blobs().has(digest).await.unwrap(), stays);
    }
    // The other way round: what was removed is not named by accident.
    let late = submit(&world.store, proposal(&world, &world.run, free)).await.unwrap_err();
    assert!(
        matches!(&late, SubmitError::Refused(Refusal::Invalid { why }) if why.contains("upload it again")),
        "{late:?}"
    );
    keep(&world.store, world.project, b"free").await;
    submit(&world.store, proposal(&world, &world.run, free)).await.unwrap();
}

pub(super) async fn c14_two_who_remove_at_once_record_every_removal_once<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for number in 0..300_u32 {
        keep(&world.store, world.project, &number.to_be_bytes()).await;
    }
    ground.clock().move_by_ms(2 * DAY_MS);
    let removers = (0..4).map(|_| {
        let world = world.clone();
        tokio::spawn(async move {
            let mut count = 0;
            for part in found(&world, after_days(1)).await.expiry.in_parts() {
                count += remove(&world.store, world.project, part).await.unwrap().records.len();
                world.store.sweep().await.unwrap();
            }
            count
        })
    });
    let mut removed = 0;
    for remover in removers.collect::<Vec<_>>() {
        removed += remover.await.unwrap();
    }
    assert_eq!(removed, 300);
    assert_eq!(world.store.check_projections().await.unwrap(), []);
    let check = world.store.check_evidence().await.unwrap();
    assert_eq!((check.intact, check.removed, check.faults), (0, 300, vec![]));
}

pub(super) async fn c14_after_a_crash_between_the_entry_and_the_bytes_the_bytes_go<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let gone = keep(&world.store, world.project, b"gone").await;
    let back = keep(&world.store, world.project, b"back").await;
    ground.clock().move_by_ms(2 * DAY_MS);
    remove(&world.store, world.project, found(&world, after_days(1)).await.expiry).await.unwrap();
    assert!(world.store.blobs().has(gone).await.unwrap(), "the entry comes first");
    assert!(world.store.check_evidence().await.unwrap().is_sound(), "bytes that are still there harm nobody");
    let project = world.project;
    drop(world);
    let store = ground.open().await;
    keep(&store, project, b"back").await;
    let swept = store.sweep().await.unwrap();
    assert_eq!((swept.contents, swept.size_bytes), (1, 4));
    assert!(!store.blobs().has(gone).await.unwrap());
    assert_eq!(store.blobs().get(back).await.unwrap().as_deref(), Some(&b"back"[..]), "kept again meanwhile");
    assert_eq!(store.sweep().await.unwrap().contents, 0, "twice is once");
}

pub(super) async fn c14_bytes_that_another_project_keeps_stay_on_the_disk<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let beta = make_project(&world.store, "beta").await;
    let digest = keep(&world.store, world.project, b"both").await;
    keep(&world.store, beta, b"both").await;
    ground.clock().move_by_ms(2 * DAY_MS);
    assert_eq!(expire(&world, after_days(1)).await, 1);
    assert_eq!(world.store.kept(world.project, digest).await.unwrap(), None);
    assert!(
        world.store.removal(beta, digest).await.unwrap().is_none() && world.store.blobs().has(digest).await.unwrap()
    );
    let rest = world.store.expirable(beta, after_days(1)).await.unwrap().expiry;
    remove(&world.store, beta, rest).await.unwrap();
    assert_eq!(world.store.sweep().await.unwrap().contents, 1);
    assert!(!world.store.blobs().has(digest).await.unwrap());
}

pub(super) async fn c14_what_is_preserved_stays_however_old_it_is<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let of_run = keep(&world.store, world.project, b"runs").await;
    let other = keep(&world.store, world.project, b"else").await;
    submit(&world.store, proposal(&world, &world.run, of_run)).await.unwrap();
    cancel(&world, world.run.id).await;
    ground.clock().move_by_ms(4_000 * DAY_MS);
    let (before, run) = (found(&world, after_days(1)).await.expiry, Some(world.run.id));
    let about = |command| asking(Actor::Runtime, Command::Project { id: world.project, command });
    let reason = || "the auditors asked".to_owned();
    let stranger = Some(RunId::from_uuid(uuid::Uuid::from_u128(u128::MAX)));
    submit(&world.store, about(ProjectCommand::Preserve { run: stranger, reason: reason() })).await.unwrap_err();
    submit(&world.store, about(ProjectCommand::Preserve { run, reason: reason() })).await.unwrap();
    let raced = remove(&world.store, world.project, before).await.unwrap_err();
    assert!(matches!(raced, SubmitError::Refused(Refusal::NotNow { .. })), "seen before it was preserved: {raced:?}");
    assert_eq!(digests(&world, after_days(1)).await, [other]);
    submit(&world.store, about(ProjectCommand::Preserve { run: None, reason: reason() })).await.unwrap();
    assert_eq!(digests(&world, after_days(1)).await, [], "all of the project");
    for run in [None, run] {
        submit(&world.store, about(ProjectCommand::EndPreservation { run, reason: reason() })).await.unwrap();
    }
    assert_eq!(expire(&world, after_days(1)).await, 2);
}

pub(super) async fn c14_a_clock_that_goes_back_or_a_halt_removes_nothing<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    keep(&world.store, world.project, b"kept").await;
    ground.clock().move_by_ms(-400 * DAY_MS);
    assert_eq!(expire(&world, after_days(1)).await, 0);
    ground.clock().move_by_ms(402 * DAY_MS);
    let seen = found(&world, after_days(1)).await.expiry;
    let halt = |reason: &str| OrganisationCommand::Halt { reason: reason.to_owned() };
    submit(&world.store, asking(Actor::Runtime, Command::Organisation(halt("look into it")))).await.unwrap();
    let halted = remove(&world.store, world.project, seen).await.unwrap_err();
    assert!(matches!(halted, SubmitError::Refused(Refusal::Halted { .. })), "{halted:?}");
}

pub(super) async fn c14_only_an_administrator_removes_and_whoever_else_tries_is_recorded<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    keep(&world.store, world.project, b"kept").await;
    ground.clock().move_by_ms(2 * DAY_MS);
    let expiry = found(&world, after_days(1)).await.expiry;
    let auditor = register(&world.store, "otto", &[Role::Auditor], Reach::Everywhere).await;
    let command = |expiry: &Expiry| Command::RemoveBlobs { project: world.project, expiry: Box::new(expiry.clone()) };
    for who in [&auditor, &world.operator, &world.reviewers[0], &world.agent, &world.worker] {
        let before = world.store.size();
        let refused = submit(&world.store, asking(by(who), command(&expiry))).await.unwrap_err();
        assert!(matches!(refused, SubmitError::Refused(Refusal::Role { needed: Role::Admin })), "{refused:?}");
        assert_eq!(world.store.size(), before + 1);
    }
    let stranger = make_project(&world.store, "beta").await;
    let admin = register(&world.store, "root", &[Role::Admin], Reach::Only([stranger].into())).await;
    submit(&world.store, asking(by(&admin), command(&expiry))).await.unwrap_err();
    assert_eq!(digests(&world, after_days(1)).await.len(), 1);
}

pub(super) async fn c14_what_is_gone_without_an_entry_is_found<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (there, lost) = (keep(&world.store, world.project, b"here").await, Digest::of(b"lost"));
    let claim =
        Command::KeepBlob { project: world.project, digest: lost, size_bytes: 4, secrets: SecretsSeen::default() };
    submit(&world.store, asking(Actor::Runtime, claim)).await.unwrap();
    let check = world.store.check_evidence().await.unwrap();
    assert_eq!(check.intact, 1);
    assert!(matches!(&check.faults[..], [fault] if fault.contains(&lost.to_string())), "{:?}", check.faults);
    assert!(world.store.blobs().has(there).await.unwrap());
}
