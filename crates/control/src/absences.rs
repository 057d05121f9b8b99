//! Who is away, as far as it was looked up. Forgotten whenever it may have changed.

use std::sync::{Mutex, MutexGuard, PoisonError};

use placet_domain::id::IdentityId;
use placet_domain::time::Timestamp;

/// Somebody is away, until then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absence {
    pub name: String,
    pub(crate) to: IdentityId,
    pub until: Timestamp,
}

/// Who is away, as far as it was looked up. Forgotten whenever it may have changed.
#[derive(Debug, Default)]
pub(crate) struct Absences(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// How often it was forgotten: what was looked up before the last time is not kept.
    age: u64,
    absences: Option<Vec<Absence>>,
}

impl Absences {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns what is known, and how often it was forgotten before.
    pub(crate) fn known(&self) -> (u64, Option<Vec<Absence>>) {
        let known = self.lock();
        (known.age, known.absences.clone())
    }

    pub(crate) fn forget(&self) {
        let mut known = self.lock();
        *known = Known { age: known.age + 1, absences: None };
    }

    pub(crate) fn keep(&self, age: u64, found: &[Absence]) {
        let mut known = self.lock();
        if known.age == age {
            known.absences = Some(found.to_vec());
        }
    }
}
