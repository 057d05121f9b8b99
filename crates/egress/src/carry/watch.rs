//! What ends a connection from outside: silence, age, and the end of the rule it went by.

use std::future::Future;
use std::time::Duration;

use super::Carriage;
use crate::Egress;
use crate::limits::millis;
use crate::rules::{Grant, Reason, Request};

/// Does the work, unless a limit or the end of its rule comes first. Work that is cut is dropped with its connections.
pub(crate) async fn guarded<T>(
    egress: &Egress,
    carriage: &Carriage<'_>,
    (request, grant): (&Request, &Grant),
    work: impl Future<Output = T>,
) -> Result<T, Reason> {
    tokio::select! {
        done = work => Ok(done),
        reason = stalls(egress, carriage) => Err(reason),
        () = egress.rules().ended(request, grant, || egress.now()) => Err(Reason::RuleEnded),
    }
}

async fn stalls(egress: &Egress, carriage: &Carriage<'_>) -> Reason {
    let limits = egress.limits();
    loop {
        let (age_ms, still_ms) = (carriage.age_ms(), carriage.still_for_ms());
        if age_ms >= limits.total_ms {
            return Reason::TooLong { total_ms: limits.total_ms };
        }
        if still_ms >= limits.idle_ms {
            return Reason::Idle { idle_ms: limits.idle_ms };
        }
        let left = millis((limits.total_ms - age_ms).min(limits.idle_ms - still_ms));
        tokio::time::sleep(left.max(Duration::from_millis(1))).await;
    }
}
