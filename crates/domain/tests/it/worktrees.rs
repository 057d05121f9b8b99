//! Worktrees: what may happen in which state, and who may do it, as tables that people have read cell by cell.

use std::collections::BTreeSet;

use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, WorktreeId};
use placet_domain::identity::{Actor, Identity, Lineage, Reach, Role};
use placet_domain::project::{Project, Separation};
use placet_domain::refusal::Refusal;
use placet_domain::scope::{Scope, ScopeDraft};
use placet_domain::worktree::{
    AgentName, CommitId, DoneItem, Duties, Layout, Manifest, Opening, Ticket, Work, Worktree, WorktreeCommand,
    WorktreeCommandKind as Kind, WorktreeStatus as Status, decide, evolve,
};
use proptest::prelude::*;
use uuid::Uuid;

use crate::expect;

fn project(separation: Separation) -> Project {
    let id = ProjectId::from_uuid(Uuid::from_u128(7));
    Project {
        id,
        name: "alpha".into(),
        separation,
        duties: Duties::default(),
        budget: None,
        preserved: Vec::new(),
        keeps_words: false,
    }
}

fn commit(number: u8) -> CommitId {
    format!("{number:02x}").repeat(20).parse().expect("a commit")
}

fn opening() -> Opening {
    let (agent, ticket): (AgentName, Ticket) = ("backend".parse().expect("a name"), "PAY-1".parse().expect("a ticket"));
    Opening {
        display_name: "Backend".into(),
        branch: format!("feat/{ticket}-{agent}").parse().expect("a branch"),
        base_branch: "main".parse().expect("a branch"),
        base: commit(1),
        path: format!(".worktrees/{ticket}/{agent}"),
        layout: Layout::Plain,
        manifest: Manifest { scope: Scope::lock(ScopeDraft::default()), protected: Vec::new() },
        profile: Digest::of(b"profile"),
        team: Digest::of(b"team"),
        follows: None,
        agent,
        ticket,
    }
}

fn id() -> WorktreeId {
    WorktreeId::of(project(Separation::FourEyes).id, &opening().ticket, &opening().agent)
}

fn person(number: u128, roles: &[Role]) -> Actor {
    Actor::Identity(Identity {
        id: IdentityId::from_uuid(Uuid::from_u128(number)),
        name: format!("person {number}"),
        roles: roles.iter().copied().collect::<BTreeSet<_>>(),
        reach: Reach::Everywhere,
        lineage: Lineage::default(),
        token: Digest::of(&number.to_be_bytes()),
        revoked: false,
        doors: Box::default(),
        away: None,
        declaration: None,
    })
}

fn opener() -> Actor {
    person(1, &[Role::Operator, Role::Reviewer])
}

/// A command of each kind that would be in order, given the state.
fn command(kind: Kind, state: Option<&Worktree>) -> WorktreeCommand {
    let item = DoneItem { name: "scope".into(), holds: true, detail: "held".into() };
    let seen = state.and_then(|worktree| worktree.exemption_review(0)).unwrap_or(Digest::of(b""));
    match kind {
        Kind::Open => WorktreeCommand::Open { project: project(Separation::FourEyes).id, opening: Box::new(opening()) },
        Kind::Settle => WorktreeCommand::Settle,
        Kind::Adopt => WorktreeCommand::Adopt { found: "all there".into() },
        Kind::Note => WorktreeCommand::Note { work: Work::Harvested { from: commit(1), to: commit(2), commits: 1 } },
        Kind::AskExemption => WorktreeCommand::AskExemption {
            paths: vec!["Makefile".parse().expect("a glob")],
            reason: "a target".into(),
        },
        Kind::GrantExemption => WorktreeCommand::GrantExemption { number: 0, seen },
        Kind::RefuseExemption => WorktreeCommand::RefuseExemption { number: 0, reason: "no".into() },
        Kind::Close => {
            WorktreeCommand::Close { tip: commit(2), report: Digest::of(b"report"), items: vec![item], force: None }
        }
        Kind::Merge => WorktreeCommand::Merge { into: "main".parse().expect("a branch"), commit: commit(3) },
        Kind::Abort => WorktreeCommand::Abort { reason: "the ticket moved".into() },
    }
}

fn ask(state: Option<&Worktree>, kind: Kind, actor: &Actor, project: &Project) -> Result<Option<Worktree>, Refusal> {
    let news = decide(id(), state, Some(project), &command(kind, state), actor)?;
    Ok(news.iter().fold(state.cloned(), |state, news| evolve(id(), state, &news.event)))
}

fn after(kinds: &[Kind]) -> Option<Worktree> {
    let (alone, everybody) = (project(Separation::SingleOperator), opener());
    kinds.iter().fold(None, |state, kind| ask(state.as_ref(), *kind, &everybody, &alone).expect("a lawful step"))
}

/// Each state, with an exemption to decide where there can be one.
fn states() -> Vec<(&'static str, Option<Worktree>)> {
    let opened = [Kind::Open, Kind::Settle, Kind::AskExemption];
    let and = |more: &[Kind]| after(&[&opened, more].concat());
    vec![
        ("nothing", None),
        ("OPENING", after(&[Kind::Open])),
        ("OPEN", and(&[])),
        ("CLOSED", and(&[Kind::Close])),
        ("MERGED", and(&[Kind::Close, Kind::Merge])),
        ("ABORTED", and(&[Kind::Abort])),
    ]
}

fn cell(outcome: Result<Option<Worktree>, Refusal>) -> String {
    match outcome {
        Ok(Some(worktree)) => worktree.status.to_string(),
        Ok(None) => "nothing".into(),
        Err(Refusal::NotNow { .. }) => "-".into(),
        Err(refusal) => refusal.code().to_owned(),
    }
}

fn header(first: &str) -> Vec<String> {
    std::iter::once(first).chain(Kind::ALL.iter().map(|kind| kind.as_str())).map(ToOwned::to_owned).collect()
}

#[test]
fn a1_only_the_lawful_transitions_of_a_worktree_are_possible() {
    let alone = project(Separation::SingleOperator);
    let row = |(name, state): &(&str, Option<Worktree>)| {
        let cells = Kind::ALL.iter().map(|kind| cell(ask(state.as_ref(), *kind, &opener(), &alone)));
        std::iter::once((*name).to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let rows: Vec<_> = std::iter::once(header("worktree")).chain(states().iter().map(row)).collect();
    assert_eq!(rows.len(), Status::ALL.len() + 2, "a row for every state");
    expect::file("tests/it/worktree_matrix.txt", &expect::table(&rows));
}

/// Every transition there is.
pub(crate) fn edges() -> Vec<(Status, &'static str, Status)> {
    let alone = project(Separation::SingleOperator);
    let mut found = Vec::new();
    for state in states().into_iter().filter_map(|(_, state)| state) {
        for kind in Kind::ALL {
            if let Ok(Some(next)) = ask(Some(&state), *kind, &opener(), &alone) {
                found.push((state.status, kind.as_str(), next.status));
            }
        }
    }
    found
}

/// A state in which the command would be lawful.
fn lawful_for(kind: Kind) -> Option<Worktree> {
    match kind {
        Kind::Open => None,
        Kind::Settle => after(&[Kind::Open]),
        Kind::Merge => after(&[Kind::Open, Kind::Settle, Kind::Close]),
        Kind::Adopt
        | Kind::Note
        | Kind::AskExemption
        | Kind::GrantExemption
        | Kind::RefuseExemption
        | Kind::Close
        | Kind::Abort => after(&[Kind::Open, Kind::Settle, Kind::AskExemption]),
    }
}

#[test]
fn a13_who_may_do_what_with_a_worktree() {
    let everybody = [
        ("who opened it, alone here", opener(), Separation::SingleOperator),
        ("who opened it", opener(), Separation::FourEyes),
        ("another reviewer", person(2, &[Role::Reviewer]), Separation::FourEyes),
        ("another operator", person(3, &[Role::Operator]), Separation::FourEyes),
        ("an admin", person(4, &[Role::Admin]), Separation::FourEyes),
        ("an auditor", person(5, &[Role::Auditor]), Separation::FourEyes),
        ("an agent", person(6, &[Role::Agent]), Separation::FourEyes),
        ("a worker", person(7, &[Role::Worker]), Separation::FourEyes),
        ("the clockwork", Actor::Runtime, Separation::FourEyes),
    ];
    let row = |(name, actor, separation): &(&str, Actor, Separation)| {
        let cells =
            Kind::ALL.iter().map(|kind| match ask(lawful_for(*kind).as_ref(), *kind, actor, &project(*separation)) {
                Ok(_) => "yes".to_owned(),
                Err(refusal) => refusal.code().to_owned(),
            });
        std::iter::once((*name).to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let rows: Vec<_> = std::iter::once(header("")).chain(everybody.iter().map(row)).collect();
    expect::file("tests/it/worktree_authority.txt", &expect::table(&rows));
}

#[test]
fn a13_kin_of_the_asker_grants_no_exemption() {
    let Actor::Identity(opened_by) = opener() else { unreachable!("a person") };
    let Actor::Identity(stranger) = person(8, &[Role::Reviewer]) else { unreachable!("a person") };
    let child = |parent: &Identity| {
        let Actor::Identity(child) = person(9, &[Role::Reviewer]) else { unreachable!("a person") };
        Actor::Identity(Identity { lineage: Lineage::below(parent), ..child })
    };
    let (state, four_eyes) = (lawful_for(Kind::GrantExemption), project(Separation::FourEyes));
    let granted = |parent: &Identity| ask(state.as_ref(), Kind::GrantExemption, &child(parent), &four_eyes);
    assert_eq!(granted(&opened_by).err(), Some(Refusal::Kin));
    assert!(granted(&stranger).is_ok());
}

#[test]
fn a14_the_id_of_a_worktree_is_its_agent_and_its_ticket() {
    let mut other = opening();
    other.agent = "database".parse().expect("a name");
    let open = WorktreeCommand::Open { project: project(Separation::FourEyes).id, opening: Box::new(other) };
    let refused = decide(id(), None, Some(&project(Separation::FourEyes)), &open, &opener());
    assert!(matches!(refused, Err(Refusal::Invalid { .. })), "{refused:?}");
}

proptest! {
    #[test]
    fn a1_whatever_is_tried_one_sitting_ends_before_the_next_begins(tries in prop::collection::vec(0..Kind::ALL.len(), 1..40)) {
        let alone = project(Separation::SingleOperator);
        let mut state: Option<Worktree> = None;
        for number in tries {
            let before = state.clone();
            if let Ok(next) = ask(before.as_ref(), Kind::ALL[number], &opener(), &alone) {
                let began_anew = next.as_ref().map(|w| w.sitting) != before.as_ref().map(|w| w.sitting);
                prop_assert!(!began_anew || before.is_none_or(|before| !before.status.is_held()));
                state = next;
            }
        }
    }
}
