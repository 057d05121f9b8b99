//! What is kept of the words of a call: both sides as text, without secrets, as one document in the evidence of the project.
//!
//! Secrets are looked for in what is meant, not in how it was spelled: texts of JSON without their escapes, and the pieces of a stream
//! joined together, because a model may say half of a secret in one piece and half in the next. What is no text, or a part of JSON that
//! cannot be read, is left out: nobody could say whether there is a secret in it.

use placet_domain::run::ModelCall;
use placet_llm::words::{BEYOND_BYTES, Text, Words};
use placet_secrets::Scanner;
use serde_json::{Value, json};

/// The first line of every such document, by which it is known who may read it.
const FIRST_LINE: &[u8] = b"placet words of a call, version 1\n";

/// Names of what a model says piece by piece, in any of the wire formats.
const SAID: [&str; 10] = [
    "text",
    "delta",
    "content",
    "thinking",
    "partial_json",
    "arguments",
    "refusal",
    "reasoning",
    "reasoning_content",
    "input",
];

/// Numbers by which pieces of one text are told from those of another that comes at the same time.
const WHICH: [&str; 4] = ["index", "output_index", "content_index", "summary_index"];

/// The document: its first line, then one object.
pub(super) fn document(call: &ModelCall, words: &Words) -> Vec<u8> {
    let body = json!({
        "call": call.id, "wire": call.wire, "model": call.model_asked, "upstream": call.upstream,
        "request": side(&words.request), "response": side(&words.response),
    });
    [FIRST_LINE, body.to_string().as_bytes()].concat()
}

/// The object of such a document; nothing for any other bytes.
pub(crate) fn body_of(bytes: &[u8]) -> Option<&[u8]> {
    bytes.strip_prefix(FIRST_LINE)
}

fn side(text: &Text) -> Value {
    let (size_bytes, cut) = (text.size_bytes, text.is_cut());
    match readable(&text.bytes, cut) {
        None => json!({ "size_bytes": size_bytes, "left_out": "it is not text" }),
        Some(said) => match kept(said, cut) {
            None => {
                json!({ "size_bytes": size_bytes, "cut": cut, "left_out": "it begins as JSON and cannot be read as that" })
            }
            Some(text) => json!({ "size_bytes": size_bytes, "cut": cut, "text": text }),
        },
    }
}

/// The text, if it is one; a letter that was cut in two at its end is no objection.
fn readable(bytes: &[u8], cut: bool) -> Option<&str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if cut && error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}

fn kept(said: &str, cut: bool) -> Option<String> {
    let meant = match serde_json::from_str::<Value>(said) {
        Ok(Value::Array(events)) => joined(events.iter()),
        Ok(mut whole) => {
            clean(&mut whole);
            format!("{whole:#}")
        }
        // Cut, most likely. Its escapes would hide what is in it.
        Err(_) if said.trim_start().starts_with(['{', '[', '"']) => return None,
        Err(_) if is_events(said) => {
            let events: Vec<Value> = data_of(said).filter_map(|data| serde_json::from_str(data).ok()).collect();
            joined(events.iter())
        }
        Err(_) => said.to_owned(),
    };
    let mut clean = redacted(&meant);
    if cut {
        // The last that was heard may be a part of something that nobody can recognise.
        clean.truncate(clean.floor_char_boundary(clean.len().saturating_sub(BEYOND_BYTES)));
    }
    Some(clean)
}

fn is_events(said: &str) -> bool {
    said.lines().any(|line| line.starts_with("data:"))
}

fn data_of(said: &str) -> impl Iterator<Item = &str> {
    said.lines().filter_map(|line| line.strip_prefix("data:")).map(str::trim)
}

/// Every text of a document without its secrets, escapes or not.
fn clean(value: &mut Value) {
    match value {
        Value::String(text) => *text = redacted(text),
        Value::Array(values) => values.iter_mut().for_each(clean),
        Value::Object(fields) => fields.values_mut().for_each(clean),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn redacted(text: &str) -> String {
    String::from_utf8_lossy(&Scanner::shipped().redact(text.as_bytes())).into_owned()
}

/// What was said piece by piece, put together by where it stands in each piece.
fn joined<'a>(events: impl Iterator<Item = &'a Value>) -> String {
    let mut said: Vec<(String, String)> = Vec::new();
    for event in events {
        let kind = event["type"].as_str().unwrap_or_default();
        walk(event, kind, false, &mut |place, text| match said.iter_mut().find(|(known, _)| known == place) {
            Some((_, so_far)) => so_far.push_str(text),
            None => said.push((place.to_owned(), text.to_owned())),
        });
    }
    said.iter().map(|(place, text)| format!("{place}:\n{text}\n\n")).collect()
}

fn walk(value: &Value, place: &str, is_said: bool, take: &mut impl FnMut(&str, &str)) {
    match value {
        Value::String(text) if is_said => take(place, text),
        Value::Array(values) => {
            for (index, value) in values.iter().enumerate() {
                walk(value, &format!("{place}[{index}]"), is_said, take);
            }
        }
        Value::Object(fields) => {
            let which = WHICH.iter().filter_map(|name| fields.get(*name)?.as_u64());
            let place = which.fold(place.to_owned(), |place, number| format!("{place}({number})"));
            for (name, value) in fields {
                walk(value, &format!("{place}.{name}"), SAID.contains(&name.as_str()), take);
            }
        }
        Value::String(_) | Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Looks like a real one, and is none.
    const SECRET: &str = "ghp_Zq8TnV3xWc5RkL7mPb2YdJf9HsGa4Ue6NiKo";

    fn text(said: &str) -> Text {
        Text { bytes: said.as_bytes().to_vec(), size_bytes: said.len() as u64 }
    }

    fn told(said: &str) -> String {
        side(&text(said))["text"].as_str().unwrap().to_owned()
    }

    #[test]
    fn b10_a_secret_is_taken_out_however_it_is_spelled() {
        assert!(Scanner::shipped().findings(SECRET.as_bytes()).next().is_some(), "it is one that is known");
        let escaped = SECRET.replace('p', "\\u0070");
        for said in [
            format!("{{\"content\": \"use {SECRET} please\"}}"),
            format!("{{\"content\": \"use {escaped} please\"}}"),
            format!("no JSON: {SECRET}"),
        ] {
            let told = told(&said);
            assert!(!told.contains("Zq8TnV3x") && told.contains("[redacted "), "{said}: {told}");
        }
    }

    #[test]
    fn b10_a_secret_that_comes_in_pieces_is_taken_out_of_the_whole() {
        let pieces = |start: &str, end: &str| -> String {
            SECRET.as_bytes().chunks(3).map(|part| format!("{start}{}{end}", String::from_utf8_lossy(part))).collect()
        };
        let messages = pieces(
            "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"",
            "\"}}\n\n",
        );
        let chat = pieces("data: {\"choices\":[{\"delta\":{\"content\":\"", "\"}}]}\n\n");
        let responses = pieces("data: {\"type\":\"response.output_text.delta\",\"delta\":\"", "\"}\n\n");
        let gemini = pieces("data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"", "\"}]}}]}\n\n");
        for said in [messages, chat, responses, gemini] {
            let told = told(&said);
            assert!(told.contains("[redacted ") && !told.contains("Zq8") && !told.contains("Ue6"), "{told}");
        }
        let hello = told(
            "data: {\"choices\":[{\"delta\":{\"content\":\"Hel\"}}]}\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo\"}}]}\n\n",
        );
        assert_eq!(hello, ".choices[0].delta.content:\nHello\n\n");
    }

    #[test]
    fn b10_answers_that_come_at_the_same_time_are_put_together_each_for_itself() {
        let half = SECRET.len() / 2;
        let piece = |index: usize, text: &str| {
            format!("data: {{\"choices\":[{{\"index\":{index},\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
        };
        // What came before the first line with data changes nothing.
        let said = ["id: 1\n", &piece(0, &SECRET[..half]), &piece(1, "another"), &piece(0, &SECRET[half..])].concat();
        let told = told(&said);
        assert!(told.contains(".choices[0](0).delta.content:\n[redacted "), "{told}");
        assert!(told.contains(".choices[0](1).delta.content:\nanother\n") && !told.contains("Ue6"), "{told}");
    }

    #[test]
    fn b10_what_is_cut_says_so_and_ends_before_what_was_not_looked_at_whole() {
        let said = "x".repeat(3 * BEYOND_BYTES);
        let cut = Text { bytes: said.clone().into_bytes(), size_bytes: 1 << 30 };
        let side = side(&cut);
        assert_eq!((side["cut"].as_bool(), side["text"].as_str().unwrap().len()), (Some(true), 2 * BEYOND_BYTES));
        assert_eq!(told(&said).len(), said.len());
    }

    #[test]
    fn b10_a_part_of_json_is_left_out_because_its_escapes_hide_what_is_in_it() {
        let said = format!("{{\"content\": \"use {} {}", SECRET.replace('p', "\\u0070"), "x".repeat(2 * BEYOND_BYTES));
        let side = side(&Text { bytes: said.into_bytes(), size_bytes: 1 << 30 });
        assert_eq!((&side["cut"], &side["text"]), (&json!(true), &Value::Null), "{side}");
        assert!(side["left_out"].as_str().unwrap().contains("begins as JSON"), "{side}");
    }

    #[test]
    fn b10_what_is_no_text_is_left_out() {
        let gzip = Text { bytes: vec![0x1f, 0x8b, 0xff, 0x00], size_bytes: 4 };
        assert_eq!(side(&gzip)["left_out"], "it is not text");
    }
}
