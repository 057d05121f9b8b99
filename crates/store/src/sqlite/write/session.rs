//! An open transaction of SQLite as a unit of work: rows by key, through the writer's cache, and appended entries.

use std::collections::BTreeSet;
use std::ops::Range;

use placet_domain::action::ActionState;
use placet_domain::approval::Asking;
use placet_domain::command::About;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::identity::{Actor, Identity};
use placet_domain::organisation::Organisation;
use placet_domain::project::Project;
use placet_domain::run::{Beside, Questions, Run};
use placet_domain::time::Timestamp;
use placet_domain::worktree::Worktree;
use placet_ledger::Tree;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use super::cache::Cache;
use super::ready;
use crate::error::StoreResult;
use crate::receipt::Lease;
use crate::sqlite::place::{self, Place};
use crate::sqlite::read;
use crate::unit::{NewEntry, RowChange, StoredLine, Thing, UnitOfWork, WaitingRun};

pub(super) struct Session<'a> {
    pub(super) conn: &'a Connection,
    pub(super) tree: &'a mut Tree,
    pub(super) cache: &'a mut Cache,
    pub(super) now: Timestamp,
    /// Whether an entry was added that changes more than amounts.
    pub(super) is_moved: bool,
}

impl<'a> Session<'a> {
    pub(super) fn new(conn: &'a Connection, tree: &'a mut Tree, cache: &'a mut Cache, now: Timestamp) -> Self {
        Self { conn, tree, cache, now, is_moved: false }
    }

    /// Returns the places of the things that an entry names: the one whose state it changes, unless that is an action's, and its project,
    /// run and action.
    fn places(&mut self, entry: &NewEntry, seq: u64) -> StoreResult<[Option<Place>; 4]> {
        let About { project, run, action } = entry.about;
        let subject = entry.changes.filter(|thing| !matches!(thing, Thing::Action(_)));
        let named = [subject, project.map(Thing::Project), run.map(Thing::Run), action.map(Thing::Action)];
        let mut places = [None; 4];
        for (place, thing) in places.iter_mut().zip(named) {
            let Some(thing) = thing else { continue };
            *place = self.place(thing)?;
            // A thing without a place that this entry changes is made by it.
            if place.is_none() && entry.changes == Some(thing) {
                self.cache.keep_place(thing, seq);
                *place = Some(seq);
            }
        }
        Ok(places)
    }

    pub(super) fn place(&mut self, thing: Thing) -> StoreResult<Option<Place>> {
        if let Some(place) = self.cache.place(thing) {
            return Ok(Some(place));
        }
        Ok(place::place(self.conn, thing)?.inspect(|place| self.cache.keep_place(thing, *place)))
    }
}

impl UnitOfWork for Session<'_> {
    fn credential(&mut self, id: IdentityId) -> StoreResult<Option<Digest>> {
        if let Some(token) = self.cache.token(id) {
            return Ok(token);
        }
        let stored = read::identity(self.conn, id)?;
        let token = stored.filter(|stored| !stored.revoked).map(|stored| stored.token);
        self.cache.keep_token(id, token);
        Ok(token)
    }

    fn identity(&mut self, id: IdentityId) -> StoreResult<Option<Identity>> {
        read::identity(self.conn, id)
    }

    fn identities(&mut self) -> StoreResult<Vec<Identity>> {
        read::identities(self.conn)
    }

    fn count_named(&mut self, name: &str) -> StoreResult<u64> {
        read::count_named(self.conn, name)
    }

    fn is_token_taken(&mut self, token: Digest) -> StoreResult<bool> {
        read::is_token_taken(self.conn, token)
    }

    fn organisation(&mut self) -> StoreResult<Organisation> {
        if let Some(organisation) = self.cache.organisation() {
            return Ok(organisation.clone());
        }
        read::organisation(self.conn).inspect(|organisation| self.cache.keep_organisation(organisation))
    }

    fn project(&mut self, id: ProjectId) -> StoreResult<Option<Project>> {
        read::project(self.conn, id)
    }

    fn projects(&mut self) -> StoreResult<Vec<Project>> {
        read::projects(self.conn)
    }

    fn is_project_name_taken(&mut self, name: &str) -> StoreResult<bool> {
        Ok(read::project_by_name(self.conn, name)?.is_some())
    }

    fn run(&mut self, id: RunId) -> StoreResult<Option<Run>> {
        match self.cache.run(id) {
            Some(run) => Ok(Some(run.clone())),
            None => Ok(read::run(self.conn, id)?.inspect(|run| self.cache.keep_run(run))),
        }
    }

    fn unfinished_runs(&mut self, project: Option<ProjectId>) -> StoreResult<Vec<Run>> {
        read::unfinished(self.conn, project)
    }

    fn child_runs(&mut self, project: ProjectId) -> StoreResult<Vec<Run>> {
        read::children(self.conn, project)
    }

    fn runs_naming(&mut self, id: IdentityId) -> StoreResult<Vec<Run>> {
        read::runs_naming(self.conn, id)
    }

    fn action(&mut self, id: ActionId) -> StoreResult<Option<ActionState>> {
        match self.cache.action(id) {
            Some(action) => Ok(Some(action.clone())),
            None => Ok(read::action(self.conn, id)?.inspect(|action| self.cache.keep_action(action))),
        }
    }

    fn unstarted_actions_naming(&mut self, id: IdentityId) -> StoreResult<Vec<ActionState>> {
        read::unstarted_actions_naming(self.conn, id)
    }

    fn is_action_at_work(&mut self) -> StoreResult<bool> {
        let sql = "SELECT EXISTS (SELECT 1 FROM action WHERE is_live AND status IN ('LEASED', 'EXECUTING'))";
        Ok(self.conn.prepare_cached(sql)?.query_row([], |row| row.get(0))?)
    }

    fn count_beside(&mut self, run: &Run, without: &[ActionId]) -> StoreResult<Beside> {
        read::beside(self.conn, run, without)
    }

    fn count_questions(&mut self, run: &Run, first: RunId, terms: &Asking) -> StoreResult<Questions> {
        read::questions(self.conn, run, first, terms, self.now)
    }

    fn worktree(&mut self, id: WorktreeId) -> StoreResult<Option<Worktree>> {
        read::worktree(self.conn, id)
    }

    fn worktrees_naming(&mut self, id: IdentityId) -> StoreResult<Vec<Worktree>> {
        read::worktrees_naming(self.conn, id)
    }

    fn touched_contents(&mut self, from: u64) -> StoreResult<BTreeSet<Digest>> {
        read::touched(self.conn, from)
    }

    fn is_content_removed(&mut self, project: ProjectId, digest: Digest) -> StoreResult<bool> {
        match self.place(Thing::Project(project))? {
            Some(place) => read::is_removed(self.conn, place, digest),
            None => Ok(false),
        }
    }

    fn waiting_runs(&mut self) -> StoreResult<Vec<WaitingRun>> {
        ready::waiting_runs(self.conn)
    }

    fn next_ready(&mut self, run: RunId, lease: &Lease, skipped: u32) -> StoreResult<Option<ActionId>> {
        match self.place(Thing::Run(run))? {
            Some(place) => ready::next_ready(self.conn, place, self.now.unix_ms(), lease, skipped),
            None => Ok(None),
        }
    }

    fn size(&self) -> u64 {
        self.tree.size()
    }

    fn entry(&mut self, seq: u64) -> StoreResult<StoredLine> {
        let sql = "SELECT seq, at_ms, bytes FROM ledger WHERE seq = ?1";
        Ok(self.conn.prepare_cached(sql)?.query_row([seq], read_line)?)
    }

    fn entries_of(&mut self, thing: Thing, end: u64) -> StoreResult<Vec<StoredLine>> {
        let sql = match thing {
            Thing::Action(_) => "SELECT seq, at_ms, bytes FROM ledger WHERE action = ?1 AND seq < ?2 ORDER BY seq",
            Thing::Project(_) | Thing::Identity(_) | Thing::Run(_) | Thing::Worktree(_) => {
                "SELECT seq, at_ms, bytes FROM ledger WHERE subject = ?1 AND seq < ?2 ORDER BY seq"
            }
        };
        let place = self.place(thing)?;
        let mut statement = self.conn.prepare_cached(sql)?;
        let lines = statement.query_map(params![place, end], read_line)?;
        Ok(lines.collect::<Result<_, _>>()?)
    }

    fn answered(&mut self, actor: &Actor, key: &str) -> StoreResult<Option<(Digest, Range<u64>)>> {
        let sql = "SELECT request, first_seq, end_seq FROM idempotency WHERE actor = ?1 AND key = ?2";
        let read = |row: &Row<'_>| Ok((Digest::from_bytes(row.get(0)?), row.get(1)?..row.get(2)?));
        Ok(self.conn.prepare_cached(sql)?.query_row(params![actor.to_string(), key], read).optional()?)
    }

    fn append(&mut self, entries: &[NewEntry]) -> StoreResult<()> {
        let sql = "INSERT INTO ledger (seq, at_ms, kind, subject, project, run, action, leaf, bytes)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";
        for entry in entries {
            let (seq, at_ms) = (self.tree.size(), entry.at.unix_ms());
            let [subject, project, run, action] = self.places(entry, seq)?;
            let NewEntry { kind, leaf, bytes, .. } = entry;
            let values = params![seq, at_ms, kind, subject, project, run, action, leaf.as_bytes(), bytes];
            self.conn.prepare_cached(sql)?.execute(values)?;
            self.is_moved |= !entry.moves_amounts_only;
            for tile in self.tree.append(*leaf) {
                self.save_tile(&tile)?;
            }
        }
        Ok(())
    }

    fn save(&mut self, row: RowChange<'_>) -> StoreResult<()> {
        self.save_row(row)
    }
}

fn read_line(row: &Row<'_>) -> rusqlite::Result<StoredLine> {
    Ok(StoredLine { seq: row.get(0)?, at: Timestamp::from_unix_ms(row.get(1)?), bytes: row.get(2)? })
}
