//! Reads what a command writes, on both streams at once, and stops keeping it at a limit.

use std::fs::File;
use std::io::Read;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use crate::outcome::Output;

/// As much as a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;

/// Reads until both streams end. `over` is called once, with the bytes seen, when there are more than `limit`.
pub(crate) fn read_both(
    stdout: Option<File>,
    stderr: Option<File>,
    limit: u64,
    over: impl FnMut(u64),
) -> std::io::Result<(Output, u64)> {
    let mut reader = Reader { limit, over, seen: 0, kept: Output::default() };
    let mut streams = (stdout, stderr);
    while streams.0.is_some() || streams.1.is_some() {
        let (out_ready, err_ready) = ready(streams.0.as_ref(), streams.1.as_ref())?;
        if out_ready {
            reader.take(&mut streams.0, |kept| &mut kept.stdout)?;
        }
        if err_ready {
            reader.take(&mut streams.1, |kept| &mut kept.stderr)?;
        }
    }
    Ok((reader.kept, reader.seen))
}

fn ready(stdout: Option<&File>, stderr: Option<&File>) -> std::io::Result<(bool, bool)> {
    let streams = [stdout, stderr];
    let mut watched: Vec<_> = streams.into_iter().flatten().map(|file| PollFd::new(file, PollFlags::IN)).collect();
    match rustix::event::poll(&mut watched, None) {
        Ok(_) | Err(Errno::INTR) => {}
        Err(errno) => return Err(errno.into()),
    }
    let mut answers = watched.iter().map(|each| !each.revents().is_empty());
    let mut answer = |stream: Option<&File>| stream.is_some() && answers.next().unwrap_or(false);
    Ok((answer(stdout), answer(stderr)))
}

struct Reader<F> {
    limit: u64,
    over: F,
    seen: u64,
    kept: Output,
}

impl<F: FnMut(u64)> Reader<F> {
    fn take(&mut self, stream: &mut Option<File>, into: fn(&mut Output) -> &mut Vec<u8>) -> std::io::Result<()> {
        let mut chunk = [0; CHUNK_BYTES];
        let length = match stream.as_mut().map(|file| file.read(&mut chunk)).transpose()? {
            None | Some(0) => {
                *stream = None;
                return Ok(());
            }
            Some(length) => length,
        };
        let room = usize::try_from(self.limit.saturating_sub(self.seen)).unwrap_or(usize::MAX);
        into(&mut self.kept).extend_from_slice(&chunk[..length.min(room)]);
        let before = self.seen;
        self.seen += length as u64;
        if before <= self.limit && self.seen > self.limit {
            (self.over)(self.seen);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::os::fd::OwnedFd;

    use super::*;

    fn stream_of(bytes: &[u8]) -> Option<File> {
        let (reader, mut writer) = std::io::pipe().expect("a pipe");
        writer.write_all(bytes).expect("it fits into the pipe");
        Some(File::from(OwnedFd::from(reader)))
    }

    #[test]
    fn both_streams_are_kept_apart_and_whole_within_the_limit() {
        let (output, seen) = read_both(stream_of(b"out"), stream_of(b"err"), 6, |_| panic!("not over")).expect("read");
        assert_eq!((output.stdout, output.stderr, seen), (b"out".to_vec(), b"err".to_vec(), 6));
    }

    #[test]
    fn the_limit_counts_both_streams_and_is_reported_once() {
        let mut reports = Vec::new();
        let (output, seen) =
            read_both(stream_of(&[b'a'; 100]), stream_of(&[b'b'; 100]), 150, |seen| reports.push(seen)).expect("read");
        assert_eq!(output.stdout.len() + output.stderr.len(), 150);
        assert_eq!((reports, seen), (vec![200], 200));
    }
}
