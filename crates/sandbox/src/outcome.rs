//! How a caged command ended, and what it used. Plain data.

use serde::{Deserialize, Serialize};

/// Why and how the command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// It ended by itself with this code.
    Code(i32),
    /// A signal ended it that no limit of the cage explains.
    Signal(i32),
    /// A limit ended it. `limit` and `seen` are in the unit of the limit (see [`LimitKind`]).
    Limit {
        /// The limit that was hit.
        which: LimitKind,
        /// What was allowed.
        limit: u64,
        /// What was seen when the limit struck; at least `limit`.
        seen: u64,
    },
    /// The caller ended it, by a [`crate::Killer`] or by dropping [`crate::Running`].
    Cancelled,
}

/// The limits that stop a command.
///
/// Open files are limited too, but there the kernel answers the command with an error code and the command decides
/// what becomes of it; see [`crate::Limits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitKind {
    /// Milliseconds since the cage was entered.
    WallClock,
    /// Milliseconds of processor time of the whole tree.
    Cpu,
    /// Bytes of memory of the whole tree. `seen` is hardly more than `limit`: the kernel refuses what would cross it.
    Memory,
    /// Processes and threads. `seen` counts the refused ones too.
    Processes,
    /// Bytes in scratch places and written to the workspace; a scratch place that is full counts with its size.
    Disk,
    /// Bytes of one file. `seen` equals `limit`: the kernel stops the write that would cross it.
    FileBytes,
    /// Bytes written to standard output and standard error together.
    Output,
}

/// A limit that was exceeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Excess {
    pub(crate) which: LimitKind,
    pub(crate) limit: u64,
    pub(crate) seen: u64,
}

impl From<Excess> for Exit {
    fn from(Excess { which, limit, seen }: Excess) -> Self {
        Self::Limit { which, limit, seen: seen.max(limit) }
    }
}

/// What the whole tree of processes used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// From the start of the helper until the last process was gone.
    pub wall_ms: u64,
    /// User and system time of every process of the cage.
    pub cpu_ms: u64,
    /// The most memory the tree had at one time; without control groups, that of its largest process.
    pub peak_memory_bytes: u64,
    /// The most processes and threads at one time, where the kernel counts them.
    pub max_processes: Option<u64>,
    /// Bytes on their way to disks, where the kernel counts them. Scratch places are memory and not counted here.
    pub written_bytes: Option<u64>,
}

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// Why and how it ended.
    pub exit: Exit,
    /// What it used.
    pub usage: Usage,
}

/// What the command wrote, cut at the output limit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Output {
    /// Bytes of standard output.
    pub stdout: Vec<u8>,
    /// Bytes of standard error.
    pub stderr: Vec<u8>,
}
