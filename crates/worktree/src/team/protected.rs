//! Protected paths: what no agent changes, whatever its scope says.
//!
//! What belongs to the runtime is protected whether a team lists it or not. A protected directory is protected itself too:
//! nobody may put a link or a file in its place. How paths are judged is decided in [`placet_domain::worktree`].

use placet_domain::scope::Glob;
use placet_domain::worktree::Protected;
use serde::Deserialize;

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

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    paths: Vec<Protected>,
}

/// Reads the list; the one that `init` writes, if there is no file. Nothing, if it is wrong.
pub(crate) fn load(root: &Root, problems: &mut Vec<Problem>) -> Option<Vec<Protected>> {
    let before = problems.len();
    let bytes = read(root, PROTECTED_PATHS, problems);
    if problems.len() > before {
        return None;
    }
    let bytes = bytes.as_deref().unwrap_or(PROTECTED_PATHS_STARTER.as_bytes());
    let sheet = Sheet::check(PROTECTED_PATHS, bytes, "protected_paths.schema.json", problems)?;
    sheet.typed::<File>(problems).map(|file| complete(file.paths))
}

/// The runtime's own first, then the team's; each directory with its inside.
fn complete(of_team: Vec<Protected>) -> Vec<Protected> {
    let own = OF_THE_RUNTIME.iter().map(|(path, reason)| Protected {
        path: path.parse().expect("the runtime's own patterns are patterns"),
        reason: (*reason).to_owned(),
    });
    let is_own = |listed: &Protected| OF_THE_RUNTIME.iter().any(|(path, _)| *path == listed.path.as_str());
    let all = own.chain(of_team.into_iter().filter(|listed| !is_own(listed)));
    all.flat_map(|protected| [directory(&protected), Some(protected)]).flatten().collect()
}

/// The directory whose inside is protected.
fn directory(inside: &Protected) -> Option<Protected> {
    let text = inside.path.as_str();
    let directory = text.strip_suffix("/**").or_else(|| text.strip_suffix('/'))?;
    let path: Glob = directory.parse().ok()?;
    Some(Protected { path, reason: inside.reason.clone() })
}
