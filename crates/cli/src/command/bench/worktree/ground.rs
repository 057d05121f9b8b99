//! The large repository that worktrees are measured on, and what is done in it. Gone when it is dropped.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use placet_workspace::{Repository, Worktree};

use super::{Size, Stop};
use crate::command::worktree::failed;
use crate::error::CliError;

const FILES_IN_EACH: usize = 100;
const MODULES_IN_EACH: usize = 50;

/// One file in so many is changed.
const CHANGED_EVERY: usize = 50;

/// A block for every file of a checkout, and room to spare.
const ROOM_PER_FILE_BYTES: u64 = 5 << 10;

/// All of these measurements are called so.
const PREFIX: &str = "placet-bench-";

pub(in super::super) struct Ground {
    home: PathBuf,
    files: usize,
    stop: Stop,
    /// Held for as long as somebody measures here.
    _lock: File,
}

/// What a command printed, and how long it took.
pub(super) struct Ran {
    pub(super) took: Duration,
    pub(super) stdout: String,
}

impl Ground {
    pub(super) fn prepare(size: Size, stop: Stop) -> Result<Self, CliError> {
        let (temporary, files) = (std::env::temp_dir(), size.files);
        clear_abandoned(&temporary);
        check_room(&temporary, size)?;
        let home = temporary.join(format!("{PREFIX}{}", uuid::Uuid::now_v7().simple()));
        fs::create_dir(&home)?;
        let lock = File::create(home.join("lock"))?;
        lock.try_lock().map_err(|error| CliError::failed(error.to_string()))?;
        let ground = Self { home, files, stop, _lock: lock };
        fs::create_dir(ground.root())?;
        ground.fill()?;
        Ok(ground)
    }

    /// One commit with all files, straight into a pack: nothing is left for git to tidy up meanwhile.
    fn fill(&self) -> Result<(), CliError> {
        self.git(&["init", "-q", "-b", "main"])?;
        for (name, value) in [("gc.auto", "0"), ("maintenance.auto", "false")] {
            self.git(&["config", name, value])?;
        }
        for (name, value) in [("user.name", "bench"), ("user.email", "bench@localhost")] {
            self.git(&["config", name, value])?;
        }
        self.import()?;
        self.git(&["reset", "-q", "--hard"])?;
        self.placet(&["init", "--address", "127.0.0.1:9"])?;
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", "chore(bench): begin"])?;
        Ok(())
    }

    fn import(&self) -> Result<(), CliError> {
        let mut importing = Command::new("git");
        importing.current_dir(self.root()).args(["fast-import", "--quiet"]).stdin(Stdio::piped());
        let mut importing = importing.spawn()?;
        let input = importing.stdin.take().ok_or_else(|| CliError::failed("git takes no input"))?;
        let written = self.write_import(BufWriter::new(input));
        let ended = importing.wait()?;
        written?;
        if ended.success() { Ok(()) } else { Err(CliError::failed("`git fast-import` failed")) }
    }

    fn write_import(&self, mut stream: impl std::io::Write) -> Result<(), CliError> {
        write!(stream, "commit refs/heads/main\ncommitter bench <bench@localhost> 1700000000 +0000\ndata 1\n.\n")?;
        for number in 0..self.files {
            self.stop.check()?;
            let text = format!("pub fn number_{number}() -> u32 {{\n    {number}\n}}\n").repeat(8);
            write!(stream, "M 100644 inline {}\ndata {}\n{text}\n", name(number), text.len())?;
        }
        Ok(stream.flush()?)
    }

    fn root(&self) -> PathBuf {
        self.home.join("repository")
    }

    fn worktree_path(&self, ticket: &str) -> PathBuf {
        self.root().join(format!(".worktrees/{ticket}/backend"))
    }

    fn worktree(&self, ticket: &str) -> Result<Worktree, CliError> {
        let name = format!("{ticket}-backend").parse().map_err(failed)?;
        Repository::find(&self.root()).map_err(failed)?.worktree(&name).map_err(failed)
    }

    /// How many files differ when something was changed.
    pub(super) fn changed(&self) -> usize {
        self.files.div_ceil(CHANGED_EVERY)
    }

    pub(super) fn start(&self, ticket: &str, options: &[&str]) -> Result<Duration, CliError> {
        let command = ["start", "--agent", "backend", "--ticket", ticket];
        Ok(self.placet(&[&command, options].concat())?.took)
    }

    pub(super) fn add_by_git(&self, round: usize) -> Result<Duration, CliError> {
        let (branch, place) = (format!("by-git-{round}"), format!("../by-git-{round}"));
        Ok(self.git(&["worktree", "add", "-q", "-b", &branch, &place])?.took)
    }

    pub(super) fn disk_bytes(&self, ticket: &str) -> Result<u64, CliError> {
        self.worktree(ticket)?.disk_bytes().map_err(failed)
    }

    pub(super) fn index_bytes(&self, ticket: &str) -> Result<u64, CliError> {
        Ok(fs::metadata(self.worktree(ticket)?.git_dir().join("index"))?.len())
    }

    /// Every fiftieth file has a line more.
    pub(super) fn change(&self, ticket: &str) -> Result<(), CliError> {
        let root = self.worktree_path(ticket);
        for number in (0..self.files).step_by(CHANGED_EVERY) {
            self.stop.check()?;
            writeln!(fs::OpenOptions::new().append(true).open(root.join(name(number)))?, "// changed")?;
        }
        Ok(())
    }

    /// The same by the agent.
    pub(super) fn change_in_cage(&self, ticket: &str) -> Result<(), CliError> {
        let list: Vec<String> = (0..self.files).step_by(CHANGED_EVERY).map(name).collect();
        for some in list.chunks(500) {
            self.exec(ticket, &format!("for file in {}; do echo '// changed' >> $file; done", some.join(" ")))?;
        }
        Ok(())
    }

    /// What git is asked for the same answer as a scope-check gives.
    pub(super) fn status_and_diff(&self, ticket: &str) -> Result<Duration, CliError> {
        let at = self.worktree_path(ticket);
        let status =
            self.run(Command::new("git").current_dir(&at).args(["status", "--porcelain=v2", "-z"]).args(EVERYTHING))?;
        let diff = self.run(Command::new("git").current_dir(&at).args(["diff", "--name-status", "-z", "main"]))?;
        Ok(status.took + diff.took)
    }

    pub(super) fn check(&self, ticket: &str, options: &[&str]) -> Result<Duration, CliError> {
        let command = ["scope-check", "--agent", "backend", "--ticket", ticket, "--json"];
        Ok(self.placet(&[&command, options].concat())?.took)
    }

    pub(super) fn exec(&self, ticket: &str, script: &str) -> Result<Ran, CliError> {
        self.placet(&["exec", "--agent", "backend", "--ticket", ticket, "--", "sh", "-c", script])
    }

    /// How long `git status` takes where the agent is: the first time, and again.
    pub(super) fn status_in_cage(&self, ticket: &str) -> Result<[Duration; 2], CliError> {
        let look = "git status --porcelain > /dev/null && date +%s%N";
        let printed = self.exec(ticket, &format!("date +%s%N && {look} && {look}"))?.stdout;
        let times: Vec<u64> = printed.lines().filter_map(|line| line.trim().parse().ok()).collect();
        let [begun, first, second] = times[..] else {
            return Err(CliError::failed(format!("no times in `{}`", printed.trim())));
        };
        Ok([first - begun, second - first].map(Duration::from_nanos))
    }

    fn git(&self, arguments: &[&str]) -> Result<Ran, CliError> {
        self.run(Command::new("git").current_dir(self.root()).args(arguments))
    }

    fn placet(&self, arguments: &[&str]) -> Result<Ran, CliError> {
        self.run(Command::new(std::env::current_exe()?).current_dir(self.root()).args(arguments))
    }

    fn run(&self, command: &mut Command) -> Result<Ran, CliError> {
        self.stop.check()?;
        let before = Instant::now();
        let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
        let took = before.elapsed();
        self.stop.check()?;
        if output.status.success() {
            return Ok(Ran { took, stdout: String::from_utf8_lossy(&output.stdout).into_owned() });
        }
        let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
        Err(CliError::failed(format!("{command:?} failed: {said}")))
    }
}

const EVERYTHING: [&str; 2] = ["--untracked-files=all", "--ignored"];

fn name(number: usize) -> String {
    let module = number / FILES_IN_EACH;
    format!("src/part-{:02}/module-{module:03}/file-{number}.rs", module / MODULES_IN_EACH)
}

/// The main checkout and the shared base; and in every round two worktrees and the changes of a third.
fn check_room(temporary: &Path, size: Size) -> Result<(), CliError> {
    let disk = rustix::fs::statvfs(temporary).map_err(std::io::Error::from)?;
    let checkouts = 2 + 3 * size.rounds as u64;
    let needed = checkouts.saturating_mul(size.files as u64).saturating_mul(ROOM_PER_FILE_BYTES);
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free >= needed {
        return Ok(());
    }
    let message = format!("the measurement needs {needed} bytes below `{}`, and {free} are free", temporary.display());
    Err(CliError::failed(message).hint("name another place with TMPDIR, or less with --files and --rounds"))
}

/// What a measurement left that was killed: nobody holds its lock.
fn clear_abandoned(temporary: &Path) {
    let Ok(entries) = fs::read_dir(temporary) else { return };
    let ours = |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with(PREFIX);
    for home in entries.flatten().filter(ours).map(|entry| entry.path()) {
        let is_free = File::open(home.join("lock")).is_ok_and(|lock| lock.try_lock().is_ok());
        if is_free {
            remove(&home);
        }
    }
}

fn remove(home: &Path) {
    if let Err(error) = placet_workspace::remove_run(home) {
        tracing::warn!(%error, "the repository of a measurement was not removed");
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        remove(&self.home);
    }
}
