//! Times that belong together: of one thing in every round, or of two that take turns.

use std::time::Duration;

use serde_json::{Value, json};

use super::super::stats::round as rounded;
use crate::error::CliError;

/// One thing, once in every round.
#[derive(Debug, Default)]
pub(super) struct Alone(Vec<Duration>);

impl Alone {
    pub(super) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    pub(super) fn told(&self) -> Value {
        let all: Vec<f64> = self.0.iter().copied().map(ms).collect();
        json!({ "p50_ms": median(&all), "ms": all })
    }

    /// How many times as fast as another thing of the same round.
    pub(super) fn times_faster(&self, than: &Self) -> Value {
        let ratios = ratios(&than.0, &self.0);
        json!({ "p50": median(&ratios), "each": ratios })
    }
}

/// What `placet` does beside what git does to the same end.
#[derive(Debug, Default)]
pub(super) struct Pair {
    ours: Alone,
    git: Alone,
}

impl Pair {
    /// One of each. Whoever is second finds a warmer and busier machine, so they take turns at that; and what earlier
    /// ones left to be written is on disk before the clock starts.
    pub(super) fn round(
        &mut self,
        number: usize,
        ours: impl FnOnce() -> Result<Duration, CliError>,
        git: impl FnOnce() -> Result<Duration, CliError>,
    ) -> Result<(), CliError> {
        let (our_time, git_time) = if number.is_multiple_of(2) {
            let git_time = settled(git)?;
            (settled(ours)?, git_time)
        } else {
            (settled(ours)?, settled(git)?)
        };
        self.ours.push(our_time);
        self.git.push(git_time);
        Ok(())
    }

    pub(super) fn git(&self) -> &Alone {
        &self.git
    }

    pub(super) fn told(&self) -> Value {
        let ratios = ratios(&self.ours.0, &self.git.0);
        json!({ "p50_ratio": median(&ratios), "ratio": ratios, "placet": self.ours.told(), "git": self.git.told() })
    }
}

fn settled<T>(run: impl FnOnce() -> T) -> T {
    rustix::fs::sync();
    run()
}

/// Of each round on its own: what else the machine did then met both.
fn ratios(these: &[Duration], those: &[Duration]) -> Vec<f64> {
    these.iter().zip(those).map(|(this, that)| rounded(this.as_secs_f64() / that.as_secs_f64())).collect()
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match (sorted.get(middle), middle.checked_sub(1).and_then(|below| sorted.get(below))) {
        (Some(above), Some(below)) if sorted.len().is_multiple_of(2) => rounded(f64::midpoint(*below, *above)),
        (Some(one), _) => *one,
        (None, _) => 0.0,
    }
}

fn ms(took: Duration) -> f64 {
    rounded(took.as_secs_f64() * 1_000.0)
}

/// How many processes wanted a processor in the last minute.
pub(super) fn load() -> f64 {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_first_changes_from_round_to_round() {
        let order = std::cell::RefCell::new(String::new());
        let run = |who: char, took_ms: u64| {
            order.borrow_mut().push(who);
            Ok(Duration::from_millis(took_ms))
        };
        let mut pair = Pair::default();
        for number in 0..4 {
            pair.round(number, || run('p', 3), || run('g', 2)).expect("both end");
        }
        assert_eq!(*order.borrow(), "gppggppg");
        assert_eq!(pair.told()["ratio"], json!([1.5, 1.5, 1.5, 1.5]));
        assert_eq!(pair.told()["git"]["p50_ms"], json!(2.0));
    }

    #[test]
    fn the_median_of_an_even_number_is_between_the_two_in_the_middle() {
        assert_eq!((median(&[3.0, 1.0, 2.0]), median(&[4.0, 1.0, 2.0, 3.0]), median(&[])), (2.0, 2.5, 0.0));
    }

    #[test]
    fn a_round_is_compared_with_the_same_round() {
        let (mut fast, mut slow) = (Alone::default(), Alone::default());
        for (one, other) in [(10, 200), (20, 800)] {
            fast.push(Duration::from_millis(one));
            slow.push(Duration::from_millis(other));
        }
        assert_eq!(fast.times_faster(&slow), json!({ "p50": 30.0, "each": [20.0, 40.0] }));
    }
}
