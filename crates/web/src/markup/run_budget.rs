//! Form for the budget of a run, in amounts as people write them. It is open if the run waits for budget, and otherwise folded below the
//! usage.
//!
//! An unlimited resource has no field: the plan was approved without that limit.

use maud::{Markup, html};
use placet_domain::budget::Resource;
use placet_lang::Lang;

use crate::markup::forms::{Form, field};
use crate::markup::layout::Viewer;
use crate::markup::run::RunPage;

/// Field that asks to resume the run with the new budget.
pub(crate) const RESUME: &str = "resume";

const MINUTE_MS: u64 = 60_000;
const MEGABYTE: u64 = 1_000_000;

/// Shows the form first if the run waits for more budget.
pub(crate) fn used_up(viewer: &Viewer, shown: &RunPage) -> Markup {
    let lang = viewer.lang;
    html! {
        @if let (Some(_), true) = (shown.lacks, shown.moves.set_budget) {
            section.panel.decide aria-labelledby="used-up" {
                h2 #used-up { (lang.budget()) }
                p { (lang.budget_used_up()) }
                (form(viewer, shown, true))
            }
        }
    }
}

/// Shows the folded form below the figures, unless the form is already shown first.
pub(crate) fn change(viewer: &Viewer, shown: &RunPage) -> Markup {
    html! {
        @if shown.lacks.is_none() && shown.moves.set_budget {
            details { summary { (viewer.lang.change_budget()) } (form(viewer, shown, false)) }
        }
    }
}

fn form(viewer: &Viewer, shown: &RunPage, is_stopped: bool) -> Markup {
    let (lang, limits) = (viewer.lang, shown.run.budget.as_ref().map(|budget| budget.limits).unwrap_or_default());
    Form::to(format!("/runs/{}/budget", shown.run.id), viewer).named("set-budget").with(&html! {
        p.note { (lang.budget_totals()) }
        @for resource in Resource::ALL.iter().copied() {
            @if let Some(limit) = limits.of(resource) { (amount(lang, resource, limit, shown.lacks == Some(resource))) }
        }
        @if is_stopped { label.choice { input type="checkbox" name=(RESUME) value="yes" checked; (lang.resume_at_once()) } }
        button.main { (lang.save_budget()) }
    })
}

fn amount(lang: Lang, resource: Resource, limit: u64, is_lacking: bool) -> Markup {
    let id = format!("budget-{resource}");
    let name = match resource {
        Resource::UsdMicros => lang.cost_over_time(),
        Resource::Tokens => lang.tokens(),
        Resource::Actions => lang.actions_executed(),
        Resource::Pages => lang.pages(),
        Resource::WallMs => lang.minutes_at_work(),
        Resource::DiskBytes => lang.disk_megabytes(),
    };
    field(
        &id,
        name,
        &html! {
            input id=(id) name=(resource) required inputmode="decimal" autocomplete="off" maxlength="20" aria-invalid=[is_lacking.then_some("true")] value=(in_units(resource, limit));
        },
    )
}

/// Number of stored units in one unit that people write, and the maximum of decimal places.
const fn unit(resource: Resource) -> (u64, usize) {
    match resource {
        Resource::UsdMicros => (1_000_000, 6),
        Resource::WallMs => (MINUTE_MS, 4),
        Resource::DiskBytes => (MEGABYTE, 6),
        Resource::Tokens | Resource::Actions | Resource::Pages => (1, 0),
    }
}

/// Formats an amount as people write it: dollars, minutes, megabytes, or a count.
pub(crate) fn in_units(resource: Resource, amount: u64) -> String {
    let (size, digits) = unit(resource);
    let (whole, rest) = (amount / size, u128::from(amount % size));
    // Rounds up, so that the text is never less than the granted amount.
    let rest = (rest * 10_u128.pow(digits as u32)).div_ceil(u128::from(size));
    let (whole, rest) = if rest == 10_u128.pow(digits as u32) { (whole + 1, 0) } else { (whole, rest) };
    if rest == 0 {
        return whole.to_string();
    }
    format!("{whole}.{rest:0digits$}").trim_end_matches('0').to_owned()
}

/// Parses an amount with a point or a comma; `None` if the text is not an amount.
pub(crate) fn of_units(resource: Resource, written: &str) -> Option<u64> {
    let (size, digits) = unit(resource);
    let (whole, rest) = written.trim().split_once(['.', ',']).unwrap_or((written.trim(), "0"));
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    if !is_number(whole) || !is_number(rest) || (rest != "0" && rest.len() > digits) {
        return None;
    }
    let parts: u128 = if digits == 0 { 0 } else { format!("{rest:0<digits$}").parse().ok()? };
    let rest = parts * u128::from(size) / 10_u128.pow(digits as u32);
    whole.parse::<u64>().ok()?.checked_mul(size)?.checked_add(u64::try_from(rest).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_written_and_read_back_exactly() {
        for (resource, amount, written) in [
            (Resource::UsdMicros, 2_500_000, "2.5"),
            (Resource::UsdMicros, 1, "0.000001"),
            (Resource::WallMs, 90_000, "1.5"),
            (Resource::WallMs, 60_000, "1"),
            (Resource::DiskBytes, 3_000_000, "3"),
            (Resource::Actions, 40, "40"),
        ] {
            assert_eq!(in_units(resource, amount), written);
            assert_eq!(of_units(resource, written), Some(amount), "{written}");
        }
        assert_eq!(in_units(Resource::WallMs, 59_999), "1", "rounded up where minutes have no such part");
        assert_eq!(of_units(Resource::UsdMicros, "2,5"), Some(2_500_000), "as French people write it");
        for bad in ["", "-1", "1e3", "2.", ".5", "0.0000001", "x", "18446744073710"] {
            assert_eq!(of_units(Resource::UsdMicros, bad), None, "{bad}");
        }
        assert_eq!(of_units(Resource::Actions, "1.5"), None, "there is no half of an action");
    }
}
