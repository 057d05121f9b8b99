//! A rule for whom an action reaches, narrowed to where it uses a credential of the team.

use std::collections::BTreeSet;

use placet_domain::proposal::CredentialUse;
use placet_domain::scope::Url;

use super::rule::{Method, PathRule, Rule, RuleDraft};
use super::{Credential, rule_at};

/// One rule for each place of the credential that this rule opens; none where it opens none of them.
pub(super) fn narrowed(open: &Rule, used: &CredentialUse) -> Vec<Rule> {
    used.to.iter().filter_map(|url| at(open, used, url)).collect()
}

fn at(open: &Rule, used: &CredentialUse, url: &Url) -> Option<Rule> {
    let RuleDraft { speaks, ports, methods, paths, .. } = open.draft();
    let wanted = rule_at(url);
    let is_same = *speaks == wanted.draft().speaks && ports.contains(&url.authority().port());
    if !is_same || !open.covers_place(url.authority().place()) {
        return None;
    }
    let draft = RuleDraft {
        host: wanted.draft().host.clone(),
        ports: BTreeSet::from([url.authority().port()]),
        methods: both(methods, &used.methods)?,
        paths: below(paths, url)?,
        credential: Some(Credential::Inject(used.name.clone())),
        ..open.draft().clone()
    };
    Rule::try_from(draft).ok()
}

/// Methods that both allow; none of them means any. Nothing where they have none in common.
fn both(one: &BTreeSet<Method>, other: &BTreeSet<Method>) -> Option<BTreeSet<Method>> {
    match (one.is_empty(), other.is_empty()) {
        (true, _) => Some(other.clone()),
        (_, true) => Some(one.clone()),
        (false, false) => Some(one & other).filter(|common| !common.is_empty()),
    }
}

/// Paths that are open and the credential's too; no paths means any. Nothing where they have none in common.
fn below(open: &BTreeSet<PathRule>, url: &Url) -> Option<BTreeSet<PathRule>> {
    let whole = url.path().as_str() == "/";
    if open.is_empty() {
        return Some(if whole { BTreeSet::new() } else { BTreeSet::from([PathRule::Below(url.path().clone())]) });
    }
    let common: BTreeSet<PathRule> = open.iter().filter_map(|open| narrower(open, url)).collect();
    Some(common).filter(|common| !common.is_empty())
}

fn narrower(open: &PathRule, url: &Url) -> Option<PathRule> {
    let (PathRule::Below(root) | PathRule::Exactly(root)) = open;
    if root.is_below(url.path()) {
        return Some(open.clone());
    }
    matches!(open, PathRule::Below(root) if url.path().is_below(root)).then(|| PathRule::Below(url.path().clone()))
}

#[cfg(test)]
mod tests {
    use crate::rules::Rules;

    fn rules(openings: &[&str], to: &str, methods: &[&str]) -> Vec<String> {
        let (id, digest) = ("0".repeat(32), placet_domain::digest::Digest::of(b""));
        let spec = serde_json::json!({
            "v": 1, "run": format!("run_{id}"), "agent": format!("idn_{id}"), "scope": digest, "tool": "sh",
            "tool_version": digest, "kind": "execute_code", "argv": ["/bin/true"], "environment": {}, "files": [],
            "outputs": [], "network": openings, "credentials": [{"name": "team", "to": [to], "methods": methods}],
            "profile": "default", "limits": {},
        });
        let rules = Rules::for_action(&serde_json::from_value(spec).unwrap());
        rules.allow.iter().map(ToString::to_string).filter(|rule| rule.contains("inject")).collect()
    }

    #[test]
    fn r25_a_credential_goes_where_it_is_for_and_the_action_leads_and_nowhere_else() {
        assert_eq!(
            rules(&["https://a.test/"], "https://a.test/v1", &["GET"]),
            ["https a.test port 443 methods GET paths /v1 credential inject:team"]
        );
        assert_eq!(rules(&["a.test"], "https://a.test/", &[]), ["https a.test port 443 credential inject:team"]);
        assert_eq!(
            rules(&["*.test"], "https://a.test/v1", &[]),
            ["https a.test port 443 paths /v1 credential inject:team"]
        );
        for closed in ["https://b.test/", "http://a.test/", "https://a.test:8443/", "10.0.0.0/8"] {
            assert!(rules(&[closed], "https://a.test/v1", &[]).is_empty(), "{closed}");
        }
    }

    #[test]
    fn r25_of_plain_requests_only_what_opening_and_credential_have_in_common_gets_it() {
        let rule = |more: &str| format!("http 127.0.0.1 port 80{more} credential inject:team");
        assert_eq!(
            rules(&["GET,PUT http://127.0.0.1/a"], "http://127.0.0.1/a/b", &["GET", "POST"]),
            [rule(" methods GET paths /a/b")]
        );
        assert_eq!(rules(&["http://127.0.0.1/a/b"], "http://127.0.0.1/a", &[]), [rule(" paths /a/b")]);
        assert!(rules(&["PUT http://127.0.0.1/"], "http://127.0.0.1/", &["GET"]).is_empty());
        assert!(rules(&["http://127.0.0.1/x"], "http://127.0.0.1/a", &[]).is_empty());
    }

    #[test]
    fn a_name_may_lead_to_a_network_that_is_opened_beside_it_with_a_credential_too() {
        assert_eq!(
            rules(&["https://localhost:8443/", "127.0.0.1"], "https://localhost:8443/", &[]),
            ["https localhost port 8443 networks 127.0.0.1 credential inject:team"]
        );
    }
}
