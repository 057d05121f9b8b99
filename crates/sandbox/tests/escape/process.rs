//! Attempts on processes: what is inherited, other processes, privileges, and living longer than allowed.

use std::fs;
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::attempt::{Attempt, Barrier, Observed, attempt};
use crate::host::LENDING;
use crate::raw::{self, address, call, returned};
use crate::scene::{MARKER, Scene};

const INIT: i64 = 1;

fn inherited(_: &Scene) -> Observed {
    let names = fs::read_dir("/proc/self/fd").expect("own descriptors").flatten();
    let numbers: Vec<i32> = names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    // The directory that is being read is open too.
    if numbers.iter().all(|number| *number <= 3) {
        Observed::Nothing("nothing")
    } else {
        Observed::Escaped(format!("{numbers:?}"))
    }
}

fn inherited_by_number(_: &Scene) -> Observed {
    Observed::of_any((3..4_096).map(|number| returned(libc::SYS_fcntl, &[number, libc::F_GETFD.into()])))
}

/// Directories among the streams would be a way up.
fn climb_from_streams(_: &Scene) -> Observed {
    Observed::of_any((0..3).map(|stream| returned(libc::SYS_fchdir, &[stream])))
}

fn variables(_: &Scene) -> Observed {
    let known = ["HOME", "LANG", "PATH", "TERM", "TMPDIR", "USER", MARKER];
    match std::env::vars().find(|(name, _)| !known.contains(&name.as_str())) {
        Some((name, _)) => Observed::Escaped(format!("{name} came along")),
        None => Observed::Nothing("nothing"),
    }
}

fn type_into(request: i64) -> Observed {
    let letter = b'x';
    Observed::of_any((0..3).map(|stream| returned(libc::SYS_ioctl, &[stream, request, address(&letter)])))
}

fn signal(number: i32) -> Observed {
    call(libc::SYS_kill, &[INIT, number.into()])
}

fn signal_by_descriptor(_: &Scene) -> Observed {
    let tried = returned(libc::SYS_pidfd_open, &[INIT, 0])
        .and_then(|pidfd| returned(libc::SYS_pidfd_send_signal, &[pidfd, libc::SIGKILL.into(), 0, 0]));
    Observed::of(tried)
}

/// Ends everyone who can be reached: with the walls up that is this attempt's own child and nobody else.
fn signal_everyone(_: &Scene) -> Observed {
    raw::ignore(libc::SIGTERM);
    let child = raw::idle_child().expect("a child");
    match returned(libc::SYS_kill, &[-1, libc::SIGTERM.into()]) {
        Ok(_) => {
            let _ = returned(libc::SYS_kill, &[child.into(), libc::SIGKILL.into()]);
            let _ = returned(libc::SYS_wait4, &[child.into(), 0, 0, 0]);
            Observed::Nothing("only its own")
        }
        Err(error) => Observed::of::<()>(Err(error)),
    }
}

/// Signals go to the owner of a descriptor, whoever set it.
fn signal_by_ownership(scene: &Scene) -> Observed {
    let (_reader, writer) = io::pipe().expect("a pipe");
    call(libc::SYS_fcntl, &[writer.as_raw_fd().into(), libc::F_SETOWN.into(), scene.process.into()])
}

fn trace(request: u32, process: i64) -> Observed {
    call(libc::SYS_ptrace, &[request.into(), process])
}

fn trace_a_sibling(_: &Scene) -> Observed {
    let child = raw::idle_child().expect("a child");
    let seen = trace(libc::PTRACE_SEIZE, child.into());
    let _ = returned(libc::SYS_kill, &[child.into(), libc::SIGKILL.into()]);
    seen
}

fn read_memory(process: i64) -> Observed {
    let (local, remote) = ([0_u8; 8], [0_u64, 8]);
    let local = [address(&local) as u64, 8];
    call(libc::SYS_process_vm_readv, &[process, address(&local), 1, address(&remote), 1, 0])
}

/// Lowering a limit of process 1 would end it, and the account of the cage with it.
fn limit_init(_: &Scene) -> Observed {
    call(libc::SYS_prlimit64, &[INIT, libc::RLIMIT_NOFILE.into(), 0, 0])
}

fn set_user(number: i64) -> Observed {
    call(number, &[0, 0, 0])
}

/// This call never fails; it tells who one was before.
fn file_user(_: &Scene) -> Observed {
    let _ = returned(libc::SYS_setfsuid, &[0]);
    match returned(libc::SYS_setfsuid, &[-1]) {
        Ok(0) => Observed::Escaped("files are opened as root".into()),
        Ok(_) | Err(_) => Observed::Nothing("unchanged"),
    }
}

fn all_capabilities(_: &Scene) -> Observed {
    const VERSION_3: u32 = 0x2008_0522;
    let (header, data) = ([VERSION_3, 0], [u32::MAX; 6]);
    call(libc::SYS_capset, &[address(&header), address(&data)])
}

fn prctl(option: i32, operands: [i64; 2]) -> Observed {
    call(libc::SYS_prctl, &[option.into(), operands[0], operands[1], 0, 0])
}

/// A filter that allows everything, on top of those that do not.
fn allow_everything_then_unshare(_: &Scene) -> Observed {
    let allow = libc::sock_filter { code: 0x06, jt: 0, jf: 0, k: libc::SECCOMP_RET_ALLOW };
    let program = libc::sock_fprog { len: 1, filter: std::ptr::from_ref(&allow).cast_mut() };
    let installed = returned(libc::SYS_seccomp, &[libc::SECCOMP_SET_MODE_FILTER.into(), 0, address(&program)]);
    match installed {
        Ok(_) => call(libc::SYS_unshare, &[libc::CLONE_NEWUSER.into()]),
        Err(error) => Observed::Escaped(format!("the scene is not set: {error}")),
    }
}

/// Rules of its own, on top of those that are there.
fn restrict_itself_then_signal(_: &Scene) -> Observed {
    let handled = [1_u64, 0, 0];
    let tried = returned(libc::SYS_landlock_create_ruleset, &[address(&handled), 8, 0])
        .and_then(|ruleset| returned(libc::SYS_landlock_restrict_self, &[ruleset, 0]));
    match tried {
        Ok(_) => call(libc::SYS_kill, &[INIT, 0]),
        Err(error) => Observed::Escaped(format!("the scene is not set: {error}")),
    }
}

/// The program reports who it runs as.
fn borrow_rights(_: &Scene) -> Observed {
    let output = Command::new(format!("/work/{LENDING}")).arg("-u").output();
    match output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).as_deref() {
        Ok("1000") => Observed::Nothing("unchanged"),
        other => Observed::Escaped(format!("{other:?}")),
    }
}

/// A program of the host, copied to where it can be written, and started from there.
fn start_from(directory: &str) -> Observed {
    let copy = format!("{directory}/own");
    let tried = fs::copy("/bin/true", &copy)
        .and_then(|_| fs::set_permissions(&copy, fs::Permissions::from_mode(0o755)))
        .and_then(|()| Command::new(&copy).status());
    Observed::of(tried)
}

/// Asks the loader, which is a program of the host, to map what must not be executed.
fn start_by_loader(_: &Scene) -> Observed {
    let loaders = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let Some(loader) = loaders.into_iter().find(|path| fs::exists(path).is_ok_and(|there| there)) else {
        return Observed::Nothing("not mapped");
    };
    match fs::copy("/bin/true", "/tmp/own").and_then(|_| Command::new(loader).arg("/tmp/own").output()) {
        Ok(output) if !output.status.success() => Observed::Nothing("not mapped"),
        other => Observed::Escaped(format!("{other:?}")),
    }
}

fn start_from_memory(flags: u32) -> Observed {
    let tried = || -> io::Result<()> {
        let number = returned(libc::SYS_memfd_create, &[address(c"own"), flags.into()])?;
        let memory = raw::owned(number);
        fs::File::from(memory.try_clone()?).write_all(&fs::read("/bin/true")?)?;
        Command::new(format!("/proc/self/fd/{}", memory.as_raw_fd())).status().map(drop)
    };
    Observed::of(tried())
}

/// Starts something that wants to stay: its own session, signals ignored, its parent gone.
fn leave_behind(scene: &Scene, count: usize) -> Observed {
    for _ in 0..count {
        let mut script = Command::new("setsid");
        script.args(["sh", "-c", "trap '' TERM HUP INT; setsid sleep \"$0\" & sleep \"$0\"", &scene.word]);
        let started = script.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0).spawn();
        if let Err(error) = started {
            return Observed::Escaped(format!("the scene is not set: {error}"));
        }
    }
    Observed::Nothing("ended with the cage")
}

fn keep_orphans(scene: &Scene) -> Observed {
    let _ = returned(libc::SYS_prctl, &[libc::PR_SET_CHILD_SUBREAPER.into(), 1]);
    leave_behind(scene, 3)
}

/// Deaf to everything that can be ignored.
fn outlive_the_clock(_: &Scene) -> Observed {
    for number in 1..=64 {
        raw::ignore(number);
    }
    loop {
        std::thread::sleep(std::time::Duration::from_secs(60));
    }
}

fn stop_itself(_: &Scene) -> Observed {
    let _ = returned(libc::SYS_kill, &[std::process::id().into(), libc::SIGSTOP.into()]);
    Observed::Escaped("it went on".into())
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // What comes along.
    attempt("inherited_descriptors", "find descriptors of the caller", Barrier::CloseOnExec, "nothing", inherited),
    attempt("inherited_by_number", "try every number", Barrier::CloseOnExec, "EBADF", inherited_by_number),
    attempt("climb_from_streams", "change into a stream", Barrier::CloseOnExec, "ENOTDIR", climb_from_streams),
    attempt("variables", "find variables of the caller", Barrier::Environment, "nothing", variables),
    attempt("terminal_of_the_caller", "find a terminal", Barrier::NoTerminal, "ENOTTY", |_| {
        type_into(libc::TCGETS as i64)
    }),
    attempt("take_a_terminal", "make one its own", Barrier::NoTerminal, "ENOTTY", |_| {
        type_into(libc::TIOCSCTTY as i64)
    }),
    attempt("type", "type into a terminal", Barrier::Seccomp("ioctl:TIOCSTI"), "EPERM", |_| {
        type_into(libc::TIOCSTI as i64)
    }),
    attempt("type_with_high_bits", "the same, with high bits", Barrier::Seccomp("ioctl:TIOCSTI"), "EPERM", |_| {
        type_into((0x5eed << 32) | libc::TIOCSTI as i64)
    }),
    attempt("paste", "paste into a console", Barrier::Seccomp("ioctl:TIOCLINUX"), "EPERM", |_| {
        type_into(libc::TIOCLINUX as i64)
    }),
    attempt("set_a_discipline", "put a driver on a terminal", Barrier::Seccomp("ioctl:TIOCSETD"), "EPERM", |_| {
        type_into(libc::TIOCSETD as i64)
    }),
    // Other processes.
    attempt("kill_process_1", "end it", Barrier::Landlock, "EPERM", |_| signal(libc::SIGKILL)),
    attempt("stop_process_1", "stop it", Barrier::Landlock, "EPERM", |_| signal(libc::SIGSTOP)),
    attempt("kill_by_descriptor", "end it by descriptor", Barrier::Landlock, "EPERM", signal_by_descriptor),
    attempt("kill_everyone", "end all processes", Barrier::PidNamespace, "only its own", signal_everyone),
    attempt("kill_a_host_process", "find one by number", Barrier::PidNamespace, "ESRCH", |scene| {
        call(libc::SYS_kill, &[scene.process.into(), 0])
    }),
    attempt("kill_a_host_group", "find its group", Barrier::PidNamespace, "ESRCH", |scene| {
        call(libc::SYS_kill, &[-i64::from(scene.process), 0])
    }),
    attempt("hold_a_host_process", "open it by number", Barrier::PidNamespace, "ESRCH or EINVAL", |scene| {
        call(libc::SYS_pidfd_open, &[scene.process.into(), 0])
    }),
    attempt("signal_by_ownership", "make it own a descriptor", Barrier::PidNamespace, "ESRCH", signal_by_ownership),
    attempt("trace_process_1", "debug it", Barrier::Seccomp("ptrace"), "EPERM", |_| trace(libc::PTRACE_SEIZE, INIT)),
    attempt("trace_a_sibling", "debug another", Barrier::Seccomp("ptrace"), "EPERM", trace_a_sibling),
    attempt("be_traced", "ask to be debugged", Barrier::Seccomp("ptrace"), "EPERM", |_| trace(libc::PTRACE_TRACEME, 0)),
    attempt("read_process_1", "read its memory", Barrier::Seccomp("process_vm_readv"), "EPERM", |_| read_memory(INIT)),
    attempt("write_process_1", "write its memory", Barrier::Seccomp("process_vm_writev"), "EPERM", |_| {
        call(libc::SYS_process_vm_writev, &[INIT, 0, 0, 0, 0, 1])
    }),
    attempt("advise_process_1", "change its memory", Barrier::Seccomp("process_madvise"), "EPERM", |_| {
        call(libc::SYS_process_madvise, &[-1, 0, 0, 0, 0])
    }),
    attempt("release_process_1", "free its memory", Barrier::Seccomp("process_mrelease"), "EPERM", |_| {
        call(libc::SYS_process_mrelease, &[-1, 0])
    }),
    attempt("take_descriptors", "take its descriptors", Barrier::Seccomp("pidfd_getfd"), "EPERM", |_| {
        call(libc::SYS_pidfd_getfd, &[-1, 0, 0])
    }),
    attempt("compare_with_process_1", "compare kernel addresses", Barrier::Seccomp("kcmp"), "EPERM", |_| {
        call(libc::SYS_kcmp, &[INIT, INIT, 99])
    }),
    attempt("limit_process_1", "change its limits", Barrier::Seccomp("prlimit64:process_1"), "EPERM", limit_init),
    // Privileges.
    attempt("become_root", "set the user", Barrier::UserNamespace, "EINVAL", |_| set_user(libc::SYS_setuid)),
    attempt("become_root_group", "set the group", Barrier::UserNamespace, "EINVAL", |_| set_user(libc::SYS_setgid)),
    attempt("become_root_thrice", "set all three users", Barrier::UserNamespace, "EINVAL", |_| {
        set_user(libc::SYS_setresuid)
    }),
    attempt("join_groups", "set groups", Barrier::UserNamespace, "EPERM", |_| set_user(libc::SYS_setgroups)),
    attempt("file_user", "open files as root", Barrier::UserNamespace, "unchanged", file_user),
    attempt("all_capabilities", "take them all", Barrier::Capabilities, "EPERM", all_capabilities),
    attempt("ambient_capability", "raise one for programs", Barrier::Capabilities, "EPERM", |_| {
        prctl(libc::PR_CAP_AMBIENT, [libc::PR_CAP_AMBIENT_RAISE.into(), 21])
    }),
    attempt("secure_bits", "let root be root again", Barrier::Capabilities, "EPERM", |_| {
        prctl(libc::PR_SET_SECUREBITS, [0, 0])
    }),
    attempt("keep_capabilities", "keep them over a change of user", Barrier::Capabilities, "EPERM", |_| {
        prctl(libc::PR_SET_KEEPCAPS, [1, 0])
    }),
    attempt("exchange_own_program", "rewrite its own memory map", Barrier::Capabilities, "EPERM", |_| {
        prctl(libc::PR_SET_MM, [libc::PR_SET_MM_START_CODE.into(), 0])
    }),
    attempt("new_privileges", "allow them again", Barrier::NoNewPrivileges, "EINVAL", |_| {
        prctl(libc::PR_SET_NO_NEW_PRIVS, [0, 0])
    }),
    attempt(
        "borrow_rights",
        "run a set-user-id program",
        Barrier::MountFlag("no set-user-id"),
        "unchanged",
        borrow_rights,
    ),
    attempt("no_filter", "switch the filter off", Barrier::SeccompPrefix, "EINVAL", |_| {
        prctl(libc::PR_SET_SECCOMP, [0, 0])
    }),
    attempt(
        "wider_filter",
        "a filter that allows all",
        Barrier::Seccomp("unshare"),
        "EPERM",
        allow_everything_then_unshare,
    ),
    attempt("wider_rules", "Landlock rules of its own", Barrier::Landlock, "EPERM", restrict_itself_then_signal),
    // Programs that were written in the cage.
    attempt("start_from_shared_memory", "start one in /dev/shm", Barrier::MountFlag("no executing"), "EACCES", |_| {
        start_from("/dev/shm")
    }),
    attempt("start_from_tmp", "start one in /tmp", Barrier::MountFlag("no executing"), "EACCES", |_| {
        start_from("/tmp")
    })
    .in_profile("research_only"),
    attempt("start_from_home", "start one at home", Barrier::MountFlag("no executing"), "EACCES", |_| {
        start_from("/home/agent")
    })
    .in_profile("research_only"),
    attempt("start_from_workspace", "start one in the workspace", Barrier::MountFlag("no executing"), "EACCES", |_| {
        start_from("/work")
    })
    .in_profile("research_only"),
    attempt(
        "start_by_loader",
        "have the loader start it",
        Barrier::MountFlag("no executing"),
        "not mapped",
        start_by_loader,
    )
    .in_profile("research_only"),
    attempt(
        "start_from_memory",
        "start one without a file",
        Barrier::Seccomp("memfd_create:programs"),
        "EACCES",
        |_| start_from_memory(0),
    )
    .in_profile("research_only"),
    attempt(
        "start_from_exec_memory",
        "the same, saying so",
        Barrier::Seccomp("memfd_create:programs"),
        "EACCES",
        |_| start_from_memory(0x10),
    )
    .in_profile("research_only"),
    // Living longer.
    attempt("daemon", "leave a process in its own session", Barrier::Init, "ended with the cage", |scene| {
        leave_behind(scene, 1)
    }),
    attempt("many_daemons", "leave several", Barrier::Init, "ended with the cage", |scene| leave_behind(scene, 5)),
    attempt("adopt_orphans", "adopt what is left", Barrier::Init, "ended with the cage", keep_orphans),
    attempt("outlive_the_clock", "ignore every signal", Barrier::Monitor, "limit WallClock", outlive_the_clock)
        .for_ms(500),
    attempt("stop_itself", "stand still for ever", Barrier::Monitor, "limit WallClock", stop_itself).for_ms(500),
];
