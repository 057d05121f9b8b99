//! Hosting: a worker keeps the files of a run and the process of its agent.

use placet_domain::digest::Digest;
use placet_domain::identity::Lineage;
use placet_domain::planning::Input;
use placet_domain::proposal::FileOperand;
use placet_domain::run::{Output, Wanted};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::run::RunView;

/// What a host is to start as the agent of a run, and what the agent is given.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LaunchRequest {
    /// The program, by its absolute path in the cage.
    pub program: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<String>,
    /// The kind of cage that the agent lives in.
    #[serde(default = "usual_profile")]
    pub profile: String,
    /// The agent's own files, uploaded before: `path`, `digest`, `size_bytes`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub files: Vec<FileOperand>,
    /// What is shared with the run, uploaded before: `path`, `class`, `shared`, `digest`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schema(value_type = Vec<Object>)]
    pub inputs: Vec<Input>,
}

/// The kind of cage that an agent lives in where nothing else is said.
pub const USUAL_AGENT_PROFILE: &str = "agent";

fn usual_profile() -> String {
    USUAL_AGENT_PROFILE.to_owned()
}

/// What a host asks: what there is to do.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct HostingQuery {
    /// How long to wait for something else than was seen.
    #[serde(default)]
    pub wait_ms: u64,
    /// `seen` of the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    pub seen: Option<Digest>,
}

/// Runs of which something is wanted of this host, and those that want one; the oldest first.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HostingList {
    pub hostings: Vec<HostingView>,
    /// To be sent with the next question.
    #[schema(value_type = String)]
    pub seen: Digest,
}

#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HostingView {
    pub run: RunView,
    /// Whether the caller hosts it already.
    pub mine: bool,
    /// `running`, `still`, `stopped`, `snapshot`, `restored`, `collected` or `destroyed`.
    #[schema(value_type = Object)]
    pub wanted: Wanted,
    /// Somebody wants to know what going back to this snapshot would change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<u32>,
    /// Whom the agent descends from.
    #[schema(value_type = Vec<String>)]
    pub lineage: Lineage,
}

/// A snapshot that was taken and tried.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct SnapshotReport {
    pub number: u32,
    #[schema(value_type = String)]
    pub workspace: Digest,
    #[schema(value_type = String)]
    pub memory: Digest,
    pub files: u64,
    pub size_bytes: u64,
}

/// A snapshot that was brought back, with the digests of what is there now.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RestoreReport {
    pub number: u32,
    #[schema(value_type = String)]
    pub workspace: Digest,
    #[schema(value_type = String)]
    pub memory: Digest,
}

/// The files that a run made, uploaded before: `id`, `path`, `digest`, `size_bytes`.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OutputReport {
    #[schema(value_type = Vec<Object>)]
    pub outputs: Vec<Output>,
    /// What of its inputs it removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
}
