//! Metadata of events: the kind of the ledger entry, and what the audit trail, notices and metrics show of it.
//!
//! Each family of events returns its metadata from one `match` beside the events, so that a new event is declared in one place. What an
//! event changes in a state is not here: that is `evolve`.

use crate::action::ActionStatus;
use crate::audit_status::AuditStatus;
use crate::budget::Amounts;
use crate::digest::Digest;
use crate::evidence::Usage;
use crate::id::IdentityId;
use crate::notice::NoticeKind;
use crate::policy::Tier;
use crate::proposal::ActionKind;
use crate::run::GateKind;
use crate::time::Timestamp;

/// Metadata of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventMeta {
    /// Kind of the ledger entry: `run.created`, `action.approved`. Ledgers hold it for years; never change or reuse one.
    pub kind: &'static str,
    pub audit: AuditNote,
    pub notice: Option<NoticeMeta>,
    pub metrics: Vec<Metric>,
    pub spans: SpanMeta,
}

/// Columns of the audit trail that an event fills.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditNote {
    pub status: Option<AuditStatus>,
    pub approver: Approver,
    pub action_kind: Option<ActionKind>,
    pub input: Option<Digest>,
    pub output: Option<Digest>,
    /// Tokens and money that were spent.
    pub spent: Amounts,
}

/// Identity in the column of the approver.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Approver {
    #[default]
    None,
    /// The author of the entry.
    Author,
    Identity(IdentityId),
}

/// Notice that an event causes. Its subject is the aggregate of the event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoticeMeta {
    pub kind: NoticeKind,
    /// Tier of the action that waits.
    pub tier: Option<Tier>,
    /// End of the time in which people can decide.
    pub deadline: Option<Timestamp>,
    /// Number of the wish, if the notice is about one.
    pub wish: Option<u32>,
}

/// Metric that an event moves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// The decision at a standstill of a run.
    Decision(DecisionOutcome),
    /// A checkpoint: `reached`, `unanswered`.
    Checkpoint {
        kind: GateKind,
        outcome: &'static str,
    },
    Rollback,
    /// The end of a run.
    RunEnd,
    /// Tokens and money that a run spent.
    Spent(Amounts),
    /// A question of an agent that was not asked: `undecided`, `lately`.
    QuestionRefused(&'static str),
    /// A change of a standing order: `given`, `used`, `revoked`.
    Order(&'static str),
    /// The status that an action reaches.
    Status {
        status: ActionStatus,
        by_person: bool,
    },
    /// Resources that an execution used.
    Usage(Usage),
}

/// Outcome of a standstill.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DecisionOutcome {
    Approved,
    Rejected,
    /// Nobody decided in time.
    Lapsed,
}

impl DecisionOutcome {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Approved => "approved",
            Self::Rejected => "rejected",
            Self::Lapsed => "lapsed",
        }
    }
}

macro_rules! phases {
    ($($variant:ident = $name:literal, waits: $waits:literal;)*) => {
        /// Phase of a run or an action. Traces show it as a span.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Phase {
            $($variant,)*
        }

        impl Phase {
            /// Name of the span.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// True if people take this time, and not the runtime.
            pub const fn waits(self) -> bool {
                match self { $(Self::$variant => $waits,)* }
            }
        }
    };
}

phases! {
    Plan = "plan", waits: true;
    Spawn = "spawn", waits: false;
    Checkpoint = "checkpoint", waits: true;
    Pause = "pause", waits: true;
    Rollback = "rollback", waits: false;
    Collection = "collection", waits: false;
    Results = "results", waits: true;
    Destruction = "destruction", waits: false;
    Approval = "approval", waits: true;
    Job = "job", waits: false;
}

/// Effect of an event on the trace of its run. Each phase is open at most once at a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SpanMeta {
    /// Phases that end, before others begin.
    pub closes: &'static [Phase],
    pub opens: &'static [Phase],
    /// Name of a span that begins and ends with this event.
    pub moment: Option<&'static str>,
    /// Ends the span of the run or the action itself, for now or for good.
    pub ends: bool,
}

impl EventMeta {
    /// Starts with the kind alone: nothing in the audit trail but the entry itself, no notice, no metric.
    pub fn new(kind: &'static str) -> Self {
        Self { kind, audit: AuditNote::default(), notice: None, metrics: Vec::new(), spans: SpanMeta::default() }
    }

    /// Shows this status in the audit trail.
    #[must_use]
    pub fn status(mut self, status: AuditStatus) -> Self {
        self.audit.status = Some(status);
        self
    }

    /// Shows this status, decided by the author of the entry.
    #[must_use]
    pub fn decided(mut self, status: AuditStatus) -> Self {
        self.audit.approver = Approver::Author;
        self.status(status)
    }

    /// Shows this status, decided by this identity.
    #[must_use]
    pub fn decided_by(mut self, status: AuditStatus, by: IdentityId) -> Self {
        self.audit.approver = Approver::Identity(by);
        self.status(status)
    }

    #[must_use]
    pub const fn action_kind(mut self, kind: ActionKind) -> Self {
        self.audit.action_kind = Some(kind);
        self
    }

    #[must_use]
    pub const fn input(mut self, digest: Digest) -> Self {
        self.audit.input = Some(digest);
        self
    }

    #[must_use]
    pub fn output(mut self, digest: impl Into<Option<Digest>>) -> Self {
        self.audit.output = digest.into();
        self
    }

    #[must_use]
    pub const fn spent(mut self, spent: Amounts) -> Self {
        self.audit.spent = spent;
        self
    }

    /// Notifies people.
    #[must_use]
    pub const fn notice(mut self, kind: NoticeKind) -> Self {
        self.notice = Some(NoticeMeta { kind, tier: None, deadline: None, wish: None });
        self
    }

    /// Adds the end of the time in which people can decide.
    #[must_use]
    pub fn until(mut self, deadline: impl Into<Option<Timestamp>>) -> Self {
        let deadline = deadline.into();
        self.notice = self.notice.map(|notice| NoticeMeta { deadline, ..notice });
        self
    }

    #[must_use]
    pub fn tier(mut self, tier: Tier) -> Self {
        self.notice = self.notice.map(|notice| NoticeMeta { tier: Some(tier), ..notice });
        self
    }

    #[must_use]
    pub fn wish(mut self, number: u32) -> Self {
        self.notice = self.notice.map(|notice| NoticeMeta { wish: Some(number), ..notice });
        self
    }

    /// Begins these phases.
    #[must_use]
    pub const fn opens(mut self, phases: &'static [Phase]) -> Self {
        self.spans.opens = phases;
        self
    }

    /// Ends these phases.
    #[must_use]
    pub const fn closes(mut self, phases: &'static [Phase]) -> Self {
        self.spans.closes = phases;
        self
    }

    /// Shows a span of no length.
    #[must_use]
    pub const fn moment(mut self, name: &'static str) -> Self {
        self.spans.moment = Some(name);
        self
    }

    /// Ends the span of the run or the action.
    #[must_use]
    pub const fn ends(mut self) -> Self {
        self.spans.ends = true;
        self
    }

    #[must_use]
    pub fn outcome(self, outcome: DecisionOutcome) -> Self {
        self.metric(Metric::Decision(outcome))
    }

    /// Moves this metric, too.
    #[must_use]
    pub fn metric(mut self, metric: Metric) -> Self {
        self.metrics.push(metric);
        self
    }
}
