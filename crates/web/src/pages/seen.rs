//! Marks on files: what a reviewer has seen is folded wherever the same bytes stand at the same path again.
//!
//! A mark is its person's own. It approves nothing, nobody else sees it, and whoever sets none decides all the same. It is about people,
//! like how long somebody looked: beside the ledger, and forgotten after thirty days.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::App;
use placet_control::flow;
use placet_control::http::{Failure, Path};
use placet_control::read::actions::detail;
use placet_store::SeenFile;

use super::action;
use super::form::Sent;

pub(super) async fn mark(
    State(app): State<App>,
    Path(id): Path<String>,
    Sent { caller, fields, .. }: Sent,
) -> Result<Response, Failure> {
    let bad = || Failure::new(StatusCode::BAD_REQUEST, "bad_form", "reload the page and choose again");
    let state = flow::find_action(&app, &caller, action::parse(&id)?).await?;
    let is_seen = match fields.text("seen-file")?.as_str() {
        "yes" => true,
        "no" => false,
        _ => return Err(bad()),
    };
    let index = fields.number("file")?.and_then(|number| usize::try_from(number).ok()).ok_or_else(bad)?;
    // What the action is given, and nothing else: nobody fills the store with marks on what is nowhere.
    let files = detail(&app, &state).await?.spec.files;
    let file = files.into_iter().nth(index).ok_or_else(bad)?;
    let (who, project) = (caller.identity.id, state.project);
    app.store().mark_seen(SeenFile { who, project, path: file.path, digest: file.digest }, is_seen).await?;
    Ok(Redirect::to(&format!("/actions/{}#files", state.id)).into_response())
}
