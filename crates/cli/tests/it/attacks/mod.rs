//! Attacks of a hostile agent, program or worker on the people who review it, on the record, and on the rules: those that
//! need a terminal, a cage, a repository or the files of a home. What the API refuses is tested in `control`.
//!
//! Each is a row of a table: what is tried, which barrier is expected to stop it, and what the attacker is told. Each
//! runs twice against real processes: first as the attack, after which the rules of the home must be as they were and
//! nothing may have run that nobody allowed, and then as its *honest twin*: the same thing done by whoever may do it must
//! work, so that no attack is refused merely because nothing works. Attacks on the cage itself are in the crate `sandbox`.

mod coverage;
mod execution;
mod record;
mod rules;
mod scene;
mod screen;
mod worktrees;

use std::fmt;

/// What the honest twin of an attack answers.
const DONE: &str = "done";

/// One attack, for the table.
#[derive(Debug, Clone, Copy)]
struct Row {
    group: &'static str,
    name: &'static str,
    tries: &'static str,
    barrier: Barrier,
    /// What the attacker is told, or how what they wrote is shown; the beginning of it.
    told: &'static str,
}

/// What stops an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Barrier {
    /// Whatever could deceive the eye is spelled out.
    SpelledOut,
    /// What others wrote is marked on every line and comes last.
    Marked,
    /// One JSON object per line, escaped.
    Escaped,
    /// Every line and message that was ever added is scanned.
    SecretScan,
    /// Whoever has the role, and nobody else.
    Role,
    /// Files of the home are not in any cage.
    View,
    /// Numbers are counted outside of what they are about.
    CountedOutside,
    /// No network in the cage.
    NoNetwork,
    /// Read-only in the cage.
    ReadOnly,
    /// What is taken over is compared with the manifest in the ledger.
    TakeOver,
}

impl fmt::Display for Barrier {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.pad(match self {
            Self::SpelledOut => "text: spelled out",
            Self::Marked => "text: marked",
            Self::Escaped => "json: escaped",
            Self::SecretScan => "secret scan",
            Self::Role => "role",
            Self::View => "cage: not in view",
            Self::CountedOutside => "counted outside",
            Self::NoNetwork => "cage: no network",
            Self::ReadOnly => "cage: read-only",
            Self::TakeOver => "take-over",
        })
    }
}

/// Where an attack takes place.
trait Ground {
    fn begin() -> Self;

    /// What no attack changes, in words.
    fn untouchable(&self) -> String;

    /// What is wrong with the record, if something is.
    fn wrong_in_the_record(&self) -> Option<String>;
}

/// Makes the attack, looks at what it did, and then does the same thing honestly.
#[track_caller]
fn withstands<G: Ground>(row: &Row, attack: fn(&G) -> String, honest: fn(&G) -> String) {
    let ground = G::begin();
    let before = ground.untouchable();
    let told = attack(&ground);
    assert!(told.starts_with(row.told), "{}: expected `{}`, observed `{told}`", row.name, row.told);
    assert_eq!(ground.untouchable(), before, "{}: something changed that must not", row.name);
    assert_eq!(ground.wrong_in_the_record(), None, "{}", row.name);
    assert_eq!(honest(&ground), DONE, "{}: the same, done by whoever may, does not work", row.name);
    assert_eq!(ground.wrong_in_the_record(), None, "{}, honestly", row.name);
}

/// A table of attacks, and one test for each.
macro_rules! attacks {
    ($group:literal; $($name:ident, $tries:literal, $barrier:ident, $told:literal, honestly $honest:ident;)*) => {
        pub(super) const ROWS: &[super::Row] = &[$(super::Row {
            group: $group,
            name: stringify!($name),
            tries: $tries,
            barrier: super::Barrier::$barrier,
            told: $told,
        }),*];

        mod withstood {
            $(#[test]
            fn $name() {
                let row = super::ROWS.iter().find(|row| row.name == stringify!($name)).unwrap();
                super::super::withstands(row, super::$name, super::$honest);
            })*
        }
    };
}
use attacks;

/// Every attack of every file.
fn all() -> Vec<Row> {
    [screen::ROWS, record::ROWS, worktrees::ROWS, rules::ROWS, execution::ROWS].concat()
}
