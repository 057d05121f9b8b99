//! One rule, as it is written and as it is read. A rule that says more than can be enforced is refused.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use placet_domain::scope::{BadTarget, Network, Place, Target, TargetRule, UrlPath};
use placet_domain::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::credential::Credential;

pub use placet_domain::proposal::Method;

/// What is spoken with the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Speaks {
    /// TLS, with the name of the host in its first message. What is inside is seen where a rule asks for it.
    Https,
    /// Plain HTTP: every request is read and judged.
    Http,
    /// Anything. Nothing but the address is judged.
    Tcp,
}

impl fmt::Display for Speaks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Https => "https",
            Self::Http => "http",
            Self::Tcp => "tcp",
        })
    }
}

/// What becomes of established connections when their rule expires or goes away.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtEnd {
    /// They finish; nothing new begins.
    #[default]
    Finish,
    /// They end at once.
    Cut,
}

/// Paths a rule allows: `/v1` and everything below it, or `=/v1` and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum PathRule {
    Below(UrlPath),
    Exactly(UrlPath),
}

impl PathRule {
    pub(crate) fn covers(&self, path: &UrlPath) -> bool {
        match self {
            Self::Below(root) => path.is_below(root),
            Self::Exactly(only) => path == only,
        }
    }
}

impl FromStr for PathRule {
    type Err = BadTarget;

    fn from_str(text: &str) -> Result<Self, BadTarget> {
        match text.strip_prefix('=') {
            Some(path) => path.parse().map(Self::Exactly),
            None => text.parse().map(Self::Below),
        }
    }
}

impl fmt::Display for PathRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Below(path) => write!(f, "{path}"),
            Self::Exactly(path) => write!(f, "={path}"),
        }
    }
}

impl TryFrom<String> for PathRule {
    type Error = BadTarget;
    fn try_from(text: String) -> Result<Self, BadTarget> {
        text.parse()
    }
}

impl From<PathRule> for String {
    fn from(rule: PathRule) -> Self {
        rule.to_string()
    }
}

/// A rule as a team writes it; [`Rule`] is one that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleDraft {
    /// `example.org`, `*.example.org` for the names below it, or an address or network.
    pub host: TargetRule,
    pub speaks: Speaks,
    /// Without ports: 443 for `https`, 80 for `http`; `tcp` must say which.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub ports: BTreeSet<u16>,
    /// Without methods: any. Not for `tcp`; `https` is opened for it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub methods: BTreeSet<Method>,
    /// Without paths: any. Not for `tcp`; `https` is opened for it.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub paths: BTreeSet<PathRule>,
    /// Networks that are not public, to which a name may lead nevertheless.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub networks: BTreeSet<Network>,
    /// Whose credential goes along. Not for `tcp`; `https` is opened for it, unless the agent may bring its own. Without it:
    /// nobody's, as far as it is seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credential: Option<Credential>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Timestamp>,
    #[serde(default)]
    pub at_end: AtEnd,
}

/// Why a rule is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadRule {
    #[error("the host `{0}` has a scheme or a path; write the host alone, `speaks`, `ports` and `paths` say the rest")]
    HostIsUrl(String),
    #[error("`{0}` has no usual port; say which with `ports`")]
    NoPort(Speaks),
    #[error("port 0 is nobody's; name ports from 1 to 65535")]
    PortZero,
    #[error("`{what}` cannot be seen inside of `{speaks}`; leave it out, or allow `http` or `https`")]
    Unseen { what: &'static str, speaks: Speaks },
}

/// A rule that can be kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "RuleDraft", into = "RuleDraft")]
pub struct Rule(RuleDraft);

impl Rule {
    /// A host at the usual port: every method and path, nobody's credential, without an end. `tcp` has no usual port
    /// and allows nothing before it is given one.
    pub fn new(host: TargetRule, speaks: Speaks) -> Self {
        let ports = usual_port(speaks).into_iter().collect();
        let (methods, paths, networks) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        let (credential, expires_at) = (None, None);
        let at_end = AtEnd::default();
        Self(RuleDraft { host, speaks, ports, methods, paths, networks, credential, expires_at, at_end })
    }

    /// At this port and no other. Port 0 is nobody's and allows nothing.
    #[must_use]
    pub fn at_port(mut self, port: u16) -> Self {
        self.0.ports = [port].into_iter().filter(|&port| port != 0).collect();
        self
    }

    /// Adds a path and everything below it, where requests can be seen; `https` is opened for it.
    #[must_use]
    pub fn below(mut self, path: UrlPath) -> Self {
        if self.shows_requests() {
            self.0.paths.insert(PathRule::Below(path));
        }
        self
    }

    /// With these methods alone, where requests can be seen; `https` is opened for it. None means any.
    #[must_use]
    pub(crate) fn with_methods(mut self, methods: &BTreeSet<Method>) -> Self {
        if self.shows_requests() {
            self.0.methods.clone_from(methods);
        }
        self
    }

    /// Without anybody's credential, wherever it would be carried: `https` is opened for it. Of `http` it is so anyway.
    #[must_use]
    pub(crate) fn without_credentials(mut self) -> Self {
        if self.0.speaks == Speaks::Https {
            self.0.credential = Some(Credential::None);
        }
        self
    }

    fn shows_requests(&self) -> bool {
        match self.0.speaks {
            Speaks::Http | Speaks::Https => true,
            Speaks::Tcp => false,
        }
    }

    /// Until then, and whatever goes by it is cut then.
    #[must_use]
    pub fn cut_at(mut self, end: Timestamp) -> Self {
        (self.0.expires_at, self.0.at_end) = (Some(end), AtEnd::Cut);
        self
    }

    /// Adds a network that is not public.
    #[must_use]
    pub(crate) fn in_network(mut self, network: Network) -> Self {
        self.0.networks.insert(network);
        self
    }

    pub const fn draft(&self) -> &RuleDraft {
        &self.0
    }

    /// Networks that are listed by this rule: those beside its host, and the host itself where it is one.
    pub fn listed(&self) -> Vec<Network> {
        let own = match &self.0.host {
            TargetRule::Within(Target::Network(network)) => Some(*network),
            TargetRule::Within(Target::Host(_) | Target::Url(_)) | TargetRule::Below(_) => None,
        };
        own.into_iter().chain(self.0.networks.iter().copied()).collect()
    }

    pub(crate) fn covers_place(&self, place: &Place) -> bool {
        match (&self.0.host, place) {
            (TargetRule::Within(Target::Host(allowed)), Place::Named(host)) => allowed == host,
            (TargetRule::Below(domain), Place::Named(host)) => host.is_below(domain),
            (TargetRule::Within(Target::Network(network)), Place::At(address)) => {
                network.contains(&Network::exactly(*address))
            }
            (TargetRule::Within(Target::Host(_) | Target::Url(_)) | TargetRule::Below(_), Place::At(_))
            | (TargetRule::Within(Target::Network(_) | Target::Url(_)), Place::Named(_)) => false,
        }
    }

    /// Whether TLS has to be opened to keep it. Whoever may bring credentials of their own is let through unseen.
    pub fn looks_inside(&self) -> bool {
        let RuleDraft { speaks, methods, paths, credential, .. } = &self.0;
        let is_asked = !methods.is_empty() || !paths.is_empty();
        *speaks == Speaks::Https && (is_asked || !matches!(credential, None | Some(Credential::Own)))
    }

    pub(super) fn credential(&self) -> &Credential {
        self.0.credential.as_ref().unwrap_or(&Credential::None)
    }
}

const fn usual_port(speaks: Speaks) -> Option<u16> {
    match speaks {
        Speaks::Https => Some(443),
        Speaks::Http => Some(80),
        Speaks::Tcp => None,
    }
}

impl TryFrom<RuleDraft> for Rule {
    type Error = BadRule;

    fn try_from(mut draft: RuleDraft) -> Result<Self, BadRule> {
        if let TargetRule::Within(Target::Url(url)) = &draft.host {
            return Err(BadRule::HostIsUrl(url.to_string()));
        }
        if draft.ports.contains(&0) {
            return Err(BadRule::PortZero);
        }
        if draft.ports.is_empty() {
            draft.ports.insert(usual_port(draft.speaks).ok_or(BadRule::NoPort(draft.speaks))?);
        }
        match (draft.speaks, unseen(&draft)) {
            (Speaks::Tcp, Some(what)) => Err(BadRule::Unseen { what, speaks: draft.speaks }),
            (Speaks::Http | Speaks::Https, _) | (Speaks::Tcp, None) => Ok(Self(draft)),
        }
    }
}

/// What of a rule only requests show.
fn unseen(draft: &RuleDraft) -> Option<&'static str> {
    let named = [
        ("methods", !draft.methods.is_empty()),
        ("paths", !draft.paths.is_empty()),
        ("credential", draft.credential.is_some()),
    ];
    named.into_iter().find_map(|(what, is_named)| is_named.then_some(what))
}

impl From<Rule> for RuleDraft {
    fn from(rule: Rule) -> Self {
        rule.0
    }
}

/// One line that a reviewer reads, the same for the same rule.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let RuleDraft { host, speaks, ports, methods, paths, networks, credential, expires_at, at_end } = &self.0;
        write!(f, "{speaks} {host} port {}", listed(ports))?;
        for (what, values) in [("methods", listed(methods)), ("paths", listed(paths)), ("networks", listed(networks))] {
            if !values.is_empty() {
                write!(f, " {what} {values}")?;
            }
        }
        if let Some(credential) = credential {
            write!(f, " credential {credential}")?;
        }
        if let Some(end) = expires_at {
            write!(f, " until {}", end.unix_ms())?;
        }
        if *at_end == AtEnd::Cut { f.write_str(" then cut") } else { Ok(()) }
    }
}

fn listed<T: ToString>(values: &BTreeSet<T>) -> String {
    values.iter().map(ToString::to_string).collect::<Vec<_>>().join(",")
}
