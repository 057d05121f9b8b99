//! What a program said and left, as far as its card shows it: the beginning and the end of each stream, and small texts among its outputs.
//! The same people see it as by the API.

use placet_control::App;
use placet_control::flow::Caller;
use placet_control::http::Failure;
use placet_control::read::files::{read, text};
use placet_domain::evidence::{Item, Manifest};
use placet_domain::id::ProjectId;
use placet_domain::proposal::FileOperand;

use crate::markup::{Excerpt, Output, STREAMS};

/// Of each end: what somebody reads before they fetch the whole.
const MOST_BYTES: usize = 8 << 10;
/// A file that was left is shown where it is small, so that nobody fetches a few lines; and no more of them than a card has room for.
const MOST_LEFT_BYTES: u64 = 4 << 10;
const MOST_LEFT: usize = 8;

pub(super) async fn shown(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    manifest: Option<&Manifest>,
) -> Result<Vec<Output>, Failure> {
    let mut outputs = Vec::new();
    let items = || manifest.into_iter().flat_map(|manifest| &manifest.items).filter(|item| item.size_bytes > 0);
    let small = items().filter(|item| !is_stream(item) && item.size_bytes <= MOST_LEFT_BYTES).take(MOST_LEFT);
    for item in items().filter(|item| is_stream(item)).chain(small) {
        let (name, digest, size_bytes) = (item.name.clone(), item.digest, item.size_bytes);
        let bytes = read(app, caller, project, &FileOperand { path: name.clone(), digest, size_bytes }).await?;
        outputs.push(Output { name, excerpt: bytes.ok().and_then(|bytes| excerpt(&bytes)) });
    }
    Ok(outputs)
}

fn is_stream(item: &Item) -> bool {
    STREAMS.contains(&item.name.as_str())
}

/// The first and the last lines; nothing of what is no text.
fn excerpt(bytes: &[u8]) -> Option<Excerpt> {
    if bytes.len() <= 2 * MOST_BYTES {
        return Some(Excerpt { head: text(bytes)?, ..Excerpt::default() });
    }
    let head = whole_lines(bytes.get(..MOST_BYTES)?, |bytes| {
        bytes.iter().rposition(|byte| *byte == b'\n').map(|at| (0, at + 1))
    });
    let end = bytes.get(bytes.len() - MOST_BYTES..)?;
    let tail = whole_lines(end, |bytes| bytes.iter().position(|byte| *byte == b'\n').map(|at| (at + 1, bytes.len())));
    let left_out_bytes = (bytes.len() - head.len() - tail.len()) as u64;
    Some(Excerpt { head: text(head)?, tail: text(tail)?, left_out_bytes })
}

/// Cut between lines, or between characters where there is but one line.
fn whole_lines(bytes: &[u8], cut: impl Fn(&[u8]) -> Option<(usize, usize)>) -> &[u8] {
    if let Some((from, to)) = cut(bytes) {
        return bytes.get(from..to).unwrap_or_default();
    }
    let begins = bytes.iter().position(|byte| byte & 0xC0 != 0x80).unwrap_or(bytes.len());
    let ends = bytes.iter().rposition(|byte| byte & 0xC0 != 0x80).unwrap_or(0);
    bytes.get(begins..ends.max(begins)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_of_a_long_output_the_first_and_the_last_lines_are_shown() {
        let long: String = (0..10_000).map(|number| format!("line {number}\n")).collect();
        let shown = excerpt(long.as_bytes()).unwrap();
        assert!(shown.head.starts_with("line 0\n") && shown.head.ends_with('\n'), "{shown:?}");
        assert!(shown.tail.starts_with("line ") && shown.tail.ends_with("line 9999\n"), "{shown:?}");
        assert_eq!(shown.head.len() as u64 + shown.tail.len() as u64 + shown.left_out_bytes, long.len() as u64);
        let one_line = "é".repeat(40_000);
        assert!(excerpt(one_line.as_bytes()).is_some_and(|shown| shown.head.chars().all(|c| c == 'é')));
        assert_eq!(excerpt(b"short").unwrap().head, "short");
        assert_eq!(excerpt(b"zero\0byte"), None);
    }
}
