//! `placet handoff`: the next agent of a ticket starts from the previous one's branch.

use placet_domain::worktree::{Layout, WorktreeStatus};
use placet_worktree::start::Wish;

use super::host::admit;
use super::start::{begin, tell};
use super::{Pair, Site, look_up};
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  placet handoff --agent backend --ticket PAY-123 --to database\n  \
                        placet handoff --agent backend --ticket PAY-123")]
pub(crate) struct Args {
    #[command(flatten)]
    pair: Pair,
    /// The next agent; without it, the next in the team's sequence
    #[arg(long, value_name = "NAME")]
    to: Option<String>,
    /// Share one checkout of the base with other worktrees
    #[arg(long)]
    overlay: bool,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    let site = Site::here()?;
    admit(&site, who, out).await?;
    let before = look_up(who, &args.pair).await?;
    if !matches!(before.status, WorktreeStatus::Closed | WorktreeStatus::Merged) {
        let message = format!("{} is {}; what is handed over is done first", args.pair.agent, before.status);
        let hint = format!("placet close --agent {} --ticket {}", args.pair.agent, args.pair.ticket);
        return Err(CliError::new(Code::Conflict, message).hint(hint));
    }
    let agent = match args.to {
        Some(agent) => agent,
        None => next_of(&site, &args.pair.agent)?,
    };
    let layout = if args.overlay { Layout::Layered } else { Layout::Plain };
    let pair = Pair { agent, ticket: args.pair.ticket };
    let view = begin(&site, &pair, Wish { layout, follows: Some(&before) }, who).await?;
    tell(&site, &view, "started", who, out).await
}

/// Who comes after an agent in the team's sequence, if that is clear.
fn next_of(site: &Site, agent: &str) -> Result<String, CliError> {
    let sequences = site.team.policy().sequences.values();
    let mut next: Vec<&str> = sequences
        .filter_map(|sequence| {
            let at = sequence.iter().position(|name| name.as_str() == agent)?;
            sequence.get(at + 1).map(|name| name.as_str())
        })
        .collect();
    next.sort_unstable();
    next.dedup();
    match next.as_slice() {
        [one] => Ok((*one).to_owned()),
        [] => Err(CliError::usage(format!("nobody comes after `{agent}` in `agents/policy.json`; name one with --to"))),
        several => Err(CliError::usage(format!("it could be {}; name one with --to", several.join(" or ")))),
    }
}
