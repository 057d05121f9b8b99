//! What a program says while it works: of the agent of a run, and of an action that is executed. Nothing of it is recorded and nothing of
//! it is evidence; what an action said is evidence once it is over.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use utoipa::ToSchema;

/// What was written since the last report, by whoever runs the program.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct LogReport {
    /// Which start of the program it was: the attempt of an action; of an agent any number that is larger for a later start.
    pub start: u64,
    /// How many bytes it had written before these. What lies between two reports was skipped; what comes twice counts once.
    pub at: u64,
    /// Both streams, in the order in which they were read.
    pub said: Vec<Said>,
    /// Nothing follows: the program has ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ended: bool,
}

/// Some bytes of one stream.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Said {
    pub stream: LogStream,
    /// In base64: a program may write anything.
    #[serde(serialize_with = "to_base64", deserialize_with = "from_base64")]
    #[schema(value_type = String)]
    pub bytes: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogStream {
    Stdout,
    Stderr,
}

/// How much of a program was heard.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, ToSchema)]
pub struct LogHeard {
    /// All bytes of this start until now, with those that were skipped.
    pub heard: u64,
}

/// What is kept of what a program said, after a place.
#[derive(Debug, Clone, Default, Serialize, Deserialize, ToSchema)]
pub struct LogView {
    pub pieces: Vec<LogPiece>,
    /// The place after all of them: the `after` of the next question.
    pub next: u64,
    /// So many bytes came after the place that was asked for and are not kept any more.
    #[serde(default)]
    pub forgotten_bytes: u64,
    /// So many wait until it is known whether there is a secret in them: the beginning of a line, mostly.
    #[serde(default)]
    pub waiting_bytes: u64,
    /// Whether the program has ended. What an action said is evidence then, and no longer here.
    #[serde(default)]
    pub ended: bool,
}

/// Whole lines of one stream, or what is told in their place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct LogPiece {
    pub is: LogKind,
    /// Without secrets; of `stdout` and `stderr` alone.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// How many bytes there were, of what is not shown.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum LogKind {
    Stdout,
    Stderr,
    /// Bytes that are no text.
    NoText,
    /// Bytes that were never told: too many at a time, or what could be the rest of a secret beside them.
    Skipped,
    /// The program was started again.
    Began,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
pub(super) const fn is_zero(bytes: &u64) -> bool {
    *bytes == 0
}

fn to_base64<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&STANDARD.encode(bytes))
}

fn from_base64<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<u8>, D::Error> {
    let text = String::deserialize(deserializer)?;
    STANDARD.decode(text).map_err(|_| de::Error::custom("`bytes` is not base64"))
}
