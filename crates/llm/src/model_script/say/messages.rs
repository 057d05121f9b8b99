//! Anthropic Messages.

use serde_json::{Value, json};

use super::super::heard::Heard;
use super::super::play::{Call, Line, With};
use super::{named_event, pieces};

pub(super) fn whole(heard: &Heard, line: &Line) -> Value {
    let text = line.text.iter().map(|text| json!({"type": "text", "text": text}));
    let calls = line.calls.iter().enumerate().map(|(index, call)| tool_use(line, index, call, &input(call)));
    let content: Vec<Value> = text.chain(calls).collect();
    let mut message = frame(heard, line, content);
    message["stop_reason"] = json!(stop_reason(line));
    message["usage"] = usage(line, line.used.output);
    message
}

pub(super) fn events(heard: &Heard, line: &Line) -> Vec<String> {
    let mut begun = frame(heard, line, Vec::new());
    begun["usage"] = usage(line, 1);
    let mut events = vec![json!({"type": "message_start", "message": begun}), json!({"type": "ping"})];
    let mut index = 0;
    if let Some(text) = &line.text {
        events.push(start(index, &json!({"type": "text", "text": ""})));
        events.extend(pieces(text).iter().map(|piece| delta(index, &json!({"type": "text_delta", "text": piece}))));
        events.push(stop(index));
        index += 1;
    }
    for (number, call) in line.calls.iter().enumerate() {
        events.push(start(index, &tool_use(line, number, call, &json!({}))));
        let json_text = input(call).to_string();
        events.extend(
            pieces(&json_text)
                .iter()
                .map(|piece| delta(index, &json!({"type": "input_json_delta", "partial_json": piece}))),
        );
        events.push(stop(index));
        index += 1;
    }
    let reason = json!({"stop_reason": stop_reason(line), "stop_sequence": null});
    events.push(json!({"type": "message_delta", "delta": reason, "usage": usage(line, line.used.output)}));
    events.push(json!({"type": "message_stop"}));
    events.iter().map(named_event).collect()
}

fn frame(heard: &Heard, line: &Line, content: Vec<Value>) -> Value {
    json!({
        "id": format!("msg_script_{}", line.number), "type": "message", "role": "assistant", "model": heard.model,
        "content": content, "stop_reason": null, "stop_sequence": null,
    })
}

fn start(index: usize, block: &Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: usize, delta: &Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: usize) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn tool_use(line: &Line, index: usize, call: &Call, input: &Value) -> Value {
    json!({"type": "tool_use", "id": format!("toolu_script_{}_{index}", line.number), "name": call.tool, "input": input})
}

fn input(call: &Call) -> Value {
    match &call.with {
        With::Arguments(arguments) => Value::Object(arguments.clone()),
        With::Input(input) => json!({"input": input}),
    }
}

fn stop_reason(line: &Line) -> &'static str {
    if line.calls.is_empty() { "end_turn" } else { "tool_use" }
}

fn usage(line: &Line, output: u64) -> Value {
    json!({
        "input_tokens": line.used.input, "output_tokens": output,
        "cache_read_input_tokens": line.used.cache_read, "cache_creation_input_tokens": line.used.cache_write,
        "cache_creation": {"ephemeral_5m_input_tokens": line.used.cache_write, "ephemeral_1h_input_tokens": 0},
    })
}
