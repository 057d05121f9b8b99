//! OpenAI Responses.

use serde_json::{Value, json};

use super::super::heard::Heard;
use super::super::play::{Call, Line, With};
use super::{named_event, pieces};

pub(super) fn whole(heard: &Heard, line: &Line) -> Value {
    let text = line.text.iter().map(|text| message(line, text));
    let calls = line.calls.iter().enumerate().map(|(index, call)| tool_call(line, index, call, &call.text()));
    let output: Vec<Value> = text.chain(calls).collect();
    let mut answer = frame(heard, line, "completed", output);
    answer["usage"] = usage(line);
    answer
}

pub(super) fn events(heard: &Heard, line: &Line) -> Vec<String> {
    let mut events = vec![
        json!({"type": "response.created", "response": frame(heard, line, "in_progress", Vec::new())}),
        json!({"type": "response.in_progress", "response": frame(heard, line, "in_progress", Vec::new())}),
    ];
    let mut index = 0;
    if let Some(text) = &line.text {
        events.extend(text_events(line, index, text));
        index += 1;
    }
    for (number, call) in line.calls.iter().enumerate() {
        events.extend(call_events(line, number, index, call));
        index += 1;
    }
    events.push(json!({"type": "response.completed", "response": whole(heard, line)}));
    for (number, event) in events.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    events.iter().map(named_event).collect()
}

fn text_events(line: &Line, index: usize, text: &str) -> Vec<Value> {
    let id = format!("msg_script_{}", line.number);
    let part = |text: &str| json!({"type": "output_text", "text": text, "annotations": []});
    let of_part = |kind: &str, name: &str, value: Value| {
        let mut event = json!({"type": kind, "item_id": id, "output_index": index, "content_index": 0});
        event[name] = value;
        event
    };
    let mut begun = message(line, "");
    begun["status"] = json!("in_progress");
    begun["content"] = json!([]);
    let mut events = vec![
        json!({"type": "response.output_item.added", "output_index": index, "item": begun}),
        of_part("response.content_part.added", "part", part("")),
    ];
    events.extend(pieces(text).into_iter().map(|piece| of_part("response.output_text.delta", "delta", json!(piece))));
    events.push(of_part("response.output_text.done", "text", json!(text)));
    events.push(of_part("response.content_part.done", "part", part(text)));
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": message(line, text)}));
    events
}

fn call_events(line: &Line, number: usize, index: usize, call: &Call) -> Vec<Value> {
    let (kind, name) = match call.with {
        With::Arguments(_) => ("response.function_call_arguments", "arguments"),
        With::Input(_) => ("response.custom_tool_call_input", "input"),
    };
    let mut begun = tool_call(line, number, call, "");
    begun["status"] = json!("in_progress");
    let id = begun["id"].clone();
    let mut events = vec![json!({"type": "response.output_item.added", "output_index": index, "item": begun})];
    events.extend(
        pieces(&call.text()).into_iter().map(
            |piece| json!({"type": format!("{kind}.delta"), "item_id": id, "output_index": index, "delta": piece}),
        ),
    );
    let mut done = json!({"type": format!("{kind}.done"), "item_id": id, "output_index": index});
    done[name] = json!(call.text());
    events.push(done);
    let item = tool_call(line, number, call, &call.text());
    events.push(json!({"type": "response.output_item.done", "output_index": index, "item": item}));
    events
}

fn frame(heard: &Heard, line: &Line, status: &str, output: Vec<Value>) -> Value {
    json!({
        "id": format!("resp_script_{}", line.number), "object": "response", "created_at": 0, "status": status,
        "model": heard.model, "output": output, "error": null, "incomplete_details": null, "usage": null,
        "parallel_tool_calls": true, "tools": [], "tool_choice": "auto",
    })
}

fn message(line: &Line, text: &str) -> Value {
    json!({
        "id": format!("msg_script_{}", line.number), "type": "message", "status": "completed", "role": "assistant",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    })
}

fn tool_call(line: &Line, number: usize, call: &Call, text: &str) -> Value {
    let (kind, name, prefix) = match call.with {
        With::Arguments(_) => ("function_call", "arguments", "fc"),
        With::Input(_) => ("custom_tool_call", "input", "ctc"),
    };
    let mut item = json!({
        "id": format!("{prefix}_script_{}_{number}", line.number), "type": kind, "status": "completed",
        "call_id": format!("call_script_{}_{number}", line.number), "name": call.tool,
    });
    item[name] = json!(text);
    item
}

fn usage(line: &Line) -> Value {
    let taken_in = line.used.input + line.used.cache_read + line.used.cache_write;
    json!({
        "input_tokens": taken_in, "output_tokens": line.used.output, "total_tokens": taken_in + line.used.output,
        "input_tokens_details": {"cached_tokens": line.used.cache_read, "cache_write_tokens": line.used.cache_write},
        "output_tokens_details": {"reasoning_tokens": line.used.reasoning},
    })
}
