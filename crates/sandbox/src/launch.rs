//! The launcher's side of the start: ask for a helper, plan, hand it the plan, wait until the program runs.
//!
//! The calling process is never forked: it may be large and have many threads. Its zygote is, which is small and has one;
//! see [`crate::zygote`].

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};

use rustix::io::Errno;
use rustix::pty::{OpenptFlags, ioctl_tiocgptpeer, openpt, unlockpt};

use crate::control::{self, Answer, Control, Plan, Report, Terms};
use crate::enter::{self, HELPER_NAME};
use crate::error::SandboxError;
use crate::group::Group;
use crate::helper::Helper;
use crate::host::{self, HostFacts};
use crate::outcome::{Excess, LimitKind};
use crate::plan::{plan, preparation};
use crate::profile::{Limits, Profile};
use crate::request::{Input, Request};
use crate::running::{Door, Program, ProgramFile, Running, Streams};
use crate::step::Step;
use crate::zygote::Zygotes;

/// What the calling process executes, whatever is at its path by now.
const OWN_BINARY: &str = "/proc/self/exe";

/// How often a launch is tried when files of the host are being replaced.
const ATTEMPTS: usize = 3;

/// First in every `main` that may launch cages: in the zygote, which is that binary executed again, it never returns.
pub fn helper_entry() {
    if is_helper() {
        enter::run()
    }
}

fn is_helper() -> bool {
    std::env::args_os().next().is_some_and(|name| name == HELPER_NAME)
}

/// Launches with the calling binary as its own helper.
pub fn launch(profile: &Profile, request: Request) -> Result<Running, SandboxError> {
    Launcher::default().launch(profile, request)
}

/// The host path of the program that a cage of this profile would execute by that name.
///
/// For a look before the launch, and only as good as the host is quiet; what really runs is [`Running::program`].
#[must_use]
pub fn program_path(profile: &Profile, name: &str) -> Option<PathBuf> {
    let executable = |path: &PathBuf| path.is_file() && rustix::fs::access(path, rustix::fs::Access::EXEC_OK).is_ok();
    if name.contains('/') {
        return Some(PathBuf::from(name)).filter(|path| path.is_absolute() && executable(path));
    }
    profile.program_path.iter().map(|directory| Path::new(directory.as_ref()).join(name)).find(executable)
}

/// Launches cages. The first launch starts the zygote, a copy of the helper's binary that waits and forks a helper for
/// every cage.
///
/// What the zygote is, its helpers are: namespaces and control groups of the caller count as they were at the first
/// launch.
#[derive(Clone, Debug)]
pub struct Launcher {
    zygotes: Arc<Zygotes>,
}

impl Default for Launcher {
    /// The calling binary itself, even if its file was replaced since it started. All of these share one zygote, which
    /// ends with the process.
    fn default() -> Self {
        static OF_THIS_PROCESS: LazyLock<Launcher> = LazyLock::new(|| Launcher::with_helper(OWN_BINARY));
        OF_THIS_PROCESS.clone()
    }
}

impl Launcher {
    /// Another binary whose `main` begins with [`helper_entry`]. Its zygote ends with the last clone of this launcher and
    /// the last of its cages.
    #[must_use]
    pub fn with_helper(helper: impl Into<PathBuf>) -> Self {
        Self { zygotes: Arc::new(Zygotes::of(helper.into())) }
    }

    /// Starts the zygote now, if there is none. In a process that launches a single cage, executing its own binary again is a
    /// large part of the latency; calling this early overlaps it with other work.
    pub fn prepare(&self) -> Result<(), SandboxError> {
        if is_helper() {
            return Err(SandboxError::HelperSilent);
        }
        self.zygotes.prepare()
    }

    /// Returns when the program runs; by then every wall stands.
    pub fn launch(&self, profile: &Profile, request: Request) -> Result<Running, SandboxError> {
        self.start(profile, request, None)
    }

    /// Like [`Launcher::launch`], but first lets the caller look at the opened program, for instance to compare its
    /// digest. A refusal ends the cage before the program ran.
    pub fn launch_if(
        &self,
        profile: &Profile,
        request: Request,
        accept: impl FnOnce(&Program) -> Result<(), String>,
    ) -> Result<Running, SandboxError> {
        self.start(profile, request, Some(Box::new(accept)))
    }

    fn start(
        &self,
        profile: &Profile,
        request: Request,
        mut accept: Option<Accept<'_>>,
    ) -> Result<Running, SandboxError> {
        if is_helper() {
            return Err(SandboxError::HelperSilent);
        }
        request.check()?;
        let (profile, request) = (&*host::resolved_profile(profile)?, host::resolved(request)?);
        while_stale(|| self.attempt(profile, &request, &mut accept))
    }

    /// Takes the caller's say only when there is a program to show.
    fn attempt(
        &self,
        profile: &Profile,
        request: &Request,
        accept: &mut Option<Accept<'_>>,
    ) -> Result<Running, SandboxError> {
        let limits = request.limits.unwrap_or(profile.limits);
        let begun = preparation(host::caller());
        // First the helper: it comes up while this process looks at the host.
        let asked = self.zygotes.ask(&begun)?;
        let group = Group::make(&limits, request.freezing)?;
        let facts = HostFacts::gather(profile, request)?.with_groups(group.directories()).for_any_helper();
        let steps = plan(profile, request, &facts)?;
        // A caller that became somebody else meanwhile cannot use what was begun for another.
        let steps = steps.strip_prefix(begun.as_slice()).ok_or(SandboxError::HelperDied)?;
        let plan = Plan::new(&Terms { limits, held: accept.is_some() }, steps)
            .map_err(|error| SandboxError::Io { doing: "write the plan", source: error.into() })?;
        let (helper, outputs, ends) = asked.up(|control| hand_over(control, &plan, &request.stdin))?;
        Starting { helper, group, outputs, ends }.finish(limits, accept)
    }

    /// The steps that [`Launcher::launch`] would take now, without taking any. Numbers that only a launch gives, those of
    /// the cage's user and of its groups, are stood in for by the caller's own.
    pub fn foresee(&self, profile: &Profile, request: Request) -> Result<Vec<Step>, SandboxError> {
        request.check()?;
        let (profile, request) = (&*host::resolved_profile(profile)?, host::resolved(request)?);
        let limits = request.limits.unwrap_or(profile.limits);
        let facts = HostFacts::gather(profile, &request)?;
        plan(profile, &request, &facts.with_groups(&Group::foresee(&limits, request.freezing)?))
    }
}

/// What the caller says to the opened program before it runs.
type Accept<'a> = Box<dyn FnOnce(&Program) -> Result<(), String> + 'a>;

/// A helper that is up, on its way into the cage.
#[derive(Debug)]
struct Starting {
    /// Before the group, which can be removed only when the cage is gone.
    helper: Helper,
    group: Group,
    outputs: [File; 2],
    ends: Ends,
}

/// What the caller keeps of the command's input.
#[derive(Debug, Default)]
struct Ends {
    input: Option<File>,
    terminal: Option<File>,
}

/// Tells a helper what to do, before it is there: it reads that when it is.
fn hand_over(control: &Control, plan: &Plan, stdin: &Input) -> Result<Ends, SandboxError> {
    let (stdin, ends) = match stdin {
        Input::Bytes(bytes) => bytes_in(bytes)?,
        Input::Pipe => pipe_in()?,
        Input::Terminal => terminal_in()?,
    };
    match control.send_plan(plan, stdin.as_fd()) {
        // A helper that is gone has said why, or its silence is noticed next.
        Ok(()) | Err(Errno::PIPE | Errno::CONNRESET) => Ok(ends),
        Err(errno) => Err(SandboxError::io("hand the plan to the helper")(errno)),
    }
}

/// What the command reads.
fn bytes_in(bytes: &[u8]) -> Result<(OwnedFd, Ends), SandboxError> {
    let memory = control::sealed("placet-cage-stdin", bytes);
    let memory = memory.map_err(|source| SandboxError::Io { doing: "hand the input to the helper", source })?;
    Ok((memory, Ends::default()))
}

/// The end that the command reads, and the one that is written to.
fn pipe_in() -> Result<(OwnedFd, Ends), SandboxError> {
    let (read, write) = io::pipe().map_err(|source| SandboxError::Io { doing: "make a pipe", source })?;
    Ok((read.into(), Ends { input: Some(File::from(OwnedFd::from(write))), terminal: None }))
}

/// The end that stands for the screen and the keys, and the one that stands for the person.
fn terminal_in() -> Result<(OwnedFd, Ends), SandboxError> {
    let failed = |errno| SandboxError::io("make a terminal")(errno);
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC;
    let made = openpt(flags).and_then(|ours| unlockpt(&ours).map(|()| ours));
    let ours = made.map_err(failed)?;
    let theirs = ioctl_tiocgptpeer(&ours, flags).map_err(failed)?;
    Ok((theirs, Ends { input: None, terminal: Some(File::from(ours)) }))
}

impl Starting {
    fn finish(mut self, limits: Limits, accept: &mut Option<Accept<'_>>) -> Result<Running, SandboxError> {
        let (doors, program) = self.await_start(limits.wall_ms, accept)?;
        let Ends { input, terminal } = self.ends;
        let streams = Streams { input, terminal, outputs: self.outputs };
        Ok(Running::new(self.helper, self.group, streams, doors, program, limits))
    }

    fn await_start(
        &mut self,
        wall_ms: u64,
        accept: &mut Option<Accept<'_>>,
    ) -> Result<(Vec<Door>, Program), SandboxError> {
        let mut doors = Vec::new();
        let program = loop {
            match self.next()? {
                (Report::Door { port }, sockets) => doors.extend(sockets.into_iter().map(|each| Door::new(port, each))),
                (Report::Program { paths }, files) => break Program::new(zip(paths, files)),
                (other, _) => return Err(unexpected(other, wall_ms)),
            }
        };
        if let Some(accept) = accept.take() {
            accept(&program).map_err(SandboxError::ProgramRefused)?;
            // A cage that ended meanwhile has said why, and that is read next.
            let _ = self.helper.control().send(&Answer::Go, &[]);
        }
        match self.next()? {
            (Report::Started, _) => {}
            (other, _) => return Err(unexpected(other, wall_ms)),
        }
        self.helper.control().set_patience(None).map_err(SandboxError::io("wait for the helper"))?;
        Ok((doors, program))
    }

    fn next(&mut self) -> Result<(Report, Vec<OwnedFd>), SandboxError> {
        match self.helper.control().receive() {
            Ok(Some(received)) => Ok(received),
            Ok(None) => Err(SandboxError::HelperDied),
            Err(Errno::AGAIN) => Err(SandboxError::HelperSilent),
            Err(errno) => Err(SandboxError::io("read the helper's report")(errno)),
        }
    }
}

/// Tries again where a file of the host was replaced between the look at it and its use: the next look sees the new one.
/// An update of the host does that to a file once; one that is replaced all the time is left to the caller.
fn while_stale<T>(mut attempt: impl FnMut() -> Result<T, SandboxError>) -> Result<T, SandboxError> {
    for _ in 1..ATTEMPTS {
        match attempt() {
            Err(SandboxError::Step(error)) if error.errno == Errno::STALE.raw_os_error() => {}
            other => return other,
        }
    }
    attempt()
}

fn zip(paths: Vec<String>, files: Vec<OwnedFd>) -> Vec<ProgramFile> {
    paths.into_iter().zip(files).map(|(path, file)| ProgramFile::new(path.into(), file.into())).collect()
}

fn unexpected(report: Report, wall_ms: u64) -> SandboxError {
    match report {
        Report::Failed(error) => SandboxError::Step(error),
        Report::NoProgram { name } => SandboxError::ProgramNotFound(name),
        Report::Over(Excess { which: LimitKind::WallClock, .. }) => SandboxError::TimeIsUp { wall_ms },
        Report::Over(Excess { which, limit, .. }) => SandboxError::LimitTooLow { which, limit },
        Report::Up
        | Report::NotForked { .. }
        | Report::Gone { .. }
        | Report::Ended { .. }
        | Report::Started
        | Report::Program { .. }
        | Report::Door { .. } => SandboxError::HelperDied,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::StepError;
    use crate::step::StepKind;

    fn failed(errno: Errno) -> SandboxError {
        let action = "detach /etc/ld.so.cache".into();
        SandboxError::Step(StepError { step: StepKind::Detach, action, errno: errno.raw_os_error() })
    }

    /// How many attempts were made until the answer, and whether it was a success.
    fn after(mut answers: Vec<Result<(), SandboxError>>) -> (usize, bool) {
        let mut made = 0;
        let ended = while_stale(|| {
            made += 1;
            answers.remove(0)
        });
        (made, ended.is_ok())
    }

    #[test]
    fn a_file_that_was_replaced_during_the_launch_is_looked_at_again() {
        assert_eq!(after(vec![Err(failed(Errno::STALE)), Ok(())]), (2, true));
        assert_eq!(after(vec![Err(failed(Errno::STALE)), Err(failed(Errno::STALE)), Ok(())]), (3, true));
    }

    #[test]
    fn files_that_are_replaced_all_the_time_end_the_launch() {
        assert_eq!(after((0..9).map(|_| Err(failed(Errno::STALE))).collect()), (ATTEMPTS, false));
    }

    #[test]
    fn other_failures_are_final() {
        assert_eq!(after(vec![Err(failed(Errno::PERM)), Ok(())]), (1, false));
        assert_eq!(after(vec![Err(SandboxError::HelperDied), Ok(())]), (1, false));
        assert_eq!(after(vec![Ok(())]), (1, true));
    }
}
