//! The ledger: its entries, and for each of them the proof that it is there.

use maud::{Markup, html};
use placet_domain::time::Timestamp;
use placet_wire::api::HeadView;

use crate::layout::{Here, Live, Viewer, page};
use crate::parts::{fact, moment, section, short};
use crate::text;

/// A row of the list.
#[derive(Debug, Clone)]
pub struct EntryRow {
    pub seq: u64,
    pub kind: String,
    pub actor: String,
    pub at: Timestamp,
}

#[derive(Debug, Clone)]
pub struct LedgerPage {
    pub head: Option<HeadView>,
    /// Newest first.
    pub rows: Vec<EntryRow>,
    /// Where the next page begins.
    pub older: Option<u64>,
}

pub fn ledger(viewer: &Viewer, shown: &LedgerPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_ledger()) }
        div data-live="head" { @if let Some(head) = &shown.head { (section("head", lang.newest_head(), &signed(viewer, head))) } }
        div.scroll tabindex="0" role="region" aria-label=(lang.entries()) data-live="entries" {
            table.list {
                thead { tr { th { "#" } th { (lang.event()) } th { (lang.actor()) } th { (lang.when()) } } }
                tbody {
                    @for row in &shown.rows {
                        tr {
                            td.n { a href={ "/ledger/" (row.seq) } { (row.seq) } }
                            td { code { (row.kind) } }
                            td { (short(&row.actor)) }
                            td { (moment(lang, row.at, viewer.now)) }
                        }
                    }
                }
            }
        }
        @if let Some(older) = shown.older { p { a.button href={ "/ledger?before=" (older) } { (lang.older()) } } }
    };
    page(viewer, Here::Ledger, lang.nav_ledger(), &Live::of_all(), &content)
}

fn signed(viewer: &Viewer, head: &HeadView) -> Markup {
    let lang = viewer.lang;
    html! {
        dl.facts.wide {
            (fact(lang.size(), &html! { (lang.number(head.size)) }))
            (fact(lang.root(), &html! { code { (head.root) } }))
            (fact(lang.key(), &html! { code { (head.key) } }))
        }
        pre.note-text tabindex="0" { (head.note) }
        p { (lang.check_yourself()) }
        pre { code { "placet ledger export out && placet ledger verify out --key '" (head.key) "'" } }
    }
}

#[derive(Debug, Clone)]
pub struct EntryPage {
    pub seq: u64,
    /// The entry, canonical JSON, written over several lines.
    pub entry: String,
    pub leaf: String,
    /// The hashes beside the way from it to the root, lowest first.
    pub path: Vec<String>,
    /// Whether they lead from these bytes to the root of the signed head, tried just now.
    pub is_verified: bool,
    /// The newest signed head.
    pub note: String,
    /// How many entries there are.
    pub newest: u64,
}

pub fn entry(viewer: &Viewer, shown: &EntryPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        p.path { a href="/ledger" { (lang.nav_ledger()) } }
        h1 { (lang.entry()) " " (shown.seq) }
        p.filters {
            @if shown.seq > 0 { a href={ "/ledger/" (shown.seq - 1) } rel="prev" { (lang.older()) } }
            @if shown.seq + 1 < shown.newest { a href={ "/ledger/" (shown.seq + 1) } rel="next" { (lang.newer()) } }
        }
        pre.entry tabindex="0" { (text::lines(lang, &shown.entry)) }
        (section("proof", lang.proof(), &proof(viewer, shown)))
    };
    page(viewer, Here::Ledger, &format!("{} {}", lang.entry(), shown.seq), &Live::around(), &content)
}

fn proof(viewer: &Viewer, shown: &EntryPage) -> Markup {
    let lang = viewer.lang;
    html! {
        dl.facts.wide { (fact(lang.leaf(), &html! { code { (shown.leaf) } })) }
        @if shown.is_verified { p { (lang.inclusion()) " " strong.good { "✓ " (lang.verified()) } } }
        @else { p.note.bad role="alert" { (lang.not_proven()) } }
        ol.plain.proof { @for hash in &shown.path { li { code { (hash) } } } }
        pre.note-text tabindex="0" { (shown.note) }
        p { (lang.check_yourself()) }
        pre { code { "placet ledger prove " (shown.seq) } }
    }
}
