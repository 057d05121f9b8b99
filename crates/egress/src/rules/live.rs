//! Rules that change while connections live.
//!
//! A new request is judged by the rules of its moment. An established connection finishes when its rule expires or goes
//! away, unless the rule says `cut` or whoever replaces the rules says so; and it stays wherever the new rules would
//! allow it again.

use std::sync::Arc;

use placet_domain::time::Timestamp;
use tokio::sync::watch;

use super::{AtEnd, Grant, Request, Rules, decide};

/// What new rules mean for connections that they would not allow any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Established {
    /// Each goes by its own rule: it finishes, or is cut where that said so.
    AsTheirRulesSay,
    /// All of them end at once.
    Cut,
}

#[derive(Debug, Clone)]
struct Current {
    rules: Arc<Rules>,
    established: Established,
}

/// The rules of a run, shared by all its connections. Clones are the same rules.
#[derive(Debug, Clone)]
pub struct Live(Arc<watch::Sender<Current>>);

impl Live {
    pub fn new(rules: Rules) -> Self {
        let current = Current { rules: Arc::new(rules), established: Established::AsTheirRulesSay };
        Self(Arc::new(watch::Sender::new(current)))
    }

    /// The rules of this moment.
    pub fn now(&self) -> Arc<Rules> {
        Arc::clone(&self.0.borrow().rules)
    }

    /// From here on these rules count.
    pub fn replace(&self, rules: Rules, established: Established) {
        self.0.send_replace(Current { rules: Arc::new(rules), established });
    }

    /// Comes back when a connection that was granted has to be cut. `now` tells the time.
    pub(crate) async fn ended(&self, request: &Request, grant: &Grant, now: impl Fn() -> Timestamp) {
        let (mut changes, mut grant) = (self.0.subscribe(), grant.clone());
        loop {
            let Current { rules, established } = changes.borrow_and_update().clone();
            match decide(&rules, request, now()) {
                Ok(fresh) => grant = fresh,
                Err(_) if established == Established::Cut || grant.rule().draft().at_end == AtEnd::Cut => return,
                Err(_) => {}
            }
            tokio::select! {
                changed = changes.changed() => changed.expect("the sender lives in `self`"),
                () = until(grant.cut_at(), &now) => {}
            }
        }
    }
}

/// Sleeps until the moment; for ever where there is none. A clock that was set is noticed within a minute.
async fn until(moment: Option<Timestamp>, now: impl Fn() -> Timestamp) {
    const LOOK_AGAIN_MS: u64 = 60_000;
    let Some(moment) = moment else { return std::future::pending().await };
    loop {
        let left_ms = u64::try_from(moment.unix_ms() - now().unix_ms()).unwrap_or(0);
        if left_ms == 0 {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(left_ms.min(LOOK_AGAIN_MS))).await;
    }
}
