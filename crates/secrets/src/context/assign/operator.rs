//! What stands between a name and its value, and which kinds of value may follow.

use super::{Gives, LONGEST_GAP, QUOTES, Reader};
use crate::boundary::{contains_ignoring_case, line_start};
use crate::class::Class;
use crate::context::name::TELLING;

/// How far before a name words such as `CREATE USER` may stand.
const REACH_BACK: usize = 200;
/// What a type annotation is made of: `&'static str`, `Option<String>`, `string | null`.
const TYPE: Class = Class::of("A-Za-z0-9_&'<>[]?., |*:");

impl Reader<'_> {
    pub(super) fn operator(&mut self, key_is_quoted: bool) -> Option<Gives> {
        let blank = self.gap();
        match self.peek()? {
            b'=' | b'!' | b'?' | b'|' | b'+' | b'~' => self.equals(),
            b':' => self.colon(),
            b'-' if self.rest().starts_with(b"->") => self.skip(2, Gives::QuotedOnly),
            b'>' => self.element(key_is_quoted),
            b',' => self.comma(key_is_quoted),
            b'(' => self.call(),
            b'v' | b'V' if key_is_quoted => self.value_attribute(),
            b'i' if blank > 0 && self.eat(b"is ") => Some(Gives::Anything),
            _ if blank > 0 => self.blank_operator(),
            _ => None,
        }
    }

    fn skip(&mut self, len: usize, gives: Gives) -> Option<Gives> {
        self.at += len;
        Some(gives)
    }

    /// `setPassword("…")`, but not `password.encode("…")`, where the call is something else.
    fn call(&mut self) -> Option<Gives> {
        let name = &self.text[self.name.clone()];
        let callee = memchr::memrchr(b'.', name).map_or(name, |dot| &name[dot + 1..]);
        let telling = TELLING.iter().any(|word| contains_ignoring_case(callee, word.as_bytes()));
        if telling { self.skip(1, Gives::QuotedOnly) } else { None }
    }

    /// `=`, `==`, `=>`, `!=`, `?=`, `||=`, `+=`, `=~`.
    fn equals(&mut self) -> Option<Gives> {
        let run = const { Class::of("=>!?|+~") }.run(self.rest(), 4);
        let has_equals = self.rest()[..run].contains(&b'=');
        self.at += run;
        has_equals.then_some(Gives::Anything)
    }

    /// `:`, `:=`, `::=`, and types between name and value: `password: &str = "…"`.
    fn colon(&mut self) -> Option<Gives> {
        self.at += const { Class::of(":") }.run(self.rest(), 3);
        if self.peek() == Some(b'=') {
            return self.skip(1, Gives::Anything);
        }
        let annotation = TYPE.run(self.rest(), 40);
        let after = &self.rest()[annotation..];
        let is_type = matches!(after, [b'=', next, ..] if *next != b'=')
            && self.rest()[..annotation].iter().any(u8::is_ascii_alphabetic);
        let spaced = annotation > 0 && self.rest()[annotation - 1] == b' ';
        self.at += if is_type && spaced { annotation + 1 } else { 0 };
        Some(Gives::Anything)
    }

    /// `<password>…<`, and `<entry key="password">…<`.
    fn element(&mut self, key_is_quoted: bool) -> Option<Gives> {
        let tag = self.name.start > 0 && matches!(self.text[self.name.start - 1], b'<' | b':');
        if tag || key_is_quoted { self.skip(1, Gives::ElementText) } else { None }
    }

    /// `("password", "…")`, `{password, "…"}`, `name: PASSWORD, value: …`.
    fn comma(&mut self, key_is_quoted: bool) -> Option<Gives> {
        let quote = usize::from(key_is_quoted);
        let opened = self.name.start > quote && b"{([".contains(&self.text[self.name.start - 1 - quote]);
        self.at += 1;
        let blank = const { Class::of(" \t\r\n") }.run(self.rest(), LONGEST_GAP);
        let after = &self.rest()[blank..];
        let name = const { Class::of("\"'\\") }.run(after, 2);
        if after[name..].starts_with(b"value") || after[name..].starts_with(b"Value") {
            self.at += blank + name;
            return self.value_attribute();
        }
        opened.then_some(Gives::QuotedOnly)
    }

    /// `value="…"` after `name="password"`, in XML and in lists of variables.
    fn value_attribute(&mut self) -> Option<Gives> {
        if !(self.eat(b"value") || self.eat(b"Value")) {
            return None;
        }
        self.at += const { Class::of("\"'\\") }.run(self.rest(), 2);
        self.gap();
        (self.eat(b"=") || self.eat(b":")).then_some(Gives::Anything)
    }

    /// Nothing but white space: switches of commands, `#define`, settings of Lisp, SQL, `.netrc`.
    fn blank_operator(&mut self) -> Option<Gives> {
        let start = self.name.start;
        let before = &self.text[line_start(self.text, start, REACH_BACK)..start];
        let next_is_quote = self.peek().is_some_and(|byte| QUOTES.has(byte));
        let switch =
            self.text[start..self.name.end].starts_with(b"-") && before.last().is_none_or(u8::is_ascii_whitespace);
        let trimmed = before.trim_ascii_end();
        let defined = [&b"#define"[..], b"ENV", b"ARG", b"setx", b"setenv"].iter().any(|word| trimmed.ends_with(word));
        if switch || defined || !next_is_quote && is_netrc(self.text, start) {
            return Some(Gives::Anything);
        }
        let lisp = [&b"setq"[..], b"def", b":"].iter().any(|word| trimmed.ends_with(word));
        (next_is_quote && (lisp || is_sql(before))).then_some(Gives::QuotedOnly)
    }
}

fn is_netrc(text: &[u8], start: usize) -> bool {
    let before = &text[start.saturating_sub(REACH_BACK)..start];
    let login = memchr::memmem::rfind(before, b"login ").or_else(|| memchr::memmem::rfind(before, b"machine "));
    login.is_some_and(|at| before[at..].split(u8::is_ascii_whitespace).filter(|word| !word.is_empty()).count() <= 4)
}

fn is_sql(before: &[u8]) -> bool {
    [&b"create "[..], b"alter ", b"identified", b"set ", b"with"]
        .iter()
        .any(|word| contains_ignoring_case(before, word))
}
