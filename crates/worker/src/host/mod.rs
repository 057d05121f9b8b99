//! HOST: keeps the files of runs and the processes of their agents.
//!
//! ```text
//!  what is wanted ─► keeper of each run ─► seat: space, one thing at a time ─► report
//!                          │
//!                          └─► agent: a process in a cage, with one door to the control plane
//! ```
//!
//! Nothing is ordered step by step. A host asks what is wanted of each run, compares it with what there is, does what is missing and
//! reports. So it can be killed at any moment: the next one finds the files and the question as they were.
//!
//! It decides nothing: what is started was approved, what is restored was recorded, and what is collected leaves only when a person says so.

mod agent;
mod foresee;
mod handshake;
mod keeper;
mod relay;
mod saving;
mod seat;
mod tail;

use std::collections::HashMap;
use std::sync::Arc;

use placet_domain::id::RunId;
use placet_seal::Key;
use placet_wire::api::{HostingQuery, HostingView};
use placet_wire::endpoint::ListHostings;
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::lease::{POLL, Pause, Worker};
use keeper::Keeper;
pub(crate) use seat::{Seat, SeatError, Seats, Turn};

/// What a host of runs needs to know.
#[derive(Debug, Clone)]
pub struct HostConfig {
    /// Where the files of runs are. They outlive this process.
    pub runs: std::path::PathBuf,
    pub runs_at_once: usize,
    /// With which what is saved of runs is encrypted; as it is, without one.
    pub key: Option<Arc<Key>>,
}

/// What is wanted of one run; nothing once it is not mentioned any more.
type News = Option<Arc<HostingView>>;

/// The keepers at work, each with the way to tell it news.
#[derive(Default)]
struct Keepers {
    told: HashMap<RunId, watch::Sender<News>>,
    tasks: JoinSet<RunId>,
}

/// Keeps runs until told to stop. Their files stay; their agents end, and are started again by the next host.
pub(crate) async fn run(worker: &Worker, config: &HostConfig, mut stop: watch::Receiver<bool>) {
    let (mut keepers, mut pause) = (Keepers::default(), Pause::default());
    let mut seen = None;
    while !*stop.borrow() {
        let query = HostingQuery { wait_ms: u64::try_from(POLL.as_millis()).unwrap_or(u64::MAX), seen };
        let asked = worker.config.client.post(ListHostings {}, &query);
        let answer = tokio::select! {
            answer = asked => answer,
            _ = stop.changed() => break,
            Some(ended) = keepers.tasks.join_next(), if !keepers.tasks.is_empty() => {
                keepers.forget(ended);
                // What it left undone, or what waited for its place, is asked for again.
                seen = None;
                continue;
            }
        };
        match answer {
            Ok(list) => {
                (seen, pause) = (Some(list.seen), Pause::default());
                keepers.tell(worker, config, list.hostings);
            }
            Err(error) => {
                tracing::warn!(%error, "it could not be asked what is wanted of this host; trying again");
                pause.wait().await;
            }
        }
    }
    keepers.stop().await;
}

impl Keepers {
    fn tell(&mut self, worker: &Worker, config: &HostConfig, hostings: Vec<HostingView>) {
        let mut silent: Vec<RunId> = self.told.keys().copied().collect();
        for hosting in hostings {
            let run = hosting.run.id;
            silent.retain(|known| *known != run);
            let news = Some(Arc::new(hosting));
            match self.told.get(&run) {
                Some(told) => drop(told.send_replace(news)),
                None => self.begin(worker, config, run, news),
            }
        }
        for run in silent {
            self.told.get(&run).map(|told| told.send_replace(None));
        }
    }

    /// Runs that are hosted already are never turned away; new ones wait for a place.
    fn begin(&mut self, worker: &Worker, config: &HostConfig, run: RunId, news: News) {
        let is_mine = news.as_ref().is_some_and(|hosting| hosting.mine);
        if !is_mine && self.told.len() >= config.runs_at_once {
            return;
        }
        let (tell, told) = watch::channel(news);
        self.told.insert(run, tell);
        let keeper = Keeper::new(worker.clone(), run, worker.seats.of(run), told);
        self.tasks.spawn(async move {
            keeper.keep().await;
            run
        });
    }

    fn forget(&mut self, ended: Result<RunId, tokio::task::JoinError>) {
        match ended {
            Ok(run) => drop(self.told.remove(&run)),
            // Which one it was is not known: whoever has nobody listening any more.
            Err(error) => {
                tracing::error!(%error, "the keeper of a run was lost");
                self.told.retain(|_, told| !told.is_closed());
            }
        }
    }

    async fn stop(mut self) {
        // A keeper without a teller ends its agent and itself.
        self.told.clear();
        while self.tasks.join_next().await.is_some() {}
    }
}
