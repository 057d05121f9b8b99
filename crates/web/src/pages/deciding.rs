//! How people decide: for everybody who may look, without names; and for each person, their own.

use axum::extract::State;
use axum::response::Response;
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::Failure;
use placet_control::read::deciding;

use super::guard::{Visiting, html};
use super::viewer;
use crate::markup::OwnPage;

/// As many of one's own decisions alone as are listed.
const MOST_LISTED: usize = 20;

pub(super) async fn show(State(app): State<App>, visiting: Visiting, caller: Caller) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let measured = flow::measure(&app, &caller, None).await?;
    Ok(html(crate::markup::decisions(&viewer, &deciding::view(&measured))))
}

pub(super) async fn own(State(app): State<App>, visiting: Visiting, caller: Caller) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let alone = flow::own_alone(&app, &caller, MOST_LISTED).await?;
    let alone = alone.iter().map(|decision| (decision.action, decision.kind.to_string(), decision.at)).collect();
    let habits = deciding::own(&app, &caller).await?;
    Ok(html(crate::markup::own(&viewer, &OwnPage { habits, alone })))
}
