//! Reasons for the state of a run, an action, an order or a grant: codes with parameters, as events and the API carry them.
//!
//! `Display` renders them in English, for logs, the command line and problem documents. Other languages are rendered at the edge from
//! the same code. Words of people and agents stay as they are ([`StatusReason::Said`]); nothing parses a rendered sentence.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::budget::Resource;
use crate::evidence::Exit;
use crate::proposal::ActionKind;
use crate::refusal::Refusal;

/// Longest text in the report of a host.
const LONGEST_REPORT: usize = 2_000;

/// Reason for the current status.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case", deny_unknown_fields)]
pub enum StatusReason {
    /// Words of a person or an agent.
    Said {
        text: String,
    },
    /// The agent wants to finish before the checkpoints that were agreed.
    FinishesEarly {
        done: u32,
        steps: u32,
        summary: String,
    },
    /// Most of a limit of the budget is used.
    BudgetLow {
        resource: Resource,
    },
    BudgetUsedUp {
        resource: Resource,
    },
    /// The run has executed for so long.
    WorkedFor {
        minutes: u64,
    },
    /// The agent withdrew so many actions in a row before anybody had decided.
    WithdrawnUndecided {
        actions: u32,
    },
    /// The time for a decision ended.
    Undecided {
        #[serde(default, skip_serializing_if = "Option::is_none")]
        kind: Option<ActionKind>,
    },
    /// An action of this kind waits for a decision.
    ActionWaits {
        kind: ActionKind,
    },
    /// The agent has asked people too often.
    AskedTooOften {
        times: u64,
        minutes: u64,
    },
    /// The host of the run reported a fault.
    HostFault {
        fault: HostFault,
    },
    /// An identity was revoked on which this rested.
    IdentityRevoked {
        name: String,
        part: RevokedPart,
    },
    /// A reviewer rejected an action with the same tool.
    SameToolRejected,
    /// The policy changed, which ends the standing order that approved the action.
    OrderOutdated,
    /// The standing order that approved the action was revoked.
    OrderRevoked,
    /// The parent of the run is over.
    ParentOver,
    /// The execution ended.
    Exited {
        exit: Exit,
    },
}

/// Part that a revoked identity had in what its revocation ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RevokedPart {
    /// The agent of a run at work.
    Agent,
    /// The agent that proposed an action.
    Proposer,
    /// The reviewer who amended an action.
    Amender,
    /// The reviewer who gave the standing order that approved an action.
    OrderApprover,
    /// The reviewer who approved an action.
    Approver,
    /// The reviewer who approved a plan.
    PlanApprover,
    /// The reviewer who gave a standing order.
    OrderGiver,
    /// The reviewer who opened a host.
    HostOpener,
    /// The reviewer who granted an exemption.
    ExemptionGranter,
}

impl RevokedPart {
    pub const ALL: &[Self] = &[
        Self::Agent,
        Self::Proposer,
        Self::Amender,
        Self::OrderApprover,
        Self::Approver,
        Self::PlanApprover,
        Self::OrderGiver,
        Self::HostOpener,
        Self::ExemptionGranter,
    ];
}

/// Fault of a hosted run, as its host reports it. The texts in it are those of programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum HostFault {
    /// The process of the agent ended before the run was done.
    AgentEnded {
        end: AgentEnd,
        /// End of its output.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        last_words: String,
    },
    /// The host cannot do what the run needs.
    HostFailed { error: String },
    /// The host cannot take a snapshot.
    SnapshotFailed { error: String },
}

/// How the process of an agent ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case", deny_unknown_fields)]
pub enum AgentEnd {
    Code {
        code: i32,
    },
    Signal {
        signal: i32,
    },
    /// Its host ended it.
    Stopped,
    Limit {
        which: String,
        limit: u64,
        seen: u64,
    },
    /// Its host does not know how it ended.
    Lost {
        #[serde(default, skip_serializing_if = "String::is_empty")]
        error: String,
    },
}

/// Report that a run cannot go on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunFailure {
    /// Words of its agent or of a person.
    Said(String),
    Host(HostFault),
}

impl From<String> for RunFailure {
    fn from(text: String) -> Self {
        Self::Said(text)
    }
}

impl From<RunFailure> for StatusReason {
    fn from(failure: RunFailure) -> Self {
        match failure {
            RunFailure::Said(text) => Self::Said { text },
            RunFailure::Host(fault) => Self::HostFault { fault },
        }
    }
}

impl StatusReason {
    pub fn said(text: impl Into<String>) -> Self {
        Self::Said { text: text.into() }
    }

    pub fn revoked(name: impl fmt::Display, part: RevokedPart) -> Self {
        Self::IdentityRevoked { name: name.to_string(), part }
    }
}

impl From<HostFault> for StatusReason {
    fn from(fault: HostFault) -> Self {
        Self::HostFault { fault }
    }
}

impl HostFault {
    /// Checks that a report says what failed, and its length: the ledger keeps it for years.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        if let Self::HostFailed { error } | Self::SnapshotFailed { error } = self
            && error.trim().is_empty()
        {
            return Err(Refusal::invalid("say what failed, in `error`"));
        }
        let (end, text) = match self {
            Self::AgentEnded { end: AgentEnd::Limit { which: error, .. } | AgentEnd::Lost { error }, last_words } => {
                (error.len(), last_words.len())
            }
            Self::AgentEnded {
                end: AgentEnd::Code { .. } | AgentEnd::Signal { .. } | AgentEnd::Stopped,
                last_words,
            } => (0, last_words.len()),
            Self::HostFailed { error } | Self::SnapshotFailed { error } => (0, error.len()),
        };
        if end.max(text) > LONGEST_REPORT {
            return Err(Refusal::invalid("a text in the report of a host is longer than 2000 bytes"));
        }
        Ok(())
    }
}

impl fmt::Display for StatusReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Said { text } => f.write_str(text),
            Self::FinishesEarly { done, steps, summary } => {
                write!(f, "it wants to finish with {done} of {steps} steps done: {summary}")
            }
            Self::BudgetLow { resource } => write!(f, "most of the budget for {resource} is used"),
            Self::BudgetUsedUp { resource } => write!(f, "the budget for {resource} is used up"),
            Self::WorkedFor { minutes } => write!(f, "it has been at work for {minutes} minutes"),
            Self::WithdrawnUndecided { actions } => {
                write!(f, "{actions} actions in a row were withdrawn before anybody had decided")
            }
            Self::Undecided { kind: Some(kind) } => write!(f, "nobody decided in time on an action of kind {kind}"),
            Self::Undecided { kind: None } => f.write_str("nobody decided in time on an action"),
            Self::ActionWaits { kind } => write!(f, "an action of kind {kind} waits for a decision"),
            Self::AskedTooOften { times, minutes } => {
                write!(f, "its agent has asked {times} times in {minutes} minutes")
            }
            Self::HostFault { fault } => fault.fmt(f),
            Self::IdentityRevoked { name, part } => part.render(f, name),
            Self::SameToolRejected => f.write_str("an action with the same tool was rejected"),
            Self::OrderOutdated => {
                f.write_str("the policy changed, which ends the order that approved it; propose it again")
            }
            Self::OrderRevoked => f.write_str("the order that approved it was revoked; propose it again"),
            Self::ParentOver => f.write_str("the run that it belongs to is over"),
            Self::Exited { exit } => exit.fmt(f),
        }
    }
}

impl RevokedPart {
    fn render(self, f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
        match self {
            Self::Agent => write!(f, "its agent `{name}` was revoked"),
            Self::Proposer => write!(f, "its agent `{name}` was revoked before it was started"),
            Self::Amender => {
                write!(f, "`{name}`, who amended it, was revoked before it was started; propose it again")
            }
            Self::OrderApprover => {
                write!(f, "`{name}`, whose standing order approved it, was revoked; propose it again")
            }
            Self::Approver => write!(f, "`{name}`, who approved it, was revoked; decide again"),
            Self::PlanApprover => write!(f, "`{name}`, who approved the plan, was revoked; decide again"),
            Self::OrderGiver => write!(f, "`{name}`, who gave it, was revoked"),
            Self::HostOpener => write!(f, "`{name}`, who opened it, was revoked"),
            Self::ExemptionGranter => write!(f, "`{name}`, who granted it, was revoked; decide again"),
        }
    }
}

impl fmt::Display for HostFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AgentEnded { end, last_words } if last_words.is_empty() => {
                write!(f, "its agent {end} before it was done")
            }
            Self::AgentEnded { end, last_words } => {
                write!(f, "its agent {end} before it was done; it said: {last_words}")
            }
            Self::HostFailed { error } => write!(f, "its host cannot go on: {error}"),
            Self::SnapshotFailed { error } => write!(f, "it cannot be saved: {error}"),
        }
    }
}

impl fmt::Display for AgentEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code { code } => write!(f, "ended with code {code}"),
            Self::Signal { signal } => write!(f, "was ended by signal {signal}"),
            Self::Stopped => f.write_str("was ended"),
            Self::Limit { which, limit, seen } => write!(f, "was ended at its limit: {which} {seen} of {limit}"),
            Self::Lost { error } if error.is_empty() => f.write_str("was lost"),
            Self::Lost { error } => write!(f, "was lost: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_reasons_survive_json_and_show_their_code() {
        let fault = HostFault::AgentEnded { end: AgentEnd::Code { code: 3 }, last_words: "no room".to_owned() };
        let all = [
            StatusReason::said("too many pages"),
            StatusReason::BudgetUsedUp { resource: Resource::Tokens },
            StatusReason::Undecided { kind: None },
            fault.into(),
            StatusReason::revoked("ada", RevokedPart::Approver),
            StatusReason::SameToolRejected,
            StatusReason::Exited { exit: Exit::Limit { which: "wall_ms".to_owned(), limit: 5, seen: 9 } },
            StatusReason::Exited { exit: Exit::Code(-3) },
        ];
        for reason in all {
            let json = serde_json::to_value(&reason).unwrap();
            assert!(json["code"].is_string(), "{json}");
            assert_eq!(serde_json::from_value::<StatusReason>(json).unwrap(), reason);
        }
        let json = serde_json::to_value(StatusReason::BudgetUsedUp { resource: Resource::Tokens }).unwrap();
        assert_eq!(json, serde_json::json!({ "code": "budget_used_up", "resource": "tokens" }));
    }

    #[test]
    fn host_faults_are_bounded() {
        let fault = |error: &str| HostFault::HostFailed { error: error.to_owned() };
        assert_eq!(fault(&"x".repeat(LONGEST_REPORT)).check(), Ok(()));
        assert!(fault(&"x".repeat(LONGEST_REPORT + 1)).check().is_err());
    }

    #[test]
    fn revoked_parts_have_distinct_sentences() {
        let sentence = |part: &RevokedPart| StatusReason::revoked("ada", *part).to_string();
        let sentences: std::collections::BTreeSet<String> = RevokedPart::ALL.iter().map(sentence).collect();
        assert_eq!(sentences.len(), RevokedPart::ALL.len());
        assert!(sentences.iter().all(|sentence| sentence.contains("`ada`")));
    }
}
