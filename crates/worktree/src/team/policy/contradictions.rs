//! What contradicts itself within a policy, where each value alone is fine. Across files is elsewhere.

use std::collections::BTreeSet;

use super::Policy;
use crate::team::name::CheckName;

/// The branch of any agent at any ticket looks like this one.
const SOME_AGENTS_BRANCH: &str = "feat/A-1-a";
const HIGHEST_PORT: u64 = 65_535;

/// What a schema cannot see within the file.
pub(super) fn contradictions(policy: &Policy) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let checks = policy.checks.iter().map(|check| &check.name);
    found.extend(
        repeated(checks).map(|(at, name)| (format!("/checks/{at}/name"), format!("there are two checks `{name}`"))),
    );
    for (at, _) in policy.checks.iter().enumerate().filter(|(_, check)| !check.is_caged) {
        let message = "every check runs in a cage, because it runs what an agent wrote; leave the key out";
        found.push((format!("/checks/{at}/cage"), message.into()));
    }
    let steps = policy.setup.generate.iter().map(|step| &step.name);
    found.extend(
        repeated(steps)
            .map(|(at, name)| (format!("/setup/generate/{at}/name"), format!("there are two steps `{name}`"))),
    );
    for (at, command) in commands(policy) {
        if command.first().is_some_and(|program| program.trim().is_empty()) {
            found.push((format!("{at}/command/0"), "the program is empty; name it".into()));
        }
    }
    for (at, glob) in policy.protected_branches.iter().enumerate() {
        if glob.matches(SOME_AGENTS_BRANCH) {
            let message =
                format!("`{glob}` protects the very branches that agents work on (`feat/<TICKET>-<agent>`); narrow it");
            found.push((format!("/protectedBranches/{at}"), message));
        }
    }
    found.extend(of_ports(policy));
    let quotas = &policy.quotas;
    if quotas.disk_bytes_per_worktree > quotas.disk_bytes_total {
        let message = "one worktree may take more than all together (diskBytesTotal); make one of them fit";
        found.push(("/quotas/diskBytesPerWorktree".into(), message.into()));
    }
    found
}

fn commands(policy: &Policy) -> impl Iterator<Item = (String, &Vec<String>)> {
    let checks = policy.checks.iter().enumerate().map(|(at, check)| (format!("/checks/{at}"), &check.command));
    let steps =
        policy.setup.generate.iter().enumerate().map(|(at, step)| (format!("/setup/generate/{at}"), &step.command));
    checks.chain(steps)
}

fn repeated<'n>(names: impl Iterator<Item = &'n CheckName>) -> impl Iterator<Item = (usize, &'n CheckName)> {
    let mut seen = BTreeSet::new();
    names.enumerate().filter(move |(_, name)| !seen.insert(*name))
}

fn of_ports(policy: &Policy) -> Option<(String, String)> {
    let (ports, worktrees) = (&policy.ports, u64::from(policy.quotas.worktrees));
    if ports.names.len() > usize::from(ports.per_worktree) {
        let message =
            format!("{} names for {} ports per worktree; raise perWorktree", ports.names.len(), ports.per_worktree);
        return Some(("/ports/names".into(), message));
    }
    let last = u64::from(ports.first) + u64::from(ports.per_worktree) * worktrees - 1;
    let message = || {
        format!(
            "the ports of {worktrees} worktrees would end at {last}, beyond {HIGHEST_PORT}; lower first or perWorktree"
        )
    };
    (last > HIGHEST_PORT && !ports.names.is_empty()).then(|| ("/ports".into(), message()))
}
