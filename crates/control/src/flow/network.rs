//! NETWORK: what actions under way were refused becomes a question to a person, and what a person grants reaches the worker at
//! once.
//!
//! A grant is judged before anybody is asked and again when it is given: as the action it is for, with this opening too. So
//! tool, cage, entry and policy say No to a grant exactly where they would say No to a proposal. The scope alone is what a
//! person may go beyond here, for a while; places that are not public are never granted unless the scope has them.

use std::time::Duration;

use placet_dial::address::classify_address;
use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::canonical;
use placet_domain::catalogue::NetworkUse;
use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, RunId};
use placet_domain::permit::{Granted, Slip};
use placet_domain::policy::{Frame, Tier};
use placet_domain::proposal::{Action, Opening, Proposal};
use placet_domain::refusal::Refusal;
use placet_domain::run::{NetworkCommand, Run, RunCommand, Wish};
use placet_domain::scope::{Place, Scope, Target, TargetRule};
use placet_domain::time::Timestamp;
use placet_wire::api::NetworkQuery;

use super::propose::seal;
use super::undertake::change_run;
use super::{Caller, No, find_action, find_ground, find_run};
use crate::app::App;

/// How long a worker may wait for news in one request.
const LONGEST_WAIT: Duration = Duration::from_secs(30);
/// As many as one request may bring; the gateway tells of a hundred in all.
const MOST_AT_ONCE: usize = 100;
/// What a person usually means by "for now".
const USUAL_GRANT_MS: u64 = 3_600_000;

/// Takes the wishes of an action under way, and tells what is open for it beside what was sealed, as soon as that differs from
/// what the worker has seen.
pub(crate) async fn network(
    app: &App,
    caller: &Caller,
    id: ActionId,
    query: NetworkQuery,
) -> Result<(String, Digest), No> {
    let state = held(app, caller, id, query.attempt).await?;
    for opening in query.wishes.iter().take(MOST_AT_ONCE) {
        wish(app, caller, &state, opening).await?;
    }
    let mut changes = app.store().subscribe();
    let until = tokio::time::Instant::now() + Duration::from_millis(query.wait_ms).min(LONGEST_WAIT);
    loop {
        changes.mark_unchanged();
        held(app, caller, id, query.attempt).await?;
        let (run, now) = (find_run(app, caller, state.run).await?, app.store().now());
        let open = open_to(app, caller, &state, run.granted(now)).await?;
        let seen = digest_of(&open);
        let told = || (slip(app, &state, &open, now), seen);
        if query.seen != Some(seen) {
            return Ok(told());
        }
        let changed = tokio::select! {
            changed = changes.changed() => changed.is_ok(),
            () = tokio::time::sleep_until(until) => false,
            () = app.closed() => false,
        };
        if !changed {
            return Ok(told());
        }
    }
}

/// The action, if this worker is at this attempt just now.
pub(super) async fn held(app: &App, caller: &Caller, id: ActionId, attempt: u32) -> Result<ActionState, No> {
    let state = find_action(app, caller, id).await?;
    let holds = state.lease().is_some_and(|lease| lease.worker == caller.identity.id);
    if holds && state.attempt == attempt && state.status == ActionStatus::Executing {
        return Ok(state);
    }
    Err(Refusal::LostLease { given: attempt, current: state.attempt }.into())
}

/// What was granted at this action's own wish, and what was at that of others as far as this one could have been granted it too.
async fn open_to<'a>(
    app: &App,
    caller: &Caller,
    state: &ActionState,
    granted: impl Iterator<Item = &'a Wish>,
) -> Result<Vec<&'a Wish>, No> {
    let mut open = Vec::new();
    for wish in granted {
        if wish.action == state.id || is_grantable(app, caller, state, &wish.opening).await? {
            open.push(wish);
        }
    }
    Ok(open)
}

async fn is_grantable(app: &App, caller: &Caller, state: &ActionState, opening: &Opening) -> Result<bool, No> {
    match check(app, caller, state, opening).await {
        Ok(()) => Ok(true),
        Err(No::Fault(fault)) => Err(No::Fault(fault)),
        Err(_) => Ok(false),
    }
}

fn digest_of(open: &[&Wish]) -> Digest {
    let open: Vec<_> = open.iter().map(|wish| (wish.number, &wish.opening)).collect();
    Digest::of(&canonical::to_bytes(&open))
}

fn slip(app: &App, state: &ActionState, open: &[&Wish], now: Timestamp) -> String {
    let grants = open.iter().filter_map(|wish| {
        let until = wish.until()?;
        let left_ms = u64::try_from(until.unix_ms() - now.unix_ms()).ok()?;
        Some(Granted { opening: wish.opening.clone(), left_ms })
    });
    let (action, attempt) = (state.id, state.attempt);
    app.signer().sign_slip(&Slip { action, attempt, issued_at: now, grants: grants.collect() })
}

/// Asks people, if they could say yes. What nobody could grant, what was asked already and what is too much is not asked.
async fn wish(app: &App, caller: &Caller, state: &ActionState, opening: &Opening) -> Result<(), No> {
    if !is_grantable(app, caller, state, opening).await? {
        return Ok(());
    }
    let command = RunCommand::Network(NetworkCommand::Wish { action: state.id, opening: opening.clone() });
    match app.submit(caller.actor(), Command::Run { id: state.run, command }, None).await {
        Ok(_) | Err(No::Refused(_)) => Ok(()),
        Err(fault) => Err(fault),
    }
}

/// Opens it for the run. Only somebody who is independent of the run can, and on what they were shown.
pub async fn grant(
    app: &App,
    caller: &Caller,
    run: RunId,
    number: u32,
    seen: Digest,
    lasts_ms: Option<u64>,
) -> Result<Run, No> {
    let known = find_run(app, caller, run).await?;
    let wish = known.wish(number).ok_or(Refusal::Unknown { what: "wish" })?;
    let most_ms = app.settings().terms.longest_grant_ms;
    let lasts_ms = lasts_ms.unwrap_or_else(|| USUAL_GRANT_MS.min(most_ms));
    if lasts_ms > most_ms {
        return Err(
            Refusal::invalid(format!("here a host is opened for at most {most_ms} ms (`longest_grant_ms`)")).into()
        );
    }
    let state = find_action(app, caller, wish.action).await?;
    check(app, caller, &state, &wish.opening).await?;
    change_run(app, caller, run, RunCommand::Network(NetworkCommand::Grant { number, seen, lasts_ms })).await
}

/// Whether one person may open this for the action it is wanted by.
async fn check(app: &App, caller: &Caller, state: &ActionState, opening: &Opening) -> Result<(), No> {
    if app.settings().terms.longest_grant_ms == 0 {
        return Err(
            Refusal::invalid("nothing is opened here while a run is under way (`longest_grant_ms` is 0)").into()
        );
    }
    let run = find_ground(app, caller, state.run).await?;
    if is_special(opening) && !NetworkUse::Allow(run.scope.rules().targets.clone()).reaches(opening.to()) {
        let why = format!(
            "`{opening}` is not a public place, and the scope of this run does not list it; make a run whose scope does"
        );
        return Err(Refusal::invalid(why).into());
    }
    let sealed = app.store().sealed(state.id, state.digest).await.map_err(No::Fault)?;
    let sealed = sealed.ok_or(Refusal::Unknown { what: "action" })?;
    let mut proposal = Proposal::behind(Action::open(&sealed)?.spec(), app.tools())?;
    proposal.network.push(opening.clone());
    let scope = widened(&run.scope, opening);
    let action = seal(app, &run, &proposal, &scope, state.proposer).await?;
    let verdict = app.policy().judge(&action, &Frame { scope: &scope, ..run.frame() });
    match verdict.tier() {
        Tier::A | Tier::B => Ok(()),
        Tier::C => Err(Refusal::invalid(
            "the policy asks two people about this; propose it as an action of a run whose scope has it",
        )
        .into()),
        Tier::D => Err(Refusal::denied(&verdict).into()),
    }
}

/// As if the scope had it too; only to ask everybody else.
fn widened(scope: &Scope, opening: &Opening) -> Scope {
    let mut rules = scope.rules().clone();
    rules.targets.push(opening.to().clone());
    Scope::lock(rules)
}

/// Whether it names an address that is not a public one. What a name leads to is checked when it is known.
fn is_special(opening: &Opening) -> bool {
    match opening.to() {
        TargetRule::Within(Target::Url(url)) => match url.authority().place() {
            Place::At(address) => classify_address(*address).is_some(),
            Place::Named(_) => false,
        },
        TargetRule::Within(Target::Network(_)) => true,
        TargetRule::Within(Target::Host(_)) | TargetRule::Below(_) => false,
    }
}
