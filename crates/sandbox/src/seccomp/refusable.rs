//! System calls that a profile may refuse besides. All of them are of use to some programs, which is why the table does
//! not refuse them. Calls that entering the cage or starting any program needs are not among them.

use libc::{ENOSYS, EPERM};

use super::SyscallRule;

const fn call(name: &'static str, number: i64, errno: i32, reason: &'static str) -> SyscallRule {
    SyscallRule { name, number, when: &[], errno, reason }
}

pub(super) static REFUSABLE: &[SyscallRule] = &[
    call("accept", libc::SYS_accept, EPERM, "serves connections"),
    call("accept4", libc::SYS_accept4, EPERM, "serves connections"),
    call("bind", libc::SYS_bind, EPERM, "takes an address for a socket"),
    call("connect", libc::SYS_connect, EPERM, "connects a socket, doors included"),
    call("copy_file_range", libc::SYS_copy_file_range, ENOSYS, "copies within the kernel; programs fall back"),
    call("fallocate", libc::SYS_fallocate, ENOSYS, "reserves space; programs fall back"),
    call("get_mempolicy", libc::SYS_get_mempolicy, EPERM, "asks where memory is placed"),
    call("inotify_add_watch", libc::SYS_inotify_add_watch, EPERM, "watches files for changes"),
    call("inotify_init1", libc::SYS_inotify_init1, EPERM, "watches files for changes"),
    call("linkat", libc::SYS_linkat, EPERM, "makes hard links"),
    call("listen", libc::SYS_listen, EPERM, "serves connections"),
    call("memfd_create", libc::SYS_memfd_create, EPERM, "makes files in memory"),
    call("mlock", libc::SYS_mlock, EPERM, "keeps memory from being swapped"),
    call("mlock2", libc::SYS_mlock2, EPERM, "keeps memory from being swapped"),
    call("mlockall", libc::SYS_mlockall, EPERM, "keeps memory from being swapped"),
    call("mq_open", libc::SYS_mq_open, EPERM, "opens message queues"),
    call("msgget", libc::SYS_msgget, EPERM, "opens message queues"),
    call("pidfd_open", libc::SYS_pidfd_open, ENOSYS, "holds on to a process; programs fall back"),
    call("pkey_alloc", libc::SYS_pkey_alloc, ENOSYS, "protection keys of memory; programs fall back"),
    call("removexattr", libc::SYS_removexattr, EPERM, "changes extended attributes"),
    call("rseq", libc::SYS_rseq, ENOSYS, "restartable sequences; C libraries fall back"),
    call("sched_setaffinity", libc::SYS_sched_setaffinity, EPERM, "chooses processors"),
    call("sched_setattr", libc::SYS_sched_setattr, EPERM, "changes scheduling"),
    call("sched_setparam", libc::SYS_sched_setparam, EPERM, "changes scheduling"),
    call("sched_setscheduler", libc::SYS_sched_setscheduler, EPERM, "changes scheduling"),
    call("semget", libc::SYS_semget, EPERM, "opens semaphores of System V"),
    call("setpriority", libc::SYS_setpriority, EPERM, "changes scheduling"),
    call("setxattr", libc::SYS_setxattr, EPERM, "changes extended attributes"),
    call("shmget", libc::SYS_shmget, EPERM, "opens shared memory of System V"),
    call("socket", libc::SYS_socket, EPERM, "makes sockets, also those of doors"),
    call("socketpair", libc::SYS_socketpair, EPERM, "makes pairs of sockets"),
    call("splice", libc::SYS_splice, EPERM, "moves bytes within the kernel; a history of kernel flaws"),
    call("symlinkat", libc::SYS_symlinkat, EPERM, "makes symbolic links"),
    call("tee", libc::SYS_tee, EPERM, "moves bytes within the kernel; a history of kernel flaws"),
    call("timer_create", libc::SYS_timer_create, EPERM, "makes timers; a history of kernel flaws"),
    call("vmsplice", libc::SYS_vmsplice, EPERM, "moves bytes within the kernel; a history of kernel flaws"),
    #[cfg(target_arch = "x86_64")]
    call("inotify_init", libc::SYS_inotify_init, EPERM, "watches files for changes"),
    #[cfg(target_arch = "x86_64")]
    call("link", libc::SYS_link, EPERM, "makes hard links"),
    #[cfg(target_arch = "x86_64")]
    call("symlink", libc::SYS_symlink, EPERM, "makes symbolic links"),
];
