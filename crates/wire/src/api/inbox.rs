//! What a reviewer decides by, as one answer: what waits, and the card of one action with everything that stands beside it.

use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, RunId};
use placet_domain::identity::Declaration;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::action::{ActionDetail, ActionView};
use super::attention::AttentionView;
use super::run::BudgetView;

/// What waits for a person: actions by risk and age, identical ones as one row, what was interrupted, then the runs that stand still.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct InboxView {
    /// How many actions wait in all, for you or for others; the list may be shorter.
    pub waiting: u64,
    /// How many more you set aside: they are not counted in `waiting`.
    #[serde(default, skip_serializing_if = "super::log::is_zero")]
    pub aside: u64,
    pub actions: Vec<WaitingView>,
    /// Where the rest of them begins, if there is any: send it as `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// What was interrupted: somebody says whether it is run again or given up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub interrupted: Vec<WaitingView>,
    pub runs: Vec<StandingView>,
}

/// An action that waits, and those that are identical.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct WaitingView {
    pub action: ActionView,
    /// When it was proposed. RFC 3339.
    pub since: String,
    /// The name of its agent.
    pub agent: String,
    /// What its run is for.
    pub goal: String,
    /// Others that ask the same, wherever in the queue they stand, which have no row of their own: the oldest, as many as are decided at once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub twins: Vec<TwinView>,
    /// How many more of them there are.
    #[serde(default, skip_serializing_if = "super::log::is_zero")]
    pub more_twins: u64,
    /// Who should look at it, and who set it aside.
    #[serde(default, skip_serializing_if = "AttentionView::is_none")]
    pub attention: AttentionView,
}

/// Another action of the project of which the same would be done, and about which people are asked for the same reasons.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TwinView {
    #[schema(value_type = String)]
    pub id: ActionId,
    /// Send it as `If-Match`.
    #[schema(value_type = String)]
    pub review: Digest,
    pub agent: String,
    pub goal: String,
}

/// A run that stands still until somebody decides.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StandingView {
    #[schema(value_type = String)]
    pub run: RunId,
    pub goal: String,
    pub agent: String,
    /// RFC 3339.
    pub since: String,
    /// `plan`, `checkpoint`, `results` or `wish`.
    #[schema(value_type = String)]
    pub why: StandsFor,
}

/// For what a run stands still.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StandsFor {
    Plan,
    Checkpoint,
    Results,
    Wish,
}

/// Everything a person is shown of an action before they decide.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct CardView {
    pub detail: ActionDetail,
    /// When it was proposed. RFC 3339.
    pub since: String,
    pub agent: String,
    pub goal: String,
    /// The files it is given, as far as they can be seen.
    pub files: Vec<FileView>,
    pub history: HistoryView,
    /// Whether you may decide now.
    pub may_decide: bool,
    /// Why not, where there is something to decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cannot: Option<String>,
    /// You have decided a lot lately: whatever lets it happen takes the tool's name, as on pages. A brake for people and no refusal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub look_twice: bool,
    /// Names of those who approved it so far.
    pub approved_by: Vec<String>,
    /// Who should look at it, and who set it aside. No decision is bound to it.
    #[serde(default, skip_serializing_if = "AttentionView::is_none")]
    pub attention: AttentionView,
    /// The newest snapshot that its run can go back to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<u32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget: Option<BudgetView>,
    /// What happened to it, oldest first.
    pub entries: Vec<HappenedView>,
}

/// A file that an action is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct FileView {
    pub path: String,
    #[schema(value_type = String)]
    pub digest: Digest,
    pub size_bytes: u64,
    /// `text`, `opaque` (no text), `unread` (too much for a card), `withheld` (not for you yet) or `removed`.
    #[schema(value_type = String)]
    pub shown: FileShownAs,
    /// Its text, as far as it is shown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What a person approved under that name in this run before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether there is more of it than is shown.
    #[serde(default)]
    pub is_cut: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileShownAs {
    Text,
    Opaque,
    Unread,
    Withheld,
    Removed,
}

/// What became of actions with the same tool in the same project, in the last thirty days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HistoryView {
    pub approved: u64,
    pub rejected: u64,
    pub succeeded: u64,
    pub failed: u64,
}

/// One entry of an action: what happened, when, and by whom.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct HappenedView {
    pub seq: u64,
    /// RFC 3339.
    pub at: String,
    /// The headline of the entry.
    pub event: String,
    /// A name, or `runtime`.
    pub by: String,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct WorkerList {
    pub workers: Vec<WorkerView>,
}

/// A worker and how it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct WorkerView {
    #[schema(value_type = String)]
    pub id: IdentityId,
    pub name: String,
    /// RFC 3339; missing if it was not heard since the control plane started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_seen: Option<String>,
    /// How many actions it executes for you to see.
    pub executes: u64,
    /// How many runs it hosts for you to see.
    pub hosts: u64,
    /// Whether it was heard of lately.
    pub is_well: bool,
    pub revoked: bool,
    /// What it said of itself last: `version`, `host`, `kernel`, `actions_at_once`, `runs_at_once`, `cage`, `profiles`. Its own claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub declaration: Option<Box<Declaration>>,
    /// Whether its binary is another one than the control plane's.
    #[serde(default)]
    pub other_version: bool,
    /// Profiles of the control plane that it has not, or not as they are here: actions that were approved for them are refused there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_profiles: Vec<String>,
}
