//! A card in the inbox, which has to be there at once whatever somebody proposed: whole where it is small, and otherwise its beginning,
//! which says so and leads to the whole.
//!
//! What is folded cannot be approved from here: nobody says yes to what they were not shown. Whether it is folded depends on nothing but
//! how long it is.

use maud::{Markup, html};
use placet_lang::Lang;

use crate::markup::action::{self, ActionPage, Room};
use crate::markup::card::{self, Ask};
use crate::markup::files::{beginning, change, named};
use crate::markup::layout::Viewer;
use crate::markup::parts::section;
use crate::markup::text;

/// As much as a card takes in the inbox, so that all of it with list, style, script and icon stays below 100 KB.
const MOST_BYTES: usize = 32_000;
const MOST_REASONS: usize = 6;
const MOST_ARGUMENTS: usize = 10;
const MOST_ARGUMENT_CHARS: usize = 240;
const MOST_FILES: usize = 10;
/// Lines of what changed in a file, or of its beginning.
const MOST_LINES: usize = 8;

pub(crate) fn card_or_beginning(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let whole = action::card(viewer, shown, Room::Inbox);
    if whole.0.len() <= MOST_BYTES {
        return whole;
    }
    let short = folded(viewer, shown, &begun(viewer.lang, shown));
    if short.0.len() <= MOST_BYTES { short } else { folded(viewer, shown, &html! {}) }
}

fn folded(viewer: &Viewer, shown: &ActionPage, content: &Markup) -> Markup {
    let (lang, action) = (viewer.lang, &shown.detail.action);
    html! {
        article.card #card data-live=(action::live_key(shown)) data-folded {
            (action::head(viewer, shown))
            p.note.bad { (lang.folded_card()) }
            (content)
            section.panel.decide aria-labelledby="decide" {
                h2 #decide { @if matches!(shown.ask, Ask::No(_)) { (lang.you_cannot()) } @else { (lang.decide()) } }
                p { a.button.main #whole href={ "/actions/" (action.id) } { (lang.read_whole()) } }
            }
        }
    }
}

fn begun(lang: Lang, shown: &ActionPage) -> Markup {
    html! {
        (arguments(lang, shown))
        (reasons(lang, shown))
        (files(lang, shown))
    }
}

fn reasons(lang: Lang, shown: &ActionPage) -> Markup {
    let mut detail = shown.detail.clone();
    let more = detail.action.verdict.reasons.len().saturating_sub(MOST_REASONS);
    detail.action.verdict.reasons.truncate(MOST_REASONS);
    html! { (card::why(lang, &detail, action::stage(shown), shown.who.as_ref())) (left_out(lang, more, Lang::n_more_reasons)) }
}

fn arguments(lang: Lang, shown: &ActionPage) -> Markup {
    let argv = &shown.detail.spec.argv;
    section(
        "exactly",
        action::stage(shown).exactly(lang),
        &html! {
            ol.argv start="0" {
                @for word in argv.iter().take(MOST_ARGUMENTS) {
                    @let (begun, is_cut) = placet_domain::text::beginning(word, MOST_ARGUMENT_CHARS);
                    li {
                        code { (text::line(lang, begun)) }
                        @let more = (word.chars().count() - begun.chars().count()) as u64;
                        @if is_cut { " … " strong.ask { (lang.number(more)) " " (lang.n_more_characters(more)) } }
                    }
                }
            }
            (left_out(lang, argv.len().saturating_sub(MOST_ARGUMENTS), Lang::n_more_arguments))
        },
    )
}

fn files(lang: Lang, shown: &ActionPage) -> Markup {
    html! {
        @if !shown.files.is_empty() {
            (section("files", lang.given_files(), &html! {
                @for file in shown.files.iter().take(MOST_FILES) {
                    @let change = change(file);
                    p.named { (named(lang, file, change.as_ref())) }
                    (beginning(lang, file, change.as_ref(), MOST_LINES))
                }
                (left_out(lang, shown.files.len().saturating_sub(MOST_FILES), Lang::n_more_files))
            }))
        }
    }
}

fn left_out(lang: Lang, count: usize, what: fn(Lang, u64) -> &'static str) -> Markup {
    let count = count as u64;
    html! { @if count > 0 { p.note { strong { (lang.number(count)) } " " (what(lang, count)) } } }
}
