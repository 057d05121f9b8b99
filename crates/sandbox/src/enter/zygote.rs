//! The zygote: the re-executed binary, which comes up once per launcher and forks a helper for every cage.
//!
//! It has one thread, reads what its launcher writes and nothing else, and never sees a plan: that is handed to the helper
//! it forked. Between two requests it holds its own socket and no other descriptor, so a helper inherits nothing of
//! another cage. It ends when the launcher closes the socket, for whatever reason.

use std::os::fd::{AsFd, OwnedFd};

use rustix::process::PidfdFlags;

use super::{FIRST_OTHER, new_session, quiet};
use crate::control::{Control, Fork, Report};
use crate::step::Step;
use crate::sys::{self, Result, Side, Turns};

/// In a process that was forked for one cage: its own socket to the launcher, and what to begin with.
pub(super) struct Born {
    pub(super) control: Control,
    pub(super) steps: Vec<Step>,
}

/// Forks helpers until the launcher is gone. Returns in each of them, and never in the zygote unless it failed.
pub(super) fn serve() -> Result<Born> {
    let launcher = connect()?;
    while let Some((Fork { steps }, descriptors)) = launcher.receive()? {
        let Ok([socket, stdout, stderr]) = <[OwnedFd; 3]>::try_from(descriptors) else { continue };
        let control = Control::new(socket);
        match sys::fork() {
            Ok(Side::Child) => {
                // As long as anybody else holds the zygote's end, its death goes unnoticed.
                drop(launcher);
                return come_up(control, steps, &[stdout, stderr]);
            }
            Ok(Side::Parent(_)) => {}
            // A launcher that is gone needs no report.
            Err(errno) => drop(control.send(&Report::NotForked { errno: errno.raw_os_error() }, &[])),
        }
    }
    sys::exit_now(0)
}

/// The launcher is at descriptor 0. Nothing else of it is kept: no descriptor, no directory, no terminal and none of its
/// signals.
fn connect() -> Result<Control> {
    sys::close_from(FIRST_OTHER)?;
    let socket = rustix::io::fcntl_dupfd_cloexec(sys::standard_input(), 3)?;
    quiet(&[0])?;
    new_session()?;
    rustix::process::chdir("/")?;
    sys::reset_signals();
    sys::leave_children_to_kernel()?;
    // Helpers have little to do, one after the other, and somebody waits for it. Where that is refused, a cage takes longer.
    let _ = sys::take_turns(Turns::Short);
    Ok(Control::new(socket))
}

fn come_up(control: Control, steps: Vec<Step>, outputs: &[OwnedFd; 2]) -> Result<Born> {
    sys::keep_children()?;
    for (stream, output) in (1..).zip(outputs) {
        sys::replace_stdio(output.as_fd(), stream)?;
    }
    let gone = rustix::process::pidfd_open(rustix::process::getpid(), PidfdFlags::empty())?;
    control.send(&Report::Up, &[gone.as_fd()])?;
    Ok(Born { control, steps })
}
