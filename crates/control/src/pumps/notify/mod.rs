//! Tells people what waits for them, straight from the ledger, by each route that the settings name.
//!
//! ```text
//! teller: reads on ─► what is due (schedule) ─► round: whose is it? ─► debts, written down with the cursor
//!         ─► round: does it still wait? ─► message ─► one sending for each recipient ─► debts
//! ```
//!
//! What is to be told is written down before anything is sent, and that it was told after it was: nothing is lost by a restart, nobody is
//! told twice of what they took, and what may have been taken has the same id when it is sent again. A receiver that is away gets one message
//! when it is back, with what still waits then. Routes do not wait for each other, nor do the recipients of one, and nothing else waits for them.

mod round;
mod teller;

use std::net::SocketAddr;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::app::App;
use crate::flow::No;
use crate::notify::Route;
use teller::Teller;

/// No receiver of webhooks can have this name.
fn cursor(route: &Route) -> String {
    format!("notify/{}", route.name())
}

/// A route that is new tells what comes from now on.
pub(super) async fn enrol(app: &App) -> Result<(), No> {
    for route in app.settings().notify.all() {
        let name = cursor(route);
        if app.store().cursor(&name).await.map_err(No::Fault)?.is_none() {
            app.store().set_cursor(&name, app.store().size()).await.map_err(No::Fault)?;
        }
    }
    Ok(())
}

/// One pump for each route. Links lead to the public address, or else to where this control plane listens.
pub(super) fn start(app: &App, address: SocketAddr, pumps: &mut JoinSet<()>) {
    let public = app.settings().public_url.as_ref().map(ToString::to_string);
    let base = public.unwrap_or_else(|| format!("http://{address}"));
    for route in app.settings().notify.all() {
        pumps.spawn(Teller::new(app.clone(), Arc::clone(route), base.clone()).run());
    }
}
