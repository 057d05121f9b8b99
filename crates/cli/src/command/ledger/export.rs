//! `placet ledger export`: the whole ledger as files that anybody can verify.

use std::path::Path;

use placet_domain::canonical;
use placet_ledger::{SignedTreeHead, VerifierKey, bundle};
use placet_wire::Client;
use placet_wire::api::{EntryQuery, HeadView};
use placet_wire::endpoint::{ListEntries, ShowHead};

use super::parse_key;
use crate::command::serve::open_store;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::Out;
use crate::progress::WaitLine;

/// Reads the store of the home, while no control plane runs.
pub(super) async fn offline(dir: &Path, who: &Who, out: &Out) -> Result<(), CliError> {
    let store = open_store(&who.home()?).await?;
    let head = store.export(dir.to_owned()).await.map_err(|error| CliError::failed(error.to_string()))?;
    exported(out, dir, &head, &store.verifier().to_string());
    Ok(())
}

/// Asks the control plane.
pub(super) async fn online(dir: &Path, who: &Who, out: &Out) -> Result<(), CliError> {
    let (head, key) = export(&who.client()?, dir, out).await?;
    exported(out, dir, &head, &key.to_string());
    Ok(())
}

fn exported(out: &Out, dir: &Path, head: &SignedTreeHead, key: &str) {
    let view = serde_json::json!({ "dir": dir, "size": head.size(), "key": key });
    let dir = dir.display();
    out.answer(&view, |_| format!("{} entries in {dir}", head.size()));
    out.next(&format!("placet ledger verify {dir} --key '{key}'"));
}

/// Fetches head and entries and writes them as an export. The server is not trusted: the export is verified afterwards.
pub(crate) async fn export(client: &Client, dir: &Path, out: &Out) -> Result<(SignedTreeHead, VerifierKey), CliError> {
    let _wait = WaitLine::start(out, "fetching the ledger");
    let view: HeadView = client.get(ShowHead {}).await?;
    let key = parse_key(&view.key)?;
    let head = SignedTreeHead::verify(view.note.as_bytes(), &key);
    let head =
        head.map_err(|error| CliError::new(Code::Integrity, format!("the head is not signed by its key: {error}")))?;
    let mut entries: Vec<Vec<u8>> = Vec::new();
    while (entries.len() as u64) < head.size() {
        let query = EntryQuery { after: entries.len().checked_sub(1).map(|last| last as u64), limit: None };
        let page = client.get(ListEntries { query }).await?;
        if page.entries.is_empty() {
            return Err(CliError::new(
                Code::Refused,
                "you do not see the whole ledger; ask an auditor of all projects",
            ));
        }
        entries.extend(page.entries.iter().map(|entry| canonical::to_bytes(&entry.entry)));
    }
    let all = entries.into_iter().map(Ok::<_, std::convert::Infallible>);
    bundle::write(dir, &head, all).map_err(|error| CliError::failed(error.to_string()))?;
    Ok((head, key))
}
