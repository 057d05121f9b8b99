//! A terminal for tests, and the window that it is seen in.

use std::fs::File;
use std::io::Read as _;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
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

/// Everything that is shown in the window until these words are there, or until nobody can wait for them any longer: what a program
/// wrote arrives in pieces, and a while after it was written.
pub(crate) fn shown_until(window: &mut File, words: &str, longest: Duration) -> String {
    let (end, mut shown, mut piece) = (Instant::now() + longest, Vec::new(), [0; 4 << 10]);
    loop {
        let text = String::from_utf8_lossy(&shown).into_owned();
        if text.contains(words) || !has_more(window, end) {
            return text;
        }
        // An end that nobody holds any more has nothing more to tell.
        let Ok(read @ 1..) = window.read(&mut piece) else { return text };
        shown.extend_from_slice(&piece[..read]);
    }
}

fn has_more(window: &File, end: Instant) -> bool {
    let left = end.saturating_duration_since(Instant::now());
    let left = Timespec::try_from(left).expect("a moment that can be told");
    matches!(poll(&mut [PollFd::new(window, PollFlags::IN)], Some(&left)), Ok(1..))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn what_comes_in_pieces_is_shown_whole_and_what_never_comes_is_not_waited_for() {
        let (mut window, mut terminal) = window();
        // More than is read at once, and more than a terminal holds before somebody looks.
        let many = "one two ".repeat(5_000);
        let wrote = many.clone() + "three";
        let writer = std::thread::spawn(move || {
            terminal.write_all(wrote.as_bytes()).unwrap();
            terminal
        });
        assert_eq!(shown_until(&mut window, "three", Duration::from_secs(20)), many + "three");
        let _terminal = writer.join().unwrap();
        assert_eq!(shown_until(&mut window, "four", Duration::from_millis(20)), "");
    }
}
