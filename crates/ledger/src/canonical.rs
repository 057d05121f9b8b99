//! Recognising canonical JSON (RFC 8785) in one pass, without building a value.
//!
//! A verifier meets millions of entries; parsing each into a tree of values and writing it out again to compare would
//! cost ten times more than hashing it. This check is stricter than RFC 8785 in two ways, both from I-JSON (RFC 7493):
//! whole numbers beyond 2^53 - 1 are refused, because other readers would silently round them, and nesting is bounded.
//! It only says yes or no; reading values is left to `serde_json`.

/// How deep objects and arrays may nest: far beyond any entry, far below what would exhaust a reader's stack.
pub(crate) const MAX_DEPTH: u32 = 64;

/// The largest whole number that every JSON reader keeps exactly.
pub(crate) const MAX_SAFE_INTEGER: u64 = (1 << 53) - 1;

/// No number in canonical form is longer than this, such as `-1.2345678901234567e-300`.
const MAX_NUMBER_BYTES: usize = 32;

/// Whether `json` is one JSON value in exactly its canonical form.
pub(crate) fn is_canonical(json: &[u8]) -> bool {
    // Checked once for the whole text, so that strings can be scanned bytewise.
    if std::str::from_utf8(json).is_err() {
        return false;
    }
    let mut scan = Scan { rest: json };
    scan.value(0).is_some() && scan.rest.is_empty()
}

/// Consumes a text from the front; every method answers none where the text leaves the canonical form.
struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    fn value(&mut self, depth: u32) -> Option<()> {
        match self.rest.first()? {
            b'{' => self.object(depth + 1),
            b'[' => self.array(depth + 1),
            b'"' => self.string().map(drop),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => self.number(),
        }
    }

    fn object(&mut self, depth: u32) -> Option<()> {
        self.word(b"{")?;
        if depth > MAX_DEPTH {
            return None;
        }
        if self.skip(b'}') {
            return Some(());
        }
        let mut last: Option<&[u8]> = None;
        loop {
            let key = self.string()?;
            if last.is_some_and(|last| !is_before(last, key)) {
                return None;
            }
            last = Some(key);
            self.word(b":")?;
            self.value(depth)?;
            if !self.skip(b',') {
                return self.word(b"}");
            }
        }
    }

    fn array(&mut self, depth: u32) -> Option<()> {
        self.word(b"[")?;
        if depth > MAX_DEPTH {
            return None;
        }
        if self.skip(b']') {
            return Some(());
        }
        loop {
            self.value(depth)?;
            if !self.skip(b',') {
                return self.word(b"]");
            }
        }
    }

    /// A string; answers what stands between the quotes, escapes included.
    fn string(&mut self) -> Option<&'a [u8]> {
        self.word(b"\"")?;
        let text = self.rest;
        loop {
            let plain = self.rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
            self.rest = &self.rest[plain..];
            match self.rest[0] {
                b'"' => break,
                b'\\' => self.escape()?,
                _ => return None,
            }
        }
        let inside = &text[..text.len() - self.rest.len()];
        self.word(b"\"")?;
        Some(inside)
    }

    /// An escape, which is canonical only where JSON demands one, and only in its shortest form.
    fn escape(&mut self) -> Option<()> {
        match self.rest.get(1)? {
            b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't' => self.rest = &self.rest[2..],
            b'u' => {
                let code = control_code(self.rest.get(2..6)?)?;
                if matches!(code, 0x08 | 0x09 | 0x0a | 0x0c | 0x0d) {
                    return None;
                }
                self.rest = &self.rest[6..];
            }
            _ => return None,
        }
        Some(())
    }

    fn number(&mut self) -> Option<()> {
        let length = self
            .rest
            .iter()
            .take(MAX_NUMBER_BYTES + 1)
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e'))
            .count();
        let (number, rest) = self.rest.split_at(length);
        self.rest = rest;
        is_canonical_number(std::str::from_utf8(number).ok()?).then_some(())
    }

    fn word(&mut self, word: &[u8]) -> Option<()> {
        self.rest = self.rest.strip_prefix(word)?;
        Some(())
    }

    fn skip(&mut self, byte: u8) -> bool {
        self.word(&[byte]).is_some()
    }
}

/// The control character that four hexadecimal digits name, if they name one.
fn control_code(digits: &[u8]) -> Option<u8> {
    match digits {
        [b'0', b'0', high @ b'0'..=b'1', low @ b'0'..=b'9'] => Some((high - b'0') << 4 | (low - b'0')),
        [b'0', b'0', high @ b'0'..=b'1', low @ b'a'..=b'f'] => Some((high - b'0') << 4 | (low - b'a' + 10)),
        _ => None,
    }
}

fn is_canonical_number(text: &str) -> bool {
    if text.is_empty() || text.len() > MAX_NUMBER_BYTES {
        return false;
    }
    let digits = text.strip_prefix('-').unwrap_or(text);
    if digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return is_canonical_integer(text, digits);
    }
    // Fractions are rare in a ledger: let the one implementation of the number format decide.
    let Ok(number) = text.parse::<f64>() else { return false };
    serde_json_canonicalizer::to_string(&number).is_ok_and(|canonical| canonical == text)
}

fn is_canonical_integer(text: &str, digits: &str) -> bool {
    let spelled_once = match digits {
        "0" => text == "0",
        _ => !digits.starts_with('0'),
    };
    spelled_once && digits.parse().is_ok_and(|number: u64| number <= MAX_SAFE_INTEGER)
}

/// Whether one key stands before another in RFC 8785: by UTF-16 code units, which differs from the order of the
/// bytes only above the basic plane.
fn is_before(first: &[u8], second: &[u8]) -> bool {
    if first.is_ascii() && second.is_ascii() && !first.contains(&b'\\') && !second.contains(&b'\\') {
        return first < second;
    }
    unescaped_utf16(first).is_some_and(|first| unescaped_utf16(second).is_some_and(|second| first < second))
}

fn unescaped_utf16(inside: &[u8]) -> Option<Vec<u16>> {
    let quoted = [b"\"", inside, b"\""].concat();
    let key: String = serde_json::from_slice(&quoted).ok()?;
    Some(key.encode_utf16().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn canonical_texts_are_recognised() {
        for text in [
            "{}",
            "[]",
            "null",
            "[true,false,null,0,-1,1.5,1e-7,1e+21,\"\"]",
            r#"{"a":{"b":[]},"c":"é\n\u001f\"\\/"}"#,
            "9007199254740991",
            "-9007199254740991",
            // By UTF-16 code units the emoji (0xd83d…) stands before U+FB33; by bytes it would not.
            "{\"\u{20ac}\":1,\"\u{1f600}\":2,\"\u{fb33}\":3}",
        ] {
            assert!(is_canonical(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn every_other_spelling_is_refused() {
        for text in [
            "",
            " {}",
            "{} ",
            "{}{}",
            r#"{"a": 1}"#,
            r#"{"b":1,"a":2}"#,
            r#"{"a":1,"a":2}"#,
            r#"{"a":1,}"#,
            "[1,]",
            "[1 ,2]",
            "01",
            "-0",
            "-",
            "+1",
            "1.0",
            "1.50",
            "1E5",
            "1e5",
            "1e21",
            "9007199254740992",
            "-9007199254740992",
            "100000000000000000000",
            "1.2.3",
            "--1",
            "NaN",
            r#""\/""#,
            r#""\u0041""#,
            r#""\u000a""#,
            r#""\u001F""#,
            r#""\ud83d\ude00""#,
            r#""\ud800""#,
            "\"\n\"",
            "\"open",
            "{\"\u{fb33}\":3,\"\u{1f600}\":2}",
            r#"{"a"}"#,
            "{a:1}",
            "tru",
        ] {
            assert!(!is_canonical(text.as_bytes()), "{text}");
        }
        assert!(!is_canonical(b"\"\xff\""));
    }

    #[test]
    fn nesting_is_bounded() {
        let nested = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
        assert!(is_canonical(nested(MAX_DEPTH as usize).as_bytes()));
        assert!(!is_canonical(nested(MAX_DEPTH as usize + 1).as_bytes()));
        assert!(!is_canonical("[".repeat(1_000_000).as_bytes()));
    }

    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-(MAX_SAFE_INTEGER as i64)..=MAX_SAFE_INTEGER as i64).prop_map(Value::from),
            any::<f64>().prop_filter_map("finite", |number| {
                let whole_and_unsafe = number.abs() >= 9_007_199_254_740_992.0 && number.abs() < 1e21;
                (number.is_finite() && !whole_and_unsafe).then(|| json!(number))
            }),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn whatever_the_canonicaliser_writes_is_recognised(value in any_json()) {
            let text = serde_json_canonicalizer::to_vec(&value).expect("JSON");
            prop_assert!(is_canonical(&text), "{}", String::from_utf8_lossy(&text));
        }

        #[test]
        fn a_changed_text_is_recognised_only_if_it_is_canonical_again(
            value in any_json(), at in any::<prop::sample::Index>(), byte in any::<u8>(),
        ) {
            let mut text = serde_json_canonicalizer::to_vec(&value).expect("JSON");
            let at = at.index(text.len());
            text[at] = byte;
            let rewritten = serde_json::from_slice::<Value>(&text)
                .and_then(|value| serde_json_canonicalizer::to_vec(&value));
            if is_canonical(&text) {
                prop_assert_eq!(rewritten.expect("canonical text is JSON"), text);
            }
        }
    }
}
