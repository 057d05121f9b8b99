//! Rollback of a workspace of fifty thousand files and a gigabyte with five hundred of them changed, beside what people
//! would do without: `git reset --hard` with `git clean`, and copying the whole tree from a saved copy.
//!
//! Three times: with everything in a folder of the host, of which the run changes a part, the same with snapshots that are encrypted, and
//! with everything made by the run itself. Changes are made by a command in a real cage. After every rollback everything is read and compared with what
//! was there; that is not part of the time.

mod ground;

use std::time::{Duration, Instant};

use placet_workspace::SpaceError;
use serde_json::{Value, json};

use super::stats::Times;
use crate::error::CliError;
use ground::{BYTES_IN_EACH, CHANGED, DIRECTORIES, FILES_IN_EACH, Ground, Holder};

pub(super) fn measure(rounds: u64) -> Result<Value, CliError> {
    let ground = Ground::prepare()?;
    let files = DIRECTORIES * FILES_IN_EACH;
    let mut report = json!({ "files": files, "bytes": files * BYTES_IN_EACH, "changed": CHANGED, "rounds": rounds });
    let begin = |holder| Measured::begin(&ground, holder);
    let [mut base, mut sealed, mut upper] = [begin(Holder::Base)?, begin(Holder::Sealed)?, begin(Holder::Upper)?];
    let [mut git, mut copied] = [(); 2].map(|()| Times::default());
    for round in 1..=rounds {
        base.round(&ground, round)?;
        sealed.round(&ground, round)?;
        upper.round(&ground, round)?;
        git.push(ground.git_round()?);
        // Many times as long as the others: once is enough to know.
        if round == 1 {
            copied.push(ground.copy_round()?);
        }
    }
    for measured in [&mut base, &mut sealed, &mut upper] {
        report[measured.name] = measured.report(&mut git);
    }
    report["git_reset_and_clean"] = git.spread_ms();
    report["copy_of_the_whole_tree"] = copied.spread_ms();
    Ok(report)
}

/// One space and how long everything took in it.
struct Measured {
    name: &'static str,
    holder: Holder,
    first: Duration,
    snapshots: Times,
    previews: Times,
    rollbacks: Times,
    /// How long a processor was at work on it: on a busy machine, a rollback waits for the others.
    at_work: Times,
}

impl Measured {
    fn begin(ground: &Ground, holder: Holder) -> Result<Self, CliError> {
        let space = ground.make_space(holder)?;
        let (first, _) = timed(|| space.snapshot(0))?;
        let name = match holder {
            Holder::Base => "in_a_folder_of_the_host",
            Holder::Sealed => "in_a_folder_of_the_host_encrypted",
            Holder::Upper => "made_by_the_run",
        };
        let [snapshots, previews, rollbacks, at_work] = [(); 4].map(|()| Times::default());
        Ok(Self { name, holder, first, snapshots, previews, rollbacks, at_work })
    }

    /// Changes, a snapshot, other changes of the same files, a look at what a rollback would do, the rollback.
    fn round(&mut self, ground: &Ground, round: u64) -> Result<(), CliError> {
        ground.act(self.holder, round)?;
        let space = ground.open(self.holder)?;
        let (took, record) = timed(|| space.snapshot(round))?;
        self.snapshots.push(took);
        let then = ground.everything(self.holder)?;
        ground.act(self.holder, round + 100)?;
        ground.person_works(round)?;
        let people = ground.people(self.holder)?;
        let (took, preview) = timed(|| space.preview(round))?;
        self.previews.push(took);
        let seen = preview.workspace.listed.len() as u64;
        drop(space);
        // The whole of it, as a worker that was started a moment ago would do it.
        let (before, at_work_before) = (Instant::now(), at_work()?);
        let space = ground.open(self.holder)?;
        space.restore(round, &record)?;
        self.rollbacks.push(before.elapsed());
        self.at_work.push(at_work()?.saturating_sub(at_work_before));
        let same = ground.everything(self.holder)? == then && space.state()? == record.state();
        let intact = ground.people(self.holder)? == people;
        if same && intact && seen >= CHANGED as u64 {
            return Ok(());
        }
        let said =
            format!("the rollback is wrong: same {same}, people's files intact {intact}, {seen} paths previewed");
        Err(CliError::failed(said))
    }

    fn report(&mut self, git: &mut Times) -> Value {
        json!({
            "first_snapshot_ms": super::stats::round(self.first.as_secs_f64() * 1_000.0),
            "snapshot": self.snapshots.spread_ms(),
            "preview": self.previews.spread_ms(),
            "rollback": self.rollbacks.spread_ms(),
            "rollback_processor": self.at_work.spread_ms(),
            "rollback_over_git": self.rollbacks.over(git),
            "identical": true,
            "files_of_people_intact": true,
        })
    }
}

fn timed<T, E: Into<CliError>>(act: impl FnOnce() -> Result<T, E>) -> Result<(Duration, T), CliError> {
    let before = Instant::now();
    let done = act().map_err(Into::into)?;
    Ok((before.elapsed(), done))
}

/// How long a processor was at work for this thread.
fn at_work() -> Result<Duration, CliError> {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat")?;
    let nanoseconds = told.split_whitespace().next().and_then(|first| first.parse().ok());
    nanoseconds.map(Duration::from_nanos).ok_or_else(|| CliError::failed("the kernel does not tell processor time"))
}

impl From<SpaceError> for CliError {
    fn from(error: SpaceError) -> Self {
        Self::failed(crate::error::chain(&error))
    }
}
