//! The projections as rows: current state as JSON, and beside it the columns that are searched by.
//!
//! A row is made from a domain state and nothing else, so that it can be computed again from the ledger and compared.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::identity::Identity;
use placet_domain::organisation::Organisation;
use placet_domain::policy::Ruling;
use placet_domain::project::Project;
use placet_domain::record::{BlobKept, Event};
use placet_domain::retention::Removed;
use placet_domain::run::{Run, Wanted};
use placet_domain::scope::Scope;
use placet_domain::time::Timestamp;
use placet_domain::worktree::Worktree;
use rusqlite::{Connection, Row, params};
use serde::Serialize;
use serde::de::DeserializeOwned;

mod decision;

pub(crate) use decision::DecisionRow;

use super::place::Place;
use crate::error::StoreError;
use crate::query::Listed;
use crate::unit::{Span, Stamp};

impl Stamp {
    /// Reads two columns: the number of an entry and its time.
    fn read(row: &Row<'_>, column: usize) -> rusqlite::Result<Self> {
        Ok(Self { seq: row.get(column)?, at: Timestamp::from_unix_ms(row.get(column + 1)?) })
    }
}

impl Span {
    /// Reads the four columns `created, created_ms, changed, changed_ms`, which come first in every list.
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self { created: Stamp::read(row, 0)?, changed: Stamp::read(row, 2)? })
    }
}

/// States are plain JSON.
pub(crate) fn to_json(state: &impl Serialize) -> String {
    serde_json::to_string(state).expect("states are plain JSON")
}

pub(crate) fn from_json<T: DeserializeOwned>(what: &str, json: &str) -> Result<T, StoreError> {
    serde_json::from_str(json).map_err(|error| StoreError::unreadable(what, error))
}

/// Reads the columns `created, created_ms, changed, changed_ms, state`.
pub(crate) fn listed<T: DeserializeOwned>(what: &str, row: &Row<'_>) -> Result<Listed<T>, StoreError> {
    let Span { created, changed } = Span::read(row)?;
    let state = from_json(what, row.get_ref(4)?.as_str().map_err(rusqlite::Error::from)?)?;
    Ok(Listed { created: created.seq, created_at: created.at, changed: changed.seq, changed_at: changed.at, state })
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OrganisationRow {
    changed: u64,
    state: String,
}

impl OrganisationRow {
    pub(crate) fn of(organisation: &Organisation, changed: u64) -> Self {
        Self { changed, state: to_json(organisation) }
    }

    pub(crate) fn save(&self, conn: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO organisation (one, changed, state) VALUES (1, ?1, ?2)
            ON CONFLICT (one) DO UPDATE SET changed = ?1, state = ?2";
        conn.prepare_cached(sql)?.execute(params![self.changed, self.state]).map(drop)
    }

    pub(crate) const SELECT: &str = "SELECT changed, state FROM organisation";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        Ok((String::from("organisation"), Self { changed: row.get(0)?, state: row.get(1)? }))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ProjectRow {
    created: Stamp,
    name: String,
    state: String,
}

impl ProjectRow {
    pub(crate) fn of(project: &Project, created: Stamp) -> Self {
        Self { created, name: project.name.clone(), state: to_json(project) }
    }

    pub(crate) fn save(&self, conn: &Connection, id: ProjectId) -> rusqlite::Result<()> {
        let sql = "INSERT INTO project (id, created, created_ms, name, state) VALUES (?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET state = ?5";
        let values = params![id.as_bytes(), self.created.seq, self.created.at.unix_ms(), self.name, self.state];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str = "SELECT id, created, created_ms, name, state FROM project";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let (id, created) = (ProjectId::from_bytes(row.get(0)?), Stamp::read(row, 1)?);
        Ok((id.to_string(), Self { created, name: row.get(3)?, state: row.get(4)? }))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ScopeRow {
    locked: Stamp,
    project: Place,
    name: String,
    state: String,
}

impl ScopeRow {
    pub(crate) fn of(project: Place, name: &str, scope: &Scope, locked: Stamp) -> Self {
        Self { locked, project, name: name.to_owned(), state: to_json(scope) }
    }

    pub(crate) fn insert(&self, conn: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO scope (seq, at_ms, project, name, state) VALUES (?1, ?2, ?3, ?4, ?5)";
        let values = params![self.locked.seq, self.locked.at.unix_ms(), self.project, self.name, self.state];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str = "SELECT seq, at_ms, project, name, state FROM scope";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let locked = Stamp::read(row, 0)?;
        let scope = Self { locked, project: row.get(2)?, name: row.get(3)?, state: row.get(4)? };
        Ok((format!("{} of entry {}", scope.name, scope.locked.seq), scope))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct IdentityRow {
    created: u64,
    name: String,
    token: [u8; 32],
    revoked: bool,
    state: String,
}

impl IdentityRow {
    pub(crate) fn of(identity: &Identity, created: u64) -> Self {
        let (name, token) = (identity.name.clone(), *identity.token.as_bytes());
        Self { created, name, token, revoked: identity.revoked, state: to_json(identity) }
    }

    pub(crate) fn save(&self, conn: &Connection, id: IdentityId) -> rusqlite::Result<()> {
        let sql = "INSERT INTO identity (id, created, name, token, revoked, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (id) DO UPDATE SET name = ?3, token = ?4, revoked = ?5, state = ?6";
        let values = params![id.as_bytes(), self.created, self.name, self.token, self.revoked, self.state];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str = "SELECT id, created, name, token, revoked, state FROM identity";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let (created, name, token) = (row.get(1)?, row.get(2)?, row.get(3)?);
        let (revoked, state) = (row.get(4)?, row.get(5)?);
        Ok((IdentityId::from_bytes(row.get(0)?).to_string(), Self { created, name, token, revoked, state }))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RunRow {
    span: Span,
    project: Place,
    status: String,
    is_open: bool,
    host: Option<[u8; 16]>,
    wants: Option<String>,
    due_ms: Option<i64>,
    rollbacks: u32,
    state: String,
}

/// What a run without a host wants first.
pub(crate) const WANTS_A_HOST: &str = "host";

/// What is wanted of a run's host, in a word; nothing where nothing is.
fn wants(run: &Run) -> Option<String> {
    let word = match (run.wanted(), run.host.worker) {
        (Wanted::Nothing, _) => return None,
        (_, None) => WANTS_A_HOST,
        (Wanted::Running, Some(_)) => "running",
        (Wanted::Still, Some(_)) => "still",
        (Wanted::Stopped, Some(_)) => "stopped",
        (Wanted::Snapshot { .. }, Some(_)) => "snapshot",
        (Wanted::Restored { .. }, Some(_)) => "restored",
        (Wanted::Collected, Some(_)) => "collected",
        (Wanted::Destroyed, Some(_)) => "destroyed",
    };
    Some(word.to_owned())
}

impl RunRow {
    pub(crate) fn of(run: &Run, project: Place, span: Span) -> Self {
        Self {
            span,
            project,
            status: run.status.as_str().to_owned(),
            is_open: run.status.is_open(),
            host: run.host.worker.map(|host| *host.as_bytes()),
            wants: wants(run),
            due_ms: run.due().map(Timestamp::unix_ms),
            rollbacks: run.rollbacks,
            state: to_json(run),
        }
    }

    pub(crate) fn save(&self, conn: &Connection, id: RunId) -> rusqlite::Result<()> {
        let sql = "INSERT INTO run (id, created, created_ms, changed, changed_ms, project, status, is_open, host, wants,
            due_ms, rollbacks, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (id)
            DO UPDATE SET changed = ?4, changed_ms = ?5, status = ?7, is_open = ?8, host = ?9, wants = ?10, due_ms = ?11,
            rollbacks = ?12, state = ?13";
        let Span { created, changed } = self.span;
        let (created_ms, changed_ms) = (created.at.unix_ms(), changed.at.unix_ms());
        let Self { span: _, project, status, is_open, host, wants, due_ms, rollbacks, state } = self;
        let values = params![
            id.as_bytes(),
            created.seq,
            created_ms,
            changed.seq,
            changed_ms,
            project,
            status,
            is_open,
            host,
            wants,
            due_ms,
            rollbacks,
            state
        ];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str =
        "SELECT created, created_ms, changed, changed_ms, id, project, status, is_open, host, wants, due_ms, rollbacks,
        state FROM run";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let (project, status, is_open) = (row.get(5)?, row.get(6)?, row.get(7)?);
        let (host, wants, due_ms, rollbacks) = (row.get(8)?, row.get(9)?, row.get(10)?, row.get(11)?);
        let (id, state) = (RunId::from_bytes(row.get(4)?).to_string(), row.get(12)?);
        Ok((id, Self { span: Span::read(row)?, project, status, is_open, host, wants, due_ms, rollbacks, state }))
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct ActionRow {
    span: Span,
    home: Home,
    status: String,
    is_live: bool,
    tier: String,
    risk: u8,
    policy: [u8; 32],
    due_ms: Option<i64>,
    rollbacks: u32,
    performing: bool,
    asks: bool,
    bound: String,
    named: Option<String>,
    aside: Option<String>,
    question: Option<[u8; 32]>,
    state: String,
}

/// Where the project and the run of an action are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Home {
    pub(crate) project: Place,
    pub(crate) run: Place,
}

impl ActionRow {
    pub(crate) fn of(action: &ActionState, home: Home, span: Span) -> Self {
        Self {
            span,
            home,
            status: action.status.as_str().to_owned(),
            is_live: !action.status.is_final(),
            tier: action.verdict.tier().to_string(),
            risk: action.verdict.risk().hundredths(),
            policy: *action.verdict.policy().as_bytes(),
            due_ms: due(action).map(Timestamp::unix_ms),
            rollbacks: action.rollbacks,
            performing: action.performing,
            asks: asks(action),
            bound: bound(action),
            named: action.attention.assigned.as_ref().map(|assigned| assigned.to.to_string()),
            aside: aside(action),
            question: action.shared_question().map(|question| *question.as_bytes()),
            state: to_json(action),
        }
    }

    pub(crate) fn insert(&self, conn: &Connection, id: ActionId) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO action (created, created_ms, changed, changed_ms, id, project, run, status, is_live, risk,
            policy, due_ms, rollbacks, performing, asks, tier, bound, named, aside, question, state)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21)";
        let Span { created, changed } = self.span;
        let (created_ms, changed_ms) = (created.at.unix_ms(), changed.at.unix_ms());
        let Self { span: _, home, status, is_live, tier, risk, policy, due_ms, rollbacks, .. } = self;
        let Self { performing, asks, bound, named, aside, question, state, .. } = self;
        let values = params![
            created.seq,
            created_ms,
            changed.seq,
            changed_ms,
            id.as_bytes(),
            home.project,
            home.run,
            status,
            is_live,
            risk,
            policy,
            due_ms,
            rollbacks,
            performing,
            asks,
            tier,
            bound,
            named,
            aside,
            question,
            state
        ];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    /// Saves a change of where the action stands.
    pub(crate) fn update(&self, conn: &Connection, at: Place) -> rusqlite::Result<()> {
        let sql = "UPDATE action SET changed = ?2, changed_ms = ?3, status = ?4, is_live = ?5, risk = ?6, policy = ?7,
            due_ms = ?8, performing = ?9, asks = ?10, tier = ?11, bound = ?12, named = ?13, aside = ?14,
            question = ?15, state = ?16 WHERE created = ?1";
        let (changed, Self { status, is_live, tier, risk, policy, due_ms, performing, asks, .. }) =
            (self.span.changed, self);
        let Self { bound, named, aside, question, state, .. } = self;
        let (seq, at_ms) = (changed.seq, changed.at.unix_ms());
        let values = params![
            at, seq, at_ms, status, is_live, risk, policy, due_ms, performing, asks, tier, bound, named, aside,
            question, state
        ];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    /// Saves a change that leaves it where it stands, as a heartbeat or the first of two approvals does: its place in most indexes stays the same, and
    /// SQLite does not touch the indexes of columns that are not named.
    pub(crate) fn renew(&self, conn: &Connection, at: Place) -> rusqlite::Result<()> {
        let sql =
            "UPDATE action SET changed = ?2, changed_ms = ?3, due_ms = ?4, bound = ?5, state = ?6 WHERE created = ?1";
        let Self { span: Span { changed, .. }, due_ms, bound, state, .. } = self;
        let values = params![at, changed.seq, changed.at.unix_ms(), due_ms, bound, state];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str =
        "SELECT created, created_ms, changed, changed_ms, id, project, run, status, is_live,
        risk, policy, due_ms, rollbacks, performing, asks, tier, bound, named, aside, question, state
        FROM action";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let id = ActionId::from_bytes(row.get(4)?).to_string();
        let (home, status, is_live) = (Home { project: row.get(5)?, run: row.get(6)? }, row.get(7)?, row.get(8)?);
        let (risk, policy, due_ms) = (row.get(9)?, row.get(10)?, row.get(11)?);
        let (rollbacks, performing, asks) = (row.get(12)?, row.get(13)?, row.get(14)?);
        let (span, tier, bound) = (Span::read(row)?, row.get(15)?, row.get(16)?);
        let (named, aside, question, state) = (row.get(17)?, row.get(18)?, row.get(19)?, row.get(20)?);
        Ok((
            id,
            Self {
                span,
                home,
                status,
                is_live,
                tier,
                risk,
                policy,
                due_ms,
                rollbacks,
                performing,
                asks,
                bound,
                named,
                aside,
                question,
                state,
            },
        ))
    }
}

/// Whether an agent asks people with it. What a reviewer made of a proposal, and what is only rehearsed, is no question of an agent.
fn asks(action: &ActionState) -> bool {
    let needs_people = matches!(action.verdict.ruling(), Ruling::Ask { .. });
    // What a standing order said yes to asked nobody.
    let needs_people = needs_people && action.approvals.iter().all(|approval| approval.order.is_none());
    needs_people && action.amendment.is_none() && action.status != ActionStatus::Rehearsed
}

/// Who cannot say yes to it (any more), as far as it shows on the action itself. Only lists are ordered by it: who may decide is asked of
/// the domain each time.
fn bound(action: &ActionState) -> String {
    let amenders = action.amendment.iter().flat_map(|amendment| &amendment.amenders).map(|amender| amender.id);
    let said_yes =
        action.approvals.iter().flat_map(|approval| approval.lineage.iter().chain(std::iter::once(approval.reviewer)));
    let behind = std::iter::once(action.proposer).chain(action.proposer_lineage.iter());
    let ids: BTreeSet<IdentityId> = behind.chain(amenders).chain(said_yes).collect();
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Who set it aside, and until when: an object of ids and milliseconds, so that SQLite compares it with the time.
fn aside(action: &ActionState) -> Option<String> {
    let aside = &action.attention.aside;
    let until: BTreeMap<String, i64> =
        aside.iter().map(|aside| (aside.who.to_string(), aside.until.unix_ms())).collect();
    (!until.is_empty()).then(|| to_json(&until))
}

/// When the clockwork has to end something about an action: its wait, or a worker's hold on it.
fn due(action: &ActionState) -> Option<Timestamp> {
    match action.status {
        ActionStatus::PendingApproval | ActionStatus::Approved => Some(action.deadline),
        ActionStatus::Leased | ActionStatus::Executing => action.lease().map(|lease| lease.expires_at),
        ActionStatus::Denied
        | ActionStatus::Rehearsed
        | ActionStatus::Rejected
        | ActionStatus::Expired
        | ActionStatus::Superseded
        | ActionStatus::Withdrawn
        | ActionStatus::Succeeded
        | ActionStatus::Failed
        | ActionStatus::Interrupted
        | ActionStatus::Abandoned => None,
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct WorktreeRow {
    span: Span,
    project: Place,
    ticket: String,
    agent: String,
    status: String,
    state: String,
}

impl WorktreeRow {
    pub(crate) fn of(worktree: &Worktree, project: Place, span: Span) -> Self {
        let (ticket, agent) = (worktree.opening.ticket.to_string(), worktree.opening.agent.to_string());
        Self { span, project, ticket, agent, status: worktree.status.to_string(), state: to_json(worktree) }
    }

    pub(crate) fn save(&self, conn: &Connection, id: WorktreeId) -> rusqlite::Result<()> {
        let sql =
            "INSERT INTO worktree (created, created_ms, changed, changed_ms, id, project, ticket, agent, status, state)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
            ON CONFLICT (id) DO UPDATE SET changed = ?3, changed_ms = ?4, status = ?9, state = ?10";
        let Span { created, changed } = self.span;
        let (created_ms, changed_ms) = (created.at.unix_ms(), changed.at.unix_ms());
        let Self { span: _, project, ticket, agent, status, state } = self;
        let id = id.as_bytes();
        let values =
            params![created.seq, created_ms, changed.seq, changed_ms, id, project, ticket, agent, status, state];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str =
        "SELECT created, created_ms, changed, changed_ms, id, project, ticket, agent, status, state FROM worktree";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let id = WorktreeId::from_bytes(row.get(4)?).to_string();
        let (project, ticket, agent) = (row.get(5)?, row.get(6)?, row.get(7)?);
        let (status, state) = (row.get(8)?, row.get(9)?);
        Ok((id, Self { span: Span::read(row)?, project, ticket, agent, status, state }))
    }
}

/// Bytes that a project began to keep, or ceased to keep, with an entry.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct EvidenceRow {
    pub(crate) project: Place,
    pub(crate) digest: Digest,
    pub(crate) size_bytes: u64,
    pub(crate) removed: bool,
}

impl EvidenceRow {
    /// What an entry of that project says about bytes, if it says anything.
    pub(crate) fn of(event: &Event, project: Place) -> Option<Self> {
        match event {
            Event::BlobKept(BlobKept { digest, size_bytes, .. }) => {
                Some(Self { project, digest: *digest, size_bytes: *size_bytes, removed: false })
            }
            Event::BlobRemoved(Removed { digest, size_bytes, .. }) => {
                Some(Self { project, digest: *digest, size_bytes: *size_bytes, removed: true })
            }
            Event::Organisation(_)
            | Event::Project(..)
            | Event::Identity(..)
            | Event::Run(..)
            | Event::Action(..)
            | Event::Worktree(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => None,
        }
    }

    /// Adds what an entry says, unless it is there already.
    pub(crate) fn insert(&self, conn: &Connection, seq: u64) -> rusqlite::Result<()> {
        let sql = "INSERT INTO evidence (project, digest, seq, size_bytes, removed) SELECT ?1, ?2, ?3, ?4, ?5
            WHERE NOT EXISTS (SELECT 1 FROM evidence WHERE project = ?1 AND digest = ?2 AND seq = ?3)";
        let values = params![self.project, self.digest.as_bytes(), seq, self.size_bytes, self.removed];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str = "SELECT project, digest, size_bytes, removed, seq FROM evidence";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let digest = Digest::from_bytes(row.get(1)?);
        let row_read = Self { project: row.get(0)?, digest, size_bytes: row.get(2)?, removed: row.get(3)? };
        Ok((evidence_name(row.get(4)?), row_read))
    }
}

pub(crate) fn evidence_name(seq: u64) -> String {
    format!("of entry {seq}")
}
