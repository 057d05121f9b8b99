//! When something is not as wished: what happened, that nothing was changed, and where to go on.

use maud::{Markup, html};
use placet_domain::refusal::Refusal;
use placet_domain::text::spelled_out;
use placet_lang::Lang;

use crate::markup::forms::field;
use crate::markup::layout::{Here, Live, Viewer, outside, page};
use crate::markup::parts::section;
use crate::markup::refusals;

/// A field grows no further than what stands on a screen.
const MOST_ROWS: usize = 16;

/// What is told.
#[derive(Debug, Clone)]
pub(crate) struct Problem {
    /// A stable word for it.
    pub(crate) code: String,
    pub(crate) detail: String,
    /// What the domain refused, if it did.
    pub(crate) refusal: Option<Refusal>,
    /// Where to look again.
    pub(crate) back: String,
    /// What somebody wrote in a form that could not be shown again, by the names of its fields.
    pub(crate) written: Vec<(String, String)>,
}

impl Problem {
    /// Whether it is sure that nothing happened.
    pub(crate) fn is_as_before(&self) -> bool {
        !matches!(self.code.as_str(), "in_part" | "fault" | "tampered" | "unseen" | "too_slow")
    }
}

/// To somebody who is signed in, or to a stranger.
pub(crate) fn problem(lang: Lang, viewer: Option<&Viewer>, problem: &Problem) -> Markup {
    let heading = match problem.code.as_str() {
        "stale" => lang.it_changed(),
        "unknown" | "unknown_route" => lang.not_found(),
        "csrf" => lang.form_is_old(),
        _ => lang.not_possible(),
    };
    // Nobody sent anything: there is nothing that could have changed, and nothing to look at again.
    let is_nowhere = problem.code == "unknown_route";
    let content = html! {
        div.panel role="alert" {
            h1 { (heading) }
            p { (refusals::of_problem(lang, problem)) }
            p { @if problem.is_as_before() && !is_nowhere { (lang.nothing_changed()) " " } code { (problem.code) } }
            p { a.button href=(problem.back) { (if is_nowhere { lang.nav_inbox() } else { lang.look_again() }) } }
        }
        (written(lang, &problem.written))
    };
    match viewer {
        Some(viewer) => page(viewer, Here::Find, heading, &Live::around(), &content),
        None => outside(lang, heading, &content),
    }
}

/// Everything that somebody wrote, to be taken along: nothing of it is kept anywhere else.
fn written(lang: Lang, fields: &[(String, String)]) -> Markup {
    html! {
        @if !fields.is_empty() {
            (section("written", lang.what_you_wrote(), &html! {
                p { (lang.what_you_wrote_hint()) }
                @for (index, (name, text)) in fields.iter().enumerate() {
                    @let id = format!("written-{index}");
                    (field(&id, &spelled_out(name), &html! { textarea id=(id) rows=(text.lines().count().clamp(1, MOST_ROWS)) readonly spellcheck="false" { "\n" (text) } }))
                }
            }))
        }
    }
}
