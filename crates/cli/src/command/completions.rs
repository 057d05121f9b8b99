//! `placet completions`: completions for a shell, on stdout.

use clap::CommandFactory as _;

use super::Cli;
use crate::error::CliError;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  placet completions bash > /etc/bash_completion.d/placet")]
pub(crate) struct Args {
    shell: clap_complete::Shell,
}

pub(crate) fn run(args: Args) -> Result<(), CliError> {
    clap_complete::generate(args.shell, &mut Cli::command(), "placet", &mut std::io::stdout());
    Ok(())
}
