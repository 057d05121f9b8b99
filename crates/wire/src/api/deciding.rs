//! How people decide: figures of projects without names in them, and one's own habits.

use placet_domain::deciding::{Counts, Habits, Spread};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The middle, and what nine of ten stay below.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct SpreadView {
    pub median_ms: u64,
    pub p90_ms: u64,
    /// Of how many.
    pub count: u64,
}

impl From<Spread> for SpreadView {
    fn from(Spread { median_ms, p90_ms, count }: Spread) -> Self {
        Self { median_ms, p90_ms, count }
    }
}

/// How many questions to people ended how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecisionCounts {
    pub approved: u64,
    pub rejected: u64,
    pub amended: u64,
    /// Nobody decided in time.
    pub expired: u64,
    /// Taken back before anybody decided.
    pub withdrawn: u64,
    /// Of those that were approved: by the person behind the agent, who works alone.
    pub single_operator: u64,
}

impl From<Counts> for DecisionCounts {
    fn from(Counts { approved, rejected, amended, expired, withdrawn, single_operator }: Counts) -> Self {
        Self { approved, rejected, amended, expired, withdrawn, single_operator }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TierSummary {
    pub tier: String,
    pub counts: DecisionCounts,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<SpreadView>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WeekSummary {
    /// RFC 3339; a Monday.
    pub from: String,
    pub counts: DecisionCounts,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DaySummary {
    /// RFC 3339.
    pub from: String,
    pub waited: SpreadView,
}

/// How many questions of one tier have waited for how long.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct AgeRow {
    pub tier: String,
    pub under_5_minutes: u64,
    pub under_1_hour: u64,
    pub under_1_day: u64,
    pub longer: u64,
}

/// What waits for people now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WaitingSummary {
    pub count: u64,
    /// How long the oldest has waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oldest_ms: Option<u64>,
    /// Of the oldest thousand.
    pub ages: Vec<AgeRow>,
}

/// How questions to people ended in the last thirty days, and what waits now. No names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct DecisionSummary {
    /// RFC 3339: nothing older is counted.
    pub since: String,
    /// There were more than are counted; these are the newest.
    pub more: bool,
    pub counts: DecisionCounts,
    /// How long what was decided had waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<SpreadView>,
    pub tiers: Vec<TierSummary>,
    pub weeks: Vec<WeekSummary>,
    pub days: Vec<DaySummary>,
    pub waiting: WaitingSummary,
}

/// How you decide. Nobody else is shown this.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HabitView {
    /// RFC 3339: nothing older is counted.
    pub since: String,
    pub counts: DecisionCounts,
    /// How long the questions had waited when you decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waited: Option<SpreadView>,
    /// The longest row of approvals without anything else in between.
    pub streak: u64,
    /// `never_no`.
    pub signals: Vec<String>,
    /// Decisions in the last minutes, and from how many on a page asks you to look twice; 0 for never.
    pub decided_lately: u64,
    pub most_decided: u64,
}

impl HabitView {
    pub fn new(habits: Habits, since: String, decided_lately: u64, most_decided: u64) -> Self {
        Self {
            since,
            counts: habits.counts.into(),
            waited: habits.waited.map(Into::into),
            streak: habits.streak,
            signals: habits.signals.iter().map(|signal| signal.as_str().to_owned()).collect(),
            decided_lately,
            most_decided,
        }
    }
}
