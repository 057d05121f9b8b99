//! Finds secrets in bytes and takes them out.
//!
//! Every changed line, commit message, log line and piece of evidence goes through here before anybody else sees it.
//! One pass looks for anchors (prefixes of tokens, telling words, frames of keys); only around an anchor something is
//! read more closely. Input is any bytes: no text encoding, no length of line, no good will is assumed, and the cost
//! grows with the length of the input and not faster.
//!
//! The crate is pure: it opens no file, reads no clock and asks nobody whether a secret is still valid. It cannot find
//! what looks like nothing: a password in prose, or one that was cut into pieces or encrypted.

mod address;
mod allowlist;
mod block;
mod boundary;
mod class;
mod context;
mod files;
mod finding;
mod hit;
mod jwt;
mod line;
mod personal;
mod placeholder;
mod prefixed;
mod randomness;
mod redact;
mod rule;
mod rules;
mod scanner;
mod search;
mod shape;
mod stream;
mod team;
mod wrapped;

pub use allowlist::{Allowlist, AllowlistError, Day, Judgement};
pub use files::is_env_file;
pub use finding::{Encoding, Finding};
pub use personal::redact_personal;
pub use rule::Rule;
pub use scanner::Scanner;
pub use shape::ShapeError;
pub use stream::Redactor;
pub use team::RuleError;
