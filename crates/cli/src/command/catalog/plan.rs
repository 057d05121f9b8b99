//! `placet catalog plan`: what would be planned for a goal, with whom and why. Nothing is recorded and nobody is asked: it is
//! for whoever writes entries and templates, or wants to know what something would cost.

use std::path::PathBuf;

use placet_domain::budget::{Amounts, Resource};
use placet_domain::planning::{Intent, Plan, PlanRefusal, Row, plan};
use placet_domain::run::Mode;

use super::usable;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home::read;
use crate::out::{BAD, BOLD, DIM, GOOD, Out, styled, table};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// What shall be done
    #[arg(required_unless_present = "intent", conflicts_with = "intent")]
    goal: Option<String>,
    /// A file with the whole intent, as TOML
    #[arg(long, value_name = "FILE", conflicts_with_all = ["template", "agent", "mode", "targets", "tools"])]
    intent: Option<PathBuf>,
    /// A template, as `placet catalog list` names it
    #[arg(long, value_name = "ID")]
    template: Option<String>,
    /// This agent and no other
    #[arg(long, value_name = "ID")]
    agent: Option<String>,
    /// How often it would ask (default: SUPERVISED)
    #[arg(long, value_name = "MODE", value_parser = ["SIMULATION", "SUPERVISED", "CHECKPOINT"], ignore_case = true)]
    mode: Option<String>,
    /// A host, network or address that has to be reached
    #[arg(long = "target", value_name = "TARGET")]
    targets: Vec<String>,
    /// A tool that is needed
    #[arg(long = "tool", value_name = "NAME")]
    tools: Vec<String>,
    /// The whole table of who fits, not only who does not
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let (intent, all) = (intent(args)?, usable(who)?);
    let planned = plan(&intent, &all.agents, &all.templates).map_err(refused)?;
    out.answer(&planned, |planned| words(planned, args.all));
    Ok(())
}

fn intent(args: &Args) -> Result<Intent, CliError> {
    if let Some(path) = &args.intent {
        let wrong = |error: toml::de::Error| CliError::usage(format!("`{}`: {error}", path.display()));
        return toml::from_str(&read(path)?).map_err(wrong);
    }
    let goal = args.goal.as_deref().unwrap_or_default();
    let mut intent = Intent::new(well_formed(goal)?);
    intent.template = args.template.as_deref().map(well_formed).transpose()?;
    intent.agent = args.agent.as_deref().map(well_formed).transpose()?;
    intent.constraints.targets = args.targets.iter().map(|text| well_formed(text)).collect::<Result<_, _>>()?;
    intent.constraints.tools = args.tools.iter().map(|text| well_formed(text)).collect::<Result<_, _>>()?;
    let wanted = |mode: &&Mode| args.mode.as_ref().is_some_and(|text| text.eq_ignore_ascii_case(mode.as_str()));
    intent.mode = Mode::ALL.iter().find(wanted).copied().unwrap_or(intent.mode);
    Ok(intent)
}

fn well_formed<T: std::str::FromStr<Err: std::fmt::Display>>(text: &str) -> Result<T, CliError> {
    text.parse().map_err(|error: T::Err| CliError::usage(error.to_string()))
}

fn refused(refusal: PlanRefusal) -> CliError {
    let code = match refusal {
        PlanRefusal::Intent(_) | PlanRefusal::TooLarge { .. } => Code::Usage,
        PlanRefusal::UnknownTemplate { .. } => Code::NotFound,
        PlanRefusal::NobodyFits { .. } => Code::Refused,
    };
    CliError::new(code, refusal.to_string())
}

fn words(plan: &Plan, all: bool) -> String {
    let because = plan.selection.ranking.first().map(|first| first.because.as_str()).unwrap_or_default();
    let head = format!("{} {}: {because}", styled(GOOD, "chosen:"), styled(BOLD, &plan.selection.chosen));
    let rows: Vec<&Row> = plan.selection.table.iter().filter(|row| all || !row.fits).collect();
    let parts = [head, steps(plan), compared(&rows), cage(plan), costs(plan)];
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("\n\n")
}

fn heading(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| styled(BOLD, word)).collect()
}

fn steps(plan: &Plan) -> String {
    let rows = plan.subtasks.iter().map(|subtask| {
        let after = if subtask.gate_after { "after it" } else { "" };
        let (number, pages) = (subtask.number.to_string(), subtask.pages.to_string());
        vec![number, subtask.title.to_string(), subtask.capability.to_string(), pages, after.to_owned()]
    });
    table(&std::iter::once(heading(&["", "step", "takes", "pages", "checkpoint"])).chain(rows).collect::<Vec<_>>())
}

fn compared(rows: &[&Row]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let line = |row: &&Row| {
        let fits = if row.fits { styled(GOOD, "fits") } else { styled(BAD, "lacks") };
        vec![row.agent.to_string(), fits, row.criterion.to_string(), row.needs.clone(), row.has.clone()]
    };
    let lines = rows.iter().map(line);
    table(&std::iter::once(heading(&["agent", "", "in", "needs", "has"])).chain(lines).collect::<Vec<_>>())
}

fn cage(plan: &Plan) -> String {
    let cage = &plan.cage;
    let row = |name: &str, is: String| vec![name.to_owned(), is];
    table(&[row("cage", cage.profile.to_string()), row("network", cage.network.to_string())])
}

fn costs(plan: &Plan) -> String {
    let (estimate, limits) = (&plan.estimate, &plan.cage.limits);
    let of = |amounts: &Amounts, resource: Resource| amounts.of(resource).to_string();
    let row = |resource: &Resource| {
        let (likely, worst) = (of(&estimate.likely, *resource), of(&estimate.worst, *resource));
        vec![resource.to_string(), likely, worst, of(limits, *resource)]
    };
    let rows = std::iter::once(heading(&["", "likely", "reserved", "at most"])).chain(Resource::ALL.iter().map(row));
    format!("{}\n{}", table(&rows.collect::<Vec<_>>()), styled(DIM, &estimate.basis))
}
