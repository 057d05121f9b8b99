//! A running container as the end of a command: what became of it, and that nothing of it stays.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};

use super::api::{Api, State};
use super::disk::Disk;
use super::error::EngineError;
use super::frames::take_apart;
use super::http::Upgraded;
use super::watch::{Ended, Notice, Stopper, Watch};
use crate::error::SandboxError;
use crate::outcome::{Exit, LimitKind, Outcome};
use crate::profile::Limits;
use crate::running::{Cause, Ending, Killer, Program, Running};

/// Engines add this to the number of the signal that ended a command.
const SIGNAL_BASE: i32 = 128;
const LAST_SIGNAL: i32 = 64;

/// A container that exists. Dropping it removes it, whatever it is doing.
#[derive(Debug)]
pub(super) struct Container {
    api: Arc<Api>,
    id: String,
}

impl Container {
    pub(super) fn new(api: Arc<Api>, id: String) -> Self {
        Self { api, id }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        // An engine that fails twice is collected after by the next start.
        if self.api.remove(&self.id).is_err() {
            let _ = self.api.remove(&self.id);
        }
    }
}

/// What a container needs to be started and followed.
#[derive(Debug)]
pub(super) struct Fitted {
    pub(super) container: Container,
    pub(super) program: Program,
    pub(super) limits: Limits,
    pub(super) disk: Option<Disk>,
    pub(super) stdin: Vec<u8>,
}

impl Fitted {
    /// Attaches first, so that not a byte of output is lost.
    pub(super) fn start(self, api: &Arc<Api>) -> Result<Running, SandboxError> {
        let (stdout, stdout_in) = pipe()?;
        let (stderr, stderr_in) = pipe()?;
        let stream = api.attach(self.container.id())?;
        let lines = stream.line().and_then(|line| Ok((line, stream.line()?)));
        let (mut input, line) =
            lines.map_err(|source| SandboxError::Io { doing: "attach to the container", source })?;
        api.start(self.container.id())?;
        let (sender, notices) = mpsc::channel();
        let killer = Killer::of(Arc::new(Stopper(sender.clone())));
        let watch =
            Watch::new((Arc::clone(api), self.container.id().to_owned()), self.limits, self.disk, line, notices);
        let watch = spawn("placet-watch", move || watch.run())?;
        let contained = Contained { container: self.container, watch: Some(watch), notices: sender.clone() };
        spawn("placet-output", move || follow(stream, stdout_in, stderr_in, &sender))?;
        let stdin = self.stdin;
        spawn("placet-input", move || input.say(&stdin))?;
        Ok(Running::elsewhere(Box::new(contained), killer, [stdout, stderr], self.program, self.limits))
    }
}

/// A line that breaks is the end of the output; whether the container goes on is seen by the watch.
fn follow(stream: Upgraded, stdout: File, stderr: File, sender: &mpsc::Sender<Notice>) {
    let _ = take_apart(stream, stdout, stderr);
    let _ = sender.send(Notice::OutputEnded);
}

fn spawn<T: Send + 'static>(
    name: &str,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<T>, SandboxError> {
    let failed = |source| SandboxError::Io { doing: "start a thread", source };
    thread::Builder::new().name(name.to_owned()).spawn(work).map_err(failed)
}

fn pipe() -> Result<(File, File), SandboxError> {
    let (reader, writer) = io::pipe().map_err(|source| SandboxError::Io { doing: "make a pipe", source })?;
    Ok((File::from(OwnedFd::from(reader)), File::from(OwnedFd::from(writer))))
}

/// The end of a command in a container.
#[derive(Debug)]
struct Contained {
    #[expect(dead_code, reason = "held until it is dropped, which removes it")]
    container: Container,
    watch: Option<JoinHandle<Ended>>,
    notices: mpsc::Sender<Notice>,
}

impl Ending for Contained {
    fn outcome(&mut self, limits: &Limits, killer: &Killer) -> Result<Outcome, SandboxError> {
        let ended = self.watch.take().and_then(|watch| watch.join().ok()).ok_or(EngineError::Gone)?;
        let exit = exit(&ended.state?, ended.killed, ended.over.map(Exit::from), killer.cause(), limits);
        Ok(Outcome { exit, usage: ended.usage })
    }
}

impl Drop for Contained {
    /// Before the container is removed, whoever watches it ends it, and tries again where an engine fails.
    fn drop(&mut self) {
        if let Some(watch) = self.watch.take() {
            let _ = self.notices.send(Notice::Stop);
            let _ = watch.join();
        }
    }
}

/// What a limit or the caller did comes first, if it was what ended the command.
fn exit(state: &State, killed: bool, over: Option<Exit>, cause: Option<Cause>, limits: &Limits) -> Exit {
    let reached = |which, limit| Exit::Limit { which, limit, seen: limit };
    match (killed.then_some((over, cause)), state.out_of_memory) {
        (Some((Some(over), _)), _) => over,
        (_, true) => reached(LimitKind::Memory, limits.memory_bytes),
        (Some((None, Some(Cause::Output { seen }))), false) => {
            Exit::Limit { which: LimitKind::Output, limit: limits.output_bytes, seen }
        }
        (Some((None, Some(Cause::Cancelled))), false) => Exit::Cancelled,
        (Some((None, None)) | None, false) => match state.exit_code - SIGNAL_BASE {
            libc::SIGXCPU => reached(LimitKind::Cpu, limits.cpu_seconds.saturating_mul(1_000)),
            libc::SIGXFSZ => reached(LimitKind::FileBytes, limits.file_bytes),
            signal if (1..=LAST_SIGNAL).contains(&signal) => Exit::Signal(signal),
            _ => Exit::Code(state.exit_code),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Profile;

    fn ended(exit_code: i32, out_of_memory: bool) -> State {
        State { running: false, status: "exited".into(), out_of_memory, exit_code }
    }

    fn limits() -> Limits {
        Profile::builtin("default").expect("a profile").limits()
    }

    #[test]
    fn codes_and_signals_are_told_apart_as_far_as_engines_do() {
        let own = |code| exit(&ended(code, false), false, None, None, &limits());
        assert_eq!((own(0), own(42), own(255)), (Exit::Code(0), Exit::Code(42), Exit::Code(255)));
        assert_eq!((own(137), own(143)), (Exit::Signal(9), Exit::Signal(15)));
        assert!(matches!(own(152), Exit::Limit { which: LimitKind::Cpu, .. }));
        assert!(matches!(own(153), Exit::Limit { which: LimitKind::FileBytes, .. }));
    }

    #[test]
    fn whoever_ended_it_is_named_and_a_kill_that_came_too_late_is_not() {
        let wall = Exit::Limit { which: LimitKind::WallClock, limit: 1, seen: 2 };
        let cancelled = Some(Cause::Cancelled);
        assert_eq!(exit(&ended(137, false), true, Some(wall), cancelled, &limits()), wall);
        assert_eq!(exit(&ended(137, false), true, None, cancelled, &limits()), Exit::Cancelled);
        assert_eq!(exit(&ended(0, false), false, None, cancelled, &limits()), Exit::Code(0));
        assert_eq!(exit(&ended(0, false), false, Some(wall), None, &limits()), Exit::Code(0));
    }

    #[test]
    fn memory_is_named_whatever_became_of_the_command() {
        for (code, cause) in [(137, None), (1, None), (137, Some(Cause::Output { seen: 9 }))] {
            let exit = exit(&ended(code, true), cause.is_some(), None, cause, &limits());
            assert!(matches!(exit, Exit::Limit { which: LimitKind::Memory, .. }), "{exit:?}");
        }
    }
}
