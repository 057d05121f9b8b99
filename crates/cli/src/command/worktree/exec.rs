//! `placet exec`: a command in the cage of a worktree, and what it did taken over when it ends. `placet shell` is one too.

use std::process::ExitCode;

use placet_domain::worktree::{Work, WorktreeStatus};
use placet_sandbox::{Exit, Launcher, LimitKind, Profile, Request};
use placet_wire::api::WorktreeView;
use placet_workspace::Worktree;
use placet_worktree::cage::Cage;
use placet_worktree::redact::redacted_words;
use placet_worktree::take_over::{Before, Taken};
use placet_worktree::turn::Turn;

use super::check::note_at;
use super::host::admit;
use super::status::size;
use super::{Pair, Site, equipped, failed, profile_of, recorded, turn};
use crate::command::sandbox::attend;
use crate::command::serve::told_to_stop;
use crate::context::Who;
use crate::desk::Desk;
use crate::error::{CliError, Code};
use crate::out::Out;
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet exec --agent backend --ticket PAY-123 -- make test\n  \
                        placet exec --agent backend --ticket PAY-123 -- git commit -qam 'fix(api): refunds'")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    /// The command; write `--` before it
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What a command reads from and writes to.
#[derive(Clone, Copy)]
pub(super) enum Streams {
    /// Pipes that end at this process, which passes on what comes.
    Pipes,
    /// A terminal of its own behind the one of this process.
    Terminal,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<ExitCode, CliError> {
    work(&args.pair, &args.command, Streams::Pipes, who, out).await
}

/// Recorded, run, taken over, and recorded again.
pub(super) async fn work(
    pair: &Pair,
    command: &[String],
    streams: Streams,
    who: &Who,
    out: &Out,
) -> Result<ExitCode, CliError> {
    let site = Site::here()?;
    admit(&site, who, out).await?;
    let desk = Desk::open(who).await?;
    let begun = Begun::record(&desk, &site, pair, command).await;
    desk.close().await;
    let Begun { view, worktree, told, turn: _turn } = begun?;
    let (manifest, exempted) = (view.manifest(), view.exempted());
    let before = Before::record(&worktree, manifest, &exempted, &site.team.policy().commit_form).map_err(failed)?;
    let cage = Cage { worktree: &worktree, opening: &view.opening, exempted: &exempted };
    let profile = profile_of(&site, &view.opening, who)?;
    let request = requested(&site, &cage, &profile, command, who)?;
    let ended = in_cage(&profile, request, streams).await?;
    // For the person who removes it by hand; whoever uses it again needs nothing of it.
    let _ = worktree.open_up();
    let taken = before.take().map_err(|error| {
        CliError::new(Code::Refused, crate::error::chain(&error))
            .hint("look at it with `placet shell`, put it right, and the next command takes it over")
    });
    // For the next start, which has no time to look.
    let _ = before.note_room(taken.as_ref().ok());
    report(who, &view, told, &ended, taken.as_ref().ok()).await?;
    let taken = taken?;
    if taken.commits > 0 || taken.files > 0 {
        out.note(&format!("{} commits and {} files were taken over", taken.commits, taken.files));
    }
    conclude(ended.exit, &site)
}

/// A command that the control plane has recorded. A command runs only after it is recorded; recording also checks the person's permission.
struct Begun {
    view: WorktreeView,
    worktree: Worktree,
    told: Told,
    turn: Turn,
}

impl Begun {
    /// Uses one desk for all requests, because each desk that is opened opens the store.
    async fn record(desk: &Desk, site: &Site, pair: &Pair, command: &[String]) -> Result<Self, CliError> {
        let view = recorded(&desk.client, pair).await?;
        if view.status != WorktreeStatus::Open {
            return Err(CliError::new(Code::Conflict, format!("it is {}; {}", view.status, view.status.hint())));
        }
        let worktree = site.on_disk(&view)?;
        let turn = turn(&worktree)?;
        let told = Told::of(site, &view, command)?;
        let work = Work::Began { command: told.command.clone(), profile: told.profile.clone() };
        note_at(desk, &view, work).await?;
        Ok(Self { view, worktree, told, turn })
    }
}

/// What the record says of a command.
struct Told {
    command: Vec<String>,
    profile: String,
}

impl Told {
    fn of(site: &Site, view: &WorktreeView, command: &[String]) -> Result<Self, CliError> {
        let agent = site.team.agent(view.opening.agent.as_str()).map_err(failed)?;
        Ok(Self { command: shortened(redacted_words(command)), profile: agent.cage().to_string() })
    }
}

/// Scripts can be long; the record keeps the beginning of each word, which says what it is.
fn shortened(words: Vec<String>) -> Vec<String> {
    const MOST_CHARACTERS: usize = 3_000;
    let most = (MOST_CHARACTERS / words.len().max(1)).max(1);
    let total: usize = words.iter().map(|word| word.chars().count()).sum();
    if total <= MOST_CHARACTERS {
        return words;
    }
    let cut = |word: String| match word.char_indices().nth(most) {
        Some((end, _)) => format!("{}…", &word[..end]),
        None => word,
    };
    words.into_iter().take(MOST_CHARACTERS).map(cut).collect()
}

struct Ended {
    exit: Exit,
    wall_ms: u64,
}

/// The command with everything the team declared, and within what is left of its quota.
fn requested(
    site: &Site,
    cage: &Cage<'_>,
    profile: &Profile,
    command: &[String],
    who: &Who,
) -> Result<Request, CliError> {
    let request = equipped(cage.request(command).map_err(failed)?, site, cage.opening, who)?;
    let mut limits = profile.limits();
    limits.disk_bytes = limits.disk_bytes.min(room(site, cage.worktree));
    Ok(request.limits(limits))
}

async fn in_cage(profile: &Profile, request: Request, streams: Streams) -> Result<Ended, CliError> {
    let request = match streams {
        Streams::Pipes => request.stdin_piped(),
        Streams::Terminal => terminal::named(request.terminal()),
    };
    let launched = Launcher::default().launch(profile, request);
    let running = launched.map_err(|error| crate::command::sandbox::not_started(&error))?;
    let started = std::time::Instant::now();
    let outcome = match streams {
        Streams::Pipes => attend(running, false, told_to_stop()).await?.0,
        Streams::Terminal => terminal::attend(running).await?,
    };
    let wall_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(Ended { exit: outcome.exit, wall_ms })
}

/// Enough to put things right in a worktree that is full: what is removed may have to be noted first.
const LEAST_ROOM_BYTES: u64 = 16 << 20;

/// What is left of the quota of one worktree, as it was last measured.
fn room(site: &Site, worktree: &Worktree) -> u64 {
    let quota = site.team.policy().quotas.disk_bytes_per_worktree;
    quota.saturating_sub(worktree.measured().unwrap_or(0)).max(LEAST_ROOM_BYTES.min(quota))
}

async fn report(
    who: &Who,
    view: &WorktreeView,
    told: Told,
    ended: &Ended,
    taken: Option<&Taken>,
) -> Result<(), CliError> {
    let work = Work::Executed {
        command: told.command,
        profile: told.profile,
        ended: format!("{:?}", ended.exit),
        wall_ms: ended.wall_ms,
    };
    let desk = Desk::open(who).await?;
    let noted = note_ended(&desk, view, work, taken).await;
    desk.close().await;
    noted
}

async fn note_ended(desk: &Desk, view: &WorktreeView, work: Work, taken: Option<&Taken>) -> Result<(), CliError> {
    note_at(desk, view, work).await?;
    let Some(taken) = taken.filter(|taken| taken.from != taken.to) else { return Ok(()) };
    let (from, to) = (taken.from.as_str().parse().map_err(failed)?, taken.to.as_str().parse().map_err(failed)?);
    note_at(desk, view, Work::Harvested { from, to, commits: taken.commits }).await
}

fn conclude(exit: Exit, site: &Site) -> Result<ExitCode, CliError> {
    let concluded = crate::command::sandbox::conclude(exit);
    let Exit::Limit { which: LimitKind::Disk, .. } = exit else { return concluded };
    let quota = size(site.team.policy().quotas.disk_bytes_per_worktree);
    let hint =
        format!("one worktree may take {quota} (`quotas.diskBytesPerWorktree` of agents/policy.json); make room first");
    concluded.map_err(|error| error.hint(hint))
}
