//! One rule: a Cedar policy and the annotations that make it reviewable. All annotations must be there and no others may.

use std::ops::Range;

use cedar_policy::ffi::DetailedError;
use cedar_policy::{Policy as CedarPolicy, PolicyId};

use super::problem::PolicyProblem;
use super::source::Source;
use super::verdict::Risk;
use crate::complaint::Complaint;

/// What an annotation is for, shown when it is missing or unknown.
const ANNOTATIONS: [(&str, &str); 5] = [
    ("id", "a unique name, such as `@id(\"scan.host\")`"),
    ("risk", "what the rule adds to the risk, such as `@risk(\"0.20\")`"),
    ("reason", "one sentence for the reviewer, such as `@reason(\"probes a host\")`"),
    ("matches", "one example per line for which the rule speaks, such as `@matches(\"nmap -sV @10.0.0.5\")`"),
    ("misses", "one example per line for which the rule is silent, such as `@misses(\"cat README.md\")`"),
];

/// Longer reasons are not read.
const LONGEST_REASON_CHARS: usize = 200;
const LONGEST_ID: usize = 64;

/// Names that the runtime's own reasons carry; a rule that used one could pass for a law.
const RESERVED_ID: &str = "default";
const RESERVED_PREFIXES: &[&str] = &["scope.", "mode.", "entry."];

/// A rule as written: well-formed, but neither checked against the schema nor tried on its examples.
pub(super) struct Draft<'source> {
    pub(super) source: &'source Source<'source>,
    pub(super) span: Range<usize>,
    pub(super) policy: CedarPolicy,
    pub(super) id: String,
    pub(super) risk: Risk,
    pub(super) reason: String,
    pub(super) matches: Vec<ExampleLine>,
    pub(super) misses: Vec<ExampleLine>,
}

/// One example and where it stands.
pub(super) struct ExampleLine {
    pub(super) text: String,
    pub(super) at: usize,
}

impl<'source> Draft<'source> {
    /// Reads one statement; all that is wrong with its form is reported at once.
    pub(super) fn read(source: &'source Source<'source>, span: Range<usize>) -> Result<Self, Vec<PolicyProblem>> {
        let policy = CedarPolicy::parse(None, source.slice(&span)).map_err(|errors| {
            errors.iter().map(|error| from_cedar(source, &span, &error.into(), SYNTAX_HINT)).collect::<Vec<_>>()
        })?;
        let mut reader =
            Reader { source, span: &span, policy: &policy, problems: unknown_annotations(source, &span, &policy) };
        let (id, risk, reason) =
            (reader.value("id", read_id), reader.value("risk", read_risk), reader.value("reason", read_reason));
        let (matches, misses) = (reader.examples("matches"), reader.examples("misses"));
        match (reader.problems, id, risk, reason, matches, misses) {
            (problems, Some(id), Some(risk), Some(reason), Some(matches), Some(misses)) if problems.is_empty() => {
                let policy = policy.new_id(PolicyId::new(&id));
                Ok(Self { source, span, policy, id, risk, reason, matches, misses })
            }
            (problems, ..) => Err(problems),
        }
    }

    pub(super) fn problem(&self, offset: usize, complaint: Complaint) -> PolicyProblem {
        self.source.problem(offset, complaint)
    }

    /// A problem that Cedar found in this rule.
    pub(super) fn cedar_problem(&self, error: &DetailedError, hint: &str) -> PolicyProblem {
        let mut problem = from_cedar(self.source, &self.span, error, hint);
        // The place says which rule it is.
        if let Some(message) = problem.message.strip_prefix(&format!("for policy `{}`, ", self.id)) {
            problem.message = message.to_owned();
        }
        problem
    }
}

const SYNTAX_HINT: &str = "a rule is its annotations, then `permit (principal, action, resource) when { … };` or `forbid …`, with a `;` at the end";

/// Moves Cedar's place, counted from the start of the statement, into the file.
fn from_cedar(source: &Source<'_>, span: &Range<usize>, error: &DetailedError, hint: &str) -> PolicyProblem {
    let offset = error.source_locations.first().map_or(0, |label| label.loc.start);
    let hint = error.help.clone().unwrap_or_else(|| hint.to_owned());
    source.problem(span.start + offset, Complaint::new(error.message.clone(), hint))
}

fn unknown_annotations(source: &Source<'_>, span: &Range<usize>, policy: &CedarPolicy) -> Vec<PolicyProblem> {
    let known = |name: &str| ANNOTATIONS.iter().any(|(known, _)| *known == name);
    let unknown = policy.annotations().filter(|(name, _)| !known(name));
    let complain = |(name, _): (&str, &str)| {
        let list = ANNOTATIONS.map(|(name, _)| format!("@{name}")).join(", ");
        let complaint = Complaint::new(format!("unknown annotation `@{name}`"), format!("known are {list}"));
        source.problem(source.annotation(span, name).unwrap_or(span.start), complaint)
    };
    unknown.map(complain).collect()
}

/// Reads the annotations of one statement and keeps what is wrong with them.
struct Reader<'a> {
    source: &'a Source<'a>,
    span: &'a Range<usize>,
    policy: &'a CedarPolicy,
    problems: Vec<PolicyProblem>,
}

impl<'a> Reader<'a> {
    /// The value of an annotation and where the annotation stands.
    fn annotation(&mut self, name: &str) -> Option<(&'a str, usize)> {
        let at = self.source.annotation(self.span, name).unwrap_or(self.span.start);
        let found = self.policy.annotation(name).map(|value| (value, at));
        if found.is_none() {
            let hint = ANNOTATIONS.iter().find(|(known, _)| *known == name).map_or("", |(_, purpose)| purpose);
            self.complain(at, Complaint::new(format!("the rule has no `@{name}`"), format!("add {hint}")));
        }
        found
    }

    fn value<T>(&mut self, name: &str, read: fn(&str) -> Result<T, Complaint>) -> Option<T> {
        let (value, at) = self.annotation(name)?;
        read(value).map_err(|complaint| self.complain(at, complaint)).ok()
    }

    fn examples(&mut self, name: &str) -> Option<Vec<ExampleLine>> {
        let (value, mut at) = self.annotation(name)?;
        let mut examples = Vec::new();
        for text in value.lines().map(str::trim).filter(|line| !line.is_empty()) {
            at = self.source.find_from(at, text);
            examples.push(ExampleLine { text: text.to_owned(), at });
        }
        if examples.is_empty() {
            self.complain(at, Complaint::new(format!("`@{name}` has no example"), "write at least one, one per line"));
            return None;
        }
        Some(examples)
    }

    fn complain(&mut self, at: usize, complaint: Complaint) {
        self.problems.push(self.source.problem(at, complaint));
    }
}

fn read_id(id: &str) -> Result<String, Complaint> {
    let plain = |part: &str| {
        let inner = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_' || b == b'-';
        part.as_bytes().first().is_some_and(u8::is_ascii_lowercase) && part.bytes().all(inner)
    };
    if id.len() > LONGEST_ID || !id.split('.').all(plain) {
        let hint = "lowercase words joined by dots, at most 64 characters, such as `scan.host`";
        return Err(Complaint::new(format!("bad rule id `{}`", shown(id)), hint));
    }
    if id == RESERVED_ID || RESERVED_PREFIXES.iter().any(|prefix| id.starts_with(prefix)) {
        return Err(Complaint::new(
            format!("the rule id `{id}` is reserved for the runtime's own laws"),
            "choose a name other than `default` that does not start with `scope.`, `mode.` or `entry.`",
        ));
    }
    Ok(id.to_owned())
}

fn read_risk(risk: &str) -> Result<Risk, Complaint> {
    let complain =
        |_| Complaint::new(format!("bad risk `{}`", shown(risk)), "a number from 0.00 to 1.00 with two decimals");
    risk.parse().map_err(complain)
}

fn read_reason(reason: &str) -> Result<String, Complaint> {
    let too_long = reason.chars().count() > LONGEST_REASON_CHARS;
    if reason.trim().is_empty() || too_long || reason.chars().any(char::is_control) {
        let message = format!("bad reason `{}`", shown(reason));
        return Err(Complaint::new(message, "one sentence on one line, at most 200 characters"));
    }
    Ok(reason.trim().to_owned())
}

fn shown(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_dotted_lowercase_words() {
        for id in ["scan", "scan.host", "a.b-c.d_1"] {
            assert!(read_id(id).is_ok(), "{id}");
        }
        for id in ["", ".", "a.", "Scan", "1a", "a b", "a..b", "ä", &"a".repeat(65)] {
            assert!(read_id(id).is_err(), "{id}");
        }
    }

    #[test]
    fn no_rule_can_pass_for_a_law() {
        for id in ["default", "scope.tool", "scope.anything", "mode.mine", "entry.tool"] {
            assert!(read_id(id).expect_err("a reserved id").message.contains("reserved"), "{id}");
        }
        assert!(read_id("default.more").is_ok());
    }

    #[test]
    fn a_reason_is_one_short_sentence() {
        assert_eq!(read_reason(" probes a host ").expect("a reason"), "probes a host");
        for reason in ["", "  ", "two\nlines", &"a".repeat(201)] {
            assert!(read_reason(reason).is_err(), "{reason:?}");
        }
    }
}
