//! `placet run plan`: from what somebody wants to a run whose plan waits for a person, and that plan as they should see it.

use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{ExecutionView, NewExecution, RunView};
use placet_wire::endpoint::PlanExecution;

use super::super::{identity, project};
use super::budget::BudgetArgs;
use super::launch::LaunchArgs;
use crate::context::{run_id, short};
use crate::error::CliError;
use crate::intent::IntentArgs;
use crate::out::{BOLD, DIM, Out, styled};
use crate::planned::{self, Rows};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "The control plane plans with the agents and templates of its home; `placet catalog plan` shows what it would \
                  plan.\n\nExamples:\n  placet run plan 'Implement a parser and test it' --scope lab --agent tom\n  \
                  placet run plan 'Prices of the shop' --template price_scrape --scope shop --agent tom --mode checkpoint\n  \
                  placet run plan 'Write the report' --scope docs --entry ours --input notes/"
)]
pub(crate) struct Args {
    #[command(flatten)]
    intent: IntentArgs,
    #[arg(long)]
    scope: String,
    /// An agent that comes by itself, by name or id; otherwise a worker starts what the entry of the chosen agent says
    #[arg(long)]
    agent: Option<String>,
    /// This agent of the catalogue and no other
    #[arg(long, value_name = "ID")]
    entry: Option<String>,
    #[arg(long)]
    project: Option<String>,
    /// The run that has it made and pays for it
    #[arg(long, value_name = "RUN")]
    parent: Option<String>,
    /// A language model that splits the goal into steps; it is told the goal and the rules, and no inputs
    #[arg(long, value_name = "MODEL", conflicts_with = "template")]
    planner: Option<String>,
    #[command(flatten)]
    budget: BudgetArgs,
    #[command(flatten)]
    launch: LaunchArgs,
}

pub(super) async fn run(args: Args, client: &Client, out: &Out) -> Result<(), CliError> {
    let parent = match &args.parent {
        Some(parent) => Some(run_id(client, parent).await?),
        None => None,
    };
    let agent = match &args.agent {
        Some(agent) => Some(identity::find(client, agent).await?),
        None => None,
    };
    let project = project::find(client, args.project.as_deref()).await?.id;
    let mut intent = args.intent.intent(args.entry.as_deref())?;
    if args.launch.shares_with_nobody() {
        intent.inputs.extend(args.launch.share(client, project).await?);
    }
    let new = NewExecution {
        project,
        intent,
        scope: args.scope,
        agent,
        launch: args.launch.upload(client, project).await?,
        checkpoints: None,
        budget: args.budget.wanted()?,
        parent,
        planner: args.planner,
    };
    let made: ExecutionView = client.post(PlanExecution {}, &new).await?;
    out.answer(&made, |made| shown(&made.run));
    if !args.intent.says_mode() {
        out.note(
            "every action of it asks a person, because nobody wrote these steps; --mode checkpoint asks at checkpoints",
        );
    }
    out.next(&format!("placet run approve {}", short(made.run.id)));
    Ok(())
}

/// Everything that is approved with the plan.
fn shown(run: &RunView) -> String {
    let state = format!("{} {}\n{}", styled(BOLD, run.status), run.meaning, styled(DIM, run.id));
    let parts = [Some(super::plan(run)), words(run), Some(state)];
    parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

pub(super) fn words(run: &RunView) -> Option<String> {
    let products = run.products.as_deref()?;
    let by = products.intent.as_ref().and_then(|intent| intent.planner.as_ref());
    let by = by.map(|model| format!("the steps were written by the model {}\n\n", spelled_out(model.as_str())));
    Some(by.unwrap_or_default() + &planned::words(&planned::plan_of(products)?, Rows::Misfits))
}

/// Beside the steps: how they came to be, where the run was planned.
pub(super) fn note(run: &RunView, out: &Out) {
    if let Some(words) = words(run) {
        out.note(&words);
    }
}
