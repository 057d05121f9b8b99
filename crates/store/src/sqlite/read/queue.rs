//! What waits for people, in the order of its indexes: however long the queue is, only the rows that are asked for are read.

use placet_domain::action::ActionState;
use placet_domain::identity::Reach;
use rusqlite::Connection;
use rusqlite::types::Value;

use super::select::Select;
use crate::error::StoreError;
use crate::query::Listed;
use crate::queue::{Going, QueueFilter, Seat, Spot, Waits, Whose};
use crate::sqlite::rows::listed;

/// Actions in runs in which somebody may still decide on them.
const DECIDABLE: &str = "FROM action
    JOIN run ON run.created = action.run AND (run.is_open OR action.performing AND run.status = 'PENDING_EXPORT')";
/// What was interrupted is settled in whatever run.
const INTERRUPTED: &str = "FROM action";
/// The sign keeps SQLite from reading every action of a project: those that wait are fewer, and in order.
const PROJECT: &str = "+action.project";

/// What waits for a reviewer and can still be decided: the riskiest first, then the oldest.
pub(crate) fn queue(conn: &Connection, filter: &QueueFilter) -> Result<Vec<Listed<ActionState>>, StoreError> {
    let mut found = select(filter).all(conn, |row| listed("action", row))?;
    if let Some(Going::Before(_)) = filter.from {
        found.reverse();
    }
    Ok(found)
}

fn select(filter: &QueueFilter) -> Select {
    let columns = "SELECT action.created, action.created_ms, action.changed, action.changed_ms, action.state";
    let tier = filter.tier.map(|tier| tier.to_string());
    let waiting = waiting(columns, &filter.waits, &filter.reach).and(tier_of(&filter.waits), tier);
    match filter.from {
        None => waiting.ordered("action.risk DESC, action.created", filter.limit),
        Some(Going::After(spot)) => {
            beyond(waiting, spot, ("<", ">")).ordered("action.risk DESC, action.created", filter.limit)
        }
        Some(Going::Before(spot)) => {
            beyond(waiting, spot, (">", "<")).ordered("action.risk, action.created DESC", filter.limit)
        }
    }
}

/// What somebody was named for or set aside is little, whatever its tier: its own index finds it.
const fn tier_of(waits: &Waits) -> &'static str {
    match waits {
        Waits::ForApproval(Whose::NamedFor(_) | Whose::AsideBy(_)) => "+action.tier = ?",
        Waits::ForApproval(Whose::All | Whose::Of(_) | Whose::NotOf(_)) | Waits::ForResolution => "action.tier = ?",
    }
}

fn waiting(columns: &str, waits: &Waits, reach: &Reach) -> Select {
    match waits {
        Waits::ForApproval(whose) => {
            let waiting =
                Select::new(&format!("{columns} {DECIDABLE}")).literally("action.status = 'PENDING_APPROVAL'");
            of(waiting.within(PROJECT, reach), whose)
        }
        Waits::ForResolution => Select::new(&format!("{columns} {INTERRUPTED}"))
            .literally("action.status = 'INTERRUPTED'")
            .within(PROJECT, reach),
    }
}

/// Only what is beyond a place: the first condition lets the index begin there.
fn beyond(waiting: Select, spot: Spot, (risk, created): (&str, &str)) -> Select {
    // No entry has a larger number than SQLite can hold.
    let place = i64::try_from(spot.created).unwrap_or(i64::MAX);
    waiting
        .and(&format!("action.risk {risk}= ?"), Some(i64::from(spot.risk)))
        .and(&format!("(action.risk {risk} {} OR action.created {created} ?)", spot.risk), Some(place))
}

/// Where one person works alone, they stand behind everything and still decide what takes one yes.
const ALONE: &str = "action.tier = 'B' AND coalesce(json_extract(run.state, '$.separation'), '') = 'single_operator'";

fn of(waiting: Select, whose: &Whose) -> Select {
    match whose {
        Whose::All => waiting,
        Whose::Of(seat) => in_sight(waiting.and_with(&free(seat), named(seat)).literally("action.named IS NULL"), seat),
        Whose::NotOf(seat) => {
            let others = format!("(NOT {} OR action.named <> ?)", free(seat));
            let values = named(seat).into_iter().chain([Value::Text(seat.who.to_string())]);
            in_sight(waiting.and_with(&others, values), seat)
        }
        Whose::NamedFor(seat) => in_sight(waiting.and("action.named = ?", Some(seat.who.to_string())), seat),
        Whose::AsideBy(seat) => waiting.literally("action.aside IS NOT NULL").and_with(ASIDE, [path(seat), now(seat)]),
    }
}

/// Whether somebody is free to say yes, as far as it shows on the action itself.
fn free(seat: &Seat) -> String {
    let each = " AND instr(action.bound, ?) = 0".repeat(1 + seat.behind.len());
    format!("(TRUE{each} OR {ALONE})")
}

fn named(seat: &Seat) -> Vec<Value> {
    std::iter::once(&seat.who).chain(&seat.behind).map(|id| Value::Text(id.to_string())).collect()
}

/// Whether somebody does not want to see it yet. Where nobody said so there is nothing to compare.
const ASIDE: &str = "coalesce(json_extract(action.aside, ?), 0) > ?";

/// Only what they did not set aside.
fn in_sight(waiting: Select, seat: &Seat) -> Select {
    waiting.and_with(&format!("NOT {ASIDE}"), [path(seat), now(seat)])
}

/// Ids have no letters that mean anything in a path.
fn path(seat: &Seat) -> Value {
    Value::Text(format!("$.{}", seat.who))
}

fn now(seat: &Seat) -> Value {
    Value::Integer(seat.now.unix_ms())
}

/// How many wait for such a word.
pub(crate) fn queue_length(conn: &Connection, waits: &Waits, reach: &Reach) -> Result<u64, StoreError> {
    let counted = waiting("SELECT count(*)", waits, reach).all(conn, |row| Ok(row.get::<_, u64>(0)?))?;
    Ok(counted.first().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use placet_domain::id::{IdentityId, ProjectId};
    use placet_domain::policy::Tier;
    use placet_domain::time::Timestamp;

    use super::*;
    use crate::sqlite::migrate::migrate;

    /// How SQLite would go about it.
    fn plan(filter: &QueueFilter) -> String {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn).unwrap();
        select(filter).plan(&conn).join("; ")
    }

    #[test]
    fn b4_the_queue_is_read_in_the_order_of_an_index_wherever_somebody_is_in_it() {
        let spot = Spot { risk: 70, created: 1_234 };
        let who = IdentityId::from_bytes([7; 16]);
        let me = Seat { who, behind: vec![IdentityId::from_bytes([8; 16])], now: Timestamp::from_unix_ms(1_000) };
        let waits = [
            (Waits::ForApproval(Whose::All), "action_waiting"),
            (Waits::ForApproval(Whose::Of(me.clone())), "action_waiting"),
            (Waits::ForApproval(Whose::NotOf(me.clone())), "action_waiting"),
            (Waits::ForApproval(Whose::NamedFor(me.clone())), "action_named"),
            (Waits::ForApproval(Whose::AsideBy(me)), "action_aside"),
            (Waits::ForResolution, "action_interrupted"),
        ];
        for (waits, index) in waits {
            for from in [None, Some(Going::After(spot)), Some(Going::Before(spot))] {
                for tier in [None, Some(Tier::B)] {
                    for reach in [Reach::Everywhere, Reach::Only([ProjectId::from_bytes([1; 16])].into())] {
                        let filter = QueueFilter { reach, waits: waits.clone(), tier, from, limit: 50 };
                        let plan = plan(&filter);
                        let by_tier = index == "action_waiting" && tier.is_some();
                        let index = if by_tier { "action_waiting_by_tier" } else { index };
                        assert!(plan.split([' ', ';']).any(|word| word == index), "{filter:?}: {plan}");
                        assert!(!plan.contains("TEMP B-TREE"), "nothing is sorted: {filter:?}: {plan}");
                    }
                }
            }
        }
    }
}
