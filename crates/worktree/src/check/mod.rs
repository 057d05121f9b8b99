//! SCOPE-CHECK: judges everything that differs from the base, by what was recorded when the worktree was opened.
//!
//! Three questions, each with its findings: does every path lie in the scope ([`paths`]), is every commit well-formed,
//! and is there a secret in anything that was added ([`secrets`]). Neither the manifest nor anything else in the worktree
//! has a say in the answer.

mod paths;
mod secrets;

use placet_domain::canonical;
use placet_domain::digest::Digest;
use placet_domain::scope::Glob;
use placet_domain::worktree::Manifest;
use placet_secrets::{Allowlist, AllowlistError, Day};
use placet_workspace::{DifferenceError, Differences, ObjectId, Worktree};
use serde::Serialize;

use crate::commit_form::CommitForm;
use crate::team::Team;
pub(crate) use paths::unfit;
pub use paths::{Judged, Verdict};
pub use secrets::SecretFound;

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error(transparent)]
    Difference(#[from] DifferenceError),
    #[error("`agents/secrets_allowlist.json` cannot be used")]
    Allowlist(#[from] AllowlistError),
    #[error("`agents/secrets_allowlist.json` is not text")]
    AllowlistNotText,
}

/// What the judgement rests on.
#[derive(Debug)]
pub struct Rules<'a> {
    pub manifest: &'a Manifest,
    pub exempted: Vec<Glob>,
    pub form: &'a CommitForm,
    allowlist: Allowlist,
    today: Day,
}

impl<'a> Rules<'a> {
    pub fn new(team: &'a Team, manifest: &'a Manifest, exempted: Vec<Glob>, today: Day) -> Result<Self, CheckError> {
        let allowlist = match team.secrets_allowlist() {
            None => Allowlist::default(),
            Some(bytes) => Allowlist::parse(std::str::from_utf8(bytes).map_err(|_| CheckError::AllowlistNotText)?)?,
        };
        Ok(Self { manifest, exempted, form: &team.policy().commit_form, allowlist, today })
    }
}

/// A commit that is not well-formed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BadCommit {
    pub commit: String,
    pub because: String,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Checked {
    pub base: String,
    pub tip: String,
    /// Every file that differs, with the rule that decided.
    pub files: Vec<Judged>,
    pub commits: u64,
    pub bad_commits: Vec<BadCommit>,
    pub secrets: Vec<SecretFound>,
}

impl Checked {
    /// What is held against it.
    pub fn findings(&self) -> u64 {
        let files = self.files.iter().filter(|file| !file.verdict.is_allowed()).count();
        (files + self.bad_commits.len() + self.secrets.iter().filter(|found| !found.is_allowed()).count()) as u64
    }

    pub fn holds(&self) -> bool {
        self.findings() == 0
    }

    pub fn digest(&self) -> Digest {
        Digest::of(&canonical::to_bytes(self))
    }
}

/// Judges everything that differs from the base.
pub fn check(worktree: &Worktree, base: &ObjectId, rules: &Rules<'_>) -> Result<Checked, CheckError> {
    let differences = of_the_agent(worktree, base)?;
    let secrets = secrets::find(worktree, &differences, rules)?;
    Ok(answer(&differences, secrets, rules))
}

/// The same without looking for secrets, where only names are asked about.
pub fn check_paths(worktree: &Worktree, base: &ObjectId, rules: &Rules<'_>) -> Result<Checked, CheckError> {
    Ok(answer(&of_the_agent(worktree, base)?, Vec::new(), rules))
}

/// Everything that differs, without what the worktree was given and what is still as it was.
fn of_the_agent(worktree: &Worktree, base: &ObjectId) -> Result<Differences, CheckError> {
    let differences = worktree.differences(base)?;
    Ok(worktree.without_given(differences).map_err(DifferenceError::from)?)
}

fn answer(differences: &Differences, secrets: Vec<SecretFound>, rules: &Rules<'_>) -> Checked {
    let files = differences.iter().flat_map(|difference| paths::judge(difference, rules)).collect();
    let bad_commits = differences.commits().iter().filter_map(|commit| bad_commit(commit, rules.form)).collect();
    Checked {
        base: differences.base().to_string(),
        tip: differences.tip().to_string(),
        files,
        commits: differences.commits().len() as u64,
        bad_commits,
        secrets,
    }
}

pub(crate) fn bad_commit(commit: &placet_workspace::CommitInfo, form: &CommitForm) -> Option<BadCommit> {
    let because = match std::str::from_utf8(commit.message.as_bytes()) {
        Ok(message) => form.check(message).err()?.to_string(),
        Err(_) => "its message is not text".to_owned(),
    };
    Some(BadCommit { commit: commit.id.to_string(), because })
}
