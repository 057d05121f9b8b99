//! What is given up where a scope needs more mounts than a cage takes: first new names, then files, then whole places.
//!
//! Everything given up becomes read-only. A directory is closed by one rule instead of one for each exception in it.

use std::collections::BTreeMap;

use super::Access;
use super::gap::GapKind;
use super::survey::{Kind, Places, Survey};
use super::tree::{is_in, parent};

/// What is directly in a directory.
#[derive(Clone, Copy, Default)]
struct Inside {
    read_only: usize,
    writable_leaves: usize,
    writable_directories: usize,
}

/// How a directory is closed.
#[derive(Clone, Copy)]
enum Closing {
    /// Its own names: what is writable in it keeps a rule of its own.
    ToNewNames,
    /// Its own names and files; directories in it keep a rule of their own.
    ToChanges,
    /// With all that is below it.
    Wholly,
}

/// Closes directories until the rest fits, those first that save the most.
pub(super) fn fit(survey: &mut Survey<'_>, most_mounts: usize) {
    for closing in [Closing::ToNewNames, Closing::ToChanges, Closing::Wholly] {
        let mut candidates = candidates(&survey.places, closing).into_iter();
        let mut excess = survey.places.mounts().saturating_sub(most_mounts);
        while excess > 0 {
            let mut saved = 0;
            while saved < excess
                && let Some((saving, path)) = candidates.next()
            {
                close(survey, &path, closing);
                saved += saving;
            }
            if saved == 0 {
                break;
            }
            excess = survey.places.mounts().saturating_sub(most_mounts);
        }
    }
}

/// The directories whose closing saves mounts, with how many about, most first.
fn candidates(places: &Places, closing: Closing) -> Vec<(usize, Vec<u8>)> {
    let mut candidates: Vec<(usize, Vec<u8>)> = match closing {
        Closing::ToNewNames | Closing::ToChanges => {
            let directories = inside(places).into_iter();
            directories
                .filter_map(|(path, inside)| Some((saving(places, path, inside, closing)?, path.to_vec())))
                .collect()
        }
        Closing::Wholly => rules_below(places).into_iter().map(|(path, rules)| (rules, path.to_vec())).collect(),
    };
    candidates.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    candidates
}

fn inside(places: &Places) -> BTreeMap<&[u8], Inside> {
    let mut all: BTreeMap<&[u8], Inside> = BTreeMap::new();
    for (path, place) in places.0.iter().filter(|(path, _)| !path.is_empty()) {
        let inside = all.entry(parent(path)).or_default();
        match (place.access, place.kind) {
            (Access::ReadOnly, _) => inside.read_only += 1,
            (Access::Writable, Kind::Directory) => inside.writable_directories += 1,
            (Access::Writable, Kind::Leaf(_) | Kind::Absent) => inside.writable_leaves += 1,
        }
    }
    all
}

fn saving(places: &Places, path: &[u8], inside: Inside, closing: Closing) -> Option<usize> {
    let now = match places.0[path].access {
        Access::Writable => inside.read_only,
        Access::ReadOnly => inside.writable_leaves + inside.writable_directories,
    };
    let then = match closing {
        Closing::ToNewNames => inside.writable_leaves + inside.writable_directories,
        Closing::ToChanges => inside.writable_directories,
        Closing::Wholly => 0,
    };
    now.checked_sub(then).filter(|saving| *saving > 0)
}

/// The outermost writable places, with the number of rules that each stands for.
fn rules_below(places: &Places) -> BTreeMap<&[u8], usize> {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for (path, place) in &places.0 {
        let is_rule = path.is_empty() || place.access != places.above(path);
        if is_rule && let Some(outermost) = outermost_writable(places, path) {
            *counts.entry(outermost).or_default() += 1;
        }
    }
    counts
}

fn outermost_writable<'path>(places: &Places, path: &'path [u8]) -> Option<&'path [u8]> {
    let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/').map(|(slash, _)| &path[..slash]);
    let mut above = std::iter::once(&path[..0]).chain(slashes).chain([path]);
    above.find(|above| places.0.get(*above).is_some_and(|place| place.access == Access::Writable))
}

fn close(survey: &mut Survey<'_>, path: &[u8], closing: Closing) {
    let is_given_up = |other: &[u8], kind| match closing {
        Closing::ToNewNames => other == path,
        Closing::ToChanges => other == path || (parent(other) == path && matches!(kind, Kind::Leaf(_))),
        Closing::Wholly => is_in(other, path),
    };
    for (other, place) in survey.places.0.range_mut(path.to_vec()..).take_while(|(other, _)| other.starts_with(path)) {
        if is_given_up(other, place.kind) {
            place.access = Access::ReadOnly;
        }
    }
    let kind = match closing {
        Closing::ToNewNames => GapKind::NoNewNames,
        Closing::ToChanges | Closing::Wholly => GapKind::Closed,
    };
    survey.gaps.add(kind, None, path);
}
