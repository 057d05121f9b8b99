//! Tokens of services that no rule knows: a short prefix, a separator, and a long random part, as in `acme_live_…`.
//!
//! Only what mixes upper case, lower case and digits counts. Digests, names of chunks and identifiers do not, and some
//! tokens in small letters are missed for that.

use std::ops::Range;

use crate::boundary;
use crate::class::Class;
use crate::hit::{Hit, Special};
use crate::placeholder::is_sample_token;
use crate::randomness::{bits_per_byte, wordy_share};

const SHORTEST_TAIL: usize = 24;
const LONGEST_TOKEN: usize = 300;
/// A vendor, an environment, a version.
const MOST_PARTS: usize = 4;
const PREFIX: Class = Class::of("a-z0-9");

/// The run as a token, if it is one.
pub(crate) fn find(text: &[u8], run: Range<usize>) -> Option<Hit> {
    let token = &text[run.clone()];
    let tail = token.len() - tail(token)?;
    let shaped = token.len() <= LONGEST_TOKEN && boundary::begins(text, run.start) && is_prefix(&token[..tail]);
    let digest = [&b"sha256="[..], b"sha256:", b"sha512=", b"sha512:", b"sha1=", b"sha384=", b"md5="];
    if digest.iter().any(|name| text[..run.start].ends_with(name)) {
        return None;
    }
    let last = text.get(run.end).is_none_or(|next| !b".([{=".contains(next));
    (shaped && last && is_random(&token[tail..]) && !is_sample_token(token))
        .then(|| Hit::special(Special::PrefixedToken, run.start, run))
}

/// How long the part behind the last separator is, if it is long enough.
fn tail(token: &[u8]) -> Option<usize> {
    let len = token.iter().rev().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    (len >= SHORTEST_TAIL && len < token.len() && !token.contains(&b'/') && !token.contains(&b'+')).then_some(len)
}

/// `acme_`, `acme-live-`, `acme_v1_`: small parts of letters and digits that begin with a letter.
fn is_prefix(prefix: &[u8]) -> bool {
    let parts: Vec<&[u8]> = prefix.split(|byte| b"_-".contains(byte)).collect();
    let named = parts[..parts.len() - 1]
        .iter()
        .all(|part| (1..=12).contains(&part.len()) && part.iter().all(|byte| PREFIX.has(*byte)));
    let hashed =
        [&b"sha"[..], b"md5", b"ssh", b"chunk", b"index", b"blake"].iter().any(|known| prefix.starts_with(known));
    named && parts.len() <= MOST_PARTS && prefix[0].is_ascii_lowercase() && parts[0].len() >= 2 && !hashed
}

fn is_random(tail: &[u8]) -> bool {
    let has = |test: fn(&u8) -> bool, least: usize| tail.iter().filter(|byte| test(byte)).count() >= least;
    has(u8::is_ascii_uppercase, 3)
        && has(u8::is_ascii_lowercase, 3)
        && has(u8::is_ascii_digit, 2)
        && bits_per_byte(tail) >= 3.8
        && wordy_share(tail) < 0.3
}
