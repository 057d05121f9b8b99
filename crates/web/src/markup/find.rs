//! Finding: what there is of an id, a number or some words. How far was looked is said, so that nobody takes "nothing found" for "there is
//! nothing".

use maud::{Markup, html};
use placet_lang::Lang;
use placet_wire::api::RunView;

use crate::markup::icons::{self, icon};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{section, short, status};
use crate::markup::run_actions::{RunAction, table};
use crate::markup::text;

/// Longer than an id and most of what somebody remembers of a command.
pub(crate) const LONGEST_WORDS: usize = 200;

/// What was found.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    /// What was looked for.
    pub(crate) words: String,
    pub(crate) runs: Vec<RunView>,
    pub(crate) actions: Vec<RunAction>,
    /// Agents: id and name.
    pub(crate) agents: Vec<(String, String)>,
    /// Among how many of the newest runs and actions.
    pub(crate) among: (usize, usize),
}

/// The way to it, around every page; the key `/` leads there.
pub(crate) fn form(lang: Lang, words: &str, id: &str) -> Markup {
    html! {
        form.find role="search" action="/find" {
            label.unseen for=(id) { (lang.find_label()) }
            (icon(icons::LENS))
            input id=(id) type="search" name="q" value=(words) maxlength=(LONGEST_WORDS) placeholder=(lang.find_label()) autocomplete="off" spellcheck="false";
        }
    }
}

pub(crate) fn find(viewer: &Viewer, found: &Found) -> Markup {
    let (lang, is_nothing) =
        (viewer.lang, found.runs.is_empty() && found.actions.is_empty() && found.agents.is_empty());
    let content = html! {
        h1 { (lang.find()) @if !found.words.is_empty() { " " q { (text::line(lang, &found.words)) } } }
        (form(lang, &found.words, "words"))
        p.note { (lang.find_hint()) }
        @if !found.words.is_empty() {
            @if is_nothing { p { strong { (lang.found_nothing()) } } }
            @if !found.actions.is_empty() { (section("actions", lang.actions(), &table(viewer, &found.actions))) }
            @if !found.runs.is_empty() { (section("runs", lang.nav_runs(), &runs(lang, &found.runs))) }
            @if !found.agents.is_empty() { (section("agents", lang.nav_agents(), &agents(lang, &found.agents))) }
            p.note { (lang.found_among()) " " (lang.number(found.among.0 as u64)) " " (lang.n_newest_runs(found.among.0 as u64)) ", " (lang.number(found.among.1 as u64)) " " (lang.n_newest_actions(found.among.1 as u64)) }
        }
    };
    page(viewer, Here::Find, lang.find(), &Live::around(), &content)
}

fn runs(lang: Lang, runs: &[RunView]) -> Markup {
    html! {
        ul.plain {
            @for run in runs { li { a href={ "/runs/" (run.id) } { (text::line(lang, &run.goal)) } " " small { (short(&run.id.to_string())) } " " (status(run.status.as_str())) } }
        }
    }
}

fn agents(lang: Lang, agents: &[(String, String)]) -> Markup {
    html! { ul.plain { @for (id, name) in agents { li { a href={ "/agents/" (id) } { (text::line(lang, name)) } " " small { (short(id)) } } } } }
}
