//! How people are told: every route of the settings, how it does, and a test of it.
//!
//! For administrators of everything: a route tells of all projects. Which routes there are is for the settings of the host to say, and
//! nothing here changes it. A test tells nothing and decides nothing, so it is no entry of the ledger; it rests for a minute by each route.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use placet_control::flow::No;
use placet_control::http::{Address, Failure, Path};
use placet_control::{App, Route, RouteStanding};
use placet_domain::identity::{Identity, Reach, Role};
use placet_domain::refusal::Refusal;

use super::form::Sent;
use crate::markup::{RouteRow, Tested};

/// A person waits so long for what becomes of it; a server of mail that says nothing takes longer, and the page tells it then.
const PATIENCE: Duration = Duration::from_secs(8);

/// Whether somebody sees them: whoever administers all projects.
fn sees_all(who: &Identity) -> bool {
    who.has(Role::Admin) && who.reach == Reach::Everywhere
}

/// The routes, for those who may try them; nothing for anybody else.
pub(super) fn shown(app: &App, who: &Identity) -> Option<Vec<RouteRow>> {
    let row = |route: &Arc<Route>| row(route, app.health().of(route.name()));
    sees_all(who).then(|| app.settings().notify.all().iter().map(row).collect())
}

fn row(route: &Route, standing: RouteStanding) -> RouteRow {
    let failing = standing.failing().map(|(count, first)| (count, first.since, first.why.clone()));
    let tested = standing.test.map(|test| Tested {
        at: test.begun,
        trials: test.trials.map(|all| all.into_iter().map(|trial| (trial.recipient, trial.problem)).collect()),
    });
    // Without the path of an address, which is a secret, and without the mailboxes of people.
    let channel = route.parts().channel.shown();
    RouteRow { name: route.name().to_string(), channel, last_taken: standing.last_taken, failing, tested }
}

pub(super) async fn test(
    State(app): State<App>,
    Path(name): Path<String>,
    address: Address,
    sent: Sent,
) -> Result<Response, Failure> {
    if !sees_all(&sent.caller.identity) {
        return Err(No::Refused(Refusal::Reach).into());
    }
    let known = app.settings().notify.all().iter().find(|route| route.name().as_str() == name).cloned();
    let route = known.ok_or_else(|| Failure::new(StatusCode::NOT_FOUND, "unknown", "no route has this name"))?;
    if !app.health().begins_test(route.name(), app.store().now()) {
        let why = "a test was sent by this route less than a minute ago; wait, and look at what became of it";
        return Err(Failure::new(StatusCode::TOO_MANY_REQUESTS, "too_many_tests", why));
    }
    let who = sent.caller.identity.id;
    tracing::info!(route = %route.name(), %who, "a test of a route was asked for on a page");
    let base = app.settings().public_url.as_ref().map_or_else(|| address.origin().to_owned(), ToString::to_string);
    // In a task of its own: what was begun ends, and is told, also if nobody waits for it.
    let sending = tokio::spawn(async move {
        let trials = route.test(&base, app.store().now()).await;
        app.health().tested(route.name(), trials);
    });
    let _ended_or_tells_later = tokio::time::timeout(PATIENCE, sending).await;
    Ok(Redirect::to("/settings#routes").into_response())
}
