//! What a worker says it is: which binary, how much at once, what its machine enforces, and which cages it builds.
//!
//! It is its own claim. Nothing is decided by it: what an approval covers is compared by whoever executes, against the permit. It is kept so
//! that people see where their actions run, and when that changed.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::rights::{self_alone, standing};
use super::{Actor, Identity, IdentityEvent, Role};
use crate::digest::Digest;
use crate::refusal::Refusal;

/// Maximum length of the name of a version, host or facility. Real names are shorter.
const LONGEST_WORDS: usize = 200;
/// Maximum length of the effect of a missing facility: one or two sentences. 32 of these fit into one ledger entry.
const LONGEST_MEANING: usize = 500;
/// More kinds of cage than any team tells apart, and more facilities than are looked for.
const MOST_PROFILES: usize = 64;
const MOST_MISSING: usize = 32;

/// What a worker says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Declaration {
    /// Of the binary that works.
    pub version: String,
    pub host: String,
    pub kernel: String,
    /// How many actions it executes at once, and how many runs it hosts.
    pub actions_at_once: u32,
    pub runs_at_once: u32,
    pub cage: CageStanding,
    /// The kinds of cage that it builds, each with the digest of what it amounts to there.
    pub profiles: BTreeMap<String, Digest>,
}

/// How well cages hold on its machine.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CageStanding {
    pub tier: CageTier,
    /// Facilities that are not enforced there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// What that means.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub means: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CageTier {
    Full,
    Degraded,
    Unavailable,
}

impl CageTier {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::Degraded => "degraded",
            Self::Unavailable => "unavailable",
        }
    }
}

impl CageStanding {
    /// Truncates the lists and texts to the limits of a declaration, because error texts of system programs have any length.
    #[must_use]
    pub fn within_bounds(mut self) -> Self {
        self.missing.truncate(MOST_MISSING);
        self.means.truncate(MOST_MISSING);
        self.missing.iter_mut().for_each(|name| cut(name, LONGEST_WORDS));
        self.means.iter_mut().for_each(|meaning| cut(meaning, LONGEST_MEANING));
        self
    }
}

/// Truncates a text that is too long at a character boundary and marks the cut with an ellipsis.
fn cut(text: &mut String, most: usize) {
    const MARK: char = '…';
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most - MARK.len_utf8()));
        text.push(MARK);
    }
}

impl Declaration {
    fn check(&self) -> Result<(), Refusal> {
        let words = [&self.version, &self.host, &self.kernel].into_iter();
        let words = words.chain(&self.cage.missing).chain(self.profiles.keys());
        let fits = words.into_iter().all(|text| text.len() <= LONGEST_WORDS)
            && self.cage.means.iter().all(|text| text.len() <= LONGEST_MEANING)
            && self.profiles.len() <= MOST_PROFILES
            && self.cage.missing.len() <= MOST_MISSING
            && self.cage.means.len() <= MOST_MISSING;
        if fits {
            return Ok(());
        }
        Err(Refusal::invalid(
            "a declaration has names of 200 bytes at most, meanings of 500, 64 profiles at most and 32 missing facilities at most",
        ))
    }
}

/// A worker declares for itself, and only what is new.
pub(super) fn decide(
    state: Option<&Identity>,
    declaration: &Declaration,
    actor: &Actor,
) -> Result<IdentityEvent, Refusal> {
    let identity = standing(state)?;
    self_alone(identity, actor)?;
    if !identity.has(Role::Worker) {
        return Err(Refusal::Role { needed: Role::Worker });
    }
    declaration.check()?;
    if identity.declaration.as_deref() == Some(declaration) {
        return Err(Refusal::Exists { what: "declaration" });
    }
    Ok(IdentityEvent::Declared { declaration: Box::new(declaration.clone()) })
}

#[cfg(test)]
mod tests {
    use super::super::decide::tests::identity;
    use super::super::decide::{IdentityCommand, decide, evolve};
    use super::*;
    use crate::time::Timestamp;

    const NOW: Timestamp = Timestamp::from_unix_ms(0);

    fn declaration() -> Declaration {
        Declaration {
            version: "0.1.0".to_owned(),
            host: "lab".to_owned(),
            kernel: "6.12".to_owned(),
            actions_at_once: 2,
            runs_at_once: 4,
            cage: CageStanding { tier: CageTier::Degraded, missing: vec!["landlock".to_owned()], means: Vec::new() },
            profiles: [("default".to_owned(), Digest::of(b"cage"))].into(),
        }
    }

    fn declare(of: &Identity, by: &Identity, what: &Declaration) -> Result<Vec<IdentityEvent>, Refusal> {
        let command = IdentityCommand::Declare(Box::new(what.clone()));
        decide(Some(of), &command, &Actor::Identity(by.clone()), NOW)
    }

    #[test]
    fn c16_a_worker_declares_what_it_is_once_and_again_when_that_changed() {
        let worker = identity(1, &[Role::Worker]);
        let events = declare(&worker, &worker, &declaration()).unwrap();
        assert_eq!(events[0].meta().kind, "identity.declared");
        let known = evolve(worker.id, Some(worker), &events[0]).unwrap();
        assert_eq!(known.declaration.as_deref(), Some(&declaration()));
        let same = declare(&known, &known, &declaration());
        assert_eq!(same, Err(Refusal::Exists { what: "declaration" }));
        let other = Declaration { version: "0.2.0".to_owned(), ..declaration() };
        assert!(declare(&known, &known, &other).is_ok());
    }

    #[test]
    fn c16_nobody_declares_for_another_and_nobody_but_a_worker_declares() {
        let (worker, other) = (identity(1, &[Role::Worker]), identity(2, &[Role::Worker]));
        assert!(declare(&worker, &other, &declaration()).is_err());
        assert!(declare(&worker, &identity(3, &[Role::Admin]), &declaration()).is_err());
        for role in Role::ALL.iter().filter(|role| **role != Role::Worker) {
            let somebody = identity(4, &[*role]);
            let refused = declare(&somebody, &somebody, &declaration());
            assert_eq!(refused, Err(Refusal::Role { needed: Role::Worker }), "{role}");
        }
        let revoked = Identity { revoked: true, ..worker.clone() };
        assert!(declare(&revoked, &worker, &declaration()).is_err());
    }

    #[test]
    fn declaration_with_long_reasons_is_cut_and_taken() {
        let worker = identity(1, &[Role::Worker]);
        let long = CageStanding {
            tier: CageTier::Degraded,
            missing: vec!["é".repeat(LONGEST_WORDS); MOST_MISSING + 1],
            means: vec!["é".repeat(LONGEST_MEANING); MOST_MISSING + 1],
        };
        assert!(declare(&worker, &worker, &Declaration { cage: long.clone(), ..declaration() }).is_err());
        let cage = long.within_bounds();
        assert!(cage.means[0].ends_with("é…"), "{}", cage.means[0]);
        assert!(declare(&worker, &worker, &Declaration { cage, ..declaration() }).is_ok());
        let sentence = "memory of the tree is counted, but not by the kernel, ".repeat(5);
        let said = CageStanding { tier: CageTier::Degraded, missing: Vec::new(), means: vec![sentence] };
        assert_eq!(said.clone().within_bounds(), said, "what a probe says is not shortened");
        assert!(declare(&worker, &worker, &Declaration { cage: said, ..declaration() }).is_ok());
    }

    #[test]
    fn c16_what_a_worker_claims_is_bounded() {
        let worker = identity(1, &[Role::Worker]);
        let long = "x".repeat(LONGEST_WORDS + 1);
        let cage = |missing: Vec<String>| CageStanding { missing, ..declaration().cage };
        for wrong in [
            Declaration { host: long.clone(), ..declaration() },
            Declaration { cage: cage(vec![long.clone()]), ..declaration() },
            Declaration { cage: cage(vec![String::new(); MOST_MISSING + 1]), ..declaration() },
            Declaration { profiles: [(long, Digest::of(b""))].into(), ..declaration() },
            Declaration {
                profiles: (0..=MOST_PROFILES).map(|number| (number.to_string(), Digest::of(b""))).collect(),
                ..declaration()
            },
        ] {
            assert!(declare(&worker, &worker, &wrong).is_err(), "{wrong:?}");
        }
    }
}
