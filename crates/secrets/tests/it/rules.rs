//! Every rule finds what it is for, and nothing of what only looks like it.

use std::collections::BTreeSet;

use placet_secrets::{Rule, Scanner};

use crate::invent::{found, scan};

/// Text in which a token may stand.
const CARRIERS: &[(&str, &str)] = &[
    ("", ""),
    ("value: ", "\n"),
    ("x = \"", "\";"),
    ("curl -H 'X: ", "' https://host"),
    ("{\"a\":\"", "\"}"),
    ("# see ", " for details"),
    ("first\\n", "\\nlast"),
    ("<a>", "</a>"),
    ("(", ")"),
];

fn with_shapes() -> impl Iterator<Item = &'static Rule> {
    Scanner::shipped().rules().iter().filter(|rule| !rule.samples(0).is_empty())
}

#[test]
fn a9_every_rule_finds_every_one_of_its_shapes_in_every_surrounding() {
    for rule in with_shapes() {
        for (seed, token) in (1..4).flat_map(|seed| rule.samples(seed).into_iter().map(move |token| (seed, token))) {
            for (before, after) in CARRIERS {
                let text = format!("{before}{token}{after}");
                assert!(!scan(&text).is_empty(), "{} with seed {seed}: {text}", rule.id());
            }
        }
    }
}

#[test]
fn a_rule_is_named_in_what_it_finds_unless_a_more_telling_one_covers_the_same() {
    let own = with_shapes().filter(|rule| {
        (1..6).flat_map(|seed| rule.samples(seed)).any(|token| found(&token).iter().any(|id| id == rule.id()))
    });
    let (own, all) = (own.count(), with_shapes().count());
    assert!(own * 100 >= all * 85, "{own} of {all}");
}

#[test]
fn a9_what_only_looks_alike_is_not_found() {
    for rule in Scanner::shipped().rules() {
        for text in rule.lookalikes() {
            assert_eq!(found(text), Vec::<String>::new(), "{}: {text}", rule.id());
        }
    }
}

#[test]
fn a_token_that_was_cut_or_prolonged_is_another_matter_than_one_that_is_whole() {
    let token = crate::invent::sample("github-token", 7);
    assert_eq!(found(&token), ["github-token"]);
    for other in [token[..token.len() - 1].to_owned(), format!("{token}x"), format!("x{token}")] {
        assert!(!found(&other).contains(&"github-token".to_owned()), "{other}");
    }
}

#[test]
fn there_are_rules_for_every_kind_of_service_and_their_ids_are_unique() {
    let rules = Scanner::shipped().rules();
    let ids: BTreeSet<&str> = rules.iter().map(Rule::id).collect();
    assert_eq!(ids.len(), rules.len());
    assert!(ids.len() >= 200, "{}", ids.len());
    assert!(
        ids.iter().all(|id| id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'))
    );
    for id in [
        "aws-access-key",
        "github-token",
        "anthropic-key",
        "slack-webhook",
        "stripe-key",
        "npm-token",
        "jwt",
        "vault-token",
    ] {
        assert!(ids.contains(id), "{id}");
    }
}

#[test]
fn a9_a_finding_shows_at_most_four_bytes_that_every_secret_of_its_kind_begins_with() {
    for rule in with_shapes() {
        let (first, second) = (rule.samples(1), rule.samples(2));
        for (one, other) in first.iter().zip(&second) {
            for finding in scan(one) {
                let shown = finding.redacted.split("****").next().unwrap();
                assert!(shown.len() <= 4, "{}", finding.redacted);
                assert!(shown.is_empty() || other.contains(shown), "{}: {}", rule.id(), finding.redacted);
            }
        }
    }
}

#[test]
fn a_finding_says_where_and_how_long_and_recognises_the_same_secret_elsewhere() {
    let token = crate::invent::sample("github-token", 3);
    let here = scan(&format!("one\ntwo: {token} end\n"));
    let there = scan(&format!("{token}\n"));
    assert_eq!((here[0].line, here[0].column, here[0].len), (2, 6, 40));
    assert_eq!((there[0].line, there[0].column), (1, 1));
    assert_eq!(here[0].fingerprint, there[0].fingerprint);
    assert_eq!(here[0].redacted, "ghp_**** (40 bytes)");
    let other = scan(&crate::invent::sample("github-token", 4));
    assert_ne!(here[0].fingerprint, other[0].fingerprint);
    assert!(!format!("{:?}", here[0]).contains(&token[4..]));
}
