//! What is particular to the store on SQLite: opening it, tampering with its file, and what happens when the disk fails.

mod disk;
mod opening;
mod removing;
mod tampering;
