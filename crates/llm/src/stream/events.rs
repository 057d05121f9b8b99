//! Cuts a stream of server-sent events into events, however its bytes were cut on the way.
//!
//! Lines end with a line feed, with or without a carriage return before it. A carriage return alone would be allowed too, but nobody
//! sends that; such a stream passes as it is, and its tokens are estimated.

use std::borrow::Cow;

use memchr::memchr;

/// An event larger than this is not waited for.
const MOST_BYTES: usize = 16 << 20;

/// Bytes of which the end of the event did not come yet.
#[derive(Debug, Default)]
pub(crate) struct Events {
    held: Vec<u8>,
    /// Where the line begins that is not complete.
    line: usize,
    /// Up to where there is no line feed in it.
    searched: usize,
}

impl Events {
    /// Takes the next bytes and hands out every event that is complete, with the blank line that ends it.
    pub(crate) fn push(&mut self, bytes: &[u8], mut each: impl FnMut(&[u8])) {
        self.held.extend_from_slice(bytes);
        let mut start = 0;
        while let Some(at) = memchr(b'\n', &self.held[self.searched..]) {
            let end = self.searched + at;
            let is_blank = matches!(&self.held[self.line..end], b"" | b"\r");
            (self.line, self.searched) = (end + 1, end + 1);
            if is_blank {
                each(&self.held[start..=end]);
                start = end + 1;
            }
        }
        self.held.drain(..start);
        self.line -= start;
        self.searched = self.held.len();
    }

    /// What is left when nothing comes any more: an event without its blank line, or nothing.
    pub(crate) fn finish(&mut self) -> Vec<u8> {
        std::mem::take(self).held
    }

    pub(crate) const fn is_overlong(&self) -> bool {
        self.held.len() > MOST_BYTES
    }
}

/// The data of an event: its `data:` lines, joined.
pub(crate) fn data_of(event: &[u8]) -> Cow<'_, [u8]> {
    let mut lines = event.split(|byte| *byte == b'\n').filter_map(|line| {
        let data = line.strip_prefix(b"data:")?;
        let data = data.strip_prefix(b" ").unwrap_or(data);
        Some(data.strip_suffix(b"\r").unwrap_or(data))
    });
    let first = lines.next().unwrap_or_default();
    let rest: Vec<&[u8]> = lines.collect();
    if rest.is_empty() {
        return Cow::Borrowed(first);
    }
    let joined = rest.iter().fold(first.to_vec(), |mut joined, line| {
        joined.push(b'\n');
        joined.extend_from_slice(line);
        joined
    });
    Cow::Owned(joined)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn events(pieces: &[&[u8]]) -> (Vec<Vec<u8>>, Vec<u8>) {
        let (mut events, mut found) = (Events::default(), Vec::new());
        for piece in pieces {
            events.push(piece, |event| found.push(event.to_vec()));
        }
        (found, events.finish())
    }

    #[test]
    fn an_event_ends_with_a_blank_line() {
        let (found, rest) = events(&[b"event: a\ndata: 1\n\n: note\n\ndata: 2\r\n\r\ndata: 3"]);
        assert_eq!(found, [&b"event: a\ndata: 1\n\n"[..], b": note\n\n", b"data: 2\r\n\r\n"]);
        assert_eq!(rest, b"data: 3");
        assert_eq!(found.iter().map(|event| data_of(event).into_owned()).collect::<Vec<_>>(), [&b"1"[..], b"", b"2"]);
    }

    #[test]
    fn data_may_take_several_lines() {
        assert_eq!(data_of(b"data: {\r\ndata:  1\ndata:}\n\n").as_ref(), b"{\n 1\n}");
    }

    proptest! {
        #[test]
        fn it_does_not_matter_where_the_bytes_were_cut(
            lines in prop::collection::vec(prop_oneof!["data: [a-z{}]{0,6}", "", "\r", ": x", "event: y"], 0..20),
            cuts in prop::collection::vec(0usize..200, 0..12),
        ) {
            let whole = lines.join("\n").into_bytes();
            let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            places.extend([0, whole.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect();
            let (found, rest) = events(&pieces);
            prop_assert_eq!(&(found.clone(), rest.clone()), &events(&[&whole]));
            let mut joined = found.concat();
            joined.extend(rest);
            prop_assert_eq!(joined, whole);
        }
    }
}
