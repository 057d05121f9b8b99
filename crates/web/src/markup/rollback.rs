//! Going back: what would change, then the decision.

use maud::{Markup, html};
use placet_lang::Lang;
use placet_wire::api::{PreviewPart, RollbackPreview, RunView};

use crate::markup::forms::{Form, reason};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{section, size};
use crate::markup::refusals::in_english;
use crate::markup::text;

#[derive(Debug, Clone)]
pub(crate) struct RollbackPage {
    pub(crate) run: RunView,
    pub(crate) to: u32,
    /// What its host says would change, if it has answered; otherwise why not.
    pub(crate) preview: Result<RollbackPreview, String>,
    pub(crate) may: bool,
}

pub(crate) fn rollback(viewer: &Viewer, shown: &RollbackPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    let title = format!("{} {}", lang.rollback_title(), shown.to);
    let content = html! {
        p.path { a href={ "/runs/" (run.id) } { (text::line(lang, &run.goal)) } }
        h1 { (title) }
        p { (lang.rollback_hint()) }
        @match &shown.preview {
            Ok(preview) => {
                h2 { (lang.would_change()) }
                div.two { (part(lang, "workspace", lang.workspace(), &preview.workspace)) (part(lang, "memory", lang.memory(), &preview.memory)) }
                @if !preview.drift.is_empty() {
                    (section("drift", lang.drift(), &html! {
                        ul.plain { @for line in &preview.drift { li { code { (text::line(lang, &line.path)) } " " (line.what) } } }
                        @if preview.drift_left_off > 0 { p.note { "+" (lang.number(preview.drift_left_off)) } }
                    }))
                }
            },
            Err(why) => p.note { (lang.no_preview()) " " (in_english(lang, why)) },
        }
        @if shown.may && shown.preview.is_ok() {
            section.panel.decide aria-labelledby="decide" {
                h2 #decide { (lang.decide()) }
                (Form::to(format!("/runs/{}/rollback/{}", run.id, shown.to), viewer).named("rollback").with(&html! {
                    (reason("reason", lang.reason())) button.bad { (lang.go_back_now()) }
                }))
            }
        }
    };
    page(viewer, Here::Runs, &title, &Live::around(), &content)
}

/// What would become of one file, in the words of the sums above it.
fn effect(lang: Lang, effect: &str) -> &str {
    match effect {
        "created" => lang.n_created(1),
        "changed" => lang.n_changed(1),
        "removed" => lang.n_removed(1),
        "mode_changed" => lang.n_mode_changed(1),
        other => other,
    }
}

fn part(lang: Lang, id: &str, heading: &str, part: &PreviewPart) -> Markup {
    let counts = [
        (part.created, lang.n_created(part.created)),
        (part.changed, lang.n_changed(part.changed)),
        (part.removed, lang.n_removed(part.removed)),
        (part.mode_changed, lang.n_mode_changed(part.mode_changed)),
    ];
    section(
        id,
        heading,
        &html! {
            p { @for (count, word) in counts { span.tally { strong { (lang.number(count)) } " " (word) } } }
            ul.plain.scroll tabindex="0" {
                @for line in &part.lines {
                    li {
                        b data-effect=(line.effect) { (effect(lang, &line.effect)) } " " code { (text::line(lang, &line.path)) }
                        @if let Some(bytes) = line.bytes_after.or(line.bytes_before) { " " small { (size(lang, bytes)) } }
                    }
                }
            }
            @if part.left_off > 0 { p.note { "+" (lang.number(part.left_off)) } }
        },
    )
}
