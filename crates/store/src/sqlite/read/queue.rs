//! What waits for people, in the order of its indexes: however long the queue is, only the rows that are asked for are read.

use placet_domain::action::ActionState;
use placet_domain::digest::Digest;
use placet_domain::id::ActionId;
use placet_domain::identity::Reach;
use rusqlite::Connection;
use rusqlite::types::Value;

use super::select::Select;
use crate::error::StoreError;
use crate::query::Listed;
use crate::queue::{Going, QueueFilter, Rows, Seat, Spot, Twins, Waits, Whose};
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

const COLUMNS: &str = "SELECT action.created, action.created_ms, action.changed, action.changed_ms, action.state";

fn select(filter: &QueueFilter) -> Select {
    let tier = filter.tier.map(|tier| tier.to_string());
    let waiting = waiting(COLUMNS, &filter.waits, &filter.reach).and(tier_of(&filter.waits), tier);
    let waiting = firsts(waiting, filter.rows, &filter.waits);
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
            let (wanted, values) = wanted(whose, ACTION);
            waiting.within(PROJECT, reach).and_with(&wanted, values)
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

/// Only the oldest of those that ask the same and wait for the same word. They have one risk, so it is the first of them in the queue too.
///
/// An older one is looked for from the action backwards, and it is the one right before it, or those between wait for another word: for all
/// rows together that takes no more steps than there are actions. Naming the run has SQLite ask first whether the action itself is wanted.
fn firsts(waiting: Select, rows: Rows, waits: &Waits) -> Select {
    let (Rows::OfEachQuestion, Waits::ForApproval(whose)) = (rows, waits) else { return waiting };
    let (wanted, values) = wanted(whose, TWIN);
    let older = format!(
        "SELECT twin.created FROM action AS twin CROSS JOIN run AS twins_run ON twins_run.created = twin.run
            AND (twins_run.is_open OR twin.performing AND twins_run.status = 'PENDING_EXPORT')
        WHERE twin.status = 'PENDING_APPROVAL' AND twin.question = action.question AND twin.created < action.created
            AND {wanted} ORDER BY twin.created DESC LIMIT 1"
    );
    waiting.and_with(&format!("(action.question IS NULL OR run.created >= 0 AND ({older}) IS NULL)"), values)
}

/// What an action and its run are called in a query.
#[derive(Clone, Copy)]
struct Called {
    action: &'static str,
    run: &'static str,
}

const ACTION: Called = Called { action: "action", run: "run" };
const TWIN: Called = Called { action: "twin", run: "twins_run" };

/// Whether it waits for the word of these people, with what is compared.
fn wanted(whose: &Whose, called: Called) -> (String, Vec<Value>) {
    let action = called.action;
    match whose {
        Whose::All => ("TRUE".to_owned(), Vec::new()),
        Whose::Of(seat) => {
            let (free, mut values) = free(seat, called);
            values.extend([path(seat), now(seat)]);
            (format!("{free} AND {action}.named IS NULL AND NOT {}", aside(called)), values)
        }
        Whose::NotOf(seat) => {
            let (free, mut values) = free(seat, called);
            values.extend([Value::Text(seat.who.to_string()), path(seat), now(seat)]);
            (format!("(NOT {free} OR {action}.named <> ?) AND NOT {}", aside(called)), values)
        }
        Whose::NamedFor(seat) => {
            let values = vec![Value::Text(seat.who.to_string()), path(seat), now(seat)];
            (format!("{action}.named = ? AND NOT {}", aside(called)), values)
        }
        Whose::AsideBy(seat) => {
            (format!("{action}.aside IS NOT NULL AND {}", aside(called)), vec![path(seat), now(seat)])
        }
    }
}

/// Whether somebody is free to say yes, as far as it shows on the action itself. Where one person works alone, they stand behind everything
/// and still decide what takes one yes.
fn free(seat: &Seat, Called { action, run }: Called) -> (String, Vec<Value>) {
    let values: Vec<Value> =
        std::iter::once(&seat.who).chain(&seat.behind).map(|id| Value::Text(id.to_string())).collect();
    let each = format!(" AND instr({action}.bound, ?) = 0").repeat(values.len());
    // What they, or those before them, made of a proposal is not theirs to decide, alone or not.
    let amenders = format!("coalesce(json_extract({action}.state, '$.amendment.amenders'), '')");
    let no_amender = format!(" AND instr({amenders}, ?) = 0").repeat(values.len());
    let alone = format!(
        "{action}.tier = 'B'{no_amender}
            AND coalesce(json_extract({run}.state, '$.separation'), '') = 'single_operator'"
    );
    (format!("(TRUE{each} OR {alone})"), [values.clone(), values].concat())
}

/// Whether somebody does not want to see it yet. Where nobody said so there is nothing to compare.
fn aside(Called { action, .. }: Called) -> String {
    format!("coalesce(json_extract({action}.aside, ?), 0) > ?")
}

/// Ids have no letters that mean anything in a path.
fn path(seat: &Seat) -> Value {
    Value::Text(format!("$.{}", seat.who))
}

fn now(seat: &Seat) -> Value {
    Value::Integer(seat.now.unix_ms())
}

/// For each of these actions, by what it asks, the others that ask the same of these people: some of them, and how many there are.
pub(crate) fn twins(
    conn: &Connection,
    of: &[(ActionId, Digest)],
    whose: &Whose,
    most: u32,
) -> Result<Vec<Twins>, StoreError> {
    let waits = Waits::ForApproval(whose.clone());
    of.iter().map(|(id, question)| twins_of(conn, *id, *question, &waits, most)).collect()
}

/// The oldest of each run before the next ones of any: whoever asks the same many times puts nobody else's question out of sight.
const OF_EACH_RUN: &str = "row_number() OVER (PARTITION BY action.run ORDER BY action.created), action.created";

fn twins_of(conn: &Connection, id: ActionId, question: Digest, waits: &Waits, most: u32) -> Result<Twins, StoreError> {
    let others = |columns: &str| {
        // A question is asked in one project, within reach of whoever knows it.
        waiting(columns, waits, &Reach::Everywhere)
            .and("action.question = ?", Some(question.as_bytes().to_vec()))
            .and("action.id <> ?", Some(id.as_bytes().to_vec()))
    };
    let count = counted(others("SELECT count(*)"), conn)?;
    if most == 0 || count == 0 {
        return Ok(Twins { actions: Vec::new(), count });
    }
    // Sorted by their numbers alone: what is known of them is read of those that are told.
    let told: Vec<i64> = others("SELECT action.created").ordered(OF_EACH_RUN, most).all(conn, |row| Ok(row.get(0)?))?;
    let one = |created: &i64| {
        let found = Select::new(&format!("{COLUMNS} FROM action")).and("action.created = ?", Some(*created));
        found.all(conn, |row| listed("action", row))
    };
    let actions = told.iter().map(one).collect::<Result<Vec<_>, _>>()?.concat();
    Ok(Twins { actions, count })
}

/// How many wait for such a word.
pub(crate) fn queue_length(conn: &Connection, waits: &Waits, reach: &Reach) -> Result<u64, StoreError> {
    counted(waiting("SELECT count(*)", waits, reach), conn)
}

fn counted(select: Select, conn: &Connection) -> Result<u64, StoreError> {
    Ok(select.all(conn, |row| Ok(row.get(0)?))?.first().copied().unwrap_or_default())
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

    fn look(filter: &QueueFilter, index: &str) {
        let plan = plan(filter);
        let uses = |index: &str| plan.split([' ', ';']).any(|word| word == index);
        let by_tier = index == "action_waiting" && filter.tier.is_some();
        assert!(uses(if by_tier { "action_waiting_by_tier" } else { index }), "{filter:?}: {plan}");
        let folds = filter.rows == Rows::OfEachQuestion && filter.waits != Waits::ForResolution;
        assert_eq!(uses("action_question"), folds, "what asks the same is found by its question: {filter:?}: {plan}");
        assert!(!plan.contains("TEMP B-TREE"), "nothing is sorted: {filter:?}: {plan}");
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
                        for rows in [Rows::Each, Rows::OfEachQuestion] {
                            let (reach, waits) = (reach.clone(), waits.clone());
                            look(&QueueFilter { reach, waits, tier, rows, from, limit: 50 }, index);
                        }
                    }
                }
            }
        }
    }

    /// So many that ask the same: `own` of the viewer's own agents, and then those of others.
    fn identical(own: u32, others: u32) -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        migrate(&mut conn).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        conn.execute("INSERT INTO run (created, id, created_ms, changed, changed_ms, project, status, is_open, state) VALUES (1, zeroblob(16), 0, 0, 0, 1, 'EXECUTING', 1, '{}')", []).unwrap();
        let insert = "INSERT INTO action (created, id, created_ms, changed, changed_ms, project, run, status, is_live, risk, policy, state, tier, bound, question)
            VALUES (?1, randomblob(16), 0, 0, 0, 1, 1, 'PENDING_APPROVAL', 1, 30, x'00', '{}', 'B', ?2, x'07')";
        for number in 0..own + others {
            let bound = if number < own { IdentityId::from_bytes([7; 16]).to_string() } else { String::new() };
            conn.execute(insert, rusqlite::params![number + 2, bound]).unwrap();
        }
        conn
    }

    #[test]
    fn b4_the_rows_of_a_queue_of_identical_ones_take_steps_in_proportion_to_its_length() {
        let seat = Seat { who: IdentityId::from_bytes([7; 16]), behind: Vec::new(), now: Timestamp::from_unix_ms(1) };
        let steps = |whose: &Whose, own, others| {
            let (waits, rows) = (Waits::ForApproval(whose.clone()), Rows::OfEachQuestion);
            let filter = QueueFilter { waits, rows, limit: 50, ..QueueFilter::default() };
            select(&filter).steps(&identical(own, others))
        };
        for whose in [Whose::All, Whose::Of(seat.clone()), Whose::NotOf(seat)] {
            for (own, others) in [(0, 100), (100, 0), (100, 100)] {
                let (few, many) = (steps(&whose, own, others), steps(&whose, 8 * own, 8 * others));
                assert!(many < 16 * few, "{whose:?}, {own} and {others}: {few} steps, and eight times as many: {many}");
            }
        }
    }
}
