//! What a command in a cage prints, on its way to a person's terminal: text, colours, and nothing else that acts.
//!
//! A terminal takes orders in what is shown on it: it moves the cursor over what was said before, changes its title, copies,
//! and with some asks even answers as if somebody had typed. An agent's words must not give such orders. Lines, tabs,
//! carriage returns and colours pass; every other control is spelled out, and so is what turns the direction of writing.
//! Only a terminal is protected from it: in a file or a pipe the bytes arrive as they are.

use std::io::{self, Write};

/// Longer than any colour; what does not end within it is none.
const LONGEST_STYLE: usize = 32;
const ESCAPE: u8 = 0x1b;
const RESET: &[u8] = b"\x1b[0m";

/// Writes text to a terminal that is not given orders. Dropping it lets go of what was held back, and of colours.
pub(crate) struct Plain<W: Write> {
    to: W,
    /// The beginning of a character or of a style whose end has not come.
    held: Vec<u8>,
    is_styled: bool,
}

impl<W: Write> Plain<W> {
    pub(crate) const fn new(to: W) -> Self {
        Self { to, held: Vec::new(), is_styled: false }
    }

    /// What can be said of the bytes so far, without the last ones if more must come first.
    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut bytes = [&std::mem::take(&mut self.held)[..], bytes].concat();
        let mut shown = Vec::with_capacity(bytes.len());
        let mut at = 0;
        while at < bytes.len() {
            let next = piece(&bytes[at..]);
            match next {
                Piece::Text(length) => shown.extend_from_slice(&bytes[at..at + length]),
                Piece::Style(length) => {
                    self.is_styled = true;
                    shown.extend_from_slice(&bytes[at..at + length]);
                }
                Piece::Order(length) => spell(&bytes[at..at + length], &mut shown),
                Piece::Unfinished => {
                    self.held = bytes.split_off(at);
                    return shown;
                }
            }
            at += next.length();
        }
        shown
    }
}

/// What the next bytes are.
#[derive(Clone, Copy)]
enum Piece {
    Text(usize),
    /// A colour or a weight of letters: `ESC [ numbers m`.
    Style(usize),
    /// Anything else that a terminal would act on, or that is no text.
    Order(usize),
    /// Not to be told before more comes.
    Unfinished,
}

impl Piece {
    const fn length(self) -> usize {
        match self {
            Self::Text(length) | Self::Style(length) | Self::Order(length) => length,
            Self::Unfinished => 0,
        }
    }
}

fn piece(bytes: &[u8]) -> Piece {
    match bytes[0] {
        b'\n' | b'\t' | b'\r' | b' '..=b'~' => Piece::Text(1),
        ESCAPE => style(bytes),
        0x00..=0x1f | 0x7f => Piece::Order(1),
        0x80.. => character(bytes),
    }
}

fn style(bytes: &[u8]) -> Piece {
    match bytes.get(1) {
        None => return Piece::Unfinished,
        Some(b'[') => {}
        Some(_) => return Piece::Order(1),
    }
    let numbers = bytes[2..].iter().take(LONGEST_STYLE).take_while(|byte| matches!(byte, b'0'..=b'9' | b';')).count();
    match bytes.get(2 + numbers) {
        Some(b'm') => Piece::Style(3 + numbers),
        None if numbers < LONGEST_STYLE => Piece::Unfinished,
        Some(_) | None => Piece::Order(1),
    }
}

/// A character of several bytes. Some of them are controls too, and some turn the direction of writing.
fn character(bytes: &[u8]) -> Piece {
    let length = match bytes[0] {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return Piece::Order(1),
    };
    let found = &bytes[..bytes.len().min(length)];
    match std::str::from_utf8(found) {
        Ok(text) if text.chars().any(acts) => Piece::Order(length),
        Ok(_) => Piece::Text(length),
        Err(error) if error.error_len().is_none() => Piece::Unfinished,
        Err(_) => Piece::Order(1),
    }
}

const fn acts(character: char) -> bool {
    matches!(character, '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn spell(order: &[u8], shown: &mut Vec<u8>) {
    match std::str::from_utf8(order) {
        Ok(text) => shown.extend_from_slice(placet_domain::text::spelled_out(text).as_bytes()),
        Err(_) => shown.extend_from_slice("\u{fffd}".as_bytes()),
    }
}

impl<W: Write> Write for Plain<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let shown = self.pass(bytes);
        self.to.write_all(&shown).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}

impl<W: Write> Drop for Plain<W> {
    fn drop(&mut self) {
        let mut last = Vec::new();
        for byte in std::mem::take(&mut self.held) {
            spell(&[byte], &mut last);
        }
        if self.is_styled {
            last.extend_from_slice(RESET);
        }
        let _ = self.to.write_all(&last).and_then(|()| self.to.flush());
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What reaches the terminal if it comes in pieces of this size.
    fn shown(bytes: &[u8], size: usize) -> String {
        let mut screen = Vec::new();
        let mut plain = Plain::new(&mut screen);
        bytes.chunks(size).for_each(|chunk| plain.write_all(chunk).unwrap());
        drop(plain);
        String::from_utf8(screen).unwrap()
    }

    #[test]
    fn a9_text_of_any_language_passes_as_it_is() {
        let text = "naïve 日本語 👍🏽\tx\r\n";
        for size in 1..9 {
            assert_eq!(shown(text.as_bytes(), size), text);
        }
    }

    #[test]
    fn a9_colours_pass_and_end_with_the_command() {
        for size in 1..9 {
            assert_eq!(shown(b"\x1b[1;38;5;196mred", size), "\u{1b}[1;38;5;196mred\u{1b}[0m");
        }
    }

    #[test]
    fn a9_orders_to_a_terminal_are_spelled_out() {
        let orders: [&[u8]; 9] = [
            b"\x1b]0;title\x07",
            b"\x1b[2J",
            b"\x1b[6n",
            b"\x1b[8;1;1t",
            b"\x1bP+q544e\x1b\\",
            b"\xc2\x9b2J",
            b"\x9b2J",
            b"\x08\x08",
            "\u{202e}txt".as_bytes(),
        ];
        for (order, size) in orders.iter().flat_map(|order| (1..5).map(move |size| (order, size))) {
            let shown = shown(order, size);
            assert!(shown.contains("⟦U+") || shown.contains('\u{fffd}'), "{shown}");
            assert!(!shown.contains(['\u{1b}', '\u{7}', '\u{8}', '\u{9b}', '\u{202e}']), "{shown}");
        }
    }

    #[test]
    fn a9_a_style_without_an_end_is_none_and_is_not_waited_for() {
        let endless = [b"\x1b[".as_slice(), &[b'1'; 100], b"m"].concat();
        assert!(shown(&endless, 7).starts_with("⟦U+001B⟧[111"));
        assert_eq!(shown(b"a\x1b[3", 1), "a⟦U+001B⟧[3");
    }

    proptest! {
        #[test]
        fn a9_whatever_is_printed_only_styles_act(bytes: Vec<u8>, size in 1_usize..40) {
            let shown = shown(&bytes, size);
            let plain = anstream::adapter::strip_str(&shown).to_string();
            let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t' | '\r');
            prop_assert!(!plain.chars().any(acts), "{plain:?}");
        }

        #[test]
        fn a9_where_the_pieces_end_changes_nothing(text in "[a\u{1b}\\[0-9;mé\u{9b}日]{0,40}", size in 1_usize..9) {
            prop_assert_eq!(shown(text.as_bytes(), size), shown(text.as_bytes(), 1_000));
        }
    }
}
