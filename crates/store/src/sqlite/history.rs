//! Ledger entries and the domain's records: how one is written as the other and read back.

use placet_domain::command::About;
use placet_domain::decide::Loaded;
use placet_domain::id::ActionId;
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_ledger::{Entry, EntryError, Hash, leaf_hash};
use rusqlite::{Connection, params};

use crate::error::StoreError;

/// An entry that is ready to be written: canonical bytes and their hash.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) kind: &'static str,
    pub(crate) subject: Option<String>,
    pub(crate) project: Option<String>,
    pub(crate) run: Option<String>,
    pub(crate) action: Option<String>,
    pub(crate) leaf: Hash,
    pub(crate) bytes: Vec<u8>,
}

impl Line {
    /// Refuses what does not fit into an entry: that is a matter of what was asked for, not of the disk.
    pub(crate) fn new(record: &Record, seq: u64, at: &str, actor: &str) -> Result<Self, Refusal> {
        let About { project, run, action } = record.about;
        let entry = Entry {
            v: Entry::VERSION,
            seq,
            at: at.to_owned(),
            project: project.map(|id| id.to_string()),
            run: run.map(|id| id.to_string()),
            action: action.map(|id| id.to_string()),
            actor: actor.to_owned(),
            kind: record.kind().to_owned(),
            body: record.body(),
        };
        let bytes = entry.to_bytes().map_err(|error| unfit(&error))?;
        let Entry { project, run, action, .. } = entry;
        let (kind, subject) = (record.kind(), subject(&record.event));
        Ok(Self { kind, subject, project, run, action, leaf: leaf_hash(&bytes), bytes })
    }
}

fn unfit(error: &EntryError) -> Refusal {
    Refusal::invalid(format!("it cannot be recorded: {error}"))
}

/// Whose state an event changes, unless it is that of an action, which every entry names anyway.
fn subject(event: &Event) -> Option<String> {
    match event {
        Event::Project(id, _) => Some(id.to_string()),
        Event::Identity(id, _) => Some(id.to_string()),
        Event::Run(id, _) => Some(id.to_string()),
        Event::Action(..) | Event::BlobKept(_) | Event::Refused(_) | Event::Started(_) => None,
    }
}

/// Reads the record in the bytes of an entry.
pub(crate) fn record(seq: u64, bytes: &[u8]) -> Result<Record, StoreError> {
    let what = || format!("ledger entry {seq}");
    let entry = Entry::parse(bytes).map_err(|error| StoreError::unreadable(what(), error))?;
    let about = About {
        project: parsed(&what, entry.project.as_deref())?,
        run: parsed(&what, entry.run.as_deref())?,
        action: parsed(&what, entry.action.as_deref())?,
    };
    Record::read(about, &entry.kind, entry.body).map_err(|error| StoreError::unreadable(what(), error))
}

fn parsed<T>(what: &impl Fn() -> String, text: Option<&str>) -> Result<Option<T>, StoreError>
where
    T: std::str::FromStr<Err: std::error::Error + Send + Sync + 'static>,
{
    text.map(str::parse).transpose().map_err(|error| StoreError::unreadable(what(), error))
}

/// What was known of a project, an identity or a run before the entry `end`.
pub(crate) fn state_before(conn: &Connection, subject: &str, end: u64) -> Result<Loaded, StoreError> {
    fold(conn, "SELECT seq, bytes FROM ledger WHERE subject = ?1 AND seq < ?2 ORDER BY seq", subject, end)
}

/// What was known of an action before the entry `end`.
pub(crate) fn action_before(conn: &Connection, id: ActionId, end: u64) -> Result<Loaded, StoreError> {
    fold(conn, "SELECT seq, bytes FROM ledger WHERE action = ?1 AND seq < ?2 ORDER BY seq", &id.to_string(), end)
}

fn fold(conn: &Connection, sql: &str, id: &str, end: u64) -> Result<Loaded, StoreError> {
    let mut statement = conn.prepare_cached(sql)?;
    let mut rows = statement.query(params![id, end])?;
    let mut loaded = Loaded::default();
    while let Some(row) = rows.next()? {
        loaded.apply(&record(row.get(0)?, row.get_ref(1)?.as_blob().map_err(rusqlite::Error::from)?)?);
    }
    Ok(loaded)
}
