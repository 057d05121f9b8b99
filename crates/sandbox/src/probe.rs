//! What this host really enforces. Found out by trying: single facilities for the reader, and one cage from end to end
//! for the verdict.

use std::fs;

use serde::Serialize;

use crate::error::SandboxError;
use crate::group::{Controller, parents};
use crate::launch::launch;
use crate::outcome::Exit;
use crate::profile::Profile;
use crate::request::{FIRST_HOST_USER, Request};
use crate::sys;

/// Scoped signals and abstract sockets exist from here on; the rules use nothing newer.
pub(crate) const LANDLOCK_WANTED: u32 = 6;

/// What a host can do.
#[derive(Clone, Debug, Serialize)]
pub struct HostReport {
    /// The verdict.
    pub tier: Tier,
    /// What it rests on, in reading order.
    pub checks: Vec<Check>,
}

/// How well a cage holds on this host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case", tag = "tier")]
pub enum Tier {
    /// Every layer.
    Full,
    /// The cage stands, some second layer is missing.
    Degraded {
        /// Which ones.
        reasons: Vec<String>,
    },
    /// No cage can be entered.
    Unavailable {
        /// Why, and what to do about it.
        reason: String,
    },
}

/// One facility.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Its name.
    pub name: &'static str,
    /// Whether it is there.
    pub state: State,
    /// Version, reason, or what was seen.
    pub detail: String,
    /// What to do where it is missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub todo: Option<&'static str>,
}

/// Whether a facility is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is enforced.
    Enforced,
    /// It is not.
    Missing,
}

/// Tries what this host enforces. Runs one throwaway cage; the calling `main` must begin with
/// [`crate::helper_entry`].
#[must_use]
pub fn probe() -> HostReport {
    let mut checks: Vec<Check> = NAMESPACES.iter().map(|(name, file, limit)| namespace(name, file, limit)).collect();
    let seccomp = "filters that answer with an error code".into();
    checks.push(check("seccomp", sys::seccomp_filters_available(), seccomp, "use a kernel with CONFIG_SECCOMP_FILTER"));
    let abi = sys::landlock_abi();
    let landlock = format!("version {abi}, {LANDLOCK_WANTED} wanted");
    checks.push(check("landlock", abi >= LANDLOCK_WANTED, landlock, LANDLOCK_TODO));
    checks.extend(CONTROLLERS.iter().map(|&(controller, name, _)| controller_check(controller, name)));
    checks.push(own_user());
    let trial = trial();
    let detail = trial.clone().err().unwrap_or_else(|| "entered and left".into());
    checks.push(check("cage", trial.is_ok(), detail, "what is missing above comes first"));
    let unlimited = CONTROLLERS.iter().filter(|(controller, _, _)| parents().place_of(*controller).is_none());
    let unlimited = unlimited.filter_map(|(_, _, consequence)| *consequence).collect();
    HostReport { tier: tier(trial, abi, unlimited), checks }
}

const NAMESPACES_TODO: &str = "allow them: kernel.unprivileged_userns_clone=1, user.max_*_namespaces above 0; in a \
     container, run it with seccomp=unconfined";
const LANDLOCK_TODO: &str = "use Linux 6.12 or later, booted with `lsm=landlock,…`";
const GROUPS_TODO: &str = "run as root, or in a service with `Delegate=yes` (cgroup v2)";
const USER_TODO: &str = "run as root; cages of another caller share its user and are told apart by their namespaces";

/// Whether two cages are two users of the host.
fn own_user() -> Check {
    let caller = rustix::process::geteuid();
    let detail = if caller.is_root() {
        format!("each cage is a user of its own, from {FIRST_HOST_USER}")
    } else {
        format!("cages are user {caller}, like their caller")
    };
    check("user per cage", caller.is_root(), detail, USER_TODO)
}

/// The controllers of a tree of processes, and what it means for a cage to be without. A share is nothing a cage has
/// unless it asks, and without a freezer processes are stopped one by one.
const CONTROLLERS: [(Controller, &str, Option<&str>); 5] = [
    (Controller::Memory, "control group: memory", Some("memory of the tree is counted, but not by the kernel")),
    (
        Controller::Processes,
        "control group: processes",
        Some("too many processes are refused, but do not end the tree"),
    ),
    (
        Controller::CpuTime,
        "control group: processor time",
        Some("processor time of the tree is not counted by the kernel"),
    ),
    (Controller::CpuShare, "control group: processor share", None),
    (Controller::Freezer, "control group: freezer", None),
];

fn controller_check(controller: Controller, name: &'static str) -> Check {
    let place = parents().place_of(controller);
    let refused = || match parents().refused() {
        [] => "no hierarchy of control groups offers it".to_owned(),
        reasons => reasons.join("; "),
    };
    let detail = place.map_or_else(refused, |place| format!("below {}", place.display()));
    check(name, place.is_some(), detail, GROUPS_TODO)
}

const NAMESPACES: [(&str, &str, &str); 7] = [
    ("user namespaces", "user", "user"),
    ("mount namespaces", "mnt", "mnt"),
    ("pid namespaces", "pid", "pid"),
    ("network namespaces", "net", "net"),
    ("ipc namespaces", "ipc", "ipc"),
    ("uts namespaces", "uts", "uts"),
    ("cgroup namespaces", "cgroup", "cgroup"),
];

fn namespace(name: &'static str, file: &str, limit: &str) -> Check {
    let exists = fs::symlink_metadata(format!("/proc/self/ns/{file}")).is_ok();
    let allowed = fs::read_to_string(format!("/proc/sys/user/max_{limit}_namespaces"));
    let allowed: Option<u64> = allowed.ok().and_then(|text| text.trim().parse().ok());
    let detail = allowed.map_or("no limit known".into(), |allowed| format!("at most {allowed}"));
    check(name, exists && allowed != Some(0), detail, NAMESPACES_TODO)
}

pub(crate) fn check(name: &'static str, there: bool, detail: String, todo: &'static str) -> Check {
    let (state, todo) = if there { (State::Enforced, None) } else { (State::Missing, Some(todo)) };
    Check { name, state, detail, todo }
}

fn trial() -> Result<(), String> {
    let profile = Profile::builtin("default").ok_or("the default profile is missing")?;
    let outcome = launch(&profile, Request::new(["true"])).and_then(|running| running.wait());
    match outcome.map(|outcome| outcome.exit) {
        Ok(Exit::Code(0)) => Ok(()),
        Ok(other) => Err(format!("the trial command ended unexpectedly: {other:?}")),
        Err(error) => Err(with_causes(&error)),
    }
}

pub(crate) fn with_causes(error: &SandboxError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}

fn tier(trial: Result<(), String>, landlock_abi: u32, unlimited: Vec<&str>) -> Tier {
    if let Err(reason) = trial {
        return Tier::Unavailable { reason };
    }
    let landlock = (landlock_abi < LANDLOCK_WANTED)
        .then(|| format!("Landlock has version {landlock_abi} of {LANDLOCK_WANTED}: {LANDLOCK_TODO}"));
    let groups = (!unlimited.is_empty()).then(|| format!("{}: {GROUPS_TODO}", unlimited.join(", ")));
    match [landlock, groups].into_iter().flatten().collect::<Vec<_>>() {
        reasons if reasons.is_empty() => Tier::Full,
        reasons => Tier::Degraded { reasons },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_verdict_rests_on_the_trial_first_and_on_further_layers_second() {
        assert_eq!(tier(Ok(()), 7, vec![]), Tier::Full);
        assert!(matches!(tier(Ok(()), 2, vec![]), Tier::Degraded { reasons } if reasons.len() == 1));
        assert!(matches!(tier(Ok(()), 2, vec!["memory", "time"]), Tier::Degraded { reasons } if reasons.len() == 2));
        assert_eq!(tier(Err("no".into()), 7, vec!["memory"]), Tier::Unavailable { reason: "no".into() });
    }

    #[test]
    fn every_controller_is_reported() {
        assert!(CONTROLLERS.iter().map(|entry| entry.0).eq(Controller::ALL));
    }
}
