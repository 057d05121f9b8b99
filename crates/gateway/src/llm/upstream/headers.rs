//! Which headers, and which parts of a query, cross the gateway. Nothing that belongs to one connection, and nothing that says who somebody is.

use hyper::HeaderMap;
use hyper::header::{self, HeaderName, HeaderValue};

use crate::llm::wire::Wire;

/// Not passed on: they belong to the connection, are set anew here, or would speak for somebody.
const KEPT_BACK: [&str; 26] = [
    // of one connection
    "connection",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "expect",
    // set anew
    "host",
    "content-length",
    "accept-encoding",
    // keys and sessions of the agent
    "authorization",
    "proxy-authorization",
    "proxy-authenticate",
    "x-api-key",
    "x-goog-api-key",
    "api-key",
    "cookie",
    // whose account, or where from
    "x-goog-user-project",
    // would leave out what was used
    "x-goog-fieldmask",
    "openai-organization",
    "openai-project",
    "forwarded",
    "via",
    "origin",
    "referer",
];
const KEPT_BACK_STARTS: [&str; 3] = ["x-forwarded-", "x-placet-", "proxy-"];

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

/// The agent's headers as an upstream gets them.
pub(crate) fn passed_on(from_agent: &HeaderMap) -> HeaderMap {
    let named = named_by_connection(from_agent);
    let kept = |name: &HeaderName| {
        let name = name.as_str();
        KEPT_BACK.contains(&name)
            || KEPT_BACK_STARTS.iter().any(|start| name.starts_with(start))
            || named.iter().any(|n| n == name)
    };
    let mut headers: HeaderMap = from_agent.iter().filter(|(name, _)| !kept(name)).map(owned).collect();
    // Compressed, the answer could not be counted on its way.
    headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    headers
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

    #[test]
    fn r25_no_credential_of_the_agent_is_passed_on() {
        let sent = passed_on(&headers(&[
            ("authorization", "Bearer vk"),
            ("x-api-key", "vk"),
            ("x-goog-api-key", "vk"),
            ("cookie", "session=vk"),
            ("proxy-authorization", "vk"),
            ("openai-organization", "org-of-somebody"),
            ("x-goog-user-project", "project-of-somebody"),
            ("anthropic-version", "2023-06-01"),
            ("user-agent", "agent/1"),
        ]));
        let names: Vec<&str> = sent.keys().map(HeaderName::as_str).collect();
        assert_eq!(names, ["anthropic-version", "user-agent", "accept-encoding"]);
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
    fn headers_of_one_connection_end_with_it() {
        let sent = passed_on(&headers(&[
            ("connection", "close, X-Own"),
            ("x-own", "1"),
            ("te", "trailers"),
            ("upgrade", "h2c"),
            ("x-other", "2"),
        ]));
        assert_eq!(sent.len(), 2);
        assert_eq!(sent["x-other"], "2");
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
