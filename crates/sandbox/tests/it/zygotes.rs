//! The process that forks helpers: what it holds, when it ends, and that nobody misses it.

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use placet_sandbox::{Exit, Launcher, Request, SandboxError};
use rustix::process::{Pid, Signal};

use crate::harness::tests;
use crate::processes::{children_of, descriptors_of, is_gone, zygote};
use crate::world::{alive, eventually, marker, own_path, profile, run, sh, start};

tests![
    every_cage_of_a_process_comes_from_one_zygote,
    a_prepared_launcher_launches_from_the_zygote_it_has,
    a_zygote_holds_nothing_of_any_cage,
    a_zygote_keeps_nothing_of_its_caller,
    a_zygote_ends_with_its_last_launcher_and_its_last_cage,
    a_killed_zygote_is_not_missed,
    cages_outlive_their_zygote,
    no_launch_is_lost_while_zygotes_are_being_killed,
    a_zygote_that_stands_still_holds_up_its_own_cages_only,
    a_cage_of_a_fresh_zygote_is_the_same_cage,
    programs_get_the_turns_of_everybody_and_helpers_shorter_ones,
];

fn signal(process: u32, signal: Signal) {
    let process = Pid::from_raw(process as i32).expect("a number of a process");
    rustix::process::kill_process(process, signal).expect("a signal");
}

/// A launcher that shares its zygote with nobody.
fn own_launcher() -> Launcher {
    Launcher::with_helper(own_path())
}

fn succeeds(launcher: &Launcher) {
    let outcome = launcher.launch(&profile(), sh("true")).expect("a cage").wait().expect("an end");
    assert_eq!(outcome.exit, Exit::Code(0));
}

fn every_cage_of_a_process_comes_from_one_zygote() {
    run(sh("true")).succeeded();
    let first = zygote();
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| run(sh("true")).succeeded()))));
    succeeds(&Launcher::default());
    assert_eq!(zygote(), first);
}

fn a_prepared_launcher_launches_from_the_zygote_it_has() {
    let (launcher, before) = (own_launcher(), children_of(std::process::id()));
    launcher.prepare().expect("a zygote");
    let prepared = children_of(std::process::id());
    assert_eq!(prepared.len(), before.len() + 1, "it is there before the first cage");
    succeeds(&launcher);
    assert_eq!(children_of(std::process::id()), prepared);
}

fn a_zygote_holds_nothing_of_any_cage() {
    let word = marker();
    let running: Vec<_> = (0..3).map(|_| start(Request::new(["sleep", word.as_str()]))).collect();
    eventually("they run", || alive(&word));
    let held = descriptors_of(zygote());
    assert_eq!(held[..3], ["/dev/null"; 3]);
    assert!(held.len() == 4 && held[3].starts_with("socket:"), "{held:?}");
    let helpers = children_of(zygote());
    assert_eq!(helpers.len(), 3);
    if rustix::process::geteuid().is_root() {
        sockets_are_of_one_each(&helpers, &held[3]);
    }
    drop(running);
}

/// A helper holds the socket to its launcher and the line to its process 1. It does not hold the zygote's socket, which must
/// close with the zygote, nor one of another cage. Helpers hide what
/// they hold from ordinary users, like whom they were forked for.
fn sockets_are_of_one_each(helpers: &[u32], of_the_zygote: &str) {
    let of_helpers = helpers.iter().flat_map(|helper| descriptors_of(*helper));
    let sockets: Vec<String> = of_helpers.filter(|each| each.starts_with("socket:")).collect();
    let different: BTreeSet<&str> = sockets.iter().map(String::as_str).chain([of_the_zygote]).collect();
    let own = 2 * helpers.len();
    assert_eq!((sockets.len(), different.len()), (own, own + 1), "{sockets:?} {of_the_zygote}");
}

fn a_zygote_keeps_nothing_of_its_caller() {
    // Open in this process, and not to be closed when it executes something.
    let file = std::fs::File::open("/etc/passwd").expect("a file");
    rustix::io::fcntl_setfd(&file, rustix::io::FdFlags::empty()).expect("kept open");
    let launcher = own_launcher();
    succeeds(&launcher);
    let zygote = *children_of(std::process::id()).last().expect("the zygote is the last child");
    assert!(descriptors_of(zygote).iter().all(|target| target == "/dev/null" || target.starts_with("socket:")));
    let link = |name: &str| std::fs::read_link(format!("/proc/{zygote}/{name}")).expect("a link");
    assert_eq!(link("cwd"), std::path::Path::new("/"));
    assert_eq!(std::fs::read(format!("/proc/{zygote}/environ")).expect("its environment"), b"");
    let zygote = Pid::from_raw(zygote as i32).expect("a number of a process");
    assert_eq!(rustix::process::getsid(Some(zygote)), Ok(zygote), "the first of a session of its own");
}

fn a_zygote_ends_with_its_last_launcher_and_its_last_cage() {
    let before = children_of(std::process::id()).len();
    let launcher = own_launcher();
    assert_eq!(children_of(std::process::id()).len(), before, "none before the first launch");
    let second = launcher.clone();
    let running = launcher.launch(&profile(), sh("echo here; sleep 60")).expect("a cage");
    drop(launcher);
    succeeds(&second);
    drop(second);
    assert_eq!(children_of(std::process::id()).len(), before + 1, "it reaps the helper of the cage that runs");
    running.killer().kill();
    assert_eq!(running.wait().expect("an end").exit, Exit::Cancelled);
    assert_eq!(children_of(std::process::id()).len(), before);
}

fn a_killed_zygote_is_not_missed() {
    for _ in 0..3 {
        run(sh("true")).succeeded();
        let killed = zygote();
        signal(killed, Signal::KILL);
        eventually("it is gone", || is_gone(killed));
        run(sh("true")).succeeded();
        assert_ne!(zygote(), killed, "and it was reaped");
    }
}

fn cages_outlive_their_zygote() {
    let mut running = start(sh("echo here; read line; echo $line").stdin_piped());
    let mut stdout = running.take_stdout().expect("not taken yet");
    stdout.read_exact(&mut [0; 5]).expect("it runs");
    let killed = zygote();
    signal(killed, Signal::KILL);
    eventually("it is gone", || is_gone(killed));
    run(sh("true")).succeeded();
    running.take_stdin().expect("not taken yet").write_all(b"still\n").expect("it listens");
    let mut said = String::new();
    stdout.read_to_string(&mut said).expect("it answers");
    assert_eq!((said.as_str(), running.wait().expect("an end").exit), ("still\n", Exit::Code(0)));
}

/// Whenever it happens: before it was asked, while it is asked, or after it forked.
fn no_launch_is_lost_while_zygotes_are_being_killed() {
    const LAUNCHES: usize = 40;
    let (launched, left) = (AtomicUsize::new(0), AtomicUsize::new(LAUNCHES));
    let launch_all = || {
        while left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_ok() {
            let word = marker();
            assert_eq!(run(Request::new(["echo", word.as_str()])).succeeded(), format!("{word}\n"));
            launched.fetch_add(1, Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let launching: Vec<_> = (0..3).map(|_| scope.spawn(launch_all)).collect();
        for round in 1..LAUNCHES / 4 {
            // One zygote for a few launches: what is lost then was lost because of a single one.
            eventually("more are launched", || {
                launched.load(Ordering::Relaxed) >= 4 * (round - 1) || is_over(&launching)
            });
            let zygotes = children_of(std::process::id()).into_iter().filter_map(|zygote| Pid::from_raw(zygote as i32));
            // One that was reaped meanwhile is gone, which is as good.
            for zygote in zygotes {
                let _ = rustix::process::kill_process(zygote, Signal::KILL);
            }
        }
        launching.into_iter().for_each(|thread| thread.join().expect("every cage was launched"));
    });
    assert_eq!(launched.into_inner(), LAUNCHES);
}

fn is_over<T>(threads: &[ScopedJoinHandle<'_, T>]) -> bool {
    threads.iter().all(ScopedJoinHandle::is_finished)
}

fn a_zygote_that_stands_still_holds_up_its_own_cages_only() {
    let launcher = own_launcher();
    succeeds(&launcher);
    let stopped = *children_of(std::process::id()).last().expect("the zygote is the last child");
    signal(stopped, Signal::STOP);
    run(sh("true")).succeeded();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| succeeds(&launcher));
        std::thread::sleep(Duration::from_millis(200));
        assert!(!waiting.is_finished());
        signal(stopped, Signal::CONT);
        waiting.join().expect("the cage was launched");
    });
}

/// What a command sees of who it is and where.
const LOOK: &str = "id -u; hostname; ls /; ls -l /proc/self/fd | wc -l; grep -c . /proc/net/dev; \
                    grep -iE 'cap|seccomp|nonewprivs|sig' /proc/self/status; pwd; env | sort; ulimit -a";

fn a_cage_of_a_fresh_zygote_is_the_same_cage() {
    let look = |launcher: &Launcher| {
        let (outcome, output) = launcher.launch(&profile(), sh(LOOK)).expect("a cage").collect().expect("an end");
        assert_eq!(outcome.exit, Exit::Code(0), "{output:?}");
        String::from_utf8(output.stdout).expect("text")
    };
    let fresh = look(&own_launcher());
    let launcher = own_launcher();
    for _ in 0..3 {
        assert_eq!(look(&launcher), fresh);
    }
    let refused = launcher.launch(&profile(), Request::new(["no-such-program"]));
    assert!(matches!(refused, Err(SandboxError::ProgramNotFound(_))), "{refused:?}");
    assert_eq!(look(&launcher), fresh);
}

/// The length of its turns, in nanoseconds, where the kernel tells.
fn turns(sched: &str) -> Option<u64> {
    sched.lines().find_map(|line| line.strip_prefix("se.slice")?.rsplit(' ').next()?.parse().ok())
}

fn programs_get_the_turns_of_everybody_and_helpers_shorter_ones() {
    let own = std::fs::read_to_string("/proc/self/sched").ok();
    let Some(own) = own.as_deref().and_then(turns) else { return };
    assert_eq!(turns(&run(Request::new(["cat", "/proc/self/sched"])).succeeded()), Some(own));
    let of_zygote = std::fs::read_to_string(format!("/proc/{}/sched", zygote())).expect("the kernel tells");
    assert!(turns(&of_zygote).is_some_and(|turn| turn <= own), "{of_zygote}");
}
