//! AGENT: thinks and proposes. It never executes anything, and holds no credential with which it could.
//!
//! A thin base for agents written in Rust: attach to a run once it has started, propose actions, wait until they are decided
//! and done, read their evidence, finish. Everything goes through the HTTP API; an agent in any language can do the same.

use std::time::Duration;

use bytes::Bytes;
use placet_domain::action::ActionStatus;
use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_domain::id::{ActionId, ProjectId, RunId};
use placet_domain::proposal::{FileOperand, Proposal};
use placet_domain::run::RunStatus;
use placet_wire::api::{ActionView, Decision, ManifestQuery, RunView, Summary};
use placet_wire::endpoint::{
    AttachAgent, FetchEvidence, FinishRun, ProposeAction, ShowAction, ShowManifest, ShowRun, StoreEvidence,
};
use placet_wire::{Client, ClientError};

/// How often an agent looks whether something has changed.
const POLL: Duration = Duration::from_millis(100);

/// Why an agent cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum AgentError {
    #[error(transparent)]
    Control(#[from] ClientError),
    #[error("the run is {0}; there is nothing to do for an agent")]
    RunOver(RunStatus),
    #[error("nothing happened within {0:?}")]
    TimedOut(Duration),
}

/// An agent at work in one run.
#[derive(Debug, Clone)]
pub struct Agent {
    client: Client,
    run: RunId,
    project: ProjectId,
}

impl Agent {
    /// Waits until the run has been started, then reports in.
    pub async fn attach(client: Client, run: RunId, patience: Duration) -> Result<Self, AgentError> {
        let wait = async {
            loop {
                let view = client.get(ShowRun { run }).await?;
                match view.status {
                    RunStatus::SpawningSandbox => {
                        return Ok(client.post(AttachAgent { run }, &Decision::default()).await?);
                    }
                    RunStatus::Executing => return Ok(view),
                    RunStatus::Draft | RunStatus::PendingApproval | RunStatus::Approved => {
                        tokio::time::sleep(POLL).await
                    }
                    over @ (RunStatus::CheckpointReached
                    | RunStatus::Paused
                    | RunStatus::PendingExport
                    | RunStatus::Completed
                    | RunStatus::Failed
                    | RunStatus::Cancelled
                    | RunStatus::RolledBack) => return Err(AgentError::RunOver(over)),
                }
            }
        };
        let view = tokio::time::timeout(patience, wait).await.map_err(|_| AgentError::TimedOut(patience))??;
        Ok(Self { client, run, project: view.project })
    }

    /// Hands over a file that an action will need; the action names it by what is returned.
    pub async fn provide(&self, path: &str, bytes: impl Into<Bytes>) -> Result<FileOperand, AgentError> {
        let bytes = bytes.into();
        let digest = Digest::of(&bytes);
        let kept = self.client.put_bytes(StoreEvidence { project: self.project, digest }, bytes).await?;
        Ok(FileOperand { path: path.to_owned(), digest, size_bytes: kept.size_bytes })
    }

    /// Proposes an action. The answer says at once what the policy thinks of it.
    pub async fn propose(&self, proposal: &Proposal) -> Result<ActionView, AgentError> {
        let key = uuid::Uuid::now_v7().simple().to_string();
        Ok(self.client.post_once(ProposeAction { run: self.run }, &key, proposal).await?)
    }

    /// Waits until nothing more will happen to an action, or a person has to look at it again. Where a reviewer amended
    /// it, that is the action which stands in its place: its id and its `amendment` say so.
    pub async fn wait(&self, mut action: ActionId, patience: Duration) -> Result<ActionView, AgentError> {
        let wait = async {
            loop {
                let view = self.client.get(ShowAction { action }).await?.action;
                if let Some(successor) = view.superseded_by {
                    action = successor;
                    continue;
                }
                if view.status.is_final() || view.status == ActionStatus::Interrupted {
                    return Ok(view);
                }
                tokio::time::sleep(POLL).await;
            }
        };
        tokio::time::timeout(patience, wait).await.map_err(|_| AgentError::TimedOut(patience))?
    }

    /// The evidence of an action that was executed.
    pub async fn evidence(&self, action: ActionId) -> Result<Manifest, AgentError> {
        Ok(self.client.get(ShowManifest { action, query: ManifestQuery::default() }).await?)
    }

    /// The bytes of one piece of evidence.
    pub async fn read(&self, digest: Digest) -> Result<Bytes, AgentError> {
        Ok(self.client.get_bytes(FetchEvidence { project: self.project, digest }).await?)
    }

    /// Says that the work is done; a person decides on the results.
    pub async fn finish(&self, summary: &str) -> Result<RunView, AgentError> {
        let body = Summary { summary: summary.to_owned() };
        Ok(self.client.post(FinishRun { run: self.run }, &body).await?)
    }
}
