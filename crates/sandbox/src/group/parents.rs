//! Where the groups of cages are made: found, tried and cleaned up once per process.
//!
//! Version 2 has a rule that version 1 has not: a group with processes of its own cannot pass controllers on to groups
//! below it (the root of the hierarchy is exempt). A caller that was given a subtree sits in the top of that subtree,
//! so it has to step aside first, into a group [`ASIDE`] beside the cages. It does so only where the subtree is its
//! own to arrange: marked as delegated by the service manager, owned by an ordinary user, or the top of a container.
//! Elsewhere, or where other processes share the group, the controllers stay unused and the host report says so.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use super::discover::{Place, discover};
use super::leftovers::{Name, collect_below};
use super::{Controller, GroupDirectory, GroupVersion};
use crate::profile::Limits;
use crate::request::Freezing;

/// The group a caller steps aside into.
const ASIDE: &str = "placet-caller";

/// A directory in which groups can be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Parent {
    pub(super) directory: PathBuf,
    pub(super) version: GroupVersion,
    pub(super) controllers: Vec<Controller>,
}

impl Parent {
    /// The group of that name in it.
    pub(super) fn directory_of(&self, name: &str) -> GroupDirectory {
        let (path, version) = (self.directory.join(name), self.version);
        GroupDirectory { path, version, controllers: self.controllers.clone() }
    }
}

/// Every such directory, and why others are not.
#[derive(Debug, Default)]
pub(crate) struct Parents {
    usable: Vec<Parent>,
    refused: Vec<String>,
}

/// Looked up once: a process is rarely moved, and a cage must not wait for this.
pub(crate) fn parents() -> &'static Parents {
    static PARENTS: OnceLock<Parents> = OnceLock::new();
    PARENTS.get_or_init(|| {
        let parents = Parents::of(places());
        parents.directories().for_each(|directory| {
            collect_below(directory);
        });
        parents
    })
}

fn places() -> Vec<Place> {
    let text = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let offered = |directory: &Path| {
        let directory = if is_aside(directory) { directory.parent().unwrap_or(directory) } else { directory };
        fs::read_to_string(directory.join("cgroup.controllers")).unwrap_or_default()
    };
    discover(&text("/proc/self/mountinfo"), &text("/proc/self/cgroup"), offered)
}

fn is_aside(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| name == ASIDE)
}

impl Parents {
    pub(super) fn of(places: Vec<Place>) -> Self {
        let mut parents = Self::default();
        if places.is_empty() {
            parents.refused.push("no writable hierarchy of control groups is mounted".into());
        }
        for place in places {
            let prepared = prepare(place, &mut parents.refused);
            match try_out(&prepared.directory) {
                Ok(()) => parents.usable.push(prepared),
                Err(error) => parents.refused.push(format!("{}: {error}", prepared.directory.display())),
            }
        }
        parents
    }

    pub(super) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.usable.iter().map(|parent| parent.directory.as_path())
    }

    /// Where a cage with these limits needs a group; one that is there for shares or for freezing alone only if that is
    /// asked for.
    pub(super) fn wanted(&self, limits: &Limits, freezing: Freezing) -> impl Iterator<Item = &Parent> {
        let shared = limits.cpu_percent.is_some();
        let needed = move |controller: &Controller| match controller {
            Controller::Memory | Controller::Processes | Controller::CpuTime => true,
            Controller::CpuShare => shared,
            Controller::Freezer => freezing == Freezing::Possible,
        };
        self.usable.iter().filter(move |parent| parent.controllers.iter().any(needed))
    }

    /// Where the controller is, if it can be used.
    pub(crate) fn place_of(&self, controller: Controller) -> Option<&Path> {
        let holder = self.usable.iter().find(|parent| parent.controllers.contains(&controller))?;
        Some(&holder.directory)
    }

    /// Why something that the host may have cannot be used.
    pub(crate) fn refused(&self) -> &[String] {
        &self.refused
    }
}

fn prepare(place: Place, refused: &mut Vec<String>) -> Parent {
    let directory = match (place.version, place.directory.parent()) {
        (GroupVersion::V2, Some(above)) if is_aside(&place.directory) => above.to_owned(),
        (GroupVersion::V1 | GroupVersion::V2, _) => place.directory.clone(),
    };
    let mut controllers = place.controllers.clone();
    if place.version == GroupVersion::V2 {
        controllers.retain(|controller| match pass_on(&place, &directory, *controller) {
            Ok(()) => true,
            Err(why) => {
                refused.push(why);
                false
            }
        });
    }
    Parent { directory, version: place.version, controllers }
}

/// The name of a controller that must be passed on to groups below; processor time is counted, and trees are frozen, without.
fn switch(controller: Controller) -> Option<&'static str> {
    match controller {
        Controller::Memory => Some("memory"),
        Controller::Processes => Some("pids"),
        Controller::CpuShare => Some("cpu"),
        Controller::CpuTime | Controller::Freezer => None,
    }
}

fn pass_on(place: &Place, directory: &Path, controller: Controller) -> Result<(), String> {
    let Some(name) = switch(controller) else { return Ok(()) };
    let file = directory.join("cgroup.subtree_control");
    if fs::read_to_string(&file).unwrap_or_default().split_whitespace().any(|on| on == name) {
        return Ok(());
    }
    if holds_processes(directory) {
        step_aside(place, directory)?;
    }
    let switched = fs::write(&file, format!("+{name}"));
    switched.map_err(|error| format!("{} does not pass `{name}` on: {error}", directory.display()))
}

/// Whether the rule about such groups is for this one; the root of the hierarchy, which has no type, is exempt. Asked and
/// not tried: some controllers can be switched on all the same, and make it a group of threads that no cage can join.
fn holds_processes(directory: &Path) -> bool {
    let members = || fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    directory.join("cgroup.type").exists() && !members().trim().is_empty()
}

fn step_aside(place: &Place, directory: &Path) -> Result<(), String> {
    let lacks = |why: &str| format!("{} cannot pass controllers on: {why}", directory.display());
    if !is_ours(place, directory) {
        return Err(lacks("it is not delegated to this process; use `Delegate=yes` in the service"));
    }
    let members = fs::read_to_string(directory.join("cgroup.procs")).unwrap_or_default();
    let own = std::process::id().to_string();
    if members.lines().any(|member| member != own) {
        return Err(lacks("other processes are in it; start this one in a group of its own"));
    }
    let aside = directory.join(ASIDE);
    // It may be there from an earlier start.
    let made = fs::create_dir(&aside).or_else(|error| if aside.is_dir() { Ok(()) } else { Err(error) });
    made.and_then(|()| fs::write(aside.join("cgroup.procs"), own)).map_err(|error| lacks(&error.to_string()))
}

/// See the head of this file.
fn is_ours(place: &Place, directory: &Path) -> bool {
    let marked = ["user.delegate", "trusted.delegate"].iter().any(|name| {
        let mut value = [0; 8];
        rustix::fs::getxattr(directory, *name, &mut value).is_ok_and(|length| value.get(..length) == Some(b"1"))
    });
    let user = rustix::process::geteuid().as_raw();
    let given = user != 0 && fs::metadata(directory).is_ok_and(|meta| meta.uid() == user);
    marked || given || place.is_top
}

/// Rights are known when they were used.
fn try_out(directory: &Path) -> io::Result<()> {
    let trial = directory.join(Name::next()?.to_string());
    fs::create_dir(&trial)?;
    fs::remove_dir(&trial)
}
