//! What a command cannot reach: network, processes, privileges, descriptors and settings of the host.

use std::net::TcpListener;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::Path;

use placet_sandbox::{Check, Demand, Exit, MountKind, Request, RequestError, SandboxError, State, Tier};
use tempfile::TempDir;

use crate::harness::tests;
use crate::world::{Workspace, has_groups, marker, probe, profile, refused, run, run_in, sh};

tests![
    no_socket_of_the_host_can_be_reached,
    sockets_in_read_only_directories_cannot_be_reached,
    sockets_in_the_workspace_cannot_be_reached,
    loopback_of_its_own_works,
    processes_of_the_host_do_not_exist,
    the_first_process_is_not_the_command_and_is_closed_to_it,
    there_are_no_capabilities_and_none_to_be_had,
    no_descriptor_of_the_caller_comes_along,
    settings_of_the_kernel_cannot_be_opened_for_writing,
    what_a_profile_masks_is_empty,
    the_user_of_the_cage_is_not_root_of_the_host,
    set_user_id_programs_gain_nothing,
    variables_that_loaders_obey_are_refused,
    a_profile_that_demands_landlock_gets_it_or_does_not_start,
    this_host_is_reported_as_it_is,
];

fn no_socket_of_the_host_can_be_reached() {
    let directory = TempDir::new().expect("a temporary directory");
    let path = directory.path().join("socket");
    let name = marker();
    let tcp = TcpListener::bind("127.0.0.1:0").expect("a port");
    let by_path = UnixListener::bind(&path).expect("a socket");
    let abstractly =
        UnixListener::bind_addr(&SocketAddr::from_abstract_name(&name).expect("a name")).expect("a socket");
    let port = tcp.local_addr().expect("an address").port().to_string();
    let seen = run(probe("connect", &[&port, &name, path.to_str().expect("text")])).succeeded();
    assert_eq!(seen, "tcp ECONNREFUSED\nfar ENETUNREACH\nabstract ECONNREFUSED\npath ENOENT\n");
    tcp.set_nonblocking(true).expect("a setting");
    by_path.set_nonblocking(true).expect("a setting");
    abstractly.set_nonblocking(true).expect("a setting");
    assert!(tcp.accept().is_err() && by_path.accept().is_err() && abstractly.accept().is_err());
}

fn sockets_in_read_only_directories_cannot_be_reached() {
    let directory = TempDir::new().expect("a temporary directory");
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("open");
    std::fs::write(directory.path().join("file"), "shown").expect("a file");
    let listener = open_socket(&directory.path().join("socket"));
    let request = probe("connect", &["1", &marker(), "/mnt/shared/socket"]).read_only(directory.path(), "/mnt/shared");
    let seen = run(request).succeeded();
    assert!(seen.ends_with("path ECONNREFUSED\n") || seen.ends_with("path EACCES\n"), "{seen}");
    assert!(listener.accept().is_err(), "nobody came");
    let late = sh("cat /mnt/shared/file; touch /mnt/shared/new 2>&1").read_only(directory.path(), "/mnt/shared");
    assert!(run(late).stdout.starts_with("shown"), "files show, and nothing can be written");
    assert!(!directory.path().join("new").exists());
}

fn sockets_in_the_workspace_cannot_be_reached() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.file("run")).expect("a directory");
    let listener = open_socket(&workspace.file("run/socket"));
    let seen = run(probe("connect", &["1", &marker(), "/work/run/socket"]).workspace(workspace.path())).succeeded();
    assert!(seen.ends_with("path ECONNREFUSED\n") || seen.ends_with("path EACCES\n"), "{seen}");
    assert!(listener.accept().is_err(), "nobody came");
    let own = "import socket; a = socket.socket(socket.AF_UNIX); a.bind('/work/own'); a.listen(1); \
               b = socket.socket(socket.AF_UNIX); b.connect('/work/own'); print('connected')";
    let request = Request::new(["/usr/bin/python3", "-c", own]).workspace(workspace.path());
    assert_eq!(run(request).succeeded(), "connected\n", "sockets of the cage's own work");
}

/// Listens on a socket of the host to which every user may connect.
fn open_socket(path: &Path) -> UnixListener {
    let listener = UnixListener::bind(path).expect("a socket");
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("open to everybody");
    listener.set_nonblocking(true).expect("a setting");
    listener
}

fn loopback_of_its_own_works() {
    assert_eq!(run(sh("cat /proc/net/dev | tail -n +3 | cut -d: -f1")).succeeded().trim(), "lo");
    assert!(run(sh("cat /proc/net/fib_trie")).succeeded().contains("127.0.0.1"));
}

fn processes_of_the_host_do_not_exist() {
    let word = marker();
    let script = format!(
        ": {word}; cat /proc/[0-9]*/cmdline | tr '\\0' '\\n' | grep -c . ; echo $$; kill -0 {}",
        std::process::id()
    );
    let seen = run(sh(&script));
    let numbers: Vec<u32> = seen.stdout.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(numbers.len() == 2 && numbers.iter().all(|number| *number < 20), "{seen:?}");
    assert_ne!(seen.exit, Exit::Code(0), "a process of the host has been found");
}

fn the_first_process_is_not_the_command_and_is_closed_to_it() {
    assert_ne!(run(sh("echo $$")).succeeded(), "1\n");
    let seen = run(sh("ls /proc/1/fd /proc/1/root; cat /proc/1/environ; kill -9 1; kill -STOP 1; echo alive"));
    assert_eq!(seen.stdout, "alive\n");
    assert_eq!(seen.exit, Exit::Code(0));
}

fn there_are_no_capabilities_and_none_to_be_had() {
    let status = run(sh("cat /proc/self/status")).succeeded();
    let line = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim).unwrap_or("missing");
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapBnd:", "CapAmb:"] {
        assert_eq!(line(set), "0000000000000000", "{set}");
    }
    assert_eq!((line("NoNewPrivs:"), line("Seccomp:")), ("1", "2"));
}

fn no_descriptor_of_the_caller_comes_along() {
    let trap = TempDir::new().expect("a temporary directory");
    let trap = std::fs::File::open(trap.path()).expect("a descriptor");
    // This duplicate survives exec, unlike descriptors of the standard library.
    let inherited: Vec<_> = (0..5).map(|_| rustix::io::dup(trap.as_fd()).expect("a descriptor")).collect();
    let seen = run(probe("descriptors", &[])).succeeded();
    assert_eq!(seen, "0 1 2 3\n", "3 is the directory the probe reads");
    drop(inherited);
}

fn settings_of_the_kernel_cannot_be_opened_for_writing() {
    let paths = ["/proc/sys/kernel/core_pattern", "/proc/sys/vm/overcommit_memory", "/proc/sys/kernel/hostname"];
    let seen = run(probe("open", &paths)).succeeded();
    for line in seen.lines() {
        assert!(line.ends_with("EROFS") || line.ends_with("EACCES"), "{line}");
    }
    assert_eq!(seen.lines().count(), paths.len());
}

fn what_a_profile_masks_is_empty() {
    let masked: Vec<_> =
        profile().mounts().iter().filter(|mount| matches!(mount.what, MountKind::Masked)).cloned().collect();
    let there: Vec<_> = masked.iter().map(|mount| mount.at.as_ref()).filter(|path| Path::new(path).exists()).collect();
    assert!(!there.is_empty(), "every kernel has some of them");
    for path in there {
        let seen = run(sh(&format!("if test -d {path}; then ls {path}; else stat -c %t:%T {path}; fi"))).succeeded();
        assert!(["", "1:3\n"].contains(&seen.as_str()), "{path}: {seen}");
    }
}

fn the_user_of_the_cage_is_not_root_of_the_host() {
    let map = run(sh("cat /proc/self/uid_map /proc/self/gid_map")).succeeded();
    let numbers: Vec<u32> = map.split_whitespace().map(|word| word.parse().expect("a number")).collect();
    let [inside, outside, count, ..] = numbers[..] else { panic!("{map}") };
    assert_eq!((inside, count), (1_000, 1));
    assert_ne!(outside, 0);
    assert_eq!(numbers.len(), 6, "one line each: {map}");
}

fn set_user_id_programs_gain_nothing() {
    let seen = run(sh(
        "test -u /usr/bin/su || exit 9; findmnt -no OPTIONS /usr 2>/dev/null || grep ' /usr ' /proc/self/mounts",
    ));
    if seen.exit != Exit::Code(9) {
        assert!(seen.stdout.contains("nosuid") && seen.stdout.contains("ro"), "{seen:?}");
    }
}

fn variables_that_loaders_obey_are_refused() {
    let error = refused(Request::new(["true"]).env("LD_PRELOAD", "/work/evil.so"));
    assert!(matches!(error, SandboxError::Request(RequestError::VariableRefused { .. })), "{error}");
}

fn a_profile_that_demands_landlock_gets_it_or_does_not_start() {
    let demanding = profile().with_landlock(Demand::Required);
    let there =
        placet_sandbox::probe().checks.iter().any(|check| check.name == "landlock" && check.state == State::Enforced);
    if there {
        // Its scope forbids signals to processes outside, of which process 1 is the only one in sight.
        assert_eq!(run_in(&demanding, probe("signal_init", &[])).succeeded(), "EPERM\n");
    } else {
        let old = placet_sandbox::launch(&demanding, Request::new(["true"]));
        assert!(old.is_ok() || matches!(old, Err(SandboxError::HostLacks { .. })));
    }
}

fn this_host_is_reported_as_it_is() {
    let report = placet_sandbox::probe();
    assert!(!matches!(report.tier, Tier::Unavailable { .. }), "{report:?}");
    let may_be_missing =
        |check: &Check| ["landlock", "user per cage"].contains(&check.name) || check.name.starts_with("control group");
    let own_user = report.checks.iter().find(|check| check.name == "user per cage").expect("a check");
    assert_eq!(own_user.state == State::Enforced, rustix::process::geteuid().is_root(), "{own_user:?}");
    assert!(report.checks.iter().all(|check| check.todo.is_some() == (check.state == State::Missing)), "{report:?}");
    assert!(report.checks.iter().all(|check| may_be_missing(check) || check.state == State::Enforced), "{report:?}");
    assert_eq!(report.checks.iter().filter(|check| check.name.starts_with("control group")).count(), 5);
    // Limits that the kernel does not hold for the whole tree are no secret.
    assert!(has_groups() || matches!(report.tier, Tier::Degraded { .. }), "{report:?}");
    assert!(report.checks.iter().any(|check| check.name == "cage"), "the verdict rests on a trial");
}
