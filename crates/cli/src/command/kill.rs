//! `placet kill`: the switch that stops everything at once, and lets it go on.

use placet_wire::api::{HaltRequest, OrganisationView};

use crate::context::Who;
use crate::error::CliError;
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet kill --all\n  placet kill --all --reason 'agents misbehave'\n  placet kill --release --reason 'looked into it'"
)]
pub(crate) struct Args {
    /// Stop everything: nothing begins, nothing goes on, what runs is ended
    #[arg(long, required_unless_present = "release", conflicts_with = "release")]
    all: bool,
    /// Let everything go on
    #[arg(long)]
    release: bool,
    /// Why; everybody reads it. Whoever stops everything may say nothing
    #[arg(long, required_unless_present = "all")]
    reason: Option<String>,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let path = if args.release { "/api/v1/release" } else { "/api/v1/halt" };
    let view: OrganisationView =
        who.client()?.post(path, &HaltRequest { reason: args.reason.unwrap_or_default() }).await?;
    out.answer(&view, |view| {
        let state = if view.halted { "everything is stopped" } else { "everything may go on" };
        styled(BOLD, state).to_string()
    });
    Ok(())
}
