//! Reads the notation of shapes, and says what is wrong with one that cannot be read.

use super::{LONGEST_RUN, MOST_PIECES, Piece, Shape};
use crate::class::Class;

/// A prefix of this length is rare enough to be looked for.
const USUAL_PREFIX: usize = 3;

/// Why a shape cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    #[error("it is empty; write for example `acme_[a-z0-9]{{32}}`")]
    Empty,
    #[error("`[` at byte {at} is never closed; close the set with `]`")]
    OpenSet { at: usize },
    #[error("the set at byte {at} is empty; name its members, as in `[a-z0-9]`")]
    EmptySet { at: usize },
    #[error("the repetition at byte {at} is not `{{n}}`, `{{n,}}` or `{{n,m}}` with n not above m and m at most 4096")]
    Repetition { at: usize },
    #[error("`<` and `>` must enclose one part, once, in this order")]
    Marks,
    #[error("it has more than 16 parts; a shape is a short sequence of literals and sets")]
    TooLong,
    #[error("it ends with a backslash that escapes nothing")]
    OpenEscape,
}

impl Shape {
    pub(crate) fn parse(text: &str) -> Result<Self, ShapeError> {
        let mut parser = Parser { text: text.as_bytes(), at: 0, pieces: Vec::new(), opened: None, closed: None };
        while parser.at < parser.text.len() {
            parser.step()?;
        }
        parser.finish()
    }
}

struct Parser<'t> {
    text: &'t [u8],
    at: usize,
    pieces: Vec<Piece>,
    opened: Option<usize>,
    closed: Option<usize>,
}

impl Parser<'_> {
    fn step(&mut self) -> Result<(), ShapeError> {
        match self.text[self.at] {
            b'[' => self.set(),
            b'<' | b'>' => self.mark(),
            b'\\' => {
                let byte = *self.text.get(self.at + 1).ok_or(ShapeError::OpenEscape)?;
                self.literal(byte, 2);
                Ok(())
            }
            byte => {
                self.literal(byte, 1);
                Ok(())
            }
        }
    }

    fn literal(&mut self, byte: u8, width: usize) {
        self.at += width;
        // A mark ends a literal, so that the secret begins and ends between pieces.
        let fresh = [self.opened, self.closed].contains(&Some(self.pieces.len()));
        match self.pieces.last_mut() {
            Some(Piece::Literal(bytes)) if !fresh => bytes.push(byte),
            Some(_) | None => self.pieces.push(Piece::Literal(vec![byte])),
        }
    }

    fn set(&mut self) -> Result<(), ShapeError> {
        let at = self.at;
        let len = memchr::memchr(b']', &self.text[at..]).ok_or(ShapeError::OpenSet { at })?;
        let inside = std::str::from_utf8(&self.text[at + 1..at + len]).map_err(|_| ShapeError::EmptySet { at })?;
        let class = Class::of(inside);
        if class.is_empty() {
            return Err(ShapeError::EmptySet { at });
        }
        self.at += len + 1;
        let (least, most) = self.repetition()?;
        self.pieces.push(Piece::Run { class, least, most });
        Ok(())
    }

    /// `{n}`, `{n,}`, `{n,m}`, or nothing, which means once.
    fn repetition(&mut self) -> Result<(usize, usize), ShapeError> {
        let at = self.at;
        if self.text.get(at) != Some(&b'{') {
            return Ok((1, 1));
        }
        let wrong = ShapeError::Repetition { at };
        let len = memchr::memchr(b'}', &self.text[at..]).ok_or_else(|| wrong.clone())?;
        let inside = std::str::from_utf8(&self.text[at + 1..at + len]).map_err(|_| wrong.clone())?;
        self.at += len + 1;
        let (least, most) = match inside.split_once(',') {
            None => (inside.parse().ok(), inside.parse().ok()),
            Some((least, "")) => (least.parse().ok(), Some(LONGEST_RUN)),
            Some((least, most)) => (least.parse().ok(), most.parse().ok()),
        };
        match (least, most) {
            (Some(least), Some(most)) if least <= most && most <= LONGEST_RUN && most > 0 => Ok((least, most)),
            _ => Err(wrong),
        }
    }

    fn mark(&mut self) -> Result<(), ShapeError> {
        let opens = self.text[self.at] == b'<';
        let place = if opens { &mut self.opened } else { &mut self.closed };
        if place.replace(self.pieces.len()).is_some() {
            return Err(ShapeError::Marks);
        }
        self.at += 1;
        Ok(())
    }

    /// A prefix says where a token begins; where there is none, the longest literal is the rarest.
    fn anchor(&self) -> Option<usize> {
        if matches!(self.pieces.first(), Some(Piece::Literal(bytes)) if bytes.len() >= USUAL_PREFIX) {
            return Some(0);
        }
        let literals = self.pieces.iter().enumerate().filter_map(|(index, piece)| match piece {
            Piece::Literal(bytes) => Some((bytes.len(), std::cmp::Reverse(index))),
            Piece::Run { .. } => None,
        });
        literals.max().map(|(_, std::cmp::Reverse(index))| index)
    }

    fn finish(self) -> Result<Shape, ShapeError> {
        let secret = match (self.opened, self.closed) {
            (None, None) => 0..self.pieces.len(),
            (Some(from), Some(to)) if from < to => from..to,
            _ => return Err(ShapeError::Marks),
        };
        if self.pieces.is_empty() {
            return Err(ShapeError::Empty);
        }
        if self.pieces.len() > MOST_PIECES {
            return Err(ShapeError::TooLong);
        }
        let anchor = self.anchor();
        Ok(Shape { pieces: self.pieces, anchor, secret })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_says_why() {
        let cases = [
            ("", ShapeError::Empty),
            ("a[b", ShapeError::OpenSet { at: 1 }),
            ("[]", ShapeError::EmptySet { at: 0 }),
            ("[a]{2,1}", ShapeError::Repetition { at: 3 }),
            ("[a]{x}", ShapeError::Repetition { at: 3 }),
            ("[a]{9,5000}", ShapeError::Repetition { at: 3 }),
            ("a>b<", ShapeError::Marks),
            ("<a", ShapeError::Marks),
            ("a\\", ShapeError::OpenEscape),
        ];
        for (text, error) in cases {
            assert_eq!(Shape::parse(text).unwrap_err(), error, "{text}");
        }
        assert_eq!(Shape::parse(&"[a]b".repeat(9)).unwrap_err(), ShapeError::TooLong);
    }
}
