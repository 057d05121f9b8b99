//! What stands in the address: path segments and queries, with problems instead of bare texts when they cannot be read.

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::problem::Failure;

/// The named segments of the path.
pub(super) struct Path<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned + Send> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_path", "the path is not readable text");
        axum::extract::Path::from_request_parts(parts, state)
            .await
            .map(|axum::extract::Path(path)| Self(path))
            .map_err(bad)
    }
}

/// What follows the question mark.
pub(super) struct Query<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequestParts<S> for Query<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let query = axum::extract::Query::from_request_parts(parts, state).await;
        let bad = |rejection: axum::extract::rejection::QueryRejection| {
            let why = std::error::Error::source(&rejection).map_or_else(String::new, |source| format!(": {source}"));
            Failure::new(StatusCode::BAD_REQUEST, "bad_query", format!("the query cannot be read{why}"))
        };
        query.map(|axum::extract::Query(query)| Self(query)).map_err(bad)
    }
}
