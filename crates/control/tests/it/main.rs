//! The control plane as its clients see it: over HTTP, with tokens, friendly and hostile.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod bad_input;
mod collector;
mod every_mutation_is_recorded;
mod flow;
mod half_open;
mod idempotency;
mod inbox;
mod limits;
mod metrics;
mod notify;
mod races;
mod routes;
mod stream;
mod traces;
mod webhooks;

#[path = "../kit/hosting.rs"]
mod hosting;
#[path = "../kit/moves.rs"]
mod moves;
#[path = "../kit/person.rs"]
mod person;
#[path = "../kit/post_office.rs"]
mod post_office;
#[path = "../kit/room.rs"]
mod room;
#[path = "../kit/scenario.rs"]
#[expect(dead_code, reason = "shared with the tests of the pages")]
mod scenario;
#[path = "../kit/telling.rs"]
mod telling;

use placet_control::{App, ServeError, Serving, serve};

/// Serves the API alone.
async fn serve_app(app: App) -> Result<Serving, ServeError> {
    serve(app, "127.0.0.1:0".parse().unwrap()).await
}
