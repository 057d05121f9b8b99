//! Rows that are written in a transaction: projections and content of commands ([`RowChange`]), tiles, signed heads, marks, and how far
//! followers have come.

use placet_domain::action::{ActionState, ActionStatus, Attention};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId};
use placet_domain::policy::Risk;
use placet_ledger::tile::encode_hashes;
use placet_ledger::{SignedTreeHead, Tile};
use rusqlite::params;

use super::session::Session;
use crate::error::StoreError;
use crate::query::{Debts, MOST_FORGOTTEN, MOST_SEEN, SeenFile, marks_kept_from_ms};
use crate::sqlite::place::Place;
use crate::sqlite::rows::{
    ActionRow, DecisionRow, EvidenceRow, Home, IdentityRow, OrganisationRow, ProjectRow, RunRow, ScopeRow, WorktreeRow,
};
use crate::sqlite::tiles::root_over;
use crate::unit::{RowChange, Span, Stamp, Thing};

/// Columns by which actions are mostly searched. As long as they stay the same, few indexes change.
#[derive(Debug, PartialEq, Eq)]
struct SearchedBy<'a> {
    status: ActionStatus,
    risk: Risk,
    policy: Digest,
    attention: &'a Attention,
}

impl<'a> SearchedBy<'a> {
    fn of(action: &'a ActionState) -> Self {
        let ActionState { status, verdict, attention, .. } = action;
        Self { status: *status, risk: verdict.risk(), policy: verdict.policy(), attention }
    }
}

impl Session<'_> {
    pub(super) fn save_row(&mut self, row: RowChange<'_>) -> Result<(), StoreError> {
        let conn = self.conn;
        match row {
            RowChange::Organisation { state, changed } => {
                OrganisationRow::of(state, changed).save(conn)?;
                self.cache.keep_organisation(state);
            }
            RowChange::Project { state, created } => ProjectRow::of(state, created).save(conn, state.id)?,
            RowChange::Scope { project, name, scope, locked } => {
                ScopeRow::of(self.home(Thing::Project(project))?, name, scope, locked).insert(conn)?;
            }
            RowChange::Identity { state, created } => {
                IdentityRow::of(state, created).save(conn, state.id)?;
                self.cache.keep_token(state.id, (!state.revoked).then_some(state.token));
            }
            RowChange::Run { state, span } => {
                RunRow::of(state, self.home(Thing::Project(state.project))?, span).save(conn, state.id)?;
                self.cache.keep_run(state);
            }
            RowChange::Action { state, before, span } => self.save_action(state, before, span)?,
            RowChange::Worktree { state, span } => {
                WorktreeRow::of(state, self.home(Thing::Project(state.project))?, span).save(conn, state.id)?;
            }
            RowChange::Evidence { project, digest, size_bytes, is_removed, seq } => {
                let Some(project) = self.place(Thing::Project(project))? else { return Ok(()) };
                EvidenceRow { project, digest, size_bytes, removed: is_removed }.insert(conn, seq)?;
            }
            RowChange::Decision { decision, seq } => {
                let (project, action) = (Thing::Project(decision.project), Thing::Action(decision.action));
                DecisionRow::of(decision, self.home(project)?, self.home(action)?, seq).insert(conn)?;
            }
            RowChange::Password { person, verifier } => self.save_password(person, verifier)?,
            RowChange::Sealed { action, digest, bytes } => self.save_sealed(action, digest, bytes)?,
            RowChange::Advice { action, words } => {
                let sql = "INSERT INTO advice (action, words) VALUES (?1, ?2)";
                conn.prepare_cached(sql)?.execute(params![self.home(Thing::Action(action))?, words])?;
            }
            RowChange::UploadBegun { project, digest, owner, size_bytes, kept } => {
                self.begin_upload(project, (digest, size_bytes), owner, kept)?;
            }
            RowChange::UploadEnded { project, digest } => self.end_upload(project, digest)?,
            RowChange::Answer { actor, key, request, seqs } => {
                let sql =
                    "INSERT INTO idempotency (actor, key, request, first_seq, end_seq) VALUES (?1, ?2, ?3, ?4, ?5)";
                let values = params![actor.to_string(), key, request.as_bytes(), seqs.start, seqs.end];
                conn.prepare_cached(sql)?.execute(values)?;
            }
        }
        Ok(())
    }

    fn save_action(
        &mut self,
        action: &ActionState,
        before: Option<&ActionState>,
        span: Span,
    ) -> Result<(), StoreError> {
        let [project, run] = [Thing::Project(action.project), Thing::Run(action.run)];
        let home = Home { project: self.home(project)?, run: self.home(run)? };
        let row = ActionRow::of(action, home, span);
        let at = self.home(Thing::Action(action.id))?;
        match before {
            None => row.insert(self.conn, action.id)?,
            Some(before) if SearchedBy::of(before) == SearchedBy::of(action) => row.renew(self.conn, at)?,
            Some(_) => row.update(self.conn, at)?,
        }
        self.cache.keep_action(action);
        Ok(())
    }

    fn save_password(&self, person: IdentityId, verifier: &str) -> Result<(), StoreError> {
        let sql = "INSERT INTO password (identity, verifier) VALUES (?1, ?2)
            ON CONFLICT (identity) DO UPDATE SET verifier = ?2";
        self.conn.prepare_cached(sql)?.execute(params![person.as_bytes(), verifier])?;
        Ok(())
    }

    fn save_sealed(&mut self, action: ActionId, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO sealed (action, digest, bytes) SELECT ?1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM sealed WHERE action = ?1 AND digest = ?2)";
        let values = params![self.home(Thing::Action(action))?, digest.as_bytes(), bytes];
        self.conn.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    /// Inserts a row for an upload, or renews the one it has. Content that the project keeps already gets none: earlier entries may name it.
    fn begin_upload(
        &mut self,
        project: ProjectId,
        (digest, size_bytes): (Digest, u64),
        owner: IdentityId,
        kept: Stamp,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO upload (project, digest, identity, size_bytes, at_ms) SELECT ?1, ?2, ?3, ?4, ?5
            WHERE EXISTS (SELECT 1 FROM upload WHERE project = ?1 AND digest = ?2)
                OR coalesce((SELECT removed FROM evidence WHERE project = ?1 AND digest = ?2 AND seq < ?6
                    ORDER BY seq DESC LIMIT 1), 1)
            ON CONFLICT (project, digest) DO UPDATE SET at_ms = excluded.at_ms";
        let Some(project) = self.place(Thing::Project(project))? else { return Ok(()) };
        let values = params![project, digest.as_bytes(), owner.as_bytes(), size_bytes, kept.at.unix_ms(), kept.seq];
        self.conn.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    fn end_upload(&mut self, project: ProjectId, digest: Digest) -> Result<(), StoreError> {
        let sql = "DELETE FROM upload WHERE project = ?1 AND digest = ?2";
        // Nothing was uploaded to a project that is not there.
        let Some(project) = self.place(Thing::Project(project))? else { return Ok(()) };
        self.conn.prepare_cached(sql)?.execute(params![project, digest.as_bytes()])?;
        Ok(())
    }

    /// Somebody's mark on a file, or none any more. Of somebody who marks without end the oldest go.
    pub(super) fn mark_seen(&self, file: &SeenFile, is_seen: bool) -> Result<(), StoreError> {
        let (who, project, digest) = (file.who.as_bytes(), file.project.as_bytes(), file.digest.as_bytes());
        if !is_seen {
            let sql = "DELETE FROM seen_file WHERE identity = ?1 AND project = ?2 AND digest = ?3 AND path = ?4";
            self.conn.prepare_cached(sql)?.execute(params![who, project, digest, file.path])?;
            return Ok(());
        }
        let sql = "INSERT INTO seen_file (identity, project, digest, path, at_ms) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (identity, project, digest, path) DO UPDATE SET at_ms = excluded.at_ms";
        self.conn.prepare_cached(sql)?.execute(params![who, project, digest, file.path, self.now.unix_ms()])?;
        let sql = "DELETE FROM seen_file WHERE (identity, project, digest, path) IN (
            SELECT identity, project, digest, path FROM seen_file WHERE identity = ?1
            ORDER BY at_ms DESC, project, digest, path LIMIT -1 OFFSET ?2)";
        self.conn.prepare_cached(sql)?.execute(params![who, MOST_SEEN])?;
        Ok(())
    }

    /// Forgets the oldest marks on files whose time is over, no more at once than others would notice.
    pub(super) fn forget_marks(&self) -> Result<(), StoreError> {
        let sql = "DELETE FROM seen_file WHERE (identity, project, digest, path) IN (
            SELECT identity, project, digest, path FROM seen_file WHERE at_ms < ?2 ORDER BY at_ms LIMIT ?1)";
        self.conn.prepare_cached(sql)?.execute(params![MOST_FORGOTTEN, marks_kept_from_ms(self.now)])?;
        Ok(())
    }

    /// Where something is that must exist, because an entry about it was just written.
    fn home(&mut self, thing: Thing) -> Result<Place, StoreError> {
        self.place(thing)?
            .ok_or_else(|| StoreError::unreadable(format!("{thing:?}"), rusqlite::Error::QueryReturnedNoRows))
    }

    pub(super) fn save_tile(&self, tile: &Tile) -> Result<(), StoreError> {
        let sql = "INSERT INTO tile (level, number, hashes, root) VALUES (?1, ?2, ?3, ?4)";
        let (hashes, root) = (encode_hashes(&tile.hashes), root_over(&tile.hashes));
        let values = params![tile.id.level(), tile.id.index(), hashes, root.as_bytes()];
        self.conn.prepare_cached(sql)?.execute(values)?;
        Ok(())
    }

    pub(super) fn keep_head(&self, head: &SignedTreeHead) -> Result<(), StoreError> {
        let sql = "INSERT INTO head (size, note) SELECT ?1, ?2 WHERE NOT EXISTS (SELECT 1 FROM head WHERE size = ?1)";
        self.conn.prepare_cached(sql)?.execute(params![head.size(), head.to_string()])?;
        Ok(())
    }

    /// Advances a cursor, making it where there is none. One that has come further already stays where it is.
    pub(super) fn set_cursor(&self, name: &str, seq: u64) -> Result<(), StoreError> {
        let sql = "INSERT INTO webhook_cursor (name, next_seq) VALUES (?1, ?2)
            ON CONFLICT (name) DO UPDATE SET next_seq = excluded.next_seq WHERE excluded.next_seq > next_seq";
        self.conn.prepare_cached(sql)?.execute(params![name, seq])?;
        Ok(())
    }

    /// What a follower owes whom, and how far it has come with that: both or neither.
    pub(super) fn keep_debts(&self, debts: &Debts) -> Result<(), StoreError> {
        let sql = "INSERT INTO notice_debt (follower, recipient, state) VALUES (?1, ?2, ?3)
            ON CONFLICT (follower, recipient) DO UPDATE SET state = excluded.state";
        let mut statement = self.conn.prepare_cached(sql)?;
        for (recipient, state) in &debts.states {
            statement.execute(params![debts.follower, recipient, state])?;
        }
        self.set_cursor(&debts.follower, debts.next_seq)
    }
}
