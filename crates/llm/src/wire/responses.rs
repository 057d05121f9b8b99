//! OpenAI Responses. `input_tokens` includes cached ones; a stream tells the tokens in its last event.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ask::{Asked, CacheWrites, Change, quoted};
use super::chat::{InDetail, OutDetail, put_out, take_in};
use super::edits::Edits;
use super::mention::mentions;
use super::object::{Object, Unreadable};
use super::priced::{model, only, without};
use super::tally::Tally;

const REFERENCES: [&str; 5] = ["input_image", "input_file", "input_audio", "file_id", "item_reference"];
/// What an upstream keeps from earlier calls goes in again and is paid again.
const KEPT: [&str; 3] = ["previous_response_id", "conversation", "prompt"];

pub(super) fn read(body: &Object) -> Result<Asked, Unreadable> {
    only(body, &["service_tier"], &["auto", "default", "flex"])?;
    // It would go on when the stream is over, and nobody would count it.
    without(body, &["background"])?;
    // Above a threshold the upstream asks a model to compact what goes in, beside the answer.
    without(body, &["context_management"])?;
    Ok(Asked {
        model: model(body)?,
        streams: body.read(&["stream"])?.unwrap_or(false),
        most_output: body.count(&["max_output_tokens"])?,
        least_output: 0,
        choices: 1,
        cache_writes: CacheWrites::Short,
        refers: names_kept(body)? || mentions(body.source(), &REFERENCES),
        wide_context: false,
        hides_usage: false,
        needs: Vec::new(),
        typed_tools: 0,
    })
}

fn names_kept(body: &Object) -> Result<bool, Unreadable> {
    let mut found = false;
    for name in KEPT {
        found |= body.has(&[name])?;
    }
    Ok(found)
}

pub(super) fn change(body: &Object, change: &Change<'_>) -> Result<Edits, Unreadable> {
    let mut edits = Edits::default();
    if let Some(model) = change.model {
        body.set("model", &quoted(model), &mut edits)?;
    }
    if let Some(most) = change.lower(body.read(&["max_output_tokens"])?) {
        body.set("max_output_tokens", &most.to_string(), &mut edits)?;
    }
    Ok(edits)
}

/// The whole answer, or an event around it.
#[derive(Deserialize)]
struct Said {
    #[serde(rename = "type")]
    kind: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
    error: Option<IgnoredAny>,
    response: Option<Answer>,
}

#[derive(Deserialize)]
struct Answer {
    model: Option<String>,
    usage: Option<Usage>,
    error: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    input_tokens_details: Option<InDetail>,
    output_tokens_details: Option<OutDetail>,
}

/// Events after which nothing comes. Others that tell tokens tell them so far.
const LAST: [&str; 3] = ["response.completed", "response.incomplete", "response.failed"];

pub(super) fn count(text: &[u8], tally: &mut Tally) {
    let Ok(said) = serde_json::from_slice::<Said>(text) else { return };
    let kind = said.kind.unwrap_or_default();
    let answer = said.response.unwrap_or(Answer { model: said.model, usage: said.usage, error: said.error });
    tally.name_model(answer.model);
    tally.failed |= answer.error.is_some() || ["error", "response.failed"].contains(&kind.as_str());
    let Some(usage) = answer.usage else { return };
    let Some(sum) = usage.input_tokens else { return };
    take_in(sum, usage.input_tokens_details.as_ref(), tally);
    put_out(usage.output_tokens, usage.output_tokens_details.as_ref(), tally);
    tally.running = true;
    tally.complete |= LAST.contains(&kind.as_str());
}
