//! Workers: how they are, what they do of how much they can, and what they say they are. The latter is their own claim, and marked where it
//! is not what the control plane has.

use maud::{Markup, html};
use placet_control::read::workers::WorkerRow;
use placet_domain::digest::Digest;
use placet_domain::identity::{CageTier, Declaration};
use placet_lang::Lang;

use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{digest, fact, moment, section, short, status};
use crate::markup::people::none;
use crate::markup::refusals::in_english;
use crate::markup::text;

/// One of them, with what it does now.
#[derive(Debug, Clone)]
pub(crate) struct WorkerPage {
    pub(crate) row: WorkerRow,
    /// Actions: id, tool and state.
    pub(crate) executes: Vec<(String, String, String)>,
    /// Runs: id, goal and state.
    pub(crate) hosts: Vec<(String, String, String)>,
}

pub(crate) fn workers(viewer: &Viewer, rows: &[WorkerRow]) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_workers()) }
        div data-live="workers" {
            @if rows.is_empty() { (none(lang.no_workers(), "placet identity add w1 --role worker && placet --as w1 work")) }
            @else { (table(viewer, rows)) }
        }
    };
    page(viewer, Here::Workers, lang.nav_workers(), &Live::of_all(), &content)
}

fn table(viewer: &Viewer, rows: &[WorkerRow]) -> Markup {
    let lang = viewer.lang;
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.nav_workers()) {
            table.list {
                thead { tr {
                    th { (lang.name()) } th { (lang.health()) } th { (lang.last_seen()) } th { (lang.holds_leases()) } th { (lang.hosts_runs()) }
                    th { (lang.worker_version()) } th { (lang.worker_cage()) }
                } }
                tbody {
                    @for row in rows {
                        @let declared = row.declaration.as_deref();
                        tr {
                            td.wide { a href={ "/workers/" (row.identity.id) } { strong { (text::line(lang, &row.identity.name)) } } }
                            td { (health(lang, row)) }
                            td { @match row.last_seen { Some(at) => (moment(lang, at.min(viewer.now), viewer.now)), None => (lang.never()) } }
                            td { (used(lang, row.executes, declared.map(|declared| declared.actions_at_once))) }
                            td { (used(lang, row.hosts, declared.map(|declared| declared.runs_at_once))) }
                            td { @if let Some(declared) = declared { (version(lang, declared, row.other_version)) } }
                            td { @if let Some(declared) = declared { (cage(lang, declared, row)) } }
                        }
                    }
                }
            }
        }
    }
}

fn health(lang: Lang, row: &WorkerRow) -> Markup {
    html! {
        @if row.identity.revoked { span.status data-mood="still" { (lang.revoked()) } }
        @else if row.is_well { span.status data-mood="good" { (lang.well()) } }
        @else { span.status data-mood="bad" { (lang.silent()) } }
    }
}

/// "1 of 2", where it is known how much it can.
fn used(lang: Lang, now: u64, most: Option<u32>) -> Markup {
    html! { (lang.number(now)) @if let Some(most) = most { " " (lang.capacity_of()) " " (lang.number(u64::from(most))) } }
}

fn version(lang: Lang, declared: &Declaration, is_other: bool) -> Markup {
    html! { code { (text::line(lang, &declared.version)) } @if is_other { " " strong.ask { (lang.other_version()) } } }
}

fn tier(tier: CageTier) -> Markup {
    let mood = match tier {
        CageTier::Full => "good",
        CageTier::Degraded => "ask",
        CageTier::Unavailable => "bad",
    };
    html! { span.status data-mood=(mood) { (tier.as_str()) } }
}

/// How cages hold there, in short: what is missing is told on the page of the worker.
fn cage(lang: Lang, declared: &Declaration, row: &WorkerRow) -> Markup {
    html! {
        (tier(declared.cage.tier))
        @if !declared.cage.missing.is_empty() { " " small { (in_english(lang, &declared.cage.missing.join(", "))) } }
        @if !row.other_profiles.is_empty() { " " small.ask { (lang.number(row.other_profiles.len() as u64)) " " (lang.n_profiles_differ(row.other_profiles.len() as u64)) } }
    }
}

pub(crate) fn worker(viewer: &Viewer, shown: &WorkerPage) -> Markup {
    let (lang, row) = (viewer.lang, &shown.row);
    let content = html! {
        div data-live="worker" {
            p.path { a href="/workers" { (lang.nav_workers()) } " / " (short(&row.identity.id.to_string())) }
            h1 { (text::line(lang, &row.identity.name)) " " (health(lang, row)) }
            p.note {
                (lang.last_seen()) (lang.colon()) @match row.last_seen { Some(at) => (moment(lang, at.min(viewer.now), viewer.now)), None => (lang.never()) }
                " · " (lang.worker_claims())
            }
            @match row.declaration.as_deref() {
                None => p.ask { (lang.not_declared()) },
                Some(declared) => (declaration(lang, declared, row)),
            }
            div.two {
                (section("executes", lang.executes_now(), &doings(lang, "/actions/", &shown.executes)))
                (section("hosts", lang.hosts_now(), &doings(lang, "/runs/", &shown.hosts)))
            }
        }
    };
    page(viewer, Here::Workers, &row.identity.name, &Live::of_all(), &content)
}

fn declaration(lang: Lang, declared: &Declaration, row: &WorkerRow) -> Markup {
    html! {
        div.two {
            (section("machine", lang.machine(), &html! {
                dl.facts {
                    (fact(lang.worker_version(), &version(lang, declared, row.other_version)))
                    (fact(lang.machine(), &html! { code { (text::line(lang, &declared.host)) } " · Linux " code { (text::line(lang, &declared.kernel)) } }))
                    (fact(lang.holds_leases(), &used(lang, row.executes, Some(declared.actions_at_once))))
                    (fact(lang.hosts_runs(), &used(lang, row.hosts, Some(declared.runs_at_once))))
                }
            }))
            (section("cage", lang.worker_cage(), &html! {
                p { (tier(declared.cage.tier)) @if declared.cage.missing.is_empty() { " " (lang.every_layer_holds()) } }
                @if !declared.cage.missing.is_empty() {
                    p { (lang.not_enforced_there()) }
                    ul { @for what in &declared.cage.missing { li lang="en" { (text::line(lang, what)) } } }
                }
                ul.plain { @for what in &declared.cage.means { li lang="en" { (text::line(lang, what)) } } }
            }))
        }
        (section("profiles", lang.profiles(), &profiles(lang, declared, row)))
    }
}

/// Every kind of cage there, and those of the control plane that are not the same.
fn profiles(lang: Lang, declared: &Declaration, row: &WorkerRow) -> Markup {
    let absent = row.other_profiles.iter().filter(|name| !declared.profiles.contains_key(*name));
    let names = declared
        .profiles
        .iter()
        .map(|(name, amounts)| (name, Some(*amounts)))
        .chain(absent.map(|name| (name, None::<Digest>)));
    html! {
        ul.plain {
            @for (name, amounts) in names {
                li {
                    code { (text::line(lang, name)) } " "
                    @if let Some(amounts) = amounts { (digest(amounts)) " " }
                    @if row.other_profiles.contains(name) { strong.ask { (lang.other_than_here()) } }
                }
            }
        }
    }
}

fn doings(lang: Lang, place: &str, all: &[(String, String, String)]) -> Markup {
    html! {
        @if all.is_empty() { p.note { (lang.nothing()) } }
        ul.plain { @for (id, what, state) in all { li { a href={ (place) (id) } { (text::line(lang, what)) } " " (status(state)) } } }
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::identity::CageStanding;

    use super::*;

    fn declared() -> Declaration {
        Declaration {
            version: "9.9\u{202e}".to_owned(),
            host: "<b>lab</b>".to_owned(),
            kernel: "6.12".to_owned(),
            actions_at_once: 2,
            runs_at_once: 4,
            cage: CageStanding { tier: CageTier::Degraded, missing: vec!["landlock".to_owned()], means: Vec::new() },
            profiles: [("default".to_owned(), Digest::of(b"there"))].into(),
        }
    }

    fn row() -> WorkerRow {
        let identity = serde_json::json!({ "id": format!("idn_{}", "0".repeat(32)), "name": "w1", "roles": ["worker"], "revoked": false });
        WorkerRow {
            identity: serde_json::from_value(identity).unwrap(),
            last_seen: None,
            executes: 1,
            hosts: 0,
            is_well: true,
            declaration: Some(Box::new(declared())),
            other_version: true,
            other_profiles: vec!["default".to_owned(), "wide".to_owned()],
        }
    }

    #[test]
    fn c16_what_a_worker_claims_is_shown_harmless_and_what_is_not_as_here_is_told() {
        let shown = declaration(Lang::En, &declared(), &row()).into_string();
        for part in [
            "9.9<mark",
            "⟦U+202E⟧",
            "&lt;b&gt;lab",
            "another one than the control plane",
            "1 of 2",
            "landlock",
            "Not as here",
            "wide",
        ] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
        assert!(!shown.contains("<b>lab"), "{shown}");
    }
}
