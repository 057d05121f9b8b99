//! What stands where a secret would stand, and evidently is none: samples, templates, references, masks.
//!
//! Everything here errs on the side of caution: only what is clearly no secret is let go.

use std::collections::HashSet;
use std::sync::OnceLock;

use aho_corasick::AhoCorasick;

use crate::boundary::contains_ignoring_case;
use crate::randomness;

/// Values that somebody wrote to be replaced, or that only say what belongs there. Compared without separators, digits
/// at the end and case.
const DUMMIES: &str = "
    abc abcd abcde abcdef access accesskey accesstoken admin apikey apitoken asdf auth authtoken bar baz bearer
    blank changeit changeme client clientsecret credential credentials db default demo disabled dummy empty enabled
    example fake false foo foobar guest hidden hunter invalid key login masked missing mock mykey mypass mypassword
    mysecret mytoken na newpassword nil none null oldpassword pass passphrase passwd password passwort pwd qwerty
    redacted required sample secret secretkey somepassword somesecret sometoken somevalue string supersecret temp
    test testing testkey testpass testpassword testsecret testtoken text tmp tobechanged todo token topsecret true
    undefined unknown unset user username value yourpassword wrong wrongpassword badpassword
    correcthorsebatterystaple letmein thisisasecret notasecret notarealkey verysecret keyboardcat opensesame
    swordfish basic digest oauth jwt apisecret secretvalue
";

/// Parts that say: put something here, or: this is only shown.
const TELLING: &str = "
    example placeholder changeme change_me change-me changethis replace redacted insert your_ your- yourkey
    yourtoken yourpass yoursecret yourapi dummy notreal not-real not_real fake xxxx foobar mypassword mysecret lorem
    goes-here goes_here goeshere sample deadbeef test-key test_key testkey test-token test_token testtoken test-
    secret test_secret testsecret test-pass test_pass testpass notasecret
";

/// Alphabets that a hand runs along when it has to type something.
const SEQUENCES: &[&[u8]] =
    &[b"0123456789", b"1234567890", b"9876543210", b"abcdefghijklmnopqrstuvwxyz", b"qwertyuiop", b"asdfghjkl"];

/// Marks of a value that is filled in elsewhere: by a shell, a template engine, an environment, a vault.
const REFERENCES: &[&[u8]] = &[
    b"${",
    b"$(",
    b"$[",
    b"$<",
    b"{{",
    b"}}",
    b"<%",
    b"%>",
    b"%(",
    b"#{",
    b"@{",
    b"[%",
    b"{%",
    b"__PLACEHOLDER",
    b"process.env",
    b"os.environ",
    b"getenv",
    b"ENV[",
    b"env.",
    b"secretsmanager",
    b"secretKeyRef",
    b"keyvault",
    b"op://",
    b"vault://",
    b"ssm://",
    b"sops:",
    b"{0}",
    b"{1}",
    b"{}",
    b"%s",
    b"%d",
    b"%v",
    b"%@",
    b"\\(",
    b"ENC[",
    b"AQICAH",
];

fn dummies() -> &'static HashSet<&'static [u8]> {
    static DUMMY: OnceLock<HashSet<&'static [u8]>> = OnceLock::new();
    DUMMY.get_or_init(|| DUMMIES.split_whitespace().map(str::as_bytes).collect())
}

fn telling() -> &'static AhoCorasick {
    static PARTS: OnceLock<AhoCorasick> = OnceLock::new();
    PARTS.get_or_init(|| AhoCorasick::new(TELLING.split_whitespace()).expect("a few dozen words fit"))
}

fn references() -> &'static AhoCorasick {
    static MARKS: OnceLock<AhoCorasick> = OnceLock::new();
    MARKS.get_or_init(|| AhoCorasick::new(REFERENCES).expect("a few dozen marks fit"))
}

/// Whether a value that was assigned to something secret is evidently no secret.
pub(crate) fn is_placeholder(value: &[u8]) -> bool {
    is_masked(value) || is_reference(value) || is_enclosed(value) || is_dummy(value) || is_sequence(value)
}

/// Whether a token with a telling prefix is only a sample of its kind.
pub(crate) fn is_sample_token(token: &[u8]) -> bool {
    let telling =
        ["example", "xxxx", "placeholder", "redacted", "changeme", "insert", "0000000", "yourtoken", "your_", "your-"];
    is_masked(token)
        || is_run_along(token, 9)
        || telling.iter().any(|part| contains_ignoring_case(token, part.as_bytes()))
}

/// `****`, `xxxx`, `....`, or one character for most of the length.
fn is_masked(value: &[u8]) -> bool {
    let starred = value.iter().filter(|byte| b"*.#-_=+ \xe2\x80\xa2\xa6".contains(byte)).count();
    let same = longest_repetition(value);
    starred * 2 > value.len()
        || same >= 6 && same * 3 >= value.len()
        || randomness::distinct(value) <= 2
        || value.windows(3).any(|three| three == b"***")
        || value.ends_with(b"...")
}

fn longest_repetition(value: &[u8]) -> usize {
    value.chunk_by(|first, second| first == second).map(<[u8]>::len).max().unwrap_or(0)
}

fn is_reference(value: &[u8]) -> bool {
    let named = matches!(value, [b'$', next, ..] if next.is_ascii_alphabetic() || *next == b'_')
        && value[1..].iter().all(|byte| crate::class::WORD.has(*byte));
    let windows = matches!(value, [b'%', .., b'%']);
    named || windows || value.starts_with(b"!") && value.contains(&b' ') || references().is_match(value)
}

/// `<your-key>`, `[password]`, `{password}`, `(none)`, `__TOKEN__`, `@token@`.
fn is_enclosed(value: &[u8]) -> bool {
    matches!(
        value,
        [b'<', .., b'>']
            | [b'[', .., b']']
            | [b'{', .., b'}']
            | [b'(', .., b')']
            | [b'_', b'_', .., b'_', b'_']
            | [b'@', .., b'@']
    ) || value.starts_with(b"<")
        || value.starts_with(b"[redacted ")
}

fn is_dummy(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let plain: Vec<u8> = lower.iter().copied().filter(|byte| !b"-_. ".contains(byte)).collect();
    let ending = plain.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let core = &plain[..plain.len() - ending];
    (core.is_empty() && plain.len() < 6) || dummies().contains(core) || telling().is_match(&lower)
}

/// `12345678`, `abcdefgh`, `abc123`: what a hand types that has to type something.
fn is_sequence(value: &[u8]) -> bool {
    is_run_along(value, value.len().min(12)) || value.len() <= 16 && is_run_along(value, 8.min(value.len()))
}

/// Whether `len` bytes of the value lie next to each other in one of the sequences.
fn is_run_along(value: &[u8], len: usize) -> bool {
    len >= 3 && PLACES.iter().any(|places| longest_along(value, places) >= len)
}

/// Where each letter and digit stands in each sequence, from 1; 0 if it does not.
const PLACES: [[u8; 128]; SEQUENCES.len()] = {
    let (mut places, mut row) = ([[0; 128]; SEQUENCES.len()], 0);
    while row < SEQUENCES.len() {
        let mut at = 0;
        while at < SEQUENCES[row].len() {
            places[row][SEQUENCES[row][at] as usize] = at as u8 + 1;
            at += 1;
        }
        row += 1;
    }
    places
};

fn longest_along(value: &[u8], places: &[u8; 128]) -> usize {
    let (mut longest, mut run, mut last) = (0, 0, 0);
    for byte in value {
        let place = places.get(usize::from(byte.to_ascii_lowercase())).copied().unwrap_or(0);
        run = match place {
            0 => 0,
            _ if place == last + 1 => run + 1,
            _ => 1,
        };
        longest = longest.max(run);
        last = place;
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_evidently_no_secret_is_let_go() {
        let values = [
            "changeme",
            "CHANGE_ME",
            "<your-key>",
            "${DB_PASSWORD}",
            "$DB_PASSWORD",
            "{{ password }}",
            "xxxxxxxx",
            "********",
            "process.env.KEY",
            "os.environ['X']",
            "%(password)s",
            "your_api_key_here",
            "password",
            "Password1",
            "test1234",
            "12345678",
            "abcdefgh",
            "[redacted github-token]",
            "%PASSWORD%",
            "__TOKEN__",
            "........",
            "aaaaaaaa",
            "null",
            "AKIAIOSFODNN7EXAMPLE",
            "@db.password@",
            "sk-...",
            "1234",
        ];
        for value in values {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn what_could_be_a_secret_stays() {
        for value in
            ["tr0ub4dor&3", "Winter2024!", "k3Jd9sQz7Lw2", "admin!2019", "hunter2x", "s3cr3t-db", "p4ssw0rd", "8841729"]
        {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
    }
}
