//! Tiers, risks, reasons and the laws above every policy.

use placet_domain::policy::{DEFAULT_TOOLS, Policy, Rationale, Risk, Ruling, Tier};
use placet_domain::proposal::Tools;
use placet_domain::scope::{Scope, ScopeDraft};
use serde_json::json;

use super::{Project, frame, listed, permit_scripts, script_rule};

fn forbid(id: &str, risk: &str, rest: &str) -> String {
    script_rule(id, risk, &format!("forbid (principal, action == Action::\"execute_code\", resource) {rest};"))
}

fn tier(rules: &[String]) -> Tier {
    Project::with(&rules.concat()).judge_script("yes").tier()
}

#[test]
fn the_tier_is_the_least_number_of_approvals_for_which_the_rules_permit() {
    let one = forbid("one", "0.10", "unless { context.approvals >= 1 }");
    let two = forbid("two", "0.10", "unless { context.approvals >= 2 }");
    let three = forbid("three", "0.10", "unless { context.approvals >= 3 }");
    let never = forbid("never", "0.10", "");
    assert_eq!(tier(&[permit_scripts()]), Tier::A);
    assert_eq!(tier(&[permit_scripts(), one.clone()]), Tier::B);
    assert_eq!(tier(&[permit_scripts(), one.clone(), two.clone()]), Tier::C);
    assert_eq!(tier(&[permit_scripts(), three]), Tier::D, "nobody asks three people");
    assert_eq!(tier(&[permit_scripts(), one, two, never]), Tier::D);
}

#[test]
fn every_rule_that_spoke_is_listed_with_what_it_alone_demands() {
    let rules = [
        permit_scripts(),
        forbid("b", "0.10", "unless { context.approvals >= 1 }"),
        forbid("c", "0.20", "unless { context.approvals >= 2 }"),
        forbid("silent", "0.40", "when { context.command like \"*yes*\" }"),
    ];
    let verdict = Project::with(&rules.concat()).judge_script("no");
    assert_eq!(listed(&verdict), ["allowed A 0.00", "b B 0.10", "c C 0.20"]);
    assert_eq!((verdict.risk().to_string().as_str(), verdict.ruling()), ("0.30", Ruling::Ask { approvals: 2 }));
}

#[test]
fn what_no_rule_permits_is_refused_and_says_so() {
    let project = Project::with(&permit_scripts());
    let verdict = project.judge(json!({"tool": "cat", "arguments": ["a"]}));
    assert_eq!(
        (verdict.tier(), verdict.risk(), listed(&verdict)),
        (Tier::D, Risk::NONE, vec!["default D 0.00".to_owned()])
    );
    assert_eq!(verdict.reasons()[0].because, Rationale::NoRulePermits);
    assert_eq!(verdict.ruling(), Ruling::Deny);
}

#[test]
fn an_empty_policy_refuses_everything() {
    assert_eq!(Project::with("// nothing is permitted\n").judge_script("yes").tier(), Tier::D);
}

#[test]
fn a_rule_that_cannot_be_evaluated_refuses() {
    // Overflows for tools that may take longer than two minutes, which no example's tool is.
    let overflow = forbid(
        "fragile",
        "0.10",
        "when { context.timeout_ms + 9223372036854655807 > 0 && context.command like \"*yes*\" }",
    );
    let project = Project::with(&format!("{}{overflow}", permit_scripts()));
    assert_eq!(project.judge_script("no").tier(), Tier::A);
    let verdict = project.judge(json!({"tool": "slow", "arguments": ["no"]}));
    assert_eq!(
        (verdict.tier(), listed(&verdict)),
        (Tier::D, vec!["allowed A 0.00".to_owned(), "fragile D 0.10".to_owned()])
    );
    let because = verdict.reasons()[1].because.to_string();
    assert!(because.contains("could not be evaluated") && because.contains("overflow"), "{because}");
}

#[test]
fn a_permit_that_cannot_be_evaluated_is_no_permission_either() {
    let permit = "permit (principal, action == Action::\"execute_code\", resource)";
    let fragile =
        script_rule("fragile", "0.00", &format!("{permit} when {{ context.timeout_ms + 9223372036854655807 > 0 }};"));
    let verdict = Project::with(&format!("{}{fragile}", permit_scripts())).judge(json!({"tool": "slow"}));
    assert_eq!(verdict.tier(), Tier::D);
}

#[test]
fn contradicting_rules_refuse_and_the_reader_learns_why() {
    let permit = "permit (principal, action == Action::\"execute_code\", resource) when { context.approvals == 0 };";
    let rules = [script_rule("early", "0.00", permit), forbid("late", "0.10", "unless { context.approvals >= 1 }")];
    let verdict = Project::with(&rules.concat()).judge_script("yes");
    assert_eq!(listed(&verdict), ["default D 0.00", "early A 0.00", "late B 0.10"]);
    assert_eq!(verdict.reasons()[0].because, Rationale::NoTierPermits);
}

#[test]
fn a_tool_outside_the_scope_is_refused_whatever_the_rules_say() {
    let verdict = Project::shipped().judge(json!({"tool": "wc", "arguments": ["a"]}));
    assert_eq!((verdict.tier(), verdict.risk()), (Tier::D, Risk::CERTAIN));
    assert_eq!(listed(&verdict), ["reading A 0.00", "scope.tool D 1.00"], "the rules are heard all the same");
}

#[test]
fn a_target_outside_the_scope_is_refused_whatever_the_rules_say() {
    let verdict = Project::shipped().judge(json!({"tool": "nmap", "target": "10.0.1.5"}));
    assert_eq!(verdict.tier(), Tier::D);
    let law = verdict.reasons().iter().find(|reason| reason.rule == "scope.target").expect("the law is listed");
    assert_eq!(law.because, Rationale::TargetNotInScope { target: "10.0.1.5".to_owned() });
}

#[test]
fn an_output_that_is_denied_or_outside_is_refused_and_names_path_and_rule() {
    let verdict = Project::shipped().judge(json!({"tool": "tee", "outputs": ["docs/a", "src/secret/k", "src/ok"]}));
    assert_eq!(verdict.tier(), Tier::D);
    let laws: Vec<String> =
        verdict.reasons().iter().filter(|r| r.rule == "scope.path").map(|r| r.because.to_string()).collect();
    let denied = "the path `src/secret/k` is denied by `src/secret/**`";
    assert_eq!(laws, ["the path `docs/a` is outside of what the scope allows", denied]);
}

#[test]
fn an_action_sealed_under_another_scope_is_refused() {
    let project = Project::shipped();
    let action = project.seal(json!({"tool": "cat", "arguments": ["a"]}));
    let wider = Scope::lock(ScopeDraft { allow: vec!["**".parse().expect("a glob")], ..project.scope.rules().clone() });
    let verdict = project.policy.judge(&action, &frame(&wider));
    assert_eq!(
        (verdict.tier(), listed(&verdict)),
        (Tier::D, vec!["reading A 0.00".to_owned(), "scope.version D 1.00".to_owned()])
    );
}

#[test]
fn the_verdict_names_the_action_and_the_policy_it_is_about() {
    let project = Project::shipped();
    let action = project.seal(json!({"tool": "cat", "arguments": ["a"]}));
    let verdict = project.policy.judge(&action, &frame(&project.scope));
    assert_eq!((verdict.action(), verdict.policy()), (action.digest(), project.policy.version()));
}

#[test]
fn rules_can_name_agents_and_targets() {
    let rule = "forbid (principal == Agent::\"agt_nobody\", action, resource == Target::\"10.0.0.5\");";
    let text = script_rule("pinned", "0.10", rule);
    let problems = super::load(&[super::file("team.cedar", &text)]).expect_err("its example does not hold");
    assert!(
        problems.to_string().contains("silent on its example"),
        "the names are known, the example is not met: {problems}"
    );
}

#[test]
fn an_action_sealed_with_another_definition_of_its_tool_is_refused_by_a_policy_of_another_version() {
    let project = Project::shipped();
    let action = project.seal(json!({"tool": "cat", "arguments": ["notes.txt"]}));
    let changed = DEFAULT_TOOLS.replace("program = \"/usr/bin/cat\"", "program = \"/usr/local/bin/cat\"");
    let policy = Policy::load(&super::shipped_files(), &Tools::parse(&changed).unwrap()).unwrap();
    assert_ne!(policy.version(), project.policy.version(), "approvals under the old definition are void");
    let verdict = policy.judge(&action, &frame(&project.scope));
    assert_eq!(listed(&verdict), ["reading A 0.00", "scope.tool_version D 1.00"]);
}
