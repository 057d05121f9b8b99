//! A command in its cage, as the launcher sees it: two pipes, a way to end it, and its outcome.
//!
//! The same for every backend: what differs is how the end is learnt ([`Ending`]) and brought about ([`Stop`]).

use std::fmt;
use std::fs::File;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use crate::control::{Control, Report};
use crate::error::SandboxError;
use crate::freeze::Freezer;
use crate::group::Group;
use crate::helper::Helper;
use crate::outcome::{Excess, Exit, LimitKind, Outcome, Output, Usage};
use crate::output::{Stream, read_both, read_each};
use crate::profile::Limits;

/// A running command. Dropping it ends the command.
#[derive(Debug)]
pub struct Running {
    end: Box<dyn Ending>,
    killer: Killer,
    freezer: Option<Freezer>,
    stdin: Option<File>,
    terminal: Option<File>,
    stdout: Option<File>,
    stderr: Option<File>,
    doors: Vec<Door>,
    program: Program,
    limits: Limits,
}

/// How the end of a command is learnt. Dropping it ends the command and removes what was made for it.
pub(crate) trait Ending: fmt::Debug + Send {
    /// Waits for the end.
    fn outcome(&mut self, limits: &Limits, killer: &Killer) -> Result<Outcome, SandboxError>;
}

/// How the end of a command is brought about. Too late or twice, it does nothing.
pub(crate) trait Stop: fmt::Debug + Send + Sync {
    fn stop(&self);
}

impl Stop for Control {
    fn stop(&self) {
        self.shut_down();
    }
}

/// A cage made of namespaces, until it is gone.
#[derive(Debug)]
struct Cage {
    /// Before the group, which can be removed only when the cage is gone.
    helper: Helper,
    group: Group,
}

impl Ending for Cage {
    fn outcome(&mut self, limits: &Limits, killer: &Killer) -> Result<Outcome, SandboxError> {
        let mut end = End::default();
        while let Ok(Some((report, _))) = self.helper.control().receive() {
            end.note(report);
            if end.usage.is_some() {
                break;
            }
        }
        // Nobody is left in the cage, so its groups go while the helper takes the rest of it apart.
        self.group.remove();
        self.helper.wait().map_err(SandboxError::io("wait for the helper"))?;
        end.outcome(limits, killer.cause()).ok_or(SandboxError::HelperDied)
    }
}

/// The caller's ends of the standard streams.
pub(crate) struct Streams {
    pub(crate) input: Option<File>,
    pub(crate) terminal: Option<File>,
    pub(crate) outputs: [File; 2],
}

/// A door of the cage: the socket that listens inside, in the hands of the launcher.
#[derive(Debug)]
pub(crate) struct Door {
    port: u16,
    listener: TcpListener,
}

impl Door {
    pub(crate) fn new(port: u16, socket: OwnedFd) -> Self {
        Self { port, listener: socket.into() }
    }
}

/// Ends a cage from anywhere. Cloned freely; outliving the cage does no harm.
#[derive(Clone, Debug)]
pub struct Killer {
    target: Arc<dyn Stop>,
    cause: Arc<OnceLock<Cause>>,
}

/// Why the launcher ended a cage.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Cause {
    Cancelled,
    Output { seen: u64 },
}

impl Killer {
    pub(crate) fn of(target: Arc<dyn Stop>) -> Self {
        Self { target, cause: Arc::default() }
    }

    /// Why this handle ended the cage, if it did.
    pub(crate) fn cause(&self) -> Option<Cause> {
        self.cause.get().copied()
    }

    /// Ends the whole tree; [`Exit::Cancelled`] unless it ended before.
    pub fn kill(&self) {
        self.kill_because(Cause::Cancelled);
    }

    /// For callers that read the pipes themselves: ends the whole tree because it wrote `seen` bytes.
    pub fn kill_over_output(&self, seen: u64) {
        self.kill_because(Cause::Output { seen });
    }

    fn kill_because(&self, cause: Cause) {
        // The first cause stays: a second one changes nothing any more.
        let _ = self.cause.set(cause);
        self.target.stop();
    }
}

impl Running {
    pub(crate) fn new(
        helper: Helper,
        group: Group,
        Streams { input, terminal, outputs: [stdout, stderr] }: Streams,
        doors: Vec<Door>,
        program: Program,
        limits: Limits,
    ) -> Self {
        let killer = Killer::of(Arc::<Control>::clone(helper.control()));
        let freezer = Some(Freezer::of(helper.control()));
        let end = Box::new(Cage { helper, group });
        let (stdout, stderr) = (Some(stdout), Some(stderr));
        Self { end, killer, freezer, stdin: input, terminal, stdout, stderr, doors, program, limits }
    }

    /// A command of another backend, which has neither doors nor a piped input.
    #[cfg(feature = "container")]
    pub(crate) fn elsewhere(
        end: Box<dyn Ending>,
        killer: Killer,
        [stdout, stderr]: [File; 2],
        program: Program,
        limits: Limits,
    ) -> Self {
        let (stdout, stderr) = (Some(stdout), Some(stderr));
        Self {
            end,
            killer,
            freezer: None,
            stdin: None,
            terminal: None,
            stdout,
            stderr,
            doors: Vec::new(),
            program,
            limits,
        }
    }

    /// The files that are executed, opened before they were: hash these to know what ran.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What the command reads, if the request said [`crate::Request::stdin_piped`]. Dropping it ends the input.
    pub fn take_stdin(&mut self) -> Option<File> {
        self.stdin.take()
    }

    /// The caller's end of the command's terminal, if the request said [`crate::Request::terminal`]: what is written to it
    /// was typed, what is read from it is shown, and it has a size. Reading fails once nobody has the other end open.
    pub fn take_terminal(&mut self) -> Option<File> {
        self.terminal.take()
    }

    /// Standard output. The caller then also counts its bytes.
    pub fn take_stdout(&mut self) -> Option<File> {
        self.stdout.take()
    }

    /// Standard error. The caller then also counts its bytes.
    pub fn take_stderr(&mut self) -> Option<File> {
        self.stderr.take()
    }

    /// The door at this port, for the caller to accept connections from the cage. Once it is dropped, connecting is
    /// refused inside.
    pub fn take_door(&mut self, port: u16) -> Option<TcpListener> {
        let index = self.doors.iter().position(|door| door.port == port)?;
        Some(self.doors.swap_remove(index).listener)
    }

    /// What the command may use; whoever takes its output counts that.
    #[must_use]
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// A handle that ends the cage.
    #[must_use]
    pub fn killer(&self) -> Killer {
        self.killer.clone()
    }

    /// A handle that lets the cage stand still, see [`crate::Request::freezable`]. `None`: its backend cannot.
    #[must_use]
    pub fn freezer(&self) -> Option<Freezer> {
        self.freezer.clone()
    }

    /// Reads what the command writes until it writes no more, both streams in the order in which they are read. Nothing is kept, and the
    /// caller counts what there is to count.
    pub fn listen(&mut self, hear: impl FnMut(Stream, &[u8])) -> Result<(), SandboxError> {
        let read = read_each(self.stdout.take(), self.stderr.take(), hear);
        read.map_err(|source| SandboxError::Io { doing: "read the output", source })
    }

    /// Waits for the end. Output that was not taken is read, counted and thrown away.
    pub fn wait(self) -> Result<Outcome, SandboxError> {
        self.collect().map(|(outcome, _)| outcome)
    }

    /// Waits for the end and keeps the output that was not taken, up to the output limit.
    pub fn collect(self) -> Result<(Outcome, Output), SandboxError> {
        self.collect_heard(|_, _| {})
    }

    /// The same, and `hear` is told what is kept as it is read. The command waits for whoever hears, so they must never wait themselves.
    pub fn collect_heard(mut self, hear: impl FnMut(Stream, &[u8])) -> Result<(Outcome, Output), SandboxError> {
        let killer = self.killer();
        // Nobody can write to it any more: a command that waits for input is told so.
        drop((self.stdin.take(), self.terminal.take()));
        let (stdout, stderr) = (self.stdout.take(), self.stderr.take());
        let (output, seen) =
            read_both(stdout, stderr, self.limits.output_bytes, |seen| killer.kill_over_output(seen), hear)
                .map_err(|source| SandboxError::Io { doing: "read the output", source })?;
        let mut outcome = self.end.outcome(&self.limits, &killer)?;
        // A command that wrote too much and ended before it could be stopped broke the limit all the same.
        if seen > self.limits.output_bytes {
            outcome.exit = Exit::Limit { which: LimitKind::Output, limit: self.limits.output_bytes, seen };
        }
        Ok((outcome, output))
    }
}

/// The reports about the end, put together.
#[derive(Default)]
struct End {
    over: Option<Excess>,
    ended: Option<Ended>,
    usage: Option<Usage>,
}

struct Ended {
    stopped: bool,
    status: Option<i32>,
    command: Usage,
}

impl End {
    fn note(&mut self, report: Report) {
        match report {
            Report::Over(excess) => self.over = Some(excess),
            Report::Ended { stopped, status, command } => self.ended = Some(Ended { stopped, status, command }),
            Report::Gone { usage } => self.usage = Some(usage),
            Report::Up
            | Report::NotForked { .. }
            | Report::Door { .. }
            | Report::Program { .. }
            | Report::NoProgram { .. }
            | Report::Started
            | Report::Failed(_) => {}
        }
    }

    /// `None`: the helper was ended from outside and took the answer with it.
    fn outcome(&self, limits: &Limits, cause: Option<Cause>) -> Option<Outcome> {
        let usage = self.usage?;
        let own_end = self.ended.as_ref().filter(|ended| !ended.stopped);
        let exit = match (self.over, own_end, cause) {
            // A command that ended in time was not late, whatever the monitor was about to say.
            (Some(Excess { which: LimitKind::WallClock, .. }) | None, Some(ended), _) => {
                let own = own_exit(ended, limits)?;
                late_excess(limits, &usage).map_or(own, Exit::from)
            }
            (Some(excess), _, _) => excess.into(),
            (None, None, Some(Cause::Output { seen })) => {
                Exit::Limit { which: LimitKind::Output, limit: limits.output_bytes, seen }
            }
            (None, None, Some(Cause::Cancelled)) => Exit::Cancelled,
            (None, None, None) => return None,
        };
        Some(Outcome { exit, usage })
    }
}

/// Exceeded between two looks of the monitor: the limit was broken all the same.
fn late_excess(limits: &Limits, usage: &Usage) -> Option<Excess> {
    let limit = limits.cpu_seconds.saturating_mul(1_000);
    (usage.cpu_ms > limit).then_some(Excess { which: LimitKind::Cpu, limit, seen: usage.cpu_ms })
}

fn own_exit(ended: &Ended, limits: &Limits) -> Option<Exit> {
    let status = ended.status?;
    if libc::WIFEXITED(status) {
        return Some(Exit::Code(libc::WEXITSTATUS(status)));
    }
    let cpu_limit_ms = limits.cpu_seconds.saturating_mul(1_000);
    let cpu = Exit::Limit { which: LimitKind::Cpu, limit: cpu_limit_ms, seen: ended.command.cpu_ms.max(cpu_limit_ms) };
    Some(match libc::WTERMSIG(status) {
        libc::SIGXCPU => cpu,
        // A process that ignores the first signal is killed a second later.
        libc::SIGKILL if ended.command.cpu_ms >= cpu_limit_ms => cpu,
        libc::SIGXFSZ => Exit::Limit { which: LimitKind::FileBytes, limit: limits.file_bytes, seen: limits.file_bytes },
        signal => Exit::Signal(signal),
    })
}

/// The opened program: what was asked for and, for a script, the interpreters behind it.
#[derive(Debug)]
pub struct Program(Vec<ProgramFile>);

impl Program {
    pub(crate) fn new(files: Vec<ProgramFile>) -> Self {
        Self(files)
    }

    /// From what was asked for to what the kernel executes. Usually one and the same.
    #[must_use]
    pub fn files(&self) -> &[ProgramFile] {
        &self.0
    }
}

/// One opened file of a program.
#[derive(Debug)]
pub struct ProgramFile {
    path: PathBuf,
    file: File,
}

impl ProgramFile {
    pub(crate) fn new(path: PathBuf, file: File) -> Self {
        Self { path, file }
    }

    /// Its path in the cage.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file itself, open for reading.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }
}
