//! Strict JSON that remembers its lines. The same texts are accepted as by [`placet_domain::canonical::parse`] (I-JSON: no
//! duplicate keys, no integers beyond ±(2^53 − 1), 32 levels), and a test keeps it so; what is added is where each value
//! stands, and that all duplicate keys are found, not the first.
//!
//! It knows nothing of schemas or of what the values mean.

use serde_json::{Map, Number, Value};

/// The largest integer that every reader of JSON reads alike.
const LARGEST_SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;
/// As in the strict reader of the domain.
const DEEPEST_NESTING: usize = 32;

/// A value and the line it begins on.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) value: Content,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Content {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

/// A key with its value; the line is the key's.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) line: usize,
    pub(crate) value: Node,
}

/// A text that is no strict JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Flaw {
    pub(crate) line: usize,
    pub(crate) message: String,
}

impl Node {
    pub(crate) fn get(&self, key: &str) -> Option<&Self> {
        let Content::Object(members) = &self.value else { return None };
        members.iter().find(|member| member.key == key).map(|member| &member.value)
    }

    /// The line of what a JSON Pointer leads to; of the last thing on the way that exists, if it leads nowhere.
    pub(crate) fn line_of(&self, pointer: &str) -> usize {
        let mut here = self;
        for step in pointer.split('/').skip(1) {
            let next = match &here.value {
                Content::List(items) => step.parse::<usize>().ok().and_then(|index| items.get(index)),
                Content::Object(_) => here.get(&step.replace("~1", "/").replace("~0", "~")),
                Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) => None,
            };
            let Some(next) = next else { break };
            here = next;
        }
        here.line
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.value {
            Content::Null => Value::Null,
            Content::Bool(value) => Value::Bool(*value),
            Content::Number(value) => Value::Number(value.clone()),
            Content::Text(value) => Value::String(value.clone()),
            Content::List(items) => items.iter().map(Self::to_value).collect(),
            Content::Object(members) => {
                let entries = members.iter().map(|member| (member.key.clone(), member.value.to_value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }
}

/// A JSON Pointer one step further.
pub(crate) fn below(pointer: &str, step: &str) -> String {
    format!("{pointer}/{}", step.replace('~', "~0").replace('/', "~1"))
}

/// Reads one document. Every flaw that does not end the reading is reported with the one that does.
pub(crate) fn parse(bytes: &[u8]) -> Result<Node, Vec<Flaw>> {
    let mut reader = match Reader::new(bytes) {
        Ok(reader) => reader,
        Err(flaw) => return Err(vec![flaw]),
    };
    match reader.document() {
        Ok(node) if reader.flaws.is_empty() => Ok(node),
        Ok(_) => Err(reader.flaws),
        Err(flaw) => {
            reader.flaws.push(flaw);
            Err(reader.flaws)
        }
    }
}

type Read<T> = Result<T, Flaw>;

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    flaws: Vec<Flaw>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8]) -> Read<Self> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Self { text, at: 0, line: 1, flaws: Vec::new() }),
            Err(error) => {
                let before = &bytes[..error.valid_up_to()];
                let line = 1 + before.iter().filter(|byte| **byte == b'\n').count();
                Err(Flaw { line, message: "this is not UTF-8; save the file as UTF-8".into() })
            }
        }
    }

    fn document(&mut self) -> Read<Node> {
        let node = self.value(DEEPEST_NESTING)?;
        self.space();
        match self.peek() {
            None => Ok(node),
            Some(_) => Err(self.flaw("there is text after the end of the document; remove it")),
        }
    }

    fn flaw(&self, message: impl Into<String>) -> Flaw {
        Flaw { line: self.line, message: message.into() }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        match self.text[self.at..].chars().next() {
            None => "the end of the file".into(),
            Some(character) => format!("`{}`", placet_domain::text::spelled_out(&character.to_string())),
        }
    }

    fn space(&mut self) {
        while let Some(byte @ (b' ' | b'\t' | b'\r' | b'\n')) = self.peek() {
            self.line += usize::from(byte == b'\n');
            self.at += 1;
        }
    }

    fn take(&mut self, expected: u8) -> bool {
        let there = self.peek() == Some(expected);
        self.at += usize::from(there);
        there
    }

    fn value(&mut self, depth_left: usize) -> Read<Node> {
        self.space();
        let line = self.line;
        let value = match self.peek() {
            Some(b'{') => self.object(depth_left)?,
            Some(b'[') => self.list(depth_left)?,
            Some(b'"') => Content::Text(self.string()?),
            Some(b'-' | b'0'..=b'9') => Content::Number(self.number()?),
            Some(_) | None => self.word()?,
        };
        Ok(Node { line, value })
    }

    fn word(&mut self) -> Read<Content> {
        let words = [("true", Content::Bool(true)), ("false", Content::Bool(false)), ("null", Content::Null)];
        for (word, content) in words {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(content);
            }
        }
        Err(self.flaw(format!("expected a value, found {}", self.found())))
    }

    fn deeper(&self, depth_left: usize) -> Read<usize> {
        depth_left.checked_sub(1).ok_or_else(|| self.flaw(format!("nested deeper than {DEEPEST_NESTING} levels")))
    }

    fn list(&mut self, depth_left: usize) -> Read<Content> {
        let depth_left = self.deeper(depth_left)?;
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.take(b']') {
            return Ok(Content::List(items));
        }
        loop {
            items.push(self.value(depth_left)?);
            if !self.goes_on(b']')? {
                return Ok(Content::List(items));
            }
        }
    }

    fn object(&mut self, depth_left: usize) -> Read<Content> {
        let depth_left = self.deeper(depth_left)?;
        self.at += 1;
        let mut members: Vec<Member> = Vec::new();
        let mut seen = std::collections::BTreeMap::new();
        self.space();
        if self.take(b'}') {
            return Ok(Content::Object(members));
        }
        loop {
            let member = self.member(depth_left)?;
            match seen.get(&member.key) {
                Some(first) => self.flaws.push(twice(&member, *first)),
                None => {
                    seen.insert(member.key.clone(), member.line);
                    members.push(member);
                }
            }
            if !self.goes_on(b'}')? {
                return Ok(Content::Object(members));
            }
        }
    }

    fn member(&mut self, depth_left: usize) -> Read<Member> {
        self.space();
        if self.peek() != Some(b'"') {
            return Err(self.flaw(format!("expected a key in double quotes, found {}", self.found())));
        }
        let line = self.line;
        let key = self.string()?;
        self.space();
        if !self.take(b':') {
            return Err(self.flaw(format!("expected `:` after a key, found {}", self.found())));
        }
        Ok(Member { key, line, value: self.value(depth_left)? })
    }

    /// Whether another element follows; the end is consumed too.
    fn goes_on(&mut self, end: u8) -> Read<bool> {
        self.space();
        if self.take(end) {
            return Ok(false);
        }
        if !self.take(b',') {
            let found = self.found();
            return Err(self.flaw(format!("expected `,` or `{}`, found {found}", char::from(end))));
        }
        self.space();
        if self.peek() == Some(end) {
            return Err(self.flaw(format!("a `,` stands before `{}`; remove it", char::from(end))));
        }
        Ok(true)
    }

    /// Escapes are left to the reader of the standard library of JSON: one meaning of `\u` pairs is enough.
    fn string(&mut self) -> Read<String> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.at += 2,
                Some(b'\n') | None => return Err(self.flaw("a text is not closed on its line; end it with `\"`")),
                Some(_) => self.at += 1,
            }
        }
        self.at += 1;
        let raw = self.text.get(start..self.at);
        let text = raw.and_then(|raw| serde_json::from_str(raw).ok());
        text.ok_or_else(|| self.flaw("a text holds a broken escape or a raw control character; write it as `\\u00XX`"))
    }

    fn number(&mut self) -> Read<Number> {
        let start = self.at;
        while let Some(b'-' | b'+' | b'.' | b'e' | b'E' | b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        let raw = &self.text[start..self.at];
        let number: Number = serde_json::from_str(raw).map_err(|_| self.flaw(format!("`{raw}` is not a number")))?;
        match number.as_f64() {
            Some(value) if value.is_finite() && value.abs() <= LARGEST_SAFE_INTEGER => Ok(number),
            Some(_) | None => Err(self.flaw(format!("the number {raw} is beyond ±(2^53 - 1), where readers disagree"))),
        }
    }
}

fn twice(member: &Member, first_line: usize) -> Flaw {
    let key = placet_domain::text::spelled_out(&member.key);
    Flaw { line: member.line, message: format!("the key `{key}` appears twice (first on line {first_line}); keep one") }
}

#[cfg(test)]
mod tests;
