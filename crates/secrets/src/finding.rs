//! What is told of a secret: enough to find and to recognise it, and nothing of it.

use sha2::{Digest, Sha256};

/// Keeps fingerprints apart from every other SHA-256 of the same bytes.
const PURPOSE: &[u8] = b"placet secret fingerprint v1\0";
/// More of a public prefix is not needed to recognise it.
const LONGEST_SHOWN: usize = 4;

/// How the secret lay in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    Plain,
    /// Inside base64. Place and length are those of the base64.
    Base64,
}

/// A secret that was found, without the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which rule found it.
    pub rule: String,
    /// What kind of secret it is, for people.
    pub about: String,
    /// Line, from 1.
    pub line: u32,
    /// Byte in the line, from 1.
    pub column: u32,
    /// Length in bytes; a private key has several lines.
    pub len: usize,
    /// What may be shown: at most four bytes that all secrets of this kind begin with, then stars and the length.
    pub redacted: String,
    /// Names this secret under this rule without telling it: a SHA-256 with a purpose.
    pub fingerprint: [u8; 32],
    pub encoding: Encoding,
}

impl Finding {
    /// The fingerprint as an allowlist writes it.
    #[must_use]
    pub fn fingerprint_hex(&self) -> String {
        hex(&self.fingerprint)
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn fingerprint(rule: &str, secret: &[u8]) -> [u8; 32] {
    let mut hash = Sha256::new_with_prefix(PURPOSE);
    hash.update(rule.as_bytes());
    hash.update([0]);
    hash.update(secret);
    hash.finalize().into()
}

/// `ghp_**** (40 bytes)`. `prefix` is what every secret of this kind begins with.
pub(crate) fn redacted(prefix: &[u8], secret: &[u8]) -> String {
    let shown = &prefix[..prefix.len().min(LONGEST_SHOWN)];
    let shown = if secret.starts_with(shown) { String::from_utf8_lossy(shown) } else { "".into() };
    format!("{shown}**** ({} bytes)", secret.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_public_prefix_is_shown_and_never_more_than_four_bytes() {
        assert_eq!(redacted(b"abc_", b"abc_secret"), "abc_**** (10 bytes)");
        assert_eq!(redacted(b"abc_live_", b"abc_live_secret"), "abc_**** (15 bytes)");
        assert_eq!(redacted(b"", b"secret"), "**** (6 bytes)");
    }

    #[test]
    fn a_fingerprint_depends_on_rule_and_secret_and_cannot_be_shifted_between_them() {
        assert_ne!(fingerprint("a", b"bc"), fingerprint("ab", b"c"));
        assert_ne!(fingerprint("a", b"b"), fingerprint("a", b"c"));
        assert_eq!(fingerprint("a", b"b"), fingerprint("a", b"b"));
    }
}
