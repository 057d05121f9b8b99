//! MARKUP: what a person sees in a browser, as HTML made from plain data.
//!
//! Pure: a page is a function of what it is given and of whom it is shown to. It reads no store, no clock and no file, and decides
//! nothing. Everything that agents wrote goes through [`text`], where what could deceive the eye is spelled out; markup is only ever
//! made by templates, which escape. There is no script in a page and no style: both are files of their own ([`assets`]), so that the
//! strictest content policy holds.

mod action;
mod amend;
pub(crate) mod assets;
mod attention;
mod brief;
mod card;
mod change;
mod chart;
mod checkpoint;
mod colour;
mod columns;
mod deciding;
mod enter;
mod fielded;
mod files;
mod find;
mod forms;
mod frame;
mod help;
mod icons;
mod inbox;
mod layout;
mod ledger;
mod listing;
mod log;
mod obstacles;
mod order;
mod output;
mod parts;
mod passkeys;
mod people;
mod plot;
mod policy;
mod problem;
mod reasons;
mod refusals;
mod rollback;
mod routes;
mod run;
mod run_actions;
mod run_budget;
mod run_record;
mod run_used;
mod run_wishes;
mod runs;
mod settings;
mod shipped;
mod stage;
mod steps;
mod text;
mod timeline;
mod workers;

pub(crate) use action::{ActionPage, action};
pub(crate) use amend::{
    Amending, TIMEOUT, Tried, WITHOUT, file_field, from_seconds, is_offered as is_amendment_offered,
};
pub(crate) use attention::Attended;
pub(crate) use card::Ask;
pub(crate) use checkpoint::DoneAction;
pub(crate) use deciding::{OwnPage, decisions, own};
pub(crate) use enter::{Refused, Ways, enter, invitation};
pub(crate) use fielded::Ends;
pub(crate) use find::{Found, LONGEST_WORDS as LONGEST_FIND, find};
pub(crate) use help::help;
pub(crate) use inbox::{Given, Inbox, Just, inbox};
pub(crate) use layout::Viewer;
pub(crate) use ledger::{Concerns, EntryPage, EntryRow, LedgerPage, Named, Wanted, entry, ledger};
pub(crate) use listing::{From, Listing, Part};
pub(crate) use log::{LogPage, LogShown, Speaks, log, log_after};
pub(crate) use maud::Markup;
pub(crate) use order::{OrderRow, orders};
pub(crate) use output::{Excerpt, Output, STREAMS};
pub(crate) use passkeys::{Key, Keys, Place};
pub(crate) use people::{AgentPage, AgentRow, agent, agents};
pub(crate) use policy::{Flaw, PolicyPage, Trial, TrialGround, Wish, policy};
pub(crate) use problem::{Problem, problem};
pub(crate) use rollback::{RollbackPage, rollback};
pub(crate) use routes::{RouteRow, Tested};
pub(crate) use run::{Moves, RunPage, run};
pub(crate) use run_actions::RunAction;
pub(crate) use run_budget::{RESUME as RESUME_FIELD, in_units, of_units};
pub(crate) use runs::{RunRow, runs};
pub(crate) use settings::{AwayTried, Once, Person, Settings, settings};
pub(crate) use timeline::{About, Bar, Lane};
pub(crate) use workers::{WorkerPage, worker, workers};
