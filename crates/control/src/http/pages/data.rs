//! `.json` on the address of a page: what the page shows, as the API says it, to the same visit.
//!
//! There is no second implementation: an address leads to the handler of the API, behind the guard that knows visits, and whom the API does
//! not admit is not admitted here either. [`DATA`] says of every page which route has its data, or why none has. Only reading is led on,
//! and only from a page of ours or by hand.

use axum::extract::Request;
use axum::http::uri::PathAndQuery;
use axum::http::{Method, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::get;
use axum::{Extension, Router};

use super::super::PEOPLE;
use super::super::problem::Failure;
use super::guard;
use crate::app::App;

/// Where the handlers stand in the router. Nobody gets there by asking for it: only [`led`] leads there, and says so.
const PREFIX: &str = "/.json";
const NOWHERE: &str = "/.json/nowhere";
const SUFFIX: &str = ".json";

/// Put on a request by [`led`] and by nothing else, with why there is no data where there is none.
#[derive(Debug, Clone, Copy)]
pub(super) struct Led(Option<&'static str>);

/// Where the data of a page comes from.
#[derive(Debug, Clone, Copy)]
pub(in crate::http) enum Source {
    /// This address has it, by this route of the API.
    Api { address: &'static str, route: &'static str },
    /// Nowhere, and why: whoever asks for it is told.
    Nowhere(&'static str),
    /// There is nothing that is for those who are signed in.
    Outside,
}

const fn nowhere(why: &'static str) -> Source {
    Source::Nowhere(why)
}

const fn api(address: &'static str, route: &'static str) -> Source {
    Source::Api { address, route }
}

/// Every page, and where its data comes from. A segment in braces is the same on both sides.
#[rustfmt::skip]
pub(in crate::http) const DATA: &[(&str, Source)] = &[
    ("/enter", Source::Outside),
    ("/enter/passkey", Source::Outside),
    ("/enter/provider", Source::Outside),
    ("/enter/provider/back", Source::Outside),
    ("/enter/{code}", Source::Outside),
    ("/language/{code}", Source::Outside),
    ("/assets/{name}", Source::Outside),
    ("/", api("/inbox", "/api/v1/inbox")),
    ("/live", nowhere("a stream; the API has its own")),
    ("/actions/{action}", api("/actions/{action}", "/api/v1/actions/{action}/card")),
    ("/actions/{action}/log", api("/actions/{action}/log", "/api/v1/actions/{action}/log")),
    ("/actions/{action}/question", nowhere("a question that only a browser answers")),
    ("/evidence/{project}/{digest}", nowhere("bytes as they are")),
    ("/runs", api("/runs", "/api/v1/runs")),
    ("/runs/{run}", api("/runs/{run}", "/api/v1/runs/{run}")),
    ("/runs/{run}/log", api("/runs/{run}/log", "/api/v1/runs/{run}/log")),
    // Its host is waited for, as for the page.
    ("/runs/{run}/rollback/{number}", api("/runs/{run}/rollback/{number}", "/api/v1/runs/{run}/rollback/{number}?wait_ms=8000")),
    ("/decisions", api("/decisions", "/api/v1/decisions/summary")),
    ("/me", api("/me", "/api/v1/decisions/mine")),
    ("/orders", api("/orders", "/api/v1/orders")),
    ("/agents", api("/agents", "/api/v1/identities")),
    ("/agents/{identity}", nowhere("worked out for the page alone; the runs of an agent are among /runs.json")),
    ("/workers", api("/workers", "/api/v1/workers")),
    ("/workers/{identity}", nowhere("one of those in /workers.json")),
    ("/policy", api("/policy", "/api/v1/policy")),
    ("/ledger", api("/ledger", "/api/v1/ledger/entries")),
    ("/ledger/{seq}", api("/ledger/{seq}", "/api/v1/ledger/proof?seq={seq}")),
    ("/settings", nowhere("one's own doors, which the API does not tell")),
    ("/settings/passkeys/question", nowhere("a question that only a browser answers")),
    ("/settings/doors/question", nowhere("a question that only a browser answers")),
    ("/find", nowhere("looked for by the page alone; lists have JSON of their own")),
    ("/help", nowhere("words and nothing else")),
];

/// The segments in braces of a pattern, as a path fills them in; nothing where it is another path.
fn filled<'a>(pattern: &'a str, path: &'a str) -> Option<Vec<(&'a str, &'a str)>> {
    let (words, given): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    if words.len() != given.len() {
        return None;
    }
    let mut found = Vec::new();
    for (word, given) in words.into_iter().zip(given) {
        match word.starts_with('{') {
            true if is_plain(given) => found.push((word, given)),
            false if word == given => {}
            true | false => return None,
        }
    }
    Some(found)
}

/// As ids, digests and numbers are written: nothing in it means anything else where it is put in.
fn is_plain(segment: &str) -> bool {
    !segment.is_empty() && segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b':'))
}

fn put_in(pattern: &str, segments: &[(&str, &str)]) -> String {
    segments.iter().fold(pattern.to_owned(), |text, (word, given)| text.replace(word, given))
}

/// Where the data of the page at this path is, if it is anywhere.
pub(super) fn address_of(path: &str) -> Option<String> {
    DATA.iter().find_map(|(page, source)| match source {
        Source::Api { address, .. } => filled(page, path).map(|segments| put_in(address, &segments) + SUFFIX),
        Source::Nowhere(_) | Source::Outside => None,
    })
}

/// The route of the API that an address with `.json` leads to, with what it asks.
fn route_to(path: &str, query: Option<&str>) -> Option<String> {
    let path = path.strip_suffix(SUFFIX)?;
    let to = DATA.iter().find_map(|(_, source)| match source {
        Source::Api { address, route } => filled(address, path).map(|segments| put_in(route, &segments)),
        Source::Nowhere(_) | Source::Outside => None,
    })?;
    // What the address says itself is not said again behind the `?`.
    Some(match query.filter(|_| !to.contains('?')) {
        Some(query) => format!("{PREFIX}{to}?{query}"),
        None => format!("{PREFIX}{to}"),
    })
}

/// Why what is asked for is nowhere.
fn why_nowhere(path: &str) -> Option<&'static str> {
    let path = path.strip_suffix(SUFFIX)?;
    DATA.iter().find_map(|(page, source)| match source {
        Source::Nowhere(why) => filled(page, path).map(|_| *why),
        Source::Api { .. } | Source::Outside => None,
    })
}

/// Tells it.
async fn tell_why(Extension(Led(why)): Extension<Led>) -> Failure {
    Failure::new(StatusCode::NOT_FOUND, "no_data", format!("this page has no JSON: {}", why.unwrap_or("it is none")))
}

/// The same request, or where its `.json` leads.
pub(in crate::http) fn led(mut request: Request) -> Request {
    if !matches!(*request.method(), Method::GET | Method::HEAD) || request.uri().path().starts_with("/api/") {
        return request;
    }
    let (path, query) = (request.uri().path(), request.uri().query());
    let why = why_nowhere(path);
    let to = why.map(|_| NOWHERE.to_owned()).or_else(|| route_to(path, query));
    if let Some(to) = to.and_then(|to| to.parse::<PathAndQuery>().ok()) {
        *request.uri_mut() = Uri::from(to);
        request.extensions_mut().insert(Led(why));
    }
    request
}

/// The handlers of the API that have the data of pages, each behind the guard that knows visits, for whom the API admits.
pub(super) fn router(app: &App) -> Router<App> {
    let routes = super::super::routes().into_iter();
    let named = |path: &str| {
        DATA.iter().any(|(_, source)| match source {
            Source::Api { route, .. } => route.split('?').next() == Some(path),
            Source::Nowhere(_) | Source::Outside => false,
        })
    };
    let wanted = routes.filter(|route| route.method == Method::GET && named(&route.path));
    let told = get(tell_why).layer(from_fn_with_state((app.clone(), PEOPLE), guard::guard_data));
    wanted.fold(Router::new().route(NOWHERE, told), |router, route| {
        let guarded = route.handler.layer(from_fn_with_state((app.clone(), route.access), guard::guard_data));
        router.route(&format!("{PREFIX}{}", route.path), guarded)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_every_page_says_where_its_data_is_or_why_it_is_nowhere() {
        let pages = super::super::table();
        let pages: Vec<&str> =
            pages.iter().filter(|route| route.method == Method::GET).map(|route| route.path.as_ref()).collect();
        let listed: Vec<&str> = DATA.iter().map(|(page, _)| *page).collect();
        assert_eq!(listed, pages, "DATA has every page, in the order of the table");
        let api = super::super::super::routes();
        for (page, source) in DATA {
            match source {
                Source::Nowhere(why) => assert!(why.split(' ').count() > 1, "{page}: why?"),
                Source::Outside => {
                    let table = super::super::table();
                    let row = table.iter().find(|route| route.path == *page).unwrap();
                    assert!(
                        matches!(row.access, super::super::Access::Public),
                        "{page} is for those who are signed in"
                    );
                }
                Source::Api { route, .. } => {
                    let path = route.split('?').next().unwrap();
                    assert!(
                        api.iter().any(|known| known.method == Method::GET && known.path == path),
                        "{page}: {route}"
                    );
                }
            }
        }
    }

    #[test]
    fn c16_an_address_with_json_leads_to_the_route_of_its_page_and_nothing_else_does() {
        for (asked, to) in [
            ("/inbox.json?tier=B", Some("/.json/api/v1/inbox?tier=B")),
            ("/actions/act_1.json", Some("/.json/api/v1/actions/act_1/card")),
            ("/runs/run_1/rollback/2.json", Some("/.json/api/v1/runs/run_1/rollback/2?wait_ms=8000")),
            ("/ledger/7.json?seq=8", Some("/.json/api/v1/ledger/proof?seq=7")),
            ("/ledger/.json", None),
            ("/ledger/7&x=1.json", None),
            ("/runs/%2e%2e.json", None),
            ("/settings.json", None),
            ("/runs/run_1", None),
            ("/.json/api/v1/runs", None),
            ("/api/v1/openapi.json", None),
        ] {
            let uri: Uri = asked.parse().unwrap();
            assert_eq!(route_to(uri.path(), uri.query()).as_deref(), to, "{asked}");
        }
        assert_eq!(address_of("/").as_deref(), Some("/inbox.json"));
        assert_eq!(address_of("/actions/act_1").as_deref(), Some("/actions/act_1.json"));
        assert_eq!(address_of("/settings"), None);
    }
}
