//! Secrets in streams, wherever the chunks end.

use placet_secrets::{Redactor, Scanner};
use proptest::prelude::*;

use crate::invent::{BASE62, Dice, private_key, sample};

fn stream(text: &[u8], chunks: impl IntoIterator<Item = usize>) -> Vec<u8> {
    let (mut redactor, mut out, mut rest) = (Redactor::new(Scanner::shipped()), Vec::new(), text);
    for len in chunks {
        let (chunk, later) = rest.split_at(len.min(rest.len()));
        out.extend(redactor.push(chunk));
        rest = later;
    }
    out.extend(redactor.push(rest));
    out.extend(redactor.finish());
    out
}

fn log() -> String {
    let mut dice = Dice::new(1);
    let mut log = String::new();
    for line in 0..30 {
        log += &format!("{line} info: {}\n", dice.text("abcdefg ", 60));
        match line % 6 {
            0 => log += &format!("token {}\n", sample("github-token", line)),
            1 => log += &private_key("PRIVATE KEY", 700, line),
            2 => log += &format!("password = \"{}-7!\"\n", dice.text(BASE62, 9)),
            _ => {}
        }
    }
    log
}

#[test]
fn a9_a_secret_is_taken_out_wherever_a_chunk_ends() {
    let log = log();
    let whole = Scanner::shipped().redact(log.as_bytes()).into_owned();
    assert!(String::from_utf8_lossy(&whole).matches("[redacted").count() >= 15);
    for size in [1, 2, 3, 7, 64, 1000, 4096, 100_000] {
        assert!(stream(log.as_bytes(), std::iter::repeat_n(size, log.len() / size)) == whole, "{size}");
    }
}

#[test]
fn what_a_line_means_may_depend_on_the_lines_before_it() {
    let password = Dice::new(3).text(BASE62, 12);
    for text in
        [format!("machine h\nlogin me\npassword {password}\n"), format!("- name: DB_PASSWORD,\n  value: {password}\n")]
    {
        let clean = String::from_utf8(stream(text.as_bytes(), std::iter::repeat_n(5, 20))).unwrap();
        assert!(!clean.contains(&password), "{clean}");
    }
}

#[test]
fn a_complete_line_does_not_wait() {
    let mut redactor = Redactor::new(Scanner::shipped());
    assert_eq!(redactor.push(b"half a line"), b"");
    assert_eq!(redactor.push(b" and the rest\nnext"), b"half a line and the rest\n");
    assert_eq!(redactor.finish(), b"next");
}

#[test]
fn a_key_without_end_waits_only_so_long() {
    let mut redactor = Redactor::new(Scanner::shipped());
    let begin = private_key("PRIVATE KEY", 100, 1);
    let begin = begin.lines().next().unwrap();
    assert_eq!(redactor.push(format!("{begin}\n").as_bytes()), b"");
    let passed: usize = (0..4000).map(|_| redactor.push(b"an ordinary line of a log\n").len()).sum();
    assert!(passed > 40_000, "{passed}");
}

#[test]
fn a_line_without_end_passes_in_bounded_memory_and_its_secrets_do_not() {
    let token = sample("github-token", 2);
    let filler = "x ".repeat(50_000);
    let line = format!("{filler}{token} {filler}{token} {filler}");
    let (mut redactor, mut out, mut most_waiting, mut pushed) = (Redactor::new(Scanner::shipped()), Vec::new(), 0, 0);
    for chunk in line.as_bytes().chunks(10_000) {
        pushed += chunk.len();
        out.extend(redactor.push(chunk));
        most_waiting = most_waiting.max(pushed.saturating_sub(out.len()));
    }
    out.extend(redactor.finish());
    assert!(most_waiting < 300_000, "{most_waiting}");
    let text = String::from_utf8(out).unwrap();
    assert!(!text.contains(&token));
    assert_eq!(text.matches("[redacted github-token]").count(), 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn every_way_to_cut_a_stream_gives_the_same(cuts in prop::collection::vec(1_usize..900, 1..60)) {
        let log = log();
        let whole = Scanner::shipped().redact(log.as_bytes()).into_owned();
        prop_assert!(stream(log.as_bytes(), cuts) == whole);
    }
}
