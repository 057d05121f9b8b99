//! Openings: whom the cage of an action may reach is sealed with it, within its tool, its cage, its scope and its entry.

use placet_domain::catalogue::NetworkUse;
use placet_domain::digest::Digest;
use placet_domain::policy::Tier;
use placet_domain::proposal::{Action, Cage, Cages, Tools, Unsealable};
use placet_domain::scope::{Scope, ScopeDraft};
use serde_json::json;
use uuid::Uuid;

use super::Project;

fn laws(network: &[&str]) -> Vec<String> {
    let verdict = Project::shipped().judge(json!({"tool": "sh", "arguments": ["true"], "network": network}));
    assert_eq!(verdict.tier() == Tier::D, verdict.reasons().iter().any(|reason| reason.demands == Tier::D));
    verdict.reasons().iter().filter(|reason| reason.demands == Tier::D).map(|reason| reason.rule.clone()).collect()
}

#[test]
fn b2_openings_stay_within_the_scope() {
    assert!(laws(&["a.example.org", "GET http://10.0.0.5:8080/v1", "10.0.0.128/25"]).is_empty());
    for outside in ["example.org", "*.org", "10.0.0.0/23", "http://10.0.1.1/", "169.254.169.254", "::1"] {
        assert_eq!(laws(&["a.example.org", outside]), ["scope.network"], "{outside}");
    }
}

#[test]
fn b2_openings_are_part_of_the_digest_and_their_order_is_not() {
    let digest = |network: &[&str]| {
        let proposal = json!({"tool": "sh", "arguments": ["true"], "network": network});
        Project::shipped().seal(proposal).digest()
    };
    assert_eq!(digest(&["a.example.org", "b.example.org"]), digest(&["b.example.org", "a.example.org"]));
    assert_ne!(digest(&["a.example.org"]), digest(&["b.example.org"]));
    assert_ne!(digest(&["http://a.example.org/"]), digest(&["GET http://a.example.org/"]));
    assert_ne!(digest(&["a.example.org"]), digest(&[]));
}

#[test]
fn a_tool_reaches_what_its_definition_says() {
    let project = Project::shipped();
    let sealed = |tool: &str| {
        let action = project.seal(json!({"tool": tool, "target": "http://10.0.0.5/x"}));
        action.spec().network.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(sealed("curl"), ["http://10.0.0.5:80/x"]);
    assert_eq!(sealed("sh"), ["http://10.0.0.5:80/x"]);
    assert!(sealed("nmap").is_empty(), "a scan does not fit through a proxy");
}

fn seal_in(network: NetworkUse) -> Result<Action, Unsealable> {
    let cage = Cage { digest: Digest::of(b"cage"), network };
    let cages: Cages = [("default".to_owned(), cage)].into_iter().collect();
    let text = "[sh]\nprogram = \"/bin/sh\"\nkind = \"execute_code\"\nnetwork = \"named\"";
    let tools = Tools::parse(text).and_then(|tools| tools.in_cages(cages)).expect("tools");
    let proposal = json!({"tool": "sh", "network": ["http://a.example.org/v1"]});
    let (run, agent) = (Uuid::from_u128(1), Uuid::from_u128(2));
    let scope = Scope::lock(ScopeDraft::default());
    let proposal = serde_json::from_value(proposal).expect("a proposal");
    Action::seal(
        &proposal,
        &tools,
        &scope,
        placet_domain::id::RunId::from_uuid(run),
        placet_domain::id::IdentityId::from_uuid(agent),
    )
}

#[test]
fn c5_a_cage_has_no_network_an_allowlist_or_what_the_scope_permits() {
    assert!(seal_in(NetworkUse::Filtered).is_ok());
    assert!(seal_in(NetworkUse::Allow(vec!["a.example.org".parse().unwrap()])).is_ok());
    for closed in [NetworkUse::None, NetworkUse::Allow(vec!["b.example.org".parse().unwrap()])] {
        assert!(matches!(seal_in(closed), Err(Unsealable::CageNetwork { .. })));
    }
}
