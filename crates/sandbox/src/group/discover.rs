//! Which directory of which hierarchy this process is in, from the kernel's own tables. Pure: text in, places out.
//!
//! It does not try whether anything can be made there: see [`super::parents`].

use std::path::{Component, Path, PathBuf};

use super::{Controller, GroupVersion};

/// The group of the calling process in one hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    pub(super) version: GroupVersion,
    pub(super) controllers: Vec<Controller>,
    /// As far up as this process can see. In a container, the subtree the container was given.
    pub(super) is_top: bool,
}

/// The texts are those of `/proc/self/mountinfo` and `/proc/self/cgroup`; `offered` reads `cgroup.controllers` of a
/// version 2 directory. Each controller appears at most once.
pub(super) fn discover(mountinfo: &str, own: &str, offered: impl Fn(&Path) -> String) -> Vec<Place> {
    let mounts: Vec<Mounted> = mountinfo.lines().filter_map(Mounted::parse).collect();
    let memberships: Vec<Membership> = own.lines().filter_map(Membership::parse).collect();
    let mut places: Vec<Place> = memberships.iter().filter_map(|one| one.place(&mounts, &offered)).collect();
    places.sort_by_key(|place| place.version == GroupVersion::V2);
    keep_first(&mut places);
    places
}

/// A controller is active in one hierarchy only, but processor time is counted in both generations. Version 1 goes first
/// where both are (its own freezer is not used: what it froze cannot be killed): a thread can move itself there without waiting for all others, which on version 2 takes milliseconds.
fn keep_first(places: &mut Vec<Place>) {
    let mut taken = Vec::new();
    for place in places.iter_mut() {
        place.controllers.retain(|controller| !taken.contains(controller));
        taken.extend(&place.controllers);
    }
    places.retain(|place| !place.controllers.is_empty());
}

/// A mounted hierarchy.
struct Mounted<'a> {
    /// Which part of the hierarchy is mounted.
    root: PathBuf,
    at: PathBuf,
    version: GroupVersion,
    options: &'a str,
}

impl<'a> Mounted<'a> {
    /// `None`: not a hierarchy of control groups, or not writable.
    fn parse(line: &'a str) -> Option<Self> {
        let (mount, system) = line.split_once(" - ")?;
        let mut mount = mount.split(' ').skip(3);
        let (root, at, flags) = (mount.next()?, mount.next()?, mount.next()?);
        let mut system = system.split(' ');
        let version = match system.next()? {
            "cgroup" => GroupVersion::V1,
            "cgroup2" => GroupVersion::V2,
            _ => return None,
        };
        let options = system.nth(1)?;
        let writable = !has(flags, "ro") && !has(options, "ro");
        writable.then(|| Self { root: unescaped(root), at: unescaped(at), version, options })
    }

    /// The directory of a group, if this mount shows it.
    fn shows(&self, group: &Path) -> Option<PathBuf> {
        let below = group.strip_prefix(&self.root).ok()?;
        // A group outside the namespace of this process reads `/../…`: nothing to be had there.
        let plain = below.components().all(|part| matches!(part, Component::Normal(_)));
        plain.then(|| if below == Path::new("") { self.at.clone() } else { self.at.join(below) })
    }
}

/// A line of `/proc/self/cgroup`.
struct Membership<'a> {
    /// Empty for version 2.
    controllers: &'a str,
    group: &'a Path,
}

impl<'a> Membership<'a> {
    fn parse(line: &'a str) -> Option<Self> {
        let (controllers, group) = line.split_once(':')?.1.split_once(':')?;
        Some(Self { controllers, group: Path::new(group) })
    }

    fn place(&self, mounts: &[Mounted<'_>], offered: impl Fn(&Path) -> String) -> Option<Place> {
        let version = if self.controllers.is_empty() { GroupVersion::V2 } else { GroupVersion::V1 };
        let first = self.controllers.split(',').next().unwrap_or_default();
        let right = |mount: &&Mounted<'_>| {
            mount.version == version && (version == GroupVersion::V2 || has(mount.options, first))
        };
        let directory = mounts.iter().filter(right).find_map(|mount| mount.shows(self.group))?;
        let controllers = match version {
            GroupVersion::V1 => self.controllers.split(',').filter_map(of_v1).collect(),
            GroupVersion::V2 => {
                let named = offered(&directory);
                // Every group of version 2 counts processor time and can be frozen, with or without a controller.
                [Controller::CpuTime, Controller::Freezer]
                    .into_iter()
                    .chain(named.split_whitespace().filter_map(of_v2))
                    .collect()
            }
        };
        Some(Place { directory, version, controllers, is_top: self.group == Path::new("/") })
    }
}

fn of_v1(name: &str) -> Option<Controller> {
    match name {
        "memory" => Some(Controller::Memory),
        "pids" => Some(Controller::Processes),
        "cpuacct" => Some(Controller::CpuTime),
        "cpu" => Some(Controller::CpuShare),
        _ => None,
    }
}

fn of_v2(name: &str) -> Option<Controller> {
    match name {
        "memory" => Some(Controller::Memory),
        "pids" => Some(Controller::Processes),
        "cpu" => Some(Controller::CpuShare),
        _ => None,
    }
}

fn has(options: &str, wanted: &str) -> bool {
    options.split(',').any(|option| option == wanted)
}

/// The table writes space, tab, line feed and backslash as three octal digits.
fn unescaped(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.get(..3).and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                plain.push(char::from(byte));
                plain.push_str(&part[3..]);
            }
            None => {
                plain.push('\\');
                plain.push_str(part);
            }
        }
    }
    PathBuf::from(plain)
}
