//! The inbox: what waits, page by page, with the card of what is looked at beside it.

use axum::extract::State;
use axum::response::Response;
use placet_control::App;
use placet_control::flow::{self, Caller};
use placet_control::http::{Address, Failure, Query};
use placet_control::read::queue::{self, Page, length, mine, page};
use placet_control::read::waiting::{Waiting, folded};
use placet_control::read::{names, standing};
use placet_domain::id::ActionId;
use placet_domain::identity::{Identity, Reach};
use placet_domain::policy::Tier;
use placet_store::{Going, QueueFilter, Rows, Seat, Waits, Whose};
use serde::Deserialize;

use super::guard::{Visiting, made};
use super::onward::just;
use super::{action, viewer};
use crate::markup::{ActionPage, From, Inbox, Listing, Part};

/// As many rows as are looked through before something is decided; each is opened to tell what it is.
const MOST_ROWS: u32 = 50;
/// What waits for others, or was interrupted, is listed beside the rest up to here; all of it has pages of its own.
/// A row says how many twins there are, and its card which.
const COUNTED: u32 = 0;
const MOST_BESIDE: u32 = 10;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InboxQuery {
    /// What is looked at.
    pub(super) action: Option<String>,
    /// Who is asked: `mine`, `others` or `interrupted`.
    pub(super) part: Option<String>,
    /// Only actions of this tier.
    pub(super) tier: Option<String>,
    pub(super) project: Option<String>,
    /// Only what comes after or before this place in the queue.
    pub(super) after: Option<String>,
    pub(super) before: Option<String>,
    /// What was just decided.
    pub(super) just: Option<String>,
    /// How many others were decided by the same word.
    pub(super) with: Option<usize>,
}

impl InboxQuery {
    /// Which part it asks for, and from where on.
    pub(super) fn listing(&self) -> Result<Listing, Failure> {
        let part = match self.part.as_deref() {
            None => Part::Mine,
            Some(word) => Part::parse(word).ok_or_else(|| bad("the inbox has no such part; go back to all of it"))?,
        };
        let from = match (&self.after, &self.before) {
            (Some(spot), _) => Some(From::After(spot.clone())),
            (None, Some(spot)) => Some(From::Before(spot.clone())),
            (None, None) => None,
        };
        let project = self.project.as_deref().map(str::parse).transpose().map_err(Failure::bad_id)?;
        let tier = self.tier.as_deref().map(tier).transpose()?.map(|tier| tier.to_string());
        let listing = Listing { part, tier, project, from };
        going(&listing)?;
        Ok(listing)
    }
}

fn bad(why: &'static str) -> Failure {
    Failure::new(axum::http::StatusCode::BAD_REQUEST, "bad_query", why)
}

fn tier(word: &str) -> Result<Tier, Failure> {
    queue::tier(word).ok_or_else(|| bad("tiers are A, B, C and D"))
}

fn going(listing: &Listing) -> Result<Option<Going>, Failure> {
    let spot = |word: &str| word.parse().map_err(|_| bad("this is no place in the queue; begin at its top"));
    Ok(match &listing.from {
        None => None,
        Some(From::After(word)) => Some(Going::After(spot(word)?)),
        Some(From::Before(word)) => Some(Going::Before(spot(word)?)),
    })
}

pub(super) async fn show(
    State(app): State<App>,
    visiting: Visiting,
    caller: Caller,
    address: Address,
    Query(query): Query<InboxQuery>,
) -> Result<Response, Failure> {
    let (reach, listing) = (visiting.identity.reach.clone(), query.listing()?);
    let runs = standing::standing(&app, &reach).await?;
    let waiting = length(&app, &visiting.identity, reach.clone()).await?;
    let interrupted = app.store().interrupted(reach.clone()).await?;
    let viewer = viewer::viewer(&app, &visiting).await?;
    let mut inbox = listed(&app, &caller, listing, interrupted > 0).await?;
    inbox.chosen = chosen(&app, &caller, &address, query.action.as_deref(), &inbox).await?.map(Box::new);
    inbox.was_chosen = query.action.is_some();
    inbox.just = just(&app, &caller, &query).await?;
    inbox.runs = if is_top(&inbox.listing) { runs } else { Vec::new() };
    inbox.projects = names::projects(&app, &reach).await?;
    inbox.waiting = waiting;
    let absent = flow::standing_in(&app, visiting.identity.id).await?;
    inbox.absent = absent.into_iter().map(|absence| (absence.name, absence.until)).collect();
    made(move || crate::markup::inbox(&viewer, &inbox)).await
}

/// Whether everything that waits is asked for, from its top.
fn is_top(listing: &Listing) -> bool {
    listing.part == Part::Mine && listing.from.is_none()
}

/// One page of a part; beside it what was interrupted, and at the end of one's own what waits for others.
async fn listed(app: &App, caller: &Caller, listing: Listing, has_interrupted: bool) -> Result<Inbox, Failure> {
    let filter = filter(app, &caller.identity, &listing)?;
    let Page { rows, before, after } = page(app, QueueFilter { limit: MOST_ROWS, ..filter.clone() }).await?;
    let beside = async |waits| -> Result<Vec<Waiting>, Failure> {
        let filter = QueueFilter { waits, from: None, limit: MOST_BESIDE, ..filter.clone() };
        let (rows, waits) = (app.store().queue(filter.clone()).await?, filter.waits);
        Ok(folded(app, caller, rows, &waits, COUNTED).await?)
    };
    let mut inbox = Inbox { actions: folded(app, caller, rows, &filter.waits, COUNTED).await?, ..Inbox::default() };
    if is_top(&listing) && has_interrupted {
        inbox.interrupted = beside(Waits::ForResolution).await?;
    }
    if let Some(seat) = mine(app, &caller.identity).filter(|_| listing.part == Part::Mine) {
        let of = |whose: fn(Seat) -> Whose| Waits::ForApproval(whose(seat.clone()));
        if is_top(&listing) {
            inbox.named = beside(of(Whose::NamedFor)).await?;
        }
        if after.is_none() {
            inbox.others = beside(of(Whose::NotOf)).await?;
            inbox.aside = beside(of(Whose::AsideBy)).await?;
        }
    }
    inbox.before = before.map(|spot| spot.to_string());
    inbox.after = after.map(|spot| spot.to_string());
    inbox.listing = listing;
    Ok(inbox)
}

fn filter(app: &App, who: &Identity, listing: &Listing) -> Result<QueueFilter, Failure> {
    let reach = match listing.project {
        Some(project) if who.reach.includes(project) => Reach::Only([project].into()),
        // Whoever does not see a project sees nothing of it.
        Some(_) => Reach::Only([].into()),
        None => who.reach.clone(),
    };
    // Whoever decides nothing is behind nothing, and set nothing aside.
    let nobody = || Seat { who: who.id, behind: Vec::new(), now: app.store().now() };
    let seat = || mine(app, who).unwrap_or_else(nobody);
    let waits = match (listing.part, mine(app, who)) {
        (Part::Mine, None) => Waits::ForApproval(Whose::All),
        (Part::Mine, Some(seat)) => Waits::ForApproval(Whose::Of(seat)),
        (Part::Named, _) => Waits::ForApproval(Whose::NamedFor(seat())),
        (Part::Others, _) => Waits::ForApproval(Whose::NotOf(seat())),
        (Part::Aside, _) => Waits::ForApproval(Whose::AsideBy(seat())),
        (Part::Interrupted, _) => Waits::ForResolution,
    };
    let tier = listing.tier.as_deref().map(tier).transpose()?;
    Ok(QueueFilter { reach, waits, tier, rows: Rows::OfEachQuestion, from: going(listing)?, limit: MOST_ROWS })
}

/// What was asked for, or else what comes first.
async fn chosen(
    app: &App,
    caller: &Caller,
    address: &Address,
    asked: Option<&str>,
    inbox: &Inbox,
) -> Result<Option<ActionPage>, Failure> {
    let parts = [&inbox.interrupted, &inbox.named, &inbox.actions, &inbox.others, &inbox.aside];
    let id: ActionId = match (asked, parts.into_iter().flatten().next()) {
        (Some(asked), _) => asked.parse().map_err(Failure::bad_id)?,
        (None, Some(first)) => first.detail.action.id,
        (None, None) => return Ok(None),
    };
    action::page(app, caller, address, id).await.map(Some)
}
