//! AMEND: a reviewer approves something else than what was proposed.
//!
//! An approval is a digest, so nobody can say yes to other bytes. To amend an action is therefore to close it for good and
//! to propose another one in its place, judged afresh, in one step. The agent stays the proposer; who changed it is an author
//! too. An author says yes to their own words in one case only: the same tool, no higher tier and no higher risk than
//! what they were asked about. Otherwise somebody else decides, as about any proposal. And as no proposal comes while everything is
//! stopped, nor one that may change something in safe mode, no amendment does (`decide`).
//!
//! What is not here: turning changes into a sealed action, and judging it. Both come in ready, as for a proposal.

use serde::{Deserialize, Serialize};

use super::command::{ActionCommandKind as Kind, Amended};
use super::decide::{Setting, first_approval, independence, judged, needs_decider, rehearses};
use super::event::ActionEvent;
use super::evolve::evolve;
use super::state::ActionState;
use crate::approval::{Ground, deed};
use crate::digest::Digest;
use crate::id::{ActionId, IdentityId};
use crate::identity::{Identity, Lineage};
use crate::policy::Ruling;
use crate::prose::check_reason;
use crate::refusal::{Obstacle, Refusal};

/// Which action it replaces, and who wrote it besides its agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amendment {
    /// The action it replaces.
    pub of: ActionId,
    /// Everybody who changed it since its agent proposed it; the last one made this action.
    pub amenders: Vec<Amender>,
}

/// A reviewer who wrote a part of an action.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Amender {
    pub id: IdentityId,
    pub lineage: Lineage,
    /// The policy by which the change was no riskier than what it replaced. Nothing, if it was riskier; and by another
    /// policy nobody knows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_riskier_by: Option<Digest>,
}

impl Amendment {
    /// Who made this action of the one it replaces.
    pub fn amender(&self) -> Option<IdentityId> {
        self.amenders.last().map(|amender| amender.id)
    }

    /// Whether the reviewer is too close to somebody who wrote a part of it to decide about it by this policy.
    pub(super) fn binds(&self, reviewer: &Identity, policy: Digest) -> bool {
        self.amenders.iter().any(|amender| {
            if amender.id == reviewer.id {
                amender.no_riskier_by != Some(policy)
            } else {
                reviewer.is_kin_of(amender.id, &amender.lineage)
            }
        })
    }
}

/// Closes the action and proposes another one in its place. Who may approve it may amend it, under the same conditions.
pub(super) fn amend(
    state: &ActionState,
    seen: Digest,
    reason: &str,
    amended: &Amended,
    setting: &Setting<'_>,
) -> Result<Vec<(ActionId, ActionEvent)>, Refusal> {
    check_reason(reason)?;
    let reviewer = needs_decider(state, Kind::Amend, seen, setting)?;
    if state.verdict.policy() != setting.policy {
        return Err(Refusal::not_now("amended", Obstacle::JudgedByOldPolicy));
    }
    independence(state, reviewer, setting.run.separation)?;
    check_replacement(state, amended, setting)?;
    let (by, reason) = (amended.id, reason.to_owned());
    let superseded = ActionEvent::Superseded { reviewer: reviewer.id, review: seen, by, reason };
    let begun = [proposed(state, amended, reviewer, setting), judged(&amended.verdict, setting)];
    let successor = begun.iter().fold(None, |state, event| evolve(by, state, event, setting.now));
    // There is nothing to say yes to where nothing is executed.
    let last = if rehearses(&amended.action, &amended.verdict, setting.run) {
        Some(ActionEvent::Rehearsed)
    } else {
        successor.and_then(|successor| yes_of_its_author(&successor, reviewer, setting))
    };
    let successor = begun.into_iter().chain(last).map(|event| (by, event));
    Ok(std::iter::once((state.id, superseded)).chain(successor).collect())
}

/// What replaces an action is a change of it: of the same agent, in the same run and scope, judged by the policy in force,
/// and not refused. A refused one would close what waits and put nothing in its place.
fn check_replacement(state: &ActionState, amended: &Amended, setting: &Setting<'_>) -> Result<(), Refusal> {
    let (spec, verdict) = (amended.action.spec(), &amended.verdict);
    if spec.agent != state.proposer || spec.run != state.run || spec.scope != setting.run.scope.version() {
        return Err(Refusal::invalid("the amended action was sealed for another agent, run or scope"));
    }
    if verdict.action() != amended.action.digest() || verdict.policy() != setting.policy {
        return Err(Refusal::invalid("the verdict is for another action or policy"));
    }
    if amended.action.digest() == state.digest {
        return Err(Refusal::invalid("nothing is changed; approve it as it is"));
    }
    match verdict.ruling() {
        Ruling::Allow | Ruling::Ask { .. } => Ok(()),
        Ruling::Deny => Err(Refusal::denied(verdict)),
    }
}

fn proposed(state: &ActionState, amended: &Amended, amender: &Identity, setting: &Setting<'_>) -> ActionEvent {
    let spec = amended.action.spec();
    ActionEvent::Proposed {
        project: setting.run.project,
        run: setting.run.id,
        digest: amended.action.digest(),
        tool: spec.tool.clone(),
        kind: spec.kind,
        pages: spec.limits.pages,
        reaches_others: spec.reaches_others(),
        proposer: state.proposer,
        proposer_lineage: state.proposer_lineage.clone(),
        // The agent's words were about what it proposed, not about this.
        advice: None,
        amendment: Some(Amendment { of: state.id, amenders: amenders(state, amended, amender) }),
        rollbacks: setting.run.rollbacks,
        deed: Some(deed(spec, Ground::of(setting.run))),
    }
}

/// All who wrote a part of it, each named once; who changes it again is the last one.
fn amenders(state: &ActionState, amended: &Amended, amender: &Identity) -> Vec<Amender> {
    let earlier = state.amendment.iter().flat_map(|amendment| &amendment.amenders);
    let (id, lineage) = (amender.id, amender.lineage.clone());
    let no_riskier_by = is_no_riskier(state, amended).then(|| amended.verdict.policy());
    let last = Amender { id, lineage, no_riskier_by };
    earlier.filter(|earlier| earlier.id != id).cloned().chain([last]).collect()
}

fn is_no_riskier(state: &ActionState, amended: &Amended) -> bool {
    let (was, is) = (&state.verdict, &amended.verdict);
    amended.action.spec().tool == state.tool && is.tier() <= was.tier() && is.risk() <= was.risk()
}

/// The amender's own yes, where it counts and one is needed.
fn yes_of_its_author(successor: &ActionState, amender: &Identity, setting: &Setting<'_>) -> Option<ActionEvent> {
    let single_operator = independence(successor, amender, setting.run.separation).ok()?;
    first_approval(successor, amender, single_operator, successor.deadline, setting)
}
