//! SHELL: a person in the agent's cage has a terminal there; what an agent prints gives no orders to the person's own.

use std::fs;
use std::process::Command;
use std::time::Duration;

use super::repo::{PAIR, Repo};
use crate::support::{Process, Said, clean, eventually, placet};

const PATIENCE: Duration = Duration::from_secs(60);

/// A shell script at a terminal; `$PLACET` is the binary.
fn at_a_terminal(repo: &Repo, script: &str) -> Command {
    let mut command = clean(Command::new("script"));
    command.current_dir(repo.root()).env("PLACET", placet().get_program()).env("TERM", "xterm-256color");
    command.env("SHELL", "/bin/sh").args(["-qfec", script, "/dev/null"]);
    command
}

fn line(verb: &str, more: &str) -> String {
    format!("\"$PLACET\" {verb} {} {more}", PAIR.join(" "))
}

/// Types a line, and waits for the one that answers it. A shell puts marks of its own before it.
fn answer(shell: &mut Process, typed: &str, wanted: &str) {
    shell.type_in(&format!("{typed}\n"));
    shell.line(PATIENCE, |line| line.ends_with(wanted));
}

#[test]
fn a10_a_shell_in_the_cage_has_a_terminal_with_job_control_and_gives_it_back_as_it_was() {
    let repo = Repo::started(&[]);
    let script = format!(
        "tty > tty.log; stty rows 33 cols 99; stty -g > before.log; {}; echo \"ended $?\"; stty -g > after.log",
        line("shell", "")
    );
    let mut shell = Process::start(&mut at_a_terminal(&repo, &script));
    answer(&mut shell, "test -t 0 -a -t 1 -a -t 2 && echo \"is$((40+2))\"", "is42");
    answer(&mut shell, "echo \"size $(stty size), $TERM\"", "size 33 99, xterm-256color");
    answer(&mut shell, "sleep 300 & jobs | sed 's/.*Running.*/r''unning/'", "running");
    answer(&mut shell, "kill %1; wait; echo \"in $(pwd)\"", "in /work");
    // The key that interrupts reaches the command in the cage, and neither the shell there nor this program.
    shell.type_in("echo be''gun; sleep 300\n");
    shell.line(PATIENCE, |line| line.ends_with("begun"));
    std::thread::sleep(Duration::from_millis(300));
    shell.type_in("\u{3}");
    answer(&mut shell, "echo \"after $?\"", "after 130");
    // The window changes its size while it runs.
    let tty = fs::read_to_string(repo.root().join("tty.log")).unwrap();
    let mut resize = clean(Command::new("stty"));
    Said::by(resize.args(["-F", tty.trim(), "rows", "50", "cols", "120"])).ok();
    eventually("the size is passed on", PATIENCE, || {
        shell.type_in("echo \"now $(stty size)\"\n");
        shell.line(PATIENCE, |line| line.contains("now ") && !line.contains("stty")).ends_with("now 50 120")
    });
    shell.type_in("echo '// typed' >> src/main.rs\nexit 7\n");
    shell.line(PATIENCE, |line| line == "ended 7");
    shell.wait(PATIENCE);
    let settings = |name: &str| fs::read_to_string(repo.root().join(name)).unwrap();
    assert_eq!(settings("before.log"), settings("after.log"), "the terminal is as it was");
    assert!(fs::read_to_string(repo.at("src/main.rs")).unwrap().contains("// typed"), "what was done is taken over");
}

#[test]
fn a10_nobody_in_the_cage_puts_words_into_the_terminal() {
    let repo = Repo::started(&[]);
    let mut shell = Process::start(&mut at_a_terminal(&repo, &line("shell", "")));
    let inject = "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSTI, b'x')";
    answer(
        &mut shell,
        &format!("python3 -c \"{inject}\" 2>&1 | grep -o 'Operation not permitted'"),
        "Operation not permitted",
    );
    answer(&mut shell, "ls /dev/pts /dev/tty 2>/dev/null | wc -l", "0");
    shell.type_in("exit\n");
    assert!(shell.wait(PATIENCE).success());
}

#[test]
fn a10_a_shell_that_is_told_to_stop_gives_the_terminal_back() {
    let repo = Repo::started(&[]);
    let own = line("shell", "");
    let script = format!("stty -g > before.log; sh -c 'echo $$ > pid.log; exec {own}'; stty -g > after.log; echo over");
    let mut shell = Process::start(&mut at_a_terminal(&repo, &script));
    answer(&mut shell, "echo \"is$((40+2))\"", "is42");
    let pid = fs::read_to_string(repo.root().join("pid.log")).unwrap();
    Said::by(Command::new("/bin/kill").args(["-s", "TERM", pid.trim()])).ok();
    shell.line(PATIENCE, |line| line == "over");
    let settings = |name: &str| fs::read_to_string(repo.root().join(name)).unwrap();
    assert_eq!(settings("before.log"), settings("after.log"));
    shell.wait(PATIENCE);
}

#[test]
fn a9_what_an_agent_prints_gives_no_orders_to_a_terminal_and_is_untouched_in_a_pipe() {
    let repo = Repo::started(&[]);
    let print = r"printf 'a\033[31mred\033[0m\033]0;title\007\033[2Jb\302\2332Jc\n'; printf 'e\033[6n\n' >&2";
    let piped = repo.agent(print).ok();
    assert_eq!(piped.stdout, b"a\x1b[31mred\x1b[0m\x1b]0;title\x07\x1b[2Jb\xc2\x9b2Jc\n");
    assert!(piped.stderr.contains("e\u{1b}[6n"));
    fs::write(repo.root().join("print.sh"), print).unwrap();
    let script = line("exec", "-- sh -c \"$(cat print.sh)\"");
    let shown = Said::by(&mut at_a_terminal(&repo, &script)).ok();
    let shown = shown.out();
    assert!(shown.contains("a\u{1b}[31mred\u{1b}[0m⟦U+001B⟧]0;title⟦U+0007⟧⟦U+001B⟧[2Jb⟦U+009B⟧2Jc"), "{shown:?}");
    assert!(shown.contains("e⟦U+001B⟧[6n"), "{shown:?}");
}
