//! RETENTION: how long contents are kept, and when they may be removed.
//!
//! The ledger is never shortened. What can be removed are contents, by their digest: what was given to executions, what they left, and
//! what runs made. Only when everything that names them is over, for as long as was agreed; only if nobody wants them preserved; and the
//! removal is an entry of the ledger, written before a byte is touched. If nothing is said, nothing is ever removed.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::action::{ActionCommand, ActionEvent};
use crate::command::Command;
use crate::digest::Digest;
use crate::id::RunId;
use crate::identity::{Actor, Role};
use crate::policy::Ruling;
use crate::project::Project;
use crate::proposal::FileOperand;
use crate::prose::check_reason;
use crate::record::{Event, Record};
use crate::refusal::{Obstacle, Refusal};
use crate::run::{CallCommand, Hosting, HostingCommand, RunCommand};
use crate::time::Timestamp;

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
/// A hundred years.
const MOST_DAYS: u32 = 36_500;
/// Each of them is an entry, and all of them are one transaction.
const MOST_AT_ONCE: usize = 256;

/// A number of whole days, at least one: what was uploaded a moment ago may not be named by anything yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u32", into = "u32")]
pub struct Days(u32);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("contents are kept for 1 to {MOST_DAYS} days; leave it out, and they are kept as long as the ledger")]
pub struct BadDays;

impl TryFrom<u32> for Days {
    type Error = BadDays;

    fn try_from(days: u32) -> Result<Self, BadDays> {
        if (1..=MOST_DAYS).contains(&days) { Ok(Self(days)) } else { Err(BadDays) }
    }
}

impl From<Days> for u32 {
    fn from(days: Days) -> Self {
        days.0
    }
}

impl Days {
    /// Shortest retention time.
    pub const ONE: Self = Self(1);

    /// When that many days have passed.
    fn after(self, since: Timestamp) -> Timestamp {
        since.plus_ms(u64::from(self.0) * DAY_MS)
    }

    /// The moment so many days before.
    pub fn before(self, now: Timestamp) -> Timestamp {
        let ago_ms = i64::from(self.0) * DAY_MS.cast_signed();
        Timestamp::from_unix_ms(now.unix_ms().saturating_sub(ago_ms))
    }
}

/// How long contents stay after everything that names them is over. What is not said is kept as long as the ledger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// What was given to executions, what they left, and what runs made that nobody let out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence_days: Option<Days>,
    /// What a person let out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_days: Option<Days>,
}

impl Retention {
    /// Whether anything is ever removed.
    pub const fn removes(&self) -> bool {
        self.evidence_days.is_some() || self.results_days.is_some()
    }

    /// The longest time that something is kept, if anything is removed at all.
    pub fn longest(&self) -> Option<Days> {
        self.evidence_days.max(self.results_days)
    }

    const fn days_for(&self, is_result: bool) -> Option<Days> {
        if is_result { self.results_days } else { self.evidence_days }
    }

    /// Whether the time of a content has come.
    pub fn is_due(&self, content: &Content, now: Timestamp) -> bool {
        self.days_for(content.is_result).is_some_and(|days| days.after(content.since) <= now)
    }
}

/// A content that nothing needs any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Content {
    pub digest: Digest,
    pub size_bytes: u64,
    /// The entry by which it was last kept.
    pub kept: u64,
    /// When it was last kept, or the last thing happened in a run that names it, whichever is later.
    pub since: Timestamp,
    /// Whether a person let it out.
    pub is_result: bool,
}

/// Contents that are to be removed, as they were found at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expiry {
    pub retention: Retention,
    pub contents: Vec<Content>,
    /// How many entries there were when they were found: whatever came later may need them.
    pub as_of: u64,
    /// What was preserved then.
    pub preserved: Vec<Preservation>,
}

impl Expiry {
    /// The same in parts that fit into one transaction.
    pub fn in_parts(self) -> impl Iterator<Item = Self> {
        let Self { retention, contents, as_of, preserved } = self;
        let parts: Vec<_> = contents.chunks(MOST_AT_ONCE).map(<[Content]>::to_vec).collect();
        parts.into_iter().map(move |contents| Self { retention, contents, as_of, preserved: preserved.clone() })
    }
}

/// A run, or all of a project, whose contents stay whatever was agreed: somebody will want to look at them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preservation {
    /// None: everything that the project keeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<RunId>,
    pub reason: String,
}

/// What the ledger says of a removal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Removed {
    pub digest: Digest,
    pub size_bytes: u64,
    /// The entry by which it was last kept.
    pub kept: u64,
    /// After how many days, by the setting for what it was.
    pub after_days: Days,
}

/// What may be removed now, of what was found; `touched` is what was named, kept or removed since then.
pub(crate) fn decide(
    project: &Project,
    expiry: &Expiry,
    touched: &BTreeSet<Digest>,
    actor: &Actor,
    now: Timestamp,
) -> Result<Vec<Removed>, Refusal> {
    actor.needs(&[Role::Admin])?;
    if expiry.contents.len() > MOST_AT_ONCE {
        return Err(Refusal::invalid(format!("at most {MOST_AT_ONCE} contents are removed at once")));
    }
    if project.preserved != expiry.preserved {
        return Err(Refusal::not_now("removed", Obstacle::PreservedOtherwise));
    }
    let retention = &expiry.retention;
    let goes = |content: &&Content| !touched.contains(&content.digest) && retention.is_due(content, now);
    let entry = |content: &Content| {
        let Content { digest, size_bytes, kept, is_result, .. } = *content;
        let after_days = retention.days_for(is_result)?;
        Some(Removed { digest, size_bytes, kept, after_days })
    };
    Ok(expiry.contents.iter().filter(goes).filter_map(entry).collect())
}

/// Adds a preservation, if there is none like it.
pub(crate) fn preserve(project: &Project, run: Option<RunId>, reason: &str) -> Result<Preservation, Refusal> {
    check_reason(reason)?;
    if project.preserved.iter().any(|preserved| preserved.run == run) {
        return Err(Refusal::not_now("preserved", Obstacle::PreservedAlready));
    }
    if project.preserved.len() >= MOST_PRESERVED {
        return Err(Refusal::invalid("more than 1000 runs of a project: preserve the whole project instead"));
    }
    Ok(Preservation { run, reason: reason.to_owned() })
}

/// They are part of the project's state.
const MOST_PRESERVED: usize = 1_000;

/// Ends a preservation that there is.
pub(crate) fn end_preservation(project: &Project, run: Option<RunId>, reason: &str) -> Result<(), Refusal> {
    check_reason(reason)?;
    if project.preserved.iter().any(|preserved| preserved.run == run) {
        return Ok(());
    }
    Err(Refusal::not_now("given up", Obstacle::NotPreserved))
}

/// The contents that something depends on from this command on: none of them may be gone when it is recorded.
pub fn depended_on(command: &Command) -> Vec<Digest> {
    let operands = |files: &[FileOperand]| files.iter().map(|file| file.digest).collect();
    match command {
        Command::Action { command: ActionCommand::Propose { action, .. }, .. } => operands(&action.spec().files),
        Command::Action { command: ActionCommand::Amend { amended, .. }, .. } => operands(&amended.action.spec().files),
        Command::Action { command: ActionCommand::Complete { evidence }, .. } => {
            evidence.manifest().items.iter().map(|item| item.digest).collect()
        }
        Command::Run { command: RunCommand::Create(founding), .. } => given(&founding.hosting),
        Command::Run { command: RunCommand::Hosting(HostingCommand::Collect { outputs, .. }), .. } => {
            outputs.iter().map(|output| output.digest).collect()
        }
        Command::Run { command: RunCommand::Call(CallCommand::Charge { calls, .. }), .. } => {
            calls.iter().filter_map(|call| call.words).map(|words| words.digest).collect()
        }
        Command::Action { .. }
        | Command::Run { .. }
        | Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::Worktree { .. }
        | Command::KeepBlob { .. }
        | Command::RemoveBlobs { .. }
        | Command::NoteRefusal { .. }
        | Command::AskPlanner { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => Vec::new(),
    }
}

/// Digests that an accepted command names, so that they are no longer uploads without a use: actions name them in their sealed bytes, runs
/// and worktrees also in the bytes of their entries.
pub fn named_by<'e>(command: &Command, records: &[Record], entries: impl Iterator<Item = &'e [u8]>) -> Vec<Digest> {
    match command {
        // Otherwise an agent could reset its limit with proposals that the policy denies.
        Command::Action { command: ActionCommand::Propose { .. } | ActionCommand::Amend { .. }, .. }
            if !records.iter().any(is_permitted) =>
        {
            Vec::new()
        }
        Command::Run { .. } | Command::Worktree { .. } => {
            entries.flat_map(named_in).chain(depended_on(command)).collect()
        }
        Command::Action { .. }
        | Command::Organisation(_)
        | Command::Project { .. }
        | Command::Identity { .. }
        | Command::KeepBlob { .. }
        | Command::RemoveBlobs { .. }
        | Command::NoteRefusal { .. }
        | Command::AskPlanner { .. }
        | Command::NotePlanner { .. }
        | Command::NoteStart { .. } => depended_on(command),
    }
}

/// Checks whether a record says that the policy lets an action be approved or executed.
fn is_permitted(record: &Record) -> bool {
    matches!(&record.event, Event::Action(_, ActionEvent::Judged { verdict, .. }) if verdict.ruling() != Ruling::Deny)
}

/// What an agent is started with.
fn given(hosting: &Hosting) -> Vec<Digest> {
    let launch = hosting.launch();
    let files = launch.into_iter().flat_map(|launch| &launch.files).map(|file| file.digest);
    let inputs = launch.into_iter().flat_map(|launch| &launch.inputs).filter_map(|input| input.digest);
    files.chain(inputs).collect()
}

/// All digests that are spelled out in a text, wherever they stand in it.
pub fn named_in(text: &[u8]) -> impl Iterator<Item = Digest> {
    let places = text.windows(SPELLED.len()).enumerate().filter(|(_, window)| *window == SPELLED);
    places.filter_map(|(place, _)| {
        let spelled = text.get(place..place + SPELLED.len() + 64)?;
        std::str::from_utf8(spelled).ok()?.parse().ok()
    })
}

const SPELLED: &[u8] = b"sha256:";

#[cfg(test)]
mod tests {
    use super::*;

    fn content(since_ms: i64) -> Content {
        let since = Timestamp::from_unix_ms(since_ms);
        Content { digest: Digest::of(b"x"), size_bytes: 1, kept: 0, since, is_result: false }
    }

    fn keeping(evidence: Option<u32>, results: Option<u32>) -> Retention {
        let days = |days: Option<u32>| days.map(|days| Days::try_from(days).unwrap());
        Retention { evidence_days: days(evidence), results_days: days(results) }
    }

    #[test]
    fn c14_if_nothing_is_said_nothing_is_ever_removed() {
        assert!(!Retention::default().removes());
        assert!(!Retention::default().is_due(&content(0), Timestamp::END));
        let results_only = keeping(None, Some(1));
        assert!(results_only.removes() && !results_only.is_due(&content(0), Timestamp::END));
    }

    #[test]
    fn days_are_whole_and_counted_from_the_last_thing_that_happened() {
        let (ten, start) = (keeping(Some(10), None), 1_000);
        let end = start + 10 * DAY_MS.cast_signed();
        assert!(!ten.is_due(&content(start), Timestamp::from_unix_ms(end - 1)));
        assert!(ten.is_due(&content(start), Timestamp::from_unix_ms(end)));
        assert!(!ten.is_due(&content(start), Timestamp::from_unix_ms(0)), "a clock that went back removes nothing");
        let result = Content { is_result: true, ..content(start) };
        assert!(!ten.is_due(&result, Timestamp::END), "a result follows its own setting");
    }

    #[test]
    fn no_days_and_too_many_are_refused_with_what_to_do() {
        for days in [0, 36_501, u32::MAX] {
            assert!(Days::try_from(days).unwrap_err().to_string().contains("leave it out"));
        }
    }

    #[test]
    fn digests_are_found_wherever_they_are_spelled_out() {
        let (a, b) = (Digest::of(b"a"), Digest::of(b"b"));
        let text = format!("sha256:sha256:{a}\"x\u{e9}{b}sha256:{}", &a.to_hex()[1..]);
        assert_eq!(named_in(text.as_bytes()).collect::<Vec<_>>(), [a, b]);
        assert_eq!(named_in(b"sha256:").count() + named_in(b"").count(), 0);
    }
}
