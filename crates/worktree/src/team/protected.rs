//! Protected paths: what no agent changes, whatever its scope says.
//!
//! What belongs to the runtime is protected whether a team lists it or not. Letter case is ignored, and a protected
//! directory is protected itself too: nobody may put a link or a file in its place.

use placet_domain::scope::{Case, Glob, ScopePath};
use serde::{Deserialize, Serialize};

use super::files::Root;
use super::init::PROTECTED_PATHS_STARTER;
use super::problem::Problem;
use super::sheet::{Sheet, read};

pub(crate) const PROTECTED_PATHS: &str = "agents/protected_paths.json";

/// What belongs to the runtime, with the reason.
const OF_THE_RUNTIME: &[(&str, &str)] = &[
    (".placet/**", "the home of the runtime: its ledger, keys and tokens"),
    (".agent/**", "the manifest and the report of a worktree, which the runtime writes"),
    (".worktrees/**", "where worktrees lie; an agent stays in its own"),
    ("agents/**", "who the agents are and what they may do; nobody widens his own scope"),
];

/// Who put a path on the list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProtectedBy {
    Runtime,
    Team,
}

/// A protected path with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProtectedPath {
    path: Glob,
    reason: String,
    by: ProtectedBy,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    paths: Vec<Listed>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    path: Glob,
    reason: String,
}

impl ProtectedPath {
    pub fn path(&self) -> &Glob {
        &self.path
    }

    /// Why; whoever is refused reads it.
    pub fn reason(&self) -> &str {
        &self.reason
    }

    pub fn by(&self) -> ProtectedBy {
        self.by
    }

    /// The patterns that say the same to who matches patterns himself: the path, and the directory it is the inside of.
    pub fn globs(&self) -> impl Iterator<Item = Glob> {
        [Some(self.path.clone()), self.directory()].into_iter().flatten()
    }

    fn directory(&self) -> Option<Glob> {
        let text = self.path.as_str();
        text.strip_suffix("/**").or_else(|| text.strip_suffix('/')).and_then(|directory| directory.parse().ok())
    }

    pub fn covers(&self, path: &ScopePath) -> bool {
        self.globs().any(|glob| glob.matches(path, Case::Ignore))
    }
}

/// Everything that is protected, the runtime's own first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct Protected(Vec<ProtectedPath>);

impl Protected {
    pub fn all(&self) -> &[ProtectedPath] {
        &self.0
    }

    /// The entry that protects a path, if one does.
    pub fn covering(&self, path: &ScopePath) -> Option<&ProtectedPath> {
        self.0.iter().find(|protected| protected.covers(path))
    }

    fn with_the_runtimes_own(listed: Vec<Listed>) -> Self {
        let own = OF_THE_RUNTIME.iter().map(|(path, reason)| ProtectedPath {
            path: path.parse().expect("the runtime's own patterns are patterns"),
            reason: (*reason).to_owned(),
            by: ProtectedBy::Runtime,
        });
        let is_own = |listed: &Listed| OF_THE_RUNTIME.iter().any(|(path, _)| *path == listed.path.as_str());
        let of_team = listed.into_iter().filter(|listed| !is_own(listed));
        let of_team =
            of_team.map(|listed| ProtectedPath { path: listed.path, reason: listed.reason, by: ProtectedBy::Team });
        Self(own.chain(of_team).collect())
    }
}

/// Reads the list; the one that `init` writes, if there is no file. Nothing, if it is wrong.
pub(crate) fn load(root: &Root, problems: &mut Vec<Problem>) -> Option<Protected> {
    let before = problems.len();
    let bytes = read(root, PROTECTED_PATHS, problems);
    if problems.len() > before {
        return None;
    }
    let bytes = bytes.as_deref().unwrap_or(PROTECTED_PATHS_STARTER.as_bytes());
    let sheet = Sheet::check(PROTECTED_PATHS, bytes, "protected_paths.schema.json", problems)?;
    sheet.typed::<File>(problems).map(|file| Protected::with_the_runtimes_own(file.paths))
}
