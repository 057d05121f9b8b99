//! The definition of done: what has to hold before a worktree is closed, each item with what really came of it.
//!
//! The runtime runs the team's checks itself, in cages over the worktree whose changes are thrown away; what an agent says
//! about its tests counts for nothing.

use std::path::PathBuf;

use placet_domain::scope::ScopePath;
use placet_domain::text::spelled_out;
use placet_domain::worktree::DoneItem;
use placet_sandbox::{Exit, Launcher, Output, Profile, SandboxError};
use placet_secrets::Scanner;
use placet_workspace::difference::Origin;
use placet_workspace::worktree::Kind;
use placet_workspace::{LayerError, RepositoryError, Worktree};

use crate::cage::Cage;
use crate::check::{Checked, Verdict};
use crate::team::Check;

#[derive(Debug, thiserror::Error)]
pub enum DoneError {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Layer(#[from] LayerError),
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error("`{at}` cannot be used")]
    Io { at: PathBuf, source: std::io::Error },
}

/// What is told of a check's output: the end says most.
const SHOWN_LINES: usize = 20;

/// What the scope-check says, as items.
pub fn of_check(checked: &Checked) -> Vec<DoneItem> {
    let out = |wanted: fn(Verdict) -> bool| checked.files.iter().filter(move |file| wanted(file.verdict));
    let named = |files: Vec<String>| if files.is_empty() { "none".to_owned() } else { files.join(", ") };
    let outside: Vec<String> =
        out(|verdict| !verdict.is_allowed() && verdict != Verdict::Protected).map(|file| file.path.clone()).collect();
    let protected: Vec<String> = out(|verdict| verdict == Verdict::Protected).map(|file| file.path.clone()).collect();
    let secrets: Vec<String> = checked.secrets.iter().filter(|found| !found.is_allowed()).map(shown).collect();
    let commits: Vec<String> =
        checked.bad_commits.iter().map(|bad| format!("{}: {}", &bad.commit[..12], bad.because)).collect();
    let item = |name: &str, bad: Vec<String>| DoneItem { name: name.into(), holds: bad.is_empty(), detail: named(bad) };
    vec![
        item("no file out of scope", outside),
        item("no protected file", protected),
        item("no secret", secrets),
        item("commits well-formed", commits),
        DoneItem {
            name: "everything committed".into(),
            holds: uncommitted(checked).is_empty(),
            detail: named(uncommitted(checked)),
        },
    ]
}

fn shown(found: &crate::check::SecretFound) -> String {
    format!("{}:{} {} {}", found.place, found.line, found.rule, found.redacted)
}

/// What would be left behind when the branch goes on.
fn uncommitted(checked: &Checked) -> Vec<String> {
    let left = |origin| matches!(origin, Origin::Staged | Origin::Unstaged | Origin::Untracked);
    checked.files.iter().filter(|file| left(file.origin)).map(|file| file.path.clone()).collect()
}

/// The checks that count for what changed.
pub fn applying<'a>(checks: impl Iterator<Item = &'a Check>, checked: &Checked) -> Vec<&'a Check> {
    let changed: Vec<ScopePath> =
        checked.files.iter().filter_map(|file| ScopePath::new(file.path.as_bytes()).ok()).collect();
    checks.filter(|check| check.applies_to(changed.iter())).collect()
}

/// Runs a check over the worktree as it is. Nothing it writes stays.
pub fn run(check: &Check, cage: &Cage<'_>, profile: &Profile) -> Result<DoneItem, DoneError> {
    let scratch = Scratch::over(cage.worktree)?;
    let outcome = scratch.run(check, cage, profile);
    scratch.throw_away()?;
    let (exit, output) = outcome?;
    let name = format!("check {}", check.name);
    Ok(DoneItem { name, holds: exit == Exit::Code(0), detail: format!("{} {}", ended(exit), last_lines(&output)) })
}

pub(crate) fn ended(exit: Exit) -> String {
    match exit {
        Exit::Code(0) => "passed.".to_owned(),
        Exit::Code(code) => format!("ended with {code}."),
        Exit::Signal(signal) => format!("ended by signal {signal}."),
        Exit::Limit { which, limit, seen } => format!("stopped by its limit ({which:?}: {seen} of {limit})."),
        Exit::Cancelled => "was cancelled.".to_owned(),
    }
}

/// What people read of it: no escapes, no secrets, no addresses.
pub(crate) fn last_lines(output: &Output) -> String {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let clean = Scanner::shipped().redact(&all).into_owned();
    let clean = placet_secrets::redact_personal(&clean).into_owned();
    let text = String::from_utf8_lossy(&clean);
    let lines: Vec<String> = text.lines().map(spelled_out).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

/// Where a check writes: the layers of a plain worktree are empty between commands, those of a layered one are not.
struct Scratch<'a> {
    worktree: &'a Worktree,
    kept: Option<(placet_workspace::layer::Snapshot, PathBuf)>,
}

impl<'a> Scratch<'a> {
    fn over(worktree: &'a Worktree) -> Result<Self, DoneError> {
        let kept = match worktree.kind() {
            Kind::Plain => None,
            Kind::Layered => {
                let at = worktree.cage().upper.with_file_name("before-check");
                let _ = placet_workspace::remove_run(&at);
                Some((worktree.files()?.snapshot(&at)?, at))
            }
        };
        Ok(Self { worktree, kept })
    }

    fn run(&self, check: &Check, cage: &Cage<'_>, profile: &Profile) -> Result<(Exit, Output), DoneError> {
        let mut limits = profile.limits();
        limits.wall_ms = limits.wall_ms.min(u64::from(check.timeout_seconds) * 1000);
        // A check may write wherever it likes: it is the team's own, and nothing of it stays.
        let request = cage.request(&check.command)?.rules(placet_sandbox::Rules::writable().hide_env_files());
        let running = Launcher::default().launch(profile, request.limits(limits))?;
        let (outcome, output) = running.collect()?;
        Ok((outcome.exit, output))
    }

    fn throw_away(self) -> Result<(), DoneError> {
        match self.kept {
            None => self.worktree.files()?.discard()?,
            Some((snapshot, at)) => {
                self.worktree.files()?.roll_back(&snapshot)?;
                let _ = placet_workspace::remove_run(&at);
            }
        }
        // A check commits nothing that anybody asked for.
        self.worktree.commits()?.discard()?;
        Ok(())
    }
}
