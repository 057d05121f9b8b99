//! The record of a worktree: a small file in its private directory, where no agent can write.

use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{WorktreeError, WorktreeName};
use crate::git::{Branch, ObjectId};

/// The file's name. Git does not know it and leaves it alone.
pub(super) const FILE: &str = "placet.json";

/// Whether the files of a worktree are its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// It has a checkout of its own.
    Plain,
    /// It shares the checkout of its base.
    Layered,
}

/// Everything that is known about a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Record {
    pub(super) name: WorktreeName,
    pub(super) kind: Kind,
    /// Below `.worktrees/`.
    #[serde(with = "place")]
    pub(super) place: PathBuf,
    #[serde(with = "text")]
    pub(super) branch: Branch,
    #[serde(with = "text")]
    pub(super) base: ObjectId,
    pub(super) made_at_ms: u64,
}

impl Record {
    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        serde_json::to_vec_pretty(self)
    }

    pub(super) fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, WorktreeError> {
        let damaged =
            |error: serde_json::Error| WorktreeError::Record { path: path.to_owned(), why: error.to_string() };
        serde_json::from_slice(bytes).map_err(damaged)
    }
}

/// A place below `.worktrees/`: plain names, none of them hidden, because hidden ones are ours.
pub(super) fn check_place(place: &Path) -> Result<(), WorktreeError> {
    let plain = |part: Component<'_>| match part {
        Component::Normal(name) => {
            name.to_str().is_some_and(|name| !name.starts_with('.') && !name.contains(char::is_control))
        }
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
    };
    let well = place.components().next().is_some() && place.components().all(plain);
    if well { Ok(()) } else { Err(WorktreeError::Place(place.to_owned())) }
}

mod place {
    use super::*;

    pub(super) fn serialize<S: Serializer>(place: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&place.display())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        let place = PathBuf::from(String::deserialize(deserializer)?);
        check_place(&place).map_err(serde::de::Error::custom)?;
        Ok(place)
    }
}

mod text {
    use std::fmt::Display;
    use std::str::FromStr;

    use super::*;

    pub(super) fn serialize<T: Display, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, T, D>(deserializer: D) -> Result<T, D::Error>
    where
        T: FromStr<Err: Display>,
        D: Deserializer<'de>,
    {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_back_and_one_that_leads_elsewhere_is_not() {
        let record = Record {
            name: "T-1.a".parse().unwrap(),
            kind: Kind::Plain,
            place: "T-1/a".into(),
            branch: "feat/T-1-a".parse().unwrap(),
            base: "a".repeat(40).parse().unwrap(),
            made_at_ms: 7,
        };
        let text = String::from_utf8(record.to_bytes().unwrap()).unwrap();
        let read = |text: &str| Record::from_bytes(text.as_bytes(), Path::new("x"));
        assert_eq!(read(&text).unwrap(), record);
        for (from, to) in
            [("T-1/a", "../../etc"), ("T-1/a", "/etc"), ("feat/T-1-a", "-x"), ("plain", "other"), ("T-1/a", ".bases/x")]
        {
            assert!(read(&text.replacen(&format!("\"{from}\""), &format!("\"{to}\""), 1)).is_err(), "{to}");
        }
    }
}
