//! How a question to people ended, as a row. Made from the entry that ended it and the action as it stood before.

use placet_domain::deciding::Decision;
use rusqlite::{Connection, Row, params};

use super::evidence_name as of_entry;
use crate::sqlite::place::Place;
use crate::unit::Stamp;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DecisionRow {
    ended: Stamp,
    asked_ms: i64,
    project: Place,
    action: Place,
    reviewer: Option<[u8; 16]>,
    tier: String,
    kind: String,
    outcome: String,
    single_operator: bool,
}

impl DecisionRow {
    pub(crate) fn of(decision: &Decision, project: Place, action: Place, seq: u64) -> Self {
        Self {
            ended: Stamp { seq, at: decision.at },
            asked_ms: decision.asked_at.unix_ms(),
            project,
            action,
            reviewer: decision.reviewer.map(|reviewer| *reviewer.as_bytes()),
            tier: decision.tier.to_string(),
            kind: decision.kind.as_str().to_owned(),
            outcome: decision.outcome.as_str().to_owned(),
            single_operator: decision.single_operator,
        }
    }

    pub(crate) fn insert(&self, conn: &Connection) -> rusqlite::Result<()> {
        let sql = "INSERT INTO decision (seq, at_ms, asked_ms, project, action, reviewer, tier, kind, outcome, single_operator)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)";
        let Self { ended, asked_ms, project, action, reviewer, tier, kind, outcome, single_operator } = self;
        let (seq, at_ms) = (ended.seq, ended.at.unix_ms());
        let values = params![seq, at_ms, asked_ms, project, action, reviewer, tier, kind, outcome, single_operator];
        conn.prepare_cached(sql)?.execute(values).map(drop)
    }

    pub(crate) const SELECT: &str =
        "SELECT seq, at_ms, asked_ms, project, action, reviewer, tier, kind, outcome, single_operator FROM decision";

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<(String, Self)> {
        let ended = Stamp::read(row, 0)?;
        let (asked_ms, project, action, reviewer) = (row.get(2)?, row.get(3)?, row.get(4)?, row.get(5)?);
        let (tier, kind, outcome, single_operator) = (row.get(6)?, row.get(7)?, row.get(8)?, row.get(9)?);
        let read = Self { ended, asked_ms, project, action, reviewer, tier, kind, outcome, single_operator };
        Ok((of_entry(ended.seq), read))
    }
}
