//! Which headers, and which parts of a query, cross the gateway: those that say how a request is to be read, and nothing that says who
//! somebody is or where it should go instead.
//!
//! What is not listed stays behind without a word, because libraries send much that nobody needs. A server in between may take its orders
//! from headers (`x-portkey-custom-host` sends a request, and the real key with it, wherever it says), and nobody knows all of them.

use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};

use super::names::AllowedHeader;
use crate::wire::Wire;

/// A header that passes, and why.
struct Passed {
    /// The name, or its beginning where it ends with a dash.
    name: &'static str,
    /// For these formats alone; for all of them where there is none.
    wires: &'static [Wire],
}

/// What passes. Decided against: `idempotency-key` (the upstream would give again what another run got for the same key), `openai-beta`
/// (nothing that is carried here needs it), `openai-organization`, `openai-project` and `x-goog-user-project` (whose account it is),
/// `x-goog-fieldmask` (leaves out what was used), `x-request-id`, `traceparent`, `session-id`, `x-app` and the like (nobody needs them),
/// `content-encoding` (what is read here is not compressed).
const PASSED: [Passed; 5] = [
    // Which program it is: some upstreams refuse whoever says nothing.
    Passed { name: "user-agent", wires: &[] },
    // Which library, its version, and for how long it will wait.
    Passed { name: "x-stainless-", wires: &[] },
    // How requests and answers are written.
    Passed { name: "anthropic-version", wires: &[Wire::Messages] },
    // What is tried out. Whatever costs or reaches more needs members or tools besides, which are looked at.
    Passed { name: "anthropic-beta", wires: &[Wire::Messages] },
    // Which library.
    Passed { name: "x-goog-api-client", wires: &[Wire::Gemini] },
];

/// What an answer may come as. In another form it could not be counted.
const ACCEPTED: [&str; 3] = ["application/json", "text/event-stream", "*/*"];

/// What an agent may learn from an upstream's head: enough to read the answer and to wait, nothing about the account.
const PASSED_BACK: [&str; 8] = [
    "content-type",
    "content-encoding",
    "cache-control",
    "retry-after",
    "retry-after-ms",
    "x-should-retry",
    "request-id",
    "x-request-id",
];

/// The agent's headers as an upstream gets them: those that pass, and those that its settings allow beside them.
pub(crate) fn passed_on(wire: Wire, from_agent: &HeaderMap, allowed: &[AllowedHeader]) -> HeaderMap {
    let named = named_by_connection(from_agent);
    let passes = |name: &HeaderName| {
        let listed = PASSED.iter().any(|passed| passed.is(wire, name.as_str()));
        (listed || allowed.iter().any(|allowed| allowed.name() == name)) && !named.iter().any(|n| n == name.as_str())
    };
    let mut headers: HeaderMap = from_agent.iter().filter(|(name, _)| passes(name)).map(owned).collect();
    // Read here as JSON in UTF-8; a name of another form would have it read as something else there.
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    // Compressed, the answer could not be counted on its way.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if let Some(accept) = from_agent.get(header::ACCEPT).filter(|accept| is_accepted(accept)) {
        headers.insert(header::ACCEPT, accept.clone());
    }
    headers
}

impl Passed {
    fn is(&self, wire: Wire, name: &str) -> bool {
        let alike = if self.name.ends_with('-') { name.starts_with(self.name) } else { name == self.name };
        alike && (self.wires.is_empty() || self.wires.contains(&wire))
    }
}

fn is_accepted(accept: &HeaderValue) -> bool {
    let kind = |one: &str| ACCEPTED.contains(&one.split(';').next().unwrap_or_default().trim());
    accept.to_str().is_ok_and(|accept| accept.split(',').all(kind))
}

/// The upstream's headers as an agent gets them.
pub(crate) fn passed_back(from_upstream: &HeaderMap) -> HeaderMap {
    from_upstream.iter().filter(|(name, _)| PASSED_BACK.contains(&name.as_str())).map(owned).collect()
}

/// What of the agent's query passes: what the libraries need, and nothing else. Other words could speak for somebody, or have
/// the upstream leave out what it used.
const PASSED_QUERY: [&str; 2] = ["alt=sse", "beta=true"];

pub(crate) fn passed_query(query: Option<&str>) -> String {
    let kept = query.unwrap_or_default().split('&').filter(|pair| PASSED_QUERY.contains(pair));
    kept.collect::<Vec<_>>().join("&")
}

/// Whether Anthropic is asked for its larger context.
pub(crate) fn asks_for_wide_context(from_agent: &HeaderMap) -> bool {
    let betas = from_agent.get_all("anthropic-beta").iter().filter_map(|value| value.to_str().ok());
    betas.flat_map(|value| value.split(',')).any(|beta| beta.trim().starts_with("context-1m"))
}

/// Where upstreams say what they call a call, the usual one of each wire format first: their bills and their support know it by that.
const fn request_ids(wire: Wire) -> [&'static str; 4] {
    match wire {
        Wire::Messages => ["request-id", "x-request-id", "x-amzn-requestid", "apim-request-id"],
        Wire::Chat | Wire::Responses | Wire::Gemini => {
            ["x-request-id", "request-id", "apim-request-id", "x-amzn-requestid"]
        }
    }
}

/// Longer than any that was seen; what is longer goes into no record.
const LONGEST_REQUEST_ID: usize = 128;

/// What an upstream calls the call, as far as its head says so.
pub(crate) fn request_id(wire: Wire, from_upstream: &HeaderMap) -> Option<String> {
    let said = request_ids(wire).into_iter().filter_map(|name| from_upstream.get(name)?.to_str().ok());
    said.map(str::to_owned).find(|id| is_request_id(id))
}

pub(crate) fn is_request_id(text: &str) -> bool {
    (1..=LONGEST_REQUEST_ID).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic())
}

/// Whether an answer is a stream of events.
pub(crate) fn is_events(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("text/event-stream"))
}

fn owned((name, value): (&HeaderName, &HeaderValue)) -> (HeaderName, HeaderValue) {
    (name.clone(), value.clone())
}

/// A connection can declare any header its own.
fn named_by_connection(headers: &HeaderMap) -> Vec<String> {
    let values = headers.get_all(header::CONNECTION).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(|name| name.trim().to_ascii_lowercase()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value))).collect()
    }

    fn names(headers: &HeaderMap) -> Vec<&str> {
        headers.keys().map(HeaderName::as_str).collect()
    }

    #[test]
    fn r25_no_credential_of_the_agent_is_passed_on() {
        let sent = passed_on(
            Wire::Messages,
            &headers(&[
                ("authorization", "Bearer vk"),
                ("x-api-key", "vk"),
                ("x-goog-api-key", "vk"),
                ("cookie", "session=vk"),
                ("proxy-authorization", "vk"),
                ("openai-organization", "org-of-somebody"),
                ("x-goog-user-project", "project-of-somebody"),
                ("anthropic-version", "2023-06-01"),
                ("user-agent", "agent/1"),
            ]),
            &[],
        );
        assert_eq!(names(&sent), ["anthropic-version", "user-agent", "content-type", "accept-encoding"]);
        assert_eq!(sent["accept-encoding"], "identity");
    }

    #[test]
    fn r25_a_key_in_a_query_stays_here() {
        assert_eq!(
            passed_query(Some(
                "alt=sse&key=vk&beta=true&KEY=vk&%6bey=vk&access_token=vk&oauth_token=vk&fields=candidates&alt=proto&callback=x&"
            )),
            "alt=sse&beta=true"
        );
        assert_eq!(passed_query(None), "");
    }

    #[test]
    fn r25_what_is_not_listed_stays_behind_unless_a_team_lists_it() {
        let from_agent = headers(&[
            ("x-portkey-custom-host", "https://evil.example"),
            ("x-forwarded-for", "1.2.3.4"),
            ("idempotency-key", "of-another-run"),
            ("x-stainless-lang", "js"),
            ("x-goog-api-client", "genai"),
            ("x-title", "agent"),
            ("anthropic-beta", "x"),
        ]);
        for (wire, expected) in [
            (Wire::Messages, ["x-stainless-lang", "anthropic-beta"]),
            (Wire::Gemini, ["x-stainless-lang", "x-goog-api-client"]),
        ] {
            assert_eq!(names(&passed_on(wire, &from_agent, &[]))[..2], expected, "{wire}");
        }
        let sent = passed_on(Wire::Chat, &from_agent, &["x-title".parse().unwrap()]);
        assert_eq!(names(&sent), ["x-stainless-lang", "x-title", "content-type", "accept-encoding"]);
    }

    #[test]
    fn r25_a_body_is_what_it_was_read_as_whatever_the_agent_calls_it() {
        for (accept, passes) in [
            ("application/json", true),
            ("text/event-stream, */*;q=0.1", true),
            ("application/x-protobuf", false),
            ("application/json, application/x-protobuf", false),
        ] {
            let from_agent = headers(&[("content-type", "application/json; charset=utf-16"), ("accept", accept)]);
            let sent = passed_on(Wire::Gemini, &from_agent, &[]);
            assert_eq!(sent["content-type"], "application/json");
            assert_eq!(sent.contains_key("accept"), passes, "{accept}");
        }
    }

    #[test]
    fn headers_of_one_connection_end_with_it() {
        let from_agent =
            headers(&[("connection", "close, X-Own"), ("x-own", "1"), ("te", "trailers"), ("x-other", "2")]);
        let allowed = ["x-own", "x-other"].map(|name| name.parse().unwrap());
        let sent = passed_on(Wire::Chat, &from_agent, &allowed);
        assert_eq!(names(&sent), ["x-other", "content-type", "accept-encoding"]);
    }

    #[test]
    fn an_agent_learns_nothing_about_the_account() {
        let back = passed_back(&headers(&[
            ("content-type", "text/event-stream; charset=utf-8"),
            ("set-cookie", "a=b"),
            ("anthropic-organization-id", "org"),
            ("openai-organization", "org"),
            ("retry-after", "3"),
        ]));
        assert_eq!(back.len(), 2);
        assert!(is_events(&back));
    }
}
