//! Worktrees beside git itself, on a repository of a hundred thousand files with two thousand changed: whole commands,
//! each in a process of its own, in turns, so that what else the machine does meets all of them.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::stats::Times;
use crate::error::CliError;

const DIRECTORIES: usize = 1_000;
const FILES_IN_EACH: usize = 100;
const CHANGED: usize = 2_000;
const ROUNDS: usize = 3;

pub(super) fn measure() -> Result<Value, CliError> {
    let ground = Ground::prepare()?;
    let mut report = json!({ "files": DIRECTORIES * FILES_IN_EACH, "changed": CHANGED, "rounds": ROUNDS });
    let [mut added, mut plain, mut layered, mut asked, mut checked] = [(); 5].map(|()| Times::default());
    // The first of a commit makes the checkout that the others share.
    report["first_overlay_start_ms"] = json!(ms(ground.start(0, &["--overlay"])?));
    for round in 1..=ROUNDS {
        added.push(ground.git(&[
            "worktree",
            "add",
            "-q",
            "-b",
            &format!("by-git-{round}"),
            &format!("../by-git-{round}"),
        ])?);
        plain.push(ground.start(round, &[])?);
        layered.push(ground.start(100 + round, &["--overlay"])?);
        ground.change(round)?;
        let at = ground.at(round);
        let status = ground.git_in(&at, &["status", "--porcelain=v2", "-z", "--untracked-files=all", "--ignored"])?;
        asked.push(status + ground.git_in(&at, &["diff", "--name-status", "-z", "main"])?);
        let ticket = format!("BIG-{round}");
        checked.push(ground.placet(&[
            "scope-check",
            "--agent",
            "backend",
            "--ticket",
            &ticket,
            "--names-only",
            "--json",
        ])?);
    }
    report["start_beside_git_worktree_add"] = plain.over(&mut added);
    report["start_overlay_beside_git_worktree_add"] = layered.over(&mut added);
    report["scope_check_beside_git_status_and_diff"] = checked.over(&mut asked);
    for (name, times) in [
        ("git_worktree_add", &mut added),
        ("start", &mut plain),
        ("start_overlay", &mut layered),
        ("git_status_and_diff", &mut asked),
        ("scope_check", &mut checked),
    ] {
        report[name] = times.spread_ms();
    }
    Ok(report)
}

fn ms(took: Duration) -> f64 {
    took.as_secs_f64() * 1_000.0
}

/// A large repository with a team in it. Gone when it is dropped.
struct Ground(std::path::PathBuf);

impl Ground {
    fn prepare() -> Result<Self, CliError> {
        let ground = Self(std::env::temp_dir().join(format!("placet-bench-{}", uuid::Uuid::now_v7().simple())));
        for directory in 0..DIRECTORIES {
            let place = ground.root().join(format!("src/part-{:02}/module-{directory:03}", directory / 50));
            fs::create_dir_all(&place)?;
            for file in 0..FILES_IN_EACH {
                let line = format!("pub fn number_{directory}_{file}() -> u32 {{\n    {file}\n}}\n");
                fs::write(place.join(format!("file-{file:02}.rs")), line.repeat(8))?;
            }
        }
        ground.git(&["init", "-q", "-b", "main"])?;
        // Git would tidy up in the background and meet the measurement.
        ground.git(&["config", "gc.auto", "0"])?;
        ground.git(&["config", "user.name", "bench"])?;
        ground.git(&["config", "user.email", "bench@localhost"])?;
        ground.placet(&["init", "--address", "127.0.0.1:9"])?;
        ground.git(&["add", "-A"])?;
        ground.git(&["commit", "-q", "-m", "chore(bench): begin"])?;
        ground.git(&["gc", "-q"])?;
        Ok(ground)
    }

    fn root(&self) -> std::path::PathBuf {
        self.0.join("repository")
    }

    fn at(&self, round: usize) -> std::path::PathBuf {
        self.root().join(format!(".worktrees/BIG-{round}/backend"))
    }

    fn start(&self, number: usize, options: &[&str]) -> Result<Duration, CliError> {
        let ticket = format!("BIG-{number}");
        self.placet(&[&["start", "--agent", "backend", "--ticket", &ticket], options].concat())
    }

    /// Every fiftieth file has a line more.
    fn change(&self, round: usize) -> Result<(), CliError> {
        for number in 0..CHANGED {
            let (directory, file) = (number % DIRECTORIES, number / DIRECTORIES);
            let name = format!("src/part-{:02}/module-{directory:03}/file-{file:02}.rs", directory / 50);
            let path = self.at(round).join(name);
            let text = fs::read_to_string(&path)?;
            fs::write(&path, format!("{text}// changed\n"))?;
        }
        Ok(())
    }

    fn git(&self, arguments: &[&str]) -> Result<Duration, CliError> {
        self.git_in(&self.root(), arguments)
    }

    fn git_in(&self, dir: &Path, arguments: &[&str]) -> Result<Duration, CliError> {
        timed(Command::new("git").current_dir(dir).args(arguments))
    }

    fn placet(&self, arguments: &[&str]) -> Result<Duration, CliError> {
        timed(Command::new(std::env::current_exe()?).current_dir(self.root()).args(arguments))
    }
}

fn timed(command: &mut Command) -> Result<Duration, CliError> {
    let before = Instant::now();
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output()?;
    let took = before.elapsed();
    if output.status.success() {
        return Ok(took);
    }
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(CliError::failed(format!("{command:?} failed: {said}")))
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Err(error) = placet_workspace::remove_run(&self.0) {
            tracing::warn!(%error, "the repository of the measurement was not removed");
        }
    }
}
