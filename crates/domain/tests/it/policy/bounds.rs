//! What an agent of the catalogue is held to: laws beside the policy, for every capability, every switch and every kind of act (C4).

use std::collections::BTreeSet;

use placet_domain::catalogue::{Bounds, CageCapability, Capability, NetworkUse, Switches};
use placet_domain::digest::Digest;
use placet_domain::policy::{Ruling, Tier, Verdict};
use placet_domain::proposal::ActionKind;
use serde_json::{Value, json};

use super::{Project, tools};
use crate::expect;

const OPEN: Switches = Switches {
    block_payments: false,
    block_login_forms: false,
    block_messages: false,
    block_publishing: false,
    block_deletion: false,
    screenshots: false,
};

/// An agent that may do everything, to take something from.
fn wide() -> Bounds {
    Bounds {
        capabilities: Capability::ALL.iter().copied().collect(),
        tools: tools().iter().map(|(name, _)| name.clone()).collect(),
        cage: CageCapability::ALL.iter().copied().collect(),
        network: NetworkUse::Filtered,
        switches: OPEN,
        cages: None,
    }
}

/// An act of this kind, by the tool that stands for it.
fn act(kind: ActionKind) -> Value {
    json!({"tool": kind.as_str(), "target": "www.example.org"})
}

/// The laws of the entry that were broken.
fn broken(verdict: &Verdict) -> Vec<String> {
    let laws = verdict.reasons().iter().filter(|reason| reason.rule.starts_with("entry."));
    laws.inspect(|law| assert_eq!(law.demands, Tier::D)).map(|law| law.rule.clone()).collect()
}

fn cell(laws: &[String]) -> String {
    if laws.is_empty() { "-".to_owned() } else { laws.join(" ") }
}

/// One row for each kind of act, one column for each of these agents.
fn matrix(agents: &[(&str, Bounds)]) -> String {
    let project = Project::shipped();
    let head = std::iter::once(String::new()).chain(agents.iter().map(|(name, _)| (*name).to_owned())).collect();
    let row = |kind: &ActionKind| {
        let cells = agents.iter().map(|(_, bounds)| cell(&broken(&project.judge_within(bounds, act(*kind)))));
        std::iter::once(kind.to_string()).chain(cells).collect()
    };
    expect::table(&std::iter::once(head).chain(ActionKind::ALL.iter().map(row)).collect::<Vec<_>>())
}

#[test]
fn c4_each_capability_opens_its_kinds_of_act_and_no_other() {
    let only = |capability: &Capability| (capability.as_str(), Bounds { capabilities: [*capability].into(), ..wide() });
    let nobody = ("none", Bounds { capabilities: BTreeSet::new(), ..wide() });
    let agents: Vec<_> = std::iter::once(nobody).chain(Capability::ALL.iter().map(only)).collect();
    expect::file("tests/it/policy/capabilities.txt", &matrix(&agents));
}

#[test]
fn c4_each_switch_closes_its_kinds_of_act_and_no_other() {
    let agents = [
        ("all off", OPEN),
        ("block_payments", Switches { block_payments: true, ..OPEN }),
        ("block_login_forms", Switches { block_login_forms: true, ..OPEN }),
        ("block_messages", Switches { block_messages: true, ..OPEN }),
        ("block_publishing", Switches { block_publishing: true, ..OPEN }),
        ("block_deletion", Switches { block_deletion: true, ..OPEN }),
        ("screenshots", Switches { screenshots: true, ..OPEN }),
    ];
    let agents = agents.map(|(name, switches)| (name, Bounds { switches, ..wide() }));
    expect::file("tests/it/policy/switches.txt", &matrix(&agents));
}

#[test]
fn c4_a_cage_that_is_not_good_for_an_act_refuses_it() {
    let bounds = Bounds { cage: BTreeSet::new(), ..wide() };
    let project = Project::shipped();
    for kind in ActionKind::ALL {
        let laws = broken(&project.judge_within(&bounds, act(*kind)));
        let needed = CageCapability::needed_for(*kind).is_some();
        assert_eq!(laws, if needed { vec!["entry.cage"] } else { vec![] }, "{kind}");
    }
}

#[test]
fn c4_a_tool_that_the_entry_does_not_name_is_refused_whatever_scope_and_policy_say() {
    let project = Project::shipped();
    let bounds = Bounds { tools: ["head".parse().unwrap()].into(), ..wide() };
    let read = |tool: &str| project.judge_within(&bounds, json!({"tool": tool, "arguments": ["a"]}));
    assert_eq!((broken(&read("head")), read("head").ruling()), (vec![], Ruling::Allow));
    assert_eq!((broken(&read("cat")), read("cat").ruling()), (vec!["entry.tool".to_owned()], Ruling::Deny));
}

#[test]
fn c4_a_target_beyond_the_network_of_the_entry_is_refused_although_the_scope_covers_it() {
    let project = Project::shipped();
    let allowed = NetworkUse::Allow(vec!["www.example.org".parse().unwrap(), "10.0.0.0/30".parse().unwrap()]);
    let scanned = |network: &NetworkUse, target: &str| {
        let bounds = Bounds { network: network.clone(), ..wide() };
        broken(&project.judge_within(&bounds, json!({"tool": "nmap", "arguments": ["-sV"], "target": target})))
    };
    for inside in ["www.example.org", "10.0.0.1", "10.0.0.0/31"] {
        assert_eq!(scanned(&allowed, inside), Vec::<String>::new(), "{inside}");
    }
    for outside in ["shop.example.org", "10.0.0.5", "10.0.0.0/29"] {
        assert_eq!(scanned(&allowed, outside), ["entry.network"], "{outside}");
        assert_eq!(scanned(&NetworkUse::None, outside), ["entry.network"], "{outside}");
        assert_eq!(scanned(&NetworkUse::Filtered, outside), Vec::<String>::new(), "{outside}");
    }
}

#[test]
fn c4_who_is_not_of_the_catalogue_is_held_to_scope_and_policy_alone() {
    let project = Project::shipped();
    for kind in ActionKind::ALL {
        assert_eq!(broken(&project.judge(act(*kind))), Vec::<String>::new());
    }
}

#[test]
fn c7_a_tool_runs_only_in_a_cage_that_was_approved_with_the_plan_by_name_and_by_what_it_amounts_to() {
    let project = Project::shipped();
    let sealed_in = |cages: Option<Vec<(&str, &[u8])>>| {
        let named = |(name, is): (&str, &[u8])| (name.to_owned(), Digest::of(is));
        let cages = cages.map(|cages| cages.into_iter().map(named).collect());
        project.judge_within(&Bounds { cages, ..wide() }, json!({"tool": "cat", "arguments": ["a"]}))
    };
    assert!(broken(&sealed_in(None)).is_empty(), "plans of older builds say nothing of it");
    let foreign = sealed_in(Some(vec![("research_only", b"r"), ("ours", b"o")]));
    assert_eq!((broken(&foreign), foreign.ruling()), (vec!["entry.profile".to_owned()], Ruling::Deny));
    let said = &foreign.reasons().iter().find(|reason| reason.rule == "entry.profile").unwrap().because.to_string();
    assert!(said.contains("`default`") && said.contains("ours, research_only"), "{said}");
    // Here nobody knows what `default` amounts to, so that it is none of those that were approved.
    let changed = sealed_in(Some(vec![("default", b"as it was")]));
    assert_eq!(broken(&changed), ["entry.profile"]);
    assert_eq!(broken(&sealed_in(Some(Vec::new()))), ["entry.profile"]);
}
