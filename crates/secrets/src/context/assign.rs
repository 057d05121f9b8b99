//! Reads how a value is given to a name, in the syntaxes of many languages at once.
//!
//! ```text
//! password = "…"      password: …        "password" => '…'     <password>…</password>     --password …
//! key("…")            ("password", "…")  password: &str = "…"  name="password" value="…"   #define PASSWORD "…"
//! ```
//!
//! Nothing is parsed in earnest: a name, something that gives, a value. Every step has a bound, so that hostile input
//! costs no more than its length.

use std::ops::Range;

use super::name::TELLING;
use crate::boundary::{contains_ignoring_case, line_start};
use crate::class::Class;

/// The longest value that is looked at: a key of 4096 bits in base64 has half of it.
pub(crate) const LONGEST_VALUE: usize = 8192;
/// The longest part of a name to each side of the telling word.
const LONGEST_NAME: usize = 64;
/// White space between name, operator and value: columns are aligned, but not across a page.
const LONGEST_GAP: usize = 32;
/// How far before a name words such as `CREATE USER` may stand.
const REACH_BACK: usize = 200;

const NAME: Class = Class::of("A-Za-z0-9_.-");
/// Where a value without quotes ends.
const BARE_END: Class = Class::of(" \t\r\n\"'`,;<>&(){}[]|\\");
/// What a type annotation is made of: `&'static str`, `Option<String>`, `string | null`.
const TYPE: Class = Class::of("A-Za-z0-9_&'<>[]?., |*:");
/// Parts of the names of calls that fetch, change or show a value, where the text inside is something else.
const FETCHES: &str = "
    encode decode strip lower replace split env get read load find prompt input config translate gettext _ t require
    format print log error fetch request lookup select query path join open i18n arg opt flag column field var
";
const QUOTES: Class = Class::of("\"'`");

/// How the value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Written {
    Quoted,
    /// Without quotes, and nothing but the value stands on the rest of the line: settings files and logs.
    BareToLineEnd,
    /// Without quotes, and more follows: addresses, connection strings, code.
    Bare,
}

/// A value that is given to a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Assignment {
    pub(crate) name: Range<usize>,
    pub(crate) value: Range<usize>,
    pub(crate) written: Written,
}

/// The identifier around a telling word.
pub(crate) fn name_around(text: &[u8], hit: Range<usize>) -> Range<usize> {
    let start = hit.start - NAME.run_back(&text[..hit.start], LONGEST_NAME);
    let end = hit.end + NAME.run(&text[hit.end..], LONGEST_NAME);
    let dangling = text[hit.end..end].iter().rev().take_while(|byte| b".-".contains(byte)).count();
    start..end - dangling
}

/// What is given to the name, if anything is.
pub(crate) fn read(text: &[u8], name: Range<usize>) -> Option<Assignment> {
    let mut reader = Reader { text, at: name.end, name };
    let key_is_quoted = reader.leave_name();
    let gives = reader.operator(key_is_quoted)?;
    reader.gap();
    reader.value(gives)
}

/// What kind of value the operator allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gives {
    Anything,
    QuotedOnly,
    ElementText,
}

struct Reader<'t> {
    text: &'t [u8],
    at: usize,
    name: Range<usize>,
}

impl Reader<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn rest(&self) -> &[u8] {
        &self.text[self.at..]
    }

    fn eat(&mut self, bytes: &[u8]) -> bool {
        let found = self.rest().starts_with(bytes);
        self.at += if found { bytes.len() } else { 0 };
        found
    }

    fn gap(&mut self) -> usize {
        let blank = const { Class::of(" \t") }.run(self.rest(), LONGEST_GAP);
        self.at += blank;
        blank
    }

    /// Steps over what closes the name: quotes, brackets. Says whether the name stood in quotes.
    fn leave_name(&mut self) -> bool {
        self.at += usize::from(self.rest().starts_with(b"\\\"") || self.rest().starts_with(b"\\'"));
        let quoted = self.peek().is_some_and(|byte| QUOTES.has(byte));
        self.at += usize::from(quoted);
        self.at += const { Class::of("])") }.run(self.rest(), 2);
        quoted
    }

    fn operator(&mut self, key_is_quoted: bool) -> Option<Gives> {
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

    fn value(mut self, gives: Gives) -> Option<Assignment> {
        if gives == Gives::ElementText {
            return self.element_text();
        }
        self.enter_call();
        self.at += string_prefix(self.rest());
        let escaped = self.rest().starts_with(b"\\\"") || self.rest().starts_with(b"\\'");
        let quote = *self.rest().get(usize::from(escaped))?;
        if QUOTES.has(quote) {
            return self.quoted(quote, escaped);
        }
        if gives == Gives::QuotedOnly { None } else { self.bare() }
    }

    /// `String::from("…")`, `SecretString("…")`: the value is inside. Calls that fetch a value are left alone.
    fn enter_call(&mut self) {
        const CALL: Class = Class::of("A-Za-z0-9_.:");
        let callee = CALL.run(self.rest(), 40);
        let (name, after) = self.rest().split_at(callee);
        let last = name.rsplit(|byte| b".:".contains(byte)).next().unwrap_or(name);
        let fetching = FETCHES.split_whitespace().any(|word| {
            if word.len() < 3 { last == word.as_bytes() } else { contains_ignoring_case(name, word.as_bytes()) }
        });
        if callee > 0 && matches!(after, [b'(', b'"' | b'\'', ..]) && !fetching {
            self.at += callee + 1;
        }
    }

    fn quoted(mut self, quote: u8, escaped: bool) -> Option<Assignment> {
        let one = 1 + usize::from(escaped);
        let triple = !escaped && self.rest().starts_with(&[quote; 3]);
        self.at += if triple { 3 } else { one };
        let start = self.at;
        let end = start + closing(&self.text[start..], quote, escaped)?;
        Some(Assignment { name: self.name, value: start..end, written: Written::Quoted })
    }

    fn bare(self) -> Option<Assignment> {
        let len = self.rest().iter().take(LONGEST_VALUE).take_while(|byte| !BARE_END.has(**byte)).count();
        let end = self.at + len;
        let after = self.text.get(end).copied().unwrap_or(b'\n');
        if len == 0 || b"([{`\\".contains(&after) {
            return None;
        }
        let tail = &self.text[end..crate::boundary::line_end(self.text, end, LONGEST_GAP)];
        let alone = tail.trim_ascii().is_empty() || tail.trim_ascii_start().starts_with(b"#");
        let written = if alone { Written::BareToLineEnd } else { Written::Bare };
        Some(Assignment { name: self.name, value: self.at..end, written })
    }

    fn element_text(self) -> Option<Assignment> {
        let within = &self.rest()[..self.rest().len().min(LONGEST_VALUE)];
        let len = memchr::memchr2(b'<', b'\n', within).filter(|end| within[*end] == b'<')?;
        Some(Assignment { name: self.name, value: self.at..self.at + len, written: Written::Quoted })
    }
}

/// Letters that may stand before an opening quote: `b"…"`, `r'…'`, `@"…"`, `&"…"`.
fn string_prefix(text: &[u8]) -> usize {
    let run = const { Class::of("bBrRuUfFLNcq@$&*[({") }.run(text, 3);
    if text.get(run).is_some_and(|byte| QUOTES.has(*byte)) { run } else { 0 }
}

/// How long a quoted value is, if it is closed on its line.
fn closing(text: &[u8], quote: u8, escaped: bool) -> Option<usize> {
    let within = &text[..text.len().min(LONGEST_VALUE)];
    let mut at = 0;
    while let Some(step) = memchr::memchr3(quote, b'\\', b'\n', &within[at..]) {
        at += step;
        match within[at] {
            b'\n' => return None,
            b'\\' if escaped && within.get(at + 1) == Some(&quote) => return Some(at),
            b'\\' if !escaped => at += 2,
            b'\\' => at += 1,
            _ => return Some(at),
        }
        if at >= within.len() {
            return None;
        }
    }
    None
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

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<(String, Written)> {
        let lower = text.to_lowercase();
        let at = lower.find("password").or_else(|| lower.find("token"))?;
        let hit = at..at + if lower[at..].starts_with("password") { 8 } else { 5 };
        let read = read(text.as_bytes(), name_around(text.as_bytes(), hit))?;
        Some((text[read.value].to_owned(), read.written))
    }

    #[test]
    fn values_in_quotes_are_read_in_many_languages() {
        let cases = [
            "password = \"v1\"",
            "password: 'v1'",
            "\"password\": \"v1\"",
            "'password' => 'v1'",
            "password := `v1`",
            "const PASSWORD: &str = \"v1\";",
            "let password: string = 'v1'",
            "var password string = \"v1\"".replace("string ", "").as_str(),
            "setPassword(\"v1\")",
            "put(\"password\", \"v1\")",
            "{password, \"v1\"}",
            "#define PASSWORD \"v1\"",
            "password == \"v1\"",
            "\\\"password\\\": \\\"v1\\\"",
            "<add key=\"password\" value=\"v1\"/>",
            "password = b'v1'",
            "password = String::from(\"v1\")",
            "password=\"\"\"v1\"\"\"",
            "(setq password \"v1\")",
            "ALTER USER x WITH PASSWORD 'v1'",
            "config['password'] = 'v1'",
            "$this->password = 'v1'",
            "PASSWORD ?= \"v1\"",
            "{\"name\": \"PASSWORD\", \"value\": \"v1\"}",
        ]
        .map(str::to_owned);
        for text in cases {
            assert_eq!(value(&text), Some(("v1".into(), Written::Quoted)), "{text}");
        }
    }

    #[test]
    fn values_without_quotes_know_whether_more_follows() {
        for text in
            ["PASSWORD=v1", "password: v1 # set", "--password v1", "machine h login u password v1", "my password is v1"]
        {
            assert_eq!(value(text), Some(("v1".into(), Written::BareToLineEnd)), "{text}");
        }
        for text in ["Server=h;Password=v1;Port=1", "https://h/?token=v1&x=2", "--password v1 --user u"] {
            assert_eq!(value(text), Some(("v1".into(), Written::Bare)), "{text}");
        }
        assert_eq!(value("<password>v1</password>"), Some(("v1".into(), Written::Quoted)));
    }

    #[test]
    fn what_gives_nothing_is_no_assignment() {
        for text in [
            "the password of the user",
            "if (password) {",
            "password = get_env(\"X\")",
            "password(user)",
            "password",
            "password = \"open",
            "token.split(x)",
        ] {
            assert_eq!(value(text), None, "{text}");
        }
    }
}
