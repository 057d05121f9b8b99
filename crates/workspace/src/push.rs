//! The one way out: one branch, to one remote, as it was seen, never by force.
//!
//! | what | how |
//! | --- | --- |
//! | where to | a remote of the repository's own settings; nothing that rewrites its address |
//! | by what means | `ssh`, `https`, or a directory outside the main checkout |
//! | which branch | the one that is named, if it is where the caller saw it, under its own name |
//! | never | a protected branch, a rewritten history, a tag, a hook, a second branch |
//!
//! Everywhere else in this crate git is told to reach nobody at all.

use std::path::Path;

use thiserror::Error;

use crate::git::{Branch, GitError, ObjectId};
use crate::repository::{Repository, RepositoryError};

/// What the other side runs if it is a directory of this host: no hook of its, no housekeeping.
const RECEIVE: &str = "git -c core.hooksPath=/dev/null -c core.fsmonitor=false -c core.alternateRefsCommand=true \
                       -c receive.autogc=false -c gc.auto=0 -c maintenance.auto=false receive-pack";

/// Nobody can be asked, and a host that is not known is not trusted.
const SSH: &str = "ssh -oBatchMode=yes -oStrictHostKeyChecking=yes -oPermitLocalCommand=no -oForwardAgent=no";

/// Variables of the caller that a push may need: where keys are, and who answers for them.
const CREDENTIALS: &[&str] = &["HOME", "SSH_AUTH_SOCK", "GIT_ASKPASS"];

const PUSH_MS: u64 = 10 * 60 * 1000;

/// A branch that is to leave the host.
#[derive(Clone, Debug)]
pub struct Push<'a> {
    /// The remote, by its name in the repository's settings.
    pub remote: &'a str,
    /// The branch, here and there.
    pub branch: &'a Branch,
    /// Where the caller saw it.
    pub expected_tip: &'a ObjectId,
    /// Branches that are never pushed to.
    pub protected: &'a [Branch],
    /// What the remote's credentials need: `HOME`, `SSH_AUTH_SOCK`, `GIT_ASKPASS`. Others are not passed on.
    pub credentials: &'a [(String, String)],
}

/// Why nothing left the host.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PushError {
    /// It is protected.
    #[error("`{0}` is protected and never pushed to: push the branch of the worktree, and open a pull request")]
    Protected(Branch),
    /// It is not where it was seen.
    #[error("`{branch}` is not at {expected} any more: look at it again, and push what you saw")]
    Moved {
        /// The branch.
        branch: Branch,
        /// Where it was seen.
        expected: ObjectId,
    },
    /// There is no such remote.
    #[error("there is no remote `{0}`: add one with `git remote add`")]
    NoRemote(String),
    /// A remote that cannot be used.
    #[error("the remote `{remote}` cannot be pushed to: {why}")]
    Remote {
        /// Its name.
        remote: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// The other side said no.
    #[error("the remote `{remote}` did not take `{branch}`: {why}")]
    Rejected {
        /// Its name.
        remote: String,
        /// The branch.
        branch: Branch,
        /// What it said.
        why: String,
    },
    /// The repository could not be asked.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
}

/// By what means a remote is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Ssh,
    Https,
    File,
}

impl Transport {
    fn name(self) -> &'static str {
        match self {
            Self::Ssh => "ssh",
            Self::Https => "https",
            Self::File => "file",
        }
    }
}

/// A push that nothing here speaks against. The remote has not been asked yet.
#[derive(Debug)]
pub struct Outgoing<'a> {
    repository: &'a Repository,
    push: &'a Push<'a>,
    transport: Transport,
}

impl Repository {
    /// Looks whether a branch may leave, and by what means, and reaches nobody.
    pub fn outgoing<'a>(&'a self, push: &'a Push<'a>) -> Result<Outgoing<'a>, PushError> {
        let Push { remote, branch, expected_tip, protected, .. } = push;
        let same = |other: &&Branch| other.as_str().eq_ignore_ascii_case(branch.as_str());
        if protected.iter().any(|other| same(&other)) {
            return Err(PushError::Protected((*branch).clone()));
        }
        if self.tip(branch)?.as_ref() != Some(*expected_tip) {
            return Err(PushError::Moved { branch: (*branch).clone(), expected: (*expected_tip).clone() });
        }
        Ok(Outgoing { repository: self, push, transport: self.transport(remote)? })
    }

    /// Pushes one branch to a remote under its own name. It is new there, or continues what is there.
    pub fn push(&self, push: &Push<'_>) -> Result<(), PushError> {
        self.outgoing(push)?.send()
    }
}

impl Outgoing<'_> {
    /// Pushes it. The remote takes it as a whole, or says no.
    pub fn send(self) -> Result<(), PushError> {
        let Self { repository, push, transport } = self;
        let allow = (format!("protocol.{}.allow", transport.name()), "always".to_owned());
        let no_tags = ("push.followTags".to_owned(), "false".to_owned());
        let mut git = repository.git().settings(&[allow, no_tags]).timeout_ms(PUSH_MS).variable("GIT_SSH_COMMAND", SSH);
        for (name, value) in push.credentials.iter().filter(|(name, _)| CREDENTIALS.contains(&name.as_str())) {
            git = git.variable(name, value);
        }
        let receive = match transport {
            Transport::File => RECEIVE,
            Transport::Ssh | Transport::Https => "git-receive-pack",
        };
        let (receive, what) =
            (format!("--receive-pack={receive}"), format!("{}:{}", push.expected_tip, push.branch.full()));
        let arguments = ["push", "--no-verify", "--no-follow-tags", "--recurse-submodules=no", "--no-signed", &receive];
        match git.run(arguments.into_iter().chain(["--", push.remote, &what])) {
            Ok(_) => Ok(()),
            Err(GitError::Failed { stderr, .. }) => {
                Err(PushError::Rejected { remote: push.remote.to_owned(), branch: push.branch.clone(), why: stderr })
            }
            Err(error) => Err(RepositoryError::from(error).into()),
        }
    }
}

impl Repository {
    /// By what means this remote is reached, if by any that is allowed.
    fn transport(&self, remote: &str) -> Result<Transport, PushError> {
        let refuse = |why| Err(PushError::Remote { remote: remote.escape_debug().to_string(), why });
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
        if remote.is_empty() || remote.starts_with(['-', '.']) || !remote.bytes().all(plain) {
            return refuse("its name is not plain: use letters, digits, `.`, `_` and `-`");
        }
        let rewrites = |name: &str| name.ends_with(".insteadof") || name.ends_with(".pushinsteadof");
        if self.settings_beginning("url.").iter().any(|(name, _)| rewrites(name)) {
            return refuse("the repository's settings rewrite addresses (`url.….insteadOf`): remove that");
        }
        let own = self.settings_beginning(&format!("remote.{remote}."));
        let values = |last: &str| {
            let name = format!("remote.{remote}.{last}");
            own.iter().filter(|(each, _)| *each == name).map(|(_, value)| value.as_str()).collect::<Vec<_>>()
        };
        if !values("vcs").is_empty() || !values("mirror").is_empty() {
            return refuse("it is reached by a program, or mirrors everything: use a plain remote");
        }
        let (push_urls, urls) = (values("pushurl"), values("url"));
        match if push_urls.is_empty() { urls } else { push_urls }.as_slice() {
            [] => Err(PushError::NoRemote(remote.to_owned())),
            [url] => self.transport_of(url).or_else(refuse),
            [_, _, ..] => refuse("it has several addresses: use one remote for each"),
        }
    }

    fn transport_of(&self, url: &str) -> Result<Transport, &'static str> {
        if url.chars().any(|each| each.is_control() || each == ' ') {
            return Err("its address is not plain");
        }
        let path = url.strip_prefix("file://").unwrap_or(url);
        if path.starts_with('/') {
            return self.check_directory(Path::new(path)).map(|()| Transport::File);
        }
        if let Some(rest) = url.strip_prefix("https://") {
            return if begins_with_host(rest) { Ok(Transport::Https) } else { Err("its address names no host") };
        }
        let rest = match url.strip_prefix("ssh://") {
            Some(rest) => rest,
            // The short form: `user@host:path`.
            None if !url.contains("::")
                && !url.contains("://")
                && url.split_once(':').is_some_and(|(host, _)| !host.contains('/')) =>
            {
                url
            }
            None => return Err("its address is neither `ssh`, `https` nor an absolute path"),
        };
        if begins_with_host(rest) { Ok(Transport::Ssh) } else { Err("its address names no host") }
    }

    /// A directory in the main checkout or in a worktree may be one that an agent made.
    fn check_directory(&self, path: &Path) -> Result<(), &'static str> {
        let real = std::fs::canonicalize(path).map_err(|_| "its directory does not exist")?;
        if real.starts_with(self.root()) { Err("its directory is inside this repository") } else { Ok(()) }
    }
}

/// An address that begins with a dash would be taken for an option.
fn begins_with_host(rest: &str) -> bool {
    let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
    !rest.starts_with('-') && host.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '[')
}
