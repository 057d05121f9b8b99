//! Pairs endpoints with handlers. A handler whose arguments or answer disagree with its endpoint does not compile.
//!
//! Handlers are plain axum handlers: [`Serves`] compares their extractors and their answer with the types of the endpoint. The status
//! of a success comes from the endpoint; handlers only fail otherwise.

use std::borrow::Cow;

use axum::Json;
use axum::extract::{Request, State};
use axum::handler::Handler;
use axum::http::{HeaderMap, HeaderName, StatusCode};
use axum::middleware::map_response;
use axum::response::sse::Sse;
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_wire::{Endpoint, EventStream};
use serde::Serialize;
use serde_json::Value;

use super::body::{Asked, Raw};
use super::caller::Seen;
use super::extract::{Path, Query};
use super::problem::Failure;
use super::route::Route;
use crate::app::App;
use crate::flow::Caller;

/// Makes the route of an endpoint.
pub(super) fn pair<E, T, H>(handler: H) -> Route
where
    E: Endpoint,
    T: 'static,
    H: Serves<E, T>,
{
    let row = E::ROW;
    let filter = MethodFilter::try_from(row.method.clone()).expect("the table has only methods of HTTP");
    let handler = succeeding_with(row.status, on(filter, handler));
    Route { method: row.method, path: Cow::Borrowed(row.path), access: row.access, handler }
}

/// Gives successes the status that the endpoint declares.
fn succeeding_with(status: u16, handler: MethodRouter<App>) -> MethodRouter<App> {
    let status = StatusCode::from_u16(status).expect("the table has only statuses of HTTP");
    if status == StatusCode::OK {
        return handler;
    }
    handler.layer(map_response(move |mut response: Response| async move {
        if response.status() == StatusCode::OK {
            *response.status_mut() = status;
        }
        response
    }))
}

/// A handler whose arguments and answer are those of the endpoint.
pub(super) trait Serves<E, T>: Handler<T, App> {}

macro_rules! serves {
    ($($argument:ident)*) => {
        impl<E, F, Out, Answer, M, $($argument),*> Serves<E, (M, $($argument,)*)> for F
        where
            F: Fn($($argument),*) -> Out + Handler<(M, $($argument,)*), App>,
            Out: Future<Output = Answer>,
            Answer: Gives<E>,
            $($argument: Takes<E>,)*
        {
        }
    };
}

serves! {}
serves! { A1 }
serves! { A1 A2 }
serves! { A1 A2 A3 }
serves! { A1 A2 A3 A4 }

/// An argument that handlers of the endpoint may have.
pub(super) trait Takes<E> {}

impl<E> Takes<E> for State<App> {}
impl<E> Takes<E> for Caller {}
impl<E> Takes<E> for HeaderMap {}
impl<E> Takes<E> for Request {}
impl<E: Endpoint<Params = P>, P> Takes<E> for Path<P> {}
impl<E: Endpoint<Query = Q>, Q> Takes<E> for Query<Q> {}
impl<E: Endpoint<Body = B>, B> Takes<E> for Asked<B> {}
impl<E: Endpoint<Body = Bytes>> Takes<E> for Raw {}
impl<E: Endpoint<Seen = Digest>> Takes<E> for Seen {}

/// An answer that handlers of the endpoint may give.
pub(super) trait Gives<E> {}

impl<E, T: Gives<E>> Gives<E> for Result<T, Failure> {}
impl<E: Endpoint<Answer = T>, T> Gives<E> for Json<T> {}
impl<E: Endpoint<Answer = T>, T> Gives<E> for ([(HeaderName, String); 1], Json<T>) {}
impl<E: Endpoint<Answer = Option<T>>, T> Gives<E> for OrNothing<T> {}
impl<E: Endpoint<Answer = EventStream>, S> Gives<E> for Sse<S> {}
impl<E: Endpoint<Answer: SentAsIs>> Gives<E> for Response {}

/// An answer that handlers send as bytes, because it is stored or described elsewhere.
pub(super) trait SentAsIs {}

impl SentAsIs for () {}
impl SentAsIs for Bytes {}
impl SentAsIs for Manifest {}
impl SentAsIs for Value {}

/// An answer, or 204 where there is none.
pub(super) struct OrNothing<T>(pub(super) Option<T>);

impl<T: Serialize> IntoResponse for OrNothing<T> {
    fn into_response(self) -> Response {
        self.0.map_or_else(|| StatusCode::NO_CONTENT.into_response(), |answer| Json(answer).into_response())
    }
}
