//! Load of a measurement: calls at a steady rate, as fast as possible, or all open at once.

use std::io;
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use tokio::time::MissedTickBehavior;

use super::caller::Caller;
use super::measure::{Plan, Times};

/// Sends direct calls and calls through the gateway in turn, each at the planned rate, without waiting for earlier answers.
pub(super) async fn paced_calls(direct: &Caller, through: &Caller, plan: &Plan) -> (Times, Times) {
    let mut ticks = tokio::time::interval(Duration::from_secs(1) / (plan.rate_per_s * 2).max(1));
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let (mut direct_calls, mut through_calls) = (JoinSet::new(), JoinSet::new());
    let end = Instant::now() + plan.paced_for;
    while Instant::now() < end {
        ticks.tick().await;
        direct_calls.spawn(time_call(direct.clone()));
        ticks.tick().await;
        through_calls.spawn(time_call(through.clone()));
    }
    (summarize_times(direct_calls.join_all().await), summarize_times(through_calls.join_all().await))
}

async fn time_call(caller: Caller) -> Option<u64> {
    let started = Instant::now();
    caller.call().await.ok()?;
    u64::try_from(started.elapsed().as_micros()).ok()
}

fn summarize_times(calls: Vec<Option<u64>>) -> Times {
    let mut times: Vec<u64> = calls.into_iter().flatten().collect();
    times.sort_unstable();
    let at =
        |part: usize| times.get((times.len() * part / 100).min(times.len().saturating_sub(1))).copied().unwrap_or(0);
    Times { calls: times.len(), p50_us: at(50), p99_us: at(99), max_us: at(100) }
}

/// Counts answered calls per second of callers that wait for nothing but their answer.
pub(super) async fn calls_per_s(caller: &Caller, callers: usize, during: Duration) -> u64 {
    let started = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..callers {
        let caller = caller.clone();
        all.spawn(async move {
            let mut answered: u64 = 0;
            while started.elapsed() < during {
                answered += u64::from(caller.call().await.is_ok());
            }
            answered
        });
    }
    let answered: u64 = all.join_all().await.into_iter().sum();
    answered * 1_000 / u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
}

/// Measures the memory of one stream while many are open, by what `resident` returns.
pub(super) async fn stream_bytes(
    caller: &Caller,
    streams: usize,
    resident: &(dyn Fn() -> io::Result<u64> + Sync),
) -> io::Result<u64> {
    let before = resident()?;
    let mut opening = JoinSet::new();
    for _ in 0..streams {
        let caller = caller.clone();
        opening.spawn(async move { caller.stream().await });
    }
    let open: Vec<_> = opening.join_all().await.into_iter().collect::<io::Result<_>>()?;
    let taken = resident()?.saturating_sub(before);
    drop(open);
    Ok(taken / (streams as u64).max(1))
}

/// Reads the resident memory of this process.
pub(super) fn resident_bytes() -> io::Result<u64> {
    let text = std::fs::read_to_string("/proc/self/statm")?;
    let pages: u64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0);
    Ok(pages * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::super::measure::measure_here;
    use super::*;

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn everything_that_is_measured_is_answered() {
        let plan = Plan {
            rate_per_s: 50,
            paced_for: Duration::from_millis(400),
            request_bytes: 2_000,
            callers: 4,
            flood_for: Duration::from_millis(200),
            streams: 10,
        };
        let report = measure_here(&plan).await.unwrap();
        assert!(report.direct.calls > 0 && report.through.calls > 0, "{report:?}");
        assert_eq!(report.streams, 10);
        assert!(report.through.p50_us <= report.through.p99_us && report.through.p99_us <= report.through.max_us);
    }
}
