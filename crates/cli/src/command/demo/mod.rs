//! `placet demo`: one governed undertaking from proposal to proof, with real processes, a real cage and a real ledger.
//!
//! A throwaway home, a control plane and a worker as processes of their own, and a scripted agent that proposes three
//! actions: one the policy lets pass, one that needs you, one that it refuses. Nothing is left behind.

mod script;
mod world;

pub(super) use world::{World, serving};

use std::path::Path;

use placet_domain::id::RunId;

use super::serve::told_to_stop;
use super::word::is_attended;
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
    // Checked before the world starts: the usual hint names options of `placet approve`, which this command does not have.
    if !args.yes && !is_attended() {
        return Err(CliError::usage("nobody is there to ask: standard input is no terminal")
            .hint("`placet demo --yes` approves without asking"));
    }
    super::work::needs_cage()?;
    let world = unless_interrupted(World::start(args.keep.as_deref(), out)).await?;
    let told = unless_interrupted(script::play(&world, args.yes, out)).await;
    let kept = world.stop().await;
    let run = told?;
    out.note(&format!("\n{}", styled(BOLD, "Look further:")));
    out.note(&match kept {
        Some(home) => commands(&home, run),
        None => "  placet demo --keep DIR keeps everything, and says what to type then".to_owned(),
    });
    Ok(())
}

/// Commands that show the kept home. Each line can be pasted as printed; the first needs a terminal for itself.
fn commands(home: &Path, run: RunId) -> String {
    let placet = format!("placet --home {}", quoted(&home.display().to_string()));
    let beside = ["run list", &format!("run audit {run}"), "ledger head"].map(|rest| format!("\n  {placet} {rest}"));
    format!("  {placet} serve\nand beside it, in another terminal:{}", beside.concat())
}

/// Quotes a word for the shell.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '/' | '.' | '_' | '-');
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_home_with_blanks_is_quoted_for_shell() {
        assert_eq!(quoted("/tmp/kept/.placet"), "/tmp/kept/.placet");
        assert_eq!(quoted("/tmp/my home's/.placet"), r"'/tmp/my home'\''s/.placet'");
    }
}
