//! Starts and stops the control plane.

use std::net::SocketAddr;
use std::time::Duration;

use placet_domain::command::Command;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Actor, Role};
use placet_llm::upstream::OpenError;
use tokio::net::{TcpListener, UnixListener};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::accept::accept;
use crate::app::App;
use crate::error::No;
use crate::http::Mount;
use crate::models::{self, Models};
use crate::webhook::HookName;
use crate::{http, pumps, stop_socket};

/// Whoever sends half a request and then nothing must not keep the control plane from stopping.
const LONGEST_GOODBYE: Duration = Duration::from_secs(10);

/// How long calls of models may go on meanwhile; then they are estimated, so that each is recorded before everything ends.
const LONGEST_CALL: Duration = Duration::from_secs(5);

/// Why it could not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    #[error("the address {address} cannot be used: {source}")]
    Bind { address: SocketAddr, source: std::io::Error },
    #[error("{address} is not a loopback address; without TLS the API is served on loopback only")]
    NotLoopback { address: SocketAddr },
    #[error("the webhook `{hook}` should act as `{identity}`, which is no agent; `placet identity list` shows who is")]
    NoAgent { hook: HookName, identity: IdentityId },
    #[error("the gateway to language models cannot be opened: {0}")]
    Models(#[from] OpenError),
    #[error(transparent)]
    No(#[from] No),
}

/// A running control plane.
#[derive(Debug)]
pub struct Serving {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

impl Serving {
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Stops taking requests, ends streams and waiting, finishes what is under way, and returns.
    pub async fn stop(mut self) {
        let _ = self.stop.send(());
        if tokio::time::timeout(LONGEST_GOODBYE, &mut self.task).await.is_err() {
            tracing::warn!("somebody did not hang up; stopping all the same");
            self.task.abort();
        }
    }

    /// Runs until the server ends by itself, which it does only when it breaks.
    pub async fn ended(&mut self) {
        let _ = (&mut self.task).await;
    }
}

/// Serves the API on `address` (port 0 takes a free one), after judging anew what an older policy judged.
pub async fn serve(app: App, address: SocketAddr) -> Result<Serving, ServeError> {
    serve_with(app, address, Mount::default()).await
}

/// Serves the API and a further front beside it.
pub async fn serve_with(app: App, address: SocketAddr, mount: Mount) -> Result<Serving, ServeError> {
    let (listener, address) = listen(address).await?;
    needs_agents(&app).await?;
    pumps::enrol(&app).await?;
    note_start(&app).await?;
    pumps::rejudge(&app).await?;
    models::settle_what_was_lost(&app).await?;
    let models = match app.settings().models.clone() {
        Some(settings) => Some(Models::open(&app, settings).await?),
        None => None,
    };
    app.store().note_address(Some(address)).map_err(No::Fault)?;
    let stopping = stop_socket_of(&app);
    Ok(answering(app, models, listener, address, Clockwork::Running { stopping, mount }))
}

/// Opens the stop socket, if the settings name one. A failure does not prevent the start, because everything can still be stopped over
/// HTTP.
fn stop_socket_of(app: &App) -> Option<UnixListener> {
    let path = app.settings().stop_socket.as_deref()?;
    let listened = stop_socket::listen(path);
    listened
        .inspect_err(|error| tracing::warn!(path = %path.display(), %error, "the stop socket cannot be opened"))
        .ok()
}

/// Serves the API for one command of somebody on this machine: nothing lapses, nobody is called, no head is signed.
pub async fn serve_briefly(app: App, address: SocketAddr) -> Result<Serving, ServeError> {
    let (listener, address) = listen(address).await?;
    Ok(answering(app, None, listener, address, Clockwork::Still))
}

/// Whether time passes for what waits.
enum Clockwork {
    Running {
        /// Front beside the API.
        mount: Mount,
        /// Listener through which the user of this machine stops everything.
        stopping: Option<UnixListener>,
    },
    Still,
}

fn answering(
    app: App,
    models: Option<(Models, JoinHandle<()>)>,
    listener: TcpListener,
    address: SocketAddr,
    clockwork: Clockwork,
) -> Serving {
    let (stop, stopped) = oneshot::channel();
    let task = tokio::spawn(async move {
        let (pumps, mount) = match clockwork {
            Clockwork::Running { stopping, mut mount } => {
                let mut pumps = pumps::start(&app, address);
                for task in mount.take_tasks() {
                    pumps.spawn(task);
                }
                if let Some(listener) = stopping {
                    pumps.spawn(stop_socket::attend(app.clone(), listener));
                }
                (Some(pumps), mount)
            }
            Clockwork::Still => (None, Mount::default()),
        };
        let (models, recording) = models.unzip();
        let (router, limits) = (http::router(app.clone(), models.clone(), mount), app.settings().limits);
        let closing = app.clone();
        let accepting = accept(listener, router, limits, async move {
            let _ = stopped.await;
            // Before the port is anybody's again: whoever asks the store is not led there any more.
            let _ = closing.store().note_address(None);
            closing.close();
        });
        let calling = async {
            app.closed().await;
            if let Some(models) = models {
                models.stop(LONGEST_CALL).await;
            }
        };
        tokio::join!(accepting, calling);
        app.turns().over().await;
        // Every call that was answered is recorded before this ends.
        if let Some(recording) = recording {
            let _ = recording.await;
        }
        if pumps.is_some() {
            pumps::finish(&app).await;
        }
    });
    Serving { address, stop, task }
}

async fn listen(address: SocketAddr) -> Result<(TcpListener, SocketAddr), ServeError> {
    // Tokens would cross the network in the clear.
    if !address.ip().is_loopback() {
        return Err(ServeError::NotLoopback { address });
    }
    let listener = TcpListener::bind(address).await.map_err(|source| ServeError::Bind { address, source })?;
    let address = listener.local_addr().map_err(|source| ServeError::Bind { address, source })?;
    Ok((listener, address))
}

/// A hook that stands for nobody is a mistake in the settings; one whose agent was revoked is refused when it is used.
async fn needs_agents(app: &App) -> Result<(), ServeError> {
    for hook in app.settings().hooks.incoming() {
        let found = app.store().identity(hook.identity()).await.map_err(No::Fault)?;
        if !found.is_some_and(|identity| identity.has(Role::Agent)) {
            return Err(ServeError::NoAgent { hook: hook.name().clone(), identity: hook.identity() });
        }
    }
    Ok(())
}

/// From here on the ledger says under which policy and tools things were decided.
async fn note_start(app: &App) -> Result<(), No> {
    let command = Command::NoteStart {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        policy: app.policy().version(),
        tools: app.rules().tools_version(),
    };
    app.submit(Actor::Runtime, command, None).await.map(drop)
}
