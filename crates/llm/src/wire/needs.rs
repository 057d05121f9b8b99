//! What a request can only have where an upstream's settings allow it, because it reaches past the cage or past what is counted.

use super::complaint::{Complaint, Kind};

/// Longer than any name that means something; what is beyond is not shown, and cannot be allowed.
const LONGEST_NAME: usize = 64;

/// One such thing, by the name that the request has for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Need {
    /// A tool that the upstream itself would use: it reaches the network, or costs more than tokens.
    Tool(String),
    /// An address that the upstream would fetch content from.
    Address(String),
    /// Something that lies with the upstream and did not come from this run.
    Stored(String),
    /// A member that the format does not have.
    Member(String),
}

impl Need {
    pub(crate) fn member(name: &str) -> Self {
        Self::Member(name.chars().take(LONGEST_NAME + 1).collect())
    }

    /// Why it is refused, and what would let it pass.
    pub(crate) fn complaint(&self) -> Complaint {
        let (kind, name, why) = match self {
            Self::Tool(name) => (
                Kind::Forbidden,
                name,
                "is a tool that the upstream would run itself, past the cage; leave it out, or set `server_tools = true`",
            ),
            Self::Address(name) => (
                Kind::Forbidden,
                name,
                "names an address that the upstream would fetch from, past the cage; send the content itself (`data:…`), or set `fetches = true`",
            ),
            Self::Stored(name) => (
                Kind::Forbidden,
                name,
                "names something that lies with the upstream and was not sent by this run; send the content itself, or set `stored = true`",
            ),
            Self::Member(name) => (
                Kind::Unreadable,
                name,
                "is no member that this format has, and may lift what is bounded here; leave it out, or add it to `allow_members`",
            ),
        };
        let shown: String = name.chars().take(LONGEST_NAME).flat_map(char::escape_default).collect();
        Complaint::new(kind, format!("`{shown}` {why} of the upstream in gateway.toml"))
    }
}
