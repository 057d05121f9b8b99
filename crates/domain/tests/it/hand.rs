//! The sentences: who does what. `world.reviewer().approves()` is a command through the one door, like any other.

use placet_domain::action::{ActionCommand, Amended, Resolution};
use placet_domain::command::Command;
use placet_domain::evidence::Exit;
use placet_domain::policy::Tier;
use placet_domain::run::RunCommand;

use crate::people::Who;
use crate::scenario::{Outcome, World, action_id, complete, verdict};

/// Somebody about to do something in the world.
pub(crate) struct Hand<'w> {
    pub(crate) world: &'w mut World,
    pub(crate) who: Who,
}

impl Hand<'_> {
    /// Does something to the run.
    pub(crate) fn run(self, command: RunCommand) -> Outcome {
        let id = self.world.run;
        self.world.submit(self.who, Command::Run { id, command })
    }

    /// Does something to the action.
    pub(crate) fn act(self, command: ActionCommand) -> Outcome {
        let (id, run) = (self.world.action, self.world.run);
        self.world.submit(self.who, Command::Action { id, run, command })
    }

    pub(crate) fn creates_run(self, plan: &[&str]) -> Outcome {
        let command = self.world.new_run(plan);
        self.run(command)
    }

    pub(crate) fn approves_plan(self) -> Outcome {
        let seen = self.world.run().review();
        self.run(RunCommand::ApprovePlan { seen })
    }

    /// Proposes a new action; from now on sentences are about this one.
    pub(crate) fn proposes(self, words: &str) -> Outcome {
        self.world.action = action_id(self.world.fresh_number());
        let command = self.world.proposal(self.who, words);
        self.act(command)
    }

    pub(crate) fn approves(self) -> Outcome {
        let seen = self.world.action().review();
        self.act(ActionCommand::Approve { seen, proof: None })
    }

    /// Makes something else of the action; from now on sentences are about that.
    pub(crate) fn amends(self, words: &str) -> Outcome {
        let amended = self.world.amended(words);
        self.amends_to(amended)
    }

    pub(crate) fn amends_to(self, amended: Amended) -> Outcome {
        let (id, seen) = (amended.id, self.world.action().review());
        let reason = "safer like this".to_owned();
        let (who, world) = (self.who, self.world);
        let outcome = world.by(who).act(ActionCommand::Amend { seen, reason, amended: Box::new(amended) });
        if outcome.is_ok() {
            world.action = id;
        }
        outcome
    }

    pub(crate) fn rejects(self, reason: &str) -> Outcome {
        let seen = self.world.action().review();
        self.act(ActionCommand::Reject { seen, reason: reason.to_owned() })
    }

    pub(crate) fn withdraws(self) -> Outcome {
        self.act(ActionCommand::Withdraw { reason: "no longer wanted".to_owned() })
    }

    /// Wants what was rehearsed to be done.
    pub(crate) fn performs(self) -> Outcome {
        let command = self.world.performance();
        self.act(command)
    }

    pub(crate) fn leases(self) -> Outcome {
        let worker = self.who.id().expect("the clockwork leases nothing");
        self.act(ActionCommand::Lease { worker })
    }

    pub(crate) fn redeems(self) -> Outcome {
        let permit = self.world.permit();
        self.act(ActionCommand::Redeem { permit })
    }

    pub(crate) fn beats(self) -> Outcome {
        let attempt = self.world.action().attempt;
        self.act(ActionCommand::Heartbeat { attempt })
    }

    pub(crate) fn completes(self, exit: Exit) -> Outcome {
        let attempt = self.world.action().attempt;
        self.completes_attempt(attempt, exit)
    }

    pub(crate) fn completes_attempt(self, attempt: u32, exit: Exit) -> Outcome {
        let manifest = self.world.manifest(self.who, attempt, exit);
        self.act(complete(manifest))
    }

    pub(crate) fn resolves(self, resolution: Resolution) -> Outcome {
        self.act(ActionCommand::Resolve { resolution, reason: "looked at it".to_owned() })
    }

    pub(crate) fn rejudges(self, tier: Tier) -> Outcome {
        let verdict = verdict(self.world.action().digest, self.world.policy, tier);
        self.act(ActionCommand::Rejudge { verdict })
    }

    pub(crate) fn lapses(self) -> Outcome {
        self.act(ActionCommand::Lapse)
    }
}

impl World {
    pub(crate) fn by(&mut self, who: Who) -> Hand<'_> {
        Hand { world: self, who }
    }

    pub(crate) fn agent(&mut self) -> Hand<'_> {
        self.by(Who::Agent)
    }

    pub(crate) fn worker(&mut self) -> Hand<'_> {
        self.by(Who::Worker)
    }

    pub(crate) fn reviewer(&mut self) -> Hand<'_> {
        self.by(Who::Reviewer)
    }

    pub(crate) fn second_reviewer(&mut self) -> Hand<'_> {
        self.by(Who::SecondReviewer)
    }

    pub(crate) fn operator(&mut self) -> Hand<'_> {
        self.by(Who::Operator)
    }

    pub(crate) fn clockwork(&mut self) -> Hand<'_> {
        self.by(Who::Runtime)
    }
}
