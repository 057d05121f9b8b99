//! What network a run was refused and wishes for, and the ways to answer.

use maud::{Markup, html};
use placet_wire::api::WishView;

use crate::markup::forms::{Form, field, reason};
use crate::markup::layout::Viewer;
use crate::markup::parts::{moment, parsed, section, status};
use crate::markup::run::{RunPage, slowed};
use crate::markup::{reasons, text};

pub(crate) fn wishes(viewer: &Viewer, shown: &RunPage) -> Markup {
    if shown.wishes.is_empty() {
        return html! {};
    }
    section("wishes", viewer.lang.wishes(), &wish_list(viewer, shown))
}

fn wish_list(viewer: &Viewer, shown: &RunPage) -> Markup {
    let lang = viewer.lang;
    html! {
        ul.plain.apart {
            @for wish in &shown.wishes {
                li {
                    code { (text::line(lang, &wish.opening)) } " " (status(&wish.status))
                    @if let Some(until) = &wish.until { " " (moment(lang, parsed(until), viewer.now)) }
                    @if let Some(reason) = &wish.reason { " " (reasons::of_status(lang, reason)) }
                    (wish_ways(viewer, shown, wish))
                }
            }
        }
    }
}

fn wish_ways(viewer: &Viewer, shown: &RunPage, wish: &WishView) -> Markup {
    let (lang, number) = (viewer.lang, wish.number);
    let to = |verb: &str| Form::to(format!("/runs/{}/wishes/{number}/{verb}", shown.run.id), viewer);
    html! {
        @match wish.status.as_str() {
            "WAITING" if shown.moves.answer_wishes => div.ways {
                (to("grant").on(wish.review).with(&html! {
                    (field(&format!("minutes-{number}"), lang.allow_for(), &html! { input id={ "minutes-" (number) } name="minutes" value="60" inputmode="numeric" pattern="[0-9]+"; }))
                    (slowed(&format!("confirm-{number}"), lang, shown))
                    button.main { (lang.allow()) }
                }))
                (to("reject").with(&html! { (reason(&format!("wish-{number}"), lang.reason())) button.bad { (lang.reject()) } }))
            },
            "GRANTED" if shown.moves.revoke => (to("revoke").with(&html! { (reason(&format!("wish-{number}"), lang.reason())) button.bad { (lang.revoke()) } })),
            _ => {},
        }
    }
}
