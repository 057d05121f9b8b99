//! One letter as it is sent (RFC 5322, RFC 2045, RFC 2047): plain text in UTF-8, encoded as base64. Pure.
//!
//! Everything that is not ours is encoded, also in the subject: no byte of it can end a line, begin a header, or be taken for the end of
//! the letter.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::{Message, plain};
use super::MailAddress;

/// Bytes of one line of base64: 76 characters.
const LINE_BYTES: usize = 57;
/// Bytes of text in one encoded word, which has 75 characters at most.
const WORD_BYTES: usize = 42;
/// A subject is looked at, not read.
const LONGEST_SUBJECT: usize = 120;

pub(super) fn spelled(message: &Message, from: &MailAddress, to: &MailAddress, unix_ms: i64) -> Vec<u8> {
    let at = jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default();
    let id = message.plain_id();
    let headers = [
        format!("From: Placet <{from}>"),
        format!("To: <{to}>"),
        format!("Subject: {}", encoded_words(&message.subject)),
        format!("Date: {}", at.strftime("%a, %d %b %Y %H:%M:%S +0000")),
        format!("Message-ID: <{id}@{}>", from.domain()),
        // Nobody's holiday answers to this (RFC 3834).
        "Auto-Submitted: auto-generated".to_owned(),
        "MIME-Version: 1.0".to_owned(),
        "Content-Type: text/plain; charset=utf-8".to_owned(),
        "Content-Transfer-Encoding: base64".to_owned(),
    ];
    let mut letter = headers.join("\r\n");
    letter.push_str("\r\n\r\n");
    for line in text(message).as_bytes().chunks(LINE_BYTES) {
        letter.push_str(&STANDARD.encode(line));
        letter.push_str("\r\n");
    }
    letter.into_bytes()
}

fn text(message: &Message) -> String {
    let mut lines = Vec::new();
    for line in &message.lines {
        lines.push(line.text.clone());
        lines.extend(line.details.iter().map(|detail| format!("  {detail}")));
        lines.extend(line.link.iter().map(|link| format!("  {link}")));
        lines.push(String::new());
    }
    lines.push(message.farewell.to_owned());
    lines.push(String::new());
    plain::without_secrets(&lines.join("\n")).replace('\n', "\r\n")
}

/// `=?utf-8?b?…?=`, as often as it takes, never in the middle of a character.
fn encoded_words(text: &str) -> String {
    let short: String = text.chars().take(LONGEST_SUBJECT).collect();
    let (mut words, mut word) = (Vec::new(), String::new());
    for c in short.chars() {
        if word.len() + c.len_utf8() > WORD_BYTES {
            words.push(std::mem::take(&mut word));
        }
        word.push(c);
    }
    words.push(word);
    let encoded: Vec<String> = words.iter().map(|word| format!("=?utf-8?b?{}?=", STANDARD.encode(word))).collect();
    encoded.join("\r\n ")
}

#[cfg(test)]
mod tests {
    use placet_lang::Lang;

    use super::super::super::message::tests::{framing, hostile, item};
    use super::super::super::{Message, NoticeKind};
    use super::*;

    fn letter(message: &Message) -> String {
        let (from, to) = ("placet@example.org".parse().unwrap(), "ada@example.org".parse().unwrap());
        String::from_utf8(spelled(message, &from, &to, 1_769_851_800_000)).unwrap()
    }

    fn body(letter: &str) -> String {
        let (_, encoded) = letter.split_once("\r\n\r\n").unwrap();
        String::from_utf8(STANDARD.decode(encoded.replace("\r\n", "")).unwrap()).unwrap()
    }

    #[test]
    fn b4_a_letter_has_the_headers_that_servers_want_and_leads_to_the_decision() {
        let letter = letter(&Message::of(&[item(1, NoticeKind::Action)], &[], framing(Lang::Fr)));
        for header in [
            "From: Placet <placet@example.org>\r\n",
            "To: <ada@example.org>\r\n",
            "Date: Sat, 31 Jan 2026 09:30:00 +0000\r\n",
        ] {
            assert!(letter.contains(header), "{header}: {letter}");
        }
        assert!(letter.contains("\r\nAuto-Submitted: auto-generated\r\n"));
        assert!(letter.contains("@example.org>\r\n") && letter.is_ascii());
        assert!(body(&letter).contains("http://127.0.0.1:7070/actions/act_1"), "{}", body(&letter));
    }

    #[test]
    fn r5_no_words_of_others_become_a_header_or_end_a_letter() {
        let letter = letter(&Message::of(&hostile(), &[], framing(Lang::En)));
        let (headers, encoded) = letter.split_once("\r\n\r\n").unwrap();
        let names: Vec<&str> = headers
            .split("\r\n")
            .filter(|line| !line.starts_with(' '))
            .map(|line| line.split(':').next().unwrap())
            .collect();
        assert_eq!(
            names,
            [
                "From",
                "To",
                "Subject",
                "Date",
                "Message-ID",
                "Auto-Submitted",
                "MIME-Version",
                "Content-Type",
                "Content-Transfer-Encoding"
            ]
        );
        assert!(encoded.lines().all(|line| line.len() <= 76 && !line.starts_with('.')), "{encoded}");
        let said = body(&letter);
        assert!(!said.contains("http://evil") && !said.contains("\r\nBcc") && !said.contains('\u{202e}'), "{said}");
    }

    #[test]
    fn a_long_subject_is_cut_between_characters_into_words_of_75() {
        let spelled = encoded_words(&"décision ".repeat(50));
        for word in spelled.split("\r\n ") {
            assert!(word.len() <= 75, "{word}");
            let inner = word.trim_start_matches("=?utf-8?b?").trim_end_matches("?=");
            String::from_utf8(STANDARD.decode(inner).unwrap()).unwrap();
        }
    }
}
