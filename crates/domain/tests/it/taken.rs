//! Rules over more than the one thing that a command is about: names, tokens and passkeys are given once, contents are still kept, and
//! the credential of the caller is still valid.

use placet_domain::action::ActionCommand;
use placet_domain::command::{About, Command};
use placet_domain::decide::{AdmittedSubmission, Loaded, check_credential};
use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Item, Manifest};
use placet_domain::identity::{Actor, DoorCommand, IdentityCommand};
use placet_domain::passkey::Purpose;
use placet_domain::project::{ProjectCommand, Separation};
use placet_domain::refusal::Refusal;
use placet_domain::retention::depended_on;

use crate::authenticator::Authenticator;
use crate::passkeys::{SITE, asked, comes_in, digest};
use crate::people::Who;
use crate::scenario::{World, project_id, run_id};

/// Decides a command on what the world loads, with something changed.
fn refusal(world: &World, actor: Actor, command: Command, change: impl Fn(&mut Loaded)) -> Option<Refusal> {
    let mut loaded = world.load(&actor, &command);
    let submission = world.submission(actor, command);
    assert_eq!(world.decide(&loaded, &submission).map(drop), Ok(()), "without the change");
    change(&mut loaded);
    world.decide(&loaded, &submission).err()
}

#[test]
fn project_name_is_given_once() {
    let world = World::new();
    let create = ProjectCommand::Create { name: "third".to_owned(), separation: Separation::FourEyes };
    let command = Command::Project { id: project_id(3), command: create };
    assert_eq!(command.reads().project_name, Some("third"));
    let refused = refusal(&world, Actor::Runtime, command, |loaded| loaded.is_project_name_taken = true);
    assert_eq!(refused, Some(Refusal::Exists { what: "project" }));
}

#[test]
fn token_is_given_once() {
    let world = World::new();
    let (id, token) = (Who::Worker.id().unwrap(), Digest::of(b"new"));
    let command = Command::Identity { id, command: IdentityCommand::ReplaceToken { token, proof: None } };
    assert_eq!(command.reads().token, Some(token));
    let refused = refusal(&world, world.actor(Who::Admin), command, |loaded| loaded.is_token_taken = true);
    assert_eq!(refused, Some(Refusal::Exists { what: "token" }));
}

#[test]
fn passkey_of_another_person_is_refused() {
    let mut world = World::new();
    comes_in(&mut world, Who::Reviewer, "visit");
    let id = Who::Reviewer.id().unwrap();
    let question = asked(&world, Purpose::Register { person: id });
    let made = Authenticator::at(SITE).creates(question.challenge().as_bytes());
    let attested = Box::new(made.attest(question, SITE.parse().unwrap()).unwrap());
    let theirs = attested.named("theirs");
    let add = DoorCommand::AddPasskey { attested, name: "mine".to_owned(), visit: digest("visit"), proof: None };
    let command = Command::Identity { id, command: IdentityCommand::Door(add) };
    assert!(command.reads().passkeys);
    let refused = refusal(&world, world.actor(Who::Reviewer), command, |loaded| loaded.passkeys = vec![theirs.clone()]);
    assert_eq!(refused, Some(Refusal::Exists { what: "passkey" }));
}

#[test]
fn preservation_of_unknown_run_is_refused() {
    let world = World::new().executing();
    let preserve = |run| ProjectCommand::Preserve { run: Some(run), reason: "an incident".to_owned() };
    let command = |run| Command::Project { id: world.project, command: preserve(run) };
    let elsewhere = |loaded: &mut Loaded| {
        let run = loaded.run.as_mut().unwrap();
        run.project = project_id(2);
    };
    let unknown = Some(Refusal::Unknown { what: "run" });
    assert_eq!(refusal(&world, world.actor(Who::Admin), command(world.run), elsewhere), unknown);
    assert_eq!(command(run_id(9)).reads().run, Some(run_id(9)));
}

#[test]
fn action_on_removed_content_is_refused() {
    let mut world = World::new().executing();
    world.agent().proposes("build it").unwrap();
    world.reviewer().approves().unwrap();
    world.worker().leases().unwrap();
    world.worker().redeems().unwrap();
    let output = Item { name: "stdout".to_owned(), digest: Digest::of(b"output"), size_bytes: 6 };
    let manifest = Manifest { items: vec![output], ..world.manifest(Who::Worker, 1, Exit::Code(0)) };
    let command = ActionCommand::Complete { evidence: Box::new(manifest.seal()) };
    let command = Command::Action { id: world.action, run: world.run, command };
    let removed = depended_on(&command);
    assert_eq!(removed.len(), 1);
    let refused = refusal(&world, world.actor(Who::Worker), command, |loaded| loaded.removed.extend(&removed));
    assert!(refused.unwrap().to_string().contains("upload it again"));
}

#[test]
fn credential_must_be_the_valid_one() {
    let world = World::new();
    let actor = world.actor(Who::Reviewer);
    let token = actor.identity().unwrap().token;
    assert_eq!(check_credential(&actor, Some(token)), Ok(()));
    assert_eq!(check_credential(&Actor::Runtime, None), Ok(()));
    for valid in [None, Some(Digest::of(b"replaced"))] {
        assert_eq!(check_credential(&actor, valid), Err(Refusal::Revoked));
        let note = Command::NoteRefusal { about: About::default(), tried: "x", refusal: Refusal::Reach };
        let submission = world.submission(actor.clone(), note);
        assert!(AdmittedSubmission::check(&submission, valid).is_ok(), "an attempt is recorded of everybody");
    }
}
