//! A terminal for tests, and the window that it is seen in.

use std::fs::File;

use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

/// The side of whoever sits before it, and the side of the program.
pub(crate) fn window() -> (File, File) {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    let window = openpt(flags).expect("a window");
    grantpt(&window).expect("a terminal");
    unlockpt(&window).expect("a terminal that can be opened");
    let terminal = ioctl_tiocgptpeer(&window, flags).expect("the other side");
    (File::from(window), File::from(terminal))
}
