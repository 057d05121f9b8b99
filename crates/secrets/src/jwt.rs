//! JSON web tokens: the first part must decode to a header that names an algorithm.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

/// Headers are short; a longer one is something else.
const LONGEST_HEADER: usize = 1024;

pub(crate) fn is_jwt(token: &[u8]) -> bool {
    let first = token.split(|byte| *byte == b'.').next().unwrap_or_default();
    let header = (first.len() <= LONGEST_HEADER).then(|| URL_SAFE_NO_PAD.decode(first).ok()).flatten();
    header.is_some_and(|header| header.starts_with(b"{") && memchr::memmem::find(&header, b"\"alg\"").is_some())
}
