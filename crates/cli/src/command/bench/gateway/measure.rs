//! Measures the cost of a gateway: time added to a call, calls per second, and memory of an open stream.
//!
//! Agent, gateway and scripted upstream either share this process ([`measure_here`]), or upstream and gateway run elsewhere ([`compare`]).
//! All of them share one machine, so the measured rates are too low rather than too high. Calls through the gateway alternate with
//! calls of the same upstream without it.

use std::io;
use std::time::Duration;

use super::caller::Caller;
use super::load::{calls_per_s, paced_calls, resident_bytes, stream_bytes};
use super::local_gateway::LocalGateway;

/// Load of one measurement.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Calls per second, direct and through the gateway each.
    pub(super) rate_per_s: u32,
    /// Duration of the calls at that rate.
    pub(super) paced_for: Duration,
    /// Size of a request.
    pub(super) request_bytes: usize,
    /// Agents that call as fast as they can, and for how long.
    pub(super) callers: usize,
    pub(super) flood_for: Duration,
    /// Streams that are open at once.
    pub(super) streams: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            rate_per_s: 200,
            paced_for: Duration::from_secs(10),
            request_bytes: 16 << 10,
            callers: 64,
            flood_for: Duration::from_secs(5),
            streams: 500,
        }
    }
}

/// Times of many calls, in microseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Times {
    pub(super) calls: usize,
    pub(super) p50_us: u64,
    pub(super) p99_us: u64,
    pub(super) max_us: u64,
}

/// Result of one measurement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Report {
    pub(super) direct: Times,
    pub(super) through: Times,
    /// Calls per second, without and with the gateway.
    pub(super) direct_per_s: u64,
    pub(super) through_per_s: u64,
    pub(super) streams: usize,
    /// Memory of one open stream, without and with the gateway; both ends of it and the upstream included.
    pub(super) direct_bytes_per_stream: u64,
    pub(super) through_bytes_per_stream: u64,
}

impl Report {
    pub(super) const fn added_p50_us(&self) -> u64 {
        self.through.p50_us.saturating_sub(self.direct.p50_us)
    }

    pub(super) const fn added_p99_us(&self) -> u64 {
        self.through.p99_us.saturating_sub(self.direct.p99_us)
    }
}

/// Server to call in the wire format `chat`, for the model `m`.
#[derive(Debug, Clone)]
pub(super) struct Target {
    /// `http://host:port`.
    pub(super) url: String,
    /// Key that it accepts.
    pub(super) key: String,
}

/// Measures a gateway and an upstream in this process.
pub(super) async fn measure_here(plan: &Plan) -> io::Result<Report> {
    let gateway = LocalGateway::start(plan.request_bytes).await?;
    measure_between(&gateway.direct(), &gateway.through(), plan, &resident_bytes).await
}

/// Measures an upstream that plays [`SCRIPT`](super::local_gateway::SCRIPT), and a gateway that forwards to it. `resident` returns the
/// memory of the gateway.
pub(super) async fn compare(
    plan: &Plan,
    direct: &Target,
    through: &Target,
    resident: &(dyn Fn() -> io::Result<u64> + Sync),
) -> io::Result<Report> {
    let caller = |target: &Target| Caller::new(&target.url, &target.key, plan.request_bytes);
    measure_between(&caller(direct), &caller(through), plan, resident).await
}

async fn measure_between(
    direct: &Caller,
    through: &Caller,
    plan: &Plan,
    resident: &(dyn Fn() -> io::Result<u64> + Sync),
) -> io::Result<Report> {
    // A gateway that refuses the first call would refuse them all.
    through.call().await?;
    // Warm up connections and memory before anything counts.
    calls_per_s(through, plan.callers, Duration::from_millis(300)).await;
    let (direct_times, through_times) = paced_calls(direct, through, plan).await;
    Ok(Report {
        direct: direct_times,
        through: through_times,
        direct_per_s: calls_per_s(direct, plan.callers, plan.flood_for).await,
        through_per_s: calls_per_s(through, plan.callers, plan.flood_for).await,
        streams: plan.streams,
        direct_bytes_per_stream: stream_bytes(direct, plan.streams, resident).await?,
        through_bytes_per_stream: stream_bytes(through, plan.streams, resident).await?,
    })
}
