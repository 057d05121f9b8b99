//! The list of models that a caller may use, in the shape its library reads.

use bytes::Bytes;
use serde_json::{Value, json};

use super::wire::{Listing, Wire};

impl Listing {
    /// In whose shape a refusal is told.
    pub(crate) const fn wire(self) -> Wire {
        match self {
            Self::Anthropic => Wire::Messages,
            Self::OpenAi => Wire::Chat,
            Self::Gemini => Wire::Gemini,
        }
    }
}

pub(crate) fn body(listing: Listing, names: &[String]) -> Bytes {
    let list = |entry: fn(&String) -> Value| names.iter().map(entry).collect::<Vec<_>>();
    let value = match listing {
        Listing::Anthropic => {
            let data = list(
                |name| json!({"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}),
            );
            json!({"data": data, "has_more": false, "first_id": names.first(), "last_id": names.last()})
        }
        Listing::OpenAi => {
            let data = list(|name| json!({"id": name, "object": "model", "created": 0, "owned_by": "placet"}));
            json!({"object": "list", "data": data})
        }
        Listing::Gemini => {
            let methods = ["generateContent", "streamGenerateContent", "countTokens"];
            let models: Vec<Value> = names
                .iter()
                .map(|name| json!({"name": format!("models/{name}"), "displayName": name, "supportedGenerationMethods": methods}))
                .collect();
            json!({"models": models})
        }
    };
    value.to_string().into()
}
