//! What a sitting asks of the control plane: lists, cards and decisions, each bound to the digest that was on the screen.

use placet_domain::action::Resolution;
use placet_domain::id::ProjectId;
use placet_domain::text::marked;
use placet_wire::api::{
    ActionView, CardView, CheckpointView, Decision as Yes, GrantRequest, InboxView, Modification, OrderOffer,
    OrderView, OrganisationView, Reason, Rejection, ResolutionRequest, RollbackRequest, RunView, StandsFor, WishList,
};
use placet_wire::{Client, ClientError};
use serde_json::Value;

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
    let only = project.map(|id| format!("&project={id}")).unwrap_or_default();
    let part = async |whose: &str, limit: u32, after: String| -> Result<InboxView, ClientError> {
        client.get(&format!("/api/v1/inbox?limit={limit}&whose={whose}{only}{after}")).await
    };
    let mut inbox = part("mine", MINE_AT_ONCE, String::new()).await?;
    for _ in 1..pages {
        let Some(spot) = inbox.next.take() else { break };
        let more = part("mine", MINE_AT_ONCE, format!("&after={spot}")).await?;
        inbox.actions.extend(more.actions);
        inbox.next = more.next;
    }
    if inbox.next.is_none() {
        for whose in ["others", "aside"] {
            inbox.actions.extend(part(whose, FEW, String::new()).await?.actions);
        }
    }
    // Who may not know of switches hears nothing of them.
    let organisation: Option<OrganisationView> = client.get("/api/v1/organisation").await.ok();
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
            let view: CardView = client.get(&format!("/api/v1/actions/{id}/card")).await?;
            let before = before(client, &view.detail).await?;
            Ok(card::of_action(&view, before.as_ref()))
        }
        Subject::Run(id, why) => {
            let path = format!("/api/v1/runs/{id}");
            let run: RunView = client.get(&path).await?;
            of_run(client, &path, &run, why).await
        }
    }
}

async fn of_run(client: &Client, path: &str, run: &RunView, why: StandsFor) -> Result<Card, CliError> {
    Ok(match why {
        StandsFor::Plan | StandsFor::Results => card::of_run(run, why),
        StandsFor::Checkpoint => {
            let checkpoint: Option<CheckpointView> = match run.checkpoint {
                Some(_) => client.get(&format!("{path}/checkpoint")).await.ok(),
                None => None,
            };
            card::of_checkpoint(run, checkpoint.as_ref())
        }
        StandsFor::Wish => {
            let wishes: WishList = client.get(&format!("{path}/wishes")).await?;
            card::of_wishes(run, &wishes)
        }
    })
}

/// What going back to a snapshot would change, as the host of the run sees it.
pub(super) async fn foreseen(client: &Client, subject: Subject, to: u32) -> Result<String, CliError> {
    rollback_text(client, &format!("/api/v1/runs/{}", subject.id()), to).await
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
    let path = format!("/api/v1/runs/{}/checkpoint", decision.subject.id());
    let now: CheckpointView = client.get(&path).await.map_err(|error| refused(&error))?;
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
        let path = format!("/api/v1/actions/{}/approve", twin.id);
        let sent: Result<ActionView, ClientError> =
            client.post_if(&path, &twin.review.to_string(), &Yes::default()).await;
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
                let order: OrderView = client.post_if(&order::path(id), &decision.seen, request).await?;
                return Ok(format!("; order {} stands until {}", order.number, order.until));
            }
            let path = format!("/api/v1/actions/{id}");
            let view: ActionView = match decision.verb {
                Verb::Approve => client.post_if(&format!("{path}/approve"), &decision.seen, &Yes::default()).await?,
                Verb::Retry => resolve(client, &path, decision, Resolution::Retry).await?,
                Verb::GiveUp => resolve(client, &path, decision, Resolution::Abandon).await?,
                Verb::Reject | Verb::Modify | Verb::Pause | Verb::Cancel | Verb::RollBack => {
                    let reason = decision.words.clone();
                    client.post_if(&format!("{path}/reject"), &decision.seen, &Rejection { reason }).await?
                }
            };
            Ok(if view.approvals_missing > 0 && decision.verb == Verb::Approve {
                format!("; {} more needed", view.approvals_missing)
            } else {
                String::new()
            })
        }
        Subject::Run(id, why) => {
            let path = format!("/api/v1/runs/{id}");
            of_a_run(client, &path, why, decision).await.map(|_| String::new())
        }
    }
}

/// A word on the attempt that was on the screen.
async fn resolve(
    client: &Client,
    path: &str,
    decision: &Decision,
    resolution: Resolution,
) -> Result<ActionView, ClientError> {
    let request = ResolutionRequest { resolution, reason: decision.words.clone(), attempt: decision.number };
    client.post(&format!("{path}/resolve"), &request).await
}

/// Nothing of a run is run again or given up by itself: where its card asks for no such word, that is a no.
async fn of_a_run(client: &Client, run: &str, why: StandsFor, decision: &Decision) -> Result<Value, ClientError> {
    let (seen, words, number) = (&decision.seen, decision.words.clone(), decision.number.unwrap_or_default());
    let rejection = Rejection { reason: words.clone() };
    let checkpoint = format!("{run}/checkpoints/{number}");
    let wish = format!("{run}/wishes/{number}");
    match (why, decision.verb) {
        (_, Verb::Pause) => client.post(&format!("{run}/pause"), &Reason { reason: words }).await,
        (_, Verb::Cancel) => client.post(&format!("{run}/cancel"), &Reason { reason: words }).await,
        (_, Verb::RollBack) => {
            client.post(&format!("{run}/rollback"), &RollbackRequest { to: number, reason: words }).await
        }
        (StandsFor::Plan, Verb::Approve) => client.post_if(&format!("{run}/approve"), seen, &Yes::default()).await,
        (StandsFor::Plan, Verb::Reject | Verb::Modify | Verb::Retry | Verb::GiveUp) => {
            client.post(&format!("{run}/reject"), &rejection).await
        }
        (StandsFor::Results, Verb::Approve) => client.post_if(&format!("{run}/complete"), seen, &Yes::default()).await,
        (StandsFor::Results, Verb::Reject | Verb::Modify | Verb::Retry | Verb::GiveUp) => {
            client.post_if(&format!("{run}/reject-results"), seen, &rejection).await
        }
        (StandsFor::Checkpoint, Verb::Approve) => {
            client.post_if(&format!("{checkpoint}/approve"), seen, &Yes::default()).await
        }
        (StandsFor::Checkpoint, Verb::Reject | Verb::Retry | Verb::GiveUp) => {
            client.post_if(&format!("{checkpoint}/reject"), seen, &rejection).await
        }
        (StandsFor::Checkpoint, Verb::Modify) => {
            client.post_if(&format!("{checkpoint}/modify"), seen, &Modification { note: words, plan: None }).await
        }
        (StandsFor::Wish, Verb::Approve) => {
            client.post_if(&format!("{wish}/grant"), seen, &GrantRequest::default()).await
        }
        (StandsFor::Wish, Verb::Reject | Verb::Modify | Verb::Retry | Verb::GiveUp) => {
            client.post(&format!("{wish}/reject"), &rejection).await
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
