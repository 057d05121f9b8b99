//! The cage of a worktree: what the kernel keeps of its manifest.
//!
//! Files and repository are layers: whatever a command does, the checkout below and the repository stay as they are
//! until somebody takes the work over. In the layers the scope is writable, and nothing else is; secrets are hidden.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

use placet_domain::scope::{Access as Enclosed, Enclosure, Glob, Leaf, Scope, ScopeDraft, Tree};
use placet_domain::worktree::{Opening, RUNTIME_OWN};
use placet_sandbox::{Access, Layers, Request, Rules};
use placet_workspace::{CagePaths, RepositoryError, Worktree};

use crate::git_settings::{self, GitSettingsError};
use crate::kept::Kept;
use crate::own::OWN;

/// Where hooks are in the cage: the workspace is always at the same place there.
const HOOKS: &str = "/work/.agent/hooks";

/// What a command is given.
#[derive(Debug)]
pub struct Cage<'a> {
    pub worktree: &'a Worktree,
    pub opening: &'a Opening,
    pub exempted: &'a [Glob],
}

impl Cage<'_> {
    /// The command as a request, with layers and rules; what else it needs is the caller's to add.
    pub fn request(&self, command: &[String]) -> Result<Request, GitSettingsError> {
        self.request_in(&self.worktree.cage(), command)
    }

    /// The same in other layers than the worktree's own.
    pub fn request_in(&self, paths: &CagePaths, command: &[String]) -> Result<Request, GitSettingsError> {
        git_settings::cover(self.worktree.repository(), paths)?;
        let (files, repository) = layers(paths);
        let mut request = Request::new(command.iter().cloned());
        request = request.workspace(files).layer(repository, &paths.git_lower).rules(self.rules()?);
        for (name, value) in variables(&paths.variables).into_iter().chain(self.identity()) {
            request = request.env(name, value);
        }
        Ok(request)
    }

    /// Commits name the agent, whatever it says of itself elsewhere; the domain belongs to nobody.
    fn identity(&self) -> Vec<(String, String)> {
        let (name, mail) = (self.opening.display_name.clone(), format!("{}@agents.invalid", self.opening.agent));
        let names = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"].map(|variable| (variable.to_owned(), name.clone()));
        let mails = ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"].map(|variable| (variable.to_owned(), mail.clone()));
        names.into_iter().chain(mails).collect()
    }

    /// What mounts can keep of the manifest. What they cannot, the check finds and the harvest refuses.
    pub fn rules(&self) -> Result<Rules, RepositoryError> {
        self.rules_by(&self.opening.manifest.scope)
    }

    fn rules_by(&self, scope: &Scope) -> Result<Rules, RepositoryError> {
        let denied = self.denied();
        let kept = Kept::of(self.worktree, scope, &denied, || self.enclosed(scope, &denied))?;
        let mut rules = match kept.ground {
            Enclosed::Writable => Rules::writable(),
            Enclosed::ReadOnly => Rules::read_only(),
        };
        for (path, access) in kept.rules {
            let access = match access {
                Enclosed::Writable => Access::Writable,
                Enclosed::ReadOnly => Access::ReadOnly,
            };
            rules = rules.path(PathBuf::from(OsString::from_vec(path)), access);
        }
        Ok(rules.path(OWN, Access::ReadOnly).path(".git", Access::ReadOnly).hide_env_files())
    }

    /// For a command of the team's own: everything but what is protected.
    pub(crate) fn rules_of_the_team(&self) -> Result<Rules, RepositoryError> {
        let everything = ScopeDraft { allow: vec!["**".parse().expect("a glob")], ..ScopeDraft::default() };
        self.rules_by(&Scope::lock(everything))
    }

    /// The scope in mounts, and where it does not fit into them.
    pub fn enclosure(&self) -> Result<Enclosure, RepositoryError> {
        self.enclosed(&self.opening.manifest.scope, &self.denied())
    }

    fn enclosed(&self, scope: &Scope, denied: &[Glob]) -> Result<Enclosure, RepositoryError> {
        Ok(Enclosure::of(scope, denied, &self.tree()?))
    }

    /// What is denied beside the scope itself.
    fn denied(&self) -> Vec<Glob> {
        let own = RUNTIME_OWN.iter().filter_map(|glob| glob.parse().ok());
        let lifted = |glob: &&Glob| !self.exempted.contains(glob);
        let protected = self.opening.manifest.protected.iter().map(|protected| &protected.path).filter(lifted).cloned();
        protected.chain(own).collect()
    }

    /// What is in the base. What an agent made itself it may also change.
    fn tree(&self) -> Result<Tree, RepositoryError> {
        let base = self.worktree.base().as_str();
        let printed = self.worktree.repository().git().run(["ls-tree", "-r", "-z", "--full-tree", base])?;
        let entries = printed.split(|byte| *byte == 0).filter_map(|line| {
            let tab = line.iter().position(|byte| *byte == b'\t')?;
            let leaf = if line.starts_with(b"120000") { Leaf::Link } else { Leaf::File };
            Some((&line[tab + 1..], leaf))
        });
        Ok(Tree::new(entries))
    }
}

/// Files, and the repository.
fn layers(paths: &CagePaths) -> (Layers, Layers) {
    let files = Layers::new(&paths.lower, &paths.upper, &paths.work);
    (files, Layers::new(&paths.git_lower, &paths.git_upper, &paths.git_work))
}

/// Git's settings for the cage: those of the worktree, and the hook that tells the form of commits.
fn variables(given: &[(String, String)]) -> Vec<(String, String)> {
    let count = given.iter().find(|(name, _)| name == "GIT_CONFIG_COUNT");
    let count: usize = count.and_then(|(_, value)| value.parse().ok()).unwrap_or(0);
    let mut all: Vec<_> = given.iter().filter(|(name, _)| name != "GIT_CONFIG_COUNT").cloned().collect();
    all.push((format!("GIT_CONFIG_KEY_{count}"), "core.hooksPath".to_owned()));
    all.push((format!("GIT_CONFIG_VALUE_{count}"), HOOKS.to_owned()));
    all.push(("GIT_CONFIG_COUNT".to_owned(), (count + 1).to_string()));
    all
}
