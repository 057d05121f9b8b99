//! The trees that are measured, and everybody who changes something in them.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use placet_sandbox::{Exit, Layers, Profile, Request};
use placet_seal::Key;
use placet_workspace::{Digest, Space};

use crate::error::{CliError, chain};

pub(super) const DIRECTORIES: usize = 1_000;
pub(super) const FILES_IN_EACH: usize = 50;
/// Fifty thousand of them are a little more than a gigabyte.
pub(super) const BYTES_IN_EACH: usize = 21_480;
pub(super) const CHANGED: usize = APPENDED + REMOVED + ADDED;

const APPENDED: usize = 350;
const REMOVED: usize = 50;
const ADDED: usize = 100;

/// Who has the fifty thousand files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A folder of the host; the run changes some of them.
    Base,
    /// The same, and what is saved is encrypted.
    Sealed,
    /// The run made them all.
    Upper,
}

fn key(holder: Holder) -> Option<Arc<Key>> {
    (holder == Holder::Sealed).then(|| Arc::new(Key::new([7; 32])))
}

/// Everything on disk. Gone when it is dropped.
pub(super) struct Ground(PathBuf);

impl Ground {
    pub(super) fn prepare() -> Result<Self, CliError> {
        let ground = Self(std::env::temp_dir().join(format!("placet-bench-{}", uuid::Uuid::now_v7().simple())));
        fill(&ground.base(Holder::Base))?;
        fs::create_dir_all(ground.base(Holder::Upper))?;
        fs::write(ground.base(Holder::Upper).join("README"), "people's own\n")?;
        fill(&ground.git_tree())?;
        ground.git(&["init", "-q", "-b", "main"])?;
        // In its favour: nothing is compressed, and nothing is tidied up while it is measured.
        ground.git(&["config", "core.compression", "0"])?;
        ground.git(&["config", "gc.auto", "0"])?;
        ground.git(&["config", "user.name", "bench"])?;
        ground.git(&["config", "user.email", "bench@localhost"])?;
        ground.git(&["add", "-A"])?;
        ground.git(&["commit", "-q", "-m", "chore(bench): begin"])?;
        Ok(ground)
    }

    fn base(&self, holder: Holder) -> PathBuf {
        self.0.join(match holder {
            Holder::Base | Holder::Sealed => "folder",
            Holder::Upper => "small-folder",
        })
    }

    fn space(&self, holder: Holder) -> PathBuf {
        self.0.join(match holder {
            Holder::Base => "space-above-the-folder",
            Holder::Sealed => "space-above-the-folder-encrypted",
            Holder::Upper => "space-of-its-own",
        })
    }

    fn git_tree(&self) -> PathBuf {
        self.0.join("git")
    }

    pub(super) fn make_space(&self, holder: Holder) -> Result<Space, CliError> {
        let space = Space::create(&self.space(holder), Some(&self.base(holder)))?.sealed_with(key(holder));
        if holder == Holder::Upper {
            fill(&space.upper())?;
        }
        Ok(space)
    }

    pub(super) fn open(&self, holder: Holder) -> Result<Space, CliError> {
        Ok(Space::open(&self.space(holder))?.sealed_with(key(holder)))
    }

    /// A command in a cage changes five hundred files.
    pub(super) fn act(&self, holder: Holder, salt: u64) -> Result<(), CliError> {
        let space = self.open(holder)?;
        let layers = Layers::new(space.base(), space.upper(), space.work());
        let profile =
            Profile::builtin("code_development").ok_or_else(|| CliError::failed("a built-in profile is missing"))?;
        let request = Request::new(["sh", "-ec", &deeds(salt)]).limits(profile.limits()).workspace(layers);
        let ended = placet_sandbox::launch(&profile, request).and_then(|running| running.collect());
        let (outcome, output) = ended.map_err(|error| CliError::failed(chain(&error)))?;
        if outcome.exit == Exit::Code(0) {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(CliError::failed(format!("the command in the cage ended with {:?}: {said}", outcome.exit)))
    }

    /// A person adds a file of their own to the folder meanwhile.
    pub(super) fn person_works(&self, round: u64) -> Result<(), CliError> {
        for holder in [Holder::Base, Holder::Upper] {
            fs::write(self.base(holder).join(format!("notes-{round}.txt")), format!("thought {round}\n"))?;
        }
        Ok(())
    }

    /// Everything people have below the run's changes, read.
    pub(super) fn people(&self, holder: Holder) -> Result<Digest, CliError> {
        read(&self.base(holder))
    }

    /// Everything the run has, read.
    pub(super) fn everything(&self, holder: Holder) -> Result<Digest, CliError> {
        read(&self.space(holder).join("upper"))
    }

    /// The same changes, and git's way back.
    pub(super) fn git_round(&self) -> Result<Duration, CliError> {
        succeed(Command::new("sh").args(["-ec", &deeds(1)]).current_dir(self.git_tree()))?;
        let before = Instant::now();
        self.git(&["reset", "-q", "--hard"])?;
        self.git(&["clean", "-fdq"])?;
        Ok(before.elapsed())
    }

    /// The whole tree from a copy, without removing what was there before.
    pub(super) fn copy_round(&self) -> Result<Duration, CliError> {
        let copy = self.0.join("copy");
        let before = Instant::now();
        succeed(Command::new("cp").arg("-a").arg(self.base(Holder::Base)).arg(&copy))?;
        let took = before.elapsed();
        placet_workspace::remove_run(&copy).map_err(|error| CliError::failed(chain(&error)))?;
        Ok(took)
    }

    fn git(&self, arguments: &[&str]) -> Result<(), CliError> {
        succeed(Command::new("git").args(arguments).current_dir(self.git_tree()))
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Err(error) = placet_workspace::remove_run(&self.0) {
            tracing::warn!(%error, "the trees of the measurement were not removed");
        }
    }
}

fn succeed(command: &mut Command) -> Result<(), CliError> {
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(CliError::failed(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr).trim())))
}

fn name(number: usize) -> String {
    let (directory, file) = (number % DIRECTORIES, number / DIRECTORIES % FILES_IN_EACH);
    format!("part-{:02}/module-{directory:03}/file-{file:02}", directory / 50)
}

/// Files with content of their own, none like another.
fn fill(root: &Path) -> Result<(), CliError> {
    for number in 0..DIRECTORIES * FILES_IN_EACH {
        let file = root.join(name(number));
        if number < DIRECTORIES {
            fs::create_dir_all(file.parent().unwrap_or(root))?;
        }
        fs::write(file, content(number))?;
    }
    Ok(())
}

/// Bytes that no compression makes smaller.
fn content(number: usize) -> Vec<u8> {
    let mut state = (number as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut bytes = Vec::with_capacity(BYTES_IN_EACH + 8);
    while bytes.len() < BYTES_IN_EACH {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend(state.to_le_bytes());
    }
    bytes.truncate(BYTES_IN_EACH);
    bytes
}

/// Appends to some files, removes others that nobody removed before, adds new ones.
fn deeds(salt: u64) -> String {
    let salt = usize::try_from(salt).unwrap_or_default();
    let appended = (0..APPENDED).map(|number| format!("echo {salt} >> {}", name(number * 89)));
    let first_removed = DIRECTORIES * FILES_IN_EACH - (salt + 1) * REMOVED;
    let removed = (0..REMOVED).map(|number| format!("rm {}", name(first_removed + number)));
    let added = (0..ADDED).map(|number| format!("echo {number} > new-{salt}/{number}"));
    let make = std::iter::once(format!("mkdir new-{salt}"));
    appended.chain(removed).chain(make).chain(added).collect::<Vec<_>>().join("\n")
}

/// One digest of all names, kinds, modes, times and contents below a directory.
fn read(root: &Path) -> Result<Digest, CliError> {
    let mut lines = Vec::new();
    read_below(root, &mut lines)?;
    Ok(Digest::of(&lines))
}

fn read_below(dir: &Path, lines: &mut Vec<u8>) -> Result<(), CliError> {
    let mut entries = fs::read_dir(dir)?.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let meta = entry.metadata()?;
        let content = if meta.is_file() { Digest::of(&fs::read(entry.path())?) } else { Digest::of(b"") };
        lines.extend_from_slice(entry.file_name().as_bytes());
        let time = if meta.is_file() { meta.mtime_nsec() } else { 0 };
        lines.extend(format!(" {:o} {time} {content}\n", meta.mode()).into_bytes());
        if meta.is_dir() {
            read_below(&entry.path(), lines)?;
        }
    }
    Ok(())
}
