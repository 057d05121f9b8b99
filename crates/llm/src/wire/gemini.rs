//! Gemini. The model is in the path; every piece of a stream tells the sums so far; thoughts are counted beside the answer.
//!
//! Its server takes names in two spellings (`maxOutputTokens`, `max_output_tokens`); either is read, both at once are refused.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ask::{Asked, CacheWrites, Change};
use super::edits::Edits;
use super::few::Few;
use super::mention::mentions;
use super::object::{Object, Unreadable};
use super::priced::only;
use super::route::Endpoint;
use super::tally::Tally;
use crate::record::NotText;

const CONFIG: [&str; 2] = ["generationConfig", "generation_config"];
const COUNTED: [&str; 2] = ["generateContentRequest", "generate_content_request"];
const MOST: [&str; 2] = ["maxOutputTokens", "max_output_tokens"];
const CHOICES: [&str; 2] = ["candidateCount", "candidate_count"];
const MODALITIES: [&str; 2] = ["responseModalities", "response_modalities"];
const REFERENCES: [&str; 6] = ["inlineData", "inline_data", "fileData", "file_data", "cachedContent", "cached_content"];

pub(super) fn read(endpoint: &Endpoint, body: &Object) -> Result<Asked, Unreadable> {
    only(body, &["serviceTier", "service_tier"], &["standard", "flex"])?;
    let config = body.object(&CONFIG)?;
    let number = |names: &[&str]| config.as_ref().map_or(Ok(None), |config| config.count(names));
    text_only(config.as_ref())?;
    counts(endpoint, body)?;
    Ok(Asked {
        model: model(endpoint, body)?,
        streams: endpoint.streams(),
        most_output: number(&MOST)?,
        least_output: 0,
        choices: number(&CHOICES)?.unwrap_or(1),
        cache_writes: CacheWrites::None,
        refers: mentions(body.source(), &REFERENCES),
        wide_context: false,
        hides_usage: false,
        needs: Vec::new(),
        typed_tools: 0,
    })
}

/// The model of the path; the body may repeat it, not contradict it.
fn model(endpoint: &Endpoint, body: &Object) -> Result<String, Unreadable> {
    let model = endpoint.model_in_path().ok_or(Unreadable::Missing("model"))?;
    let counted = body.object(&COUNTED)?;
    for object in [Some(body), counted.as_ref()].into_iter().flatten() {
        let repeated: Option<String> = object.read(&["model"])?;
        if repeated.is_some_and(|name| name.strip_prefix("models/").unwrap_or(&name) != model) {
            return Err(Unreadable::Twice("model".to_owned()));
        }
    }
    Ok(model.to_owned())
}

/// A whole request inside of one that has its tokens counted; nobody else has it.
fn counts(endpoint: &Endpoint, body: &Object) -> Result<(), Unreadable> {
    if endpoint.is_free || !body.has(&COUNTED)? {
        return Ok(());
    }
    Err(Unreadable::NotCarried(format!("`{}` is for counting tokens; send what it holds", COUNTED[0])))
}

/// Pictures and speech have prices of their own.
fn text_only(config: Option<&Object>) -> Result<(), Unreadable> {
    let wanted: Option<Few<String>> = config.map(|config| config.read(&MODALITIES)).transpose()?.flatten();
    match wanted {
        Some(Few(wanted)) if wanted.iter().any(|kind| !kind.eq_ignore_ascii_case("text")) => {
            Err(Unreadable::NotCarried("only text is carried as an answer; leave `responseModalities` out".to_owned()))
        }
        Some(_) | None => Ok(()),
    }
}

pub(super) fn change(body: &Object, change: &Change<'_>) -> Result<Edits, Unreadable> {
    let mut edits = Edits::default();
    let config = body.object(&CONFIG)?;
    let asked = config.as_ref().map(|config| config.read(&MOST)).transpose()?.flatten();
    let Some(most) = change.lower(asked) else { return Ok(edits) };
    match config {
        Some(config) => {
            let name = if config.get(MOST[1]).is_ok_and(|found| found.is_some()) { MOST[1] } else { MOST[0] };
            config.set(name, &most.to_string(), &mut edits)?;
        }
        None => body.set(CONFIG[0], &format!("{{\"{}\":{most}}}", MOST[0]), &mut edits)?,
    }
    Ok(edits)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Piece {
    model_version: Option<String>,
    response_id: Option<String>,
    error: Option<IgnoredAny>,
    usage_metadata: Option<Usage>,
    #[serde(default)]
    candidates: Vec<Candidate>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Candidate {
    finish_reason: Option<IgnoredAny>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Usage {
    prompt_token_count: Option<u64>,
    candidates_token_count: Option<u64>,
    thoughts_token_count: Option<u64>,
    cached_content_token_count: Option<u64>,
    tool_use_prompt_token_count: Option<u64>,
    prompt_tokens_details: Option<Vec<Detail>>,
    cache_tokens_details: Option<Vec<Detail>>,
    tool_use_prompt_tokens_details: Option<Vec<Detail>>,
    candidates_tokens_details: Option<Vec<Detail>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Detail {
    modality: Option<String>,
    token_count: Option<u64>,
}

/// Documents are priced as text.
fn not_text<const N: usize>(lists: [&Option<Vec<Detail>>; N]) -> NotText {
    lists.into_iter().flatten().flatten().fold(NotText::default(), |mut sums, detail| {
        let sum = match detail.modality.as_deref() {
            Some("AUDIO") => &mut sums.audio,
            Some("IMAGE") => &mut sums.image,
            Some("VIDEO") => &mut sums.video,
            Some(_) | None => return sums,
        };
        *sum = sum.saturating_add(detail.token_count.unwrap_or(0));
        sums
    })
}

/// One piece, or a list of all pieces: a stream that was not asked to be one of events.
pub(super) fn count(text: &[u8], tally: &mut Tally) {
    let is_list = text.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
    let pieces =
        if is_list { serde_json::from_slice(text) } else { serde_json::from_slice(text).map(|piece| vec![piece]) };
    pieces.into_iter().flatten().for_each(|piece| add(piece, tally));
}

fn add(piece: Piece, tally: &mut Tally) {
    tally.name_model(piece.model_version);
    tally.name = piece.response_id.or(tally.name.take());
    tally.failed |= piece.error.is_some();
    let Some(usage) = piece.usage_metadata else { return };
    let Some(prompt) = usage.prompt_token_count else { return };
    let cached = usage.cached_content_token_count.unwrap_or(0);
    let thoughts = usage.thoughts_token_count.unwrap_or(0);
    let tokens = &mut tally.tokens;
    tokens.cache_read = cached;
    tokens.input = prompt.saturating_sub(cached).saturating_add(usage.tool_use_prompt_token_count.unwrap_or(0));
    tokens.reasoning = thoughts;
    tokens.output = usage.candidates_token_count.unwrap_or(0).saturating_add(thoughts);
    tokens.output_not_text = not_text([&usage.candidates_tokens_details]).at_most(tokens.output);
    let taken_in = [&usage.prompt_tokens_details, &usage.tool_use_prompt_tokens_details];
    tally.took_in_not_text(not_text(taken_in), not_text([&usage.cache_tokens_details]));
    tally.input_known = true;
    tally.running = true;
    // Where there are several candidates, one may go on when another has finished.
    tally.complete = piece.candidates.iter().any(|candidate| candidate.finish_reason.is_some());
}
