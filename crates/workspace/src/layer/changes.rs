//! What promoting an upper would do, path by path: the thing a person looks at, and the digest that stands for it.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::digest::{Digest, Fields};
use crate::layer::node::{Node, Special};
use crate::path::TreePath;

/// What happens to one path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    pub(crate) path: TreePath,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) before: Option<Node>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) after: Option<Node>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conflict: Option<Conflict>,
}

/// The kind of a change, for lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ChangeKind {
    /// Nothing was there.
    Added,
    /// Other content, and perhaps another mode; a link that points elsewhere.
    Changed,
    /// The same content with another mode.
    ModeChanged,
    /// Something of another kind: a link where a file was.
    Replaced,
    /// Nothing is there any more.
    Removed,
}

/// Why a change cannot be promoted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Conflict {
    /// Somebody else changed it since the run began.
    Drifted,
    /// Somebody else made it since the run began.
    Appeared,
    /// Somebody else removed it since the run began.
    Vanished,
    /// The baseline protects it.
    Protected,
    /// It is neither file, directory nor symbolic link.
    Special(Special),
    /// It is a `.git` or something in one: settings and hooks that git on the host would obey.
    Repository,
    /// Promotions need this name themselves.
    Reserved,
}

impl fmt::Display for Conflict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drifted => f.write_str("somebody else changed it since the run began"),
            Self::Appeared => f.write_str("somebody else made it since the run began"),
            Self::Vanished => f.write_str("somebody else removed it since the run began"),
            Self::Protected => f.write_str("it is protected: no commit could bring it back"),
            Self::Special(what) => write!(f, "it is {what}, which is never promoted"),
            Self::Repository => {
                f.write_str("it belongs to a git repository, whose commits are taken over in another way")
            }
            Self::Reserved => f.write_str("promotions need this name themselves"),
        }
    }
}

impl Change {
    /// Where.
    #[must_use]
    pub fn path(&self) -> &TreePath {
        &self.path
    }

    /// What is there now.
    #[must_use]
    pub fn before(&self) -> Option<&Node> {
        self.before.as_ref()
    }

    /// What would be there.
    #[must_use]
    pub fn after(&self) -> Option<&Node> {
        self.after.as_ref()
    }

    /// Why it cannot be promoted, if it cannot.
    #[must_use]
    pub fn conflict(&self) -> Option<Conflict> {
        self.conflict
    }

    /// What kind of change it is.
    #[must_use]
    pub fn kind(&self) -> ChangeKind {
        match (&self.before, &self.after) {
            (None, _) => ChangeKind::Added,
            (Some(_), None) => ChangeKind::Removed,
            (Some(Node::File { digest: old, .. }), Some(Node::File { digest: new, .. })) => {
                if old == new {
                    ChangeKind::ModeChanged
                } else {
                    ChangeKind::Changed
                }
            }
            (Some(Node::Directory { .. }), Some(Node::Directory { .. })) => ChangeKind::ModeChanged,
            (Some(Node::Symlink { .. }), Some(Node::Symlink { .. })) => ChangeKind::Changed,
            (Some(_), Some(_)) => ChangeKind::Replaced,
        }
    }

    fn hash(&self, fields: &mut Fields) {
        fields.add(self.path.as_bytes());
        for side in [&self.before, &self.after] {
            match side {
                Some(node) => node.hash(fields),
                None => fields.add(b"nothing"),
            }
        }
        fields.add(self.conflict.map(|conflict| conflict.to_string()).unwrap_or_default().as_bytes());
    }
}

/// All changes, in the order of their paths.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Changes(pub(crate) Vec<Change>);

impl Changes {
    /// Each change, in the order of their paths.
    pub fn iter(&self) -> std::slice::Iter<'_, Change> {
        self.0.iter()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing changed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The change of one path.
    #[must_use]
    pub fn get(&self, path: &TreePath) -> Option<&Change> {
        self.0.iter().find(|change| change.path == *path)
    }

    /// What an approval of these changes is an approval of: every path with what is there and what would be, exactly.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let mut fields = Fields::new("placet changes v1");
        self.0.iter().for_each(|change| change.hash(&mut fields));
        fields.finish()
    }

    /// Those that cannot be promoted, each with its reason.
    #[must_use]
    pub fn conflicts(&self) -> Vec<(TreePath, Conflict)> {
        self.0.iter().filter_map(|change| change.conflict.map(|conflict| (change.path.clone(), conflict))).collect()
    }

    /// The paths that are not the same in both.
    pub(crate) fn differing(&self, other: &Self) -> Vec<TreePath> {
        let only = |one: &Self, other: &Self| -> Vec<TreePath> {
            let known: std::collections::BTreeMap<_, _> = other.0.iter().map(|change| (&change.path, change)).collect();
            let differs = |change: &&Change| known.get(&change.path).is_none_or(|other| other != change);
            one.0.iter().filter(differs).map(|change| change.path.clone()).collect()
        };
        let mut paths = [only(self, other), only(other, self)].concat();
        paths.sort();
        paths.dedup();
        paths
    }
}

impl<'a> IntoIterator for &'a Changes {
    type Item = &'a Change;
    type IntoIter = std::slice::Iter<'a, Change>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}
