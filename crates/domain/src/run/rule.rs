//! Conditions of commands: in which states a command is lawful, and who may give it. Each facet of a run states them for its own commands.

use super::gate::GateKind;
use super::hosting::Hosting;
use super::state::Run;
use crate::id::IdentityId;
use crate::identity::{Actor, Identity, Role};
use crate::project::Separation;
use crate::refusal::Refusal;

/// Identity that may give a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Giver {
    Role(Role),
    OperatorOrReviewer,
    /// The agent of the run.
    Agent,
    /// The worker that hosts the run.
    Host,
    /// A worker, if the run needs a host.
    NewHost,
    HostOrOperator,
    AgentHostOrOperator,
    /// A reviewer who is unrelated to the creator of the run, the author of its plan and its agent.
    IndependentReviewer,
    /// No identity: only the runtime gives this command.
    Runtime,
}

/// Conditions of one command in the current state of the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Rule {
    /// True if the state of the run permits the command.
    pub(super) is_lawful: bool,
    pub(super) giver: Giver,
    /// True if the runtime may give the command, too. It stops things; it never approves, starts or resumes them.
    pub(super) by_runtime: bool,
}

impl Rule {
    pub(super) const fn new(is_lawful: bool, giver: Giver) -> Self {
        Self { is_lawful, giver, by_runtime: matches!(giver, Giver::Runtime) }
    }

    pub(super) const fn or_runtime(self) -> Self {
        Self { by_runtime: true, ..self }
    }

    /// Checks if the actor may give the command. Returns true if it was allowed only because one person works alone here.
    pub(super) fn authorize(self, run: &Run, actor: &Actor) -> Result<bool, Refusal> {
        match actor {
            Actor::Identity(identity) => self.giver.check(run, identity),
            Actor::Runtime if self.by_runtime => Ok(false),
            Actor::Runtime => Err(Refusal::Role { needed: Role::Reviewer }),
        }
    }
}

impl Giver {
    fn check(self, run: &Run, identity: &Identity) -> Result<bool, Refusal> {
        match self {
            Self::Role(role) => has(identity, role),
            Self::OperatorOrReviewer => has(identity, Role::Operator).or_else(|_| has(identity, Role::Reviewer)),
            Self::Agent => is_its_agent(run, identity),
            Self::Host => is_its_host(run, identity),
            Self::NewHost => may_host(run, identity),
            Self::HostOrOperator => is_its_host(run, identity).or_else(|_| has(identity, Role::Operator)),
            Self::AgentHostOrOperator => is_its_agent(run, identity)
                .or_else(|_| is_its_host(run, identity))
                .or_else(|_| has(identity, Role::Operator)),
            Self::IndependentReviewer => independent_reviewer(run, identity),
            Self::Runtime => Err(Refusal::Role { needed: Role::Admin }),
        }
    }
}

pub(super) fn has(identity: &Identity, role: Role) -> Result<bool, Refusal> {
    if identity.has(role) { Ok(false) } else { Err(Refusal::Role { needed: role }) }
}

fn is_its_agent(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Agent)?;
    if identity.id == run.agent { Ok(false) } else { Err(Refusal::OtherAgent) }
}

fn may_host(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Worker)?;
    match (&run.hosting, run.host.worker) {
        (Hosting::Hosted(_), None) => Ok(false),
        (Hosting::Hosted(_), Some(_)) => Err(Refusal::Exists { what: "host" }),
        (Hosting::External, _) => Err(Refusal::invalid("the agent of this run comes by itself; no worker hosts it")),
    }
}

fn is_its_host(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Worker)?;
    if run.host.worker == Some(identity.id) { Ok(false) } else { Err(Refusal::OtherHost) }
}

/// Requires a reviewer unrelated to the creator of the run, the author of its plan and its agent; or, where one person works alone,
/// that person. Never the agent itself, nor an identity that the agent made.
fn independent_reviewer(run: &Run, identity: &Identity) -> Result<bool, Refusal> {
    has(identity, Role::Reviewer)?;
    // A relative of an author does not count as a second person.
    let wrote = |by: Option<IdentityId>, lineage| by.is_some_and(|by| identity.is_kin_of(by, lineage));
    let authors = &run.authors;
    let author =
        wrote(authors.created_by, &authors.creator_lineage) || wrote(authors.submitted_by, &authors.submitter_lineage);
    let kin = identity.is_kin_of(run.agent, &run.agent_lineage);
    let stands_behind = run.agent_lineage.includes(identity.id);
    let alone = run.separation == Separation::SingleOperator && (stands_behind || !kin);
    match (author || kin, alone) {
        (false, _) => Ok(false),
        (true, true) => Ok(true),
        (true, false) => Err(Refusal::Kin),
    }
}

impl Run {
    /// True if the run waits because its agent asked people too often.
    pub(super) fn waits_for_questions(&self) -> bool {
        self.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Questions)
    }
}
