//! Figures of how people decide, and the habits of one person.

use placet_domain::deciding::{Figures, TierFigures, Week};
use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;
use placet_wire::api;

use super::view::time;
use crate::app::App;
use crate::error::No;
use crate::flow::{self, Caller, Measured};

const MINUTE_MS: u64 = 60_000;

/// Habits of the caller.
pub async fn own(app: &App, caller: &Caller) -> Result<api::HabitView, No> {
    let (habits, pace) = (flow::own_habits(app, caller).await?, flow::pace(app, caller.identity.id).await?);
    Ok(api::HabitView::new(habits, time(flow::figures_since(app)), pace.decided, u64::from(pace.most)))
}

/// Converts figures for responses and pages.
pub fn view(measured: &Measured) -> api::DecisionSummary {
    let Measured { since, figures, more, waiting, ages, now } = measured;
    let Figures { counts, waited, tiers, weeks, days, people: _ } = figures;
    let tier = |TierFigures { tier, counts, waited }: &TierFigures| api::TierSummary {
        tier: tier.to_string(),
        counts: (*counts).into(),
        waited: waited.map(Into::into),
    };
    let week = |Week { from, counts }: &Week| api::WeekSummary { from: time(*from), counts: (*counts).into() };
    api::DecisionSummary {
        since: time(*since),
        more: *more,
        counts: (*counts).into(),
        waited: waited.map(Into::into),
        tiers: tiers.iter().map(tier).collect(),
        weeks: weeks.iter().map(week).collect(),
        days: days
            .iter()
            .map(|(from, waited)| api::DaySummary { from: time(*from), waited: (*waited).into() })
            .collect(),
        waiting: api::WaitingSummary {
            count: *waiting,
            oldest_ms: ages.iter().map(|(_, since)| age_ms(*since, *now)).max(),
            ages: [Tier::B, Tier::C].iter().map(|tier| age_row(*tier, ages, *now)).collect(),
        },
    }
}

fn age_ms(since: Timestamp, now: Timestamp) -> u64 {
    u64::try_from(now.unix_ms().saturating_sub(since.unix_ms())).unwrap_or(0)
}

fn age_row(tier: Tier, ages: &[(Tier, Timestamp)], now: Timestamp) -> api::AgeRow {
    let of_tier = ages.iter().filter(|(of, _)| *of == tier).map(|(_, since)| age_ms(*since, now) / MINUTE_MS);
    let [under_5_minutes, under_1_hour, under_1_day, longer] = of_tier.fold([0_u64; 4], |mut counted, minutes| {
        counted[match minutes {
            0..5 => 0,
            5..60 => 1,
            60..1_440 => 2,
            _ => 3,
        }] += 1;
        counted
    });
    api::AgeRow { tier: tier.to_string(), under_5_minutes, under_1_hour, under_1_day, longer }
}
