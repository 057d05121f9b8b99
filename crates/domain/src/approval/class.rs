//! Class: what makes two actions the same question to a person.
//!
//! A class is a digest over what is done, where, within what, and why somebody is asked. For whom it is done is left out: run and agent.
//! What else is left out, the width says, and there are two: nothing, or what stands in the files that a program is given to write.
//! There is no wider one on purpose. Arguments and targets are what is executed: whoever wants to let other ones pass writes a rule of the
//! policy, which is judged for everybody and tried on examples, and not an order in passing.
//!
//! A deed is what is done alone: what two actions have in common that are the same to a person but for why they are asked.
//!
//! What is not here: what becomes of actions of a class ([`crate::run::Order`], and the pages that fold identical ones into one row).

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::canonical;
use crate::digest::Digest;
use crate::id::{ProjectId, RunId};
use crate::policy::Verdict;
use crate::proposal::{ActionKind, ActionSpec, FileOperand};
use crate::run::Run;

/// How much two actions of a class have in common, the narrowest first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Width {
    /// Everything that is sealed but run and agent.
    #[default]
    Exact,
    /// All of that but what stands in the files; their paths are the same.
    Contents,
}

/// A word that names no width.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no width; it is `exact` or `contents`")]
pub struct BadWidth(String);

impl Width {
    pub const ALL: &[Self] = &[Self::Exact, Self::Contents];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Contents => "contents",
        }
    }

    /// Whether there is anything that this width leaves open and that may be left open. Contents are data only where a program does no
    /// more than write them: what is executed, sent or signed with a credential is looked at each time.
    pub fn fits(self, spec: &ActionSpec) -> bool {
        match self {
            Self::Exact => true,
            Self::Contents => {
                let writes = matches!(spec.kind, ActionKind::CreateFile | ActionKind::ModifyFile);
                writes && !spec.files.is_empty() && spec.network.is_empty() && spec.credentials.is_empty()
            }
        }
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Width {
    type Err = BadWidth;

    fn from_str(word: &str) -> Result<Self, BadWidth> {
        let found = Self::ALL.iter().copied().find(|width| width.as_str() == word);
        found.ok_or_else(|| BadWidth(word.chars().take(40).flat_map(char::escape_default).collect()))
    }
}

/// The class of an action at this width.
pub fn class(width: Width, project: ProjectId, spec: &ActionSpec, verdict: &Verdict) -> Digest {
    let asked = (width, project, verdict.tier(), verdict.reasons(), spec.v, spec.scope);
    let (done, within) = sealed(width, spec);
    Digest::of(&canonical::to_bytes(&(asked, done, within)))
}

/// Where an action is executed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// In a directory of its own, with nothing but the files that it is given.
    Bare,
    /// Among the files of its run. What stands there decides what the same words do: `make test` of one run is not that of another.
    Workspace(RunId),
}

impl Ground {
    pub const fn of(run: &Run) -> Self {
        if run.hosting.is_external() { Self::Bare } else { Self::Workspace(run.id) }
    }
}

/// What would be done, whoever wants it: everything that is sealed but run and agent, and the run where its files are part of it. What a
/// policy says of it is no part of it, so that it stays what it is when the policy changes.
pub fn deed(spec: &ActionSpec, ground: Ground) -> Digest {
    let (done, within) = sealed(Width::Exact, spec);
    let asked = (spec.v, spec.scope);
    Digest::of(&match ground {
        Ground::Bare => canonical::to_bytes(&(asked, done, within)),
        Ground::Workspace(run) => canonical::to_bytes(&(asked, done, within, run)),
    })
}

/// What is done, and within what. A field that is added to what is sealed has to be put on one of the two sides.
fn sealed(width: Width, spec: &ActionSpec) -> (impl Serialize, impl Serialize) {
    let ActionSpec {
        v: _,
        run: _,
        agent: _,
        scope: _,
        tool,
        tool_version,
        kind,
        argv,
        program_digest,
        environment,
        target,
        files,
        outputs,
        network,
        credentials,
        profile,
        profile_digest,
        limits,
    } = spec;
    let done = (tool, tool_version, kind, argv, program_digest, environment, target);
    let within = (given(width, files), outputs, network, credentials, profile, profile_digest, limits);
    (done, within)
}

/// What is said of each file.
fn given(width: Width, files: &[FileOperand]) -> Vec<(&str, Option<(Digest, u64)>)> {
    let contents = |file: &FileOperand| match width {
        Width::Exact => Some((file.digest, file.size_bytes)),
        Width::Contents => None,
    };
    files.iter().map(|file| (file.path.as_str(), contents(file))).collect()
}
