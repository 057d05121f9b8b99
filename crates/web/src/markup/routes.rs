//! How people are told, for administrators: every route, how it does, and the button that tries it.

use maud::{Markup, html};
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use crate::markup::forms::Form;
use crate::markup::layout::Viewer;
use crate::markup::parts::moment;
use crate::markup::refusals::in_english;
use crate::markup::text;

/// A route of the settings. No address that is a secret, and no mailbox of anybody.
#[derive(Debug, Clone)]
pub(crate) struct RouteRow {
    pub(crate) name: String,
    /// What kind of channel it is and where it leads, in machines' words.
    pub(crate) channel: String,
    pub(crate) last_taken: Option<Timestamp>,
    /// How many take nothing, since when the first of them does, and why.
    pub(crate) failing: Option<(usize, Timestamp, String)>,
    pub(crate) tested: Option<Tested>,
}

/// What the last test came to, for each recipient; nothing while it is under way.
#[derive(Debug, Clone)]
pub(crate) struct Tested {
    pub(crate) at: Timestamp,
    pub(crate) trials: Option<Vec<(String, Option<String>)>>,
}

pub(crate) fn routes(viewer: &Viewer, rows: &[RouteRow]) -> Markup {
    let lang = viewer.lang;
    html! {
        @if rows.is_empty() { p.note { (lang.no_routes()) } }
        @else {
            div.scroll tabindex="0" role="region" aria-label=(lang.routes()) data-live="routes" {
                table.list {
                    thead { tr { th { (lang.name()) } th { (lang.route_leads_to()) } th { (lang.route_does()) } th { (lang.send_test()) } } }
                    tbody { @for row in rows { (one(viewer, row)) } }
                }
            }
        }
    }
}

fn one(viewer: &Viewer, row: &RouteRow) -> Markup {
    let lang = viewer.lang;
    html! {
        tr {
            td { strong { (row.name) } }
            td { code { (text::line(lang, &row.channel)) } }
            td.wide { (standing(viewer, row)) @if let Some(tested) = &row.tested { (outcome(viewer, tested)) } }
            td { (Form::to(format!("/settings/routes/{}/test", row.name), viewer).plain_button(lang.send_test())) }
        }
    }
}

fn standing(viewer: &Viewer, row: &RouteRow) -> Markup {
    let lang = viewer.lang;
    html! {
        @match row.last_taken {
            Some(at) => div { (lang.route_last()) " " (moment(lang, at, viewer.now)) },
            None => div { (lang.route_quiet()) },
        }
        @if let Some((count, since, why)) = &row.failing {
            div { strong.bad { (lang.route_failing()) " " (moment(lang, *since, viewer.now)) } @if *count > 1 { " · " (count) } " · " (in_english(lang, why)) }
        }
    }
}

fn outcome(viewer: &Viewer, tested: &Tested) -> Markup {
    let lang = viewer.lang;
    html! {
        div role="status" {
            (lang.tested()) " " (moment(lang, tested.at, viewer.now)) (lang.colon())
            @match &tested.trials {
                None => (lang.test_under_way()),
                Some(trials) => ul.plain { @for (to, problem) in trials { li { (trial(lang, to, problem.as_deref())) } } },
            }
        }
    }
}

fn trial(lang: Lang, to: &str, problem: Option<&str>) -> Markup {
    html! {
        (text::line(lang, to)) " · "
        @match problem {
            None => strong.good { (lang.test_taken()) },
            Some(why) => { strong.bad { (lang.test_not_taken()) } " " (in_english(lang, why)) },
        }
    }
}
