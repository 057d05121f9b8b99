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

    pub(super) fn ordered(self, by: &str, limit: u32) -> Self {
        self.by(by).limited(limit)
    }

    /// In this order, all of it.
    pub(super) fn by(mut self, order: &str) -> Self {
        self.sql.push_str(" ORDER BY ");
        self.sql.push_str(order);
        self
    }

    pub(super) fn limited(mut self, limit: u32) -> Self {
        self.sql.push_str(&format!(" LIMIT {}", limit.min(MOST_ROWS)));
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

    /// Which columns it reads from rows of a table, and not from an index: by SQLite's own listing of what it would do.
    #[cfg(test)]
    pub(super) fn columns_of_rows(self, conn: &Connection, table: &str) -> std::collections::BTreeSet<String> {
        let page = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
        let page: i64 = conn.query_row(page, [table], |row| row.get(0)).unwrap();
        let name = |column: i64| -> String {
            let sql = "SELECT name FROM pragma_table_info(?1) WHERE cid = ?2";
            conn.query_row(sql, rusqlite::params![table, column], |row| row.get(0)).unwrap()
        };
        let mut statement = conn.prepare(&format!("EXPLAIN {}", self.sql)).unwrap();
        let steps =
            statement.query_map(params_from_iter(self.values), |row| Ok((row.get(1)?, row.get(2)?, row.get(3)?)));
        let steps: Vec<(String, i64, i64)> = steps.unwrap().collect::<Result<_, _>>().unwrap();
        let opened = |(step, _, of): &&(String, i64, i64)| step == "OpenRead" && *of == page;
        let cursors: Vec<i64> = steps.iter().filter(opened).map(|(_, cursor, _)| *cursor).collect();
        let read = steps.iter().filter(|(step, cursor, _)| step == "Column" && cursors.contains(cursor));
        read.map(|(_, _, column)| name(*column)).collect()
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

    /// The first of those that are wanted, for conditions that are not SQLite's: what comes after them is not read.
    pub(super) fn some<T>(
        self,
        conn: &Connection,
        limit: u32,
        read: impl Fn(&Row<'_>) -> Result<T, StoreError>,
        mut is_wanted: impl FnMut(&T) -> Result<bool, StoreError>,
    ) -> Result<Vec<T>, StoreError> {
        let mut statement = conn.prepare_cached(&self.sql)?;
        let mut rows = statement.query(params_from_iter(self.values))?;
        let mut found = Vec::new();
        while found.len() < limit.min(MOST_ROWS) as usize
            && let Some(row) = rows.next()?
        {
            let next = read(row)?;
            if is_wanted(&next)? {
                found.push(next);
            }
        }
        Ok(found)
    }
}
