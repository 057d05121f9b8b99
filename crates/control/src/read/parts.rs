//! Two parts of what waits as one list, page by page: all of the first one, then the second one. Nothing of either is out of reach, however much
//! of it there is.

use std::fmt;
use std::str::FromStr;

use placet_domain::action::ActionState;
use placet_store::{BadSpot, Going, Listed, QueueFilter, Spot, StoreError};

use super::queue::{Page, page};
use crate::app::App;

/// A place in both of them, said in a word that means nothing to others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    /// After this one of the first part.
    First(Spot),
    /// After this one of the second part, or before all of it.
    Then(Option<Spot>),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::First(spot) => write!(f, "i{spot}"),
            Self::Then(Some(spot)) => write!(f, "u{spot}"),
            Self::Then(None) => f.write_str("u"),
        }
    }
}

impl FromStr for Place {
    type Err = BadSpot;

    fn from_str(word: &str) -> Result<Self, BadSpot> {
        match (word.strip_prefix('i'), word.strip_prefix('u')) {
            (Some(spot), _) => Ok(Self::First(spot.parse()?)),
            (None, Some("")) => Ok(Self::Then(None)),
            (None, Some(spot)) => Ok(Self::Then(Some(spot.parse()?))),
            (None, None) => Err(BadSpot),
        }
    }
}

/// One page: what of each part is on it, and where the rest begins.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) first: Vec<Listed<ActionState>>,
    pub(crate) then: Vec<Listed<ActionState>>,
    pub(crate) next: Option<Place>,
}

/// So many from there on as the second part says, and where the rest begins. Where there is no first part, no place is in it.
pub(crate) async fn found(
    app: &App,
    first: Option<QueueFilter>,
    then: QueueFilter,
    after: Option<Place>,
) -> Result<Found, StoreError> {
    let (mut found, limit) = (Found::default(), then.limit);
    let (first_from, then_from) = match after {
        None => (None, None),
        Some(Place::First(spot)) => (Some(Going::After(spot)), None),
        Some(Place::Then(spot)) => (None, spot),
    };
    if let Some(filter) = first.filter(|_| !matches!(after, Some(Place::Then(_)))) {
        let Page { rows, after, .. } = page(app, QueueFilter { from: first_from, limit, ..filter }).await?;
        found.first = rows;
        if let Some(spot) = after {
            return Ok(Found { next: Some(Place::First(spot)), ..found });
        }
    }
    let left = limit.saturating_sub(u32::try_from(found.first.len()).unwrap_or(limit));
    // Where the first part fills the answer, it is still to be told whether there is anything of the second.
    let more = page(app, QueueFilter { from: then_from.map(Going::After), limit: left.max(1), ..then }).await?;
    if left == 0 {
        let next = (limit > 0 && !more.rows.is_empty()).then_some(Place::Then(then_from));
        return Ok(Found { next, ..found });
    }
    Ok(Found { then: more.rows, next: more.after.map(|spot| Place::Then(Some(spot))), ..found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b4_a_place_is_read_as_it_was_written_and_nothing_else_is_one() {
        let spot = Spot { risk: 70, created: 1_234 };
        for place in [Place::First(spot), Place::Then(Some(spot)), Place::Then(None)] {
            assert_eq!(place.to_string().parse(), Ok(place));
        }
        for word in ["", "i", "70-1234", "u70", "x70-1", "u-1-2", "u999-1", "i70-1 "] {
            assert_eq!(word.parse::<Place>(), Err(BadSpot), "{word}");
        }
    }
}
