//! Putting a SELECT together from the conditions that are really there, so that SQLite can use its indexes for them.

use placet_domain::identity::Reach;
use rusqlite::types::Value;
use rusqlite::{Connection, Row, params_from_iter};

use super::reach_as_json;
use crate::error::StoreError;
use crate::query::{MOST_ROWS, Order};

pub(super) const IN_PROJECT: &str = "project = (SELECT created FROM project WHERE id = ?)";
pub(super) const IN_RUN: &str = "run = (SELECT created FROM run WHERE id = ?)";

pub(super) struct Select {
    sql: String,
    values: Vec<Value>,
}

impl Select {
    /// Starts with everything up to the conditions.
    pub(super) fn new(sql: &str) -> Self {
        Self { sql: format!("{sql} WHERE TRUE"), values: Vec::new() }
    }

    /// Adds a condition with one `?` in it, if there is a value for it.
    pub(super) fn and(mut self, condition: &str, value: Option<impl Into<Value>>) -> Self {
        if let Some(value) = value {
            self.sql.push_str(" AND ");
            self.sql.push_str(condition);
            self.values.push(value.into());
        }
        self
    }

    /// Adds a condition with as many `?` in it as there are values.
    pub(super) fn and_with(mut self, condition: &str, values: impl IntoIterator<Item = Value>) -> Self {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self.values.extend(values);
        self
    }

    pub(super) fn within(self, column: &str, reach: &Reach) -> Self {
        let reached = "SELECT created FROM project WHERE id IN (SELECT unhex(value) FROM json_each(?))";
        self.and(&format!("{column} IN ({reached})"), reach_as_json(reach))
    }

    /// Adds `column IN (…)`, if there is anything in the list.
    pub(super) fn one_of(mut self, column: &str, texts: impl ExactSizeIterator<Item = &'static str>) -> Self {
        if texts.len() > 0 {
            let marks = vec!["?"; texts.len()].join(", ");
            self.sql.push_str(&format!(" AND {column} IN ({marks})"));
            self.values.extend(texts.map(|text| Value::Text(text.to_owned())));
        }
        self
    }

    /// Adds a condition as it is; partial indexes are used only for conditions spelled out like theirs.
    pub(super) fn literally(mut self, condition: &'static str) -> Self {
        self.sql.push_str(" AND ");
        self.sql.push_str(condition);
        self
    }

    pub(super) fn grouped(mut self, by: &'static str) -> Self {
        self.sql.push_str(" GROUP BY ");
        self.sql.push_str(by);
        self
    }

    /// Goes on after a cursor in the given direction.
    pub(super) fn page(self, column: &str, order: Order, after: Option<u64>, limit: u32) -> Self {
        let direction = match order {
            Order::OldestFirst => "ASC",
            Order::NewestFirst => "DESC",
        };
        self.beyond(column, order, after).ordered(&format!("{column} {direction}"), limit)
    }

    /// Only what comes after a cursor in the given direction.
    pub(super) fn beyond(self, column: &str, order: Order, after: Option<u64>) -> Self {
        let beyond = match order {
            Order::OldestFirst => ">",
            Order::NewestFirst => "<",
        };
        // No entry has a larger number than SQLite can hold.
        let after = after.map(|seq| i64::try_from(seq).unwrap_or(i64::MAX));
        self.and(&format!("{column} {beyond} ?"), after)
    }

    pub(super) fn ordered(mut self, by: &str, limit: u32) -> Self {
        self.sql.push_str(&format!(" ORDER BY {by} LIMIT {}", limit.min(MOST_ROWS)));
        self
    }

    /// So many at most, from the end on. For lists that are only counted, which may be longer than those that are shown.
    pub(super) fn newest(mut self, column: &str, most: u32) -> Self {
        self.sql.push_str(&format!(" ORDER BY {column} DESC LIMIT {most}"));
        self
    }

    /// How SQLite would go about it, step by step.
    #[cfg(test)]
    pub(super) fn plan(self, conn: &Connection) -> Vec<String> {
        let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {}", self.sql)).unwrap();
        let steps = statement.query_map(params_from_iter(self.values), |row| row.get(3)).unwrap();
        steps.collect::<Result<_, _>>().unwrap()
    }

    /// How many steps SQLite took until the end of it.
    #[cfg(test)]
    pub(super) fn steps(self, conn: &Connection) -> i32 {
        let mut statement = conn.prepare(&self.sql).unwrap();
        let mut rows = statement.query(params_from_iter(self.values)).unwrap();
        while rows.next().unwrap().is_some() {}
        drop(rows);
        statement.get_status(rusqlite::StatementStatus::VmStep)
    }

    pub(super) fn all<T>(
        self,
        conn: &Connection,
        mut read: impl FnMut(&Row<'_>) -> Result<T, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = conn.prepare_cached(&self.sql)?;
        let mut rows = statement.query(params_from_iter(self.values))?;
        let mut found = Vec::new();
        while let Some(row) = rows.next()? {
            found.push(read(row)?);
        }
        Ok(found)
    }
}
