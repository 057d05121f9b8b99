//! The same binary, executed again, alone and with one thread: the zygote, and the helpers it forks, which take the steps of
//! a plan in order.
//!
//! Four kinds of process share this code. The [`zygote`] forks a helper for every cage; the helper takes steps until the
//! next fork and stays behind as [`monitor`]; its child becomes process 1 and stays behind as [`init`]; the last one
//! becomes the program. Nothing here decides what to do: see [`crate::plan`].

mod census;
mod door;
mod fence;
mod frost;
mod groups;
mod identity;
mod init;
mod layers;
mod line;
mod meter;
mod monitor;
mod mounts;
pub(crate) mod owners;
mod program;
mod terminal;
mod watch;
mod written;
mod zygote;

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::event::{PollFd, PollFlags};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use crate::control::{Answer, Control, Report, Steps, Terms};
use crate::error::StepError;
use crate::request::HostUser;
use crate::step::{LimitedResource, MountFlag, Role, Step};
use crate::sys::{self, Result, Side, Turns};
use groups::Groups;
use layers::{Layers, Upper};
use line::Extension;
use mounts::Site;
use owners::Mappings;
use program::Program;
use watch::Outlook;
use written::Written;
use zygote::Born;

/// The name under which the binary knows that it is the helper.
pub(crate) const HELPER_NAME: &str = "placet-cage";

/// Descriptors below are the standard streams.
const FIRST_OTHER: u32 = 3;

/// Exit code of a helper process that gave up; the launcher reads the report, not this.
const GAVE_UP: i32 = 125;

/// What the steps build on.
struct Entering {
    /// Of a cage whose plan names none.
    user: HostUser,
    control: Control,
    stdin: OwnedFd,
    terms: Terms,
    /// Until process 1 joined them.
    groups: Groups,
    /// Until the monitor took it.
    outlook: Outlook,
    detached: BTreeMap<PathBuf, OwnedFd>,
    uppers: BTreeMap<PathBuf, Upper>,
    /// Kept by process 1 until the end.
    locks: Vec<OwnedFd>,
    mappings: Mappings,
    site: Option<Site>,
    program: Option<Program>,
    /// In process 1: closes when the monitor wants the end, or is gone.
    line: Option<Extension>,
    /// In process 1: adds to what the monitor knows about writing.
    written: Option<Written>,
    /// The program could not be started. Set by the last process, read by process 1, whose memory it shares until then.
    gave_up: bool,
}

/// Runs the zygote, or the helper it became, to its end.
pub(crate) fn run() -> ! {
    let Ok(Born { control, steps }) = zygote::serve() else { sys::exit_now(GAVE_UP) };
    begin(&control, &steps);
    let Ok((plan, stdin)) = control.receive_plan() else { sys::exit_now(GAVE_UP) };
    let Ok((terms, mut steps)) = plan.read() else { sys::exit_now(GAVE_UP) };
    Entering::new(control, stdin, terms).follow(&mut steps)
}

/// While the launcher looks at the host.
fn begin(control: &Control, steps: &[Step]) {
    for step in steps {
        if let Err(errno) = prepare(step) {
            // When the launcher is gone there is nobody left to tell.
            let _ = control.send(&failed(step, errno), &[]);
            sys::exit_now(GAVE_UP);
        }
    }
}

/// Steps that need nothing of what a request brings.
#[expect(clippy::wildcard_enum_match_arm, reason = "a new step needs a request until somebody says otherwise")]
fn prepare(step: &Step) -> Result<()> {
    match step {
        Step::NewSession => new_session(),
        Step::OfferToOomKiller { points } => identity::offer_to_oom_killer(*points),
        Step::FreshKeyring => identity::fresh_keyring(),
        Step::Unshare { namespaces } => identity::unshare(namespaces),
        Step::MapUser { inside, outside } => identity::map_user(*inside, *outside),
        Step::Loopback => identity::loopback_up(),
        _ => Err(Errno::INVAL),
    }
}

fn failed(step: &Step, errno: Errno) -> Report {
    Report::Failed(StepError { step: step.kind(), action: step.to_string(), errno: errno.raw_os_error() })
}

/// Points standard streams at nothing.
fn quiet(streams: &[i32]) -> Result<()> {
    let null = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    streams.iter().try_for_each(|stream| sys::replace_stdio(null.as_fd(), *stream))
}

impl Entering {
    fn new(control: Control, stdin: OwnedFd, terms: Terms) -> Self {
        Self {
            user: HostUser::of_helper(rustix::process::getpid().as_raw_nonzero().get().unsigned_abs()),
            control,
            stdin,
            terms,
            groups: Groups::default(),
            outlook: Outlook::default(),
            detached: BTreeMap::new(),
            uppers: BTreeMap::new(),
            locks: Vec::new(),
            mappings: Mappings::default(),
            site: None,
            program: None,
            line: None,
            written: None,
            gave_up: false,
        }
    }

    /// Takes steps until one of them makes this process something else, or fails.
    fn follow(&mut self, steps: &mut Steps<'_>) -> ! {
        while let Some(Ok(step)) = steps.next() {
            let step = step.assigned_to(self.user);
            if let Err(errno) = self.take(&step, steps) {
                self.leave(&failed(&step, errno));
            }
        }
        // A plan ends with Exec, which does not return; one that does not, or cannot be read, is no plan.
        self.gave_up = true;
        sys::exit_now(GAVE_UP)
    }

    /// Takes one; those behind it are for a child that shares this process' memory.
    fn take(&mut self, step: &Step, behind: &mut Steps<'_>) -> Result<()> {
        match step {
            Step::NewSession
            | Step::OfferToOomKiller { .. }
            | Step::FreshKeyring
            | Step::Unshare { .. }
            | Step::MapUser { .. }
            | Step::Loopback => prepare(step),
            Step::OpenGroups { directories } => {
                self.groups = Groups::open(directories)?;
                Ok(())
            }
            Step::Watch { written } => {
                self.outlook = Outlook::open(written)?;
                Ok(())
            }
            Step::OwnStdio { user } => identity::own_stdio(&self.stdin, *user),
            Step::Detach(detach) => {
                let tree = mounts::detach(detach, &mut self.mappings)?;
                self.detached.insert(detach.at.clone(), tree);
                Ok(())
            }
            Step::DetachUpper(detach) => {
                let upper = layers::detach_upper(detach, &mut self.mappings)?;
                self.uppers.insert(detach.at.clone(), upper);
                Ok(())
            }
            Step::DropUser { user } => identity::drop_user(*user),
            Step::MakeScratch { at, size_bytes, flags } => {
                let scratch = mounts::make_scratch(*size_bytes, flags)?;
                self.outlook.add_scratch(&scratch, *size_bytes)?;
                self.detached.insert(at.clone(), scratch);
                Ok(())
            }
            Step::Fork { into: Role::Init } => monitor::fork_init(self),
            Step::Fork { into: Role::Command } => init::fork_command(self, behind),
            Step::JoinGroups => std::mem::take(&mut self.groups).join(),
            Step::PrivateMounts => mounts::make_private(),
            Step::MountRoot { size_bytes } => {
                self.site = Some(mounts::mount_root(*size_bytes)?);
                Ok(())
            }
            Step::MakeDirectory { at } => mounts::make_directory(self.root()?, at),
            Step::MakeFile { at, text } => mounts::make_file(self.root()?, at, text),
            Step::MakeLink { at, target } => mounts::make_link(self.root()?, at, target),
            Step::Attach { at } => {
                let tree = self.detached.remove(at).ok_or(Errno::NOENT)?;
                mounts::attach(&tree, self.root()?, at)
            }
            Step::MountLayers { at, flags, skeleton } => self.mount_layers(at, flags, skeleton),
            Step::Rebind { at, flags } => mounts::rebind(self.root()?, at, flags),
            Step::Blank { at } => mounts::blank(self.site()?, at),
            Step::MountProc { at } => mounts::mount_proc(self.root()?, at),
            Step::Freeze { at } => mounts::freeze(self.root()?, at),
            Step::Mask { at } => mounts::mask(self.site()?, at),
            Step::SealRoot => mounts::seal_root(self.root()?),
            Step::PivotRoot => {
                let site = self.site.take().ok_or(Errno::NOENT)?;
                mounts::pivot(&site.root)
            }
            Step::Hostname { name } => rustix::system::sethostname(name.as_bytes()),
            Step::Door { port } => door::open(&self.control, *port),
            Step::DropCapabilities => identity::drop_capabilities(),
            Step::NoNewPrivileges => rustix::thread::set_no_new_privs(true),
            Step::Undumpable => identity::become_undumpable(),
            Step::ResetProcess => reset_process(),
            Step::Stdio => sys::replace_stdio(self.stdin.as_fd(), 0),
            Step::Terminal => terminal::take(&self.stdin),
            Step::Limit { resource, value } => limit(*resource, *value),
            Step::ChangeDirectory { to } => rustix::process::chdir(to.as_path()),
            Step::OpenProgram { name, path } => self.open_program(name, path),
            Step::CloseDescriptors => sys::close_on_exec_from(FIRST_OTHER),
            Step::Landlock { writable } => fence::landlock(writable),
            Step::Seccomp { refused } => fence::seccomp(refused),
            Step::Exec { argv, env } => self.exec(argv, env),
        }
    }

    /// Reports why this process ends, and ends it; the others follow.
    fn leave(&mut self, last_words: &Report) -> ! {
        // When the launcher is gone there is nobody left to tell, and the end is the same.
        let _ = self.control.send(last_words, &[]);
        self.gave_up = true;
        sys::exit_now(GAVE_UP)
    }

    fn site(&self) -> Result<&Site> {
        self.site.as_ref().ok_or(Errno::NOENT)
    }

    fn root(&self) -> Result<&OwnedFd> {
        self.site().map(|site| &site.root)
    }

    fn mount_layers(&mut self, at: &Path, flags: &[MountFlag], skeleton: &[PathBuf]) -> Result<()> {
        let lower = self.detached.remove(at).ok_or(Errno::NOENT)?;
        let layers = Layers { lower, upper: self.uppers.remove(at), skeleton };
        let site = self.site()?;
        let mount = layers::mount_layers(&site.stage, &layers, flags)?;
        mounts::attach(&mount, &site.root, at)?;
        self.locks.extend(layers.upper.map(Upper::into_lock));
        Ok(())
    }

    fn open_program(&mut self, name: &str, path: &[String]) -> Result<()> {
        let Some(program) = Program::find(name, path)? else {
            self.leave(&Report::NoProgram { name: name.to_owned() });
        };
        self.control.send(&Report::Program { paths: program.paths() }, &program.descriptors())?;
        if self.terms.held {
            self.await_answer()?;
        }
        self.program = Some(program);
        Ok(())
    }

    /// Without an answer the launcher is gone or refuses: this process ends, and with it the cage. Process 1 stands still
    /// until then, so the end that the monitor wants is looked for here too.
    fn await_answer(&self) -> Result<()> {
        let line = self.line.as_ref().ok_or(Errno::NOENT)?;
        let mut watched = [PollFd::new(&self.control, PollFlags::IN), PollFd::new(line, PollFlags::IN)];
        rustix::io::retry_on_intr(|| rustix::event::poll(&mut watched, None))?;
        if watched[0].revents().is_empty() {
            return Err(Errno::CANCELED);
        }
        match self.control.receive::<Answer>()? {
            Some((Answer::Go, _)) => Ok(()),
            // Nobody can ask for that before the program runs.
            Some((Answer::Freeze, _)) | None => Err(Errno::CANCELED),
        }
    }

    fn exec(&self, argv: &[String], env: &[String]) -> Result<()> {
        let program = self.program.as_ref().ok_or(Errno::NOENT)?;
        let env: std::result::Result<Vec<CString>, _> = env.iter().map(|each| CString::new(each.as_str())).collect();
        let argv = program.arguments(argv).ok_or(Errno::INVAL)?;
        Err(sys::exec_fd(program.executable(), &argv, &env.map_err(|_| Errno::INVAL)?))
    }
}

/// Neither a spawned nor a forked process leads a group, so this cannot be refused.
fn new_session() -> Result<()> {
    rustix::process::setsid().map(drop)
}

/// What signals do was reset by the zygote; process 1 blocks one. The program waits for its turn like everybody else.
fn reset_process() -> Result<()> {
    rustix::process::umask(Mode::WGRP | Mode::WOTH);
    // Refused only where the zygote was refused.
    let _ = sys::take_turns(Turns::Usual);
    sys::unblock_signals()
}

fn limit(resource: LimitedResource, value: u64) -> Result<()> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let (resource, grace) = match resource {
        LimitedResource::CpuSeconds => (Resource::Cpu, 1),
        LimitedResource::DataBytes => (Resource::Data, 0),
        LimitedResource::Processes => (Resource::Nproc, 0),
        LimitedResource::OpenFiles => (Resource::Nofile, 0),
        LimitedResource::FileBytes => (Resource::Fsize, 0),
        LimitedResource::CoreBytes => (Resource::Core, 0),
        LimitedResource::LockedBytes => (Resource::Memlock, 0),
        LimitedResource::QueueBytes => (Resource::Msgqueue, 0),
    };
    // Never above what the caller has: raising needs a right the cage does not have, and a lower limit is no failure.
    let ceiling = getrlimit(resource).maximum.unwrap_or(u64::MAX);
    let (soft, hard) = (value.min(ceiling), value.saturating_add(grace).min(ceiling));
    setrlimit(resource, Rlimit { current: Some(soft), maximum: Some(hard) })
}

/// Splits the process. In the parent, `stay` takes over and never returns.
fn fork_leaving(stay: impl FnOnce(rustix::process::Pid)) -> Result<()> {
    match sys::fork()? {
        Side::Child => Ok(()),
        Side::Parent(child) => {
            stay(child);
            sys::exit_now(0)
        }
    }
}
