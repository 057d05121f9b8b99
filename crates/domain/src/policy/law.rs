//! Laws that no policy file can repeal: an action stays within the scope and the tool it was sealed under, a run's mode is kept, and an
//! agent of the catalogue stays within the bounds of its entry.

use std::collections::BTreeMap;

use super::rationale::Rationale;
use super::verdict::{Reason, Risk, Tier};
use crate::catalogue::{Bounds, CageCapability, Capability, NetworkUse};
use crate::digest::Digest;
use crate::proposal::{Action, ActionKind, Opening, ToolName};
use crate::run::{Effect, Mode, Posture, Watch, watch};
use crate::scope::{PathRuling, Scope, ScopePath};

/// Every law the action breaks, each as a reason that refuses it.
pub(super) fn broken(action: &Action, scope: &Scope, tools: &BTreeMap<ToolName, Digest>) -> Vec<Reason> {
    let version = other_scope(action, scope);
    let tool = foreign_tool(action, scope).into_iter().chain(changed_tool(action, tools));
    let target = uncovered_target(action, scope).into_iter().chain(uncovered_openings(action, scope));
    let paths = action.spec().outputs.iter().filter_map(|path| forbidden_path(path, scope));
    version.into_iter().chain(tool).chain(target).chain(paths).collect()
}

/// Whether the way in which a run is carried out asks a person about each such action, whatever was said before.
pub(crate) fn asks_each_time(action: &Action, posture: &Posture) -> bool {
    !demanded(action, posture).is_empty()
}

/// What the way in which a run is carried out demands for this action.
pub(super) fn demanded(action: &Action, posture: &Posture) -> Vec<Reason> {
    let kind = action.spec().kind;
    let spec = action.spec();
    let observes = posture.effect == Effect::Observe && (watch(kind) != Watch::Monitored || spec.reaches_others());
    let refused = observes.then(|| law("mode.observe", Rationale::RunObserves { kind }));
    let supervised = (posture.mode == Mode::Supervised).then(|| asks("mode.supervised", Rationale::RunSupervised));
    let stops = posture.stops_before(kind).then(|| asks("mode.always_asks", Rationale::AlwaysAsks { kind }));
    let visits = !spec.network.is_empty() && posture.gates.before.contains(&ActionKind::NavigateNewDomain);
    let visits = visits.then(|| asks("mode.new_domain", Rationale::AsksBeforeNetwork));
    refused.into_iter().chain(supervised).chain(stops).chain(visits).collect()
}

/// Everything that an agent with these bounds does not do.
pub(super) fn beyond(action: &Action, bounds: &Bounds) -> Vec<Reason> {
    let kind = action.spec().kind;
    let capability = missing_capability(kind, bounds);
    let cage = CageCapability::needed_for(kind).filter(|needed| !bounds.cage.contains(needed));
    let cage = cage.map(|needed| law("entry.cage", Rationale::CageUnsuitable { needed }));
    let closed = bounds.switches.closing(kind);
    let closed = closed.map(|switch| law("entry.switch", Rationale::SwitchOn { switch: switch.to_string(), kind }));
    let cages = wider_cage(action, bounds);
    let all = [unnamed_tool(action, bounds), capability, cage, cages, closed, unreached(action, bounds)];
    all.into_iter().flatten().chain(unreached_openings(action, bounds)).collect()
}

fn unnamed_tool(action: &Action, bounds: &Bounds) -> Option<Reason> {
    let tool = &action.spec().tool;
    (!bounds.tools.contains(tool)).then(|| law("entry.tool", Rationale::ToolNotInEntry { tool: tool.clone() }))
}

/// By name and by what it amounts to: a profile that was changed since is another cage.
fn wider_cage(action: &Action, bounds: &Bounds) -> Option<Reason> {
    let (cages, spec) = (bounds.cages.as_ref()?, action.spec());
    let approved = cages.get(&spec.profile);
    if approved.is_some() && approved.copied() == spec.profile_digest {
        return None;
    }
    let (tool, profile) = (spec.tool.clone(), spec.profile.clone());
    let because = match approved {
        Some(_) => Rationale::CageChanged { profile, tool },
        None => Rationale::CageNotPlanned { tool, profile, planned: cages.keys().cloned().collect() },
    };
    Some(law("entry.profile", because))
}

fn missing_capability(kind: ActionKind, bounds: &Bounds) -> Option<Reason> {
    let needed = Capability::one_needed_for(kind);
    let has = needed.is_empty() || needed.iter().any(|capability| bounds.capabilities.contains(capability));
    (!has).then(|| law("entry.capability", Rationale::CapabilityMissing { kind, any_of: needed.to_vec() }))
}

/// Openings beside the target, which has a law of its own.
fn beside_target(action: &Action) -> impl Iterator<Item = &Opening> {
    let target = action.spec().target.clone().map(Opening::all_of);
    action.spec().network.iter().filter(move |opening| Some(*opening) != target.as_ref())
}

fn unreached_openings(action: &Action, bounds: &Bounds) -> Vec<Reason> {
    let beyond = beside_target(action).filter(|opening| !bounds.network.reaches(opening.to()));
    let because = |opening: &Opening| Rationale::OpeningBeyondPlan {
        opening: opening.to_string(),
        network: bounds.network.to_string(),
    };
    beyond.map(|opening| law("entry.network", because(opening))).collect()
}

fn uncovered_openings(action: &Action, scope: &Scope) -> Vec<Reason> {
    let permitted = NetworkUse::Allow(scope.rules().targets.clone());
    let uncovered = beside_target(action).filter(|opening| !permitted.reaches(opening.to()));
    let because = |opening: &Opening| Rationale::OpeningNotInScope { opening: opening.to_string() };
    uncovered.map(|opening| law("scope.network", because(opening))).collect()
}

fn unreached(action: &Action, bounds: &Bounds) -> Option<Reason> {
    let (target, network) = (action.spec().target.as_ref()?, &bounds.network);
    (!network.permits(target)).then(|| {
        let (target, network) = (target.to_string(), network.to_string());
        law("entry.network", Rationale::TargetBeyondPlan { target, network })
    })
}

/// It adds nothing to the risk: that a person is asked says nothing about the action.
fn asks(rule: &str, because: Rationale) -> Reason {
    Reason { rule: rule.to_owned(), demands: Tier::B, weight: Risk::NONE, because }
}

fn law(rule: &str, because: Rationale) -> Reason {
    Reason { rule: rule.to_owned(), demands: Tier::D, weight: Risk::CERTAIN, because }
}

fn other_scope(action: &Action, scope: &Scope) -> Option<Reason> {
    let same = action.spec().scope == scope.version();
    (!same).then(|| law("scope.version", Rationale::ScopeChanged))
}

fn foreign_tool(action: &Action, scope: &Scope) -> Option<Reason> {
    let tool = &action.spec().tool;
    (!scope.permits_tool(tool)).then(|| law("scope.tool", Rationale::ToolNotInScope { tool: tool.clone() }))
}

fn changed_tool(action: &Action, tools: &BTreeMap<ToolName, Digest>) -> Option<Reason> {
    let tool = &action.spec().tool;
    let same = tools.get(tool) == Some(&action.spec().tool_version);
    (!same).then(|| law("scope.tool_version", Rationale::ToolChanged { tool: tool.clone() }))
}

fn uncovered_target(action: &Action, scope: &Scope) -> Option<Reason> {
    let target = action.spec().target.as_ref()?;
    let covered = scope.covering(target).is_some();
    (!covered).then(|| law("scope.target", Rationale::TargetNotInScope { target: target.to_string() }))
}

fn forbidden_path(path: &str, scope: &Scope) -> Option<Reason> {
    let because = match ScopePath::new(path.as_bytes()).as_ref().map(|path| scope.judge_path(path)) {
        Ok(PathRuling::Allowed { .. }) => return None,
        Ok(PathRuling::Denied { by }) => Rationale::PathDenied { path: path.to_owned(), by: by.to_string() },
        Ok(PathRuling::Outside) => Rationale::PathOutside { path: path.to_owned() },
        // Sealing refuses these, but an action can be read back from bytes that somebody else made.
        Err(bad) => Rationale::PathInvalid { error: bad.to_string() },
    };
    Some(law("scope.path", because))
}
