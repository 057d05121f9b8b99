//! From the domain's types to the wire's.

use jiff::Timestamp as Instant;
use placet_domain::action::{ActionState, Amendment};
use placet_domain::evidence::Item;
use placet_domain::id::ProjectId;
use placet_domain::identity::{Identity, Reach};
use placet_domain::organisation::Organisation;
use placet_domain::project::Project;
use placet_domain::run::{self, GateKind, Output, Run, Snapshot};
use placet_domain::scope::Scope;
use placet_domain::time::Timestamp;
use placet_domain::worktree::Worktree;
use placet_store::Listed;
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::FetchEvidence;

use crate::flow::{self, Look, Piece};

pub fn time(at: Timestamp) -> String {
    let instant = Instant::from_millisecond(at.unix_ms()).unwrap_or(Instant::MAX);
    format!("{instant:.3}")
}

/// Where the next page begins, if this one is full.
pub fn next<T>(page: &[Listed<T>], limit: u32) -> Option<u64> {
    let full = usize::try_from(limit).is_ok_and(|limit| page.len() >= limit);
    page.last().filter(|_| full).map(|last| last.created)
}

pub fn project(project: Project) -> api::ProjectView {
    let budget = project.budget.as_ref().map(api::BudgetView::from);
    let Project { id, name, separation, keeps_words, .. } = project;
    api::ProjectView { id, name, separation, budget, keeps_words }
}

pub fn scope(name: String, scope: Scope) -> api::ScopeView {
    api::ScopeView { name, version: scope.version(), rules: scope.into() }
}

pub fn identity(identity: &Identity) -> api::IdentityView {
    let projects = match &identity.reach {
        Reach::Everywhere => None,
        Reach::Only(projects) => Some(projects.clone()),
    };
    let (id, name, roles) = (identity.id, identity.name.clone(), identity.roles.clone());
    let away = identity.away.map(|away| api::AwayView { to: away.to, until: time(away.until) });
    api::IdentityView { id, name, roles, projects, revoked: identity.revoked, away }
}

pub fn run(run: Run) -> api::RunView {
    api::RunView {
        review: run.review(),
        id: run.id,
        project: run.project,
        goal: run.goal,
        plan: run.plan,
        status: run.status,
        meaning: run.status.meaning().to_owned(),
        because: run.because.as_ref().map(ToString::to_string),
        reason: run.because,
        said: run.said.as_ref().map(ToString::to_string),
        agent: run.agent,
        launch: run.hosting.launch().cloned(),
        scope: run.scope.version(),
        rules: Some(run.scope.rules().clone()),
        mode: run.posture.mode,
        effect: run.posture.effect,
        checkpoints: run.posture.gates,
        models: run.posture.models,
        parent: run.parent,
        products: run.products,
        steps_done: run.steps_done,
        checkpoint: run.gate.as_ref().map(|gate| gate.number),
        budget: run.budget.as_ref().map(api::BudgetView::from),
        snapshots: run.snapshots.kept.iter().map(snapshot).collect(),
        unsaved: run.snapshots.unsaved.as_ref().map(ToString::to_string),
        outputs: outputs(run.host.outputs.unwrap_or_default(), run.host.exported.as_deref().unwrap_or_default()),
        removed: run.host.removed,
        performing: run.rehearsal.performing.into_iter().collect(),
        performed: run.rehearsal.performed,
        destroyed: run.host.destroyed,
    }
}

/// A run among others: what planning led to is shown of one run alone.
pub fn listed_run(listed: Listed<Run>) -> api::RunView {
    api::RunView { products: None, rules: None, ..run(listed.state) }
}

pub fn pipeline(run: &Run) -> api::PipelineView {
    let steps = run::pipeline(run).map(|step| {
        let at = step.at.map(time);
        api::PipelineStep::new(step, at)
    });
    api::PipelineView { run: run.id, goal: run.goal.clone(), status: run.status, steps: steps.into() }
}

fn snapshot(snapshot: &Snapshot) -> api::SnapshotView {
    api::SnapshotView {
        number: snapshot.number,
        checkpoint: snapshot.gate,
        taken_at: time(snapshot.taken_at),
        workspace: snapshot.workspace,
        memory: snapshot.memory,
        files: snapshot.files,
        size_bytes: snapshot.size_bytes,
        steps_done: snapshot.steps_done,
        spent: snapshot.spent,
    }
}

fn outputs(outputs: Vec<Output>, exported: &[u32]) -> Vec<api::OutputView> {
    let view = |Output { id, path, digest, size_bytes, executable }| {
        let exported = exported.contains(&id);
        api::OutputView { id, path, digest, size_bytes, executable, exported }
    };
    outputs.into_iter().map(view).collect()
}

/// What a person sees at the checkpoint where a run stands; nothing where it stands at none.
pub fn checkpoint(look: Look) -> Option<api::CheckpointView> {
    let Look { run, now, done, next, interrupted, left } = look;
    let gate = run.gate.clone()?;
    let (outputs, more_outputs) = flow::newest_pieces(left.outputs);
    let (screenshots, more_screenshots) = flow::newest_pieces(left.screenshots);
    let saved = gate.snapshot.and_then(|number| run.snapshot(number));
    let of_steps = u32::try_from(run.plan.len()).unwrap_or(u32::MAX);
    let step = run.steps_done;
    let mut options = vec!["pause".to_owned(), "cancel".to_owned()];
    if !run.snapshots.kept.is_empty() {
        options.push("rollback".to_owned());
    }
    // Where the run waits for an action, that is what is decided on.
    if gate.action.is_none() {
        options.extend(["approve", "modify"].map(str::to_owned));
    }
    // What was spent cannot be done otherwise.
    if gate.action.is_none() && gate.kind != GateKind::Cost {
        options.push("reject".to_owned());
    }
    Some(api::CheckpointView {
        run: run.id,
        number: gate.number,
        kind: gate.kind,
        reached_at: time(gate.reached_at),
        step,
        of_steps,
        percent: step.saturating_mul(100).checked_div(of_steps).unwrap_or(0),
        summary: gate.reason.to_string(),
        reason: gate.reason,
        action: gate.action,
        resource: gate.resource,
        longer: longer(&[
            ("actions_done", done.more),
            ("actions_next", next.more),
            ("actions_interrupted", interrupted.more),
            ("outputs", more_outputs),
            ("screenshots", more_screenshots),
        ]),
        actions_done: done.actions.iter().map(action).collect(),
        actions_next: next.actions.iter().map(action).collect(),
        actions_interrupted: interrupted.actions.iter().map(action).collect(),
        steps_next: run.plan.iter().skip(usize::try_from(step).unwrap_or(usize::MAX)).cloned().collect(),
        spent: run.budget.as_ref().map(|budget| budget.spent).unwrap_or_default(),
        worked_ms: run.clock.worked_ms(now),
        outputs: outputs.into_iter().map(|left| piece(run.project, left)).collect(),
        screenshots: screenshots.into_iter().map(|left| piece(run.project, left)).collect(),
        snapshot: gate.snapshot,
        saved: saved.map(snapshot),
        passes_at: gate.passes_at.map(time),
        options,
        review: run.review(),
    })
}

fn longer(lists: &[(&str, bool)]) -> Vec<String> {
    lists.iter().filter(|(_, more)| *more).map(|(name, _)| (*name).to_owned()).collect()
}

fn piece(project: ProjectId, piece: Piece) -> api::PieceView {
    let Item { digest, size_bytes, .. } = piece.item;
    let link = FetchEvidence { project, digest }.path();
    api::PieceView { action: piece.action, path: piece.path, digest, size_bytes, link }
}

pub fn organisation(organisation: Organisation) -> api::OrganisationView {
    let budget = organisation.budget.as_ref().map(api::BudgetView::from);
    let halted_by = organisation.halt.as_ref().and_then(|halt| halt.by);
    let halted_by_local_user = organisation.halt.as_ref().and_then(|halt| halt.local_user);
    let because = organisation.halt.map(|halt| halt.reason);
    let halted = because.is_some();
    let safe_mode = organisation.safe_mode.map(|safe| api::SafeModeView { because: safe.reason, by: safe.by });
    let passkeys_demanded = organisation.passkeys.map(|demanded| demanded.reason);
    api::OrganisationView { halted, because, halted_by, halted_by_local_user, safe_mode, passkeys_demanded, budget }
}

pub fn listed_worktree(listed: Listed<Worktree>) -> api::WorktreeView {
    let changed_at = Some(time(listed.changed_at));
    api::WorktreeView { changed_at, ..listed.state.into() }
}

fn amendment(amendment: &Amendment) -> api::AmendmentView {
    api::AmendmentView {
        of: amendment.of,
        amenders: amendment.amenders.iter().map(|amender| amender.id).collect(),
        no_riskier: amendment.amenders.last().is_some_and(|amender| amender.no_riskier_by.is_some()),
    }
}

pub fn action(action: &ActionState) -> api::ActionView {
    let approval = |approval: &placet_domain::approval::Approval| api::ApprovalView {
        reviewer: approval.reviewer,
        expires_at: time(approval.expires_at),
        single_operator: approval.single_operator,
        order: approval.order,
        signed: approval.signing.is_some(),
    };
    api::ActionView {
        id: action.id,
        run: action.run,
        project: action.project,
        status: action.status,
        meaning: action.status.meaning().to_owned(),
        because: action.because.as_ref().map(ToString::to_string),
        reason: action.because.clone(),
        tool: action.tool.to_string(),
        title: None,
        agent: None,
        kind: action.kind.to_string(),
        digest: action.digest,
        review: action.review(),
        verdict: (&action.verdict).into(),
        approvals: action.approvals.iter().map(approval).collect(),
        approvals_missing: action.approvals_missing(),
        proposer: action.proposer,
        amendment: action.amendment.as_ref().map(amendment),
        superseded_by: action.superseded_by,
        deadline: time(action.deadline),
        attempt: action.attempt,
        evidence: action.evidence,
    }
}
