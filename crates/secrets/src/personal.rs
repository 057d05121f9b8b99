//! Takes personal data out of logs: e-mail addresses, telephone numbers in international form, IBANs, card numbers.
//!
//! Conservative: account and card numbers must have the right checksum, telephone numbers a country code. Names and
//! postal addresses are not recognised.

use std::borrow::Cow;
use std::ops::Range;

use crate::class::{Class, WORD};

const LOCAL: Class = Class::of("A-Za-z0-9._%+-");
const DOMAIN: Class = Class::of("A-Za-z0-9.-");
/// Longest local part and domain of an address, by the standard.
const LONGEST_LOCAL: usize = 64;
const LONGEST_DOMAIN: usize = 253;

/// Lengths of IBANs by country.
const IBANS: &[(&[u8; 2], usize)] = &[
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MT", 31),
    (b"MU", 30),
    (b"NL", 18),
    (b"NO", 15),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"SA", 24),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"XK", 20),
];

/// The text without personal data. What is left has none of these kinds, and redacting it again changes nothing.
#[must_use]
pub fn redact_personal(text: &[u8]) -> Cow<'_, [u8]> {
    let mut clean: Option<Vec<u8>> = None;
    let (mut copied, mut at) = (0, 0);
    while at < text.len() {
        match found_at(text, at, copied) {
            Some((place, kind)) => {
                let clean = clean.get_or_insert_with(Vec::new);
                clean.extend_from_slice(&text[copied..place.start]);
                clean.extend_from_slice(format!("[redacted {kind}]").as_bytes());
                (copied, at) = (place.end, place.end);
            }
            None => at += 1,
        }
    }
    match clean {
        Some(mut clean) => {
            clean.extend_from_slice(&text[copied..]);
            Cow::Owned(clean)
        }
        None => Cow::Borrowed(text),
    }
}

/// What begins at `at`, or, for an address, surrounds it. Nothing before `from` is looked at again.
fn found_at(text: &[u8], at: usize, from: usize) -> Option<(Range<usize>, &'static str)> {
    let alone = at == 0 || !WORD.has(text[at - 1]);
    match text[at] {
        b'@' => email(text, at, from).map(|place| (place, "email")),
        b'+' if alone => phone(&text[at..], is_line_start(text, at)).map(|len| (at..at + len, "phone")),
        b'A'..=b'Z' if alone => iban(&text[at..]).map(|len| (at..at + len, "iban")),
        b'2'..=b'6' if alone && !(at > 0 && b".-+".contains(&text[at - 1])) => {
            card(&text[at..]).map(|len| (at..at + len, "card"))
        }
        _ => None,
    }
}

fn is_line_start(text: &[u8], at: usize) -> bool {
    at == 0 || text[at - 1] == b'\n'
}

fn email(text: &[u8], at: usize, from: usize) -> Option<Range<usize>> {
    let before = &text[from..at];
    let local = before.iter().rev().take(LONGEST_LOCAL).take_while(|byte| LOCAL.has(**byte) || **byte >= 0x80).count();
    let domain = DOMAIN.run(&text[at + 1..], LONGEST_DOMAIN);
    let domain = &text[at + 1..at + 1 + domain];
    let domain = &domain[..domain.len() - domain.iter().rev().take_while(|byte| b".-".contains(byte)).count()];
    let top = domain.rsplit(|byte| *byte == b'.').next()?;
    let named = domain.contains(&b'.') && top.len() >= 2 && top.iter().all(u8::is_ascii_alphabetic);
    // Whoever logs in as `git` is no person.
    let person = local > 0 && !matches!(&before[before.len() - local..], b"git" | b"hg");
    (named && person).then(|| at - local..at + 1 + domain.len())
}

/// `+` and 8 to 15 digits, with single separators. A line of a diff also begins with `+`: there separators are needed.
fn phone(text: &[u8], starts_line: bool) -> Option<usize> {
    if !text.get(1).is_some_and(|first| (b'1'..=b'9').contains(first)) {
        return None;
    }
    let (mut digits, mut end, mut gap, mut separators) = (0, 0, 0, 0);
    for (at, byte) in text.iter().enumerate().skip(1) {
        match byte {
            b'0'..=b'9' => (digits, end, gap) = (digits + 1, at + 1, 0),
            b' ' | b'-' | b'.' | b'(' | b')' | b'/' if gap < 2 => (gap, separators) = (gap + 1, separators + 1),
            _ => break,
        }
        if digits > 15 {
            return None;
        }
    }
    let followed = text.get(end).is_some_and(|next| WORD.has(*next));
    (digits >= 8 && !followed && (!starts_line || separators > 1)).then_some(end)
}

/// Letters and digits with single blanks between groups, up to `most` of them. Gives them and where they end.
fn grouped(text: &[u8], most: usize, member: fn(&u8) -> bool, separators: &[u8]) -> (Vec<u8>, usize) {
    let (mut members, mut end) = (Vec::with_capacity(most), 0);
    for (at, byte) in text.iter().enumerate() {
        let between = separators.contains(byte) && at > 0 && member(&text[at - 1]);
        if member(byte) && members.len() < most {
            members.push(*byte);
            end = at + 1;
        } else if !between {
            break;
        }
    }
    (members, end)
}

fn iban(text: &[u8]) -> Option<usize> {
    let country = text.get(..2)?;
    let (_, len) = IBANS.iter().find(|(code, _)| code.as_slice() == country)?;
    let member = |byte: &u8| byte.is_ascii_uppercase() || byte.is_ascii_digit();
    let (number, end) = grouped(text, *len, member, b" ");
    let whole = number.len() == *len && !text.get(end).is_some_and(|next| WORD.has(*next));
    (whole && number[2..4].iter().all(u8::is_ascii_digit) && mod97(&number) == 1).then_some(end)
}

/// The checksum of ISO 7064: the first four characters moved to the end, letters as numbers from 10.
fn mod97(number: &[u8]) -> u32 {
    number[4..].iter().chain(&number[..4]).fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from(byte - b'A') + 10) % 97,
    })
}

/// 14 to 16 digits of a network's range, alone or in groups, with the right checksum.
fn card(text: &[u8]) -> Option<usize> {
    let (digits, end) = grouped(text, 20, u8::is_ascii_digit, b" -");
    let known = matches!(
        (digits.len(), digits.get(..2)?),
        (14, [b'3', b'6' | b'8'])
            | (15, [b'3', b'4' | b'7'])
            | (16, [b'4' | b'5', _] | [b'6', b'0' | b'2' | b'4' | b'5'] | [b'2', b'2'..=b'7'])
    );
    let followed = text.get(end).is_some_and(|next| WORD.has(*next) || *next == b'.');
    (known && !followed && luhn(&digits) && crate::randomness::distinct(&digits) > 2).then_some(end)
}

fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(at, digit)| {
            let value = u32::from(digit - b'0') << (at % 2);
            if value > 9 { value - 9 } else { value }
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clean(text: &str) -> String {
        String::from_utf8(redact_personal(text.as_bytes()).into_owned()).unwrap()
    }

    #[test]
    fn personal_data_is_taken_out() {
        let cases = [
            ("mail to mira.k+x@mail.example.org now", "mail to [redacted email] now"),
            ("<a@b.io>", "<[redacted email]>"),
            ("call +49 (0)170 123 45 67, please", "call [redacted phone], please"),
            ("tel:+15550123456", "tel:[redacted phone]"),
            ("IBAN DE89 3704 0044 0532 0130 00.", "IBAN [redacted iban]."),
            ("GB82WEST12345698765432", "[redacted iban]"),
            ("card 4111 1111 1111 1234", "card 4111 1111 1111 1234"),
            ("card 5105-1051-0510-5100!", "card [redacted card]!"),
        ];
        for (text, expected) in cases {
            assert_eq!(clean(text), expected, "{text}");
        }
    }

    #[test]
    fn what_only_looks_alike_stays() {
        for text in [
            "git@github.com:a/b.git",
            "serde@1.0.2",
            "@scope/name",
            "DE89370400440532013001",
            "+1234567890 added",
            "a+12345678901",
            "1700000000000000000",
            "x = 4.5105105105105100",
            "+0200",
            "2026-11-16T04:20:32+02:00",
        ] {
            assert_eq!(clean(text), text);
        }
    }

    #[test]
    fn redacting_twice_changes_nothing() {
        let once = clean("a@b.io +49 170 1234567 DE89370400440532013000 5105105105105100 a@b.io@c.de");
        assert_eq!(clean(&once), once);
    }
}
