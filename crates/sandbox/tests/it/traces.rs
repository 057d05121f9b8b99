//! What stays behind: nothing.

use std::fs;

use placet_sandbox::{Limits, Request};

use crate::harness::tests;
use crate::world::{Workspace, group_prefix, groups, limits, run, sh, start};

tests![two_hundred_cages_leave_no_trace, failed_and_killed_cages_leave_no_trace, cages_from_many_threads_do_not_mix_up,];

#[derive(Debug, PartialEq, Eq)]
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

fn two_hundred_cages_leave_no_trace() {
    let workspace = Workspace::new();
    run(sh("true").workspace(workspace.path()));
    let before = traces();
    for _ in 0..200 {
        run(Request::new(["true"]).workspace(workspace.path())).succeeded();
    }
    assert_eq!(traces(), before);
    assert_eq!(fs::read_dir(workspace.path()).expect("the workspace").count(), 0);
}

fn failed_and_killed_cages_leave_no_trace() {
    let before = traces();
    for _ in 0..5 {
        drop(start(sh("sleep 60 & sleep 60")));
        run(sh("sleep 60").limits(Limits { wall_ms: 50, ..limits() }));
        assert!(placet_sandbox::launch(&crate::world::profile(), Request::new(["no-such-program"])).is_err());
    }
    assert_eq!(traces(), before);
}

fn cages_from_many_threads_do_not_mix_up() {
    let before = traces();
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
    assert_eq!(traces(), before);
}
