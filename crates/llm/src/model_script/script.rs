//! The script: a TOML file of turns, or one turn a line as JSON.

use serde::Deserialize;
use serde_json::{Map, Value};

/// What is answered, in order.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// What is said to requests that offer no tools while the script calls some: agents ask for titles and summaries on the side.
    #[serde(default = "usual_aside")]
    pub aside: String,
    #[serde(default)]
    pub turn: Vec<Turn>,
}

fn usual_aside() -> String {
    "ok".to_owned()
}

/// One answer. It has text, tool calls, both, or an error.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Turn {
    /// Given whenever the last message that the model did not write holds this; without it, once, when it is this turn's turn.
    pub when: Option<String>,
    pub text: Option<String>,
    pub call: Vec<ToolCall>,
    pub error: Option<Fault>,
    /// Before the first byte.
    pub delay_ms: u64,
    /// Between two pieces of a stream.
    pub piece_delay_ms: u64,
    /// The connection breaks after so many bytes of the body.
    pub break_after_bytes: Option<usize>,
    /// What it says it used; counted from the texts if it is left out.
    pub used: Option<Used>,
}

/// A call of one of the agent's tools.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case", untagged)]
pub enum ToolCall {
    /// By name, with arguments as the tool wants them.
    Named(Named),
    /// By name, with a text instead of arguments (a *custom* tool of Responses).
    Custom(Custom),
    /// A command for whichever tool of the agent runs commands.
    Shell(Shell),
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    pub tool: String,
    pub arguments: Map<String, Value>,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Custom {
    pub tool: String,
    pub input: String,
}

#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shell {
    pub shell: String,
}

/// An answer that is none.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    pub status: u16,
    #[serde(default)]
    pub message: String,
}

/// Tokens of one answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Used {
    /// All that went in, without what the two below count.
    pub input: u64,
    pub output: u64,
    pub cache_read: u64,
    pub cache_write: u64,
    /// The part of `output` that is not shown.
    pub reasoning: u64,
}

/// A script that cannot be played.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadScript {
    #[error("line {line}: {why}")]
    Line { line: usize, why: String },
    #[error("turn {number} {why}")]
    Turn { number: usize, why: &'static str },
    #[error("the script has no turn; write at least one `[[turn]]`")]
    Empty,
}

impl Script {
    /// Reads TOML, or JSON lines if the first thing in it is a brace.
    pub fn read(text: &str) -> Result<Self, BadScript> {
        let script = if text.trim_start().starts_with('{') { Self::of_lines(text)? } else { Self::of_toml(text)? };
        script.checked()
    }

    fn of_toml(text: &str) -> Result<Self, BadScript> {
        toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.as_bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
            BadScript::Line { line, why: error.message().trim().to_owned() }
        })
    }

    fn of_lines(text: &str) -> Result<Self, BadScript> {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let turn = lines.map(|(number, line)| {
            let bad = |error: serde_json::Error| BadScript::Line { line: number + 1, why: error.to_string() };
            serde_json::from_str(line).map_err(bad)
        });
        Ok(Self { aside: usual_aside(), turn: turn.collect::<Result<_, _>>()? })
    }

    fn checked(self) -> Result<Self, BadScript> {
        if self.turn.is_empty() {
            return Err(BadScript::Empty);
        }
        for (index, turn) in self.turn.iter().enumerate() {
            let says = turn.text.is_some() || !turn.call.is_empty();
            let bad_status = turn.error.as_ref().is_some_and(|error| !(400..600).contains(&error.status));
            let why = match (says, turn.error.is_some()) {
                (true, true) => "has an error and an answer; take one of them out",
                (false, false) => "says nothing; give it `text`, `call` or `error`",
                (false, true) if bad_status => "has an error whose status is not between 400 and 599",
                (true, false) | (false, true) => continue,
            };
            return Err(BadScript::Turn { number: index + 1, why });
        }
        Ok(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_toml_or_json_lines() {
        let toml = "[[turn]]\ntext = 'hi'\n[[turn.call]]\nshell = 'ls'\n[[turn]]\nerror = { status = 529 }\n";
        let lines = "{\"text\":\"hi\",\"call\":[{\"shell\":\"ls\"}]}\n\n{\"error\":{\"status\":529}}\n";
        assert_eq!(Script::read(toml).unwrap(), Script::read(lines).unwrap());
    }

    #[test]
    fn what_cannot_be_played_says_where() {
        let told = |text: &str| Script::read(text).unwrap_err().to_string();
        assert_eq!(told(""), "the script has no turn; write at least one `[[turn]]`");
        assert!(told("[[turn]]\ntext = 'a'\n[[turn]]\ntxt = 'b'").starts_with("line 4: unknown field `txt`"));
        assert!(told("{\"text\":\"a\"}\n{\"text\":1}").starts_with("line 2: "));
        assert_eq!(told("[[turn]]\ndelay_ms = 1"), "turn 1 says nothing; give it `text`, `call` or `error`");
        assert!(told("[[turn]]\nerror = { status = 200 }").contains("between 400 and 599"));
        assert!(told("[[turn]]\ntext = 'a'\nerror = { status = 500 }").contains("take one of them out"));
    }
}
