//! Tells people what waits for them, straight from the ledger, by each route that the settings name.
//!
//! Like a webhook a route has a cursor into the ledger, which advances when everything before it was told or is not worth telling any more.
//! So nothing is lost by a restart, and what is told twice because of one has the same id. A receiver that is away gets one message when it
//! is back, with what still waits then. Routes do not wait for each other, nor do the recipients of one, and nothing else waits for them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use placet_domain::time::Timestamp;
use placet_store::{EntryFilter, MOST_ROWS, StoreError};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::app::App;
use crate::flow::No;
use crate::notify::{
    Absent, Item, Looked, Looker, Message, Notice, People, Recipient, Retries, Route, Subject, Told, What,
};

/// How often it is looked whether something is due. Much shorter than any pace.
const PERIOD: Duration = Duration::from_millis(500);
/// More than anybody is told of at once; what is beyond waits in the ledger.
const MOST_PENDING: usize = 10_000;

/// No receiver of webhooks can have this name.
fn cursor(route: &Route) -> String {
    format!("notify/{}", route.name())
}

/// A route that is new tells what comes from now on.
pub(super) async fn enrol(app: &App) -> Result<(), No> {
    for route in app.settings().notify.all() {
        let name = cursor(route);
        if app.store().cursor(&name).await.map_err(No::Fault)?.is_none() {
            app.store().set_cursor(&name, app.store().size()).await.map_err(No::Fault)?;
        }
    }
    Ok(())
}

/// One pump for each route. Links lead to the public address, or else to where this control plane listens.
pub(super) fn start(app: &App, address: SocketAddr, pumps: &mut JoinSet<()>) {
    let public = app.settings().notify.public_url().map(ToString::to_string);
    let base = public.unwrap_or_else(|| format!("http://{address}"));
    for route in app.settings().notify.all() {
        pumps.spawn(Teller::new(app.clone(), Arc::clone(route), base.clone()).run());
    }
}

struct Teller {
    app: App,
    route: Arc<Route>,
    base: String,
    /// The first entry that was not read.
    next: u64,
    /// What was read and is not due.
    pending: Vec<Notice>,
    /// What was due, and somebody could not be told of.
    owed: Vec<Notice>,
    /// Who was told what of it.
    told: BTreeSet<(Recipient, u64)>,
    last_told: Option<Timestamp>,
    retries: Retries,
    /// How often in a row the ledger could not be read.
    faults: u32,
    /// Names in the settings that were complained of.
    unclear: BTreeSet<String>,
}

/// What a look led to.
enum Turn {
    /// There is nothing to do before the next entry.
    Nothing,
    /// Something is held, owed, or not read yet.
    Held,
}

/// What one recipient is told at once.
#[derive(Default)]
struct Bundle {
    items: Vec<Item>,
    absent: BTreeSet<Absent>,
}

impl Teller {
    fn new(app: App, route: Arc<Route>, base: String) -> Self {
        let retries = Retries::new(app.settings().notify.retry());
        let (pending, owed, told, unclear) = (Vec::new(), Vec::new(), BTreeSet::new(), BTreeSet::new());
        Self { app, route, base, next: 0, pending, owed, told, last_told: None, retries, faults: 0, unclear }
    }

    async fn run(mut self) {
        let mut changes = self.app.store().subscribe();
        loop {
            changes.mark_unchanged();
            let turn = self.turn().await;
            self.faults = if turn.is_ok() { 0 } else { self.faults.saturating_add(1) };
            match turn {
                Ok(Turn::Nothing) => {
                    if changes.changed().await.is_err() {
                        return;
                    }
                }
                Ok(Turn::Held) => {
                    let next = self.retries.next_in(Instant::now());
                    tokio::time::sleep(next.map_or(PERIOD, |next| next.min(PERIOD))).await;
                }
                Err(fault) => {
                    tracing::error!(route = %self.route.name(), %fault, "a route cannot read the ledger; trying again");
                    tokio::time::sleep(self.app.settings().notify.retry().after(self.faults)).await;
                }
            }
        }
    }

    async fn turn(&mut self) -> Result<Turn, StoreError> {
        let is_at_end = self.read().await?;
        let now = self.app.store().now();
        let due = self.due(now);
        if !due.is_empty() {
            self.tell(due, now).await?;
        }
        let is_done = is_at_end && self.pending.is_empty() && self.owed.is_empty();
        Ok(if is_done { Turn::Nothing } else { Turn::Held })
    }

    /// What is ripe, and along with it, or when somebody is to be tried again, everything that is owed. Oldest first.
    fn due(&self, now: Timestamp) -> Vec<Notice> {
        let schedule = self.route.schedule();
        let ripe = schedule.ripe(&self.pending, self.last_told, now);
        let is_retry = self.retries.is_due(Instant::now()) && !schedule.is_quiet(now);
        if ripe.is_empty() && !is_retry {
            return Vec::new();
        }
        let mut due: Vec<Notice> = ripe.into_iter().chain(&self.owed).cloned().collect();
        due.sort_by_key(|notice| notice.seq);
        due
    }

    /// Reads on, and says whether that was to the end of the ledger.
    async fn read(&mut self) -> Result<bool, StoreError> {
        let kept = self.app.store().cursor(&cursor(&self.route)).await?;
        self.next = self.next.max(kept.unwrap_or(0));
        while self.pending.len() + self.owed.len() < MOST_PENDING {
            let filter = EntryFilter { after: self.next.checked_sub(1), limit: MOST_ROWS, ..EntryFilter::default() };
            let page = self.app.store().entries(filter).await?;
            let Some(last) = page.last() else { return Ok(true) };
            self.pending.extend(page.iter().filter_map(Notice::of).filter(|notice| self.route.wants(notice)));
            self.next = last.seq + 1;
            if (page.len() as u64) < u64::from(MOST_ROWS) {
                return Ok(true);
            }
            // So that nothing need be read again from far back after a restart.
            self.advance().await?;
        }
        Ok(false)
    }

    /// Everything before the first that is not told is settled.
    async fn advance(&self) -> Result<(), StoreError> {
        let first = self.pending.iter().chain(&self.owed).map(|notice| notice.seq).min().unwrap_or(self.next);
        self.app.store().set_cursor(&cursor(&self.route), first).await
    }

    /// What was due is over, except for what somebody is owed.
    async fn settle(&mut self, due: Vec<Notice>, owed: &BTreeSet<u64>) -> Result<(), StoreError> {
        let seqs: BTreeSet<u64> = due.iter().map(|notice| notice.seq).collect();
        self.pending.retain(|notice| !seqs.contains(&notice.seq));
        self.owed = due.into_iter().filter(|notice| owed.contains(&notice.seq)).collect();
        self.told.retain(|(_, seq)| owed.contains(seq));
        self.advance().await
    }

    /// Tells everybody who is to be told and did not fail to take it just now.
    async fn tell(&mut self, due: Vec<Notice>, now: Timestamp) -> Result<(), StoreError> {
        let bundles = self.bundles(&due).await?;
        self.retries.keep(|to| bundles.contains_key(to));
        let mut bundles: Vec<_> = bundles.into_iter().collect();
        // Whoever takes messages does not wait for those who do not.
        bundles.sort_by_key(|(to, _)| self.retries.failures(to));
        let mut owed = BTreeSet::new();
        for (to, bundle) in bundles {
            if self.retries.rests(&to, Instant::now()) || !self.send(&to, &bundle, now).await {
                owed.extend(bundle.items.iter().map(|item| item.seq));
            }
        }
        self.settle(due, &owed).await
    }

    /// Whether that is done with: it was taken, or never will be.
    async fn send(&mut self, to: &Recipient, bundle: &Bundle, now: Timestamp) -> bool {
        let (label, absent) = (to.label(), bundle.absent.iter().cloned().collect::<Vec<_>>());
        let message = Message::of(&bundle.items, &absent, self.route.framing(&self.base, &label));
        let outcome = self.route.channel().send(to, &message, now.unix_ms()).await;
        self.app.metrics().notified(self.route.name(), &outcome);
        match outcome {
            Told::Yes => self.last_told = Some(now),
            Told::Refused(why) => {
                tracing::error!(route = %self.route.name(), why, "a message was refused; it is not sent again");
            }
            Told::NotYet(why) => {
                self.retries.failed(to, Instant::now());
                let failures = self.retries.failures(to);
                tracing::warn!(route = %self.route.name(), failures, why, "a message was not delivered; trying again");
                return false;
            }
        }
        self.retries.worked(to);
        self.told.extend(bundle.items.iter().map(|item| (to.clone(), item.seq)));
        true
    }

    /// What still is so, by whom it is to be told.
    async fn bundles(&mut self, ripe: &[Notice]) -> Result<BTreeMap<Recipient, Bundle>, StoreError> {
        let app = self.app.clone();
        let mut looker = Looker::new(&app);
        let mut looked = Vec::new();
        for notice in newest(ripe) {
            let found = looker.look(notice).await?;
            looked.extend(found.filter(|found| self.is_wanted(found)));
        }
        let mut bundles: BTreeMap<Recipient, Bundle> = BTreeMap::new();
        for to in self.route.channel().rooms() {
            bundles.entry(to).or_default().items.extend(looked.iter().map(|found| found.item.clone()));
        }
        self.for_people(&looker, &looked, &mut bundles).await?;
        for (to, bundle) in &mut bundles {
            bundle.items.retain(|item| !self.told.contains(&(to.clone(), item.seq)));
        }
        bundles.retain(|_, bundle| !bundle.items.is_empty());
        Ok(bundles)
    }

    fn is_wanted(&self, found: &Looked) -> bool {
        let of_tier = self.route.parts().tiers.is_empty()
            || found.item.tier.is_none_or(|tier| self.route.parts().tiers.contains(&tier));
        of_tier && self.route.wants_project(&found.item.project)
    }

    /// Each person is told what is theirs, or, while they are away, whoever stands in for them and may decide it too.
    async fn for_people(
        &mut self,
        looker: &Looker<'_>,
        looked: &[Looked],
        bundles: &mut BTreeMap<Recipient, Bundle>,
    ) -> Result<(), StoreError> {
        let addresses = self.route.channel().people();
        if addresses.is_empty() || looked.is_empty() {
            return Ok(());
        }
        let everybody = self.app.store().identities().await?;
        let people = People::new(&everybody, addresses, self.app.store().now());
        self.complain_of(people.unclear());
        for person in people.reached() {
            for found in looked.iter().filter(|found| looker.concerns(found, person)) {
                for (to, absent) in people.told_for(person, found.asked(), |other| looker.concerns(found, other)) {
                    bundles.entry(to).or_default().add(&found.item, absent);
                }
            }
        }
        Ok(())
    }

    /// Once for each name: what is wrong is in the settings, and stays so until somebody changes them.
    fn complain_of<'n>(&mut self, unclear: impl Iterator<Item = &'n String>) {
        for name in unclear {
            if self.unclear.insert(name.clone()) {
                tracing::warn!(route = %self.route.name(), name, "this name in `people` is of no identity or of more than one, so nobody is told by it");
            }
        }
    }
}

impl Bundle {
    fn add(&mut self, item: &Item, absent: Option<Absent>) {
        if !self.items.contains(item) {
            self.items.push(item.clone());
        }
        self.absent.extend(absent);
    }
}

/// Of several notices of one thing the newest: it stands where that one says.
fn newest(ripe: &[Notice]) -> Vec<&Notice> {
    let mut last: BTreeMap<String, &Notice> = BTreeMap::new();
    for notice in ripe {
        last.insert(key(notice), notice);
    }
    let mut all: Vec<&Notice> = last.into_values().collect();
    all.sort_by_key(|notice| notice.seq);
    all
}

/// What a notice is about. Each thing that was done with a worktree is one of its own.
fn key(notice: &Notice) -> String {
    let what: What = notice.what;
    match &notice.subject {
        Subject::Action(id) => format!("{what} {id}"),
        Subject::Run(id) => format!("{what} {id}"),
        Subject::Wish { run, number } => format!("{what} {run} {number}"),
        Subject::Worktree { id, .. } => format!("{what} {id} {}", notice.seq),
    }
}
