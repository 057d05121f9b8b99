//! Input that was made to hurt: long lines, nesting, repetition, bytes of every kind. Nothing may panic, and the cost
//! must grow with the length and not faster.

use std::time::Duration;

use placet_secrets::{Scanner, redact_personal};

use crate::invent::{BASE64, Dice};

/// Pieces that begin something again and again and never end it.
const TRAPS: &[&str] = &[
    "key",
    "key=",
    "key=\"a1b2c3d4\" ",
    "key:",
    "key=\"",
    "key='\"",
    "password \"",
    "password=\\\"",
    "-----BEGIN PRIVATE KEY-----",
    "-BEGIN PRIVATE KEY--",
    "-----BEGIN PRIVATE KEY-----\nAAAA",
    "PuTTY-User-Key-File-",
    "://",
    "a://b:",
    "a://b:c@",
    "curl ",
    "curl -u ",
    ":5432:",
    "eyJ",
    "-eyJ",
    ".eyJ",
    "eyJhbGciOiJ.",
    "ghp_",
    "sk-",
    "_authToken=",
    "Bearer ",
    "Basic QUJD",
    "A",
    "\0",
    "[redacted ",
    "\\",
    "\"",
    "\n",
    "(",
    "<password>",
    "login password ",
    "machine login password ",
    "token is ",
    "QUJD+/",
    "xoxb-1",
    "SG.",
    "%3D",
    "create user password '",
    "name=\"password\" value",
    "12345678:AA",
    "@",
    "a@",
    "+1 ",
    "DE89 ",
    "4 ",
    "AccountKey=",
];

/// A hundred kilobytes in half a second of a processor at the very most, without full optimisation. What is quadratic, or looks
/// far ahead at every step, takes a hundred times as long as it should.
const LEN: usize = 100_000;
const MOST_TIME: Duration = Duration::from_millis(500);

/// What this thread has had of a processor: others work on the same machine, and are not counted.
fn processor_time() -> Duration {
    let all = std::fs::read_to_string("/proc/thread-self/schedstat").expect("the kernel counts");
    Duration::from_nanos(all.split(' ').next().and_then(|ns| ns.parse().ok()).expect("a number"))
}

fn time_of(piece: &str, len: usize) -> Duration {
    let text = piece.as_bytes().repeat(len / piece.len());
    let before = processor_time();
    let found = Scanner::shipped().scan(&text).len();
    let personal = redact_personal(&text).len();
    assert!(found <= text.len() && personal <= 8 * text.len());
    processor_time() - before
}

#[test]
fn repeated_beginnings_cost_no_more_than_their_length() {
    for piece in TRAPS {
        // Caches and clocks are shared all the same: one quick time of a few shows that it can be quick.
        let slow: Vec<Duration> = (0..6).map(|_| time_of(piece, LEN)).take_while(|time| *time > MOST_TIME).collect();
        assert!(slow.len() < 6, "{piece:?}: {slow:?}");
    }
}

#[test]
fn one_line_of_many_megabytes_is_read_and_its_secret_found() {
    let mut text = Dice::new(1).text(BASE64, 1_000).repeat(2_000).into_bytes();
    text.extend_from_slice(b" token=");
    text.extend_from_slice(crate::invent::sample("github-token", 1).as_bytes());
    let findings = Scanner::shipped().scan(&text);
    assert_eq!(findings.iter().map(|finding| finding.rule.as_str()).collect::<Vec<_>>(), ["github-token"]);
    assert_eq!((findings[0].line, findings[0].column), (1, 2_000_008));
}

#[test]
fn deep_nesting_and_bytes_of_every_kind_do_no_harm() {
    let scanner = Scanner::shipped();
    let nested = format!("{}{}{}", "{\"key\":[".repeat(50_000), "1", "]}".repeat(50_000));
    assert!(scanner.scan(nested.as_bytes()).is_empty());
    let mut dice = Dice::new(3);
    for _ in 0..200 {
        let noise: Vec<u8> = (0..2_000).map(|_| dice.below(256) as u8).collect();
        let clean = scanner.redact(&noise);
        assert!(scanner.scan(&clean).is_empty());
    }
    assert!(scanner.scan(&vec![0; 1_000_000]).is_empty());
    assert!(scanner.scan(b"").is_empty());
}

#[test]
fn a_secret_among_bytes_that_are_no_text_is_found() {
    let token = crate::invent::sample("github-token", 9);
    let mut text = vec![0xff, 0xfe, 0, 0x80];
    text.extend_from_slice(token.as_bytes());
    text.extend_from_slice(&[0, 0xc3, 0x28]);
    assert_eq!(Scanner::shipped().scan(&text)[0].rule, "github-token");
}

#[test]
fn every_prefix_of_a_text_full_of_secrets_can_be_scanned() {
    let rules = Scanner::shipped().rules();
    let text: String = rules.iter().flat_map(|rule| rule.samples(3)).take(60).collect::<Vec<_>>().join("\n");
    for end in (0..text.len()).step_by(11) {
        let _ = Scanner::shipped().scan(&text.as_bytes()[end..]).len();
    }
}
