//! Ways into every state of a run and of an action, by lawful commands only.

use placet_domain::action::{ActionStatus, Resolution};
use placet_domain::evidence::Exit;
use placet_domain::run::{Mode, RunCommand, RunCommandKind as Kind, RunStatus, Wanted};

use crate::people::Who;
use crate::scenario::{DAY_MS, MINUTE_MS, Outcome, World};
use crate::trials::run_command;

const LAWFUL: &str = "a lawful step";

fn reason() -> String {
    "for a reason".to_owned()
}

impl World {
    /// Brings a new run into a state, and lets its host do what is wanted there.
    pub(crate) fn with_run(self, status: RunStatus) -> Self {
        let mut world = self.just_arrived_at(status);
        if !status.is_final() {
            world.host_catches_up();
        }
        world
    }

    /// A worker does what is wanted of a host, until nothing more is.
    pub(crate) fn host_catches_up(&mut self) {
        while let Some(kind) = self.wanted_of_host() {
            let command = run_command(self, kind);
            self.worker().run(command).expect("what is wanted");
        }
    }

    /// What a host would report next.
    pub(crate) fn wanted_of_host(&self) -> Option<Kind> {
        let unhosted = !self.run().hosting.is_external() && self.run().host.worker.is_none();
        match self.run().wanted() {
            Wanted::Running if unhosted && self.run_status() == RunStatus::SpawningSandbox => Some(Kind::Host),
            Wanted::Snapshot { .. } => Some(Kind::KeepSnapshot),
            Wanted::Restored { .. } => Some(Kind::Restore),
            Wanted::Collected => Some(Kind::Collect),
            Wanted::Destroyed => Some(Kind::Destroy),
            Wanted::Nothing | Wanted::Running | Wanted::Still | Wanted::Stopped => None,
        }
    }

    /// Brings a new run into a state, where its host has not done anything yet.
    pub(crate) fn just_arrived_at(mut self, status: RunStatus) -> Self {
        let plan: &[&str] = if status == RunStatus::Draft { &[] } else { &["look", "write"] };
        self.by(Who::Creator).creates_run(plan).expect(LAWFUL);
        for step in way_to_run(status) {
            self.host_catches_up();
            step(&mut self).expect(LAWFUL);
        }
        assert_eq!(self.run_status(), status);
        self
    }

    pub(crate) fn executing(self) -> Self {
        self.with_run(RunStatus::Executing)
    }

    /// Brings a new action, proposed in these words, into a state. The run is executing.
    pub(crate) fn with_action(mut self, words: &str, status: ActionStatus) -> Self {
        if !self.runs.contains_key(&self.run) {
            self = self.executing();
        }
        self.agent().proposes(words).expect(LAWFUL);
        for step in way_to_action(&self, status) {
            step(&mut self).expect(LAWFUL);
        }
        assert_eq!(self.status(), status);
        self
    }
}

impl World {
    /// A run that only shows what others would notice, and one action of that kind.
    pub(crate) fn with_rehearsed(words: &str) -> Self {
        Self::new().rehearsing(words)
    }

    pub(crate) fn rehearsing(mut self, words: &str) -> Self {
        self.posture.mode = Mode::Simulation;
        let mut world = self.executing();
        world.agent().proposes(words).expect(LAWFUL);
        assert_eq!(world.status(), ActionStatus::Rehearsed);
        world
    }

    /// Its agent is done, and what it made is collected.
    pub(crate) fn at_results(mut self) -> Self {
        finish(&mut self).expect(LAWFUL);
        self.host_catches_up();
        self
    }

    /// The same action, about to be done because a reviewer said so.
    pub(crate) fn performing(words: &str) -> Self {
        let mut world = Self::with_rehearsed(words).at_results();
        world.reviewer().performs().expect(LAWFUL);
        assert_eq!(world.status(), ActionStatus::Approved);
        world
    }
}

type Step = fn(&mut World) -> Outcome;

fn approve_plan(world: &mut World) -> Outcome {
    world.reviewer().approves_plan()
}

fn start(world: &mut World) -> Outcome {
    world.operator().run(RunCommand::Start)
}

fn attach(world: &mut World) -> Outcome {
    world.agent().run(RunCommand::Attach)
}

fn reach_gate(world: &mut World) -> Outcome {
    world.agent().run(RunCommand::ReachGate { summary: "half way".to_owned() })
}

fn finish(world: &mut World) -> Outcome {
    world.agent().run(RunCommand::Finish { summary: "done".to_owned() })
}

fn way_to_run(status: RunStatus) -> Vec<Step> {
    let executing: [Step; 3] = [approve_plan, start, attach];
    let and_then = |steps: &[Step]| executing.iter().chain(steps).copied().collect();
    match status {
        RunStatus::Draft | RunStatus::PendingApproval => vec![],
        RunStatus::Approved => vec![approve_plan],
        RunStatus::SpawningSandbox => vec![approve_plan, start],
        RunStatus::Executing => executing.to_vec(),
        RunStatus::CheckpointReached => and_then(&[reach_gate]),
        RunStatus::Paused => and_then(&[|world| world.operator().run(RunCommand::Pause { reason: reason() })]),
        RunStatus::PendingExport => and_then(&[finish]),
        RunStatus::Completed => and_then(&[finish, |world| {
            let seen = world.run().review();
            world.reviewer().run(RunCommand::ApproveResults { seen, chosen: None })
        }]),
        RunStatus::Failed => and_then(&[|world| world.agent().run(RunCommand::Fail { reason: reason().into() })]),
        RunStatus::Cancelled => and_then(&[|world| world.operator().run(RunCommand::Cancel { reason: reason() })]),
        RunStatus::RolledBack => {
            and_then(&[|world| world.operator().run(RunCommand::RollBack { to: 0, reason: reason() })])
        }
    }
}

fn lease(world: &mut World) -> Outcome {
    world.worker().leases()
}

fn redeem(world: &mut World) -> Outcome {
    world.worker().redeems()
}

fn lose_the_worker(world: &mut World) -> Outcome {
    world.wait_ms(MINUTE_MS);
    world.clockwork().lapses()
}

/// The approvals the verdict asks for, by different people.
fn approvals(world: &World) -> Vec<Step> {
    let yes: [Step; 2] = [|world| world.reviewer().approves(), |world| world.second_reviewer().approves()];
    yes.into_iter().take(world.action().approvals_missing()).collect()
}

fn way_to_action(world: &World, status: ActionStatus) -> Vec<Step> {
    let approved = approvals(world);
    let and_then = |steps: &[Step]| approved.iter().chain(steps).copied().collect();
    match status {
        ActionStatus::PendingApproval | ActionStatus::Denied => vec![],
        ActionStatus::Approved => approved,
        ActionStatus::Rehearsed => unreachable!("a run rehearses by its mode: `World::with_rehearsed`"),
        ActionStatus::Rejected => vec![|world| world.reviewer().rejects("too risky")],
        ActionStatus::Superseded => vec![|world| {
            let old = world.action;
            let outcome = world.reviewer().amends("build it otherwise");
            world.action = old;
            outcome
        }],
        ActionStatus::Withdrawn => vec![|world| world.agent().withdraws()],
        ActionStatus::Expired => vec![|world| {
            world.wait_ms(2 * DAY_MS);
            world.clockwork().lapses()
        }],
        ActionStatus::Leased => and_then(&[lease]),
        ActionStatus::Executing => and_then(&[lease, redeem]),
        ActionStatus::Succeeded => and_then(&[lease, redeem, |world| world.worker().completes(Exit::Code(0))]),
        ActionStatus::Failed => and_then(&[lease, redeem, |world| world.worker().completes(Exit::Code(1))]),
        ActionStatus::Interrupted => and_then(&[lease, redeem, lose_the_worker]),
        ActionStatus::Abandoned => {
            and_then(&[lease, redeem, lose_the_worker, |world| world.reviewer().resolves(Resolution::Abandon)])
        }
    }
}
