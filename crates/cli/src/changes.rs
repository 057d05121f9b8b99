//! What was changed between two actions, or between a proposal and what a reviewer makes of it: field by field, arguments
//! one by one, and lines within an argument or a text file. Only what differs is listed; the card shows the whole.

use std::collections::{BTreeMap, BTreeSet};

use placet_domain::proposal::{ActionSpec, FileOperand, Opening, Proposal};
use placet_domain::text::marked;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use crate::out::{BAD, GOOD, styled};

/// Everything that can be changed, wherever it comes from.
#[derive(Debug)]
pub(crate) struct Wish<'a> {
    tool: String,
    /// How the words are called: `argv` of something sealed, `arguments` of a proposal.
    words_are: &'static str,
    words: &'a [String],
    target: Option<String>,
    environment: &'a BTreeMap<String, String>,
    files: &'a [FileOperand],
    outputs: &'a [String],
    network: &'a [Opening],
    /// Of something sealed with whom they are for, of a proposal by name.
    credentials: Vec<String>,
    timeout_ms: Option<u64>,
    /// The cage, of something sealed.
    cage: Option<String>,
}

impl<'a> From<&'a ActionSpec> for Wish<'a> {
    fn from(spec: &'a ActionSpec) -> Self {
        Self {
            tool: spec.tool.to_string(),
            words_are: "argv",
            words: &spec.argv,
            target: spec.target.as_ref().map(ToString::to_string),
            environment: &spec.environment,
            files: &spec.files,
            outputs: &spec.outputs,
            network: &spec.network,
            credentials: spec.credentials.iter().map(ToString::to_string).collect(),
            timeout_ms: Some(spec.limits.timeout_ms),
            cage: Some(format!(
                "{} {}",
                spec.profile,
                spec.profile_digest.map(|digest| digest.to_string()).unwrap_or_default()
            )),
        }
    }
}

impl<'a> From<&'a Proposal> for Wish<'a> {
    fn from(proposal: &'a Proposal) -> Self {
        Self {
            tool: proposal.tool.to_string(),
            words_are: "arguments",
            words: &proposal.arguments,
            target: proposal.target.as_ref().map(ToString::to_string),
            environment: &proposal.environment,
            files: &proposal.files,
            outputs: &proposal.outputs,
            network: &proposal.network,
            credentials: proposal.credentials.iter().map(ToString::to_string).collect(),
            timeout_ms: proposal.timeout_ms,
            cage: None,
        }
    }
}

/// The lines that tell what was taken away (`-`) and what was put in its place (`+`). Empty when nothing was changed.
pub(crate) fn between<'a>(before: impl Into<Wish<'a>>, after: impl Into<Wish<'a>>) -> Vec<String> {
    let (before, after) = (before.into(), after.into());
    let mut lines = Lines::default();
    lines.value("tool", Some(before.tool), Some(after.tool));
    lines.words(before.words_are, before.words, after.words);
    lines.value("target", before.target, after.target);
    lines.named("env", "=", &paired(before.environment), &paired(after.environment));
    lines.named("reads", " ", &contents(before.files), &contents(after.files));
    lines.named("leaves", "", &names(before.outputs), &names(after.outputs));
    let (before_reached, after_reached) = (opened(before.network), opened(after.network));
    lines.named("reaches", "", &names(&before_reached), &names(&after_reached));
    lines.named("uses", "", &names(&before.credentials), &names(&after.credentials));
    let time = |timeout_ms: Option<u64>| timeout_ms.map(|timeout_ms| format!("{timeout_ms} ms"));
    lines.value("cage", before.cage, after.cage);
    lines.value("at most", time(before.timeout_ms), time(after.timeout_ms));
    lines.0
}

/// The lines of a text file that were changed.
pub(crate) fn within_file(path: &str, before: &str, after: &str) -> Vec<String> {
    let mut lines = Lines::default();
    lines.lines_within(&marked(path), before, after);
    lines.0
}

type Named<'a> = BTreeMap<&'a str, String>;

fn paired(pairs: &BTreeMap<String, String>) -> Named<'_> {
    pairs.iter().map(|(name, value)| (name.as_str(), value.clone())).collect()
}

fn contents(files: &[FileOperand]) -> Named<'_> {
    let content = |file: &FileOperand| format!("({} bytes, {})", file.size_bytes, file.digest);
    files.iter().map(|file| (file.path.as_str(), content(file))).collect()
}

fn names(paths: &[String]) -> Named<'_> {
    paths.iter().map(|path| (path.as_str(), String::new())).collect()
}

fn opened(openings: &[Opening]) -> Vec<String> {
    openings.iter().map(ToString::to_string).collect()
}

#[derive(Debug, Default)]
struct Lines(Vec<String>);

impl Lines {
    fn gone(&mut self, field: &str, text: &str) {
        self.0.push(format!("  {field:<14} {}", styled(BAD, format!("- {}", marked(text)))));
    }

    fn come(&mut self, field: &str, text: &str) {
        self.0.push(format!("  {field:<14} {}", styled(GOOD, format!("+ {}", marked(text)))));
    }

    fn value(&mut self, field: &str, before: Option<String>, after: Option<String>) {
        if before == after {
            return;
        }
        before.iter().for_each(|text| self.gone(field, text));
        after.iter().for_each(|text| self.come(field, text));
    }

    fn named(&mut self, field: &str, between: &str, before: &Named<'_>, after: &Named<'_>) {
        let keys: BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
        for key in keys {
            let told = |named: &Named<'_>| named.get(key).map(|value| format!("{key}{between}{value}"));
            self.value(field, told(before), told(after));
        }
    }

    fn words(&mut self, field: &str, before: &[String], after: &[String]) {
        for op in capture_diff_slices(Algorithm::Myers, before, after) {
            if let DiffOp::Equal { .. } = op {
                continue;
            }
            let (old, new) = (op.old_range(), op.new_range());
            match (&before[old.clone()], &after[new.clone()]) {
                ([old_word], [new_word]) if old_word.contains('\n') || new_word.contains('\n') => {
                    self.lines_within(&format!("{field}[{}]", new.start), old_word, new_word);
                }
                (gone, come) => {
                    (old.start..).zip(gone).for_each(|(index, word)| self.gone(&format!("{field}[{index}]"), word));
                    (new.start..).zip(come).for_each(|(index, word)| self.come(&format!("{field}[{index}]"), word));
                }
            }
        }
    }

    /// A script is one argument; what matters are its lines.
    fn lines_within(&mut self, field: &str, before: &str, after: &str) {
        let [before, after] = [before, after].map(|text| text.split('\n').collect::<Vec<_>>());
        for op in capture_diff_slices(Algorithm::Myers, &before, &after) {
            if let DiffOp::Equal { .. } = op {
                continue;
            }
            before[op.old_range()].iter().for_each(|line| self.gone(field, line));
            after[op.new_range()].iter().for_each(|line| self.come(field, line));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn proposal(json: Value) -> Proposal {
        serde_json::from_value(json).unwrap()
    }

    fn told(before: Value, after: Value) -> Vec<String> {
        let (before, after) = (proposal(before), proposal(after));
        let lines = between(&before, &after);
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn b4_arguments_are_compared_one_by_one() {
        let before = json!({"tool": "nmap", "arguments": ["-sV", "-Pn", "-p", "1-1000"]});
        let after = json!({"tool": "nmap", "arguments": ["-Pn", "-p", "1-100", "-v"]});
        assert_eq!(
            told(before, after),
            [
                "  arguments[0]   - -sV",
                "  arguments[3]   - 1-1000",
                "  arguments[2]   + 1-100",
                "  arguments[3]   + -v",
            ]
        );
    }

    #[test]
    fn b4_a_script_is_compared_line_by_line() {
        let before = json!({"tool": "sh", "arguments": ["set -e\nrm -r build\nmake"]});
        let after = json!({"tool": "sh", "arguments": ["set -e\nmake\nmake check"]});
        assert_eq!(told(before, after), ["  arguments[0]   - rm -r build", "  arguments[0]   + make check"]);
    }

    #[test]
    fn b4_every_field_is_named_and_what_stays_is_not() {
        let file = |text: &[u8]| json!({"path": "a.txt", "digest": placet_domain::digest::Digest::of(text), "size_bytes": text.len()});
        let before = json!({"tool": "sh", "target": "10.0.0.5", "environment": {"A": "1", "B": "2"}, "files": [file(b"x")],
            "outputs": ["o", "p"]});
        let after = json!({"tool": "bash", "environment": {"A": "3", "B": "2"}, "files": [file(b"xy")], "outputs": ["o"],
            "timeout_ms": 9});
        let lines = told(before.clone(), after);
        let fields: Vec<_> =
            lines.iter().map(|line| line.split_whitespace().take(3).collect::<Vec<_>>().join(" ")).collect();
        assert_eq!(
            fields,
            [
                "tool - sh",
                "tool + bash",
                "target - 10.0.0.5",
                "env - A=1",
                "env + A=3",
                "reads - a.txt",
                "reads + a.txt",
                "leaves - p",
                "at most +",
            ]
        );
        assert!(told(before.clone(), before).is_empty());
    }

    #[test]
    fn b4_what_deceives_the_eye_is_spelled_out() {
        let lines = told(json!({"tool": "sh"}), json!({"tool": "sh", "arguments": ["a\u{202e}b\u{1b}[2K"]}));
        assert_eq!(lines, ["  arguments[0]   + a⟦U+202E⟧b⟦U+001B⟧[2K"]);
    }
}
