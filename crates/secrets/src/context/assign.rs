//! Reads how a value is given to a name, in the syntaxes of many languages at once.
//!
//! ```text
//! password = "…"      password: …        "password" => '…'     <password>…</password>     --password …
//! key("…")            ("password", "…")  password: &str = "…"  name="password" value="…"   #define PASSWORD "…"
//! ```
//!
//! Nothing is parsed in earnest: a name, something that gives, a value. Every step has a bound, so that hostile input
//! costs no more than its length.

mod operator;
mod value;

use std::ops::Range;

use crate::class::Class;

/// The longest value that is looked at: a key of 4096 bits in base64 has half of it.
pub(crate) const LONGEST_VALUE: usize = 8192;
/// The longest part of a name to each side of the telling word.
const LONGEST_NAME: usize = 64;
/// White space between name, operator and value: columns are aligned, but not across a page.
const LONGEST_GAP: usize = 32;

const NAME: Class = Class::of("A-Za-z0-9_.-");
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
