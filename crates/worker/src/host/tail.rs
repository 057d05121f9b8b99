//! The last words of a process: all of its output is read, and the end of it kept. Those who watch hear it on the way.

use std::collections::VecDeque;
use std::fs::File;
use std::io::Read as _;

/// So much of each stream is read by a person who wants to know why an agent ended; both have room in a reason.
const KEPT_BYTES: usize = 600;

/// Reads until nobody writes any more.
pub(super) fn read_to_end(mut from: File, hear: impl Fn(&[u8])) -> String {
    let (mut last, mut chunk) = (VecDeque::new(), [0; 8 << 10]);
    while let Ok(read @ 1..) = from.read(&mut chunk) {
        hear(&chunk[..read]);
        last.extend(&chunk[..read]);
        let too_many = last.len().saturating_sub(KEPT_BYTES);
        last.drain(..too_many);
    }
    let text = String::from_utf8_lossy(last.make_contiguous());
    // What is no text is longer in words; the reason stands at the end.
    let from = text.len().saturating_sub(KEPT_BYTES);
    text[text.ceil_char_boundary(from)..].trim().to_owned()
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn only_the_end_is_kept_however_much_is_said() {
        let (read, mut write) = std::io::pipe().unwrap();
        let writer = std::thread::spawn(move || {
            for _ in 0..10_000 {
                write.write_all(b"noise noise noise\n").unwrap();
            }
            write.write_all("the reason: no café\n".as_bytes()).unwrap();
        });
        let kept = read_to_end(File::from(std::os::fd::OwnedFd::from(read)), |_| {});
        writer.join().unwrap();
        assert!(kept.ends_with("the reason: no café") && kept.len() <= KEPT_BYTES, "{kept}");
    }

    #[test]
    fn what_is_no_text_does_not_crowd_out_the_end() {
        let (read, mut write) = std::io::pipe().unwrap();
        write.write_all(&[0xff; 1_000]).unwrap();
        write.write_all(b"the reason").unwrap();
        drop(write);
        let kept = read_to_end(File::from(std::os::fd::OwnedFd::from(read)), |_| {});
        assert!(kept.ends_with("the reason") && kept.len() <= KEPT_BYTES, "{kept}");
    }
}
