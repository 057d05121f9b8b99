//! System calls as they are: what no safe wrapper would do is what attempts are made of.
#![expect(unsafe_code, reason = "attempts make system calls that no safe wrapper would make")]

use std::ffi::CString;
use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use crate::attempt::Observed;

/// Operands of a call: plain numbers, or addresses of buffers that outlive it.
pub(crate) type Operands = [i64; 6];

/// Makes the call. Success is success of the attempt.
pub(crate) fn call(number: i64, operands: &[i64]) -> Observed {
    match returned(number, operands) {
        Ok(value) => Observed::Escaped(format!("the call returned {value}")),
        Err(error) => Observed::of::<()>(Err(error)),
    }
}

/// Makes the call; missing operands are zero. A child it makes ends at once.
pub(crate) fn returned(number: i64, operands: &[i64]) -> io::Result<i64> {
    let mut all: Operands = [0; 6];
    all[..operands.len()].copy_from_slice(operands);
    let [a, b, c, d, e, f] = all;
    // SAFETY: attempts pass null, plain numbers, or addresses of values that live until the call returns.
    let value = unsafe { libc::syscall(number, a, b, c, d, e, f) };
    if number == libc::SYS_clone && value == 0 {
        // SAFETY: ends the child before it runs anything of this program.
        unsafe { libc::_exit(0) }
    }
    if value < 0 { Err(io::Error::last_os_error()) } else { Ok(value) }
}

/// A descriptor that a call just returned.
pub(crate) fn owned(number: i64) -> OwnedFd {
    // SAFETY: the kernel returned the number just now, so it has no other owner.
    unsafe { OwnedFd::from_raw_fd(number.try_into().expect("a descriptor")) }
}

/// An address as an operand.
pub(crate) fn address<T: ?Sized>(of: &T) -> i64 {
    std::ptr::from_ref(of).cast::<u8>() as i64
}

/// A path as the kernel wants it; keep it until the call is over.
pub(crate) fn path(text: &str) -> CString {
    CString::new(text).expect("no NUL in a path of an attempt")
}

/// How a child ended that did this work and left with its result.
pub(crate) fn in_child(work: impl FnOnce() -> i32) -> io::Result<i32> {
    // SAFETY: an attempt has one thread, so the child may run any code; it never returns from here.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let code = work();
        // SAFETY: ends the child without running what belongs to its parent.
        unsafe { libc::_exit(code) }
    }
    let mut status = 0;
    // SAFETY: `status` is valid for writes.
    if child < 0 || unsafe { libc::waitpid(child, &mut status, 0) } < 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(status)
}

/// A child that does nothing until it is ended.
pub(crate) fn idle_child() -> io::Result<i32> {
    // SAFETY: the child waits for a signal and does nothing else.
    match unsafe { libc::fork() } {
        0 => loop {
            // SAFETY: no arguments.
            unsafe { libc::pause() };
        },
        -1 => Err(io::Error::last_os_error()),
        child => Ok(child),
    }
}

/// `getpid` by the numbers of another architecture.
#[cfg(target_arch = "x86_64")]
pub(crate) fn by_i386_gate() -> i32 {
    const GETPID: i64 = 20;
    let mut value = GETPID;
    // SAFETY: the gate takes the number in rax, and may change these registers; memory is left alone.
    unsafe {
        std::arch::asm!("int 0x80", inlateout("rax") value, out("r8") _, out("r9") _, out("r10") _, out("r11") _);
    }
    i32::from(value > 0)
}

/// Ignores a signal, so that its default action does not hide what a call answers.
pub(crate) fn ignore(signal: i32) {
    // SAFETY: a plain number, and a disposition that is valid for every signal.
    unsafe { libc::signal(signal, libc::SIG_IGN) };
}

/// Maps bytes of an open file, or of nothing.
pub(crate) fn map(length: usize, protection: i32, flags: i32, file: i32) -> io::Result<*mut u8> {
    // SAFETY: no address is asked for, so no existing mapping is replaced.
    let at = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, file, 0) };
    if at == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(at.cast()) }
}

/// Writes to every page of a mapping.
pub(crate) fn touch(at: *mut u8, length: usize) {
    for offset in (0..length).step_by(4_096) {
        // SAFETY: the caller mapped `length` bytes at `at`, writable.
        unsafe { at.add(offset).write_volatile(1) };
    }
}

/// The codes walls answer with, and a few that would tell that a wall is missing.
const ERRNOS: &[(i32, &str)] = &[
    (libc::EPERM, "EPERM"),
    (libc::ENOENT, "ENOENT"),
    (libc::ESRCH, "ESRCH"),
    (libc::EIO, "EIO"),
    (libc::ENXIO, "ENXIO"),
    (libc::EBADF, "EBADF"),
    (libc::EAGAIN, "EAGAIN"),
    (libc::ENOMEM, "ENOMEM"),
    (libc::EACCES, "EACCES"),
    (libc::EFAULT, "EFAULT"),
    (libc::EBUSY, "EBUSY"),
    (libc::EEXIST, "EEXIST"),
    (libc::EXDEV, "EXDEV"),
    (libc::ENODEV, "ENODEV"),
    (libc::ENOTDIR, "ENOTDIR"),
    (libc::EINVAL, "EINVAL"),
    (libc::EMFILE, "EMFILE"),
    (libc::ENOTTY, "ENOTTY"),
    (libc::ETXTBSY, "ETXTBSY"),
    (libc::EFBIG, "EFBIG"),
    (libc::ENOSPC, "ENOSPC"),
    (libc::EROFS, "EROFS"),
    (libc::EMLINK, "EMLINK"),
    (libc::ENOSYS, "ENOSYS"),
    (libc::ELOOP, "ELOOP"),
    (libc::EPROTONOSUPPORT, "EPROTONOSUPPORT"),
    (libc::EAFNOSUPPORT, "EAFNOSUPPORT"),
    (libc::EADDRINUSE, "EADDRINUSE"),
    (libc::EADDRNOTAVAIL, "EADDRNOTAVAIL"),
    (libc::ENETUNREACH, "ENETUNREACH"),
    (libc::EHOSTUNREACH, "EHOSTUNREACH"),
    (libc::ECONNREFUSED, "ECONNREFUSED"),
    (libc::EOPNOTSUPP, "EOPNOTSUPP"),
];

pub(crate) fn errno_name(code: i32) -> String {
    let known = ERRNOS.iter().find(|(number, _)| *number == code).map(|(_, name)| (*name).to_owned());
    known.unwrap_or_else(|| format!("error {code}"))
}

pub(crate) fn signal_name(number: i32) -> String {
    match number {
        libc::SIGKILL => "SIGKILL".into(),
        libc::SIGSYS => "SIGSYS".into(),
        libc::SIGSEGV => "SIGSEGV".into(),
        libc::SIGXFSZ => "SIGXFSZ".into(),
        other => format!("signal {other}"),
    }
}
