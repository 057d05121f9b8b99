//! What a person looks at where a run stands still, and the decision about it.

use placet_domain::action::{ActionState, ActionStatus};
use placet_domain::evidence::{Item, Manifest};
use placet_domain::id::{ActionId, RunId};
use placet_domain::proposal::ActionKind;
use placet_domain::refusal::{Obstacle, Refusal};
use placet_domain::run::{Run, RunCommand};
use placet_domain::time::Timestamp;
use placet_store::{ActionFilter, Order};

use super::{Caller, No, change_run, find_run};
use crate::app::App;

/// How many actions a person is shown of what was done, of what comes, and of what nobody knows.
const MOST_SHOWN: u32 = 50;
/// How many files a person is shown of what those actions left, and how many pictures.
const MOST_PIECES: usize = 100;
/// What workers put before the names of outputs, beside `stdout` and `stderr`.
const OUTPUT: &str = "out/";
/// How the names of pictures end.
const PICTURES: &[&str] = &[".png", ".jpg", ".jpeg", ".webp", ".gif"];

const DONE: &[ActionStatus] = &[ActionStatus::Succeeded, ActionStatus::Failed, ActionStatus::Rehearsed];
const NEXT: &[ActionStatus] =
    &[ActionStatus::PendingApproval, ActionStatus::Approved, ActionStatus::Leased, ActionStatus::Executing];

/// A run and the actions around the checkpoint where it stands.
#[derive(Debug)]
pub struct Look {
    pub run: Run,
    pub now: Timestamp,
    /// What was executed since the last checkpoint.
    pub done: Shown,
    pub next: Shown,
    /// Started, and nobody knows how far they got.
    pub interrupted: Shown,
    /// What those that are done left behind.
    pub left: Left,
}

/// What actions left as evidence, beside what they said; the newest of each.
#[derive(Debug, Default)]
pub struct Left {
    pub outputs: Vec<Piece>,
    pub screenshots: Vec<Piece>,
}

/// One file of an action, by its path in the workspace.
#[derive(Debug)]
pub struct Piece {
    pub action: ActionId,
    pub path: String,
    pub item: Item,
}

/// The newest of some actions, the oldest of them first.
#[derive(Debug)]
pub struct Shown {
    pub actions: Vec<ActionState>,
    /// Whether there are older ones.
    pub more: bool,
}

pub async fn look(app: &App, caller: &Caller, id: RunId) -> Result<Look, No> {
    let run = find_run(app, caller, id).await?;
    let done = newest(app, id, DONE, run.looked_at).await?;
    let next = newest(app, id, NEXT, None).await?;
    let interrupted = newest(app, id, &[ActionStatus::Interrupted], None).await?;
    let left = left_by(app, &done.actions).await?;
    Ok(Look { run, now: app.store().now(), done, next, interrupted, left })
}

async fn left_by(app: &App, done: &[ActionState]) -> Result<Left, No> {
    let mut left = Left::default();
    for action in done {
        for piece in pieces_of(app, action).await? {
            let list = if is_picture(action, &piece) { &mut left.screenshots } else { &mut left.outputs };
            list.push(piece);
        }
    }
    Ok(left)
}

/// By the manifest that counts.
async fn pieces_of(app: &App, action: &ActionState) -> Result<Vec<Piece>, No> {
    let Some(evidence) = action.evidence else { return Ok(Vec::new()) };
    let bytes = app.store().sealed(action.id, evidence).await.map_err(No::Fault)?;
    let manifest: Option<Manifest> = bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let piece = |item: Item| {
        let path = item.name.strip_prefix(OUTPUT)?.to_owned();
        Some(Piece { action: action.id, path, item })
    };
    Ok(manifest.into_iter().flat_map(|manifest| manifest.items).filter_map(piece).collect())
}

fn is_picture(action: &ActionState, piece: &Piece) -> bool {
    let path = piece.path.to_ascii_lowercase();
    action.kind == ActionKind::TakeScreenshot || PICTURES.iter().any(|end| path.ends_with(end))
}

/// The newest of them, as many as a person looks through, and whether there are more.
pub(crate) fn newest_pieces(mut pieces: Vec<Piece>) -> (Vec<Piece>, bool) {
    let older = pieces.len().saturating_sub(MOST_PIECES);
    (pieces.split_off(older), older > 0)
}

/// Asked for by status, so that what was refused crowds out nothing, however much of it an agent proposes.
async fn newest(app: &App, run: RunId, statuses: &[ActionStatus], since: Option<Timestamp>) -> Result<Shown, No> {
    let (statuses, limit) = (statuses.to_vec(), MOST_SHOWN + 1);
    let (run, order) = (Some(run), Order::NewestFirst);
    let filter = ActionFilter { run, statuses, changed_since: since, order, limit, ..ActionFilter::default() };
    let found = app.store().actions(filter).await.map_err(No::Fault)?;
    let more = found.len() > MOST_SHOWN as usize;
    let mut actions: Vec<ActionState> =
        found.into_iter().map(|listed| listed.state).take(MOST_SHOWN as usize).collect();
    actions.reverse();
    Ok(Shown { actions, more })
}

/// Decides about this checkpoint and no other: a number that is past is not where the run stands.
pub async fn decide_checkpoint(
    app: &App,
    caller: &Caller,
    id: RunId,
    number: u32,
    command: RunCommand,
) -> Result<Run, No> {
    let run = find_run(app, caller, id).await?;
    let stands_here = run.gate.as_ref().is_some_and(|gate| gate.number == number);
    if !stands_here && number > run.gates.reached {
        return Err(Refusal::Unknown { what: "checkpoint" }.into());
    }
    // A repeated request is answered as before, also when the run has gone on.
    if !stands_here && caller.key.is_none() {
        return Err(Refusal::not_now("decided", Obstacle::PastCheckpoint).into());
    }
    change_run(app, caller, id, command).await
}
