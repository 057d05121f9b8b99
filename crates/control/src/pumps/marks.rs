//! Removes marks on files after thirty days, whether or not anybody decides anything.

use std::time::Duration;

use crate::app::App;
use crate::flow::No;

/// Marks last for days: a minute more does not matter.
const PERIOD: Duration = Duration::from_secs(60);

pub(super) async fn run(app: App) {
    loop {
        tokio::time::sleep(PERIOD).await;
        if let Err(no) = forget(&app).await {
            tracing::error!(error = %no, "old marks on files could not be removed; trying again");
        }
    }
}

async fn forget(app: &App) -> Result<(), No> {
    while app.store().has_old_marks().await.map_err(No::Fault)? {
        app.store().forget_marks().await.map_err(No::Fault)?;
    }
    Ok(())
}
