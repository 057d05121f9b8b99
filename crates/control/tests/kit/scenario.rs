//! A control plane with everything around it: a store in a temporary folder, a server on a free port, people with tokens,
//! a project with a locked scope, and a run that is under way. Scenarios begin with
//! `let (app, agent, reviewer, worker) = Scenario::start().await;`.
//!
//! Time stands still until a scenario moves it. Workers are played by HTTP calls; nothing is executed.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use placet_control::{App, Hooks, Routes, Rules, Serving, Settings, bootstrap};
use placet_domain::approval::Asking;
use placet_domain::catalogue::{Catalogue, shipped};
use placet_domain::command::About;
use placet_domain::digest::Digest;
use placet_domain::id::{ProjectId, RunId};
use placet_domain::identity::Role;
use placet_domain::passkey::{Checked, Checker, Told};
use placet_domain::permit::PermitSigner;
use placet_domain::planning::Templates;
use placet_domain::policy::{DEFAULT_TOOLS, Policy, default_policy};
use placet_domain::proposal::{Cages, Tools};
use placet_domain::record::Record;
use placet_domain::time::Timestamp;
use placet_ledger::{Entry, SigningKey};
use placet_store::{Clock, Config, EntryFilter, EvidenceKey, ManualClock, Order, Store, StoreError, StoredEntry};
use placet_wire::endpoint::{ApprovePlan, AttachAgent, CreateIdentity, CreateProject, CreateRun, LockScope, StartRun};
use placet_wire::{Endpoint as _, api};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::person::{Person, Place};

const START_MS: i64 = 1_769_851_800_000;
const PERMIT_SEED: [u8; 32] = [9; 32];

/// The shipped rules. Loading them tries every example of every rule, so all scenarios share them.
pub(crate) fn shipped_rules() -> Arc<Rules> {
    static RULES: OnceLock<Arc<Rules>> = OnceLock::new();
    Arc::clone(RULES.get_or_init(|| rules_with("")))
}

/// The shipped rules and some more.
pub(crate) fn rules_with(more: &str) -> Arc<Rules> {
    rules_of(DEFAULT_TOOLS, more)
}

/// Rules for other tools than the shipped ones.
pub(crate) fn rules_of(tools: &str, more: &str) -> Arc<Rules> {
    Arc::new(rules(tools, more).planning_with(our_agents(), Templates::default()))
}

/// The shipped rules, with these agents to plan with.
pub(crate) fn rules_planning_with(agents: Catalogue) -> Arc<Rules> {
    Arc::new(rules(DEFAULT_TOOLS, "").planning_with(agents, Templates::default()))
}

/// The shipped rules for these tools, with these agents to plan with and these cages.
pub(crate) fn rules_in_cages(tools: &str, agents: Catalogue, cages: Cages) -> Arc<Rules> {
    let tools = Tools::parse(tools).unwrap();
    let rules = Rules::new(policy(&tools, ""), tools, cages).unwrap();
    Arc::new(rules.planning_with(agents, Templates::default()))
}

fn rules(tools: &str, more: &str) -> Rules {
    let tools = Tools::parse(tools).unwrap();
    let cages = cages_of(&tools);
    Rules::new(policy(&tools, more), tools, cages).unwrap()
}

fn policy(tools: &Tools, more: &str) -> Policy {
    let mut files: Vec<_> =
        default_policy().iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    if !more.is_empty() {
        files.push(("more.cedar".to_owned(), more.to_owned()));
    }
    Policy::load(&files, tools).unwrap_or_else(|problems| panic!("{problems}"))
}

/// The profiles of the tools and of the agents that ship. `default` is the narrowest, and nothing else was compared.
fn cages_of(tools: &Tools) -> Cages {
    let shipped = ["default", "research_only", "code_development", "browser_automation"].map(str::to_owned);
    let named = tools.iter().map(|(_, tool)| tool.profile.clone()).chain(shipped);
    let cages: Cages = named.map(|profile| (profile.clone(), Digest::of(profile.as_bytes()))).collect();
    cages.compared(|inner, outer| inner == outer || inner == "default" && outer != "research_only")
}

/// What ships, and an agent of the team's own that there is a program for.
fn our_agents() -> Catalogue {
    let (_, text) = shipped().iter().find(|(file, _)| *file == "developer_agent.toml").unwrap();
    let text = text.replace("id = \"developer_agent\"", "id = \"ours\"");
    let text = text.replace("speaks = \"placet-api\"", "speaks = \"placet-api\"\nprogram = \"/opt/agents/main\"");
    Catalogue::with([("ours.toml", text.as_str())]).unwrap()
}

/// Where a control plane lives between two starts.
struct Ground {
    dir: TempDir,
    clock: ManualClock,
    most_database_bytes: Option<u64>,
    evidence_key: Option<[u8; 32]>,
}

impl Ground {
    fn fresh(setup: &Setup) -> Self {
        // Memory, where there is some: these scenarios are about answers; what a disk does is the store's own suite.
        let memory = Path::new("/dev/shm");
        let dir = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let clock = ManualClock::at(Timestamp::from_unix_ms(START_MS));
        let Setup { most_database_bytes, evidence_key, .. } = *setup;
        Self { dir: dir.unwrap(), clock, most_database_bytes, evidence_key }
    }

    fn folder(&self) -> PathBuf {
        self.dir.path().join("store")
    }

    fn config(&self) -> Config {
        let key = SigningKey::from_seed("example.com/ledger".parse().unwrap(), &[7; 32]);
        let clock = Clock::Manual(self.clock.clone());
        let most_database_bytes = self.most_database_bytes;
        let evidence_key = self.evidence_key.map(EvidenceKey::new);
        Config { clock, most_database_bytes, evidence_key, ..Config::new(self.folder(), key) }
    }

    async fn open(&self) -> Store {
        Store::open(self.config()).await.unwrap()
    }
}

impl Ground {
    /// Opens it as soon as the last who used it has let go.
    async fn open_again(&self) -> Store {
        let opened = async {
            loop {
                match Store::open(self.config()).await {
                    Ok(store) => return store,
                    Err(StoreError::InUse { .. }) => tokio::time::sleep(Duration::from_millis(2)).await,
                    Err(error) => panic!("{error}"),
                }
            }
        };
        tokio::time::timeout(PATIENCE, opened).await.expect("everybody lets go of the store")
    }
}

/// What a scenario may choose before anything starts.
pub(crate) struct Setup {
    pub(crate) settings: Settings,
    pub(crate) most_database_bytes: Option<u64>,
    /// With it, evidence is encrypted.
    pub(crate) evidence_key: Option<[u8; 32]>,
}

/// Agents may ask as much as they like: time stands still here, so that whatever is asked is asked at once. Scenarios about that choose.
impl Default for Setup {
    fn default() -> Self {
        Self { settings: asking(Asking::UNBOUNDED), most_database_bytes: None, evidence_key: None }
    }
}

/// The usual settings, with these bounds on how much is asked of people.
pub(crate) fn asking(asking: Asking) -> Settings {
    let mut settings = Settings::default();
    settings.terms.asking = asking;
    settings
}

/// A project with everybody who works in it.
pub(crate) struct Team {
    pub(crate) project: ProjectId,
    pub(crate) operator: Person,
    pub(crate) reviewer: Person,
    pub(crate) second: Person,
    pub(crate) agent: Person,
    pub(crate) worker: Person,
    pub(crate) run: RunId,
}

/// A running control plane and those who see everything of it.
pub(crate) struct Scenario {
    ground: Ground,
    settings: Settings,
    place: Place,
    store: Option<Store>,
    serving: Option<Serving>,
    pub(crate) admin: Person,
    pub(crate) auditor: Person,
    pub(crate) team: Team,
}

impl Scenario {
    /// The usual beginning: a run is under way, and an agent, a reviewer and a worker are there.
    pub(crate) async fn start() -> (Self, Person, Person, Person) {
        Self::start_with(Setup::default()).await
    }

    pub(crate) async fn start_with(setup: Setup) -> (Self, Person, Person, Person) {
        let (ground, place) = (Ground::fresh(&setup), Place::default());
        let store = ground.open().await;
        let (admin, token) = bootstrap(&store, "root", [Role::Admin].into()).await.unwrap();
        let serving = start(&store, shipped_rules(), setup.settings.clone()).await;
        place.move_to(serving.url());
        let admin = Person::new(admin.id, token.reveal().to_owned(), place.clone());
        let auditor = hire(&admin, &place, json!({ "name": "otto", "roles": ["auditor"] })).await;
        let team = Team::gather(&admin, &place, "alpha").await;
        let (agent, reviewer, worker) = (team.agent.clone(), team.reviewer.clone(), team.worker.clone());
        let (store, serving, settings) = (Some(store), Some(serving), setup.settings);
        (Self { ground, settings, place, store, serving, admin, auditor, team }, agent, reviewer, worker)
    }

    /// Another project with other people, who know nothing of the first.
    pub(crate) async fn neighbours(&self, name: &str) -> Team {
        Team::gather(&self.admin, &self.place, name).await
    }

    /// Makes an identity; what is given is the body of the request.
    pub(crate) async fn hire(&self, new: Value) -> Person {
        hire(&self.admin, &self.place, new).await
    }

    /// A reviewer of the project, one of many.
    pub(crate) async fn another(&self, role: &str, number: usize) -> Person {
        let name = format!("{role}-{number}");
        self.hire(json!({ "name": name, "roles": [role], "projects": [self.team.project] })).await
    }

    /// Somebody who works alone, with an agent of theirs and a run under way.
    pub(crate) async fn works_alone(&self) -> (Person, Person, api::RunView) {
        let project: api::ProjectView = self
            .admin
            .post(&CreateProject {}.path(), &json!({ "name": "solo", "separation": "single_operator" }))
            .await
            .is(201)
            .json();
        let one = json!({ "name": "sole", "roles": ["operator", "reviewer"], "projects": [project.id] });
        let sole = self.hire(one).await;
        sole.post(&LockScope { project: project.id }.path(), &scope()).await.is(201);
        let made = json!({ "name": "hers", "roles": ["agent"], "projects": [project.id], "parent": sole.id });
        let agent = self.hire(made).await;
        let new = json!({ "project": project.id, "goal": "g", "scope": "lab", "agent": agent.id, "plan": ["look"] });
        let run: api::RunView = sole.post(&CreateRun {}.path(), &new).await.is(201).json();
        sole.post_if(&ApprovePlan { run: run.id }.path(), run.review, &json!({})).await.is(200);
        sole.post(&StartRun { run: run.id }.path(), &json!({})).await.is(200);
        agent.post(&AttachAgent { run: run.id }.path(), &json!({})).await.is(200);
        (sole, agent, run)
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().expect("open until the end")
    }

    pub(crate) fn folder(&self) -> PathBuf {
        self.ground.folder()
    }

    pub(crate) fn address(&self) -> String {
        self.place.address()
    }

    /// The key with which this control plane signs permits, in the wrong hands.
    pub(crate) fn stolen_signer(&self) -> PermitSigner {
        PermitSigner::from_seed(&PERMIT_SEED)
    }

    pub(crate) fn pass_ms(&self, millis: u64) {
        self.ground.clock.move_by_ms(i64::try_from(millis).unwrap());
    }

    /// Stops the server and leaves the store open, as the last moment before it closes.
    pub(crate) async fn stop(&mut self) {
        self.serving.take().expect("it runs").stop().await;
    }

    /// Stops it, closes the store, and starts again over the same files, with these rules.
    pub(crate) async fn restart_under(&mut self, rules: Arc<Rules>) {
        if self.serving.is_some() {
            self.stop().await;
        }
        self.store = None;
        let store = self.ground.open_again().await;
        let serving = start(&store, rules, self.settings.clone()).await;
        self.place.move_to(serving.url());
        (self.store, self.serving) = (Some(store), Some(serving));
    }

    /// Starts again with other settings.
    pub(crate) async fn restart_by(&mut self, change: impl FnOnce(&mut Settings)) {
        change(&mut self.settings);
        self.restart().await;
    }

    /// Starts again with these webhooks in its settings.
    pub(crate) async fn restart_with(&mut self, hooks: Hooks) {
        self.settings.hooks = hooks;
        self.restart().await;
    }

    /// Starts again with these ways to tell people.
    pub(crate) async fn restart_telling(&mut self, routes: Routes) {
        self.settings.notify = routes;
        self.restart().await;
    }

    pub(crate) async fn restart(&mut self) {
        self.restart_under(shipped_rules()).await;
    }
}

/// The ledger, read past the API.
impl Scenario {
    pub(crate) fn size(&self) -> u64 {
        self.store().size()
    }

    /// The entries from number `from` on.
    pub(crate) async fn entries_from(&self, from: u64) -> Vec<StoredEntry> {
        let mut all: Vec<StoredEntry> = Vec::new();
        loop {
            let after = all.last().map(|entry| entry.seq).or(from.checked_sub(1));
            let filter = EntryFilter { after, order: Order::OldestFirst, limit: 1_000, ..EntryFilter::default() };
            let page = self.store().entries(filter).await.unwrap();
            if page.is_empty() {
                return all;
            }
            all.extend(page);
        }
    }

    pub(crate) async fn kinds_from(&self, from: u64) -> Vec<String> {
        self.entries_from(from).await.into_iter().map(|entry| entry.kind).collect()
    }

    /// The text of all entries from there on.
    pub(crate) async fn bodies_from(&self, from: u64) -> String {
        let entries = self.entries_from(from).await.into_iter();
        entries.map(|entry| String::from_utf8(entry.bytes).unwrap()).collect::<Vec<_>>().join("\n")
    }

    /// Waits until an entry of this kind stands at `from` or later.
    pub(crate) async fn until(&self, from: u64, kind: &str) {
        let mut changes = self.store().subscribe();
        let found = async {
            loop {
                changes.mark_unchanged();
                if self.kinds_from(from).await.iter().any(|seen| seen == kind) {
                    return;
                }
                changes.changed().await.unwrap();
            }
        };
        tokio::time::timeout(PATIENCE, found).await.unwrap_or_else(|_| panic!("no `{kind}` came"));
    }

    /// Panics unless every entry hashes, every head fits, and all that is known follows from the ledger.
    pub(crate) async fn assert_sound(&self) {
        let scrub = self.store().scrub().await.unwrap();
        assert!(scrub.is_sound(), "{scrub:?}");
        assert_eq!(self.store().check_projections().await.unwrap(), []);
        // A stranger finds nothing where nobody lied.
        let told = checked(&recorded(self).await);
        assert_eq!(told.findings, []);
    }
}

/// How long anything may take on a busy machine before it counts as hanging.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

async fn start(store: &Store, rules: Arc<Rules>, settings: Settings) -> Serving {
    let app = App::new(store.clone(), rules, PermitSigner::from_seed(&PERMIT_SEED), settings);
    crate::serve_app(app).await.unwrap_or_else(|error| panic!("it does not start: {error}"))
}

async fn hire(admin: &Person, place: &Place, new: Value) -> Person {
    let once: api::TokenOnce = admin.post(&CreateIdentity {}.path(), &new).await.is(201).json();
    Person::new(once.identity.id, once.token, place.clone())
}

impl Team {
    async fn gather(admin: &Person, place: &Place, name: &str) -> Self {
        let project: api::ProjectView =
            admin.post(&CreateProject {}.path(), &json!({ "name": name })).await.is(201).json();
        let project = project.id;
        let person = async |who: &str, role: &str| {
            let new = json!({ "name": format!("{who}-{name}"), "roles": [role], "projects": [project] });
            hire(admin, place, new).await
        };
        let (operator, agent) = (person("olga", "operator").await, person("ada", "agent").await);
        let (reviewer, second) = (person("rita", "reviewer").await, person("ralf", "reviewer").await);
        let worker = person("walt", "worker").await;
        operator.post(&LockScope { project }.path(), &scope()).await.is(201);
        let mut team = Self { project, operator, reviewer, second, agent, worker, run: no_run() };
        team.run = team.start_run().await;
        team
    }

    /// A new run of the same people, under way.
    pub(crate) async fn start_run(&self) -> RunId {
        let run = self.draft(json!(["look around", "report"])).await;
        let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
        self.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
        self.operator.post(&path("start"), &json!({})).await.is(200);
        self.agent.post(&path("attach"), &json!({})).await.is(200);
        run.id
    }

    /// A run as far as a plan brings it.
    pub(crate) async fn draft(&self, plan: Value) -> api::RunView {
        let new = json!({ "project": self.project, "goal": "survey the lab", "scope": "lab", "agent": self.agent.id, "plan": plan });
        self.operator.post(&CreateRun {}.path(), &new).await.is(201).json()
    }
}

/// Stands in until the run is made, a few lines later.
fn no_run() -> RunId {
    RunId::from_uuid(uuid::Uuid::nil())
}

/// The scope of all scenarios: a lab network, the docs, and a few tools.
pub(crate) fn scope() -> Value {
    json!({ "name": "lab", "rules": {
        "allow": ["docs/**"], "targets": ["10.0.0.0/24"], "tools": ["cat", "nmap", "rm", "sh", "tee"],
    } })
}

/// What a stranger has.
pub(crate) async fn recorded(app: &Scenario) -> Vec<Entry> {
    app.entries_from(0).await.iter().map(|stored| Entry::parse(&stored.bytes).unwrap()).collect()
}

/// What a stranger finds in it.
pub(crate) fn checked(entries: &[Entry]) -> Checked {
    let mut stranger = Checker::default();
    for entry in entries {
        let about = About {
            project: entry.project.as_ref().map(|id| id.parse().unwrap()),
            run: entry.run.as_ref().map(|id| id.parse().unwrap()),
            action: entry.action.as_ref().map(|id| id.parse().unwrap()),
        };
        let at: jiff::Timestamp = entry.at.parse().unwrap();
        let (at, by) = (Timestamp::from_unix_ms(at.as_millisecond()), entry.actor.parse().ok());
        let record = Record::read(about, &entry.kind, entry.body.clone()).unwrap();
        stranger.read(Told { seq: entry.seq, at, by }, &record);
    }
    stranger.finish()
}
