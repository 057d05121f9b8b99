//! A team's own rules: JSON, each with examples that are tried before it counts.
//!
//! ```json
//! [{ "id": "acme-token", "about": "token of our gateway", "shape": "acme_[a-z0-9]{32}", "minBits": 3.0,
//!    "finds": ["X-Acme: acme_…"], "ignores": ["acme_documentation"] }]
//! ```

use serde::Deserialize;

use crate::rule::{Check, Rule};
use crate::scanner::Scanner;
use crate::shape::{Shape, ShapeError};

/// Shorter literals are everywhere, and a rule must not make the scanner slow.
const SHORTEST_ANCHOR: usize = 3;
/// What a token of a team must have, unless its rule says otherwise.
const USUAL_BITS: f64 = 2.5;

/// Why a team's own rules are not used. Nothing is used in part.
#[derive(Debug, thiserror::Error)]
pub enum RuleError {
    #[error("the rules are not a list of rules: line {line}, column {column}: {problem}")]
    Json { line: usize, column: usize, problem: String },
    #[error("rule `{id}` exists already; choose another id")]
    Taken { id: String },
    #[error("`{id}` is no id of a rule; use lower case letters, digits and hyphens")]
    Id { id: String },
    #[error("the shape of rule `{id}` cannot be read: {problem}")]
    Shape { id: String, problem: ShapeError },
    #[error("the shape of rule `{id}` has no literal of at least 3 bytes to look for, such as `acme_`")]
    NoLiteral { id: String },
    #[error("rule `{id}` has no example; name at least one text under `finds`")]
    NoExample { id: String },
    #[error("rule `{id}` does not find its example number {number} under `finds`")]
    Misses { id: String, number: usize },
    #[error("rule `{id}` finds something in its example number {number} under `ignores`")]
    Finds { id: String, number: usize },
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Written {
    id: String,
    about: String,
    shape: String,
    #[serde(default = "usual_bits")]
    min_bits: f64,
    finds: Vec<String>,
    #[serde(default)]
    ignores: Vec<String>,
}

fn usual_bits() -> f64 {
    USUAL_BITS
}

/// What a rule must find and must not find.
pub(crate) struct Examples {
    id: String,
    finds: Vec<String>,
    ignores: Vec<String>,
}

impl Examples {
    pub(crate) fn try_on(&self, scanner: &Scanner) -> Result<(), RuleError> {
        let found = |text: &String| {
            let hits = scanner.hits(text.as_bytes());
            hits.iter().any(|hit| scanner.rules()[hit.rule].id() == self.id)
        };
        if let Some(missed) = self.finds.iter().position(|text| !found(text)) {
            return Err(RuleError::Misses { id: self.id.clone(), number: missed + 1 });
        }
        match self.ignores.iter().position(found) {
            Some(wrong) => Err(RuleError::Finds { id: self.id.clone(), number: wrong + 1 }),
            None => Ok(()),
        }
    }
}

pub(crate) fn read_rules(json: &str) -> Result<(Vec<Rule>, Vec<Examples>), RuleError> {
    let written: Vec<Written> = serde_json::from_str(json).map_err(|error| RuleError::Json {
        line: error.line(),
        column: error.column(),
        problem: crate::allowlist::without_place(&error),
    })?;
    let mut rules: Vec<Rule> = Vec::new();
    let mut examples = Vec::new();
    for rule in written {
        let taken = |other: &Rule| other.id == rule.id;
        if rules.iter().any(taken) || Scanner::shipped().rules().iter().any(taken) {
            return Err(RuleError::Taken { id: rule.id });
        }
        rules.push(rule.load()?);
        examples.push(Examples { id: rule.id, finds: rule.finds, ignores: rule.ignores });
    }
    Ok((rules, examples))
}

impl Written {
    fn load(&self) -> Result<Rule, RuleError> {
        let id = self.id.clone();
        if id.is_empty() || !id.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-') {
            return Err(RuleError::Id { id });
        }
        let shape = Shape::parse(&self.shape).map_err(|problem| RuleError::Shape { id: id.clone(), problem })?;
        if shape.anchor().is_none_or(|anchor| anchor.len() < SHORTEST_ANCHOR) {
            return Err(RuleError::NoLiteral { id });
        }
        if self.finds.is_empty() {
            return Err(RuleError::NoExample { id });
        }
        let (about, unlike) = (self.about.clone(), self.ignores.clone());
        Ok(Rule {
            id,
            about,
            shapes: vec![shape],
            names: Vec::new(),
            least_bits: self.min_bits,
            check: Check::Entropy,
            unlike,
        })
    }
}
