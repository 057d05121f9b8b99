//! KEY: who calls. An agent holds a virtual key that is worth something here and nowhere else; it names one run.
//!
//! Which keys there are is known to whoever runs the gateway ([`Keys`]). A key of somebody else is an unknown key: nobody reaches an
//! upstream on an account that is not ours.

use std::fmt;
use std::future::Future;

use hyper::header::{AUTHORIZATION, HeaderMap};
use hyper::http::request::Parts;
use placet_domain::id::RunId;
use zeroize::Zeroizing;

use super::models::Models;

/// Where the four wire formats carry a key that is no bearer token.
const KEY_HEADERS: [&str; 2] = ["x-api-key", "x-goog-api-key"];

/// What a caller showed. Never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct VirtualKey(Zeroizing<String>);

impl VirtualKey {
    pub fn new(text: impl Into<String>) -> Self {
        Self(Zeroizing::new(text.into()))
    }

    /// The key itself, to be compared (best as a digest) and forgotten.
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for VirtualKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("VirtualKey(…)")
    }
}

/// What the holder of a key may ask for, and on whose account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallScope {
    pub run: RunId,
    pub models: Models,
    /// Whether what is said is collected, for whoever runs the gateway to keep.
    pub keeps_words: bool,
}

impl CallScope {
    /// As usual: nothing of what is said is kept.
    pub const fn new(run: RunId, models: Models) -> Self {
        Self { run, models, keeps_words: false }
    }
}

/// Why a key opens nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyRefusal {
    #[error("this key is not known here; use the key that the run was given")]
    Unknown,
    /// The run is over, paused or stopped; the text says which.
    #[error("this run makes no calls now: {0}")]
    Closed(String),
    /// It could not be found out. The text goes to the log, not to the agent.
    #[error("keys cannot be checked at the moment; try again later")]
    Fault(String),
}

/// Who knows the keys.
pub trait Keys: Send + Sync + 'static {
    fn scope(&self, key: &VirtualKey) -> impl Future<Output = Result<CallScope, KeyRefusal>> + Send;
}

/// A request from which no key could be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoKey {
    #[error("no key was sent; use the key that the run was given")]
    Missing,
    #[error("two different keys were sent; send one")]
    Several,
}

/// The key of a request, wherever its wire format puts it. Two places may hold the same key, but not different ones: else the one
/// that is checked might not be the one that counts.
pub(crate) fn shown(head: &Parts) -> Result<VirtualKey, NoKey> {
    let mut keys = in_headers(&head.headers).chain(in_query(head.uri.query())).filter(|key| !key.is_empty());
    let first = keys.next().ok_or(NoKey::Missing)?;
    if keys.any(|key| key != first) { Err(NoKey::Several) } else { Ok(VirtualKey::new(first)) }
}

fn in_headers(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let plain = KEY_HEADERS.iter().flat_map(|name| headers.get_all(*name));
    let bearer = headers.get_all(AUTHORIZATION).iter().filter_map(|value| bearer(value.to_str().ok()?));
    plain.filter_map(|value| value.to_str().ok()).map(str::trim).chain(bearer)
}

fn bearer(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn in_query(query: Option<&str>) -> impl Iterator<Item = &str> {
    query.unwrap_or_default().split('&').filter_map(|pair| pair.strip_prefix("key="))
}

#[cfg(test)]
mod tests {
    use hyper::Request;

    use super::*;

    fn head(uri: &str, headers: &[(&str, &str)]) -> Parts {
        let request = headers.iter().fold(Request::get(uri), |request, (name, value)| request.header(*name, *value));
        request.body(()).unwrap().into_parts().0
    }

    #[test]
    fn every_wire_format_has_its_place_for_the_key() {
        for (uri, name, value) in [
            ("/", "x-api-key", "vk"),
            ("/", "authorization", "Bearer vk"),
            ("/", "authorization", "bearer  vk"),
            ("/", "x-goog-api-key", "vk"),
            ("/?alt=sse&key=vk", "accept", "*/*"),
        ] {
            assert_eq!(shown(&head(uri, &[(name, value)])), Ok(VirtualKey::new("vk")), "{uri} {name}");
        }
    }

    #[test]
    fn a_request_without_a_key_and_one_with_two_are_told_apart() {
        assert_eq!(shown(&head("/", &[("authorization", "Basic dms=")])), Err(NoKey::Missing));
        assert_eq!(shown(&head("/?key=", &[("x-api-key", "")])), Err(NoKey::Missing));
        assert_eq!(shown(&head("/", &[("x-api-key", "a"), ("authorization", "Bearer b")])), Err(NoKey::Several));
        assert_eq!(shown(&head("/", &[("x-api-key", "a"), ("x-api-key", "b")])), Err(NoKey::Several));
        assert_eq!(shown(&head("/?key=a", &[("x-api-key", "a")])), Ok(VirtualKey::new("a")));
    }

    #[test]
    fn a_key_is_never_printed() {
        assert!(!format!("{:?}", VirtualKey::new("vk-canary")).contains("canary"));
    }
}
