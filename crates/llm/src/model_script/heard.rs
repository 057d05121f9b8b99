//! What a request says that matters to the script: in which format, by which model, with which tools, and what was said last.

use serde_json::Value;

use crate::wire::{Route, Wire};

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct Heard {
    pub wire: Wire,
    pub path: String,
    /// Names in lowercase, in the order in which they came.
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
    pub(super) value: Value,
    pub(super) model: String,
    pub(super) streams: bool,
    /// Events, or one list of pieces (Gemini without `alt=sse`).
    pub(super) as_events: bool,
    pub(super) counts_only: bool,
}

/// A tool that the agent offers.
#[derive(Debug, Clone, Copy)]
pub(super) struct Offered<'a> {
    pub(super) name: &'a str,
    pub(super) schema: &'a Value,
}

impl Heard {
    /// `None` if the path is of no wire format.
    pub(super) fn new(path_and_query: &str, headers: Vec<(String, String)>, body: Vec<u8>) -> Option<Self> {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let Some(Route::Call { wire, endpoint }) = Route::of(&hyper::Method::POST, path, false) else { return None };
        let value: Value = serde_json::from_slice(&body).unwrap_or_default();
        let in_body = value["model"].as_str().unwrap_or("scripted");
        let by_path = endpoint.streams();
        Some(Self {
            wire,
            path: path.to_owned(),
            headers,
            body,
            model: endpoint.model_in_path().unwrap_or(in_body).to_owned(),
            streams: by_path || (wire != Wire::Gemini && value["stream"] == true),
            as_events: !by_path || query.split('&').any(|pair| pair == "alt=sse"),
            counts_only: endpoint.is_free,
            value,
        })
    }

    /// The tools on offer.
    pub(super) fn tools(&self) -> Vec<Offered<'_>> {
        let tools = self.value["tools"].as_array().map(Vec::as_slice).unwrap_or_default();
        match self.wire {
            Wire::Messages => tools.iter().filter_map(|tool| offered(tool, &["input_schema"])).collect(),
            Wire::Chat => tools.iter().filter_map(|tool| offered(&tool["function"], &["parameters"])).collect(),
            Wire::Responses => tools.iter().filter_map(|tool| offered(tool, &["parameters"])).collect(),
            Wire::Gemini => {
                let declared = tools.iter().filter_map(|tool| tool["functionDeclarations"].as_array()).flatten();
                declared.filter_map(|tool| offered(tool, &["parametersJsonSchema", "parameters"])).collect()
            }
        }
    }

    /// All texts of the last message that the model did not write.
    pub(super) fn said_last(&self) -> String {
        let list = match self.wire {
            Wire::Messages | Wire::Chat => &self.value["messages"],
            Wire::Responses => &self.value["input"],
            Wire::Gemini => &self.value["contents"],
        };
        let Some(items) = list.as_array() else { return texts(list) };
        let is_foreign = |item: &&Value| {
            let by_model = matches!(item["role"].as_str(), Some("assistant" | "model" | "system" | "developer"));
            let by_kind = item["type"].as_str().is_some_and(|kind| kind.ends_with("_call") || kind == "reasoning");
            !by_model && !by_kind
        };
        items.iter().rev().find(is_foreign).map(texts).unwrap_or_default()
    }
}

fn offered<'a>(tool: &'a Value, schemas: &[&str]) -> Option<Offered<'a>> {
    let schema = schemas.iter().map(|name| &tool[*name]).find(|schema| !schema.is_null());
    Some(Offered { name: tool["name"].as_str()?, schema: schema.unwrap_or(&Value::Null) })
}

/// All strings in a value, one below the other.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(members) => members.values().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Null | Value::Bool(_) | Value::Number(_) => String::new(),
    }
}
