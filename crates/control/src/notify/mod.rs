//! NOTIFY: people are told that something waits for them, where they are. It tells; nothing is decided by it, and nothing waits for it.
//!
//! ```text
//! ledger ─► notice (a transition, pure) ─► schedule (when, pure) ─► look (does it still wait? whose is it?)
//!        ─► debt (owed to whom, written down, pure) ─► message (folded and bounded, pure) ─► chat | hook | mail
//! ```
//!
//! Like webhooks all of this comes from the host's settings, is fixed while the control plane runs, and is not changed by any route of the
//! API. Arguments, contents and environments are never part of a message; words of others are made harmless first ([`plain`]).

mod channel;
mod chat;
mod debt;
mod health;
mod hook;
mod look;
mod mail;
mod message;
mod notice;
mod people;
mod plain;
mod retries;
mod route;
mod schedule;
mod words;

pub use channel::Channel;
pub(crate) use channel::{Effort, Recipient, Told};
pub use chat::Chat;
pub(crate) use debt::{Debt, Folded, Unanswered};
pub use health::{Health, Standing};
pub use hook::SignedHook;
pub(crate) use look::{Looked, Looker};
pub use mail::{BadAddress, Login, Mail, MailAddress, Security, Server};
pub(crate) use message::{Absent, Framing, Item, Message};
pub(crate) use notice::{Notice, Subject};
pub(crate) use people::{Asked, People};
pub(crate) use placet_domain::notice::NoticeKind;
pub use plain::quote as harmless;
pub(crate) use retries::Retries;
pub use route::{BadRoute, Route, RouteParts, Routes, Trial};
pub use schedule::{BadHours, Pace, QuietHours, Schedule};
