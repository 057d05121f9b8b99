//! What a cage consists of, as data. Every mount, variable, limit and refused system call carries its reason.
//!
//! A profile does nothing: [`crate::plan`] turns it into steps. Those that ship are files in `profiles/`, written in the
//! format a team writes its own in (see [`Profiles`]); `base` holds what all of them share. They are read here and not
//! by callers, so that nobody else can make a profile: whatever its text says, it has every wall of `base`. Network is none in all of them: a cage has its own
//! network namespace with nothing but a loopback interface. What a request adds to it is a door: see
//! [`crate::Request::door`].

mod builtin;
mod catalogue;
mod change;
mod effective;
mod error;
mod extend;
mod file;
mod limit;
mod within;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::seccomp::{self, SyscallRule};

pub use catalogue::Profiles;
pub use change::{Capability, Change, Effect, LeastTier};
pub use error::ProfileError;
pub use limit::{BadLimit, LimitName};

/// Text that is usually written in the source, but may come from elsewhere.
pub type Text = Cow<'static, str>;

/// Everything that defines a kind of cage.
#[derive(Clone, Debug)]
pub struct Profile {
    pub(crate) name: Text,
    about: Text,
    /// The profiles it is built on, the first one first.
    lineage: Vec<Text>,
    pub(crate) demands: LeastTier,
    capabilities: BTreeSet<Capability>,
    /// The ports requests may have doors at; any where it does not say.
    pub(crate) doors: Option<BTreeSet<u16>>,
    /// Whom its programs may be let reach at most, as whoever opens the way out reads it; anybody where it does not say.
    network: Option<BTreeSet<String>>,
    limit_reasons: BTreeMap<LimitName, Text>,
    /// Reasons for refused calls that are not those of the table.
    syscall_reasons: BTreeMap<&'static str, Text>,
    changes: Vec<Change>,
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
    pub const NAMES: [&'static str; 5] =
        ["default", "agent", "research_only", "code_development", "browser_automation"];

    /// A profile that ships with the crate.
    #[must_use]
    pub fn builtin(name: &str) -> Option<Self> {
        Profiles::shipped().get(name).cloned()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it is for, in a sentence.
    #[must_use]
    pub fn about(&self) -> &str {
        &self.about
    }

    /// The profiles it is built on, the first one first.
    #[must_use]
    pub fn lineage(&self) -> &[Text] {
        &self.lineage
    }

    /// What it changes of the built-in profile it is built on.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// What it demands of a host. Below that nothing is launched.
    #[must_use]
    pub fn demands(&self) -> LeastTier {
        self.demands
    }

    /// What tools that run in it may be for.
    #[must_use]
    pub fn capabilities(&self) -> &BTreeSet<Capability> {
        &self.capabilities
    }

    /// The ports requests may have doors at; `None` for any.
    #[must_use]
    pub fn doors(&self) -> Option<&BTreeSet<u16>> {
        self.doors.as_ref()
    }

    /// Whom its programs may be let reach at most; `None` for anybody, an empty list for nobody. A cage opens no way out by
    /// itself: whoever does so keeps to this.
    #[must_use]
    pub fn network(&self) -> Option<&BTreeSet<String>> {
        self.network.as_ref()
    }

    /// Whether programs that were written in the cage can be started.
    #[must_use]
    pub fn programs(&self) -> Programs {
        self.programs
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

    /// Why a limit is what it is; empty for one that is not set.
    #[must_use]
    pub fn limit_reason(&self, name: LimitName) -> &str {
        self.limit_reasons.get(&name).map_or("", AsRef::as_ref)
    }

    /// Why a system call is refused.
    #[must_use]
    pub fn syscall_reason(&self, rule: &SyscallRule) -> &str {
        self.syscall_reasons.get(rule.name).map_or(rule.reason, AsRef::as_ref)
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

    /// In all places at once: scratch space, workspace and memory.
    fn set_programs(&mut self, programs: Programs) {
        for mount in &mut self.mounts {
            if let MountKind::Scratch { programs: here, .. } = &mut mount.what
                && mount.at != builtin::SHARED_MEMORY
            {
                *here = programs;
            }
        }
        let own = self.syscalls.iter().copied().filter(|rule| self.syscall_reasons.contains_key(rule.name));
        self.syscalls = seccomp::rules(programs).chain(own).collect();
        self.programs = programs;
    }

    fn scratch_places(&self) -> impl Iterator<Item = &str> {
        let scratch = self.mounts.iter().filter(|mount| matches!(mount.what, MountKind::Scratch { .. }));
        scratch.map(|mount| mount.at.as_ref())
    }

    fn scratch_at(&mut self, place: &str) -> Option<ScratchPlace<'_>> {
        let mount = self.mounts.iter_mut().find(|mount| mount.at == place)?;
        let MountKind::Scratch { size_bytes, .. } = &mut mount.what else { return None };
        Some(ScratchPlace { size_bytes, reason: &mut mount.reason })
    }

    /// Where host files appear that the profile names itself.
    pub(crate) fn own_places(&self) -> impl Iterator<Item = &Path> {
        let own = self.mounts.iter().filter(|mount| matches!(mount.what, MountKind::HostAt(_)));
        own.map(|mount| Path::new(mount.at.as_ref()))
    }
}

/// The parts of a scratch mount that a profile may set.
struct ScratchPlace<'a> {
    size_bytes: &'a mut u64,
    reason: &'a mut Text,
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

impl Mount {
    /// Returns the file or directory of the host that this mount shows, if any.
    pub fn host_path(&self) -> Option<&Path> {
        match &self.what {
            MountKind::Host => Some(Path::new(self.at.as_ref())),
            MountKind::HostAt(host) => Some(Path::new(host.as_ref())),
            MountKind::Device
            | MountKind::Scratch { .. }
            | MountKind::File(_)
            | MountKind::Link(_)
            | MountKind::Directory
            | MountKind::Proc
            | MountKind::Frozen
            | MountKind::Masked => None,
        }
    }
}

/// What a [`Mount`] shows.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum MountKind {
    /// The host's own file or directory of the same name, read-only with everything mounted below it. Where the host
    /// has a symbolic link, the link is repeated; where it has nothing, nothing appears.
    Host,
    /// This file or directory of the host, read-only with everything mounted below it. Where the host has nothing,
    /// nothing is launched.
    HostAt(Text),
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Demand {
    /// Launching fails where the host lacks it.
    Required,
    /// Used where the host has it.
    WhereAvailable,
}

/// How files of a workspace become writable for the cage's user when the caller is root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
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
/// | processes | a refused start stops the tree | one more may start and the next is refused; a look that sees it stops the tree |
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
