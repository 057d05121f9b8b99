//! `placet shell`: a person where the agent is. With a terminal of its own in the cage if this process has one, so that
//! editors, pagers and job control work; line by line otherwise.
//!
//! What a program in the cage shows there reaches the person's terminal as it is: that is what a terminal is for. It cannot
//! type, because putting words into a terminal is refused in a cage.

use std::process::ExitCode;

use super::Pair;
use super::exec::{Streams, work};
use crate::context::Who;
use crate::error::CliError;
use crate::out::Out;
use crate::terminal;

#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  placet shell --agent backend --ticket PAY-123")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<ExitCode, CliError> {
    out.note("you are where the agent is: its scope is writable, nothing else; leave with `exit`");
    let command = ["bash", "--norc", "-i"].map(str::to_owned);
    let streams = if terminal::is_ours() { Streams::Terminal } else { Streams::Pipes };
    work(&args.pair, &command, streams, who, out).await
}
