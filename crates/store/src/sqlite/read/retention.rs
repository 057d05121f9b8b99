//! Which contents nothing needs any more. Whoever asks gets an answer as of one moment, with its number; the writer looks at what came
//! after it ([`touched`]) before anything is recorded.
//!
//! A content is needed by whatever spells out its digest: a run's state, its entries, the sealed documents of its actions. That is more
//! than what really refers to it, and errs on the side of keeping.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::digest::Digest;
use placet_domain::id::{ProjectId, RunId};
use placet_domain::project::Project;
use placet_domain::retention::{Content, Days, Expiry, Preservation, Retention, named_in};
use placet_domain::run::Run;
use placet_domain::time::Timestamp;
use rusqlite::{Connection, Params, Row, params};

use super::content::forgotten_uploads;
use super::project;
use crate::error::StoreError;
use crate::query::Expirable;
use crate::sqlite::place::Place;
use crate::sqlite::rows::from_json;

/// What of a project may be removed by these rules; nothing where all of it is preserved.
pub(crate) fn expirable(
    conn: &Connection,
    id: ProjectId,
    retention: Retention,
    now: Timestamp,
) -> Result<Expirable, StoreError> {
    find_expirable(conn, id, Rules { retention, finished_runs: FinishedRuns::Expire }, now)
}

/// Finds the uploads of a project that are a day old and that nothing names: no run of any age, and no worktree.
pub(crate) fn expirable_uploads(conn: &Connection, id: ProjectId, now: Timestamp) -> Result<Expirable, StoreError> {
    let retention = Retention { evidence_days: Some(Days::ONE), results_days: None };
    let uploads = forgotten_uploads(conn, id, Days::ONE.before(now))?;
    if uploads.is_empty() {
        return Ok(Expirable { expiry: beginning(conn, retention, Vec::new())?, needed: 0, young: 0 });
    }
    let mut found = find_expirable(conn, id, Rules { retention, finished_runs: FinishedRuns::Keep }, now)?;
    found.expiry.contents.retain(|content| uploads.contains(&content.digest));
    Ok(found)
}

#[derive(Clone, Copy)]
struct Rules {
    retention: Retention,
    finished_runs: FinishedRuns,
}

/// Whether finished runs keep their contents, or let them expire after the retention time.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FinishedRuns {
    Expire,
    Keep,
}

fn find_expirable(conn: &Connection, id: ProjectId, rules: Rules, now: Timestamp) -> Result<Expirable, StoreError> {
    let retention = rules.retention;
    let Project { preserved, .. } = project(conn, id)?.unwrap_or_else(|| nothing(id));
    let all_of_it = preserved.iter().any(|preservation| preservation.run.is_none());
    let mut found = Expirable { expiry: beginning(conn, retention, preserved)?, needed: 0, young: 0 };
    let names = Names::of(conn, id, rules, now, &found.expiry.preserved)?;
    let mut statement = conn.prepare_cached(KEPT)?;
    let mut rows = statement.query([id.as_bytes()])?;
    while let Some(row) = rows.next()? {
        let content = names.content(row)?;
        if all_of_it || names.needed.contains(&content.digest) {
            found.needed += 1;
        } else if retention.is_due(&content, now) {
            found.expiry.contents.push(content);
        } else {
            found.young += 1;
        }
    }
    Ok(found)
}

/// A project that is not known keeps nothing.
fn nothing(id: ProjectId) -> Project {
    let (name, separation, duties) = Default::default();
    Project { id, name, separation, duties, budget: None, preserved: Vec::new(), keeps_words: false }
}

fn beginning(conn: &Connection, retention: Retention, preserved: Vec<Preservation>) -> Result<Expiry, StoreError> {
    let as_of = conn.query_row("SELECT coalesce(max(seq) + 1, 0) FROM ledger", [], |row| row.get(0))?;
    Ok(Expiry { retention, contents: Vec::new(), as_of, preserved })
}

/// What a project keeps: of every content the newest row, if that is not its removal.
const KEPT: &str = "SELECT digest, evidence.seq, size_bytes, at_ms FROM evidence JOIN ledger ON ledger.seq = evidence.seq
    WHERE evidence.project = (SELECT created FROM project WHERE id = ?1) AND NOT removed AND NOT EXISTS (SELECT 1 FROM evidence
        AS later WHERE later.project = evidence.project AND later.digest = evidence.digest AND later.seq > evidence.seq)
    ORDER BY evidence.seq";

/// What the runs of a project name.
#[derive(Default)]
struct Names {
    /// By runs that are not over or are preserved, or by worktrees.
    needed: BTreeSet<Digest>,
    /// By runs that are over, and when the last thing happened in one of them; left out where that is so long ago that it says nothing.
    recent: BTreeMap<Digest, Timestamp>,
    results: BTreeSet<Digest>,
}

impl Names {
    fn of(
        conn: &Connection,
        id: ProjectId,
        rules: Rules,
        now: Timestamp,
        preserved: &[Preservation],
    ) -> Result<Self, StoreError> {
        let mut names = Self::default();
        let is_preserved = |id: RunId| preserved.iter().any(|preservation| preservation.run == Some(id));
        let horizon = rules.retention.longest().map_or(now, |days| days.before(now));
        for run in runs(conn, id)? {
            names.results.extend(run.results()?);
            if run.unfinished || is_preserved(run.id) || rules.finished_runs == FinishedRuns::Keep {
                run.names(conn, |digest| names.needed.extend([digest]))?;
            } else if run.last > horizon {
                run.names(conn, |digest| names.saw(digest, run.last))?;
            }
        }
        each_text(conn, WORKTREES, [id.as_bytes()], |text| names.needed.extend(named_in(text)))?;
        Ok(names)
    }

    fn saw(&mut self, digest: Digest, at: Timestamp) {
        let last = self.recent.entry(digest).or_insert(at);
        *last = at.max(*last);
    }

    fn content(&self, row: &Row<'_>) -> Result<Content, StoreError> {
        let (digest, kept) = (Digest::from_bytes(row.get(0)?), row.get(1)?);
        let kept_at = Timestamp::from_unix_ms(row.get(3)?);
        let since = self.recent.get(&digest).map_or(kept_at, |last| kept_at.max(*last));
        Ok(Content { digest, size_bytes: row.get(2)?, kept, since, is_result: self.results.contains(&digest) })
    }
}

const WORKTREES: &str = "SELECT state FROM worktree WHERE project = (SELECT created FROM project WHERE id = ?1)";

/// A run, as far as its contents are concerned.
struct Naming {
    id: RunId,
    place: Place,
    state: String,
    /// Whether it, or one of its actions, may still go on, or its host has still something to do.
    unfinished: bool,
    last: Timestamp,
}

fn runs(conn: &Connection, project: ProjectId) -> Result<Vec<Naming>, StoreError> {
    let sql = "SELECT id, created, state,
            status NOT IN ('COMPLETED', 'CANCELLED') OR wants IS NOT NULL
                OR EXISTS (SELECT 1 FROM action WHERE action.run = run.created AND is_live),
            max(changed_ms, coalesce((SELECT max(changed_ms) FROM action WHERE action.run = run.created), 0))
        FROM run WHERE project = (SELECT created FROM project WHERE id = ?1)";
    let read = |row: &Row<'_>| {
        let (id, last) = (RunId::from_bytes(row.get(0)?), Timestamp::from_unix_ms(row.get(4)?));
        Ok(Naming { id, place: row.get(1)?, state: row.get(2)?, unfinished: row.get(3)?, last })
    };
    Ok(conn.prepare_cached(sql)?.query_map([project.as_bytes()], read)?.collect::<Result<_, _>>()?)
}

impl Naming {
    /// What a person let out of it.
    fn results(&self) -> Result<Vec<Digest>, StoreError> {
        // Without this word there is nothing to read, and most runs are without.
        if !self.state.contains("\"exported\"") {
            return Ok(Vec::new());
        }
        let run: Run = from_json("run", &self.state)?;
        let outputs = run.host.outputs.iter().flatten().map(|output| output.digest);
        Ok(outputs.filter(|digest| run.lets_out(*digest)).collect())
    }

    fn names(&self, conn: &Connection, mut take: impl FnMut(Digest)) -> Result<(), StoreError> {
        named_in(self.state.as_bytes()).for_each(&mut take);
        each_text(conn, "SELECT bytes FROM ledger WHERE run = ?1", [self.place], |text| {
            named_in(text).for_each(&mut take);
        })?;
        let sealed =
            "SELECT sealed.bytes FROM action JOIN sealed ON sealed.action = action.created WHERE action.run = ?1";
        each_text(conn, sealed, [self.place], |text| named_in(text).for_each(&mut take))
    }
}

fn each_text(conn: &Connection, sql: &str, values: impl Params, mut take: impl FnMut(&[u8])) -> Result<(), StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(values)?;
    while let Some(row) = rows.next()? {
        take(row.get_ref(0)?.as_bytes().map_err(rusqlite::Error::from)?);
    }
    Ok(())
}

/// Every content that an entry from this one on names, or a document that was sealed with one of them.
pub(crate) fn touched(conn: &Connection, from: u64) -> Result<BTreeSet<Digest>, StoreError> {
    let mut touched = BTreeSet::new();
    // Of a removal nothing but its content is of interest, and who removes in parts has just written many of them.
    let entries = "SELECT bytes FROM ledger WHERE seq >= ?1 AND kind <> 'evidence.removed'";
    each_text(conn, entries, [from], |text| touched.extend(named_in(text)))?;
    let mut removed = conn.prepare_cached("SELECT digest FROM evidence WHERE removed AND seq >= ?1")?;
    for digest in removed.query_map([from], |row| row.get(0))? {
        touched.insert(Digest::from_bytes(digest?));
    }
    let sealed = "SELECT sealed.bytes FROM sealed WHERE action IN (SELECT action FROM ledger WHERE seq >= ?1 AND action IS NOT NULL)";
    each_text(conn, sealed, [from], |text| touched.extend(named_in(text)))?;
    Ok(touched)
}

/// Whether these bytes were removed from the project and are not kept there again.
pub(crate) fn is_removed(conn: &Connection, project: Place, digest: Digest) -> Result<bool, StoreError> {
    let sql = "SELECT coalesce((SELECT removed FROM evidence WHERE project = ?1 AND digest = ?2 ORDER BY seq DESC LIMIT 1), 0)
        FROM evidence INDEXED BY evidence_removed_by_digest WHERE removed AND digest = ?2 LIMIT 1";
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![project, digest.as_bytes()])?;
    Ok(rows.next()?.map(|row| row.get(0)).transpose()?.unwrap_or(false))
}

/// Removals from this entry on, oldest first: number and content.
pub(crate) fn removals(conn: &Connection, from: u64, limit: u32) -> Result<Vec<(u64, Digest)>, StoreError> {
    let sql = "SELECT seq, digest FROM evidence WHERE removed AND seq >= ?1 ORDER BY seq LIMIT ?2";
    let read = |row: &Row<'_>| Ok((row.get(0)?, Digest::from_bytes(row.get(1)?)));
    Ok(conn.prepare_cached(sql)?.query_map(params![from, limit], read)?.collect::<Result<_, _>>()?)
}

/// How often something was removed.
pub(crate) fn count_removals(conn: &Connection) -> Result<u64, StoreError> {
    Ok(conn.query_row("SELECT count(*) FROM evidence WHERE removed", [], |row| row.get(0))?)
}

/// Whether any project keeps these bytes.
pub(crate) fn is_kept(conn: &Connection, digest: Digest) -> Result<bool, StoreError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM project WHERE NOT coalesce((SELECT removed FROM evidence
        WHERE evidence.project = project.created AND digest = ?1 ORDER BY seq DESC LIMIT 1), 1))";
    Ok(conn.prepare_cached(sql)?.query_row([digest.as_bytes()], |row| row.get(0))?)
}

/// All contents that some project keeps, after this one in order; each with the entry by which it was last kept.
pub(crate) fn all_kept(conn: &Connection, after: Option<Digest>, limit: u32) -> Result<Vec<(Digest, u64)>, StoreError> {
    let sql = "SELECT digest, max(seq) FROM evidence WHERE NOT removed AND digest > ?1 AND NOT EXISTS (SELECT 1 FROM evidence AS later
        WHERE later.project = evidence.project AND later.digest = evidence.digest AND later.seq > evidence.seq)
        GROUP BY digest ORDER BY digest LIMIT ?2";
    let after = after.map_or_else(Vec::new, |digest| digest.as_bytes().to_vec());
    let read = |row: &Row<'_>| Ok((Digest::from_bytes(row.get(0)?), row.get(1)?));
    Ok(conn.prepare_cached(sql)?.query_map(params![after, limit], read)?.collect::<Result<_, _>>()?)
}
