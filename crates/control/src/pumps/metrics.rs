//! Tells a collector the metrics, at regular intervals and once more before the end.
//!
//! Each time everything that was counted since the start: what a collector missed is in the next one, so nothing is sent again. A refusal
//! is said once, not at every interval.

use std::time::Duration;

use crate::app::App;
use crate::otel::{Collector, Counted, Sender, Taken, metrics_request};

pub(super) async fn run(app: App, collector: Collector, every: Duration) {
    let Some(sender) = Sender::new(collector.metrics()) else { return };
    let mut told_why = None;
    loop {
        let goes_on = tokio::select! {
            () = tokio::time::sleep(every) => true,
            () = app.closed() => false,
        };
        let why = match sender.send(body(&app)).await {
            Taken::Yes => None,
            Taken::Refused(why) | Taken::NotYet(why) => Some(why),
        };
        if let Some(why) = why.as_ref().filter(|why| told_why.as_ref() != Some(*why)) {
            tracing::warn!(why, "the collector did not take the metrics; trying again at the next interval");
        }
        told_why = why;
        if !goes_on {
            return;
        }
    }
}

fn body(app: &App) -> String {
    let counted = Counted::new(app.started_at(), app.store().now());
    metrics_request(&app.store().verifier().name().to_string(), &app.metrics_text(), counted).to_string()
}
