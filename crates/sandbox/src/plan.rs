//! Profile, request and facts of the host in; the ordered steps out. Pure: the same input gives the same plan.
//!
//! The one thing that differs between a root caller and an ordinary one is *when* host files are detached. Root does
//! it first and then gives its rights up, so that a workspace below a closed directory can be reached. An ordinary
//! caller has no right to clone mounts before it has its own namespaces, and needs none to open its own files after.

mod layers;
mod rules;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::error::SandboxError;
use crate::group::Controller;
use crate::host::{Entry, EntryKind, HostFacts};
use crate::probe::LANDLOCK_WANTED;
use crate::profile::{Demand, LeastTier, Limits, Mount, MountKind, Profile, Programs};
use crate::request::{HostUser, Input, Request, RequestError};
use crate::step::{Detach, LimitedResource, MountFlag, Namespace, Ownership, Role, Step};
use crate::workspace::{Workspace, overlaps};
use layers::Owners;

/// Where the workspace appears.
pub const WORKSPACE: &str = "/work";

/// Who a command is, in its own eyes.
pub const CAGE_USER: HostUser = HostUser { uid: 1_000, gid: 1_000 };

/// Directories, links and small files only.
const ROOT_BYTES: u64 = 4 << 20;

/// Clearly before anything else, but after what volunteers outright.
const OOM_POINTS: i32 = 500;

/// Without control groups the monitor and process 1 count as processes of the cage's user.
const OWN_PROCESSES: u64 = 2;

/// How many more than the limit the kernel lets start there: a tree that has as many as it may is then told from one
/// that wanted more, which the monitor ends.
const ONE_TOO_MANY: u64 = 1;

/// Directory of certificates, fonts and other settings that our profiles mount. It gets no overlay: only root writes there,
/// and an overlay for each directory would slow down every start.
const SYSTEM_SETTINGS: &str = "/etc";

/// First Landlock version with a right to connect to sockets by path. Cages do not get that right.
const LANDLOCK_REFUSES_SOCKETS: u32 = 9;

const READ_ONLY: &[MountFlag] = &[MountFlag::ReadOnly, MountFlag::NoSuid, MountFlag::NoDevices];
const WRITABLE: &[MountFlag] = &[MountFlag::NoSuid, MountFlag::NoDevices];
const NO_PROGRAMS: &[MountFlag] = &[MountFlag::NoSuid, MountFlag::NoDevices, MountFlag::NoExec];
const DEVICE: &[MountFlag] = &[MountFlag::ReadOnly, MountFlag::NoSuid, MountFlag::NoExec];

/// The view of control groups comes later: it begins at the group the process is in, and only process 1 joins.
/// Those that are entered once the request is known: what the host mounts until then is seen.
const NAMESPACES: [Namespace; 4] = [Namespace::Mount, Namespace::Pid, Namespace::Ipc, Namespace::Uts];

/// Host places that are never mounted on request. `Whole`: neither it nor anything above it, which would contain it.
/// `Within`: nothing inside either.
const NEVER_MOUNTED: &[(&str, Reach, &str)] = &[
    ("/proc", Reach::Within, "it shows processes of the host"),
    ("/sys", Reach::Within, "it controls hardware of the host"),
    ("/dev", Reach::Within, "it holds devices of the host"),
    ("/boot", Reach::Within, "the host starts from it"),
    ("/etc", Reach::Within, "it configures the host"),
    ("/home", Reach::Whole, "it holds everybody's files; name one directory"),
    ("/root", Reach::Whole, "it holds keys and settings of root; name one directory"),
    ("/run", Reach::Whole, "it holds sockets of the host"),
    ("/tmp", Reach::Whole, "it is shared by everybody; name one directory"),
    ("/usr", Reach::Whole, "it is mounted already"),
    ("/var", Reach::Whole, "it holds state of the host; name one directory"),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    Whole,
    Within,
}

pub(crate) fn never_mounted(host: &Path) -> Option<&'static str> {
    let hit = |(place, reach, _): &&(&str, Reach, &str)| {
        Path::new(place).starts_with(host) || (*reach == Reach::Within && host.starts_with(place))
    };
    NEVER_MOUNTED.iter().find(hit).map(|(_, _, reason)| *reason)
}

/// The way into the cage.
pub fn plan(profile: &Profile, request: &Request, facts: &HostFacts) -> Result<Vec<Step>, SandboxError> {
    request.check()?;
    demand(profile, facts)?;
    permit(profile, request)?;
    let host_user = facts.cage_of(request);
    if host_user.is_root() {
        return Err(RequestError::RootUser.into());
    }
    let tree = Tree::of(profile, request, facts)?;
    let mut steps = preparation(facts.caller);
    // While low ports can be had: the network of a root caller's cage belongs to the host's root.
    steps.extend(request.doors.iter().map(|&port| Step::Door { port }));
    if !facts.groups.is_empty() {
        steps.push(Step::OpenGroups { directories: facts.groups.clone() });
    }
    steps.push(Step::Watch { written: written(request) });
    let inside = namespaces(tree.scratch, facts);
    if facts.caller_is_root() {
        steps.push(Step::OwnStdio { user: host_user });
        steps.extend(tree.detach);
        steps.push(Step::DropUser { user: host_user });
        steps.push(Step::Unshare { namespaces: [&[Namespace::User], NAMESPACES.as_slice()].concat() });
        steps.push(Step::MapUser { inside: CAGE_USER, outside: host_user });
        steps.extend(inside);
    } else {
        steps.push(Step::Unshare { namespaces: NAMESPACES.to_vec() });
        steps.extend(inside);
        steps.extend(tree.detach);
    }
    steps.push(Step::MountRoot { size_bytes: ROOT_BYTES });
    steps.extend(tree.build);
    steps.extend([Step::SealRoot, Step::PivotRoot, Step::Hostname { name: profile.hostname.clone().into_owned() }]);
    steps.extend([Step::DropCapabilities, Step::NoNewPrivileges, Step::Undumpable]);
    steps.push(Step::Fork { into: Role::Command });
    steps.extend(command(profile, request, tree.writable, facts));
    Ok(steps)
}

/// The host directories that a cage writes to.
fn written(request: &Request) -> Vec<PathBuf> {
    let workspace = request.workspace.iter().map(|workspace| match workspace {
        Workspace::Direct(host) => host,
        Workspace::Layered(layers) => &layers.upper,
    });
    workspace.chain(request.layers.iter().map(|layer| &layer.layers.upper)).cloned().collect()
}

/// How every plan of a caller begins, whatever is asked for: the helper takes these steps while the host is looked at.
///
/// Root becomes another user later, because host files are detached with rights that are given up then; a network that
/// belongs to the host's root is out of the reach of everybody in the cage.
pub(crate) fn preparation(caller: HostUser) -> Vec<Step> {
    let mut steps = vec![Step::NewSession, Step::OfferToOomKiller { points: OOM_POINTS }, Step::FreshKeyring];
    if caller.is_root() {
        steps.push(Step::Unshare { namespaces: vec![Namespace::Network] });
    } else {
        steps.push(Step::Unshare { namespaces: vec![Namespace::User, Namespace::Network] });
        steps.push(Step::MapUser { inside: CAGE_USER, outside: caller });
    }
    steps.push(Step::Loopback);
    steps
}

/// In the namespaces of the cage. The monitor stays behind at the fork, and keeps the scratch file systems open to see
/// how full they are.
fn namespaces(scratch: Vec<Step>, facts: &HostFacts) -> Vec<Step> {
    let mut steps = scratch;
    steps.push(Step::Fork { into: Role::Init });
    if !facts.groups.is_empty() {
        steps.push(Step::JoinGroups);
    }
    steps.extend([Step::Unshare { namespaces: vec![Namespace::Cgroup] }, Step::PrivateMounts]);
    steps
}

/// What the profile has to say about a request: which doors there may be, and which places are taken.
pub(crate) fn permit(profile: &Profile, request: &Request) -> Result<(), RequestError> {
    let closed = |port: &&u16| profile.doors.as_ref().is_some_and(|open| !open.contains(*port));
    if let Some(&port) = request.doors.iter().find(closed) {
        return Err(RequestError::Door { port, why: "the profile does not allow one there" });
    }
    let taken = |place: &&PathBuf| profile.own_places().any(|own| overlaps(own, place));
    match request.read_only.iter().map(|mount| &mount.cage).find(taken) {
        Some(place) => Err(RequestError::MountedTwice(place.clone())),
        None => Ok(()),
    }
}

/// Fails closed: a cage without a wall the profile demands is not entered.
fn demand(profile: &Profile, facts: &HostFacts) -> Result<(), SandboxError> {
    let lacks = |what: &str, todo: &str| Err(SandboxError::HostLacks { what: what.into(), todo: todo.into() });
    let tree = [Controller::Memory, Controller::Processes, Controller::CpuTime];
    let full = profile.demands == LeastTier::Full;
    if (full || profile.groups == Demand::Required) && !tree.iter().all(|controller| facts.has(*controller)) {
        let todo = "run as root, or in a service with `Delegate=yes`; the host report says what is missing";
        return lacks("limits of the process tree", todo);
    }
    if full && facts.landlock_abi < LANDLOCK_WANTED {
        let todo = "use Linux 6.12 or later, booted with `lsm=landlock,…`, or a profile that demands less";
        return lacks(&format!("Landlock of version {LANDLOCK_WANTED}"), todo);
    }
    match (facts.seccomp, profile.landlock, facts.landlock_abi) {
        (false, _, _) => lacks("seccomp filters", "use a kernel with CONFIG_SECCOMP_FILTER"),
        (true, Demand::Required, 0) => lacks("Landlock", "use Linux 5.13 or later, booted with `lsm=landlock,…`"),
        (true, Demand::Required | Demand::WhereAvailable, _) => Ok(()),
    }
}

/// The last process before the program.
fn command(profile: &Profile, request: &Request, writable: Vec<PathBuf>, facts: &HostFacts) -> Vec<Step> {
    let directory = request.workspace.as_ref().map_or("/tmp", |_| WORKSPACE);
    let streams = match request.stdin {
        Input::Bytes(_) | Input::Pipe => Step::Stdio,
        Input::Terminal => Step::Terminal,
    };
    let mut steps = vec![Step::NewSession, Step::ResetProcess, streams];
    steps.extend(limits(request.limits.unwrap_or(profile.limits), facts));
    steps.extend([
        Step::ChangeDirectory { to: directory.into() },
        Step::OpenProgram { name: request.argv[0].clone(), path: strings(&profile.program_path) },
        Step::CloseDescriptors,
        Step::Landlock { writable },
        Step::Seccomp { refused: profile.syscalls.iter().map(|rule| rule.name.to_owned()).collect() },
        Step::Exec { argv: request.argv.clone(), env: environment(profile, request) },
    ]);
    steps
}

/// Memory and processes are the group's where there is one: a limit per process would refuse first, and then nobody
/// could tell that it was the limit.
fn limits(limits: Limits, facts: &HostFacts) -> impl Iterator<Item = Step> {
    let without = |controller, resource, value| (!facts.has(controller)).then_some((resource, value));
    let processes = limits.pids.saturating_add(OWN_PROCESSES + ONE_TOO_MANY);
    let table = [
        Some((LimitedResource::CpuSeconds, limits.cpu_seconds)),
        without(Controller::Memory, LimitedResource::DataBytes, limits.memory_bytes),
        without(Controller::Processes, LimitedResource::Processes, processes),
        Some((LimitedResource::OpenFiles, limits.open_files)),
        Some((LimitedResource::FileBytes, limits.file_bytes)),
        Some((LimitedResource::CoreBytes, 1)),
        Some((LimitedResource::LockedBytes, 64 << 10)),
        Some((LimitedResource::QueueBytes, 64 << 10)),
    ];
    table.into_iter().flatten().map(|(resource, value)| Step::Limit { resource, value })
}

/// Built from nothing: the profile's variables and those of the request, sorted.
pub(crate) fn environment(profile: &Profile, request: &Request) -> Vec<String> {
    let fixed = profile.env.iter().map(|variable| (variable.name.to_string(), variable.value.to_string()));
    let mut all: std::collections::BTreeMap<String, String> = fixed.collect();
    all.extend(request.env.iter().map(|(name, value)| (name.clone(), value.clone())));
    all.into_iter().map(|(name, value)| format!("{name}={value}")).collect()
}

fn writable(programs: Programs) -> &'static [MountFlag] {
    match programs {
        Programs::Allowed => WRITABLE,
        Programs::Refused => NO_PROGRAMS,
    }
}

fn strings(texts: &[crate::profile::Text]) -> Vec<String> {
    texts.iter().map(|text| text.clone().into_owned()).collect()
}

/// The file system of the cage: what to take from the host, and how to put it together.
#[derive(Default)]
struct Tree {
    detach: Vec<Step>,
    scratch: Vec<Step>,
    build: Vec<Step>,
    writable: Vec<PathBuf>,
    made: BTreeSet<PathBuf>,
    /// What holds for places the command works in.
    work_flags: &'static [MountFlag],
    /// True if Landlock refuses connections to sockets by path.
    landlock_refuses_sockets: bool,
    mount_points: BTreeSet<PathBuf>,
}

impl Tree {
    fn of(profile: &Profile, request: &Request, facts: &HostFacts) -> Result<Self, SandboxError> {
        let mut tree = Self {
            work_flags: writable(profile.programs),
            landlock_refuses_sockets: facts.landlock_abi >= LANDLOCK_REFUSES_SOCKETS,
            mount_points: facts.mount_points.clone(),
            ..Self::default()
        };
        for mount in &profile.mounts {
            tree.mount(mount, facts)?;
        }
        for mount in &request.read_only {
            tree.host_source(&mount.host, &mount.cage, READ_ONLY, Ownership::Kept, facts)?;
        }
        let owners = Owners { facts, cage: facts.cage_of(request), profile: profile.ownership };
        for layer in &request.layers {
            tree.layer(layer, profile, &owners)?;
        }
        if let Some(workspace) = &request.workspace {
            tree.workspace(workspace, &request.rules, &owners)?;
        }
        // Landlock speaks of writing, and a device or a process file is written too.
        tree.writable.extend(["/dev", "/proc"].map(PathBuf::from));
        Ok(tree)
    }

    fn mount(&mut self, mount: &Mount, facts: &HostFacts) -> Result<(), SandboxError> {
        let at = PathBuf::from(mount.at.as_ref());
        match &mount.what {
            MountKind::Host | MountKind::Device => {
                if let Some(entry) = facts.entries.get(&at) {
                    self.host_entry(at, entry);
                }
            }
            MountKind::HostAt(host) => {
                return self.host_source(Path::new(host.as_ref()), &at, READ_ONLY, Ownership::Kept, facts);
            }
            MountKind::Scratch { size_bytes, programs } => self.scratch(at, *size_bytes, *programs),
            MountKind::File(text) => {
                self.parents(&at);
                self.build.push(Step::MakeFile { at, text: text.clone().into_owned() });
            }
            MountKind::Link(target) => self.link(at, PathBuf::from(target.as_ref())),
            MountKind::Directory => self.directory(&at),
            MountKind::Proc => {
                self.directory(&at);
                self.build.push(Step::MountProc { at });
            }
            MountKind::Frozen => self.build.push(Step::Freeze { at }),
            MountKind::Masked => self.build.push(Step::Mask { at }),
        }
        Ok(())
    }

    /// The host's own file of the same name; a link is repeated, so that a merged /usr looks merged inside too.
    fn host_entry(&mut self, at: PathBuf, entry: &Entry) {
        match &entry.kind {
            EntryKind::Link { target } => self.link(at, target.clone()),
            EntryKind::Device => self.source(&at.clone(), at, DEVICE, Ownership::Kept, entry),
            EntryKind::Directory | EntryKind::File => self.source(&at.clone(), at, READ_ONLY, Ownership::Kept, entry),
        }
    }

    fn host_source(
        &mut self,
        host: &Path,
        at: &Path,
        flags: &[MountFlag],
        ownership: Ownership,
        facts: &HostFacts,
    ) -> Result<(), SandboxError> {
        let refuse = |why: &str| SandboxError::Source { path: host.to_owned(), why: why.to_owned() };
        if let Some(reason) = never_mounted(host) {
            return Err(refuse(reason));
        }
        let entry = facts.entries.get(host).ok_or_else(|| refuse("it is neither a file nor a directory"))?;
        match &entry.kind {
            EntryKind::Directory | EntryKind::File => {
                self.source(host, at.to_owned(), flags, ownership, entry);
                Ok(())
            }
            EntryKind::Device => Err(refuse("it is a device")),
            EntryKind::Link { .. } => Err(refuse("it became a symbolic link")),
        }
    }

    fn source(&mut self, host: &Path, at: PathBuf, flags: &[MountFlag], ownership: Ownership, entry: &Entry) {
        if entry.kind == EntryKind::Directory {
            self.directory(&at);
        } else {
            self.parents(&at);
            self.build.push(Step::MakeFile { at: at.clone(), text: String::new() });
        }
        let through_overlay = entry.kind == EntryKind::Directory && flags == READ_ONLY && self.hides_sockets(host);
        let (host, flags, identity) = (host.to_owned(), flags.to_vec(), entry.identity);
        self.detach.push(Step::Detach(Detach { host, identity, at: at.clone(), flags: flags.clone(), ownership }));
        self.build.push(match through_overlay {
            true => Step::MountLayers { at, flags, skeleton: Vec::new() },
            false => Step::Attach { at },
        });
    }

    /// Checks whether a directory is shown through an overlay to hide its sockets. A read-only mount does not prevent
    /// connections to a socket in it, but a socket seen through an overlay is a separate inode without a listener. An
    /// overlay shows one file system, so a directory with other mounts below it is mounted directly.
    fn hides_sockets(&self, host: &Path) -> bool {
        !host.starts_with(SYSTEM_SETTINGS)
            && !self.landlock_refuses_sockets
            && !self.mount_points.iter().any(|point| point != host && point.starts_with(host))
    }

    fn scratch(&mut self, at: PathBuf, size_bytes: u64, programs: Programs) {
        self.directory(&at);
        self.writable.push(at.clone());
        self.scratch.push(Step::MakeScratch { at: at.clone(), size_bytes, flags: writable(programs).to_vec() });
        self.build.push(Step::Attach { at });
    }

    fn link(&mut self, at: PathBuf, target: PathBuf) {
        self.parents(&at);
        self.build.push(Step::MakeLink { at, target });
    }

    fn parents(&mut self, at: &Path) {
        if let Some(parent) = at.parent() {
            self.directory(parent);
        }
    }

    fn directory(&mut self, at: &Path) {
        if at == Path::new("/") || !self.made.insert(at.to_owned()) {
            return;
        }
        self.parents(at);
        self.build.push(Step::MakeDirectory { at: at.to_owned() });
    }
}
