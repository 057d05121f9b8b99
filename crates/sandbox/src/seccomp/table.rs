//! The refused system calls, each with its reason. Everything not listed is allowed; numbers newer than the table do
//! not exist (see the prefix filter).
//!
//! `EPERM` is the usual answer. `ENOSYS` stands where programs probe for a feature and have a way around it.

use libc::{EACCES, EAFNOSUPPORT, ENOSYS, EPERM, EPROTONOSUPPORT};

use super::{Comparison, Condition, SyscallRule};

type Conditions = &'static [&'static [Condition]];

const ALWAYS: Conditions = &[];

const fn equal(argument: u8, value: i32) -> Condition {
    Condition { argument, is: Comparison::Equal(value as u32) }
}

const fn other(argument: u8, value: i32) -> Condition {
    Condition { argument, is: Comparison::Other(value as u32) }
}

const fn bit(argument: u8, bit: i32) -> Condition {
    Condition { argument, is: Comparison::HasBit(bit as u32) }
}

const fn no_bit(argument: u8, bit: i32) -> Condition {
    Condition { argument, is: Comparison::LacksBit(bit as u32) }
}

const fn refuse(name: &'static str, number: i64, when: Conditions, errno: i32, reason: &'static str) -> SyscallRule {
    SyscallRule { name, number, when, errno, reason }
}

/// Flags of clone(2) that make a namespace. A new user namespace would bring all capabilities back, inside it.
const NEW_NAMESPACE: Conditions = &[
    &[bit(0, libc::CLONE_NEWUSER)],
    &[bit(0, libc::CLONE_NEWNS)],
    &[bit(0, libc::CLONE_NEWPID)],
    &[bit(0, libc::CLONE_NEWNET)],
    &[bit(0, libc::CLONE_NEWIPC)],
    &[bit(0, libc::CLONE_NEWUTS)],
    &[bit(0, libc::CLONE_NEWCGROUP)],
];

const OTHER_FAMILY: Conditions = &[&[other(0, libc::AF_UNIX), other(0, libc::AF_INET), other(0, libc::AF_INET6)]];

const fn not_common(family: i32) -> [Condition; 6] {
    [
        equal(0, family),
        other(2, 0),
        other(2, libc::IPPROTO_TCP),
        other(2, libc::IPPROTO_UDP),
        other(2, libc::IPPROTO_ICMP),
        other(2, libc::IPPROTO_ICMPV6),
    ]
}

const OTHER_PROTOCOL: Conditions = &[&not_common(libc::AF_INET), &not_common(libc::AF_INET6)];

const SET_USER_ID: i32 = libc::S_ISUID as i32;
const SET_GROUP_ID: i32 = libc::S_ISGID as i32;

/// The bit of `O_TMPFILE` that is not also `O_DIRECTORY`.
const UNNAMED: i32 = libc::O_TMPFILE & !libc::O_DIRECTORY;

/// A mode, in the given argument, that gives whoever executes the file the rights of its owner. In a workspace the
/// owner may be the host's root, and outside the cage nothing keeps the file from being executed.
macro_rules! privileged_mode {
    ($mode:literal) => {
        &[&[bit($mode, SET_USER_ID)], &[bit($mode, SET_GROUP_ID)]]
    };
    ($flags:literal, $mode:literal) => {
        &[
            &[bit($flags, libc::O_CREAT), bit($mode, SET_USER_ID)],
            &[bit($flags, libc::O_CREAT), bit($mode, SET_GROUP_ID)],
            &[bit($flags, UNNAMED), bit($mode, SET_USER_ID)],
            &[bit($flags, UNNAMED), bit($mode, SET_GROUP_ID)],
        ]
    };
}

const PERSONALITY_QUERY: i32 = -1;

// Numbers that are the same on every architecture, for calls the C library's headers do not name yet.
const FCHMODAT2: i64 = 452;
const STATMOUNT: i64 = 457;
const LISTMOUNT: i64 = 458;
const OPEN_TREE_ATTR: i64 = 467;

/// Every refused call.
pub(crate) static TABLE: &[SyscallRule] = &[
    // Namespaces and mounts: the walls of the cage itself.
    refuse("clone:namespaces", libc::SYS_clone, NEW_NAMESPACE, EPERM, "a new user namespace brings capabilities back"),
    refuse(
        "clone3",
        libc::SYS_clone3,
        ALWAYS,
        ENOSYS,
        "its flags are behind a pointer that filters cannot follow; C libraries fall back to clone",
    ),
    refuse("unshare", libc::SYS_unshare, ALWAYS, EPERM, "a new user namespace brings capabilities back"),
    refuse("setns", libc::SYS_setns, ALWAYS, EPERM, "enters other namespaces"),
    refuse("mount", libc::SYS_mount, ALWAYS, EPERM, "changes the view of the cage"),
    refuse("umount2", libc::SYS_umount2, ALWAYS, EPERM, "uncovers what a mount hides"),
    refuse("pivot_root", libc::SYS_pivot_root, ALWAYS, EPERM, "changes the root of the cage"),
    refuse("chroot", libc::SYS_chroot, ALWAYS, EPERM, "a step of old escapes, useless without capabilities"),
    refuse("open_tree", libc::SYS_open_tree, ALWAYS, ENOSYS, "new mount interface"),
    refuse("open_tree_attr", OPEN_TREE_ATTR, ALWAYS, ENOSYS, "new mount interface"),
    refuse("move_mount", libc::SYS_move_mount, ALWAYS, ENOSYS, "new mount interface"),
    refuse("fsopen", libc::SYS_fsopen, ALWAYS, ENOSYS, "new mount interface"),
    refuse("fsconfig", libc::SYS_fsconfig, ALWAYS, ENOSYS, "new mount interface; a history of kernel flaws"),
    refuse("fsmount", libc::SYS_fsmount, ALWAYS, ENOSYS, "new mount interface"),
    refuse("fspick", libc::SYS_fspick, ALWAYS, ENOSYS, "new mount interface"),
    refuse("mount_setattr", libc::SYS_mount_setattr, ALWAYS, ENOSYS, "new mount interface"),
    refuse(
        "statmount",
        STATMOUNT,
        ALWAYS,
        ENOSYS,
        "tells paths of the host; programs fall back to /proc/self/mountinfo",
    ),
    refuse(
        "listmount",
        LISTMOUNT,
        ALWAYS,
        ENOSYS,
        "tells paths of the host; programs fall back to /proc/self/mountinfo",
    ),
    refuse("sethostname", libc::SYS_sethostname, ALWAYS, EPERM, "the name is the cage's"),
    refuse("setdomainname", libc::SYS_setdomainname, ALWAYS, EPERM, "the name is the cage's"),
    // Other processes.
    refuse("ptrace", libc::SYS_ptrace, ALWAYS, EPERM, "takes over other processes; a history of kernel flaws"),
    refuse("process_vm_readv", libc::SYS_process_vm_readv, ALWAYS, EPERM, "reads memory of other processes"),
    refuse("process_vm_writev", libc::SYS_process_vm_writev, ALWAYS, EPERM, "writes memory of other processes"),
    refuse("process_madvise", libc::SYS_process_madvise, ALWAYS, EPERM, "changes memory of other processes"),
    refuse("process_mrelease", libc::SYS_process_mrelease, ALWAYS, EPERM, "frees memory of other processes"),
    refuse("pidfd_getfd", libc::SYS_pidfd_getfd, ALWAYS, EPERM, "takes descriptors of other processes"),
    refuse("kcmp", libc::SYS_kcmp, ALWAYS, EPERM, "compares kernel addresses of other processes"),
    refuse(
        "prlimit64:process_1",
        libc::SYS_prlimit64,
        &[&[equal(0, 1)]],
        EPERM,
        "process 1 has the same user; without descriptors or processor time it ends, and with it the account of the cage",
    ),
    // Files behind the back of the mount view.
    refuse(
        "open_by_handle_at",
        libc::SYS_open_by_handle_at,
        ALWAYS,
        EPERM,
        "opens files by number, past every directory",
    ),
    refuse("name_to_handle_at", libc::SYS_name_to_handle_at, ALWAYS, EPERM, "yields the numbers for it"),
    refuse("fanotify_init", libc::SYS_fanotify_init, ALWAYS, EPERM, "watches whole file systems"),
    refuse("lookup_dcookie", libc::SYS_lookup_dcookie, ALWAYS, ENOSYS, "tells paths by number; gone in new kernels"),
    refuse("quotactl", libc::SYS_quotactl, ALWAYS, EPERM, "changes quotas of the host"),
    refuse("quotactl_fd", libc::SYS_quotactl_fd, ALWAYS, EPERM, "changes quotas of the host"),
    // Files that carry privileges out of the cage.
    refuse(
        "fchmod:privileged",
        libc::SYS_fchmod,
        privileged_mode!(1),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    refuse(
        "fchmodat:privileged",
        libc::SYS_fchmodat,
        privileged_mode!(2),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    refuse("fchmodat2:privileged", FCHMODAT2, privileged_mode!(2), EPERM, "a set-user-id file works outside the cage"),
    refuse(
        "mknodat:privileged",
        libc::SYS_mknodat,
        privileged_mode!(2),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    refuse(
        "openat:privileged",
        libc::SYS_openat,
        privileged_mode!(2, 3),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    refuse(
        "openat2",
        libc::SYS_openat2,
        ALWAYS,
        ENOSYS,
        "its mode is behind a pointer that filters cannot follow; programs fall back to openat",
    ),
    // Interfaces with a large surface in the kernel.
    refuse(
        "io_uring_setup",
        libc::SYS_io_uring_setup,
        ALWAYS,
        ENOSYS,
        "carries out calls past this filter; runtimes fall back",
    ),
    refuse(
        "io_uring_enter",
        libc::SYS_io_uring_enter,
        ALWAYS,
        ENOSYS,
        "carries out calls past this filter; runtimes fall back",
    ),
    refuse(
        "io_uring_register",
        libc::SYS_io_uring_register,
        ALWAYS,
        ENOSYS,
        "carries out calls past this filter; runtimes fall back",
    ),
    refuse("bpf", libc::SYS_bpf, ALWAYS, EPERM, "loads code into the kernel"),
    refuse(
        "perf_event_open",
        libc::SYS_perf_event_open,
        ALWAYS,
        EPERM,
        "watches the kernel; a history of kernel flaws",
    ),
    refuse(
        "userfaultfd",
        libc::SYS_userfaultfd,
        ALWAYS,
        EPERM,
        "stalls the kernel at chosen moments, which makes races winnable",
    ),
    refuse("memfd_secret", libc::SYS_memfd_secret, ALWAYS, ENOSYS, "memory no one can inspect"),
    refuse("add_key", libc::SYS_add_key, ALWAYS, EPERM, "keys belong to the user, not to the cage"),
    refuse("request_key", libc::SYS_request_key, ALWAYS, EPERM, "keys belong to the user, not to the cage"),
    refuse("keyctl", libc::SYS_keyctl, ALWAYS, EPERM, "keys belong to the user, not to the cage"),
    refuse(
        "ioctl:TIOCSTI",
        libc::SYS_ioctl,
        &[&[equal(1, libc::TIOCSTI as i32)]],
        EPERM,
        "types into a terminal of the host",
    ),
    refuse(
        "ioctl:TIOCLINUX",
        libc::SYS_ioctl,
        &[&[equal(1, libc::TIOCLINUX as i32)]],
        EPERM,
        "pastes into a console of the host",
    ),
    refuse(
        "ioctl:TIOCSETD",
        libc::SYS_ioctl,
        &[&[equal(1, libc::TIOCSETD as i32)]],
        EPERM,
        "puts a line discipline on a terminal, which loads drivers for modems and networks with a history of kernel flaws",
    ),
    refuse(
        "socket:family",
        libc::SYS_socket,
        OTHER_FAMILY,
        EAFNOSUPPORT,
        "netlink, packet, vsock, alg and the rest load and reach drivers; programs expect this code for a family that is not there",
    ),
    refuse("socketpair:family", libc::SYS_socketpair, OTHER_FAMILY, EAFNOSUPPORT, "as for socket"),
    refuse(
        "socket:protocol",
        libc::SYS_socket,
        OTHER_PROTOCOL,
        EPROTONOSUPPORT,
        "sctp, dccp, mptcp and the rest load drivers; programs expect this code for a protocol that is not there",
    ),
    refuse(
        "personality",
        libc::SYS_personality,
        &[&[other(0, 0), other(0, PERSONALITY_QUERY)]],
        EPERM,
        "other execution domains weaken address randomisation and memory protection",
    ),
    // The machine.
    refuse("kexec_load", libc::SYS_kexec_load, ALWAYS, EPERM, "replaces the kernel"),
    refuse("kexec_file_load", libc::SYS_kexec_file_load, ALWAYS, EPERM, "replaces the kernel"),
    refuse("init_module", libc::SYS_init_module, ALWAYS, EPERM, "loads code into the kernel"),
    refuse("finit_module", libc::SYS_finit_module, ALWAYS, EPERM, "loads code into the kernel"),
    refuse("delete_module", libc::SYS_delete_module, ALWAYS, EPERM, "removes code from the kernel"),
    refuse("reboot", libc::SYS_reboot, ALWAYS, EPERM, "stops the machine"),
    refuse("swapon", libc::SYS_swapon, ALWAYS, EPERM, "memory of the host"),
    refuse("swapoff", libc::SYS_swapoff, ALWAYS, EPERM, "memory of the host"),
    refuse("acct", libc::SYS_acct, ALWAYS, EPERM, "records processes of the host"),
    refuse("syslog", libc::SYS_syslog, ALWAYS, EPERM, "messages of the kernel"),
    refuse("vhangup", libc::SYS_vhangup, ALWAYS, EPERM, "terminals of the host"),
    refuse("settimeofday", libc::SYS_settimeofday, ALWAYS, EPERM, "the clock is the host's"),
    refuse("clock_settime", libc::SYS_clock_settime, ALWAYS, EPERM, "the clock is the host's"),
    refuse("clock_adjtime", libc::SYS_clock_adjtime, ALWAYS, EPERM, "the clock is the host's"),
    refuse("adjtimex", libc::SYS_adjtimex, ALWAYS, EPERM, "the clock is the host's"),
    refuse("mbind", libc::SYS_mbind, ALWAYS, EPERM, "places memory of the host; a history of kernel flaws"),
    refuse("set_mempolicy", libc::SYS_set_mempolicy, ALWAYS, EPERM, "places memory of the host"),
    refuse("set_mempolicy_home_node", libc::SYS_set_mempolicy_home_node, ALWAYS, ENOSYS, "places memory of the host"),
    refuse("migrate_pages", libc::SYS_migrate_pages, ALWAYS, EPERM, "places memory of the host"),
    refuse("move_pages", libc::SYS_move_pages, ALWAYS, EPERM, "places memory of the host"),
    refuse("nfsservctl", libc::SYS_nfsservctl, ALWAYS, ENOSYS, "gone from the kernel"),
    // Only on this architecture.
    #[cfg(target_arch = "x86_64")]
    refuse(
        "chmod:privileged",
        libc::SYS_chmod,
        privileged_mode!(1),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    #[cfg(target_arch = "x86_64")]
    refuse(
        "mknod:privileged",
        libc::SYS_mknod,
        privileged_mode!(1),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    #[cfg(target_arch = "x86_64")]
    refuse(
        "creat:privileged",
        libc::SYS_creat,
        privileged_mode!(1),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    #[cfg(target_arch = "x86_64")]
    refuse(
        "open:privileged",
        libc::SYS_open,
        privileged_mode!(1, 2),
        EPERM,
        "a set-user-id file works outside the cage",
    ),
    #[cfg(target_arch = "x86_64")]
    refuse("iopl", libc::SYS_iopl, ALWAYS, EPERM, "ports of the hardware"),
    #[cfg(target_arch = "x86_64")]
    refuse("ioperm", libc::SYS_ioperm, ALWAYS, EPERM, "ports of the hardware"),
    #[cfg(target_arch = "x86_64")]
    refuse(
        "modify_ldt",
        libc::SYS_modify_ldt,
        ALWAYS,
        EPERM,
        "descriptor tables of the processor; a history of kernel flaws",
    ),
    #[cfg(target_arch = "x86_64")]
    refuse("uselib", libc::SYS_uselib, ALWAYS, ENOSYS, "loads libraries the old way"),
    #[cfg(target_arch = "x86_64")]
    refuse("_sysctl", libc::SYS__sysctl, ALWAYS, ENOSYS, "gone from the kernel"),
    #[cfg(target_arch = "x86_64")]
    refuse("sysfs", libc::SYS_sysfs, ALWAYS, ENOSYS, "tells the drivers of the host"),
];

/// Refused besides where programs that were written in the cage must not be started.
pub(crate) static NO_PROGRAMS: &[SyscallRule] = &[refuse(
    "memfd_create:programs",
    libc::SYS_memfd_create,
    &[&[no_bit(1, libc::MFD_NOEXEC_SEAL as i32)]],
    EACCES,
    "memory that can be started as a program; the kernel answers like this where it is told to refuse it",
)];
