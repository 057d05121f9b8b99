//! `placet run watch`: what happens in a run, live, until it is over. Fed by the run's stream of events; a lost connection is
//! taken up again where it broke, so that nothing is missed and nothing is told twice.
//!
//! Prints a line for each event, and on stderr what the run waits for. Without a terminal nobody who reads it could decide, so after the
//! time to wait it ends with the code for that.

mod waits;

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use placet_domain::action::ActionStatus;
use placet_domain::id::RunId;
use placet_domain::run::RunStatus;
use placet_sandbox::LimitName;
use placet_wire::api::{CheckpointView, RunView};
use placet_wire::endpoint::{FollowRun, ShowCheckpoint, ShowRun};
use placet_wire::{Client, ClientError, EventStream, StreamEvent};

use self::waits::{Waits, waits};
use crate::context::{all_actions, run_id};
use crate::error::{CliError, Code};
use crate::events::{EventEntry, TitleCache};
use crate::out::Out;

/// Events come in bursts: the run is fetched when one is over.
const QUIET: Duration = Duration::from_millis(150);
/// Between two tries to reach a control plane that was there before.
const BETWEEN_TRIES: Duration = Duration::from_millis(500);
/// Longer than a restart takes; then somebody should know.
const LONGEST_AWAY: Duration = Duration::from_secs(300);

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Where the run waits for a person longer than --wait, it ends with exit code 5 and says what to type. Without --wait it waits for ever on a terminal, and not at all elsewhere.\n\nExamples:\n  placet run watch 3f2a\n  placet run watch 3f2a --wait 30min > events.log"
)]
pub(crate) struct Args {
    run: String,
    /// How long a person may take each time, like `90s`, `30min` or `2h`
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    wait: Option<Duration>,
}

fn duration(text: &str) -> Result<Duration, String> {
    LimitName::Wall
        .parse(text)
        .map(Duration::from_millis)
        .map_err(|_| "write it like `90s`, `30min` or `2h`".to_owned())
}

pub(super) async fn run(args: Args, client: &Client, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, &args.run).await?;
    let patience = args.wait.or_else(|| (!has_terminal(out)).then_some(Duration::ZERO));
    let mut watcher =
        Watcher { client, id, out, last_seq: None, titles: TitleCache::default(), patience, waiting: None };
    let run = watcher.until_over().await?;
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

/// Checks for a terminal, where a person reads and may decide at once.
fn has_terminal(out: &Out) -> bool {
    !out.is_json() && std::io::stdout().is_terminal()
}

struct Watcher<'a> {
    client: &'a Client,
    id: RunId,
    out: &'a Out,
    /// The last event that was told.
    last_seq: Option<u64>,
    titles: TitleCache,
    /// How long a person may take; for ever if nothing is said.
    patience: Option<Duration>,
    /// What a person is waited for, and since when.
    waiting: Option<(Waits, Instant)>,
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
        self.client.follow(FollowRun { run: self.id }, self.last_seq).await
    }

    async fn connect_again(&self) -> Result<EventStream, CliError> {
        self.out.note("the connection was lost; trying again");
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
                    self.tell(&event).await;
                    unseen = true;
                }
                Ok(None) => return Ok(Followed::Lost),
                Err(_) if unseen => {
                    unseen = false;
                    match self.look().await {
                        Ok(run) if is_over(run.status) => return Ok(Followed::Over(Box::new(run))),
                        Ok(_) => self.is_answered_in_time()?,
                        Err(ClientError::Unreachable { .. }) => return Ok(Followed::Lost),
                        Err(error) => return Err(error.into()),
                    }
                }
                Err(_) => self.is_answered_in_time()?,
            }
        }
    }

    /// A person who takes longer than whoever watches can wait is told of in the end, and never passed over.
    fn is_answered_in_time(&self) -> Result<(), CliError> {
        match (&self.waiting, self.patience) {
            (Some((waits, since)), Some(patience)) if since.elapsed() >= patience => {
                Err(CliError::new(Code::Waiting, format!("a person is waited for: {}", waits.what))
                    .hint(&waits.command))
            }
            _ => Ok(()),
        }
    }

    async fn tell(&mut self, event: &StreamEvent) {
        self.last_seq = Some(event.seq);
        if self.out.is_json() {
            self.out.data(&event.data);
        } else {
            let entry = EventEntry::parse(event);
            let title = self.titles.find(self.client, entry.action.as_deref()).await;
            self.out.line(&entry.line(title));
        }
    }

    /// Fetches the run and what it waits for.
    async fn look(&mut self) -> Result<RunView, ClientError> {
        let run = self.client.get(ShowRun { run: self.id }).await?;
        let checkpoint: Option<CheckpointView> = match run.checkpoint {
            Some(_) => self.client.get(ShowCheckpoint { run: self.id }).await.ok(),
            None => None,
        };
        let waited_for = match waits(&run, checkpoint.as_ref()) {
            None if run.status == RunStatus::Executing && self.patience.is_some() => self.undecided().await,
            waits => waits,
        };
        self.wait_for(waited_for);
        Ok(run)
    }

    /// The oldest action that waits for a person while the run is at work, as in a supervised run.
    async fn undecided(&self) -> Option<Waits> {
        let actions = all_actions(self.client, self.id).await.ok()?;
        actions.iter().find(|action| action.status == ActionStatus::PendingApproval).map(Waits::on)
    }

    /// Starts to count when there is something else to wait for, and prints it.
    fn wait_for(&mut self, waits: Option<Waits>) {
        if self.waiting.as_ref().map(|(before, _)| before) == waits.as_ref() {
            return;
        }
        if let Some(waits) = &waits {
            self.out.note(&waits.to_string());
        }
        self.waiting = waits.map(|waits| (waits, Instant::now()));
    }
}

/// A failed run may be rolled back later; whoever watches it is told now.
const fn is_over(status: RunStatus) -> bool {
    status.is_final() || matches!(status, RunStatus::Failed)
}
