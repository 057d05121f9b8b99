//! The contents of files that an action names by digest: as text to read, compare and change, and back to the store.

use std::fs;

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::proposal::{FileOperand, Proposal};
use placet_wire::Client;
use placet_wire::api::ActionDetail;
use placet_wire::endpoint::{FetchEvidence, StoreEvidence};
use serde_json::{Map, Value, json};

use crate::changes;
use crate::error::CliError;

/// A longer text is no text to edit or compare by the way: it is named by its digest.
const LONGEST_TEXT_BYTES: u64 = 64 * 1024;

/// A file as a reviewer wrote it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Content {
    path: String,
    bytes: Bytes,
}

/// A file as a reviewer may change it: with its text, if it is one.
pub(super) async fn with_text(client: &Client, detail: &ActionDetail, file: &FileOperand) -> Result<Value, CliError> {
    Ok(match text(client, detail, file).await? {
        Some(text) => json!({ "path": file.path, "text": text }),
        None => json!(file),
    })
}

async fn text(client: &Client, detail: &ActionDetail, file: &FileOperand) -> Result<Option<String>, CliError> {
    if file.size_bytes > LONGEST_TEXT_BYTES {
        return Ok(None);
    }
    let bytes = client.get_bytes(FetchEvidence { project: detail.action.project, digest: file.digest }).await?;
    Ok(String::from_utf8(bytes.to_vec()).ok())
}

/// Puts digests in the place of contents, and gives the contents. `text` is the content itself, `from` names a file.
pub(super) fn take(changes: &mut Map<String, Value>) -> Result<Vec<Content>, CliError> {
    let Some(Value::Array(files)) = changes.get_mut("files") else { return Ok(Vec::new()) };
    let mut contents = Vec::new();
    for file in files {
        let Some(bytes) = given(file)? else { continue };
        let path = file["path"].as_str().unwrap_or_default().to_owned();
        *file = json!({ "path": path, "digest": Digest::of(&bytes), "size_bytes": bytes.len() });
        contents.push(Content { path, bytes });
    }
    Ok(contents)
}

fn given(file: &Value) -> Result<Option<Bytes>, CliError> {
    match (file["text"].as_str(), file["from"].as_str()) {
        (Some(text), None) => Ok(Some(Bytes::from(text.to_owned()))),
        (None, Some(from)) => {
            let bytes = fs::read(from).map_err(|error| CliError::failed(format!("`{from}`: {error}")))?;
            Ok(Some(Bytes::from(bytes)))
        }
        (None, None) => Ok(None),
        (Some(_), Some(_)) => Err(CliError::usage("a file has either `text` or `from`, not both")),
    }
}

pub(super) async fn upload(client: &Client, detail: &ActionDetail, contents: Vec<Content>) -> Result<(), CliError> {
    for Content { bytes, .. } in contents {
        let stored = StoreEvidence { project: detail.action.project, digest: Digest::of(&bytes) };
        client.put_bytes(stored, bytes).await?;
    }
    Ok(())
}

/// What the reviewer changed within files that the proposal has too, line by line.
pub(super) async fn lines_within(
    client: &Client,
    detail: &ActionDetail,
    before: &Proposal,
    contents: &[Content],
) -> Result<Vec<String>, CliError> {
    let mut lines = Vec::new();
    for Content { path, bytes } in contents {
        let Some(old) = before.files.iter().find(|file| file.path == *path) else { continue };
        let Ok(new) = std::str::from_utf8(bytes) else { continue };
        let old = text(client, detail, old).await?.unwrap_or_default();
        lines.extend(changes::within_file(path, &old, new));
    }
    Ok(lines)
}

/// The same between two sealed actions.
pub(super) async fn changed_lines(
    client: &Client,
    before: &ActionDetail,
    after: &ActionDetail,
) -> Result<Vec<String>, CliError> {
    let mut lines = Vec::new();
    for new in &after.spec.files {
        let was = before.spec.files.iter().find(|old| old.path == new.path && old.digest != new.digest);
        let Some(old) = was else { continue };
        if let (Some(old), Some(text)) = (text(client, before, old).await?, text(client, after, new).await?) {
            lines.extend(changes::within_file(&new.path, &old, &text));
        }
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(files: Value) -> Map<String, Value> {
        json!({ "files": files }).as_object().unwrap().clone()
    }

    #[test]
    fn b4_texts_become_digests_and_other_files_stay() {
        let kept = json!({ "path": "k", "digest": Digest::of(b"k"), "size_bytes": 1 });
        let mut changes = files(json!([kept, { "path": "a", "text": "hi" }]));
        let content = Content { path: "a".to_owned(), bytes: Bytes::from("hi") };
        assert_eq!(take(&mut changes).unwrap(), [content]);
        assert_eq!(changes["files"], json!([kept, { "path": "a", "digest": Digest::of(b"hi"), "size_bytes": 2 }]));
    }

    #[test]
    fn b4_a_file_with_two_contents_is_refused() {
        let mut both = files(json!([{ "path": "a", "text": "hi", "from": "b" }]));
        assert!(take(&mut both).unwrap_err().message.contains("not both"));
    }
}
