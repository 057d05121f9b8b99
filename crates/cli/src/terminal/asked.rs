//! Lines that somebody types as answers: read from the terminal itself, one at a time, never ahead.
//!
//! Nothing is buffered here, so that what was typed before a question was asked can be let go of ([`let_go`]): it was meant for
//! something else.

use std::io::Result;
use std::os::fd::AsFd;

use rustix::io::{Errno, read};
use rustix::termios::{QueueSelector, isatty, tcflush};

/// Longer than a terminal passes on as one line; what is longer is cut.
const LONGEST: usize = 8 << 10;

/// Lets go of what was typed and not read. What comes from a file or a program stays: nobody typed it ahead.
pub(crate) fn let_go(keys: impl AsFd) -> Result<()> {
    if isatty(&keys) {
        tcflush(&keys, QueueSelector::IFlush)?;
    }
    Ok(())
}

/// The next line, without its end and the spaces around it; none when what is typed ends, also in the midst of a line.
pub(crate) fn line(keys: impl AsFd) -> Result<Option<String>> {
    let (mut typed, mut byte) = (Vec::new(), [0]);
    loop {
        match read(&keys, &mut byte) {
            Ok(0) => return Ok(None),
            Ok(_) if byte == *b"\n" => return Ok(Some(String::from_utf8_lossy(&typed).trim().to_owned())),
            Ok(_) if typed.len() < LONGEST => typed.extend(byte),
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Write as _, pipe};

    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::pty::{OpenptFlags, grantpt, ioctl_tiocgptpeer, openpt, unlockpt};

    use super::*;

    fn lines_of(bytes: &[u8], count: usize) -> Vec<Option<String>> {
        let (keys, mut hand) = pipe().unwrap();
        hand.write_all(bytes).unwrap();
        drop(hand);
        (0..count).map(|_| line(&keys).unwrap()).collect()
    }

    #[test]
    fn b4_the_end_of_what_is_typed_is_no_answer_not_even_half_of_one() {
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(lines_of(b" a \nyes\n", 3), [some("a"), some("yes"), None]);
        assert_eq!(lines_of(b"", 1), [None]);
        assert_eq!(lines_of(b"r\nq", 2), [some("r"), None]);
        assert_eq!(lines_of(b"\n\xff\n", 2), [some(""), some("\u{fffd}")]);
        assert_eq!(lines_of(&[&[b'x'; 9_000][..], b"\n"].concat(), 1)[0].as_ref().map(String::len), Some(LONGEST));
    }

    #[test]
    fn b4_what_was_typed_before_a_question_does_not_answer_it() {
        let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
        let window = openpt(flags).unwrap();
        grantpt(&window).unwrap();
        unlockpt(&window).unwrap();
        let terminal = File::from(ioctl_tiocgptpeer(&window, flags).unwrap());
        let mut hand = File::from(window);
        let has_arrived = || poll(&mut [PollFd::new(&terminal, PollFlags::IN)], None).unwrap() > 0;
        hand.write_all(b"n\na\nyes\n").unwrap();
        assert!(has_arrived());
        assert_eq!(line(&terminal).unwrap().as_deref(), Some("n"));
        let_go(&terminal).unwrap();
        hand.write_all(b"q\n").unwrap();
        assert!(has_arrived());
        assert_eq!(line(&terminal).unwrap().as_deref(), Some("q"), "and not the `a` from before");
    }
}
