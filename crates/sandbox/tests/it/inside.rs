//! Probes: what this binary does when it finds itself inside a cage. Harmless, and refused anywhere else.
#![expect(clippy::print_stdout, reason = "a probe answers on standard output")]
#![expect(unsafe_code, reason = "the probes make system calls that no safe wrapper would make")]

use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixStream};
use std::process::ExitCode;
use std::time::Duration;

pub(crate) const FLAG: &str = "--inside";

/// Runs one probe.
pub(crate) fn run(probe: &str, operands: &[&str]) -> ExitCode {
    if !caged() {
        println!("this is not a cage; the probe does nothing");
        return ExitCode::FAILURE;
    }
    match (probe, operands) {
        ("arguments", arguments) => arguments.iter().for_each(|argument| println!("{argument:?}")),
        ("descriptors", []) => descriptors(),
        ("syscalls", left_out) => syscalls(left_out),
        ("open", paths) => paths.iter().for_each(|path| open_for_writing(path)),
        ("connect", [port, name, path]) => connect(port, name, path),
        ("call", [port, words]) => call(port, words),
        ("listen_beside", [port]) => println!("{}", said(listen_beside(port))),
        ("open_files", []) => println!("{}", count_open_files()),
        ("processes", [seconds]) => println!("{}", count_processes(seconds)),
        ("memory", [bytes]) => println!("{}", outcome(i64::from(!can_allocate(bytes)) * -i64::from(libc::ENOMEM))),
        ("hold_memory", [bytes]) => hold(bytes),
        ("touch_memory", [bytes]) => println!("{}", touch(bytes)),
        ("hide_and_write", [path]) => hide_and_write(path),
        ("write_without_end", []) => write_without_end(),
        ("wake_by_timer", []) => wake_by_timer(),
        ("signal_init", []) => println!("{}", attempt(libc::SYS_kill, [1, 0, 0, 0, 0])),
        _ => {
            println!("no probe `{probe}` with {operands:?}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn caged() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let says = |line: &str| status.lines().any(|each| each == line);
    rustix::system::uname().nodename() == c"cage" && says("NoNewPrivs:\t1") && says("Seccomp:\t2")
}

fn descriptors() {
    let numbers = fs::read_dir("/proc/self/fd").expect("own descriptors").flatten();
    let mut numbers: Vec<_> = numbers.map(|entry| entry.file_name().into_string().expect("a number")).collect();
    numbers.sort();
    println!("{}", numbers.join(" "));
}

fn open_for_writing(path: &str) {
    let opened = OpenOptions::new().write(true).open(path);
    println!(
        "{path} {}",
        opened.map_or_else(|error| outcome(-i64::from(error.raw_os_error().unwrap_or(0))), |_| outcome(0))
    );
}

fn connect(port: &str, abstract_name: &str, path: &str) {
    let port = port.parse().expect("a port");
    let timeout = Duration::from_secs(2);
    let tcp = TcpStream::connect_timeout(&([127, 0, 0, 1], port).into(), timeout);
    let address = SocketAddr::from_abstract_name(abstract_name).expect("a name");
    let far = TcpStream::connect_timeout(&([192, 0, 2, 1], 80).into(), timeout);
    println!("tcp {}", said(tcp));
    println!("far {}", said(far));
    println!("abstract {}", said(UnixStream::connect_addr(&address)));
    println!("path {}", said(UnixStream::connect(path)));
}

/// Says something to a loopback port, and what came back.
fn call(port: &str, words: &str) {
    let tried = TcpStream::connect(("127.0.0.1", port.parse().expect("a port"))).and_then(|mut stream| {
        stream.write_all(words.as_bytes())?;
        stream.shutdown(std::net::Shutdown::Write)?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).map(|_| answer)
    });
    println!("{}", tried.unwrap_or_else(|error| said::<()>(Err(error))));
}

/// Asks for a port that is in use, in the one way by which Linux lets several listen.
fn listen_beside(port: &str) -> std::io::Result<()> {
    use rustix::net::{AddressFamily, SocketType, bind, listen, socket, sockopt};
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    sockopt::set_socket_reuseaddr(&socket, true)?;
    sockopt::set_socket_reuseport(&socket, true)?;
    bind(&socket, &std::net::SocketAddrV4::new([127, 0, 0, 1].into(), port.parse().expect("a port")))?;
    Ok(listen(&socket, 1)?)
}

fn said<T>(result: std::io::Result<T>) -> String {
    result.map_or_else(|error| outcome(-i64::from(error.raw_os_error().unwrap_or(0))), |_| outcome(0))
}

fn count_open_files() -> usize {
    let files: Vec<File> = std::iter::from_fn(|| File::open("/dev/null").ok()).take(10_000).collect();
    files.len()
}

/// And stays with them for a while, so that somebody can look.
fn count_processes(seconds: &str) -> usize {
    let sleepers = std::iter::from_fn(|| std::process::Command::new("sleep").arg(seconds).spawn().ok()).take(1_000);
    let sleepers: Vec<_> = sleepers.collect();
    std::thread::sleep(Duration::from_secs(20));
    sleepers.len()
}

fn can_allocate(bytes: &str) -> bool {
    Vec::<u8>::new().try_reserve_exact(bytes.parse().expect("a number")).is_ok()
}

/// Memory counts when it is used, not when it is asked for.
fn touch(bytes: &str) -> usize {
    let pages = vec![1_u8; bytes.parse().expect("a number")];
    pages.iter().step_by(4_096).map(|byte| usize::from(*byte)).sum()
}

fn hold(bytes: &str) {
    let held = vec![1_u8; bytes.parse().expect("a number")];
    std::thread::sleep(Duration::from_secs(20));
    drop(held);
}

/// Writes until it is stopped, as a process that does not let others of its user look at it.
fn hide_and_write(path: &str) {
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable).expect("allowed");
    let mut file = File::create(path).expect("a file");
    for _ in 0..100 {
        file.write_all(&[0; 1 << 20]).expect("written");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Threads that write, and others that have new processes write, as fast as they can.
fn write_without_end() {
    let append = |name: String| move || OpenOptions::new().append(true).create(true).open(&name)?.write_all(b".");
    for number in 0..3 {
        let write = append(format!("thread-{number}"));
        std::thread::spawn(move || while write().is_ok() {});
    }
    for number in 0..3 {
        let script = format!("echo . >> spawned-{number}; (echo . >> orphan-{number} &)");
        let spawn = move || std::process::Command::new("sh").args(["-c", &script]).status();
        std::thread::spawn(move || while spawn().is_ok() {});
    }
    let write = append("main".to_owned());
    while write().is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Writes every millisecond, and has the kernel send it the signal to go on, again and again.
fn wake_by_timer() {
    extern "C" fn heard(_: libc::c_int) {}
    // What is ignored is not sent again; what is handled is.
    // SAFETY: the handler does nothing.
    unsafe { libc::signal(libc::SIGCONT, heard as *const () as libc::sighandler_t) };
    // SAFETY: all-zero bytes are valid for both, the kernel copies them, and `timer` is written before it is used.
    unsafe {
        let mut event: libc::sigevent = std::mem::zeroed();
        (event.sigev_notify, event.sigev_signo) = (libc::SIGEV_SIGNAL, libc::SIGCONT);
        let mut timer: libc::timer_t = std::mem::zeroed();
        assert_eq!(libc::timer_create(libc::CLOCK_MONOTONIC, &raw mut event, &raw mut timer), 0);
        let often = libc::timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        let setting = libc::itimerspec { it_interval: often, it_value: often };
        assert_eq!(libc::timer_settime(timer, 0, &raw const setting, std::ptr::null_mut()), 0);
    }
    let mut file = File::create("awake").expect("a file");
    while file.write_all(b".").is_ok() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Each is a call that would do nothing worth having even if it were let through.
fn syscalls(left_out: &[&str]) {
    let zeros = [0_u8; 256];
    let zeros = zeros.as_ptr() as i64;
    let new_user = i64::from(libc::CLONE_NEWUSER | libc::SIGCHLD);
    let terminal = libc::TIOCSTI as i64;
    let high = 1 << 40;
    let (here, canary) = (i64::from(libc::AT_FDCWD), c"canary".as_ptr() as i64);
    let create = i64::from(libc::O_CREAT | libc::O_WRONLY);
    let calls: &[(&str, i64, [i64; 5])] = &[
        ("io_uring_setup", libc::SYS_io_uring_setup, [1, zeros, 0, 0, 0]),
        ("keyctl", libc::SYS_keyctl, [0, -4, 0, 0, 0]),
        ("add_key", libc::SYS_add_key, [0, 0, 0, 0, 0]),
        ("request_key", libc::SYS_request_key, [0, 0, 0, 0, 0]),
        ("userfaultfd", libc::SYS_userfaultfd, [1, 0, 0, 0, 0]),
        ("bpf", libc::SYS_bpf, [0, 0, 0, 0, 0]),
        ("perf_event_open", libc::SYS_perf_event_open, [0, 0, 0, 0, 0]),
        ("unshare", libc::SYS_unshare, [i64::from(libc::CLONE_NEWUSER), 0, 0, 0, 0]),
        ("clone_newuser", libc::SYS_clone, [new_user, 0, 0, 0, 0]),
        ("clone3", libc::SYS_clone3, [0, 0, 0, 0, 0]),
        ("setns", libc::SYS_setns, [-1, 0, 0, 0, 0]),
        ("mount", libc::SYS_mount, [0, 0, 0, 0, 0]),
        ("umount2", libc::SYS_umount2, [0, 0, 0, 0, 0]),
        ("chroot", libc::SYS_chroot, [0, 0, 0, 0, 0]),
        ("fsopen", libc::SYS_fsopen, [0, 0, 0, 0, 0]),
        ("open_tree", libc::SYS_open_tree, [-1, 0, 0, 0, 0]),
        ("mount_setattr", libc::SYS_mount_setattr, [-1, 0, 0, 0, 0]),
        ("ptrace", libc::SYS_ptrace, [0, 0, 0, 0, 0]),
        ("process_vm_readv", libc::SYS_process_vm_readv, [1, 0, 0, 0, 0]),
        ("pidfd_getfd", libc::SYS_pidfd_getfd, [-1, 0, 0, 0, 0]),
        ("name_to_handle_at", libc::SYS_name_to_handle_at, [-1, 0, 0, 0, 0]),
        ("open_by_handle_at", libc::SYS_open_by_handle_at, [-1, 0, 0, 0, 0]),
        ("personality", libc::SYS_personality, [0x0004_0000, 0, 0, 0, 0]),
        ("tiocsti", libc::SYS_ioctl, [0, terminal, zeros, 0, 0]),
        ("tiocsti_high", libc::SYS_ioctl, [0, terminal | high, zeros, 0, 0]),
        ("open_setuid", libc::SYS_openat, [here, canary, create, 0o4755, 0]),
        ("open_plain", libc::SYS_openat, [here, canary, create, 0o755, 0]),
        ("chmod_setuid", libc::SYS_fchmodat, [here, canary, 0o4755, 0, 0]),
        ("chmod_plain", libc::SYS_fchmodat, [here, canary, 0o700, 0, 0]),
        ("openat2", libc::SYS_openat2, [here, canary, zeros, 24, 0]),
        ("netlink", libc::SYS_socket, [i64::from(libc::AF_NETLINK), 3, 0, 0, 0]),
        ("packet", libc::SYS_socket, [i64::from(libc::AF_PACKET), 3, 0, 0, 0]),
        ("vsock", libc::SYS_socket, [i64::from(libc::AF_VSOCK), 1, 0, 0, 0]),
        ("alg", libc::SYS_socket, [i64::from(libc::AF_ALG), 5, 0, 0, 0]),
        ("sctp", libc::SYS_socket, [i64::from(libc::AF_INET), 1, i64::from(libc::IPPROTO_SCTP), 0, 0]),
        ("x32_getpid", 0x4000_0000 | 39, [0; 5]),
        ("from_the_future", 470, [0; 5]),
        ("getpid", libc::SYS_getpid, [0; 5]),
    ];
    for (name, number, arguments) in calls.iter().filter(|call| !left_out.contains(&call.0)) {
        println!("{name} {}", attempt(*number, *arguments));
    }
}

fn attempt(number: i64, [a, b, c, d, e]: [i64; 5]) -> String {
    // SAFETY: the table passes null, plain numbers or a zeroed buffer that outlives the call; a child that a call
    // would create ends at once.
    let returned = unsafe { libc::syscall(number, a, b, c, d, e) };
    if number == libc::SYS_clone && returned == 0 {
        // SAFETY: ends the child before it could run anything of this program.
        unsafe { libc::_exit(0) }
    }
    let code = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    outcome(if returned < 0 { -i64::from(code) } else { 0 })
}

/// `done`, or the name of the error.
fn outcome(code: i64) -> String {
    let known = [
        (0, "done"),
        (libc::EPERM, "EPERM"),
        (libc::ENOENT, "ENOENT"),
        (libc::EACCES, "EACCES"),
        (libc::ENOMEM, "ENOMEM"),
        (libc::EROFS, "EROFS"),
        (libc::ENOSYS, "ENOSYS"),
        (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
        (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
        (libc::ENETUNREACH, "ENETUNREACH"),
        (libc::ECONNREFUSED, "ECONNREFUSED"),
        (libc::EADDRINUSE, "EADDRINUSE"),
    ];
    let name = known.iter().find(|(number, _)| -i64::from(*number) == code).map(|(_, name)| (*name).to_owned());
    name.unwrap_or_else(|| format!("error {}", -code))
}
