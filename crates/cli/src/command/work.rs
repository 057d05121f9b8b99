//! `placet work`: a worker, until it is told to stop.

use std::fs::{DirBuilder, File, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use placet_egress::Team;
use placet_sandbox::{HostReport, LeastTier, Profiles, Tier};
use placet_seal::Key;
use placet_worker::{HostConfig, Worker, WorkerConfig};
use tokio::sync::watch;

use super::serve::told_to_stop;
use crate::context::Who;
use crate::error::{CliError, Code};
use crate::home::{read_secret_key, read_verifier, team_at};
use crate::journal;
use crate::open_files;
use crate::out::Out;
use crate::profiles::profiles_in;

/// As many as most machines have processors for.
pub(crate) const JOBS: usize = 2;

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
    /// Credentials that are put into requests of actions (default: `credentials.toml` of the home)
    #[arg(long, value_name = "FILE")]
    credentials: Option<PathBuf>,
    /// Where the files of hosted runs are (default: `runs` in the home)
    #[arg(long, value_name = "DIR")]
    runs: Option<PathBuf>,
    /// A file with 64 hex digits; with it, what is saved of hosted runs is encrypted (default: the one the home's settings name)
    #[arg(long, value_name = "FILE")]
    snapshot_key: Option<PathBuf>,
    /// How many runs to host at once; 0 for none
    #[arg(long, default_value_t = 4, value_name = "N")]
    host: usize,
    /// How many jobs at once
    #[arg(long, default_value_t = JOBS, value_name = "N")]
    jobs: usize,
}

pub(crate) async fn run(args: Args, who: &Who, out: &Out) -> Result<(), CliError> {
    journal::to_stderr();
    open_files::raise();
    let found = needs_cage()?;
    let tier = &found.tier;
    let profiles = profiles(args.profiles.as_deref(), who)?;
    for profile in profiles.iter().filter(|profile| profile.demands() == LeastTier::Full && *tier != Tier::Full) {
        out.note(&format!(
            "the profile `{}` demands more than this machine has: nothing will run in it",
            profile.name()
        ));
    }
    let verifier = match &args.permit_key {
        Some(path) => read_verifier(path)?,
        None => who.home()?.verifier()?,
    };
    let team = team(args.credentials.as_deref(), who)?;
    let (client, jobs_at_once) = (who.client()?, args.jobs.max(1));
    let key = snapshot_key(args.snapshot_key.as_deref(), who)?;
    let hosting = hosting(args.runs, args.host, who)?.map(|hosting| HostConfig { key, ..hosting });
    // Held until this process ends.
    let _alone = hosting.as_ref().map(|config| alone_in(&config.runs)).transpose()?;
    let scratch = scratch(args.scratch)?;
    let config = WorkerConfig { client, verifier, scratch: scratch.clone(), jobs_at_once, profiles, team, hosting };
    let worker = Worker::connect(config).await?;
    // An older control plane does not know of it: it works all the same.
    if let Err(error) = worker.declare(&found).await {
        tracing::warn!(%error, "what this worker is could not be said");
    }
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

/// The file that was named, or the one of the home; none is fine.
fn team(named: Option<&Path>, who: &Who) -> Result<Team, CliError> {
    match (named, who.home()) {
        (Some(path), _) => team_at(path),
        (None, Ok(home)) => home.team(),
        (None, Err(_)) => Ok(Team::default()),
    }
}

/// Runs need a place that outlives this process: without one, none are hosted.
fn hosting(runs: Option<PathBuf>, runs_at_once: usize, who: &Who) -> Result<Option<HostConfig>, CliError> {
    let runs = runs.or(who.home_if_any()?.map(|home| home.runs())).filter(|_| runs_at_once > 0);
    Ok(runs.map(|runs| HostConfig { runs, runs_at_once, key: None }))
}

/// The key that was named, or the one of the home. A file or a home that is named and cannot be used is an error: nothing is saved in the
/// clear by mistake.
fn snapshot_key(named: Option<&Path>, who: &Who) -> Result<Option<Arc<Key>>, CliError> {
    let bytes = match (named, who.home_if_any()?) {
        (Some(path), _) => Some(read_secret_key(path)?),
        (None, Some(home)) => home.snapshot_key()?,
        (None, None) => None,
    };
    Ok(bytes.map(|bytes| Arc::new(Key::new(bytes))))
}

/// Two processes that keep the same runs would undo each other's work. The lock is on the folder itself and ends with the process.
fn alone_in(runs: &Path) -> Result<File, CliError> {
    let cannot = |error: io::Error| CliError::failed(format!("`{}` cannot be used: {error}", runs.display()));
    DirBuilder::new().recursive(true).mode(0o700).create(runs).map_err(cannot)?;
    let folder = File::open(runs).map_err(cannot)?;
    match folder.try_lock() {
        Ok(()) => Ok(folder),
        Err(TryLockError::WouldBlock) => {
            let why = format!("another worker keeps the runs in `{}`", runs.display());
            Err(CliError::new(Code::Conflict, why)
                .hint("stop it first, or name another folder with --runs, or --host 0"))
        }
        Err(TryLockError::Error(error)) => Err(cannot(error)),
    }
}

/// Where workspaces are made: files that were approved lie there, and nobody else may exchange them.
fn scratch(given: Option<PathBuf>) -> Result<PathBuf, CliError> {
    let Some(scratch) = given else {
        // A name that nobody knows beforehand, made here and now with mode 0700.
        let made = tempfile::Builder::new().prefix("placet-work-").permissions(Permissions::from_mode(0o700)).tempdir();
        let made = made.map_err(|error| CliError::failed(format!("no place for workspaces can be made: {error}")))?;
        return Ok(made.keep());
    };
    let cannot = |error: io::Error| CliError::failed(format!("`{}` cannot be used: {error}", scratch.display()));
    DirBuilder::new().recursive(true).mode(0o700).create(&scratch).map_err(cannot)?;
    let found = std::fs::symlink_metadata(&scratch).map_err(cannot)?;
    if found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o022 == 0 {
        return Ok(scratch);
    }
    let why = format!("`{}` is somebody else's, or others may write to it", scratch.display());
    Err(CliError::failed(why).hint("name a folder that is yours alone with --scratch"))
}

/// Those of the folder, of the home, or, on a machine without a home, those that ship. With a home, its tools are
/// looked at too: a tool whose profile is missing would be noticed only by its first action.
fn profiles(folder: Option<&Path>, who: &Who) -> Result<Profiles, CliError> {
    match (folder, who.home_if_any()?) {
        (Some(folder), _) if !folder.is_dir() => {
            Err(CliError::new(Code::NotFound, format!("`{}` is no folder", folder.display())))
        }
        (Some(folder), _) => profiles_in(folder),
        (None, Some(home)) => home.tools().and_then(|_| home.profiles()),
        (None, None) => Ok(Profiles::default()),
    }
}

/// A worker that cannot build a cage must not take work.
pub(crate) fn needs_cage() -> Result<HostReport, CliError> {
    let found = placet_sandbox::probe();
    match found.tier {
        Tier::Unavailable { reason } => {
            Err(CliError::new(Code::NoCage, format!("no cage can be built here: {reason}"))
                .hint("`placet doctor` tells more"))
        }
        Tier::Full | Tier::Degraded { .. } => Ok(found),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workspaces_are_made_where_nobody_else_writes() {
        let (one, other) = (scratch(None).unwrap(), scratch(None).unwrap());
        assert_ne!(one, other, "their names cannot be known beforehand");
        for made in [one, other] {
            assert_eq!(std::fs::metadata(&made).unwrap().mode() & 0o777, 0o700);
            std::fs::remove_dir(made).unwrap();
        }
        let dir = tempfile::tempdir().unwrap();
        let open = dir.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, Permissions::from_mode(0o777)).unwrap();
        assert!(scratch(Some(open.clone())).unwrap_err().message.contains("others may write"));
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(scratch(Some(link)).is_err());
        assert!(scratch(Some(dir.path().join("new"))).is_ok());
    }
}
