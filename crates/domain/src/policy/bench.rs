//! Rules that are asked together. Permits and forbids sit apart, because Cedar names only those that decided: with one
//! forbid among them, the permits that hold would go unmentioned, and a reviewer should see both.
//!
//! A question tells only what some rule of the bench mentions: most of the time of a judgement would go into the rest.

use cedar_policy::{AuthorizationError, Authorizer, Effect, Entities, PolicyId, PolicySet, Request};

use super::question::{Fact, Question};
use super::seat::Seat;

/// Rules that are asked together.
#[derive(Debug, Default)]
pub(super) struct Bench {
    permits: PolicySet,
    forbids: PolicySet,
    mentioned: Vec<Fact>,
}

/// What the rules of a bench said to one question, in the order of their ids.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Heard {
    pub(super) permits: Vec<PolicyId>,
    pub(super) forbids: Vec<PolicyId>,
    /// Rules that could not be evaluated, and why.
    pub(super) failed: Vec<(PolicyId, String)>,
}

impl Heard {
    /// A rule that could not be evaluated might have objected: then nothing is permitted.
    pub(super) fn is_permission(&self) -> bool {
        self.forbids.is_empty() && self.failed.is_empty() && !self.permits.is_empty()
    }

    pub(super) fn spoke(&self) -> bool {
        !self.permits.is_empty() || !self.forbids.is_empty()
    }
}

impl Bench {
    pub(super) fn of<'rules>(seats: impl IntoIterator<Item = &'rules Seat>) -> Self {
        let mut bench = Self::default();
        for seat in seats {
            let new = seat.mentioned().iter().filter(|fact| !bench.mentioned.contains(fact));
            bench.mentioned.extend(new.collect::<Vec<_>>());
            let side = match seat.policy().effect() {
                Effect::Permit => &mut bench.permits,
                Effect::Forbid => &mut bench.forbids,
            };
            side.add(seat.policy().clone()).expect("ids of rules are distinct and no rule is a template");
        }
        bench
    }

    pub(super) fn ask(&self, question: &Question<'_>, approvals: i64) -> Heard {
        if self.permits.is_empty() && self.forbids.is_empty() {
            return Heard::default();
        }
        let request = question.at(approvals, &self.mentioned);
        let mut heard = Heard::default();
        heard.permits = ask_side(&self.permits, &request, &mut heard.failed);
        heard.forbids = ask_side(&self.forbids, &request, &mut heard.failed);
        heard.failed.sort();
        heard
    }
}

fn ask_side(side: &PolicySet, request: &Request, failed: &mut Vec<(PolicyId, String)>) -> Vec<PolicyId> {
    if side.is_empty() {
        return Vec::new();
    }
    let response = Authorizer::new().is_authorized(request, side, &Entities::empty());
    failed.extend(response.diagnostics().errors().map(|error| match error {
        AuthorizationError::PolicyEvaluationError(failure) => {
            (failure.policy_id().clone(), failure.inner().to_string())
        }
    }));
    let mut spoke: Vec<PolicyId> = response.diagnostics().reason().cloned().collect();
    spoke.sort();
    spoke
}
