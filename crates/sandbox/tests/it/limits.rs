//! Limits: each strikes, and says so where the outside can know.

use std::time::{Duration, Instant};

use placet_sandbox::{Exit, Launcher, LimitKind, Limits, Request, SandboxError};

use crate::harness::tests;
use crate::world::{Workspace, alive, has_groups, limits, marker, own_path, probe, profile, run, sh, start};

tests![
    c5_the_wall_clock_ends_it_and_names_itself,
    time_that_is_over_before_the_start_is_named_too,
    c5_processor_time_ends_it_and_names_itself,
    a_command_that_ignores_the_first_warning_is_ended_all_the_same,
    a_file_that_grows_too_large_ends_it_and_names_itself,
    c5_output_beyond_the_limit_ends_it_and_says_by_how_much,
    output_within_the_limit_is_whole,
    open_files_are_limited,
    c5_too_many_processes_end_the_tree,
    as_many_processes_as_allowed_are_no_excess,
    e8_a_fork_bomb_ends_and_names_itself,
    c5_memory_beyond_the_limit_ends_the_tree,
    memory_counts_for_the_tree,
    scratch_counts_as_memory,
    processor_time_counts_for_the_tree,
    many_short_processes_use_processor_time_too,
    a_share_of_the_processor_slows_the_tree_down,
    c5_a_full_scratch_place_ends_the_tree,
    scratch_places_count_together,
    c5_what_is_written_to_the_workspace_counts,
    a_short_command_that_wrote_too_much_broke_the_limit_all_the_same,
    a_process_that_hides_does_not_gain_by_it,
    c6_usage_is_counted_over_the_whole_tree,
];

/// A machine that is emulated may need longer than the first limit to get as far as the command; that has its own
/// scenario.
fn c5_the_wall_clock_ends_it_and_names_itself() {
    let word = marker();
    let script = format!("trap '' TERM INT HUP; sleep {word} & sleep {word}");
    let begun = [300, 1_500, 7_500].into_iter().find_map(|wall_ms| {
        let request = sh(&script).limits(Limits { wall_ms, ..limits() });
        match Launcher::default().launch(&profile(), request) {
            Err(SandboxError::TimeIsUp { .. }) => None,
            launched => Some((wall_ms, launched.expect("a cage").collect().expect("an outcome").0)),
        }
    });
    let (wall_ms, outcome) = begun.expect("a command that begins within seconds");
    let Exit::Limit { which: LimitKind::WallClock, limit, seen } = outcome.exit else { panic!("{outcome:?}") };
    assert!(limit == wall_ms && (wall_ms..wall_ms + 10_000).contains(&seen), "{limit}, {seen}");
    assert!(!alive(&word));
}

fn time_that_is_over_before_the_start_is_named_too() {
    let slow = |_: &placet_sandbox::Program| {
        std::thread::sleep(Duration::from_millis(400));
        Ok(())
    };
    let short = Limits { wall_ms: 100, ..limits() };
    let took = || {
        let begun = Instant::now();
        let error = Launcher::default().launch_if(&profile(), sh("true").limits(short), slow);
        assert!(matches!(error, Err(SandboxError::TimeIsUp { wall_ms: 100 })), "{error:?}");
        begun.elapsed()
    };
    // A cage that waits for its caller ends by itself; one that had to be killed would take two seconds.
    assert!((0..3).any(|_| took() < Duration::from_secs(2)));
}

fn c5_processor_time_ends_it_and_names_itself() {
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

fn c5_output_beyond_the_limit_ends_it_and_says_by_how_much() {
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

/// With control groups the kernel tells of it; without, the monitor sees it.
fn c5_too_many_processes_end_the_tree() {
    let few = Limits { pids: 12, ..limits() };
    // Another cage of the same user, with processes of its own, must not count.
    let other = start(sh("for i in 1 2 3 4 5 6 7 8; do sleep 60 & done; wait").limits(few));
    let word = marker();
    let ran = run(probe("processes", &[&word]).limits(few));
    let Exit::Limit { which: LimitKind::Processes, limit: 12, seen } = ran.exit else { panic!("{ran:?}") };
    assert!(seen > 12, "{seen}");
    assert!(!alive(&word));
    match has_groups() {
        true => assert_eq!(ran.usage.max_processes, Some(12)),
        false => assert_eq!(seen, 13, "one more than it may is all it gets"),
    }
    drop(other);
}

fn as_many_processes_as_allowed_are_no_excess() {
    let script = "for i in 1 2 3 4 5 6 7; do sleep 1 & done; wait; echo done";
    assert_eq!(run(sh(script).limits(Limits { pids: 8, ..limits() })).succeeded(), "done\n");
}

fn e8_a_fork_bomb_ends_and_names_itself() {
    let wall_ms = if has_groups() { 20_000 } else { 3_000 };
    let ran = run(sh("f() { f | f & }; f; sleep 30").limits(Limits { pids: 50, wall_ms, ..limits() }));
    let Exit::Limit { which, .. } = ran.exit else { panic!("{ran:?}") };
    // Without groups, one that bursts between two looks is over before it is seen.
    assert!(which == LimitKind::Processes || !has_groups() && which == LimitKind::WallClock, "{ran:?}");
}

/// With control groups the use counts, and ends the tree; without, a process is refused what it asks for.
fn c5_memory_beyond_the_limit_ends_the_tree() {
    let small = Limits { memory_bytes: 64 << 20, ..limits() };
    assert_eq!(run(probe("memory", &["33554432"]).limits(small)).succeeded(), "done\n");
    if has_groups() {
        let word = marker();
        let script = format!("sleep {word} & /opt/probe/it --inside touch_memory 134217728; echo survived; wait");
        let ran = run(sh(&script).read_only(own_path(), "/opt/probe/it").limits(small));
        let Exit::Limit { which: LimitKind::Memory, limit: 67_108_864, seen } = ran.exit else { panic!("{ran:?}") };
        assert!(seen >= 67_108_864);
        assert!(ran.usage.peak_memory_bytes > 50 << 20, "{ran:?}");
        assert!(!alive(&word));
    } else {
        assert_eq!(run(probe("memory", &["134217728"]).limits(small)).succeeded(), "ENOMEM\n");
    }
}

/// None of them is above the limit by itself.
fn memory_counts_for_the_tree() {
    let small = Limits { memory_bytes: 64 << 20, ..limits() };
    let one = "/opt/probe/it --inside hold_memory 25165824";
    let ran = run(sh(&format!("{one} & {one} & {one} & {one} & wait; echo survived"))
        .read_only(own_path(), "/opt/probe/it")
        .limits(small));
    assert!(matches!(ran.exit, Exit::Limit { which: LimitKind::Memory, .. }), "{ran:?}");
}

/// Files in scratch places are memory.
fn scratch_counts_as_memory() {
    let small = Limits { memory_bytes: 48 << 20, ..limits() };
    let ran = run(sh("head -c 100000000 /dev/zero > /tmp/large; sleep 5").limits(small));
    assert!(matches!(ran.exit, Exit::Limit { which: LimitKind::Memory, .. }), "{ran:?}");
}

fn processor_time_counts_for_the_tree() {
    let busy = "while :; do :; done";
    let word = marker();
    let script = format!("sleep {word} & ({busy}) & ({busy}) & ({busy}) & wait");
    let ran = run(sh(&script).limits(Limits { cpu_seconds: 1, ..limits() }));
    let Exit::Limit { which: LimitKind::Cpu, limit: 1_000, seen } = ran.exit else { panic!("{ran:?}") };
    // What one process may use, three use together. A look at a slow host takes its time.
    assert!((1_000..3_000).contains(&seen), "{seen}");
    assert!(!alive(&word));
}

fn many_short_processes_use_processor_time_too() {
    let short = "sh -c 'i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done'";
    let ran = run(sh(&format!("while :; do {short}; done")).limits(Limits { cpu_seconds: 1, ..limits() }));
    assert!(matches!(ran.exit, Exit::Limit { which: LimitKind::Cpu, .. }), "{ran:?}");
}

/// Without control groups nothing slows a tree down; the host report says so.
fn a_share_of_the_processor_slows_the_tree_down() {
    let quarter = std::num::NonZeroU32::new(25);
    let ran = run(sh("timeout 1 sh -c 'while :; do :; done'").limits(Limits { cpu_percent: quarter, ..limits() }));
    assert_eq!(ran.exit, Exit::Code(124));
    if has_groups() {
        assert!(ran.usage.cpu_ms * 2 < ran.usage.wall_ms, "{ran:?}");
    }
}

fn c5_a_full_scratch_place_ends_the_tree() {
    let word = marker();
    let wide = Limits { file_bytes: 1 << 30, ..limits() };
    let ran = run(sh(&format!("head -c 80000000 /dev/zero > /dev/shm/large; sleep {word}")).limits(wide));
    let full = 64 << 20;
    assert_eq!(ran.exit, Exit::Limit { which: LimitKind::Disk, limit: full, seen: full });
    assert!(!alive(&word));
    let names = "cd /dev/shm; i=0; while [ $i -lt 40000 ]; do : > $i || break; i=$((i+1)); done; sleep 5";
    assert!(matches!(run(sh(names)).exit, Exit::Limit { which: LimitKind::Disk, .. }));
}

fn scratch_places_count_together() {
    let ran = run(sh("for place in /tmp /dev/shm /home/agent; do head -c 9000000 /dev/zero > $place/x; done; sleep 5")
        .limits(Limits { disk_bytes: 20 << 20, ..limits() }));
    let Exit::Limit { which: LimitKind::Disk, limit: 20_971_520, seen } = ran.exit else { panic!("{ran:?}") };
    // None of them is above the limit by itself, nor are two.
    assert!((20_971_521..40_000_000).contains(&seen), "{seen}");
}

/// In many files, by many processes, and deleted again.
fn c5_what_is_written_to_the_workspace_counts() {
    let workspace = Workspace::on_disk();
    let script = "i=0; while :; do i=$((i+1)); head -c 1000000 /dev/zero > f$i; [ $i -lt 5 ] || rm f$((i-4)); done";
    let ran = run(sh(script).workspace(workspace.path()).limits(Limits { disk_bytes: 30 << 20, ..limits() }));
    let Exit::Limit { which: LimitKind::Disk, limit: 31_457_280, seen } = ran.exit else { panic!("{ran:?}") };
    assert!(seen > 31_457_280);
}

fn a_short_command_that_wrote_too_much_broke_the_limit_all_the_same() {
    let workspace = Workspace::on_disk();
    let small = Limits { disk_bytes: 1 << 20, ..limits() };
    let ran = run(sh("exec head -c 3000000 /dev/zero > f").workspace(workspace.path()).limits(small));
    assert!(matches!(ran.exit, Exit::Limit { which: LimitKind::Disk, limit: 1_048_576, .. }), "{ran:?}");
    assert!(ran.usage.written_bytes.is_some_and(|bytes| (3_000_000..4_000_000).contains(&bytes)), "{ran:?}");
}

fn a_process_that_hides_does_not_gain_by_it() {
    let workspace = Workspace::on_disk();
    let small = Limits { disk_bytes: 10 << 20, ..limits() };
    let ran = run(probe("hide_and_write", &["/work/f"]).workspace(workspace.path()).limits(small));
    assert!(matches!(ran.exit, Exit::Limit { which: LimitKind::Disk, .. }), "{ran:?}");
    let written = std::fs::metadata(workspace.file("f")).expect("the file").len();
    assert!(written < 90 << 20, "stopped before it was done: {written}");
}

fn c6_usage_is_counted_over_the_whole_tree() {
    let busy = "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done";
    let ran = run(sh(&format!("({busy}) & ({busy}) & wait")));
    assert!(ran.usage.cpu_ms > 20, "{:?}", ran.usage);
    assert!(ran.usage.peak_memory_bytes > 100_000, "{:?}", ran.usage);
    assert_eq!(ran.usage.max_processes, has_groups().then_some(3));
    let idle = run(Request::new(["sleep", "0.2"]));
    assert!(idle.usage.wall_ms >= 200 && idle.usage.cpu_ms < idle.usage.wall_ms, "{:?}", idle.usage);
    assert_eq!(idle.usage.written_bytes, Some(0));
}
