//! What stays behind: nothing.

use std::fs;

use placet_sandbox::{Limits, Request};

use crate::harness::tests;
use crate::processes::{anonymous_kib_of, children_of, descriptors_of, share_kib_of, zygote};
use crate::world::{Workspace, eventually, group_prefix, groups, limits, profile, run, sh, start};

tests![
    c6_a_thousand_cages_one_after_the_other_leave_nothing,
    two_hundred_sleeping_cages_take_less_than_half_a_mebibyte_of_process_memory_each,
    c6_failed_and_killed_cages_leave_no_trace,
    cages_from_many_threads_do_not_mix_up,
];

/// What there is of this process, of its zygote and of their cages. Other processes of the host come and go meanwhile.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Traces {
    descriptors: usize,
    mounts: usize,
    children: Vec<u32>,
    files: usize,
    groups: usize,
    of_the_zygote: Vec<String>,
    helpers: usize,
}

fn traces() -> Traces {
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("mounts");
    let temporary = fs::read_dir(std::env::temp_dir()).expect("temporary files").flatten();
    let ours = temporary.filter(|entry| entry.file_name().to_string_lossy().contains("placet-cage"));
    Traces {
        descriptors: fs::read_dir("/proc/self/fd").expect("descriptors").count(),
        mounts: mounts.lines().count(),
        children: children_of(std::process::id()),
        files: ours.count(),
        groups: groups(&group_prefix(std::process::id())).len(),
        of_the_zygote: descriptors_of(zygote()),
        helpers: children_of(zygote()).len(),
    }
}

/// With a zygote that has forked before, and no cage.
fn at_rest() -> Traces {
    run(sh("true")).succeeded();
    let traces = traces();
    assert_eq!(traces.helpers, 0, "when the end of a cage is told, its helper is gone");
    traces
}

/// Others mount and unmount on this host too, so mounts may have become fewer, and more for a while; a mount of ours that
/// stayed behind would stay.
fn assert_nothing_is_left_since(before: &Traces) {
    eventually("nothing is left", || {
        let now = traces();
        now.mounts <= before.mounts && Traces { mounts: before.mounts, ..now } == *before
    });
}

/// The first few let the zygote's memory come to rest; from then on not a page is added.
fn c6_a_thousand_cages_one_after_the_other_leave_nothing() {
    let workspace = Workspace::new();
    let cages = |count: usize| {
        for _ in 0..count {
            run(Request::new(["true"]).workspace(workspace.path())).succeeded();
        }
    };
    cages(20);
    let (before, memory_kib) = (at_rest(), anonymous_kib_of(zygote()));
    cages(1_000);
    assert_nothing_is_left_since(&before);
    let now_kib = anonymous_kib_of(zygote());
    assert!(now_kib <= memory_kib, "the zygote grew from {memory_kib} to {now_kib} KiB");
    assert_eq!(fs::read_dir(workspace.path()).expect("the workspace").count(), 0);
}

/// Memory of processes only, by share. What the kernel itself needs for a cage is more than that again, and depends on how
/// this binary was built: the example `many_cages` measures all of it, with a thousand cages and an optimised binary.
fn two_hundred_sleeping_cages_take_less_than_half_a_mebibyte_of_process_memory_each() {
    const CAGES: u64 = 200;
    let before = at_rest();
    let asleep: Vec<_> = (0..CAGES).map(|_| start(Request::new(["sleep", "600"]))).collect();
    let used_kib = shares_kib(std::process::id());
    assert!(used_kib > 0 && used_kib / CAGES < 512, "{} KiB each", used_kib / CAGES);
    drop(asleep);
    assert_nothing_is_left_since(&before);
}

/// Memory of all descendants.
fn shares_kib(process: u32) -> u64 {
    let of_child = |child: u32| share_kib_of(child).unwrap_or(0) + shares_kib(child);
    children_of(process).into_iter().map(of_child).sum()
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
