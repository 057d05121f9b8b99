//! Tools and settings that make a request more than an exchange of text for tokens at the usual price.
//!
//! A tool that the agent runs itself is the agent's business, and its cage holds. A tool that the upstream runs (a search, a fetch, a
//! remote server) reaches the network past the cage and may cost more than tokens, so it is told apart here.

use serde::Deserialize;

use super::object::{Object, Unreadable};
use crate::llm::models::is_name;

#[derive(Deserialize)]
struct Typed {
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Where a shell is: with the agent, or with the upstream.
    environment: Option<Place>,
    /// Tools within a group of tools.
    tools: Option<Vec<Self>>,
}

#[derive(Deserialize)]
struct Place {
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl Typed {
    /// Its type, if it is one that the upstream runs; or that of the first such tool within it.
    fn foreign(self, own: &[&str]) -> Option<String> {
        let is_own = |kind: &str| own.iter().any(|start| kind == *start || is_version_of(kind, start));
        let elsewhere = self.environment.is_some_and(|place| place.kind.as_deref().is_none_or(|kind| kind != "local"));
        let itself = self.kind.filter(|kind| elsewhere || !is_own(kind));
        itself.or_else(|| self.tools.into_iter().flatten().find_map(|tool| tool.foreign(own)))
    }
}

/// The first tool whose type is not among those that the agent runs itself. A type may go on after such a beginning with a
/// version (`bash_20250124`).
pub(super) fn foreign(body: &Object<'_>, own: &[&str]) -> Result<Option<String>, Unreadable> {
    let tools: Vec<Typed> = body.read(&["tools"])?.unwrap_or_default();
    Ok(tools.into_iter().find_map(|tool| tool.foreign(own)))
}

fn is_version_of(kind: &str, start: &str) -> bool {
    let version = kind.strip_prefix(start).and_then(|rest| rest.strip_prefix('_'));
    version.is_some_and(|version| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()))
}

/// Refuses a member unless it is absent or has one of the values with the usual price.
pub(super) fn only(body: &Object<'_>, names: &[&str], usual: &[&str]) -> Result<(), Unreadable> {
    match body.read::<String>(names)? {
        Some(value) if !usual.contains(&value.as_str()) => {
            let shown: String = value.chars().take(40).flat_map(char::escape_default).collect();
            Err(Unreadable::NotCarried(format!("`{}` = `{shown}` has a price of its own; leave it out", names[0])))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses members that cannot be counted beforehand.
pub(super) fn without(body: &Object<'_>, names: &[&'static str]) -> Result<(), Unreadable> {
    for name in names {
        let value = body.get(name)?.map(|value| value.get());
        if value.is_some_and(|value| !matches!(value, "null" | "false" | "[]" | "{}")) {
            return Err(Unreadable::NotCarried(format!("`{name}` cannot be paid for in advance; leave it out")));
        }
    }
    Ok(())
}

/// The name of the model that a body asks for.
pub(super) fn model(body: &Object<'_>) -> Result<String, Unreadable> {
    let model: String = body.read(&["model"])?.ok_or(Unreadable::Missing("model"))?;
    let why = || "not the name of a model".to_owned();
    if is_name(&model) { Ok(model) } else { Err(Unreadable::Odd { name: "model".to_owned(), why: why() }) }
}
