//! Who is there, and did they mean it? A cookie names a visit; a form counts only if it comes from a page of ours that was shown to that
//! very visit. Everything that is not expressly admitted is refused, and known people without the role are recorded as by the API.
//!
//! Three things stand against a page of strangers that sends a form in somebody's name: the cookie does not go with it (`SameSite`), the
//! browser says where it comes from (`Origin`, `Sec-Fetch-Site`), and it cannot know what our form holds (`csrf`). Against a name that
//! strangers point at this address stands that we answer to our own names only.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use placet_control::http::{Access, Address, Failure, UnreadRequest, foreign_host, identify, refuse, single_header};
use placet_control::{App, PublicUrl, token_digest};
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::Identity;
use placet_lang::Lang;
use tokio::sync::Semaphore;

use super::{Web, enter, form, viewer};
use crate::markup::Problem;

pub(super) const VISIT: &str = "placet_visit";
pub(super) const LANGUAGE: &str = "placet_language";
/// `idn_…` and 256 bits; longer ones are not even looked at.
const LONGEST_COOKIE: usize = 256;
const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// No script but ours, no style but ours, nothing of strangers, nobody around us, no form to elsewhere.
const CONTENT_POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
    form-action 'self'; base-uri 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types placet";

/// Who asks a page for something, from which visit. Put there by [`guard`] and by nothing else.
#[derive(Debug, Clone)]
pub(super) struct Visiting {
    pub(super) identity: Arc<Identity>,
    pub(super) visit: Digest,
    /// What every form of this visit holds.
    pub(super) csrf: String,
    /// How far the ledger was before anything was read for them.
    pub(super) mark: String,
    pub(super) lang: Lang,
}

impl<S: Send + Sync> FromRequestParts<S> for Visiting {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        parts.extensions.get::<Self>().cloned().ok_or_else(Failure::unguarded)
    }
}

/// The language of whoever asks, visiting or not.
#[derive(Debug, Clone, Copy)]
pub(super) struct Speaks(pub(super) Lang);

impl<S: Send + Sync> FromRequestParts<S> for Speaks {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Failure> {
        Ok(Self(language(&parts.headers, parts.extensions.get::<Address>())))
    }
}

pub(super) async fn guard(State((app, access)): State<(Web, Access)>, mut request: Request, next: Next) -> Response {
    let came = came_to(&request, app.settings().public_url.as_ref());
    let lang = language(request.headers(), came.as_ref().ok());
    match came {
        Err(failure) => {
            // Whoever is signed in has the way on around it: what tells them so is shown to them, and to no page of strangers.
            let asked = Browsing::from(&request);
            let viewer = told_to(&app, &asked, lang).await;
            with_headers(as_page(lang, viewer.as_ref(), asked.back, failure.into_response()))
        }
        Ok(address) => {
            request.extensions_mut().insert(address.clone());
            let answered = with_headers(admit(&app, access, &address, lang, request, next).await);
            if address.is_for_tls_alone() { for_tls_alone(answered) } else { answered }
        }
    }
}

async fn admit(app: &Web, access: Access, address: &Address, lang: Lang, mut request: Request, next: Next) -> Response {
    if matches!(access, Access::Public) {
        return as_page(lang, None, "/enter".to_owned(), next.run(request).await);
    }
    let back = back(&request);
    let visiting = match find_visit(app, address, request.headers(), lang).await {
        Err(failure) => return as_page(lang, None, back, failure.into_response()),
        Ok(None) => return enter::first(app, address, &request, lang),
        Ok(Some(visiting)) => visiting,
    };
    let Some(_share) = app.request_share(visiting.identity.id) else {
        let why = "you have too many requests under way; wait for one to end";
        let busy = Failure::new(StatusCode::TOO_MANY_REQUESTS, "too_many", why).into_response();
        let viewer = viewer::viewer_of(app, &visiting, UNCOUNTED).await.ok();
        return as_page(lang, viewer.as_ref(), back, form::beside(busy, request).await);
    };
    let answered = if access.admits(&visiting.identity) {
        identify(&mut request, Arc::clone(&visiting.identity));
        request.extensions_mut().insert(visiting.clone());
        next.run(request).await
    } else {
        refuse(app, &visiting.identity, access).await
    };
    if answered.extensions().get::<Failure>().is_none() {
        return answered;
    }
    let viewer = viewer::viewer(app, &visiting).await.ok();
    as_page(lang, viewer.as_ref(), back, answered)
}

/// A request of somebody with a browser, as far as an answer depends on it: kept while the request itself is worked on.
#[derive(Debug, Clone)]
struct Browsing {
    host: Option<String>,
    headers: HeaderMap,
    /// Where to look again.
    back: String,
    /// The page that a form stood on, if a GET request asks for the address of a form.
    form_page: Option<String>,
}

impl From<&Request> for Browsing {
    fn from(request: &Request) -> Self {
        let mut headers = HeaderMap::new();
        for name in [header::COOKIE, header::ACCEPT_LANGUAGE] {
            for value in request.headers().get_all(&name) {
                headers.append(name.clone(), value.clone());
            }
        }
        let host = single_header(request.headers(), &header::HOST).ok().flatten().map(str::to_owned);
        let form_page = (request.method() == Method::GET).then(|| place(request));
        Self { host, headers, back: back(request), form_page }
    }
}

impl Browsing {
    /// Returns `None` for a request that does not ask for a page.
    fn of(request: &Request) -> Option<Self> {
        wants_page(request).then(|| Self::from(request))
    }

    fn address(&self, app: &App) -> Option<Address> {
        Address::of(self.host.as_deref()?, app.settings().public_url.as_ref())
    }
}

fn wants_page(request: &Request) -> bool {
    let accepts = request.headers().get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    !request.uri().path().starts_with("/api/") && accepts.contains("text/html")
}

/// Shows problems as pages to people with a browser, wherever on the way they came about. Programs get them as JSON.
pub(super) async fn tell(State(web): State<Web>, request: Request, next: Next) -> Response {
    let Some(asked) = Browsing::of(&request) else { return next.run(request).await };
    let answered = next.run(request).await;
    let Some(failure) = answered.extensions().get::<Failure>() else { return answered };
    // Reloading the address of a form, or going back to it, leads to the page where the form stood.
    if let (StatusCode::METHOD_NOT_ALLOWED, Some(page)) = (failure.status(), &asked.form_page) {
        return with_headers(Redirect::to(page).into_response());
    }
    let answered = show_unread(&web, answered).await;
    let address = asked.address(&web);
    let lang = language(&asked.headers, address.as_ref());
    let viewer = told_to(&web, &asked, lang).await;
    with_headers(as_page(lang, viewer.as_ref(), asked.back, answered))
}

/// Adds what somebody wrote in a form of ours to an answer that turned the form away unread.
async fn show_unread(app: &App, answered: Response) -> Response {
    let Some(unread) = answered.extensions().get::<UnreadRequest>().and_then(UnreadRequest::take) else {
        return answered;
    };
    let is_ours = came_to(&unread, app.settings().public_url.as_ref()).is_ok();
    if is_ours { form::beside(answered, unread).await } else { answered }
}

/// How many are looked up at once who are told why something was not done, and for how long: what is turned away because there is too
/// much, or because nothing answers, must not become more of it. The others are told so on a page of its own.
const MOST_TOLD: usize = 16;
const TOLD_WITHIN: Duration = Duration::from_millis(500);
static TOLD: Semaphore = Semaphore::const_new(MOST_TOLD);
/// How many things wait is not counted then; an open page learns it by itself.
const UNCOUNTED: u64 = 0;

/// Whoever is signed in, for the way to every page around why not; nobody where that cannot be told soon.
async fn told_to(app: &Web, asked: &Browsing, lang: Lang) -> Option<crate::markup::Viewer> {
    let address = asked.address(app)?;
    let _share = TOLD.try_acquire().ok()?;
    let found = async {
        let visiting = find_visit(app, &address, &asked.headers, lang).await.ok().flatten()?;
        viewer::viewer_of(app, &visiting, UNCOUNTED).await.ok()
    };
    tokio::time::timeout(TOLD_WITHIN, found).await.ok().flatten()
}

/// The visit that the cookie names, if it counts.
async fn find_visit(
    app: &Web,
    address: &Address,
    headers: &HeaderMap,
    lang: Lang,
) -> Result<Option<Visiting>, Failure> {
    let named = cookie(headers, &address.cookie_name(VISIT));
    let Some((id, secret)) = named.and_then(|value| split_secret(&value)) else { return Ok(None) };
    let found = app.store().identity(id).await?;
    let (visit, now) = (token_digest(&secret), app.store().now());
    let counts = |identity: &Identity| !identity.revoked && identity.doors.visit(visit, now).is_some();
    let (csrf, mark) = (csrf_of(&secret), app.memory().marks.at(app.store().size()));
    Ok(found.filter(counts).map(|identity| Visiting { identity: Arc::new(identity), visit, csrf, mark, lang }))
}

/// `idn_….secret`: whose it is, so that it is found without a search, and what proves it.
pub(super) fn split_secret(text: &str) -> Option<(IdentityId, String)> {
    if text.len() > LONGEST_COOKIE {
        return None;
    }
    let (id, secret) = text.split_once('.')?;
    Some((id.parse().ok()?, secret.to_owned()))
}

/// Follows from the visit's secret and gives nothing of it away.
pub(super) fn csrf_of(secret: &str) -> String {
    let digest = Digest::of(format!("placet/csrf/v1\n{secret}").as_bytes());
    URL_SAFE_NO_PAD.encode(digest.as_bytes())
}

/// Under which of our names it came. Refuses requests under any other, and forms that come from elsewhere.
fn came_to(request: &Request, public: Option<&PublicUrl>) -> Result<Address, Failure> {
    let headers = request.headers();
    let host = single_header(headers, &header::HOST)?.unwrap_or_default();
    let address = Address::of(host, public).ok_or_else(foreign_host)?;
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(address);
    }
    let origin = single_header(headers, &header::ORIGIN)?;
    let site = single_header(headers, &FETCH_SITE)?;
    let is_foreign =
        origin.is_some_and(|origin| origin != address.origin()) || site.is_some_and(|site| site != "same-origin");
    if is_foreign || (origin.is_none() && site.is_none()) {
        return Err(Failure::new(StatusCode::FORBIDDEN, "csrf", "this form does not come from a page of ours"));
    }
    Ok(address)
}

/// Where to look again after a form; after anything else, at what waits.
fn back(request: &Request) -> String {
    if request.method() == Method::GET { "/".to_owned() } else { place(request) }
}

/// The page that a form stood on.
fn place(request: &Request) -> String {
    let mut parts = request.uri().path().trim_matches('/').split('/');
    match (parts.next(), parts.next()) {
        (Some(kind @ ("actions" | "runs")), Some(id)) => format!("/{kind}/{id}"),
        (Some(place @ ("settings" | "policy")), _) => format!("/{place}"),
        _ => "/".to_owned(),
    }
}

/// A problem, for people: the same status and words, as a page.
fn as_page(lang: Lang, viewer: Option<&crate::markup::Viewer>, back: String, answered: Response) -> Response {
    let Some(failure) = answered.extensions().get::<Failure>() else { return answered };
    let written = answered.extensions().get::<Written>();
    let problem = Problem {
        written: written.map(|Written(fields)| fields.clone()).unwrap_or_default(),
        ..problem(failure, back)
    };
    (answered.status(), html(crate::markup::problem(lang, viewer, &problem))).into_response()
}

/// Why something was not done, as pages tell it.
pub(super) fn problem(failure: &Failure, back: String) -> Problem {
    let (code, detail, refusal) = (failure.code().to_owned(), failure.detail().to_owned(), failure.refusal().cloned());
    Problem { code, detail, refusal, back, written: Vec::new() }
}

/// What somebody wrote in a form that is not shown again, along with why.
#[derive(Debug, Clone)]
struct Written(Vec<(String, String)>);

pub(super) fn with_written(mut answered: Response, fields: Vec<(String, String)>) -> Response {
    answered.extensions_mut().insert(Written(fields));
    answered
}

/// A page that may take long to make: a card with large files, a run with a long past. Made where it keeps no other request waiting.
pub(super) async fn made(page: impl FnOnce() -> crate::markup::Markup + Send + 'static) -> Result<Response, Failure> {
    let broken = |_| Failure::new(StatusCode::INTERNAL_SERVER_ERROR, "fault", "the page could not be made");
    tokio::task::spawn_blocking(page).await.map(html).map_err(broken)
}

pub(super) fn html(page: crate::markup::Markup) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], page.into_string()).into_response()
}

fn with_headers(mut answered: Response) -> Response {
    let headers = answered.headers_mut();
    headers.entry(header::CONTENT_SECURITY_POLICY).or_insert(HeaderValue::from_static(CONTENT_POLICY));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-opener-policy", HeaderValue::from_static("same-origin"));
    headers.insert("cross-origin-resource-policy", HeaderValue::from_static("same-origin"));
    headers.append(header::VARY, HeaderValue::from_static("cookie, accept-language"));
    answered
}

/// Whoever came by TLS once comes by nothing else for a year.
fn for_tls_alone(mut answered: Response) -> Response {
    let year = HeaderValue::from_static("max-age=31536000");
    answered.headers_mut().insert(header::STRICT_TRANSPORT_SECURITY, year);
    answered
}

fn language(headers: &HeaderMap, address: Option<&Address>) -> Lang {
    let name = address.map_or_else(|| LANGUAGE.to_owned(), |address| address.cookie_name(LANGUAGE));
    let chosen = cookie(headers, &name).and_then(|code| Lang::parse(&code));
    let accepted = || headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).map(Lang::accepted);
    chosen.or_else(accepted).unwrap_or_default()
}

/// The value of a cookie. Two of the same name are none: whoever can set one beside ours must not choose.
pub(super) fn cookie(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    let mut found = pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned());
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(method: &str, pairs: &[(&str, &str)]) -> Request {
        let built = pairs.iter().fold(Request::builder().method(method).uri("/x"), |b, (n, v)| b.header(*n, *v));
        built.body(axum::body::Body::empty()).unwrap()
    }

    #[test]
    fn t8_forms_of_strangers_are_refused_however_they_come() {
        let host = ("host", "127.0.0.1:7070");
        for (allowed, pairs) in [
            (true, vec![host, ("origin", "http://127.0.0.1:7070")]),
            (true, vec![host, ("sec-fetch-site", "same-origin")]),
            (false, vec![host]),
            (false, vec![host, ("origin", "http://127.0.0.1:8080")]),
            (false, vec![host, ("origin", "null")]),
            (false, vec![host, ("origin", "http://127.0.0.1:7070.evil.example")]),
            (false, vec![host, ("sec-fetch-site", "cross-site")]),
            (false, vec![host, ("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:7070")]),
            (false, vec![host, ("origin", "http://127.0.0.1:7070"), ("origin", "http://evil.example")]),
            (false, vec![("host", "evil.example"), ("origin", "http://evil.example")]),
        ] {
            assert_eq!(came_to(&request("POST", &pairs), None).is_ok(), allowed, "{pairs:?}");
        }
    }

    #[test]
    fn t8_a_name_that_strangers_point_here_gets_no_page() {
        for (host, ours) in [
            ("127.0.0.1:7070", true),
            ("localhost", true),
            ("[::1]:7070", true),
            ("rebound.example:7070", false),
            ("127.0.0.1.example", false),
            ("localhost.", false),
            ("", false),
        ] {
            assert_eq!(came_to(&request("GET", &[("host", host)]), None).is_ok(), ours, "{host}");
        }
    }

    #[test]
    fn t8_behind_a_proxy_forms_come_from_its_name_over_tls_alone() {
        let public: PublicUrl = "https://placet.example.org".parse().unwrap();
        let host = ("host", "placet.example.org");
        for (allowed, pairs) in [
            (true, vec![host, ("origin", "https://placet.example.org")]),
            (true, vec![("host", "127.0.0.1:7070"), ("origin", "http://127.0.0.1:7070")]),
            (false, vec![host, ("origin", "http://placet.example.org")]),
            (false, vec![host, ("origin", "https://placet.example.org:444")]),
            (false, vec![host, ("origin", "https://evil.example"), ("x-forwarded-host", "evil.example")]),
            (false, vec![("host", "127.0.0.1:7070"), ("origin", "https://placet.example.org")]),
            (false, vec![("host", "placet.example.org:7070"), ("origin", "http://placet.example.org:7070")]),
            (false, vec![("host", "evil.example"), ("x-forwarded-host", "placet.example.org")]),
        ] {
            assert_eq!(came_to(&request("POST", &pairs), Some(&public)).is_ok(), allowed, "{pairs:?}");
        }
        let came = |host| came_to(&request("GET", &[("host", host)]), Some(&public)).unwrap();
        assert_eq!((came("Placet.Example.org").origin(), came("localhost").cookie_end()), (public.as_str(), ""));
        assert_eq!(came("placet.example.org").cookie_end(), "; Secure");
        assert!(came("placet.example.org").is_for_tls_alone() && !came("localhost").is_for_tls_alone());
    }

    #[test]
    fn t8_over_tls_only_a_cookie_that_no_neighbour_can_set_is_read() {
        let public: PublicUrl = "https://placet.example.org".parse().unwrap();
        let [proxy, here] = ["placet.example.org", "localhost"].map(|host| Address::of(host, Some(&public)).unwrap());
        let set = "placet_visit=planted; __Host-placet_visit=ours; placet_language=fr";
        let headers = HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static(set))]);
        let read = |address: &Address| cookie(&headers, &address.cookie_name(VISIT));
        assert_eq!((read(&proxy).as_deref(), read(&here).as_deref()), (Some("ours"), Some("planted")));
        assert_eq!(language(&headers, Some(&proxy)), Lang::default());
        assert_eq!(language(&headers, Some(&here)), Lang::Fr);
    }

    #[test]
    fn t8_two_cookies_of_one_name_are_none() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; placet_visit=x; b=2"));
        assert_eq!(cookie(&headers, VISIT).as_deref(), Some("x"));
        headers.append(header::COOKIE, HeaderValue::from_static("placet_visit=y"));
        assert_eq!(cookie(&headers, VISIT), None);
    }
}
