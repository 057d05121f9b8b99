//! The queue for programs: everything that waits for a person, page by page. What was interrupted comes first, then what is undecided.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_store::{QueueFilter, Waits};
use placet_wire::api;

use super::extract::Query;
use super::inbox::reach;
use super::problem::Failure;
use crate::app::App;
use crate::flow::Caller;
use crate::read::actions::titled_all;
use crate::read::parts::{Found, Place, found};

/// As many as a program reads at once; whoever wants more asks again.
const MOST_ROWS: u32 = 1_000;
const USUAL_ROWS: u32 = 100;

pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::QueueQuery>,
) -> Result<Json<api::QueueView>, Failure> {
    let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_query", "`after` is the `next` of an answer");
    let reach = reach(&caller, query.project)?;
    let after: Option<Place> = query.after.as_deref().map(str::parse).transpose().map_err(bad)?;
    let limit = query.limit.unwrap_or(USUAL_ROWS).min(MOST_ROWS);
    let undecided = QueueFilter { reach, limit, ..QueueFilter::default() };
    let interrupted = QueueFilter { waits: Waits::ForResolution, ..undecided.clone() };
    let Found { mut first, then, next } = found(&app, Some(interrupted), undecided, after).await?;
    first.extend(then);
    let actions = titled_all(&app, &first).await?;
    Ok(Json(api::QueueView { actions, next: next.map(|place| place.to_string()) }))
}
