//! A command at a terminal of its own.

use std::fs::File;
use std::io::{Read as _, Write as _};

use placet_sandbox::{Exit, Request, Running};

use crate::harness::tests;
use crate::world::{sh, start};

tests![
    all_three_streams_are_one_terminal_and_it_controls_the_command,
    a_terminal_that_is_let_go_of_ends_the_command,
    the_keys_of_a_terminal_reach_only_the_cage,
];

fn at_a_terminal(request: Request) -> (Running, File) {
    let mut running = start(request.terminal());
    let terminal = running.take_terminal().expect("a terminal");
    (running, terminal)
}

/// Everything that is shown until nobody has the other end any more.
fn shown(mut terminal: File) -> String {
    let (mut all, mut buffer) = (Vec::new(), [0; 4096]);
    while let Ok(read @ 1..) = terminal.read(&mut buffer) {
        all.extend_from_slice(&buffer[..read]);
    }
    String::from_utf8(all).expect("text")
}

fn all_three_streams_are_one_terminal_and_it_controls_the_command() {
    let script = "test -t 0 && test -t 1 && test -t 2 && read word && echo got $word >&2 && \
                  set -- $(cat /proc/$$/stat) && test $8 = $$ && test ! -e /dev/tty -a ! -e /dev/pts && exit 7";
    let (running, mut terminal) = at_a_terminal(sh(script));
    terminal.write_all(b"it\n").expect("typed");
    let said = std::thread::spawn(move || shown(terminal));
    let exit = running.wait().expect("an outcome").exit;
    let said = said.join().expect("no panic");
    assert_eq!(exit, Exit::Code(7), "{said}");
    assert!(said.contains("got it\r\n"), "{said:?}");
}

fn a_terminal_that_is_let_go_of_ends_the_command() {
    let (running, terminal) = at_a_terminal(sh("read word; echo $?"));
    drop(terminal);
    let exit = running.wait().expect("an outcome").exit;
    assert!(matches!(exit, Exit::Signal(1) | Exit::Code(_)), "{exit:?}");
}

/// The key that interrupts is a byte to whoever types it, and a signal to the command alone.
fn the_keys_of_a_terminal_reach_only_the_cage() {
    let (running, mut terminal) =
        at_a_terminal(sh("trap 'echo caught; exit 3' INT; echo ready; while :; do sleep 0.1; done"));
    let mut seen = Vec::new();
    let mut buffer = [0; 256];
    while !seen.windows(5).any(|part| part == b"ready") {
        let read = terminal.read(&mut buffer).expect("it is shown");
        seen.extend_from_slice(&buffer[..read]);
    }
    terminal.write_all(b"\x03").expect("typed");
    let said = std::thread::spawn(move || shown(terminal));
    assert_eq!(running.wait().expect("an outcome").exit, Exit::Code(3));
    assert!(said.join().expect("no panic").contains("caught"));
}
