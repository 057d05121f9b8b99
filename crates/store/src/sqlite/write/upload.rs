//! Unreferenced uploads: a row exists from the entry that keeps the bytes to the one that first names or removes them.

use placet_domain::action::{ActionCommand, ActionEvent};
use placet_domain::command::{Command, Submission};
use placet_domain::digest::Digest;
use placet_domain::identity::Actor;
use placet_domain::policy::Ruling;
use placet_domain::record::{Event, Record};
use placet_domain::retention::{depended_on, named_in};
use rusqlite::params;

use super::session::Session;
use crate::error::StoreError;
use crate::sqlite::history::Line;
use crate::sqlite::place::{Place, Thing};

impl Session<'_> {
    /// Updates the upload rows for new entries.
    pub(super) fn follow_uploads(
        &mut self,
        submission: &Submission,
        first: u64,
        records: &[Record],
        lines: &[Line],
    ) -> Result<(), StoreError> {
        let Some(project) = records.first().and_then(|record| record.about.project) else { return Ok(()) };
        let Some(place) = self.place(Thing::Project(project))? else { return Ok(()) };
        for (seq, record) in (first..).zip(records) {
            match &record.event {
                Event::BlobKept(kept) => {
                    self.begin_upload(place, &submission.actor, seq, (kept.digest, kept.size_bytes))?;
                }
                Event::BlobRemoved(removed) => self.end_upload(place, removed.digest)?,
                Event::Organisation(_)
                | Event::Project(..)
                | Event::Identity(..)
                | Event::Run(..)
                | Event::Action(..)
                | Event::Worktree(_)
                | Event::Refused(_)
                | Event::PlannerAsked(_)
                | Event::PlannerAnswered(_)
                | Event::Started(_) => {}
            }
        }
        for digest in named_by(&submission.command, records, lines) {
            self.end_upload(place, digest)?;
        }
        Ok(())
    }

    /// Inserts a row for an upload, or renews the one it has. Content of the control plane itself gets none: the code
    /// that makes it also names it. Content that the project keeps already gets none either: earlier entries may name
    /// it.
    fn begin_upload(
        &self,
        project: Place,
        actor: &Actor,
        seq: u64,
        (digest, size_bytes): (Digest, u64),
    ) -> Result<(), StoreError> {
        let Some(identity) = actor.identity() else { return Ok(()) };
        let sql = "INSERT INTO upload (project, digest, identity, size_bytes, at_ms) SELECT ?1, ?2, ?3, ?4, ?5
            WHERE EXISTS (SELECT 1 FROM upload WHERE project = ?1 AND digest = ?2)
                OR coalesce((SELECT removed FROM evidence WHERE project = ?1 AND digest = ?2 AND seq < ?6
                    ORDER BY seq DESC LIMIT 1), 1)
            ON CONFLICT (project, digest) DO UPDATE SET at_ms = excluded.at_ms";
        let values = params![project, digest.as_bytes(), identity.id.as_bytes(), size_bytes, self.now.unix_ms(), seq];
        self.conn.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn end_upload(&self, project: Place, digest: Digest) -> Result<(), StoreError> {
        let sql = "DELETE FROM upload WHERE project = ?1 AND digest = ?2";
        self.conn.prepare_cached(sql)?.execute(params![project, digest.as_bytes()])?;
        Ok(())
    }
}

/// Digests that a command names: actions name them in their sealed bytes, runs and worktrees also in their entries.
fn named_by(command: &Command, records: &[Record], lines: &[Line]) -> Vec<Digest> {
    let in_entries = || lines.iter().flat_map(|line| named_in(&line.bytes));
    match command {
        // Otherwise an agent could reset its limit with proposals that the policy denies.
        Command::Action { command: ActionCommand::Propose { .. } | ActionCommand::Amend { .. }, .. }
            if !records.iter().any(is_permitted) =>
        {
            Vec::new()
        }
        Command::Run { .. } | Command::Worktree { .. } => in_entries().chain(depended_on(command)).collect(),
        Command::Action { .. }
        | Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::KeepBlob { .. }
        | Command::RemoveBlobs { .. }
        | Command::NoteRefusal { .. }
        | Command::AskPlanner { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => depended_on(command),
    }
}

/// Checks whether an entry says that the policy lets an action be approved or executed.
fn is_permitted(record: &Record) -> bool {
    matches!(&record.event, Event::Action(_, ActionEvent::Judged { verdict, .. }) if verdict.ruling() != Ruling::Deny)
}
