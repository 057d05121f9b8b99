//! Settings that make a request more than an exchange of text for tokens at the usual price. What tools there are is found by
//! [`super::reach`].

use super::object::{Object, Unreadable};
use crate::models::is_name;

/// Refuses a member unless it is absent or has one of the values with the usual price.
pub(super) fn only(body: &Object, names: &[&str], usual: &[&str]) -> Result<(), Unreadable> {
    match body.read::<String>(names)? {
        Some(value) if !usual.contains(&value.as_str()) => {
            let shown: String = value.chars().take(40).flat_map(char::escape_default).collect();
            Err(Unreadable::NotCarried(format!("`{}` = `{shown}` has a price of its own; leave it out", names[0])))
        }
        Some(_) | None => Ok(()),
    }
}

/// Refuses members that cannot be counted beforehand.
pub(super) fn without(body: &Object, names: &[&'static str]) -> Result<(), Unreadable> {
    for name in names {
        let value = body.get(name)?;
        if value.is_some_and(|value| !matches!(value.text, b"null" | b"false" | b"[]" | b"{}")) {
            return Err(Unreadable::NotCarried(format!("`{name}` cannot be paid for in advance; leave it out")));
        }
    }
    Ok(())
}

/// The name of the model that a body asks for.
pub(super) fn model(body: &Object) -> Result<String, Unreadable> {
    let model: String = body.read(&["model"])?.ok_or(Unreadable::Missing("model"))?;
    let why = || "not the name of a model".to_owned();
    if is_name(&model) { Ok(model) } else { Err(Unreadable::Odd { name: "model".to_owned(), why: why() }) }
}
