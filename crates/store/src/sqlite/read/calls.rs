//! What calls of models took in a run, summed up over time.
//!
//! Every call is counted, and few points are told: whoever draws them has no more columns than that, and the last one is exact.

use placet_domain::id::RunId;
use placet_domain::run::ModelTokens;
use placet_domain::time::Timestamp;
use rusqlite::{Connection, Row};
use serde::Deserialize;

use crate::error::StoreError;
use crate::query::Taken;

/// The part of an entry that says so.
#[derive(Deserialize)]
struct Said {
    body: Body,
}

#[derive(Deserialize)]
struct Body {
    call: Call,
}

#[derive(Deserialize)]
struct Call {
    tokens: ModelTokens,
    usd_micros: u64,
}

/// So many sums at most, evenly over the calls; the last is of all of them.
pub(crate) fn calls(conn: &Connection, run: RunId, most: u32) -> Result<Vec<Taken>, StoreError> {
    let of_run = "FROM ledger WHERE run = (SELECT created FROM run WHERE id = ?1) AND kind = 'run.model_called'";
    let all: u32 =
        conn.prepare_cached(&format!("SELECT count(*) {of_run}"))?.query_row([run.as_bytes()], |row| row.get(0))?;
    let every = all.div_ceil(most.max(1)).max(1);
    let mut statement = conn.prepare_cached(&format!("SELECT at_ms, bytes {of_run} ORDER BY seq"))?;
    let mut rows = statement.query([run.as_bytes()])?;
    let (mut points, mut sum, mut number) = (Vec::new(), None, 0_u32);
    while let Some(row) = rows.next()? {
        number += 1;
        sum = Some(with(sum, row)?);
        if number.is_multiple_of(every) {
            points.extend(sum);
        }
    }
    if !number.is_multiple_of(every) {
        points.extend(sum);
    }
    Ok(points)
}

fn with(sum: Option<Taken>, row: &Row<'_>) -> Result<Taken, StoreError> {
    let at = Timestamp::from_unix_ms(row.get(0)?);
    let bytes = row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?;
    let Said { body: Body { call } } =
        serde_json::from_slice(bytes).map_err(|error| StoreError::unreadable("call of a model", error))?;
    let (tokens, usd_micros) = sum.map_or((0, 0), |sum| (sum.tokens, sum.usd_micros));
    Ok(Taken {
        at,
        tokens: tokens.saturating_add(call.tokens.total()),
        usd_micros: usd_micros.saturating_add(call.usd_micros),
    })
}
