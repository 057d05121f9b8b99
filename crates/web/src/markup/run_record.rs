//! What a run left: snapshots, outputs, and its entries of the ledger.

use maud::{Markup, html};
use placet_lang::Lang;
use placet_wire::api::RunView;

use crate::markup::layout::Viewer;
use crate::markup::parts::{digest, moment, parsed, short, size};
use crate::markup::run::RunPage;
use crate::markup::{reasons, text};

pub(crate) fn snapshots(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    html! {
        ol.plain.snapshots data-live="snapshots" {
            @if run.snapshots.is_empty() { li.note { (lang.no_snapshots()) } }
            @for snapshot in run.snapshots.iter().rev() {
                li {
                    strong { (snapshot.number) } " " (moment(lang, parsed(&snapshot.taken_at), viewer.now)) " · "
                    (lang.step_of(snapshot.steps_done, run.plan.len() as u32)) " · " (lang.number(snapshot.files)) " " (lang.n_files(snapshot.files)) " · " (size(lang, snapshot.size_bytes))
                    @if shown.moves.roll_back { " " a href={ "/runs/" (run.id) "/rollback/" (snapshot.number) } { (lang.roll_back()) } }
                }
            }
        }
    }
}

pub(crate) fn outputs(lang: Lang, run: &RunView) -> Markup {
    html! {
        ul.plain data-live="outputs" {
            @if run.outputs.is_empty() { li.note { (lang.nothing()) } }
            @for output in &run.outputs {
                li {
                    a href={ "/evidence/" (run.project) "/" (output.digest) } download { (text::line(lang, &output.path)) }
                    " " small { (size(lang, output.size_bytes)) " · " (digest(output.digest)) }
                }
            }
        }
    }
}

pub(crate) fn audit(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, rows) = (viewer.lang, &shown.audit);
    html! {
        @if shown.heartbeats > 0 { p.note data-live="heartbeats" { (lang.number(shown.heartbeats)) " " (lang.n_heartbeats_left_out(shown.heartbeats)) } }
        div.scroll tabindex="0" role="region" aria-label=(lang.audit()) #audit-list data-live="audit" {
            table.list {
                thead { tr { th { "#" } th { (lang.when()) } th { (lang.event()) } th { (lang.actor()) } th { (lang.state()) } th { (lang.tokens()) } th { (lang.cost()) } } }
                tbody {
                    @for row in rows.iter().rev() {
                        tr {
                            td.n { @if viewer.reads_ledger { a href={ "/ledger/" (row.seq) } { (row.seq) } } @else { (row.seq) } }
                            td.n { (moment(lang, parsed(&row.timestamp), viewer.now)) }
                            td.wide {
                                code { (row.event) }
                                @if let Some(action) = &row.action { " " a href={ "/actions/" (action) } { (short(action)) } }
                            }
                            td { (actor(lang, shown, &row.actor)) }
                            td { @if let Some(status) = &row.status { (reasons::of_audit(lang, status)) } }
                            td { @if row.tokens > 0 { (lang.number(row.tokens)) } }
                            td { @if row.cost_usd_micros > 0 { (lang.money(row.cost_usd_micros)) } }
                        }
                    }
                }
            }
        }
    }
}

/// By name where there is one; whoever points at it sees the id.
fn actor(lang: Lang, shown: &RunPage, id: &str) -> Markup {
    html! {
        @match shown.names.get(id) {
            Some(name) => span title=(id) { (text::line(lang, name)) },
            None => (short(id)),
        }
    }
}
