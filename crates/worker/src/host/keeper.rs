//! The keeper of one run: compares what is wanted with what there is, and does what is missing, one thing after the other.
//!
//! A control plane that cannot be reached is waited for. What this host cannot do for another reason is said, and fails the run: a person
//! reads why, and can roll it back.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::reason::{AgentEnd, HostFault};
use placet_domain::run::{Output, Wanted};
use placet_domain::scope::ScopePath;
use placet_wire::api::{Decision, FailureRequest, FaultRequest, HostingQuery, HostingView, OutputReport, RunView};
use placet_wire::endpoint::{
    FailRun, FetchEvidence, HostRun, ListHostings, ReportDestruction, ReportOutputs, ReportSnapshotFailure,
    StoreEvidence,
};
use placet_wire::{ClientError, Endpoint};
use placet_workspace::TreePath;
use placet_workspace::space::SpaceError;
use serde::Serialize;
use tokio::sync::watch;

use super::News;
use super::agent::{AgentProcess, Ended, StartError};
use super::saving::of_domain;
use super::seat::{DestroyError, Seat, SeatError, Turn, lay};
use crate::lease::{Pause, RETRY, Worker};
use crate::report::{insist, is_temporary};

/// What a finished agent gets to end by itself.
const FAREWELL: Duration = Duration::from_secs(3);
/// It is read as a whole, and a hole in a file costs its maker nothing.
const LARGEST_OUTPUT_BYTES: u64 = 256 << 20;
/// The code of a No that ends by itself.
const HALTED: &str = "halted";
/// Maximum length of a text in a report; people read it.
const LONGEST_REASON: usize = 1_500;

pub(super) struct Keeper {
    worker: Worker,
    pub(super) run: RunId,
    pub(super) seat: Arc<Seat>,
    news: watch::Receiver<News>,
    agent: Option<AgentProcess>,
    /// What was refused the last time. Once may be a matter of moments; twice, it is an answer.
    refused: Option<Wanted>,
}

/// Why something was not brought about.
#[derive(Debug, thiserror::Error)]
pub(super) enum KeepError {
    #[error(transparent)]
    Control(#[from] ClientError),
    #[error(transparent)]
    Space(#[from] SpaceError),
    #[error(transparent)]
    Seat(#[from] SeatError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Destroy(#[from] DestroyError),
    #[error("its files cannot be laid down: {0}")]
    Lay(#[source] std::io::Error),
    #[error("the file `{0}` that was fetched is not the one that was approved")]
    WrongFile(String),
    #[error("`{0}` is not the snapshot that was recorded")]
    OtherSnapshot(u32),
    #[error("`{path}` is too large to be an output: {size_bytes} bytes")]
    TooLarge { path: String, size_bytes: u64 },
    #[error(
        "it made {0} files, more outputs than can be recorded (some hundred, fewer with long paths); roll it back and have them packed \
         together"
    )]
    TooMany(usize),
    #[error("{0}")]
    Lost(#[from] tokio::task::JoinError),
}

impl KeepError {
    /// Whether the same may succeed in a moment.
    pub(super) fn passes(&self) -> bool {
        match self {
            Self::Control(error) | Self::Start(StartError::Control(error)) => match error {
                // Another process has the server's port for now; no token was sent, so a retry is safe.
                ClientError::Unreachable { .. } | ClientError::Stranger { .. } => true,
                // What everybody is told while everything is stopped is no answer to this run.
                ClientError::Refused(problem) => is_temporary(problem) || problem.code == HALTED,
                ClientError::Garbled { .. } => false,
            },
            // Nothing of a run stays for want of trying.
            Self::Destroy(_) => true,
            Self::Space(_)
            | Self::Seat(_)
            | Self::Start(_)
            | Self::Lay(_)
            | Self::WrongFile(_)
            | Self::OtherSnapshot(_)
            | Self::TooLarge { .. }
            | Self::TooMany(_)
            | Self::Lost(_) => false,
        }
    }

    /// Whether the control plane said No: somebody else may have decided meanwhile.
    const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Control(ClientError::Refused(_)) | Self::Start(StartError::Control(ClientError::Refused(_)))
        )
    }
}

/// What comes next for a keeper.
enum Next {
    /// As soon as there is something new.
    Wait,
    /// In a moment.
    Again,
    /// There is nothing to keep any more.
    Done,
}

impl Keeper {
    pub(super) fn new(worker: Worker, run: RunId, seat: Arc<Seat>, news: watch::Receiver<News>) -> Self {
        Self { worker, run, seat, news, agent: None, refused: None }
    }

    pub(super) async fn keep(mut self) {
        let mut news = self.news.clone();
        // Whoever is told to stop does not wait for a control plane that cannot be reached: the next host goes on.
        tokio::select! {
            () = self.attend() => {}
            _ = news.wait_for(|_| false) => {}
        }
        self.end_agent().await;
    }

    async fn attend(&mut self) {
        let mut pause = Pause::default();
        loop {
            let hosting = self.news.borrow_and_update().clone();
            let next = match hosting {
                // Nothing is wanted: it is destroyed, or somebody else's.
                None => Next::Done,
                Some(hosting) => self.turn_to(&hosting).await,
            };
            match next {
                Next::Done => break,
                Next::Again => pause.wait().await,
                Next::Wait => {
                    pause = Pause::default();
                    if self.wait().await.is_err() {
                        break;
                    }
                }
            }
        }
    }

    /// Until there is news. An agent that ends meanwhile is looked after; nobody left to bring news is the end.
    async fn wait(&mut self) -> Result<(), watch::error::RecvError> {
        let Some(agent) = &mut self.agent else { return self.news.changed().await };
        tokio::select! {
            changed = self.news.changed() => changed,
            ended = agent.ended() => {
                self.agent = None;
                self.note_end(ended).await;
                // Never started again for what it was started for already.
                self.news.changed().await
            }
        }
    }

    async fn turn_to(&mut self, hosting: &HostingView) -> Next {
        let error = match self.bring_about(hosting).await {
            Ok(next) => {
                self.refused = None;
                return next;
            }
            Err(error) => error,
        };
        if error.passes() {
            tracing::warn!(run = %self.run, %error, "not done yet; trying again");
            return Next::Again;
        }
        if error.is_refusal() {
            tracing::info!(run = %self.run, %error, "refused");
            if let Some(next) = self.after_refusal(hosting).await {
                return next;
            }
        }
        if matches!(hosting.wanted, Wanted::Snapshot { .. }) && self.goes_on_unsaved(&error).await {
            return Next::Wait;
        }
        tracing::error!(run = %self.run, %error, "this host cannot do what is wanted");
        self.end_agent().await;
        self.fail(HostFault::HostFailed { error: cut(error.to_string()) }).await;
        Next::Wait
    }

    /// What comes after a No, unless it is an answer to what is still wanted: then the run cannot go on.
    async fn after_refusal(&mut self, hosting: &HostingView) -> Option<Next> {
        if !hosting.mine {
            // Who was too late to take a run in has nothing to keep; who may not, does not ask at once again.
            tokio::time::sleep(RETRY).await;
            return Some(Next::Done);
        }
        if self.refused.replace(hosting.wanted) != Some(hosting.wanted) {
            tokio::time::sleep(RETRY).await;
            return Some(Next::Again);
        }
        match self.is_still_wanted(hosting.wanted).await {
            Ok(true) => None,
            Ok(false) => Some(Next::Wait),
            Err(_) => Some(Next::Again),
        }
    }

    /// What the control plane says now, whatever the last news were.
    pub(super) async fn is_still_wanted(&self, wanted: Wanted) -> Result<bool, ClientError> {
        let query = HostingQuery::default();
        let list = self.worker.config.client.post(ListHostings {}, &query).await?;
        Ok(list.hostings.iter().any(|now| now.mine && now.run.id == self.run && now.wanted == wanted))
    }

    async fn bring_about(&mut self, hosting: &HostingView) -> Result<Next, KeepError> {
        match hosting.wanted {
            Wanted::Nothing => return Ok(Next::Done),
            Wanted::Running if !hosting.mine => {
                self.report(HostRun { run: self.run }, &Decision::default()).await.map(drop)?
            }
            Wanted::Running if hosting.preview.is_some() => {
                // It stands still for as long as it is looked at.
                self.preview(hosting).await?;
                self.run_agent(hosting).await?;
            }
            Wanted::Running => self.run_agent(hosting).await?,
            Wanted::Still => self.stand_still().await,
            Wanted::Stopped => {
                self.seat.end_job();
                self.end_agent().await;
            }
            Wanted::Snapshot { number } => self.snapshot(hosting, number).await?,
            Wanted::Restored { number } => self.restore(hosting, number).await?,
            Wanted::Collected => self.collect(hosting).await?,
            Wanted::Destroyed => {
                self.destroy().await?;
                return Ok(Next::Done);
            }
        }
        if hosting.wanted != Wanted::Running {
            self.preview(hosting).await?;
        }
        Ok(Next::Wait)
    }

    async fn run_agent(&mut self, hosting: &HostingView) -> Result<(), KeepError> {
        if let Some(agent) = &mut self.agent {
            agent.go_on().await;
        } else {
            let mut turn = self.seat.turn().await;
            self.settle(hosting, &mut turn).await?;
            self.agent = Some(AgentProcess::start(&self.worker, hosting, &mut turn).await?);
            tracing::info!(run = %self.run, "its agent was started");
        }
        Ok(())
    }

    /// Nothing of the agent runs any more. One that cannot be stopped is ended, and started again when the run goes on.
    pub(super) async fn stand_still(&mut self) {
        let Some(agent) = &mut self.agent else { return };
        if let Err(error) = agent.stand_still().await {
            tracing::warn!(run = %self.run, %error, "its agent does not stand still, and is ended");
            self.end_agent().await;
        }
    }

    /// The space, with everything that was approved to be in it.
    pub(super) async fn settle(&self, hosting: &HostingView, turn: &mut Turn) -> Result<(), KeepError> {
        if turn.is_made() {
            turn.relied_on()?;
            return Ok(());
        }
        // Never from nothing where something was.
        if !hosting.run.snapshots.is_empty() {
            return Err(SeatError::NotHere(turn.path().to_owned()).into());
        }
        turn.clear().map_err(KeepError::Lay)?;
        let launch = hosting.run.launch.iter();
        for input in launch.clone().flat_map(|launch| &launch.inputs) {
            let digest = input.digest.ok_or_else(|| KeepError::WrongFile(input.path.to_string()))?;
            let bytes = self.fetch(hosting, input.path.as_str(), digest).await?;
            lay(&turn.shared(), input.path.as_str(), &bytes).map_err(KeepError::Lay)?;
        }
        let mut files = Vec::new();
        for file in launch.flat_map(|launch| &launch.files) {
            files.push((file.path.as_str(), self.fetch(hosting, &file.path, file.digest).await?));
        }
        let memory = turn.make()?.agent();
        // Nothing has run in it yet.
        files.into_iter().try_for_each(|(path, bytes)| lay(&memory, path, &bytes)).map_err(KeepError::Lay)?;
        turn.is_ready().map_err(KeepError::Lay)
    }

    async fn fetch(&self, hosting: &HostingView, path: &str, digest: Digest) -> Result<Bytes, KeepError> {
        let content = FetchEvidence { project: hosting.run.project, digest };
        let bytes = self.worker.config.client.get_bytes(content).await?;
        if Digest::of(&bytes) == digest { Ok(bytes) } else { Err(KeepError::WrongFile(path.to_owned())) }
    }

    async fn collect(&mut self, hosting: &HostingView) -> Result<(), KeepError> {
        if let Some(agent) = &mut self.agent {
            agent.go_on().await;
            // Whose end was heard has nobody left to be ended.
            if tokio::time::timeout(FAREWELL, agent.ended()).await.is_ok() {
                self.agent = None;
            }
        }
        self.end_agent().await;
        let mut turn = self.seat.turn().await;
        let (project, mut outputs) = (hosting.run.project, Vec::new());
        // What has no place among people's files, such as a repository's own, is no output.
        let listed = turn.relied_on()?.outputs(|path| ScopePath::new(path.as_bytes()).is_ok())?;
        // Before any of them is read and uploaded.
        if !Output::fit(&(1..).zip(&listed).map(|(id, listed)| described(id, listed)).collect::<Vec<_>>()) {
            return Err(KeepError::TooMany(listed.len()));
        }
        for (id, listed) in (1..).zip(listed) {
            let (path, size_bytes, executable) = (listed.path.to_string(), listed.size_bytes, listed.mode & 0o111 != 0);
            if size_bytes > LARGEST_OUTPUT_BYTES {
                return Err(KeepError::TooLarge { path, size_bytes });
            }
            let mut bytes = Vec::new();
            turn.space()?.read_output(&listed, &mut bytes)?;
            let (digest, bytes) = (Digest::of(&bytes), Bytes::from(bytes));
            match insist(|| self.worker.config.client.put_bytes(StoreEvidence { project, digest }, bytes.clone())).await
            {
                Ok(_) => outputs.push(Output { id, path, digest, size_bytes, executable }),
                Err(ClientError::Refused(problem)) if problem.status == crate::report::TOO_LARGE => {
                    return Err(KeepError::TooLarge { path, size_bytes });
                }
                Err(error) => return Err(error.into()),
            }
        }
        let removed = removed_inputs(&mut turn, hosting)?;
        self.report(ReportOutputs { run: self.run }, &OutputReport { outputs, removed }).await.map(drop)
    }

    async fn destroy(&mut self) -> Result<(), KeepError> {
        self.end_agent().await;
        self.seat.end_job();
        let mut turn = self.seat.turn().await;
        tokio::task::spawn_blocking(move || turn.destroy()).await??;
        self.report(ReportDestruction { run: self.run }, &Decision::default()).await.map(drop)
    }

    pub(super) async fn report<E>(&self, endpoint: E, body: &E::Body) -> Result<RunView, KeepError>
    where
        E: Endpoint<Seen = (), Body: Serialize, Answer = RunView>,
    {
        Ok(self.worker.config.client.post(endpoint, body).await?)
    }

    pub(super) async fn end_agent(&mut self) {
        if let Some(agent) = self.agent.take() {
            agent.end().await;
        }
    }

    /// An agent that ends while its run goes on has given up. One that is done said so before it ended.
    async fn note_end(&mut self, Ended { end, last_words }: Ended) {
        tracing::info!(run = %self.run, %end, "its agent is gone");
        if insist(|| self.is_still_wanted(Wanted::Running)).await.unwrap_or(false) {
            let end = match end {
                AgentEnd::Lost { error } => AgentEnd::Lost { error: cut(error) },
                AgentEnd::Code { .. } | AgentEnd::Signal { .. } | AgentEnd::Stopped | AgentEnd::Limit { .. } => end,
            };
            self.fail(HostFault::AgentEnded { end, last_words: cut(last_words) }).await;
        }
    }

    /// Whether the run can do without the snapshot: one that somebody asked for is not worth its end.
    async fn goes_on_unsaved(&self, error: &KeepError) -> bool {
        tracing::warn!(run = %self.run, %error, "it cannot be saved");
        let fault = HostFault::SnapshotFailed { error: cut(error.to_string()) };
        self.report_fault(ReportSnapshotFailure { run: self.run }, &FaultRequest { fault }).await.is_ok()
    }

    async fn fail(&self, fault: HostFault) {
        let request = FailureRequest { fault: Some(fault), ..FailureRequest::default() };
        if let Err(error) = self.report_fault(FailRun { run: self.run }, &request).await {
            tracing::warn!(run = %self.run, %error, "the run could not be failed");
        }
    }

    /// Reports a fault until the control plane has it.
    async fn report_fault<E>(&self, endpoint: E, fault: &E::Body) -> Result<RunView, ClientError>
    where
        E: Endpoint<Seen = (), Body: Serialize, Answer = RunView> + Clone,
    {
        insist(|| self.worker.config.client.post(endpoint.clone(), fault)).await
    }
}

/// Cuts a text of a report to what the control plane takes.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(LONGEST_REASON));
    text
}

/// What was shared with the run and is not there any more.
fn removed_inputs(turn: &mut Turn, hosting: &HostingView) -> Result<Vec<String>, SpaceError> {
    let inputs = hosting.run.launch.iter().flat_map(|launch| &launch.inputs);
    let inputs: Vec<TreePath> = inputs.filter_map(|input| TreePath::new(input.path.as_str()).ok()).collect();
    Ok(turn.space()?.missing(&inputs)?.iter().map(ToString::to_string).collect())
}

fn described(id: u32, listed: &placet_workspace::space::Output) -> Output {
    let (path, size_bytes, executable) = (listed.path.to_string(), listed.size_bytes, listed.mode & 0o111 != 0);
    Output { id, path, digest: of_domain(listed.digest), size_bytes, executable }
}
