//! Names that become parts of paths, branches and commands, and so are plain by construction.

crate::names! {
    /// The name of an agent in the team's registry.
    AgentName = "agent", is_agent, "a lowercase letter, then at most 31 lowercase letters, digits, `-` or `_`";
    /// What an agent works at, as the team's tracker names it.
    Ticket = "ticket", is_ticket, "letters and digits, a hyphen and a number, as in `PAY-123`";
    /// A branch, without `refs/heads/`.
    BranchName = "branch", is_branch, "letters, digits, `-`, `_`, `.`, `/` and `#`, in the form that git accepts";
    /// The name of a commit: all of its hex digits.
    CommitId = "commit", is_commit, "40 or 64 lowercase hex digits";
}

fn is_agent(text: &str) -> bool {
    let first = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_');
    first && text.len() <= 32 && text.bytes().all(plain)
}

/// A prefix of up to 32 characters and a number of up to 9 digits. A ticket ends with a digit and an agent's name begins
/// with a letter: so no two pairs share a branch.
fn is_ticket(text: &str) -> bool {
    let Some((prefix, number)) = text.split_once('-') else { return false };
    let is_prefix = prefix.starts_with(|first: char| first.is_ascii_alphabetic())
        && prefix.len() <= 32
        && prefix.bytes().all(|byte| byte.is_ascii_alphanumeric());
    is_prefix && (1..=9).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_branch(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/' | b'#');
    let part = |part: &str| {
        !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with('.') && !part.ends_with(".lock")
    };
    text.len() <= 200 && text.bytes().all(plain) && !text.contains("..") && text.split('/').all(part) && text != "HEAD"
}

fn is_commit(text: &str) -> bool {
    let hex = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    matches!(text.len(), 40 | 64) && text.bytes().all(hex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_leave_their_place_in_a_path_a_branch_or_a_command() {
        let tricks = ["", "..", "a/b", "../x", "-x", "a b", "a\nb", "a;b", "$(x)", "a\0b", ".hidden", "é"];
        for trick in tricks {
            assert!(trick.parse::<AgentName>().is_err(), "{trick:?}");
            assert!(trick.parse::<Ticket>().is_err(), "{trick:?}");
        }
        for trick in ["x.lock", "PAY-123-b", "PAY-", "-1", "PAY", "P-1234567890"] {
            assert!(trick.parse::<Ticket>().is_err(), "{trick:?}");
        }
    }

    #[test]
    fn usual_names_are_taken() {
        assert!("backend".parse::<AgentName>().is_ok());
        assert!("security-review_2".parse::<AgentName>().is_ok());
        for ticket in ["PAY-123", "T-1", "issue-7"] {
            assert!(ticket.parse::<Ticket>().is_ok(), "{ticket}");
        }
        for branch in ["main", "feat/PAY-123-backend", "release/1.2"] {
            assert!(branch.parse::<BranchName>().is_ok(), "{branch}");
        }
    }

    #[test]
    fn branches_that_git_reads_otherwise_are_refused() {
        for branch in ["HEAD", "-x", "a//b", "/a", "a/", "a/.b", "a..b", "a@{1}", "a~1", "a^", "a:b", "x.lock", "a/-b"]
        {
            assert!(branch.parse::<BranchName>().is_err(), "{branch}");
        }
    }

    #[test]
    fn a_commit_is_named_in_full() {
        assert!("0123456789abcdef0123456789abcdef01234567".parse::<CommitId>().is_ok());
        for text in ["0123456", "0123456789ABCDEF0123456789abcdef01234567", "main"] {
            assert!(text.parse::<CommitId>().is_err(), "{text}");
        }
    }
}
