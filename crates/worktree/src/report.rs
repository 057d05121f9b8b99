//! REPORT.md: what one agent did at one ticket, by what was found and not by what was said.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use placet_domain::text::spelled_out;
use placet_domain::worktree::{DoneItem, Opening};
use placet_workspace::CommitInfo;
use placet_workspace::difference::{DifferenceKind, Origin};

use crate::check::Checked;
use crate::redact::redacted;

/// What a report is written from.
#[derive(Debug)]
pub struct Report<'a> {
    pub opening: &'a Opening,
    pub started: &'a str,
    pub closed: &'a str,
    pub summary: Option<&'a str>,
    pub commits: &'a [CommitInfo],
    pub checked: &'a Checked,
    pub items: &'a [DoneItem],
    pub notes: &'a [String],
    pub next: &'a [String],
    pub forced: Option<&'a str>,
}

impl Report<'_> {
    pub fn render(&self) -> String {
        let mut text = String::new();
        self.metadata(&mut text);
        self.summary(&mut text);
        self.files(&mut text);
        self.checklist(&mut text);
        self.risks(&mut text);
        self.actions(&mut text);
        redacted(&text)
    }

    fn metadata(&self, text: &mut String) {
        let Opening { agent, display_name, ticket, branch, base_branch, base, .. } = self.opening;
        let _ = writeln!(text, "# {ticket}: {}\n", spelled_out(display_name));
        let rows = [
            ("Agent", agent.to_string()),
            ("Ticket", ticket.to_string()),
            ("Started", self.started.to_owned()),
            ("Closed", self.closed.to_owned()),
            ("Branch", format!("`{branch}`")),
            ("Base", format!("`{base_branch}` at `{base}`")),
            ("Tip", format!("`{}`", self.checked.tip)),
        ];
        text.push_str("| | |\n| --- | --- |\n");
        for (name, value) in rows {
            let _ = writeln!(text, "| {name} | {value} |");
        }
    }

    fn summary(&self, text: &mut String) {
        text.push_str("\n## Summary\n\n");
        match self.summary {
            Some(words) => text.extend(words.lines().map(|line| format!("> {}\n", spelled_out(line)))),
            None if self.commits.is_empty() => text.push_str("Nothing was committed.\n"),
            None => {}
        }
        for commit in self.commits.iter().rev() {
            let message = String::from_utf8_lossy(commit.message.as_bytes()).into_owned();
            let subject = spelled_out(message.lines().next().unwrap_or_default());
            let _ = writeln!(text, "- `{}` {}", &commit.id.as_str()[..12], quoted(&subject));
        }
    }

    /// Each file once, with the last thing that happened to it.
    fn files(&self, text: &mut String) {
        text.push_str("\n## Files modified\n\n");
        let changed = self.checked.files.iter().filter(|file| file.origin != Origin::Ignored);
        let files: BTreeMap<&str, DifferenceKind> = changed.map(|file| (file.path.as_str(), file.kind)).collect();
        if files.is_empty() {
            text.push_str("None.\n");
        }
        for (path, kind) in files {
            let _ = writeln!(text, "- {} ({})", code(path), format!("{kind:?}").to_lowercase());
        }
    }

    fn checklist(&self, text: &mut String) {
        text.push_str("\n## Definition of Done\n\n");
        for item in self.items {
            let mark = if item.holds { "x" } else { " " };
            let (first, rest) = item.detail.split_once('\n').unwrap_or((&item.detail, ""));
            let _ = writeln!(text, "- [{mark}] {}: {}", quoted(&item.name), quoted(first));
            if !rest.trim().is_empty() {
                text.extend(rest.lines().map(|line| format!("      {line}\n")));
            }
        }
    }

    fn risks(&self, text: &mut String) {
        text.push_str("\n## Risks and notes\n\n");
        let mut said = Vec::new();
        said.extend(self.forced.map(|reason| format!("Closed although not everything is done: {reason}")));
        let allowed = self.checked.secrets.iter().filter_map(|found| found.allowed.as_ref().map(|why| (found, why)));
        said.extend(allowed.map(|(found, why)| format!("{}:{} is on the allowlist: {why}", found.place, found.line)));
        said.extend(self.notes.iter().cloned());
        if said.is_empty() {
            said.push("None.".to_owned());
        }
        text.extend(said.iter().map(|line| format!("- {}\n", quoted(&spelled_out(line)))));
    }

    fn actions(&self, text: &mut String) {
        text.push_str("\n## Next actions\n\n");
        let usual = [format!("Review `{}` and merge it, as the accountable person.", self.opening.branch)];
        let next = if self.next.is_empty() { &usual[..] } else { self.next };
        text.extend(next.iter().map(|line| format!("- {}\n", spelled_out(line))));
    }
}

/// Text that people see as text: nothing of it becomes a link, an image or a heading.
fn quoted(text: &str) -> String {
    let special = |c: char| matches!(c, '[' | ']' | '<' | '>' | '!' | '*' | '_' | '`' | '#' | '|' | '\\');
    text.chars().fold(String::with_capacity(text.len()), |mut out, c| {
        if special(c) {
            out.push('\\');
        }
        out.push(c);
        out
    })
}

/// A name in a span of code, whatever is in it.
fn code(name: &str) -> String {
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    if longest == 0 { format!("`{name}`") } else { format!("{fence} {name} {fence}") }
}
