//! Forgets how people looked at cards when its time is over, whether or not anybody decides anything: it is about people, and kept no
//! longer than figures need it.

use std::time::Duration;

use crate::app::App;
use crate::flow::No;

/// To look whether there is something to forget costs next to nothing, and it is the store's clock that counts.
const PERIOD: Duration = Duration::from_millis(500);

pub(super) async fn run(app: App) {
    loop {
        tokio::time::sleep(PERIOD).await;
        if let Err(no) = forget(&app).await {
            tracing::error!(error = %no, "looks whose time is over could not be forgotten; trying again");
        }
    }
}

async fn forget(app: &App) -> Result<(), No> {
    while app.store().has_old_looks().await.map_err(No::Fault)? {
        app.store().forget_looks().await.map_err(No::Fault)?;
    }
    Ok(())
}
