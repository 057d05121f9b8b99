//! What the rules know of cages: that a profile of this name amounts to these bytes, by their digest. What is in them is the
//! worker's business.

use std::collections::BTreeMap;

use crate::digest::Digest;

/// The profiles tools may name, and what each amounts to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Cages(BTreeMap<String, Digest>);

impl Cages {
    pub fn get(&self, profile: &str) -> Option<Digest> {
        self.0.get(profile).copied()
    }

    /// Every name, for a sentence.
    pub fn listed(&self) -> String {
        self.0.keys().map(String::as_str).collect::<Vec<_>>().join(", ")
    }
}

impl FromIterator<(String, Digest)> for Cages {
    fn from_iter<I: IntoIterator<Item = (String, Digest)>>(profiles: I) -> Self {
        Self(profiles.into_iter().collect())
    }
}
