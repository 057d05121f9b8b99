//! Whose bytes these are, asked before they are handed out. Text narrows it down; what counts is where in a state or a manifest a digest
//! stands.

use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_domain::id::{IdentityId, ProjectId};
use placet_domain::run::Run;
use rusqlite::{Connection, params};

use crate::error::StoreError;
use crate::sqlite::rows::from_json;

/// Whether these bytes are an agent's own: given to one of its runs, made there, or left by one of its actions. A digest anywhere else
/// proves nothing, since an agent can write one into its own words.
pub(crate) fn is_of_agent(conn: &Connection, agent: IdentityId, digest: Digest) -> Result<bool, StoreError> {
    let (agent, text) = (agent.to_string(), digest.to_string());
    let sql = "SELECT state FROM run WHERE json_extract(state, '$.agent') = ?1 AND instr(state, ?2)";
    let mut statement = conn.prepare_cached(sql)?;
    let mut runs = statement.query(params![agent, text])?;
    while let Some(row) = runs.next()? {
        let run: Run = from_json("run", &row.get::<_, String>(0)?)?;
        if run.is_known_to_agent(digest) {
            return Ok(true);
        }
    }
    let sql = "SELECT sealed.bytes FROM run JOIN action ON action.run = run.created JOIN sealed ON sealed.action = action.created
        WHERE json_extract(run.state, '$.agent') = ?1 AND instr(CAST(sealed.bytes AS TEXT), ?2)";
    let mut statement = conn.prepare_cached(sql)?;
    let mut sealed = statement.query(params![agent, text])?;
    while let Some(row) = sealed.next()? {
        // What is no manifest is a sealed action.
        let manifest = serde_json::from_slice::<Manifest>(&row.get::<_, Vec<u8>>(0)?);
        if manifest.is_ok_and(|manifest| manifest.items.iter().any(|item| item.digest == digest)) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The runs of a project that made these bytes, if none of them has let them out.
pub(crate) fn withholding(conn: &Connection, project: ProjectId, digest: Digest) -> Result<Vec<Run>, StoreError> {
    let sql = "SELECT state FROM run WHERE project = (SELECT created FROM project WHERE id = ?1) AND host IS NOT NULL
        AND instr(state, ?2)";
    let mut statement = conn.prepare_cached(sql)?;
    let rows = statement.query_map(params![project.as_bytes(), digest.to_string()], |row| row.get::<_, String>(0))?;
    let runs = rows.map(|json| from_json("run", &json?)).collect::<Result<Vec<Run>, StoreError>>()?;
    let is_out = runs.iter().any(|run| run.lets_out(digest));
    Ok(runs.into_iter().filter(|run| !is_out && run.withholds(digest)).collect())
}
