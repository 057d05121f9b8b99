//! The launcher's side of the start: plan, spawn the helper, hand it the plan, wait until the program runs.
//!
//! The calling process is never forked: it may be large and have many threads. The helper is spawned, which shares
//! memory only until it executes.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::io::Errno;

use crate::control::{self, Answer, Control, Order, Report, Spec};
use crate::enter::{self, HELPER_NAME};
use crate::error::SandboxError;
use crate::group::Group;
use crate::host::{self, HostFacts};
use crate::outcome::{Excess, LimitKind};
use crate::plan::{plan, preparation};
use crate::profile::{Limits, Profile};
use crate::request::{Input, Request};
use crate::running::{Door, Helper, Parting, Program, ProgramFile, Running, Streams};
use crate::step::Step;

/// A cage is entered within milliseconds. Longer than this, the binary that was executed is no helper.
const PATIENCE: Duration = Duration::from_secs(30);

/// How often a launch is tried when files of the host are being replaced.
const ATTEMPTS: usize = 3;

/// First in every `main` that may launch cages: in the re-executed helper it never returns.
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

/// Launches cages with a given helper.
#[derive(Clone, Debug)]
pub struct Launcher {
    helper: PathBuf,
    spare: Option<Spare>,
}

/// Room for one helper that has come up and waits for a plan. It is used once, like every other.
type Spare = Arc<Mutex<Option<Starting>>>;

impl Default for Launcher {
    /// The calling binary itself, even if its file was replaced since it started.
    fn default() -> Self {
        Self { helper: "/proc/self/exe".into(), spare: None }
    }
}

impl Launcher {
    /// Another binary whose `main` begins with [`helper_entry`].
    #[must_use]
    pub fn with_helper(helper: impl Into<PathBuf>) -> Self {
        Self { helper: helper.into(), spare: None }
    }

    /// From the second launch on, a helper stands ready, so that nobody waits until it has come up. It sleeps, and ends
    /// with the last clone of this launcher. For callers that launch often.
    #[must_use]
    pub fn keeping_one_ready(self) -> Self {
        Self { spare: Some(Spare::default()), ..self }
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
        // First the helper, which takes a moment to come up, and whose number makes the user of the cage.
        let mut starting = self.ready_helper().map_or_else(|| Starting::cold(&self.helper), Ok)?;
        starting.group.limit(&limits)?;
        let facts = HostFacts::gather(profile, request, starting.helper.process())?;
        let steps = plan(profile, request, &facts.with_groups(starting.group.directories()))?;
        let steps = starting.still_to_take(steps)?;
        starting.helper.part(parting(request));
        starting.hand_over(&Spec { steps, limits, held: accept.is_some() }, &request.stdin)?;
        self.make_ready();
        starting.finish(limits, accept)
    }

    /// The steps that [`Launcher::launch`] would take now, without taking any. Numbers that only a launch gives, those of
    /// the cage's user and of its groups, are stood in for by the caller's own.
    pub fn foresee(&self, profile: &Profile, request: Request) -> Result<Vec<Step>, SandboxError> {
        request.check()?;
        let (profile, request) = (&*host::resolved_profile(profile)?, host::resolved(request)?);
        let limits = request.limits.unwrap_or(profile.limits);
        let facts = HostFacts::gather(profile, &request, std::process::id())?;
        plan(profile, &request, &facts.with_groups(&Group::foresee(&limits)?))
    }

    /// The helper that stands ready, if it still stands.
    fn ready_helper(&self) -> Option<Starting> {
        let spare = self.spare.as_ref()?.lock().unwrap_or_else(PoisonError::into_inner).take();
        spare.filter(|spare| spare.helper.is_up())
    }

    /// Starts the next helper while this one is at work.
    fn make_ready(&self) {
        let Some(spare) = &self.spare else { return };
        // Without one the next launch starts its own, and says what is wrong.
        let next = Starting::spawn(&self.helper).and_then(Starting::prepared).ok();
        *spare.lock().unwrap_or_else(PoisonError::into_inner) = next;
    }
}

/// What the caller says to the opened program before it runs.
type Accept<'a> = Box<dyn FnOnce(&Program) -> Result<(), String> + 'a>;

/// A helper that was spawned and is on its way.
#[derive(Debug)]
struct Starting {
    /// Before the group, which can be removed only when the cage is gone.
    helper: Helper,
    group: Group,
    outputs: [File; 2],
    /// The steps it was told to take already.
    taken: Vec<Step>,
    input: Option<File>,
}

impl Starting {
    /// Comes up while the launcher looks at the host.
    fn cold(helper: &Path) -> Result<Self, SandboxError> {
        Group::find_place();
        let spawned = Self::spawn(helper)?;
        Ok(Self { group: Group::prepare()?, ..spawned })
    }

    /// Sends it ahead, as far as every plan goes, and makes what every cage has.
    fn prepared(mut self) -> Result<Self, SandboxError> {
        self.group = Group::prepare()?;
        self.taken = preparation(host::caller());
        let groups = self.group.directories().iter().map(|directory| directory.path.clone()).collect();
        let order = Order::Prepare { steps: self.taken.clone(), groups };
        self.helper.control().send(&order, &[]).map_err(SandboxError::io("prepare the helper"))?;
        Ok(self)
    }

    /// The rest of the plan.
    fn still_to_take(&self, steps: Vec<Step>) -> Result<Vec<Step>, SandboxError> {
        // A process that changed its user since cannot use what was prepared for another.
        steps.strip_prefix(self.taken.as_slice()).map(<[Step]>::to_vec).ok_or(SandboxError::HelperDied)
    }

    fn spawn(helper: &Path) -> Result<Self, SandboxError> {
        let failed = |source| SandboxError::Io { doing: "start the helper", source };
        let (control, socket) = Control::pair().map_err(SandboxError::io("make a socket"))?;
        let (stdout, stdout_in) = pipe()?;
        let (stderr, stderr_in) = pipe()?;
        let child = Command::new(helper)
            .arg0(HELPER_NAME)
            .env_clear()
            .stdin(Stdio::from(socket))
            .stdout(Stdio::from(stdout_in))
            .stderr(Stdio::from(stderr_in))
            .spawn()
            .map_err(failed)?;
        Ok(Self {
            helper: Helper::new(child, control),
            group: Group::default(),
            outputs: [stdout, stderr],
            taken: Vec::new(),
            input: None,
        })
    }

    fn hand_over(&mut self, spec: &Spec, stdin: &Input) -> Result<(), SandboxError> {
        let memory = |name, bytes: &[u8]| {
            control::sealed(name, bytes)
                .map_err(|source| SandboxError::Io { doing: "hand the plan to the helper", source })
        };
        let bytes = serde_json::to_vec(spec)
            .map_err(|error| SandboxError::Io { doing: "write the plan", source: error.into() })?;
        let plan = memory("placet-cage-plan", &bytes)?;
        let stdin = match stdin {
            Input::Bytes(bytes) => memory("placet-cage-stdin", bytes)?,
            Input::Pipe => self.pipe_in()?,
        };
        match self.helper.control().send(&Order::Enter, &[plan.as_fd(), stdin.as_fd()]) {
            // A helper that is gone has said why, or its silence is noticed next.
            Ok(()) | Err(Errno::PIPE) => Ok(()),
            Err(errno) => Err(SandboxError::io("hand the plan to the helper")(errno)),
        }
    }

    /// Keeps the end that is written to, and returns the one the command reads.
    fn pipe_in(&mut self) -> Result<OwnedFd, SandboxError> {
        let (read, write) = io::pipe().map_err(|source| SandboxError::Io { doing: "make a pipe", source })?;
        self.input = Some(File::from(OwnedFd::from(write)));
        Ok(read.into())
    }

    fn finish(mut self, limits: Limits, accept: &mut Option<Accept<'_>>) -> Result<Running, SandboxError> {
        let (doors, program) = self.await_start(limits.wall_ms, accept)?;
        let streams = Streams { input: self.input, outputs: self.outputs };
        Ok(Running::new(self.helper, self.group, streams, doors, program, limits))
    }

    fn await_start(
        &mut self,
        wall_ms: u64,
        accept: &mut Option<Accept<'_>>,
    ) -> Result<(Vec<Door>, Program), SandboxError> {
        self.helper.control().set_patience(Some(PATIENCE)).map_err(SandboxError::io("wait for the helper"))?;
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
            Ok(Some(received)) => {
                self.helper.note_answer();
                Ok(received)
            }
            Ok(None) | Err(Errno::CONNRESET) => Err(SandboxError::HelperDied),
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

/// An upper is mounted once at a time.
fn parting(request: &Request) -> Parting {
    if request.all_layers().next().is_some() { Parting::Unmounted } else { Parting::Empty }
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
        Report::Gone { .. } | Report::Ended { .. } | Report::Started | Report::Program { .. } | Report::Door { .. } => {
            SandboxError::HelperDied
        }
    }
}

fn pipe() -> Result<(File, OwnedFd), SandboxError> {
    let made = io::pipe().map_err(|source| SandboxError::Io { doing: "make a pipe", source })?;
    Ok((File::from(OwnedFd::from(made.0)), OwnedFd::from(made.1)))
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
