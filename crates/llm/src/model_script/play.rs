//! Chooses the turn that answers a request.

use std::sync::Mutex;
use std::sync::PoisonError;

use serde_json::{Map, Value};

use super::heard::Heard;
use super::script::{Custom, Fault, Named, Script, Shell, ToolCall, Turn, Used};
use super::shell;

/// About four bytes of text to a token: near enough for a server that thinks nothing.
const BYTES_PER_TOKEN: usize = 4;

#[derive(Debug)]
pub(super) struct Player {
    script: Script,
    /// How many turns were given in order, and how many answers in all.
    place: Mutex<(usize, u64)>,
}

/// A turn made for one request.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) number: u64,
    pub(super) text: Option<String>,
    pub(super) calls: Vec<Call>,
    pub(super) used: Used,
    pub(super) error: Option<Fault>,
    pub(super) delay_ms: u64,
    pub(super) piece_delay_ms: u64,
    pub(super) break_after_bytes: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) with: With,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum With {
    Arguments(Map<String, Value>),
    Input(String),
}

impl Player {
    pub(super) fn new(script: Script) -> Self {
        Self { script, place: Mutex::new((0, 0)) }
    }

    pub(super) fn line(&self, heard: &Heard) -> Line {
        let mut place = self.place.lock().unwrap_or_else(PoisonError::into_inner);
        place.1 += 1;
        let number = place.1;
        let turn = self.turn(heard, &mut place.0);
        drop(place);
        line(turn, number, heard)
    }

    fn turn(&self, heard: &Heard, place: &mut usize) -> Turn {
        let says = |text: &str| Turn { text: Some(text.to_owned()), ..Turn::default() };
        if let Some(turn) = self.meant(&heard.said_last()) {
            return turn.clone();
        }
        let calls_tools = self.script.turn.iter().any(|turn| !turn.call.is_empty());
        if calls_tools && heard.tools().is_empty() {
            return says(&self.script.aside);
        }
        let in_order = self.script.turn.iter().filter(|turn| turn.when.is_none()).nth(*place);
        *place += usize::from(in_order.is_some());
        in_order.cloned().unwrap_or_else(|| says("the script is over"))
    }

    fn meant(&self, said: &str) -> Option<&Turn> {
        self.script.turn.iter().find(|turn| turn.when.as_ref().is_some_and(|when| said.contains(when)))
    }
}

fn line(turn: Turn, number: u64, heard: &Heard) -> Line {
    let tools = heard.tools();
    let calls: Vec<Call> =
        turn.call
            .iter()
            .filter_map(|call| match call {
                ToolCall::Named(Named { tool, arguments }) => {
                    Some(Call { tool: tool.clone(), with: With::Arguments(arguments.clone()) })
                }
                ToolCall::Custom(Custom { tool, input }) => {
                    Some(Call { tool: tool.clone(), with: With::Input(input.clone()) })
                }
                ToolCall::Shell(Shell { shell: command }) => shell::call(&tools, command)
                    .map(|(tool, arguments)| Call { tool, with: With::Arguments(arguments) }),
            })
            .collect();
    let unable = (calls.is_empty() && turn.text.is_none() && turn.error.is_none())
        .then(|| "there is no tool here that runs commands".to_owned());
    let text = turn.text.or(unable);
    let used = turn.used.unwrap_or_else(|| counted(heard, text.as_deref(), &calls));
    Line {
        number,
        text,
        calls,
        used,
        error: turn.error,
        delay_ms: turn.delay_ms,
        piece_delay_ms: turn.piece_delay_ms,
        break_after_bytes: turn.break_after_bytes,
    }
}

fn counted(heard: &Heard, text: Option<&str>, calls: &[Call]) -> Used {
    let tokens = |bytes: usize| bytes.div_ceil(BYTES_PER_TOKEN) as u64;
    let said: usize = calls.iter().map(|call| call.tool.len() + call.text().len()).sum();
    Used {
        input: tokens(heard.body.len()),
        output: tokens(said + text.unwrap_or_default().len()).max(1),
        ..Used::default()
    }
}

impl Call {
    /// The arguments as a model writes them.
    pub(super) fn text(&self) -> String {
        match &self.with {
            With::Arguments(arguments) => Value::Object(arguments.clone()).to_string(),
            With::Input(input) => input.clone(),
        }
    }
}
