//! What stands in the address: path segments and queries, with problems instead of bare texts when they cannot be read.

use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::StatusCode;
use axum::http::request::Parts;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId, WorktreeId};
use serde::de::DeserializeOwned;

use super::problem::Failure;

/// The parameters of the path, in its order: one value, or a tuple of two.
#[derive(Debug)]
pub struct Path<T>(pub T);

impl<S: Send + Sync, T: FromSegments> FromRequestParts<S> for Path<T> {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Failure> {
        let params = RawPathParams::from_request_parts(parts, state).await.map_err(|_| unreadable())?;
        let mut segments = params.iter().map(|(_, segment)| segment);
        T::from_segments(&mut segments).map(Self)
    }
}

fn unreadable() -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "bad_path", "the path is not readable text")
}

/// What a path can be read as.
pub(super) trait FromSegments: Sized {
    fn from_segments<'p>(segments: &mut impl Iterator<Item = &'p str>) -> Result<Self, Failure>;
}

impl<T: Segment> FromSegments for T {
    fn from_segments<'p>(segments: &mut impl Iterator<Item = &'p str>) -> Result<Self, Failure> {
        T::parse(segments.next().ok_or_else(unreadable)?)
    }
}

impl<A: Segment, B: Segment> FromSegments for (A, B) {
    fn from_segments<'p>(segments: &mut impl Iterator<Item = &'p str>) -> Result<Self, Failure> {
        Ok((A::from_segments(segments)?, B::from_segments(segments)?))
    }
}

/// What one segment of a path can be read as.
pub(super) trait Segment: Sized {
    fn parse(segment: &str) -> Result<Self, Failure>;
}

macro_rules! segments {
    ($($bad:expr => $($kind:ty)*;)*) => {$($(
        impl Segment for $kind {
            fn parse(segment: &str) -> Result<Self, Failure> {
                segment.parse().map_err($bad)
            }
        }
    )*)*};
}

segments! {
    Failure::bad_id => ActionId IdentityId ProjectId RunId WorktreeId Digest;
    |_| unreadable() => u32 u64 usize String;
}

/// What follows the question mark.
#[derive(Debug)]
pub struct Query<T>(pub T);

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
