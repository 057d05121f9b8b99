//! Whether one cage is at most as wide as another: nothing can be done in it that could not be done in the other.
//!
//! Strict where two profiles cannot be compared: what is only different counts as wider. So a profile that was made from another by
//! taking away is within it, and one that adds anything is not.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use super::{Demand, Limits, Mount, MountKind, Profile, Programs};
use crate::seccomp::SyscallRule;

impl Profile {
    /// Whether whoever approved the other has approved this one too.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.demands >= other.demands
            && self.capabilities.is_subset(&other.capabilities)
            && is_part_of(self.doors.as_ref(), other.doors.as_ref())
            && is_part_of(self.network.as_ref(), other.network.as_ref())
            && self.mounts.iter().all(|mount| other.mounts.iter().any(|wider| is_mount_within(mount, wider)))
            && other.covers().all(|cover| self.covers().any(|own| own.at == cover.at))
            && self.env.iter().all(|own| other.env.iter().any(|its| own.name == its.name && own.value == its.value))
            && self.program_path.iter().all(|place| other.program_path.contains(place))
            && are_limits_within(&self.limits, &other.limits)
            && other.syscalls.iter().all(|rule| self.syscalls.iter().any(|own| refuses_as_much(own, rule)))
            && insists(self.landlock, other.landlock)
            && insists(self.groups, other.groups)
            && self.ownership == other.ownership
            && are_programs_within(self.programs, other.programs)
    }

    /// What hides or freezes something that would be there without it.
    fn covers(&self) -> impl Iterator<Item = &Mount> {
        self.mounts.iter().filter(|mount| matches!(mount.what, MountKind::Masked | MountKind::Frozen))
    }
}

/// Of doors and of hosts: one that does not say has them all.
fn is_part_of<T: Ord>(own: Option<&BTreeSet<T>>, its: Option<&BTreeSet<T>>) -> bool {
    match (own, its) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(own), Some(its)) => own.is_subset(its),
    }
}

fn is_mount_within(own: &Mount, its: &Mount) -> bool {
    let same_kind = match (&own.what, &its.what) {
        (MountKind::Host, MountKind::Host)
        | (MountKind::Device, MountKind::Device)
        | (MountKind::Directory, MountKind::Directory)
        | (MountKind::Proc, MountKind::Proc)
        | (MountKind::Frozen | MountKind::Masked, MountKind::Frozen)
        | (MountKind::Masked, MountKind::Masked) => true,
        (MountKind::HostAt(own), MountKind::HostAt(its))
        | (MountKind::File(own), MountKind::File(its))
        | (MountKind::Link(own), MountKind::Link(its)) => own == its,
        (
            MountKind::Scratch { size_bytes: own, programs },
            MountKind::Scratch { size_bytes: its, programs: its_programs },
        ) => own <= its && are_programs_within(*programs, *its_programs),
        _ => false,
    };
    own.at == its.at && same_kind
}

fn are_programs_within(own: Programs, its: Programs) -> bool {
    own == Programs::Refused || its == Programs::Allowed
}

fn insists(own: Demand, its: Demand) -> bool {
    own == Demand::Required || its == Demand::WhereAvailable
}

/// At least the uses that the other refuses. Which error its caller sees is no matter of width.
fn refuses_as_much(own: &SyscallRule, its: &SyscallRule) -> bool {
    own.name == its.name && (own.when.is_empty() || own.when == its.when)
}

fn are_limits_within(own: &Limits, its: &Limits) -> bool {
    let Limits {
        wall_ms,
        cpu_seconds,
        cpu_percent,
        memory_bytes,
        pids,
        open_files,
        file_bytes,
        disk_bytes,
        output_bytes,
    } = *own;
    wall_ms <= its.wall_ms
        && cpu_seconds <= its.cpu_seconds
        && is_share_within(cpu_percent, its.cpu_percent)
        && memory_bytes <= its.memory_bytes
        && pids <= its.pids
        && open_files <= its.open_files
        && file_bytes <= its.file_bytes
        && disk_bytes <= its.disk_bytes
        && output_bytes <= its.output_bytes
}

/// Without one there is no limit.
fn is_share_within(own: Option<NonZeroU32>, its: Option<NonZeroU32>) -> bool {
    its.is_none_or(|its| own.is_some_and(|own| own <= its))
}

#[cfg(test)]
mod tests {
    use super::super::Profiles;
    use super::*;

    fn shipped(name: &str) -> Profile {
        Profile::builtin(name).expect("it ships")
    }

    fn ours(more: &str) -> Profile {
        let text = format!("about = \"ours\"\nextends = \"default\"\n{more}");
        Profiles::with([("ours", text.as_str())]).expect("a profile").get("ours").expect("it was read").clone()
    }

    #[test]
    fn of_those_that_ship_small_steps_fit_into_large_ones_and_reading_fits_into_both() {
        let pairs = [
            ("default", "code_development"),
            ("default", "browser_automation"),
            ("research_only", "default"),
            ("research_only", "code_development"),
        ];
        for (inner, outer) in pairs {
            assert!(shipped(inner).is_within(&shipped(outer)), "{inner} in {outer}");
            assert!(!shipped(outer).is_within(&shipped(inner)), "{outer} in {inner}");
        }
        for name in Profile::NAMES {
            assert!(shipped(name).is_within(&shipped(name)), "{name}");
        }
        assert!(!shipped("agent").is_within(&shipped("code_development")), "it lives longer");
        assert!(!shipped("browser_automation").is_within(&shipped("code_development")), "it takes pictures");
    }

    #[test]
    fn whatever_adds_anything_is_wider_and_what_takes_away_is_not() {
        let own = shipped("default");
        for wider in [
            "capabilities = { is = [\"execute_code\", \"screenshots\"], reason = \"r\" }",
            "[limits]\nmemory = { is = \"4GiB\", reason = \"r\" }",
            "[limits]\nwall = { is = \"4h\", reason = \"r\" }",
            "[scratch]\n\"/tmp\" = { is = \"4GiB\", reason = \"r\" }",
            "[variables]\nA = { is = \"b\", reason = \"r\" }",
            "[read_only]\n\"/opt/x\" = { is = \"/srv/x\", reason = \"r\" }",
        ] {
            assert!(!ours(wider).is_within(&own), "{wider}");
            assert!(own.is_within(&ours(wider)), "{wider}");
        }
        for narrower in [
            "demands = \"full\"",
            "programs = { is = \"refused\", reason = \"r\" }",
            "capabilities = { is = [], reason = \"r\" }",
            "doors = { is = [3128], reason = \"r\" }",
            "network = { is = [\"example.org\"], reason = \"r\" }",
            "[limits]\nmemory = { is = \"1GiB\", reason = \"r\" }",
            "[limits]\nshare = { is = \"50%\", reason = \"r\" }",
            "[refused]\nsplice = { reason = \"r\" }",
        ] {
            assert!(ours(narrower).is_within(&own), "{narrower}");
            assert!(!own.is_within(&ours(narrower)), "{narrower}");
        }
        assert!(!ours("doors = { is = [1], reason = \"r\" }").is_within(&ours("doors = { is = [2], reason = \"r\" }")));
    }

    #[test]
    fn a_cage_that_shows_what_the_other_hides_is_not_within_it() {
        let mut open = shipped("default");
        let before = open.mounts.len();
        open.mounts.retain(|mount| !matches!(mount.what, MountKind::Masked | MountKind::Frozen));
        assert!(open.mounts.len() < before);
        assert!(!open.is_within(&shipped("default")));
        let insisting = shipped("default").with_landlock(Demand::Required).with_groups(Demand::Required);
        assert!(insisting.is_within(&shipped("default")) && !shipped("default").is_within(&insisting));
    }
}
