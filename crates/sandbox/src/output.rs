//! Reads what a command writes, on both streams at once, and stops keeping it at a limit. Somebody may hear it as it is read: what is kept
//! does not depend on them.

use std::fs::File;
use std::io::Read;

use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;

use crate::outcome::Output;

/// As much as a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;

/// Which of both.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Stdout,
    Stderr,
}

/// Reads until both streams end. `over` is called once, with the bytes seen, when there are more than `limit`; `hear` with everything that is
/// kept, in the order in which it is read.
pub(crate) fn read_both(
    stdout: Option<File>,
    stderr: Option<File>,
    limit: u64,
    over: impl FnMut(u64),
    hear: impl FnMut(Stream, &[u8]),
) -> std::io::Result<(Output, u64)> {
    let mut reader = Reader { limit, over, hear, seen: 0, kept: Output::default() };
    read_each(stdout, stderr, |which, bytes| reader.take(which, bytes))?;
    Ok((reader.kept, reader.seen))
}

/// The same without a limit: nothing is kept but what `take` makes of it.
pub(crate) fn read_each(
    stdout: Option<File>,
    stderr: Option<File>,
    mut take: impl FnMut(Stream, &[u8]),
) -> std::io::Result<()> {
    let mut streams = (stdout, stderr);
    while streams.0.is_some() || streams.1.is_some() {
        let (out_ready, err_ready) = ready(streams.0.as_ref(), streams.1.as_ref())?;
        if out_ready {
            read_one(&mut streams.0, |bytes| take(Stream::Stdout, bytes))?;
        }
        if err_ready {
            read_one(&mut streams.1, |bytes| take(Stream::Stderr, bytes))?;
        }
    }
    Ok(())
}

fn read_one(stream: &mut Option<File>, take: impl FnOnce(&[u8])) -> std::io::Result<()> {
    let mut chunk = [0; CHUNK_BYTES];
    match stream.as_mut().map(|file| file.read(&mut chunk)).transpose()? {
        None | Some(0) => *stream = None,
        Some(length) => take(&chunk[..length]),
    }
    Ok(())
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

struct Reader<F, H> {
    limit: u64,
    over: F,
    hear: H,
    seen: u64,
    kept: Output,
}

impl<F: FnMut(u64), H: FnMut(Stream, &[u8])> Reader<F, H> {
    fn take(&mut self, which: Stream, bytes: &[u8]) {
        let room = usize::try_from(self.limit.saturating_sub(self.seen)).unwrap_or(usize::MAX);
        let within = &bytes[..bytes.len().min(room)];
        let into = match which {
            Stream::Stdout => &mut self.kept.stdout,
            Stream::Stderr => &mut self.kept.stderr,
        };
        into.extend_from_slice(within);
        (self.hear)(which, within);
        let before = self.seen;
        self.seen += bytes.len() as u64;
        if before <= self.limit && self.seen > self.limit {
            (self.over)(self.seen);
        }
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
        let (output, seen) =
            read_both(stream_of(b"out"), stream_of(b"err"), 6, |_| panic!("not over"), |_, _| {}).expect("read");
        assert_eq!((output.stdout, output.stderr, seen), (b"out".to_vec(), b"err".to_vec(), 6));
    }

    #[test]
    fn c16_whoever_hears_gets_exactly_what_is_kept_of_each_stream() {
        let mut heard = Output::default();
        let (kept, _) = read_both(
            stream_of(&[b'a'; 100]),
            stream_of(&[b'b'; 100]),
            150,
            |_| {},
            |which, bytes| {
                let into = match which {
                    Stream::Stdout => &mut heard.stdout,
                    Stream::Stderr => &mut heard.stderr,
                };
                into.extend_from_slice(bytes);
            },
        )
        .expect("read");
        assert_eq!((heard.stdout.len() + heard.stderr.len(), &heard), (150, &kept));
    }

    #[test]
    fn the_limit_counts_both_streams_and_is_reported_once() {
        let mut reports = Vec::new();
        let (output, seen) =
            read_both(stream_of(&[b'a'; 100]), stream_of(&[b'b'; 100]), 150, |seen| reports.push(seen), |_, _| {})
                .expect("read");
        assert_eq!(output.stdout.len() + output.stderr.len(), 150);
        assert_eq!((reports, seen), (vec![200], 200));
    }
}
