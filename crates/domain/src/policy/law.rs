//! Laws that no policy file can repeal: an action stays within the scope and the tool it was sealed under, a run's mode is kept, and an
//! agent of the catalogue stays within the bounds of its entry.

use std::collections::BTreeMap;

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
    let refused =
        observes.then(|| law("mode.observe", format!("this run only observes, and `{kind}` may change something")));
    let supervised = (posture.mode == Mode::Supervised)
        .then(|| asks("mode.supervised", "every action of this run asks a person".to_owned()));
    let stops = posture.stops_before(kind).then(|| {
        asks("mode.always_asks", format!("before `{kind}` a person is always asked, whatever the policy says"))
    });
    let visits = !spec.network.is_empty() && posture.gates.before.contains(&ActionKind::NavigateNewDomain);
    let visits = visits.then(|| {
        asks(
            "mode.new_domain",
            "this run asks before it turns to others, and the cage of this action has a network".to_owned(),
        )
    });
    refused.into_iter().chain(supervised).chain(stops).chain(visits).collect()
}

/// Everything that an agent with these bounds does not do.
pub(super) fn beyond(action: &Action, bounds: &Bounds) -> Vec<Reason> {
    let kind = action.spec().kind;
    let capability = missing_capability(kind, bounds);
    let cage = CageCapability::needed_for(kind).filter(|needed| !bounds.cage.contains(needed));
    let cage =
        cage.map(|needed| law("entry.cage", format!("the cage of this agent's entry is not good for `{needed}`")));
    let closed = bounds.switches.closing(kind);
    let closed =
        closed.map(|switch| law("entry.switch", format!("`{switch}` is on for this agent, and this is `{kind}`")));
    let cages = wider_cage(action, bounds);
    let all = [unnamed_tool(action, bounds), capability, cage, cages, closed, unreached(action, bounds)];
    all.into_iter().flatten().chain(unreached_openings(action, bounds)).collect()
}

fn unnamed_tool(action: &Action, bounds: &Bounds) -> Option<Reason> {
    let tool = &action.spec().tool;
    (!bounds.tools.contains(tool)).then(|| law("entry.tool", format!("the tool `{tool}` is not in this agent's entry")))
}

/// By name and by what it amounts to: a profile that was changed since is another cage.
fn wider_cage(action: &Action, bounds: &Bounds) -> Option<Reason> {
    let (cages, spec) = (bounds.cages.as_ref()?, action.spec());
    let approved = cages.get(&spec.profile);
    if approved.is_some() && approved.copied() == spec.profile_digest {
        return None;
    }
    let (tool, profile) = (&spec.tool, &spec.profile);
    let because = match approved {
        Some(_) => {
            format!("the kind of cage `{profile}`, which `{tool}` runs in, was changed since the plan was approved")
        }
        None => {
            let listed = cages.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            format!("`{tool}` runs in a cage of kind `{profile}`; with the plan these were approved: {listed}")
        }
    };
    Some(law("entry.profile", because))
}

fn missing_capability(kind: ActionKind, bounds: &Bounds) -> Option<Reason> {
    let needed = Capability::one_needed_for(kind);
    let has = needed.is_empty() || needed.iter().any(|capability| bounds.capabilities.contains(capability));
    let listed = || needed.iter().map(|capability| capability.as_str()).collect::<Vec<_>>().join(" or ");
    (!has).then(|| {
        law("entry.capability", format!("`{kind}` takes {}, which this agent's entry does not have", listed()))
    })
}

/// Openings beside the target, which has a law of its own.
fn beside_target(action: &Action) -> impl Iterator<Item = &Opening> {
    let target = action.spec().target.clone().map(Opening::all_of);
    action.spec().network.iter().filter(move |opening| Some(*opening) != target.as_ref())
}

fn unreached_openings(action: &Action, bounds: &Bounds) -> Vec<Reason> {
    let beyond = beside_target(action).filter(|opening| !bounds.network.reaches(opening.to()));
    let because = |opening: &Opening| {
        format!("`{opening}` is beyond the network that this run was planned with: {}", bounds.network)
    };
    beyond.map(|opening| law("entry.network", because(opening))).collect()
}

fn uncovered_openings(action: &Action, scope: &Scope) -> Vec<Reason> {
    let permitted = NetworkUse::Allow(scope.rules().targets.clone());
    let uncovered = beside_target(action).filter(|opening| !permitted.reaches(opening.to()));
    uncovered.map(|opening| law("scope.network", format!("`{opening}` is not in the scope of this run"))).collect()
}

fn unreached(action: &Action, bounds: &Bounds) -> Option<Reason> {
    let (target, network) = (action.spec().target.as_ref()?, &bounds.network);
    (!network.permits(target)).then(|| {
        law(
            "entry.network",
            format!("the target `{target}` is beyond the network that this run was planned with: {network}"),
        )
    })
}

/// It adds nothing to the risk: that a person is asked says nothing about the action.
fn asks(rule: &str, because: String) -> Reason {
    Reason { rule: rule.to_owned(), demands: Tier::B, weight: Risk::NONE, because }
}

fn law(rule: &str, because: String) -> Reason {
    Reason { rule: rule.to_owned(), demands: Tier::D, weight: Risk::CERTAIN, because }
}

fn other_scope(action: &Action, scope: &Scope) -> Option<Reason> {
    let same = action.spec().scope == scope.version();
    (!same).then(|| {
        law("scope.version", "the action was sealed under another scope than the run's; propose it again".to_owned())
    })
}

fn foreign_tool(action: &Action, scope: &Scope) -> Option<Reason> {
    let tool = &action.spec().tool;
    (!scope.permits_tool(tool)).then(|| law("scope.tool", format!("the tool `{tool}` is not in the scope of this run")))
}

fn changed_tool(action: &Action, tools: &BTreeMap<ToolName, Digest>) -> Option<Reason> {
    let tool = &action.spec().tool;
    let same = tools.get(tool) == Some(&action.spec().tool_version);
    (!same).then(|| law("scope.tool_version", format!("the tool `{tool}` was changed since; propose it again")))
}

fn uncovered_target(action: &Action, scope: &Scope) -> Option<Reason> {
    let target = action.spec().target.as_ref()?;
    let covered = scope.covering(target).is_some();
    (!covered).then(|| law("scope.target", format!("the target `{target}` is not in the scope of this run")))
}

fn forbidden_path(path: &str, scope: &Scope) -> Option<Reason> {
    let because = match ScopePath::new(path.as_bytes()).as_ref().map(|path| scope.judge_path(path)) {
        Ok(PathRuling::Allowed { .. }) => return None,
        Ok(PathRuling::Denied { by }) => format!("the path `{path}` is denied by `{by}`"),
        Ok(PathRuling::Outside) => format!("the path `{path}` is outside of what the scope allows"),
        // Sealing refuses these, but an action can be read back from bytes that somebody else made.
        Err(bad) => bad.to_string(),
    };
    Some(law("scope.path", because))
}
