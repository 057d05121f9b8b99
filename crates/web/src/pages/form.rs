//! What a browser sends by a form: pairs of text, from the visit that the form was shown to.

use std::time::Duration;

use axum::extract::{FromRequest, Request};
use axum::http::{Method, StatusCode, header};
use axum::response::Response;
use placet_control::flow::Caller;
use placet_control::http::{Failure, TOO_LONG, read_body, single_header};
use placet_domain::digest::Digest;
use subtle::ConstantTimeEq as _;
use tokio::sync::Semaphore;

use super::guard::{Visiting, with_written};
use super::state::Web;

/// Fields as they came, each as often as it came.
#[derive(Debug)]
pub(super) struct Fields(Vec<(String, String)>);

impl Fields {
    /// What stands in an address, as if a form had sent it.
    pub(super) const fn of(pairs: Vec<(String, String)>) -> Self {
        Self(pairs)
    }

    /// The one value of a field; nothing where it is missing. Line ends as forms send them become plain ones.
    pub(super) fn get(&self, name: &str) -> Result<Option<String>, Failure> {
        let mut values = self.all(name);
        let first = values.next().map(|value| value.replace("\r\n", "\n"));
        if values.next().is_some() {
            return Err(bad(format!("`{name}` was sent more than once")));
        }
        Ok(first)
    }

    pub(super) fn text(&self, name: &str) -> Result<String, Failure> {
        Ok(self.get(name)?.unwrap_or_default())
    }

    /// Whether a field of this name came, empty or not.
    pub(super) fn sent(&self, name: &str) -> bool {
        self.0.iter().any(|(key, _)| key == name)
    }

    /// Everything that was written, to be shown again: not what ties the form to its visit and to what was shown.
    pub(super) fn written(&self) -> Vec<(String, String)> {
        let own = self.0.iter().filter(|(name, _)| !["csrf", "seen", "onward"].contains(&name.as_str()));
        own.map(|(name, value)| (name.clone(), value.replace("\r\n", "\n"))).collect()
    }

    pub(super) fn all<'f>(&'f self, name: &'f str) -> impl Iterator<Item = &'f str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// A number, where the field is not empty.
    pub(super) fn number(&self, name: &str) -> Result<Option<u64>, Failure> {
        let text = self.text(name)?;
        if text.trim().is_empty() {
            return Ok(None);
        }
        text.trim().parse().map(Some).map_err(|_| bad(format!("`{name}` is a whole number")))
    }

    /// What was shown and is decided on.
    pub(super) fn seen(&self) -> Result<Digest, Failure> {
        self.text("seen")?.parse().map_err(|_| bad("the form does not say what was shown; reload the page".to_owned()))
    }

    /// One on each line; empty ones at the end are none.
    pub(super) fn lines(&self, name: &str) -> Result<Vec<String>, Failure> {
        Ok(self.text(name)?.trim_end_matches('\n').lines().map(str::to_owned).collect())
    }
}

fn bad(why: String) -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "bad_form", why)
}

/// What to do about a form that is too long.
fn in_a_form(failure: Failure, most: usize) -> Failure {
    if failure.code() != TOO_LONG {
        return failure;
    }
    let why = format!(
        "a form takes {most} bytes, and this one has more; make it shorter, or do it at a terminal (`placet approve ID --edit` changes files of any length)"
    );
    Failure::new(StatusCode::PAYLOAD_TOO_LARGE, TOO_LONG, why)
}

/// How many long forms are read at once only to be shown again: what is turned away because there is too much must not become too much.
const MOST_SHOWN_AGAIN: usize = 4;
static SHOWN_AGAIN: Semaphore = Semaphore::const_new(MOST_SHOWN_AGAIN);
/// Whoever sends more slowly than this keeps it on their own screen.
const PATIENCE: Duration = Duration::from_secs(5);

/// Why a form was not even looked at, along with what was written in it, where that is a text that somebody made.
pub(super) async fn beside(answered: Response, request: Request) -> Response {
    let is_text = request.method() == Method::POST && request.uri().path().ends_with("/amend");
    if !is_text {
        return answered;
    }
    let Ok(_share) = SHOWN_AGAIN.try_acquire() else { return answered };
    match tokio::time::timeout(PATIENCE, Fields::read(request, LONG_BYTES)).await {
        Ok(Ok(fields)) => with_written(answered, fields.written()),
        Ok(Err(_)) | Err(_) => answered,
    }
}

/// A form from a page that was shown to whoever sends it.
pub(super) struct Sent {
    pub(super) visiting: Visiting,
    pub(super) caller: Caller,
    pub(super) fields: Fields,
}

/// One that holds texts of files. Only whoever is admitted to what it does sends one.
pub(super) struct SentLong(pub(super) Sent);

/// Several files of the length that a card shows, however many of their characters a form spells out.
pub(super) const LONG_BYTES: usize = 1 << 20;

impl FromRequest<Web> for Sent {
    type Rejection = Failure;

    async fn from_request(request: Request, app: &Web) -> Result<Self, Failure> {
        Self::of(request, app.settings().limits.json_bytes).await
    }
}

impl FromRequest<Web> for SentLong {
    type Rejection = Failure;

    async fn from_request(request: Request, _: &Web) -> Result<Self, Failure> {
        Sent::of(request, LONG_BYTES).await.map(Self)
    }
}

impl Sent {
    /// No longer than so many bytes.
    async fn of(request: Request, most: usize) -> Result<Self, Failure> {
        let visiting = request.extensions().get::<Visiting>().cloned().ok_or_else(Failure::unguarded)?;
        let fields = Fields::read(request, most).await?;
        let given = fields.text("csrf")?;
        if !bool::from(given.as_bytes().ct_eq(visiting.csrf.as_bytes())) {
            let why = "this form was shown to another visit; go back and reload the page";
            return Err(Failure::new(StatusCode::FORBIDDEN, "csrf", why));
        }
        let caller = Caller { identity: (*visiting.identity).clone(), key: None };
        Ok(Self { visiting, caller, fields })
    }
}

/// Forms of unauthenticated callers are small; a slow sender only wants to occupy the place.
const LONGEST_READ: Duration = Duration::from_secs(10);

impl FromRequest<Web> for Fields {
    type Rejection = Failure;

    /// Reads a form of an unauthenticated caller, with a limited share of all requests and limited time.
    async fn from_request(request: Request, app: &Web) -> Result<Self, Failure> {
        let Some(_place) = app.unverified_place() else {
            let why = "too many forms of people who are not signed in come at once; try again in a moment";
            return Err(Failure::new(StatusCode::SERVICE_UNAVAILABLE, "busy", why));
        };
        let read = Self::read(request, app.settings().limits.json_bytes);
        let late =
            || Failure::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "the form did not come in time; send it again");
        tokio::time::timeout(LONGEST_READ, read).await.unwrap_or_else(|_| Err(late()))
    }
}

impl Fields {
    async fn read(request: Request, most: usize) -> Result<Self, Failure> {
        let kind = single_header(request.headers(), &header::CONTENT_TYPE)?.unwrap_or_default();
        if !kind.starts_with("application/x-www-form-urlencoded") {
            return Err(Failure::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "bad_form", "send it as a form does"));
        }
        let bytes = read_body(request.into_body(), most).await.map_err(|failure| in_a_form(failure, most))?;
        let pairs = form_urlencoded::parse(&bytes).map(|(name, value)| (name.into_owned(), value.into_owned()));
        Ok(Self(pairs.collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_comes_twice_is_not_guessed_at() {
        let fields = Fields(vec![("a".into(), "1".into()), ("a".into(), "2".into()), ("n".into(), " 7 ".into())]);
        assert!(fields.get("a").is_err());
        assert_eq!(fields.number("n").unwrap(), Some(7));
        assert_eq!(fields.number("missing").unwrap(), None);
        assert_eq!(fields.all("a").count(), 2);
    }

    #[test]
    fn lines_are_what_stands_on_them() {
        let fields = Fields(vec![("l".into(), "-sV\r\n\r\n  x \r\n".into())]);
        assert_eq!(fields.lines("l").unwrap(), ["-sV", "", "  x "]);
        assert!(fields.lines("none").unwrap().is_empty());
    }
}
