//! What the names inside of a request stand for, in all wire formats. What each of them has is in [`super::formats`].
//!
//! Names inside of a request are compared without `_` and `-` and in small letters, because servers differ in what they take for the same.

use super::Wire;
use super::formats::{CHAT, GEMINI, MESSAGES, RESPONSES};

/// What one format has.
#[derive(Debug)]
pub(super) struct Rules {
    /// What a request may have at its top. Everything else is refused unless the upstream's settings list it: servers have members of their
    /// own that lift the limit of the answer (`n_predict`), choose other models (`models`, `route`, `fallbacks`) or reach the network
    /// (`plugins`).
    pub(super) members: &'static [&'static str],
    /// Data of the agent's own tools, and marks on answers. No server looks for content in it.
    pub(super) free: &'static [&'static str],
    /// What lies with the upstream, beside [`STORED`].
    pub(super) stored: &'static [&'static str],
    /// Types of what was found or made earlier; where such a record comes again, nobody fetches what it names.
    pub(super) records: &'static [&'static str],
    pub(super) tools: Tools,
}

/// How tools say what they are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tools {
    /// By their type; these are run by the agent.
    Typed(&'static [&'static str]),
    /// By the names of their members; these are run by the agent.
    Named(&'static [&'static str]),
}

/// Tools that are described in the request and nowhere else.
pub(super) const PLAIN_TOOLS: [&str; 4] = ["function", "custom", "functionDeclarations", "function_declarations"];

/// How a value is judged, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Class {
    /// Nothing in it is looked at.
    Free,
    /// A JSON schema: its names are those of arguments, and of its texts only references lead anywhere.
    Schema,
    /// A reference inside of a schema.
    Reference,
    /// For the model to read: an address in it is a text.
    Text,
    /// The place of content: itself (`data:`), or an address.
    Address,
    /// What lies with the upstream.
    Stored,
    Other,
}

const SCHEMAS: [&str; 8] = [
    "inputschema",
    "outputschema",
    "schema",
    "parameters",
    "parametersjsonschema",
    "responseschema",
    "responsejsonschema",
    "responseformatschema",
];
const REFERENCES: [&str; 3] = ["$ref", "$dynamicref", "$recursiveref"];
const ADDRESSES: [&str; 11] =
    ["url", "uri", "imageurl", "fileurl", "fileuri", "audiourl", "videourl", "documenturl", "serverurl", "href", "src"];
/// Uploads. An agent cannot upload anything through the gateway, so whatever such a name stands for came from somebody else.
const STORED: [&str; 3] = ["fileid", "fileids", "vectorstoreids"];
const TEXTS: [&str; 35] = [
    "text",
    "content",
    "input",
    "output",
    "instructions",
    "system",
    "arguments",
    "description",
    "title",
    "context",
    "query",
    "summary",
    "thinking",
    "reasoning",
    "reasoningcontent",
    "reasoningtext",
    "refusal",
    "signature",
    "thoughtsignature",
    "encryptedcontent",
    "encryptedstdout",
    "stop",
    "stopsequences",
    "patch",
    "diff",
    "stdout",
    "stderr",
    "code",
    "logs",
    "result",
    "token",
    "user",
    "safetyidentifier",
    "promptcachekey",
    "error",
];
/// A name as names are compared.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(|sign| !matches!(sign, '_' | '-')).map(|sign| sign.to_ascii_lowercase()).collect()
}

impl Rules {
    pub(super) const fn of(wire: Wire) -> &'static Self {
        match wire {
            Wire::Messages => &MESSAGES,
            Wire::Chat => &CHAT,
            Wire::Responses => &RESPONSES,
            Wire::Gemini => &GEMINI,
        }
    }

    /// What a value is by its name, inside of something of this class.
    pub(super) fn class(&self, within: Class, name: &str) -> Class {
        match within {
            Class::Free => Class::Free,
            Class::Schema | Class::Reference if REFERENCES.contains(&name) => Class::Reference,
            Class::Schema | Class::Reference => Class::Schema,
            Class::Text | Class::Address | Class::Stored | Class::Other => self.named(name),
        }
    }

    fn named(&self, name: &str) -> Class {
        let classes: [(&[&str], Class); 6] = [
            (self.free, Class::Free),
            (&SCHEMAS, Class::Schema),
            (&ADDRESSES, Class::Address),
            (&STORED, Class::Stored),
            (self.stored, Class::Stored),
            (&TEXTS, Class::Text),
        ];
        let found = classes.into_iter().find(|(names, _)| names.contains(&name));
        found.map_or(Class::Other, |(_, class)| class)
    }
}
