//! A small world in which the domain can be used by sentences: `world.agent().proposes("build the docs")`.
//!
//! It is a store without a disk: it loads what a command reads, asks the one door, and keeps the records or nothing. No state
//! is ever built by hand; whatever a test finds here was reached by commands that the domain accepted.

use std::collections::BTreeMap;

use placet_domain::action::{ActionCommand, ActionEvent, ActionState, ActionStatus, Amended, Workers};
use placet_domain::approval::Terms;
use placet_domain::budget::{Ceiling, USUAL_WARNING_PERCENT};
use placet_domain::command::{Command, Submission};
use placet_domain::decide::{AdmittedSubmission, CommandOutcome, Loaded, Others, Reads, decide, recorded};
use placet_domain::digest::Digest;
use placet_domain::evidence::{Exit, Manifest, Usage};
use placet_domain::id::{ActionId, IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity};
use placet_domain::organisation::Organisation;
use placet_domain::permit::{Permit, PermitSigner, Signed};
use placet_domain::policy::{Tier, Verdict};
use placet_domain::project::{Project, ProjectCommand, Separation};
use placet_domain::proposal::{Action, Proposal, Tools};
use placet_domain::record::{Event, Record};
use placet_domain::refusal::Refusal;
use placet_domain::run::{
    Allowance, Beside, Founding, GateKind, Hosting, Launch, Posture, Questions, Run, RunCommand, RunStatus,
};
use placet_domain::scope::{Scope, ScopeDraft};
use placet_domain::time::Timestamp;
use uuid::Uuid;

use crate::people::{self, Who};

pub(crate) const MINUTE_MS: i64 = 60_000;
pub(crate) const HOUR_MS: i64 = 60 * MINUTE_MS;
pub(crate) const DAY_MS: i64 = 24 * HOUR_MS;
const SOME_DAY: i64 = 1_700_000_000_000;
const TOOLS: &str = "[sh]\nprogram = \"/bin/sh\"\nkind = \"execute_code\"\n\n[mail]\nprogram = \"/bin/mail\"\nkind = \"send_email\"\n\n\
     [visit]\nprogram = \"/bin/visit\"\nkind = \"create_file\"\nlimits = { pages = 10 }\n\n\
     [look]\nprogram = \"/bin/look\"\nkind = \"read_file\"\n\n\
     [fetch]\nprogram = \"/bin/fetch\"\nkind = \"read_file\"\nnetwork = \"named\"\n";

pub(crate) type Outcome = Result<Vec<Record>, Refusal>;

/// Everything there is, and the run and action that sentences are about.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) projects: BTreeMap<ProjectId, Project>,
    pub(crate) identities: BTreeMap<IdentityId, Identity>,
    pub(crate) runs: BTreeMap<RunId, Run>,
    pub(crate) actions: BTreeMap<ActionId, ActionState>,
    pub(crate) ledger: Vec<Record>,
    /// When each of them was recorded.
    pub(crate) times: Vec<Timestamp>,
    /// Who caused each of them; nobody, where the runtime did.
    pub(crate) actors: Vec<Option<IdentityId>>,
    pub(crate) now: Timestamp,
    pub(crate) terms: Terms,
    pub(crate) policy: Digest,
    pub(crate) project: ProjectId,
    pub(crate) run: RunId,
    pub(crate) action: ActionId,
    pub(crate) organisation: Organisation,
    /// How new runs are carried out.
    pub(crate) posture: Posture,
    pub(crate) hosting: Hosting,
    pub(crate) ceiling: Option<Ceiling>,
    next_number: u128,
}

pub(crate) fn project_id(number: u128) -> ProjectId {
    ProjectId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn run_id(number: u128) -> RunId {
    RunId::from_uuid(Uuid::from_u128(number))
}

pub(crate) fn action_id(number: u128) -> ActionId {
    ActionId::from_uuid(Uuid::from_u128(number))
}

/// The control plane's own key.
pub(crate) fn signer() -> PermitSigner {
    PermitSigner::from_seed(&[7; 32])
}

pub(crate) fn scope() -> Scope {
    let allow = vec!["src/**".parse().expect("a glob")];
    Scope::lock(ScopeDraft { allow, ..ScopeDraft::default() })
}

/// The house policy of these tests, to be read off the first word of a proposal.
pub(crate) fn tier_of(words: &str) -> Tier {
    match words.split(' ').next() {
        Some("read") => Tier::A,
        Some("build") => Tier::B,
        Some("delete") => Tier::C,
        _ => Tier::D,
    }
}

/// Which tool does it. Mail always asks, a look changes nothing, and what fetches something reaches others for it.
fn tool_of(words: &str) -> &'static str {
    ["mail", "visit", "look", "fetch"].into_iter().find(|tool| words.contains(tool)).unwrap_or("sh")
}

/// A verdict, as it would come out of a ledger.
pub(crate) fn verdict(action: Digest, policy: Digest, tier: Tier) -> Verdict {
    verdict_of_risk(action, policy, tier, 0.35)
}

pub(crate) fn verdict_of_risk(action: Digest, policy: Digest, tier: Tier, risk: f64) -> Verdict {
    let json = serde_json::json!({ "action": action, "policy": policy, "tier": tier, "risk": risk, "reasons": [] });
    serde_json::from_value(json).expect("a verdict")
}

/// An agent that a host could start.
pub(crate) fn launch() -> Launch {
    Launch {
        program: "/usr/bin/python3".to_owned(),
        arguments: vec!["agent.py".to_owned()],
        profile: "agent".to_owned(),
        profile_digest: Digest::of(b"agent"),
        files: Vec::new(),
        inputs: Vec::new(),
    }
}

impl World {
    /// A project in which four eyes decide, its people, and nothing else.
    pub(crate) fn new() -> Self {
        Self::with(Separation::FourEyes)
    }

    /// A project of somebody who works alone.
    pub(crate) fn single_operator() -> Self {
        Self::with(Separation::SingleOperator)
    }

    /// The same world, in which runs are hosted by a worker and have a budget.
    pub(crate) fn governed(self) -> Self {
        let ceiling = Ceiling { actions: Some(100), usd_micros: Some(10_000_000), ..Ceiling::default() };
        Self { hosting: Hosting::Hosted(Box::new(launch())), ceiling: Some(ceiling), ..self }
    }

    fn with(separation: Separation) -> Self {
        let mut world = Self {
            projects: BTreeMap::new(),
            identities: BTreeMap::new(),
            runs: BTreeMap::new(),
            actions: BTreeMap::new(),
            ledger: Vec::new(),
            times: Vec::new(),
            actors: Vec::new(),
            now: Timestamp::from_unix_ms(SOME_DAY),
            terms: Terms::default(),
            policy: Digest::of(b"policy 1"),
            project: project_id(1),
            run: run_id(1),
            action: action_id(1),
            organisation: Organisation::default(),
            posture: Posture::default(),
            hosting: Hosting::External,
            ceiling: None,
            next_number: 2,
        };
        for (id, separation) in [(project_id(1), separation), (project_id(2), Separation::FourEyes)] {
            let create = ProjectCommand::Create { name: format!("p-{}", &id.to_string()[30..]), separation };
            world.submit(Who::Runtime, Command::Project { id, command: create }).expect("a new project");
        }
        people::register_all(&mut world);
        world
    }

    /// Asks the one door, and keeps what it answers.
    pub(crate) fn submit(&mut self, who: Who, command: Command) -> Outcome {
        self.submit_as(self.actor(who), command)
    }

    pub(crate) fn submit_as(&mut self, actor: Actor, command: Command) -> Outcome {
        let (loaded, submission) = (self.load(&actor, &command), self.submission(actor, command));
        let outcome = self.decide(&loaded, &submission);
        let outcome = match outcome {
            Ok(decided) => {
                self.ledger.extend(decided.records.iter().cloned());
                self.keep(decided.after);
                Ok(decided.records)
            }
            Err(refusal) => {
                self.ledger.extend(recorded(&loaded, &submission.command, &refusal));
                Err(refusal)
            }
        };
        self.times.resize(self.ledger.len(), self.now);
        self.actors.resize(self.ledger.len(), submission.actor.identity().map(|identity| identity.id));
        outcome
    }

    /// What the door would answer, without anything happening.
    pub(crate) fn ask(&self, who: Who, command: Command) -> Outcome {
        let actor = self.actor(who);
        let (loaded, submission) = (self.load(&actor, &command), self.submission(actor, command));
        self.decide(&loaded, &submission).map(|decided| decided.records)
    }

    /// Decides as a store does: the credential is checked first.
    pub(crate) fn decide(&self, loaded: &Loaded, submission: &Submission) -> Result<CommandOutcome, Refusal> {
        let valid = submission.actor.identity().and_then(|asks| {
            // Callers that no test registered hold the token that they show.
            let known = self.identities.get(&asks.id).unwrap_or(asks);
            (!known.revoked).then_some(known.token)
        });
        decide(loaded, &AdmittedSubmission::check(submission, valid)?, self.now)
    }

    pub(crate) fn submission(&self, actor: Actor, command: Command) -> Submission {
        Submission { actor, command, terms: self.terms, policy: self.policy, idempotency: None }
    }

    pub(crate) fn load(&self, actor: &Actor, command: &Command) -> Loaded {
        let reads = command.reads();
        let asks = actor.identity().filter(|_| reads.actor);
        let run = reads.run.and_then(|id| self.runs.get(&id).cloned());
        let is_over = reads.payers_when_over && run.as_ref().is_some_and(|run| run.status.is_final());
        let payer = run.as_ref().filter(|_| reads.payer || is_over);
        let parent = reads.parent.or_else(|| payer.and_then(|run| run.parent));
        let others = |run: &&Run| {
            let concerned = match reads.others {
                Others::None => false,
                Others::Children => run.parent.is_some(),
                Others::OfProject(project) => run.project == project,
                Others::All => true,
            };
            let concerned = concerned || reads.rests_on.is_some();
            concerned && !run.status.is_final() && Some(run.id) != reads.run && Some(run.id) != parent
        };
        let above = parent.filter(|_| is_over).map(|parent| self.above(parent)).unwrap_or_default();
        Loaded {
            runs: self.runs.values().filter(others).cloned().chain(above).collect(),
            projects: self.projects.values().filter(|_| reads.others == Others::All).cloned().collect(),
            project: reads.project.or(payer.map(|run| run.project)).and_then(|id| self.projects.get(&id).cloned()),
            parent: parent.and_then(|id| self.runs.get(&id).cloned()),
            organisation: self.organisation.clone(),
            questions: run.as_ref().filter(|_| reads.questions).map(|run| self.questions(run)).unwrap_or_default(),
            identity: reads.identity.and_then(|id| self.identities.get(&id).cloned()),
            actor: asks.and_then(|asks| self.identities.get(&asks.id).cloned()),
            givers: run.iter().filter(|_| reads.givers).flat_map(|run| self.givers(run)).collect(),
            run,
            action: reads.action.and_then(|id| self.actions.get(&id).cloned()),
            successor: reads.successor.and_then(|id| self.actions.get(&id).cloned()),
            // This world has no workers.
            workers: Workers::Free,
            beside: self.beside(&reads),
            actions: self.resting_on(reads.rests_on),
            ..Loaded::default()
        }
    }

    /// Counts the actions of the runs that a command reads which wait or are in progress, without those that it loads.
    fn beside(&self, reads: &Reads<'_>) -> BTreeMap<RunId, Beside> {
        let resting = self.resting_on(reads.rests_on);
        let loaded = |id: ActionId| {
            reads.action == Some(id) || reads.successor == Some(id) || resting.iter().any(|action| action.id == id)
        };
        let concerned = reads.run.into_iter().filter(|_| reads.beside).chain(resting.iter().map(|action| action.run));
        let counted = |run: &Run| {
            let others = self.actions.values().filter(|action| action.run == run.id && !loaded(action.id));
            others.fold(Beside::default(), |all, action| all.and(run, action))
        };
        concerned.filter_map(|id| Some((id, counted(self.runs.get(&id)?)))).collect()
    }

    fn resting_on(&self, who: Option<IdentityId>) -> Vec<ActionState> {
        self.actions.values().filter(|action| who.is_some_and(|who| action.rests_on(who))).cloned().collect()
    }

    /// What the family of a run has asked of people: all runs of its agent, and all below the run at the top of its own.
    fn questions(&self, run: &Run) -> Questions {
        let first = self.above(run.id).last().map_or(run.id, |first| first.id);
        let first_of = |run: &Run| self.above(run.id).last().map_or(run.id, |first| first.id);
        let family: Vec<&Run> =
            self.runs.values().filter(|other| other.agent == run.agent || first_of(other) == first).collect();
        let is_of = |id: RunId| family.iter().any(|run| run.id == id);
        let within_ms = i64::try_from(self.terms.asking.asked_within_ms).unwrap_or(i64::MAX);
        let window = Timestamp::from_unix_ms(self.now.unix_ms().saturating_sub(within_ms));
        let since = family.iter().filter_map(|run| run.asking.let_ask_at).fold(window, Timestamp::max);
        let by_order = |record: &Record| {
            let action = record.about.action.and_then(|id| self.actions.get(&id));
            action.is_some_and(|action| action.approvals.iter().any(|approval| approval.order.is_some()))
        };
        let asked = self.ledger.iter().zip(&self.times);
        let asked = asked.filter(|(record, at)| **at > since && is_question(record) && !by_order(record));
        let waits = |action: &&ActionState| action.status == ActionStatus::PendingApproval && is_of(action.run);
        let stands = |other: &&&Run| {
            let asked = other.gate.as_ref().is_some_and(|gate| gate.kind == GateKind::Questions);
            other.id != run.id && asked && other.status.is_open()
        };
        let waits_at_all = |action: &&ActionState| {
            matches!(action.status, ActionStatus::PendingApproval | ActionStatus::Approved) && is_of(action.run)
        };
        Questions {
            waiting: self.actions.values().filter(waits_at_all).count() as u64,
            undecided: self.actions.values().filter(waits).count() as u64,
            lately: asked.filter(|(record, _)| record.about.run.is_some_and(is_of)).count() as u64,
            stands_elsewhere: family.iter().any(|other| stands(&other)),
        }
    }

    /// Those who gave its orders, as they are now.
    fn givers(&self, run: &Run) -> Vec<Identity> {
        run.orders.iter().filter_map(|order| self.identities.get(&order.giver)).cloned().collect()
    }

    /// Whoever made a run, up to the first.
    fn above(&self, run: RunId) -> Vec<Run> {
        let parent = |run: &Run| run.parent.and_then(|parent| self.runs.get(&parent)).cloned();
        std::iter::successors(self.runs.get(&run).and_then(parent), parent).collect()
    }

    pub(crate) fn keep(&mut self, loaded: Loaded) {
        self.projects.extend(loaded.project.map(|project| (project.id, project)));
        // Whoever asks may be whom it is about, who then is what the command left of them.
        let people = loaded.actor.into_iter().chain(loaded.identity);
        self.identities.extend(people.map(|identity| (identity.id, identity)));
        self.runs.extend(loaded.run.into_iter().chain(loaded.parent).chain(loaded.runs).map(|run| (run.id, run)));
        self.organisation = loaded.organisation;
        let actions = loaded.action.into_iter().chain(loaded.successor).chain(loaded.actions);
        self.actions.extend(actions.map(|action| (action.id, action)));
    }

    pub(crate) fn actor(&self, who: Who) -> Actor {
        match who.id() {
            Some(id) => Actor::Identity(self.identities[&id].clone()),
            None => Actor::Runtime,
        }
    }

    pub(crate) fn wait_ms(&mut self, millis: i64) {
        self.now = Timestamp::from_unix_ms(self.now.unix_ms().saturating_add(millis));
    }

    pub(crate) fn change_policy(&mut self) {
        self.policy = Digest::of(self.policy.as_bytes());
    }

    pub(crate) fn run(&self) -> &Run {
        &self.runs[&self.run]
    }

    pub(crate) fn action(&self) -> &ActionState {
        &self.actions[&self.action]
    }

    pub(crate) fn run_status(&self) -> RunStatus {
        self.run().status
    }

    pub(crate) fn status(&self) -> ActionStatus {
        self.action().status
    }

    pub(crate) fn fresh_number(&mut self) -> u128 {
        self.next_number += 1;
        self.next_number
    }

    /// Seals the words as a shell command of an agent in a run.
    pub(crate) fn seal(&self, words: &str, agent: Who, run: RunId) -> Action {
        let tool = tool_of(words);
        let network: &[&str] = if tool == "fetch" { &["www.example.org"] } else { &[] };
        let proposal = serde_json::json!({ "tool": tool, "arguments": ["-c", words], "network": network });
        let proposal: Proposal = serde_json::from_value(proposal).expect("a proposal");
        let scope = self.runs.get(&run).map_or_else(scope, |run| run.scope.clone());
        let agent = agent.id().expect("the clockwork seals nothing");
        Action::seal(&proposal, &Tools::parse(TOOLS).expect("tools"), &scope, run, agent).expect("a sealable proposal")
    }

    /// The sealed bytes of the action that stands in the world, if it has words that trials use.
    pub(crate) fn sealed_again(&self) -> Option<Action> {
        let known = [
            "build it",
            "read it",
            "delete it",
            "leak it",
            "build and mail it",
            "delete and mail it",
            "read and mail it",
        ];
        let others = ["read it otherwise", "build it otherwise", "delete it otherwise", "leak it otherwise"];
        let sealed = |words: &&str| self.seal(words, Who::Agent, self.action().run);
        let mut all = known.iter().chain(&others).map(sealed);
        all.find(|action| action.digest() == self.action().digest)
    }

    /// What a reviewer makes of the action: these words instead, in tier and risk as the house policy says.
    pub(crate) fn amended(&self, words: &str) -> Amended {
        let action = self.seal(words, Who::Agent, self.action().run);
        let verdict = verdict(action.digest(), self.policy, tier_of(words));
        // Far from the numbers that proposals get, and never the same twice.
        let number = (1 << 64) + u128::try_from(self.actions.len()).expect("not so many");
        Amended { id: action_id(number), action, verdict }
    }

    /// The permit for the lease that stands now, as a worker gets it.
    pub(crate) fn permit(&self) -> Signed {
        signed(&Permit::for_lease(self.action()).expect("a lease"))
    }

    /// A permit with our own signature that says something else: what a broken control plane could issue.
    pub(crate) fn permit_saying(&self, key: &str, value: serde_json::Value) -> Signed {
        let (action, worker) = (self.action(), Who::Worker.id());
        let mut says = serde_json::json!({
            "action": action.id, "digest": action.digest, "worker": worker, "attempt": action.attempt,
            "expires_at": self.now.plus_ms(30_000),
        });
        says[key] = value;
        signed(&serde_json::from_value(says).expect("a permit"))
    }

    pub(crate) fn manifest(&self, worker: Who, attempt: u32, exit: Exit) -> Manifest {
        Manifest {
            v: 1,
            action: self.action,
            executed: self.action().digest,
            attempt,
            worker: worker.id().expect("the clockwork executes nothing"),
            started_at: self.now,
            finished_at: self.now,
            exit,
            usage: Usage::default(),
            program: None,
            items: Vec::new(),
            not_taken: Vec::new(),
        }
    }
}

fn is_question(record: &Record) -> bool {
    let asks = |verdict: &Verdict| matches!(verdict.ruling(), placet_domain::policy::Ruling::Ask { .. });
    matches!(&record.event, Event::Action(_, ActionEvent::Judged { verdict, .. }) if asks(verdict))
}

pub(crate) fn signed(permit: &Permit) -> Signed {
    signer().verifier().check(&signer().sign(permit)).expect("our own signature")
}

pub(crate) fn complete(manifest: Manifest) -> ActionCommand {
    ActionCommand::Complete { evidence: Box::new(manifest.seal()) }
}

impl World {
    /// The command that makes a run for the agent in the current project.
    pub(crate) fn new_run(&self, plan: &[&str]) -> RunCommand {
        let agent = &self.identities[&Who::Agent.id().expect("an identity")];
        RunCommand::Create(Box::new(Founding {
            project: self.project,
            parent: None,
            separation: self.projects[&self.project].separation,
            goal: "write the docs".to_owned(),
            prepared: None,
            plan: plan.iter().map(ToString::to_string).collect(),
            scope: scope(),
            posture: self.posture.clone(),
            hosting: self.hosting.clone(),
            planning: None,
            allowance: self.ceiling.map(|ceiling| Allowance { ceiling, warn_at_percent: USUAL_WARNING_PERCENT }),
            agent: agent.id,
            agent_lineage: agent.lineage.clone(),
            agent_token: None,
        }))
    }

    /// What a reviewer says who wants what was rehearsed to be done.
    pub(crate) fn performance(&self) -> ActionCommand {
        let action = self.action();
        ActionCommand::Perform {
            seen: action.review(),
            verdict: verdict(action.digest, self.policy, action.verdict.tier()),
        }
    }

    pub(crate) fn proposal(&self, agent: Who, words: &str) -> ActionCommand {
        let action = self.seal(words, agent, self.run);
        let verdict = verdict(action.digest(), self.policy, tier_of(words));
        ActionCommand::Propose { action: Box::new(action), verdict, advice: None }
    }
}
