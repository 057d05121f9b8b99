//! Words that a team makes up, besides the names of [`placet_domain::worktree`]: each is a type of its own, and none holds
//! a character that git, a shell or a file system gives a meaning to.

use std::fmt;
use std::str::FromStr;

use placet_domain::name::BadName;
use placet_domain::scope::{Case, Glob, Slash, wildmatch};
use placet_domain::worktree::{AgentName, BranchName, Ticket};
use serde::{Deserialize, Serialize};

placet_domain::names! {
    /// The name of a check or of a step of the setup.
    CheckName = "name of a check", |text| is_word(text, 64), "write 1 to 64 lowercase letters, digits, `_` or `-`, a letter first";
    /// The name of a kind of cage.
    CageName = "name of a sandbox profile", |text| is_word(text, 64), "write 1 to 64 lowercase letters, digits, `_` or `-`, a letter first";
    /// A kind of ticket, which a sequence of agents belongs to.
    TicketKind = "kind of ticket", |text| is_word(text, 32), "write 1 to 32 lowercase letters, digits, `_` or `-`, a letter first";
}

fn is_word(text: &str, longest: usize) -> bool {
    let plain = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_' | b'-');
    let begins_well = text.starts_with(|first: char| first.is_ascii_lowercase());
    begins_well && text.len() <= longest && text.bytes().all(plain)
}

/// The branch on which an agent works at a ticket. An agent's name begins with a letter and a ticket that the policy accepts
/// ends with a digit, so that no two pairs share a branch.
pub fn branch_of(ticket: &Ticket, agent: &AgentName) -> BranchName {
    format!("feat/{ticket}-{agent}").parse().expect("tickets and agents are plain by construction")
}

/// A pattern for names of branches. Letter case is ignored, because some file systems ignore it in refs too.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct BranchGlob(Glob);

impl BranchGlob {
    pub fn as_str(&self) -> &str {
        self.0.as_str()
    }

    pub fn matches(&self, branch: &str) -> bool {
        let matched = |case| wildmatch(self.as_str().as_bytes(), branch.as_bytes(), Slash::Stops, case);
        matched(Case::Exact) || matched(Case::Ignore)
    }
}

impl FromStr for BranchGlob {
    type Err = BadName;

    fn from_str(text: &str) -> Result<Self, BadName> {
        const WHAT: &str = "pattern for branches";
        if text.starts_with("refs/") {
            return Err(BadName::new(text, WHAT, "leave `refs/heads/` out"));
        }
        if text.ends_with('/') {
            return Err(BadName::new(text, WHAT, "end it with `**` for everything below"));
        }
        let glob = text.parse().map_err(|_| BadName::new(text, WHAT, "write it as for paths, such as `release/**`"))?;
        Ok(Self(glob))
    }
}

impl TryFrom<String> for BranchGlob {
    type Error = BadName;

    fn try_from(text: String) -> Result<Self, BadName> {
        text.parse()
    }
}

impl From<BranchGlob> for String {
    fn from(glob: BranchGlob) -> Self {
        glob.0.into()
    }
}

impl fmt::Display for BranchGlob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
