//! What every request shares: the store, the rules in force, the permit key, and the door.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use placet_domain::approval::Terms;
use placet_domain::canonical;
use placet_domain::catalogue::{Catalogue, EntryId, Launch};
use placet_domain::command::{Command, IdempotencyKey, Submission};
use placet_domain::digest::Digest;
use placet_domain::id::IdentityId;
use placet_domain::identity::{Actor, Identity, Reach};
use placet_domain::permit::PermitSigner;
use placet_domain::planning::{Intent, PlanRefusal, Preparation, Starter, Templates};
use placet_domain::policy::Policy;
use placet_domain::proposal::{Cages, Tool, ToolError, Tools};
use placet_domain::refusal::Refusal;
use placet_domain::retention::Retention;
use placet_domain::time::Timestamp;
use placet_store::{Extras, Noting, Receipt, Store, StoreError, SubmitError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, watch};

use crate::absences::Absences;
use crate::declared::Declared;
use crate::door::{Door, Share, Shares};
use crate::error::No;
use crate::facts::Facts;
use crate::kit::{KitFile, Kits};
use crate::logs::{Logs, Speaker};
use crate::name_cache::NameCache;
use crate::notify::{Health, Routes};
use crate::oidc::Provider;
use crate::otel::Collector;
use crate::previews::Previews;
use crate::public_url::PublicUrl;
use crate::telemetry::Metrics;
use crate::turns::Turns;
use crate::uploads::Uploads;
use crate::webhook::Hooks;

/// The policy and the tools in force, and what plans are made from. They come from files on the host and never change while the control plane runs.
#[derive(Debug)]
pub struct Rules {
    policy: Policy,
    tools: Tools,
    /// What ships, where a home has nothing of its own.
    planning: Option<(Catalogue, Templates)>,
    kits: Kits,
}

impl Rules {
    /// Refuses tools whose cage nobody knows: what it amounts to is part of what is approved.
    pub fn new(policy: Policy, tools: Tools, cages: Cages) -> Result<Self, ToolError> {
        Ok(Self { policy, tools: tools.in_cages(cages)?, planning: None, kits: Kits::new() })
    }

    /// The same, with a team's own agents and templates beside those that ship.
    #[must_use]
    pub fn planning_with(self, catalogue: Catalogue, templates: Templates) -> Self {
        Self { planning: Some((catalogue, templates)), ..self }
    }

    /// The same, with the files that agents of the catalogue are started with.
    #[must_use]
    pub fn equipped_with(self, kits: Kits) -> Self {
        Self { kits, ..self }
    }

    /// How an agent of the catalogue is started, and its files.
    pub(crate) fn launch_of(&self, agent: &EntryId) -> (Option<&Launch>, &[KitFile]) {
        let entry = self.planning.as_ref().and_then(|(catalogue, _)| catalogue.get(agent));
        (entry.map(|entry| &entry.launch), self.kits.get(agent).map_or(&[], Vec::as_slice))
    }

    /// Plans for an intent, by the agents and templates that there are.
    pub(crate) fn prepare(&self, intent: Intent, starter: Starter) -> Result<Preparation, PlanRefusal> {
        let prepared = match &self.planning {
            Some((catalogue, templates)) => Preparation::started_by(starter, intent, catalogue, templates),
            None => Preparation::started_by(starter, intent, &Catalogue::default(), &Templates::default()),
        };
        prepared.map(|prepared| prepared.in_cages(self.tools.cages()))
    }

    pub const fn policy(&self) -> &Policy {
        &self.policy
    }

    /// No rules and no tools: every action is refused.
    ///
    /// # Panics
    /// Never: there is nothing in it that could be wrong.
    pub fn none() -> Self {
        let tools = Tools::default();
        let policy = Policy::load(&[], &tools).expect("no rules have no mistakes");
        Self { policy, tools, planning: None, kits: Kits::new() }
    }

    /// The tools and the cages they run in.
    pub fn tools_version(&self) -> Digest {
        let version = |(name, tool)| (name, Tool::version(tool), self.tools.cage_of(tool));
        let versions: Vec<_> = self.tools.iter().map(version).collect();
        Digest::of(&canonical::to_bytes(&versions))
    }
}

/// What an operator sets.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    pub terms: Terms,
    pub limits: Limits,
    pub hooks: Hooks,
    /// Where people come, if not to the address that is listened at.
    pub public_url: Option<PublicUrl>,
    /// How people are told that something waits for them.
    pub notify: Routes,
    /// Which language models agents may call through this control plane, and how; none, if nothing is said.
    pub models: Option<placet_llm::config::Settings>,
    /// Where traces of runs and metrics go, if anybody collects them.
    pub collector: Option<Collector>,
    pub metrics_every: MetricsEvery,
    /// After how long contents are removed; never, if nothing is said.
    pub retention: Retention,
    /// Whether that is done every day without anybody asking.
    pub expires_daily: bool,
    /// Who vouches for people besides themselves, if anybody.
    pub provider: Option<Arc<Provider>>,
    /// Socket through which the user of this machine stops everything without a token; `None` disables it.
    pub stop_socket: Option<PathBuf>,
}

/// How often a collector is told the metrics: every minute, if nothing is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MetricsEvery(Option<Duration>);

impl MetricsEvery {
    /// A collector that wants traces only.
    pub const NEVER: Self = Self(None);

    /// At least a millisecond, at most a day.
    pub const fn millis(every_ms: u64) -> Option<Self> {
        if every_ms == 0 || every_ms > 86_400_000 { None } else { Some(Self(Some(Duration::from_millis(every_ms)))) }
    }

    pub(crate) const fn duration(self) -> Option<Duration> {
        self.0
    }
}

impl Default for MetricsEvery {
    fn default() -> Self {
        Self(Some(Duration::from_secs(60)))
    }
}

/// How much a caller may ask for at once.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub json_bytes: usize,
    pub evidence_bytes: usize,
    /// Concurrent evidence uploads per identity.
    pub uploads_per_identity: usize,
    /// Limits for uploaded bytes that no entry names yet, per identity and per project. They do not apply to workers.
    pub unnamed_bytes_per_identity: u64,
    pub unnamed_bytes_per_project: u64,
    pub requests_in_flight: usize,
    /// For a request to arrive and be answered. Streams and waiting for work are bounded on their own.
    pub request_ms: u64,
    pub streams: usize,
    /// Limit of open connections; at most half of them for callers that have not shown a token.
    pub connections: usize,
    /// Time for the first request head on a connection.
    pub first_head_ms: u64,
    /// Time for each later request head; an idle connection also ends after it.
    pub head_ms: u64,
    /// Without a byte of what is sent being taken. Whoever reads nothing is hung up on.
    pub unread_ms: u64,
}

impl Limits {
    /// How many of them may be of one identity: nobody can shut out those who would stop them.
    pub(crate) fn in_flight_per_identity(&self) -> usize {
        (self.requests_in_flight / 4).max(1)
    }

    /// How many streams may be open for one identity.
    pub(crate) fn streams_per_identity(&self) -> usize {
        (self.streams / 4).max(1)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 256 << 10,
            evidence_bytes: 64 << 20,
            // Each upload is held in memory: half a gigabyte in total.
            uploads_per_identity: 8,
            unnamed_bytes_per_identity: 1 << 30,
            unnamed_bytes_per_project: 4 << 30,
            requests_in_flight: 1_024,
            request_ms: 60_000,
            streams: 2_048,
            connections: 8_192,
            // Callers open a connection in order to send a request, so the first head is due soon.
            first_head_ms: 5_000,
            // Longer than our own clients keep an idle connection.
            head_ms: 60_000,
            unread_ms: 60_000,
        }
    }
}

/// One viewer's place among all of them.
#[derive(Debug)]
pub struct StreamPlace {
    _place: OwnedSemaphorePermit,
    _share: Share,
}

/// Shared by all requests; cheap to clone.
#[derive(Debug, Clone)]
pub struct App(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    store: Store,
    rules: Arc<Rules>,
    signer: PermitSigner,
    settings: Settings,
    metrics: Metrics,
    door: Door,
    facts: Facts,
    previews: Previews,
    logs: Logs,
    declared: Declared,
    names: NameCache,
    absences: Absences,
    health: Health,
    turns: Turns,
    streams: Arc<Semaphore>,
    viewers: Shares,
    uploaders: Shares,
    uploads: Uploads,
    unverified: Semaphore,
    started_at: Timestamp,
    closing: watch::Sender<bool>,
}

impl App {
    pub fn new(store: Store, rules: impl Into<Arc<Rules>>, signer: PermitSigner, settings: Settings) -> Self {
        let streams = Arc::new(Semaphore::new(settings.limits.streams));
        let unverified = Semaphore::new(settings.limits.in_flight_per_identity());
        let (metrics, door, facts) = (Metrics::default(), Door::default(), Facts::default());
        let closing = watch::Sender::new(false);
        let (rules, previews, started_at) = (rules.into(), Previews::default(), store.now());
        Self(Arc::new(Inner {
            store,
            rules,
            signer,
            settings,
            metrics,
            door,
            facts,
            previews,
            logs: Logs::default(),
            declared: Declared::default(),
            names: NameCache::default(),
            absences: Absences::default(),
            health: Health::default(),
            turns: Turns::default(),
            streams,
            viewers: Shares::default(),
            uploaders: Shares::default(),
            uploads: Uploads::default(),
            unverified,
            started_at,
            closing,
        }))
    }

    pub fn store(&self) -> &Store {
        &self.0.store
    }

    pub fn policy(&self) -> &Policy {
        &self.0.rules.policy
    }

    pub fn tools(&self) -> &Tools {
        &self.0.rules.tools
    }

    pub fn rules(&self) -> &Rules {
        &self.0.rules
    }

    pub fn signer(&self) -> &PermitSigner {
        &self.0.signer
    }

    pub fn settings(&self) -> &Settings {
        &self.0.settings
    }

    pub(crate) fn metrics(&self) -> &Metrics {
        &self.0.metrics
    }

    /// Everything that is counted, as Prometheus reads it.
    pub(crate) async fn metrics_text(&self) -> String {
        self.metrics().ledger_size(self.store().size());
        // What cannot be counted now is told as it was counted last.
        if let (Ok(count), Ok(oldest)) =
            (self.store().queue_length(Reach::Everywhere).await, self.store().waiting(Reach::Everywhere, 1).await)
        {
            let since = oldest.first().map_or(self.store().now(), |(_, since)| *since);
            self.metrics().decisions.waits(count, self.store().now().unix_ms().abs_diff(since.unix_ms()));
        }
        self.metrics().text()
    }

    /// Since when it is counted.
    pub(crate) fn started_at(&self) -> Timestamp {
        self.0.started_at
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.0.facts
    }

    pub(crate) fn previews(&self) -> &Previews {
        &self.0.previews
    }

    pub(crate) fn declared(&self) -> &Declared {
        &self.0.declared
    }

    pub(crate) fn logs(&self) -> &Logs {
        &self.0.logs
    }

    pub(crate) fn names(&self) -> &NameCache {
        &self.0.names
    }

    pub fn health(&self) -> &Health {
        &self.0.health
    }

    /// Follows how much a program has said.
    pub fn follow_log(&self, speaker: Speaker) -> watch::Receiver<u64> {
        self.logs().subscribe(speaker, self.store().now())
    }

    pub(crate) fn absences(&self) -> &Absences {
        &self.0.absences
    }

    pub(crate) fn turns(&self) -> &Turns {
        &self.0.turns
    }

    pub(crate) fn door(&self) -> &Door {
        &self.0.door
    }

    /// A command with everything a decision needs.
    pub(crate) fn submission(&self, actor: Actor, command: Command, idempotency: Option<IdempotencyKey>) -> Submission {
        Submission { actor, command, terms: self.settings().terms, policy: self.policy().version(), idempotency }
    }

    /// Decides and commits a command: the one way anything changes.
    pub(crate) async fn submit(
        &self,
        actor: Actor,
        command: Command,
        key: Option<IdempotencyKey>,
    ) -> Result<Receipt, No> {
        self.submit_with(Extras::default(), actor, command, key).await
    }

    /// The same, with what is stored beside the records.
    pub(crate) async fn submit_with(
        &self,
        extras: Extras,
        actor: Actor,
        command: Command,
        key: Option<IdempotencyKey>,
    ) -> Result<Receipt, No> {
        let (name, who) = (command.name(), actor.identity().map(|identity| identity.id));
        let may_note = who.is_none_or(|who| self.door().has_room_for_refusal_of(who));
        let extras = if may_note { extras } else { Extras { refusal: Noting::Unrecorded, ..extras } };
        let outcome = self.carry_out(self.submission(actor, command, key), extras).await;
        if let (Some(who), Err(SubmitError::Refused(refusal))) = (who, &outcome)
            && refusal.is_recorded()
        {
            self.door().may_note_refusal_of(who);
        }
        if let Err(SubmitError::Refused(Refusal::TooManyQuestions { .. })) = &outcome {
            self.metrics().decisions.refused();
        }
        self.settled(name, outcome).inspect(|receipt| {
            self.metrics().runs.observe(receipt);
            self.metrics().decisions.observe(receipt);
        })
    }

    async fn carry_out(&self, submission: Submission, extras: Extras) -> Result<Receipt, SubmitError> {
        if !matches!(submission.command, Command::Identity { .. }) {
            return self.store().submit(submission, extras).await;
        }
        // In a task of its own: a caller who hangs up must not keep the door from forgetting who was revoked.
        let app = self.clone();
        let task = tokio::spawn(async move {
            let _change = app.door().change();
            let done = app.store().submit(submission, extras).await;
            app.absences().forget();
            done
        });
        task.await.unwrap_or_else(|_| Err(StoreError::Stopped.into()))
    }

    /// Counts how a command ended, and turns a store's answer into ours.
    pub(crate) fn settled<T>(&self, name: &'static str, outcome: Result<T, SubmitError>) -> Result<T, No> {
        let (word, result) = match outcome {
            Ok(receipt) => ("done", Ok(receipt)),
            // Revoked, or given another token, while the request waited to be decided.
            Err(SubmitError::Refused(Refusal::Revoked)) => ("refused", Err(No::NoLongerKnown)),
            Err(SubmitError::Refused(refusal)) => ("refused", Err(No::Refused(refusal))),
            Err(SubmitError::KeyReused) => ("key_reused", Err(No::KeyReused)),
            Err(SubmitError::Fault(fault)) => ("fault", Err(No::Fault(fault))),
        };
        self.metrics().command(name, word);
        result
    }

    /// Who a token belongs to, if to anybody.
    pub(crate) async fn identify(&self, token: Digest) -> Result<Option<Arc<Identity>>, No> {
        let since = match self.door().recall(&token) {
            Ok(known) => return Ok(Some(known)),
            Err(since) => since,
        };
        let found = self.store().identity_by_token(token).await.map_err(No::Fault)?;
        let found = found.filter(|identity| !identity.revoked).map(Arc::new);
        if let Some(identity) = &found {
            self.door().remember(since, token, identity);
        }
        Ok(found)
    }

    /// Checks the credential of a caller who waits long for something to read, such as news. A command needs no such check: the
    /// transaction that decides it checks the credential.
    pub(crate) async fn still_knows(&self, identity: &Identity) -> Result<(), No> {
        self.identify(identity.token).await?.map(drop).ok_or(No::NoLongerKnown)
    }

    /// Whether one more refusal of this identity may be recorded now; then it counts as one.
    pub fn may_note_refusal_of(&self, identity: IdentityId) -> bool {
        self.door().may_note_refusal_of(identity)
    }

    /// Takes one of the requests that an identity may have in flight at once. `None` if it has too many.
    pub fn request_share(&self, identity: IdentityId) -> Option<Share> {
        self.door().share_of(identity, self.0.settings.limits.in_flight_per_identity())
    }

    /// A place for one more viewer, if there is one, and this one has not too many.
    pub fn stream_place(&self, viewer: IdentityId) -> Option<StreamPlace> {
        let share = self.0.viewers.take(viewer, self.0.settings.limits.streams_per_identity())?;
        let place = Arc::clone(&self.0.streams).try_acquire_owned().ok()?;
        Some(StreamPlace { _place: place, _share: share })
    }

    /// Reserves a place for one more evidence body, which is in memory until it is stored. `None` if this identity has too many.
    pub(crate) fn upload_place(&self, identity: IdentityId) -> Option<Share> {
        self.0.uploaders.take(identity, self.0.settings.limits.uploads_per_identity)
    }

    pub(crate) fn uploads(&self) -> &Uploads {
        &self.0.uploads
    }

    /// A place for one more request of somebody who is not known before its body is read, if there is one.
    pub fn unverified_place(&self) -> Option<SemaphorePermit<'_>> {
        self.0.unverified.try_acquire().ok()
    }

    /// Tells those who wait for something that it will not come any more.
    pub(crate) fn close(&self) {
        self.0.closing.send_replace(true);
    }

    /// Returns when the control plane is about to stop.
    pub async fn closed(&self) {
        // The sender lives as long as `self`, so this only ever ends by being told.
        let _ = self.0.closing.subscribe().wait_for(|closing| *closing).await;
    }
}
