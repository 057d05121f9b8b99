//! Limits: each strikes, and says so where the outside can know.

use placet_sandbox::{Exit, Launcher, LimitKind, Limits, Request, SandboxError};

use crate::harness::tests;
use crate::world::{Workspace, alive, limits, marker, probe, profile, run, sh, start};

tests![
    the_wall_clock_ends_it_and_names_itself,
    time_that_is_over_before_the_start_is_named_too,
    processor_time_ends_it_and_names_itself,
    a_command_that_ignores_the_first_warning_is_ended_all_the_same,
    a_file_that_grows_too_large_ends_it_and_names_itself,
    output_beyond_the_limit_ends_it_and_says_by_how_much,
    output_within_the_limit_is_whole,
    open_files_are_limited,
    processes_are_limited_per_cage,
    memory_is_limited,
    usage_is_counted_over_the_whole_tree,
];

fn the_wall_clock_ends_it_and_names_itself() {
    let word = marker();
    let ran =
        run(sh(&format!("trap '' TERM INT HUP; sleep {word} & sleep {word}"))
            .limits(Limits { wall_ms: 300, ..limits() }));
    let Exit::Limit { which: LimitKind::WallClock, limit: 300, seen } = ran.exit else { panic!("{ran:?}") };
    assert!((300..10_000).contains(&seen), "{seen}");
    assert!(!alive(&word));
}

fn time_that_is_over_before_the_start_is_named_too() {
    let slow = |_: &placet_sandbox::Program| {
        std::thread::sleep(std::time::Duration::from_millis(400));
        Ok(())
    };
    let short = Limits { wall_ms: 100, ..limits() };
    let error = Launcher::default().launch_if(&profile(), sh("true").limits(short), slow);
    assert!(matches!(error, Err(SandboxError::TimeIsUp { wall_ms: 100 })), "{error:?}");
}

fn processor_time_ends_it_and_names_itself() {
    let ran = run(sh("while :; do :; done").limits(Limits { cpu_seconds: 1, ..limits() }));
    let Exit::Limit { which: LimitKind::Cpu, limit: 1_000, seen } = ran.exit else { panic!("{ran:?}") };
    assert!(seen >= 1_000);
}

fn a_command_that_ignores_the_first_warning_is_ended_all_the_same() {
    let ran = run(sh("trap '' XCPU; while :; do :; done").limits(Limits { cpu_seconds: 1, ..limits() }));
    assert!(matches!(ran.exit, Exit::Limit { which: LimitKind::Cpu, .. }), "{ran:?}");
}

fn a_file_that_grows_too_large_ends_it_and_names_itself() {
    let workspace = Workspace::new();
    let limits = Limits { file_bytes: 4_096, ..limits() };
    let ran = run(sh("exec head -c 100000 /dev/zero > large").workspace(workspace.path()).limits(limits));
    assert_eq!(ran.exit, Exit::Limit { which: LimitKind::FileBytes, limit: 4_096, seen: 4_096 });
    assert_eq!(std::fs::metadata(workspace.file("large")).expect("the file").len(), 4_096);
}

fn output_beyond_the_limit_ends_it_and_says_by_how_much() {
    let ran = run(sh("yes & yes >&2").limits(Limits { output_bytes: 10_000, ..limits() }));
    let Exit::Limit { which: LimitKind::Output, limit: 10_000, seen } = ran.exit else { panic!("{ran:?}") };
    assert!(seen > 10_000);
    assert_eq!(ran.stdout.len() + ran.stderr.len(), 10_000);
    let short = run(sh("head -c 5000 /dev/zero").limits(Limits { output_bytes: 4_999, ..limits() }));
    assert_eq!(short.exit, Exit::Limit { which: LimitKind::Output, limit: 4_999, seen: 5_000 });
}

fn output_within_the_limit_is_whole() {
    let ran = run(sh("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2")
        .limits(Limits { output_bytes: 600_000, ..limits() }));
    assert_eq!((ran.exit, ran.stdout.len(), ran.stderr.len()), (Exit::Code(0), 300_000, 300_000));
}

fn open_files_are_limited() {
    let count = run(probe("open_files", &[]).limits(Limits { open_files: 32, ..limits() })).succeeded();
    let count: u64 = count.trim().parse().expect("a number");
    assert!((20..=29).contains(&count), "{count} and three standard streams");
}

fn processes_are_limited_per_cage() {
    let few = Limits { pids: 12, ..limits() };
    // Another cage of the same user, with processes of its own, must not count.
    let other = start(sh("for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait").limits(few));
    let count: u64 = run(probe("processes", &[]).limits(few)).succeeded().trim().parse().expect("a number");
    assert_eq!(count, 11, "and the probe itself");
    drop(other);
}

fn memory_is_limited() {
    let small = Limits { memory_bytes: 64 << 20, ..limits() };
    assert_eq!(run(probe("memory", &["33554432"]).limits(small)).succeeded(), "done\n");
    assert_eq!(run(probe("memory", &["134217728"]).limits(small)).succeeded(), "ENOMEM\n");
}

fn usage_is_counted_over_the_whole_tree() {
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let ran = run(sh(&format!("({busy}) & ({busy}) & wait")));
    assert!(ran.usage.cpu_ms > 20, "{:?}", ran.usage);
    assert!(ran.usage.max_rss_bytes > 100_000, "{:?}", ran.usage);
    let idle = run(Request::new(["sleep", "0.2"]));
    assert!(idle.usage.wall_ms >= 200 && idle.usage.cpu_ms < 200, "{:?}", idle.usage);
}
