//! Commands in, records out.

use std::collections::BTreeSet;

use placet_domain::action::{ActionCommand, ActionStatus};
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::identity::{
    Actor, CageStanding, CageTier, Declaration, DoorCommand, Entrance, IdentityCommand, Reach, Role,
};
use placet_domain::project::{ProjectCommand, Separation};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Founding, Hosting, Posture, RunCommand, RunStatus};
use placet_domain::scope::{Scope, ScopeDraft};
use placet_store::{EntryFilter, Extras, SubmitError};

use crate::world::{
    Ground, World, asking, by, make_project, new_action, new_project, new_run, policy, register, scope, sealed, submit,
    verdict,
};

pub(super) async fn what_is_submitted_is_read_back<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let done = world.carry_through().await;
    assert_eq!(done.status, ActionStatus::Succeeded);
    assert_eq!(world.store.action(done.id).await.unwrap(), Some(done));
    let run = world.store.run(world.run.id).await.unwrap().unwrap();
    assert_eq!((run.status, &run), (RunStatus::Executing, &world.run));
    assert_eq!(world.store.project_by_name("alpha").await.unwrap().unwrap().id, world.project);
    let worker = world.store.identity_by_token(world.worker.token).await.unwrap();
    assert_eq!(worker, Some(world.worker.clone()));
    assert_eq!(world.store.identities().await.unwrap().len(), 5);
    assert_eq!(world.store.run(new_run()).await.unwrap(), None);
}

pub(super) async fn b6_a_refusal_writes_nothing<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("B").await;
    let before = world.store.size();
    let stale = ActionCommand::Approve { seen: Digest::of(b"something else"), proof: None };
    let refused = submit(&world.store, world.about(proposed.id, by(&world.reviewers[0]), stale)).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Stale { .. }))), "{refused:?}");
    assert_eq!(world.store.size(), before);
    assert_eq!(world.store.action(proposed.id).await.unwrap(), Some(proposed));
}

pub(super) async fn b6_a_recorded_refusal_writes_one_entry_and_is_still_a_refusal<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("B").await;
    let before = world.store.size();
    let refused = submit(&world.store, world.approval(&proposed, &world.agent)).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Role { needed: Role::Reviewer }))), "{refused:?}");
    assert_eq!(world.store.size(), before + 1);
    let entry = world.store.entry(before).await.unwrap().unwrap();
    let text = String::from_utf8(entry.bytes).unwrap();
    assert_eq!(entry.kind, "refused");
    assert!(text.contains(&world.agent.id.to_string()) && text.contains(&proposed.id.to_string()), "{text}");
    assert_eq!(world.store.action(proposed.id).await.unwrap().unwrap().status, ActionStatus::PendingApproval);
}

pub(super) async fn the_agents_words_must_be_the_ones_the_proposal_names<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let words = "this is perfectly safe".to_owned();
    let id = new_action();
    let proposal = |advice: Option<Digest>| {
        let action = sealed(&world.run, world.agent.id, "hello");
        let verdict = verdict(action.digest(), policy(), "B", 0.1);
        let command = ActionCommand::Propose { action: Box::new(action), verdict, advice };
        world.about(id, by(&world.agent), command)
    };
    let named = Some(Digest::of(words.as_bytes()));
    for (named, given) in [(None, Some(&words)), (named, None), (Some(Digest::of(b"other")), Some(&words))] {
        let refused = world.store.submit(proposal(named), Extras { advice: given.cloned(), ..Extras::default() }).await;
        assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Invalid { .. }))), "{refused:?}");
    }
    world.store.submit(proposal(named), Extras { advice: Some(words.clone()), ..Extras::default() }).await.unwrap();
    assert_eq!(world.store.advice(id, Digest::of(words.as_bytes())).await.unwrap(), Some(words));
}

pub(super) async fn c16_what_a_password_is_compared_with_is_kept_beside_the_ledger_and_the_newest_counts<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (ada, visit) = (&world.reviewers[0], Digest::of(b"visit"));
    let door = |command| asking(by(ada), Command::Identity { id: ada.id, command: IdentityCommand::Door(command) });
    let (link, expires_at) = (Digest::of(b"link"), world.store.now().plus_ms(60_000));
    submit(&world.store, door(DoorCommand::Invite { link, expires_at, proof: None })).await.unwrap();
    let by_link = Entrance::Link { link };
    submit(&world.store, door(DoorCommand::Enter { visit, by: by_link, expires_at })).await.unwrap();
    let set = async |named: &str, given: Option<&str>| {
        let command = DoorCommand::SetPassword { verifier: Digest::of(named.as_bytes()), visit, proof: None };
        let extras = Extras { verifier: given.map(str::to_owned), ..Extras::default() };
        world.store.submit(door(command), extras).await
    };
    for (named, given) in [("one", None), ("one", Some("two"))] {
        let refused = set(named, given).await;
        assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Invalid { .. }))), "{refused:?}");
    }
    for verifier in ["$argon2id$one", "$argon2id$two"] {
        set(verifier, Some(verifier)).await.unwrap();
        let found = world.store.password_verifier(ada.id, Digest::of(verifier.as_bytes())).await.unwrap();
        assert_eq!(found.as_deref(), Some(verifier));
    }
    let older = world.store.password_verifier(ada.id, Digest::of(b"$argon2id$one")).await;
    assert!(older.is_err(), "what is kept is not what was named: {older:?}");
    let entries = world.store.entries(EntryFilter::default()).await.unwrap();
    assert!(entries.iter().all(|entry| !String::from_utf8_lossy(&entry.bytes).contains("argon2")));
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn a_name_or_a_token_is_given_once<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let before = world.store.size();
    let again = ProjectCommand::Create { name: "alpha".to_owned(), separation: Separation::FourEyes };
    let refused =
        submit(&world.store, asking(Actor::Runtime, Command::Project { id: new_project(), command: again })).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Exists { what: "project" }))), "{refused:?}");
    let stolen = IdentityCommand::ReplaceToken { token: world.agent.token, proof: None };
    let stolen = asking(Actor::Runtime, Command::Identity { id: world.worker.id, command: stolen });
    let refused = submit(&world.store, stolen).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Exists { what: "token" }))), "{refused:?}");
    assert_eq!(world.store.size(), before);
}

pub(super) async fn a_run_needs_a_project_that_exists<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let create = RunCommand::Create(Box::new(Founding {
        project: new_project(),
        separation: Separation::FourEyes,
        goal: "go nowhere".to_owned(),
        prepared: None,
        plan: Vec::new(),
        scope: scope(),
        agent: world.agent.id,
        agent_lineage: world.agent.lineage.clone(),
        agent_token: None,
        parent: None,
        posture: Posture::default(),
        hosting: Hosting::External,
        allowance: None,
        planning: None,
    }));
    let refused =
        submit(&world.store, asking(by(&world.operator), Command::Run { id: new_run(), command: create })).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Unknown { what: "project" }))), "{refused:?}");
}

pub(super) async fn what_does_not_fit_into_an_entry_is_refused_and_nothing_is_written<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let before = world.store.size();
    let create = RunCommand::Create(Box::new(Founding {
        project: world.project,
        separation: Separation::FourEyes,
        goal: "too much".to_owned(),
        prepared: None,
        plan: vec!["x".repeat(2_000); 100],
        scope: scope(),
        agent: world.agent.id,
        agent_lineage: world.agent.lineage.clone(),
        agent_token: None,
        parent: None,
        posture: Posture::default(),
        hosting: Hosting::External,
        allowance: None,
        planning: None,
    }));
    let id = new_run();
    let refused = submit(&world.store, asking(by(&world.operator), Command::Run { id, command: create })).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Invalid { .. }))), "{refused:?}");
    assert_eq!((world.store.size(), world.store.run(id).await.unwrap()), (before, None));
    world.propose("A").await;
}

pub(super) async fn two_approvals_race_and_exactly_one_is_the_last<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for _ in 0..20 {
        let (one, two) = (world.propose("B").await, world.propose("C").await);
        let [ruth, rolf] = &world.reviewers;
        let race = async |action| {
            let (a, b) = (world.approval(action, ruth), world.approval(action, rolf));
            tokio::join!(submit(&world.store, a), submit(&world.store, b))
        };
        let (a, b) = race(&one).await;
        assert_eq!(usize::from(a.is_ok()) + usize::from(b.is_ok()), 1, "one approval suffices, so the other is late");
        let (a, b) = race(&two).await;
        let statuses: BTreeSet<_> = [a, b].map(|receipt| receipt.unwrap().loaded.action.unwrap().status).into();
        assert_eq!(statuses, BTreeSet::from([ActionStatus::PendingApproval, ActionStatus::Approved]));
    }
    assert_eq!(world.store.check_projections().await.unwrap(), []);
}

pub(super) async fn an_approval_and_a_withdrawal_race_and_one_wins<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for _ in 0..20 {
        let action = world.propose("C").await;
        let reject = ActionCommand::Reject { seen: action.review(), reason: "no".to_owned() };
        let reject = world.about(action.id, by(&world.reviewers[0]), reject);
        let withdraw = ActionCommand::Withdraw { reason: "changed my mind".to_owned() };
        let withdraw = world.about(action.id, by(&world.agent), withdraw);
        let (rejected, withdrawn) = tokio::join!(submit(&world.store, reject), submit(&world.store, withdraw));
        assert!(rejected.is_ok() != withdrawn.is_ok(), "{rejected:?} {withdrawn:?}");
        let status = world.store.action(action.id).await.unwrap().unwrap().status;
        let expected = if rejected.is_ok() { ActionStatus::Rejected } else { ActionStatus::Withdrawn };
        assert_eq!(status, expected);
    }
}

pub(super) async fn a_revoked_identity_is_no_longer_found_by_its_token<G: Ground>() {
    let ground = G::fresh();
    let store = ground.open().await;
    let worker = register(&store, "worker", &[Role::Worker], Reach::Everywhere).await;
    let change = async |command| {
        submit(&store, asking(Actor::Runtime, Command::Identity { id: worker.id, command })).await.unwrap();
    };
    let fresh = Digest::of(b"a new token");
    change(IdentityCommand::ReplaceToken { token: fresh, proof: None }).await;
    assert_eq!(store.identity_by_token(worker.token).await.unwrap(), None);
    assert!(store.identity_by_token(fresh).await.unwrap().is_some());
    change(IdentityCommand::Revoke).await;
    assert_eq!(store.identity_by_token(fresh).await.unwrap(), None);
    assert!(store.identity(worker.id).await.unwrap().unwrap().revoked, "what was done in its name keeps its name");
}

pub(super) async fn c16_what_a_worker_declared_is_kept_and_the_same_is_not_written_twice<G: Ground>() {
    let ground = G::fresh();
    let store = ground.open().await;
    let worker = register(&store, "worker", &[Role::Worker], Reach::Everywhere).await;
    let declared = |version: &str| Declaration {
        version: version.to_owned(),
        host: "lab".to_owned(),
        kernel: "6.12".to_owned(),
        actions_at_once: 2,
        runs_at_once: 4,
        cage: CageStanding { tier: CageTier::Full, missing: Vec::new(), means: Vec::new() },
        profiles: [("default".to_owned(), Digest::of(b"cage"))].into(),
    };
    let declares = async |version: &str| {
        let command = IdentityCommand::Declare(Box::new(declared(version)));
        submit(&store, asking(by(&worker), Command::Identity { id: worker.id, command })).await
    };
    declares("1").await.unwrap();
    let before = store.size();
    let refused = declares("1").await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Exists { .. }))), "{refused:?}");
    assert_eq!(store.size(), before);
    declares("2").await.unwrap();
    let known = store.identity(worker.id).await.unwrap().unwrap();
    assert_eq!(known.declaration.as_deref(), Some(&declared("2")));
    assert_eq!(store.check_projections().await.unwrap(), []);
}

pub(super) async fn b1_who_is_revoked_after_the_door_changes_nothing_any_more<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let (proposed, reviewer) = (world.propose("B").await, &world.reviewers[0]);
    let change = async |command| {
        submit(&world.store, asking(Actor::Runtime, Command::Identity { id: reviewer.id, command })).await.unwrap();
        world.store.size()
    };
    let refused = async |size| {
        let refused = submit(&world.store, world.approval(&proposed, reviewer)).await;
        assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Revoked))), "{refused:?}");
        assert_eq!(world.store.size(), size);
    };
    let fresh = Digest::of(b"another token");
    refused(change(IdentityCommand::ReplaceToken { token: fresh, proof: None }).await).await;
    refused(change(IdentityCommand::Revoke).await).await;
    let mut other = world.reviewers[1].clone();
    other.token = Digest::of(b"a token that never was");
    let refused = submit(&world.store, world.approval(&proposed, &other)).await;
    assert!(matches!(refused, Err(SubmitError::Refused(Refusal::Revoked))), "{refused:?}");
    submit(&world.store, world.approval(&proposed, &world.reviewers[1])).await.unwrap();
}

pub(super) async fn scopes_are_versioned_by_name<G: Ground>() {
    let ground = G::fresh();
    let store = ground.open().await;
    let project = make_project(&store, "alpha").await;
    let wider = Scope::lock(ScopeDraft { allow: vec!["**".parse().unwrap()], ..ScopeDraft::default() });
    for (name, locked) in [("web", scope()), ("docs", scope()), ("web", wider.clone())] {
        let command = ProjectCommand::LockScope { name: name.to_owned(), scope: locked };
        submit(&store, asking(Actor::Runtime, Command::Project { id: project, command })).await.unwrap();
    }
    assert_eq!(store.scope(project, "web").await.unwrap().unwrap().scope, wider);
    let names: Vec<_> = store.scopes(project).await.unwrap().into_iter().map(|scope| scope.name).collect();
    assert_eq!(names, ["web", "docs", "web"]);
    assert_eq!(store.scope(new_project(), "web").await.unwrap(), None);
}
