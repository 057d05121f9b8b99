//! What would be done, in one line: for every list in which somebody looks for what to decide, on pages, at a terminal and for programs.
//!
//! Made of the sealed bytes alone, never of the agent's words. What deceives is marked by whoever shows it: a title is as it was sealed.

use std::ops::Range;

use super::action::ActionSpec;
use crate::text::beginning;

/// A title is read in passing; the whole stands below it.
const LONGEST: usize = 90;

impl ActionSpec {
    /// The tool, and as much of what it is given as is read in passing.
    pub fn title(&self) -> String {
        let words = std::iter::once(self.tool.as_str()).chain(self.argv.iter().skip(1).map(String::as_str));
        let whole = words.collect::<Vec<_>>().join(" ");
        match beginning(&whole, LONGEST) {
            (beginning, true) => cut(&whole, beginning),
            (_, false) => whole,
        }
    }
}

/// Truncates a title but always shows its destination: a host that the cut would hide or divide is appended.
fn cut(whole: &str, begun: &str) -> String {
    let Some(origin) = origins(whole).find(|origin| origin.end > begun.len()) else { return format!("{begun}…") };
    let before = whole.get(..origin.start.min(begun.len())).unwrap_or(begun);
    let gap = if origin.start > begun.len() { "… " } else { "" };
    let (shown, _) = beginning(whole.get(origin.clone()).unwrap_or_default(), LONGEST);
    format!("{before}{gap}{shown}…")
}

/// Finds the ranges of scheme and host of each address in a text.
fn origins(text: &str) -> impl Iterator<Item = Range<usize>> {
    text.match_indices("://").map(|(at, mark)| {
        let is_scheme = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
        let start = text[..at].char_indices().rev().take_while(|(_, c)| is_scheme(*c)).last().map_or(at, |(at, _)| at);
        let host = at + mark.len();
        let ends = |c: char| c.is_whitespace() || matches!(c, '/' | '?' | '#' | '"' | '\'' | '<' | '>' | '|' | ')');
        start..text[host..].find(ends).map_or(text.len(), |length| host + length)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn titled(argv: &[&str]) -> String {
        let (id, digest) = ("0".repeat(32), format!("sha256:{}", "a".repeat(64)));
        let spec = json!({
            "v": 1, "run": format!("run_{id}"), "agent": format!("idn_{id}"), "scope": digest, "tool": "sh",
            "tool_version": digest, "kind": "execute_code", "argv": argv, "environment": {}, "files": [], "outputs": [],
            "profile": "default", "profile_digest": digest,
            "limits": { "timeout_ms": 1000, "memory_bytes": 1, "output_bytes": 1, "file_bytes": 1, "processes": 1 },
        });
        serde_json::from_value::<ActionSpec>(spec).unwrap().title()
    }

    #[test]
    fn b4_a_title_is_the_tool_and_what_it_is_given_and_no_longer_than_is_read_in_passing() {
        assert_eq!(titled(&["/bin/sh", "-c", "make"]), "sh -c make");
        assert_eq!(titled(&["/bin/sh", &"x".repeat(500)]).chars().count(), LONGEST + 1);
        let far = titled(&["/usr/bin/curl", "-H", &"x".repeat(200), "https://evil.example.org:8443/a/b?c=d"]);
        assert!(far.ends_with("xxx… https://evil.example.org:8443…"), "{far}");
        let divided = titled(&["/usr/bin/curl", "-H", &"x".repeat(70), "https://api.example.org/v1/things"]);
        assert!(divided.ends_with("xx https://api.example.org…"), "{divided}");
        let padded = titled(&["/bin/sh", "-c", &format!("echo ok{}; rm -rf docs", " ".repeat(1_500))]);
        assert!(padded.ends_with("; rm -rf docs"), "what is padded out of sight is in it: {padded}");
    }
}
