//! What a sitting asks of the control plane: lists, cards and decisions, each bound to the digest that was on the screen.

use placet_domain::action::Resolution;
use placet_domain::id::{ActionId, ProjectId, RunId};
use placet_domain::text::marked;
use placet_wire::api::{
    ActionView, CardView, CheckpointView, Decision as Yes, GrantRequest, InboxQuery, InboxView, Modification,
    OrderOffer, OrganisationView, Reason, Rejection, ResolutionRequest, RollbackRequest, RunView, StandsFor, WishList,
};
use placet_wire::endpoint::{
    AcceptResults, ApproveAction, ApproveCheckpoint, ApprovePlan, CancelRun, GiveOrder, GrantWish, ListWishes,
    ModifyCheckpoint, PauseRun, RejectAction, RejectCheckpoint, RejectPlan, RejectResults, RejectWish, ResolveAction,
    RollBackRun, ShowCard, ShowCheckpoint, ShowInbox, ShowOrganisation, ShowRun,
};
use placet_wire::{Client, ClientError};

use super::card::{self, Card};
use super::decision::{Attend, Decision, Refused, Verb};
use super::row::Subject;
use crate::command::approve::before;
use crate::command::attention;
use crate::command::order;
use crate::command::run::rollback_text;
use crate::context::short;
use crate::error::{CliError, Code};

/// So many at once of what somebody sits here for.
const MINE_AT_ONCE: u32 = 200;
/// What waits for others, and what was set aside, is there to be known of: a few of each, and how many there are.
const FEW: u32 = 10;

/// So many pages of what waits for whoever sits here, and a switch that everything waits for too. A few of what waits for others come last.
pub(super) async fn inbox(
    client: &Client,
    project: Option<ProjectId>,
    pages: usize,
) -> Result<(InboxView, Option<String>), ClientError> {
    let part = async |whose: &str, limit: u32, after: Option<String>| -> Result<InboxView, ClientError> {
        let query =
            InboxQuery { project, limit: Some(limit), whose: Some(whose.to_owned()), after, ..InboxQuery::default() };
        client.get(ShowInbox { query }).await
    };
    let mut inbox = part("mine", MINE_AT_ONCE, None).await?;
    for _ in 1..pages {
        let Some(spot) = inbox.next.take() else { break };
        let more = part("mine", MINE_AT_ONCE, Some(spot)).await?;
        inbox.actions.extend(more.actions);
        inbox.next = more.next;
    }
    if inbox.next.is_none() {
        for whose in ["others", "aside"] {
            inbox.actions.extend(part(whose, FEW, None).await?.actions);
        }
    }
    // Who may not know of switches hears nothing of them.
    let organisation: Option<OrganisationView> = client.get(ShowOrganisation {}).await.ok();
    Ok((inbox, organisation.as_ref().and_then(switch)))
}

fn switch(view: &OrganisationView) -> Option<String> {
    match (view.halted, &view.safe_mode) {
        (true, _) => Some(format!("everything is stopped: {}", marked(view.because.as_deref().unwrap_or_default()))),
        (false, Some(safe)) => Some(format!("safe mode is on: {}", marked(&safe.because))),
        (false, None) => None,
    }
}

pub(super) async fn look(client: &Client, subject: Subject) -> Result<Card, CliError> {
    match subject {
        Subject::Action(id) => {
            let view: CardView = client.get(ShowCard { action: id }).await?;
            let before = before(client, &view.detail).await?;
            Ok(card::of_action(&view, before.as_ref()))
        }
        Subject::Run(id, why) => {
            let run = client.get(ShowRun { run: id }).await?;
            of_run(client, &run, why).await
        }
    }
}

async fn of_run(client: &Client, run: &RunView, why: StandsFor) -> Result<Card, CliError> {
    Ok(match why {
        StandsFor::Plan | StandsFor::Results => card::of_run(run, why),
        StandsFor::Checkpoint => {
            let checkpoint: Option<CheckpointView> = match run.checkpoint {
                Some(_) => client.get(ShowCheckpoint { run: run.id }).await.ok(),
                None => None,
            };
            card::of_checkpoint(run, checkpoint.as_ref())
        }
        StandsFor::Wish => {
            let wishes: WishList = client.get(ListWishes { run: run.id }).await?;
            card::of_wishes(run, &wishes)
        }
    })
}

/// What going back to a snapshot would change, as the host of the run sees it.
pub(super) async fn foreseen(client: &Client, subject: Subject, to: u32) -> Result<String, CliError> {
    match subject {
        Subject::Run(run, _) => rollback_text(client, run, to).await,
        Subject::Action(_) => Err(CliError::usage("only runs are rolled back")),
    }
}

/// What an order on it could be.
pub(super) async fn offered(client: &Client, subject: Subject) -> Result<OrderOffer, CliError> {
    match subject {
        Subject::Action(id) => Ok(order::offer(client, id).await?),
        Subject::Run(..) => Err(CliError::usage("orders are given on actions")),
    }
}

/// Says who should look at it, or when; tells what came of it.
pub(super) async fn attend(client: &Client, subject: Subject, attend: &Attend) -> Result<String, CliError> {
    let Subject::Action(id) = subject else { return Err(CliError::usage("only actions are set aside and assigned")) };
    match attend {
        Attend::Assign { to, note } => attention::assign(client, id, to.clone(), note.clone()).await,
        Attend::Defer { lasts_ms } => attention::defer(client, id, *lasts_ms).await,
    }
}

/// To go back is bound to a snapshot and to no digest: that the run still stands where it was looked at is seen to here.
async fn still_stands(client: &Client, decision: &Decision) -> Result<(), Refused> {
    if decision.verb != Verb::RollBack {
        return Ok(());
    }
    // Only runs are rolled back.
    let Subject::Run(run, _) = decision.subject else { return Ok(()) };
    let now = client.get(ShowCheckpoint { run }).await.map_err(|error| refused(&error))?;
    if now.review.to_string() == decision.seen {
        return Ok(());
    }
    Err(Refused { why: "not rolled back: the run stands elsewhere now".to_owned(), is_stale: true })
}

/// Sends a decision; tells what came of it.
pub(super) async fn send(client: &Client, decision: &Decision) -> Result<String, Refused> {
    still_stands(client, decision).await?;
    let told = one(client, decision).await.map_err(|error| refused(&error))?;
    let mut not = Vec::new();
    for twin in &decision.twins {
        let sent = client.post_if(ApproveAction { action: twin.id }, twin.review, &Yes::default()).await;
        if let Err(error) = sent {
            not.push(format!("{}: {}", short(twin.id), CliError::from(error).message));
        }
    }
    let (all, id) = (decision.twins.len(), short(decision.subject.id()));
    Ok(match (all, not.len()) {
        (0, _) => format!("{} {id}{told}", decision.verb.done()),
        (_, 0) => format!("{} {id} and {all} identical", decision.verb.done()),
        (_, failed) => format!("{} {id} and {} identical; not: {}", decision.verb.done(), all - failed, not.join("; ")),
    })
}

async fn one(client: &Client, decision: &Decision) -> Result<String, ClientError> {
    match decision.subject {
        Subject::Action(id) => {
            if let Some(request) = &decision.order {
                let order = client.post_if(GiveOrder { action: id }, &decision.seen, request).await?;
                return Ok(format!("; order {} stands until {}", order.number, order.until));
            }
            let view = match decision.verb {
                Verb::Approve => client.post_if(ApproveAction { action: id }, &decision.seen, &Yes::default()).await?,
                Verb::Retry => resolve(client, id, decision, Resolution::Retry).await?,
                Verb::GiveUp => resolve(client, id, decision, Resolution::Abandon).await?,
                Verb::Reject | Verb::Modify | Verb::Pause | Verb::Cancel | Verb::RollBack => {
                    let reason = decision.words.clone();
                    client.post_if(RejectAction { action: id }, &decision.seen, &Rejection { reason }).await?
                }
            };
            Ok(if view.approvals_missing > 0 && decision.verb == Verb::Approve {
                format!("; {} more needed", view.approvals_missing)
            } else {
                String::new()
            })
        }
        Subject::Run(id, why) => of_a_run(client, id, why, decision).await.map(|()| String::new()),
    }
}

/// A word on the attempt that was on the screen.
async fn resolve(
    client: &Client,
    action: ActionId,
    decision: &Decision,
    resolution: Resolution,
) -> Result<ActionView, ClientError> {
    let request = ResolutionRequest { resolution, reason: decision.words.clone(), attempt: decision.number };
    client.post(ResolveAction { action }, &request).await
}

/// Nothing of a run is run again or given up by itself: where its card asks for no such word, that is a no.
async fn of_a_run(client: &Client, run: RunId, why: StandsFor, decision: &Decision) -> Result<(), ClientError> {
    let (seen, words, number) = (&decision.seen, decision.words.clone(), decision.number.unwrap_or_default());
    let rejection = Rejection { reason: words.clone() };
    match (why, decision.verb) {
        (_, Verb::Pause) => client.post(PauseRun { run }, &Reason { reason: words }).await.map(drop),
        (_, Verb::Cancel) => client.post(CancelRun { run }, &Reason { reason: words }).await.map(drop),
        (_, Verb::RollBack) => {
            client.post(RollBackRun { run }, &RollbackRequest { to: number, reason: words }).await.map(drop)
        }
        (StandsFor::Plan, Verb::Approve) => client.post_if(ApprovePlan { run }, seen, &Yes::default()).await.map(drop),
        (StandsFor::Plan, Verb::Reject | Verb::Modify | Verb::Retry | Verb::GiveUp) => {
            client.post(RejectPlan { run }, &rejection).await.map(drop)
        }
        (StandsFor::Results, Verb::Approve) => {
            client.post_if(AcceptResults { run }, seen, &Yes::default()).await.map(drop)
        }
        (StandsFor::Results, Verb::Reject | Verb::Modify | Verb::Retry | Verb::GiveUp) => {
            client.post_if(RejectResults { run }, seen, &rejection).await.map(drop)
        }
        (StandsFor::Checkpoint, Verb::Approve) => {
            client.post_if(ApproveCheckpoint { run, number }, seen, &Yes::default()).await.map(drop)
        }
        (StandsFor::Checkpoint, Verb::Reject | Verb::Retry | Verb::GiveUp) => {
            client.post_if(RejectCheckpoint { run, number }, seen, &rejection).await.map(drop)
        }
        (StandsFor::Checkpoint, Verb::Modify) => {
            let changed = Modification { note: words, plan: None };
            client.post_if(ModifyCheckpoint { run, number }, seen, &changed).await.map(drop)
        }
        (StandsFor::Wish, Verb::Approve) => {
            client.post_if(GrantWish { run, number }, seen, &GrantRequest::default()).await.map(drop)
        }
        (StandsFor::Wish, Verb::Reject | Verb::Modify | Verb::Retry | Verb::GiveUp) => {
            client.post(RejectWish { run, number }, &rejection).await.map(drop)
        }
    }
}

fn refused(error: &ClientError) -> Refused {
    let code = error.problem().map_or(Code::Unreachable, |problem| match problem.status {
        404 | 409 | 410 | 412 => Code::Conflict,
        _ => Code::Refused,
    });
    let why = match (error, code) {
        (ClientError::Unreachable { .. }, _) => {
            "no answer came: whether it arrived is seen when the connection is back".to_owned()
        }
        (_, Code::Conflict) => format!("not decided: {}", marked(&error.to_string())),
        (_, _) => format!("refused: {}", marked(&error.to_string())),
    };
    Refused { why, is_stale: matches!(code, Code::Conflict | Code::Unreachable) }
}
