//! The inbox, cards and workers as JSON. Nothing is decided here.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::headline::headline;
use placet_domain::id::{ActionId, ProjectId};
use placet_domain::identity::Reach;
use placet_domain::refusal::Refusal;
use placet_domain::text::beginning;
use placet_ledger::Entry;
use placet_store::{QueueFilter, Rows, Seat, StoredEntry, Waits, Whose};
use placet_wire::api;

use super::extract::{Path, Query};
use super::problem::Failure;
use crate::app::App;
use crate::flow::Caller;
use crate::read::around::History;
use crate::read::entries::decider;
use crate::read::files::{FileShown, Shown};
use crate::read::names::person;
use crate::read::parts::{Place, found};
use crate::read::queue::{length, mine, tier};
use crate::read::standing::{self, Standing, Still};
use crate::read::view::time;
use crate::read::waiting::{MOST_TWINS, Twin, Twins, Waiting, folded};
use crate::read::workers::{self, WorkerRow};
use crate::read::{self, Card, DecisionRight};

/// Each row is opened to tell what it is.
const MOST_ROWS: u32 = 200;
const USUAL_ROWS: u32 = 50;
/// Identical ones in one answer, of all rows together: they are read, and sent, whether anybody looks at them or not.
const MOST_TOLD: usize = 2_000;
/// As much of a goal as tells which undertaking it is.
const LONGEST_GOAL: usize = 200;

pub(super) async fn show(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<api::InboxQuery>,
) -> Result<Json<api::InboxView>, Failure> {
    let reach = reach(&caller, query.project)?;
    let waiting = length(&app, &caller.identity, reach.clone()).await?;
    let aside = match mine(&app, &caller.identity) {
        Some(seat) => app.store().aside_length(reach.clone(), seat).await?,
        None => 0,
    };
    let filter = filter(&app, &caller, &query, reach.clone())?;
    let (actions, next) = listed(&app, &caller, filter, after(&query)?).await?;
    let interrupted = interrupted(&app, &caller, reach.clone()).await?.into_iter().map(row).collect();
    let runs = standing::standing(&app, &reach).await?.into_iter().map(standing_view).collect();
    let (actions, next) = (actions.into_iter().map(row).collect(), next.map(|place| place.to_string()));
    Ok(Json(api::InboxView { waiting, aside, actions, next, interrupted, runs }))
}

/// One page of it. What somebody was named for comes first, at the top of what is theirs.
async fn listed(
    app: &App,
    caller: &Caller,
    filter: QueueFilter,
    after: Option<Place>,
) -> Result<(Vec<Waiting>, Option<Place>), Failure> {
    let named = match &filter.waits {
        Waits::ForApproval(Whose::Of(seat)) => {
            let waits = Waits::ForApproval(Whose::NamedFor(seat.clone()));
            Some(QueueFilter { waits, ..filter.clone() })
        }
        Waits::ForApproval(Whose::All | Whose::NotOf(_) | Whose::NamedFor(_) | Whose::AsideBy(_))
        | Waits::ForResolution => None,
    };
    if named.is_none() && matches!(after, Some(Place::First(_))) {
        return Err(no_place());
    }
    let (first, then) = (named.as_ref().map_or(&filter.waits, |named| &named.waits).clone(), filter.waits.clone());
    let found = found(app, named, filter, after).await?;
    let most = twins_told(found.first.len() + found.then.len());
    let mut actions = folded(app, caller, found.first, &first, most).await?;
    actions.extend(folded(app, caller, found.then, &then, most).await?);
    Ok((actions, found.next))
}

/// As many identical ones of each row as one decides with it, or fewer where there are many rows; how many there are is always told.
fn twins_told(rows: usize) -> u32 {
    let each = MOST_TOLD / rows.max(1);
    u32::try_from(each).unwrap_or(MOST_TWINS).min(MOST_TWINS)
}

fn after(query: &api::InboxQuery) -> Result<Option<Place>, Failure> {
    query.after.as_deref().map(str::parse).transpose().map_err(|_| no_place())
}

fn no_place() -> Failure {
    Failure::new(StatusCode::BAD_REQUEST, "bad_query", "`after` is the `next` of an answer")
}

fn filter(app: &App, caller: &Caller, query: &api::InboxQuery, reach: Reach) -> Result<QueueFilter, Failure> {
    let bad = |why: &'static str| Failure::new(StatusCode::BAD_REQUEST, "bad_query", why);
    // Of whom no yes is asked, nothing is asked of others than them.
    let nobody = || Seat { who: caller.identity.id, behind: Vec::new(), now: app.store().now() };
    let seat = || mine(app, &caller.identity).unwrap_or_else(nobody);
    let whose = match query.whose.as_deref() {
        None => Whose::All,
        Some("mine") => Whose::Of(seat()),
        Some("others") => Whose::NotOf(seat()),
        Some("aside") => Whose::AsideBy(seat()),
        Some(_) => return Err(bad("`whose` is `mine`, `others` or `aside`")),
    };
    let tier = match &query.tier {
        None => None,
        Some(word) => Some(tier(word).ok_or_else(|| bad("tiers are A, B, C and D"))?),
    };
    let limit = query.limit.unwrap_or(USUAL_ROWS).min(MOST_ROWS);
    Ok(QueueFilter { reach, waits: Waits::ForApproval(whose), tier, rows: Rows::OfEachQuestion, from: None, limit })
}

/// What was interrupted, the riskiest first; those that are settled make room for others.
async fn interrupted(app: &App, caller: &Caller, reach: Reach) -> Result<Vec<Waiting>, Failure> {
    let filter = QueueFilter { reach, waits: Waits::ForResolution, limit: MOST_ROWS, ..QueueFilter::default() };
    Ok(folded(app, caller, app.store().queue(filter).await?, &Waits::ForResolution, 0).await?)
}

/// What somebody sees, or one project of it.
pub(super) fn reach(caller: &Caller, project: Option<ProjectId>) -> Result<Reach, Failure> {
    let Some(project) = project else { return Ok(caller.identity.reach.clone()) };
    caller.sees(project, "project")?;
    Ok(Reach::Only([project].into()))
}

fn row(row: Waiting) -> api::WaitingView {
    let (action, since, Twins { some, count }) = (row.detail.action, time(row.since), row.twins);
    let more_twins = count.saturating_sub(some.len() as u64);
    let twins = some.into_iter().map(twin).collect();
    api::WaitingView { action, since, agent: row.agent, goal: row.goal, twins, more_twins, attention: row.attention }
}

fn twin(twin: Twin) -> api::TwinView {
    let goal = beginning(&twin.goal, LONGEST_GOAL).0.to_owned();
    api::TwinView { id: twin.id, review: twin.review, agent: twin.agent, goal }
}

fn standing_view(run: Standing) -> api::StandingView {
    let why = match run.why {
        Still::Plan => api::StandsFor::Plan,
        Still::Checkpoint => api::StandsFor::Checkpoint,
        Still::Results => api::StandsFor::Results,
        Still::Wish => api::StandsFor::Wish,
    };
    api::StandingView { run: run.run, goal: run.goal, agent: run.agent, since: time(run.since), why }
}

pub(super) async fn card(
    State(app): State<App>,
    Path(id): Path<ActionId>,
    caller: Caller,
) -> Result<Json<api::CardView>, Failure> {
    let card = read::card(&app, &caller, id).await?;
    let entries = happened(&app, &card.entries).await?;
    Ok(Json(shown(card, entries)))
}

fn shown(card: Card, entries: Vec<api::HappenedView>) -> api::CardView {
    let (may_decide, cannot) = match card.right {
        DecisionRight::Yes => (true, None),
        DecisionRight::No(why) => (false, Some(why.to_string())),
        DecisionRight::Settled => (false, None),
        // A terminal has no passkeys: whoever needs one decides in a browser.
        DecisionRight::Sign | DecisionRight::NoPasskey => (false, Some(Refusal::PasskeyNeeded.to_string())),
    };
    let History { approved, rejected, succeeded, failed, recent: _ } = card.history;
    api::CardView {
        detail: card.detail,
        since: time(card.since),
        agent: card.agent,
        goal: card.run.goal,
        files: card.files.into_iter().map(file).collect(),
        history: api::HistoryView { approved, rejected, succeeded, failed },
        may_decide,
        cannot,
        look_twice: card.fast,
        approved_by: card.approved_by.into_iter().map(|yes| yes.name).collect(),
        attention: card.attention,
        snapshot: card.blast.snapshot,
        budget: card.blast.budget,
        entries,
    }
}

fn file(file: FileShown) -> api::FileView {
    let FileShown { path, digest, size_bytes, project: _, shown, ruling: _, seen: _ } = file;
    let (shown, text, before, is_cut) = match shown {
        Shown::Text { now, before, is_cut } => (api::FileShownAs::Text, Some(now), before, is_cut),
        Shown::Opaque => (api::FileShownAs::Opaque, None, None, false),
        Shown::Unread => (api::FileShownAs::Unread, None, None, false),
        Shown::Withheld => (api::FileShownAs::Withheld, None, None, false),
        Shown::Removed => (api::FileShownAs::Removed, None, None, false),
    };
    api::FileView { path, digest, size_bytes, shown, text, before, is_cut }
}

/// What happened to an action, and by whom: a name to those who see the action.
async fn happened(app: &App, entries: &[StoredEntry]) -> Result<Vec<api::HappenedView>, Failure> {
    let mut rows = Vec::new();
    for entry in entries {
        let (event, by) = (headline(&entry.kind).into_owned(), actor(app, entry).await?);
        rows.push(api::HappenedView { seq: entry.seq, at: time(entry.at), event, by });
    }
    Ok(rows)
}

async fn actor(app: &App, entry: &StoredEntry) -> Result<String, Failure> {
    match decider(entry) {
        Some(id) => Ok(person(app, id).await?),
        None => Ok(Entry::parse(&entry.bytes).map(|entry| entry.actor).unwrap_or_default()),
    }
}

pub(super) async fn workers(State(app): State<App>, caller: Caller) -> Result<Json<api::WorkerList>, Failure> {
    let workers = workers::worker_rows(&app, &caller).await?.into_iter().map(worker).collect();
    Ok(Json(api::WorkerList { workers }))
}

fn worker(row: WorkerRow) -> api::WorkerView {
    let WorkerRow { identity, last_seen, executes, hosts, is_well, declaration, other_version, other_profiles } = row;
    let (id, name, revoked) = (identity.id, identity.name, identity.revoked);
    let last_seen = last_seen.map(time);
    api::WorkerView {
        id,
        name,
        last_seen,
        executes,
        hosts,
        is_well,
        revoked,
        declaration,
        other_version,
        other_profiles,
    }
}
