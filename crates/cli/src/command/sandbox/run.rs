//! `placet sandbox run`: one command in a cage, with the standard streams of this process.

use std::fs::File;
use std::io::{IsTerminal, Read, Write};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::JoinHandle;

use placet_egress::EgressRecord;
use placet_sandbox::{Exit, Killer, Launcher, LimitKind, LimitName, Outcome, Output, Running, Usage};
use serde::Serialize;

use super::changes::{Changed, Private};
use super::doors;
use super::guard::{self, Guard, Made};
use super::options::{Options, not_started};
use super::way_out::WayOut;
use crate::command::serve::told_to_stop;
use crate::context::Who;
use crate::error::{CliError, Code, chain};
use crate::out::{DIM, Out, styled};
use crate::terminal::Plain;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    options: Options,
    /// The command; write `--` before it
    #[arg(required = true, last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    profile: String,
    exit: Ended,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Changed>>,
    /// Repositories that the command made in a directly written workspace.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_repositories: Vec<String>,
    /// Entries named like a home of Placet that the command made there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    new_homes: Vec<String>,
    /// Paths that could not be looked into after the command.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unreadable: Vec<String>,
    /// What was asked of the way out, where there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<Vec<EgressRecord>>,
    stdout: String,
    stderr: String,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
enum Ended {
    Code(i32),
    Signal(i32),
    Limit { which: LimitName, limit: u64, seen: u64 },
    Cancelled,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<ExitCode, CliError> {
    let profile = args.options.profile(who)?;
    args.options.hides_homes(who)?;
    // Before there is anything to leave behind.
    let stopped = told_to_stop();
    let private = args.options.is_layered().then(Private::make).transpose()?;
    let doors = args.options.doors()?;
    let mut way_out = match args.options.requests()? {
        Some(settings) => Some(WayOut::prepare(settings).await?),
        None => None,
    };
    let begin = |workspace| Guard::begin(workspace, !args.options.is_git_writable());
    let guard = args.options.guarded_workspace()?.map(begin).transpose()?;
    let request = args.options.request(&profile, &args.command, private.as_ref(), way_out.as_ref())?;
    let launched = Launcher::default().launch(&profile, request.stdin_piped());
    let mut running = launched.map_err(|error| not_started(&error))?;
    doors::open(&mut running, &doors)?;
    if let Some(way_out) = &way_out {
        way_out.open(&mut running)?;
    }
    let (outcome, output) = attend(running, out.is_json(), stopped).await?;
    let changes = private.as_ref().map(Private::changes);
    let made = guard.map(|guard| guard.made()).transpose()?.unwrap_or_default();
    if out.is_json() {
        let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
        let (profile, exit, usage) = (profile.name().to_owned(), ended(outcome.exit), outcome.usage);
        let (stdout, stderr) = (text(output.stdout), text(output.stderr));
        let requests = match &mut way_out {
            Some(way_out) => Some(way_out.requests().await),
            None => None,
        };
        let Made { repositories: new_repositories, homes: new_homes, unreadable } = made;
        let report =
            Report { profile, exit, usage, changes, new_repositories, new_homes, unreadable, requests, stdout, stderr };
        out.answer(&report, |_| String::new());
    } else {
        tell(changes.unwrap_or_default(), out);
        guard::warn(&made, out);
        if let Some(way_out) = &mut way_out {
            way_out.tell(out).await;
        }
    }
    conclude(outcome.exit)
}

/// Passes the streams on, or keeps them, until the end; ends the cage when this process is told to stop.
pub(in crate::command) async fn attend(
    mut running: Running,
    keep: bool,
    stopped: impl Future<Output = ()> + Send + 'static,
) -> Result<(Outcome, Output), CliError> {
    let killer = running.killer();
    tokio::spawn(async move {
        stopped.await;
        killer.kill();
    });
    feed(running.take_stdin());
    let ended = tokio::task::spawn_blocking(move || if keep { running.collect() } else { Passing::begin(running) });
    let ended = ended.await.map_err(|error| CliError::failed(error.to_string()))?;
    ended.map_err(|error| CliError::failed(chain(&error)))
}

/// In a thread of its own that nobody waits for: it may sit at a terminal when the command is long gone.
fn feed(stdin: Option<File>) {
    if let Some(mut stdin) = stdin {
        std::thread::spawn(move || std::io::copy(&mut std::io::stdin().lock(), &mut stdin));
    }
}

/// Output on its way through this process, counted as it passes.
struct Passing {
    seen: Arc<AtomicU64>,
    limit: u64,
    killer: Killer,
}

impl Passing {
    fn begin(mut running: Running) -> Result<(Outcome, Output), placet_sandbox::SandboxError> {
        let passing = Self { seen: Arc::default(), limit: running.limits().output_bytes, killer: running.killer() };
        let threads = [
            passing.pass_on(running.take_stdout(), for_whoever_reads(std::io::stdout())),
            passing.pass_on(running.take_stderr(), for_whoever_reads(std::io::stderr())),
        ];
        let mut outcome = running.wait()?;
        for thread in threads {
            let _ = thread.join();
        }
        let seen = passing.seen.load(Ordering::Relaxed);
        if seen > passing.limit {
            outcome.exit = Exit::Limit { which: LimitKind::Output, limit: passing.limit, seen };
        }
        Ok((outcome, Output::default()))
    }

    fn pass_on(&self, from: Option<File>, mut to: impl Write + Send + 'static) -> JoinHandle<()> {
        let (seen, limit, killer) = (Arc::clone(&self.seen), self.limit, self.killer.clone());
        std::thread::spawn(move || {
            let Some(mut from) = from else { return };
            let mut buffer = vec![0; 64 << 10];
            while let Ok(read @ 1..) = from.read(&mut buffer) {
                let now = seen.fetch_add(read as u64, Ordering::Relaxed) + read as u64;
                if now > limit {
                    return killer.kill_over_output(now);
                }
                // Where nobody reads any more, the command is told by its own pipe.
                if to.write_all(&buffer[..read]).and_then(|()| to.flush()).is_err() {
                    return;
                }
            }
        })
    }
}

/// A terminal is protected from what strangers print; a file or a pipe gets the bytes as they are.
fn for_whoever_reads(stream: impl Write + IsTerminal + Send + 'static) -> Box<dyn Write + Send> {
    if stream.is_terminal() { Box::new(Plain::new(stream)) } else { Box::new(stream) }
}

fn tell(changes: Vec<Changed>, out: &Out) {
    for Changed { path, removed } in changes {
        let mark = if removed { "removed" } else { "changed" };
        out.note(&styled(DIM, format!("{mark} {path} (in a layer that is gone now)")));
    }
}

fn ended(exit: Exit) -> Ended {
    match exit {
        Exit::Code(code) => Ended::Code(code),
        Exit::Signal(signal) => Ended::Signal(signal),
        Exit::Limit { which, limit, seen } => Ended::Limit { which: which.into(), limit, seen },
        Exit::Cancelled => Ended::Cancelled,
    }
}

/// As a shell would: the command's own code, or 128 and the signal.
pub(in crate::command) fn conclude(exit: Exit) -> Result<ExitCode, CliError> {
    match exit {
        Exit::Code(code) => Ok(ExitCode::from(u8::try_from(code & 0xff).unwrap_or(u8::MAX))),
        Exit::Signal(signal) => Ok(ExitCode::from(u8::try_from(128 + signal).unwrap_or(u8::MAX))),
        Exit::Cancelled => Err(CliError::new(Code::Interrupted, "interrupted")),
        Exit::Limit { which, limit, seen } => {
            let name = LimitName::from(which);
            let (most, seen) = (name.show(limit), name.show(seen));
            let message = format!("stopped by the limit `{name}`: {seen} of {most} ({})", name.in_words());
            let hint = format!("allow more with --limit {name}=VALUE, or choose another profile");
            Err(CliError::new(Code::OverLimit, message).hint(hint))
        }
    }
}
