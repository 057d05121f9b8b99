//! Who should look at an action, and who sets it aside until when: sent and told in one way, by `placet queue` and by `placet review`.

use jiff::Timestamp;
use placet_domain::id::ActionId;
use placet_domain::text::marked;
use placet_wire::Client;
use placet_wire::api::{AssignRequest, AttentionView, DeferRequest};
use placet_wire::endpoint::{AssignAction, DeferAction};

use crate::context::short;
use crate::error::CliError;

/// Names who should look at it, by name or id; nobody takes it back.
pub(super) async fn assign(
    client: &Client,
    action: ActionId,
    to: Option<String>,
    note: String,
) -> Result<String, CliError> {
    let request = AssignRequest { to, note };
    let view: AttentionView = client.post(AssignAction { action }, &request).await?;
    Ok(match &view.assigned {
        Some(assigned) => format!("{} is for {}, who decides by their own rights", short(action), marked(&assigned.to)),
        None => format!("{} is for nobody in particular", short(action)),
    })
}

/// Sets it aside for so long; no time brings it back.
pub(super) async fn defer(client: &Client, action: ActionId, lasts_ms: Option<u64>) -> Result<String, CliError> {
    let until = lasts_ms.map(until).transpose()?.map(|until| until.to_string());
    let view: AttentionView = client.post(DeferAction { action }, &DeferRequest { until }).await?;
    Ok(match view.aside.iter().find(|aside| aside.is_yours) {
        Some(aside) => format!("{} is set aside until {}, for you alone", short(action), aside.until),
        None => format!("{} is back where it was", short(action)),
    })
}

fn until(lasts_ms: u64) -> Result<Timestamp, CliError> {
    let far = || CliError::usage("that is further away than clocks go").hint("say a time before its deadline");
    let lasts_ms = i64::try_from(lasts_ms).map_err(|_| far())?;
    let until = Timestamp::now().as_millisecond().checked_add(lasts_ms).ok_or_else(far)?;
    Timestamp::from_millisecond(until).map_err(|_| far())
}
