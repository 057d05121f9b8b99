//! How cages end: by themselves, by signals, by their caller, and with their caller.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::Duration;

use placet_sandbox::{Exit, Request};
use rustix::process::{Pid, Signal};

use crate::harness::tests;
use crate::processes::{is_gone, the_child_of, zygote};
use crate::world::{alive, eventually, group_prefix, groups, has_groups, marker, run, sh, start};

tests![
    an_exit_code_comes_back,
    a_signal_comes_back,
    a_daemon_dies_with_the_command,
    a_killer_ends_the_tree_from_another_thread,
    killing_twice_or_too_late_changes_nothing,
    dropping_it_ends_it,
    it_dies_with_its_caller,
    it_dies_with_its_helper,
    groups_of_a_killed_caller_are_collected_by_the_next_start,
    groups_of_a_living_caller_are_left_alone,
    the_zygote_goes_with_its_caller,
    output_can_be_read_while_it_runs,
];

/// Tells this binary to launch a cage and wait to be killed.
pub(crate) const ABANDON_FLAG: &str = "--abandon";

fn an_exit_code_comes_back() {
    for code in [0, 1, 42, 255] {
        assert_eq!(run(sh(&format!("exit {code}"))).exit, Exit::Code(code));
    }
}

fn a_signal_comes_back() {
    for (name, number) in [("TERM", libc::SIGTERM), ("KILL", libc::SIGKILL), ("SEGV", libc::SIGSEGV)] {
        assert_eq!(run(sh(&format!("kill -{name} $$"))).exit, Exit::Signal(number));
    }
    // The helper ignores this one; a command must not inherit that.
    assert_eq!(run(sh("kill -PIPE $$")).exit, Exit::Signal(libc::SIGPIPE));
}

fn a_daemon_dies_with_the_command() {
    let word = marker();
    let script = format!(
        "(trap '' TERM HUP; setsid sleep {word} &) ; (setsid sh -c 'setsid sleep {word} &' &); sleep 0.1; exit 5"
    );
    assert_eq!(run(sh(&script)).exit, Exit::Code(5));
    assert!(!alive(&word));
}

fn a_killer_ends_the_tree_from_another_thread() {
    let word = marker();
    let running = start(sh(&format!("trap '' TERM; sleep {word} & sleep {word}")));
    let killer = running.killer();
    eventually("it runs", || alive(&word));
    let thread = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        killer.kill();
    });
    assert_eq!(running.wait().expect("an outcome").exit, Exit::Cancelled);
    thread.join().expect("the thread ends");
    assert!(!alive(&word));
}

fn killing_twice_or_too_late_changes_nothing() {
    let mut running = start(Request::new(["true"]));
    let killer = running.killer();
    // Its output ends with it; its process 1 then needs a moment to take note.
    running.take_stdout().expect("not taken yet").read_to_end(&mut Vec::new()).expect("the end of the output");
    std::thread::sleep(Duration::from_millis(500));
    killer.kill();
    killer.kill();
    assert_eq!(running.wait().expect("an outcome").exit, Exit::Code(0));
    killer.kill();
}

fn dropping_it_ends_it() {
    let word = marker();
    let running = start(Request::new(["sleep", word.as_str()]));
    eventually("it runs", || alive(&word));
    drop(running);
    assert!(!alive(&word));
}

fn it_dies_with_its_caller() {
    let word = marker();
    let mut caller = caller(&word);
    let in_cage = format!("{word}0");
    eventually("the cage runs", || alive(&in_cage));
    caller.kill().expect("killed");
    caller.wait().expect("reaped");
    eventually("the cage is gone", || !alive(&in_cage));
}

/// In the process that is going to be killed.
pub(crate) fn launch_and_wait_to_be_killed(word: &str) -> ExitCode {
    let running = start(Request::new(["sleep".to_owned(), format!("{word}0")]));
    std::thread::sleep(Duration::from_secs(60));
    drop(running);
    ExitCode::FAILURE
}

/// However its caller ends: nobody tells it, its socket closes.
fn the_zygote_goes_with_its_caller() {
    let word = marker();
    let mut caller = caller(&word);
    let in_cage = format!("{word}0");
    eventually("the cage runs", || alive(&in_cage));
    let zygote = the_child_of(caller.id());
    caller.kill().expect("killed");
    caller.wait().expect("reaped");
    eventually("the zygote is gone", || is_gone(zygote));
    eventually("the cage is gone", || !alive(&in_cage));
}

fn it_dies_with_its_helper() {
    let word = marker();
    let running = start(sh(&format!("trap '' TERM HUP; sleep {word}")));
    eventually("it runs", || alive(&word));
    let helper = Pid::from_raw(the_child_of(zygote()) as i32).expect("the helper is the only child of the zygote");
    rustix::process::kill_process(helper, Signal::KILL).expect("killed");
    assert!(matches!(running.wait(), Err(placet_sandbox::SandboxError::HelperDied)));
    eventually("the cage is gone", || !alive(&word));
}

fn groups_of_a_killed_caller_are_collected_by_the_next_start() {
    let word = marker();
    let mut caller = caller(&word);
    let prefix = group_prefix(caller.id());
    let in_cage = format!("{word}0");
    eventually("the cage runs", || alive(&in_cage));
    assert_eq!(!groups(&prefix).is_empty(), has_groups());
    caller.kill().expect("killed");
    // Not reaped yet, and gone all the same.
    eventually("the cage is gone", || !alive(&in_cage));
    let mut next = self::caller(&marker());
    eventually("the groups are gone", || groups(&prefix).is_empty());
    for each in [&mut caller, &mut next] {
        let _ = each.kill();
        each.wait().expect("reaped");
    }
    placet_sandbox::collect_leftovers();
    assert_eq!(groups(&group_prefix(next.id())), Vec::<PathBuf>::new());
}

fn groups_of_a_living_caller_are_left_alone() {
    let word = marker();
    let mut caller = caller(&word);
    let in_cage = format!("{word}0");
    eventually("the cage runs", || alive(&in_cage));
    let before = groups(&group_prefix(caller.id()));
    placet_sandbox::collect_leftovers();
    assert_eq!(groups(&group_prefix(caller.id())), before);
    assert!(alive(&in_cage));
    caller.kill().expect("killed");
    caller.wait().expect("reaped");
    eventually("the cage is gone", || !alive(&in_cage));
    placet_sandbox::collect_leftovers();
    assert_eq!(groups(&group_prefix(caller.id())), Vec::<PathBuf>::new());
}

/// Another process with one cage.
fn caller(word: &str) -> Child {
    let own = std::env::current_exe().expect("the path of this binary");
    Command::new(own).args([ABANDON_FLAG, word]).stdout(Stdio::null()).spawn().expect("a caller")
}

fn output_can_be_read_while_it_runs() {
    let mut running = start(sh("echo first; sleep 60"));
    let mut stdout = running.take_stdout().expect("not taken yet");
    let mut first = [0; 6];
    stdout.read_exact(&mut first).expect("output while it runs");
    assert_eq!(&first, b"first\n");
    running.killer().kill_over_output(6);
    let exit = running.wait().expect("an outcome").exit;
    assert!(matches!(exit, Exit::Limit { seen: 6, .. }), "{exit:?}");
}
