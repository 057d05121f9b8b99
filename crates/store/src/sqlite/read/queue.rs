//! What waits for people, in the order of its indexes: however long the queue is, only the rows that are asked for are read.

use std::collections::HashMap;

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
    let mut found = match (filter.rows, &filter.waits) {
        (Rows::OfEachQuestion, Waits::ForApproval(_)) => firsts(conn, filter)?,
        (Rows::OfEachQuestion, Waits::ForResolution) | (Rows::Each, _) => {
            in_order(COLUMNS, filter).limited(filter.limit).all(conn, |row| listed("action", row))?
        }
    };
    if let Some(Going::Before(_)) = filter.from {
        found.reverse();
    }
    Ok(found)
}

const COLUMNS: &str = "SELECT action.created, action.created_ms, action.changed, action.changed_ms, action.state";

/// Everything that is wanted, from where somebody is in the queue.
fn in_order(columns: &str, filter: &QueueFilter) -> Select {
    let tier = filter.tier.map(|tier| tier.to_string());
    let waiting = waiting(columns, &filter.waits, &filter.reach).and(tier_of(&filter.waits), tier);
    match filter.from {
        None => waiting.by("action.risk DESC, action.created"),
        Some(Going::After(spot)) => beyond(waiting, spot, ("<", ">")).by("action.risk DESC, action.created"),
        Some(Going::Before(spot)) => beyond(waiting, spot, (">", "<")).by("action.risk, action.created DESC"),
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
            let (wanted, values) = wanted(whose);
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

/// Of those that ask the same and wait for the same word only the oldest. They have one risk, so it is the first of them in the queue too.
///
/// What is passed by is known from the index. Which is the oldest is looked up once for each question, however many ask it: for all rows
/// together that takes no more steps than there are actions.
fn firsts(conn: &Connection, filter: &QueueFilter) -> Result<Vec<Listed<ActionState>>, StoreError> {
    let mut firsts = Firsts::default();
    let has_a_row = |(created, question): &(i64, Option<Vec<u8>>)| match question {
        Some(question) => firsts.has(*created, question, |question| first_that_asks(conn, question, &filter.waits)),
        None => Ok(true),
    };
    let found = passed(filter).some(conn, filter.limit, |row| Ok((row.get(0)?, row.get(1)?)), has_a_row)?;
    all_of(conn, found.into_iter().map(|(created, _)| created))
}

/// What the queue is gone over by.
fn passed(filter: &QueueFilter) -> Select {
    in_order("SELECT action.created, action.question", filter)
}

/// Which action is the first that asks a question, as far as that was looked up.
#[derive(Default)]
struct Firsts(HashMap<Vec<u8>, Option<i64>>);

impl Firsts {
    fn has<E>(
        &mut self,
        action: i64,
        question: &[u8],
        look_up: impl FnOnce(&[u8]) -> Result<Option<i64>, E>,
    ) -> Result<bool, E> {
        if let Some(first) = self.0.get(question) {
            return Ok(*first == Some(action));
        }
        let first = look_up(question)?;
        self.0.insert(question.to_vec(), first);
        Ok(first == Some(action))
    }
}

/// A question is asked in one project, within reach of whoever knows it.
fn that_ask(columns: &str, question: &[u8], waits: &Waits) -> Select {
    waiting(columns, waits, &Reach::Everywhere).and("action.question = ?", Some(question.to_vec()))
}

fn first_that_asks(conn: &Connection, question: &[u8], waits: &Waits) -> Result<Option<i64>, StoreError> {
    Ok(first(question, waits).all(conn, |row| Ok(row.get(0)?))?.pop())
}

fn first(question: &[u8], waits: &Waits) -> Select {
    that_ask("SELECT action.created", question, waits).by("action.created").limited(1)
}

/// The actions that were made by these entries.
fn all_of(conn: &Connection, made_by: impl Iterator<Item = i64>) -> Result<Vec<Listed<ActionState>>, StoreError> {
    let one = |created| {
        let found = Select::new(&format!("{COLUMNS} FROM action")).and("action.created = ?", Some(created));
        found.all(conn, |row| listed("action", row))
    };
    Ok(made_by.map(one).collect::<Result<Vec<_>, _>>()?.concat())
}

/// Whether it waits for the word of these people, with what is compared.
fn wanted(whose: &Whose) -> (String, Vec<Value>) {
    match whose {
        Whose::All => ("TRUE".to_owned(), Vec::new()),
        Whose::Of(seat) => {
            let (free, mut values) = free(seat);
            values.extend([path(seat), now(seat)]);
            (format!("{free} AND action.named IS NULL AND NOT {ASIDE}"), values)
        }
        Whose::NotOf(seat) => {
            let (free, mut values) = free(seat);
            values.extend([Value::Text(seat.who.to_string()), path(seat), now(seat)]);
            (format!("(NOT {free} OR action.named <> ?) AND NOT {ASIDE}"), values)
        }
        Whose::NamedFor(seat) => {
            let values = vec![Value::Text(seat.who.to_string()), path(seat), now(seat)];
            (format!("action.named = ? AND NOT {ASIDE}"), values)
        }
        Whose::AsideBy(seat) => (format!("action.aside IS NOT NULL AND {ASIDE}"), vec![path(seat), now(seat)]),
    }
}

/// Whether somebody is free to say yes, as far as it shows on the action itself. Where one person works alone, they stand behind everything
/// and still decide what takes one yes.
fn free(seat: &Seat) -> (String, Vec<Value>) {
    let values: Vec<Value> =
        std::iter::once(&seat.who).chain(&seat.behind).map(|id| Value::Text(id.to_string())).collect();
    let each = " AND instr(action.bound, ?) = 0".repeat(values.len());
    // What they, or those before them, made of a proposal is not theirs to decide, alone or not.
    let amenders = "coalesce(json_extract(action.state, '$.amendment.amenders'), '')";
    let no_amender = format!(" AND instr({amenders}, ?) = 0").repeat(values.len());
    let alone = format!(
        "action.tier = 'B'{no_amender}
            AND coalesce(json_extract(run.state, '$.separation'), '') = 'single_operator'"
    );
    (format!("(TRUE{each} OR {alone})"), [values.clone(), values].concat())
}

/// Whether somebody does not want to see it yet. Where nobody said so there is nothing to compare.
const ASIDE: &str = "coalesce(json_extract(action.aside, ?), 0) > ?";

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

fn twins_of(conn: &Connection, id: ActionId, question: Digest, waits: &Waits, most: u32) -> Result<Twins, StoreError> {
    let others = |columns: &str| others(columns, id, question, waits);
    if most == 0 {
        return Ok(Twins { actions: Vec::new(), count: counted(others("SELECT count(*)"), conn)? });
    }
    let found = others("SELECT action.created, action.run").all(conn, |row| Ok((row.get(0)?, row.get(1)?)))?;
    let count = found.len() as u64;
    let actions = all_of(conn, of_each_run(found).into_iter().take(most as usize))?;
    Ok(Twins { actions, count })
}

fn others(columns: &str, id: ActionId, question: Digest, waits: &Waits) -> Select {
    let but = "action.created <> coalesce((SELECT created FROM action WHERE id = ?), 0)";
    that_ask(columns, question.as_bytes(), waits).and(but, Some(id.as_bytes().to_vec()))
}

/// Actions with their runs, put in order: the oldest of each run before the next ones of any. Whoever asks the same many times puts nobody
/// else's question out of sight.
fn of_each_run(mut found: Vec<(i64, i64)>) -> Vec<i64> {
    found.sort_unstable();
    let mut so_far = HashMap::<i64, u32>::new();
    let numbered = found.into_iter().map(|(created, run)| {
        let number = so_far.entry(run).or_default();
        *number += 1;
        (*number, created)
    });
    let mut numbered: Vec<(u32, i64)> = numbered.collect();
    numbered.sort_unstable();
    numbered.into_iter().map(|(_, created)| created).collect()
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
    use crate::sqlite::schema::prepare;

    /// How SQLite would go about it.
    fn plan(filter: &QueueFilter) -> String {
        let mut conn = Connection::open_in_memory().unwrap();
        prepare(&mut conn).unwrap();
        let select = match filter.rows {
            Rows::Each => in_order(COLUMNS, filter),
            Rows::OfEachQuestion => passed(filter),
        };
        select.plan(&conn).join("; ")
    }

    fn look(filter: &QueueFilter, index: &str) {
        let plan = plan(filter);
        let uses = |index: &str| plan.split([' ', ';']).any(|word| word == index);
        let by_tier = index == "action_waiting" && filter.tier.is_some();
        assert!(uses(if by_tier { "action_waiting_by_tier" } else { index }), "{filter:?}: {plan}");
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

    /// Only where somebody works alone must the row of an action be opened to tell whose word it waits for.
    #[test]
    fn b4_what_is_passed_by_or_counted_in_the_queue_is_known_from_indexes() {
        let mut conn = Connection::open_in_memory().unwrap();
        prepare(&mut conn).unwrap();
        let me = Seat { who: IdentityId::from_bytes([7; 16]), behind: Vec::new(), now: Timestamp::from_unix_ms(1_000) };
        let reach = || Reach::Only([ProjectId::from_bytes([1; 16])].into());
        let opened = |select: Select| Vec::from_iter(select.columns_of_rows(&conn, "action"));
        let counted = |waits: &Waits| opened(waiting("SELECT count(*)", waits, &reach()));
        assert!(counted(&Waits::ForApproval(Whose::All)).is_empty());
        for whose in [Whose::Of(me.clone()), Whose::NotOf(me.clone())] {
            let waits = Waits::ForApproval(whose);
            let (id, question) = (ActionId::from_bytes([3; 16]), Digest::of(b"asked"));
            let alike = others("SELECT count(*)", id, question, &waits);
            assert_eq!(opened(alike), ["state"], "{waits:?}");
            assert_eq!(opened(first(question.as_bytes(), &waits)), ["state"], "{waits:?}");
            for tier in [None, Some(Tier::B)] {
                let waits = waits.clone();
                let filter = QueueFilter { waits, tier, reach: reach(), ..QueueFilter::default() };
                assert_eq!(opened(passed(&filter)), ["state"], "{filter:?}");
            }
        }
    }

    #[test]
    fn b4_the_first_that_asks_a_question_is_looked_up_once() {
        let (mut firsts, mut looked) = (Firsts::default(), 0);
        let mut has = |action, question: &[u8]| {
            firsts.has(action, question, |question| {
                looked += 1;
                Ok::<_, ()>((question == b"same").then_some(2))
            })
        };
        let rows = [2, 3, 4, 5].map(|action| has(action, b"same").unwrap());
        assert_eq!(rows, [true, false, false, false]);
        assert!(!has(6, b"asked by nobody any more").unwrap());
        assert_eq!(looked, 2);
    }

    #[test]
    fn b4_of_those_that_ask_the_same_the_oldest_of_each_run_come_first() {
        let asked_by_one = (1..=4).map(|created| (created, 100));
        let asked = asked_by_one.chain([(6, 300), (5, 200), (7, 200)]).collect();
        assert_eq!(of_each_run(asked), [1, 5, 6, 2, 7, 3, 4]);
    }

    /// So many that ask the same: `own` of the viewer's own agents, and then those of others.
    fn identical(own: u32, others: u32) -> Connection {
        let mut conn = Connection::open_in_memory().unwrap();
        prepare(&mut conn).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        conn.execute("INSERT INTO run (created, id, created_ms, changed, changed_ms, project, status, is_open, rollbacks, state) VALUES (1, zeroblob(16), 0, 0, 0, 1, 'EXECUTING', 1, 0, '{}')", []).unwrap();
        let insert = "INSERT INTO action (created, id, created_ms, changed, changed_ms, project, run, status, is_live, risk, policy, rollbacks, performing, asks, state, tier, bound, question)
            VALUES (?1, randomblob(16), 0, 0, 0, 1, 1, 'PENDING_APPROVAL', 1, 30, x'00', 0, 0, 1, '{}', 'B', ?2, x'07')";
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
            let (waits, conn) = (Waits::ForApproval(whose.clone()), identical(own, others));
            let first = first(&[7], &waits).steps(&conn);
            first + passed(&QueueFilter { waits, ..QueueFilter::default() }).steps(&conn)
        };
        for whose in [Whose::All, Whose::Of(seat.clone()), Whose::NotOf(seat)] {
            for (own, others) in [(0, 100), (100, 0), (100, 100)] {
                let (few, many) = (steps(&whose, own, others), steps(&whose, 8 * own, 8 * others));
                assert!(many < 16 * few, "{whose:?}, {own} and {others}: {few} steps, and eight times as many: {many}");
            }
        }
    }
}
