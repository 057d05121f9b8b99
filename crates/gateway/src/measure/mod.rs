//! Measures what the gateway costs: the time it adds to a call, how many calls it carries, and what an open stream takes.
//!
//! Either agent, gateway and a scripted upstream share one process ([`measure`]), or upstream and gateway run already somewhere
//! ([`compare`]). All of them share one machine, so the numbers of calls are too low rather than too high. Times are compared with calls of
//! the same upstream without the gateway, made in turn with the others.

mod pace;
mod place;

use std::io;
use std::time::Duration;

use pace::{carried_per_s, open_streams, paced, resident_bytes};
use place::{Caller, Place};

pub use place::SCRIPT;

/// What is measured.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Calls in a second, of each of the two kinds.
    pub rate_per_s: u32,
    /// How long calls come at that rate.
    pub paced_for: Duration,
    /// The size of a request.
    pub request_bytes: usize,
    /// How many agents call as fast as they can, and how long.
    pub callers: usize,
    pub flood_for: Duration,
    /// How many streams are open at once.
    pub streams: usize,
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
pub struct Times {
    pub calls: usize,
    pub p50_us: u64,
    pub p99_us: u64,
    pub max_us: u64,
}

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    pub direct: Times,
    pub through: Times,
    /// Calls in a second, without and with the gateway.
    pub direct_per_s: u64,
    pub through_per_s: u64,
    pub streams: usize,
    /// What one open stream takes, without and with the gateway; both ends of it and the upstream included.
    pub direct_bytes_per_stream: u64,
    pub through_bytes_per_stream: u64,
}

impl Report {
    pub const fn added_p50_us(&self) -> u64 {
        self.through.p50_us.saturating_sub(self.direct.p50_us)
    }

    pub const fn added_p99_us(&self) -> u64 {
        self.through.p99_us.saturating_sub(self.direct.p99_us)
    }
}

/// Somebody to call in the wire format `chat`, for the model `m`.
#[derive(Debug, Clone)]
pub struct Target {
    /// `http://host:port`.
    pub url: String,
    /// What opens it.
    pub key: String,
}

/// Measures on the runtime it is called on.
pub async fn measure(plan: &Plan) -> io::Result<Report> {
    let place = Place::start(plan.request_bytes).await?;
    between(&place.direct(), &place.through(), plan, &resident_bytes).await
}

/// Measures one who plays [`SCRIPT`], and one who passes calls on to it. `resident` tells how many bytes the latter occupies.
pub async fn compare(
    plan: &Plan,
    direct: &Target,
    through: &Target,
    resident: &(dyn Fn() -> io::Result<u64> + Sync),
) -> io::Result<Report> {
    let caller = |target: &Target| Caller::new(&target.url, &target.key, plan.request_bytes);
    between(&caller(direct), &caller(through), plan, resident).await
}

async fn between(
    direct: &Caller,
    through: &Caller,
    plan: &Plan,
    resident: &(dyn Fn() -> io::Result<u64> + Sync),
) -> io::Result<Report> {
    // Whoever refuses the first call would refuse them all.
    through.call().await?;
    // Connections are made and pages touched before anything counts.
    carried_per_s(through, plan.callers, Duration::from_millis(300)).await;
    let (direct_times, through_times) = paced(direct, through, plan).await;
    Ok(Report {
        direct: direct_times,
        through: through_times,
        direct_per_s: carried_per_s(direct, plan.callers, plan.flood_for).await,
        through_per_s: carried_per_s(through, plan.callers, plan.flood_for).await,
        streams: plan.streams,
        direct_bytes_per_stream: open_streams(direct, plan.streams, resident).await?,
        through_bytes_per_stream: open_streams(through, plan.streams, resident).await?,
    })
}
