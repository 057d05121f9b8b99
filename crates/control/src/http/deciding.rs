//! How people decide, as figures.

use axum::Json;
use axum::extract::State;
use placet_wire::api;

use super::extract::Query;
use super::problem::Failure;
use crate::app::App;
use crate::flow::{self, Caller};
use crate::read::deciding::{own, view};

pub(super) async fn summary(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::SummaryQuery>,
) -> Result<Json<api::DecisionSummary>, Failure> {
    Ok(Json(view(&flow::measure(&app, &caller, query.project).await?)))
}

pub(super) async fn mine(State(app): State<App>, caller: Caller) -> Result<Json<api::HabitView>, Failure> {
    Ok(Json(own(&app, &caller).await?))
}
