//! Attention: somebody is named who should look at a question, or sets it aside for themselves. Nothing is decided by it.

use placet_domain::action::{ActionCommand, ActionState};
use placet_domain::id::ActionId;
use placet_domain::time::Timestamp;

use super::approve::change;
use super::away::found;
use super::{Caller, No};
use crate::app::App;

/// Names who should look at it, by name or id; nobody takes it back.
pub async fn assign(
    app: &App,
    caller: &Caller,
    id: ActionId,
    to: Option<&str>,
    note: String,
) -> Result<ActionState, No> {
    let to = match to {
        Some(named) => Some(Box::new(found(app, caller, named).await?)),
        None => None,
    };
    change(app, caller, id, ActionCommand::Assign { to, note }).await
}

/// Sets it aside for whoever asks; no time brings it back.
pub async fn defer(app: &App, caller: &Caller, id: ActionId, until: Option<Timestamp>) -> Result<ActionState, No> {
    change(app, caller, id, ActionCommand::Defer { until }).await
}
