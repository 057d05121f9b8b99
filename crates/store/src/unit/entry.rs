//! Ledger entries and the domain's records: how one is written as the other and read back.

use placet_domain::command::About;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::time::Timestamp;
use placet_ledger::{Entry, EntryError, Hash, leaf_hash};

use crate::error::StoreError;

/// Something with a state of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Thing {
    Project(ProjectId),
    Identity(IdentityId),
    Run(RunId),
    Action(ActionId),
    Worktree(WorktreeId),
}

/// An entry that is ready to be written: canonical bytes and their hash.
#[derive(Debug)]
pub(crate) struct NewEntry {
    pub(crate) at: Timestamp,
    pub(crate) kind: &'static str,
    /// Whose state it changes.
    pub(crate) changes: Option<Thing>,
    /// Whether it changes how much is held or spent, and nothing else.
    pub(crate) moves_amounts_only: bool,
    pub(crate) about: About,
    pub(crate) leaf: Hash,
    pub(crate) bytes: Vec<u8>,
}

impl NewEntry {
    /// Refuses what does not fit into an entry: that is a matter of what was asked for, not of the disk.
    pub(crate) fn new(record: &Record, seq: u64, (now, at): (Timestamp, &str), actor: &str) -> Result<Self, Refusal> {
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
        let (kind, changes) = (record.kind(), changed(&record.event));
        let moves_amounts_only = record.event.moves_amounts_only();
        Ok(Self { at: now, kind, changes, moves_amounts_only, about: record.about, leaf: leaf_hash(&bytes), bytes })
    }
}

fn unfit(error: &EntryError) -> Refusal {
    Refusal::invalid(format!("it cannot be recorded: {error}"))
}

/// Whose state an event changes.
fn changed(event: &Event) -> Option<Thing> {
    match event {
        Event::Project(id, _) => Some(Thing::Project(*id)),
        Event::Identity(id, _) => Some(Thing::Identity(*id)),
        Event::Run(id, _) => Some(Thing::Run(*id)),
        Event::Action(id, _) => Some(Thing::Action(*id)),
        Event::Worktree(news) => Some(Thing::Worktree(news.worktree)),
        Event::Organisation(_)
        | Event::BlobKept(_)
        | Event::BlobRemoved(_)
        | Event::Refused(_)
        | Event::PlannerAsked(_)
        | Event::PlannerAnswered(_)
        | Event::Started(_) => None,
    }
}

/// Reads the record in the bytes of an entry.
pub(crate) fn read_record(seq: u64, bytes: &[u8]) -> Result<Record, StoreError> {
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
