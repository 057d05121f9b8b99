//! Signs a tree head whenever entries have come, at most once a second: what a stranger can hold on to.

use std::time::Duration;

use crate::app::App;

const PERIOD: Duration = Duration::from_secs(1);

pub(super) async fn run(app: App) {
    let mut changes = app.store().subscribe();
    loop {
        if changes.changed().await.is_err() {
            return;
        }
        if let Err(fault) = app.store().sign_head().await {
            tracing::error!(%fault, "the tree head was not signed: the ledger does not hold what it should");
        }
        tokio::time::sleep(PERIOD).await;
    }
}
