//! HOST: what is wanted of a worker that keeps a run, and the credential of the agent it starts.
//!
//! A hosted run has an agent of its own, made with it and revoked with it: its token opens this run and nothing else.

use std::sync::Arc;
use std::time::Duration;

use placet_domain::canonical;
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::{Actor, Identity, IdentityCommand};
use placet_domain::refusal::Refusal;
use placet_domain::run::{HostingCommand, Launch, Run, RunCommand, Wanted};
use placet_wire::Token;
use placet_wire::api::{LaunchRequest, OutputReport, PreviewReport};

use super::undertake::change_run;
use super::{Caller, No, find_run};
use crate::app::App;
use crate::names::{fresh_token, token_digest};

/// How long a host may wait for news in one request.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// What a host should know of: the runs, each with what is wanted of it, and a digest by which it says next time what it knows.
pub(crate) async fn hostings(
    app: &App,
    caller: &Caller,
    wait: Duration,
    seen: Option<Digest>,
) -> Result<(Vec<(Run, Wanted)>, Digest), No> {
    let (mut changes, mut questions) = (app.store().subscribe(), app.previews().subscribe());
    let until = tokio::time::Instant::now() + wait.min(LONGEST_WAIT);
    loop {
        changes.mark_unchanged();
        questions.mark_unchanged();
        app.still_knows(&caller.identity).await?;
        let (host, reach) = (caller.identity.id, caller.identity.reach.clone());
        let runs = app.store().runs_to_host(host, reach).await.map_err(No::Fault)?;
        let halted = app.store().organisation().await.map_err(No::Fault)?.halt.is_some();
        let wanted: Vec<_> = runs.into_iter().filter_map(|run| wanted_now(run, halted)).collect();
        let news = digest_of(app, &wanted);
        if seen != Some(news) {
            return Ok((wanted, news));
        }
        let changed = tokio::select! {
            changed = changes.changed() => changed.is_ok(),
            asked = questions.changed() => asked.is_ok(),
            () = tokio::time::sleep_until(until) => false,
            () = app.closed() => false,
        };
        if !changed {
            return Ok((wanted, news));
        }
    }
}

/// While everything is stopped no process of a run is wanted, wherever the run stands, and none is taken in. What is over is cleaned up.
fn wanted_now(run: Run, halted: bool) -> Option<(Run, Wanted)> {
    let wanted = run.wanted();
    let is_over = matches!(wanted, Wanted::Nothing | Wanted::Destroyed);
    match (halted && !is_over, run.host.worker) {
        (false, _) => Some((run, wanted)),
        (true, Some(_)) => Some((run, Wanted::Stopped)),
        (true, None) => None,
    }
}

/// Of what is wanted, not of everything that happens in a run: a host has nothing to do with each action.
fn digest_of(app: &App, runs: &[(Run, Wanted)]) -> Digest {
    let asked = |run: &Run| app.previews().question_of(run.id);
    let wanted: Vec<_> =
        runs.iter().map(|(run, wanted)| (run.id, run.host.worker, wanted, run.rollbacks, asked(run))).collect();
    Digest::of(&canonical::to_bytes(&wanted))
}

/// What going back to a snapshot would change, as its host sees it. `None`: it has not answered yet.
pub async fn preview(
    app: &App,
    caller: &Caller,
    run: RunId,
    number: u32,
    wait: Duration,
) -> Result<Option<Arc<PreviewReport>>, No> {
    find_run(app, caller, run).await?.could_roll_back(number)?;
    let mut answer = app.previews().ask(run, number);
    let answered = answer.wait_for(Option::is_some);
    tokio::select! {
        answered = tokio::time::timeout(wait.min(LONGEST_WAIT), answered) => {
            Ok(answered.ok().and_then(Result::ok).and_then(|answer| answer.clone()))
        }
        () = app.closed() => Ok(None),
    }
}

/// A host answers. Only its own run is its to speak about.
pub(crate) async fn previewed(app: &App, caller: &Caller, run: RunId, report: PreviewReport) -> Result<Run, No> {
    let run = find_run(app, caller, run).await?;
    if run.host.worker != Some(caller.identity.id) {
        return Err(Refusal::OtherHost.into());
    }
    app.previews().answer(run.id, report);
    Ok(run)
}

/// What is asked for as an agent, in the cage that it amounts to here and now.
pub(super) async fn planned(app: &App, project: ProjectId, asked: LaunchRequest) -> Result<Launch, No> {
    let LaunchRequest { program, arguments, profile, files, inputs } = asked;
    let profile_digest = app.tools().cages().get(&profile).ok_or_else(|| {
        let known = app.tools().cages().listed();
        Refusal::invalid(format!("there is no profile `{profile}` for the agent's cage, only {known}"))
    })?;
    let inputs_given = inputs.iter().filter_map(|input| Some((input.path.as_str(), input.digest?)));
    for (path, digest) in files.iter().map(|file| (file.path.as_str(), file.digest)).chain(inputs_given) {
        let kept = app.store().kept(project, digest).await.map_err(No::Fault)?;
        kept.ok_or_else(|| No::MissingEvidence(path.to_owned()))?;
    }
    Ok(Launch { program, arguments, profile, profile_digest, files, inputs })
}

/// A fresh token for the agent that this host is about to start; the one before stops working.
pub(crate) async fn equip(app: &App, caller: &Caller, id: RunId) -> Result<(Identity, Token), No> {
    let agent = find_run(app, caller, id).await?.agent;
    let known = app.store().identity(agent).await.map_err(No::Fault)?;
    // Before anything is recorded.
    if known.is_none_or(|agent| agent.revoked) {
        return Err(Refusal::invalid("the agent of this run was revoked by an administrator; cancel the run").into());
    }
    let run = change_run(app, caller, id, RunCommand::Hosting(HostingCommand::Equip)).await?;
    let token = fresh_token();
    let replace = IdentityCommand::ReplaceToken { token: token_digest(token.reveal()), proof: None };
    Ok((by_runtime(app, run.agent, replace).await?, token))
}

/// Its outputs must be here before a host says that it made them.
pub(crate) async fn collect(app: &App, caller: &Caller, id: RunId, report: OutputReport) -> Result<Run, No> {
    let OutputReport { outputs, removed } = report;
    let project = find_run(app, caller, id).await?.project;
    for output in &outputs {
        let kept = app.store().kept(project, output.digest).await.map_err(No::Fault)?;
        if kept.map(|kept| kept.size_bytes) != Some(output.size_bytes) {
            return Err(No::MissingEvidence(output.path.clone()));
        }
    }
    change_run(app, caller, id, RunCommand::Hosting(HostingCommand::Collect { outputs, removed })).await
}

/// Nothing is left of it. A host that did not hear the answer says so again.
pub(crate) async fn destroyed(app: &App, caller: &Caller, id: RunId) -> Result<Run, No> {
    let run = find_run(app, caller, id).await?;
    if run.host.destroyed && run.host.worker == Some(caller.identity.id) {
        return Ok(run);
    }
    // First, because nobody looks for it afterwards.
    if run.status.is_final() {
        retire(app, run.agent).await?;
    }
    change_run(app, caller, id, RunCommand::Hosting(HostingCommand::Destroy)).await
}

/// The agents of hosted runs that are over have no business here any more, whoever ended those and whether or not a host hears of it.
pub(crate) async fn retire_idle(app: &App) -> Result<(), No> {
    for agent in app.store().idle_agents().await.map_err(No::Fault)? {
        retire(app, agent).await?;
    }
    Ok(())
}

pub(super) async fn retire(app: &App, agent: IdentityId) -> Result<(), No> {
    let known = app.store().identity(agent).await.map_err(No::Fault)?;
    match known {
        Some(identity) if !identity.revoked => by_runtime(app, agent, IdentityCommand::Revoke).await.map(drop),
        Some(_) | None => Ok(()),
    }
}

async fn by_runtime(app: &App, id: IdentityId, command: IdentityCommand) -> Result<Identity, No> {
    let receipt = app.submit(Actor::Runtime, Command::Identity { id, command }, None).await?;
    receipt.loaded.identity.ok_or_else(|| Refusal::Unknown { what: "identity" }.into())
}
