//! Reads heads and keys back from files. Accepts every form in which a command prints them, because people keep them with `placet ledger
//! head > FILE`.

use std::path::Path;

use placet_ledger::{HeadError, NoteError, SignedTreeHead, VerifierKey};

use crate::error::{CliError, Code};
use crate::home::read;

/// Reads a kept head and checks its signature. A file without a head is a usage error; only a head with a wrong signature is a sign of
/// tampering.
pub(super) fn known_head(path: &Path, key: &VerifierKey) -> Result<SignedTreeHead, CliError> {
    signed_head(&note_in(&read(path)?), key, path)
}

/// Checks the signature of a head read from this file.
pub(super) fn signed_head(note: &str, key: &VerifierKey, path: &Path) -> Result<SignedTreeHead, CliError> {
    let unusable = |error: HeadError| match error {
        HeadError::Note(NoteError::BadSignature { .. }) => {
            let message = format!("the head in `{}` was changed after it was signed: {error}", path.display());
            CliError::new(Code::Integrity, message)
        }
        HeadError::Form
        | HeadError::Line { .. }
        | HeadError::EmptyRoot
        | HeadError::OtherOrigin { .. }
        | HeadError::Note(_) => CliError::usage(format!("`{}` holds no head of this ledger: {error}", path.display()))
            .hint("give a file that `placet ledger head` wrote, and the key of the same ledger"),
    };
    SignedTreeHead::verify(note.as_bytes(), key).map_err(unusable)
}

/// Extracts the signed note from a file: alone, as JSON of `ledger head` or `ledger cosign`, or followed by a line with the key, as older
/// versions printed it.
fn note_in(text: &str) -> String {
    if let Some(note) = field(text, "note") {
        return note;
    }
    let note = text.find("\n\nkey ").and_then(|end| text.get(..=end)).unwrap_or(text);
    note.to_owned()
}

/// Extracts the verifier key from a file: alone, as JSON of `ledger head`, `ledger export` or `ledger cosign` (there, the witness's key),
/// or on a line `key …`.
pub(super) fn key_in(text: &str) -> String {
    let line = || text.lines().find_map(|line| line.strip_prefix("key ")).map(ToOwned::to_owned);
    field(text, "key").or_else(|| field(text, "witness")).or_else(line).unwrap_or_else(|| text.to_owned())
}

/// Reads a string field of a JSON object; `None` if the text is not JSON or the field is missing.
fn field(text: &str, name: &str) -> Option<String> {
    let object: serde_json::Value = serde_json::from_str(text).ok()?;
    object.get(name)?.as_str().map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTE: &str = "placet/x\n3\nAAAA\n\n— placet/x BBBB\n";

    #[test]
    fn kept_head_is_found_in_all_forms() {
        let json = serde_json::json!({ "note": NOTE, "key": "placet/x+1+C" }).to_string();
        for text in [NOTE.to_owned(), json.clone(), format!("{NOTE}\nkey placet/x+1+C\n")] {
            assert_eq!(note_in(&text), NOTE, "{text}");
        }
        for text in ["placet/x+1+C".to_owned(), json, format!("{NOTE}\nkey placet/x+1+C\n")] {
            assert_eq!(key_in(&text).trim(), "placet/x+1+C", "{text}");
        }
    }
}
