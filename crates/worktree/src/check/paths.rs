//! Whether each path that differs lies in the scope: both names of what was renamed, and what stands there now.

use placet_domain::scope::ScopePath;
use placet_domain::worktree::Ruling;
use placet_secrets::is_env_file;
use placet_workspace::TreePath;
use placet_workspace::difference::{Difference, DifferenceKind, Entry, Leads, Origin};
use serde::Serialize;

use super::Rules;
use crate::own;

/// What is said of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Allowed,
    /// A deny rule of the scope.
    Denied,
    /// A path of the team that no agent changes.
    Protected,
    /// No allow rule.
    Outside,
    /// It belongs to the runtime.
    Runtime,
    /// An environment file: those hold secrets.
    EnvFile,
    /// A link that leads out of the worktree.
    LeadsOut,
    /// A repository inside the repository.
    Repository,
    /// Something that is no file.
    Special,
    /// The same file has another name somewhere.
    HardLink,
    /// A name that no scope can speak of.
    BadName,
}

impl Verdict {
    pub const fn is_allowed(self) -> bool {
        matches!(self, Self::Allowed)
    }
}

/// One path that differs, and what is said of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judged {
    pub path: String,
    pub origin: Origin,
    pub kind: DifferenceKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub verdict: Verdict,
    /// The rule that decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    pub because: String,
}

/// Everything that is said of a difference: one line for each of its names.
pub(super) fn judge(difference: &Difference, rules: &Rules<'_>) -> Vec<Judged> {
    if is_ours(difference) {
        return Vec::new();
    }
    let mut said = vec![told(difference, &difference.path, now(difference, rules))];
    // What was renamed is gone under its old name, which must be in the scope too. What was copied is still there.
    if let (DifferenceKind::Renamed, Some(old)) = (difference.kind, &difference.old_path) {
        said.push(told(difference, old, by_name(old, rules)));
    }
    said
}

/// What the runtime wrote there itself. It is never committed, so a commit with it is not ours.
fn is_ours(difference: &Difference) -> bool {
    let uncommitted = matches!(difference.origin, Origin::Untracked | Origin::Ignored);
    let is_file = matches!(difference.new, Some(Entry::File | Entry::Program));
    uncommitted && is_file && own::is_known(difference.path.as_bytes())
}

type Said = (Verdict, Option<String>, String);

/// By its name first, which says most; then by what stands there.
fn now(difference: &Difference, rules: &Rules<'_>) -> Said {
    let by_name = by_name(&difference.path, rules);
    if !by_name.0.is_allowed() || difference.new.is_none() {
        return by_name;
    }
    by_entry(difference).unwrap_or(by_name)
}

fn by_name(path: &TreePath, rules: &Rules<'_>) -> Said {
    let scope_path = match ScopePath::new(path.as_bytes()) {
        Ok(path) => path,
        Err(bad) => return (Verdict::BadName, None, bad.to_string()),
    };
    if is_env_file(path.as_bytes()) {
        let because = "environment files hold secrets; environments come from the team's setup";
        return (Verdict::EnvFile, None, because.to_owned());
    }
    match rules.manifest.judge(&rules.exempted, &scope_path) {
        Ruling::Allowed { by } => (Verdict::Allowed, Some(by.as_str().to_owned()), "in scope".to_owned()),
        Ruling::Denied { by } => (Verdict::Denied, Some(by.as_str().to_owned()), "the scope denies it".to_owned()),
        Ruling::Protected { by } => (Verdict::Protected, Some(by.path.as_str().to_owned()), by.reason.clone()),
        Ruling::Own => (Verdict::Runtime, None, "it belongs to the runtime".to_owned()),
        Ruling::Outside => (Verdict::Outside, None, "no rule of the scope allows it".to_owned()),
    }
}

/// Why nobody takes over what stands there now, whatever it is called.
pub(crate) fn unfit(difference: &Difference) -> Option<String> {
    by_entry(difference).map(|(_, _, because)| because)
}

fn by_entry(difference: &Difference) -> Option<Said> {
    let said = |verdict, because: &str| Some((verdict, None, because.to_owned()));
    match difference.new? {
        Entry::Link => match &difference.link {
            Some(link) if link.leads == Leads::Inside => None,
            Some(_) | None => said(Verdict::LeadsOut, "the link leads out of the worktree"),
        },
        Entry::Submodule => said(Verdict::Repository, "a submodule names code that nobody here has reviewed"),
        Entry::Repository => said(Verdict::Repository, "a repository inside the worktree has settings of its own"),
        Entry::Special(what) => said(Verdict::Special, &format!("it is {what}")),
        Entry::File | Entry::Program if difference.names > 1 && difference.origin != Origin::Committed => {
            said(Verdict::HardLink, "the same file has another name, perhaps outside of the worktree")
        }
        Entry::File | Entry::Program => None,
    }
}

fn told(difference: &Difference, path: &TreePath, (verdict, rule, because): Said) -> Judged {
    Judged {
        path: path.to_string(),
        origin: difference.origin,
        kind: difference.kind,
        commit: difference.commit.as_ref().map(ToString::to_string),
        verdict,
        rule,
        because,
    }
}
