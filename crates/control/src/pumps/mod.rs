//! The clockwork: what happens without anybody asking. It ends what ran out of time, signs heads, tells receivers of webhooks
//! and people, sends traces and metrics, and removes contents and marks after their time; it
//! approves nothing.

mod heads;
mod lapses;
mod marks;
mod metrics;
mod notify;
mod rejudge;
mod retention;
mod traces;
mod webhooks;

use std::net::SocketAddr;

use tokio::task::JoinSet;

use crate::app::App;
use crate::flow::No;
pub(crate) use rejudge::rejudge;

/// Whoever is told of things for the first time is told of what comes from now on.
pub(crate) async fn enrol(app: &App) -> Result<(), No> {
    webhooks::enrol(app).await?;
    notify::enrol(app).await?;
    traces::enrol(app).await
}

/// Starts the pumps; they stop when the set is dropped.
pub(crate) fn start(app: &App, address: SocketAddr) -> JoinSet<()> {
    let mut pumps = JoinSet::new();
    pumps.spawn(lapses::run(app.clone()));
    pumps.spawn(marks::run(app.clone()));
    pumps.spawn(heads::run(app.clone()));
    pumps.spawn(retention::run(app.clone()));
    webhooks::start(app, &mut pumps);
    notify::start(app, address, &mut pumps);
    if let Some(collector) = app.settings().collector.clone() {
        pumps.spawn(traces::run(app.clone(), collector.clone()));
        if let Some(every) = app.settings().metrics_every.duration() {
            pumps.spawn(metrics::run(app.clone(), collector, every));
        }
    }
    pumps
}

/// What is told when nothing happens any more.
pub(crate) async fn finish(app: &App) {
    if let (Some(collector), Some(_)) = (&app.settings().collector, app.settings().metrics_every.duration()) {
        metrics::tell_last(app, collector).await;
    }
}
