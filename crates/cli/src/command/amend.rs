//! `placet approve --edit` and `--with`: approves something else in the place of what was proposed.
//!
//! What can be changed is shown as JSON, with the text of files in it; what was changed is shown once more, field by field,
//! before anything is sent. Files are uploaded only after the yes. Whatever goes wrong after an edit, the edited text is kept.

use std::fs;
use std::io::{IsTerminal as _, Read as _};
use std::path::PathBuf;

use placet_domain::canonical;
use placet_domain::proposal::Proposal;
use placet_wire::Client;
use placet_wire::api::{ActionDetail, ActionView, AmendmentRequest};
use placet_wire::endpoint::AmendAction;
use serde_json::{Map, Value, json};

use super::approve::Looked;
use super::content;
use super::editor::Draft;
use super::word::{Asks, agree};
use crate::card::card;
use crate::changes;
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled};

/// Where the changes come from.
#[derive(Debug)]
pub(super) enum Source {
    Editor,
    File(PathBuf),
    Stdin,
}

/// An amendment as somebody asked for it.
#[derive(Debug)]
pub(super) struct Wanted {
    pub(super) source: Source,
    pub(super) reason: String,
    pub(super) seen: Option<String>,
    /// What is asked before it is sent.
    pub(super) asks: Asks,
}

pub(super) async fn amend(client: &Client, looked: &Looked, wanted: Wanted, out: &Out) -> Result<ActionView, CliError> {
    let view = match &wanted.source {
        Source::Editor => edited(client, looked, &wanted).await?,
        Source::File(path) => {
            let text = fs::read(path).map_err(|error| CliError::failed(format!("`{}`: {error}", path.display())))?;
            submit(client, looked, &wanted, read_object(&text)?).await?
        }
        Source::Stdin => {
            let mut text = Vec::new();
            std::io::stdin().read_to_end(&mut text)?;
            submit(client, looked, &wanted, read_object(&text)?).await?
        }
    };
    out.note(&whose_yes(&view));
    Ok(view)
}

/// Lets somebody edit the changeable part, and keeps what they wrote until it has arrived.
async fn edited(client: &Client, looked: &Looked, wanted: &Wanted) -> Result<ActionView, CliError> {
    if !std::io::stdin().is_terminal() {
        return Err(CliError::usage("there is no terminal to edit in")
            .hint("write the changed fields to a file and give --with FILE"));
    }
    let before = part(client, &looked.detail).await?;
    let draft = Draft::of(&serde_json::to_string_pretty(&before).unwrap_or_default())?;
    let sent = async {
        let changes = changed_fields(&before, &read_object(&draft.edit().await?)?);
        if changes.is_empty() {
            return Ok(None);
        }
        submit(client, looked, wanted, changes).await.map(Some)
    };
    match sent.await {
        Ok(Some(view)) => Ok(view),
        Ok(None) => Err(unchanged()),
        Err(error) => {
            let kept = draft.keep();
            let again =
                format!("your text is kept: placet approve {} --with {kept} --reason TEXT", looked.detail.action.id);
            Err(error.hint(again))
        }
    }
}

/// What a reviewer may change, with the text of its files where they are text.
async fn part(client: &Client, detail: &ActionDetail) -> Result<Map<String, Value>, CliError> {
    let proposal = proposal(detail)?;
    let mut part = json!({ "tool": proposal.tool, "arguments": proposal.arguments, "target": proposal.target });
    part["environment"] = json!(proposal.environment);
    part["files"] = Value::Array(Vec::new());
    part["outputs"] = json!(proposal.outputs);
    part["timeout_ms"] = json!(proposal.timeout_ms);
    let mut files = Vec::new();
    for file in &proposal.files {
        files.push(content::with_text(client, detail, file).await?);
    }
    part["files"] = Value::Array(files);
    Ok(part.as_object().cloned().unwrap_or_default())
}

fn proposal(detail: &ActionDetail) -> Result<&Proposal, CliError> {
    detail.proposal.as_ref().ok_or_else(|| {
        CliError::new(Code::Conflict, "its tool was changed since; it cannot be amended")
            .hint("reject it with `placet reject ID --reason TEXT`")
    })
}

fn read_object(text: &[u8]) -> Result<Map<String, Value>, CliError> {
    let bad = |why: String| CliError::usage(format!("the changes are not a JSON object: {why}"));
    match canonical::parse(text).map_err(|error| bad(error.to_string()))? {
        Value::Object(fields) => Ok(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(bad("write fields of the proposal in braces".to_owned()))
        }
    }
}

/// The fields that differ; what was taken out of the text is taken away.
fn changed_fields(before: &Map<String, Value>, after: &Map<String, Value>) -> Map<String, Value> {
    let gone = before.iter().filter(|(name, value)| !after.contains_key(*name) && !value.is_null());
    let gone = gone.map(|(name, _)| (name.clone(), Value::Null));
    let changed = after.iter().filter(|(name, value)| before.get(*name) != Some(value));
    changed.map(|(name, value)| (name.clone(), value.clone())).chain(gone).collect()
}

async fn submit(
    client: &Client,
    looked: &Looked,
    wanted: &Wanted,
    mut changes: Map<String, Value>,
) -> Result<ActionView, CliError> {
    let detail = &looked.detail;
    let contents = content::take(&mut changes)?;
    let before = proposal(detail)?;
    let after = before.with(&changes).map_err(|bad| CliError::usage(bad.to_string()))?;
    let mut lines = changes::between(before, &after);
    if lines.is_empty() {
        return Err(unchanged());
    }
    if wanted.asks != Asks::Nothing {
        lines.extend(content::lines_within(client, detail, before, &contents).await?);
        let (card, lines) = (card(detail, looked.before.as_ref()), lines.join("\n"));
        let shown = format!("{card}\n{}\n{lines}", styled(BOLD, "Your changes"));
        agree(&wanted.asks, &shown, "approve with these changes?").await?;
    }
    content::upload(client, detail, contents).await?;
    let seen = wanted.seen.clone().unwrap_or_else(|| detail.action.review.to_string());
    let amendment = AmendmentRequest { changes, reason: wanted.reason.clone() };
    Ok(client.post_if(AmendAction { action: detail.action.id }, seen, &amendment).await?)
}

fn unchanged() -> CliError {
    CliError::new(Code::Waiting, "nothing was changed; it still waits")
        .hint("approve it as it is with `placet approve ID`")
}

fn whose_yes(view: &ActionView) -> String {
    let no_riskier = view.amendment.as_ref().is_some_and(|amendment| amendment.no_riskier);
    match (no_riskier, view.approvals_missing) {
        (_, 0) => "amended and approved; what was proposed can never run".to_owned(),
        (true, missing) => format!("amended; your yes counts, {missing} more needed"),
        (false, _) => {
            "amended; it is riskier than what was proposed, or another tool: somebody else must approve it".to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(json: Value) -> Map<String, Value> {
        json.as_object().unwrap().clone()
    }

    #[test]
    fn b4_only_what_was_edited_is_sent_and_what_was_deleted_is_taken_away() {
        let before = object(json!({ "tool": "sh", "arguments": ["a"], "target": null, "outputs": ["o"] }));
        let after = object(json!({ "tool": "sh", "arguments": ["b"] }));
        assert_eq!(changed_fields(&before, &after), object(json!({ "arguments": ["b"], "outputs": null })));
        assert!(changed_fields(&before, &before).is_empty());
    }

    #[test]
    fn b4_changes_that_mean_two_things_are_refused() {
        for text in [r#"{"tool": "sh", "tool": "rm"}"#, "[]", "", "{"] {
            assert_eq!(read_object(text.as_bytes()).unwrap_err().code, Code::Usage, "{text}");
        }
    }
}
