//! Budgets on the command line. Only what is counted can be limited here: nothing is charged in money or tokens yet.

use placet_domain::budget::{Ceiling, Resource, USUAL_WARNING_PERCENT};
use placet_wire::api::{BudgetRequest, RunView};

use crate::error::CliError;

#[derive(Debug, clap::Args)]
pub(crate) struct BudgetArgs {
    /// The most time at work; waiting for people does not count
    #[arg(long, value_name = "N")]
    budget_minutes: Option<u64>,
    #[arg(long, value_name = "N")]
    budget_actions: Option<u64>,
    #[arg(long, value_name = "N")]
    budget_pages: Option<u64>,
    /// Ask a person when so much of a limit is used
    #[arg(long, value_name = "PERCENT", default_value_t = USUAL_WARNING_PERCENT)]
    warn_at: u8,
}

impl BudgetArgs {
    /// What was asked for; nothing, if no limit was named.
    pub(super) fn wanted(&self) -> Result<Option<BudgetRequest>, CliError> {
        let limits = Ceiling {
            wall_ms: self.budget_minutes.map(|minutes| minutes.saturating_mul(60_000)),
            actions: self.budget_actions,
            pages: self.budget_pages,
            ..Ceiling::default()
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
pub(super) fn line(run: &RunView) -> Option<String> {
    let budget = run.budget.as_ref()?;
    let used = |resource: &Resource| {
        let limit = budget.limits.of(*resource)?;
        let (spent, held) = (budget.spent.of(*resource), budget.held.of(*resource));
        let held = if held > 0 { format!(" (+{held} held)") } else { String::new() };
        Some(format!("{resource} {spent}{held} of {limit}"))
    };
    Some(format!("budget  {}\n", Resource::ALL.iter().filter_map(used).collect::<Vec<_>>().join(", ")))
}
