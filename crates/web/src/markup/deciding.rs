//! How people decide: wait, age, outcomes and weeks for everybody who may look, without a name; and one's own habits for oneself.

use maud::{Markup, html};
use placet_domain::id::ActionId;
use placet_domain::time::Timestamp;
use placet_lang::Lang;
use placet_wire::api::{AgeRow, DecisionCounts, DecisionSummary, HabitView, SpreadView, WaitingSummary};

use crate::markup::columns::{Columns, Labels, Layout, columns};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{moment, section, short, tier};

/// Days and weeks are told by their date.
const DATE: usize = 10;

/// How somebody decides, shown to nobody else.
#[derive(Debug, Clone)]
pub(crate) struct OwnPage {
    pub(crate) habits: HabitView,
    /// What they approved alone, as the person behind the agent: which, of what kind, when.
    pub(crate) alone: Vec<(ActionId, String, Timestamp)>,
}

/// Figures of everything within the viewer's reach.
pub(crate) fn decisions(viewer: &Viewer, shown: &DecisionSummary) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_decisions()) " " small { (lang.last_30_days()) } }
        p { (lang.decisions_hint()) " " a href="/me" { (lang.how_you_decide()) } }
        @if shown.more { p.note { (lang.only_newest()) } }
        (tiles(lang, &shown.counts, shown.waited.as_ref()))
        div.two {
            (section("wait", lang.wait_over_time(), &wait(lang, shown)))
            (section("age", lang.queue_age(), &ages(lang, &shown.waiting)))
        }
        div.two {
            (section("weeks", lang.outcomes_per_week(), &weeks(lang, shown)))
            (section("tiers", lang.by_tier(), &tiers(lang, shown)))
        }
    };
    page(viewer, Here::Decisions, lang.nav_decisions(), &Live::around(), &content)
}

fn tile(name: &str, value: &str) -> Markup {
    html! { div.tile { dt { (name) } dd { (value) } } }
}

fn tiles(lang: Lang, counts: &DecisionCounts, waited: Option<&SpreadView>) -> Markup {
    let span =
        |of: fn(&SpreadView) -> u64| waited.map_or_else(|| lang.unknown().to_owned(), |wait| lang.span(of(wait)));
    html! {
        dl.tiles {
            (tile(lang.median_wait(), &span(|wait| wait.median_ms)))
            (tile(lang.p90_wait(), &span(|wait| wait.p90_ms)))
            (tile(lang.approved_n(), &lang.number(counts.approved)))
            (tile(lang.rejected_n(), &lang.number(counts.rejected)))
            (tile(lang.amended_n(), &lang.number(counts.amended)))
            (tile(lang.expired_n(), &lang.number(counts.expired)))
            (tile(lang.withdrawn_n(), &lang.number(counts.withdrawn)))
            (tile(lang.single_operator_n(), &lang.number(counts.single_operator)))
        }
    }
}

fn date(at: &str) -> String {
    at.chars().take(DATE).collect()
}

fn wait(lang: Lang, shown: &DecisionSummary) -> Markup {
    let rows = shown.days.iter().map(|day| (date(&day.from), vec![day.waited.median_ms, day.waited.p90_ms])).collect();
    let (series, written) = (vec![lang.median_wait(), lang.p90_wait()], |ms| lang.span(ms));
    let (title, of, layout, labels) = (lang.wait_over_time(), lang.when(), Layout::Grouped, Labels::Ends);
    columns(lang, &Columns { title, of, series, rows, written: &written, layout, labels })
}

/// How old is what waits now, by tier.
fn ages(lang: Lang, waiting: &WaitingSummary) -> Markup {
    let names = [lang.under_5_minutes(), lang.under_1_hour(), lang.under_1_day(), lang.longer_than_a_day()];
    let of = |row: &AgeRow| [row.under_5_minutes, row.under_1_hour, row.under_1_day, row.longer];
    let rows = |index: usize| waiting.ages.iter().map(|row| of(row)[index]).collect();
    let rows: Vec<(String, Vec<u64>)> =
        names.iter().enumerate().map(|(index, name)| ((*name).to_owned(), rows(index))).collect();
    let tiers: Vec<String> = waiting.ages.iter().map(|row| format!("{} {}", lang.filter_tier(), row.tier)).collect();
    let (series, written) = (tiers.iter().map(String::as_str).collect(), |count| lang.number(count));
    let (title, of, layout, labels) = (lang.queue_age(), lang.since(), Layout::Stacked, Labels::Each);
    html! {
        p {
            strong { (lang.number(waiting.count)) " " (lang.n_actions_wait(waiting.count)) }
            @if let Some(oldest) = waiting.oldest_ms { " · " (lang.oldest()) " " (lang.span(oldest)) }
        }
        p.note { (lang.only_actions_counted()) }
        @if waiting.count > 0 { (columns(lang, &Columns { title, of, series, rows, written: &written, layout, labels })) }
    }
}

fn weeks(lang: Lang, shown: &DecisionSummary) -> Markup {
    let of = |counts: &DecisionCounts| {
        vec![counts.approved, counts.rejected, counts.amended, counts.expired, counts.withdrawn]
    };
    let rows = shown.weeks.iter().map(|week| (date(&week.from), of(&week.counts))).collect();
    let series = vec![lang.approved_n(), lang.rejected_n(), lang.amended_n(), lang.expired_n(), lang.withdrawn_n()];
    let (title, of, layout, labels) = (lang.outcomes_per_week(), lang.week_from(), Layout::Stacked, Labels::Ends);
    columns(lang, &Columns { title, of, series, rows, written: &|count| lang.number(count), layout, labels })
}

fn tiers(lang: Lang, shown: &DecisionSummary) -> Markup {
    if shown.tiers.is_empty() {
        return html! { p.note { (lang.no_figures()) } };
    }
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.by_tier()) {
            table.list.figures {
                thead { tr { th { (lang.filter_tier()) } th { (lang.median_wait()) } th { (lang.p90_wait()) } th { (lang.approved_n()) } th { (lang.rejected_n()) } th { (lang.single_operator_n()) } } }
                tbody {
                    @for row in &shown.tiers {
                        tr {
                            td { (tier(lang, &row.tier)) }
                            @match &row.waited {
                                Some(wait) => { td { (lang.span(wait.median_ms)) } td { (lang.span(wait.p90_ms)) } },
                                None => { td { (lang.unknown()) } td { (lang.unknown()) } },
                            }
                            td { (lang.number(row.counts.approved)) }
                            td { (lang.number(row.counts.rejected)) }
                            td { (lang.number(row.counts.single_operator)) }
                        }
                    }
                }
            }
        }
    }
}

pub(crate) fn own(viewer: &Viewer, shown: &OwnPage) -> Markup {
    let (lang, habits) = (viewer.lang, &shown.habits);
    let content = html! {
        h1 { (lang.how_you_decide()) " " small { (lang.last_30_days()) } }
        p { (lang.only_you()) }
        (tiles(lang, &habits.counts, habits.waited.as_ref()))
        @if habits.most_decided > 0 {
            p { (lang.decided_lately()) " " strong { (lang.number(habits.decided_lately)) } " " (lang.of()) " " (lang.number(habits.most_decided)) " " (lang.before_twice()) }
        }
        (section("habits", lang.what_stands_out(), &habits_of(lang, habits)))
        @if !shown.alone.is_empty() { (section("alone", lang.approved_alone(), &alone(viewer, shown))) }
    };
    page(viewer, Here::Decisions, lang.how_you_decide(), &Live::around(), &content)
}

fn habits_of(lang: Lang, habits: &HabitView) -> Markup {
    html! {
        dl.tiles { (tile(lang.longest_streak(), &lang.number(habits.streak))) }
        @if habits.signals.is_empty() { p.note { (lang.no_signal()) } }
        @else { p { strong.ask { (lang.signal_never_no()) } } }
    }
}

fn alone(viewer: &Viewer, shown: &OwnPage) -> Markup {
    let lang = viewer.lang;
    html! {
        p { (lang.approved_alone_hint()) }
        ul.plain {
            @for (action, kind, at) in &shown.alone {
                li { a href={ "/actions/" (action) } { (short(&action.to_string())) } " " code { (kind) } " " (moment(lang, *at, viewer.now)) }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_what_waits_is_told_with_what_is_counted_and_every_age_is_named() {
        let row = |tier: &str| AgeRow {
            tier: tier.to_owned(),
            under_5_minutes: 1,
            under_1_hour: 0,
            under_1_day: 4,
            longer: 1,
        };
        let waiting = WaitingSummary { count: 12, oldest_ms: Some(90_000), ages: vec![row("B"), row("C")] };
        let shown = ages(Lang::En, &waiting).into_string();
        assert!(
            shown.contains("<strong>12 actions wait for a decision</strong> · the oldest for 1 min 30 s"),
            "{shown}"
        );
        assert!(shown.contains("The number beside the inbox also counts"), "{shown}");
        for age in ["under 5 minutes", "under 1 hour", "under 1 day", "longer"] {
            assert!(shown.contains(&format!("<span>{age}</span>")), "{age}: {shown}");
        }
        assert!(ages(Lang::Fr, &waiting).into_string().contains("12 actions attendent une décision"));
    }
}
