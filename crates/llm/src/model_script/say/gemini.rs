//! Gemini.

use serde_json::{Value, json};

use super::super::heard::Heard;
use super::super::play::{Call, Line, With};
use super::{pieces, plain_event};

pub(super) fn whole(heard: &Heard, line: &Line) -> Value {
    let text = line.text.iter().map(|text| json!({"text": text}));
    piece(heard, line, &text.chain(calls(line)).collect::<Vec<_>>(), line.used.output, Some("STOP"))
}

pub(super) fn events(heard: &Heard, line: &Line) -> Vec<String> {
    stream(heard, line).iter().map(plain_event).collect()
}

/// All pieces as one list: what a stream is if nobody asked for events.
pub(super) fn list(heard: &Heard, line: &Line) -> Value {
    Value::Array(stream(heard, line))
}

fn stream(heard: &Heard, line: &Line) -> Vec<Value> {
    let texts = pieces(line.text.as_deref().unwrap_or_default());
    let mut all: Vec<Value> = texts.iter().map(|text| piece(heard, line, &[json!({"text": text})], 1, None)).collect();
    let last: Vec<Value> = calls(line).collect();
    let last = if last.is_empty() { vec![json!({"text": ""})] } else { last };
    all.push(piece(heard, line, &last, line.used.output, Some("STOP")));
    all
}

fn piece(heard: &Heard, line: &Line, parts: &[Value], output: u64, finish: Option<&str>) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let (taken_in, reasoning) =
        (line.used.input + line.used.cache_read + line.used.cache_write, line.used.reasoning.min(output));
    json!({
        "candidates": [candidate], "modelVersion": heard.model, "responseId": format!("script-{}", line.number),
        "usageMetadata": {
            "promptTokenCount": taken_in, "candidatesTokenCount": output - reasoning, "thoughtsTokenCount": reasoning,
            "cachedContentTokenCount": line.used.cache_read, "totalTokenCount": taken_in + output,
        },
    })
}

fn calls(line: &Line) -> impl Iterator<Item = Value> {
    line.calls.iter().map(|call| json!({"functionCall": {"name": call.tool, "args": arguments(call)}}))
}

fn arguments(call: &Call) -> Value {
    match &call.with {
        With::Arguments(arguments) => Value::Object(arguments.clone()),
        With::Input(input) => json!({"input": input}),
    }
}
