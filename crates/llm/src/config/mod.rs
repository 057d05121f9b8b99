//! Settings of the gateway: the text of `gateway.toml`, read strictly. Nothing is opened here, and no key is ever part of it.

mod problem;

use std::collections::BTreeSet;
use std::num::{NonZeroU64, NonZeroUsize};
use std::time::Duration;

use placet_dial::KeySource;
use serde::Deserialize;
use toml::Spanned;

pub use problem::{Problem, Problems};

use super::models::is_name;
use super::price::OwnPrice;
use super::upstream::UpstreamSettings;

/// Everything a team decides about the gateway.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    pub limits: Limits,
    /// In the order in which they are tried.
    pub upstreams: Vec<UpstreamSettings>,
    pub prices: Vec<OwnPrice>,
}

/// What no request may exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// The largest body of a request.
    pub request_bytes: NonZeroU64,
    /// The longest answer. Agents ask for far more than they use, and all of it would be held while they wait. Only how long a model shall
    /// think (`thinking.budget_tokens`) lifts it: the upstream refuses a limit below that.
    pub output_tokens: NonZeroU64,
    /// How many bytes of a request count as one token when its worst case is held. One is sure; with more, an agent that writes
    /// for it can spend more than was held, which is charged when it is known.
    pub input_bytes_per_token: NonZeroU64,
    /// Connections at once.
    pub connections: NonZeroUsize,
    /// What all requests together may take in memory before upstreams have them, each byte as it came and as it goes out, and what is
    /// said in open calls where that is kept. One run has at most a quarter of it, or what its largest request takes.
    pub bytes_in_flight: NonZeroU64,
    /// How many answers are read to their ends at once whose agents hung up; a quarter of them for one run, and fewer where others need
    /// them. With none, each such call counts as the longest answer that it may have had.
    pub hang_ups: u64,
    /// How long after its agent hung up an answer is waited for: as long as a model thinks about a hard question.
    pub hang_up_ms: NonZeroU64,
    /// How long an agent may leave an answer unread before it counts as having left.
    pub unread_ms: NonZeroU64,
}

/// A request is in memory as it came, and as it goes out.
pub(crate) const COPIES: u64 = 2;

impl Limits {
    pub(crate) const fn hang_up(&self) -> Duration {
        Duration::from_millis(self.hang_up_ms.get())
    }

    pub(crate) const fn unread(&self) -> Duration {
        Duration::from_millis(self.unread_ms.get())
    }

    /// What the largest request takes.
    pub(crate) const fn largest(&self) -> u64 {
        self.request_bytes.get().saturating_mul(COPIES)
    }
}

impl Default for Limits {
    fn default() -> Self {
        let number = |number| NonZeroU64::new(number).unwrap_or(NonZeroU64::MIN);
        Self {
            request_bytes: number(32 << 20),
            output_tokens: number(32_000),
            input_bytes_per_token: NonZeroU64::MIN,
            connections: NonZeroUsize::new(1_024).unwrap_or(NonZeroUsize::MIN),
            bytes_in_flight: number(512 << 20),
            hang_ups: 256,
            hang_up_ms: number(600_000),
            unread_ms: number(60_000),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    limits: Limits,
    #[serde(default)]
    upstream: Vec<Spanned<UpstreamSettings>>,
    #[serde(default)]
    price: Vec<OwnPrice>,
}

impl Settings {
    /// Reads the text of `gateway.toml`. What is wrong is told with its line and what to do.
    pub fn read(text: &str) -> Result<Self, Problems> {
        let file: File = toml::from_str(text).map_err(|error| Problem::of_toml(text, &error))?;
        let mut problems = Vec::new();
        if file.upstream.is_empty() {
            problems.push(Problem::new(1, "there is no `[[upstream]]`, so no model can be called; add one"));
        }
        if file.limits.bytes_in_flight.get() < file.limits.largest() {
            let why = "`bytes_in_flight` is less than twice `request_bytes`, so the largest request would never fit";
            problems.push(Problem::new(1, why));
        }
        let mut names = BTreeSet::new();
        for upstream in &file.upstream {
            let line = problem::line(text, upstream.span().start);
            let settings = upstream.get_ref();
            let twice = (!names.insert(settings.name.clone())).then(|| "has a name that another one has".to_owned());
            let found = check(settings).into_iter().chain(twice);
            problems.extend(found.map(|what| Problem::new(line, format!("the upstream `{}` {what}", settings.name))));
        }
        if !problems.is_empty() {
            return Err(Problems::from(problems));
        }
        let upstreams = file.upstream.into_iter().map(Spanned::into_inner).map(with_provider).collect();
        Ok(Self { limits: file.limits, upstreams, prices: file.price })
    }
}

/// What is wrong with an upstream, beyond the form of each of its values.
fn check(upstream: &UpstreamSettings) -> Vec<String> {
    let base = &upstream.base_url;
    let renamed = |(from, to): (&String, &String)| is_name(from) && is_name(to);
    let rules = [
        (is_name(&upstream.name), "needs a name of letters, digits and `.-_`".to_owned()),
        (
            !upstream.wire.is_empty(),
            "speaks no wire format; list some of `messages`, `chat`, `responses`, `gemini`".to_owned(),
        ),
        (upstream.models.iter().next().is_some(), "serves no model; list some, such as `claude-*`".to_owned()),
        (upstream.rename.iter().all(renamed), "has a name in `rename` that no model has".to_owned()),
        (
            upstream.key.is_none() || !base.is_plain() || base.is_loopback(),
            format!("would send its key in the open to `{base}`; use `https`"),
        ),
        (
            !matches!(&upstream.key, Some(KeySource::Command(argv)) if argv.is_empty()),
            "has an empty key command; write the program and its arguments".to_owned(),
        ),
        (
            upstream.provider.as_deref().is_none_or(super::price::is_provider),
            "names a provider that the table of prices does not have".to_owned(),
        ),
    ];
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, what)| what).collect()
}

/// Who sells it follows from the address, for those that the table of prices knows.
fn with_provider(mut upstream: UpstreamSettings) -> UpstreamSettings {
    if upstream.provider.is_none() {
        upstream.provider = super::price::provider_at(&upstream.base_url.to_string());
    }
    upstream
}
