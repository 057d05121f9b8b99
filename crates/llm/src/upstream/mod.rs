//! UPSTREAM: where models are served, and the real keys that only this process holds.

mod base;
mod client;
mod headers;
mod key;
mod names;

use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use placet_dial::{KeySource, RootsError, Secret, SecretError};
use serde::Deserialize;
use tokio_rustls::rustls;

pub use base::{BadBase, BaseUrl};
pub(crate) use client::{Client, NotSent, Outgoing};
pub(crate) use headers::{
    asks_for_wide_context, is_events, is_request_id, passed_back, passed_on, passed_query, request_id,
};
pub use names::{AllowedHeader, BadName, MemberName};

use super::models::Models;
use super::wire::{Need, Wire};
use key::RealKey;

/// What a team writes down about one upstream.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UpstreamSettings {
    pub name: String,
    /// The wire formats it speaks. Requests are not translated.
    pub wire: Vec<Wire>,
    pub base_url: BaseUrl,
    /// What agents may ask of it, by the names agents use.
    pub models: Models,
    pub key: Option<KeySource>,
    /// Who issues its certificate, and nobody else is believed; without it, whoever everybody believes.
    pub ca_file: Option<PathBuf>,
    /// How the key is sent, if not as the wire format does it.
    pub key_header: Option<KeyHeader>,
    /// Who sells it, as the table of prices calls them; found by the address if it is left out.
    pub provider: Option<String>,
    /// Models by the names agents use, and what this upstream calls them.
    #[serde(default)]
    pub rename: BTreeMap<String, String>,
    /// Whether tools may be used that the upstream runs itself, such as its own search of the web.
    #[serde(default)]
    pub server_tools: bool,
    /// Whether content may be named by an address, from which the upstream fetches it.
    #[serde(default)]
    pub fetches: bool,
    /// Whether content may be named that lies with the upstream: uploads, prompts, conversations, caches.
    #[serde(default)]
    pub stored: bool,
    /// Members of requests that pass beside those that the wire format has.
    #[serde(default)]
    pub allow_members: Vec<MemberName>,
    /// Headers of agents that pass beside those that are known to be needed.
    #[serde(default)]
    pub allow_headers: Vec<AllowedHeader>,
    /// How a limit is added to Chat requests that have none.
    #[serde(default)]
    pub limit_name: LimitName,
    #[serde(default)]
    pub timeouts: Timeouts,
}

impl UpstreamSettings {
    pub(crate) fn permits(&self, need: &Need) -> bool {
        match need {
            Need::Tool(_) => self.server_tools,
            Need::Address(_) => self.fetches,
            Need::Stored(_) => self.stored,
            Need::Member(name) => self.allow_members.iter().any(|allowed| allowed.as_str() == name),
        }
    }
}

/// How a key is sent to an upstream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeyHeader {
    XApiKey,
    XGoogApiKey,
    /// `authorization: Bearer …`
    Bearer,
}

impl KeyHeader {
    const fn usual(wire: Wire) -> Self {
        match wire {
            Wire::Messages => Self::XApiKey,
            Wire::Chat | Wire::Responses => Self::Bearer,
            Wire::Gemini => Self::XGoogApiKey,
        }
    }
}

/// Chat has two names for the most tokens of an answer: OpenAI wants the newer one, some local servers know the older one only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LimitName {
    #[default]
    MaxCompletionTokens,
    MaxTokens,
}

impl LimitName {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
        }
    }
}

/// How long an upstream may take, in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// To accept a connection.
    pub connect_ms: NonZeroU64,
    /// To send the first byte of an answer. An answer that is no stream comes all at once, and a long one takes minutes.
    pub first_byte_ms: NonZeroU64,
    /// Between two pieces of an answer.
    pub idle_ms: NonZeroU64,
}

impl Default for Timeouts {
    fn default() -> Self {
        let ms = |ms| NonZeroU64::new(ms).unwrap_or(NonZeroU64::MAX);
        Self { connect_ms: ms(5_000), first_byte_ms: ms(600_000), idle_ms: ms(120_000) }
    }
}

impl Timeouts {
    pub(crate) const fn connect(&self) -> Duration {
        Duration::from_millis(self.connect_ms.get())
    }

    pub(crate) const fn first_byte(&self) -> Duration {
        Duration::from_millis(self.first_byte_ms.get())
    }

    pub(crate) const fn idle(&self) -> Duration {
        Duration::from_millis(self.idle_ms.get())
    }
}

/// Why an upstream cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error(transparent)]
    Key(#[from] SecretError),
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error("tls cannot be set up")]
    Tls(#[from] rustls::Error),
}

/// An upstream that is ready: its key is read, its connections are pooled.
#[derive(Debug)]
pub(crate) struct Upstream {
    pub(crate) settings: UpstreamSettings,
    key: Option<RealKey>,
    pub(crate) client: Client,
}

impl Upstream {
    pub(crate) async fn open(settings: UpstreamSettings) -> Result<Self, OpenError> {
        let key = match &settings.key {
            Some(source) => Some(RealKey::read(source.clone()).await?),
            None => None,
        };
        let client = Client::new(&settings)?;
        Ok(Self { settings, key, client })
    }

    /// The key of this moment.
    pub(crate) fn key(&self) -> Option<Arc<Secret>> {
        self.key.as_ref().map(RealKey::now)
    }

    /// Whether there is another key than this one, which was refused.
    pub(crate) async fn has_another_key(&self, refused: &Arc<Secret>) -> bool {
        match &self.key {
            Some(key) => key.has_another(refused).await,
            None => false,
        }
    }

    pub(crate) fn serves(&self, wire: Wire, model: &str) -> bool {
        self.settings.wire.contains(&wire) && self.settings.models.include(model)
    }

    /// What it calls the model.
    pub(crate) fn calls<'a>(&'a self, model: &'a str) -> &'a str {
        self.settings.rename.get(model).map_or(model, String::as_str)
    }

    fn key_header(&self, wire: Wire) -> KeyHeader {
        self.settings.key_header.unwrap_or(KeyHeader::usual(wire))
    }
}
