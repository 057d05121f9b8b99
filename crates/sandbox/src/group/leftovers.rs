//! Groups of callers that died before they could clean up.
//!
//! The name of a group says whose it is: the pid namespace, the number and the start time of the calling process. A
//! number can be given again, but not with the same start time, so a group whose owner is gone can be told from one
//! that belongs to a living process. Owners in another pid namespace cannot be looked up and are left alone.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::str::FromStr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::parents::parents;
use super::remove::remove;

const PREFIX: &str = "placet-cage-";

/// Removes the control groups of cages whose caller is gone, and ends what may still run in them. Returns how many
/// directories were removed. The first launch of a process does this by itself.
pub fn collect_leftovers() -> usize {
    parents().directories().map(collect_below).sum()
}

/// What cannot be read or removed is left for somebody with the right to.
pub(super) fn collect_below(parent: &Path) -> usize {
    let entries = fs::read_dir(parent).into_iter().flatten().flatten();
    let orphaned = entries.filter(|entry| {
        let name = entry.file_name();
        name.to_str().and_then(|name| name.parse::<Name>().ok()).is_some_and(|name| name.owner.is_gone())
    });
    orphaned.filter(|entry| remove(&entry.path()).is_ok()).count()
}

/// The name of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) owner: Owner,
    pub(super) number: u64,
}

impl Name {
    /// A name this process has not used yet.
    pub(crate) fn next() -> io::Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        Ok(Self { owner: Owner::own()?, number: COUNT.fetch_add(1, Ordering::Relaxed) })
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Owner { namespace, pid, started } = self.owner;
        write!(out, "{PREFIX}{namespace}-{pid}-{started}-{}", self.number)
    }
}

impl FromStr for Name {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let numbers = text.strip_prefix(PREFIX).ok_or(())?.split('-').map(str::parse);
        let numbers: Vec<u64> = numbers.collect::<Result<_, _>>().map_err(drop)?;
        match numbers[..] {
            [namespace, pid, started, number] => Ok(Self { owner: Owner { namespace, pid, started }, number }),
            _ => Err(()),
        }
    }
}

/// A process, whatever becomes of its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    /// The pid namespace in which the number counts.
    pub(super) namespace: u64,
    pub(super) pid: u64,
    /// Clock ticks since the host started.
    pub(super) started: u64,
}

impl Owner {
    fn own() -> io::Result<Self> {
        static OWN: OnceLock<Owner> = OnceLock::new();
        if let Some(own) = OWN.get() {
            return Ok(*own);
        }
        let namespace = fs::metadata("/proc/self/ns/pid")?.ino();
        let pid = u64::from(std::process::id());
        let life = Life::of(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(*OWN.get_or_init(|| Self { namespace, pid, started: life.started }))
    }

    /// Certain only where the number can be looked up; a doubt counts as alive.
    pub(crate) fn is_gone(&self) -> bool {
        let Ok(own) = Self::own() else { return false };
        own.namespace == self.namespace && Life::of(self.pid).is_none_or(|life| life.is_not(self.started))
    }
}

/// The two fields of `/proc/<pid>/stat` that tell one process from the next.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Life {
    state: char,
    pub(super) started: u64,
}

impl Life {
    fn of(pid: u64) -> Option<Self> {
        Self::parse(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// The name of the program is in parentheses and may contain anything, parentheses included.
    pub(super) fn parse(stat: &str) -> Option<Self> {
        let mut fields = stat.rsplit_once(") ")?.1.split(' ');
        let state = fields.next()?.chars().next()?;
        Some(Self { state, started: fields.nth(18)?.trim().parse().ok()? })
    }

    /// A process that nobody has reaped yet owns nothing any more.
    pub(super) fn is_not(&self, started: u64) -> bool {
        self.started != started || matches!(self.state, 'Z' | 'X')
    }
}
