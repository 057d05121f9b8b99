//! SHARE: how many connections one action may hold, so that all actions of a worker together leave it enough descriptors.
//!
//! Each has the same share, whether the others use theirs or not: what one of them opens is never at the cost of a neighbour, of
//! heartbeats or of the next cage. The limit is this process's own; raising it is for whoever starts the worker.

use placet_egress::Limits;
use rustix::process::{Resource, getrlimit};

/// A connection takes two descriptors, one to the cage and one to its host; and half of all are for everything else: cages and their
/// output, hosted runs, the control plane, files.
const SHARES: u64 = 4;

/// With fewer a worker starts, and its actions have to do with few connections.
pub const ENOUGH_OPEN_FILES: u64 = 1_024;

/// What this process may have open at this moment.
pub fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Connections that each of so many actions may hold at once.
pub fn connections(open_files: u64, jobs_at_once: usize) -> usize {
    let each = open_files / SHARES / jobs_at_once.max(1) as u64;
    usize::try_from(each).unwrap_or(usize::MAX).clamp(1, Limits::default().connections)
}

pub(crate) fn limits(open_files: u64, jobs_at_once: usize) -> Limits {
    let connections = connections(open_files, jobs_at_once);
    if open_files < ENOUGH_OPEN_FILES {
        tracing::warn!(
            open_files,
            connections,
            "few files may be open here, so actions have few connections; raise `ulimit -n`"
        );
    }
    Limits { connections, ..Limits::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d9_all_actions_together_hold_at_most_half_of_what_may_be_open() {
        for open_files in [64, 256, 1_024, 4_096, 65_536, u64::MAX] {
            for jobs in [1, 2, 8, 16] {
                let each = connections(open_files, jobs) as u64;
                assert!(each >= 1 && each * 2 * jobs as u64 <= open_files / 2, "{each} for {jobs} of {open_files}");
            }
        }
        assert_eq!((connections(1_024, 2), connections(4_096, 2), connections(1 << 20, 2)), (128, 512, 512));
        assert_eq!(connections(10, 64), 1, "one is always there");
    }
}
