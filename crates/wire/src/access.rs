//! Access: who may call an endpoint. The server enforces it.

use std::fmt;

use placet_domain::identity::{Identity, Role};

/// Who may call an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Anybody, without a token: only for reading what reveals nothing.
    Public,
    /// The agent of a webhook, by a request signed with the secret of that webhook.
    Signed,
    /// Everybody with a valid token.
    Anyone,
    /// Holders of one of these roles.
    Roles(&'static [Role]),
}

impl Access {
    /// Whether the identity may call.
    pub fn admits(self, identity: &Identity) -> bool {
        match self {
            Self::Public | Self::Anyone => true,
            Self::Signed => identity.has(Role::Agent),
            Self::Roles(roles) => roles.iter().any(|role| identity.has(*role)),
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Public => f.write_str("public"),
            Self::Signed => f.write_str("signed"),
            Self::Anyone => f.write_str("anyone"),
            Self::Roles(roles) => {
                let names: Vec<&str> = roles.iter().map(|role| role.as_str()).collect();
                f.write_str(&names.join(" "))
            }
        }
    }
}
