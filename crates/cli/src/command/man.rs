//! `placet man`: manual pages, one per command.

use std::path::PathBuf;

use clap::CommandFactory as _;

use super::Cli;
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The directory to write them to
    dir: PathBuf,
}

pub(crate) fn run(args: Args, out: &Out) -> Result<(), CliError> {
    std::fs::create_dir_all(&args.dir)?;
    clap_mangen::generate_to(Cli::command(), &args.dir)?;
    out.note(&format!("written to {}", args.dir.display()));
    Ok(())
}
