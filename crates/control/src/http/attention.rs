//! Attention for people who come with a token, and as everything shows it to people. Agents are shown nothing of it.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::action::ActionState;
use placet_domain::id::ActionId;
use placet_domain::time::Timestamp;
use placet_wire::api;

use super::body::Asked;
use super::extract::Path;
use super::pages::person;
use super::problem::Failure;
use super::view::time;
use crate::app::App;
use crate::flow::{self, Caller};

pub(super) async fn assign(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, asked): Asked<api::AssignRequest>,
) -> Result<Json<api::AttentionView>, Failure> {
    let state = flow::assign(&app, &caller, id, asked.to.as_deref(), asked.note).await?;
    Ok(Json(view(&app, &caller, &state).await?))
}

pub(super) async fn defer(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    Asked(caller, asked): Asked<api::DeferRequest>,
) -> Result<Json<api::AttentionView>, Failure> {
    let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_body", "write `until` like `2026-08-15T08:00:00Z`");
    let until: Option<jiff::Timestamp> = asked.until.as_deref().map(str::parse).transpose().map_err(bad)?;
    let until = until.map(|until| Timestamp::from_unix_ms(until.as_millisecond()));
    let state = flow::defer(&app, &caller, id, until).await?;
    Ok(Json(view(&app, &caller, &state).await?))
}

/// With names, and as whoever asks sees it now: what was set aside until a time that has come is not any more.
pub(super) async fn view(app: &App, caller: &Caller, state: &ActionState) -> Result<api::AttentionView, Failure> {
    let (me, now) = (caller.identity.id, app.store().now());
    let mut view = api::AttentionView::default();
    if let Some(assigned) = &state.attention.assigned {
        let (to, by) = (person(app, assigned.to).await?, person(app, assigned.by).await?);
        let note = assigned.note.clone();
        view.assigned = Some(api::AssignmentView { to, to_id: assigned.to, by, note, is_yours: assigned.to == me });
    }
    for aside in state.attention.aside.iter().filter(|aside| aside.until > now) {
        let (who, until) = (person(app, aside.who).await?, time(aside.until));
        view.aside.push(api::AsideView { who, until, is_yours: aside.who == me });
    }
    Ok(view)
}
