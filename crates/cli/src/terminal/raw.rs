//! The person's terminal without its own idea of keys, for as long as somebody else has one.

use std::os::fd::AsFd;

use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

/// Every key arrives as it is typed and nothing is echoed, until this is dropped.
pub(super) struct Raw<T: AsFd> {
    terminal: T,
    before: Termios,
}

impl<T: AsFd> Raw<T> {
    pub(super) fn begin(terminal: T) -> std::io::Result<Self> {
        let before = tcgetattr(&terminal)?;
        let mut raw = before.clone();
        raw.make_raw();
        tcsetattr(&terminal, OptionalActions::Drain, &raw)?;
        Ok(Self { terminal, before })
    }
}

impl<T: AsFd> Drop for Raw<T> {
    fn drop(&mut self) {
        // What came in and was not read goes: it may be what the terminal answers to a question that the command
        // printed, and the person's shell would take it for something they typed. A window that is closed needs nothing
        // put back.
        let _ = tcsetattr(&self.terminal, OptionalActions::Flush, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    use super::*;
    use crate::terminal::window::window;

    #[test]
    fn what_came_in_for_the_cage_and_was_not_read_does_not_reach_the_shell_behind_it() {
        let (mut hand, terminal) = window();
        let before = tcgetattr(&terminal).unwrap();
        let raw = Raw::begin(&terminal).unwrap();
        hand.write_all(b"\x1b[1;1R\nrm -rf x\n").unwrap();
        let is_waiting = || {
            let mut waiting = [PollFd::new(&terminal, PollFlags::IN)];
            poll(&mut waiting, Some(&Timespec { tv_sec: 0, tv_nsec: 100_000_000 })).unwrap() > 0
        };
        assert!(is_waiting());
        drop(raw);
        assert!(!is_waiting());
        assert_eq!(tcgetattr(&terminal).unwrap().local_modes, before.local_modes);
    }
}
