//! Cages that stand still: nothing in them runs, nobody else notices, and they end like any other.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use placet_sandbox::{Exit, FreezeError, Freezer, FrozenBy, Held, Limits, Request, Running};
use rustix::process::{Pid, Signal};

use crate::harness::tests;
use crate::processes::{the_child_of, zygote};
use crate::world::{Workspace, alive, eventually, group_prefix, groups, limits, marker, probe, run, sh, start};

tests![
    c10_while_a_cage_is_frozen_nothing_in_it_runs_and_then_it_goes_on,
    c10_again_and_again_a_tree_that_forks_without_end_stands_still_at_once,
    a_program_that_has_itself_woken_does_not_run_or_is_told_of,
    one_that_stopped_itself_or_listens_for_the_signal_is_frozen_like_others,
    dropping_the_standstill_lets_it_go_on,
    a_frozen_cage_ends_at_once_and_leaves_nothing,
    a_frozen_cage_dies_with_its_caller,
    a_frozen_cage_dies_with_its_helper,
    what_has_ended_or_is_frozen_is_not_frozen_again,
    time_that_a_cage_is_frozen_is_not_time_that_it_used,
    freezing_one_cage_leaves_others_alone,
    connections_through_a_door_wait,
];

/// Tells this binary to freeze a cage and wait to be killed.
pub(crate) const ABANDON_FLAG: &str = "--abandon-frozen";

fn freezer(cage: &Running) -> Freezer {
    cage.freezer().expect("a cage of this backend can be frozen")
}

/// The same request twice: as the caller's host does it best, and by signals where that is not the best already.
fn both(request: impl Fn() -> Request, scenario: impl Fn(Request)) {
    scenario(request().freezable());
    scenario(request());
}

/// Writes and forks without end, and never because of a limit: on a busy machine orphans wait to be reaped.
fn busy() -> Request {
    probe("write_without_end", &[]).limits(Limits { pids: 10_000, disk_bytes: 64 << 30, ..limits() })
}

/// Everything in the workspace.
fn content(of: &Workspace) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(of.path()).expect("a directory").flatten();
    entries
        .map(|entry| (entry.file_name().into_string().expect("a name"), fs::read(entry.path()).unwrap_or_default()))
        .collect()
}

#[track_caller]
fn is_still(workspace: &Workspace) {
    let before = content(workspace);
    sleep(Duration::from_millis(300));
    assert!(content(workspace) == before, "something ran meanwhile");
}

#[track_caller]
fn goes_on(workspace: &Workspace, files: &[&str]) {
    let before = content(workspace);
    eventually("every writer goes on", || {
        let now = content(workspace);
        files.iter().all(|file| now.get(*file).is_some_and(|bytes| before.get(*file).is_none_or(|old| bytes != old)))
    });
}

const WRITERS: [&str; 10] = [
    "main",
    "thread-0",
    "thread-1",
    "thread-2",
    "spawned-0",
    "spawned-1",
    "spawned-2",
    "orphan-0",
    "orphan-1",
    "orphan-2",
];

fn c10_while_a_cage_is_frozen_nothing_in_it_runs_and_then_it_goes_on() {
    both(busy, |request| {
        let workspace = Workspace::new();
        let cage = start(request.workspace(workspace.path()));
        goes_on(&workspace, &WRITERS);
        let frozen = freezer(&cage).freeze().expect("it stands still");
        is_still(&workspace);
        assert_eq!(frozen.thaw().expect("it goes on"), Held::Throughout);
        goes_on(&workspace, &WRITERS);
    });
}

fn c10_again_and_again_a_tree_that_forks_without_end_stands_still_at_once() {
    both(busy, |request| {
        let workspace = Workspace::new();
        let cage = start(request.workspace(workspace.path()));
        goes_on(&workspace, &WRITERS);
        for _ in 0..20 {
            let frozen = match freezer(&cage).freeze() {
                Ok(frozen) => frozen,
                Err(error) => panic!("{error}: {:?}", cage.wait()),
            };
            let before = content(&workspace);
            sleep(Duration::from_millis(10));
            assert!(content(&workspace) == before, "something ran meanwhile");
            match frozen.thaw() {
                Ok(held) => assert_eq!(held, Held::Throughout),
                Err(error) => panic!("{error}: {:?}", cage.wait()),
            }
            sleep(Duration::from_millis(5));
        }
    });
}

/// By a signal that a timer sends. The kernel's own freezer takes no notice of it.
fn a_program_that_has_itself_woken_does_not_run_or_is_told_of() {
    both(
        || probe("wake_by_timer", &[]),
        |request| {
            let workspace = Workspace::new();
            let cage = start(request.workspace(workspace.path()));
            goes_on(&workspace, &["awake"]);
            match freezer(&cage).freeze() {
                Ok(frozen) if frozen.by() == FrozenBy::ControlGroup => {
                    is_still(&workspace);
                    assert_eq!(frozen.thaw().expect("it goes on"), Held::Throughout);
                    goes_on(&workspace, &["awake"]);
                }
                Ok(frozen) => {
                    let before = content(&workspace);
                    sleep(Duration::from_millis(700));
                    // A signal that was on its way when it was stopped is lost, and its timer with it.
                    let still = content(&workspace) == before;
                    let held = frozen.thaw().expect("it goes on");
                    assert!(still || held == Held::NotThroughout, "it ran, and that is not told");
                }
                Err(error) => assert!(matches!(error, FreezeError::Awake), "{error:?}"),
            }
        },
    );
}

fn one_that_stopped_itself_or_listens_for_the_signal_is_frozen_like_others() {
    let script = "trap 'echo again >> heard' CONT; (kill -STOP $(sh -c 'echo $PPID')) & \
                  while :; do echo . >> count; sleep 0.01; done";
    both(
        || sh(script),
        |request| {
            let workspace = Workspace::new();
            let cage = start(request.workspace(workspace.path()));
            goes_on(&workspace, &["count"]);
            for _ in 0..3 {
                let frozen = freezer(&cage).freeze().expect("it stands still");
                is_still(&workspace);
                assert_eq!(frozen.thaw().expect("it goes on"), Held::Throughout);
                goes_on(&workspace, &["count"]);
            }
        },
    );
}

fn dropping_the_standstill_lets_it_go_on() {
    let workspace = Workspace::new();
    let cage = start(busy().workspace(workspace.path()).freezable());
    goes_on(&workspace, &["main"]);
    drop(freezer(&cage).freeze().expect("it stands still"));
    goes_on(&workspace, &WRITERS);
}

fn a_frozen_cage_ends_at_once_and_leaves_nothing() {
    let word = marker();
    both(
        || sh(&format!("trap '' TERM; sleep {word} & setsid sleep {word} & sleep {word}")),
        |request| {
            let cage = start(request);
            eventually("it runs", || alive(&word));
            let frozen = freezer(&cage).freeze().expect("it stands still");
            let (killer, began) = (cage.killer(), Instant::now());
            killer.kill();
            assert_eq!(cage.wait().expect("an outcome").exit, Exit::Cancelled);
            assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
            assert!(!alive(&word));
            assert_eq!(groups(&group_prefix(std::process::id())), Vec::<std::path::PathBuf>::new());
            assert!(matches!(frozen.thaw(), Err(FreezeError::Ended)));
        },
    );
}

/// In the process that is going to be killed.
pub(crate) fn freeze_and_wait_to_be_killed(word: &str) -> ExitCode {
    let cage = start(Request::new(["sleep".to_owned(), format!("{word}0")]).freezable());
    let frozen = freezer(&cage).freeze().expect("it stands still");
    let said = std::io::stdout().write_all(b"frozen\n").is_ok();
    sleep(Duration::from_secs(60));
    drop((frozen, said));
    ExitCode::FAILURE
}

fn a_frozen_cage_dies_with_its_caller() {
    let word = marker();
    let own = std::env::current_exe().expect("the path of this binary");
    let mut caller = Command::new(own).args([ABANDON_FLAG, &word]).stdout(Stdio::piped()).spawn().expect("a caller");
    let mut said = [0; 7];
    caller.stdout.take().expect("piped").read_exact(&mut said).expect("it is frozen");
    assert!(alive(&format!("{word}0")));
    caller.kill().expect("killed");
    caller.wait().expect("reaped");
    eventually("the cage is gone", || !alive(&format!("{word}0")));
    placet_sandbox::collect_leftovers();
    assert_eq!(groups(&group_prefix(caller.id())), Vec::<std::path::PathBuf>::new());
}

fn a_frozen_cage_dies_with_its_helper() {
    let word = marker();
    both(
        || sh(&format!("trap '' TERM HUP; sleep {word}")),
        |request| {
            let cage = start(request);
            eventually("it runs", || alive(&word));
            let frozen = freezer(&cage).freeze().expect("it stands still");
            let helper = Pid::from_raw(the_child_of(zygote()) as i32).expect("the only child of the zygote");
            rustix::process::kill_process(helper, Signal::KILL).expect("killed");
            assert!(matches!(cage.wait(), Err(placet_sandbox::SandboxError::HelperDied)));
            eventually("the cage is gone", || !alive(&word));
            assert!(matches!(frozen.thaw(), Err(FreezeError::Ended)));
        },
    );
}

fn what_has_ended_or_is_frozen_is_not_frozen_again() {
    let cage = start(Request::new(["sleep", "60"]).freezable());
    let freezer = freezer(&cage);
    let frozen = freezer.freeze().expect("it stands still");
    assert!(matches!(freezer.freeze(), Err(FreezeError::Already)));
    assert_eq!(frozen.thaw().expect("it goes on"), Held::Throughout);
    drop(freezer.freeze().expect("it stands still once more"));
    cage.killer().kill();
    assert_eq!(cage.wait().expect("an outcome").exit, Exit::Cancelled);
    let refused = freezer.freeze().expect_err("it has ended");
    assert_eq!(refused.to_string(), "the cage has ended");
}

fn time_that_a_cage_is_frozen_is_not_time_that_it_used() {
    both(
        || Request::new(["sleep", "0.5"]).limits(Limits { wall_ms: 1_500, ..limits() }),
        |request| {
            let cage = start(request);
            let frozen = freezer(&cage).freeze().expect("it stands still");
            sleep(Duration::from_millis(2_000));
            frozen.thaw().expect("it goes on");
            let outcome = cage.wait().expect("an outcome");
            assert_eq!(outcome.exit, Exit::Code(0));
            assert!(outcome.usage.wall_ms < 1_500, "{:?}", outcome.usage);
        },
    );
    let late = start(Request::new(["sleep", "60"]).limits(Limits { wall_ms: 700, ..limits() }));
    let frozen = freezer(&late).freeze().expect("it stands still");
    sleep(Duration::from_millis(900));
    frozen.thaw().expect("it goes on");
    assert!(matches!(late.wait().expect("an outcome").exit, Exit::Limit { .. }), "and what is left of it counts");
}

fn freezing_one_cage_leaves_others_alone() {
    both(busy, |request| {
        let (one, other) = (Workspace::new(), Workspace::new());
        let frozen = start(request.clone().workspace(one.path()));
        let free = start(request.workspace(other.path()));
        goes_on(&one, &["main"]);
        goes_on(&other, &["main"]);
        let standstill = freezer(&frozen).freeze().expect("it stands still");
        goes_on(&other, &WRITERS);
        is_still(&one);
        drop((standstill, free));
    });
    assert_eq!(run(sh("echo untouched")).succeeded(), "untouched\n");
}

fn connections_through_a_door_wait() {
    let workspace = Workspace::new();
    let script = "sleep 0.2; exec /opt/probe/it --inside call 8000 question";
    let request = sh(script).read_only(crate::world::own_path(), "/opt/probe/it").door(8000).freezable();
    let mut cage = start(request.workspace(workspace.path()));
    let door = cage.take_door(8000).expect("a door");
    let (mut inside, _) = door.accept().expect("it calls");
    let frozen = freezer(&cage).freeze().expect("it stands still");
    inside.write_all(b"an answer while it sleeps").expect("it waits in the socket");
    inside.shutdown(std::net::Shutdown::Write).expect("all said");
    sleep(Duration::from_millis(300));
    assert_eq!(frozen.thaw().expect("it goes on"), Held::Throughout);
    let (outcome, output) = cage.collect().expect("an outcome");
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "an answer while it sleeps\n");
}
