//! Whether passkeys signed what approvals say they did, from the entries of an export alone.
//!
//! It reads what identities and approvals are about, and nothing else: the public keys stand in the same ledger as the signatures.

use placet_domain::command::About;
use placet_domain::passkey::Checker;
use placet_domain::record::Record;
use placet_ledger::Entry;
use serde::Serialize;

use crate::error::{CliError, Code};
use crate::out::{BAD, GOOD, styled};

/// Entries are in one spelling, so these stand in all that matter; where they stand in others, those are read in vain.
const TOLD_BY: &[&[u8]] = &[b"\"kind\":\"identity.", b"\"kind\":\"action.approved\"", b"\"kind\":\"action.judged\""];

#[derive(Debug, Default)]
pub(super) struct Signings {
    checker: Checker,
    unread: u64,
}

/// What became of it.
#[derive(Debug, Serialize)]
pub(super) struct Checked {
    signed: u64,
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
        match Record::read(About { action, ..About::default() }, &entry.kind, entry.body) {
            Ok(record) => self.checker.read(entry.seq, &record),
            Err(_) if entry.kind.starts_with("identity.") || entry.kind.starts_with("action.") => self.unread += 1,
            Err(_) => {}
        }
    }

    pub(super) fn finish(self) -> Checked {
        let checked = self.checker.finish();
        let faults = checked.false_signings.iter().map(ToString::to_string).collect();
        Checked { signed: checked.signed, unread: self.unread, faults }
    }
}

impl Checked {
    /// Nothing, where no passkey signed anything.
    pub(super) fn words(&self) -> Option<String> {
        if !self.faults.is_empty() {
            return Some(format!("{} {}", styled(BAD, "false"), self.faults.join("\n  ")));
        }
        let signed = (self.signed > 0)
            .then(|| format!("{} {} approvals are signed by passkeys", styled(GOOD, "verified"), self.signed));
        let unread = (self.unread > 0).then(|| {
            format!("{} entries about people could not be read; upgrade to check their passkeys", self.unread)
        });
        let told: Vec<String> = signed.into_iter().chain(unread).collect();
        (!told.is_empty()).then(|| told.join("\n"))
    }

    pub(super) fn check(&self) -> Result<(), CliError> {
        match (self.faults.first(), self.unread) {
            (Some(first), _) => {
                Err(CliError::new(Code::Integrity, format!("an approval is not what it says: {first}")))
            }
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
