//! Secrets that are known by the form of a whole line: `curl -u user:password`, lines of a `.pgpass`.

use crate::boundary::{line_around, line_end};
use crate::class::Class;
use crate::hit::{Hit, Special};
use crate::placeholder::is_placeholder;

pub(crate) const COMMAND_ANCHOR: &str = "curl ";
pub(crate) const PGPASS_ANCHORS: &[&str] = &[":5432:", ":*:"];

/// Commands are cut by people, lines of settings are short.
const REACH: usize = 512;
/// What is printable, but no quote and no back quote, which end a command in prose.
const BARE: Class = Class::of("!#-&(-_a-~");

/// `curl … -u user:password`. Says also how far it looked, so that no line is searched again and again.
pub(crate) fn command(text: &[u8], at: usize) -> (usize, Option<Hit>) {
    let end = line_end(text, at, REACH);
    let switch = [&b" -u "[..], b" --user ", b" -u", b" --user="]
        .iter()
        .find_map(|switch| memchr::memmem::find(&text[at..end], switch).map(|found| at + found + switch.len()));
    (end, switch.and_then(|from| user_and_password(text, from, end)))
}

fn user_and_password(text: &[u8], from: usize, end: usize) -> Option<Hit> {
    let quote = text.get(from).copied().filter(|byte| b"\"'".contains(byte));
    let start = from + usize::from(quote.is_some());
    let len = match quote {
        Some(quote) => memchr::memchr(quote, &text[start..end])?,
        None => BARE.run(&text[start..end], REACH),
    };
    let given = &text[start..start + len];
    let colon = memchr::memchr(b':', given)?;
    let (user, password) = (&given[..colon], &given[colon + 1..]);
    let plain =
        !user.is_empty() && password.len() >= 3 && password.iter().all(u8::is_ascii_graphic) && !user.contains(&b'/');
    let variable = password.starts_with(b"$") || password.contains(&b'{') || is_placeholder(password);
    (plain && !variable && user != password)
        .then(|| Hit::special(Special::CommandPassword, from, start + colon + 1..start + len))
}

/// `host:5432:database:user:password`, the whole line. Says also how far it looked.
pub(crate) fn pgpass(text: &[u8], at: usize) -> (usize, Option<Hit>) {
    let line = line_around(text, at, REACH);
    (
        line.end,
        pgpass_line(&text[line.clone()]).map(|secret| {
            Hit::special(Special::PgPass, line.start, line.start + secret.start..line.start + secret.end)
        }),
    )
}

fn pgpass_line(line: &[u8]) -> Option<std::ops::Range<usize>> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let colons: Vec<usize> = memchr::memchr_iter(b':', line).collect();
    let [_, port, _, user] = colons[..] else { return None };
    let plain = line.iter().all(u8::is_ascii_graphic);
    let ports = &line[colons[0] + 1..port];
    let known_port = ports == b"*" || !ports.is_empty() && ports.iter().all(u8::is_ascii_digit);
    let password = &line[user + 1..];
    (plain && known_port && password.len() >= 4 && !is_placeholder(password)).then_some(user + 1..line.len())
}
