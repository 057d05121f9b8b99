//! The steps a plan is made of.
//!
//! A step is data: it says what is to be done, [`crate::enter`] does it.

mod assign;
mod text;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::group::GroupDirectory;
use crate::request::HostUser;

/// One thing to do on the way into the cage. The helper takes them in order; after a [`Step::Fork`] the new process
/// takes the rest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Step {
    /// Leave the caller's session, so that its terminal and its signals are gone.
    NewSession,
    /// Let the kernel choose the cage before others when memory runs out. Not being able to is no failure.
    OfferToOomKiller { points: i32 },
    /// Leave the caller's session keyring.
    FreshKeyring,
    /// Open the control groups of the cage, while there is a right to; process 1 joins them later.
    OpenGroups { directories: Vec<GroupDirectory> },
    /// Keep descriptors of the host's process table and of what the cage writes to, to count by what it writes.
    Watch { written: Vec<PathBuf> },
    /// Give the pipes and the input to the user of the cage, so that it can open them again by /dev/stdout.
    OwnStdio { user: HostUser },
    /// Clone a host file or directory, with all mounts below, into a mount that is attached nowhere yet.
    Detach(Detach),
    /// The same for the private directories of a layer, which must stay in one mount.
    DetachUpper(DetachUpper),
    /// Become an unprivileged user of the host.
    DropUser { user: HostUser },
    /// Enter new namespaces.
    Unshare { namespaces: Vec<Namespace> },
    /// Say who the one user of the namespace is, inside and outside.
    MapUser { inside: HostUser, outside: HostUser },
    /// Make an empty writable file system that is attached nowhere yet.
    MakeScratch { at: PathBuf, size_bytes: u64, flags: Vec<MountFlag> },
    /// Split: the parent stays behind in the role it has, the child goes on.
    Fork { into: Role },
    /// Enter the opened control groups. The monitor stays outside, so that no limit strikes it.
    JoinGroups,
    /// Stop mounts from travelling between the host and the cage.
    PrivateMounts,
    /// Begin an empty root.
    MountRoot { size_bytes: u64 },
    /// Make an empty directory.
    MakeDirectory { at: PathBuf },
    /// Make a file with this text.
    MakeFile { at: PathBuf, text: String },
    /// Make a symbolic link.
    MakeLink { at: PathBuf, target: PathBuf },
    /// Put a detached mount or a scratch file system in its place.
    Attach { at: PathBuf },
    /// Mount detached layers over one another: the upper, if one was detached for this place; what else was detached
    /// for it; and below that a skeleton of empty directories.
    MountLayers { at: PathBuf, flags: Vec<MountFlag>, skeleton: Vec<PathBuf> },
    /// Mount a part of the tree onto itself, with exactly these restrictions.
    Rebind { at: PathBuf, flags: Vec<MountFlag> },
    /// Mount something empty and read-only over what is there.
    Blank { at: PathBuf },
    /// Mount the process information of the cage.
    MountProc { at: PathBuf },
    /// Make one part of the tree read-only.
    Freeze { at: PathBuf },
    /// Cover one part of the tree with nothing.
    Mask { at: PathBuf },
    /// Make the root itself read-only.
    SealRoot,
    /// Make the new root the root, and let go of the old one.
    PivotRoot,
    /// Name the host of the cage.
    Hostname { name: String },
    /// Switch the loopback interface on.
    Loopback,
    /// Listen on this loopback port of the cage, and hand the listening socket to the launcher.
    Door { port: u16 },
    /// Give up every capability, for ever.
    DropCapabilities,
    /// No program gains privileges by being executed.
    NoNewPrivileges,
    /// Be invisible to debuggers and closed in /proc.
    Undumpable,
    /// No signal blocked, the usual mask for new files, and the usual turns of the scheduler: all of these survive exec.
    ResetProcess,
    /// Make the given input the command's descriptor 0; its outputs are in place.
    Stdio,
    /// Make the given terminal the controlling one and all three standard streams.
    Terminal,
    /// Set a limit.
    Limit { resource: LimitedResource, value: u64 },
    /// Start in this directory.
    ChangeDirectory { to: PathBuf },
    /// Find and open the program, and let the caller look at it.
    OpenProgram { name: String, path: Vec<String> },
    /// Close every other descriptor when the program starts.
    CloseDescriptors,
    /// Restrict files and sockets by Landlock.
    Landlock { writable: Vec<PathBuf> },
    /// Refuse these system calls.
    Seccomp { refused: Vec<String> },
    /// Become the program.
    Exec { argv: Vec<String>, env: Vec<String> },
}

/// A host file or directory on its way into the cage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Detach {
    /// Where it is on the host.
    pub host: PathBuf,
    /// What must be there; another file at the same path is refused.
    pub identity: Identity,
    /// Where it will be attached.
    pub at: PathBuf,
    /// How it is restricted.
    pub flags: Vec<MountFlag>,
    /// How its owner becomes the user of the cage.
    pub ownership: Ownership,
}

/// Upper and work of a layer on their way into the cage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DetachUpper {
    /// The directory both are in, on the host.
    pub parent: PathBuf,
    /// Name and identity of the directory that receives changes.
    pub upper: (PathBuf, Identity),
    /// Name and identity of the kernel's room.
    pub work: (PathBuf, Identity),
    /// Where the layers will be mounted.
    pub at: PathBuf,
    /// How its owner becomes the user of the cage.
    pub ownership: Ownership,
}

/// Which file it is, whatever its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Number of its file system.
    pub device: u64,
    /// Its number there.
    pub inode: u64,
}

/// How a mounted file's owner relates to the user of the cage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Ownership {
    /// As on disk.
    Kept,
    /// `disk` appears as `cage`; on disk nothing changes. Where the file system cannot, as `Given`.
    Mapped { disk: HostUser, cage: HostUser },
    /// As `Mapped`, but without a way out: what cannot be shown like this is not shown.
    MappedOnly { disk: HostUser, cage: HostUser },
    /// Changed on disk.
    Given { cage: HostUser },
}

/// A restriction of a mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum MountFlag {
    /// No writing.
    ReadOnly,
    /// No privileges by executing.
    NoSuid,
    /// No device nodes.
    NoDevices,
    /// No executing.
    NoExec,
}

/// A kind of namespace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Namespace {
    /// Users and capabilities.
    User,
    /// The file system view.
    Mount,
    /// Process numbers.
    Pid,
    /// Interfaces, ports, abstract sockets.
    Network,
    /// Shared memory and message queues.
    Ipc,
    /// The host's name.
    Uts,
    /// The view of control groups.
    Cgroup,
}

/// What a forked process becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Process 1 of the cage; the helper stays behind as its monitor.
    Init,
    /// The process that becomes the program; process 1 stays behind to reap.
    Command,
}

/// A resource the kernel limits per process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum LimitedResource {
    /// Seconds of processor time; a second later the process is killed even if it ignores the first signal.
    CpuSeconds,
    /// Bytes of private writable memory.
    DataBytes,
    /// Processes and threads.
    Processes,
    /// Descriptors.
    OpenFiles,
    /// Bytes of one file.
    FileBytes,
    /// Bytes of a core dump. 1 and not 0: only 1 also stops the kernel from starting the host's crash handler.
    CoreBytes,
    /// Bytes of locked memory.
    LockedBytes,
    /// Bytes of POSIX message queues.
    QueueBytes,
}

/// A step without its operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "each is the step of the same name")]
pub enum StepKind {
    NewSession,
    OfferToOomKiller,
    FreshKeyring,
    OpenGroups,
    Watch,
    OwnStdio,
    Detach,
    DetachUpper,
    DropUser,
    Unshare,
    MapUser,
    MakeScratch,
    Fork,
    JoinGroups,
    PrivateMounts,
    MountRoot,
    MakeDirectory,
    MakeFile,
    MakeLink,
    Attach,
    MountLayers,
    Rebind,
    Blank,
    MountProc,
    Freeze,
    Mask,
    SealRoot,
    PivotRoot,
    Hostname,
    Loopback,
    Door,
    DropCapabilities,
    NoNewPrivileges,
    Undumpable,
    ResetProcess,
    Stdio,
    /// See [`Step::Terminal`].
    Terminal,
    Limit,
    ChangeDirectory,
    OpenProgram,
    CloseDescriptors,
    Landlock,
    Seccomp,
    Exec,
}

impl Step {
    /// Which step it is.
    #[must_use]
    pub fn kind(&self) -> StepKind {
        match self {
            Self::NewSession => StepKind::NewSession,
            Self::OfferToOomKiller { .. } => StepKind::OfferToOomKiller,
            Self::FreshKeyring => StepKind::FreshKeyring,
            Self::OpenGroups { .. } => StepKind::OpenGroups,
            Self::Watch { .. } => StepKind::Watch,
            Self::OwnStdio { .. } => StepKind::OwnStdio,
            Self::Detach(_) => StepKind::Detach,
            Self::DetachUpper(_) => StepKind::DetachUpper,
            Self::DropUser { .. } => StepKind::DropUser,
            Self::Unshare { .. } => StepKind::Unshare,
            Self::MapUser { .. } => StepKind::MapUser,
            Self::MakeScratch { .. } => StepKind::MakeScratch,
            Self::Fork { .. } => StepKind::Fork,
            Self::JoinGroups => StepKind::JoinGroups,
            Self::PrivateMounts => StepKind::PrivateMounts,
            Self::MountRoot { .. } => StepKind::MountRoot,
            Self::MakeDirectory { .. } => StepKind::MakeDirectory,
            Self::MakeFile { .. } => StepKind::MakeFile,
            Self::MakeLink { .. } => StepKind::MakeLink,
            Self::Attach { .. } => StepKind::Attach,
            Self::MountLayers { .. } => StepKind::MountLayers,
            Self::Rebind { .. } => StepKind::Rebind,
            Self::Blank { .. } => StepKind::Blank,
            Self::MountProc { .. } => StepKind::MountProc,
            Self::Freeze { .. } => StepKind::Freeze,
            Self::Mask { .. } => StepKind::Mask,
            Self::SealRoot => StepKind::SealRoot,
            Self::PivotRoot => StepKind::PivotRoot,
            Self::Hostname { .. } => StepKind::Hostname,
            Self::Loopback => StepKind::Loopback,
            Self::Door { .. } => StepKind::Door,
            Self::DropCapabilities => StepKind::DropCapabilities,
            Self::NoNewPrivileges => StepKind::NoNewPrivileges,
            Self::Undumpable => StepKind::Undumpable,
            Self::ResetProcess => StepKind::ResetProcess,
            Self::Stdio => StepKind::Stdio,
            Self::Terminal => StepKind::Terminal,
            Self::Limit { .. } => StepKind::Limit,
            Self::ChangeDirectory { .. } => StepKind::ChangeDirectory,
            Self::OpenProgram { .. } => StepKind::OpenProgram,
            Self::CloseDescriptors => StepKind::CloseDescriptors,
            Self::Landlock { .. } => StepKind::Landlock,
            Self::Seccomp { .. } => StepKind::Seccomp,
            Self::Exec { .. } => StepKind::Exec,
        }
    }
}
