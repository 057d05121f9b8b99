//! Private keys, whole and wrapped.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use placet_secrets::{Encoding, Scanner};

use crate::invent::{BASE62, BASE64, Dice, found, private_key, scan};

#[test]
fn a9_private_keys_of_every_frame_are_found_over_all_their_lines() {
    for label in [
        "PRIVATE KEY",
        "RSA PRIVATE KEY",
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let key = private_key(label, 800, 1);
        let findings = scan(&format!("before\n{key}after"));
        assert_eq!(findings.len(), 1, "{label}");
        assert_eq!(
            (findings[0].rule.as_str(), findings[0].line, findings[0].len),
            ("private-key", 2, key.len() - 1),
            "{label}"
        );
    }
}

#[test]
fn a_key_in_one_line_or_indented_or_without_its_end_is_a_key() {
    let key = private_key("PRIVATE KEY", 900, 2);
    for text in [
        format!("{{\"private_key\": \"{}\"}}", key.replace('\n', "\\n")),
        key.replace('\n', "\n    "),
        key.replace('\n', "\r\n"),
        key.replace('\n', "\n# "),
        key[..600].to_owned(),
    ] {
        assert_eq!(found(&text), ["private-key"], "{text}");
    }
}

#[test]
fn public_halves_and_mentions_of_keys_are_let_go() {
    for text in [
        private_key("CERTIFICATE", 800, 3),
        private_key("PUBLIC KEY", 400, 3),
        private_key("PRIVATE KEY", 20, 3),
        "if line == \"-----BEGIN PRIVATE KEY-----\" { begin(); }".to_owned(),
        "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----".to_owned(),
        "-----BEGIN RSA PRIVATE KEY-----\nthe key goes here, between these two lines, when you have made one\n-----END RSA PRIVATE KEY-----".to_owned(),
    ] {
        assert_eq!(found(&text), Vec::<String>::new(), "{text}");
    }
}

#[test]
fn keys_of_putty_are_keys() {
    let (public, private) = (Dice::new(1).text(BASE64, 128), Dice::new(2).text(BASE64, 64));
    let text = format!(
        "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\nComment: me\nPublic-Lines: 2\n{public}\nPrivate-Lines: 1\n{private}\nPrivate-MAC: {}\n",
        Dice::new(3).text("0123456789abcdef", 64)
    );
    assert_eq!(found(&text), ["private-key"]);
}

#[test]
fn a9_a_key_that_spans_added_lines_of_a_diff_is_found_and_one_across_a_gap_is_read_apart() {
    let key = private_key("PRIVATE KEY", 640, 4);
    let lines: Vec<(u32, &[u8])> =
        key.lines().enumerate().map(|(index, line)| (index as u32 + 40, line.as_bytes())).collect();
    let findings = Scanner::shipped().scan_lines(lines.clone());
    assert_eq!((findings.len(), findings[0].line), (1, 40));
    let gap = [(1, &b"password ="[..]), (7, b"\"hunter2-Q7x!\""), (9, b"password = \"hunter2-Q7x!\"")];
    let findings = Scanner::shipped().scan_lines(gap);
    assert_eq!(findings.iter().map(|finding| finding.line).collect::<Vec<_>>(), [9]);
    assert!(Scanner::shipped().scan_lines([]).is_empty());
}

#[test]
fn a9_a_secret_inside_base64_is_found_and_told_as_such() {
    let token = crate::invent::sample("github-token", 5);
    let plain = format!("apiVersion: v1\nuser: build\ncredential: {token}\n");
    for shift in 0..3 {
        let encoded = STANDARD.encode(format!("{}{plain}", " ".repeat(shift)));
        let findings = scan(&format!("data:\n  config: {encoded}\n"));
        assert_eq!(findings.len(), 1, "{shift}");
        assert_eq!((findings[0].rule.as_str(), findings[0].encoding), ("github-token", Encoding::Base64));
        assert_eq!((findings[0].line, findings[0].len), (2, encoded.trim_end_matches('=').len()));
        assert!(findings[0].redacted.starts_with("****"));
    }
}

#[test]
fn base64_inside_base64_is_not_followed_and_base64_of_nothing_is_let_go() {
    let twice = STANDARD.encode(STANDARD.encode(crate::invent::sample("github-token", 5)));
    assert_eq!(found(&format!("blob {twice}")), Vec::<String>::new());
    assert_eq!(found(&STANDARD.encode("a sentence about nothing in particular, and one more")), Vec::<String>::new());
    assert_eq!(found(&format!("picture {}", Dice::new(8).text(BASE62, 4000))), Vec::<String>::new());
}
