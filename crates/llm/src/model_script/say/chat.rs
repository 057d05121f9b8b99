//! OpenAI Chat Completions.

use serde_json::{Value, json};

use super::super::heard::Heard;
use super::super::play::{Call, Line};
use super::{pieces, plain_event};

pub(super) fn whole(heard: &Heard, line: &Line) -> Value {
    let mut message = json!({"role": "assistant", "content": line.text, "refusal": null});
    if !line.calls.is_empty() {
        let calls: Vec<Value> =
            line.calls.iter().enumerate().map(|(index, call)| tool_call(line, index, call)).collect();
        message["tool_calls"] = json!(calls);
    }
    let choice = json!({"index": 0, "message": message, "logprobs": null, "finish_reason": finish_reason(line)});
    let mut answer = frame(heard, line, "chat.completion", &json!([choice]));
    answer["usage"] = usage(line);
    answer
}

pub(super) fn events(heard: &Heard, line: &Line) -> Vec<String> {
    let tells = heard.value["stream_options"]["include_usage"] == true;
    let deltas = std::iter::once(json!({"role": "assistant", "content": "", "refusal": null}))
        .chain(pieces(line.text.as_deref().unwrap_or_default()).into_iter().map(|piece| json!({"content": piece})))
        .chain(line.calls.iter().enumerate().flat_map(|(index, call)| call_deltas(line, index, call)));
    let mut chunks: Vec<Value> = deltas.map(|delta| chunk(heard, line, &delta, None)).collect();
    chunks.push(chunk(heard, line, &json!({}), Some(finish_reason(line))));
    if tells {
        // As the original does it: a member in every chunk, and one chunk more.
        chunks.iter_mut().for_each(|chunk| chunk["usage"] = Value::Null);
        let mut last = frame(heard, line, "chat.completion.chunk", &json!([]));
        last["usage"] = usage(line);
        chunks.push(last);
    }
    chunks.iter().map(plain_event).chain(["data: [DONE]\n\n".to_owned()]).collect()
}

fn chunk(heard: &Heard, line: &Line, delta: &Value, finish: Option<&str>) -> Value {
    let choice = json!({"index": 0, "delta": delta, "logprobs": null, "finish_reason": finish});
    frame(heard, line, "chat.completion.chunk", &json!([choice]))
}

fn frame(heard: &Heard, line: &Line, object: &str, choices: &Value) -> Value {
    json!({"id": format!("chatcmpl-script-{}", line.number), "object": object, "created": 0, "model": heard.model, "choices": choices})
}

fn tool_call(line: &Line, index: usize, call: &Call) -> Value {
    json!({
        "id": format!("call_script_{}_{index}", line.number), "type": "function",
        "function": {"name": call.tool, "arguments": call.text()},
    })
}

fn call_deltas(line: &Line, index: usize, call: &Call) -> Vec<Value> {
    let mut first = tool_call(line, index, call);
    first["index"] = json!(index);
    first["function"]["arguments"] = json!("");
    let rest = pieces(&call.text()).into_iter().map(|piece| json!({"index": index, "function": {"arguments": piece}}));
    std::iter::once(first).chain(rest).map(|call| json!({"tool_calls": [call]})).collect()
}

fn finish_reason(line: &Line) -> &'static str {
    if line.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(line: &Line) -> Value {
    let taken_in = line.used.input + line.used.cache_read + line.used.cache_write;
    json!({
        "prompt_tokens": taken_in, "completion_tokens": line.used.output, "total_tokens": taken_in + line.used.output,
        "prompt_tokens_details": {"cached_tokens": line.used.cache_read, "cache_write_tokens": line.used.cache_write},
        "completion_tokens_details": {"reasoning_tokens": line.used.reasoning},
    })
}
