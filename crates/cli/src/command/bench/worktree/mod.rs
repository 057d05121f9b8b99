//! Worktrees beside git itself, on a large repository with every fiftieth file changed: whole commands, each in a process
//! of its own. It runs in rounds; in each, git and `placet` do the same thing one right after the other, and who is first
//! changes from round to round.
//!
//! Nothing is removed between rounds: ext4 looks for a long time before it uses the number of a file that was removed in
//! the last minutes, and every later checkout would pay for it. So disk is bounded by the number of rounds, and time by
//! beginning none late. Whatever ends the measurement also removes its repository.

mod ground;
mod turns;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

pub(super) use self::ground::Ground;
use self::turns::{Alone, Pair, load};
use crate::command::serve::told_to_stop;
use crate::error::CliError;

/// No round begins later than this: the slowest one that was seen took two minutes.
const LAST_BEGIN: Duration = Duration::from_secs(7 * 60);

/// How much is measured.
#[derive(Debug, Clone, Copy)]
pub(super) struct Size {
    pub(super) files: usize,
    pub(super) rounds: usize,
}

/// Whether somebody wants it to end.
#[derive(Debug, Clone, Default)]
struct Stop(Arc<AtomicBool>);

impl Stop {
    fn check(&self) -> Result<(), CliError> {
        match self.0.load(Ordering::Relaxed) {
            true => Err(CliError::failed("stopped; the repository of the measurement is removed")),
            false => Ok(()),
        }
    }
}

/// Measures until it is done or somebody says stop. What is left on disk goes with the ground, which takes long: whoever
/// waits for the report can have it first.
pub(super) async fn measure(size: Size) -> Result<(Value, Ground), CliError> {
    let stop = Stop::default();
    let mut measuring = tokio::task::spawn_blocking({
        let stop = stop.clone();
        move || rounds(size, stop)
    });
    let ended = tokio::select! {
        ended = &mut measuring => ended,
        () = told_to_stop() => {
            stop.0.store(true, Ordering::Relaxed);
            measuring.await
        }
    };
    ended.map_err(|error| CliError::failed(error.to_string()))?
}

fn rounds(size: Size, stop: Stop) -> Result<(Value, Ground), CliError> {
    let ground = Ground::prepare(size, stop)?;
    let mut measured = Measured::default();
    // The first of a commit makes the checkout that the others share.
    measured.first_overlay.push(ground.start("FIRST-1", &["--overlay"])?);
    let began = Instant::now();
    for round in 0..size.rounds {
        if began.elapsed() > LAST_BEGIN {
            break;
        }
        measured.loads.push(load());
        measured.round(&ground, round)?;
    }
    Ok((measured.told(size.files, ground.changed()), ground))
}

/// The tickets of one round.
struct Tickets {
    plain: String,
    overlay: String,
}

#[derive(Default)]
struct Measured {
    loads: Vec<f64>,
    start: Pair,
    first_overlay: Alone,
    overlay: Alone,
    check: Pair,
    check_with_secrets: Alone,
    exec_plain: Alone,
    first_exec_overlay: Alone,
    exec_overlay: Alone,
    first_status: Alone,
    second_status: Alone,
    check_overlay: Alone,
    disk: Value,
}

impl Measured {
    fn round(&mut self, ground: &Ground, round: usize) -> Result<(), CliError> {
        let tickets = Tickets { plain: format!("PLAIN-{round}"), overlay: format!("OVERLAY-{round}") };
        self.starts(ground, round, &tickets)?;
        self.checks(ground, round, &tickets.plain)?;
        self.cages(ground, &tickets)
    }

    fn starts(&mut self, ground: &Ground, round: usize, tickets: &Tickets) -> Result<(), CliError> {
        self.start.round(round, || ground.start(&tickets.plain, &[]), || ground.add_by_git(round))?;
        rustix::fs::sync();
        self.overlay.push(ground.start(&tickets.overlay, &["--overlay"])?);
        self.disk = json!({
            "plain": ground.disk_bytes(&tickets.plain)?,
            "overlay": ground.disk_bytes(&tickets.overlay)?,
            "overlay_of_which_index": ground.index_bytes(&tickets.overlay)?,
        });
        Ok(())
    }

    /// Twice, so that each is first once in every round.
    fn checks(&mut self, ground: &Ground, round: usize, plain: &str) -> Result<(), CliError> {
        ground.change(plain)?;
        // From the first `git status` on, git's index knows the new files; both then find the same.
        ground.status_and_diff(plain)?;
        for turn in 0..2 {
            let ours = || ground.check(plain, &["--names-only"]);
            self.check.round(round + turn, ours, || ground.status_and_diff(plain))?;
        }
        self.check_with_secrets.push(ground.check(plain, &[])?);
        Ok(())
    }

    fn cages(&mut self, ground: &Ground, tickets: &Tickets) -> Result<(), CliError> {
        self.exec_plain.push(ground.exec(&tickets.plain, "true")?.took);
        // The first command works out what the mounts of the cage are; the next ones find that.
        self.first_exec_overlay.push(ground.exec(&tickets.overlay, "true")?.took);
        self.exec_overlay.push(ground.exec(&tickets.overlay, "true")?.took);
        let [first, second] = ground.status_in_cage(&tickets.overlay)?;
        self.first_status.push(first);
        self.second_status.push(second);
        ground.change_in_cage(&tickets.overlay)?;
        self.check_overlay.push(ground.check(&tickets.overlay, &["--names-only"])?);
        self.disk["overlay_with_changes"] = json!(ground.disk_bytes(&tickets.overlay)?);
        Ok(())
    }

    fn told(self, files: usize, changed: usize) -> Value {
        json!({
            "files": files,
            "changed": changed,
            "rounds": self.loads.len(),
            "load_average": self.loads,
            "start_beside_git_worktree_add": self.start.told(),
            "overlay_start": self.overlay.told(),
            "overlay_start_times_faster_than_git_worktree_add": self.overlay.times_faster(self.start.git()),
            "first_overlay_start": self.first_overlay.told(),
            "scope_check_beside_git_status_and_diff": self.check.told(),
            "scope_check_with_secrets": self.check_with_secrets.told(),
            "scope_check_of_overlay": self.check_overlay.told(),
            "exec_true": self.exec_plain.told(),
            "first_exec_true_in_overlay": self.first_exec_overlay.told(),
            "exec_true_in_overlay": self.exec_overlay.told(),
            "git_status_in_new_overlay_cage": self.first_status.told(),
            "git_status_again_in_overlay_cage": self.second_status.told(),
            "disk_bytes": self.disk,
        })
    }
}
