//! The whole loop over HTTP, from proposal to proof, step by step.

mod amend;
mod approve;
mod asking;
mod attention;
mod audit;
mod bounds;
mod call_counts;
mod deciding;
pub(crate) mod declaring;
mod evidence;
mod executions;
pub(crate) mod governed;
mod hosted;
mod lapse;
mod logs;
mod model_money;
mod models;
mod network;
mod orders;
mod performances;
mod permit;
mod policy_change;
mod propose;
mod retention;
mod runs;
mod uploads;
mod visible;
mod words;
mod worktrees;

pub(crate) use governed::working;
pub(crate) use orders::WRITING_ASKS;
