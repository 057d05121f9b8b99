//! What a cage holds in the place of a credential. It is random, known to one run alone, and worth nothing elsewhere:
//! whoever sends it to the right host through the gateway has the credential put in, and anybody else has a word.

use std::fmt;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::CredentialError;

/// Enough that nobody guesses the one of another run.
const RANDOM_BYTES: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placeholder(String);

impl Placeholder {
    pub(super) fn make() -> Result<Self, CredentialError> {
        let mut bytes = [0; RANDOM_BYTES];
        SystemRandom::new().fill(&mut bytes).map_err(|_| CredentialError::NoRandomness)?;
        let mut text = "placet-run-".to_owned();
        for byte in bytes {
            write!(text, "{byte:02x}").expect("a string takes everything");
        }
        Ok(Self(text))
    }

    /// Whether the value of a header is this and nothing else: bare, after a scheme such as `Bearer` or `token`, or as one of the
    /// two parts of `Basic`.
    pub(super) fn is_value(&self, value: &[u8]) -> bool {
        let Ok(text) = std::str::from_utf8(value) else { return false };
        match text.split_once(' ') {
            None => text == self.0,
            Some((scheme, rest)) if scheme.eq_ignore_ascii_case("basic") => self.is_basic(rest.trim()),
            Some((scheme, rest)) => scheme.bytes().all(|b| b.is_ascii_alphabetic()) && rest.trim() == self.0,
        }
    }

    /// Programs put a token into either part; the other one is a name that does not matter, and is not passed on.
    fn is_basic(&self, encoded: &str) -> bool {
        let decoded = STANDARD.decode(encoded).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let parts = decoded.as_deref().and_then(|text| text.split_once(':'));
        parts.is_some_and(|(user, password)| user == self.0 || password == self.0)
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_is_known_in_every_form_in_which_programs_send_a_token() {
        let placeholder = Placeholder::make().unwrap();
        let basic = |text: String| format!("Basic {}", STANDARD.encode(text));
        for value in [
            format!("{placeholder}"),
            format!("Bearer {placeholder}"),
            format!("token {placeholder}"),
            basic(format!("x-access-token:{placeholder}")),
            basic(format!("{placeholder}:x-oauth-basic")),
            basic(format!("{placeholder}:")),
        ] {
            assert!(placeholder.is_value(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn r25_what_only_resembles_a_placeholder_is_a_strangers() {
        let (placeholder, other) = (Placeholder::make().unwrap(), Placeholder::make().unwrap());
        let basic = |text: String| format!("Basic {}", STANDARD.encode(text));
        for value in [
            format!("Bearer {other}"),
            format!("Bearer {placeholder}x"),
            format!("Bearer x{placeholder}"),
            format!("Bearer {placeholder} attacker"),
            format!("{placeholder}; session=attacker"),
            format!("Bea/rer {placeholder}"),
            basic(format!("attacker:{placeholder}x")),
            basic(format!("attacker:x:{placeholder}")),
            basic(placeholder.to_string()),
            format!("Basic {placeholder}"),
            String::new(),
        ] {
            assert!(!placeholder.is_value(value.as_bytes()), "{value}");
        }
        assert!(!placeholder.is_value(&[0xff, 0xfe]));
    }
}
