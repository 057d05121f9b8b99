//! The actions of a run: those that wait for a word of somebody, and all of them, the newest first.

use maud::{Markup, html};
use placet_domain::run::RunStatus;
use placet_domain::time::Timestamp;
use placet_wire::api::ActionView;

use crate::markup::layout::Viewer;
use crate::markup::parts::{moment, short, status, tier};
use crate::markup::run::RunPage;
use crate::markup::text;

/// An action of a run, in a list.
#[derive(Debug, Clone)]
pub(crate) struct RunAction {
    pub(crate) action: ActionView,
    /// One line that tells what it is.
    pub(crate) title: String,
    pub(crate) since: Timestamp,
}

/// Actions that wait for a word: what people are asked about, what was interrupted, and what was rehearsed.
pub(crate) fn waiting_actions(viewer: &Viewer, shown: &RunPage) -> Markup {
    let lang = viewer.lang;
    let is_over = shown.run.status.is_final();
    html! {
        div data-live="waiting-actions" {
            @if !shown.asked.is_empty() {
                section.panel aria-labelledby="asked" { h2 #asked { (lang.asked_ones()) } (table(viewer, &shown.asked)) @if shown.asks_more { p.note { a href="/" { (lang.asks_more()) } } } }
            }
            @if !shown.interrupted.is_empty() {
                section.panel aria-labelledby="interrupted" { h2 #interrupted { (lang.interrupted_ones()) } (table(viewer, &shown.interrupted)) }
            }
            @if !shown.rehearsed.is_empty() && !is_over {
                section.panel aria-labelledby="rehearsed" {
                    h2 #rehearsed { (lang.rehearsed_ones()) }
                    p { (if shown.run.status == RunStatus::PendingExport { lang.rehearsed_now() } else { lang.rehearsed_later() }) }
                    (table(viewer, &shown.rehearsed))
                }
            }
        }
    }
}

pub(crate) fn actions(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, more) = (viewer.lang, shown.action_count.saturating_sub(shown.actions.len() as u64));
    html! {
        div #action-list data-live="actions" {
            @if shown.actions.is_empty() { p.note { (lang.nothing()) } } @else { (table(viewer, &shown.actions)) }
            @if more > 0 { p.note { (lang.number(more)) " " (lang.n_older(more)) } }
        }
    }
}

pub(crate) fn table(viewer: &Viewer, rows: &[RunAction]) -> Markup {
    let lang = viewer.lang;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.actions()) {
            table.list {
                thead { tr { th { (lang.what_it_is()) } th { (lang.state()) } th { (lang.filter_tier()) } th { (lang.when()) } } }
                tbody {
                    @for RunAction { action, title, since } in rows {
                        tr {
                            td.wide { a href={ "/actions/" (action.id) } { (text::line(lang, title)) } " " small { (short(&action.id.to_string())) } }
                            td { (status(action.status.as_str())) }
                            td { (tier(lang, &action.verdict.tier)) }
                            td.n { (moment(lang, *since, viewer.now)) }
                        }
                    }
                }
            }
        }
    }
}
