//! What stays behind: nothing.

use std::fs;

use placet_sandbox::{Exit, Launcher, Limits, Request};

use crate::harness::tests;
use crate::world::{Workspace, eventually, group_prefix, groups, limits, profile, run, sh, start};

tests![
    c6_three_hundred_cages_leave_no_trace,
    two_hundred_sleeping_cages_take_less_than_a_mebibyte_of_process_memory_each,
    c6_failed_and_killed_cages_leave_no_trace,
    a_helper_that_stood_ready_makes_the_same_cage_and_ends_with_its_launcher,
    a_helper_that_was_killed_while_it_stood_ready_is_not_missed,
    cages_from_many_threads_do_not_mix_up,
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Traces {
    descriptors: usize,
    mounts: usize,
    children: usize,
    files: usize,
    groups: usize,
}

fn traces() -> Traces {
    let count = |path: &str| fs::read_dir(path).expect("a directory").count();
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let children = fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())).expect("children");
    let temporary = fs::read_dir(std::env::temp_dir()).expect("temporary files").flatten();
    let ours = temporary.filter(|entry| entry.file_name().to_string_lossy().contains("placet-cage"));
    Traces {
        descriptors: count("/proc/self/fd"),
        mounts: mounts.lines().count(),
        children: children.split_whitespace().count(),
        files: ours.count(),
        groups: groups(&group_prefix(std::process::id())).len(),
    }
}

/// When the helpers of cages that ended before are reaped.
fn at_rest() -> Traces {
    eventually("nobody is on the way out", || traces().children == 0);
    traces()
}

/// Others mount and unmount on this host too, so mounts may have become fewer, and more for a while; a mount of ours that
/// stayed behind would stay.
fn assert_nothing_is_left_since(before: &Traces) {
    eventually("nothing is left", || {
        let now = traces();
        let others_gone = Traces { mounts: before.mounts, ..now };
        now.mounts <= before.mounts && others_gone == *before
    });
}

fn c6_three_hundred_cages_leave_no_trace() {
    let workspace = Workspace::new();
    run(sh("true").workspace(workspace.path()));
    let before = at_rest();
    for _ in 0..300 {
        run(Request::new(["true"]).workspace(workspace.path())).succeeded();
    }
    assert_nothing_is_left_since(&before);
    assert_eq!(fs::read_dir(workspace.path()).expect("the workspace").count(), 0);
}

/// What a command sees of who it is and where.
const LOOK: &str =
    "id -u; hostname; ls /; ip -o link 2>/dev/null; grep -c . /proc/net/dev; cat /proc/self/status | grep -i cap";

fn a_helper_that_stood_ready_makes_the_same_cage_and_ends_with_its_launcher() {
    let before = at_rest();
    let (profile, launcher) = (profile(), Launcher::default().keeping_one_ready());
    let look = |launcher: &Launcher| {
        let (outcome, output) = launcher.launch(&profile, sh(LOOK)).expect("a cage").collect().expect("an end");
        assert_eq!(outcome.exit, Exit::Code(0), "{output:?}");
        output.stdout
    };
    let cold = look(&Launcher::default());
    for _ in 0..3 {
        assert_eq!(look(&launcher), cold);
    }
    eventually("one stands ready, and no other is left", || traces().children == before.children + 1);
    drop(launcher);
    assert_nothing_is_left_since(&before);
}

fn a_helper_that_was_killed_while_it_stood_ready_is_not_missed() {
    let (profile, launcher) = (profile(), Launcher::default().keeping_one_ready());
    let run = || launcher.launch(&profile, sh("true")).expect("a cage").wait().expect("an end").exit;
    assert_eq!(run(), Exit::Code(0));
    let children = fs::read_to_string(format!("/proc/self/task/{}/children", std::process::id())).expect("children");
    let ready: i32 =
        children.split_whitespace().next_back().and_then(|pid| pid.parse().ok()).expect("one stands ready");
    let ready = rustix::process::Pid::from_raw(ready).expect("a process");
    rustix::process::kill_process(ready, rustix::process::Signal::KILL).expect("to end it");
    eventually("it is gone", || {
        fs::read_to_string(format!("/proc/{ready}/stat")).is_ok_and(|stat| stat.contains(" Z "))
    });
    assert_eq!(run(), Exit::Code(0));
}

/// Memory of processes only, by share. What the kernel itself needs for a cage is more than that again, and depends on how
/// this binary was built: the example `many_cages` measures all of it, with a thousand cages and an optimised binary.
fn two_hundred_sleeping_cages_take_less_than_a_mebibyte_of_process_memory_each() {
    const CAGES: u64 = 200;
    let before = at_rest();
    let asleep: Vec<_> = (0..CAGES).map(|_| start(Request::new(["sleep", "600"]))).collect();
    let used = shares_bytes(std::process::id());
    assert!(used > 0 && used / CAGES < 1 << 20, "{} bytes each", used / CAGES);
    drop(asleep);
    assert_nothing_is_left_since(&before);
}

/// Memory of all descendants; pages they share count by their share.
fn shares_bytes(pid: u32) -> u64 {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("children");
    let of_child = |child: &str| {
        let rollup = fs::read_to_string(format!("/proc/{child}/smaps_rollup")).unwrap_or_default();
        let kib: Option<u64> =
            rollup.lines().find_map(|line| line.strip_prefix("Pss:")?.split_whitespace().next()?.parse().ok());
        kib.unwrap_or(0) * 1_024 + shares_bytes(child.parse().expect("a number"))
    };
    children.split_whitespace().map(of_child).sum()
}

fn c6_failed_and_killed_cages_leave_no_trace() {
    let before = at_rest();
    for _ in 0..5 {
        drop(start(sh("sleep 60 & sleep 60")));
        run(sh("sleep 60").limits(Limits { wall_ms: 1_000, ..limits() }));
        assert!(placet_sandbox::launch(&profile(), Request::new(["no-such-program"])).is_err());
    }
    assert_nothing_is_left_since(&before);
}

fn cages_from_many_threads_do_not_mix_up() {
    let before = at_rest();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            scope.spawn(move || {
                for round in 0..10 {
                    let words = format!("{thread} {round}");
                    assert_eq!(run(Request::new(["echo", words.as_str()])).succeeded(), format!("{words}\n"));
                }
            });
        }
    });
    assert_nothing_is_left_since(&before);
}
