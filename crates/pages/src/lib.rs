//! PAGES: what a person sees in a browser, as HTML made from what the API says.
//!
//! Pure: a page is a function of what it is given and of whom it is shown to. It reads no store, no clock and no file, and decides
//! nothing. Everything that agents wrote goes through [`text`], where what could deceive the eye is spelled out; markup is only ever
//! made by templates, which escape. There is no script in a page and no style: both are files of their own ([`assets`]), so that the
//! strictest content policy holds.

mod action;
mod amend;
pub mod assets;
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
mod figures;
mod files;
mod find;
mod forms;
mod frame;
mod help;
mod icons;
mod inbox;
mod lang;
mod layout;
mod ledger;
mod listing;
mod log;
mod meaning;
mod order;
mod output;
mod parts;
mod passkeys;
mod people;
mod phrases;
mod plot;
mod policy;
mod problem;
mod refusals;
mod rollback;
mod routes;
mod run;
mod run_actions;
mod runs;
mod settings;
mod stage;
mod steps;
mod text;
mod timeline;
mod workers;

pub use action::{ActionPage, Decided, Yes, action};
pub use amend::{Amending, Tried, WITHOUT, file_field, is_offered as is_amendment_offered};
pub use attention::Attended;
pub use card::{Ask, Blast, History, Past, Who};
pub use deciding::{OwnPage, decisions, own};
pub use enter::{Refused, Ways, enter, invitation};
pub use fielded::{Ends, Unfit};
pub use files::{FileShown, Ruling, Shown};
pub use find::{Found, LONGEST_WORDS as LONGEST_FIND, find};
pub use forms::Form;
pub use help::help;
pub use inbox::{Inbox, Just, Standing, Still, Twin, Twins, Waiting, inbox};
pub use lang::Lang;
pub use layout::{Here, Viewer};
pub use ledger::{Concerns, EntryPage, EntryRow, LedgerPage, Named, Wanted, entry, ledger};
pub use listing::{From, Listing, Part};
pub use log::{LogPage, LogShown, Speaks, log, log_after};
pub use maud::Markup;
pub use order::{OrderRow, orders};
pub use output::{Excerpt, Output};
pub use passkeys::{Key, Keys, Place};
pub use people::{AgentPage, AgentRow, agent, agents};
pub use policy::{Flaw, PolicyPage, Trial, TrialGround, Wish, policy};
pub use problem::{Problem, problem};
pub use rollback::{RollbackPage, rollback};
pub use routes::{RouteRow, Tested};
pub use run::{Moves, RunPage, run};
pub use run_actions::RunAction;
pub use runs::{RunRow, runs};
pub use settings::{AwayTried, Once, Person, Settings, settings};
pub use timeline::{About, Bar, Lane};
pub use workers::{WorkerPage, WorkerRow, worker, workers};
