//! The ledger: its entries, and for each of them the proof that it is there.

use maud::{Markup, html};
use placet_domain::time::Timestamp;
use placet_wire::api::HeadView;

use crate::forms::field;
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
    pub wanted: Wanted,
}

/// Which entries somebody wants to see; what is empty is any.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    /// What the kind begins with.
    pub kind: String,
    pub run: String,
    /// Who did it, by id.
    pub actor: String,
}

impl Wanted {
    pub const fn is_any(&self) -> bool {
        self.kind.is_empty() && self.run.is_empty() && self.actor.is_empty()
    }

    /// The same for the next page.
    fn older(&self, before: u64) -> String {
        let mut query = format!("/ledger?before={before}");
        for (name, value) in [("kind", &self.kind), ("run", &self.run), ("actor", &self.actor)] {
            // Only what needs no escape is ever looked for.
            if !value.is_empty() {
                query.push_str(&format!("&{name}={value}"));
            }
        }
        query
    }
}

pub fn ledger(viewer: &Viewer, shown: &LedgerPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_ledger()) }
        div data-live="head" { @if let Some(head) = &shown.head { (section("head", lang.newest_head(), &signed(viewer, head))) } }
        (looking(viewer, &shown.wanted))
        div.scroll tabindex="0" role="region" aria-label=(lang.entries()) data-live="entries" {
            table.list {
                thead { tr { th { "#" } th { (lang.event()) } th { (lang.actor()) } th { (lang.when()) } } }
                tbody {
                    @for row in &shown.rows {
                        tr {
                            td.n { a href={ "/ledger/" (row.seq) } { (row.seq) } }
                            td { code { (row.kind) } }
                            td { @if row.actor.starts_with("idn_") { a href={ "/ledger?actor=" (row.actor) } { (short(&row.actor)) } } @else { (short(&row.actor)) } }
                            td { (moment(lang, row.at, viewer.now)) }
                        }
                    }
                }
            }
        }
        @if let Some(older) = shown.older { p { a.button href=(shown.wanted.older(older)) { (lang.older()) } } }
    };
    page(viewer, Here::Ledger, lang.nav_ledger(), &Live::of_all(), &content)
}

/// Ways to find an entry: by what it is, whose it is, or its number. Reads only, so it is sent as an address.
fn looking(viewer: &Viewer, wanted: &Wanted) -> Markup {
    let lang = viewer.lang;
    html! {
        form.looking method="get" action="/ledger" #looking {
            (field("kind", lang.kind_begins(), &html! { input #kind name="kind" value=(wanted.kind) autocomplete="off" pattern="[a-z_.]*" placeholder="action.approved"; }))
            (field("of-run", lang.one_run(), &html! { input #of-run name="run" value=(wanted.run) autocomplete="off" pattern="(run_[0-9a-f]+)?" placeholder="run_…"; }))
            (field("actor", lang.actor(), &html! { input #actor name="actor" value=(wanted.actor) autocomplete="off" pattern="[a-z0-9_]*" placeholder="idn_…"; }))
            (field("number", lang.number_of_entry(), &html! { input #number name="at" inputmode="numeric" pattern="[0-9]*" autocomplete="off"; }))
            button { (lang.find()) }
        }
    }
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
    /// Who did it, and the run and the action that it concerns, by their ids.
    pub concerns: Concerns,
}

/// What an entry leads to.
#[derive(Debug, Clone, Default)]
pub struct Concerns {
    pub actor: Option<String>,
    pub run: Option<String>,
    pub action: Option<String>,
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
        (leads_to(viewer, &shown.concerns))
        pre.entry tabindex="0" { (text::lines(lang, &shown.entry)) }
        (section("proof", lang.proof(), &proof(viewer, shown)))
    };
    page(viewer, Here::Ledger, &format!("{} {}", lang.entry(), shown.seq), &Live::around(), &content)
}

fn leads_to(viewer: &Viewer, concerns: &Concerns) -> Markup {
    let lang = viewer.lang;
    html! {
        @if concerns.actor.is_some() || concerns.run.is_some() || concerns.action.is_some() {
            dl.facts.wide {
                @if let Some(id) = &concerns.action { (fact(lang.one_action(), &html! { a href={ "/actions/" (id) } { (short(id)) } })) }
                @if let Some(id) = &concerns.run { (fact(lang.one_run(), &html! { a href={ "/runs/" (id) } { (short(id)) } " · " a href={ "/ledger?run=" (id) } { (lang.entries()) } })) }
                @if let Some(id) = &concerns.actor { (fact(lang.actor(), &html! { a href={ "/ledger?actor=" (id) } { (short(id)) } })) }
            }
        }
    }
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
