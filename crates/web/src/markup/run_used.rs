//! What a run used: figures, limits, and curves over time.

use maud::{Markup, html};
use placet_domain::budget::Ceiling;
use placet_domain::time::Timestamp;
use placet_lang::Lang;
use placet_wire::api::BudgetView;

use crate::markup::chart::{Curve, curve};
use crate::markup::columns::{Columns, Labels, Layout, columns};
use crate::markup::parts::{section, size, written};
use crate::markup::run::RunPage;

pub(crate) fn tiles(lang: Lang, shown: &RunPage) -> Markup {
    // Where there is no budget, what calls of models took is known all the same.
    let taken = shown.calls.last().map_or((0, 0), |sum| (sum.1, sum.2));
    let (tokens, usd_micros) =
        shown.run.budget.as_ref().map_or(taken, |budget| (budget.spent.tokens, budget.spent.usd_micros));
    let most = shown.run.budget.as_ref().map(|budget| budget.limits).unwrap_or_default();
    let number = |amount: u64| lang.number(amount);
    let tile = |name: &str, value: String, most: Option<String>| html! { div.tile { dt { (name) } dd { (value) @if let Some(most) = most { " " small { (lang.of()) " " (most) } } } } };
    html! {
        dl.tiles #tiles data-live="tiles" {
            (tile(lang.time_at_work(), lang.span(shown.worked_ms), most.wall_ms.map(|ms| lang.span(ms))))
            (tile(lang.steps(), shown.run.steps_done.to_string(), Some(shown.run.plan.len().to_string())))
            (tile(lang.actions_proposed(), number(shown.action_count), None))
            (tile(lang.tokens(), number(tokens), most.tokens.map(number)))
            (tile(lang.cost(), lang.money(usd_micros), most.usd_micros.map(|micros| lang.money(micros))))
        }
    }
}

pub(crate) fn meters(lang: Lang, budget: &BudgetView) -> Markup {
    let (limits, spent, held) = (&budget.limits, &budget.spent, &budget.held);
    let (plain, money) = (|amount: u64| lang.number(amount), |micros: u64| lang.money(micros));
    let rows = [
        (lang.cost(), limits.usd_micros, spent.usd_micros, held.usd_micros, &money as &dyn Fn(u64) -> String),
        (lang.tokens(), limits.tokens, spent.tokens, held.tokens, &plain),
        (lang.actions_executed(), limits.actions, spent.actions, held.actions, &plain),
        (lang.pages(), limits.pages, spent.pages, held.pages, &plain),
        (lang.time_at_work(), limits.wall_ms, spent.wall_ms, held.wall_ms, &|ms| lang.span(ms)),
        (lang.disk(), limits.disk_bytes, spent.disk_bytes, held.disk_bytes, &|bytes| size(lang, bytes)),
    ];
    html! {
        dl.meters #meters data-live="meters" {
            @for (name, limit, spent, held, written) in rows {
                @if let Some(limit) = limit {
                    div {
                        dt { (name) }
                        dd {
                            meter min="0" max=(limit.max(1)) high=(limit / 100 * u64::from(budget.warn_at_percent)) value=(spent + held) aria-label=(name) {}
                            small { (written(spent)) " " (lang.used()) " + " (written(held)) " " (lang.held()) " " (lang.of()) " " (written(limit)) }
                        }
                    }
                }
            }
        }
    }
}

/// Cost and tokens over time, where a model was called.
pub(crate) fn money(lang: Lang, shown: &RunPage) -> Markup {
    let calls = &shown.calls;
    let most = |of: fn(&Ceiling) -> Option<u64>| shown.run.budget.as_ref().and_then(|budget| of(&budget.limits));
    let points = |of: fn(&(Timestamp, u64, u64)) -> u64| calls.iter().map(|sum| (sum.0, of(sum))).collect();
    html! {
        @if !calls.is_empty() {
            div.two {
                (section("cost-chart", lang.cost_over_time(), &curve(lang, &Curve { points: points(|call| call.2), most: most(|most| most.usd_micros), written: in_money(lang) })))
                (section("token-chart", lang.tokens_over_time(), &curve(lang, &Curve { points: points(|call| call.1), most: most(|most| most.tokens), written: |tokens| tokens.to_string() })))
            }
        }
    }
}

/// How a curve of money is written.
const fn in_money(lang: Lang) -> fn(u64) -> String {
    match lang {
        Lang::En => |micros| Lang::En.money(micros),
        Lang::Fr => |micros| Lang::Fr.money(micros),
    }
}

/// What executions took of the machine, where there were any.
pub(crate) fn machines(lang: Lang, used: &[(Timestamp, u64, u64)]) -> Markup {
    let rows = |of: fn(&(Timestamp, u64, u64)) -> u64| used.iter().map(|one| (written(one.0), vec![of(one)])).collect();
    let (cpu, memory) = (rows(|one| one.1), rows(|one| one.2));
    let chart = |title: &'static str, rows, written: &dyn Fn(u64) -> String| {
        let (of, series, layout, labels) = (lang.when(), vec![title], Layout::Grouped, Labels::Ends);
        columns(lang, &Columns { title, of, series, rows, written, layout, labels })
    };
    html! {
        @if !used.is_empty() {
            div.two {
                (section("cpu-chart", lang.cpu_over_time(), &chart(lang.cpu_over_time(), cpu, &|ms| lang.span(ms))))
                (section("memory-chart", lang.memory_over_time(), &chart(lang.memory_over_time(), memory, &|bytes| size(lang, bytes))))
            }
        }
    }
}
