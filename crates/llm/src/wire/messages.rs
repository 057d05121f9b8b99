//! Anthropic Messages. `input_tokens` leaves cached tokens out; in a stream `message_start` tells what went in and every
//! `message_delta` the sums so far.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ask::{Asked, CacheWrites, Change, quoted};
use super::edits::Edits;
use super::few::Few;
use super::mention::mentions;
use super::object::{Object, Unreadable};
use super::priced::{model, only, without};
use super::tally::Tally;

/// Content whose tokens do not follow from its bytes.
const REFERENCES: [&str; 5] = ["image", "document", "file", "container_upload", "url"];

pub(super) fn read(body: &Object) -> Result<Asked, Unreadable> {
    only(body, &["service_tier"], &["auto", "standard_only"])?;
    only(body, &["speed"], &["standard"])?;
    only(body, &["inference_geo"], &["global"])?;
    without(body, &["mcp_servers", "container", "compaction"])?;
    one_pass(body)?;
    let thinking = body.object(&["thinking"])?.map(|thinking| thinking.read::<u64>(&["budget_tokens"])).transpose()?;
    Ok(Asked {
        model: model(body)?,
        streams: body.read(&["stream"])?.unwrap_or(false),
        most_output: body.count(&["max_tokens"])?,
        // The upstream wants the limit above what may be thought.
        least_output: thinking.flatten().map_or(0, |budget| budget.saturating_add(1)),
        choices: 1,
        cache_writes: cache_writes(body.source()),
        refers: mentions(body.source(), &REFERENCES),
        wide_context: false,
        hides_usage: false,
        needs: Vec::new(),
        typed_tools: 0,
    })
}

#[derive(Deserialize)]
struct Managed {
    edits: Option<Few<Edit>>,
}

#[derive(Deserialize)]
struct Edit {
    #[serde(rename = "type")]
    kind: Option<String>,
}

/// Refuses edits of the context for which the upstream asks the model once more, such as `compact_20260112`: it charges a second
/// pass over everything, and the sums at the top of its answer leave that out. What only clears content costs nothing of its own.
fn one_pass(body: &Object) -> Result<(), Unreadable> {
    let managed: Option<Managed> = body.read(&["context_management"])?;
    let Few(edits) = managed.and_then(|managed| managed.edits).unwrap_or_default();
    let costs = edits.into_iter().map(|edit| edit.kind.unwrap_or_default()).find(|kind| !kind.starts_with("clear_"));
    let Some(kind) = costs else { return Ok(()) };
    let shown: String = kind.chars().take(40).flat_map(char::escape_default).collect();
    let why = "makes the upstream ask the model more than once, which cannot be paid for in advance";
    Err(Unreadable::NotCarried(format!(
        "the edit `{shown}` of `context_management` {why}; leave it out, and compact in the agent"
    )))
}

fn cache_writes(body: &[u8]) -> CacheWrites {
    match (mentions(body, &["cache_control"]), mentions(body, &["1h"])) {
        (false, _) => CacheWrites::None,
        (true, false) => CacheWrites::Short,
        (true, true) => CacheWrites::Long,
    }
}

pub(super) fn change(body: &Object, change: &Change<'_>) -> Result<Edits, Unreadable> {
    let mut edits = Edits::default();
    if let Some(model) = change.model {
        body.set("model", &quoted(model), &mut edits)?;
    }
    if let Some(most) = change.lower(body.read(&["max_tokens"])?) {
        body.set("max_tokens", &most.to_string(), &mut edits)?;
    }
    Ok(edits)
}

#[derive(Deserialize)]
struct Said {
    #[serde(rename = "type")]
    kind: Option<String>,
    model: Option<String>,
    usage: Option<Usage>,
    message: Option<Begun>,
    delta: Option<Delta>,
}

#[derive(Deserialize)]
struct Delta {
    stop_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
struct Begun {
    model: Option<String>,
    usage: Option<Usage>,
}

#[derive(Deserialize)]
struct Usage {
    input_tokens: Option<u64>,
    output_tokens: Option<u64>,
    cache_read_input_tokens: Option<u64>,
    cache_creation_input_tokens: Option<u64>,
    cache_creation: Option<Creation>,
}

#[derive(Deserialize)]
struct Creation {
    ephemeral_1h_input_tokens: Option<u64>,
}

pub(super) fn count(text: &[u8], tally: &mut Tally) {
    let Ok(said) = serde_json::from_slice::<Said>(text) else { return };
    if let Some(begun) = said.message {
        tally.name_model(begun.model);
        begun.usage.iter().for_each(|usage| add(usage, tally));
    }
    tally.name_model(said.model);
    let kind = said.kind.unwrap_or_default();
    tally.failed |= kind == "error";
    if let Some(usage) = &said.usage {
        add(usage, tally);
        // The sums so far, unless it says why it stops.
        let stops = said.delta.is_some_and(|delta| delta.stop_reason.is_some());
        tally.running |= kind == "message_delta";
        tally.complete |= kind == "message" || (kind == "message_delta" && stops);
    }
}

fn add(usage: &Usage, tally: &mut Tally) {
    let tokens = &mut tally.tokens;
    let long = usage.cache_creation.as_ref().and_then(|creation| creation.ephemeral_1h_input_tokens);
    for (last, sum) in [
        (usage.input_tokens, &mut tokens.input),
        (usage.output_tokens, &mut tokens.output),
        (usage.cache_read_input_tokens, &mut tokens.cache_read),
        (usage.cache_creation_input_tokens, &mut tokens.cache_write),
        (long, &mut tokens.cache_write_long),
    ] {
        *sum = last.unwrap_or(*sum);
    }
    tally.input_known |= usage.input_tokens.is_some();
}
