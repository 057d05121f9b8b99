//! What the rules know of cages: that a profile of this name amounts to these bytes, by their digest, whom it lets its programs reach,
//! and which of them is at most as wide as which. What else is in them is the worker's business; whoever reads profiles says how
//! they compare.

use std::collections::{BTreeMap, BTreeSet};

use crate::catalogue::NetworkUse;
use crate::digest::Digest;

/// What is known of one kind of cage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cage {
    pub digest: Digest,
    /// The most its network may be; a scope and a tool must permit it too.
    pub network: NetworkUse,
}

/// The profiles tools may name, and what each amounts to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cages {
    known: BTreeMap<String, Cage>,
    /// Pairs of a profile and another that is at least as wide.
    narrower: BTreeSet<(String, String)>,
}

impl Cages {
    /// The same, with what is known of how they compare: whether nothing can be done in the first that could not be done in the second.
    #[must_use]
    pub fn compared(self, is_within: impl Fn(&str, &str) -> bool) -> Self {
        let names = || self.known.keys();
        let pairs = names().flat_map(|inner| names().map(move |outer| (inner, outer)));
        let narrower = pairs.filter(|(inner, outer)| is_within(inner, outer));
        let narrower = narrower.map(|(inner, outer)| (inner.clone(), outer.clone())).collect();
        Self { narrower, ..self }
    }

    /// Every profile, with the digest of what it amounts to.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Digest)> {
        self.known.iter().map(|(name, cage)| (name.as_str(), cage.digest))
    }

    pub fn get(&self, profile: &str) -> Option<Digest> {
        self.known.get(profile).map(|cage| cage.digest)
    }

    /// The most that its programs may reach; where nothing is known of it, what a scope permits.
    pub fn network_of(&self, profile: &str) -> &NetworkUse {
        self.known.get(profile).map_or(&NetworkUse::Filtered, |cage| &cage.network)
    }

    /// This one and all that are known to be at most as wide, by what each amounts to. Of one that is not known there is none.
    pub fn within(&self, profile: &str) -> BTreeMap<String, Digest> {
        let fits = |name: &String| {
            name == profile
                || self.known.contains_key(profile) && self.narrower.contains(&(name.clone(), profile.to_owned()))
        };
        self.known.iter().filter(|(name, _)| fits(name)).map(|(name, cage)| (name.clone(), cage.digest)).collect()
    }

    /// Every name, for a sentence.
    pub fn listed(&self) -> String {
        self.known.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl FromIterator<(String, Cage)> for Cages {
    fn from_iter<I: IntoIterator<Item = (String, Cage)>>(profiles: I) -> Self {
        Self { known: profiles.into_iter().collect(), narrower: BTreeSet::new() }
    }
}

/// Cages whose network is as wide as scopes permit.
impl FromIterator<(String, Digest)> for Cages {
    fn from_iter<I: IntoIterator<Item = (String, Digest)>>(profiles: I) -> Self {
        let cage = |digest| Cage { digest, network: NetworkUse::Filtered };
        profiles.into_iter().map(|(name, digest)| (name, cage(digest))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cages() -> Cages {
        ["a", "b", "c"].map(|name| (name.to_owned(), Digest::of(name.as_bytes()))).into_iter().collect()
    }

    fn names(cages: &Cages, profile: &str) -> Vec<String> {
        cages.within(profile).into_keys().collect()
    }

    #[test]
    fn a_cage_is_within_itself_and_what_nobody_compared_is_within_no_other() {
        assert_eq!(names(&cages(), "b"), ["b"]);
        let ordered = cages().compared(|inner, outer| inner <= outer);
        assert_eq!(names(&ordered, "b"), ["a", "b"]);
        assert_eq!(ordered.within("c")["a"], Digest::of(b"a"));
        assert!(ordered.within("d").is_empty(), "nobody knows what that is");
    }
}
