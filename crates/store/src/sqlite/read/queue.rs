//! What waits for people, in the order of its indexes: however long the queue is, only the rows that are asked for are read.

use placet_domain::action::ActionState;
use placet_domain::id::IdentityId;
use placet_domain::identity::Reach;
use rusqlite::Connection;
use rusqlite::types::Value;

use super::select::Select;
use crate::error::StoreError;
use crate::query::Listed;
use crate::queue::{Going, QueueFilter, Spot, Waits, Whose};
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
    let waiting =
        waiting(columns, &filter.waits, &filter.reach).and("action.tier = ?", filter.tier.map(|tier| tier.to_string()));
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
    let free = |ids: &[IdentityId]| {
        let each = " AND instr(action.bound, ?) = 0".repeat(ids.len());
        format!("(TRUE{each} OR {ALONE})")
    };
    let named = |ids: &[IdentityId]| ids.iter().map(|id| Value::Text(id.to_string())).collect::<Vec<_>>();
    match whose {
        Whose::All => waiting,
        Whose::Of(ids) => waiting.and_with(&free(ids), named(ids)),
        Whose::NotOf(ids) => waiting.and_with(&format!("NOT {}", free(ids)), named(ids)),
    }
}

/// How many wait for such a word.
pub(crate) fn queue_length(conn: &Connection, waits: &Waits, reach: &Reach) -> Result<u64, StoreError> {
    let counted = waiting("SELECT count(*)", waits, reach).all(conn, |row| Ok(row.get::<_, u64>(0)?))?;
    Ok(counted.first().copied().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use placet_domain::id::ProjectId;
    use placet_domain::policy::Tier;

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
        let me = vec![IdentityId::from_bytes([7; 16])];
        let waits = [
            (Waits::ForApproval(Whose::All), "action_waiting"),
            (Waits::ForApproval(Whose::Of(me.clone())), "action_waiting"),
            (Waits::ForApproval(Whose::NotOf(me)), "action_waiting"),
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
