//! What a step led to or waits for, as it is: every surface says it in its own words, and the words here are those of the command line
//! and of the API.

use std::fmt;

use crate::budget::{Amounts, Ceiling, Resource, dollars};
use crate::catalogue::NetworkUse;
use crate::digest::Digest;
use crate::id::IdentityId;
use crate::planning::AgentFit;
use crate::run::gate::{GateCount, GateKind};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepProduct {
    /// There is nothing to say of it yet.
    Nothing,
    /// What was wanted, as it was written.
    Goal(String),
    /// Nobody planned it from an intent: a person said it.
    Declared(Declared),
    Encoded {
        takes: Takes,
        inputs: usize,
        outputs: usize,
    },
    Decomposed {
        subtasks: usize,
        gates: usize,
        /// How many steps a person wrote in their place since.
        since: Option<usize>,
    },
    NoPlan,
    Selected {
        agent: String,
        fit: Option<AgentFit>,
    },
    Caged {
        profile: String,
        /// The cage of the agent itself, where a worker starts it.
        agent: Option<String>,
        network: NetworkUse,
    },
    Estimated {
        likely: Amounts,
        worst: Amounts,
    },
    Scope(Digest),
    Unlimited,
    Held(Ceiling),
    PlanApproved,
    PlanWaits,
    PlanSentBack(String),
    AgentComes,
    WorkerStarts,
    StepsDone {
        done: u32,
        of: usize,
    },
    Checkpoints {
        counts: GateCount,
        waits: Option<(u32, GateKind)>,
    },
    Collected(usize),
    HostCollects,
    AgentKeeps,
    ResultsAccepted,
    ResultsWait,
    ResultsNeverAccepted,
    LetOut(usize),
    HostRemoves,
    InLedger,
}

/// What a person said instead of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Declared {
    Goal(String),
    AsWritten,
    Steps(usize),
    Agent(IdentityId),
    CagesOfTools,
    NoEstimate,
}

/// What a task needs, or the template that says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Takes {
    Template(String),
    Capabilities(Vec<String>),
}

impl fmt::Display for StepProduct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nothing => Ok(()),
            Self::Goal(goal) => f.write_str(goal),
            Self::Declared(declared) => write!(f, "declared by a person: {declared}"),
            Self::Encoded { takes, inputs, outputs } => write!(f, "takes {takes}; {inputs} inputs, {outputs} outputs"),
            Self::Decomposed { subtasks, gates, since } => {
                write!(f, "{subtasks} sub-tasks, {gates} with a checkpoint")?;
                since.map_or(Ok(()), |steps| write!(f, "; since then a person wrote {steps} steps"))
            }
            Self::NoPlan => f.write_str("no plan yet"),
            Self::Selected { agent, fit: Some(fit) } => write!(f, "{agent}: {fit}"),
            Self::Selected { agent, fit: None } => f.write_str(agent),
            Self::Caged { profile, agent, network } => {
                let agent = agent.as_ref().map(|agent| format!(", its agent in {agent}")).unwrap_or_default();
                write!(f, "actions in {profile} or narrower{agent}, network {network}")
            }
            Self::Estimated { likely, worst } => write!(f, "likely {}; at most {}", amounts(likely), amounts(worst)),
            Self::Scope(version) => version.fmt(f),
            Self::Unlimited => f.write_str("not limited, and whoever pays for it is not either"),
            Self::Held(ceiling) => write!(f, "held for it: {}", limits(ceiling)),
            Self::PlanApproved => f.write_str("approved"),
            Self::PlanWaits => f.write_str("waits for a reviewer"),
            Self::PlanSentBack(reason) => write!(f, "sent back: {reason}"),
            Self::AgentComes => f.write_str("its agent comes by itself"),
            Self::WorkerStarts => f.write_str("a worker starts its agent in a cage"),
            Self::StepsDone { done, of } => write!(f, "{done} of {of} steps"),
            Self::Checkpoints { counts: GateCount { reached, approved, rejected, .. }, waits } => {
                write!(f, "{reached} reached, {approved} passed, {rejected} sent back")?;
                waits.map_or(Ok(()), |(number, kind)| write!(f, "; number {number} ({kind}) waits"))
            }
            Self::Collected(outputs) => write!(f, "{outputs} outputs"),
            Self::HostCollects => f.write_str("its host collects"),
            Self::AgentKeeps => f.write_str("its agent keeps its own files"),
            Self::ResultsAccepted => f.write_str("accepted"),
            Self::ResultsWait => f.write_str("wait for a reviewer"),
            Self::ResultsNeverAccepted => f.write_str("never accepted"),
            Self::LetOut(outputs) => write!(f, "{outputs} outputs let out; nothing is left on its host"),
            Self::HostRemoves => f.write_str("its host removes everything"),
            Self::InLedger => f.write_str("the ledger has all of it"),
        }
    }
}

impl fmt::Display for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Goal(goal) => f.write_str(goal),
            Self::AsWritten => f.write_str("the goal is taken as it was written"),
            Self::Steps(steps) => write!(f, "{steps} steps"),
            Self::Agent(agent) => agent.fmt(f),
            Self::CagesOfTools => f.write_str("each action in the cage of its tool"),
            Self::NoEstimate => f.write_str("nothing was estimated"),
        }
    }
}

impl fmt::Display for Takes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Template(template) => write!(f, "the template {template}"),
            Self::Capabilities(needs) => f.write_str(&needs.join(", ")),
        }
    }
}

fn amounts(amounts: &Amounts) -> String {
    let minutes = amounts.wall_ms.div_ceil(60_000);
    format!("{}, {} tokens, {minutes} min", dollars(amounts.usd_micros), amounts.tokens)
}

fn limits(ceiling: &Ceiling) -> String {
    let limit = |resource: &Resource| Some(format!("{resource} {}", ceiling.of(*resource)?));
    Resource::ALL.iter().filter_map(limit).collect::<Vec<_>>().join(", ")
}
