//! Where an enclosure and its scope differ, in words that a person can act on.

use std::collections::BTreeMap;
use std::fmt;

use super::tree::{is_in, parent};
use crate::scope::Glob;

/// Why mounts cannot say what a scope says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GapKind {
    /// An allow rule has wildcards: new names that it does not match can be made too.
    NewNames,
    /// An allow rule names a file that is absent: to make it, other new names can be made beside it.
    NewFile,
    /// A deny rule has wildcards: names that it matches can be made where they are absent.
    Unborn,
    /// Where a rule needs a directory is something else.
    InTheWay,
    /// A symbolic link is alone allowed where nothing else is.
    Link,
    /// There are too many exceptions in a directory: no new names can be made in it.
    NoNewNames,
    /// There are too many exceptions in a directory: it is read-only.
    Closed,
}

/// One difference between an enclosure and its scope. The diff gate decides by the scope, whatever the enclosure permits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    kind: GapKind,
    glob: Option<Glob>,
    place: Vec<u8>,
    places: usize,
}

impl Gap {
    pub const fn kind(&self) -> GapKind {
        self.kind
    }

    /// The rule that is not kept in full. Where there is no room for mounts, that is no single one.
    pub const fn glob(&self) -> Option<&Glob> {
        self.glob.as_ref()
    }

    /// Where it matters; the directory that all such places are in, if there are several. Empty for the root.
    pub fn place(&self) -> &[u8] {
        &self.place
    }

    /// In how many places it matters.
    pub const fn places(&self) -> usize {
        self.places
    }

    /// Whether the enclosure permits more than the scope here, so that only the diff gate stands against it. Otherwise it
    /// permits less, and the agent misses something.
    pub const fn permits_more(&self) -> bool {
        match self.kind {
            GapKind::NewNames | GapKind::NewFile | GapKind::Unborn => true,
            GapKind::InTheWay | GapKind::Link | GapKind::NoNewNames | GapKind::Closed => false,
        }
    }
}

impl fmt::Display for Gap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rule = self.glob.as_ref().map(|glob| format!("`{glob}`: ")).unwrap_or_default();
        let place = self.place_in_words();
        match self.kind {
            GapKind::NewNames => write!(f, "{rule}new names that it does not match can be made in {place} too"),
            GapKind::NewFile => write!(f, "{rule}it is absent, so other new names can be made beside it in {place}"),
            GapKind::Unborn => write!(f, "{rule}names that it denies and that are absent can be made in {place}"),
            GapKind::InTheWay => write!(f, "{rule}{place} is in the place of a directory; it stays as it is"),
            GapKind::Link => write!(f, "{rule}{place} is a symbolic link; allow the directory it is in to change it"),
            GapKind::NoNewNames => {
                write!(f, "no new names can be made in {place}: too many exceptions; allow whole directories")
            }
            GapKind::Closed => {
                write!(f, "nothing can be changed in {place}: too many exceptions; allow or deny whole directories")
            }
        }
    }
}

impl Gap {
    fn place_in_words(&self) -> String {
        let place = match self.place.as_slice() {
            b"" => "the root".to_owned(),
            place => format!("`{}`", place.escape_ascii()),
        };
        match self.places {
            1 => place,
            places => format!("{places} directories of {place}"),
        }
    }
}

/// Gaps as they are found. Those that open up at many places for one rule are one gap, or nobody would read them.
#[derive(Debug, Default)]
pub(super) struct Gaps<'scope>(BTreeMap<(GapKind, &'scope str, Vec<u8>), Gap>);

impl<'scope> Gaps<'scope> {
    pub(super) fn add(&mut self, kind: GapKind, glob: Option<&'scope Glob>, place: &[u8]) {
        let rule = glob.map_or("", Glob::as_str);
        let own_place = match kind {
            GapKind::InTheWay | GapKind::Link => place.to_vec(),
            GapKind::NewNames | GapKind::NewFile | GapKind::Unborn | GapKind::NoNewNames | GapKind::Closed => {
                Vec::new()
            }
        };
        let new = || Gap { kind, glob: glob.cloned(), place: place.to_vec(), places: 0 };
        let gap = self.0.entry((kind, rule, own_place)).or_insert_with(new);
        gap.places += 1;
        while !is_in(place, &gap.place) {
            gap.place.truncate(parent(&gap.place).len());
        }
    }

    pub(super) fn into_list(self) -> Vec<Gap> {
        self.0.into_values().collect()
    }
}
