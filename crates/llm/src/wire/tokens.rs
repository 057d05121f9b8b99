//! The tokens of a text that is known to be JSON, one after another and without copies.
//!
//! It checks nothing: whoever uses it has had the text read by serde before ([`super::object::Object`]). It exists because a body can be
//! large, and whatever is made of all its values would take many times its bytes.

use memchr::memchr2;

/// A longer name, or a longer word of a format, means nothing to anybody.
const LONGEST_WORD: usize = 256;

/// What comes next. Texts are as they were written, between their quotes and with their escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'a> {
    OpenObject,
    OpenList,
    Close,
    /// The name of the value that comes next.
    Name(Raw<'a>),
    Text(Raw<'a>),
    /// A number, a truth value, nothing.
    Plain(&'a [u8]),
}

/// A text with its escapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Raw<'a>(pub(super) &'a [u8]);

impl<'a> Raw<'a> {
    /// What it says, if that is short.
    pub(super) fn word(self) -> Option<String> {
        (self.0.len() <= LONGEST_WORD).then(|| self.signs().collect())
    }

    /// Its signs, without escapes.
    pub(super) fn signs(self) -> impl Iterator<Item = char> + 'a {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (sign, after) = sign(rest)?;
            rest = after;
            Some(sign)
        })
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0.is_empty()
    }
}

/// The first sign of a text, and what follows it. Only signs of ASCII matter to anybody here; each byte of another one counts as a
/// question mark.
fn sign(raw: &[u8]) -> Option<(char, &[u8])> {
    let (first, rest) = raw.split_first()?;
    if *first != b'\\' {
        let sign = if first.is_ascii() { char::from(*first) } else { '?' };
        return Some((sign, rest));
    }
    let (kind, rest) = rest.split_first()?;
    let sign = match kind {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'b' | b'f' => ' ',
        b'u' => {
            let (digits, rest) = rest.split_at_checked(4)?;
            let digits = std::str::from_utf8(digits).ok()?;
            let sign = u32::from_str_radix(digits, 16).ok().and_then(char::from_u32);
            return Some((sign.filter(char::is_ascii).unwrap_or('?'), rest));
        }
        other => char::from(*other),
    };
    Some((sign, rest))
}

/// Walks through a text.
#[derive(Debug)]
pub(super) struct Tokens<'a> {
    rest: &'a [u8],
}

impl<'a> Tokens<'a> {
    pub(super) const fn of(json: &'a [u8]) -> Self {
        Self { rest: json }
    }

    fn skip(&mut self, is_skipped: impl Fn(&u8) -> bool) {
        let kept = self.rest.iter().position(|byte| !is_skipped(byte)).unwrap_or(self.rest.len());
        self.rest = &self.rest[kept..];
    }

    fn take(&mut self, length: usize) -> &'a [u8] {
        let (taken, rest) = self.rest.split_at(length.min(self.rest.len()));
        self.rest = rest;
        taken
    }

    /// A text, after its first quote.
    fn text(&mut self) -> Token<'a> {
        let mut length = 0;
        while let Some(at) = memchr2(b'"', b'\\', self.rest.get(length..).unwrap_or_default()) {
            length += at;
            if self.rest[length] == b'"' {
                break;
            }
            length += 2;
        }
        let raw = Raw(self.take(length));
        self.take(1);
        self.skip(u8::is_ascii_whitespace);
        if self.rest.first() == Some(&b':') { Token::Name(raw) } else { Token::Text(raw) }
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.skip(|byte| byte.is_ascii_whitespace() || matches!(byte, b',' | b':'));
        let first = *self.rest.first()?;
        if !matches!(first, b'"' | b'{' | b'[' | b'}' | b']') {
            let ends = |byte: &u8| byte.is_ascii_whitespace() || matches!(byte, b',' | b'}' | b']');
            let length = self.rest.iter().position(ends).unwrap_or(self.rest.len());
            return Some(Token::Plain(self.take(length)));
        }
        self.take(1);
        Some(match first {
            b'"' => self.text(),
            b'{' => Token::OpenObject,
            b'[' => Token::OpenList,
            _ => Token::Close,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    #[test]
    fn each_token_is_found_as_it_was_written() {
        let json = br#" { "a\"b" : [ 1.5e3,true , "x\\" ], "" :{}, "u":"\u00e9\n" } "#;
        let found: Vec<_> = Tokens::of(json).collect();
        let expected = [
            Token::OpenObject,
            Token::Name(Raw(br#"a\"b"#)),
            Token::OpenList,
            Token::Plain(b"1.5e3"),
            Token::Plain(b"true"),
            Token::Text(Raw(br"x\\")),
            Token::Close,
            Token::Name(Raw(b"")),
            Token::OpenObject,
            Token::Close,
            Token::Name(Raw(b"u")),
            Token::Text(Raw(br"\u00e9\n")),
            Token::Close,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn no_escape_hides_how_a_text_begins() {
        for written in ["http://x", r"http:\/\/x", r"\u0068ttp://x", r"\u0048ttp\u003a//x"] {
            let begins: String = Raw(written.as_bytes()).signs().take(5).collect();
            assert!(begins.eq_ignore_ascii_case("http:"), "{written}");
        }
        assert_eq!(Raw("é".as_bytes()).word().as_deref(), Some("??"));
    }

    /// How many values of each kind there are.
    fn counted(value: &Value, sum: &mut [usize; 4]) {
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => sum[0] += 1,
            Value::String(_) => sum[1] += 1,
            Value::Array(all) => {
                sum[2] += 1;
                all.iter().for_each(|one| counted(one, sum));
            }
            Value::Object(all) => {
                sum[2] += 1;
                sum[3] += all.len();
                all.values().for_each(|one| counted(one, sum));
            }
        }
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..5)
                    .prop_map(|all| Value::Object(all.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_json_holds_is_found_once(value in any_json(), pretty in any::<bool>()) {
            let json = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) }.unwrap();
            let (mut expected, mut found) = ([0; 4], [0; 4]);
            counted(&value, &mut expected);
            for token in Tokens::of(json.as_bytes()) {
                match token {
                    Token::Plain(_) => found[0] += 1,
                    Token::Text(_) => found[1] += 1,
                    Token::Close => found[2] += 1,
                    Token::Name(_) => found[3] += 1,
                    Token::OpenObject | Token::OpenList => {}
                }
            }
            prop_assert_eq!(found, expected);
        }
    }
}
