//! A pull request, ready to paste: title, body and branch. Opening it is a person's business.

use std::fmt::Write as _;

use placet_domain::text::spelled_out;
use placet_wire::api::WorktreeView;
use placet_workspace::CommitInfo;
use serde::Serialize;

use crate::redact::redacted;

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PullRequest {
    pub title: String,
    pub body: String,
    pub branch: String,
    pub base: String,
}

/// Titles are read in lists.
const LONGEST_TITLE: usize = 120;

impl PullRequest {
    /// From what is recorded of a worktree and the commits on its branch, newest first.
    pub fn of(view: &WorktreeView, commits: &[CommitInfo], report: Option<&str>) -> Self {
        let opening = &view.opening;
        let title = match commits {
            [one] => subject(one),
            [] | [..] => format!("{}: {}", opening.ticket, spelled_out(&opening.display_name)),
        };
        let mut body = format!("Ticket: {}\nAgent: {}\n\n", opening.ticket, opening.agent);
        for commit in commits.iter().rev() {
            let _ = writeln!(body, "- {}", subject(commit));
        }
        body.push_str("\nDefinition of Done:\n\n");
        for item in &view.items {
            let mark = if item.holds { "x" } else { " " };
            let _ = writeln!(body, "- [{mark}] {}", spelled_out(&item.name));
        }
        if let Some(reason) = &view.forced {
            let _ = writeln!(body, "\nClosed although not everything is done: {}", spelled_out(reason));
        }
        if let Some(report) = report {
            let _ = writeln!(body, "\n<details><summary>Report</summary>\n\n{report}\n</details>");
        }
        let title = redacted(&title).chars().take(LONGEST_TITLE).collect();
        Self { title, body: redacted(&body), branch: opening.branch.to_string(), base: opening.base_branch.to_string() }
    }
}

fn subject(commit: &CommitInfo) -> String {
    let message = String::from_utf8_lossy(commit.message.as_bytes()).into_owned();
    spelled_out(message.lines().next().unwrap_or_default())
}
