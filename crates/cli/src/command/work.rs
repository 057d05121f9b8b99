//! `placet work`: a worker, until it is told to stop.

use std::path::PathBuf;

use placet_worker::{Worker, WorkerConfig};
use tokio::sync::watch;

use super::serve::told_to_stop;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home::read_verifier;
use crate::journal;
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet --as worker work\n  PLACET_TOKEN=… placet --server URL work --permit-key permit.pub --scratch /var/tmp/placet"
)]
pub(crate) struct Args {
    /// The control plane's permit key (default: the one in the home)
    #[arg(long, value_name = "FILE")]
    permit_key: Option<PathBuf>,
    /// Where workspaces are made (default: in the system's temporary directory)
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// How many jobs at once
    #[arg(long, default_value_t = 2, value_name = "N")]
    jobs: usize,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    journal::to_stderr();
    needs_cage()?;
    let verifier = match &args.permit_key {
        Some(path) => read_verifier(path)?,
        None => who.home()?.verifier()?,
    };
    let scratch =
        args.scratch.unwrap_or_else(|| std::env::temp_dir().join(format!("placet-work-{}", std::process::id())));
    let config =
        WorkerConfig { client: who.client()?, verifier, scratch: scratch.clone(), jobs_at_once: args.jobs.max(1) };
    let worker = Worker::connect(config).await?;
    out.note(&format!("working as {}; stop with Ctrl-C", worker.identity()));
    let (stop, stopped) = watch::channel(false);
    tokio::spawn(async move {
        told_to_stop().await;
        let _ = stop.send(true);
    });
    worker.run(stopped).await;
    let _ = std::fs::remove_dir(&scratch);
    Ok(())
}

/// A worker that cannot build a cage must not take work.
pub(crate) fn needs_cage() -> Result<(), CliError> {
    match placet_sandbox::probe().tier {
        placet_sandbox::Tier::Unavailable { reason } => {
            Err(CliError::new(Code::NoCage, format!("no cage can be built here: {reason}"))
                .hint("`placet doctor` tells more"))
        }
        placet_sandbox::Tier::Full | placet_sandbox::Tier::Degraded { .. } => Ok(()),
    }
}
