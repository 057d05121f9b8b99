//! Private keys in frames: PEM, OpenSSH, PGP, SSH2 and PuTTY. They may span lines, or lie in one line with `\n`.

use std::ops::Range;

use crate::class::Class;
use crate::hit::{Hit, Special};
use crate::randomness::bits_per_byte;

/// Longer than a key of 16384 bits.
pub(crate) const LONGEST_BLOCK: usize = 16 * 1024;
/// Fewer characters hold no key: the shortest, of Ed25519, has 64.
const SHORTEST_BODY: usize = 60;
/// Enough for `-----BEGIN PGP PRIVATE KEY BLOCK-----` and anything like it.
const LONGEST_LABEL: usize = 48;

pub(crate) const ANCHORS: &[&str] = &["-BEGIN ", "- BEGIN ", "PuTTY-User-Key-File-"];

const BODY: Class = Class::of("A-Za-z0-9+/=");

/// A private key whose frame has `at` in its first line. `None` is also given for certificates and public keys.
pub(crate) fn find(text: &[u8], at: usize) -> Option<Hit> {
    let within = &text[..text.len().min(at + LONGEST_BLOCK)];
    let secret = if text[at] == b'-' { framed(within, at) } else { putty(within, at) }?;
    Some(Hit::special(Special::PrivateKey, secret.start, secret))
}

fn framed(text: &[u8], at: usize) -> Option<Range<usize>> {
    let label = &text[at..text.len().min(at + LONGEST_LABEL)];
    let key = memchr::memmem::find(label, b"PRIVATE KEY")?;
    let head = at + key + memchr::memmem::find(&text[at + key..text.len().min(at + key + 24)], b"--")?;
    let body = head + const { Class::of("-") }.run(&text[head..], 8);
    let inside = before_next(&text[body..], b"BEGIN ");
    let len = memchr::memmem::find(inside, b"---").unwrap_or_else(|| open_end(inside));
    if !is_key_material(&inside[..len]) {
        return None;
    }
    let end = body + len;
    Some(at - const { Class::of("-") }.run_back(&text[..at], 8)..end + footer(&text[end..]))
}

/// A frame never reaches into the next one. This also keeps the search linear where frames are many and never closed.
fn before_next<'t>(text: &'t [u8], anchor: &[u8]) -> &'t [u8] {
    memchr::memmem::find(text, anchor).map_or(text, |next| &text[..next])
}

/// The frame was cut off: what looks like a body is one.
fn open_end(text: &[u8]) -> usize {
    text.iter().position(|byte| !BODY.has(*byte) && !b"\r\n\t \\\"'+,-:".contains(byte)).unwrap_or(text.len())
}

/// `-----END RSA PRIVATE KEY-----`, if it is there.
fn footer(text: &[u8]) -> usize {
    let line = &text[..text.len().min(2 * LONGEST_LABEL)];
    let dashes = const { Class::of("-") }.run(line, 8);
    let rest = &line[dashes..];
    match rest.trim_ascii_start().starts_with(b"END ").then(|| memchr::memmem::find(rest, b"--")).flatten() {
        Some(label) => dashes + label + const { Class::of("-") }.run(&rest[label..], 8),
        None => 0,
    }
}

/// Enough of it, varied as a key is, and hardly anything else. Headers inside (`Proc-Type: …`) are tolerated.
fn is_key_material(body: &[u8]) -> bool {
    let material: Vec<u8> = body.iter().copied().filter(|byte| BODY.has(*byte)).collect();
    let foreign = body.len() - material.len();
    let framing = body.iter().filter(|byte| b"\r\n\t \\\"'+,#*/|:.-".contains(byte)).count();
    let dots = body.windows(3).any(|three| three == b"...");
    material.len() >= SHORTEST_BODY
        && bits_per_byte(&material) >= 4.0
        && foreign - framing.min(foreign) <= body.len() / 10
        && !dots
}

fn putty(text: &[u8], at: usize) -> Option<Range<usize>> {
    let inside = before_next(&text[at + 1..], b"PuTTY-User-Key-File-");
    let lines = memchr::memmem::find(inside, b"Private-Lines")?;
    let end = memchr::memmem::find(&inside[lines..], b"Private-MAC").map_or(inside.len(), |len| lines + len);
    let line_end = crate::boundary::line_end(inside, end, 128);
    is_key_material(&inside[lines..end]).then_some(at..at + 1 + line_end)
}

/// Where the last frame begins that has not ended, so that a stream waits for the rest of it.
pub(crate) fn open_at(text: &[u8]) -> Option<usize> {
    let begin = memchr::memmem::rfind(text, b"-BEGIN ").max(memchr::memmem::rfind(text, b"PuTTY-User-Key-File-"))?;
    let ended = [&b"-END "[..], b"Private-MAC"].iter().any(|end| memchr::memmem::find(&text[begin..], end).is_some());
    let start = crate::boundary::line_start(text, begin, LONGEST_BLOCK);
    let private = memchr::memmem::find(&text[begin..], b"PRIVATE KEY").is_some() || text[begin] == b'P';
    (!ended && private).then_some(start)
}
