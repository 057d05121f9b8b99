//! What happened when in a run, one row for each thing: people's waits, actions, checkpoints. As SVG, with the words beside it.

use maud::{Markup, html};
use placet_domain::text::spelled_out;
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use crate::markup::text;

const WIDTH: u64 = 600;
const ROW: u64 = 26;
const BAR: u64 = 14;

/// Whose time a bar is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    /// A person was waited for.
    Person,
    /// An action was executed.
    Action,
    /// The runtime was busy with it.
    Runtime,
}

impl Lane {
    const ALL: &[Self] = &[Self::Person, Self::Action, Self::Runtime];

    const fn told(self, lang: Lang) -> &'static str {
        match self {
            Self::Person => lang.lane_person(),
            Self::Action => lang.lane_action(),
            Self::Runtime => lang.lane_runtime(),
        }
    }

    const fn class(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Action => "action",
            Self::Runtime => "runtime",
        }
    }
}

/// What a bar is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum About {
    Plan,
    Spawn,
    Checkpoint,
    Results,
    /// An action, by one line that tells what it is.
    Action(String),
}

impl About {
    fn told(&self, lang: Lang) -> &str {
        match self {
            Self::Plan => lang.plan(),
            Self::Spawn => lang.bar_spawn(),
            Self::Checkpoint => lang.checkpoint_waits(),
            Self::Results => lang.bar_results(),
            Self::Action(title) => title,
        }
    }
}

/// One row: what it is, from when to when.
#[derive(Debug, Clone)]
pub(crate) struct Bar {
    pub(crate) about: About,
    pub(crate) lane: Lane,
    pub(crate) from: Timestamp,
    pub(crate) to: Timestamp,
}

pub(crate) fn timeline(lang: Lang, bars: &[Bar]) -> Markup {
    let from = bars.iter().map(|bar| bar.from).min().unwrap_or(Timestamp::END);
    let to = bars.iter().map(|bar| bar.to).max().unwrap_or(from);
    let whole = from.unix_ms().abs_diff(to.unix_ms()).max(1);
    let across = |at: Timestamp| at.unix_ms().abs_diff(from.unix_ms()) * WIDTH / whole;
    html! {
        p.legend { @for lane in Lane::ALL { span class=(lane.class()) { (lane.told(lang)) } } }
        div.timeline {
            @for bar in bars {
                @let length = bar.from.unix_ms().abs_diff(bar.to.unix_ms());
                div.bar {
                    @let told = bar.about.told(lang);
                    span title=(spelled_out(told)) { (text::line(lang, told)) }
                    svg viewBox={ "0 0 " (WIDTH) " " (ROW) } preserveAspectRatio="none" aria-hidden="true" {
                        rect class=(bar.lane.class()) x=(across(bar.from).min(WIDTH - 4)) y=((ROW - BAR) / 2) width=((across(bar.to) - across(bar.from)).max(4)) height=(BAR) rx="3" {}
                    }
                    // Never by colour alone.
                    small { (lang.span(length)) " · " (bar.lane.told(lang)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_lie_where_their_time_lies_and_even_a_moment_is_seen() {
        let at = Timestamp::from_unix_ms;
        let bar = |about, lane, from, to| Bar { about, lane, from: at(from), to: at(to) };
        let tee = About::Action("tee".to_owned());
        let bars = [bar(About::Plan, Lane::Person, 0, 500), bar(tee, Lane::Action, 1_000, 1_000)];
        let shown = timeline(Lang::En, &bars).into_string();
        assert!(shown.contains("class=\"person\" x=\"0\" y=\"6\" width=\"300\""), "{shown}");
        assert!(shown.contains("class=\"action\" x=\"596\" y=\"6\" width=\"4\""), "{shown}");
    }
}
