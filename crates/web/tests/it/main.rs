//! The pages as browsers see them, with a browser that reads forms and holds one cookie. What a person sees with real eyes is looked at
//! in real Chromium (`crates/cli/tests/browser`); here is what must hold whatever is shown.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod alone;
mod amending;
mod between;
mod browser;
mod cards;
mod deciding;
mod doors;
mod entering;
mod finding;
mod forging;
mod living;
mod logs;
mod marking;
mod measured;
mod ordering;
mod passkeys;
mod queue;
mod run_page;
mod showing;
mod signing_on;
mod slowed;
mod telling_people;
mod trying;
mod workers;

#[path = "../../../domain/tests/it/authenticator.rs"]
mod authenticator;
#[path = "../../../control/tests/kit/hosting.rs"]
mod hosting;
#[path = "../../../domain/tests/it/minted.rs"]
mod minted;
#[path = "../../../control/tests/kit/moves.rs"]
#[expect(dead_code, reason = "shared with the tests of the control plane")]
mod moves;
#[path = "../../../control/tests/kit/person.rs"]
#[expect(dead_code, reason = "shared with the tests of the control plane")]
mod person;
#[path = "../../../control/tests/kit/provider.rs"]
mod provider;
#[path = "../../../control/tests/kit/room.rs"]
#[expect(dead_code, reason = "shared with the tests of the control plane")]
mod room;
#[path = "../../../control/tests/kit/scenario.rs"]
#[expect(dead_code, reason = "shared with the tests of the control plane")]
mod scenario;
#[path = "../../../control/tests/kit/telling.rs"]
#[expect(dead_code, reason = "shared with the tests of the control plane")]
mod telling;

use placet_control::{App, ServeError, Serving, serve_with};

/// Serves the API with the pages beside it.
async fn serve_app(app: App) -> Result<Serving, ServeError> {
    let pages = placet_web::mount(&app);
    serve_with(app, "127.0.0.1:0".parse().unwrap(), pages).await
}
