//! What a command cannot ask of the kernel. The probe makes each call; the table says what it must be told.

use crate::harness::tests;
use crate::world::{probe, run};

tests![refused_calls_answer_with_their_code];

pub(crate) const EXPECTED: &str = "\
io_uring_setup ENOSYS
keyctl EPERM
add_key EPERM
request_key EPERM
userfaultfd EPERM
bpf EPERM
perf_event_open EPERM
unshare EPERM
clone_newuser EPERM
clone3 ENOSYS
setns EPERM
mount EPERM
umount2 EPERM
chroot EPERM
fsopen ENOSYS
open_tree ENOSYS
mount_setattr ENOSYS
ptrace EPERM
process_vm_readv EPERM
pidfd_getfd EPERM
name_to_handle_at EPERM
open_by_handle_at EPERM
personality EPERM
tiocsti EPERM
tiocsti_high EPERM
open_setuid EPERM
open_plain done
chmod_setuid EPERM
chmod_plain done
openat2 ENOSYS
netlink EAFNOSUPPORT
packet EAFNOSUPPORT
vsock EAFNOSUPPORT
alg EAFNOSUPPORT
sctp EPROTONOSUPPORT
x32_getpid ENOSYS
from_the_future ENOSYS
getpid done
";

fn refused_calls_answer_with_their_code() {
    assert_eq!(run(probe("syscalls", &[])).succeeded(), EXPECTED);
}
