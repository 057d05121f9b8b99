//! When something is not as wished: what happened, that nothing was changed, and where to go on.

use maud::{Markup, html};
use placet_domain::refusal::Refusal;

use crate::lang::Lang;
use crate::layout::{Here, Live, Viewer, outside, page};
use crate::refusals;

/// What is told.
#[derive(Debug, Clone)]
pub struct Problem {
    /// A stable word for it.
    pub code: String,
    pub detail: String,
    /// What the domain refused, if it did.
    pub refusal: Option<Refusal>,
    /// Where to look again.
    pub back: String,
}

/// Whether it is sure that nothing happened.
fn is_as_before(code: &str) -> bool {
    !matches!(code, "in_part" | "fault" | "tampered" | "unseen" | "too_slow")
}

/// To somebody who is signed in, or to a stranger.
pub fn problem(lang: Lang, viewer: Option<&Viewer>, problem: &Problem) -> Markup {
    let heading = match problem.code.as_str() {
        "stale" => lang.it_changed(),
        "unknown" | "unknown_route" => lang.not_found(),
        "csrf" => lang.form_is_old(),
        _ => lang.not_possible(),
    };
    let content = html! {
        div.panel role="alert" {
            h1 { (heading) }
            p { @match &problem.refusal { Some(refused) => (refusals::refusal(lang, refused)), None => (refusals::of_code(lang, &problem.code, &problem.detail)) } }
            p { @if is_as_before(&problem.code) { (lang.nothing_changed()) " " } code { (problem.code) } }
            p { a.button href=(problem.back) { (lang.look_again()) } }
        }
    };
    match viewer {
        Some(viewer) => page(viewer, Here::Inbox, heading, &Live::around(), &content),
        None => outside(lang, heading, &content),
    }
}
