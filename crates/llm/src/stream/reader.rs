//! Reads what an answer says about its tokens while it passes, and takes out what the agent did not ask for.

use bytes::Bytes;
use memchr::memmem;

use super::events::{Events, data_of};
use crate::wire::{Tally, Wire, chat};

/// An answer that is one JSON text is kept until its end to be counted, up to this size.
const MOST_JSON_BYTES: usize = 32 << 20;
/// Every format says its tokens, its failure and its end under a name that holds one of these. Most pieces have none of them and need not
/// be parsed.
const TELLTALES: [&[u8]; 3] = [b"usage", b"error", b"[DONE]"];

#[derive(Debug)]
pub(crate) struct Reader {
    wire: Wire,
    tally: Tally,
    form: Form,
}

#[derive(Debug)]
enum Form {
    Events(Events),
    /// Events of which those are taken out that only we asked for.
    Trimmed(Events),
    Json(Vec<u8>),
    /// Too large, or compressed: passed on, not understood.
    Opaque,
}

impl Reader {
    /// A stream of events. `trims` if the agent did not ask to be told the tokens and we did.
    pub(crate) fn of_events(wire: Wire, trims: bool) -> Self {
        let form = if trims { Form::Trimmed(Events::default()) } else { Form::Events(Events::default()) };
        Self { wire, tally: Tally::default(), form }
    }

    pub(crate) fn of_json(wire: Wire) -> Self {
        Self { wire, tally: Tally::default(), form: Form::Json(Vec::new()) }
    }

    /// What nobody can read here.
    pub(crate) fn of_opaque(wire: Wire) -> Self {
        Self { wire, tally: Tally::default(), form: Form::Opaque }
    }

    /// Whether every byte is passed on.
    pub(crate) const fn is_exact(&self) -> bool {
        !matches!(self.form, Form::Trimmed(_))
    }

    /// Takes the next bytes of the upstream, gives the next bytes for the agent.
    pub(crate) fn pass(&mut self, bytes: Bytes) -> Bytes {
        let (wire, tally) = (self.wire, &mut self.tally);
        let (passed, fits) = match &mut self.form {
            Form::Events(events) => {
                events.push(&bytes, |event| count(wire, event, tally));
                (bytes, !events.is_overlong())
            }
            Form::Trimmed(events) => {
                let mut passed = Vec::with_capacity(bytes.len());
                events.push(&bytes, |event| {
                    count(wire, event, tally);
                    trim(event, &mut passed);
                });
                let fits = !events.is_overlong();
                if !fits {
                    passed.extend(events.finish());
                }
                (passed.into(), fits)
            }
            Form::Json(held) => {
                held.extend_from_slice(&bytes);
                let fits = held.len() <= MOST_JSON_BYTES;
                (bytes, fits)
            }
            Form::Opaque => (bytes, true),
        };
        if !fits {
            self.form = Form::Opaque;
        }
        passed
    }

    /// The end: what was held back, if anything.
    pub(crate) fn finish(&mut self) -> Bytes {
        let (wire, tally) = (self.wire, &mut self.tally);
        match &mut self.form {
            Form::Events(events) => {
                count(wire, &events.finish(), tally);
                Bytes::new()
            }
            Form::Trimmed(events) => {
                let (rest, mut passed) = (events.finish(), Vec::new());
                count(wire, &rest, tally);
                trim(&rest, &mut passed);
                passed.into()
            }
            Form::Json(held) => {
                wire.count(&std::mem::take(held), tally);
                // Whatever it says, it was there as a whole.
                tally.complete |= tally.running && !tally.failed;
                Bytes::new()
            }
            Form::Opaque => Bytes::new(),
        }
    }

    pub(crate) fn into_tally(self) -> Tally {
        self.tally
    }
}

fn count(wire: Wire, event: &[u8], tally: &mut Tally) {
    if TELLTALES.iter().any(|word| memmem::find(event, word).is_some()) {
        wire.count(&data_of(event), tally);
    }
}

/// Appends an event as the agent would have got it.
fn trim(event: &[u8], passed: &mut Vec<u8>) {
    let data = data_of(event);
    let Ok(text) = std::str::from_utf8(&data) else { return passed.extend_from_slice(event) };
    match chat::without_usage(text) {
        None => {}
        Some(kept) if kept == text => passed.extend_from_slice(event),
        Some(kept) => {
            let at = memmem::find(event, &data).unwrap_or(0);
            passed.extend_from_slice(&event[..at]);
            passed.extend_from_slice(kept.as_bytes());
            passed.extend_from_slice(&event[at + data.len()..]);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::model_script::{Script, stream_of};
    use crate::record::ModelTokens;

    const SCRIPT: &str = "[[turn]]\ntext = 'the usage of «usage» is {\"usage\":{\"prompt_tokens\":9}}'\n\
         used = { input = 70, output = 30, cache_read = 5, cache_write = 3, reasoning = 11 }\n\
         [[turn.call]]\ntool = 'Bash'\narguments = { command = 'echo \"usage\"' }\n";

    fn request(wire: Wire) -> (&'static str, &'static str) {
        match wire {
            Wire::Messages => ("/v1/messages", r#"{"model":"m","stream":true,"tools":[{"name":"Bash"}]}"#),
            Wire::Chat => (
                "/v1/chat/completions",
                r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":[{"function":{"name":"Bash"}}]}"#,
            ),
            Wire::Responses => ("/v1/responses", r#"{"model":"m","stream":true,"tools":[{"name":"Bash"}]}"#),
            Wire::Gemini => (
                "/v1beta/models/m:streamGenerateContent?alt=sse",
                r#"{"tools":[{"functionDeclarations":[{"name":"Bash"}]}]}"#,
            ),
        }
    }

    fn stream(wire: Wire) -> Vec<u8> {
        let (path, body) = request(wire);
        stream_of(Script::read(SCRIPT).unwrap(), path, body)
    }

    fn read(wire: Wire, trims: bool, pieces: &[&[u8]]) -> (Tally, Vec<u8>) {
        let mut reader = Reader::of_events(wire, trims);
        let mut passed: Vec<u8> = pieces.iter().flat_map(|piece| reader.pass(Bytes::copy_from_slice(piece))).collect();
        passed.extend(reader.finish());
        (reader.into_tally(), passed)
    }

    #[test]
    fn every_format_tells_the_same_tokens() {
        for wire in Wire::ALL {
            let (tally, _) = read(wire, false, &[&stream(wire)]);
            // Gemini has no price for writing a cache and counts it as input.
            let (input, cache_write) = if wire == Wire::Gemini { (73, 0) } else { (70, 3) };
            // Messages does not tell what was thought.
            let reasoning = if wire == Wire::Messages { 0 } else { 11 };
            let tokens =
                ModelTokens { input, output: 30, cache_read: 5, cache_write, reasoning, ..ModelTokens::default() };
            assert_eq!(tally.tokens, tokens, "{wire}");
            assert!(tally.complete && tally.input_known, "{wire}");
            assert_eq!(tally.model.as_deref(), Some("m"), "{wire}");
        }
    }

    #[test]
    fn a_stream_that_breaks_is_not_taken_for_a_whole_one() {
        for wire in Wire::ALL {
            let whole = stream(wire);
            let (tally, _) = read(wire, false, &[&whole[..whole.len() / 2]]);
            assert!(!tally.is_exact(false), "{wire}");
        }
    }

    #[test]
    fn a_stream_of_carriage_returns_passes_and_is_not_understood() {
        let odd: Vec<u8> = stream(Wire::Chat).iter().map(|byte| if *byte == b'\n' { b'\r' } else { *byte }).collect();
        let (tally, passed) = read(Wire::Chat, false, &[&odd]);
        assert_eq!((tally.complete, passed), (false, odd));
    }

    proptest! {
        #[test]
        fn tokens_and_bytes_are_the_same_for_every_cut(
            wire in prop::sample::select(Wire::ALL.to_vec()),
            trims in any::<bool>(),
            crlf in any::<bool>(),
            cuts in prop::collection::vec(0usize..4_000, 0..40),
        ) {
            let text = String::from_utf8(stream(wire)).unwrap();
            let whole = if crlf { text.replace('\n', "\r\n") } else { text }.into_bytes();
            let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut.min(whole.len())).collect();
            places.extend([0, whole.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).map(|pair| &whole[pair[0]..pair[1]]).collect();
            let trims = trims && wire == Wire::Chat;
            let cut = read(wire, trims, &pieces);
            prop_assert_eq!(&cut, &read(wire, trims, &[&whole]));
            prop_assert!(trims || cut.1 == whole);
            prop_assert!(cut.0.complete);
        }
    }
}
