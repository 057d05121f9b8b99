//! What a kernel can keep of a scope.
//!
//! A cage knows mounts, and a mount says of a path and everything below it: writable or read-only. Globs say more than that.
//! An enclosure is the tightest set of such rules that still lets an agent do what its scope allows, together with the
//! [`Gap`]s between the two. What exists and may not change is always read-only. What does not exist yet is kept where a
//! rule names it, and elsewhere left to the diff gate: a pattern with wildcards opens a directory for every new name in it,
//! and a denied name can be made anew in other letter case.
//!
//! Where a scope needs more mounts than a cage takes, rules become coarser, and then stricter, never looser.
//! Nothing is mounted here and no file is looked at: the tree is given, the rules are handed on.

mod budget;
mod gap;
mod survey;
mod tree;

use std::collections::BTreeMap;

pub use self::gap::{Gap, GapKind};
pub use self::tree::{Leaf, Tree};

use self::survey::{Detail, Survey};
use super::{Glob, Scope};

/// A cage takes 1,024 mounts; the rest is for those it makes of its own: the git directory, environment files, the runtime.
pub const MOST_MOUNTS: usize = 896;

/// What may be done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Access {
    /// Read, change, remove; and make, if it is absent.
    Writable,
    /// Read only; and not made, if it is absent.
    ReadOnly,
}

/// Rules about paths and what is below them, of which the deepest one holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Enclosure {
    ground: Access,
    rules: BTreeMap<Vec<u8>, Access>,
    gaps: Vec<Gap>,
}

impl Enclosure {
    /// Encloses a tree by a scope. What the protected globs match is denied like what the scope itself denies.
    pub fn of(scope: &Scope, protected: &[Glob], tree: &Tree) -> Self {
        Self::within(MOST_MOUNTS, scope, protected, tree)
    }

    /// The same for a cage that takes fewer or more mounts.
    pub fn within(most_mounts: usize, scope: &Scope, protected: &[Glob], tree: &Tree) -> Self {
        let rules = scope.rules();
        let survey = |detail| Survey::of(detail, &rules.allow, rules.deny.iter().chain(protected), tree);
        let mut survey = match survey(Detail::Changes) {
            few if few.places.mounts() <= most_mounts => few,
            _ => {
                let mut all = survey(Detail::Everything);
                budget::fit(&mut all, most_mounts);
                all
            }
        };
        survey.close_lone_links();
        let ground = survey.places.ground();
        Self { ground, rules: survey.places.rules(), gaps: survey.gaps.into_list() }
    }

    /// What may be done where no rule says otherwise: read-only, unless names may be made at the root itself.
    pub const fn ground(&self) -> Access {
        self.ground
    }

    /// The rules, a directory before what is in it.
    pub fn rules(&self) -> impl Iterator<Item = (&[u8], Access)> {
        self.rules.iter().map(|(path, access)| (path.as_slice(), *access))
    }

    /// Where the rules permit more or less than the scope.
    pub fn gaps(&self) -> &[Gap] {
        &self.gaps
    }

    /// What may be done with a path, whether it exists or not.
    pub fn access(&self, path: &[u8]) -> Access {
        let above = path.iter().enumerate().rev().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &path[..slash]);
        std::iter::once(path).chain(above).find_map(|path| self.rules.get(path)).copied().unwrap_or(self.ground)
    }
}
