//! Secrets in what was added: every line of every commit, of the index and of every file, and every commit message.
//!
//! What is found is told redacted. A team may decide to live with one, for a reason and until a day.

use placet_secrets::{Finding, Judgement, Scanner};
use placet_workspace::Worktree;
use placet_workspace::difference::{AddedLine, Differences};
use serde::Serialize;

use super::{CheckError, Rules};

/// A secret that was found, without the secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SecretFound {
    /// The file, or the message of a commit.
    pub place: String,
    pub line: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    pub rule: String,
    pub about: String,
    pub redacted: String,
    /// For an allowlist.
    pub fingerprint: String,
    /// Why the team lives with it, if it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allowed: Option<String>,
    /// When the team's leave ended, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expired: Option<String>,
}

impl SecretFound {
    pub const fn is_allowed(&self) -> bool {
        self.allowed.is_some()
    }
}

pub(super) fn find(
    worktree: &Worktree,
    differences: &Differences,
    rules: &Rules<'_>,
) -> Result<Vec<SecretFound>, CheckError> {
    let (scanner, mut found) = (Scanner::shipped(), in_messages(differences, rules));
    // Lines of one file of one origin belong together: a private key has several.
    let mut block: Vec<AddedLine> = Vec::new();
    for line in worktree.added_lines(differences)? {
        let line = line?;
        if block.last().is_some_and(|last| !belongs(last, &line)) {
            found.extend(in_block(scanner, &block, rules));
            block.clear();
        }
        block.push(line);
    }
    found.extend(in_block(scanner, &block, rules));
    Ok(found)
}

/// Long files are scanned in pieces, so that memory stays bounded; pieces are far longer than any key.
const MOST_LINES_TOGETHER: u64 = 100_000;

fn belongs(last: &AddedLine, next: &AddedLine) -> bool {
    let same = last.path == next.path && last.origin == next.origin && last.commit == next.commit;
    same && next.line / MOST_LINES_TOGETHER == last.line / MOST_LINES_TOGETHER
}

fn in_block(scanner: &Scanner, block: &[AddedLine], rules: &Rules<'_>) -> Vec<SecretFound> {
    let Some(first) = block.first() else { return Vec::new() };
    let number = |line: u64| u32::try_from(line).unwrap_or(u32::MAX);
    let findings = scanner.scan_lines(block.iter().map(|line| (number(line.line), line.text.as_slice())));
    let place = first.path.to_string();
    let commit = first.commit.as_ref().map(ToString::to_string);
    findings.iter().map(|finding| told(finding, &place, commit.clone(), first.path.as_bytes(), rules)).collect()
}

fn in_messages(differences: &Differences, rules: &Rules<'_>) -> Vec<SecretFound> {
    let scanner = Scanner::shipped();
    let scanned = differences.commits().iter().flat_map(|commit| {
        let findings = scanner.scan(commit.message.as_bytes());
        findings
            .into_iter()
            .map(|finding| told(&finding, "commit message", Some(commit.id.to_string()), b"commit message", rules))
    });
    scanned.collect()
}

fn told(finding: &Finding, place: &str, commit: Option<String>, path: &[u8], rules: &Rules<'_>) -> SecretFound {
    let (allowed, expired) = match rules.allowlist.judge(finding, path, rules.today) {
        Judgement::Allowed { reason } => (Some(reason), None),
        Judgement::Expired { since, .. } => (None, Some(since.to_string())),
        Judgement::NotListed => (None, None),
    };
    SecretFound {
        place: place.to_owned(),
        line: u64::from(finding.line),
        commit,
        rule: finding.rule.clone(),
        about: finding.about.clone(),
        redacted: finding.redacted.clone(),
        fingerprint: finding.fingerprint_hex(),
        allowed,
        expired,
    }
}
