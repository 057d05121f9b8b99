//! Words of others in a message: bounded, without secrets, and without anything that a terminal, a chat or a mail program would obey.
//!
//! Goals are written by users and agents, names by administrators, kinds by nobody; all of them go through here. What is changed is changed
//! visibly. The characters that are left cannot make a mention, a link, markup, a header or another line.

use std::borrow::Cow;

use placet_domain::text::spelled_out;
use placet_secrets::Scanner;

/// Longer than any name that is one.
const LONGEST_NAME: usize = 100;
/// Enough to know which run it is; the whole goal stands on the page.
const LONGEST_QUOTE: usize = 200;

/// A name of somebody or something.
pub(super) fn name(text: &str) -> String {
    plain(text, LONGEST_NAME)
}

/// What somebody wrote.
pub fn quote(text: &str) -> String {
    plain(text, LONGEST_QUOTE)
}

fn plain(text: &str, most_chars: usize) -> String {
    // Secrets first, of the whole: a piece of one would not be recognised.
    let clean = without_secrets(text);
    let shown: String = spelled_out(&clean).chars().map(unmarked).collect();
    // Programs that show text make links of addresses by themselves.
    let mut shown = undotted(&shown).replace("://", "[:]//");
    if shown.chars().count() > most_chars {
        shown = shown.chars().take(most_chars).chain(['…']).collect();
    }
    shown
}

/// What would be read as markup or as a mention, by something that looks like it and is not.
const fn unmarked(c: char) -> char {
    match c {
        '<' => '‹',
        '>' => '›',
        '&' => '＆',
        '`' => 'ˋ',
        '@' => '＠',
        '*' => '∗',
        '_' => '＿',
        '~' => '∼',
        '|' => '∣',
        '\\' => '∖',
        '#' => '＃',
        '!' => 'ǃ',
        '[' => '［',
        ']' => '］',
        // Browsers take these for dots.
        '．' | '｡' => DOT,
        other => other,
    }
}

/// Looks like a dot, and nothing that reads text for addresses takes it for one.
const DOT: char = '\u{2024}';

/// Without a dot that something follows: a bare domain is a link too, in any case and script. The end of a sentence stays.
fn undotted(text: &str) -> String {
    let next = text.chars().skip(1).map(Some).chain([None]);
    let is_inside = |c: char, next: Option<char>| c == '.' && next.is_some_and(char::is_alphanumeric);
    text.chars().zip(next).map(|(c, next)| if is_inside(c, next) { DOT } else { c }).collect()
}

/// What is sent is looked through like everything that leaves.
pub(super) fn without_secrets(text: &str) -> String {
    match Scanner::shipped().redact(text.as_bytes()) {
        Cow::Borrowed(_) => text.to_owned(),
        Cow::Owned(clean) => String::from_utf8_lossy(&clean).into_owned(),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// What agents would write if that did anything.
    pub(in crate::notify) const HOSTILE: &[&str] = &[
        "<!channel> <!here> <@U012AB3CD> @channel @all @here",
        "<https://evil.example|approve here> [approve](https://evil.example) ![x](http://evil.example/p.png)",
        "*bold* _it_ ~gone~ `code` ```block``` > quote # title || spoiler ||",
        "goal\r\nBcc: everybody@evil.example\r\n\r\n.\r\nMAIL FROM:<x@evil.example>",
        "\u{202e}gnp.exe \u{200b}\u{feff}\u{2066}x\u{2069} \u{1b}]0;title\u{7}\u{1b}[2J \u{0}",
        "=?utf-8?b?QmNjOiB4?= www.evil.example http://evil.example/?a=b&c=d",
        "<script>alert(1)</script> &lt;b&gt; \\n \\u003c",
    ];

    #[test]
    fn r5_nothing_that_anybody_would_obey_is_left_in_words_of_others() {
        for text in HOSTILE {
            let shown = quote(text);
            let obeyed =
                |c: char| c.is_control() || placet_domain::text::is_invisible(c) || "<>&`@*_~|\\#!".contains(c);
            assert!(!shown.chars().any(obeyed), "{shown}");
            assert!(!shown.contains("://") && !shown.contains("](") && !shown.contains("www."), "{shown}");
            assert!(!shown.contains("evil.example"), "{shown}");
        }
    }

    #[test]
    fn r5_no_bare_domain_and_no_www_becomes_a_link() {
        for (text, shown) in [
            ("see evil.example/pay now.", "see evil․example/pay now."),
            ("WWW.evil.example Www.evil.example", "WWW․evil․example Www․evil․example"),
            ("bücher.example e\u{301}vil.example 例え.テスト", "bücher․example e\u{301}vil․example 例え․テスト"),
            ("evil．example evil｡example", "evil․example evil․example"),
            ("10.0.0.5, v1.2. Done. And so on...", "10․0․0․5, v1․2. Done. And so on..."),
        ] {
            assert_eq!(quote(text), shown);
            assert_eq!(name(text), shown);
        }
    }

    #[test]
    fn r5_words_of_others_are_bounded_and_ordinary_ones_stay() {
        assert_eq!(quote("survey the lab, déjà vu, 日本語"), "survey the lab, déjà vu, 日本語");
        assert_eq!(quote(&"é".repeat(5_000)).chars().count(), LONGEST_QUOTE + 1);
        assert_eq!(name(&"x".repeat(5_000)).chars().count(), LONGEST_NAME + 1);
    }

    #[test]
    fn r24_a_secret_in_a_goal_is_not_sent_not_even_a_piece_of_it() {
        // In pieces: whoever looks for secrets in this file finds none.
        let token = ["ghp_", "Zq8TnV3xWc5RkL7mPb2Y", "dJf9HsGa4Ue6NiKo"].concat();
        let goal = format!("{} use {token} to push", "x ".repeat(85));
        let shown = quote(&goal);
        assert!(!shown.contains("ghp") && shown.contains("redacted"), "{shown}");
    }
}
