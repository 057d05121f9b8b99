//! What refuses to load, with its place, and what is said about it.

use placet_domain::policy::{RuleEffect, Tier};

use super::{Project, file, load, permit_scripts, script_rule, shipped_files};

/// All problems of one file, as `line:column: message`.
fn problems(text: &str) -> Vec<String> {
    let problems = load(&[file("team.cedar", text)]).expect_err("a bad policy");
    problems.iter().map(|problem| format!("{}:{}: {}", problem.line, problem.column, problem.message)).collect()
}

const GOOD: &str = r#"// a comment; with a semicolon
@id("scan")
@risk("0.20")
@reason("probes a host")
@matches("
  nmap -sV @10.0.0.5
  nmap @10.0.0.6")
@misses("cat a")
forbid (principal, action == Action::"network_scan", resource)
unless { context.approvals >= 1 };
"#;

#[test]
fn a_good_rule_is_listed_with_its_place_and_its_demand() {
    let project = Project::with(GOOD);
    let rule = project.policy.rules().next().expect("one rule");
    assert_eq!((rule.id.as_str(), rule.file.as_str(), rule.line), ("scan", "team.cedar", 2));
    assert_eq!((rule.effect, rule.risk.to_string().as_str(), rule.demands), (RuleEffect::Forbid, "0.20", Tier::B));
    assert_eq!((rule.rationale.to_string().as_str(), project.policy.examples_checked()), ("probes a host", 3));
}

#[test]
fn a_syntax_error_has_its_line_and_column() {
    let found = problems(&GOOD.replace("unless {", "unles {"));
    assert_eq!(found, ["10:1: invalid policy condition: unles"]);
}

#[test]
fn a_missing_semicolon_is_found_at_the_next_rule() {
    let found = problems(&format!("{}{GOOD}", GOOD.replace("};", "}")));
    assert_eq!(found, ["12:1: unexpected token `@`"]);
}

#[test]
fn a_missing_annotation_is_named() {
    for (name, line) in [("id", 2), ("risk", 3), ("reason", 4), ("misses", 8)] {
        let text: String =
            GOOD.lines().enumerate().filter(|(at, _)| at + 1 != line).map(|(_, line)| format!("{line}\n")).collect();
        assert_eq!(problems(&text), [format!("2:1: the rule has no `@{name}`")]);
    }
}

#[test]
fn a_misspelt_annotation_is_unknown_and_the_right_one_is_missing() {
    let found = problems(&GOOD.replace("@risk", "@rsik"));
    assert_eq!(found, ["2:1: the rule has no `@risk`", "3:1: unknown annotation `@rsik`"]);
}

#[test]
fn malformed_annotations_are_refused_where_they_stand() {
    assert_eq!(problems(&GOOD.replace("0.20", "0.2")), ["3:1: bad risk `0.2`"]);
    assert_eq!(problems(&GOOD.replace("\"scan\"", "\"Scan Host\"")), ["2:1: bad rule id `Scan Host`"]);
    assert_eq!(problems(&GOOD.replace("probes a host", " ")), ["4:1: bad reason ` `"]);
    assert_eq!(problems(&GOOD.replace("cat a", "")), ["8:1: `@misses` has no example"]);
    let reserved = problems(&GOOD.replace("\"scan\"", "\"scope.tool\""));
    assert_eq!(reserved, ["2:1: the rule id `scope.tool` is reserved for the runtime's own laws"]);
}

#[test]
fn two_rules_cannot_share_an_id_even_across_files() {
    let problems = load(&[file("a.cedar", GOOD), file("b.cedar", GOOD)]).expect_err("one id, two rules");
    let found: Vec<String> = problems.iter().map(ToString::to_string).collect();
    let hint = "\n  hint: give every rule a name of its own";
    assert_eq!(found, [format!("b.cedar:2:1: the rule id `scan` is already used at a.cedar:2{hint}")]);
}

#[test]
fn the_same_file_cannot_be_given_twice() {
    let problems = load(&[file("a.cedar", "// a"), file("a.cedar", "// b")]).expect_err("one name, two files");
    assert!(problems.to_string().contains("a.cedar:1:1: the file is given twice"));
}

#[test]
fn an_example_that_should_match_and_does_not_is_shown() {
    let found = problems(&GOOD.replace("network_scan", "http_request"));
    let silent = |place: &str, line: &str| format!("{place}: the rule is silent on its example `{line}`");
    assert_eq!(found, [silent("6:3", "nmap -sV @10.0.0.5"), silent("7:3", "nmap @10.0.0.6")]);
}

#[test]
fn an_example_that_should_miss_and_does_not_is_shown() {
    let found = problems(&GOOD.replace("cat a", "nmap @10.0.0.7"));
    assert_eq!(found, ["8:10: the rule speaks on `nmap @10.0.0.7`, which it should miss"]);
}

#[test]
fn an_example_that_nobody_could_propose_is_refused() {
    let found = problems(&GOOD.replace("nmap @10.0.0.6", "nmap --script vuln @10.0.0.6"));
    let why = "`nmap` does not take the argument `--script`; its definition lists what it takes";
    assert_eq!(found, [format!("7:3: the example `nmap --script vuln @10.0.0.6` cannot be an action: {why}")]);
}

#[test]
fn an_example_that_makes_the_rule_fail_is_shown() {
    let found = problems(&GOOD.replace("unless {", "when { 9223372036854775807 + 1 > 0 } unless {"));
    assert!(
        found[0].starts_with("6:3: the rule cannot be evaluated on its example `nmap -sV @10.0.0.5`: integer overflow"),
        "{found:?}"
    );
}

#[test]
fn names_and_types_that_the_schema_does_not_know_are_refused() {
    let attribute = problems(&GOOD.replace("context.approvals", "context.aprovals"));
    assert!(attribute[0].starts_with("10:10: ") && attribute[0].contains("`aprovals`"), "{attribute:?}");
    let kind = problems(&GOOD.replace("network_scan", "networkscan"));
    assert!(kind.iter().any(|problem| problem.starts_with("9:30: unrecognized action")), "{kind:?}");
    let types = problems(&GOOD.replace(">= 1", "== \"one\""));
    assert!(types[0].starts_with("10:"), "{types:?}");
}

#[test]
fn a_rule_that_can_never_speak_is_refused() {
    let found = problems(&GOOD.replace("unless {", "when { false } unless {"));
    assert!(found[0].contains("impossible"), "{found:?}");
}

#[test]
fn letters_that_look_like_others_are_refused() {
    let found = problems(&GOOD.replace("unless {", "when { context.tool != \"\u{430}bc\" } unless {"));
    assert!(found[0].contains("mixed scripts"), "{found:?}");
}

#[test]
fn templates_are_refused() {
    let found = problems(&GOOD.replace("(principal,", "(principal == ?principal,"));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("template"), "{found:?}");
}

#[test]
fn all_problems_of_all_files_are_reported_at_once() {
    let broken = [
        file("b.cedar", "permit (principal, action, resource"),
        file(
            "a.cedar",
            &format!(
                "{}\n{}",
                GOOD.replace("0.20", "2"),
                GOOD.replace("@misses", "@miss").replace("\"scan\"", "\"b\"")
            ),
        ),
    ];
    let problems = load(&broken).expect_err("several problems");
    let places: Vec<String> = problems.iter().map(|p| format!("{}:{}", p.file, p.line)).collect();
    assert_eq!(places, ["a.cedar:3", "a.cedar:13", "a.cedar:19", "b.cedar:1"]);
    assert!(problems.to_string().starts_with("the policy is refused: 4 problems\na.cedar:3:1: bad risk `2`\n  hint: "));
    assert!(problems.iter().all(|problem| !problem.hint.is_empty()));
}

#[test]
fn the_version_is_the_content_of_the_files_and_not_their_order() {
    let version = |files: &[(String, String)]| load(files).expect("a good policy").version();
    let (a, b) = (file("a.cedar", &permit_scripts()), file("b.cedar", GOOD));
    assert_eq!(version(&[a.clone(), b.clone()]), version(&[b.clone(), a.clone()]));
    assert_ne!(version(&[a.clone(), b.clone()]), version(std::slice::from_ref(&a)));
    assert_ne!(version(&[a.clone(), b]), version(&[a.clone(), file("b.cedar", &format!("{GOOD} "))]));
    assert_ne!(version(std::slice::from_ref(&a)), version(&[file("c.cedar", &a.1)]), "the name counts");
}

#[test]
fn a_broken_rule_never_loads_a_policy_in_part() {
    let mut files = shipped_files();
    files.push(file(
        "team.cedar",
        &script_rule("bad", "0.10", "forbid (principal, action == Action::\"read_file\", resource);"),
    ));
    assert!(load(&files).is_err());
}
