//! What the gateway to language models adds to a call, beside calls of the same scripted model without it.

use std::time::Duration;

use placet_gateway::measure::{Plan, Times, measure as measured};
use serde_json::{Value, json};

use crate::error::CliError;

pub(super) async fn measure(seconds: u64) -> Result<Value, CliError> {
    let during = Duration::from_secs(seconds);
    let plan = Plan { paced_for: during, flood_for: during, ..Plan::default() };
    let seen = measured(&plan).await.map_err(|error| CliError::failed(format!("the gateway: {error}")))?;
    let times = |times: &Times| json!({ "p50_us": times.p50_us, "p99_us": times.p99_us, "max_us": times.max_us, "calls": times.calls });
    Ok(json!({
        "calls_per_s": plan.rate_per_s,
        "request_bytes": plan.request_bytes,
        "direct": times(&seen.direct),
        "through": times(&seen.through),
        "added_p50_us": seen.added_p50_us(),
        "added_p99_us": seen.added_p99_us(),
        "flood_per_s": { "callers": plan.callers, "direct": seen.direct_per_s, "through": seen.through_per_s },
        "streams": {
            "open": seen.streams,
            "direct_bytes_each": seen.direct_bytes_per_stream,
            "through_bytes_each": seen.through_bytes_per_stream,
        },
    }))
}
