//! Writing what follows from records: projections, tiles, heads, and the content that the ledger names by digest. And how
//! far followers have come.

use std::collections::BTreeMap;

use placet_domain::action::{ActionCommand, ActionState, ActionStatus, Attention};
use placet_domain::command::Command;
use placet_domain::decide::Loaded;
use placet_domain::deciding::{Decision, Look};
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::policy::Risk;
use placet_domain::project::ProjectEvent;
use placet_domain::record::{Event, Record};
use placet_domain::run::Run;
use placet_ledger::tile::encode_hashes;
use placet_ledger::{SignedTreeHead, Tile};
use rusqlite::params;

use super::session::Session;
use crate::error::StoreError;
use crate::query::{Debts, SeenFile};
use crate::receipt::Extras;
use crate::sqlite::place::{Place, Thing};
use crate::sqlite::read;
use crate::sqlite::rows::{
    ActionRow, DecisionRow, EvidenceRow, Home, IdentityRow, OrganisationRow, ProjectRow, RunRow, ScopeRow, Span, Stamp,
    WorktreeRow,
};
use crate::sqlite::tiles::root_over;

/// Looks that are forgotten in one step.
const MOST_FORGOTTEN: u32 = 512;
/// Marks of one person: more files than anybody reads in a month.
const MOST_SEEN: u32 = 2_000;

/// What an action is mostly searched by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Standing {
    status: ActionStatus,
    risk: Risk,
    policy: Digest,
    attention: Attention,
}

impl Standing {
    pub(super) fn of(action: &ActionState) -> Self {
        let (status, attention) = (action.status, action.attention.clone());
        Self { status, risk: action.verdict.risk(), policy: action.verdict.policy(), attention }
    }
}

impl Session<'_> {
    /// Saves the state that records of one command led to. The columns that say when something was created are set by
    /// its first save and left alone by the others.
    pub(super) fn save(
        &mut self,
        first: u64,
        records: &[Record],
        loaded: &Loaded,
        stood: &BTreeMap<ActionId, Standing>,
    ) -> Result<(), StoreError> {
        let numbered: Vec<(u64, &Event)> = (first..).zip(records).map(|(seq, record)| (seq, &record.event)).collect();
        self.save_things(&numbered, loaded)?;
        self.save_run(&numbered, loaded.run.as_ref())?;
        self.save_run(&numbered, loaded.parent.as_ref())?;
        for run in &loaded.runs {
            self.save_run(&numbered, Some(run))?;
        }
        for action in loaded.action.iter().chain(&loaded.successor).chain(&loaded.actions) {
            self.save_action(&numbered, action, stood.get(&action.id))?;
        }
        self.save_kept(first, records)
    }

    /// Everything but runs, actions and bytes: things of which a command changes one at most.
    fn save_things(&mut self, records: &[(u64, &Event)], loaded: &Loaded) -> Result<(), StoreError> {
        let conn = self.conn;
        for (seq, event) in records {
            match event {
                Event::Organisation(_) => {
                    OrganisationRow::of(&loaded.organisation, *seq).save(conn)?;
                    self.cache.keep_organisation(&loaded.organisation);
                }
                Event::Project(id, ProjectEvent::ScopeLocked { name, scope }) => {
                    let locked = Stamp { seq: *seq, at: self.now };
                    ScopeRow::of(self.home(Thing::Project(*id))?, name, scope, locked).insert(conn)?;
                }
                Event::Project(id, _) => {
                    if let Some(project) = &loaded.project {
                        ProjectRow::of(project, Stamp { seq: *seq, at: self.now }).save(conn, *id)?;
                    }
                }
                Event::Identity(id, _) => {
                    if let Some(identity) = loaded.find_person(*id) {
                        IdentityRow::of(identity, *seq).save(conn, *id)?;
                        self.cache.keep_token(*id, (!identity.revoked).then_some(identity.token));
                    }
                }
                Event::Worktree(news) => {
                    let known = loaded.worktree.iter().chain(&loaded.worktrees);
                    if let Some(worktree) = known.into_iter().find(|worktree| worktree.id == news.worktree) {
                        let project = self.home(Thing::Project(worktree.project))?;
                        let is_about =
                            |event: &Event| matches!(event, Event::Worktree(of) if of.worktree == worktree.id);
                        if let Some(span) = self.span(records, is_about) {
                            WorktreeRow::of(worktree, project, span).save(conn, worktree.id)?;
                        }
                    }
                }
                Event::Run(..)
                | Event::Action(..)
                | Event::BlobKept(_)
                | Event::BlobRemoved(_)
                | Event::Refused(_)
                | Event::PlannerAsked(_)
                | Event::PlannerAnswered(_)
                | Event::Started(_) => {}
            }
        }
        Ok(())
    }

    /// The entries of one command that are about one thing.
    fn span(&self, records: &[(u64, &Event)], is_about: impl Fn(&Event) -> bool) -> Option<Span> {
        let mut seqs = records.iter().filter(|(_, event)| is_about(event)).map(|(seq, _)| *seq);
        let created = seqs.next()?;
        let changed = seqs.last().unwrap_or(created);
        let [created, changed] = [created, changed].map(|seq| Stamp { seq, at: self.now });
        Some(Span { created, changed })
    }

    fn save_run(&mut self, records: &[(u64, &Event)], run: Option<&Run>) -> Result<(), StoreError> {
        let Some(run) = run else { return Ok(()) };
        let is_about = |event: &Event| matches!(event, Event::Run(id, _) if *id == run.id);
        let Some(span) = self.span(records, is_about) else { return Ok(()) };
        let project = self.home(Thing::Project(run.project))?;
        RunRow::of(run, project, span).save(self.conn, run.id)?;
        self.cache.keep_run(run);
        Ok(())
    }

    fn save_kept(&mut self, first: u64, records: &[Record]) -> Result<(), StoreError> {
        for (seq, record) in (first..).zip(records) {
            if let (Event::BlobKept(_) | Event::BlobRemoved(_), Some(project)) = (&record.event, record.about.project) {
                let project = self.home(Thing::Project(project))?;
                EvidenceRow::of(&record.event, project).map(|row| row.insert(self.conn, seq)).transpose()?;
            }
        }
        Ok(())
    }

    /// Saves an action, stamped with those of the records that are about it: to amend one makes another.
    fn save_action(
        &mut self,
        records: &[(u64, &Event)],
        action: &ActionState,
        stood: Option<&Standing>,
    ) -> Result<(), StoreError> {
        let is_about = |event: &Event| matches!(event, Event::Action(id, _) if *id == action.id);
        let Some(span) = self.span(records, is_about) else { return Ok(()) };
        let [project, run] = [Thing::Project(action.project), Thing::Run(action.run)];
        let home = Home { project: self.home(project)?, run: self.home(run)? };
        let row = ActionRow::of(action, home, span);
        let at = self.home(Thing::Action(action.id))?;
        match stood {
            None => row.insert(self.conn, action.id)?,
            Some(stood) if *stood == Standing::of(action) => row.renew(self.conn, at)?,
            Some(_) => row.update(self.conn, at)?,
        }
        self.cache.keep_action(action);
        Ok(())
    }

    /// Saves how questions to people ended, and how whoever decided looked at it.
    pub(super) fn save_decisions(
        &mut self,
        ended: &[(u64, (ActionId, Decision))],
        look: Option<Look>,
    ) -> Result<(), StoreError> {
        for (seq, (id, decision)) in ended {
            let (project, action) = (self.home(Thing::Project(decision.project))?, self.home(Thing::Action(*id))?);
            DecisionRow::of(decision, project, action, *seq).insert(self.conn)?;
        }
        let (Some((seq, (_, decision))), Some(look)) = (ended.first(), look) else { return Ok(()) };
        let sql = "INSERT INTO look (seq, at_ms, looked_ms, needed_ms) VALUES (?1, ?2, ?3, ?4)";
        let values = params![seq, decision.at.unix_ms(), look.looked_ms, look.needed_ms];
        self.conn.prepare_cached(sql)?.execute(values)?;
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

    /// Forgets the oldest looks and marks whose time is over, no more at once than others would notice.
    pub(super) fn forget_looks(&self) -> Result<(), StoreError> {
        let sql = "DELETE FROM seen_file WHERE (identity, project, digest, path) IN (
            SELECT identity, project, digest, path FROM seen_file WHERE at_ms < ?2 ORDER BY at_ms LIMIT ?1)";
        self.conn.prepare_cached(sql)?.execute(params![MOST_FORGOTTEN, read::looks_kept_from_ms(self.now)])?;
        let sql = "DELETE FROM look WHERE seq IN (SELECT seq FROM look ORDER BY seq LIMIT ?1) AND at_ms < ?2";
        self.conn.prepare_cached(sql)?.execute(params![MOST_FORGOTTEN, read::looks_kept_from_ms(self.now)])?;
        Ok(())
    }

    /// Saves what the ledger names by digest only: the sealed bytes of an action, its agent's words, the manifest of what
    /// its execution left, and what a password is compared with.
    pub(super) fn save_content(&mut self, command: &Command, extras: &Extras) -> Result<(), StoreError> {
        if let (Command::Identity { id, .. }, Some(verifier)) = (command, &extras.verifier) {
            let sql = "INSERT INTO password (identity, verifier) VALUES (?1, ?2)
                ON CONFLICT (identity) DO UPDATE SET verifier = ?2";
            self.conn.prepare_cached(sql)?.execute(params![id.as_bytes(), verifier])?;
        }
        let Command::Action { id, command, .. } = command else { return Ok(()) };
        if let ActionCommand::Complete { evidence } = command {
            return self.save_sealed(*id, evidence.digest(), evidence.bytes());
        }
        if let ActionCommand::Amend { amended, .. } = command {
            return self.save_sealed(amended.id, amended.action.digest(), amended.action.bytes());
        }
        let ActionCommand::Propose { action, .. } = command else { return Ok(()) };
        // A question that was one too many is not there.
        if self.place(Thing::Action(*id))?.is_none() {
            return Ok(());
        }
        self.save_sealed(*id, action.digest(), action.bytes())?;
        if let Some(words) = &extras.advice {
            let sql = "INSERT INTO advice (action, words) VALUES (?1, ?2)";
            let values = params![self.home(Thing::Action(*id))?, words];
            self.conn.prepare_cached(sql)?.execute(values)?;
        }
        Ok(())
    }

    /// A late result may be one that is known already.
    fn save_sealed(&mut self, action: ActionId, digest: Digest, bytes: &[u8]) -> Result<(), StoreError> {
        let sql = "INSERT INTO sealed (action, digest, bytes) SELECT ?1, ?2, ?3
            WHERE NOT EXISTS (SELECT 1 FROM sealed WHERE action = ?1 AND digest = ?2)";
        let values = params![self.home(Thing::Action(action))?, digest.as_bytes(), bytes];
        self.conn.prepare_cached(sql)?.execute(values)?;
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
