//! The keeper's way with snapshots: taken while nothing of the run moves, forgotten when the run does not list them any more, brought
//! back, and looked at before that.
//!
//! What is saved when, and what is kept, is said by the control plane; nothing here decides it.

use std::collections::BTreeSet;
use std::time::Duration;

use placet_domain::digest::Digest;
use placet_wire::api::{HostingView, PreviewReport, RestoreReport, SnapshotReport};
use placet_wire::endpoint::{RecordSnapshot, ReportPreview, ReportRestore};
use placet_workspace::space::{SnapshotRecord, Space, SpaceError};

use super::foresee;
use super::keeper::{KeepError, Keeper};
use super::seat::{SeatError, Turn};

/// How often a snapshot is tried before the agent is ended for it.
const QUIET_ATTEMPTS: u32 = 3;
/// How long a question waits for an action under way. Nothing else of the run is attended to meanwhile.
const PATIENCE: Duration = Duration::from_secs(5);

impl Keeper {
    pub(super) async fn snapshot(&mut self, hosting: &HostingView, number: u32) -> Result<(), KeepError> {
        // First of all: an action under way has the turn until it is over, and that may be long.
        self.stand_still().await;
        let mut turn = self.seat.turn().await;
        self.settle(hosting, &mut turn).await?;
        drop(turn);
        let mut attempts = 0;
        let record = loop {
            // Where signals alone make it stand still, one can have itself woken. One that writes without end would be saved
            // half-way: it is ended, and started again when the run goes on.
            if attempts == QUIET_ATTEMPTS {
                self.end_agent().await;
            }
            attempts += 1;
            match in_space(self.seat.turn().await, move |space| save(space, number.into())).await? {
                Saved::Whole(record) => break record,
                Saved::HalfWay => self.drop_snapshot(number).await?,
                // What was reported may be on record although nobody heard the answer: that one must stay as it is.
                Saved::Before if self.is_still_wanted(hosting.wanted).await? => self.drop_snapshot(number).await?,
                Saved::Before => return Ok(()),
            }
        };
        let report = SnapshotReport {
            number,
            workspace: of_domain(record.workspace),
            memory: of_domain(record.memory),
            files: record.files,
            size_bytes: record.bytes,
        };
        let seen = self.report(RecordSnapshot { run: self.run }, &report).await?;
        // It is saved and on record: what could not be forgotten is forgotten with the next one.
        let kept = seen.snapshots.iter().map(|snapshot| u64::from(snapshot.number)).collect();
        if let Err(error) = self.forget(kept).await {
            tracing::warn!(run = %self.run, %error, "older snapshots were not removed");
        }
        Ok(())
    }

    /// What the run does not list any more, nobody can go back to.
    async fn forget(&self, kept: BTreeSet<u64>) -> Result<(), KeepError> {
        in_space(self.seat.turn().await, move |space| space.keep_only(&kept)).await
    }

    async fn drop_snapshot(&self, number: u32) -> Result<(), KeepError> {
        in_space(self.seat.turn().await, move |space| space.forget(number.into())).await
    }

    pub(super) async fn restore(&mut self, hosting: &HostingView, number: u32) -> Result<(), KeepError> {
        self.end_agent().await;
        self.seat.end_job();
        let expected = hosting.run.snapshots.iter().find(|snapshot| snapshot.number == number);
        let expected = expected.ok_or(KeepError::OtherSnapshot(number))?;
        let expected = (expected.workspace, expected.memory);
        let turn = self.seat.turn().await;
        if !turn.is_made() {
            return Err(SeatError::NotHere(turn.path().to_owned()).into());
        }
        let state = in_space(turn, move |space| {
            let record = space.record(u64::from(number))?;
            if (of_domain(record.workspace), of_domain(record.memory)) != expected {
                return Ok(None);
            }
            space.restore(u64::from(number), &record)?;
            space.state().map(Some)
        });
        let state = state.await?.ok_or(KeepError::OtherSnapshot(number))?;
        let (workspace, memory) = (of_domain(state.workspace), of_domain(state.memory));
        self.report(ReportRestore { run: self.run }, &RestoreReport { number, workspace, memory }).await.map(drop)
    }

    /// Tells what going back would change, if somebody asks. Whatever is wanted besides comes first.
    pub(super) async fn preview(&mut self, hosting: &HostingView) -> Result<(), KeepError> {
        let Some(number) = hosting.preview else { return Ok(()) };
        let (preview, failed) = match tokio::time::timeout(PATIENCE, self.seat.turn()).await {
            Err(_) => (None, Some("an action is under way; ask again when it is over".to_owned())),
            Ok(turn) => {
                self.stand_still().await;
                match in_space(turn, move |space| space.preview(number.into())).await {
                    Ok(preview) => (Some(foresee::in_words(&preview)), None),
                    Err(error) => (None, Some(error.to_string())),
                }
            }
        };
        match self.report(ReportPreview { run: self.run }, &PreviewReport { number, preview, failed }).await {
            // A question changes nothing, and is no end of a run.
            Err(error) if !error.passes() => {
                tracing::warn!(run = %self.run, %error, "a preview was not told");
                Ok(())
            }
            told => told.map(drop),
        }
    }
}

/// What became of a snapshot.
enum Saved {
    /// What there is now.
    Whole(SnapshotRecord),
    /// Something was written meanwhile: what was saved while somebody wrote is no state that ever was.
    HalfWay,
    /// It was taken before, of something else than there is now.
    Before,
}

/// Takes a snapshot, or finds the one that was taken already, and looks whether that is what there is.
fn save(space: &Space, number: u64) -> Result<Saved, SpaceError> {
    let taken_before = space.snapshots()?.contains(&number);
    let record = if taken_before { space.record(number)? } else { space.snapshot(number)? };
    let now = space.state()?;
    Ok(match (now.workspace == record.workspace && now.memory == record.memory, taken_before) {
        (true, _) => Saved::Whole(record),
        (false, true) => Saved::Before,
        (false, false) => Saved::HalfWay,
    })
}

/// Blocking work in the space, for as long as it is our turn.
async fn in_space<T: Send + 'static>(
    mut turn: Turn,
    work: impl FnOnce(&Space) -> Result<T, SpaceError> + Send + 'static,
) -> Result<T, KeepError> {
    Ok(tokio::task::spawn_blocking(move || turn.space().and_then(work)).await??)
}

pub(super) fn of_domain(digest: placet_workspace::Digest) -> Digest {
    Digest::from_bytes(*digest.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c11_a_snapshot_that_was_taken_is_found_again_and_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let space = Space::create(&dir.path().join("space"), None).unwrap();
        let Saved::Whole(first) = save(&space, 1).unwrap() else { panic!("nobody writes") };
        let Saved::Whole(again) = save(&space, 1).unwrap() else { panic!("nobody wrote") };
        assert_eq!((first.workspace, first.memory), (again.workspace, again.memory));
        std::fs::write(space.agent().join("note"), b"later").unwrap();
        assert!(matches!(save(&space, 1).unwrap(), Saved::Before));
        assert_eq!(space.record(1).unwrap().memory, first.memory, "it stays what may be on record");
    }
}
