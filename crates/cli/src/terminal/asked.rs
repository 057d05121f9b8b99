//! Lines that somebody types as answers: read from the terminal itself, one at a time, never ahead.
//!
//! Nothing is buffered here, so that what was typed before a question was asked is let go of: it was meant for something else. Every
//! question that is asked by line comes by this door ([`answer`]).

use std::io::{Result, Write as _};
use std::os::fd::AsFd;

use rustix::io::{Errno, read};
use rustix::termios::{QueueSelector, isatty, tcflush};

/// Longer than a terminal passes on as one line; what is longer is cut.
const LONGEST: usize = 8 << 10;

/// Lets go of what was typed and not read. What comes from a file or a program stays: nobody typed it ahead.
fn let_go(keys: impl AsFd) -> Result<()> {
    if isatty(&keys) {
        tcflush(&keys, QueueSelector::IFlush)?;
    }
    Ok(())
}

/// What somebody types when they have seen this question; none when nothing more comes. Read on a thread of its own: whoever waits for the
/// answer can still be interrupted.
pub(crate) async fn answer(question: &str) -> Result<Option<String>> {
    let_go(std::io::stdin())?;
    let _ = write!(anstream::stderr(), "{question} ");
    let read = tokio::task::spawn_blocking(|| line(std::io::stdin()));
    read.await.unwrap_or(Ok(None))
}

/// Whether somebody says yes to it in so many words.
pub(crate) async fn is_yes(question: &str) -> Result<bool> {
    let said = answer(&format!("{question} [y/N]")).await?;
    Ok(said.is_some_and(|said| matches!(said.as_str(), "y" | "yes")))
}

/// The next line, without its end and the spaces around it; none when what is typed ends, also in the midst of a line.
fn line(keys: impl AsFd) -> Result<Option<String>> {
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
    use std::io::pipe;

    use rustix::event::{PollFd, PollFlags, poll};

    use super::*;
    use crate::terminal::window::window;

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
        let (mut hand, terminal) = window();
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
