//! What people may ask of a worktree, and what is noted of the work in it.

use serde::{Deserialize, Serialize};

use super::duty::Operation;
use super::name::{BranchName, CommitId};
use super::state::{DoneItem, Opening};
use crate::digest::Digest;
use crate::id::ProjectId;
use crate::scope::Glob;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorktreeCommand {
    /// Before anything is made on disk.
    Open {
        project: ProjectId,
        opening: Box<Opening>,
    },
    /// It is there.
    Settle,
    /// After a crash, what is on disk was brought in line with what is recorded.
    Adopt {
        found: String,
    },
    /// Something was done in it or with it.
    Note {
        work: Work,
    },
    AskExemption {
        paths: Vec<Glob>,
        reason: String,
    },
    GrantExemption {
        number: usize,
        seen: Digest,
    },
    RefuseExemption {
        number: usize,
        reason: String,
    },
    Close {
        tip: CommitId,
        report: Digest,
        items: Vec<DoneItem>,
        force: Option<String>,
    },
    Merge {
        into: BranchName,
        commit: CommitId,
    },
    Abort {
        reason: String,
    },
}

impl WorktreeCommand {
    /// Whether work begins or goes on by it.
    pub const fn goes_on(&self) -> bool {
        match self {
            Self::Open { .. } | Self::Settle | Self::Adopt { .. } | Self::Merge { .. } => true,
            Self::Note { work } => work.begins(),
            Self::AskExemption { .. }
            | Self::GrantExemption { .. }
            | Self::RefuseExemption { .. }
            | Self::Close { .. }
            | Self::Abort { .. } => false,
        }
    }
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case", deny_unknown_fields)]
pub enum Work {
    /// A command is about to run in its cage. Without this in the record, none does.
    Began { command: Vec<String>, profile: String },
    /// A command ran in its cage.
    Executed { command: Vec<String>, profile: String, ended: String, wall_ms: u64 },
    /// Commits were taken over from the cage.
    Harvested { from: CommitId, to: CommitId, commits: u64 },
    /// What differs was judged; the digest is of the whole answer.
    Checked { tip: CommitId, differences: u64, findings: u64, answer: Digest },
    /// Its branch is about to go to a remote. Without this in the record, none does.
    Pushing { remote: String, tip: CommitId },
    /// Its branch went to a remote.
    Pushed { remote: String, tip: CommitId },
    /// Records the advice of a consulted person on an operation.
    Advised { on: Operation, said: String },
    /// It was removed from disk; the branch stayed or was merged.
    Collected { freed_bytes: u64, because: String },
}

impl Work {
    /// Whether it is about to happen; everything else has happened, and is recorded whatever comes.
    const fn begins(&self) -> bool {
        match self {
            Self::Began { .. } | Self::Pushing { .. } => true,
            Self::Executed { .. }
            | Self::Harvested { .. }
            | Self::Checked { .. }
            | Self::Pushed { .. }
            | Self::Advised { .. }
            | Self::Collected { .. } => false,
        }
    }
}

macro_rules! kinds {
    ($($variant:ident = $name:literal, $participle:literal;)*) => {
        /// The kind of a command, without what it carries.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum WorktreeCommandKind { $($variant),* }

        impl WorktreeCommandKind {
            pub const ALL: &[Self] = &[$(Self::$variant),*];

            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// "It cannot be … now."
            pub(super) const fn participle(self) -> &'static str {
                match self { $(Self::$variant => $participle,)* }
            }
        }

        impl WorktreeCommand {
            pub const fn kind(&self) -> WorktreeCommandKind {
                match self { $(Self::$variant { .. } => WorktreeCommandKind::$variant,)* }
            }
        }
    };
}

kinds! {
    Open = "open-worktree", "opened";
    Settle = "settle-worktree", "settled";
    Adopt = "adopt-worktree", "adopted";
    Note = "note-work", "worked in";
    AskExemption = "ask-exemption", "exempted";
    GrantExemption = "grant-exemption", "exempted";
    RefuseExemption = "refuse-exemption", "exempted";
    Close = "close-worktree", "closed";
    Merge = "merge-worktree", "merged";
    Abort = "abort-worktree", "given up";
}
