//! Passwords and tokens in addresses: `scheme://user:password@host`, `https://token@host`.

use crate::class::Class;
use crate::context::value::is_random;
use crate::hit::{Hit, Special};
use crate::placeholder::is_placeholder;

pub(crate) const ANCHOR: &str = "://";

/// Longer user parts do not occur.
const LONGEST_USERINFO: usize = 512;
const SCHEME: Class = Class::of("A-Za-z0-9+.-");
/// What ends a user part before it is one.
const STOP: Class = Class::of(" \t\r\n\"'`<>\\|^(");

/// What stands between `://` (at `at`) and `@`.
pub(crate) fn find(text: &[u8], at: usize) -> Option<Hit> {
    let start = at + ANCHOR.len();
    let context = at - SCHEME.run_back(&text[..at], 24);
    let userinfo = userinfo(&text[start..])?;
    if context == at {
        return None;
    }
    match memchr::memchr(b':', userinfo) {
        Some(colon) => password(userinfo, colon).then(|| {
            let secret = start + colon + 1..start + userinfo.len();
            Hit::special(Special::AddressPassword, context, secret)
        }),
        None => is_token(userinfo).then(|| Hit::special(Special::AddressToken, context, start..start + userinfo.len())),
    }
}

/// Up to the last `@` before the path, but a slash after the colon may belong to a password.
fn userinfo(text: &[u8]) -> Option<&[u8]> {
    let within = &text[..text.len().min(LONGEST_USERINFO)];
    let slash = memchr::memchr2(b'/', b'?', within).unwrap_or(within.len());
    let stop = within[..slash].iter().position(|byte| STOP.has(*byte)).unwrap_or(slash);
    let end = memchr::memrchr(b'@', &within[..stop])?;
    (end > 0).then(|| &within[..end])
}

fn password(userinfo: &[u8], colon: usize) -> bool {
    let (user, password) = (&userinfo[..colon], &userinfo[colon + 1..]);
    let same = user.eq_ignore_ascii_case(password);
    let plain = password.iter().all(|byte| byte.is_ascii_graphic());
    let word = [
        "x-oauth-basic",
        "x-access-token",
        "oauth2accesstoken",
        "mongo",
        "redis",
        "mysql",
        "postgres",
        "rabbitmq",
        "admin",
        "root",
    ];
    let known = word.iter().any(|word| word.as_bytes() == password);
    let variable = matches!(password, [b'$' | b'{' | b'%' | b'*' | b'#' | b'[', ..]) || password.contains(&b'{');
    password.len() >= 3 && plain && !same && !known && !variable && !is_placeholder(password)
}

/// The whole user part is a secret: `https://k3Jd9s…@host`.
fn is_token(user: &[u8]) -> bool {
    user.len() >= 20 && is_random(user, 20) && !is_placeholder(user)
}
