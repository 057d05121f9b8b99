//! How people decide, read back: figures of projects, one's own habits, and whether somebody decides so fast that they are asked to look
//! twice. Nothing is decided or recorded here.

use placet_domain::deciding::{Decision, Figures, Habits, MOST_DECISIONS, WINDOW_MS, figures, habits};
use placet_domain::id::{IdentityId, ProjectId};
use placet_domain::identity::Reach;
use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;
use placet_store::{DecisionFilter, MOST_ROWS};

use super::{Caller, No};
use crate::app::App;

/// What is known of the decisions within somebody's reach.
#[derive(Debug)]
pub struct Measured {
    pub since: Timestamp,
    pub figures: Figures,
    /// Whether there were more than are counted.
    pub more: bool,
    pub waiting: u64,
    /// The oldest thousand that wait: of which tier, and since when.
    pub ages: Vec<(Tier, Timestamp)>,
    pub now: Timestamp,
}

pub async fn measure(app: &App, caller: &Caller, project: Option<ProjectId>) -> Result<Measured, No> {
    let reach = match project {
        None => caller.identity.reach.clone(),
        Some(project) => {
            caller.sees(project, "project")?;
            Reach::Only([project].into())
        }
    };
    let (now, since) = (app.store().now(), since(app));
    let found = decisions(app, reach.clone(), None).await?;
    Ok(Measured {
        since,
        more: found.len() >= MOST_DECISIONS as usize,
        figures: figures(&found),
        waiting: app.store().queue_length(reach.clone()).await.map_err(No::Fault)?,
        ages: app.store().waiting(reach, MOST_ROWS).await.map_err(No::Fault)?,
        now,
    })
}

/// How whoever asks decides. Of nobody else this can be asked.
pub async fn own_habits(app: &App, caller: &Caller) -> Result<Habits, No> {
    Ok(habits(&decisions(app, caller.identity.reach.clone(), Some(caller.identity.id)).await?))
}

/// Their last decisions that were given by the person behind the agent, newest first.
pub async fn own_alone(app: &App, caller: &Caller, most: usize) -> Result<Vec<Decision>, No> {
    let mut found = decisions(app, caller.identity.reach.clone(), Some(caller.identity.id)).await?;
    found.retain(|decision| decision.single_operator);
    found.truncate(most);
    Ok(found)
}

async fn decisions(app: &App, reach: Reach, reviewer: Option<IdentityId>) -> Result<Vec<Decision>, No> {
    let (since, limit) = (since(app), MOST_DECISIONS);
    let filter = DecisionFilter { reach, project: None, reviewer, since, until: None, limit };
    app.store().decisions(filter).await.map_err(No::Fault)
}

/// Nothing older is counted.
pub(crate) fn since(app: &App) -> Timestamp {
    let window_ms = i64::try_from(WINDOW_MS).unwrap_or(i64::MAX);
    Timestamp::from_unix_ms(app.store().now().unix_ms().saturating_sub(window_ms))
}

/// How many decisions somebody made lately, and how many are many; nothing where that is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    pub decided: u64,
    pub most: u32,
}

impl Pace {
    /// Whether they are asked to look twice.
    pub const fn is_fast(self) -> bool {
        self.most > 0 && self.decided >= self.most as u64
    }
}

pub async fn pace(app: &App, who: IdentityId) -> Result<Pace, No> {
    let asking = app.settings().terms.asking;
    let most = asking.most_decided;
    if most == 0 {
        return Ok(Pace { decided: 0, most });
    }
    let within_ms = i64::try_from(asking.decided_within_ms).unwrap_or(i64::MAX);
    let since = Timestamp::from_unix_ms(app.store().now().unix_ms().saturating_sub(within_ms));
    let decided = app.store().decided_since(who, since, most).await.map_err(No::Fault)?;
    Ok(Pace { decided, most })
}
