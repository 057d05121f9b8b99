//! Judging: the least number of approvals for which the rules permit, and every rule that had something to say.

use std::collections::BTreeMap;

use cedar_policy::PolicyId;

use super::bench::Heard;
use super::law;
use super::question::Question;
use super::rationale::Rationale;
use super::verdict::{Reason, Risk, Tier, Verdict};
use super::{Frame, Policy, RuleEffect};
use crate::proposal::Action;

/// Numbers of approvals that are tried, least first, and the tier each one means.
pub(super) const LEVELS: [(i64, Tier); 3] = [(0, Tier::A), (1, Tier::B), (2, Tier::C)];

pub(super) fn judge(policy: &Policy, action: &Action, frame: &Frame<'_>) -> Verdict {
    let hearing = Hearing::hold(policy, action);
    let mut laws = law::broken(action, frame.scope, &policy.tools);
    laws.extend(law::demanded(action, frame.posture));
    laws.extend(frame.bounds.into_iter().flat_map(|bounds| law::beyond(action, bounds)));
    let tier = laws.iter().map(|law| law.demands).fold(hearing.tier(), Tier::max);
    let mut reasons = hearing.reasons(policy);
    reasons.extend(laws);
    Verdict::of(action.digest(), policy.version(), tier, reasons)
}

/// What a rule alone demands, given the levels at which it spoke. A permit opens at the first; a forbid closes up to the last.
pub(super) fn demanded_by(effect: RuleEffect, spoken: impl IntoIterator<Item = Tier>) -> Option<Tier> {
    let spoken = spoken.into_iter();
    match effect {
        RuleEffect::Permit => spoken.min(),
        RuleEffect::Forbid => spoken.max().map(above),
    }
}

const fn above(tier: Tier) -> Tier {
    match tier {
        Tier::A => Tier::B,
        Tier::B => Tier::C,
        Tier::C | Tier::D => Tier::D,
    }
}

/// What was said at each level that had to be tried.
struct Hearing {
    heard: Vec<(Tier, Heard)>,
    permitted: Option<Tier>,
}

impl Hearing {
    /// Asks at no approvals first and stops as soon as the rules permit.
    fn hold(policy: &Policy, action: &Action) -> Self {
        let panel = policy.panel(action.spec().kind);
        let question = Question::about(action);
        let mut hearing = Self { heard: Vec::new(), permitted: None };
        for (approvals, tier) in LEVELS {
            let heard = match hearing.heard.first() {
                None => panel.all.ask(&question, approvals),
                Some((_, at_none)) => {
                    let again = panel.unpredictable.ask(&question, approvals);
                    reconsidered(policy, at_none, again, approvals)
                }
            };
            hearing.permitted = heard.is_permission().then_some(tier);
            hearing.heard.push((tier, heard));
            if hearing.permitted.is_some() {
                break;
            }
        }
        hearing
    }

    /// A rule that failed at one level might have objected at another: it refuses.
    fn tier(&self) -> Tier {
        let failed = self.heard.iter().any(|(_, heard)| !heard.failed.is_empty());
        if failed { Tier::D } else { self.permitted.unwrap_or(Tier::D) }
    }

    fn reasons(&self, policy: &Policy) -> Vec<Reason> {
        let failed = self.failed();
        let spoken = self.spoken().into_iter().filter(|(id, _)| !failed.contains_key(id));
        let mut reasons: Vec<Reason> = spoken.filter_map(|(id, levels)| reason(policy, id, levels)).collect();
        reasons.extend(failed.into_iter().filter_map(|(id, why)| failure(policy, id, why)));
        reasons.extend(self.default_reason(&reasons));
        reasons
    }

    /// The levels at which each rule spoke.
    fn spoken(&self) -> BTreeMap<&PolicyId, Vec<Tier>> {
        let mut spoken: BTreeMap<_, Vec<Tier>> = BTreeMap::new();
        for (tier, heard) in &self.heard {
            for id in heard.permits.iter().chain(&heard.forbids) {
                spoken.entry(id).or_default().push(*tier);
            }
        }
        spoken
    }

    fn failed(&self) -> BTreeMap<&PolicyId, &str> {
        let all = self.heard.iter().rev().flat_map(|(_, heard)| &heard.failed);
        all.map(|(id, why)| (id, why.as_str())).collect()
    }

    /// What is not permitted is refused, and the reader is told so when no listed rule explains it.
    fn default_reason(&self, listed: &[Reason]) -> Option<Reason> {
        let because = if self.heard.iter().all(|(_, heard)| heard.permits.is_empty()) {
            Rationale::NoRulePermits
        } else if self.permitted.is_none() && listed.iter().all(|reason| reason.demands < Tier::D) {
            Rationale::NoTierPermits
        } else {
            return None;
        };
        // It weighs nothing, so that permitting more never lowers a risk.
        Some(Reason { rule: "default".to_owned(), demands: Tier::D, weight: Risk::NONE, because })
    }
}

/// What the rules say at more approvals, given what they said at none. Only rules of an unusual form are asked again.
fn reconsidered(policy: &Policy, at_none: &Heard, again: Heard, approvals: i64) -> Heard {
    let still = |id: &&PolicyId| policy.rule(id).and_then(|rule| rule.silence.still_speaks(approvals)) == Some(true);
    let predicted = |ids: &[PolicyId]| -> Vec<PolicyId> { ids.iter().filter(still).cloned().collect() };
    Heard {
        permits: [predicted(&at_none.permits), again.permits].concat(),
        forbids: [predicted(&at_none.forbids), again.forbids].concat(),
        failed: [at_none.failed.clone(), again.failed].concat(),
    }
}

fn reason(policy: &Policy, id: &PolicyId, levels: Vec<Tier>) -> Option<Reason> {
    let rule = &policy.rule(id)?.summary;
    let demands = demanded_by(rule.effect, levels)?;
    Some(Reason { rule: rule.id.clone(), demands, weight: rule.risk, because: rule.rationale.clone() })
}

fn failure(policy: &Policy, id: &PolicyId, why: &str) -> Option<Reason> {
    let rule = &policy.rule(id)?.summary;
    let because = Rationale::RuleFailed { error: why.to_owned() };
    Some(Reason { rule: rule.id.clone(), demands: Tier::D, weight: rule.risk, because })
}
