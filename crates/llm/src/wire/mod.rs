//! WIRE FORMATS: the four ways in which agents talk to models. Pure: bytes in, bytes out, no network.
//!
//! Of a request only what decides about money and rights is read; everything else passes as it came. A request that could be read in
//! two ways (a key twice, a key in another spelling) is refused, because the upstream might read it the other way. What reaches past the
//! cage ([`reach`]) and members that a format does not have ([`formats`]) pass only where an upstream's settings say so ([`needs`]).

mod ask;
pub(crate) mod chat;
pub(crate) mod complaint;
mod edits;
mod few;
mod formats;
mod gemini;
mod mention;
mod messages;
mod needs;
pub(crate) mod object;
mod priced;
mod reach;
mod responses;
mod route;
mod rules;
mod tally;
mod tokens;

use std::fmt;

use serde::{Deserialize, Serialize};

pub(crate) use ask::{Asked, CacheWrites, Change};
pub(crate) use complaint::{Complaint, Kind};
pub(crate) use edits::Edits;
pub(crate) use needs::Need;
pub(crate) use object::{Object, Unreadable};
pub(crate) use route::{Endpoint, Listing, Route};
pub(crate) use tally::Tally;

use rules::Rules;

/// How a request and its answer are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wire {
    /// Anthropic Messages.
    Messages,
    /// OpenAI Chat Completions.
    Chat,
    /// OpenAI Responses.
    Responses,
    /// Gemini generateContent.
    Gemini,
}

impl Wire {
    pub const ALL: [Self; 4] = [Self::Messages, Self::Chat, Self::Responses, Self::Gemini];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Messages => "messages",
            Self::Chat => "chat",
            Self::Responses => "responses",
            Self::Gemini => "gemini",
        }
    }

    /// What a request asks for.
    pub(crate) fn read(self, endpoint: &Endpoint, body: &Object) -> Result<Asked, Unreadable> {
        let mut asked = match self {
            Self::Messages => messages::read(body),
            Self::Chat => chat::read(body),
            Self::Responses => responses::read(body),
            Self::Gemini => gemini::read(endpoint, body),
        }?;
        let rules = Rules::of(self);
        let seen = reach::search(body.source(), rules)?;
        asked.typed_tools = seen.typed_tools;
        asked.refers |= seen.has_bare_item;
        asked.needs.extend(seen.into_needs());
        // Whatever a tool of the upstream, an address or a file brings into the context has no bytes here.
        asked.refers |= !asked.needs.is_empty();
        let unknown = body.names().filter(|name| !rules.members.contains(name));
        asked.needs.extend(unknown.map(Need::member));
        Ok(asked)
    }

    /// The least edits that make a request cost no more than it may.
    pub(crate) fn change(self, body: &Object, change: &Change<'_>) -> Result<Edits, Unreadable> {
        match self {
            Self::Messages => messages::change(body, change),
            Self::Chat => chat::change(body, change),
            Self::Responses => responses::change(body, change),
            Self::Gemini => gemini::change(body, change),
        }
    }

    /// Adds what one JSON text of an answer (the whole of it, or one event) says about tokens.
    pub(crate) fn count(self, text: &[u8], tally: &mut Tally) {
        match self {
            Self::Messages => messages::count(text, tally),
            Self::Chat => chat::count(text, tally),
            Self::Responses => responses::count(text, tally),
            Self::Gemini => gemini::count(text, tally),
        }
    }
}

impl fmt::Display for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
