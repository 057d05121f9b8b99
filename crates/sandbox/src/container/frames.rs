//! The stream of an attached container: standard output and standard error in one, piece by piece.
//!
//! Each piece is preceded by eight bytes: which stream, three zero bytes, and its length, most significant byte first.

use std::fs::File;
use std::io::{self, Read, Write};

/// As much as a pipe holds.
const CHUNK_BYTES: usize = 64 << 10;

/// Takes the stream apart until it ends. A side nobody reads any more is thrown away, so that the other one goes on.
pub(super) fn take_apart(mut stream: impl Read, stdout: File, stderr: File) -> io::Result<()> {
    let (mut stdout, mut stderr) = (Some(stdout), Some(stderr));
    while let Some((side, length)) = next_header(&mut stream)? {
        let into = match side {
            Side::Output => &mut stdout,
            Side::Error => &mut stderr,
        };
        pass_on(&mut stream, length, into)?;
    }
    Ok(())
}

#[derive(Clone, Copy)]
enum Side {
    Output,
    Error,
}

/// `None`: the stream ended where a piece could have begun.
fn next_header(stream: &mut impl Read) -> io::Result<Option<(Side, u32)>> {
    let mut header = [0; 8];
    let first = stream.read(&mut header[..1])?;
    if first == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut header[1..])?;
    let [side, zero_one, zero_two, zero_three, length @ ..] = header;
    let side = match (side, [zero_one, zero_two, zero_three]) {
        (0 | 1, [0, 0, 0]) => Side::Output,
        (2, [0, 0, 0]) => Side::Error,
        _ => return Err(io::Error::new(io::ErrorKind::InvalidData, "a broken piece of output")),
    };
    Ok(Some((side, u32::from_be_bytes(length))))
}

fn pass_on(stream: &mut impl Read, length: u32, into: &mut Option<File>) -> io::Result<()> {
    let (mut left, mut chunk) = (length as usize, vec![0; CHUNK_BYTES.min(length as usize)]);
    while left > 0 {
        let room = left.min(chunk.len());
        let read = stream.read(&mut chunk[..room])?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        left -= read;
        if into.as_mut().is_some_and(|file| file.write_all(&chunk[..read]).is_err()) {
            *into = None;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::os::fd::OwnedFd;

    use proptest::prelude::*;

    use super::*;

    fn pipe() -> (File, File) {
        let (reader, writer) = io::pipe().expect("a pipe");
        (File::from(OwnedFd::from(reader)), File::from(OwnedFd::from(writer)))
    }

    fn piece(side: u8, bytes: &[u8]) -> Vec<u8> {
        let length = u32::try_from(bytes.len()).expect("short").to_be_bytes();
        [&[side, 0, 0, 0], &length[..], bytes].concat()
    }

    fn apart(stream: Vec<u8>) -> (io::Result<()>, Vec<u8>, Vec<u8>) {
        let ((mut out, out_in), (mut err, err_in)) = (pipe(), pipe());
        let result = take_apart(Cursor::new(stream), out_in, err_in);
        let mut kept = (Vec::new(), Vec::new());
        out.read_to_end(&mut kept.0).expect("output");
        err.read_to_end(&mut kept.1).expect("output");
        (result, kept.0, kept.1)
    }

    #[test]
    fn a_stream_that_is_cut_or_broken_is_an_error_and_keeps_what_came() {
        let (result, out, _) = apart([piece(1, b"whole"), piece(1, b"cut")[..9].to_vec()].concat());
        assert_eq!((result.is_err(), out), (true, b"wholec".to_vec()));
        assert!(apart(vec![1, 0]).0.is_err());
        assert!(apart(piece(7, b"?")).0.is_err());
    }

    #[test]
    fn the_other_side_goes_on_when_nobody_reads_one() {
        let ((out, out_in), (mut err, err_in)) = (pipe(), pipe());
        drop(out);
        let stream = [piece(1, b"unheard"), piece(2, b"heard")].concat();
        take_apart(Cursor::new(stream), out_in, err_in).expect("to the end");
        let mut heard = String::new();
        err.read_to_string(&mut heard).expect("text");
        assert_eq!(heard, "heard");
    }

    proptest! {
        #[test]
        fn both_sides_arrive_whole_and_in_order(pieces in prop::collection::vec((1..=2_u8, prop::collection::vec(any::<u8>(), 0..300)), 0..40)) {
            let stream = pieces.iter().flat_map(|(side, bytes)| piece(*side, bytes)).collect();
            let of = |wanted: u8| pieces.iter().filter(|(side, _)| *side == wanted).flat_map(|(_, bytes)| bytes.clone()).collect::<Vec<_>>();
            let (result, out, err) = apart(stream);
            prop_assert!(result.is_ok());
            prop_assert_eq!((out, err), (of(1), of(2)));
        }
    }
}
