//! From what a run really used to the narrowest rules that would have sufficed. Pure; it proposes and never applies.
//!
//! Only requests that were allowed and connected count. Hosts stay exact, ports and methods are the ones that were seen
//! together, and an address that is not public is listed alone, never its network. Paths stay exact too, unless one
//! directory was asked for so many that nobody would read the list; then the directory stands for them, never the root.

mod paths;

use std::collections::{BTreeMap, BTreeSet};

use placet_dial::address::classify_address;
use placet_domain::scope::{Authority, Network, Place, Target, TargetRule, UrlPath};

use super::record::{Decision, EgressRecord};
use super::rules::{Credential, Method, PathRule, Rule, RuleDraft, Rules, Speaks};

/// What belongs into one rule.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    place: Place,
    speaks: Speaks,
    port: u16,
    /// Whether requests were seen, of TLS: what was opened needs another rule than what was not.
    is_seen: bool,
    /// Whose went along.
    credential: Option<Credential>,
}

/// What was seen of it.
#[derive(Debug, Default)]
struct Seen {
    networks: BTreeSet<Network>,
    /// Each path with the methods it was asked for with; `None` for a path that rules cannot name.
    paths: BTreeMap<Option<UrlPath>, BTreeSet<Method>>,
}

/// The rules that would have allowed what the records show, and as little else as rules can say. Whose credentials go
/// along is a decision: it is taken from the very rule that a record names, if that is among `present`, so that no credential
/// comes to a method or path that it was not bound to.
pub fn learn(records: &[EgressRecord], present: &Rules) -> Rules {
    let mut seen: BTreeMap<Key, Seen> = BTreeMap::new();
    for (record, to, speaks) in records.iter().filter_map(used) {
        let (place, port) = (to.place().clone(), to.port());
        let (is_seen, credential) = (record.method.is_some(), credential_of(record, present));
        let key = Key { place, speaks, port, is_seen, credential };
        seen.entry(key).or_default().add(record);
    }
    let drafts = seen.into_iter().flat_map(|(key, seen)| rules_for(&key, &seen));
    Rules { allow: drafts.filter_map(|draft| Rule::try_from(draft).ok()).collect() }
}

/// A record of something that was allowed and reached.
fn used(record: &EgressRecord) -> Option<(&EgressRecord, &Authority, Speaks)> {
    let allowed = matches!(record.decision, Decision::Allowed(_)) && record.address.is_some();
    // A tunnel for plain requests shows no request; those in it have records of their own.
    let shown = record.speaks != Some(Speaks::Http) || record.method.is_some();
    (allowed && shown).then_some(())?;
    Some((record, record.to.as_ref()?, record.speaks?))
}

impl Seen {
    fn add(&mut self, record: &EgressRecord) {
        let special = record.address.map(|address| address.ip()).filter(|&ip| classify_address(ip).is_some());
        // All that a name leads to is checked, so that all of it has to be listed.
        self.networks.extend(special.into_iter().chain(record.listed.iter().copied()).map(Network::exactly));
        if let (Some(method), Some(path)) = (&record.method, &record.path) {
            self.paths.entry(path.parse().ok()).or_default().insert(method.clone());
        }
    }
}

fn rules_for(key: &Key, seen: &Seen) -> Vec<RuleDraft> {
    let host = match &key.place {
        Place::Named(host) => TargetRule::Within(Target::Host(host.clone())),
        Place::At(address) => TargetRule::Within(Target::Network(Network::exactly(*address))),
    };
    let networks = if matches!(key.place, Place::At(_)) { BTreeSet::new() } else { seen.networks.clone() };
    let base = Rule::new(host, key.speaks).at_port(key.port);
    let with = |methods: BTreeSet<Method>, paths: BTreeSet<PathRule>| {
        let (networks, credential) = (networks.clone(), key.credential.clone());
        RuleDraft { methods, paths, networks, credential, ..base.draft().clone() }
    };
    if !key.is_seen {
        return vec![with(BTreeSet::new(), BTreeSet::new())];
    }
    grouped(&seen.paths).into_iter().map(|(methods, paths)| with(methods, paths)).collect()
}

/// Paths that were asked for with the same methods share a rule: no method is joined with a path it was not seen with.
fn grouped(seen: &BTreeMap<Option<UrlPath>, BTreeSet<Method>>) -> Vec<(BTreeSet<Method>, BTreeSet<PathRule>)> {
    let mut groups: BTreeMap<&BTreeSet<Method>, BTreeSet<&UrlPath>> = BTreeMap::new();
    for (path, methods) in seen {
        if let Some(path) = path {
            groups.entry(methods).or_default().insert(path);
        }
    }
    let mut rules: Vec<_> =
        groups.into_iter().map(|(methods, paths)| (methods.clone(), paths::narrowest(&paths))).collect();
    if let Some(methods) = seen.get(&None) {
        // A path that rules cannot name was seen: only a rule without paths allows it again.
        rules.push((methods.clone(), BTreeSet::new()));
    }
    rules
}

/// What the rule says about credentials by which it was allowed.
fn credential_of(record: &EgressRecord, present: &Rules) -> Option<Credential> {
    let Decision::Allowed(by) = &record.decision else { return None };
    let rule = present.allow.iter().find(|rule| rule.to_string() == *by)?;
    rule.draft().credential.clone()
}
