//! CBOR (RFC 8949), as much of it as authenticators write: whole numbers, bytes, text, lists, maps, yes and no. In its canonical form only
//! (CTAP2): lengths are said beforehand and as shortly as possible, no key comes twice.
//!
//! What comes in was made by a browser that may be anybody. So everything is bounded: how deep, how many, how long; and nothing is copied
//! before it is known to be there. Not here: tags, fractions, streams. Whoever sends those is refused.

/// A statement lies in an object, a key in a statement: nothing of ours is deeper.
const DEEPEST: usize = 4;
/// A key has five members, an object three; extensions nobody asked for are few.
const MOST_MEMBERS: u64 = 16;

/// Why bytes are not what an authenticator writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it is not the CBOR that authenticators write")]
pub(super) struct BadCbor;

/// One value; bytes and text lie where they came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value<'b> {
    /// Whole numbers, as far as 64 bits with a sign reach.
    Number(i64),
    Bytes(&'b [u8]),
    Text(&'b str),
    List(Vec<Self>),
    Map(Vec<(Self, Self)>),
    Bool(bool),
    Null,
}

impl<'b> Value<'b> {
    pub(super) fn as_bytes(&self) -> Option<&'b [u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            Self::Number(_) | Self::Text(_) | Self::List(_) | Self::Map(_) | Self::Bool(_) | Self::Null => None,
        }
    }

    pub(super) fn as_map(&self) -> Option<&[(Self, Self)]> {
        match self {
            Self::Map(members) => Some(members),
            Self::Number(_) | Self::Bytes(_) | Self::Text(_) | Self::List(_) | Self::Bool(_) | Self::Null => None,
        }
    }

    /// The member of this name, if it is a map that has one.
    pub(super) fn get(&self, name: &Value<'_>) -> Option<&Self> {
        self.as_map()?.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }
}

/// The one value that these bytes are, and nothing after it.
pub(super) fn read(bytes: &[u8]) -> Result<Value<'_>, BadCbor> {
    let (value, rest) = read_first(bytes)?;
    if rest.is_empty() { Ok(value) } else { Err(BadCbor) }
}

/// The value at the beginning, and what comes after it.
pub(super) fn read_first(bytes: &[u8]) -> Result<(Value<'_>, &[u8]), BadCbor> {
    let mut reader = Reader { rest: bytes };
    let value = reader.value(DEEPEST)?;
    Ok((value, reader.rest))
}

struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    fn value(&mut self, depth: usize) -> Result<Value<'b>, BadCbor> {
        let (kind, argument) = self.head()?;
        match kind {
            0 => i64::try_from(argument).map(Value::Number).map_err(|_| BadCbor),
            1 => i64::try_from(argument).map(|argument| Value::Number(-1 - argument)).map_err(|_| BadCbor),
            2 => self.take(argument).map(Value::Bytes),
            3 => std::str::from_utf8(self.take(argument)?).map(Value::Text).map_err(|_| BadCbor),
            4 => self.list(argument, depth),
            5 => self.map(argument, depth),
            7 => simple(argument),
            _ => Err(BadCbor),
        }
    }

    /// What kind of value comes, and its number: itself, a length or a count.
    fn head(&mut self) -> Result<(u8, u64), BadCbor> {
        let (&first, rest) = self.rest.split_first().ok_or(BadCbor)?;
        self.rest = rest;
        let (kind, short) = (first >> 5, first & 0x1f);
        let argument = match short {
            0..=23 => u64::from(short),
            24 => self.number(1)?,
            25 => self.number(2)?,
            26 => self.number(4)?,
            27 => self.number(8)?,
            _ => return Err(BadCbor),
        };
        // There is one spelling of every number; the others are for those who hide something.
        let shortest = match argument {
            0..=23 => argument as u8 == short,
            24..=0xff => short == 24,
            0x100..=0xffff => short == 25,
            0x1_0000..=0xffff_ffff => short == 26,
            _ => short == 27,
        };
        if shortest { Ok((kind, argument)) } else { Err(BadCbor) }
    }

    fn number(&mut self, bytes: u64) -> Result<u64, BadCbor> {
        Ok(self.take(bytes)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn take(&mut self, length: u64) -> Result<&'b [u8], BadCbor> {
        let length = usize::try_from(length).map_err(|_| BadCbor)?;
        let (taken, rest) = self.rest.split_at_checked(length).ok_or(BadCbor)?;
        self.rest = rest;
        Ok(taken)
    }

    fn list(&mut self, count: u64, depth: usize) -> Result<Value<'b>, BadCbor> {
        let depth = inside(count, depth)?;
        (0..count).map(|_| self.value(depth)).collect::<Result<_, _>>().map(Value::List)
    }

    fn map(&mut self, count: u64, depth: usize) -> Result<Value<'b>, BadCbor> {
        let depth = inside(count, depth)?;
        let mut members: Vec<(Value<'b>, Value<'b>)> = Vec::new();
        for _ in 0..count {
            let member = (self.value(depth)?, self.value(depth)?);
            let is_name = matches!(member.0, Value::Number(_) | Value::Text(_));
            if !is_name || members.iter().any(|(known, _)| *known == member.0) {
                return Err(BadCbor);
            }
            members.push(member);
        }
        Ok(Value::Map(members))
    }
}

/// How deep it may go on inside of something with so many members.
fn inside(count: u64, depth: usize) -> Result<usize, BadCbor> {
    if count > MOST_MEMBERS { Err(BadCbor) } else { depth.checked_sub(1).ok_or(BadCbor) }
}

fn simple(argument: u64) -> Result<Value<'static>, BadCbor> {
    match argument {
        20 => Ok(Value::Bool(false)),
        21 => Ok(Value::Bool(true)),
        22 => Ok(Value::Null),
        _ => Err(BadCbor),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn t8_what_authenticators_write_is_read() {
        let key = [0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21, 0x42, 7, 8, 0x22, 0x40];
        let value = read(&key).unwrap();
        assert_eq!(value.get(&Value::Number(3)), Some(&Value::Number(-7)));
        assert_eq!(value.get(&Value::Number(-2)).and_then(Value::as_bytes), Some(&[7, 8][..]));
        assert_eq!(read(&[0x39, 1, 0]), Ok(Value::Number(-257)));
        assert_eq!(read(&[0x63, b'f', b'm', b't']), Ok(Value::Text("fmt")));
        assert_eq!(read_first(&[0xf5, 9]), Ok((Value::Bool(true), &[9][..])));
    }

    #[test]
    fn t8_whatever_is_cut_off_deep_huge_or_spelled_otherwise_is_refused() {
        for (bytes, what) in [
            (&[][..], "nothing"),
            (&[0x42, 1], "cut off"),
            (&[0x5b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "longer than memory"),
            (&[0x9b, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff], "a huge list"),
            (&[0x81, 0x81, 0x81, 0x81, 0x81, 0], "deep nesting"),
            (&[0x18, 7], "a number that could be shorter"),
            (&[0x58, 1, 0], "a length that could be shorter"),
            (&[0x5f, 0x41, 0, 0xff], "bytes of unknown length"),
            (&[0xc0, 0], "a tag"),
            (&[0xf9, 0, 0], "a fraction"),
            (&[0xa2, 1, 1, 1, 2], "the same key twice"),
            (&[0xa1, 0x40, 1], "a key that is no name"),
            (&[0x61, 0xff], "text that is none"),
            (&[0, 0], "something after it"),
            (&[0x1b, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "a number beyond 63 bits"),
        ] {
            assert_eq!(read(bytes), Err(BadCbor), "{what}");
        }
    }

    proptest! {
        #[test]
        fn t8_no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&bytes);
            let _ = read_first(&bytes);
        }

        /// Bytes that look like CBOR more often than any bytes do.
        #[test]
        fn t8_no_nested_bytes_make_it_panic(
            bytes in proptest::collection::vec(prop_oneof![0x80_u8..0xbc, 0x40_u8..0x60, 0_u8..30], 0..300),
        ) {
            let _ = read(&bytes);
        }
    }
}
