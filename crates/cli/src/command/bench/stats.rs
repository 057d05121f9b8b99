//! Percentiles of what was measured.

use std::time::Duration;

use serde_json::{Value, json};

/// Durations of many repetitions of one thing.
#[derive(Debug, Default)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    pub(super) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Milliseconds at the usual percentiles.
    pub(super) fn in_ms(mut self) -> Value {
        self.0.sort_unstable();
        let at = |percent: usize| self.percentile(percent).as_secs_f64() * 1_000.0;
        json!({ "count": self.0.len(), "p50_ms": round(at(50)), "p99_ms": round(at(99)) })
    }

    /// Microseconds at the usual percentiles.
    pub(super) fn in_us(mut self) -> Value {
        self.0.sort_unstable();
        let at = |percent: usize| self.percentile(percent).as_secs_f64() * 1_000_000.0;
        json!({ "count": self.0.len(), "p50_us": round(at(50)), "p99_us": round(at(99)) })
    }

    /// Milliseconds, with the least: what a quiet machine would take.
    pub(super) fn spread_ms(&mut self) -> Value {
        self.0.sort_unstable();
        let at = |percent: usize| round(self.percentile(percent).as_secs_f64() * 1_000.0);
        json!({ "count": self.0.len(), "min_ms": at(0), "p50_ms": at(50), "p95_ms": at(95) })
    }

    /// How many times as long as others, at each of those.
    pub(super) fn over(&mut self, others: &mut Self) -> Value {
        self.0.sort_unstable();
        others.0.sort_unstable();
        let at =
            |percent: usize| round(self.percentile(percent).as_secs_f64() / others.percentile(percent).as_secs_f64());
        json!({ "min": at(0), "p50": at(50), "p95": at(95) })
    }

    fn percentile(&self, percent: usize) -> Duration {
        let last = self.0.len().saturating_sub(1);
        self.0.get((self.0.len() * percent / 100).min(last)).copied().unwrap_or_default()
    }
}

/// Three decimals are more than the noise.
pub(super) fn round(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

pub(super) fn per_second(count: usize, took: Duration) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "counts of a benchmark are far below 2^52")]
    let count = count as f64;
    (count / took.as_secs_f64()).round()
}
