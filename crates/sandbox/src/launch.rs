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
use crate::running::{Door, Helper, Program, ProgramFile, Running, Streams};
use crate::step::Step;

/// A cage is entered within milliseconds. Longer than this, the binary that was executed is no helper.
const PATIENCE: Duration = Duration::from_secs(30);

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

    fn start(&self, profile: &Profile, request: Request, accept: Option<Accept<'_>>) -> Result<Running, SandboxError> {
        if is_helper() {
            return Err(SandboxError::HelperSilent);
        }
        request.check()?;
        let (profile, request) = (&*host::resolved_profile(profile)?, host::resolved(request)?);
        let limits = request.limits.unwrap_or(profile.limits);
        // First the helper, which takes a moment to come up, and whose number makes the user of the cage.
        let mut starting = self.ready_helper().map_or_else(|| Starting::spawn(&self.helper), Ok)?;
        starting.group = Group::make(&limits)?;
        let facts = HostFacts::gather(profile, &request, starting.helper.process())?;
        let steps = plan(profile, &request, &facts.with_groups(starting.group.directories()))?;
        let steps = starting.still_to_take(steps)?;
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
    /// Sends it ahead, as far as every plan goes.
    fn prepared(mut self) -> Result<Self, SandboxError> {
        self.taken = preparation(host::caller());
        let order = Order::Prepare(self.taken.clone());
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

    fn finish(mut self, limits: Limits, accept: Option<Accept<'_>>) -> Result<Running, SandboxError> {
        let (doors, program) = self.await_start(limits.wall_ms, accept)?;
        let streams = Streams { input: self.input, outputs: self.outputs };
        Ok(Running::new(self.helper, self.group, streams, doors, program, limits))
    }

    fn await_start(&mut self, wall_ms: u64, accept: Option<Accept<'_>>) -> Result<(Vec<Door>, Program), SandboxError> {
        self.helper.control().set_patience(Some(PATIENCE)).map_err(SandboxError::io("wait for the helper"))?;
        let mut doors = Vec::new();
        let program = loop {
            match self.next()? {
                (Report::Door { port }, sockets) => doors.extend(sockets.into_iter().map(|each| Door::new(port, each))),
                (Report::Program { paths }, files) => break Program::new(zip(paths, files)),
                (other, _) => return Err(unexpected(other, wall_ms)),
            }
        };
        if let Some(accept) = accept {
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
