//! Attempts on the kernel: calls that change the machine, the walls or other namespaces.
//!
//! Nearly every row makes one call with operands for which the kernel itself would answer otherwise than the filter
//! does, and which do nothing if they are accepted.

use libc::{
    CLONE_NEWCGROUP, CLONE_NEWIPC, CLONE_NEWNET, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWUSER, CLONE_NEWUTS, SIGCHLD,
};

use crate::attempt::{Attempt, Barrier, Observed, attempt};
use crate::raw::{address, call, path};
use crate::scene::Scene;

/// A namespace of time; the C library's headers do not name it on every architecture.
const CLONE_NEWTIME: i32 = 0x80;

/// No descriptor.
const NONE: i64 = -1;

/// Numbers that are the same on every architecture, for calls the headers do not name yet.
const STATMOUNT: i64 = 457;
const LISTMOUNT: i64 = 458;
const OPEN_TREE_ATTR: i64 = 467;

const FROM_THE_FUTURE: i64 = 470;
const X32: i64 = 1 << 30;

/// One call with plain operands, refused by the rule of this name.
macro_rules! refused {
    ($name:literal, $tries:literal, $rule:literal, $errno:literal, $number:expr, $operands:expr) => {
        attempt($name, $tries, Barrier::Seccomp($rule), $errno, |_| call($number, &$operands))
    };
}

fn bind_the_canary(scene: &Scene) -> Observed {
    let (from, to) = (path(&scene.canary), path("/work"));
    call(libc::SYS_mount, &[address(from.as_c_str()), address(to.as_c_str()), 0, libc::MS_BIND as i64])
}

fn remount_writable(at: &str) -> Observed {
    let (nothing, at) = (path("none"), path(at));
    let flags = (libc::MS_REMOUNT | libc::MS_BIND) as i64;
    call(libc::SYS_mount, &[address(nothing.as_c_str()), address(at.as_c_str()), 0, flags])
}

fn mount_proc(_: &Scene) -> Observed {
    let (kind, at) = (path("proc"), path("/tmp"));
    call(libc::SYS_mount, &[address(kind.as_c_str()), address(at.as_c_str()), address(kind.as_c_str())])
}

/// With a shift, so that a filter that looks at all 64 bits of an `int` would be passed.
fn with_high_bits(number: i64) -> Observed {
    call(libc::SYS_clone, &[(1 << 40) | number | i64::from(SIGCHLD)])
}

fn unshare(flag: i32) -> Observed {
    call(libc::SYS_unshare, &[i64::from(flag)])
}

fn clone(flag: i32) -> Observed {
    call(libc::SYS_clone, &[i64::from(flag | SIGCHLD)])
}

fn settimeofday(_: &Scene) -> Observed {
    let invalid = [0_i64, 2_000_000];
    call(libc::SYS_settimeofday, &[address(&invalid)])
}

fn acct(_: &Scene) -> Observed {
    let nowhere = path("/nonexistent/accounting");
    call(libc::SYS_acct, &[address(nowhere.as_c_str())])
}

fn i386(_: &Scene) -> Observed {
    #[cfg(target_arch = "x86_64")]
    {
        use crate::raw::{by_i386_gate, in_child};
        match in_child(by_i386_gate) {
            Ok(status) if libc::WIFSIGNALED(status) && libc::WTERMSIG(status) == libc::SIGSYS => {
                Observed::Nothing("SIGSYS")
            }
            other => Observed::Escaped(format!("the child ended with {other:?}")),
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    Observed::Nothing("SIGSYS")
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    // The view of the cage.
    attempt("bind_mount", "bind the canary into the workspace", Barrier::Seccomp("mount"), "EPERM", bind_the_canary),
    attempt("remount_root", "make the root writable", Barrier::Seccomp("mount"), "EPERM", |_| remount_writable("/")),
    attempt("remount_usr", "make programs writable", Barrier::Seccomp("mount"), "EPERM", |_| remount_writable("/usr")),
    attempt("remount_proc_sys", "make kernel settings writable", Barrier::Seccomp("mount"), "EPERM", |_| {
        remount_writable("/proc/sys")
    }),
    attempt("mount_proc", "mount process information anew", Barrier::Seccomp("mount"), "EPERM", mount_proc),
    refused!("umount", "uncover what a mount hides", "umount2", "EPERM", libc::SYS_umount2, [0]),
    refused!("pivot_root", "change the root", "pivot_root", "EPERM", libc::SYS_pivot_root, [0, 0]),
    refused!("chroot", "change the root the old way", "chroot", "EPERM", libc::SYS_chroot, [0]),
    refused!("open_tree", "take a mount in hand", "open_tree", "ENOSYS", libc::SYS_open_tree, [NONE, 0, 1]),
    refused!("open_tree_attr", "the same, newer", "open_tree_attr", "ENOSYS", OPEN_TREE_ATTR, [NONE, 0, 1]),
    refused!("move_mount", "put a mount elsewhere", "move_mount", "ENOSYS", libc::SYS_move_mount, [NONE, 0, NONE, 0]),
    refused!("fsopen", "begin a file system", "fsopen", "ENOSYS", libc::SYS_fsopen, [0, 0]),
    refused!("fsconfig", "configure a file system", "fsconfig", "ENOSYS", libc::SYS_fsconfig, [NONE, 0]),
    refused!("fsmount", "mount a file system", "fsmount", "ENOSYS", libc::SYS_fsmount, [NONE, 0]),
    refused!("fspick", "pick a mounted file system", "fspick", "ENOSYS", libc::SYS_fspick, [NONE, 0]),
    refused!("mount_setattr", "lift read-only", "mount_setattr", "ENOSYS", libc::SYS_mount_setattr, [NONE, 0]),
    refused!("statmount", "ask where a mount comes from", "statmount", "ENOSYS", STATMOUNT, [0]),
    refused!("listmount", "list mounts by number", "listmount", "ENOSYS", LISTMOUNT, [0]),
    // Namespaces.
    attempt("unshare_user", "a new user namespace", Barrier::Seccomp("unshare"), "EPERM", |_| unshare(CLONE_NEWUSER)),
    attempt("unshare_mount", "a new mount namespace", Barrier::Seccomp("unshare"), "EPERM", |_| unshare(CLONE_NEWNS)),
    attempt("unshare_pid", "a new pid namespace", Barrier::Seccomp("unshare"), "EPERM", |_| unshare(CLONE_NEWPID)),
    attempt("unshare_net", "a new network namespace", Barrier::Seccomp("unshare"), "EPERM", |_| unshare(CLONE_NEWNET)),
    attempt("unshare_ipc", "a new ipc namespace", Barrier::Seccomp("unshare"), "EPERM", |_| unshare(CLONE_NEWIPC)),
    attempt("unshare_uts", "a new uts namespace", Barrier::Seccomp("unshare"), "EPERM", |_| unshare(CLONE_NEWUTS)),
    attempt("unshare_cgroup", "a new cgroup namespace", Barrier::Seccomp("unshare"), "EPERM", |_| {
        unshare(CLONE_NEWCGROUP)
    }),
    attempt("unshare_time", "a new time namespace", Barrier::Seccomp("unshare"), "EPERM", |_| unshare(CLONE_NEWTIME)),
    attempt("clone_user", "a child in a new user namespace", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        clone(CLONE_NEWUSER)
    }),
    attempt("clone_mount", "a child in a new mount namespace", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        clone(CLONE_NEWNS)
    }),
    attempt("clone_pid", "a child in a new pid namespace", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        clone(CLONE_NEWPID)
    }),
    attempt("clone_net", "a child in a new network namespace", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        clone(CLONE_NEWNET)
    }),
    attempt("clone_ipc", "a child in a new ipc namespace", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        clone(CLONE_NEWIPC)
    }),
    attempt("clone_uts", "a child in a new uts namespace", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        clone(CLONE_NEWUTS)
    }),
    attempt("clone_cgroup", "a child in a new cgroup namespace", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        clone(CLONE_NEWCGROUP)
    }),
    attempt("clone_high_bits", "the same, with high bits set", Barrier::Seccomp("clone:namespaces"), "EPERM", |_| {
        with_high_bits(i64::from(CLONE_NEWUSER))
    }),
    refused!("clone3", "a child whose flags are behind a pointer", "clone3", "ENOSYS", libc::SYS_clone3, [0, 0]),
    refused!("setns", "enter another namespace", "setns", "EPERM", libc::SYS_setns, [NONE, 0]),
    refused!("sethostname", "rename the host", "sethostname", "EPERM", libc::SYS_sethostname, [0, 1_000]),
    refused!("setdomainname", "rename its domain", "setdomainname", "EPERM", libc::SYS_setdomainname, [0, 1_000]),
    // Numbers the filter must not be blind to.
    attempt("i386_gate", "a call by numbers of another architecture", Barrier::SeccompPrefix, "SIGSYS", i386),
    attempt("x32_number", "a call by an x32 number", Barrier::SeccompPrefix, "ENOSYS", |_| call(X32 | 39, &[])),
    attempt("unknown_number", "a call newer than the table", Barrier::SeccompPrefix, "ENOSYS", |_| {
        call(FROM_THE_FUTURE, &[])
    }),
    // Interfaces with a large surface.
    refused!("io_uring_setup", "a ring of calls", "io_uring_setup", "ENOSYS", libc::SYS_io_uring_setup, [1, 0]),
    refused!("io_uring_enter", "calls through a ring", "io_uring_enter", "ENOSYS", libc::SYS_io_uring_enter, [NONE]),
    refused!(
        "io_uring_register",
        "files of a ring",
        "io_uring_register",
        "ENOSYS",
        libc::SYS_io_uring_register,
        [NONE]
    ),
    refused!("bpf", "load a program into the kernel", "bpf", "EPERM", libc::SYS_bpf, [99, 0, 0]),
    refused!(
        "perf_event_open",
        "watch the kernel",
        "perf_event_open",
        "EPERM",
        libc::SYS_perf_event_open,
        [0, 0, NONE]
    ),
    refused!("userfaultfd", "stall the kernel", "userfaultfd", "EPERM", libc::SYS_userfaultfd, [1 << 20]),
    refused!("memfd_secret", "memory nobody can inspect", "memfd_secret", "ENOSYS", libc::SYS_memfd_secret, [1 << 20]),
    refused!("keyctl", "look at the session's keys", "keyctl", "EPERM", libc::SYS_keyctl, [0, -3, 0]),
    refused!("add_key", "leave a key for others", "add_key", "EPERM", libc::SYS_add_key, [0, 0]),
    refused!("request_key", "make the host fetch a key", "request_key", "EPERM", libc::SYS_request_key, [0, 0]),
    refused!("personality", "switch randomisation off", "personality", "EPERM", libc::SYS_personality, [0x0004_0000]),
    refused!("fanotify", "watch whole file systems", "fanotify_init", "EPERM", libc::SYS_fanotify_init, [1 << 30, 0]),
    refused!("lookup_dcookie", "paths by number", "lookup_dcookie", "ENOSYS", libc::SYS_lookup_dcookie, [0, 0]),
    // The machine.
    refused!("kexec_load", "replace the kernel", "kexec_load", "EPERM", libc::SYS_kexec_load, [0, 1_000, 0, 0]),
    refused!("kexec_file", "replace it by a file", "kexec_file_load", "EPERM", libc::SYS_kexec_file_load, [NONE, NONE]),
    refused!("init_module", "load a module", "init_module", "EPERM", libc::SYS_init_module, [0, 0, 0]),
    refused!("finit_module", "load a module by file", "finit_module", "EPERM", libc::SYS_finit_module, [NONE, 0]),
    refused!("delete_module", "remove a module", "delete_module", "EPERM", libc::SYS_delete_module, [0, 0]),
    refused!("reboot", "stop the machine, with a wrong magic number", "reboot", "EPERM", libc::SYS_reboot, [0, 0, 0]),
    refused!("swapon", "use a file as memory", "swapon", "EPERM", libc::SYS_swapon, [0, 0]),
    refused!("swapoff", "take memory away", "swapoff", "EPERM", libc::SYS_swapoff, [0]),
    attempt("acct", "record processes of the host", Barrier::Seccomp("acct"), "EPERM", acct),
    refused!("syslog", "read messages of the kernel", "syslog", "EPERM", libc::SYS_syslog, [99, 0, 0]),
    refused!("vhangup", "hang up a terminal", "vhangup", "EPERM", libc::SYS_vhangup, []),
    refused!("quotactl", "change quotas", "quotactl", "EPERM", libc::SYS_quotactl, [NONE, 0]),
    refused!("quotactl_fd", "change quotas by file", "quotactl_fd", "EPERM", libc::SYS_quotactl_fd, [NONE, NONE]),
    attempt("settimeofday", "set the clock", Barrier::Seccomp("settimeofday"), "EPERM", settimeofday),
    refused!("clock_settime", "set a clock", "clock_settime", "EPERM", libc::SYS_clock_settime, [99, 0]),
    refused!("clock_adjtime", "bend a clock", "clock_adjtime", "EPERM", libc::SYS_clock_adjtime, [99, 0]),
    refused!("adjtimex", "bend the clock", "adjtimex", "EPERM", libc::SYS_adjtimex, [0]),
    refused!("mbind", "place memory", "mbind", "EPERM", libc::SYS_mbind, [1, 1]),
    refused!("set_mempolicy", "place memory to come", "set_mempolicy", "EPERM", libc::SYS_set_mempolicy, [99]),
    refused!("home_node", "place memory by node", "set_mempolicy_home_node", "ENOSYS", HOME_NODE, [1, 1]),
    refused!("migrate_pages", "move memory of others", "migrate_pages", "EPERM", libc::SYS_migrate_pages, [1, 1]),
    refused!("move_pages", "move pages of others", "move_pages", "EPERM", libc::SYS_move_pages, [1, 1]),
    refused!("nfsservctl", "a call that is gone", "nfsservctl", "ENOSYS", libc::SYS_nfsservctl, []),
    #[cfg(target_arch = "x86_64")]
    refused!("iopl", "reach ports of the hardware", "iopl", "EPERM", libc::SYS_iopl, [0]),
    #[cfg(target_arch = "x86_64")]
    refused!("ioperm", "reach single ports", "ioperm", "EPERM", libc::SYS_ioperm, [0, 0, 0]),
    #[cfg(target_arch = "x86_64")]
    refused!("modify_ldt", "descriptor tables", "modify_ldt", "EPERM", libc::SYS_modify_ldt, [99]),
    #[cfg(target_arch = "x86_64")]
    refused!("uselib", "load a library the old way", "uselib", "ENOSYS", libc::SYS_uselib, [0]),
    #[cfg(target_arch = "x86_64")]
    refused!("sysctl", "kernel settings by number", "_sysctl", "ENOSYS", libc::SYS__sysctl, [0]),
    #[cfg(target_arch = "x86_64")]
    refused!("sysfs", "drivers of the host by number", "sysfs", "ENOSYS", libc::SYS_sysfs, [3]),
];

const HOME_NODE: i64 = libc::SYS_set_mempolicy_home_node;
