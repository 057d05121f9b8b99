//! Marks on files: what a reviewer has seen is folded wherever the same bytes stand at the same path again.
//!
//! A mark is its person's own. It approves nothing, nobody else sees it, and whoever sets none decides all the same. It is about people,
//! like how long somebody looked: beside the ledger, and forgotten after thirty days.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_domain::id::ProjectId;
use placet_domain::identity::Role;
use placet_pages::FileShown;
use placet_store::SeenFile;

use super::super::actions::detail;
use super::super::extract::Path;
use super::super::problem::Failure;
use super::action;
use super::form::Sent;
use crate::app::App;
use crate::flow::{self, Caller};

/// Says of each file whether its reviewer has marked it; of nobody else's.
pub(super) async fn tell(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    files: &mut [FileShown],
) -> Result<(), Failure> {
    if files.is_empty() || !caller.identity.has(Role::Reviewer) {
        return Ok(());
    }
    let who = caller.identity.id;
    let asked = |file: &FileShown| SeenFile { who, project, path: file.path.clone(), digest: file.digest };
    let marked = app.store().seen(files.iter().map(asked).collect()).await?;
    files.iter_mut().zip(marked).for_each(|(file, seen)| file.seen = Some(seen));
    Ok(())
}

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
