//! What an attempt is: data about it, and the function that makes it inside the cage.

use std::fmt;

use crate::raw;
use crate::scene::Scene;
use crate::{files, kernel, net, process, repository, resources, special};

/// Generous on a busy machine; attempts that are ended by the clock bring their own.
const WALL_MS: u64 = 20_000;

/// One way to try to break out.
pub(crate) struct Attempt {
    pub(crate) name: &'static str,
    pub(crate) tries: &'static str,
    pub(crate) barrier: Barrier,
    /// What it must be told; alternatives are separated by ` or `.
    pub(crate) refusal: &'static str,
    pub(crate) make: fn(&Scene) -> Observed,
    pub(crate) profile: &'static str,
    pub(crate) wall_ms: u64,
    pub(crate) workspace: Kind,
}

/// The workspace an attempt is made in.
#[derive(Clone, Copy)]
pub(crate) enum Kind {
    /// Written at once.
    Direct,
    /// A layer with protected paths.
    Protected,
}

pub(crate) const fn attempt(
    name: &'static str,
    tries: &'static str,
    barrier: Barrier,
    refusal: &'static str,
    make: fn(&Scene) -> Observed,
) -> Attempt {
    Attempt { name, tries, barrier, refusal, make, profile: "default", wall_ms: WALL_MS, workspace: Kind::Direct }
}

impl Attempt {
    pub(crate) const fn in_profile(mut self, profile: &'static str) -> Self {
        self.profile = profile;
        self
    }

    pub(crate) const fn for_ms(mut self, wall_ms: u64) -> Self {
        self.wall_ms = wall_ms;
        self
    }

    pub(crate) const fn protected(mut self) -> Self {
        self.workspace = Kind::Protected;
        self
    }

    pub(crate) fn is_refused_by(&self, observed: &str) -> bool {
        self.refusal.split(" or ").any(|refusal| refusal == observed)
    }
}

/// The wall that is expected to stop an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Barrier {
    /// A rule of the table of refused system calls, by name.
    Seccomp(&'static str),
    /// The part of the filter that is not in the table: other architectures and unknown numbers.
    SeccompPrefix,
    /// The file is not part of the cage's view.
    View,
    /// It is, but on a read-only mount.
    ReadOnly,
    /// The user of the cage is not the owner, and nobody else may.
    Permissions,
    /// Two mounts never share a file.
    OtherMount,
    /// A flag of the mount: no devices, no set-user-id, no executing.
    MountFlag(&'static str),
    /// A file of /proc that is covered by nothing.
    Mask,
    /// Processes of the same user that are closed to debuggers do not appear in /proc.
    HiddenProcesses,
    UserNamespace,
    PidNamespace,
    NetworkNamespace,
    Capabilities,
    NoNewPrivileges,
    Landlock,
    /// A limit per process.
    Limit(&'static str),
    /// A limit of the whole tree: a control group, or a limit per process where the caller may make none.
    Tree(&'static str),
    /// The size of a file system of the cage; a full one ends the tree.
    ScratchSize,
    /// Process 1 ends everything with the command.
    Init,
    /// The monitor and the launcher, outside.
    Monitor,
    /// Descriptors are closed at exec.
    CloseOnExec,
    /// The environment is built from nothing.
    Environment,
    /// There is no terminal.
    NoTerminal,
    /// A file that can no longer be changed by anyone.
    Seal,
    /// The socket of a door is in the launcher's hands alone.
    Door,
}

impl fmt::Display for Barrier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seccomp(rule) => write!(out, "seccomp: {rule}"),
            Self::SeccompPrefix => write!(out, "seccomp: prefix"),
            Self::View => write!(out, "mount: not in view"),
            Self::ReadOnly => write!(out, "mount: read-only"),
            Self::Permissions => write!(out, "file permissions"),
            Self::OtherMount => write!(out, "mount: another"),
            Self::MountFlag(flag) => write!(out, "mount: {flag}"),
            Self::Mask => write!(out, "mount: masked"),
            Self::HiddenProcesses => write!(out, "proc: hidepid"),
            Self::UserNamespace => write!(out, "user namespace"),
            Self::PidNamespace => write!(out, "pid namespace"),
            Self::NetworkNamespace => write!(out, "network namespace"),
            Self::Capabilities => write!(out, "capabilities"),
            Self::NoNewPrivileges => write!(out, "no new privileges"),
            Self::Landlock => write!(out, "landlock"),
            Self::Limit(which) => write!(out, "rlimit: {which}"),
            Self::Tree(which) => write!(out, "tree: {which}"),
            Self::ScratchSize => write!(out, "tmpfs: size"),
            Self::Init => write!(out, "process 1"),
            Self::Monitor => write!(out, "monitor"),
            Self::CloseOnExec => write!(out, "close on exec"),
            Self::Environment => write!(out, "environment from nothing"),
            Self::NoTerminal => write!(out, "no terminal"),
            Self::Seal => write!(out, "sealed memory"),
            Self::Door => write!(out, "door"),
        }
    }
}

/// What an attempt came to.
#[derive(Debug)]
pub(crate) enum Observed {
    /// The kernel answered with this code.
    Errno(i32),
    /// There was nothing to be had, in the words of the table.
    Nothing(&'static str),
    /// It worked.
    Escaped(String),
}

impl Observed {
    /// Success of the call is success of the attempt.
    pub(crate) fn of<T>(result: std::io::Result<T>) -> Self {
        match result {
            Ok(_) => Self::Escaped("it was let through".into()),
            Err(error) => error.raw_os_error().map_or_else(|| Self::Escaped(error.to_string()), Self::Errno),
        }
    }

    /// The first that gets through, or else what the last one was told.
    pub(crate) fn of_any<T>(results: impl IntoIterator<Item = std::io::Result<T>>) -> Self {
        let mut last = Self::Escaped("nothing was tried".into());
        for result in results {
            last = Self::of(result);
            if matches!(last, Self::Escaped(_)) {
                return last;
            }
        }
        last
    }
}

impl fmt::Display for Observed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Errno(code) => write!(out, "{}", raw::errno_name(*code)),
            Self::Nothing(words) => write!(out, "{words}"),
            Self::Escaped(how) => write!(out, "ESCAPED: {how}"),
        }
    }
}

/// An attempt and the group it belongs to.
#[derive(Clone, Copy)]
pub(crate) struct Case {
    pub(crate) group: &'static str,
    pub(crate) attempt: &'static Attempt,
}

impl Case {
    pub(crate) fn name(&self) -> String {
        format!("{}::{}", self.group, self.attempt.name)
    }
}

pub(crate) fn all() -> Vec<Case> {
    let groups: [(&str, &'static [Attempt]); 7] = [
        ("files", files::ATTEMPTS),
        ("files", special::ATTEMPTS),
        ("files", repository::ATTEMPTS),
        ("kernel", kernel::ATTEMPTS),
        ("net", net::ATTEMPTS),
        ("process", process::ATTEMPTS),
        ("resources", resources::ATTEMPTS),
    ];
    groups
        .into_iter()
        .flat_map(|(group, attempts)| attempts.iter().map(move |attempt| Case { group, attempt }))
        .collect()
}

pub(crate) fn named(name: &str) -> Option<Case> {
    all().into_iter().find(|case| case.name() == name)
}
