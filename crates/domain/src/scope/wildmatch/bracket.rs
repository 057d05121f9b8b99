//! What stands between `[` and `]`, read as git reads it: members, ranges, classes, and everything that only looks like one.

use super::{Case, Malformed};

/// A predicate that is true for some bytes.
type Holds = fn(u8) -> bool;

/// The classes a bracket may name. Git's `space` is narrower than that of C: no form feed, no vertical tab.
const CLASSES: &[(&[u8], Holds)] = &[
    (b"alnum", |byte| byte.is_ascii_alphanumeric()),
    (b"alpha", |byte| byte.is_ascii_alphabetic()),
    (b"blank", |byte| matches!(byte, b' ' | b'\t')),
    (b"cntrl", |byte| byte.is_ascii_control()),
    (b"digit", |byte| byte.is_ascii_digit()),
    (b"graph", |byte| byte.is_ascii_graphic()),
    (b"lower", |byte| byte.is_ascii_lowercase()),
    (b"print", |byte| byte.is_ascii_graphic() || byte == b' '),
    (b"punct", |byte| byte.is_ascii_punctuation()),
    (b"space", |byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r')),
    (b"upper", |byte| byte.is_ascii_uppercase()),
    (b"xdigit", |byte| byte.is_ascii_hexdigit()),
];

#[derive(Clone, Copy)]
enum Member {
    One(u8),
    Range(u8, u8),
    Class(Holds),
}

/// A bracket expression and where the pattern goes on behind it.
pub(super) struct Bracket {
    is_negated: bool,
    members: Vec<Member>,
    pub(super) has_half_class: bool,
    pub(super) next: usize,
}

impl Bracket {
    /// Reads the bracket expression whose `[` is right before `from`.
    pub(super) fn read(pattern: &[u8], from: usize) -> Result<Self, Malformed> {
        let is_negated = matches!(pattern.get(from), Some(b'!' | b'^'));
        let first = from + usize::from(is_negated);
        let mut bracket = Self { is_negated, members: Vec::new(), has_half_class: false, next: first };
        // A `]` right at the start is a member, not the end.
        while bracket.next == first || byte_at(pattern, bracket.next)? != b']' {
            let (member, next) = bracket.member(pattern)?;
            bracket.members.push(member);
            bracket.next = next;
        }
        bracket.next += 1;
        Ok(bracket)
    }

    fn member(&mut self, pattern: &[u8]) -> Result<(Member, usize), Malformed> {
        let at = self.next;
        let following = pattern.get(at + 1);
        match (byte_at(pattern, at)?, self.members.last()) {
            (b'\\', _) => Ok((Member::One(byte_at(pattern, at + 1)?), at + 2)),
            // Only a single byte begins a range, and no range ends at the bracket's end.
            (b'-', Some(Member::One(low))) if following.is_some_and(|byte| *byte != b']') => {
                let escape = usize::from(following == Some(&b'\\'));
                let high = byte_at(pattern, at + 1 + escape)?;
                Ok((Member::Range(*low, high), at + 2 + escape))
            }
            (b'[', _) if following == Some(&b':') => self.class(pattern),
            (byte, _) => Ok((Member::One(byte), at + 1)),
        }
    }

    /// A `[:class:]`, or the `[` alone where the next `]` does not follow a colon.
    fn class(&mut self, pattern: &[u8]) -> Result<(Member, usize), Malformed> {
        let start = self.next + 2;
        let length = pattern[start..].iter().position(|byte| *byte == b']').ok_or(Malformed::OpenBracket)?;
        let Some(name) = pattern[start..start + length].strip_suffix(b":") else {
            self.has_half_class = true;
            return Ok((Member::One(b'['), self.next + 1));
        };
        let class = CLASSES.iter().find(|(known, _)| *known == name);
        let (_, holds) = class.ok_or(Malformed::UnknownClass)?;
        Ok((Member::Class(*holds), start + length + 1))
    }

    pub(super) fn holds(&self, byte: u8, case: Case) -> bool {
        self.members.iter().any(|member| member.holds(byte, case)) != self.is_negated
    }
}

impl Member {
    fn holds(self, byte: u8, case: Case) -> bool {
        match case {
            Case::Exact => self.holds_exactly(byte),
            Case::Ignore => self.holds_exactly(byte.to_ascii_lowercase()) || self.holds_upper(byte),
        }
    }

    fn holds_exactly(self, byte: u8) -> bool {
        match self {
            Self::One(own) => own == byte,
            Self::Range(low, high) => (low..=high).contains(&byte),
            Self::Class(holds) => holds(byte),
        }
    }

    /// Ignoring case, git also asks ranges and classes about the capital, and single bytes not.
    fn holds_upper(self, byte: u8) -> bool {
        match self {
            Self::One(_) => false,
            Self::Range(..) | Self::Class(_) => self.holds_exactly(byte.to_ascii_uppercase()),
        }
    }
}

fn byte_at(pattern: &[u8], at: usize) -> Result<u8, Malformed> {
    pattern.get(at).copied().ok_or(Malformed::OpenBracket)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The printable bytes that a bracket holds, without its outer brackets.
    fn held(inside: &str, case: Case) -> String {
        let pattern = format!("[{inside}]");
        let bracket = Bracket::read(pattern.as_bytes(), 1).ok().filter(|bracket| bracket.next == pattern.len());
        let bracket = bracket.expect("one whole bracket");
        (b'!'..=b'~').filter(|byte| bracket.holds(*byte, case)).map(char::from).collect()
    }

    #[test]
    fn ranges_begin_with_single_bytes_only() {
        assert_eq!(held("a-c", Case::Exact), "abc");
        assert_eq!(held("a-c-e", Case::Exact), "-abce");
        assert_eq!(held("-c", Case::Exact), "-c");
        assert_eq!(held("c-", Case::Exact), "-c");
        assert_eq!(held("[:digit:]-a", Case::Exact), "-0123456789a");
        assert_eq!(held("c-a", Case::Exact), "c");
        assert_eq!(held(r"\[-\]", Case::Exact), r"[\]");
    }

    #[test]
    fn what_only_begins_like_a_class_is_two_members() {
        assert_eq!(held("[:", Case::Exact), ":[");
        assert_eq!(held("a[:b", Case::Exact), ":[ab");
        assert!(Bracket::read(b"[[:]", 1).is_ok_and(|bracket| bracket.has_half_class));
    }

    #[test]
    fn ignoring_case_is_as_half_hearted_as_gits() {
        assert_eq!(held("a", Case::Ignore), "Aa");
        assert_eq!(held("A", Case::Ignore), "");
        assert_eq!(held("A-B", Case::Ignore), "ABab");
        assert_eq!(held("[:upper:]", Case::Ignore).len(), 52);
    }
}
