//! The queue page by page, for pages and for the API: what is on one, and where those before and after it begin.

use placet_domain::action::ActionState;
use placet_domain::identity::{Identity, Reach, Role};
use placet_domain::policy::Tier;
use placet_store::{Going, Listed, QueueFilter, Seat, Spot, StoreError};

use crate::app::App;

/// A part of the queue.
#[derive(Debug)]
pub struct Page {
    pub rows: Vec<Listed<ActionState>>,
    /// Where to go on: backwards from the first, and forwards from the last.
    pub before: Option<Spot>,
    pub after: Option<Spot>,
}

/// Whoever decides, with those whom they descend from, at this moment; nothing of whom no yes is asked.
pub fn mine(app: &App, who: &Identity) -> Option<Seat> {
    let behind = who.lineage.iter().collect();
    who.has(Role::Reviewer).then(|| Seat { who: who.id, behind, now: app.store().now() })
}

/// How many wait for an approval, but for those that whoever looks has set aside.
pub async fn length(app: &App, who: &Identity, reach: Reach) -> Result<u64, StoreError> {
    match mine(app, who) {
        Some(seat) => app.store().queue_length_for(reach, seat).await,
        None => app.store().queue_length(reach).await,
    }
}

/// The tier that a word names.
pub fn tier(word: &str) -> Option<Tier> {
    Tier::ALL.iter().copied().find(|tier| tier.to_string() == word)
}

/// One more than is shown is asked for: it tells that there are others.
pub async fn page(app: &App, filter: QueueFilter) -> Result<Page, StoreError> {
    let (limit, from) = (filter.limit as usize, filter.from);
    let mut rows = app.store().queue(QueueFilter { limit: filter.limit + 1, ..filter }).await?;
    let is_more = rows.len() > limit;
    let backwards = matches!(from, Some(Going::Before(_)));
    if is_more && backwards {
        rows.remove(0);
    }
    rows.truncate(limit);
    let (first, last) = (rows.first().map(Spot::of), rows.last().map(Spot::of));
    let (before, after) = match from {
        None => (None, last.filter(|_| is_more)),
        // Where everything beyond was decided meanwhile, the way back is from there.
        Some(Going::After(spot)) => {
            (first.or(Some(Spot { created: spot.created.saturating_add(1), ..spot })), last.filter(|_| is_more))
        }
        Some(Going::Before(_)) => (first.filter(|_| is_more), last),
    };
    Ok(Page { rows, before, after })
}
