//! `placet catalog plan`: what would be planned for a goal, with whom and why. Nothing is recorded and nobody is asked: it is
//! for whoever writes entries and templates, or wants to know what something would cost.

use placet_domain::planning::plan;

use super::usable;
use crate::context::Who;
use crate::error::CliError;
use crate::intent::{IntentArgs, refused};
use crate::out::Out;
use crate::planned::{self, Rows};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    intent: IntentArgs,
    /// This agent and no other
    #[arg(long, value_name = "ID", conflicts_with = "intent")]
    agent: Option<String>,
    /// The whole table of who fits, not only who does not
    #[arg(long)]
    all: bool,
}

pub(super) fn run(args: &Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let (intent, all) = (args.intent.intent(args.agent.as_deref())?, usable(who)?);
    let planned = plan(&intent, &all.agents, &all.templates).map_err(refused)?;
    let rows = if args.all { Rows::All } else { Rows::Misfits };
    out.answer(&planned, |planned| planned::words(planned, rows));
    Ok(())
}
