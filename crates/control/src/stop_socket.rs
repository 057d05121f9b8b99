//! Stop socket: stops everything without a token, a free connection or a network.
//!
//! A Unix socket in the data folder of the home. The caller must be the user of the control plane, or root; the kernel reports the user of
//! the peer (`SO_PEERCRED`). The socket accepts one kind of message, a stop with its reason, and cannot resume. The domain decides as for
//! HTTP, and the entry records the user of the machine. A cage cannot reach the socket, because no cage mounts the home.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use placet_domain::canonical;
use placet_domain::command::Command;
use placet_domain::identity::Actor;
use placet_domain::organisation::OrganisationCommand;
use placet_wire::api::{HaltRequest, OrganisationView};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;

use crate::app::App;
use crate::flow::No;
use crate::read::view;

/// A reason has at most 2,000 bytes, and JSON may write each of them as six.
const LONGEST_MESSAGE: u64 = 16 << 10;
/// Timeout for a message and its answer, which a person waits for.
const LONGEST_EXCHANGE: Duration = Duration::from_secs(10);
/// Limit of concurrent callers. All of them could end the process anyway, but the number is bounded all the same.
const MOST_AT_ONCE: usize = 64;
/// Pause after a system error, as for other connections.
const RECOVERY: Duration = Duration::from_millis(50);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StopAnswer {
    Stopped(Box<OrganisationView>),
    Refused { code: String, detail: String },
}

/// Reason why the socket did not stop a control plane.
#[derive(Debug, thiserror::Error)]
pub enum StopError {
    /// No process listens; the caller uses HTTP instead.
    #[error("no control plane listens at `{}`", path.display())]
    NobodyThere { path: PathBuf },
    #[error("`{}` cannot be used: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{detail}")]
    Refused { code: String, detail: String },
}

/// Asks the control plane of this home to stop everything.
pub async fn stop_by_socket(path: &Path, reason: String) -> Result<OrganisationView, StopError> {
    let failed = |source: io::Error| {
        let path = path.to_owned();
        let nobody = matches!(source.kind(), io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused);
        if nobody { StopError::NobodyThere { path } } else { StopError::Io { path, source } }
    };
    let (_folder, short) = short_name(path).map_err(failed)?;
    let mut socket = UnixStream::connect(short).await.map_err(failed)?;
    let exchange = async {
        let message = serde_json::to_vec(&HaltRequest { reason })?;
        socket.write_all(&message).await?;
        socket.shutdown().await?;
        let mut answer = Vec::new();
        socket.take(LONGEST_MESSAGE).read_to_end(&mut answer).await?;
        Ok::<StopAnswer, io::Error>(serde_json::from_slice(&answer)?)
    };
    let late = |_| failed(io::ErrorKind::TimedOut.into());
    match tokio::time::timeout(LONGEST_EXCHANGE, exchange).await.map_err(late)?.map_err(failed)? {
        StopAnswer::Stopped(view) => Ok(*view),
        StopAnswer::Refused { code, detail } => Err(StopError::Refused { code, detail }),
    }
}

/// Returns a socket path of at most 108 bytes, even for a deep folder. It is valid while the folder stays open.
fn short_name(path: &Path) -> io::Result<(File, PathBuf)> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = File::open(folder)?;
    let short = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string()).join(name);
    Ok((folder, short))
}

/// Listens, and replaces the socket of an earlier process: each data folder has only one control plane.
pub(crate) fn listen(path: &Path) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.file_type().is_socket() => fs::remove_file(path)?,
        Ok(_) => return Err(io::ErrorKind::AlreadyExists.into()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    let (_folder, short) = short_name(path)?;
    let listener = UnixListener::bind(&short)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Answers until the task is cancelled.
pub(crate) async fn attend(app: App, listener: UnixListener) {
    let places = Arc::new(Semaphore::new(MOST_AT_ONCE));
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        let socket = match listener.accept().await {
            Ok((socket, _)) => socket,
            Err(error) => {
                tracing::warn!(%error, "a connection to the stop socket could not be taken");
                tokio::time::sleep(RECOVERY).await;
                continue;
            }
        };
        let app = app.clone();
        tokio::spawn(async move {
            let _place = place;
            match tokio::time::timeout(LONGEST_EXCHANGE, exchange(&app, socket)).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "nobody was answered on the stop socket"),
                Err(_) => tracing::warn!("nobody was answered on the stop socket in time"),
            }
        });
    }
}

async fn exchange(app: &App, mut socket: UnixStream) -> io::Result<()> {
    let user = socket.peer_cred()?.uid();
    if !may_stop(user, rustix::process::geteuid().as_raw()) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    let mut message = Vec::new();
    (&mut socket).take(LONGEST_MESSAGE).read_to_end(&mut message).await?;
    let answer = answer(app, user, &message).await;
    socket.write_all(&serde_json::to_vec(&answer)?).await?;
    socket.shutdown().await
}

/// True for the user of the control plane, and for root, who can end the process anyway.
const fn may_stop(user: u32, own: u32) -> bool {
    user == own || user == 0
}

async fn answer(app: &App, user: u32, message: &[u8]) -> StopAnswer {
    let request = canonical::parse(message).ok().and_then(|value| serde_json::from_value::<HaltRequest>(value).ok());
    let Some(HaltRequest { reason }) = request else {
        let detail = "the stop socket takes `{\"reason\": \"…\"}` and stops everything; nothing was changed".to_owned();
        return StopAnswer::Refused { code: "bad_json".to_owned(), detail };
    };
    match halt(app, user, reason).await {
        Ok(view) => StopAnswer::Stopped(Box::new(view)),
        Err(No::Refused(refusal)) => {
            StopAnswer::Refused { code: refusal.code().to_owned(), detail: refusal.to_string() }
        }
        Err(no) => {
            tracing::error!(error = %no, "everything should stop, and that could not be recorded");
            let detail = "the ledger cannot be written now; end the control plane to stop what it does".to_owned();
            StopAnswer::Refused { code: "fault".to_owned(), detail }
        }
    }
}

async fn halt(app: &App, user: u32, reason: String) -> Result<OrganisationView, No> {
    let command = Command::Organisation(OrganisationCommand::HaltLocally { user, reason });
    app.submit(Actor::Runtime, command, None).await?;
    let organisation = app.store().organisation().await.map_err(No::Fault)?;
    // The budget of all projects is not shown to a caller without a token.
    let view = view::organisation(organisation);
    Ok(OrganisationView { budget: None, ..view })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_own_user_and_root_may_stop() {
        assert!(may_stop(1_000, 1_000) && may_stop(0, 1_000));
        assert!(!may_stop(1_001, 1_000) && !may_stop(1_000, 0));
    }

    #[tokio::test]
    async fn socket_works_below_a_path_of_any_length() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("d".repeat(120));
        fs::create_dir(&folder).unwrap();
        let path = folder.join("stop.sock");
        drop(listen(&path).unwrap());
        let _again = listen(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        let (_folder, short) = short_name(&path).unwrap();
        assert!(UnixStream::connect(short).await.is_ok());
    }

    #[tokio::test]
    async fn file_in_place_of_the_socket_is_left_alone() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("stop.sock");
        fs::write(&path, "mine").unwrap();
        assert_eq!(listen(&path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"mine");
        let gone = stop_by_socket(&root.path().join("none.sock"), String::new()).await.unwrap_err();
        assert!(matches!(gone, StopError::NobodyThere { .. }), "{gone}");
    }
}
