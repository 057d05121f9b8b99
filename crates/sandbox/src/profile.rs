//! What a cage consists of, as data. Every mount, variable, limit and refused system call carries its reason.
//!
//! A profile does nothing: [`crate::plan`] turns it into steps. Network is none in all of them: a cage has its own
//! network namespace with nothing but a loopback interface. What a request adds to it is a door: see
//! [`crate::Request::door`].

mod builtin;

use std::borrow::Cow;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::seccomp::{self, SyscallRule};

/// Text that is usually written in the source, but may come from elsewhere.
pub type Text = Cow<'static, str>;

/// Everything that defines a kind of cage.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: Text,
    pub(crate) mounts: Vec<Mount>,
    pub(crate) env: Vec<Variable>,
    pub(crate) program_path: Vec<Text>,
    pub(crate) limits: Limits,
    pub(crate) syscalls: Vec<&'static SyscallRule>,
    pub(crate) landlock: Demand,
    pub(crate) groups: Demand,
    pub(crate) ownership: WorkspaceOwnership,
    /// Whether programs may be started from the workspace and from memory.
    pub(crate) programs: Programs,
    pub(crate) hostname: Text,
}

impl Profile {
    /// The names [`Profile::builtin`] knows.
    pub const NAMES: [&'static str; 3] = ["default", "research_only", "code_development"];

    /// A profile that ships with the crate.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        match name {
            "default" => Some(builtin::default()),
            "research_only" => Some(builtin::research_only()),
            "code_development" => Some(builtin::code_development()),
            _ => None,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the file system of the cage is made of, in the order it is put together.
    #[must_use]
    pub fn mounts(&self) -> &[Mount] {
        &self.mounts
    }

    /// The variables every command gets.
    #[must_use]
    pub fn variables(&self) -> &[Variable] {
        &self.env
    }

    /// The limits of requests that bring none of their own.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// The system calls that are refused.
    #[must_use]
    pub fn syscalls(&self) -> &[&'static SyscallRule] {
        &self.syscalls
    }

    /// The filter behind [`Profile::syscalls`], as the kernel takes it.
    #[must_use]
    pub fn filter(&self) -> Vec<u8> {
        seccomp::bytes(self.syscalls.iter().copied())
    }

    /// How much the profile insists on Landlock.
    #[must_use]
    pub fn landlock(&self) -> Demand {
        self.landlock
    }

    /// The same profile, insisting on Landlock or content without it.
    #[must_use]
    pub fn with_landlock(mut self, demand: Demand) -> Self {
        self.landlock = demand;
        self
    }

    /// The same profile, insisting on control groups (see [`Limits`]) or content without them.
    #[must_use]
    pub fn with_groups(mut self, demand: Demand) -> Self {
        self.groups = demand;
        self
    }

    /// The same profile with another way to make a workspace writable when the caller is root.
    #[must_use]
    pub fn with_ownership(mut self, ownership: WorkspaceOwnership) -> Self {
        self.ownership = ownership;
        self
    }
}

/// One part of the cage's file system.
#[derive(Clone, Debug)]
pub struct Mount {
    /// Where it appears in the cage.
    pub at: Text,
    /// What appears there.
    pub what: MountKind,
    /// Why it is there.
    pub reason: Text,
}

/// What a [`Mount`] shows.
#[derive(Clone, Debug)]
pub enum MountKind {
    /// The host's own file or directory of the same name, read-only with everything mounted below it. Where the host
    /// has a symbolic link, the link is repeated; where it has nothing, nothing appears.
    Host,
    /// A device node of the host.
    Device,
    /// Private, writable, gone with the cage.
    Scratch {
        /// How much fits in; it counts as memory of the host.
        size_bytes: u64,
        /// Whether programs may be started from it.
        programs: Programs,
    },
    /// A read-only text file.
    File(Text),
    /// A symbolic link to this target.
    Link(Text),
    /// An empty directory.
    Directory,
    /// Process information of the cage alone.
    Proc,
    /// A part of /proc that stays readable, but not writable.
    Frozen,
    /// A part of /proc that looks empty.
    Masked,
}

/// Whether programs may be started from a writable place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Programs {
    /// Compilers, test runners and package managers need this.
    Allowed,
    /// Nothing downloaded or written there can be started directly.
    Refused,
}

/// A variable every command gets.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: Text,
    /// Its value.
    pub value: Text,
    /// Why it is set.
    pub reason: Text,
}

/// How much a profile insists on a layer of the cage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// Launching fails where the host lacks it.
    Required,
    /// Used where the host has it.
    WhereAvailable,
}

/// How files of a workspace become writable for the cage's user when the caller is root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorkspaceOwnership {
    /// By a mapping in the mount: on disk nothing changes owner. Where the file system cannot do that, as `Chowned`.
    Mapped,
    /// By giving the files to the cage's user, without following links. They keep that owner afterwards.
    Chowned,
}

/// What one command may use, with everything it starts.
///
/// | limit | with control groups | without them |
/// | --- | --- | --- |
/// | wall time, output | the tree is stopped | the same |
/// | processor time, memory | counted by the kernel for the tree, which is stopped | the kernel limits each process (memory: private writable mappings, refused), and the tree is counted every 100 ms and stopped |
/// | processes | a refused start stops the tree | the start is refused, and the command decides |
/// | disk | counted every 100 ms; the tree is stopped | the same |
/// | processor share | the tree is slowed down | not limited |
/// | open files, size of a file | the kernel limits each process | the same |
///
/// Open files are refused and not punished: programs try how many they can have, and a process that has too many
/// harms nobody else. What is counted every 100 ms can be exceeded by as much as fits into that time; a tree that has
/// stood still is looked at less often, down to once a second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// From entering the cage to the end. Enforced outside the cage.
    pub wall_ms: u64,
    /// Processor time.
    pub cpu_seconds: u64,
    /// How fast processor time may be used, in percent of one processor: 150 is one and a half.
    pub cpu_percent: Option<NonZeroU32>,
    /// Memory, that of files in scratch places included.
    pub memory_bytes: u64,
    /// Processes and threads at one time.
    pub pids: u64,
    /// Open descriptors of one process.
    pub open_files: u64,
    /// Size of one file.
    pub file_bytes: u64,
    /// What lies in scratch places, and what was written to the workspace, deleted or not, together.
    pub disk_bytes: u64,
    /// Standard output and standard error together; counted by [`crate::Running::collect`].
    pub output_bytes: u64,
}
