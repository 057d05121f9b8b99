//! Strokes: what somebody types, from the bytes that a terminal sends. Pure.
//!
//! What is pasted is one stroke and never acts as keys. What is not known acts as nothing: also a key together with Alt, which
//! arrives as an escape and a letter, is not the letter.

/// One thing that somebody did with the keyboard.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stroke {
    Letter(char),
    Enter,
    Tab,
    BackTab,
    Backspace,
    Delete,
    Escape,
    Up,
    Down,
    Left,
    Right,
    Home,
    End,
    PageUp,
    PageDown,
    /// A letter with the control key.
    Control(char),
    Pasted(String),
    Unknown,
}

const ESCAPE: u8 = 0x1b;
const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";
/// Longer than anything that is written here; the rest of a paste is left out.
const LONGEST_PASTE: usize = 16 << 10;
/// Longer than any key's sequence.
const LONGEST_SEQUENCE: usize = 24;

/// So often quiet in the midst of a paste, and its end was lost.
const PASTE_IS_LOST: u32 = 5;
const CONTROL_C: u8 = 3;

/// Puts strokes together however their bytes are cut.
#[derive(Debug, Default)]
pub(crate) struct Strokes {
    held: Vec<u8>,
    paste: Option<Vec<u8>>,
    /// How often nothing came since something did.
    quiet: u32,
}

impl Strokes {
    pub(crate) fn of(&mut self, bytes: &[u8]) -> Vec<Stroke> {
        let was_quiet = std::mem::take(&mut self.quiet);
        // A paste whose end was lost would swallow every key from then on.
        if self.paste.is_some() && was_quiet >= PASTE_IS_LOST && matches!(bytes, [ESCAPE | CONTROL_C]) {
            *self = Self::default();
            return vec![Stroke::Escape];
        }
        self.held.extend_from_slice(bytes);
        let mut strokes = Vec::new();
        while let Some(stroke) = self.next() {
            strokes.extend(stroke);
        }
        strokes
    }

    /// Nothing came for a while: an escape that still waits for its rest was the key of that name.
    pub(crate) fn quiet(&mut self) -> Vec<Stroke> {
        self.quiet = self.quiet.saturating_add(1);
        if self.paste.is_some() || self.held.is_empty() {
            return Vec::new();
        }
        let was_key = self.held == [ESCAPE];
        self.held.clear();
        vec![if was_key { Stroke::Escape } else { Stroke::Unknown }]
    }

    /// Whether something is being pasted whose end has not come.
    pub(crate) const fn is_pasting(&self) -> bool {
        self.paste.is_some()
    }

    /// Takes one stroke; `Some(None)` if bytes were taken that are none, `None` if more must come first.
    fn next(&mut self) -> Option<Option<Stroke>> {
        if self.paste.is_some() {
            return self.pasted();
        }
        let first = *self.held.first()?;
        let (stroke, taken) = match first {
            ESCAPE if self.held.starts_with(PASTE_BEGINS) => {
                self.paste = Some(Vec::new());
                (None, PASTE_BEGINS.len())
            }
            ESCAPE => {
                let (stroke, taken) = sequence(&self.held)?;
                (Some(stroke), taken)
            }
            0x00..=0x1f | 0x7f => (Some(control(first)), 1),
            0x20..=0x7e => (Some(Stroke::Letter(char::from(first))), 1),
            0x80.. => {
                let (stroke, taken) = letter(&self.held)?;
                (Some(stroke), taken)
            }
        };
        self.held.drain(..taken);
        Some(stroke)
    }

    fn pasted(&mut self) -> Option<Option<Stroke>> {
        let end = self.held.windows(PASTE_ENDS.len()).position(|window| window == PASTE_ENDS);
        // Without its end, all but what may be the beginning of the end.
        let text = end.unwrap_or_else(|| self.held.len().saturating_sub(PASTE_ENDS.len() - 1));
        let paste = self.paste.as_mut()?;
        let room = LONGEST_PASTE.saturating_sub(paste.len());
        paste.extend(self.held.drain(..text).take(room));
        end?;
        self.held.drain(..PASTE_ENDS.len());
        let bytes = self.paste.take().unwrap_or_default();
        Some(Some(Stroke::Pasted(String::from_utf8_lossy(&bytes).into_owned())))
    }
}

fn control(byte: u8) -> Stroke {
    match byte {
        b'\r' | b'\n' => Stroke::Enter,
        b'\t' => Stroke::Tab,
        0x08 | 0x7f => Stroke::Backspace,
        1..=26 => Stroke::Control(char::from(byte + 0x60)),
        _ => Stroke::Unknown,
    }
}

/// A letter of several bytes.
fn letter(bytes: &[u8]) -> Option<(Stroke, usize)> {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Some((Stroke::Unknown, 1)),
    };
    let found = &bytes[..bytes.len().min(length)];
    match std::str::from_utf8(found) {
        Ok(text) => text.chars().next().map(|c| (Stroke::Letter(c), length)),
        Err(error) if error.error_len().is_none() => None,
        Err(_) => Some((Stroke::Unknown, 1)),
    }
}

/// A key that sends more than a letter: `ESC [ … final`, `ESC O final`, or `ESC` and a letter.
fn sequence(bytes: &[u8]) -> Option<(Stroke, usize)> {
    match bytes.get(1)? {
        b'[' => {
            let body = &bytes[2..];
            match body.iter().take(LONGEST_SEQUENCE).position(|byte| (0x40..=0x7e).contains(byte)) {
                Some(end) => Some((named(&body[..=end]), end + 3)),
                None if body.len() < LONGEST_SEQUENCE => None,
                None => Some((Stroke::Unknown, 2 + LONGEST_SEQUENCE)),
            }
        }
        b'O' => bytes.get(2).map(|last| (named(&[*last]), 3)),
        // Two escapes: the first one was the key.
        &ESCAPE => Some((Stroke::Escape, 1)),
        _ => Some((Stroke::Unknown, 2)),
    }
}

fn named(sequence: &[u8]) -> Stroke {
    match sequence {
        b"A" => Stroke::Up,
        b"B" => Stroke::Down,
        b"C" => Stroke::Right,
        b"D" => Stroke::Left,
        b"H" | b"1~" | b"7~" => Stroke::Home,
        b"F" | b"4~" | b"8~" => Stroke::End,
        b"Z" => Stroke::BackTab,
        b"3~" => Stroke::Delete,
        b"5~" => Stroke::PageUp,
        b"6~" => Stroke::PageDown,
        _ => Stroke::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn typed(bytes: &[u8], size: usize) -> Vec<Stroke> {
        let mut strokes = Strokes::default();
        let mut seen: Vec<Stroke> = bytes.chunks(size).flat_map(|chunk| strokes.of(chunk)).collect();
        seen.extend(strokes.quiet());
        seen
    }

    #[test]
    fn keys_are_known_however_their_bytes_are_cut() {
        for size in 1..9 {
            let seen = typed("jé日\x1b[A\x1bOB\x1b[6~\r\x03\x7f\x1b".as_bytes(), size);
            use Stroke::{Backspace, Control, Down, Enter, Escape, Letter, PageDown, Up};
            let meant =
                [Letter('j'), Letter('é'), Letter('日'), Up, Down, PageDown, Enter, Control('c'), Backspace, Escape];
            assert_eq!(seen, meant);
        }
    }

    #[test]
    fn b4_what_is_pasted_is_one_stroke_and_no_keys() {
        for size in 1..9 {
            let seen = typed(b"\x1b[200~aa\rq\x1b[A\x1b[201~j", size);
            assert_eq!(seen, [Stroke::Pasted("aa\rq\u{1b}[A".to_owned()), Stroke::Letter('j')]);
        }
    }

    #[test]
    fn b4_a_paste_without_an_end_never_becomes_keys_and_stays_small() {
        let mut strokes = Strokes::default();
        assert!(!strokes.is_pasting());
        assert_eq!(strokes.of(PASTE_BEGINS), []);
        assert!(strokes.is_pasting(), "said before its end has come");
        for _ in 0..1_000 {
            assert_eq!(strokes.of(&[b'a'; 1_000]), []);
        }
        assert!(strokes.held.len() + strokes.paste.as_ref().map_or(0, Vec::len) < LONGEST_PASTE + 100);
        for _ in 0..PASTE_IS_LOST {
            strokes.quiet();
        }
        assert_eq!(strokes.of(b"aa"), [], "letters do not end it");
        for _ in 0..PASTE_IS_LOST {
            strokes.quiet();
        }
        assert_eq!([strokes.of(b"\x1b"), strokes.of(b"j")].concat(), [Stroke::Escape, Stroke::Letter('j')]);
    }

    #[test]
    fn b4_a_letter_with_alt_is_not_the_letter() {
        assert_eq!(typed(b"\x1ba", 2), [Stroke::Unknown]);
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_changes_nothing(bytes in proptest::collection::vec(prop_oneof![Just(0x1b), Just(b'['), Just(b'a'), Just(b'O'), any::<u8>()], 0..60), size in 1_usize..9) {
            prop_assert_eq!(typed(&bytes, size), typed(&bytes, 1_000));
        }
    }
}
