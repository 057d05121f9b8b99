//! From an entry of the ledger to a notice, if its event declares one ([`placet_domain::event_meta`]). Pure.
//!
//! Only transitions make notices, never states, so nothing is notified twice. Whether the subject still waits is checked when the notice is
//! sent, not here.

use placet_domain::command::About;
use placet_domain::event_meta::NoticeMeta;
use placet_domain::id::{ActionId, ProjectId, RunId, WorktreeId};
use placet_domain::notice::NoticeKind;
use placet_domain::policy::Tier;
use placet_domain::record::{Event, Record};
use placet_domain::time::Timestamp;
use placet_domain::worktree::Person;
use placet_ledger::Entry;
use placet_store::StoredEntry;

/// One thing that people may have to be told of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Notice {
    /// The entry by which it came to be.
    pub(crate) seq: u64,
    pub(crate) at: Timestamp,
    pub(crate) what: NoticeKind,
    pub(crate) project: Option<ProjectId>,
    pub(crate) subject: Subject,
    /// How many people an action asks for.
    pub(crate) tier: Option<Tier>,
    /// Until when it can be decided.
    pub(crate) deadline: Option<Timestamp>,
}

/// What it is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Subject {
    Action(ActionId),
    Run(RunId),
    Wish { run: RunId, number: u32 },
    Worktree { id: WorktreeId, informed: Vec<Person>, kind: String },
}

impl Notice {
    /// The notice of an entry, if it is one that anybody could be told of.
    pub(crate) fn of(stored: &StoredEntry) -> Option<Self> {
        let entry = Entry::parse(&stored.bytes).ok()?;
        let (project, run) = (parsed(entry.project.as_deref()), parsed(entry.run.as_deref()));
        let about = About { project, run, action: parsed(entry.action.as_deref()) };
        let record = Record::read(about, &entry.kind, entry.body).ok()?;
        let meta = record.event.meta().notice?;
        let subject = Subject::of(record.event, &meta, &entry.kind)?;
        let NoticeMeta { kind: what, tier, deadline, .. } = meta;
        Some(Self { seq: stored.seq, at: stored.at, what, project, subject, tier, deadline })
    }
}

impl Subject {
    fn of(event: Event, meta: &NoticeMeta, kind: &str) -> Option<Self> {
        match event {
            Event::Action(id, _) => Some(Self::Action(id)),
            Event::Run(run, _) => Some(meta.wish.map_or(Self::Run(run), |number| Self::Wish { run, number })),
            Event::Worktree(news) => {
                let informed = news.notified().cloned().collect();
                Some(Self::Worktree { id: news.worktree, informed, kind: kind.to_owned() })
            }
            // None of these notifies anybody.
            Event::Organisation(_)
            | Event::Project(..)
            | Event::Identity(..)
            | Event::BlobKept(_)
            | Event::BlobRemoved(_)
            | Event::Refused(_)
            | Event::PlannerAsked(_)
            | Event::PlannerAnswered(_)
            | Event::Started(_) => None,
        }
    }
}

fn parsed<T: std::str::FromStr>(text: Option<&str>) -> Option<T> {
    text?.parse().ok()
}
