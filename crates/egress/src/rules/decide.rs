//! The decision, pure: rules, request and time in, a grant or a numbered reason out. Nothing is resolved here; a grant
//! knows which addresses it may lead to, and is asked again when they are known.

use std::net::{IpAddr, SocketAddr};

use placet_dial::address::check_address;
use placet_domain::scope::{Authority, Place, UrlPath};
use placet_domain::time::Timestamp;

use super::{AtEnd, Brought, Credential, Method, Reason, Rule, Rules, Speaks};
use crate::name::Hello;

/// What is asked for: a place, and what with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    pub to: Authority,
    pub asks: Asks,
}

/// What is wanted of the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asks {
    /// A connection. What will be said on it is not known yet.
    Tunnel,
    /// A connection that began with a first message of TLS.
    Tls,
    /// A connection that began with something else.
    Plain,
    /// One request of plain HTTP.
    Http(HttpAsk),
    /// One request inside of TLS that was opened.
    Https(HttpAsk),
}

impl Asks {
    /// What is asked for, where that is seen.
    pub const fn http(&self) -> Option<&HttpAsk> {
        match self {
            Self::Http(ask) | Self::Https(ask) => Some(ask),
            Self::Tunnel | Self::Tls | Self::Plain => None,
        }
    }
}

/// What of a request is judged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpAsk {
    pub method: Method,
    /// Without the query. `None` where different readers could see different parts in it; rules with paths refuse that.
    pub path: Option<UrlPath>,
    /// Headers and parameters by which it brings credentials.
    pub brought: Vec<Brought>,
}

/// That a request may go, and under which conditions. Made by [`decide`] alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    rule: Rule,
}

impl Grant {
    pub(crate) const fn rule(&self) -> &Rule {
        &self.rule
    }

    pub(crate) const fn speaks(&self) -> Speaks {
        self.rule.draft().speaks
    }

    /// Whose credential goes along.
    pub(crate) fn credential(&self) -> &Credential {
        self.rule.credential()
    }

    /// When an established connection is cut, if its rule says so.
    pub(crate) fn cut_at(&self) -> Option<Timestamp> {
        let draft = self.rule.draft();
        draft.expires_at.filter(|_| draft.at_end == AtEnd::Cut)
    }

    /// Every address of an answer must be permitted: one bad address among good ones is an attack or a mistake.
    pub(crate) fn addresses(&self, to: &Authority, found: &[IpAddr]) -> Result<Vec<SocketAddr>, Reason> {
        let listed = self.rule.listed();
        let is_open = self.speaks() == Speaks::Http && matches!(self.credential(), Credential::Inject(_));
        if is_open && found.iter().any(|address| !address.is_loopback()) {
            return Err(Reason::InTheOpen { host: to.place().to_string() });
        }
        for &address in found {
            check_address(address, &listed).map_err(|special| Reason::Address {
                host: to.place().to_string(),
                address,
                special,
            })?;
        }
        Ok(found.iter().map(|&address| SocketAddr::new(address, to.port())).collect())
    }

    /// Whether the first message of TLS is for the host that was asked for. Addresses have no name, so none is sent.
    pub(crate) fn hello(&self, to: &Authority, hello: &Hello) -> Result<(), Reason> {
        match (to.place(), hello.server_name()) {
            (Place::Named(host), Some(name)) if host == name => Ok(()),
            (Place::Named(_), None) => Err(Reason::NoServerName),
            (Place::At(_), None) => Ok(()),
            (Place::Named(_) | Place::At(_), Some(_)) => Err(Reason::OtherServerName),
        }
    }
}

/// Decides by the first rule that allows everything about the request; else gives the reason of the rule that came
/// closest.
pub fn decide(rules: &Rules, request: &Request, now: Timestamp) -> Result<Grant, Reason> {
    let mut closest = Reason::NoRule { host: request.to.place().to_string() };
    for rule in &rules.allow {
        match allows(rule, request, now) {
            Ok(()) => return Ok(Grant { rule: rule.clone() }),
            Err(reason) if reason.number() > closest.number() => closest = reason,
            Err(_) => {}
        }
    }
    Err(closest)
}

/// The steps are in the order of their reasons' numbers.
fn allows(rule: &Rule, request: &Request, now: Timestamp) -> Result<(), Reason> {
    let (draft, to) = (rule.draft(), &request.to);
    let host = || to.place().to_string();
    if !rule.covers_place(to.place()) {
        return Err(Reason::NoRule { host: host() });
    }
    if !draft.ports.contains(&to.port()) {
        return Err(Reason::Port { host: host(), port: to.port() });
    }
    match (&request.asks, draft.speaks) {
        (Asks::Http(ask), Speaks::Http) | (Asks::Https(ask), Speaks::Https) => seen(rule, ask, &host())?,
        (Asks::Http(_), allowed) => return Err(Reason::Speaks { host: host(), allowed, asked: "a plain request" }),
        (Asks::Https(_), allowed) => {
            return Err(Reason::Speaks { host: host(), allowed, asked: "a request inside of TLS" });
        }
        (Asks::Plain, Speaks::Https) => return Err(Reason::NotTls),
        (Asks::Tls, Speaks::Http) => {
            return Err(Reason::Speaks { host: host(), allowed: Speaks::Http, asked: "TLS" });
        }
        (Asks::Tunnel, _) | (Asks::Plain, Speaks::Http | Speaks::Tcp) | (Asks::Tls, Speaks::Https | Speaks::Tcp) => {}
    }
    if draft.expires_at.is_some_and(|end| end <= now) {
        return Err(Reason::Expired { host: host() });
    }
    Ok(())
}

/// What is judged of a request that is seen as a whole.
fn seen(rule: &Rule, ask: &HttpAsk, host: &str) -> Result<(), Reason> {
    let (draft, host) = (rule.draft(), || host.to_owned());
    if !draft.methods.is_empty() && !draft.methods.contains(&ask.method) {
        return Err(Reason::Method { host: host(), method: ask.method.to_string() });
    }
    let covered = |path: &UrlPath| draft.paths.iter().any(|rule| rule.covers(path));
    if !draft.paths.is_empty() && !ask.path.as_ref().is_some_and(covered) {
        return Err(Reason::Path { host: host() });
    }
    match rule.credential().unwelcome(&ask.brought) {
        Some(brought) => Err(Reason::credential(host(), &brought.name)),
        None => Ok(()),
    }
}
