//! What is left after redaction has no secrets, whatever went in.

use placet_secrets::{Scanner, redact_personal};
use proptest::prelude::*;

use crate::invent::{private_key, sample};

fn redact(text: &str) -> String {
    String::from_utf8(Scanner::shipped().redact(text.as_bytes()).into_owned()).unwrap()
}

#[test]
fn a9_a_secret_gives_way_to_the_name_of_its_rule_and_everything_else_stays() {
    let token = sample("github-token", 1);
    assert_eq!(redact(&format!("push with {token} failed")), "push with [redacted github-token] failed");
    let key = private_key("PRIVATE KEY", 600, 1);
    assert_eq!(redact(&format!("a\n{key}b")), "a\n[redacted private-key]\nb");
    assert_eq!(redact("password = \"Tr0ub4dor-7\" # old"), "password = \"[redacted assigned-password]\" # old");
}

#[test]
fn text_without_secrets_is_not_even_copied() {
    let text = b"nothing to see here\n";
    assert!(matches!(Scanner::shipped().redact(text), std::borrow::Cow::Borrowed(_)));
    assert!(matches!(redact_personal(text), std::borrow::Cow::Borrowed(_)));
}

/// Text made of the very pieces that rules look for, in any order.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let rules = Scanner::shipped().rules();
    let token = (0..rules.len(), 0..40_u64)
        .prop_map(|(rule, seed)| rules[rule].samples(seed).pop().unwrap_or_default().into_bytes());
    let syntax = prop::sample::select(vec![
        "password",
        "token",
        "secret_key",
        "key",
        "auth",
        " = ",
        "=",
        ": ",
        "\"",
        "'",
        "`",
        "\\\"",
        "\n",
        " ",
        ",",
        ";",
        "<",
        ">",
        "://",
        "@",
        ":",
        "-----BEGIN PRIVATE KEY-----",
        "-----END PRIVATE KEY-----",
        "curl -u ",
        ":5432:",
        "[redacted ",
        "]",
        "Basic ",
        "Bearer ",
        "%3D",
        "--password ",
        "login ",
        "machine ",
        "value=",
        "+",
        "\\n",
        "$",
        "{",
        "}",
        "(",
        ")",
    ])
    .prop_map(|text| text.as_bytes().to_vec());
    let random = prop_oneof!["[A-Za-z0-9]{4,40}", "[A-Za-z0-9+/]{32,80}", "[a-z]{3,9}[0-9]{2,4}[!#%]"]
        .prop_map(String::into_bytes);
    let bytes = prop::collection::vec(any::<u8>(), 0..12);
    prop::collection::vec(prop_oneof![2 => token, 5 => syntax, 3 => random, 1 => bytes], 0..24)
        .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn a9_nothing_is_found_in_what_was_redacted_and_redacting_it_again_changes_nothing(text in pieces()) {
        let scanner = Scanner::shipped();
        let clean = scanner.redact(&text).into_owned();
        prop_assert!(scanner.scan(&clean).is_empty(), "{:?}", String::from_utf8_lossy(&clean));
        prop_assert_eq!(scanner.redact(&clean).into_owned(), clean);
    }

    #[test]
    fn findings_lie_inside_the_text_in_order_and_apart(text in pieces()) {
        let findings = Scanner::shipped().scan(&text);
        let lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
        for finding in &findings {
            let line = lines[finding.line as usize - 1];
            prop_assert!(finding.column as usize <= line.len() + 1);
        }
        let places: Vec<(u32, u32)> = findings.iter().map(|finding| (finding.line, finding.column)).collect();
        prop_assert!(places.is_sorted());
    }

    #[test]
    fn personal_data_is_gone_after_one_pass(text in "[a-zA-Z0-9@.+ \\-]{0,80}") {
        let once = redact_personal(text.as_bytes()).into_owned();
        prop_assert_eq!(redact_personal(&once).into_owned(), once.clone());
    }
}
