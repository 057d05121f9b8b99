//! How many files and connections a process may have open. Shells give a program few (1,024) for the sake of very old ones and let it
//! take more; whoever serves many takes them.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Takes what this process may take. Where that fails, it goes on with what it has.
pub(crate) fn raise() {
    let limit = getrlimit(Resource::Nofile);
    if limit.current != limit.maximum {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
    }
}

/// Limit of open connections: half of all descriptors. The other half is for files, outgoing calls, and the stop socket, which must work
/// while all connections are in use.
pub(crate) fn for_connections() -> usize {
    usize::try_from(most() / 2).unwrap_or(usize::MAX)
}

/// What it may take at most.
pub(crate) fn most() -> u64 {
    getrlimit(Resource::Nofile).maximum.unwrap_or(u64::MAX)
}
