//! Turns the route table into a router: access first, limits around everything, problems instead of bare codes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Router};
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CheckHealth, ShowApiDocument};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;
use tower_http::catch_panic::CatchPanicLayer;

use super::access::guard;
use super::address::needs_own_host;
use super::mount::{Mount, UnreadRequest};
use super::problem::problem;
use crate::app::App;
use crate::models::Models;

/// How many requests there may be, and how long each may take. Streams count only until they have begun.
#[derive(Clone)]
struct Bounds {
    in_flight: Arc<Semaphore>,
    request_ms: u64,
}

/// Calls of language models go their own way: they last as long as a model thinks, and are bounded by what they may cost.
pub(crate) fn router(app: App, models: Option<Models>, mount: Mount) -> Router {
    let public = app.settings().public_url.clone();
    let ours = of_routes(app.clone(), mount);
    Router::new().fallback(move |request: Request| {
        let (app, ours, models, public) = (app.clone(), ours.clone(), models.clone(), public.clone());
        async move {
            match models.filter(|_| Models::serves(request.uri().path())) {
                Some(models) => match needs_own_host(&request, public.as_ref()) {
                    Ok(()) => {
                        Models::note_holder(&app, &request).await;
                        models.answer(request).await
                    }
                    Err(foreign) => foreign.into_response(),
                },
                None => ours.oneshot(request).await.into_response(),
            }
        }
    })
}

fn of_routes(app: App, mount: Mount) -> Router {
    let limits = app.settings().limits;
    let in_flight = Arc::new(Semaphore::new(limits.requests_in_flight));
    let bounds = Bounds { in_flight, request_ms: limits.request_ms };
    let mut router = Router::new();
    for route in super::routes() {
        let guarded = route.handler.layer(middleware::from_fn_with_state((app.clone(), route.access), guard));
        router = router.route(&route.path, guarded);
    }
    let (routes, wrap) = mount.into_parts();
    let served = router
        .merge(routes)
        .fallback(unknown_route)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(app.clone(), measured))
        .layer(middleware::from_fn(bounded))
        .layer(Extension(bounds))
        .layer(CatchPanicLayer::custom(|_: Box<dyn std::any::Any + Send>| {
            problem(
                StatusCode::INTERNAL_SERVER_ERROR,
                "fault",
                "an internal fault; nothing was changed unless it was answered",
            )
        }))
        .layer(middleware::from_fn_with_state(app.clone(), under_own_name));
    wrap(served).with_state(app)
}

async fn unknown_route() -> Response {
    let detail = format!("no such route; {} lists them", ShowApiDocument::PATH);
    problem(StatusCode::NOT_FOUND, "unknown_route", &detail)
}

async fn wrong_method() -> Response {
    problem(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", "this route does not take that method")
}

/// Refuses requests for foreign host names, with or without a token.
async fn under_own_name(State(app): State<App>, request: Request, next: Next) -> Response {
    match needs_own_host(&request, app.settings().public_url.as_ref()) {
        Ok(()) => next.run(request).await,
        Err(foreign) => foreign.into_response(),
    }
}

/// Refuses what is too much at once, and what takes too long.
async fn bounded(Extension(bounds): Extension<Bounds>, request: Request, next: Next) -> Response {
    // Busy is not dead: a supervisor that asks must not end a process that only has much to do.
    if request.uri().path() == CheckHealth::PATH {
        return next.run(request).await;
    }
    let Ok(_permit) = bounds.in_flight.try_acquire() else {
        let why = "too many requests at once; try again in a moment";
        let mut busy = problem(StatusCode::SERVICE_UNAVAILABLE, "busy", why);
        busy.extensions_mut().insert(UnreadRequest::new(request));
        return busy;
    };
    let longest = Duration::from_millis(bounds.request_ms);
    match tokio::time::timeout(longest, next.run(request)).await {
        Ok(response) => response,
        Err(_) => {
            let ms = bounds.request_ms;
            let detail =
                format!("the request took longer than {ms} ms; look at what became of it before you try again");
            problem(StatusCode::REQUEST_TIMEOUT, "too_slow", &detail)
        }
    }
}

/// Counts and times each request, and sets the headers every answer carries.
async fn measured(State(app): State<App>, path: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let method = request.method().clone();
    let started = Instant::now();
    let mut response = next.run(request).await.into_response();
    let route = path.as_ref().map_or("unknown", MatchedPath::as_str);
    app.metrics().request(&method, route, response.status(), started.elapsed());
    let headers = response.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(header::CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    response
}
