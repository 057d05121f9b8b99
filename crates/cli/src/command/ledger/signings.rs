//! Whether passkeys signed what they had to, and as it says, from the entries of an export alone.
//!
//! It reads what identities, approvals, what they permit and the demand for passkeys are about, and nothing else: the public keys stand in the
//! same ledger as the signatures, and so does what had to be signed and by how many.

use placet_domain::command::About;
use placet_domain::passkey::{Checker, Told};
use placet_domain::record::Record;
use placet_domain::time::Timestamp;
use placet_ledger::Entry;
use serde::Serialize;

use crate::error::{CliError, Code};
use crate::out::{BAD, GOOD, styled};

/// Entries are in one spelling, so these stand in all that matter; where they stand in others, those are read in vain.
const TOLD_BY: &[&[u8]] = &[
    b"\"kind\":\"identity.",
    b"\"kind\":\"action.",
    b"\"kind\":\"job.leased\"",
    b"\"kind\":\"job.completed\"",
    b"\"kind\":\"permit.redeemed\"",
    b"\"kind\":\"organisation.passkeys_",
];
const READ: &[&str] =
    &["identity.", "action.", "job.leased", "job.completed", "permit.redeemed", "organisation.passkeys_"];

#[derive(Debug, Default)]
pub(super) struct Signings {
    checker: Checker,
    unread: u64,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub(super) struct Checked {
    signed: u64,
    /// Changes of doors that were signed.
    doors: u64,
    /// How often passkeys were ended on the host, without a signature.
    ended_on_host: u64,
    /// Entries of a newer Placet, which this one cannot read.
    unread: u64,
    faults: Vec<String>,
}

impl Signings {
    pub(super) fn read(&mut self, bytes: &[u8]) {
        let tells = |words: &&[u8]| bytes.windows(words.len()).any(|part| part == *words);
        if !TOLD_BY.iter().any(tells) {
            return;
        }
        let Ok(entry) = Entry::parse(bytes) else { return };
        let action = entry.action.as_ref().and_then(|id| id.parse().ok());
        let told = told(&entry);
        match (told, Record::read(About { action, ..About::default() }, &entry.kind, entry.body)) {
            (Some(told), Ok(record)) => self.checker.read(told, &record),
            _ if READ.iter().any(|known| entry.kind.starts_with(known)) => self.unread += 1,
            _ => {}
        }
    }

    pub(super) fn finish(self) -> Checked {
        let checked = self.checker.finish();
        let faults = checked.findings.iter().map(ToString::to_string).collect();
        let placet_domain::passkey::Checked { signed, doors, ended_on_host, .. } = checked;
        Checked { signed, doors, ended_on_host, unread: self.unread, faults }
    }
}

/// What its envelope says, if that can be understood.
fn told(entry: &Entry) -> Option<Told> {
    let at: jiff::Timestamp = entry.at.parse().ok()?;
    let by = match entry.actor.as_str() {
        "runtime" => None,
        actor => Some(actor.parse().ok()?),
    };
    Some(Told { seq: entry.seq, at: Timestamp::from_unix_ms(at.as_millisecond()), by })
}

impl Checked {
    /// Nothing, where no passkey signed anything.
    pub(super) fn words(&self) -> Option<String> {
        if !self.faults.is_empty() {
            return Some(format!("{} {}", styled(BAD, "false"), self.faults.join("\n  ")));
        }
        let verified = |count: u64, what: &str| {
            (count > 0).then(|| format!("{} {count} {what} are signed by passkeys", styled(GOOD, "verified")))
        };
        let ended = (self.ended_on_host > 0)
            .then(|| format!("passkeys ended on the host, by whoever keeps its files: {}", self.ended_on_host));
        let unread = (self.unread > 0).then(|| {
            format!("{} entries about people could not be read; upgrade to check their passkeys", self.unread)
        });
        let told = [verified(self.signed, "approvals"), verified(self.doors, "changes of doors"), ended, unread];
        let told: Vec<String> = told.into_iter().flatten().collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    pub(super) fn check(&self) -> Result<(), CliError> {
        match (self.faults.first(), self.unread) {
            (Some(first), _) => Err(CliError::new(
                Code::Integrity,
                format!("not everything was signed and approved as it had to be: {first}"),
            )),
            (None, 0) => Ok(()),
            // Whoever writes a ledger could hide a false one in what nobody reads.
            (None, unread) => Err(CliError::new(
                Code::Integrity,
                format!("{unread} entries about people and approvals cannot be read, so not all could be checked"),
            )
            .hint("verify with the version of Placet that wrote them")),
        }
    }
}
