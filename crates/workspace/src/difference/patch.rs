//! Reads patches while git prints them, and tells the lines they add.
//!
//! A hunk says how many lines it has; within it nothing is taken for anything but content, so that no content can pass
//! for a header. Patches of merges have one column for each parent.

use std::io::{self, BufRead};

use super::DifferenceError;
use super::raw::unexpected;
use crate::git::{ObjectId, is_hex};
use crate::path::TreePath;

/// A line longer than this is told in pieces.
pub(super) const MOST_LINE_BYTES: usize = 1 << 20;

/// Where in a patch the reader is.
#[derive(Debug, Default)]
pub(super) struct Patch {
    commit: Option<ObjectId>,
    path: Option<TreePath>,
    hunk: Option<Hunk>,
}

#[derive(Debug)]
struct Hunk {
    parents: usize,
    old_left: u64,
    new_left: u64,
    line: u64,
    /// Whether the line that is being read is an added one, if it came in pieces.
    adding: Option<bool>,
}

/// One line, or a piece of one, that was added.
#[derive(Debug)]
pub(super) struct Added {
    pub(super) path: TreePath,
    pub(super) commit: Option<ObjectId>,
    pub(super) line: u64,
    pub(super) text: Vec<u8>,
}

/// The next line, at most so long, without its end; whether its end was reached.
pub(super) fn read_line(reader: &mut impl BufRead, into: &mut Vec<u8>) -> io::Result<Option<bool>> {
    into.clear();
    loop {
        let buffer = match reader.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(if into.is_empty() { None } else { Some(true) });
        }
        let room = MOST_LINE_BYTES - into.len();
        let end = buffer.iter().take(room).position(|&byte| byte == b'\n');
        let taken = end.unwrap_or(buffer.len().min(room));
        into.extend_from_slice(&buffer[..taken]);
        reader.consume(taken + usize::from(end.is_some()));
        if end.is_some() {
            return Ok(Some(true));
        }
        if into.len() == MOST_LINE_BYTES {
            return Ok(Some(false));
        }
    }
}

impl Patch {
    /// What a line, or a piece of one, means.
    pub(super) fn take(&mut self, text: &[u8], is_ended: bool) -> Result<Option<Added>, DifferenceError> {
        let Some(hunk) = &mut self.hunk else {
            self.header(text)?;
            return Ok(None);
        };
        let added = hunk.take(text, is_ended);
        let is_over = hunk.old_left == 0 && hunk.new_left == 0 && hunk.adding.is_none();
        let (commit, path) = (self.commit.clone(), self.path.clone());
        if is_over {
            self.hunk = None;
        }
        let Some((line, text)) = added else { return Ok(None) };
        let path = path.ok_or_else(|| unexpected(text))?;
        Ok(Some(Added { path, commit, line, text: text.to_vec() }))
    }

    fn header(&mut self, text: &[u8]) -> Result<(), DifferenceError> {
        if text.starts_with(b"@@") {
            self.hunk = Some(Hunk::parse(text).ok_or_else(|| unexpected(text))?);
            self.hunk.take_if(|hunk| hunk.old_left == 0 && hunk.new_left == 0);
        } else if let Some(name) = text.strip_prefix(b"+++ ") {
            self.path = new_name(name)?;
        } else if text.starts_with(b"diff ") {
            self.path = None;
        } else if matches!(text.len(), 40 | 64) && text.iter().all(|&byte| is_hex(byte)) {
            self.commit = std::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
        }
        Ok(())
    }
}

impl Hunk {
    /// `@@ -1,2 +3,4 @@`; one more `@` and one more range for each further parent.
    fn parse(text: &[u8]) -> Option<Self> {
        let parents = text.iter().take_while(|&&byte| byte == b'@').count().checked_sub(1)?;
        let mut words = text.split(|&byte| byte == b' ').skip(1);
        let mut old_left = 0;
        for _ in 0..parents {
            old_left = range(words.next()?.strip_prefix(b"-")?)?.1;
        }
        let (line, new_left) = range(words.next()?.strip_prefix(b"+")?)?;
        // Columns of several parents cannot be counted one by one; the lines that are there now can.
        let old_left = if parents == 1 { old_left } else { 0 };
        Some(Self { parents, old_left, new_left, line, adding: None })
    }

    fn take<'a>(&mut self, text: &'a [u8], is_ended: bool) -> Option<(u64, &'a [u8])> {
        if let Some(adding) = self.adding {
            let line = self.line;
            if is_ended {
                self.adding = None;
                self.line += u64::from(adding);
            }
            return adding.then_some((line, text));
        }
        let (columns, content) = text.split_at_checked(self.parents)?;
        if columns.starts_with(b"\\") {
            return None;
        }
        if columns.contains(&b'-') {
            self.old_left = self.old_left.saturating_sub(1);
            self.adding = (!is_ended).then_some(false);
            return None;
        }
        self.new_left = self.new_left.saturating_sub(1);
        let (line, adding) = (self.line, columns.contains(&b'+'));
        if !adding {
            self.old_left = self.old_left.saturating_sub(1);
        }
        if is_ended {
            self.line += 1;
        } else {
            self.adding = Some(adding);
        }
        adding.then_some((line, content))
    }
}

/// `first,count`; a single line has no count.
fn range(text: &[u8]) -> Option<(u64, u64)> {
    let text = std::str::from_utf8(text).ok()?;
    match text.split_once(',') {
        Some((first, count)) => Some((first.parse().ok()?, count.parse().ok()?)),
        None => Some((text.parse().ok()?, 1)),
    }
}

/// `b/name`, quoted if it has to be, or `/dev/null`.
fn new_name(name: &[u8]) -> Result<Option<TreePath>, DifferenceError> {
    if name == b"/dev/null" {
        return Ok(None);
    }
    let plain = match name.strip_prefix(b"\"").and_then(|rest| rest.strip_suffix(b"\"")) {
        Some(quoted) => unquoted(quoted).ok_or_else(|| unexpected(name))?,
        None => name.strip_suffix(b"\t").unwrap_or(name).to_vec(),
    };
    let below = plain.strip_prefix(b"b/").ok_or_else(|| unexpected(name))?;
    Ok(Some(TreePath::new(below)?))
}

fn unquoted(quoted: &[u8]) -> Option<Vec<u8>> {
    let (mut plain, mut rest) = (Vec::with_capacity(quoted.len()), quoted);
    while let Some((&first, after)) = rest.split_first() {
        let (byte, after) = match (first, after) {
            (b'\\', [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', after @ ..]) => {
                ((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), after)
            }
            (b'\\', [letter, after @ ..]) => (escaped(*letter)?, after),
            (b'\\', []) => return None,
            (byte, after) => (byte, after),
        };
        plain.push(byte);
        rest = after;
    }
    Some(plain)
}

fn escaped(letter: u8) -> Option<u8> {
    Some(match letter {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' | b'\\' => letter,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn told(patch: &[u8]) -> Vec<String> {
        let (mut reader, mut line, mut state, mut told) = (patch, Vec::new(), Patch::default(), Vec::new());
        while let Some(is_ended) = read_line(&mut reader, &mut line).unwrap() {
            if let Some(added) = state.take(&line, is_ended).unwrap() {
                told.push(format!("{}:{} {}", added.path, added.line, String::from_utf8_lossy(&added.text)));
            }
        }
        told
    }

    #[test]
    fn content_cannot_pass_for_a_header() {
        let patch = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@ f\n--- a/y\n-+++ b/z\n++++ b/z\n+@@ -1 +1 @@\n+diff --git\n\
                     @@ -9,0 +10 @@\n+ten\n\\ No newline at end of file\ndiff --git a/z b/z\n--- a/z\n+++ b/z\t\n@@ -0,0 +1 @@\n+z\n";
        assert_eq!(told(patch.as_bytes()), ["x:1 +++ b/z", "x:2 @@ -1 +1 @@", "x:3 diff --git", "x:10 ten", "z:1 z"]);
    }

    #[test]
    fn names_are_unquoted_and_merges_read() {
        let patch = "diff --git \"a/\\303\\244\\n\" \"b/\\303\\244\\n\"\n--- /dev/null\n+++ \"b/\\303\\244\\n\"\n@@ -0,0 +1 @@\n+x\n\
                     diff --cc m\n--- a/m\n+++ b/m\n@@@ -1,1 -1,1 +1,2 @@@\n- one\n -two\n++both\n+ theirs\n";
        assert_eq!(told(patch.as_bytes()), ["%C3%A4%0A:1 x", "m:1 both", "m:2 theirs"]);
    }

    #[test]
    fn a_line_without_an_end_is_told_in_pieces() {
        let long = "x".repeat(MOST_LINE_BYTES + 5);
        let patch = format!("+++ b/f\n@@ -0,0 +1,2 @@\n+{long}\n+next\n");
        let told = told(patch.as_bytes());
        assert_eq!(told.len(), 3);
        assert!(told[0].starts_with("f:1 x") && told[1].starts_with("f:1 x") && told[2] == "f:2 next");
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes: Vec<u8>, header in "[-+@ 0-9,\\n]{0,40}") {
            let (mut reader, mut line, mut state) = ([header.as_bytes(), &bytes].concat(), Vec::new(), Patch::default());
            let mut reader = reader.as_mut_slice() as &[u8];
            while let Some(is_ended) = read_line(&mut reader, &mut line).unwrap() {
                let _ = state.take(&line, is_ended);
            }
        }
    }
}
