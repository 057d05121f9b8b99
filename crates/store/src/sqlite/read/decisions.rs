//! How questions to people ended, what waits, and how much was asked by the family of a run.

use placet_domain::approval::Asking;
use placet_domain::deciding::{Decision, MOST_DECISIONS, Outcome};
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::Reach;
use placet_domain::policy::Tier;
use placet_domain::proposal::ActionKind;
use placet_domain::run::{Questions, Run};
use placet_domain::time::Timestamp;
use rusqlite::{Connection, Row, params};

use super::select::{IN_PROJECT, Select};
use crate::error::StoreError;
use crate::query::{DecisionFilter, MOST_ROWS, SeenFile, marks_kept_from_ms};

/// The newest first.
pub(crate) fn decisions(conn: &Connection, filter: &DecisionFilter) -> Result<Vec<Decision>, StoreError> {
    let sql = "SELECT decision.at_ms, decision.asked_ms, project.id, action.id, decision.reviewer, decision.tier,
        decision.kind, decision.outcome, decision.single_operator FROM decision
        JOIN project ON project.created = decision.project JOIN action ON action.created = decision.action";
    let reviewer = filter.reviewer.map(|id| id.as_bytes().to_vec());
    Select::new(sql)
        .within("decision.project", &filter.reach)
        .and(&format!("decision.{IN_PROJECT}"), filter.project.map(|id| id.as_bytes().to_vec()))
        .and("decision.reviewer = ?", reviewer)
        .and("decision.at_ms >= ?", Some(filter.since.unix_ms()))
        .and("decision.at_ms < ?", filter.until.map(Timestamp::unix_ms))
        .newest("decision.seq", filter.limit.min(MOST_DECISIONS))
        .all(conn, read)
}

fn read(row: &Row<'_>) -> Result<Decision, StoreError> {
    let what = |name: &str| StoreError::unreadable("decision", rusqlite::Error::InvalidColumnName(name.to_owned()));
    let (tier, kind, outcome): (String, String, String) = (row.get(5)?, row.get(6)?, row.get(7)?);
    Ok(Decision {
        at: Timestamp::from_unix_ms(row.get(0)?),
        asked_at: Timestamp::from_unix_ms(row.get(1)?),
        project: ProjectId::from_bytes(row.get(2)?),
        action: ActionId::from_bytes(row.get(3)?),
        reviewer: row.get::<_, Option<[u8; 16]>>(4)?.map(IdentityId::from_bytes),
        tier: tier_named(&tier).ok_or_else(|| what("tier"))?,
        kind: ActionKind::ALL.iter().copied().find(|known| known.as_str() == kind).ok_or_else(|| what("kind"))?,
        outcome: Outcome::parse(&outcome).ok_or_else(|| what("outcome"))?,
        single_operator: row.get(8)?,
    })
}

fn tier_named(name: &str) -> Option<Tier> {
    Tier::ALL.iter().copied().find(|tier| tier.to_string() == name)
}

/// Which of these files somebody has marked as seen.
pub(crate) fn seen(conn: &Connection, files: &[SeenFile]) -> Result<Vec<bool>, StoreError> {
    let sql =
        "SELECT EXISTS (SELECT 1 FROM seen_file WHERE identity = ?1 AND project = ?2 AND digest = ?3 AND path = ?4)";
    let mut statement = conn.prepare_cached(sql)?;
    let mut one = |file: &SeenFile| {
        let (who, project, digest) = (file.who.as_bytes(), file.project.as_bytes(), file.digest.as_bytes());
        statement.query_row(rusqlite::params![who, project, digest, file.path], |row| row.get(0))
    };
    Ok(files.iter().map(&mut one).collect::<Result<_, _>>()?)
}

/// Whether there is a mark on a file whose time is over.
pub(crate) fn has_old_marks(conn: &Connection, now: Timestamp) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM seen_file WHERE at_ms < ?1)";
    Ok(conn.prepare_cached(sql)?.query_row([marks_kept_from_ms(now)], |row| row.get(0))?)
}

/// How many decisions somebody made since then; no further than a bound is counted.
pub(crate) fn decided_since(
    conn: &Connection,
    who: IdentityId,
    since: Timestamp,
    most: u32,
) -> Result<u64, StoreError> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM decision WHERE reviewer = ?1 AND at_ms > ?2 LIMIT ?3)";
    let values = params![who.as_bytes(), since.unix_ms(), most];
    Ok(conn.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
}

/// What waits for people, the oldest first: of which tier, and since when.
pub(crate) fn waiting(conn: &Connection, reach: &Reach, limit: u32) -> Result<Vec<(Tier, Timestamp)>, StoreError> {
    let sql = "SELECT json_extract(action.state, '$.verdict.tier'),
        coalesce(json_extract(action.state, '$.asked_at'), action.created_ms) FROM action
        JOIN run ON run.created = action.run AND (run.is_open OR action.performing AND run.status = 'PENDING_EXPORT')";
    Select::new(sql)
        .within("action.project", reach)
        .literally("action.status = 'PENDING_APPROVAL'")
        .ordered("action.created", limit.min(MOST_ROWS))
        .all(conn, |row| {
            let tier = tier_named(&row.get::<_, String>(0)?).unwrap_or(Tier::C);
            Ok((tier, Timestamp::from_unix_ms(row.get(1)?)))
        })
}

/// How much the family of a run has asked of people: all runs of its agent, and all below the run `first`, from which it descends.
pub(crate) fn questions(
    conn: &Connection,
    run: &Run,
    first: RunId,
    terms: &Asking,
    now: Timestamp,
) -> Result<Questions, StoreError> {
    let window_ms = i64::try_from(terms.asked_within_ms).unwrap_or(i64::MAX);
    let window_ms = now.unix_ms().saturating_sub(window_ms);
    let (family, let_ask_ms, standing) = family(conn, run, first, window_ms)?;
    let since_ms = window_ms.max(let_ask_ms.unwrap_or(i64::MIN));
    let lately = "SELECT count(*) FROM (SELECT 1 FROM action WHERE asks
        AND run IN (SELECT value FROM json_each(?1)) AND created_ms > ?2 LIMIT ?3)";
    let undecided = "SELECT count(*) FROM (SELECT 1 FROM action JOIN run ON run.created = action.run AND run.is_open
        WHERE action.status = 'PENDING_APPROVAL' AND action.run IN (SELECT value FROM json_each(?1)) LIMIT ?2)";
    let waiting =
        "SELECT count(*) FROM (SELECT 1 FROM action WHERE is_live AND status IN ('PENDING_APPROVAL', 'APPROVED')
        AND run IN (SELECT value FROM json_each(?1)) LIMIT ?2)";
    let count = |sql: &str, values: &[&dyn rusqlite::ToSql]| -> Result<u64, StoreError> {
        Ok(conn.prepare_cached(sql)?.query_row(values, |row| row.get(0))?)
    };
    Ok(Questions {
        // One more than is needed to refuse, so that a bound that was lowered is told truly enough.
        undecided: count(undecided, &[&family, &(u64::from(terms.most_undecided) + 1)])?,
        waiting: count(waiting, &[&family, &(u64::from(terms.most_waiting) + 1)])?,
        lately: count(lately, &[&family, &since_ms, &(u64::from(terms.most_asked) + 1)])?,
        stands_elsewhere: standing,
    })
}

/// The places of a family's runs as a JSON list, when one of them was last let ask on, and whether another one stands still because too
/// much was asked: also while it is paused there, because nobody has looked at it by pausing it.
fn family(
    conn: &Connection,
    run: &Run,
    first: RunId,
    since_ms: i64,
) -> Result<(String, Option<i64>, bool), StoreError> {
    let sql = "WITH RECURSIVE below (created, id) AS (
            SELECT created, id FROM run WHERE id = ?1
            UNION SELECT run.created, run.id FROM below
                JOIN run ON json_extract(run.state, '$.parent') = 'run_' || lower(hex(below.id))),
        family (created) AS (
            SELECT created FROM below
            UNION SELECT created FROM run WHERE json_extract(state, '$.agent') = ?2)
        SELECT json_group_array(run.created), max(json_extract(run.state, '$.asking.let_ask_at')),
            coalesce(max(run.id <> ?3 AND run.is_open
                AND json_extract(run.state, '$.gate.kind') = 'QUESTIONS'), 0)
        FROM run WHERE run.created IN (SELECT created FROM family)
            AND run.project = (SELECT project FROM run WHERE id = ?3)
            AND (run.is_open OR run.status NOT IN ('COMPLETED', 'FAILED', 'CANCELLED') OR run.changed_ms > ?4)";
    let values = params![first.as_bytes(), run.agent.to_string(), run.id.as_bytes(), since_ms];
    Ok(conn.prepare_cached(sql)?.query_row(values, |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?)
}
