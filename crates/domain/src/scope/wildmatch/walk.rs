//! The walk of a compiled pattern along a text, without recursion and without memory of its own.
//!
//! Two places to resume at are enough, the last star of each kind. What stands between two stars is best matched as early as
//! possible: any later match leaves less text, and the same slashes, to what follows. So once a star is reached, nothing
//! before it needs to be tried again. A `*` stops at the slash behind it, and there the last star that crosses slashes goes
//! on; it forgets the `*`, since the components between them are now others.

use super::Token;

/// How a walk went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Walked {
    pub(super) has_matched: bool,
    /// How many tokens were compared: what the time is made of. Only tests read it.
    pub(super) steps: usize,
}

/// A star that could take more: where it stands among the tokens, and how far it has come in the text.
#[derive(Clone, Copy)]
struct Star {
    token: usize,
    reach: usize,
}

pub(super) fn walk(tokens: &[Token], text: &[u8], takes: impl Fn(&Token, u8) -> bool) -> Walked {
    let (mut token, mut at, mut steps) = (0, 0, 0);
    let (mut within, mut crossing) = (None, None);
    loop {
        steps += 1;
        let fits = match tokens.get(token) {
            None if at == text.len() => return Walked { has_matched: true, steps },
            None => false,
            Some(Token::Across) if token + 1 == tokens.len() => return Walked { has_matched: true, steps },
            Some(Token::Across | Token::Components) => {
                (within, crossing) = (None, Some(Star { token, reach: at }));
                true
            }
            Some(Token::Within) => {
                within = Some(Star { token, reach: at });
                true
            }
            Some(one) => {
                let fits = text.get(at).is_some_and(|byte| takes(one, *byte));
                at += usize::from(fits);
                fits
            }
        };
        if fits {
            token += 1;
            continue;
        }
        within = within.and_then(|star| farther(tokens, text, star));
        if within.is_none() {
            crossing = crossing.and_then(|star| farther(tokens, text, star));
        }
        match within.or(crossing) {
            Some(star) => (token, at) = (star.token + 1, star.reach),
            None => return Walked { has_matched: false, steps },
        }
    }
}

/// The star after it took the least that it can take more.
fn farther(tokens: &[Token], text: &[u8], star: Star) -> Option<Star> {
    let rest = &text[star.reach..];
    let more = match tokens[star.token] {
        Token::Within => usize::from(rest.first().is_some_and(|byte| *byte != b'/')),
        Token::Across => usize::from(!rest.is_empty()),
        Token::Components => rest.iter().position(|byte| *byte == b'/').map_or(0, |slash| slash + 1),
        Token::Byte(_) | Token::OneOf(_) => 0,
    };
    (more > 0).then_some(Star { reach: star.reach + more, ..star })
}

#[cfg(test)]
mod tests {
    use super::super::{Case, Pattern, Slash};
    use super::*;

    /// How many steps a pattern takes that does not match.
    fn steps(pattern: &str, text: &str, slash: Slash) -> usize {
        let pattern = Pattern::compile(pattern.as_bytes(), slash, Case::Exact).expect("a pattern that can match");
        let walked = walk(&pattern.tokens, text.as_bytes(), Token::takes);
        assert!(!walked.has_matched);
        walked.steps
    }

    /// Patterns on which backtracking without bounds is exponential in the number of repetitions.
    const PATHOLOGICAL: [&str; 8] = ["*a", "**/a/", "**/*a", "a*/", "*?", "**/*/", "**/a*a/", "*[!b]*"];

    #[test]
    fn no_pattern_takes_more_steps_than_pattern_times_text() {
        let texts = ["a".repeat(2_000), "a/".repeat(1_000) + "a", "aaaaaaa/".repeat(250) + "a", "ab/a".repeat(500)];
        for (piece, text) in PATHOLOGICAL.iter().flat_map(|piece| texts.iter().map(move |text| (piece, text))) {
            for (count, slash) in [(1, Slash::Stops), (16, Slash::Stops), (100, Slash::Stops), (100, Slash::IsCrossed)]
            {
                let pattern = piece.repeat(count) + "#";
                let steps = steps(&pattern, text, slash);
                assert!(steps <= 2 * (pattern.len() + 1) * (text.len() + 1), "`{pattern}`: {steps} steps");
            }
        }
    }

    #[test]
    fn stars_in_a_row_are_linear_in_the_text() {
        let text = "a".repeat(4_000);
        for count in [10, 100, 500] {
            let steps = steps(&("*a".repeat(count) + "b"), &text, Slash::Stops);
            assert!(steps <= 4 * (text.len() + count), "{count} stars: {steps} steps");
        }
    }

    #[test]
    fn twice_the_text_takes_twice_the_steps() {
        let pattern = "**/*a*/".repeat(20) + "b";
        let once = steps(&pattern, &"aaaa/".repeat(400), Slash::Stops);
        let twice = steps(&pattern, &"aaaa/".repeat(800), Slash::Stops);
        assert!(twice <= 3 * once, "{once}, then {twice}");
    }
}
