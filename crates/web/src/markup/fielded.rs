//! A text in a field of a form, and back: where nobody changed it, it comes back byte for byte as it was.
//!
//! Browsers take the first line break of a field away, show every way to end a line as the same one, and send each as CR LF. What would
//! not come back as it was, or what no eye can be trusted with while it is edited, is no text for a field, and says why.

use maud::{Markup, html};
use placet_control::read::files::{FileShown, Shown};

use crate::markup::text;

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ends {
    Lf,
    CrLf,
}

/// Why something is not changed in a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It is no text.
    NoText,
    /// It is more than a form has room for.
    Large,
    Withheld,
    Removed,
    /// Something in it is not what it looks like.
    Tricky,
    /// Its lines end in different ways: all of them would come back the same.
    Ends,
}

impl Ends {
    /// How the lines of a text end that is fit for a field.
    pub(crate) fn of(text: &str) -> Result<Self, Unfit> {
        let count = |end: &str| text.matches(end).count();
        let (both, returns, feeds) = (count("\r\n"), count("\r"), count("\n"));
        let ends = match both {
            0 => Self::Lf,
            _ => Self::CrLf,
        };
        if returns != both || (ends == Self::CrLf && feeds != both) {
            return Err(Unfit::Ends);
        }
        if text::is_odd_anywhere(text) { Err(Unfit::Tricky) } else { Ok(ends) }
    }

    /// The text that a field holds, with the line ends that it had.
    pub(crate) fn back(self, sent: &str) -> String {
        let plain = sent.replace("\r\n", "\n").replace('\r', "\n");
        match self {
            Self::Lf => plain,
            Self::CrLf => plain.replace('\n', "\r\n"),
        }
    }
}

/// The text of a file, if it is all there and fit for a field.
pub(crate) fn fit(file: &FileShown) -> Result<&str, Unfit> {
    match &file.shown {
        Shown::Text { is_cut: true, .. } | Shown::Unread => Err(Unfit::Large),
        Shown::Text { now, .. } => Ends::of(now).map(|_| now.as_str()),
        Shown::Opaque => Err(Unfit::NoText),
        Shown::Withheld => Err(Unfit::Withheld),
        Shown::Removed => Err(Unfit::Removed),
    }
}

/// A field of several lines. Browsers drop the first line break: one that is ours to drop stands before the text.
pub(crate) fn lines(id: &str, name: &str, rows: usize, text: &str) -> Markup {
    html! { textarea id=(id) name=(name) rows=(rows) spellcheck="false" autocomplete="off" { "\n" (text) } }
}

/// How much of a form a text takes when a browser sends it.
pub(crate) fn weight(text: &str) -> usize {
    let one = |byte: u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b' ' | b'*' | b'-' | b'.' | b'_' => 1,
        b'\n' => 6,
        b'\r' => 0,
        _ => 3,
    };
    text.bytes().map(one).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a browser makes of the markup, and sends: the first line break is gone, and every line ends as forms end theirs.
    fn through_a_browser(text: &str) -> String {
        let markup = lines("f", "f", 3, text).into_string();
        let (_, inner) = markup.split_once('>').unwrap();
        let inner = inner.strip_suffix("</textarea>").unwrap();
        assert!(!inner.contains('<'), "markup in a text stays text: {inner}");
        let parsed = inner.replace("\r\n", "\n").replace('\r', "\n");
        let parsed = parsed.strip_prefix('\n').unwrap_or(&parsed);
        let [lt, gt, quot] = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\"")];
        let value = [lt, gt, quot].iter().fold(parsed.to_owned(), |text, (from, to)| text.replace(from, to));
        let sent = value.replace("&amp;", "&").replace('\n', "\r\n");
        let body = form_urlencoded::Serializer::new(String::new()).append_pair("f", &sent).finish();
        assert_eq!(body.len(), "f=".len() + weight(text), "{text:?}");
        let (_, came) = form_urlencoded::parse(body.as_bytes()).next().unwrap();
        came.into_owned()
    }

    #[test]
    fn b4_lines_keep_the_ends_that_they_had_and_none_is_added() {
        for text in
            ["", "\n", "\n\n", "one", "one\n", "\none\n\n", "\r\n", "one\r\ntwo", "one\r\ntwo\r\n", "a&amp;<b>\"\n"]
        {
            assert_eq!(Ends::of(text).unwrap().back(&through_a_browser(text)), text, "{text:?}");
        }
        assert_eq!(
            Ends::of("one\r\n").unwrap().back("one\r\ntwo\r\n"),
            "one\r\ntwo\r\n",
            "what is written ends like the rest"
        );
    }

    #[test]
    fn b4_what_would_not_come_back_or_deceives_is_no_text_for_a_field() {
        for text in ["one\r\ntwo\n", "one\ntwo\r\n", "one\rtwo", "one\r", "one\r\r\n", "\r\n\r"] {
            assert_eq!(Ends::of(text), Err(Unfit::Ends), "{text:?}");
        }
        for text in ["zero\u{200b}width", "a\u{202e}b\n", "nul\0", "\u{feff}mark\n", "p\u{430}ypal\n", "feed\u{c}\n"] {
            assert_eq!(Ends::of(text), Err(Unfit::Tricky), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn b4_a_text_that_nobody_changed_comes_back_byte_for_byte(
            parts in prop::collection::vec(prop::sample::select(vec![
                "\n", "\r\n", "\r", "a", " ", "\t", "&", "&amp;", "<", ">", "\"", "'", "é", "日本", "👍", "+", "%0A", "</textarea>", "\u{85}", "\u{2028}",
            ]), 0..24),
            rest in "\\PC{0,12}",
        ) {
            let text = parts.concat() + &rest;
            if let Ok(ends) = Ends::of(&text) {
                prop_assert_eq!(ends.back(&through_a_browser(&text)), text);
            }
        }
    }
}
