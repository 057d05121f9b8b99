//! `placet work`: a worker, until it is told to stop.

use std::path::{Path, PathBuf};

use placet_sandbox::{LeastTier, Profiles, Tier};
use placet_worker::{HostConfig, Worker, WorkerConfig};
use tokio::sync::watch;

use super::serve::told_to_stop;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home::read_verifier;
use crate::journal;
use crate::out::Out;
use crate::profiles::profiles_in;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet --as worker work\n  PLACET_TOKEN=… placet --server URL work --permit-key permit.pub --scratch /var/tmp/placet --profiles /etc/placet/profiles"
)]
pub(crate) struct Args {
    /// The control plane's permit key (default: the one in the home)
    #[arg(long, value_name = "FILE")]
    permit_key: Option<PathBuf>,
    /// Where workspaces are made (default: in the system's temporary directory)
    #[arg(long, value_name = "DIR")]
    scratch: Option<PathBuf>,
    /// A folder of profiles (default: the one in the home)
    #[arg(long, value_name = "DIR")]
    profiles: Option<PathBuf>,
    /// Where the files of hosted runs are (default: `runs` in the home)
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// How many runs to host at once; 0 for none
    #[arg(long, default_value_t = 4, value_name = "N")]
    host: usize,
    /// How many jobs at once
    #[arg(long, default_value_t = 2, value_name = "N")]
    jobs: usize,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    journal::to_stderr();
    let tier = needs_cage()?;
    let profiles = profiles(args.profiles.as_deref(), who)?;
    for profile in profiles.iter().filter(|profile| profile.demands() == LeastTier::Full && tier != Tier::Full) {
        out.note(&format!(
            "the profile `{}` demands more than this machine has: nothing will run in it",
            profile.name()
        ));
    }
    let verifier = match &args.permit_key {
        Some(path) => read_verifier(path)?,
        None => who.home()?.verifier()?,
    };
    let scratch =
        args.scratch.unwrap_or_else(|| std::env::temp_dir().join(format!("placet-work-{}", std::process::id())));
    let (client, jobs_at_once) = (who.client()?, args.jobs.max(1));
    let hosting = hosting(args.runs, args.host, who);
    let config = WorkerConfig { client, verifier, scratch: scratch.clone(), jobs_at_once, profiles, hosting };
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

/// Runs need a place that outlives this process: without one, none are hosted.
fn hosting(runs: Option<PathBuf>, runs_at_once: usize, who: &Who) -> Option<HostConfig> {
    let runs = runs.or_else(|| who.home().ok().map(|home| home.runs()))?;
    (runs_at_once > 0).then_some(HostConfig { runs, runs_at_once })
}

/// Those of the folder, of the home, or, on a machine without a home, those that ship. With a home, its tools are
/// looked at too: a tool whose profile is missing would be noticed only by its first action.
fn profiles(folder: Option<&Path>, who: &Who) -> Result<Profiles, CliError> {
    match (folder, who.home()) {
        (Some(folder), _) if !folder.is_dir() => {
            Err(CliError::new(Code::NotFound, format!("`{}` is no folder", folder.display())))
        }
        (Some(folder), _) => profiles_in(folder),
        (None, Ok(home)) => home.tools().and_then(|_| home.profiles()),
        (None, Err(_)) => Ok(Profiles::default()),
    }
}

/// A worker that cannot build a cage must not take work.
pub(crate) fn needs_cage() -> Result<Tier, CliError> {
    match placet_sandbox::probe().tier {
        Tier::Unavailable { reason } => {
            Err(CliError::new(Code::NoCage, format!("no cage can be built here: {reason}"))
                .hint("`placet doctor` tells more"))
        }
        tier @ (Tier::Full | Tier::Degraded { .. }) => Ok(tier),
    }
}
