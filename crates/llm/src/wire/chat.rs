//! OpenAI Chat Completions. `prompt_tokens` includes cached ones; a stream tells the tokens in one extra last piece, and only if it
//! was asked to. We ask in the agent's place and take out again what it did not ask for.

use bytes::Bytes;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::ask::{Asked, CacheWrites, Change, quoted};
use super::edits::Edits;
use super::few::Few;
use super::mention::mentions;
use super::needs::Need;
use super::object::{Object, Unreadable};
use super::priced::{model, only, without};
use super::tally::Tally;
use crate::record::NotText;

const REFERENCES: [&str; 4] = ["image_url", "input_audio", "file", "file_id"];
const LIMITS: [&str; 2] = ["max_completion_tokens", "max_tokens"];
const OPTIONS: &str = "stream_options";

pub(super) fn read(body: &Object) -> Result<Asked, Unreadable> {
    only(body, &["service_tier"], &["auto", "default", "flex"])?;
    without(body, &["prediction", "audio"])?;
    text_only(body)?;
    let search = body.has(&["web_search_options"])?.then(|| Need::Tool("web_search_options".to_owned()));
    let told = body.object(&[OPTIONS])?.map(|options| options.read(&["include_usage"])).transpose()?.flatten();
    let streams = body.read(&["stream"])?.unwrap_or(false);
    Ok(Asked {
        model: model(body)?,
        streams,
        most_output: limits(body)?.into_iter().flatten().max(),
        least_output: 0,
        choices: body.count(&["n"])?.unwrap_or(1),
        // Newer models write their cache by themselves, and some have a price for it.
        cache_writes: CacheWrites::Short,
        refers: mentions(body.source(), &REFERENCES),
        wide_context: false,
        hides_usage: streams && told != Some(true),
        needs: search.into_iter().collect(),
        typed_tools: 0,
    })
}

/// Speech and pictures have prices of their own.
fn text_only(body: &Object) -> Result<(), Unreadable> {
    let Few(wanted) = body.read::<Few<String>>(&["modalities"])?.unwrap_or_default();
    let why = || Unreadable::NotCarried("only text is carried as an answer; leave `modalities` out".to_owned());
    if wanted.iter().all(|kind| kind == "text") { Ok(()) } else { Err(why()) }
}

fn limits(body: &Object) -> Result<[Option<u64>; 2], Unreadable> {
    Ok([body.count(&[LIMITS[0]])?, body.count(&[LIMITS[1]])?])
}

pub(super) fn change(body: &Object, change: &Change<'_>) -> Result<Edits, Unreadable> {
    let mut edits = Edits::default();
    if let Some(model) = change.model {
        body.set("model", &quoted(model), &mut edits)?;
    }
    lower(body, change, &mut edits)?;
    if change.ask_for_usage {
        ask_for_usage(body, &mut edits)?;
    }
    Ok(edits)
}

/// Lowers the limit under whichever name it was given; a limit that was not given gets the name the upstream knows.
fn lower(body: &Object, change: &Change<'_>, edits: &mut Edits) -> Result<(), Unreadable> {
    let given = limits(body)?;
    if given == [None; 2] {
        let most = change.most_output.map(|most| most.to_string());
        return most.map_or(Ok(()), |most| body.set(change.limit_name, &most, edits));
    }
    for (name, asked) in LIMITS.into_iter().zip(given) {
        if let Some(most) = asked.and_then(|asked| change.lower(Some(asked))) {
            body.set(name, &most.to_string(), edits)?;
        }
    }
    // An upstream that knows only the old name would overlook the new one, and answer without end.
    let [new, old] = given;
    if let (Some(new), None, true) = (new, old, change.limit_name == LIMITS[1]) {
        let most = change.most_output.map_or(new, |most| most.min(new));
        body.set(LIMITS[1], &most.to_string(), edits)?;
    }
    Ok(())
}

fn ask_for_usage(body: &Object, edits: &mut Edits) -> Result<(), Unreadable> {
    match body.object(&[OPTIONS])? {
        Some(options) => options.set("include_usage", "true", edits),
        None => body.set(OPTIONS, r#"{"include_usage":true}"#, edits),
    }
}

#[derive(Deserialize)]
struct Said {
    model: Option<String>,
    usage: Option<Usage>,
    error: Option<IgnoredAny>,
}

/// The last event of a stream.
const END: &[u8] = b"[DONE]";

#[derive(Deserialize)]
struct Usage {
    prompt_tokens: Option<u64>,
    completion_tokens: Option<u64>,
    prompt_tokens_details: Option<InDetail>,
    completion_tokens_details: Option<OutDetail>,
}

#[derive(Deserialize)]
pub(super) struct InDetail {
    cached_tokens: Option<u64>,
    cache_write_tokens: Option<u64>,
    #[serde(flatten)]
    kinds: Kinds,
    cached_tokens_details: Option<Kinds>,
}

#[derive(Deserialize)]
pub(super) struct OutDetail {
    reasoning_tokens: Option<u64>,
    #[serde(flatten)]
    kinds: Kinds,
}

/// What is no text. The rest is, whatever it is called.
#[derive(Deserialize, Clone, Copy, Default)]
struct Kinds {
    audio_tokens: Option<u64>,
    image_tokens: Option<u64>,
    video_tokens: Option<u64>,
}

impl Kinds {
    fn not_text(self) -> NotText {
        let [audio, image, video] =
            [self.audio_tokens, self.image_tokens, self.video_tokens].map(Option::unwrap_or_default);
        NotText { audio, image, video }
    }
}

/// Some servers tell the sums so far with every piece: they are the last word only at the end of the stream.
pub(super) fn count(text: &[u8], tally: &mut Tally) {
    if text.trim_ascii() == END {
        tally.complete = tally.running && !tally.failed;
        return;
    }
    let Ok(said) = serde_json::from_slice::<Said>(text) else { return };
    tally.name_model(said.model);
    tally.failed |= said.error.is_some();
    let Some(usage) = said.usage else { return };
    let Some(prompt) = usage.prompt_tokens else { return };
    take_in(prompt, usage.prompt_tokens_details.as_ref(), tally);
    put_out(usage.completion_tokens, usage.completion_tokens_details.as_ref(), tally);
    tally.running = true;
}

/// Splits a sum that includes cached tokens into what costs differently.
pub(super) fn take_in(sum: u64, detail: Option<&InDetail>, tally: &mut Tally) {
    let part = |of: fn(&InDetail) -> Option<u64>| detail.and_then(of).unwrap_or(0);
    let (read, write) = (part(|detail| detail.cached_tokens), part(|detail| detail.cache_write_tokens));
    let tokens = &mut tally.tokens;
    (tokens.cache_read, tokens.cache_write) = (read, write);
    tokens.input = sum.saturating_sub(read).saturating_sub(write);
    tally.input_known = true;
    let all = detail.map(|detail| detail.kinds).unwrap_or_default();
    let cached = detail.and_then(|detail| detail.cached_tokens_details).unwrap_or_default();
    tally.took_in_not_text(all.not_text(), cached.not_text());
}

pub(super) fn put_out(sum: Option<u64>, detail: Option<&OutDetail>, tally: &mut Tally) {
    let output = sum.unwrap_or(0);
    tally.tokens.output = output;
    tally.tokens.reasoning = detail.and_then(|detail| detail.reasoning_tokens).unwrap_or(0);
    tally.tokens.output_not_text = detail.map(|detail| detail.kinds.not_text().at_most(output)).unwrap_or_default();
}

#[derive(Deserialize)]
struct Piece {
    choices: Option<Vec<IgnoredAny>>,
}

/// One piece of a stream as it would have been had we not asked for the tokens: without the empty piece that tells them, and without
/// the `"usage":null` in all others. `None` if nothing of it is left.
pub(crate) fn without_usage(data: &str) -> Option<String> {
    let unchanged = || Some(data.to_owned());
    let Ok(object) = Object::parse(&Bytes::copy_from_slice(data.as_bytes())) else { return unchanged() };
    let Ok(Some(usage)) = object.get("usage") else { return unchanged() };
    if !usage.is_null() {
        let has_text =
            serde_json::from_str::<Piece>(data).is_ok_and(|piece| piece.choices.is_none_or(|all| !all.is_empty()));
        return if has_text { unchanged() } else { None };
    }
    let Some(place) = object.with_comma(&usage) else { return unchanged() };
    Some(format!("{}{}", &data[..place.start], &data[place.end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_asked_in_the_agents_place_is_taken_out_again() {
        let plain = r#"{"id":"c","choices":[{"index":0,"delta":{"content":"a,\"usage\":null"}}]}"#;
        let with_null = format!("{},\"usage\":null}}", plain.strip_suffix('}').unwrap());
        assert_eq!(without_usage(&with_null).as_deref(), Some(plain));
        assert_eq!(without_usage(plain).as_deref(), Some(plain));
        assert_eq!(without_usage(r#"{"id":"c","choices":[],"usage":{"prompt_tokens":1}}"#), None);
        assert_eq!(without_usage("[DONE]").as_deref(), Some("[DONE]"));
        let both = r#"{"choices":[{"delta":{}}],"usage":{"prompt_tokens":1}}"#;
        assert_eq!(without_usage(both).as_deref(), Some(both));
    }
}
