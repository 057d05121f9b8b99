//! The queue for programs: everything that waits for a person, page by page. What was interrupted comes first, then what is undecided.

use std::fmt;
use std::str::FromStr;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use placet_domain::action::ActionState;
use placet_domain::identity::Reach;
use placet_store::{BadSpot, Going, Listed, QueueFilter, Spot, Waits};
use placet_wire::api;
use serde::Deserialize;
use utoipa::IntoParams;

use super::extract::Query;
use super::inbox::reach;
use super::problem::Failure;
use super::queued::{Page, page};
use super::view;
use crate::app::App;
use crate::flow::Caller;

/// As many as a program reads at once; whoever wants more asks again.
const MOST_ROWS: u32 = 1_000;
const USUAL_ROWS: u32 = 100;

#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
pub(super) struct QueueQuery {
    /// Only what belongs to this project.
    project: Option<String>,
    /// At most so many, up to 1,000.
    limit: Option<u32>,
    /// Only what comes after this place: `next` of the answer before.
    after: Option<String>,
}

/// A place in all of it, said in a word that means nothing to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// After this one of those that were interrupted.
    Interrupted(Spot),
    /// After this one of those that are undecided, or before all of them.
    Undecided(Option<Spot>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted(spot) => write!(f, "i{spot}"),
            Self::Undecided(Some(spot)) => write!(f, "u{spot}"),
            Self::Undecided(None) => f.write_str("u"),
        }
    }
}

impl FromStr for Place {
    type Err = BadSpot;

    fn from_str(word: &str) -> Result<Self, BadSpot> {
        match (word.strip_prefix('i'), word.strip_prefix('u')) {
            (Some(spot), _) => Ok(Self::Interrupted(spot.parse()?)),
            (None, Some("")) => Ok(Self::Undecided(None)),
            (None, Some(spot)) => Ok(Self::Undecided(Some(spot.parse()?))),
            (None, None) => Err(BadSpot),
        }
    }
}

pub(super) async fn list(
    State(app): State<App>,
    caller: Caller,
    Query(query): Query<QueueQuery>,
) -> Result<Json<api::QueueView>, Failure> {
    let bad = |_| Failure::new(StatusCode::BAD_REQUEST, "bad_query", "`after` is the `next` of an answer");
    let reach = reach(&caller, query.project.as_deref())?;
    let after: Option<Place> = query.after.as_deref().map(str::parse).transpose().map_err(bad)?;
    let limit = query.limit.unwrap_or(USUAL_ROWS).min(MOST_ROWS);
    let (rows, next) = found(&app, &reach, after, limit).await?;
    let actions = rows.iter().map(|listed| view::action(listed)).collect();
    Ok(Json(api::QueueView { actions, next: next.map(|place| place.to_string()) }))
}

/// So many from there on, and where the rest begins.
async fn found(
    app: &App,
    reach: &Reach,
    after: Option<Place>,
    limit: u32,
) -> Result<(Vec<Listed<ActionState>>, Option<Place>), Failure> {
    let (mut rows, undecided) = match after {
        Some(Place::Undecided(spot)) => (Vec::new(), spot),
        Some(Place::Interrupted(_)) | None => {
            let from = match after {
                Some(Place::Interrupted(spot)) => Some(Going::After(spot)),
                Some(Place::Undecided(_)) | None => None,
            };
            let filter = QueueFilter { waits: Waits::ForResolution, from, ..filter(reach, limit) };
            let Page { rows, after, .. } = page(app, filter).await?;
            if let Some(spot) = after {
                return Ok((rows, Some(Place::Interrupted(spot))));
            }
            (rows, None)
        }
    };
    let left = limit.saturating_sub(u32::try_from(rows.len()).unwrap_or(limit));
    let from = undecided.map(Going::After);
    // Where what was interrupted fills the answer, it is still to be told whether anything else waits.
    let more = page(app, QueueFilter { from, ..filter(reach, left.max(1)) }).await?;
    if left == 0 {
        let next = (limit > 0 && !more.rows.is_empty()).then_some(Place::Undecided(undecided));
        return Ok((rows, next));
    }
    rows.extend(more.rows);
    Ok((rows, more.after.map(|spot| Place::Undecided(Some(spot)))))
}

fn filter(reach: &Reach, limit: u32) -> QueueFilter {
    QueueFilter { reach: reach.clone(), limit, ..QueueFilter::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_a_place_is_read_as_it_was_written_and_nothing_else_is_one() {
        let spot = Spot { risk: 70, created: 1_234 };
        for place in [Place::Interrupted(spot), Place::Undecided(Some(spot)), Place::Undecided(None)] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for word in ["", "i", "70-1234", "u70", "x70-1", "u-1-2", "u999-1", "i70-1 "] {
            assert_eq!(word.parse::<Place>(), Err(BadSpot), "{word}");
        }
    }
}
