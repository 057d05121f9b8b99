//! How much a command has written to its workspace, told from outside.
//!
//! An engine does not count that. The file system tells at once how much more of it is in use; only when that is more
//! than the command may have, the workspace is searched for files that changed since the start. What was written to a
//! file that has no name any more is not found; each such file is still limited in size.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The kernel counts in these, whatever the file system does.
const BLOCK_BYTES: u64 = 512;

/// Clocks of file systems lag behind by as much as a tick.
const CLOCK_SLACK_SECONDS: i64 = 1;

/// The writable workspace of a container.
#[derive(Debug)]
pub(super) struct Disk {
    place: PathBuf,
    used_before_bytes: u64,
    since_seconds: i64,
}

impl Disk {
    pub(super) fn new(place: &Path) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let since_seconds = i64::try_from(now.as_secs()).unwrap_or(i64::MAX).saturating_sub(CLOCK_SLACK_SECONDS);
        Self { place: place.to_owned(), used_before_bytes: used_bytes(place), since_seconds }
    }

    /// How much was written, if that is more than allowed.
    pub(super) fn excess(&self, limit_bytes: u64) -> Option<u64> {
        let grown = used_bytes(&self.place).saturating_sub(self.used_before_bytes);
        let changed = || self.changed_below(&self.place);
        (grown > limit_bytes).then(changed).filter(|bytes| *bytes > limit_bytes)
    }

    /// Links are not followed, and what cannot be read was not written by the command.
    fn changed_below(&self, directory: &Path) -> u64 {
        let entries = fs::read_dir(directory).into_iter().flatten().flatten();
        let sizes = entries.map(|entry| match entry.metadata() {
            Ok(meta) if meta.is_dir() => self.changed_below(&entry.path()),
            Ok(meta) if self.is_new(&meta) => meta.blocks().saturating_mul(BLOCK_BYTES),
            Ok(_) | Err(_) => 0,
        });
        sizes.fold(0, u64::saturating_add)
    }

    /// The time of the last change of a file cannot be set by anybody.
    fn is_new(&self, meta: &Metadata) -> bool {
        meta.ctime() >= self.since_seconds
    }
}

/// A place that tells nothing seems empty: then nothing seems to grow.
fn used_bytes(place: &Path) -> u64 {
    rustix::fs::statvfs(place)
        .map_or(0, |stat| stat.f_blocks.saturating_sub(stat.f_bfree).saturating_mul(stat.f_frsize))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn only_what_changed_since_the_start_counts() {
        let directory = TempDir::new().expect("a directory");
        fs::create_dir(directory.path().join("sub")).expect("a directory");
        fs::write(directory.path().join("sub/new"), vec![1; 1 << 20]).expect("a file");
        let mut disk = Disk::new(directory.path());
        assert!(disk.changed_below(directory.path()) >= 1 << 20);
        disk.since_seconds += 3_600;
        assert_eq!(disk.changed_below(directory.path()), 0);
    }

    #[test]
    fn a_workspace_is_searched_only_when_its_file_system_grew() {
        let directory = TempDir::new().expect("a directory");
        fs::write(directory.path().join("new"), vec![1; 1 << 20]).expect("a file");
        let mut disk = Disk::new(directory.path());
        disk.used_before_bytes = u64::MAX;
        assert_eq!(disk.excess(1), None);
        disk.used_before_bytes = 0;
        assert!(disk.excess(1_000).is_some_and(|bytes| bytes >= 1 << 20));
    }
}
