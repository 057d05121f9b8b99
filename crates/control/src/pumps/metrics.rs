//! Tells a collector the metrics, at regular intervals and once more at the end, when nothing is counted any more.
//!
//! Each time everything that was counted since the start: what a collector missed is in the next one, so nothing is sent again. A refusal
//! is said once, not at every interval.

use std::time::Duration;

use crate::app::App;
use crate::otel::{Collector, Counted, Sender, Taken, metrics_request};

/// Well within what stopping may take.
const LONGEST_GOODBYE: Duration = Duration::from_secs(3);

pub(super) async fn run(app: App, collector: Collector, every: Duration) {
    let Some(sender) = Sender::new(collector.metrics()) else { return };
    let mut told_why = None;
    loop {
        tokio::select! {
            () = tokio::time::sleep(every) => {}
            () = app.closed() => return,
        }
        let why = match sender.send(body(&app).await).await {
            Taken::Yes => None,
            Taken::Refused(why) | Taken::NotYet(why) => Some(why),
        };
        if let Some(why) = why.as_ref().filter(|why| told_why.as_ref() != Some(*why)) {
            tracing::warn!(why, "the collector did not take the metrics; trying again at the next interval");
        }
        told_why = why;
    }
}

/// The last word. A collector that is slow must not keep the control plane from stopping.
pub(super) async fn tell_last(app: &App, collector: &Collector) {
    let Some(sender) = Sender::new(collector.metrics()) else { return };
    match tokio::time::timeout(LONGEST_GOODBYE, sender.send(body(app).await)).await {
        Ok(Taken::Yes) => {}
        Ok(Taken::Refused(why) | Taken::NotYet(why)) => {
            tracing::warn!(why, "the collector did not take the last metrics")
        }
        Err(_) => tracing::warn!("the collector took too long for the last metrics"),
    }
}

async fn body(app: &App) -> String {
    let counted = Counted::new(app.started_at(), app.store().now());
    metrics_request(&app.store().verifier().name().to_string(), &app.metrics_text().await, counted).to_string()
}
