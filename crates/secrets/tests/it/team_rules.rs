//! A team's own rules, tried on their own examples before they count.

use placet_secrets::Scanner;

use crate::invent::{Dice, HEX};

fn rules(id: &str, shape: &str, finds: &str, ignores: &str) -> String {
    format!(
        r#"[{{ "id": "{id}", "about": "token of our gateway", "shape": "{shape}", "finds": ["{finds}"], "ignores": ["{ignores}"] }}]"#
    )
}

fn token() -> String {
    format!("acme_{}", Dice::new(1).text(HEX, 32))
}

#[test]
fn a_team_adds_a_rule_and_keeps_the_shipped_ones() {
    let scanner =
        Scanner::with_rules(&rules("acme-token", "acme_[a-f0-9]{32}", &token(), "acme_documentation")).unwrap();
    let text = format!("x {} y {}", token(), crate::invent::sample("github-token", 1));
    let found: Vec<String> = scanner.scan(text.as_bytes()).into_iter().map(|finding| finding.rule).collect();
    assert_eq!(found, ["acme-token", "github-token"]);
    assert_eq!(scanner.scan(text.as_bytes())[0].redacted, "acme**** (37 bytes)");
    assert!(Scanner::shipped().scan(token().as_bytes()).is_empty());
}

#[test]
fn a_rule_that_does_not_do_what_its_examples_say_is_refused() {
    let cases = [
        (rules("acme-token", "acme_[a-f0-9]{31}", &token(), "x"), "does not find its example number 1"),
        (
            rules("acme-token", "acme_[a-f0-9]{32}", &token(), &token()),
            "finds something in its example number 1 under `ignores`",
        ),
        (rules("acme-token", "acme_[a-f0-9", &token(), "x"), "never closed"),
        (rules("acme-token", "[a-f0-9]{32}", &token(), "x"), "no literal"),
        (rules("jwt", "acme_[a-f0-9]{32}", &token(), "x"), "`jwt` exists already"),
        (rules("Acme", "acme_[a-f0-9]{32}", &token(), "x"), "no id of a rule"),
        ("[{ \"id\": \"a\", \"about\": \"a\", \"shape\": \"acme_[a]\", \"finds\": [] }]".into(), "has no example"),
        ("[{ \"id\": \"a\",\n \"regex\": \"b\" }]".into(), "line 2"),
        ("{}".into(), "not a list of rules"),
    ];
    for (json, expected) in cases {
        let message = Scanner::with_rules(&json).unwrap_err().to_string();
        assert!(message.contains(expected), "{json}: {message}");
    }
}
