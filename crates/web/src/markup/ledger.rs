//! The ledger: its entries, and for each of them the proof that it is there.

use maud::{Markup, html};
use placet_domain::time::Timestamp;
use placet_wire::api::HeadView;

use crate::markup::forms::field;
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{exactly, fact, moment, section, short};
use crate::markup::text;

/// What entries call a sign of life of a worker.
const HEARTBEAT: &str = "job.renewed";

/// A row of the list.
#[derive(Debug, Clone)]
pub(crate) struct EntryRow {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    pub(crate) at: Timestamp,
    pub(crate) concerns: Concerns,
}

#[derive(Debug, Clone)]
pub(crate) struct LedgerPage {
    pub(crate) head: Option<HeadView>,
    /// Newest first.
    pub(crate) rows: Vec<EntryRow>,
    /// Where the next page begins.
    pub(crate) older: Option<u64>,
    pub(crate) wanted: Wanted,
    /// Whether workers' heartbeats are among the rows.
    pub(crate) with_heartbeats: bool,
}

/// Which entries somebody wants to see; what is empty is any.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wanted {
    /// What the kind begins with.
    pub(crate) kind: String,
    pub(crate) run: String,
    /// Who did it, by id.
    pub(crate) actor: String,
}

impl Wanted {
    pub(crate) const fn is_any(&self) -> bool {
        self.kind.is_empty() && self.run.is_empty() && self.actor.is_empty()
    }

    /// The same for the next page.
    fn older(&self, before: u64) -> String {
        format!("{}&before={before}", self.address()).replacen("/ledger&", "/ledger?", 1)
    }

    /// Heartbeats, of whatever else is looked for.
    fn heartbeats(&self) -> String {
        Self { kind: HEARTBEAT.to_owned(), ..self.clone() }.address()
    }

    fn address(&self) -> String {
        let named = [("kind", &self.kind), ("run", &self.run), ("actor", &self.actor)];
        // Only what needs no escape is ever looked for.
        let said: Vec<String> = named
            .iter()
            .filter(|(_, value)| !value.is_empty())
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        if said.is_empty() { "/ledger".to_owned() } else { format!("/ledger?{}", said.join("&")) }
    }
}

pub(crate) fn ledger(viewer: &Viewer, shown: &LedgerPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_ledger()) }
        p { (lang.ledger_hint()) }
        div data-live="head" { @if let Some(head) = &shown.head { (section("head", lang.newest_head(), &signed(viewer, head))) } }
        (looking(viewer, &shown.wanted))
        div.scroll tabindex="0" role="region" aria-label=(lang.entries()) data-live="entries" {
            table.list {
                thead { tr { th { "#" } th { (lang.event()) } th { (lang.about()) } th { (lang.actor()) } th { (lang.when()) } } }
                tbody { @for row in &shown.rows { (listed(viewer, row)) } }
            }
            @if shown.rows.is_empty() { p.note { (lang.none_of_these()) } }
        }
        @if !shown.with_heartbeats { p.note { (lang.heartbeats_hidden()) " " a href=(shown.wanted.heartbeats()) { (lang.heartbeats_show()) } } }
        @if let Some(older) = shown.older { p { a.button href=(shown.wanted.older(older)) { (lang.older()) } } }
    };
    page(viewer, Here::Ledger, lang.nav_ledger(), &Live::of_all(), &content)
}

fn listed(viewer: &Viewer, row: &EntryRow) -> Markup {
    let (lang, concerns) = (viewer.lang, &row.concerns);
    html! {
        tr {
            td.n { a href={ "/ledger/" (row.seq) } { (row.seq) } }
            td { code { (row.kind) } }
            td.wide {
                @match (&concerns.action, &concerns.run) {
                    (Some(action), _) => a href={ "/actions/" (action.id) } { (text::line(lang, &action.told)) },
                    (None, Some(run)) => a href={ "/runs/" (run.id) } { (text::line(lang, &run.told)) },
                    (None, None) => {},
                }
            }
            td { (by(viewer, &concerns.actor)) }
            td.n { (moment(lang, row.at, viewer.now)) }
        }
    }
}

/// Whoever did it, with the way to everything they did; the runtime itself has no id.
fn by(viewer: &Viewer, actor: &Named) -> Markup {
    html! {
        @if actor.id.starts_with("idn_") { a href={ "/ledger?actor=" (actor.id) } title=(actor.id) { (text::line(viewer.lang, &actor.told)) } }
        @else { (text::line(viewer.lang, &actor.told)) }
    }
}

/// Ways to find an entry: by what it is, whose it is, or its number. Reads only, so it is sent as an address.
fn looking(viewer: &Viewer, wanted: &Wanted) -> Markup {
    let lang = viewer.lang;
    html! {
        form.looking method="get" action="/ledger" #looking {
            (field("kind", lang.kind_begins(), &html! { input #kind name="kind" value=(wanted.kind) autocomplete="off" pattern="[a-z_.]*" placeholder="action.approved"; }))
            (field("of-run", lang.one_run(), &html! { input #of-run name="run" value=(wanted.run) autocomplete="off" pattern="(run_[0-9a-f]+)?" placeholder="run_…"; }))
            (field("actor", lang.actor(), &html! { input #actor name="actor" value=(wanted.actor) autocomplete="off" maxlength="200" placeholder="ada"; }))
            (field("number", lang.number_of_entry(), &html! { input #number name="at" inputmode="numeric" pattern="[0-9]*" autocomplete="off"; }))
            button { (lang.find()) }
        }
    }
}

fn signed(viewer: &Viewer, head: &HeadView) -> Markup {
    let lang = viewer.lang;
    html! {
        p { strong { (lang.number(head.size)) } " " (lang.entries_signed()) " " code.digest { (head.root) } }
        details {
            summary { (lang.check_yourself_offline()) }
            dl.facts.wide { (fact(lang.key(), &html! { code { (head.key) } })) }
            pre.note-text tabindex="0" { (head.note) }
            pre { code { "placet ledger export out && placet ledger verify out --key '" (head.key) "'" } }
        }
    }
}

#[derive(Debug, Clone)]
pub(crate) struct EntryPage {
    pub(crate) seq: u64,
    pub(crate) kind: String,
    pub(crate) at: Timestamp,
    /// The entry, canonical JSON, written over several lines.
    pub(crate) entry: String,
    pub(crate) leaf: String,
    /// The hashes beside the way from it to the root, lowest first.
    pub(crate) path: Vec<String>,
    /// Whether they lead from these bytes to the root of the signed head, tried just now.
    pub(crate) is_verified: bool,
    /// The newest signed head.
    pub(crate) note: String,
    /// How many entries there are.
    pub(crate) newest: u64,
    pub(crate) concerns: Concerns,
}

/// What an entry leads to: who did it, and the run and the action that it is about.
#[derive(Debug, Clone, Default)]
pub(crate) struct Concerns {
    pub(crate) actor: Named,
    pub(crate) run: Option<Named>,
    pub(crate) action: Option<Named>,
}

/// Something by its id, and what people call it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) told: String,
}

pub(crate) fn entry(viewer: &Viewer, shown: &EntryPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        p.path { a href="/ledger" { (lang.nav_ledger()) } }
        h1 { (lang.entry()) " " (shown.seq) " " code { (shown.kind) } }
        @if shown.is_verified { p { strong.good { "✓ " (lang.verified()) } " · " a href="#proof" { (lang.proof()) } } }
        p.filters {
            @if shown.seq > 0 { a href={ "/ledger/" (shown.seq - 1) } rel="prev" { (lang.older()) } }
            @if shown.seq + 1 < shown.newest { a href={ "/ledger/" (shown.seq + 1) } rel="next" { (lang.newer()) } }
        }
        (leads_to(viewer, shown))
        pre.entry tabindex="0" { (text::lines(lang, &shown.entry)) }
        (section("proof", lang.proof(), &proof(viewer, shown)))
    };
    page(viewer, Here::Ledger, &format!("{} {}", lang.entry(), shown.seq), &Live::around(), &content)
}

fn leads_to(viewer: &Viewer, shown: &EntryPage) -> Markup {
    let (lang, concerns) = (viewer.lang, &shown.concerns);
    html! {
        dl.facts.wide {
            @if let Some(Named { id, told }) = &concerns.action { (fact(lang.one_action(), &html! { a href={ "/actions/" (id) } { (text::line(lang, told)) } " " small { (short(id)) } })) }
            @if let Some(Named { id, told }) = &concerns.run { (fact(lang.one_run(), &html! { a href={ "/runs/" (id) } { (text::line(lang, told)) } " · " a href={ "/ledger?run=" (id) } { (lang.entries()) } })) }
            (fact(lang.actor(), &by(viewer, &concerns.actor)))
            (fact(lang.when(), &html! { (exactly(shown.at)) " (" (moment(lang, shown.at, viewer.now)) ")" }))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_whoever_asks_for_heartbeats_or_older_ones_keeps_what_they_look_for() {
        let wanted = Wanted { kind: "action.".to_owned(), run: "run_7".to_owned(), actor: "idn_1".to_owned() };
        assert_eq!(wanted.heartbeats(), "/ledger?kind=job.renewed&run=run_7&actor=idn_1");
        assert_eq!(wanted.older(9), "/ledger?kind=action.&run=run_7&actor=idn_1&before=9");
        assert_eq!(Wanted::default().older(9), "/ledger?before=9");
        assert_eq!(Wanted::default().heartbeats(), "/ledger?kind=job.renewed");
    }
}
