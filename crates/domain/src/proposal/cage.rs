//! What the rules know of cages: that a profile of this name amounts to these bytes, by their digest, and whom it lets its
//! programs reach. What else is in them is the worker's business.

use std::collections::BTreeMap;

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
pub struct Cages(BTreeMap<String, Cage>);

impl Cages {
    pub fn get(&self, profile: &str) -> Option<Digest> {
        self.0.get(profile).map(|cage| cage.digest)
    }

    /// The most that its programs may reach; where nothing is known of it, what a scope permits.
    pub fn network_of(&self, profile: &str) -> &NetworkUse {
        self.0.get(profile).map_or(&NetworkUse::Filtered, |cage| &cage.network)
    }

    /// Every name, for a sentence.
    pub fn listed(&self) -> String {
        self.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl FromIterator<(String, Cage)> for Cages {
    fn from_iter<I: IntoIterator<Item = (String, Cage)>>(profiles: I) -> Self {
        Self(profiles.into_iter().collect())
    }
}

/// Cages whose network is as wide as scopes permit.
impl FromIterator<(String, Digest)> for Cages {
    fn from_iter<I: IntoIterator<Item = (String, Digest)>>(profiles: I) -> Self {
        let cage = |digest| Cage { digest, network: NetworkUse::Filtered };
        profiles.into_iter().map(|(name, digest)| (name, cage(digest))).collect()
    }
}
