//! Removes expired contents once a day if the settings ask for it, and day-old unnamed uploads every hour. At every start it finishes a
//! removal that was interrupted between
//! an entry and the bytes.
//!
//! The first time is an hour after the start: whoever made a mistake in the settings has that long to notice.

use std::time::Duration;

use placet_domain::identity::Actor;
use placet_domain::time::Timestamp;

use crate::app::App;
use crate::flow::{No, expire, forget_uploads};

const HOUR_MS: u64 = 60 * 60 * 1_000;
/// How often the clock is looked at. It is the store's clock that counts: one that goes back only makes the next time later.
const PERIOD: Duration = Duration::from_millis(500);

pub(super) async fn run(app: App) {
    if let Err(fault) = app.store().sweep().await {
        tracing::error!(%fault, "what was removed by the ledger is still on the disk; trying again at the next start");
    }
    let is_daily = app.settings().expires_daily && app.settings().retention.removes();
    let mut due = app.started_at().plus_ms(HOUR_MS);
    let mut expires = due;
    loop {
        wait_until(&app, due).await;
        due = app.store().now().plus_ms(HOUR_MS);
        if let Err(no) = forget_everywhere(&app).await {
            tracing::error!(error = %no, "uploads that nothing names could not be removed; trying again in an hour");
        }
        if !is_daily || app.store().now() < expires {
            continue;
        }
        expires = app.store().now().plus_ms(24 * HOUR_MS);
        if let Err(no) = expire_everywhere(&app).await {
            tracing::error!(error = %no, "contents could not be removed; trying again tomorrow");
        }
    }
}

/// Removes old unnamed uploads in all projects, so that an identity at its upload limit gets room again after a day.
async fn forget_everywhere(app: &App) -> Result<(), No> {
    for project in app.store().projects().await.map_err(No::Fault)? {
        match forget_uploads(app, project.id).await {
            Ok(expired) if expired.removed > 0 => {
                tracing::info!(project = %project.id, removed = expired.removed, "uploads that nothing named were removed");
            }
            // A halt, or contents that were just preserved, refuse the removal; the next round retries it.
            Ok(_) | Err(No::Refused(_)) => {}
            Err(no) => return Err(no),
        }
    }
    Ok(())
}

async fn wait_until(app: &App, due: Timestamp) {
    while app.store().now() < due {
        tokio::time::sleep(PERIOD).await;
    }
}

async fn expire_everywhere(app: &App) -> Result<(), No> {
    for project in app.store().projects().await.map_err(No::Fault)? {
        match expire(app, Actor::Runtime, project.id).await {
            Ok(expired) if expired.removed > 0 => {
                tracing::info!(project = %project.id, removed = expired.removed, "contents were removed after their time");
            }
            // Everything is stopped, or what is preserved has just changed: tomorrow is another day.
            Ok(_) | Err(No::Refused(_)) => {}
            Err(no) => return Err(no),
        }
    }
    Ok(())
}
