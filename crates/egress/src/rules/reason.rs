//! Why a request was refused, cut or went wrong: numbered, so that a test, a record and a person name the same thing.

use std::net::IpAddr;

use placet_dial::address::SpecialNetwork;
use placet_domain::scope::BadTarget;

use super::Speaks;

/// What a reason stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The request cannot be read in one way only.
    Unclear,
    /// No rule allows it.
    Refused,
    /// It was allowed, and ended by a limit or with its rule.
    Cut,
    /// It was allowed, and the world outside did not play along.
    Trouble,
}

/// Numbers are never reused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    #[error("{0}")]
    Name(#[from] BadTarget),
    #[error("the `Host` header is not the host of the request")]
    HostHeader,
    #[error("the request is malformed: {0}")]
    Malformed(&'static str),
    #[error("the head of the request is larger than {most_bytes} bytes")]
    HeadTooLarge { most_bytes: usize },
    #[error("{0}")]
    Unsupported(&'static str),
    #[error("no rule allows the host `{host}`")]
    NoRule { host: String },
    #[error("the rules for `{host}` do not allow port {port}")]
    Port { host: String, port: u16 },
    #[error("the rules for `{host}` allow {allowed}, and this is {asked}")]
    Speaks { host: String, allowed: Speaks, asked: &'static str },
    #[error("the rules for `{host}` do not allow the method `{method}`")]
    Method { host: String, method: String },
    #[error("the rules for `{host}` do not allow this path")]
    Path { host: String },
    #[error("`{name}` carries a credential, and the rules for `{host}` do not let the agent bring one")]
    Credential { host: String, name: String },
    #[error("the rule for `{host}` has expired")]
    Expired { host: String },
    #[error("the credential `{name}` of the rule is not there")]
    NoCredential { name: String },
    #[error("the credential of the rule would go to `{host}` in the open")]
    InTheOpen { host: String },
    #[error("`{host}` leads to {address}, which is {special}")]
    Address { host: String, address: IpAddr, special: SpecialNetwork },
    #[error("what was sent is not TLS, and the rule allows nothing else")]
    NotTls,
    #[error("the first message of TLS names no host")]
    NoServerName,
    #[error("the first message of TLS names another host than was asked for")]
    OtherServerName,
    #[error("the first message of TLS is malformed: {0}")]
    BadHello(&'static str),
    #[error("the rules for `{host}` look inside of TLS, and this cage was not prepared for that host")]
    NotOpened { host: String },
    #[error("TLS with the client did not come about: {0}")]
    NoHandshake(&'static str),
    #[error("the {most_bytes} bytes that this cage may carry are used up")]
    BytesUsedUp { most_bytes: u64 },
    #[error("nothing was carried for {idle_ms} ms")]
    Idle { idle_ms: u64 },
    #[error("the connection was open for {total_ms} ms")]
    TooLong { total_ms: u64 },
    #[error("the rule it went by has ended")]
    RuleEnded,
    #[error("{most} connections are open already")]
    TooMany { most: usize },
    #[error("the request did not come within {head_ms} ms")]
    TooSlow { head_ms: u64 },
    #[error("the host has no address")]
    Unresolved,
    #[error("the host does not answer")]
    Unreachable,
    #[error("the host took longer than {wait_ms} ms")]
    HostTooSlow { wait_ms: u64 },
    #[error("the host's answer is malformed: {0}")]
    BadAnswer(&'static str),
    #[error("the connection broke")]
    Broken,
    #[error("the host cannot be believed: {0}")]
    Untrusted(&'static str),
    #[error("it cannot be recorded, and what is not recorded does not happen")]
    NotRecorded,
}

/// Longer names are cut: a reason is no place to carry data to.
const MOST_NAME: usize = 64;

impl Reason {
    /// About what a request brought under this name, which whoever asks chose.
    pub(crate) fn credential(host: impl Into<String>, name: &str) -> Self {
        Self::Credential { host: host.into(), name: name.chars().take(MOST_NAME).collect() }
    }

    pub const fn number(&self) -> u16 {
        match self {
            Self::Name(_) => 1,
            Self::HostHeader => 2,
            Self::Malformed(_) => 3,
            Self::HeadTooLarge { .. } => 4,
            Self::Unsupported(_) => 5,
            Self::NoRule { .. } => 10,
            Self::Port { .. } => 11,
            Self::Speaks { .. } => 12,
            Self::Method { .. } => 13,
            Self::Path { .. } => 14,
            Self::Credential { .. } => 15,
            Self::Expired { .. } => 16,
            Self::NoCredential { .. } => 17,
            Self::InTheOpen { .. } => 18,
            Self::Address { .. } => 20,
            Self::NotTls => 30,
            Self::NoServerName => 31,
            Self::OtherServerName => 32,
            Self::BadHello(_) => 33,
            Self::NotOpened { .. } => 34,
            Self::NoHandshake(_) => 35,
            Self::BytesUsedUp { .. } => 40,
            Self::Idle { .. } => 41,
            Self::TooLong { .. } => 42,
            Self::RuleEnded => 43,
            Self::TooMany { .. } => 44,
            Self::TooSlow { .. } => 45,
            Self::Unresolved => 50,
            Self::Unreachable => 51,
            Self::HostTooSlow { .. } => 52,
            Self::BadAnswer(_) => 53,
            Self::Broken => 54,
            Self::Untrusted(_) => 55,
            Self::NotRecorded => 60,
        }
    }

    pub const fn kind(&self) -> Kind {
        match self.number() {
            1..10 => Kind::Unclear,
            10..40 => Kind::Refused,
            40..50 => Kind::Cut,
            _ => Kind::Trouble,
        }
    }

    /// Whether a rule that a person adds under way would let the same request pass. None of them leads to a place that is not public.
    pub(crate) const fn is_wish(&self) -> bool {
        matches!(self.number(), 10..=14 | 16)
    }

    /// What to do about it, for whoever reads the answer inside of the cage.
    pub const fn hint(&self) -> &'static str {
        match self.kind() {
            Kind::Unclear => "send a plain request; nothing was passed on",
            Kind::Refused if self.number() == 15 => {
                "leave the credential out; if one is needed, the gateway puts it in when a rule says so"
            }
            Kind::Refused if self.number() == 18 => {
                "ask for it with https; a credential goes in the open to this machine alone"
            }
            Kind::Refused if self.number() == 17 => "somebody has to give the gateway this credential",
            Kind::Refused if self.number() == 34 => "the next run can; this one goes on without it",
            Kind::Refused if self.number() == 35 => "use HTTP/1.1, and the certificates that SSL_CERT_FILE names",
            Kind::Refused => "do without it, or say why it is needed: a person can allow it for this run",
            Kind::Cut => "ask for less, or for more time",
            Kind::Trouble if self.number() == 55 => "nothing was sent; a person has to look at the host's certificate",
            Kind::Trouble => "try again later",
        }
    }
}
