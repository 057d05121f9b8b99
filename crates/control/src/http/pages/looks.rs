//! Since when cards are open before people who may decide on them, so that it is known whether there was time to read. In memory only, and
//! bounded: what is forgotten is unknown, and unknown is what it is called.
//!
//! The first time counts. A card that lay open in the background counts as looked at all the while: that errs in favour of whoever decides.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use placet_domain::deciding::{Look, needed_ms};
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId};
use placet_domain::time::Timestamp;
use placet_pages::ActionPage;

/// Beyond this everything is forgotten.
const MOST: usize = 20_000;
/// So much of a file is read at most before a decision.
const MOST_OF_A_FILE: u64 = 64 * 1_024;

/// To whom the card of which action was shown, and what it bound. Two actions may be the same to the last byte.
type Card = (IdentityId, ActionId, Digest);

#[derive(Debug, Clone, Copy)]
struct Shown {
    since: Timestamp,
    needed_ms: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Looks(Mutex<HashMap<Card, Shown>>);

impl Looks {
    /// A card is shown; how long it takes to read follows from what is on it.
    pub(super) fn note(&self, who: IdentityId, page: &ActionPage, now: Timestamp) {
        let mut shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.len() >= MOST {
            shown.clear();
        }
        let new = Shown { since: now, needed_ms: needed_ms(letters(page)) };
        shown.entry((who, page.detail.action.id, page.detail.action.review)).or_insert(new);
    }

    /// How somebody looked at what they decide on, if that is known.
    pub(super) fn of(&self, card: Card, now: Timestamp) -> Option<Look> {
        let shown = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Shown { since, needed_ms } = *shown.get(&card)?;
        let looked_ms = u64::try_from(now.unix_ms().saturating_sub(since.unix_ms())).unwrap_or(0);
        Some(Look { looked_ms, needed_ms })
    }
}

/// What there is to read: why one is asked, what will run, and what it is given.
fn letters(page: &ActionPage) -> u64 {
    let spec = &page.detail.spec;
    let reasons = page.detail.action.verdict.reasons.iter().map(|reason| reason.because.len());
    let words = spec.argv.iter().map(String::len);
    let environment = spec.environment.iter().map(|(name, value)| name.len() + value.len());
    let text: usize = reasons.chain(words).chain(environment).chain(spec.outputs.iter().map(String::len)).sum();
    let files: u64 = spec.files.iter().map(|file| file.size_bytes.min(MOST_OF_A_FILE)).sum();
    files.saturating_add(text as u64)
}
