//! READ: what people and programs are shown, as plain data. The API and any mounted front read through the same functions, so that they
//! show the same; nothing here decides, writes or knows HTTP.

pub mod actions;
pub mod around;
pub mod attention;
mod card;
pub mod deciding;
pub mod entries;
pub mod files;
pub mod interruption;
pub mod ledger;
pub mod names;
pub mod orders;
pub(crate) mod parts;
pub mod policy;
pub mod queue;
pub mod standing;
pub mod view;
pub mod waiting;
pub mod wishes;
pub mod workers;

pub use card::{Blast, Card, DecisionRight, card};
