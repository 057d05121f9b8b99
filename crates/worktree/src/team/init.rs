//! The first files of a team. What is missing is written, each file whole or not at all; what exists is never changed, and
//! no link is followed.
//!
//! It does not touch the team's own `Makefile` or `.gitignore`: what belongs there is said, not done.

use std::path::Path;

use super::files::{FileError, Root};
use super::registry::REGISTRY;
use super::sheet::SCHEMAS;
use super::{SECRETS_ALLOWLIST, policy, protected, raci};

pub(crate) const PROTECTED_PATHS_STARTER: &str = include_str!("../../starter/protected_paths.json");
const RACI_STARTER: &str = include_str!("../../starter/raci.json");
const POLICY_STARTER: &str = include_str!("../../starter/policy.json");
const REGISTRY_STARTER: &str = include_str!("../../starter/agents_registry.json");
const SECRETS_STARTER: &str = include_str!("../../starter/secrets_allowlist.json");
const MAKE_TARGETS: &str = include_str!("../../starter/agents.mk");
const PROFILE_STARTERS: [(&str, &str); 2] = [
    ("agents/profiles/backend_agent.json", include_str!("../../starter/backend_agent.json")),
    ("agents/profiles/docs_agent.json", include_str!("../../starter/docs_agent.json")),
];
/// Everything below is the runtime's and none of the repository's.
const IGNORE_EVERYTHING: &str = "*\n";

/// The line that brings the make targets into a team's own Makefile.
pub const MAKE_INCLUDE: &str = "include agents/agents.mk";

/// What became of one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It was missing and is there now.
    Written,
    /// It was there and was not touched.
    Kept,
    /// As kept, but it is one of the files this program brings along (schemas, make targets) and differs from what this
    /// version brings: remove it and run `init` again to have the new one.
    KeptOther,
}

/// One file and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// From the root of the repository.
    pub path: String,
    pub outcome: Outcome,
}

/// Why nothing, or not everything, was written.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    #[error(transparent)]
    Root(FileError),
    #[error("{path}: {source}")]
    File { path: String, source: FileError },
}

/// Whose a file is once it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Team,
    Program,
}

struct Planned {
    path: String,
    text: String,
    owner: Owner,
}

/// Writes what is missing of a team's files below the root of a main checkout. Run it as often as you like.
pub fn init(root: &Path) -> Result<Vec<Written>, InitError> {
    let root = Root::open(root).map_err(InitError::Root)?;
    let planned = plan(&root)?;
    // First a look at everything, so that a link or a directory in the way stops it before anything is written.
    let existing = planned.iter().map(|file| looked_at(&root, file)).collect::<Result<Vec<_>, _>>()?;
    let files = planned.into_iter().zip(existing);
    files.map(|(file, existing)| settle(&root, file, existing)).collect()
}

fn looked_at(root: &Root, file: &Planned) -> Result<Option<Vec<u8>>, InitError> {
    root.read(&file.path).map_err(|source| InitError::File { path: file.path.clone(), source })
}

fn settle(root: &Root, file: Planned, existing: Option<Vec<u8>>) -> Result<Written, InitError> {
    let outcome = match existing {
        Some(bytes) if file.owner == Owner::Program && bytes != file.text.as_bytes() => Outcome::KeptOther,
        Some(_) => Outcome::Kept,
        None => match root.create(&file.path, file.text.as_bytes()) {
            Ok(true) => Outcome::Written,
            Ok(false) => Outcome::Kept,
            Err(source) => return Err(InitError::File { path: file.path, source }),
        },
    };
    Ok(Written { path: file.path, outcome })
}

/// All files, the registry last: it names the profiles, and must not be there without them.
fn plan(root: &Root) -> Result<Vec<Planned>, InitError> {
    let file = |path: &str, text: &str, owner| Planned { path: path.into(), text: text.into(), owner };
    let mut planned: Vec<Planned> =
        SCHEMAS.iter().map(|(name, text)| file(&format!("agents/schemas/{name}"), text, Owner::Program)).collect();
    let base_branch = super::base_branch::guess(root);
    planned.extend([
        file(policy::POLICY, &POLICY_STARTER.replace("@BASE_BRANCH@", base_branch.as_str()), Owner::Team),
        file(protected::PROTECTED_PATHS, PROTECTED_PATHS_STARTER, Owner::Team),
        file(raci::RACI, RACI_STARTER, Owner::Team),
        file(SECRETS_ALLOWLIST, SECRETS_STARTER, Owner::Team),
        file("agents/agents.mk", MAKE_TARGETS, Owner::Program),
        file(".worktrees/.gitignore", IGNORE_EVERYTHING, Owner::Program),
    ]);
    // A team that has a registry has agents of its own, and no use for profiles that nobody registered.
    let registry = root.kind(REGISTRY).map_err(|source| InitError::File { path: REGISTRY.into(), source })?;
    if registry.is_none() {
        planned.extend(PROFILE_STARTERS.iter().map(|(path, text)| file(path, text, Owner::Team)));
    }
    planned.push(file(REGISTRY, REGISTRY_STARTER, Owner::Team));
    Ok(planned)
}

/// Whether the team's Makefile does not include the make targets yet, so that somebody should be told how
/// ([`MAKE_INCLUDE`]). A Makefile that cannot be read lacks it.
pub fn makefile_lacks_include(root: &Path) -> bool {
    let Ok(root) = Root::open(root) else { return true };
    let includes = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).lines().any(|line| line.trim() == MAKE_INCLUDE);
    !["GNUmakefile", "makefile", "Makefile"].iter().any(|name| root.read(name).ok().flatten().is_some_and(includes))
}
