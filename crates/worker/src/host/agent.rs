//! The agent of a run: one process tree in a cage, started with what was approved and nothing else.

use std::io;
use std::thread;
use std::time::SystemTime;

use placet_domain::digest::Digest;
use placet_domain::reason::AgentEnd;
use placet_domain::run::Launch;
use placet_sandbox::{
    Exit, FreezeError, Freezer, Frozen, Held, Killer, Launcher, Profile, Request, Running, SandboxError, Stream,
};
use placet_wire::ClientError;
use placet_wire::api::{HostingView, NewToken};
use placet_wire::endpoint::IssueAgentToken;
use placet_workspace::TreePath;
use placet_workspace::space::SpaceError;
use tokio::sync::oneshot;

use super::handshake::{self, Environment};
use super::relay::{self, Relay};
use super::seat::Turn;
use super::tail::Tail;
use crate::execute::chain;
use crate::lease::Worker;
use crate::tap::{Speaker, Tap, Teller};

/// Why an agent does not run.
#[derive(Debug, thiserror::Error)]
pub(super) enum StartError {
    #[error(transparent)]
    Control(#[from] ClientError),
    #[error("the agent's cage is not the one that was approved: {0}")]
    OtherCage(String),
    #[error("its directory cannot be prepared: {0}")]
    Directory(#[from] SpaceError),
    #[error("{0}")]
    Cage(String),
}

/// An agent at work. Dropping it ends the whole tree.
#[derive(Debug)]
pub(super) struct AgentProcess {
    killer: Killer,
    freezer: Option<Freezer>,
    frozen: Option<Frozen>,
    ended: oneshot::Receiver<Ended>,
    _relay: Relay,
}

/// How it ended.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) end: AgentEnd,
    /// The end of what it said, errors first.
    pub(super) last_words: String,
}

impl Drop for AgentProcess {
    fn drop(&mut self) {
        self.killer.kill();
    }
}

impl AgentProcess {
    /// Gives the agent a fresh credential and starts it.
    pub(super) async fn start(worker: &Worker, hosting: &HostingView, turn: &mut Turn) -> Result<Self, StartError> {
        let launch =
            hosting.run.launch.as_ref().ok_or_else(|| StartError::Cage("nothing is to be started".to_owned()))?;
        let profile = approved_profile(worker, launch)?;
        let client = &worker.config.client;
        let once = client.post(IssueAgentToken { run: hosting.run.id }, &NewToken {}).await?;
        let space = turn.space()?;
        space.place_in_memory(&path(handshake::TOKEN_FILE), once.token.as_bytes())?;
        let environment = Environment::of(hosting, profile.limits()).to_bytes();
        space.place_in_memory(&path(handshake::ENVIRONMENT_FILE), &environment)?;
        let command = std::iter::once(&launch.program).chain(&launch.arguments).cloned();
        let mut request = Request::new(command)
            .workspace(space.agent())
            .env(handshake::SERVICE_VARIABLE, handshake::service_url())
            .door(handshake::DOOR)
            .freezable()
            // The agent's own directory; no user of this host runs version control in it.
            .writable_repositories();
        for (name, value) in handshake::model_variables(&once.token) {
            request = request.env(name, value);
        }
        let launched = tokio::task::spawn_blocking(move || Launcher::default().launch(&profile, request)).await;
        let cannot = |error: &SandboxError| StartError::Cage(format!("it cannot be started: {}", chain(error)));
        let running = launched.map_err(|lost| StartError::Cage(lost.to_string()))?.map_err(|error| cannot(&error))?;
        let server = client.server().trim_start_matches("http://").to_owned();
        let teller = Teller {
            worker: worker.clone(),
            speaker: Speaker::Agent(hosting.run.id),
            start: start_now(),
            tap: Tap::default(),
        };
        Self::attend(running, server, teller)
            .map_err(|error| StartError::Cage(format!("its door cannot be opened: {error}")))
    }

    fn attend(mut running: Running, server: String, teller: Teller) -> io::Result<Self> {
        let door = running.take_door(handshake::DOOR).ok_or(io::ErrorKind::NotFound)?;
        let relay = relay::open(door, server)?;
        let (killer, freezer, (tell, ended)) = (running.killer(), running.freezer(), oneshot::channel());
        let (tap, (over, is_over)) = (teller.tap.clone(), oneshot::channel());
        thread::Builder::new().name("agent".to_owned()).spawn(move || {
            let _ = tell.send(wait(running, &tap));
            let _ = over.send(());
        })?;
        tokio::spawn(watched(teller, is_over));
        Ok(Self { killer, freezer, frozen: None, ended, _relay: relay })
    }

    /// Until it ends by itself.
    pub(super) async fn ended(&mut self) -> Ended {
        let lost = || Ended { end: AgentEnd::Lost { error: String::new() }, last_words: String::new() };
        (&mut self.ended).await.unwrap_or_else(|_| lost())
    }

    /// From here on nothing of it runs, until [`AgentProcess::go_on`]. What it is sent meanwhile waits for it.
    pub(super) async fn stand_still(&mut self) -> Result<(), FreezeError> {
        let (None, Some(freezer)) = (&self.frozen, self.freezer.clone()) else { return Ok(()) };
        let frozen = tokio::task::spawn_blocking(move || freezer.freeze()).await;
        self.frozen = Some(frozen.map_err(|lost| FreezeError::Io(io::Error::other(lost)))??);
        Ok(())
    }

    /// What stood still goes on. One that has ended is noticed elsewhere.
    pub(super) async fn go_on(&mut self) {
        let Some(frozen) = self.frozen.take() else { return };
        match tokio::task::spawn_blocking(move || frozen.thaw()).await {
            Ok(Ok(Held::Throughout)) => {}
            Ok(Ok(Held::NotThroughout)) => tracing::warn!("an agent woke up while it should have stood still"),
            other => tracing::info!(?other, "an agent that stood still is gone"),
        }
    }

    /// Ends it, and returns when nothing of it is left.
    pub(super) async fn end(mut self) {
        self.killer.kill();
        self.ended().await;
    }
}

fn path(text: &str) -> TreePath {
    TreePath::new(text).expect("a plain relative path")
}

/// The cage this host would build, if it is the one that was approved.
fn approved_profile(worker: &Worker, launch: &Launch) -> Result<Profile, StartError> {
    let (name, approved) = (&launch.profile, launch.profile_digest);
    let profile = worker.config.profiles.get(name);
    let profile = profile.ok_or_else(|| StartError::OtherCage(format!("this worker has no profile `{name}`")))?;
    let here = Digest::of(&profile.effective());
    if here != approved {
        return Err(StartError::OtherCage(format!("the profile `{name}` is {here} here, approved was {approved}")));
    }
    Ok(profile.clone())
}

/// Tells what it says, and its last words when it has ended.
async fn watched(teller: Teller, is_over: oneshot::Receiver<()>) {
    tokio::select! {
        () = teller.tell() => {}
        _ = is_over => teller.farewell().await,
    }
}

/// Larger for a later start. A clock that was set back makes a start that nobody hears of; it is started all the same.
fn start_now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(0)
}

fn wait(mut running: Running, tap: &Tap) -> Ended {
    let (mut stdout, mut stderr) = (Tail::default(), Tail::default());
    let listened = running.listen(|stream, bytes| {
        tap.hear(stream, bytes);
        match stream {
            Stream::Stdout => stdout.take(bytes),
            Stream::Stderr => stderr.take(bytes),
        }
    });
    if let Err(error) = listened {
        tracing::warn!(error = chain(&error), "what an agent says is not heard any more");
    }
    let outcome = running.wait();
    let said = [stderr, stdout].map(Tail::words);
    let last_words = said.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    let lost = |error| AgentEnd::Lost { error: chain(&error) };
    Ended { end: outcome.map_or_else(lost, |outcome| agent_end(&outcome.exit)), last_words }
}

fn agent_end(exit: &Exit) -> AgentEnd {
    match exit {
        Exit::Code(code) => AgentEnd::Code { code: *code },
        Exit::Signal(signal) => AgentEnd::Signal { signal: *signal },
        Exit::Cancelled => AgentEnd::Stopped,
        Exit::Limit { which, limit, seen } => {
            AgentEnd::Limit { which: format!("{which:?}"), limit: *limit, seen: *seen }
        }
    }
}
