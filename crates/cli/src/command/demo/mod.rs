//! `placet demo`: one governed undertaking from proposal to proof, with real processes, a real cage and a real ledger.
//!
//! A throwaway home, a control plane and a worker as processes of their own, and a scripted agent that proposes three
//! actions: one the policy lets pass, one that needs you, one that it refuses. Nothing is left behind.

mod script;
mod world;

pub(super) use world::{World, serving};

use super::serve::told_to_stop;
use crate::error::{CliError, Code};
use crate::out::{BOLD, Out, styled};

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Needs no key, no network and no root.\n\nExamples:\n  placet demo\n  placet demo --yes\n  placet demo --yes --keep demo-home"
)]
pub(crate) struct Args {
    /// Approve without asking: you only watch
    #[arg(long)]
    yes: bool,
    /// Keep everything in this new directory, to look further
    #[arg(long, value_name = "DIR")]
    keep: Option<std::path::PathBuf>,
}

/// Nothing is left behind even when somebody has seen enough.
async fn unless_interrupted<T>(work: impl Future<Output = Result<T, CliError>>) -> Result<T, CliError> {
    tokio::select! {
        done = work => done,
        () = told_to_stop() => Err(CliError::new(Code::Interrupted, "interrupted")),
    }
}

pub(crate) async fn run(args: Args, out: &Out) -> Result<(), CliError> {
    super::work::needs_cage()?;
    let world = unless_interrupted(World::start(args.keep.as_deref(), out)).await?;
    let told = unless_interrupted(script::play(&world, args.yes, out)).await;
    let kept = world.stop().await;
    told?;
    if let Some(home) = kept {
        let home = home.display();
        out.note(&format!(
            "\n{}\n  placet --home {home} serve\n  placet --home {home} run list\n  placet --home {home} run audit RUN\n  placet --home {home} ledger head",
            styled(BOLD, "Look further:")
        ));
    } else {
        out.note(&format!(
            "\n{} placet demo --keep DIR, then `placet --home DIR/.placet serve`",
            styled(BOLD, "Look further:")
        ));
    }
    Ok(())
}
