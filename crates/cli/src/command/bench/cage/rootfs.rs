//! A root for launchers that want one: an empty directory with the places and links of a profile, above which they mount
//! the host's own programs. Nothing is copied, and it is removed at the end.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use placet_sandbox::{MountKind, Profile};

use crate::error::CliError;

pub(super) struct Rootfs {
    /// Holds the root, and what the launchers keep for themselves.
    directory: PathBuf,
    /// Directories of the host, each mounted read-only at the same place.
    pub(super) host: Vec<PathBuf>,
    /// Scratch places, with their sizes.
    pub(super) scratch: Vec<(PathBuf, u64)>,
}

impl Rootfs {
    pub(super) fn make(profile: &Profile) -> Result<Self, CliError> {
        // Short, because podman takes no long paths: the random end of a number that begins with the time.
        let number = uuid::Uuid::now_v7().simple().to_string();
        let directory = std::env::temp_dir().join(format!("placet-bench-{}", &number[20..]));
        fs::DirBuilder::new().mode(0o700).create(&directory)?;
        let mut rootfs = Self { directory, host: Vec::new(), scratch: Vec::new() };
        for place in ["root/proc", "root/dev", "root/etc", "root/sys"] {
            fs::create_dir_all(rootfs.place(place))?;
        }
        for mount in profile.mounts() {
            rootfs.add(Path::new(mount.at.as_ref()), &mount.what)?;
        }
        Ok(rootfs)
    }

    /// A path of its own beside the root.
    pub(super) fn place(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn add(&mut self, at: &Path, what: &MountKind) -> Result<(), CliError> {
        let inside = self.place("root").join(at.strip_prefix("/").unwrap_or(at));
        match what {
            MountKind::Host => match fs::read_link(at) {
                Ok(target) => symlink(target, inside)?,
                Err(_) if at.is_dir() => {
                    fs::create_dir_all(inside)?;
                    self.host.push(at.to_owned());
                }
                Err(_) => {}
            },
            // Launchers have their own /dev, with a place for shared memory in it.
            MountKind::Scratch { size_bytes, .. } if !at.starts_with("/dev") => {
                fs::create_dir_all(inside)?;
                self.scratch.push((at.to_owned(), *size_bytes));
            }
            MountKind::Directory if !at.starts_with("/dev") => fs::create_dir_all(inside)?,
            MountKind::HostAt(_)
            | MountKind::Scratch { .. }
            | MountKind::Directory
            | MountKind::File(_)
            | MountKind::Link(_)
            | MountKind::Device
            | MountKind::Proc
            | MountKind::Frozen
            | MountKind::Masked => {}
        }
        Ok(())
    }
}

impl Drop for Rootfs {
    fn drop(&mut self) {
        // What a launcher left mounted there cannot be removed, and must not be.
        let _ = fs::remove_dir_all(&self.directory);
    }
}
