//! What a team has decided to live with.

use placet_secrets::{Allowlist, AllowlistError, Day, Finding, Judgement};

use crate::invent::{sample, scan};

fn finding() -> Finding {
    scan(&sample("github-token", 1)).swap_remove(0)
}

fn day(text: &str) -> Day {
    Day::parse(text).unwrap()
}

fn list(entry: &str) -> Result<Allowlist, AllowlistError> {
    Allowlist::parse(&format!("{{ \"entries\": [ {entry} ] }}"))
}

#[test]
fn a9_an_entry_allows_one_secret_until_its_day_is_over_and_then_says_so() {
    let entry = format!(
        r#"{{ "fingerprint": "{}", "reason": "vendor's sample", "expires": "2027-01-31", "addedBy": "mira" }}"#,
        finding().fingerprint_hex()
    );
    let list = list(&entry).unwrap();
    let allowed = Judgement::Allowed { reason: "vendor's sample".into() };
    assert_eq!(list.judge(&finding(), b"any/path", day("2027-01-31")), allowed);
    let expired = Judgement::Expired { since: day("2027-01-31"), reason: "vendor's sample".into() };
    assert_eq!(list.judge(&finding(), b"any/path", day("2027-02-01")), expired);
    let other = scan(&sample("github-token", 2)).swap_remove(0);
    assert_eq!(list.judge(&other, b"any/path", day("2027-01-01")), Judgement::NotListed);
}

#[test]
fn a_rule_is_allowed_at_a_path_or_below_it_and_nowhere_else() {
    let at = |path: &str| {
        list(&format!(r#"{{ "rule": "github-token", "path": "{path}", "reason": "r", "expires": "2027-01-31" }}"#))
            .unwrap()
    };
    let judge = |list: &Allowlist, path: &str| {
        list.judge(&finding(), path.as_bytes(), day("2026-11-16")) != Judgement::NotListed
    };
    assert!(judge(&at("docs/"), "docs/a/b.md"));
    assert!(judge(&at("docs/a.md"), "docs/a.md"));
    for (entry, path) in [
        ("docs/", "docs"),
        ("docs/", "docs2/a"),
        ("docs", "docs/a"),
        ("docs/a.md", "docs/a.md.bak"),
        ("docs/", "x/docs/a"),
    ] {
        assert!(!judge(&at(entry), path), "{entry} {path}");
    }
    let other_rule = list(r#"{ "rule": "jwt", "path": "docs/", "reason": "r", "expires": "2027-01-31" }"#).unwrap();
    assert!(!judge(&other_rule, "docs/a"));
}

#[test]
fn an_entry_that_still_counts_wins_over_one_that_is_over() {
    let entry = |expires: &str| {
        format!(r#"{{ "rule": "github-token", "path": "a", "reason": "{expires}", "expires": "{expires}" }}"#)
    };
    let list = list(&[entry("2026-01-01"), entry("2027-01-01"), entry("2026-06-01")].join(",")).unwrap();
    assert_eq!(list.judge(&finding(), b"a", day("2026-12-31")), Judgement::Allowed { reason: "2027-01-01".into() });
}

#[test]
fn a_mistake_is_refused_with_its_place_and_nothing_counts() {
    let fingerprint = "ab".repeat(32);
    let cases = [
        (format!(r#"{{ "fingerprint": "{fingerprint}", "expires": "2027-01-31" }}"#), "missing field `reason`"),
        (format!(r#"{{ "fingerprint": "{fingerprint}", "reason": "r" }}"#), "missing field `expires`"),
        (
            format!(r#"{{ "fingerprint": "{fingerprint}", "reason": " ", "expires": "2027-01-31" }}"#),
            "`entries[0].reason`",
        ),
        (
            format!(r#"{{ "fingerprint": "{fingerprint}", "reason": "r", "expires": "2027-02-30" }}"#),
            "`entries[0].expires`",
        ),
        (format!(r#"{{ "fingerprint": "{fingerprint}", "reason": "r", "expires": "soon" }}"#), "`entries[0].expires`"),
        (r#"{ "fingerprint": "abc", "reason": "r", "expires": "2027-01-31" }"#.into(), "`entries[0].fingerprint`"),
        (r#"{ "rule": "jwt", "reason": "r", "expires": "2027-01-31" }"#.into(), "`entries[0]`"),
        (r#"{ "rule": "jwt", "path": "a/*", "reason": "r", "expires": "2027-01-31" }"#.into(), "`entries[0].path`"),
        (r#"{ "rule": "jwt", "path": "../a", "reason": "r", "expires": "2027-01-31" }"#.into(), "`entries[0].path`"),
        (r#"{ "rule": "jwt", "path": "", "reason": "r", "expires": "2027-01-31" }"#.into(), "`entries[0].path`"),
        (
            format!(r#"{{ "fingerprint": "{fingerprint}", "reason": "r", "expires": "2027-01-31", "note": "x" }}"#),
            "unknown field `note`",
        ),
    ];
    for (entry, expected) in cases {
        let message = list(&entry).unwrap_err().to_string();
        assert!(message.contains(expected), "{entry}: {message}");
    }
    assert_eq!(Allowlist::parse("{\n  nothing").unwrap_err().to_string().split(',').next(), Some("line 2"));
    assert!(Allowlist::parse("{\"entries\": []}").is_ok());
    assert!(Allowlist::parse("{\"version\": 1, \"entries\": []}").is_ok());
    assert!(Allowlist::parse("{\"version\": 2, \"entries\": []}").is_err());
}

#[test]
fn days_are_days_of_the_calendar() {
    for text in ["2024-02-29", "2026-12-31", "2000-02-29"] {
        assert_eq!(Day::parse(text).unwrap().to_string(), text);
    }
    for text in [
        "2023-02-29",
        "1900-02-29",
        "2026-13-01",
        "2026-00-10",
        "2026-04-31",
        "2026-4-1",
        "2026-04-00",
        "20260401",
        "２026-04-01",
    ] {
        assert_eq!(Day::parse(text), None, "{text}");
    }
    assert!(day("2026-12-31") < day("2027-01-01"));
}
