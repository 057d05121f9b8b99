//! Budgets on the command line.

use placet_domain::budget::{Ceiling, Resource, USUAL_WARNING_PERCENT};
use placet_wire::api::{BudgetRequest, RunView};

use crate::error::CliError;

#[derive(Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// The most time at work; time in which a run only waits for people does not count
    #[arg(long, value_name = "N")]
    budget_minutes: Option<u64>,
    #[arg(long, value_name = "N")]
    budget_actions: Option<u64>,
    #[arg(long, value_name = "N")]
    budget_pages: Option<u64>,
    /// The most room on the disk, in megabytes, counted where the run is saved
    #[arg(long, value_name = "MB")]
    budget_disk_mb: Option<u64>,
    /// The most money for language models, in dollars: `2.50`
    #[arg(long, value_name = "DOLLARS", value_parser = micros)]
    budget_usd: Option<u64>,
    /// The most tokens of language models
    #[arg(long, value_name = "N")]
    budget_tokens: Option<u64>,
    /// Ask a person when so much of a limit is used
    #[arg(long, value_name = "PERCENT", default_value_t = USUAL_WARNING_PERCENT)]
    warn_at: u8,
}

/// Dollars with at most six digits behind the point, as millionths: read digit by digit, because money is no approximation.
fn micros(text: &str) -> Result<u64, String> {
    let bad = || format!("`{text}` is no amount of dollars; write for instance `2.50`");
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) || part.len() > 6 {
        return Err(bad());
    }
    let number = |text: &str| text.parse::<u64>().map_err(|_| bad());
    let millionths = number(&format!("{part:0<6}"))?;
    number(whole)?.checked_mul(1_000_000).and_then(|whole| whole.checked_add(millionths)).ok_or_else(bad)
}

impl BudgetArgs {
    /// What was asked for; nothing, if no limit was named.
    pub(super) fn wanted(&self) -> Result<Option<BudgetRequest>, CliError> {
        let limits = Ceiling {
            wall_ms: self.budget_minutes.map(|minutes| minutes.saturating_mul(60_000)),
            actions: self.budget_actions,
            pages: self.budget_pages,
            usd_micros: self.budget_usd,
            tokens: self.budget_tokens,
            disk_bytes: self.budget_disk_mb.map(|megabytes| megabytes.saturating_mul(1_000_000)),
        };
        if !(1..=100).contains(&self.warn_at) {
            return Err(CliError::usage("--warn-at is a percentage from 1 to 100"));
        }
        Ok((!limits.is_unlimited()).then_some(BudgetRequest { limits, warn_at_percent: self.warn_at }))
    }

    pub(super) fn request(&self) -> Result<BudgetRequest, CliError> {
        let none = || CliError::usage("name a limit").hint("placet run budget RUN --budget-actions 50");
        self.wanted()?.ok_or_else(none)
    }
}

/// What is used of what, in one line.
pub(in crate::command) fn line(run: &RunView) -> Option<String> {
    let budget = run.budget.as_ref()?;
    let used = |resource: &Resource| {
        let limit = budget.limits.of(*resource)?;
        let (spent, held) = (budget.spent.of(*resource), budget.held.of(*resource));
        let held = if held > 0 { format!(" (+{held} held)") } else { String::new() };
        Some(format!("{resource} {spent}{held} of {limit}"))
    };
    Some(format!("budget  {}\n", Resource::ALL.iter().filter_map(used).collect::<Vec<_>>().join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c12_dollars_are_read_exactly() {
        for (text, expected) in [("2", 2_000_000), ("2.5", 2_500_000), ("0.000001", 1), ("10.10", 10_100_000)] {
            assert_eq!(micros(text), Ok(expected), "{text}");
        }
        for bad in ["", ".5", "5.", "1,50", "-1", "0.0000001", "1e3", "$2", "18446744073710"] {
            assert!(micros(bad).is_err(), "{bad}");
        }
    }
}
