//! EVIDENCE: what an execution left behind, as a manifest of digests. The manifest's own digest goes into the ledger.
//!
//! The bytes are elsewhere, stored by digest; they may be removed after their time (`crate::retention`), the manifest is not. No evidence means not done, whatever a worker says.

mod seen;

use std::fmt;

use serde::{Deserialize, Serialize};

pub use self::seen::{SecretSeen, SecretsSeen};

use crate::canonical;
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::scope::ScopePath;
use crate::time::Timestamp;

/// More pieces than any tool of ours leaves; beyond, the worker packs them.
const MOST_ITEMS: usize = 512;
/// A worker's words about an ending go into the ledger, where nothing is ever deleted.
const LONGEST_WORDS: usize = 2_000;
/// Maximum length of a path on Linux (`PATH_MAX`).
const LONGEST_PATH: usize = 4_096;

/// How a process ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Exit {
    Code(i32),
    Signal(i32),
    /// It was stopped because it used up what it was given.
    Limit {
        which: String,
        limit: u64,
        seen: u64,
    },
    /// It was stopped because somebody cancelled it.
    Cancelled,
    /// It never started: what the worker could not do.
    NotStarted {
        why: String,
    },
    /// The program ended with code 0, but its results were refused.
    Refused {
        why: String,
    },
}

impl Exit {
    pub const fn is_success(&self) -> bool {
        matches!(self, Self::Code(0))
    }

    pub const fn is_not_started(&self) -> bool {
        matches!(self, Self::NotStarted { .. })
    }

    /// What the worker says in its own words.
    fn words(&self) -> &str {
        match self {
            Self::Limit { which, .. } => which,
            Self::NotStarted { why } | Self::Refused { why } => why,
            Self::Code(_) | Self::Signal(_) | Self::Cancelled => "",
        }
    }
}

/// Renders `exit 0`, `signal 9`, `over the wall_ms limit: 120004 of 120000`.
impl fmt::Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit {code}"),
            Self::Signal(signal) => write!(f, "signal {signal}"),
            Self::Limit { which, limit, seen } => write!(f, "over the {which} limit: {seen} of {limit}"),
            Self::Cancelled => f.write_str("cancelled"),
            Self::NotStarted { why } => write!(f, "not started: {why}"),
            Self::Refused { why } => write!(f, "its results were refused: {why}"),
        }
    }
}

/// What went through the way out of a cage, as its worker counted it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Traffic {
    /// Requests and tunnels that were let through.
    pub requests: u64,
    /// Those that were not.
    pub refused: u64,
    pub bytes_up: u64,
    pub bytes_down: u64,
    /// How many of them the list in the evidence leaves out, because it is full.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unlisted: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What an execution used up.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Usage {
    pub wall_ms: u64,
    /// Of the whole tree of processes, like everything here.
    pub cpu_ms: u64,
    pub peak_memory_bytes: u64,
    /// Processes and threads at one time, where the worker's kernel counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_processes: Option<u64>,
    /// Bytes on their way to disks, where the worker's kernel counts them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub written_bytes: Option<u64>,
    /// Of an action whose cage had a way out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub network: Option<Traffic>,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Item {
    /// `stdout`, `stderr` or the path of an output in the workspace.
    pub name: String,
    pub digest: Digest,
    pub size_bytes: u64,
}

/// A file that the worker did not collect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NotTaken {
    /// Path in the workspace. Bytes that are not UTF-8 become replacement characters.
    pub path: String,
    pub why: NotTakenBecause,
}

/// Reason why a worker did not collect a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotTakenBecause {
    /// A declared output that the program did not make.
    Missing,
    /// A declared output that is a symbolic link, or lies behind one.
    Link,
    /// A declared output that is a directory.
    Directory,
    /// A declared output that is a FIFO, a socket or a device.
    Special,
    /// A declared output above the size limit of the action or of the control plane.
    TooLarge,
    /// A declared output that could not be read.
    Unreadable,
    /// A file that the program made, changed or removed outside of the scope. The worker undid it.
    OutsideScope,
}

impl NotTakenBecause {
    /// Checks whether this reason fails the action. A missing output does not: a program may produce less than it declared.
    pub const fn fails(self) -> bool {
        match self {
            Self::Missing => false,
            Self::Link | Self::Directory | Self::Special | Self::TooLarge | Self::Unreadable | Self::OutsideScope => {
                true
            }
        }
    }

    /// Predicate for messages to people, to be written after the path.
    pub const fn in_words(self) -> &'static str {
        match self {
            Self::Missing => "was not made",
            Self::Link => "is a symbolic link, or lies behind one",
            Self::Directory => "is a directory",
            Self::Special => "is a FIFO, a socket or a device",
            Self::TooLarge => "is too large",
            Self::Unreadable => "cannot be read",
            Self::OutsideScope => "is outside of the scope",
        }
    }
}

/// What happened in one attempt, as the worker saw it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub v: u8,
    pub action: ActionId,
    /// The digest of the bytes that were executed.
    pub executed: Digest,
    pub attempt: u32,
    pub worker: IdentityId,
    pub started_at: Timestamp,
    pub finished_at: Timestamp,
    pub exit: Exit,
    pub usage: Usage,
    /// The digest of the program file that was really executed, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<Digest>,
    pub items: Vec<Item>,
    /// Declared outputs that were not collected and changes outside of the scope, each with its reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_taken: Vec<NotTaken>,
}

/// A manifest that is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadManifest {
    #[error("evidence format {0} is not known here; upgrade the control plane")]
    Version(u8),
    #[error("{0} pieces of evidence; at most 512 are taken, pack them first")]
    TooMany(usize),
    #[error("the evidence name `{0}` is not a plain relative path")]
    Name(String),
    #[error("the evidence `{0}` is listed twice")]
    Twice(String),
    #[error("a number in it is larger than 9007199254740991, and not every reader would read it alike")]
    Number,
    #[error("it ends before it starts")]
    Backwards,
    #[error("its words about the ending are longer than 2000 bytes; put them into a piece of evidence")]
    Wordy,
    #[error("it names {0} files that were not taken over; at most 512 are taken")]
    TooManyNotTaken(usize),
    #[error("the path of a file that was not taken over is empty or longer than 4096 bytes")]
    NotTakenPath,
    #[error("it ends with code 0, and `{0}` was not taken over; report it as refused")]
    Contradicts(String),
}

impl Manifest {
    fn check(&self) -> Result<(), BadManifest> {
        if self.v != 1 {
            return Err(BadManifest::Version(self.v));
        }
        if self.items.len() > MOST_ITEMS {
            return Err(BadManifest::TooMany(self.items.len()));
        }
        if self.finished_at < self.started_at {
            return Err(BadManifest::Backwards);
        }
        if self.exit.words().len() > LONGEST_WORDS {
            return Err(BadManifest::Wordy);
        }
        self.check_not_taken()?;
        let mut seen = std::collections::BTreeSet::new();
        for item in &self.items {
            if ScopePath::new(item.name.as_bytes()).is_err() {
                return Err(BadManifest::Name(item.name.escape_debug().to_string()));
            }
            if !seen.insert(&item.name) {
                return Err(BadManifest::Twice(item.name.clone()));
            }
        }
        Ok(())
    }

    /// Refuses a successful exit next to refused results: a reader of the exit alone would take the action for a success.
    fn check_not_taken(&self) -> Result<(), BadManifest> {
        if self.not_taken.len() > MOST_ITEMS {
            return Err(BadManifest::TooManyNotTaken(self.not_taken.len()));
        }
        if self.not_taken.iter().any(|file| file.path.is_empty() || file.path.len() > LONGEST_PATH) {
            return Err(BadManifest::NotTakenPath);
        }
        match self.not_taken.iter().find(|file| file.why.fails()) {
            Some(file) if self.exit.is_success() => Err(BadManifest::Contradicts(file.path.escape_debug().to_string())),
            Some(_) | None => Ok(()),
        }
    }

    /// Fixes the bytes and their digest: from here on they cannot disagree.
    pub fn seal(self) -> Evidence {
        let bytes = canonical::to_bytes(&self);
        let digest = Digest::of(&bytes);
        Evidence { manifest: self, bytes, digest }
    }
}

/// A sealed manifest: what an execution left, in the bytes that are stored and by the digest that goes into the ledger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evidence {
    manifest: Manifest,
    bytes: Vec<u8>,
    digest: Digest,
}

impl Evidence {
    /// Checks what a worker reports before anything of it is recorded.
    pub fn check(&self) -> Result<(), BadManifest> {
        self.manifest.check()?;
        // Canonical JSON rounds large numbers, and two different reports must never share a digest.
        if canonical::parse(&self.bytes).is_err() {
            return Err(BadManifest::Number);
        }
        Ok(())
    }

    pub const fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn manifest(names: &[&str]) -> Manifest {
        let items = names.iter().map(|name| Item { name: (*name).to_owned(), digest: Digest::of(b""), size_bytes: 0 });
        Manifest {
            v: 1,
            action: ActionId::from_uuid(Uuid::from_u128(1)),
            executed: Digest::of(b"action"),
            attempt: 1,
            worker: IdentityId::from_uuid(Uuid::from_u128(2)),
            started_at: Timestamp::from_unix_ms(1),
            finished_at: Timestamp::from_unix_ms(2),
            exit: Exit::Code(0),
            usage: Usage::default(),
            program: None,
            items: items.collect(),
            not_taken: Vec::new(),
        }
    }

    #[test]
    fn files_not_taken_over_are_named_and_no_success() {
        let not_taken = |why| vec![NotTaken { path: "out/a\u{1b}".to_owned(), why }];
        let with = |exit, why| Manifest { exit, not_taken: not_taken(why), ..manifest(&[]) };
        assert_eq!(with(Exit::Code(0), NotTakenBecause::Missing).seal().check(), Ok(()));
        for why in
            [NotTakenBecause::Link, NotTakenBecause::Directory, NotTakenBecause::Special, NotTakenBecause::OutsideScope]
        {
            let told = with(Exit::Code(0), why).seal().check();
            assert!(matches!(told, Err(BadManifest::Contradicts(_))), "{why:?}: {told:?}");
            assert_eq!(with(Exit::Refused { why: "a link".to_owned() }, why).seal().check(), Ok(()));
        }
        let nameless = Manifest {
            not_taken: vec![NotTaken { path: String::new(), why: NotTakenBecause::Missing }],
            ..manifest(&[])
        };
        assert_eq!(nameless.seal().check(), Err(BadManifest::NotTakenPath));
        assert!(!Exit::Refused { why: String::new() }.is_success());
    }

    #[test]
    fn a_manifest_survives_its_bytes() {
        let before = manifest(&["stdout", "stderr", "out/report.xml"]);
        assert_eq!(before.clone().seal().check(), Ok(()));
        assert_eq!(serde_json::from_slice::<Manifest>(before.clone().seal().bytes()).unwrap(), before);
    }

    #[test]
    fn names_that_lead_elsewhere_or_twice_are_refused() {
        for name in ["../x", "/etc/passwd", "", "a//b", ".git/config", "a\0b"] {
            assert!(matches!(manifest(&[name]).seal().check(), Err(BadManifest::Name(_))), "{name:?}");
        }
        assert!(matches!(manifest(&["a", "a"]).seal().check(), Err(BadManifest::Twice(_))));
        assert!(matches!(manifest(&["x"; 513]).seal().check(), Err(BadManifest::TooMany(513))));
    }

    #[test]
    fn only_exit_code_zero_is_success() {
        assert!(Exit::Code(0).is_success());
        for exit in [Exit::Code(1), Exit::Signal(9), Exit::Cancelled, Exit::NotStarted { why: String::new() }] {
            assert!(!exit.is_success());
        }
    }
}
