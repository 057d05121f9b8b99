//! A line of the script in the words of each wire format, whole or as a stream.

mod chat;
mod gemini;
mod messages;
mod responses;

use bytes::Bytes;
use serde_json::{Value, json};

use super::heard::Heard;
use super::play::Line;
use super::script::Fault;
use crate::wire::Wire;

/// So that a stream has several pieces even for a short text.
const PIECE_CHARS: usize = 16;

/// An answer, ready to be sent.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) pieces: Vec<Bytes>,
}

impl Said {
    fn json(status: u16, value: &Value) -> Self {
        Self { status, content_type: "application/json", pieces: vec![value.to_string().into()] }
    }
}

pub(super) fn say(heard: &Heard, line: &Line) -> Said {
    if let Some(fault) = &line.error {
        return Said::json(fault.status, &complaint(heard.wire, fault));
    }
    if heard.counts_only {
        let tokens = line.used.input;
        return Said::json(200, &json!({"input_tokens": tokens, "totalTokens": tokens}));
    }
    if !heard.streams {
        return Said::json(200, &whole(heard, line));
    }
    let events = match heard.wire {
        Wire::Messages => messages::events(heard, line),
        Wire::Chat => chat::events(heard, line),
        Wire::Responses => responses::events(heard, line),
        Wire::Gemini if heard.as_events => gemini::events(heard, line),
        Wire::Gemini => return Said::json(200, &gemini::list(heard, line)),
    };
    let pieces = events.into_iter().map(Bytes::from).collect();
    Said { status: 200, content_type: "text/event-stream", pieces }
}

fn whole(heard: &Heard, line: &Line) -> Value {
    match heard.wire {
        Wire::Messages => messages::whole(heard, line),
        Wire::Chat => chat::whole(heard, line),
        Wire::Responses => responses::whole(heard, line),
        Wire::Gemini => gemini::whole(heard, line),
    }
}

fn complaint(wire: Wire, fault: &Fault) -> Value {
    let message = if fault.message.is_empty() { "as scripted" } else { &fault.message };
    let kind = if fault.status == 529 { "overloaded_error" } else { "api_error" };
    match wire {
        Wire::Messages => json!({"type": "error", "error": {"type": kind, "message": message}}),
        Wire::Chat | Wire::Responses => {
            json!({"error": {"message": message, "type": "server_error", "param": null, "code": null}})
        }
        Wire::Gemini => json!({"error": {"code": fault.status, "message": message, "status": "UNAVAILABLE"}}),
    }
}

/// A text in pieces.
fn pieces(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    chars.chunks(PIECE_CHARS).map(|piece| piece.iter().collect()).collect()
}

/// An event with a name, as Messages and Responses have it: the name is also the type of its data.
fn named_event(data: &Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

fn plain_event(data: &Value) -> String {
    format!("data: {data}\n\n")
}
