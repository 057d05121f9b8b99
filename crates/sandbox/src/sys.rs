//! The raw system calls that no safe wrapper offers: the only unsafe code of the project.
//!
//! Each function is one call (or one inseparable group) with its error code, nothing more. What to call, and in which
//! order, is decided by [`crate::plan`]; this file has no opinion.
#![expect(unsafe_code, reason = "rustix offers no fork, mount_setattr, execveat, signalfd, close_range or keyctl")]

use std::ffi::{CStr, CString, c_void};
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;

use libc::{c_int, c_long};
use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::outcome::Usage;

pub(crate) type Result<T> = std::result::Result<T, Errno>;

fn check(returned: c_long) -> Result<c_long> {
    if returned >= 0 {
        return Ok(returned);
    }
    let code = std::io::Error::last_os_error().raw_os_error();
    Err(Errno::from_raw_os_error(code.unwrap_or(libc::EIO)))
}

/// Which side of a fork the caller woke up on.
pub(crate) enum Side {
    Child,
    Parent(Pid),
}

/// Forks. Only the zygote and its helpers call this, and they have one thread: there is no lock another thread could have held.
pub(crate) fn fork() -> Result<Side> {
    // SAFETY: no arguments; the caller is single-threaded, so the child may run any code.
    let pid = check(c_long::from(unsafe { libc::fork() }))?;
    Ok(match Pid::from_raw(pid as i32) {
        None => Side::Child,
        Some(child) => Side::Parent(child),
    })
}

/// Room for the few calls between a fork and the program.
const BORROWER_STACK_BYTES: usize = 256 << 10;

/// Forks without copying memory: the child runs in the caller's, on a stack of its own. Returns when the child has executed
/// a program or is gone; until then the caller stands still, and can only be killed.
///
/// The child ends with the code it returns.
pub(crate) fn fork_lending_memory<F: FnOnce() -> c_int>(child: F) -> Result<Pid> {
    extern "C" fn run<F: FnOnce() -> c_int>(child: *mut c_void) -> c_int {
        // SAFETY: the caller passes a pointer to an `Option<F>` on its stack, and stands still as long as this runs.
        let child = unsafe { (*child.cast::<Option<F>>()).take() };
        child.map_or(libc::EXIT_FAILURE, |child| child())
    }
    let stack = Stack::new(BORROWER_STACK_BYTES)?;
    let mut child = Some(child);
    let flags = libc::CLONE_VM | libc::CLONE_VFORK | libc::SIGCHLD;
    // SAFETY: the stack is as large as is said, aligned to pages and used by nobody else, and both it and `child` outlive the
    // child's use of them, because the kernel lets the caller go on only then. The caller is single-threaded, so nobody
    // else is surprised by what the child does to memory.
    let pid = unsafe { libc::clone(run::<F>, stack.top(), flags, ptr::from_mut(&mut child).cast()) };
    Pid::from_raw(check(c_long::from(pid))? as i32).ok_or(Errno::CHILD)
}

/// Memory for the stack of a process that borrows the rest, with a page below that nobody can touch.
struct Stack {
    start: *mut c_void,
    bytes: usize,
}

impl Stack {
    fn new(bytes: usize) -> Result<Self> {
        let (access, kind) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_STACK);
        // SAFETY: asks for new memory, wherever there is some.
        let start = unsafe { libc::mmap(ptr::null_mut(), bytes, access, kind, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(check(-1).err().unwrap_or(Errno::NOMEM));
        }
        let stack = Self { start, bytes };
        // SAFETY: the lowest page of the memory above, which nobody uses yet.
        check(c_long::from(unsafe { libc::mprotect(start, rustix::param::page_size(), libc::PROT_NONE) }))?;
        Ok(stack)
    }

    /// It grows downwards.
    fn top(&self) -> *mut c_void {
        self.start.wrapping_byte_add(self.bytes)
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: the memory of `new`, which is used by nobody any more.
        unsafe { libc::munmap(self.start, self.bytes) };
    }
}

/// Ends the process at once, without running exit handlers that belong to the program that was re-executed.
pub(crate) fn exit_now(code: i32) -> ! {
    // SAFETY: takes a plain number and never returns.
    unsafe { libc::_exit(code) }
}

/// Moves the process into new namespaces of the given kinds.
pub(crate) fn unshare(flags: c_int) -> Result<()> {
    // SAFETY: plain numbers; no thread shares the descriptor table or the file system view with the helper.
    check(c_long::from(unsafe { libc::unshare(flags) })).map(drop)
}

/// One reaped child.
pub(crate) struct Reaped {
    pub(crate) pid: Pid,
    /// As in wait(2).
    pub(crate) status: i32,
    /// Of the child and of every descendant it reaped itself.
    pub(crate) usage: Usage,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wait {
    Block,
    Poll,
}

/// Reaps `pid`, or any child. `None`: nothing to reap yet (only with [`Wait::Poll`]).
pub(crate) fn reap(pid: Option<Pid>, wait: Wait) -> Result<Option<Reaped>> {
    let target = pid.map_or(-1, |pid| pid.as_raw_nonzero().get());
    let options = if wait == Wait::Poll { libc::WNOHANG } else { 0 } | libc::__WALL;
    let mut status: c_int = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are valid for writes for the length of the call.
        let returned = unsafe { libc::wait4(target, &mut status, options, usage.as_mut_ptr()) };
        match check(c_long::from(returned)) {
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
            Ok(_) => {}
        }
        // SAFETY: zero-initialised above and all-zero bytes are a valid rusage; the kernel only overwrites it.
        let usage = unsafe { usage.assume_init() };
        return Ok(Pid::from_raw(returned).map(|pid| Reaped { pid, status, usage: usage_of(&usage) }));
    }
}

fn usage_of(raw: &libc::rusage) -> Usage {
    let millis = |time: libc::timeval| time.tv_sec as u64 * 1_000 + time.tv_usec as u64 / 1_000;
    Usage {
        wall_ms: 0,
        cpu_ms: millis(raw.ru_utime) + millis(raw.ru_stime),
        peak_memory_bytes: raw.ru_maxrss as u64 * 1_024,
        ..Usage::default()
    }
}

/// Sends a signal to every other process of the pid namespace. Only meaningful for pid 1.
pub(crate) fn signal_all_others(signal: Signal) -> Result<()> {
    // SAFETY: plain numbers.
    check(c_long::from(unsafe { libc::kill(-1, signal.as_raw()) })).map(drop)
}

/// Marks every descriptor from `first` on close-on-exec.
pub(crate) fn close_on_exec_from(first: u32) -> Result<()> {
    // SAFETY: plain numbers; descriptors stay open until exec, so nobody's ownership is broken.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, libc::CLOSE_RANGE_CLOEXEC) }).map(drop)
}

/// Closes every descriptor from `first` on, whoever left it open.
pub(crate) fn close_from(first: u32) -> Result<()> {
    // SAFETY: plain numbers; the zygote calls this before it owns any descriptor of its own.
    check(unsafe { libc::syscall(libc::SYS_close_range, first, u32::MAX, 0) }).map(drop)
}

/// From now on the kernel reaps children by itself.
pub(crate) fn leave_children_to_kernel() -> Result<()> {
    on_child_signal(libc::SIG_IGN)
}

/// From now on children wait to be reaped.
pub(crate) fn keep_children() -> Result<()> {
    on_child_signal(libc::SIG_DFL)
}

fn on_child_signal(action: libc::sighandler_t) -> Result<()> {
    // SAFETY: both callers pass an action that is no function, so no code of ours runs in a handler.
    match unsafe { libc::signal(libc::SIGCHLD, action) } {
        libc::SIG_ERR => check(-1).map(drop),
        _ => Ok(()),
    }
}

/// How long a process runs at a stretch while others wait.
#[derive(Clone, Copy)]
pub(crate) enum Turns {
    /// As short as the kernel allows, and therefore sooner. Kernels before 6.12 do not listen.
    Short,
    Usual,
}

/// Asks the scheduler for such turns. How much the process runs altogether stays the same.
pub(crate) fn take_turns(turns: Turns) -> Result<()> {
    const SIZE: u32 = size_of::<libc::sched_attr>() as u32;
    let mut attributes = MaybeUninit::<libc::sched_attr>::zeroed();
    // SAFETY: the kernel writes at most the size that is passed with it.
    check(unsafe { libc::syscall(libc::SYS_sched_getattr, 0, attributes.as_mut_ptr(), SIZE, 0) })?;
    // SAFETY: zero-initialised above and all-zero bytes are valid attributes; the kernel only overwrites them.
    let mut attributes = unsafe { attributes.assume_init() };
    attributes.sched_runtime = match turns {
        Turns::Short => 100_000,
        Turns::Usual => 0,
    };
    // SAFETY: `attributes` says its own size and is valid for reads for the length of the call.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, ptr::from_ref(&attributes), 0) }).map(drop)
}

/// Makes `target` (0, 1 or 2) a copy of `fd` that survives exec.
pub(crate) fn replace_stdio(fd: BorrowedFd<'_>, target: c_int) -> Result<()> {
    // SAFETY: plain numbers; 0, 1 and 2 are owned by nobody in the helper.
    check(c_long::from(unsafe { libc::dup2(fd.as_raw_fd(), target) })).map(drop)
}

/// Takes over descriptor 0, which the launcher handed to the helper.
pub(crate) fn standard_input() -> BorrowedFd<'static> {
    // SAFETY: Rust's runtime guarantees that 0 is open, and nothing in the helper closes it before `replace_stdio`.
    unsafe { BorrowedFd::borrow_raw(0) }
}

/// What `mount_setattr` changes; the layout is the kernel's `struct mount_attr`.
#[repr(C)]
#[derive(Default)]
pub(crate) struct MountAttr {
    pub(crate) attr_set: u64,
    pub(crate) attr_clr: u64,
    pub(crate) propagation: u64,
    pub(crate) userns_fd: u64,
}

/// Changes a mount and everything mounted below it.
pub(crate) fn mount_setattr_recursive(mount: BorrowedFd<'_>, attr: &MountAttr) -> Result<()> {
    const EMPTY: &CStr = c"";
    // SAFETY: the path is a valid C string and `attr` is valid for the size that is passed with it.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            mount.as_raw_fd(),
            EMPTY.as_ptr(),
            (libc::AT_EMPTY_PATH | libc::AT_RECURSIVE) as u32,
            ptr::from_ref(attr),
            size_of::<MountAttr>(),
        )
    };
    check(returned).map(drop)
}

/// Blocks SIGCHLD and returns a descriptor that becomes readable when a child changes state.
pub(crate) fn child_signal_fd() -> Result<OwnedFd> {
    let mut set = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `set` is valid for writes and initialised by sigemptyset before it is read; the new descriptor has no
    // other owner.
    unsafe {
        libc::sigemptyset(set.as_mut_ptr());
        libc::sigaddset(set.as_mut_ptr(), libc::SIGCHLD);
        check(c_long::from(libc::sigprocmask(libc::SIG_BLOCK, set.as_ptr(), ptr::null_mut())))?;
        let fd = check(c_long::from(libc::signalfd(-1, set.as_ptr(), libc::SFD_CLOEXEC | libc::SFD_NONBLOCK)))?;
        Ok(OwnedFd::from_raw_fd(fd as c_int))
    }
}

/// Default action for every signal: ignored ones would survive fork and exec.
pub(crate) fn reset_signals() {
    // SAFETY: SIG_DFL is a valid handler for every signal, and the few signals for which the call is refused (KILL, STOP,
    // the C library's own) keep their default action anyway.
    unsafe {
        for signal in 1..=libc::SIGRTMAX() {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Blocks no signal: a mask would survive exec.
pub(crate) fn unblock_signals() -> Result<()> {
    let mut none = MaybeUninit::<libc::sigset_t>::zeroed();
    // SAFETY: `none` is valid for writes and initialised by sigemptyset before it is read.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        check(c_long::from(libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut()))).map(drop)
    }
}

/// Leaves the session keyring inherited from the launcher for a new, empty one.
pub(crate) fn join_fresh_keyring() -> Result<()> {
    const JOIN_SESSION_KEYRING: c_int = 1;
    // SAFETY: a null name asks for an anonymous keyring.
    check(unsafe { libc::syscall(libc::SYS_keyctl, JOIN_SESSION_KEYRING, ptr::null::<libc::c_char>()) }).map(drop)
}

/// Switches the loopback interface of the current network namespace on.
pub(crate) fn loopback_up(socket: BorrowedFd<'_>) -> Result<()> {
    // SAFETY: all-zero bytes are a valid ifreq: an empty name and no flags.
    let mut request: libc::ifreq = unsafe { MaybeUninit::zeroed().assume_init() };
    request.ifr_name[0] = b'l' as libc::c_char;
    request.ifr_name[1] = b'o' as libc::c_char;
    request.ifr_ifru.ifru_flags = (libc::IFF_UP | libc::IFF_RUNNING) as libc::c_short;
    // SAFETY: `request` is valid for the length of the call and carries a terminated interface name.
    check(c_long::from(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS as _, &request) })).map(drop)
}

/// Executes the file behind `program`. Returns only when that failed.
pub(crate) fn exec_fd(program: BorrowedFd<'_>, argv: &[CString], env: &[CString]) -> Errno {
    let pointers = |strings: &[CString]| -> Vec<*const libc::c_char> {
        strings.iter().map(|string| string.as_ptr()).chain([ptr::null()]).collect()
    };
    let (argv, env) = (pointers(argv), pointers(env));
    // SAFETY: both arrays end with a null pointer and point to C strings that outlive the call.
    let returned = unsafe {
        libc::syscall(
            libc::SYS_execveat,
            program.as_raw_fd(),
            c"".as_ptr(),
            argv.as_ptr(),
            env.as_ptr(),
            libc::AT_EMPTY_PATH,
        )
    };
    check(returned).err().unwrap_or(Errno::IO)
}

/// The version of Landlock the kernel speaks; 0 where it has none.
pub(crate) fn landlock_abi() -> u32 {
    const CREATE_RULESET_VERSION: u32 = 1;
    // SAFETY: with this flag the kernel reads no attributes and returns a number.
    let returned =
        unsafe { libc::syscall(libc::SYS_landlock_create_ruleset, ptr::null::<u8>(), 0_usize, CREATE_RULESET_VERSION) };
    check(returned).unwrap_or(0) as u32
}

/// Has the kernel run this filter on every system call from now on.
pub(crate) fn apply_filter(filter: &[libc::sock_filter]) -> Result<()> {
    let len = filter.len().try_into().map_err(|_| Errno::TOOBIG)?;
    let program = libc::sock_fprog { len, filter: filter.as_ptr().cast_mut() };
    // SAFETY: `program` and the instructions behind it are valid for reads for the length of the call, which copies them.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_SET_MODE_FILTER, 0, ptr::from_ref(&program)) })
        .map(drop)
}

/// Whether the kernel can apply seccomp filters that answer with an error code.
pub(crate) fn seccomp_filters_available() -> bool {
    let action: u32 = libc::SECCOMP_RET_ERRNO;
    // SAFETY: `action` is valid for reads for the length of the call.
    check(unsafe { libc::syscall(libc::SYS_seccomp, libc::SECCOMP_GET_ACTION_AVAIL, 0, ptr::from_ref(&action)) })
        .is_ok()
}
