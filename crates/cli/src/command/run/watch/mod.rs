//! `placet run watch`: what happens in a run, live, until it is over. Fed by the run's stream of events; a lost connection is
//! taken up again where it broke, so that nothing is missed and nothing is told twice.
//!
//! On a terminal a compact view is drawn anew; elsewhere every event is a line.

mod view;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use placet_domain::id::RunId;
use placet_domain::run::RunStatus;
use placet_wire::api::{CheckpointView, RunView};
use placet_wire::{Client, ClientError, EventStream, StreamEvent};

use self::view::View;
use crate::context::run_id;
use crate::error::CliError;
use crate::out::Out;

/// Events come in bursts: what is seen is drawn when one is over.
const QUIET: Duration = Duration::from_millis(150);
/// Between two tries to reach a control plane that was there before.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);
/// Longer than a restart takes; then somebody should know.
const LONGEST_AWAY: Duration = Duration::from_secs(300);

pub(super) async fn run(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let mut watcher = Watcher { client, id, out, last_seq: None, view: View::start(out) };
    let ended = watcher.until_over().await;
    watcher.view.close();
    let run = ended?;
    let why = run.because.as_deref().map(|why| format!(": {why}")).unwrap_or_default();
    match run.status {
        RunStatus::Failed => Err(CliError::failed(format!("the run failed{why}"))),
        RunStatus::Cancelled => Err(CliError::failed(format!("the run was cancelled{why}"))),
        RunStatus::Draft
        | RunStatus::PendingApproval
        | RunStatus::Approved
        | RunStatus::SpawningSandbox
        | RunStatus::Executing
        | RunStatus::CheckpointReached
        | RunStatus::Paused
        | RunStatus::PendingExport
        | RunStatus::Completed
        | RunStatus::RolledBack => Ok(()),
    }
}

/// Whether a person who looks would draw: a terminal, and no machine that reads.
fn is_seen(out: &Out) -> bool {
    !out.is_json() && std::io::stdout().is_terminal()
}

struct Watcher<'a> {
    client: &'a Client,
    id: RunId,
    out: &'a Out,
    /// The last event that was told.
    last_seq: Option<u64>,
    view: View,
}

/// Why somebody who follows stops.
enum Followed {
    Over(Box<RunView>),
    /// The connection ended; the run did not.
    Lost,
}

impl Watcher<'_> {
    /// Follows the run, connection after connection, until it is over.
    async fn until_over(&mut self) -> Result<RunView, CliError> {
        let mut stream = self.connect().await?;
        loop {
            match self.follow(&mut stream).await? {
                Followed::Over(run) => return Ok(*run),
                Followed::Lost => stream = self.connect_again().await?,
            }
        }
    }

    async fn connect(&self) -> Result<EventStream, ClientError> {
        self.client.follow(&format!("/api/v1/runs/{}/stream", self.id), self.last_seq).await
    }

    async fn connect_again(&self) -> Result<EventStream, CliError> {
        self.view.aside(self.out, "the connection was lost; trying again");
        let lost = Instant::now();
        loop {
            tokio::time::sleep(BETWEEN_TRIES).await;
            match self.connect().await {
                Ok(stream) => return Ok(stream),
                Err(ClientError::Unreachable { .. }) if lost.elapsed() < LONGEST_AWAY => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Tells events as they come, and looks at the run whenever a burst of them is over.
    async fn follow(&mut self, stream: &mut EventStream) -> Result<Followed, CliError> {
        let mut unseen = true;
        loop {
            match tokio::time::timeout(QUIET, stream.next()).await {
                Ok(Some(event)) => {
                    self.tell(&event);
                    unseen = true;
                }
                Ok(None) => return Ok(Followed::Lost),
                Err(_) if unseen => {
                    unseen = false;
                    match self.look().await {
                        Ok(run) if is_over(run.status) => return Ok(Followed::Over(Box::new(run))),
                        Ok(_) => {}
                        Err(ClientError::Unreachable { .. }) => return Ok(Followed::Lost),
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(_) => {}
            }
        }
    }

    fn tell(&mut self, event: &StreamEvent) {
        self.last_seq = Some(event.seq);
        if self.out.is_json() {
            self.out.data(&event.data);
        } else {
            self.view.tell(event, self.out);
        }
    }

    /// How it stands now, drawn where somebody sees it.
    async fn look(&mut self) -> Result<RunView, ClientError> {
        let path = format!("/api/v1/runs/{}", self.id);
        let run: RunView = self.client.get(&path).await?;
        if self.view.is_drawn() {
            let checkpoint: Option<CheckpointView> = match run.checkpoint {
                Some(_) => self.client.get(&format!("{path}/checkpoint")).await.ok(),
                None => None,
            };
            self.view.draw(&run, checkpoint.as_ref());
        }
        Ok(run)
    }
}

/// A failed run may be rolled back later; whoever watches it is told now.
const fn is_over(status: RunStatus) -> bool {
    status.is_final() || matches!(status, RunStatus::Failed)
}
