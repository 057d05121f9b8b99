//! Drawings beside words: a path of lines for each, in the colour of the words. They tell nothing that the words do not, so nobody who
//! cannot see them misses anything.

use maud::{Markup, html};

/// Lines on a field of 24 by 24.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Icon(&'static str);

pub(crate) const TICK: Icon = Icon("M4 13l6 6L20 5");
pub(crate) const TRAY: Icon = Icon("M3 13h5l2 3h4l2-3h5M3 13l3-8h12l3 8v6H3z");
pub(crate) const PLAY: Icon = Icon("M7 4.5v15l12-7.5z");
pub(crate) const COLUMNS: Icon = Icon("M5 20v-8M12 20V4M19 20v-5");
pub(crate) const CLOCK: Icon = Icon("M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M12 7v5l3 2");
pub(crate) const PERSON: Icon = Icon("M12 3a4 4 0 1 0 0 8a4 4 0 0 0 0-8M4 21c0-4 4-6 8-6s8 2 8 6");
pub(crate) const MACHINE: Icon = Icon("M4 4h16v6H4zM4 14h16v6H4zM8 7h.01M8 17h.01");
pub(crate) const SHIELD: Icon = Icon("M12 3l8 3v6c0 5-4 8-8 9c-4-1-8-4-8-9V6z");
pub(crate) const BOOK: Icon = Icon("M5 3h14v18H5zM9 8h6M9 12h6M9 16h3");
pub(crate) const SLIDERS: Icon = Icon("M4 7h9M17 7h3M4 17h3M11 17h9M15 5v4M9 15v4");
pub(crate) const QUESTION: Icon =
    Icon("M12 3a9 9 0 1 0 0 18a9 9 0 0 0 0-18M9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7M12 17h.01");

pub(crate) const LENS: Icon = Icon("M11 4a7 7 0 1 0 0 14a7 7 0 0 0 0-14M16 16l5 5");

/// The drawing itself.
pub(crate) fn icon(Icon(lines): Icon) -> Markup {
    html! { svg.icon viewBox="0 0 24 24" aria-hidden="true" { path d=(lines) {} } }
}

/// How much of a time is left: a ring that closes as it runs out. The words beside it say how long that is.
pub(crate) fn ring(left_percent: u64) -> Markup {
    // A ring of 100 all around, so that a dash is a percentage.
    html! {
        svg.ring viewBox="0 0 36 36" aria-hidden="true" {
            circle.whole cx="18" cy="18" r="15.9155" {}
            circle.left cx="18" cy="18" r="15.9155" stroke-dasharray={ (left_percent.min(100)) " 100" } {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_drawings_are_for_eyes_alone_and_styled_by_the_style() {
        for shown in [icon(TRAY).into_string(), ring(250).into_string()] {
            assert!(shown.contains("aria-hidden=\"true\"") && !shown.contains("style="), "{shown}");
        }
        assert!(ring(250).into_string().contains("\"100 100\""), "there is no more left than all of it");
    }
}
