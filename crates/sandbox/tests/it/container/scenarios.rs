//! What a container promises, with an engine: the scenarios of the cage that have the same meaning there.

use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use placet_sandbox::container::{Engine, EngineError, EngineKind, LABEL};
use placet_sandbox::{Backend, Exit, LimitKind, Limits, Outcome, Profile, Request, Rules, Running, SandboxError, Tier};

use super::engine::{self, IMAGE, connect};
use crate::harness::tests;
use crate::world::{Ran, Workspace, alive, eventually, limits, marker, probe, profile, sh};

tests![
    output_input_and_code_come_back,
    a_signal_comes_back,
    large_output_arrives_whole_and_apart,
    the_walls_stand,
    the_view_is_the_cages,
    refused_calls_answer_with_their_code,
    there_is_no_network,
    a_workspace_is_written_by_the_commands_user_and_can_be_read_only,
    c5_the_wall_clock_ends_it_and_names_itself,
    memory_ends_it_and_names_itself,
    output_beyond_the_limit_ends_it,
    processes_and_files_are_limited,
    c5_processor_time_ends_it_and_names_itself,
    c5_what_is_written_to_the_workspace_counts,
    a_killer_ends_the_tree,
    dropping_it_ends_it,
    killing_too_late_changes_nothing,
    a_caller_can_refuse_what_it_sees_before_it_runs,
    an_absent_program_is_told,
    nothing_is_left_behind,
    containers_of_a_killed_caller_are_collected_by_the_next_start,
    an_absent_image_is_told,
    the_engine_is_reported,
    a_cycle_is_measured,
];

/// Tells this binary to launch a container and wait to be killed.
pub(crate) const ABANDON_FLAG: &str = "--abandon-container";

fn start(request: Request) -> Running {
    start_in(&profile(), request)
}

#[track_caller]
fn start_in(profile: &Profile, request: Request) -> Running {
    match connect().launch(profile, request) {
        Ok(running) => running,
        Err(error) => panic!("not launched: {error} ({error:?})"),
    }
}

#[track_caller]
fn run(request: Request) -> Ran {
    let (Outcome { exit, usage }, output) = start(request).collect().expect("an outcome");
    let text = |bytes| String::from_utf8(bytes).expect("text");
    Ran { exit, stdout: text(output.stdout), stderr: text(output.stderr), usage }
}

/// Containers with our label that belong to this process.
fn own_containers() -> Vec<String> {
    let mut stream = std::os::unix::net::UnixStream::connect(engine::socket()).expect("the engine");
    let filter = format!("%7B%22label%22%3A%5B%22{LABEL}%22%5D%7D");
    let request = format!("GET /containers/json?all=1&filters={filter} HTTP/1.0\r\nHost: x\r\n\r\n");
    std::io::Write::write_all(&mut stream, request.as_bytes()).expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let own = format!("-{}-", std::process::id());
    answer.split('"').filter(|word| word.starts_with("placet-cage-") && word.contains(&own)).map(Into::into).collect()
}

fn output_input_and_code_come_back() {
    let ran = run(sh("cat; echo no >&2; exit 3").stdin("said\n"));
    assert_eq!((ran.exit, ran.stdout.as_str(), ran.stderr.as_str()), (Exit::Code(3), "said\n", "no\n"));
    assert!(ran.usage.wall_ms > 0);
}

fn a_signal_comes_back() {
    assert_eq!(run(sh("kill -TERM $$")).exit, Exit::Signal(libc::SIGTERM));
}

fn large_output_arrives_whole_and_apart() {
    let ran = run(sh("dd if=/dev/zero bs=64k count=16 2>/dev/null; dd if=/dev/zero bs=64k count=8 >&2 2>/dev/null"));
    assert_eq!((ran.exit, ran.stdout.len(), ran.stderr.len()), (Exit::Code(0), 1 << 20, 1 << 19));
}

fn the_walls_stand() {
    let status = run(sh("cat /proc/self/status; id -u; touch /bin/x 2>&1; touch /x 2>&1")).stdout;
    for line in ["CapEff:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2", "1000"] {
        assert!(status.lines().any(|each| each == line), "{line} is missing in {status}");
    }
    assert_eq!(status.matches("Read-only file system").count(), 2, "{status}");
}

fn the_view_is_the_cages() {
    let script =
        "ls -A /sys; cat /proc/cmdline; touch /tmp/a /home/agent/a /dev/shm/a && echo writable; echo $HOME $PATH";
    let path = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin";
    assert_eq!(run(sh(script)).succeeded(), format!("writable\n/home/agent {path}\n"));
    let refused = run(sh("dd if=/dev/zero of=/home/agent/x bs=1M count=100 2>&1; touch /run/x 2>&1"));
    assert!(refused.stdout.contains("No space left"), "{refused:?}");
    assert!(refused.stdout.contains("/run/x: Permission denied"), "{refused:?}");
}

fn refused_calls_answer_with_their_code() {
    // Engines do not answer calls of another architecture, they end whoever makes them.
    let native = crate::syscalls::EXPECTED.replace("x32_getpid ENOSYS\n", "");
    assert_eq!(run(probe("syscalls", &["x32_getpid"])).succeeded(), native);
    assert_eq!(run(probe("syscalls", &[])).exit, Exit::Signal(libc::SIGSYS));
}

fn there_is_no_network() {
    let tried = run(probe("connect", &["9", "nobody", "/nowhere"])).succeeded();
    assert!(tried.contains("far ENETUNREACH"), "{tried}");
}

fn a_workspace_is_written_by_the_commands_user_and_can_be_read_only() {
    let workspace = Workspace::new().with("given", "text");
    let request = || sh("cat given; echo more >> given && echo made > new").workspace(workspace.path());
    assert_eq!(run(request()).succeeded(), "text");
    let made = std::fs::metadata(workspace.file("new")).expect("it was made");
    assert_ne!(made.uid(), 0);
    std::fs::remove_file(workspace.file("new")).expect("removed");
    let ran = run(request().rules(Rules::read_only()));
    assert_eq!(ran.stdout, "textmore\n");
    assert!(ran.stderr.contains("Read-only file system"), "{ran:?}");
    assert!(!workspace.file("new").exists());
}

fn c5_the_wall_clock_ends_it_and_names_itself() {
    let began = Instant::now();
    let exit = run(sh("sleep 60").limits(Limits { wall_ms: 300, ..limits() })).exit;
    assert!(matches!(exit, Exit::Limit { which: LimitKind::WallClock, limit: 300, .. }), "{exit:?}");
    assert!(began.elapsed() < Duration::from_secs(20));
}

fn memory_ends_it_and_names_itself() {
    let small = Limits { memory_bytes: 32 << 20, ..limits() };
    let exit = run(probe("touch_memory", &["200000000"]).limits(small)).exit;
    // Podman learns of it only from version 2 of control groups; then it is a signal that nobody explains.
    let told = connect().facts().kind == EngineKind::Docker || Path::new("/sys/fs/cgroup/cgroup.controllers").exists();
    let named = matches!(exit, Exit::Limit { which: LimitKind::Memory, limit: 33_554_432, .. });
    assert!(named || (!told && exit == Exit::Signal(libc::SIGKILL)), "{exit:?}");
}

fn output_beyond_the_limit_ends_it() {
    let ran = run(sh("yes").limits(Limits { output_bytes: 10_000, ..limits() }));
    assert!(matches!(ran.exit, Exit::Limit { which: LimitKind::Output, limit: 10_000, .. }), "{:?}", ran.exit);
    assert_eq!(ran.stdout.len(), 10_000);
}

fn processes_and_files_are_limited() {
    let few = Limits { pids: 8, open_files: 32, file_bytes: 1 << 20, ..limits() };
    let ran = run(sh("for i in 1 2 3 4 5 6 7 8 9 10 11 12; do sleep 5 & done; echo all").limits(few));
    assert!(ran.stderr.contains("can't fork"), "{ran:?}");
    let files = run(probe("open_files", &[]).limits(few)).succeeded();
    assert!(files.trim().parse::<u32>().is_ok_and(|count| count <= 32), "{files}");
    let exit = run(sh("exec dd if=/dev/zero of=/tmp/x bs=64k count=64").limits(few)).exit;
    assert!(matches!(exit, Exit::Limit { which: LimitKind::FileBytes, .. }), "{exit:?}");
}

fn c5_processor_time_ends_it_and_names_itself() {
    let short = Limits { cpu_seconds: 1, ..limits() };
    // Several short-lived processes, none of which has used much.
    let exit = run(sh("while true; do for i in 1 2 3 4 5 6 7 8 9; do true | cat; done; done").limits(short)).exit;
    assert!(matches!(exit, Exit::Limit { which: LimitKind::Cpu, limit: 1_000, .. }), "{exit:?}");
}

fn c5_what_is_written_to_the_workspace_counts() {
    let workspace = Workspace::on_disk();
    let little = Limits { disk_bytes: 8 << 20, file_bytes: 4 << 20, ..limits() };
    let script = "i=0; while true; do i=$((i+1)); dd if=/dev/zero of=f$i bs=1M count=2 2>/dev/null; sleep 0.02; done";
    let exit = run(sh(script).workspace(workspace.path()).limits(little)).exit;
    assert!(matches!(exit, Exit::Limit { which: LimitKind::Disk, .. }), "{exit:?}");
}

fn a_killer_ends_the_tree() {
    let word = marker();
    let running = start(sh(&format!("trap '' TERM; sleep {word} & sleep {word}")));
    let killer = running.killer();
    eventually("it runs", || alive(&word));
    let thread = std::thread::spawn(move || killer.kill());
    assert_eq!(running.wait().expect("an outcome").exit, Exit::Cancelled);
    thread.join().expect("the thread ends");
    assert!(!alive(&word));
    assert_eq!(own_containers(), Vec::<String>::new());
}

fn dropping_it_ends_it() {
    let word = marker();
    let running = start(Request::new(["sleep", word.as_str()]));
    eventually("it runs", || alive(&word));
    drop(running);
    assert!(!alive(&word));
    assert_eq!(own_containers(), Vec::<String>::new());
}

fn killing_too_late_changes_nothing() {
    let running = start(Request::new(["true"]));
    let killer = running.killer();
    std::thread::sleep(Duration::from_secs(2));
    killer.kill();
    assert_eq!(running.wait().expect("an outcome").exit, Exit::Code(0));
    killer.kill();
}

fn a_caller_can_refuse_what_it_sees_before_it_runs() {
    let mut seen = Vec::new();
    let refused = connect().launch_if(&profile(), Request::new(["true"]), &mut |program| {
        let mut file = program.files()[0].file();
        file.read_to_end(&mut seen).expect("the program");
        Err("not this one".into())
    });
    assert!(matches!(refused, Err(SandboxError::ProgramRefused(why)) if why == "not this one"));
    assert!(seen == std::fs::read("/bin/busybox").expect("busybox"), "the program behind the links");
    assert_eq!(own_containers(), Vec::<String>::new());
}

fn an_absent_program_is_told() {
    let refused = connect().launch(&profile(), Request::new(["no-such-program"]));
    assert!(matches!(refused, Err(SandboxError::ProgramNotFound(name)) if name == "no-such-program"));
    assert_eq!(own_containers(), Vec::<String>::new());
}

fn nothing_is_left_behind() {
    for script in ["true", "exit 1", "(setsid sleep 600 &); true"] {
        run(sh(script));
        assert_eq!(own_containers(), Vec::<String>::new(), "{script}");
    }
}

fn containers_of_a_killed_caller_are_collected_by_the_next_start() {
    let word = marker();
    let in_container = format!("{word}0");
    let mut caller = caller(&word);
    eventually("the container runs", || alive(&in_container));
    caller.kill().expect("killed");
    caller.wait().expect("reaped");
    assert!(alive(&in_container), "a container outlives its caller");
    connect();
    assert!(!alive(&in_container));
}

fn caller(word: &str) -> Child {
    let own = std::env::current_exe().expect("the path of this binary");
    Command::new(own).arg(ABANDON_FLAG).arg(engine::socket()).arg(word).stdout(Stdio::null()).spawn().expect("a caller")
}

/// In the process that is going to be killed.
pub(crate) fn launch_and_wait_to_be_killed(socket: &str, word: &str) -> ExitCode {
    let engine = Engine::connect(socket, IMAGE).expect("the engine");
    let running = engine.launch(&profile(), Request::new(["sleep".to_owned(), format!("{word}0")]));
    std::thread::sleep(Duration::from_secs(60));
    drop(running);
    ExitCode::FAILURE
}

fn an_absent_image_is_told() {
    let refused = Engine::connect(engine::socket(), "no-such-image").map(drop);
    assert!(matches!(refused, Err(SandboxError::Engine(EngineError::Image { .. }))), "{refused:?}");
}

fn the_engine_is_reported() {
    let report = connect().probe();
    assert!(matches!(report.tier, Tier::Degraded { .. }), "{report:?}");
}

/// Not a limit, a figure for the reader of the output.
fn a_cycle_is_measured() {
    let engine = connect();
    let cycle = || {
        let began = Instant::now();
        engine.launch(&profile(), Request::new(["true"])).expect("launched").wait().expect("an outcome");
        began.elapsed().as_millis()
    };
    let mut cycles: Vec<_> = (0..10).map(|_| cycle()).collect();
    cycles.sort_unstable();
    eprintln!("launch, run and remove, in ms: least {}, median {}, most {}", cycles[0], cycles[5], cycles[9]);
    assert_eq!(own_containers(), Vec::<String>::new());
}
