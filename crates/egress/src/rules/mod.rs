//! Whom a run may reach, in which way and with whose credential. What no rule allows is refused.
//!
//! Rules are data that a person reads: exact hosts or everything below a domain, ports, and for HTTP the methods and
//! paths. A rule for `https` that names methods, paths or a credential has TLS opened to see them ([`Rule::looks_inside`]).
//! What a rule could not enforce it does not accept: of `tcp` nothing but the address is seen.

mod credential;
mod decide;
mod live;
mod reason;
mod rule;
mod using;

pub use credential::{Brought, Credential, CredentialName};
pub(crate) use credential::{is_credential, is_same_name};
pub use decide::{Asks, Grant, HttpAsk, Request, decide};
pub use live::{Established, Live};
pub use reason::{Kind, Reason};
pub use rule::{AtEnd, BadRule, Method, PathRule, Rule, RuleDraft, Speaks};

use placet_domain::proposal::{ActionSpec, Opening};
use placet_domain::scope::{Network, Place, Target, TargetRule, Url};
use serde::{Deserialize, Serialize};

/// All that a run may reach. Empty rules allow nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rules {
    /// The first rule that allows a request is the one it goes by.
    #[serde(default)]
    pub allow: Vec<Rule>,
}

impl Rules {
    /// What the openings of a sealed action mean: each like a target, with its methods, and with nobody's credential. TLS is opened for
    /// that, unless an opening says that it is not seen; such a tunnel comes first, because nothing else at that address would ever be
    /// seen. A name may lead to a network that is not public only if that network is opened beside it.
    pub fn for_openings<'a>(openings: impl IntoIterator<Item = &'a Opening> + Clone) -> Self {
        let networks: Vec<Network> = openings.clone().into_iter().filter_map(network_of).collect();
        let beside = |rule: Rule| networks.iter().fold(rule, |rule, network| rule.in_network(*network));
        let (unseen, seen): (Vec<_>, Vec<_>) = openings.into_iter().partition(|opening| opening.is_unseen());
        Self { allow: unseen.into_iter().chain(seen).flat_map(rules_of).map(beside).collect() }
    }
}

fn rules_of(opening: &Opening) -> Vec<Rule> {
    let kept = |rule: Rule| match opening.is_unseen() {
        true => rule,
        false => rule.with_methods(opening.methods()).without_credentials(),
    };
    rules_for(opening.to()).into_iter().map(kept).collect()
}

impl Rules {
    /// The same with the credentials that the action uses: put in where one of its openings leads to the credential's place, for
    /// what both of them allow. Everything else that is open goes without.
    pub fn for_action(spec: &ActionSpec) -> Self {
        let open = Self::for_openings(&spec.network).allow;
        let used =
            spec.credentials.iter().flat_map(|used| open.iter().flat_map(move |rule| using::narrowed(rule, used)));
        Self { allow: used.chain(open.iter().cloned()).collect() }
    }

    /// Whether TLS has to be opened for one of them.
    pub fn looks_inside(&self) -> bool {
        self.allow.iter().any(Rule::looks_inside)
    }
}

const fn network_of(opening: &Opening) -> Option<Network> {
    match opening.to() {
        TargetRule::Within(Target::Network(network)) => Some(*network),
        TargetRule::Within(Target::Host(_) | Target::Url(_)) | TargetRule::Below(_) => None,
    }
}

/// Rules for one target: a URL at its port and below its path, a host on the ports of the web. A network is listed by its rule, and may be
/// connected to even if it is private.
fn rules_for(target: &TargetRule) -> Vec<Rule> {
    let TargetRule::Within(Target::Url(url)) = target else {
        return vec![Rule::new(target.clone(), Speaks::Https), Rule::new(target.clone(), Speaks::Http)];
    };
    let rule = rule_at(url);
    vec![if url.path().as_str() == "/" { rule } else { rule.below(url.path().clone()) }]
}

/// The host of a URL at its port, with every path.
fn rule_at(url: &Url) -> Rule {
    let host = match url.authority().place() {
        Place::Named(host) => TargetRule::Within(Target::Host(host.clone())),
        Place::At(address) => TargetRule::Within(Target::Network(Network::single(*address))),
    };
    let speaks = if url.scheme() == "https" { Speaks::Https } else { Speaks::Http };
    Rule::new(host, speaks).at_port(url.authority().port())
}
