//! REACH: what stands anywhere in a request that reaches past the cage: addresses that an upstream would fetch, what lies with it, tools
//! that it runs itself. Also inside of tool results, of lists within lists, and of tools that come later in a conversation.
//!
//! It deliberately knows little about the formats: an address under a name that it does not know is an address. What the model alone reads
//! may hold any. It goes through a body once and keeps next to nothing, however large that is.

use super::needs::Need;
use super::object::Unreadable;
use super::rules::{Class, PLAIN_TOOLS, Rules, Tools, plain};
use super::tokens::{Raw, Token, Tokens};

/// As deep as serde reads anything; agents nest a dozen levels.
const MOST_DEPTH: usize = 128;
/// Agents offer some hundreds of tools; a model that chooses among thousands finds none.
const MOST_TOOLS: u64 = 4_096;
/// Enough of a text to see whether it is an address: schemes are short.
const BEGINNING: usize = 24;

/// What was found; of each kind the first.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    tool: Option<String>,
    address: Option<String>,
    stored: Option<String>,
    tools: u64,
    /// Tools that the upstream explains to the model in words of its own.
    pub(super) typed_tools: u64,
    /// Whether an item of `responses` says neither what it is nor whose: then its id alone stands for something that was kept.
    pub(super) has_bare_item: bool,
}

impl Seen {
    pub(super) fn into_needs(self) -> impl Iterator<Item = Need> {
        let (tool, address, stored) =
            (self.tool.map(Need::Tool), self.address.map(Need::Address), self.stored.map(Need::Stored));
        tool.into_iter().chain(address).chain(stored)
    }

    fn count_tool(&mut self) -> Result<(), Unreadable> {
        self.tools += 1;
        let too_many = || Unreadable::NotCarried(format!("there are more than {MOST_TOOLS} tools; offer fewer"));
        if self.tools > MOST_TOOLS { Err(too_many()) } else { Ok(()) }
    }
}

/// An object or a list that is open.
#[derive(Debug)]
struct Frame {
    is_list: bool,
    /// Of the input at the top.
    is_items: bool,
    /// Whether it has a type or a role.
    is_described: bool,
    class: Class,
    part: Part,
    /// Whether it says where content is; so it is no record, whatever it calls itself.
    is_place: bool,
    /// What was found in it directly, unless it turns out to be a record.
    address: Option<String>,
    stored: Option<String>,
    /// Whether each of its types is that of a record.
    is_record: Option<bool>,
}

/// What it is of the tools.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    None,
    Tools,
    Tool {
        kind: Option<String>,
        foreign: Option<String>,
    },
    /// Where a shell is: with the agent, or with the upstream.
    Place {
        is_local: Option<bool>,
    },
}

/// Goes through a body, which is known to be JSON.
pub(super) fn search(body: &[u8], rules: &Rules) -> Result<Seen, Unreadable> {
    let mut search =
        Search { rules, frames: Vec::new(), name: String::new(), written: String::new(), seen: Seen::default() };
    for token in Tokens::of(body) {
        search.take(token)?;
    }
    Ok(search.seen)
}

struct Search<'a> {
    rules: &'a Rules,
    frames: Vec<Frame>,
    /// Of the value that comes next, as names are compared, and as it was written.
    name: String,
    written: String,
    seen: Seen,
}

impl Search<'_> {
    fn take(&mut self, token: Token<'_>) -> Result<(), Unreadable> {
        match token {
            Token::OpenObject => self.open(false)?,
            Token::OpenList => self.open(true)?,
            Token::Close => self.close()?,
            Token::Name(raw) => self.named(raw),
            Token::Text(raw) => self.text(raw),
            Token::Plain(_) => {}
        }
        Ok(())
    }

    /// How the value that comes next is judged. In a list, as the list.
    fn class(&self) -> Class {
        match self.frames.last() {
            None => Class::Other,
            Some(frame) if frame.is_list => frame.class,
            Some(frame) => self.rules.class(frame.class, &self.name),
        }
    }

    fn named(&mut self, raw: Raw<'_>) {
        let word = raw.word().unwrap_or_default();
        (self.name, self.written) = (plain(&word), word.clone());
        if let (Some(frame), "type" | "role") = (self.frames.last_mut(), self.name.as_str()) {
            frame.is_described = true;
        }
        if let (Tools::Named(own), Some(Part::Tool { foreign, .. })) = (self.rules.tools, self.part()) {
            if !own.contains(&word.as_str()) {
                foreign.get_or_insert(word);
            } else if !PLAIN_TOOLS.contains(&word.as_str()) {
                self.seen.typed_tools += 1;
            }
        }
    }

    fn part(&mut self) -> Option<&mut Part> {
        self.frames.last_mut().map(|frame| &mut frame.part)
    }

    fn is_looked_at(class: Class) -> bool {
        !matches!(class, Class::Free | Class::Schema | Class::Reference)
    }

    fn open(&mut self, is_list: bool) -> Result<(), Unreadable> {
        if self.frames.len() == MOST_DEPTH {
            return Err(Unreadable::NotCarried(format!("it is nested more than {MOST_DEPTH} levels deep")));
        }
        let class = self.class();
        if class == Class::Stored && !is_list {
            self.find(class);
        }
        let part = if Self::is_looked_at(class) { self.part_of_tools(is_list) } else { Part::None };
        let in_list = self.frames.last().filter(|frame| frame.is_list);
        let is_place = in_list.map_or(self.name == "source" || class == Class::Address, |list| list.is_place);
        let is_items = is_list && self.frames.len() == 1 && self.name == "input";
        let (address, stored, is_record, is_described) = (None, None, None, false);
        self.frames.push(Frame { is_list, is_items, is_described, class, part, is_place, address, stored, is_record });
        Ok(())
    }

    fn part_of_tools(&self, is_list: bool) -> Part {
        let above = self.frames.last();
        let in_list = above.is_some_and(|frame| frame.is_list);
        let is_tools =
            if in_list { above.is_some_and(|frame| frame.part == Part::Tools) } else { self.name == "tools" };
        let in_tool = above.is_some_and(|frame| matches!(frame.part, Part::Tool { .. }));
        match (is_tools, is_list) {
            (true, true) => Part::Tools,
            (true, false) => Part::Tool { kind: None, foreign: None },
            (false, _) if in_tool && self.name == "environment" => Part::Place { is_local: None },
            (false, _) => Part::None,
        }
    }

    fn text(&mut self, raw: Raw<'_>) {
        let class = self.class();
        if Self::is_looked_at(class) {
            self.word_of_a_tool(raw);
        }
        let found = match class {
            Class::Free | Class::Schema | Class::Text => None,
            Class::Stored => (!raw.is_empty()).then_some(Class::Stored),
            Class::Address => (!raw.is_empty() && !is_content(raw)).then_some(Class::Address),
            Class::Reference | Class::Other => is_address(raw).then_some(Class::Address),
        };
        if let Some(found) = found {
            self.find(found);
        }
    }

    /// What a text says about a tool, or about what holds it.
    fn word_of_a_tool(&mut self, raw: Raw<'_>) {
        let Some(frame) = self.frames.last_mut() else { return };
        let word = || raw.word().unwrap_or_default();
        let is_type = !frame.is_list && self.name == "type";
        match &mut frame.part {
            // A tool that is a mere word is none that the agent describes.
            Part::Tools => drop(self.seen.tool.get_or_insert_with(word)),
            Part::Tool { kind: Some(_), foreign } if is_type => drop(foreign.get_or_insert_with(word)),
            Part::Tool { kind, .. } if is_type => *kind = Some(word()),
            Part::Tool { foreign, .. } if self.name == "environment" => drop(foreign.get_or_insert_with(word)),
            Part::Place { is_local } if is_type => *is_local = Some(*is_local != Some(false) && word() == "local"),
            Part::None if is_type => {
                let is_one = self.rules.records.contains(&word().as_str());
                frame.is_record = Some(frame.is_record != Some(false) && is_one);
            }
            Part::None if self.name == "tools" && !frame.is_list => drop(self.seen.tool.get_or_insert_with(word)),
            Part::None | Part::Tool { .. } | Part::Place { .. } => {}
        }
    }

    /// Notes something under the name of this moment. In an object it may turn out to be a record.
    fn find(&mut self, class: Class) {
        let Self { frames, seen, written, .. } = self;
        let (address, stored) = match frames.last_mut() {
            Some(frame) if !frame.is_list => (&mut frame.address, &mut frame.stored),
            Some(_) | None => (&mut seen.address, &mut seen.stored),
        };
        let place = if class == Class::Stored { stored } else { address };
        place.get_or_insert_with(|| written.clone());
    }

    fn close(&mut self) -> Result<(), Unreadable> {
        let Some(frame) = self.frames.pop() else { return Ok(()) };
        if frame.is_place || frame.is_record != Some(true) {
            self.seen.address = self.seen.address.take().or(frame.address);
            self.seen.stored = self.seen.stored.take().or(frame.stored);
        }
        self.seen.has_bare_item |= !frame.is_described && self.frames.last().is_some_and(|list| list.is_items);
        match frame.part {
            Part::Tool { kind, foreign } => self.close_tool(kind, foreign)?,
            Part::Place { is_local } if is_local != Some(true) => {
                if let Some(Part::Tool { foreign, .. }) = self.part() {
                    foreign.get_or_insert_with(|| "environment".to_owned());
                }
            }
            Part::None | Part::Tools | Part::Place { .. } => {}
        }
        Ok(())
    }

    fn close_tool(&mut self, kind: Option<String>, foreign: Option<String>) -> Result<(), Unreadable> {
        self.seen.count_tool()?;
        if let (Tools::Typed(own), Some(kind)) = (self.rules.tools, &kind) {
            self.seen.typed_tools += u64::from(!PLAIN_TOOLS.contains(&kind.as_str()));
            let is_own = own.iter().any(|start| kind == start || is_version_of(kind, start));
            if foreign.is_some() || !is_own {
                self.seen.tool.get_or_insert(kind.clone());
            }
        }
        if let Some(foreign) = foreign {
            self.seen.tool.get_or_insert(foreign);
        }
        Ok(())
    }
}

/// A type may go on after its beginning with a version (`bash_20250124`).
fn is_version_of(kind: &str, start: &str) -> bool {
    let version = kind.strip_prefix(start).and_then(|rest| rest.strip_prefix('_'));
    version.is_some_and(|version| !version.is_empty() && version.bytes().all(|b| b.is_ascii_digit()))
}

/// Whether it is content and no place: a `data:` address.
fn is_content(raw: Raw<'_>) -> bool {
    raw.signs().take(5).collect::<String>().eq_ignore_ascii_case("data:")
}

/// Whether it is an address as a whole: a scheme and a slash, or the web without one. `C:/` is none. What readers of addresses overlook
/// (blanks in front, ends of lines in between) is overlooked.
fn is_address(raw: Raw<'_>) -> bool {
    let signs = raw.signs().skip_while(|sign| *sign <= ' ').filter(|sign| !matches!(sign, '\t' | '\n' | '\r'));
    let begin: String = signs.take(BEGINNING).map(|sign| sign.to_ascii_lowercase()).collect();
    let Some((scheme, rest)) = begin.split_once(':') else { return false };
    let plain = scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let leads = rest.starts_with(['/', '\\']) || matches!(scheme, "http" | "https");
    plain && leads && scheme != "data"
}
