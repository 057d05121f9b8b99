//! All runs, newest first.

use maud::{Markup, html};
use placet_domain::time::Timestamp;
use placet_lang::Lang;
use placet_wire::api::RunView;

use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{moment, status};
use crate::markup::text;

#[derive(Debug, Clone)]
pub(crate) struct RunRow {
    pub(crate) run: RunView,
    pub(crate) agent: String,
    pub(crate) since: Timestamp,
}

/// A page of them; `older` where the next page begins.
pub(crate) fn runs(viewer: &Viewer, rows: &[RunRow], older: Option<u64>) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_runs()) }
        div data-live="runs" { @if rows.is_empty() { (none(lang)) } @else { (table(viewer, rows)) } }
        @if let Some(older) = older { p { a.button href={ "/runs?after=" (older) } { (lang.older()) } } }
    };
    page(viewer, Here::Runs, lang.nav_runs(), &Live::of_all(), &content)
}

fn none(lang: Lang) -> Markup {
    html! {
        div.empty {
            p { strong { (lang.no_runs()) } }
            p { (lang.no_runs_hint()) }
            pre { code { "placet run plan 'Summarise notes.txt' --scope notes" } }
        }
    }
}

fn table(viewer: &Viewer, rows: &[RunRow]) -> Markup {
    let lang = viewer.lang;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.nav_runs()) {
            table.list {
                thead { tr { th { (lang.goal()) } th { (lang.state()) } th { (lang.agent()) } th { (lang.mode()) } th { (lang.steps()) } th { (lang.since()) } } }
                tbody {
                    @for row in rows {
                        tr {
                            td.wide { a href={ "/runs/" (row.run.id) } { (text::line(lang, &row.run.goal)) } }
                            td { (status(row.run.status.as_str())) }
                            td.wide { (text::line(lang, &row.agent)) }
                            td.n { (row.run.mode) }
                            td { (row.run.steps_done) "/" (row.run.plan.len()) }
                            td.n { (moment(lang, row.since, viewer.now)) }
                        }
                    }
                }
            }
        }
    }
}
