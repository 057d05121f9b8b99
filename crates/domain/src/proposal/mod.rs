//! PROPOSE: what an agent asks for, and the sealed action it becomes.
//!
//! A [`Proposal`] is the agent's wish. A tool definition (written by the team) and the run's locked scope turn it into an
//! [`Action`]: canonical bytes and their digest. From there on only the sealed bytes are judged, shown, approved and
//! executed. The agent's own words are advisory: kept beside the action, never part of the digest.

mod action;
mod cage;
mod change;
mod credential;
mod opening;
mod title;
mod tool;

pub use action::{Action, ActionSpec, FileOperand, Limits, Proposal, Unsealable};
pub use cage::{Cage, Cages};
pub use change::BadChange;
pub use credential::{CredentialBook, CredentialDenied, CredentialName, CredentialRule, CredentialUse};
pub use opening::{BadOpening, Method, Opening};
pub use tool::{ActionKind, Arguments, BadName, Tool, ToolError, ToolName, ToolNetwork, Tools};
