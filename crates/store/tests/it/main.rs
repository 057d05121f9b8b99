//! What every store must do (`conformance`), and what is particular to SQLite and to evidence on disk.

#![expect(clippy::unwrap_used, reason = "a scenario that cannot be set up has failed")]

mod blobs;
mod conformance;
mod sqlite;
mod world;
