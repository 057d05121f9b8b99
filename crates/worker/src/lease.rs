//! The loop: ask for work, do it, ask again; several jobs at a time, none of them in the way of another.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::permit::PermitVerifier;
use placet_domain::proposal::Cages;
use placet_egress::{Limits, Team};
use placet_sandbox::{Profile, Profiles};
use placet_wire::api::{Job, LeaseRequest};
use placet_wire::endpoint::{LeaseJob, ShowCaller};
use placet_wire::{Client, ClientError};
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use crate::host::{self, HostConfig, Seats};
use crate::{job, share};

/// How long one request for work waits for some to come.
pub(crate) const POLL: Duration = Duration::from_secs(20);
/// While a control plane cannot be reached: soon enough to go on quickly, rare enough not to hammer it.
pub(crate) const RETRY: Duration = Duration::from_secs(1);

/// The first pause of all: most control planes that are away are being started again.
const SHORTEST_PAUSE: Duration = Duration::from_millis(100);

/// How long to wait until something is tried again: each time twice as long, up to [`RETRY`].
#[derive(Debug)]
pub(crate) struct Pause(Duration);

impl Default for Pause {
    fn default() -> Self {
        Self(SHORTEST_PAUSE)
    }
}

impl Pause {
    pub(crate) async fn wait(&mut self) {
        tokio::time::sleep(self.0).await;
        self.0 = (self.0 * 2).min(RETRY);
    }
}

/// A name for a request that may have to be sent more than once.
pub(crate) fn fresh_key() -> String {
    uuid::Uuid::now_v7().simple().to_string()
}

/// What a worker needs to know.
#[derive(Debug, Clone)]
pub struct WorkerConfig {
    pub client: Client,
    /// The key of the control plane it takes permits from. From a file of the host, never from the network.
    pub verifier: PermitVerifier,
    /// Where workspaces are made; emptied after each job.
    pub scratch: PathBuf,
    pub jobs_at_once: usize,
    /// The kinds of cage it can build. From files of the host, never from the network.
    pub profiles: Profiles,
    /// Credentials that actions use. From a file of the host, never from the network.
    pub team: Team,
    /// Whether and where it hosts runs. One process at a time does so as one identity.
    pub hosting: Option<HostConfig>,
}

/// A worker that knows who it is.
#[derive(Debug, Clone)]
pub struct Worker {
    pub(crate) config: Arc<WorkerConfig>,
    pub(crate) identity: IdentityId,
    /// What its profiles amount to: they never change while it runs.
    pub(crate) cages: Arc<Cages>,
    /// Of what each of its actions carries.
    pub(crate) limits: Limits,
    pub(crate) seats: Arc<Seats>,
}

impl Worker {
    /// Reports in: asks the control plane whom it takes this worker for.
    pub async fn connect(config: WorkerConfig) -> Result<Self, ClientError> {
        let me = config.client.get(ShowCaller {}).await?;
        let amounts = |profile: &Profile| (profile.name().to_owned(), Digest::of(&profile.effective()));
        let cages = Arc::new(config.profiles.iter().map(amounts).collect());
        let runs = config.hosting.as_ref().map(|hosting| hosting.runs.clone()).unwrap_or_default();
        let key = config.hosting.as_ref().and_then(|hosting| hosting.key.clone());
        let seats = Arc::new(Seats::in_folder(runs).sealed_with(key));
        let limits = share::limits(share::open_files(), config.jobs_at_once);
        Ok(Self { config: Arc::new(config), identity: me.id, cages, limits, seats })
    }

    pub const fn identity(&self) -> IdentityId {
        self.identity
    }

    /// Works until told to stop; then finishes what it has begun.
    pub async fn run(&self, stop: watch::Receiver<bool>) {
        match &self.config.hosting {
            None => self.execute(stop).await,
            Some(config) => drop(tokio::join!(self.execute(stop.clone()), host::run(self, config, stop))),
        }
    }

    async fn execute(&self, mut stop: watch::Receiver<bool>) {
        let places = Arc::new(Semaphore::new(self.config.jobs_at_once));
        let (mut jobs, mut asking, mut pause) = (JoinSet::new(), fresh_key(), Pause::default());
        while !*stop.borrow() {
            let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
            let leased = tokio::select! {
                leased = self.ask(&asking, POLL) => leased,
                _ = stop.changed() => break,
            };
            if leased.is_ok() {
                (asking, pause) = (fresh_key(), Pause::default());
            }
            match leased {
                Ok(Some(job)) => {
                    let worker = self.clone();
                    jobs.spawn(async move {
                        worker.work(job).await;
                        drop(place);
                    });
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "no work could be asked for; trying again");
                    pause.wait().await;
                }
            }
            while jobs.try_join_next().is_some() {}
        }
        while jobs.join_next().await.is_some() {}
    }

    /// Leases one job, waiting for one if there is none.
    pub async fn lease(&self, wait: Duration) -> Result<Option<Job>, ClientError> {
        self.ask(&fresh_key(), wait).await
    }

    /// The same under a name of its own: whoever did not hear the answer asks again by it, and gets the job that was meant for them. Without
    /// it that job would be nobody's until its lease runs out.
    async fn ask(&self, key: &str, wait: Duration) -> Result<Option<Job>, ClientError> {
        let request = LeaseRequest { wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX) };
        self.config.client.post_maybe(LeaseJob {}, key, &request).await
    }

    /// Does one job from permit to report. Whatever goes wrong is logged and, if it can be, reported as evidence.
    pub async fn work(&self, leased: Job) {
        let (action, attempt) = (leased.action, leased.attempt);
        match job::perform(self, leased).await {
            Ok(()) => tracing::info!(%action, attempt, "done"),
            Err(error) => tracing::warn!(%action, attempt, %error, "not done"),
        }
    }
}
