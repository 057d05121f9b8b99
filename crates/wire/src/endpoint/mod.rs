//! Endpoints: one type for each, with its method, path, parameters, body, answer and callers.
//!
//! [`table`] has one row for each endpoint, and nothing else in the workspace spells a path of the API. The server pairs each
//! row with a handler, the client sends what a row takes and returns what it gives, and the API document is made from the rows.
//! Nothing is sent, served or decided here.

mod declare;
mod table;

pub use table::*;

use std::fmt::{self, Display, Write as _};

use reqwest::Method;
use utoipa::ToSchema;
use utoipa::openapi::RefOr;
use utoipa::openapi::path::{Parameter, ParameterIn};
use utoipa::openapi::schema::Schema;

use crate::access::Access;

/// One endpoint. A value of the type names one resource: `ShowRun { run }`.
///
/// A type is `()` where the endpoint takes or gives nothing of the kind.
pub trait Endpoint {
    /// Path parameters in the order of the path: one typed value, or a tuple of them.
    type Params;
    /// Parameters behind the `?`.
    type Query;
    /// Body of the request.
    type Body;
    /// Content of `If-Match`.
    type Seen;
    /// Body of the response.
    type Answer;

    /// The path with its parameters in braces.
    const PATH: &'static str;
    /// The row of the table, for the server and for the API document.
    const ROW: EndpointRow;

    /// The path with its parameters filled in.
    fn path(&self) -> String;

    /// The query, form-encoded.
    fn query(&self) -> String;

    /// The path and the query, as a request names them.
    fn target(&self) -> String {
        match self.query() {
            query if query.is_empty() => self.path(),
            query => format!("{}?{query}", self.path()),
        }
    }
}

/// Lists the parameters of a query, in the place that the function returns.
type QueryParameters = fn(fn() -> Option<ParameterIn>) -> Vec<Parameter>;

/// One row of the table as data.
#[derive(Debug)]
pub struct EndpointRow {
    pub name: EndpointName,
    pub method: Method,
    /// The path with its parameters in braces.
    pub path: &'static str,
    pub access: Access,
    pub summary: &'static str,
    /// Parameters of the query.
    pub query: Option<QueryParameters>,
    pub body: Option<BodyForm>,
    /// Whether `If-Match` must name what the caller saw.
    pub on_seen: bool,
    /// Status of a success.
    pub status: u16,
    /// Schema of the answer, where the API document describes it.
    pub answer: Option<fn() -> NamedSchema>,
    /// Whether it is a stream that continues after `Last-Event-ID`.
    pub resumable: bool,
    /// Another success without a body, and its condition.
    pub instead: Option<(u16, &'static str)>,
}

impl EndpointRow {
    /// The second path of the endpoint, if it is about a run.
    pub fn alias(&self) -> Option<String> {
        let (path, alias) = RUN_ALIAS;
        let rest = self.path.strip_prefix(path).filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
        Some(format!("{alias}{rest}"))
    }
}

/// The form of a request body.
#[derive(Debug, Clone, Copy)]
pub enum BodyForm {
    Json(fn() -> NamedSchema),
    /// JSON that the API document does not describe.
    Undescribed,
    Bytes,
}

/// A schema with its name and the schemas that it refers to.
#[derive(Clone)]
pub struct NamedSchema {
    pub name: String,
    pub schemas: Vec<(String, RefOr<Schema>)>,
}

impl fmt::Debug for NamedSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedSchema").field("name", &self.name).finish_non_exhaustive()
    }
}

impl NamedSchema {
    pub(crate) fn of<T: ToSchema>() -> Self {
        let name = T::name().into_owned();
        let mut schemas = vec![(name.clone(), T::schema())];
        T::schemas(&mut schemas);
        Self { name, schemas }
    }
}

/// Lists every endpoint under each of its paths: first under its own path, then under the alias of runs.
pub fn paths() -> impl Iterator<Item = (String, &'static EndpointRow)> {
    let own = ENDPOINTS.iter().map(|row| (row.path.to_owned(), row));
    own.chain(ENDPOINTS.iter().filter_map(|row| Some((row.alias()?, row))))
}

/// Puts values in the place of the parameters in braces.
fn fill_path(path: &str, params: &[(&str, &dyn Display)]) -> String {
    let mut filled = String::with_capacity(path.len() + 64);
    for segment in path.split('/').skip(1) {
        let name = segment.strip_prefix('{').and_then(|segment| segment.strip_suffix('}'));
        let value = name.and_then(|name| params.iter().find(|(param, _)| *param == name));
        filled.push('/');
        match value {
            Some((_, value)) => encode_segment(&value.to_string(), &mut filled),
            None => filled.push_str(segment),
        }
    }
    filled
}

/// Writes a value so that it stays one segment of a path.
fn encode_segment(value: &str, into: &mut String) {
    for byte in value.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' | b':' => into.push(char::from(byte)),
            // Writing to a text cannot fail.
            other => write!(into, "%{other:02X}").unwrap_or_default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use placet_domain::digest::Digest;
    use placet_domain::id::{ProjectId, RunId};

    use super::*;
    use crate::api::{PreviewQuery, RunQuery};

    fn run() -> RunId {
        RunId::from_bytes([1; 16])
    }

    #[test]
    fn path_has_its_parameters_filled_in() {
        assert_eq!(RevokeOrder { run: run(), number: 7 }.path(), format!("/api/v1/runs/{}/orders/7/revoke", run()));
        let (project, digest) = (ProjectId::from_bytes([2; 16]), Digest::of(b"x"));
        let stored = StoreEvidence { project, digest };
        assert_eq!(stored.target(), format!("/api/v1/projects/{project}/evidence/{digest}"));
    }

    #[test]
    fn value_stays_one_path_segment() {
        let hook = ProposeByHook { name: "../a b?c#d%é".to_owned() };
        assert_eq!(hook.path(), "/api/v1/hooks/..%2Fa%20b%3Fc%23d%25%C3%A9");
    }

    #[test]
    fn query_names_only_what_is_set() {
        assert_eq!(ListRuns { query: RunQuery::default() }.target(), "/api/v1/runs");
        let query = RunQuery { limit: Some(5), after: Some(7), ..RunQuery::default() };
        assert_eq!(ListRuns { query }.target(), "/api/v1/runs?after=7&limit=5");
        let preview = PreviewRollback { run: run(), number: 2, query: PreviewQuery { wait_ms: 9 } };
        assert_eq!(preview.target(), format!("/api/v1/runs/{}/rollback/2?wait_ms=9", run()));
    }

    #[test]
    fn endpoints_differ_in_method_and_path() {
        let mut seen = BTreeSet::new();
        for (path, row) in paths() {
            assert!(seen.insert((row.method.to_string(), path.clone())), "{} {path}", row.method);
        }
    }

    #[test]
    fn runs_have_a_second_path() {
        assert_eq!(ShowRun::ROW.alias().as_deref(), Some("/api/v1/autonomous/executions/{run}"));
        assert_eq!(ApprovePlan::ROW.alias().as_deref(), Some("/api/v1/autonomous/executions/{run}/approve"));
        assert_eq!(ListRuns::ROW.alias(), None);
        assert_eq!(ShowAction::ROW.alias(), None);
    }

    #[test]
    fn only_reads_need_no_token() {
        for row in ENDPOINTS {
            assert!(!matches!(row.access, Access::Public) || row.method == Method::GET, "{}", row.path);
            assert_eq!(row.body.is_some(), matches!(row.method, Method::POST | Method::PUT), "{}", row.path);
        }
    }
}
