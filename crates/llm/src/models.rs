//! Names of models, and which of them are meant: one by one, or all that begin alike.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer};

const LONGEST_NAME: usize = 128;

/// The name of a model, or the beginning of many (`claude-*`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pattern {
    start: String,
    open: bool,
}

/// A text that names no model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` names no model; write letters, digits and `.-_:/@`, with at most one `*` at the end")]
pub struct BadPattern(String);

impl Pattern {
    pub fn matches(&self, model: &str) -> bool {
        if self.open { model.starts_with(&self.start) } else { model == self.start }
    }

    /// The name, if the pattern means exactly one model.
    pub fn name(&self) -> Option<&str> {
        (!self.open).then_some(self.start.as_str())
    }
}

/// Whether a text can be the name of a model: it goes into addresses and messages, so it holds nothing that means something there.
pub(crate) fn is_name(text: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b".-_:/@".contains(&b);
    (1..=LONGEST_NAME).contains(&text.len()) && text.bytes().all(plain) && !text.contains("..")
}

/// Whether this is what an upstream calls a model that it was asked for: its name, or its name with the date or the number of a version
/// behind it. A number of one digit is another model (`opus-4`, `opus-4-1`).
pub(crate) fn is_form_of(answered: &str, asked: &str) -> bool {
    let plain = |name: &str| name.rsplit('/').next().unwrap_or(name).replace('@', "-").to_ascii_lowercase();
    let (answered, asked) = (plain(answered), plain(asked));
    let Some(rest) = answered.strip_prefix(asked.strip_suffix("-latest").unwrap_or(&asked)) else { return false };
    let Some(version) = rest.strip_prefix('-') else { return rest.is_empty() };
    let is_number = |part: &str| part.len() >= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
    version.len() >= 3 && version.split('-').all(is_number)
}

impl FromStr for Pattern {
    type Err = BadPattern;

    fn from_str(text: &str) -> Result<Self, BadPattern> {
        let (start, open) = text.strip_suffix('*').map_or((text, false), |start| (start, true));
        let known = is_name(start) || (open && start.is_empty());
        let shown = || text.chars().take(80).flat_map(char::escape_default).collect();
        known.then(|| Self { start: start.to_owned(), open }).ok_or_else(|| BadPattern(shown()))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.start)?;
        if self.open { f.write_str("*") } else { Ok(()) }
    }
}

impl<'de> Deserialize<'de> for Pattern {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// Several models. None of them means none: whoever forgets to list them gets nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(transparent)]
pub struct Models(Vec<Pattern>);

impl Models {
    pub fn new(patterns: impl IntoIterator<Item = Pattern>) -> Self {
        Self(patterns.into_iter().collect())
    }

    /// Every model there is.
    pub fn all() -> Self {
        Self(vec![Pattern { start: String::new(), open: true }])
    }

    pub fn include(&self, model: &str) -> bool {
        self.0.iter().any(|pattern| pattern.matches(model))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Pattern> {
        self.0.iter()
    }
}

impl fmt::Display for Models {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<String> = self.0.iter().map(|pattern| format!("`{pattern}`")).collect();
        if names.is_empty() { f.write_str("none") } else { f.write_str(&names.join(", ")) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn models(patterns: &[&str]) -> Models {
        Models::new(patterns.iter().map(|text| text.parse().unwrap()))
    }

    #[test]
    fn b10_a_dated_form_is_the_same_model_and_a_sibling_is_not() {
        for (asked, answered) in [
            ("claude-sonnet-4-5", "claude-sonnet-4-5-20250929"),
            ("claude-sonnet-4-5@20250929", "claude-sonnet-4-5-20250929"),
            ("claude-3-5-haiku-latest", "claude-3-5-haiku-20241022"),
            ("gpt-5", "gpt-5-2025-08-07"),
            ("gpt-4", "gpt-4-0613"),
            ("openai/gpt-5", "gpt-5"),
            ("gemini-2.0-flash", "models/gemini-2.0-flash-001"),
            ("qwen3-coder:30b", "qwen3-coder:30b"),
        ] {
            assert!(is_form_of(answered, asked), "{asked} {answered}");
        }
        for (asked, answered) in [
            ("gpt-5", "gpt-5-mini"),
            ("gpt-5-mini", "gpt-5"),
            ("gpt-4", "gpt-4-32k"),
            ("claude-opus-4", "claude-opus-4-1"),
            ("claude-opus-4", "claude-opus-4-5-20251101"),
            ("gpt-5", "gpt-5.4"),
            ("gpt-5", "gpt-52025"),
        ] {
            assert!(!is_form_of(answered, asked), "{asked} {answered}");
        }
    }

    #[test]
    fn a_star_stands_for_any_ending_and_nothing_else() {
        let some = models(&["claude-*", "gpt-5.5"]);
        assert!(some.include("claude-opus-5-5") && some.include("gpt-5.5"));
        assert!(!some.include("gpt-5.5-pro") && !some.include("xclaude-1") && !some.include(""));
        assert!(Models::all().include("anything"));
        assert!(!Models::default().include("anything"));
    }

    #[test]
    fn what_could_lead_elsewhere_in_an_address_is_no_name() {
        for text in ["", "a b", "a?key=x", "a#b", "a*b", "**", "../x", "a\r\nb", "é", &"x".repeat(129)] {
            assert!(text.parse::<Pattern>().is_err(), "{text}");
        }
        assert_eq!("meta/llama-3:70b@q4".parse::<Pattern>().unwrap().to_string(), "meta/llama-3:70b@q4");
    }
}
