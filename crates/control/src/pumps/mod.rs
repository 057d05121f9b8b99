//! The clockwork: what happens without anybody asking. It ends what ran out of time, signs heads and tells receivers of
//! webhooks; it approves nothing.

mod heads;
mod lapses;
mod rejudge;
mod webhooks;

use tokio::task::JoinSet;

use crate::app::App;
pub(crate) use rejudge::rejudge;
pub(crate) use webhooks::enrol;

/// Starts the pumps; they stop when the set is dropped.
pub(crate) fn start(app: &App) -> JoinSet<()> {
    let mut pumps = JoinSet::new();
    pumps.spawn(lapses::run(app.clone()));
    pumps.spawn(heads::run(app.clone()));
    webhooks::start(app, &mut pumps);
    pumps
}
