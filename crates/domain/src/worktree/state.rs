//! The states of a worktree and what is known of it.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::duty::{Operation, Person};
use super::manifest::Manifest;
use super::name::{AgentName, BranchName, CommitId, Ticket};
use crate::canonical;
use crate::digest::Digest;
use crate::id::{IdentityId, ProjectId, WorktreeId};
use crate::identity::Lineage;
use crate::scope::Glob;

macro_rules! statuses {
    ($($variant:ident = $name:literal: $meaning:literal, $hint:literal;)*) => {
        /// Where a worktree stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum WorktreeStatus {
            $(#[doc = $meaning] #[serde(rename = $name)] $variant,)*
        }

        impl WorktreeStatus {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// What usually comes next, for whoever tried something else.
            pub const fn hint(self) -> &'static str {
                match self { $(Self::$variant => $hint,)* }
            }
        }
    };
}

statuses! {
    Opening = "OPENING": "Being made on disk.", "if its start was interrupted, go on with `placet start --resume` or give it up with `placet abort`";
    Open = "OPEN": "Its agent may work in it.", "go on with it (`placet start --resume`), close it, or give it up with `placet abort`";
    Closed = "CLOSED": "Done: the definition of done held, or somebody answered for it.", "it is over; start it again for more";
    Merged = "MERGED": "Its work was taken over.", "it is over; start it again for more";
    Aborted = "ABORTED": "Given up.", "it is over; start it again if it is still wanted";
}

impl WorktreeStatus {
    /// Whether an agent holds it, or will in a moment.
    pub const fn is_held(self) -> bool {
        matches!(self, Self::Opening | Self::Open)
    }
}

impl fmt::Display for WorktreeStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// How a worktree lies on disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layout {
    /// A checkout of its own.
    #[default]
    Plain,
    /// A layer above a checkout that others share.
    Layered,
}

/// What a worktree is opened with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Opening {
    pub agent: AgentName,
    pub display_name: String,
    pub ticket: Ticket,
    pub branch: BranchName,
    pub base_branch: BranchName,
    /// The commit it starts from, which everything is compared with.
    pub base: CommitId,
    /// Relative to the root of the repository.
    pub path: String,
    pub layout: Layout,
    pub manifest: Manifest,
    /// The version of the agent's profile, and of all the team's files.
    pub profile: Digest,
    pub team: Digest,
    /// The worktree of the same ticket whose branch this one starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub follows: Option<WorktreeId>,
}

/// Leave to change protected paths.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exemption {
    pub paths: Vec<Glob>,
    pub reason: String,
    pub asked_by: Option<IdentityId>,
    /// Ancestors of the identity in `asked_by`.
    #[serde(default, skip_serializing_if = "Lineage::is_empty")]
    pub lineage: Lineage,
    /// Nothing until somebody decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted: Option<bool>,
    /// Reviewer who granted it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub granted_by: Option<IdentityId>,
}

/// Advice of a consulted person on an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Advice {
    pub on: Operation,
    pub by: IdentityId,
    /// Name of the person at that time.
    pub name: String,
    /// Entries of the duties that match this person.
    pub consulted_as: Vec<Person>,
    pub said: String,
}

/// One item of the definition of done, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DoneItem {
    pub name: String,
    pub holds: bool,
    pub detail: String,
}

/// All that is known of a worktree.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    pub id: WorktreeId,
    pub project: ProjectId,
    /// The same agent may take the same ticket up again: this counts how often.
    pub sitting: u32,
    pub status: WorktreeStatus,
    pub opening: Opening,
    pub opened_by: Option<IdentityId>,
    #[serde(default, skip_serializing_if = "Lineage::is_empty")]
    pub opener_lineage: Lineage,
    pub exemptions: Vec<Exemption>,
    /// Where its branch was when it was last heard of.
    pub tip: CommitId,
    pub report: Option<Digest>,
    pub items: Vec<DoneItem>,
    /// Why it was closed although something was not done.
    pub forced: Option<String>,
    pub because: Option<String>,
    /// The commit with which its work was taken over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub merged: Option<CommitId>,
    /// Advice of consulted people, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<Advice>,
}

impl Worktree {
    /// The globs that were exempted from protection.
    pub fn exempted(&self) -> Vec<Glob> {
        let granted = self.exemptions.iter().filter(|exemption| exemption.granted == Some(true));
        granted.flat_map(|exemption| exemption.paths.iter().cloned()).collect()
    }

    /// Latest advice on an operation by a person that this entry of the duties matches.
    pub fn advice_of(&self, on: Operation, person: &Person) -> Option<&Advice> {
        self.advice.iter().rev().find(|advice| advice.on == on && advice.consulted_as.contains(person))
    }

    /// What a reviewer of an exemption has seen.
    pub fn exemption_review(&self, number: usize) -> Option<Digest> {
        let exemption = self.exemptions.get(number)?;
        let seen = serde_json::json!({
            "worktree": self.id, "sitting": self.sitting, "number": number,
            "paths": exemption.paths, "reason": exemption.reason,
        });
        Some(Digest::of(&canonical::to_bytes(&seen)))
    }
}

impl WorktreeId {
    /// One agent, one ticket, one worktree: the id is made of the other two, so that there cannot be a second one.
    pub fn of(project: ProjectId, ticket: &Ticket, agent: &AgentName) -> Self {
        let mut hash = Sha256::new();
        hash.update(b"placet worktree\n");
        hash.update(project.as_bytes());
        hash.update(format!("{ticket}\n{agent}"));
        let mut short = [0; 16];
        short.copy_from_slice(&hash.finalize()[..16]);
        Self::from_bytes(short)
    }
}
