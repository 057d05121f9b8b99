//! EXECUTE: spends the permit and runs the approved bytes in a cage.

use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, NotTaken, NotTakenBecause, Usage};
use placet_domain::permit::{Fitting, Permit};
use placet_domain::proposal::{ActionSpec, Limits};
use placet_domain::time::Timestamp;
use placet_sandbox::{Killer, Launcher, Output, Profile, Profiles, Program, Request, Running};
use placet_workspace::TreePath;
use sha2::{Digest as _, Sha256};

use crate::collect::{Collected, Piece, collect};
use crate::tap::Tap;
use crate::way_out::{self, Served, Told, WayOut};
use crate::workspace::Workspace;

/// What an execution left, before it is uploaded.
#[derive(Debug)]
pub(crate) struct Execution {
    pub(crate) permit: Permit,
    pub(crate) started_at: Timestamp,
    pub(crate) finished_at: Timestamp,
    pub(crate) exit: Exit,
    pub(crate) usage: Usage,
    pub(crate) program: Option<Digest>,
    pub(crate) pieces: Vec<Piece>,
    /// Declared outputs that are not evidence, and changes outside of the scope.
    pub(crate) not_taken: Vec<NotTaken>,
}

/// A way to end the execution from outside, before or after it began.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cancel(Arc<Mutex<Cancelling>>);

#[derive(Debug, Default)]
struct Cancelling {
    asked: bool,
    killer: Option<Killer>,
}

impl Cancel {
    pub(crate) fn now(&self) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        state.asked = true;
        if let Some(killer) = &state.killer {
            killer.kill();
        }
    }

    fn watch(&self, killer: Killer) {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if state.asked {
            killer.kill();
        }
        state.killer = Some(killer);
    }
}

/// What others hold of an execution while it runs: how it is ended, what it says, and whom it reaches.
#[derive(Clone, Default)]
pub(crate) struct Reins {
    pub(crate) cancel: Cancel,
    pub(crate) tap: Tap,
    pub(crate) way_out: Option<WayOut>,
}

/// What the list of requests is called among the evidence.
const REQUESTS: &str = "network.jsonl";

/// Runs the action of a fitting permit. Blocking: call it where blocking is fine.
pub(crate) fn execute(fitting: Fitting, mut workspace: Workspace, profiles: &Profiles, reins: &Reins) -> Execution {
    let (permit, sealed) = fitting.spend();
    let spec = sealed.spec();
    let started_at = now();
    let Ran { exit, usage, program, output, told } = run(spec, &workspace, profiles, reins);
    let finished_at = now().max(started_at);
    let requests = told.map(|told| Piece { name: REQUESTS.to_owned(), bytes: told.lines });
    // Runs before the collection, so that undone changes do not become evidence.
    let settled = workspace.settle();
    let Collected { pieces, mut not_taken } = collect(spec, &workspace, output);
    let undone = settled.as_ref().map_or(&[][..], Vec::as_slice);
    not_taken.extend(undone.iter().take(MOST_OUTSIDE).map(outside_scope));
    let exit = match settled.as_ref().err().filter(|_| exit.is_success()) {
        Some(error) => Exit::Refused { why: format!("what it changed cannot be looked at: {error}") },
        None => judged(exit, &not_taken, undone.len()),
    };
    let pieces = pieces.into_iter().chain(requests).collect();
    Execution { permit, started_at, finished_at, exit, usage, program, pieces, not_taken }
}

/// Limit of paths outside of the scope that are listed; a program can make any number.
const MOST_OUTSIDE: usize = 100;

/// Limit of one reported path in bytes.
const MOST_PATH_BYTES: usize = 1_000;

/// Limit of all reported paths as JSON in bytes, well below the control plane's limit for a report.
const MOST_PATHS_BYTES: usize = 64 << 10;

/// Limit of paths in the reason, which people read in a list.
const MOST_IN_REASON: usize = 5;

fn outside_scope(path: &TreePath) -> NotTaken {
    NotTaken { path: path.to_string(), why: NotTakenBecause::OutsideScope }
}

/// Shortens the paths of a report, and leaves out those beyond the limit: a program must not make its report too large
/// to be taken. The reason counts all of them, so judge the exit first.
pub(crate) fn bounded(not_taken: Vec<NotTaken>) -> Vec<NotTaken> {
    let cut = |file: NotTaken| NotTaken { path: cut_path(file.path), ..file };
    let fits = |total: &mut usize, file: NotTaken| {
        *total += serde_json::to_string(&file.path).map_or(MOST_PATHS_BYTES, |json| json.len());
        (*total <= MOST_PATHS_BYTES).then_some(file)
    };
    not_taken.into_iter().map(cut).scan(0, fits).collect()
}

fn cut_path(path: String) -> String {
    if path.len() <= MOST_PATH_BYTES {
        return path;
    }
    let end = path.floor_char_boundary(MOST_PATH_BYTES - '…'.len_utf8());
    format!("{}…", &path[..end])
}

/// Turns a successful exit into a failure if a result is not the approved one.
pub(crate) fn judged(exit: Exit, not_taken: &[NotTaken], undone: usize) -> Exit {
    if !exit.is_success() {
        return exit;
    }
    let failing: Vec<&NotTaken> = not_taken.iter().filter(|file| file.why.fails()).collect();
    if failing.is_empty() {
        return exit;
    }
    let named = failing.iter().take(MOST_IN_REASON).map(|file| format!("`{}` {}", file.path, file.why.in_words()));
    let named = named.collect::<Vec<_>>().join(", ");
    let all = failing.len() + undone.saturating_sub(MOST_OUTSIDE);
    let more = match all.saturating_sub(MOST_IN_REASON) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Exit::Refused { why: shortened(format!("{named}{more}")) }
}

/// Shortens a reason, because it is stored in the ledger and a program's paths may be long.
fn shortened(why: String) -> String {
    why.chars().take(MOST_REASON_CHARACTERS).collect()
}

/// A quarter of the domain's limit, which counts bytes.
const MOST_REASON_CHARACTERS: usize = 480;

/// What is reported of an action that this worker does not start. Its permit is consumed here, redeemed or not.
pub(crate) fn decline(fitting: Fitting, why: String) -> Execution {
    let ((permit, _), moment) = (fitting.spend(), now());
    let (usage, pieces, not_taken) = (Usage::default(), Vec::new(), Vec::new());
    Execution {
        permit,
        started_at: moment,
        finished_at: moment,
        exit: Exit::NotStarted { why },
        usage,
        program: None,
        pieces,
        not_taken,
    }
}

/// How it went.
struct Ran {
    exit: Exit,
    usage: Usage,
    program: Option<Digest>,
    output: Output,
    /// What went through its way out, if it had one.
    told: Option<Told>,
}

impl Ran {
    fn not_started(why: String, program: Option<Digest>) -> Self {
        let (usage, output) = (Usage::default(), Output::default());
        Self { exit: Exit::NotStarted { why }, usage, program, output, told: None }
    }

    /// Whatever became of the cage: what went through its way out is told.
    fn of(caged: Result<Caged, Failed>, program: Option<Digest>) -> Self {
        let traffic = |told: &Option<Told>| told.as_ref().map(|told| told.traffic);
        match caged {
            Ok(Caged { outcome, output, told }) => {
                let usage = Usage { network: traffic(&told), ..usage(outcome.usage) };
                Self { exit: exit(outcome.exit), usage, program, output, told }
            }
            Err(Failed { why, told }) => {
                let usage = Usage { network: traffic(&told), ..Usage::default() };
                Self { usage, told, ..Self::not_started(why, program) }
            }
        }
    }
}

fn run(spec: &ActionSpec, workspace: &Workspace, profiles: &Profiles, reins: &Reins) -> Ran {
    let mut program = None;
    let Some(profile) = profiles.get(&spec.profile) else {
        let why = format!("this worker has no profile `{}`, only {}", spec.profile, profiles.listed());
        return Ran::not_started(why, program);
    };
    let caged = cage(spec, profile, workspace, reins, &mut program);
    Ran::of(caged, program)
}

struct Caged {
    outcome: placet_sandbox::Outcome,
    output: Output,
    told: Option<Told>,
}

/// Why there is nothing to show of a cage, and what went through its way out nevertheless.
struct Failed {
    why: String,
    told: Option<Told>,
}

impl From<String> for Failed {
    fn from(why: String) -> Self {
        Self { why, told: None }
    }
}

fn cage(
    spec: &ActionSpec,
    profile: &Profile,
    workspace: &Workspace,
    reins: &Reins,
    program: &mut Option<Digest>,
) -> Result<Caged, Failed> {
    let request = Request::new(spec.argv.iter().cloned()).limits(limits(spec.limits, profile));
    let request = request.workspace(workspace.in_cage()).rules(workspace.rules());
    let request = spec.environment.iter().fold(request, |request, (name, value)| request.env(name, value));
    let launched = Launcher::default().launch_if(profile, with_door(request, reins), |opened| {
        let digest = digest_of(opened).map_err(|error| format!("the program cannot be read: {error}"))?;
        *program = Some(digest);
        match spec.program_digest {
            Some(wanted) if wanted != digest => Err(format!("the program here is {digest}, approved was {wanted}")),
            Some(_) | None => Ok(()),
        }
    });
    let mut running = launched.map_err(|error| chain(&error))?;
    reins.cancel.watch(running.killer());
    let served = open(&mut running, reins.way_out.clone());
    let served = served.map_err(|error| format!("its way out cannot be opened: {error}"))?;
    let collected = running.collect_heard(|stream, bytes| reins.tap.hear(stream, bytes));
    let told = served.map(Served::close);
    match collected {
        Ok((outcome, output)) => Ok(Caged { outcome, output, told }),
        Err(error) => Err(Failed { why: chain(&error), told }),
    }
}

/// What a way out takes, whatever the proposal said of its variables.
fn with_door(request: Request, reins: &Reins) -> Request {
    match &reins.way_out {
        None => request,
        Some(way_out) => way_out.asked_for(request),
    }
}

fn open(running: &mut Running, way_out: Option<WayOut>) -> io::Result<Option<Served>> {
    let Some(way_out) = way_out else { return Ok(None) };
    let door = running.take_door(way_out::PORT).ok_or(io::ErrorKind::NotFound)?;
    way_out.serve(door).map(Some)
}
/// The digest of the very file that is executed, read through the descriptor that is executed.
fn digest_of(program: &Program) -> io::Result<Digest> {
    let Some(first) = program.files().first() else { return Err(io::ErrorKind::NotFound.into()) };
    let mut file: &File = first.file();
    file.rewind()?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(Digest::from_bytes(hash.finalize().into())),
            read => hash.update(&buffer[..read]),
        }
    }
}

/// What was approved, and never more than the profile allows: a team that tightens a profile means every tool in it.
fn limits(asked: Limits, profile: &Profile) -> placet_sandbox::Limits {
    let approved = placet_sandbox::Limits {
        wall_ms: asked.timeout_ms,
        // More processor time than wall time would need several processors in one process.
        cpu_seconds: asked.timeout_ms.div_ceil(1_000).saturating_mul(2),
        memory_bytes: asked.memory_bytes,
        pids: asked.processes,
        file_bytes: asked.file_bytes,
        output_bytes: asked.output_bytes,
        ..profile.limits()
    };
    approved.tightest(profile.limits())
}

fn usage(used: placet_sandbox::Usage) -> Usage {
    let placet_sandbox::Usage { wall_ms, cpu_ms, peak_memory_bytes, max_processes, written_bytes } = used;
    Usage { wall_ms, cpu_ms, peak_memory_bytes, max_processes, written_bytes, network: None }
}

fn exit(exit: placet_sandbox::Exit) -> Exit {
    match exit {
        placet_sandbox::Exit::Code(code) => Exit::Code(code),
        placet_sandbox::Exit::Signal(signal) => Exit::Signal(signal),
        placet_sandbox::Exit::Cancelled => Exit::Cancelled,
        placet_sandbox::Exit::Limit { which, limit, seen } => {
            let which = match which {
                placet_sandbox::LimitKind::WallClock => "timeout_ms",
                placet_sandbox::LimitKind::Cpu => "cpu_ms",
                placet_sandbox::LimitKind::Memory => "memory_bytes",
                placet_sandbox::LimitKind::Processes => "processes",
                placet_sandbox::LimitKind::Disk => "disk_bytes",
                placet_sandbox::LimitKind::FileBytes => "file_bytes",
                placet_sandbox::LimitKind::Output => "output_bytes",
            };
            Exit::Limit { which: which.to_owned(), limit, seen }
        }
    }
}

pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp::from_unix_ms(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use placet_domain::evidence::{Manifest, Traffic};
    use placet_domain::id::{ActionId, IdentityId};
    use uuid::Uuid;

    use super::*;

    #[test]
    fn c5_what_an_action_asked_of_the_network_is_told_also_where_its_output_cannot_be_collected() {
        let told = Told::of(Traffic { requests: 2, ..Traffic::default() }, b"{}\n{}\n".to_vec());
        let ran = Ran::of(Err(Failed { why: "a pipe broke".to_owned(), told: Some(told) }), None);
        assert_eq!(ran.usage.network.map(|traffic| traffic.requests), Some(2));
        assert_eq!(ran.told.map(|told| told.lines), Some(b"{}\n{}\n".to_vec()));
        assert!(matches!(ran.exit, Exit::NotStarted { why } if why == "a pipe broke"));
    }

    #[test]
    fn refused_results_turn_success_into_failure() {
        let file = |path: &str, why| NotTaken { path: path.to_owned(), why };
        let missing = [file("a", NotTakenBecause::Missing)];
        assert_eq!(judged(Exit::Code(0), &missing, 0), Exit::Code(0), "a program may leave less than it declared");
        let link = [file("a", NotTakenBecause::Link), file("Makefile", NotTakenBecause::OutsideScope)];
        let Exit::Refused { why } = judged(Exit::Code(0), &link, 1) else { panic!("it is no success") };
        assert_eq!(why, "`a` is a symbolic link, or lies behind one, `Makefile` is outside of the scope");
        assert_eq!(judged(Exit::Code(3), &link, 1), Exit::Code(3), "its own failure tells more");
        let many = vec![file("x", NotTakenBecause::OutsideScope); 100];
        let Exit::Refused { why } = judged(Exit::Code(0), &many, 250) else { panic!("it is no success") };
        assert!(why.ends_with(" and 245 more"), "{why}");
    }

    #[test]
    fn reported_paths_fit_into_a_report() {
        let long = |name: &[u8]| TreePath::new([&b"d/".repeat(900)[..], name].concat()).unwrap();
        let odd = TreePath::new([0xff; 255]).unwrap();
        let deep: Vec<u8> = [[0xff_u8; 255].as_slice(); 8].join(&b'/');
        let mut not_taken = vec![outside_scope(&odd), outside_scope(&TreePath::new(deep).unwrap())];
        let declared = NotTaken { path: "ü".repeat(2_000), why: NotTakenBecause::Link };
        not_taken.extend((0..100).map(|number: u32| outside_scope(&long(number.to_string().as_bytes()))));
        not_taken.insert(0, declared);
        not_taken.extend(vec![NotTaken { path: "\u{1}".repeat(900), why: NotTakenBecause::OutsideScope }; 100]);
        let exit = judged(Exit::Code(0), &not_taken, 250);
        let listed = bounded(not_taken);
        assert!(listed.len() > 50 && listed.len() < 103, "{}", listed.len());
        assert!(listed.iter().all(|file| file.path.len() <= MOST_PATH_BYTES));
        assert!(listed[0].path.ends_with("ü…"), "{}", listed[0].path);
        let manifest = Manifest {
            v: 1,
            action: ActionId::from_uuid(Uuid::from_u128(1)),
            executed: Digest::of(b"action"),
            attempt: 1,
            worker: IdentityId::from_uuid(Uuid::from_u128(2)),
            started_at: Timestamp::from_unix_ms(1),
            finished_at: Timestamp::from_unix_ms(2),
            exit,
            usage: Usage::default(),
            program: None,
            items: Vec::new(),
            not_taken: listed,
        };
        let sealed = manifest.seal();
        assert_eq!(sealed.check(), Ok(()));
        assert!(sealed.bytes().len() < 100 << 10, "{}", sealed.bytes().len());
    }

    #[test]
    fn an_action_gets_what_was_approved_and_never_more_than_its_profile_allows() {
        let text = "about = \"x\"\nextends = \"default\"\n[limits]\nmemory = { is = \"64MiB\", reason = \"small\" }";
        let profiles = Profiles::with([("small", text)]).unwrap();
        let asked = Limits { timeout_ms: 500, ..Limits::default() };
        let got = limits(asked, profiles.get("small").unwrap());
        assert_eq!((got.wall_ms, got.cpu_seconds, got.memory_bytes), (500, 2, 64 << 20));
        let wide = limits(asked, profiles.get("code_development").unwrap());
        assert_eq!(wide.memory_bytes, asked.memory_bytes, "more than was approved is never given");
    }
}
