//! The filter of system calls as a file, for engines that read it from one: there only while a container is created.
//!
//! In memory, by its path in `/proc`, so that a crash leaves nothing. An engine without rights of root lives in a user
//! namespace from which that path is closed; for it the file is beside its socket, a place that both of us see.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use crate::control;

/// A filter that can be read until this is dropped.
#[derive(Debug)]
pub(super) enum FilterFile {
    InMemory(OwnedFd),
    OnDisk(PathBuf),
}

impl FilterFile {
    pub(super) fn in_memory(text: &str) -> io::Result<Self> {
        control::sealed("placet-seccomp", text.as_bytes()).map(Self::InMemory)
    }

    /// For nobody but this user, and under a name that is not there yet.
    pub(super) fn beside(socket: &Path, name: &str, text: &str) -> io::Result<Self> {
        let path = socket.with_file_name(format!("{name}.seccomp.json"));
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&path)?;
        let written = Self::OnDisk(path);
        file.write_all(text.as_bytes())?;
        Ok(written)
    }

    pub(super) fn path(&self) -> String {
        match self {
            Self::InMemory(memory) => format!("/proc/{}/fd/{}", std::process::id(), memory.as_raw_fd()),
            Self::OnDisk(path) => path.display().to_string(),
        }
    }
}

impl Drop for FilterFile {
    fn drop(&mut self) {
        match self {
            Self::InMemory(_) => {}
            Self::OnDisk(path) => drop(fs::remove_file(path)),
        }
    }
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_filter_can_be_read_by_its_path_and_leaves_nothing() {
        let directory = TempDir::new().expect("a directory");
        let socket = directory.path().join("engine.sock");
        let files = [FilterFile::in_memory("{}"), FilterFile::beside(&socket, "name", "{}")];
        for file in files.map(|file| file.expect("a file")) {
            let path = file.path();
            assert_eq!(fs::read_to_string(&path).expect("it can be read"), "{}");
            drop(file);
            assert!(fs::read_to_string(&path).is_err(), "{path}");
        }
        assert_eq!(fs::read_dir(directory.path()).expect("a directory").count(), 0);
    }

    #[test]
    fn what_is_there_already_is_not_written() {
        let directory = TempDir::new().expect("a directory");
        fs::write(directory.path().join("name.seccomp.json"), "mine").expect("a file");
        assert!(FilterFile::beside(&directory.path().join("engine.sock"), "name", "{}").is_err());
    }
}
