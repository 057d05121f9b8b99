//! Who should look at a question, and who set it aside: words on rows and cards, and the forms that say so. No form here decides anything.

use maud::{Markup, html};
use placet_wire::api::{AsideView, AssignmentView, AttentionView};

use crate::markup::action::ActionPage;
use crate::markup::forms::{Form, field};
use crate::markup::layout::Viewer;
use crate::markup::parts::{exactly, parsed, short};
use crate::markup::text;

const USUAL_MINUTES: u64 = 60;

/// What was said, and what the viewer can say.
#[derive(Debug, Clone, Default)]
pub(crate) struct Attended {
    pub(crate) said: AttentionView,
    pub(crate) may_assign: bool,
    pub(crate) may_defer: bool,
}

/// In a row: one line below the rest of it.
pub(crate) fn line(viewer: &Viewer, said: &AttentionView) -> Markup {
    html! { @if !said.is_none() { span.meta.attention { (words(viewer, said)) } } }
}

/// On a card: a line of its own.
pub(crate) fn told(viewer: &Viewer, said: &AttentionView) -> Markup {
    html! { @if !said.is_none() { p.attention #attention-told { (words(viewer, said)) } } }
}

fn words(viewer: &Viewer, said: &AttentionView) -> Markup {
    let joined = said.assigned.is_some();
    html! {
        @if let Some(assigned) = &said.assigned { (named(viewer, assigned)) }
        @for (index, aside) in said.aside.iter().enumerate() {
            @if joined || index > 0 { " · " }
            (put_aside(viewer, aside))
        }
    }
}

fn named(viewer: &Viewer, AssignmentView { to, to_id: _, by, note, is_yours }: &AssignmentView) -> Markup {
    let lang = viewer.lang;
    html! {
        @if *is_yours { strong.ask { (lang.for_you_by()) " " (text::line(lang, by)) } }
        @else { strong { (text::line(lang, to)) } " " (lang.looks_at_it()) ", " (lang.asked_by()) " " (text::line(lang, by)) }
        @if !note.is_empty() { (lang.colon()) q { (text::line(lang, note)) } }
    }
}

fn put_aside(viewer: &Viewer, AsideView { who, until, is_yours }: &AsideView) -> Markup {
    let lang = viewer.lang;
    html! {
        @if *is_yours { (lang.aside_by_you()) } @else { (text::line(lang, who)) " " (lang.aside_by()) }
        " " (exactly(parsed(until)))
    }
}

/// Folded before the decision, which stays the last thing on the card: whoever does not decide now says who should, or when.
pub(crate) fn forms(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let (lang, attended) = (viewer.lang, &shown.attended);
    if !attended.may_assign && !attended.may_defer {
        return html! {};
    }
    html! {
        details.panel #attention {
            summary { (lang.attention()) @if attended.may_assign { " " kbd { "W" } } @if attended.may_defer { " " kbd { "L" } } }
            p.note { (lang.attention_rule()) }
            div.ways {
                @if attended.may_assign { (assign(viewer, shown)) }
                @if attended.may_defer { (defer(viewer, shown)) }
            }
        }
    }
}

/// Those who can decide it are offered by name, and where two have one name by the ends of their ids; nobody takes it back.
fn assign(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let lang = viewer.lang;
    let who = shown.who.clone().unwrap_or_default();
    let is_shared = |name: &String| who.can.iter().filter(|other| *other == name).count() > 1;
    let now = shown.attended.said.assigned.as_ref();
    let form = Form::to(format!("/actions/{}/assign", shown.detail.action.id), viewer).named("assign");
    form.with(&html! {
        (field("assign-to", lang.assign_to(), &html! {
            select #assign-to name="to" required[now.is_none()] {
                option value="" { @if now.is_some() { (lang.assign_nobody()) } @else { "…" } }
                // Somebody who was named stays so until another one is chosen, though they could not be named any more.
                @if let Some(now) = now.filter(|now| !who.ids.contains(&now.to_id)) { option value=(now.to_id) selected { (text::line(lang, &now.to)) } }
                @for (id, name) in who.ids.iter().zip(&who.can) {
                    option value=(id) selected[now.is_some_and(|now| now.to_id == *id)] { (name) @if is_shared(name) { " " (short(&id.to_string())) } }
                }
            }
        }))
        (field("assign-note", lang.assign_note(), &html! {
            input #assign-note name="note" maxlength="280" autocomplete="off" value=[now.map(|now| &now.note)];
        }))
        button { (lang.assign()) }
    })
}

fn defer(viewer: &Viewer, shown: &ActionPage) -> Markup {
    let lang = viewer.lang;
    let path = format!("/actions/{}/defer", shown.detail.action.id);
    let is_aside = shown.attended.said.aside.iter().any(|aside| aside.is_yours);
    html! {
        (Form::to(&path, viewer).named("defer").with(&html! {
            (field("defer-minutes", lang.defer_minutes(), &html! {
                input #defer-minutes name="minutes" value=(USUAL_MINUTES) inputmode="numeric" pattern="[0-9]+" required;
            }))
            button { (lang.defer()) }
        }))
        @if is_aside {
            (Form::to(&path, viewer).named("defer-back").with(&html! { button { (lang.defer_back()) } }))
        }
    }
}
