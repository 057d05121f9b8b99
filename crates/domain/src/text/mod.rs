//! Text that people must be able to trust their eyes on.
//!
//! What is not seen, turns, pads or imitates is told where it stands ([`pieces`]), the same on pages and at a terminal. Whether the
//! words are true, nobody knows here.

mod lookalike;
mod pieces;
mod unseen;

pub use lookalike::is_imitating;
pub use pieces::{Piece, line_pieces, pieces};
pub use unseen::{is_invisible, is_unseen};

/// The text with everything that could deceive spelled out: control characters, escapes, invisible characters, blanks that are none.
///
/// Newlines and tabs are spelled out too: what is one argument must look like one argument.
pub fn spelled_out(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        if is_unseen(c) {
            shown.push_str(&pieces::numbered(c));
        } else {
            shown.push(c);
        }
        shown
    })
}

/// The text as [`spelled_out`] gives it, and more: letters that imitate Latin ones are told after the word they stand in, many blanks by
/// their number. A tab is spelled out too: what is one argument must look like one argument.
pub fn marked(text: &str) -> String {
    pieces(text).iter().map(Piece::told).collect()
}

/// The same for a line of a text, which may begin with blanks and have tabs.
pub fn marked_line(line: &str) -> String {
    let told = |piece: &Piece<'_>| match piece {
        Piece::Plain(plain) => plain.replace('\t', "    "),
        Piece::Tab => "    ".to_owned(),
        Piece::Hidden(_) | Piece::Gap(_) | Piece::Imitation(_) | Piece::Turned(_) => piece.told(),
    };
    line_pieces(line).iter().map(told).collect()
}

/// As much of it as takes so many characters to show, and whether something is left out. No cut divides what is told as one.
pub fn beginning(text: &str, most: usize) -> (&str, bool) {
    let (mut end, mut room) = (0, most);
    for piece in pieces(text) {
        match piece {
            Piece::Plain(plain) => {
                let fits = plain.char_indices().nth(room).map_or(plain.len(), |(at, _)| at);
                end += fits;
                room -= plain[..fits].chars().count();
                if fits < plain.len() {
                    return (&text[..end], true);
                }
            }
            Piece::Hidden(_) | Piece::Gap(_) | Piece::Tab | Piece::Imitation(_) | Piece::Turned(_) => {
                let told = piece.told().chars().count();
                if told > room {
                    return (&text[..end], true);
                }
                end += piece.len();
                room -= told;
            }
        }
    }
    (text, false)
}

/// The lines of a text, with everything but the line feed that ends them: a carriage return is part of its line.
pub fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive('\n').map(|line| line.strip_suffix('\n').unwrap_or(line))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn deceptive_characters_become_visible() {
        assert_eq!(spelled_out("a\u{202e}b\x1b[31m\n"), "a⟦U+202E⟧b⟦U+001B⟧[31m⟦U+000A⟧");
    }

    #[test]
    fn ordinary_text_of_any_language_stays_as_it_is() {
        for text in ["rm -rf build", "déjà vu", "日本語", "👍"] {
            assert_eq!(spelled_out(text), text);
        }
    }

    #[test]
    fn r5_a_beginning_is_as_long_as_it_is_told_and_cuts_nothing_in_two() {
        assert_eq!(beginning("sh echo", 3), ("sh ", true));
        assert_eq!(beginning("sh echo", 7), ("sh echo", false));
        let (_, is_cut) = beginning(&format!("sh echo{}; rm", " ".repeat(300)), 90);
        assert!(!is_cut, "a gap takes as much as it shows");
        assert_eq!(beginning("a\u{202e}b", 5), ("a", true), "what is told of a character takes eight");
    }

    #[test]
    fn r5_letters_that_imitate_are_told_after_their_word() {
        assert_eq!(marked("curl p\u{0430}ypal.com\tx"), "curl p\u{0430}ypal.com⟦U+0430⟧⟦U+0009⟧x");
        assert_eq!(marked("example\u{FF0E}com"), "example⟦U+FF0E⟧com");
        assert_eq!(marked("привет déjà 日本語"), "привет déjà 日本語", "another language is no trick");
    }

    #[test]
    fn r5_what_stands_behind_many_blanks_is_seen_with_how_many_there_are() {
        let padded = |blank: &str| format!("echo ok{}; rm -rf docs", blank.repeat(1_500));
        assert_eq!(marked(&padded(" ")), "echo ok⟦1500×U+0020⟧; rm -rf docs");
        assert_eq!(marked(&padded("\n")), "echo ok⟦1500×U+000A⟧; rm -rf docs");
        assert_eq!(marked(&padded("\t \u{a0}")), "echo ok⟦1500×U+0009 1500×U+0020 1500×U+00A0⟧; rm -rf docs");
        assert_eq!(marked(" a  b "), "⟦U+0020⟧a  b⟦U+0020⟧", "and one at an end, where nobody sees it");
        assert_eq!(marked("a\u{2003}b\u{2800}c\u{a0}d"), "a⟦U+2003⟧b⟦U+2800⟧c⟦U+00A0⟧d");
    }

    #[test]
    fn r5_a_line_begins_with_blanks_and_ends_without() {
        assert_eq!(marked_line("\t    let x = 1;\ty"), "        let x = 1;    y");
        assert_eq!(marked_line("end  "), "end⟦2×U+0020⟧");
        assert_eq!(marked_line("    "), "⟦4×U+0020⟧");
        assert_eq!(marked_line(&format!("{}x", " ".repeat(200))), "⟦200×U+0020⟧x");
        assert_eq!(lines("one\r\ntwo\rthree\n\n").collect::<Vec<_>>(), ["one\r", "two\rthree", ""]);
        assert_eq!(marked_line("two\rthree\r"), "two⟦U+000D⟧three⟦U+000D⟧");
    }

    #[test]
    fn r5_marks_upon_marks_and_struck_out_letters_are_told() {
        assert_eq!(marked("e\u{301}"), "e\u{301}", "an accent is an accent");
        assert_eq!(marked(&format!("a{}", "\u{301}".repeat(5))), "a\u{301}\u{301}\u{301}⟦U+0301⟧⟦U+0301⟧");
        assert_eq!(marked("r\u{336}m -\u{301}"), "r⟦U+0336⟧m -⟦U+0301⟧");
    }

    #[test]
    fn r5_words_that_would_turn_what_stands_around_them_are_told_by_number() {
        assert_eq!(marked("cp \u{5d0}\u{5d1} /tmp"), "cp ⟦U+05D0⟧⟦U+05D1⟧ /tmp");
        assert_eq!(
            marked("\u{5d0}\u{5d1} \u{5d2}"),
            "\u{5d0}\u{5d1} \u{5d2}",
            "a text of such words alone turns nothing"
        );
    }

    /// Every kind of trick, mixed as nobody would write.
    fn hostile() -> impl Strategy<Value = String> {
        let signs = prop_oneof![
            4 => Just(" ".to_owned()), 1 => (1_usize..60).prop_map(|count| " ".repeat(count)), 4 => "[a-z.]{1,4}", 1 => Just("\t".to_owned()),
            1 => Just("\n".to_owned()), 1 => Just("\r".to_owned()), 2 => any::<char>().prop_map(String::from),
            2 => prop::sample::select("\u{a0}\u{2003}\u{2800}\u{202e}\u{200b}\u{301}\u{336}\u{5d0}\u{627}\u{430}\u{261}\u{ff0e}\u{1b}\u{7f}\u{9b}\u{e0041}\u{e000}\u{3000}".chars().collect::<Vec<_>>()).prop_map(String::from),
        ];
        prop::collection::vec(signs, 0..40).prop_map(|parts| parts.concat())
    }

    fn source(pieces: &[Piece<'_>]) -> String {
        pieces.iter().fold(String::new(), |mut again, piece| {
            match piece {
                Piece::Plain(part) | Piece::Imitation(part) | Piece::Gap(part) | Piece::Turned(part) => {
                    again.push_str(part)
                }
                Piece::Hidden(c) => again.push(*c),
                Piece::Tab => again.push('\t'),
            }
            again
        })
    }

    /// How often a character is told by its number.
    fn told(shown: &str, c: char) -> usize {
        let number = format!("U+{:04X}", u32::from(c));
        let inside = shown.split('⟦').skip(1).filter_map(|after| after.split('⟧').next());
        let counts = inside.flat_map(|inside| inside.split(' ')).filter_map(|one| match one.split_once('×') {
            Some((count, of)) => (of == number).then(|| count.parse().unwrap()),
            None => (one == number).then_some(1),
        });
        counts.sum()
    }

    proptest! {
        #[test]
        fn pieces_are_the_text(text in hostile()) {
            prop_assert_eq!(source(&pieces(&text)), text.clone());
            prop_assert_eq!(source(&line_pieces(&text)), text);
        }

        #[test]
        fn r5_whatever_the_text_every_character_that_is_not_seen_is_told(text in hostile()) {
            let shown = marked(&text);
            prop_assert!(!shown.chars().any(is_unseen), "{shown:?}");
            for c in text.chars().filter(|c| is_unseen(*c)) {
                prop_assert_eq!(told(&shown, c), text.chars().filter(|other| *other == c).count(), "{:?}", shown);
            }
            prop_assert!(!shown.contains(&" ".repeat(16)) && shown.trim() == shown, "{shown:?}");
        }

        #[test]
        fn r5_whatever_the_line_nothing_unseen_remains_but_its_beginning(text in hostile()) {
            let shown = marked_line(&text);
            prop_assert!(!shown.chars().any(is_unseen), "{shown:?}");
            prop_assert!(shown.trim_end() == shown, "{shown:?}");
        }

        #[test]
        fn nothing_invisible_remains(text in hostile()) {
            let clean = spelled_out(&text).chars().all(|c| !is_unseen(c));
            prop_assert!(clean);
        }
    }
}
