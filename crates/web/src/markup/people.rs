//! Agents, with whom they descend from.

use maud::{Markup, html};
use placet_lang::Lang;
use placet_wire::api::IdentityView;

use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{section, short, status};
use crate::markup::text;

#[derive(Debug, Clone)]
pub(crate) struct AgentRow {
    pub(crate) identity: IdentityView,
    /// Names of whom it descends from, the eldest first.
    pub(crate) lineage: Vec<String>,
    /// Its newest run: id, goal and state.
    pub(crate) run: Option<(String, String, String)>,
    /// How many it has besides, among the newest of all.
    pub(crate) more_runs: u64,
}

pub(crate) fn agents(viewer: &Viewer, rows: &[AgentRow]) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_agents()) }
        div data-live="agents" {
            @if rows.is_empty() { (none(lang.no_agents(), "placet identity add tom --role agent")) } @else { (agent_table(lang, rows)) }
        }
    };
    page(viewer, Here::Agents, lang.nav_agents(), &Live::of_all(), &content)
}

fn agent_table(lang: Lang, rows: &[AgentRow]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.nav_agents()) {
            table.list {
                thead { tr { th { (lang.name()) } th { (lang.lineage()) } th { (lang.nav_runs()) } th { (lang.state()) } } }
                tbody {
                    @for row in rows {
                        tr {
                            td.wide { a href={ "/agents/" (row.identity.id) } { strong { (text::line(lang, &row.identity.name)) } } " " small { (short(&row.identity.id.to_string())) } }
                            td { @if row.lineage.is_empty() { (lang.nobody()) } @else { (text::line(lang, &row.lineage.join(" → "))) } }
                            td.wide { (agent_runs(lang, row)) }
                            td { (agent_state(lang, row)) }
                        }
                    }
                }
            }
        }
    }
}

/// The newest one, and how many there are besides, with the way to them.
fn agent_runs(lang: Lang, row: &AgentRow) -> Markup {
    html! {
        @if let Some((id, goal, _)) = &row.run { a href={ "/runs/" (id) } { (text::line(lang, goal)) } }
        @if row.more_runs > 0 { " · " a href={ "/agents/" (row.identity.id) "#runs" } { "+" (lang.number(row.more_runs)) " " (lang.n_more_runs(row.more_runs)) } }
    }
}

fn agent_state(lang: Lang, row: &AgentRow) -> Markup {
    html! {
        @if row.identity.revoked { span.status data-mood="still" { (lang.revoked()) } }
        @else if let Some((_, _, state)) = &row.run { (status(state)) }
    }
}

/// One agent: where it comes from, what comes from it, and what became of what it asked.
#[derive(Debug, Clone)]
pub(crate) struct AgentPage {
    pub(crate) identity: IdentityView,
    /// Whom it descends from, the eldest first, and who descends from it: id, name, and whether there is a page of it.
    pub(crate) elders: Vec<(String, String, bool)>,
    pub(crate) children: Vec<(String, String, bool)>,
    /// Its runs, newest first: id, goal and state.
    pub(crate) runs: Vec<(String, String, String)>,
    /// Of what it proposed in them, what people approved and what they rejected.
    pub(crate) approved: u64,
    pub(crate) rejected: u64,
}

pub(crate) fn agent(viewer: &Viewer, shown: &AgentPage) -> Markup {
    let lang = viewer.lang;
    let decided = shown.approved + shown.rejected;
    let content = html! {
        p.path { a href="/agents" { (lang.nav_agents()) } }
        h1 { (text::line(lang, &shown.identity.name)) " " small { (short(&shown.identity.id.to_string())) } @if shown.identity.revoked { " " span.status data-mood="still" { (lang.revoked()) } } }
        div data-live="agent" {
            (section("lineage", lang.lineage(), &tree(lang, shown)))
            (section("asked", lang.nav_decisions(), &html! {
                p {
                    span.tally { strong { (lang.number(shown.approved)) } " " (lang.n_approved(shown.approved)) } " "
                    span.tally { strong { (lang.number(shown.rejected)) } " " (lang.n_rejected(shown.rejected)) }
                    @if decided > 0 { " " span.tally { strong { (lang.percent(shown.rejected * 100 / decided)) } " " (lang.rejected_share()) } }
                }
                @if viewer.reads_ledger { p { a href={ "/ledger?actor=" (shown.identity.id) } { (lang.its_entries()) } } }
            }))
            (section("runs", lang.its_runs(), &html! {
                @if shown.runs.is_empty() { p.note { (lang.no_runs()) } }
                ul.plain { @for (id, goal, state) in &shown.runs { li { a href={ "/runs/" (id) } { (text::line(lang, goal)) } " " (status(state)) } } }
            }))
        }
    };
    page(viewer, Here::Agents, &shown.identity.name, &Live::of_all(), &content)
}

/// From the eldest down to itself, each a step further in, and whoever descends from it below.
fn tree(lang: Lang, shown: &AgentPage) -> Markup {
    html! {
        (branch(lang, &shown.elders, &html! {
            strong { (text::line(lang, &shown.identity.name)) }
            @if !shown.children.is_empty() {
                ul { @for child in &shown.children { li { (relative(lang, child)) } } }
            }
        }))
    }
}

fn branch(lang: Lang, elders: &[(String, String, bool)], below: &Markup) -> Markup {
    match elders {
        [] => html! { ul.tree { li { (below) } } },
        [eldest, rest @ ..] => html! { ul.tree { li { (relative(lang, eldest)) (branch(lang, rest, below)) } } },
    }
}

fn relative(lang: Lang, (id, name, is_agent): &(String, String, bool)) -> Markup {
    html! { @if *is_agent { a href={ "/agents/" (id) } { (text::line(lang, name)) } } @else { (text::line(lang, name)) } }
}

pub(crate) fn none(told: &str, command: &str) -> Markup {
    html! { div.empty { p { strong { (told) } } pre { code { (command) } } } }
}
