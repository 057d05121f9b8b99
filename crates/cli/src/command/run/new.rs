//! `placet run new`: what a run is made with.

use std::collections::BTreeSet;

use placet_domain::proposal::ActionKind;
use placet_domain::run::{Effect, GateRules, Mode};
use placet_wire::Client;
use placet_wire::api::{NewRun, RunView};
use placet_wire::endpoint::CreateRun;
use serde::de::DeserializeOwned;

use super::super::{identity, project};
use super::budget;
use super::launch::LaunchArgs;
use crate::context::run_id;
use crate::error::CliError;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet run new 'scan the lab' --scope lab --agent tom --step 'scan' --step 'report'\n  \
                  placet run new 'tidy up' --scope lab --agent tom --step 'look' --mode supervised --budget-actions 50\n  \
                  placet run new 'compare prices' --scope web --launch /usr/bin/python3 --launch-arg agent.py --agent-file agent.py --step 'compare'"
)]
pub(crate) struct Args {
    goal: String,
    #[arg(long)]
    scope: String,
    /// The agent that will work in it and comes by itself, by name or id
    #[arg(long, required_unless_present = "launch")]
    agent: Option<String>,
    #[arg(long = "step", value_name = "TEXT")]
    plan: Vec<String>,
    #[arg(long)]
    project: Option<String>,
    /// When a person is asked: simulation, supervised or checkpoint. Steps that a person wrote are free between checkpoints;
    /// a plan that is made from an intent (`placet run plan`) is supervised
    #[arg(long, default_value = "checkpoint", value_parser = named::<Mode>)]
    mode: Mode,
    /// How far actions go: dry-run, observe or execute
    #[arg(long, default_value = "execute", value_parser = named::<Effect>)]
    effect: Effect,
    /// Stand still after every so many steps
    #[arg(long, value_name = "N")]
    every_steps: Option<u32>,
    /// Stand still after so many minutes at work
    #[arg(long, value_name = "N")]
    every_minutes: Option<u64>,
    /// Stand still before actions of this kind too, for instance `execute_code`
    #[arg(long = "ask-before", value_name = "KIND", value_parser = named::<ActionKind>)]
    ask_before: Vec<ActionKind>,
    /// Let a checkpoint pass that nobody looked at for so many minutes; never one for an action or for money
    #[arg(long, value_name = "N")]
    auto_pass_minutes: Option<u64>,
    /// A language model that its agent may call, or how names begin: `claude-*`; all that the gateway serves, if none is named
    #[arg(long = "model", value_name = "NAME")]
    models: Vec<String>,
    /// The run that has it made and pays for it
    #[arg(long, value_name = "RUN")]
    parent: Option<String>,
    #[command(flatten)]
    budget: budget::BudgetArgs,
    #[command(flatten)]
    launch: LaunchArgs,
}

/// A value by the name it has in the API, in any spelling of case and dashes.
fn named<T: DeserializeOwned>(text: &str) -> Result<T, String> {
    let spellings = [text.to_owned(), text.to_ascii_uppercase(), text.replace('-', "_").to_ascii_lowercase()];
    let read = |name: &String| serde_json::from_value(serde_json::Value::String(name.clone()));
    let mut results = spellings.iter().map(read);
    results.find_map(Result::ok).ok_or_else(|| {
        let error = read(&spellings[0]).err();
        error.map_or_else(String::new, |error: serde_json::Error| error.to_string())
    })
}

pub(super) async fn make(args: Args, client: &Client) -> Result<RunView, CliError> {
    const MINUTE_MS: u64 = 60_000;
    if args.launch.shares_with_nobody() {
        return Err(
            CliError::usage("what is shared is given to an agent that a worker starts").hint("name it with --launch")
        );
    }
    let project = project::find(client, args.project.as_deref()).await?.id;
    let agent = match &args.agent {
        Some(agent) => Some(identity::find(client, agent).await?),
        None => None,
    };
    let parent = match &args.parent {
        Some(parent) => Some(run_id(client, parent).await?),
        None => None,
    };
    let new = NewRun {
        project,
        goal: args.goal,
        scope: args.scope,
        agent,
        launch: args.launch.upload(client, project).await?,
        plan: args.plan,
        mode: args.mode,
        effect: args.effect,
        checkpoints: GateRules {
            every_steps: args.every_steps,
            after: BTreeSet::new(),
            every_ms: args.every_minutes.map(|minutes| minutes.saturating_mul(MINUTE_MS)),
            before: args.ask_before.into_iter().collect::<BTreeSet<_>>(),
            auto_pass_after_ms: args.auto_pass_minutes.map(|minutes| minutes.saturating_mul(MINUTE_MS)),
        },
        models: args.models.into_iter().collect(),
        budget: args.budget.wanted()?,
        parent,
    };
    Ok(client.post(CreateRun {}, &new).await?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_in_every_usual_spelling() {
        assert_eq!(named::<Mode>("supervised"), Ok(Mode::Supervised));
        assert_eq!(named::<Mode>("SIMULATION"), Ok(Mode::Simulation));
        assert_eq!(named::<Effect>("dry-run"), Ok(Effect::DryRun));
        assert_eq!(named::<ActionKind>("execute_code"), Ok(ActionKind::ExecuteCode));
        assert!(named::<Mode>("whatever").unwrap_err().contains("SUPERVISED"), "the error lists what there is");
    }
}
