//! The definition of done: what has to hold before a worktree is closed, each item with what really came of it.
//!
//! The runtime runs the team's checks itself, in cages over the worktree whose changes are thrown away; what an agent says
//! about its tests counts for nothing.

use std::path::{Path, PathBuf};

use placet_domain::scope::ScopePath;
use placet_domain::text::spelled_out;
use placet_domain::worktree::DoneItem;
use placet_sandbox::{Exit, Launcher, Output, Profile, SandboxError};
use placet_secrets::Scanner;
use placet_workspace::difference::Origin;
use placet_workspace::worktree::Kind;
use placet_workspace::worktree::Unsaved;
use placet_workspace::{CagePaths, LayerError, Worktree};

use crate::cage::Cage;
use crate::check::{Checked, Verdict};
use crate::git_settings::GitSettingsError;
use crate::setup::Equip;
use crate::team::Check;

#[derive(Debug, thiserror::Error)]
pub enum DoneError {
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    #[error(transparent)]
    Layer(#[from] LayerError),
    #[error(transparent)]
    Settings(#[from] GitSettingsError),
    #[error("a check of the team cannot be given what it declared")]
    Equipment(#[source] Box<dyn std::error::Error + Send + Sync>),
    #[error("`{at}` cannot be used")]
    Io { at: PathBuf, source: std::io::Error },
}

/// What is told of a check's output: the end says most.
const SHOWN_LINES: usize = 20;
/// More names say less; `placet scope-check` lists all of them.
const NAMED: usize = 50;
/// An item is read by people and kept for ever.
const LONGEST_DETAIL: usize = 8_000;

/// What the scope-check says, as items, and whether something waits in the worktree that is in no commit.
pub fn of_check(checked: &Checked, unsaved: &Unsaved) -> Vec<DoneItem> {
    let named = |wanted: fn(Verdict) -> bool| -> Vec<String> {
        checked.files.iter().filter(|file| wanted(file.verdict)).map(|file| file.path.clone()).collect()
    };
    let outside = named(|verdict| !verdict.is_allowed() && verdict != Verdict::Protected);
    let protected = named(|verdict| verdict == Verdict::Protected);
    let secrets: Vec<String> = checked.secrets.iter().filter(|found| !found.is_allowed()).map(shown).collect();
    let commits: Vec<String> =
        checked.bad_commits.iter().map(|bad| format!("{}: {}", &bad.commit[..12], bad.because)).collect();
    vec![
        item("no file out of scope", &outside),
        item("no protected file", &protected),
        item("no secret", &secrets),
        item("commits well-formed", &commits),
        item("everything committed", &uncommitted(checked, unsaved)),
    ]
}

/// An item that holds if there is nothing to name.
fn item(name: &str, bad: &[String]) -> DoneItem {
    let detail = match bad {
        [] => "none".to_owned(),
        few if few.len() <= NAMED => few.join(", "),
        many => format!("{} and {} more", many[..NAMED].join(", "), many.len() - NAMED),
    };
    DoneItem { name: name.into(), holds: bad.is_empty(), detail: told(&detail) }
}

fn shown(found: &crate::check::SecretFound) -> String {
    format!("{}:{} {} {}", found.place, found.line, found.rule, found.redacted)
}

/// What would be left behind when the branch goes on: what is in no commit, and what was refused when it was taken over.
fn uncommitted(checked: &Checked, unsaved: &Unsaved) -> Vec<String> {
    let left = |origin| matches!(origin, Origin::Staged | Origin::Unstaged | Origin::Untracked);
    let files = checked.files.iter().filter(|file| left(file.origin)).map(|file| file.path.clone());
    let refused = unsaved.unpromoted.iter().map(|path| format!("{path} (not taken over)"));
    let commits = unsaved.unharvested.iter().map(|tip| format!("commits up to {tip} (not taken over)"));
    files.chain(refused).chain(commits).collect()
}

/// The checks that count for what changed.
pub fn applying<'a>(checks: impl Iterator<Item = &'a Check>, checked: &Checked) -> Vec<&'a Check> {
    let changed: Vec<ScopePath> =
        checked.files.iter().filter_map(|file| ScopePath::new(file.path.as_bytes()).ok()).collect();
    checks.filter(|check| check.applies_to(changed.iter())).collect()
}

/// Runs a check over the worktree as it is, with what every command of the worktree has. Nothing it writes stays.
pub fn run(check: &Check, cage: &Cage<'_>, profile: &Profile, equip: &Equip<'_>) -> Result<DoneItem, DoneError> {
    let scratch = Scratch::over(cage.worktree)?;
    let outcome = scratch.run(check, cage, profile, equip);
    scratch.throw_away()?;
    let (exit, output) = outcome?;
    let name = format!("check {}", check.name);
    let detail = told(&format!("{} {}", ended(exit), last_lines(&output)));
    Ok(DoneItem { name, holds: exit == Exit::Code(0), detail })
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

/// The end of what it said, without escapes.
pub(crate) fn last_lines(output: &Output) -> String {
    let all = [output.stdout.as_slice(), output.stderr.as_slice()].concat();
    let text = String::from_utf8_lossy(&all);
    let lines: Vec<String> = text.lines().map(spelled_out).collect();
    lines[lines.len().saturating_sub(SHOWN_LINES)..].join("\n")
}

/// What goes into the record: no secrets, no addresses of people, no more than anybody reads.
pub(crate) fn told(detail: &str) -> String {
    let clean = Scanner::shipped().redact(detail.as_bytes());
    let clean = placet_secrets::redact_personal(&clean).into_owned();
    let text = String::from_utf8_lossy(&clean);
    if text.chars().count() <= LONGEST_DETAIL {
        return text.into_owned();
    }
    let shown: String = text.chars().take(LONGEST_DETAIL).collect();
    format!("{shown} … (shortened)")
}

/// Where a check writes: layers of its own above the worktree as it is. What waits in the worktree's layers is not
/// touched, and a check that is interrupted leaves nothing but these, which the next one removes.
struct Scratch {
    at: PathBuf,
    paths: CagePaths,
}

impl Scratch {
    fn over(worktree: &Worktree) -> Result<Self, DoneError> {
        let mut paths = worktree.cage();
        let files = paths.upper.parent().unwrap_or(&paths.upper);
        let at = files.with_file_name("check");
        remove(&at)?;
        let (files, repository) = (at.join("files"), at.join("git"));
        for directory in [files.join("work"), repository.join("upper"), repository.join("work")] {
            make(&directory)?;
        }
        match worktree.kind() {
            // What was taken over is in the checkout.
            Kind::Plain => make(&files.join("upper"))?,
            Kind::Layered => drop(worktree.files()?.snapshot(&files.join("upper"))?),
        }
        (paths.upper, paths.work) = (files.join("upper"), files.join("work"));
        (paths.git_upper, paths.git_work) = (repository.join("upper"), repository.join("work"));
        Ok(Self { at, paths })
    }

    fn run(
        &self,
        check: &Check,
        cage: &Cage<'_>,
        profile: &Profile,
        equip: &Equip<'_>,
    ) -> Result<(Exit, Output), DoneError> {
        let mut limits = profile.limits();
        limits.wall_ms = limits.wall_ms.min(u64::from(check.timeout_seconds) * 1000);
        // A check may write wherever it likes: it is the team's own, and nothing of it stays.
        let rules = placet_sandbox::Rules::writable().hide_env_files();
        let request = cage.request_in(&self.paths, &check.command)?.rules(rules);
        let request = equip(request).map_err(DoneError::Equipment)?;
        let running = Launcher::default().launch(profile, request.limits(limits))?;
        let (outcome, output) = running.collect()?;
        Ok((outcome.exit, output))
    }

    fn throw_away(self) -> Result<(), DoneError> {
        remove(&self.at)
    }
}

fn make(directory: &Path) -> Result<(), DoneError> {
    std::fs::create_dir_all(directory).map_err(|source| DoneError::Io { at: directory.to_owned(), source })
}

/// What an interrupted check left, if one did.
fn remove(at: &Path) -> Result<(), DoneError> {
    if at.symlink_metadata().is_ok() { Ok(placet_workspace::remove_run(at)?) } else { Ok(()) }
}
