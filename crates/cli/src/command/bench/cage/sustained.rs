//! Many cages in a row, without a pause: whatever one leaves to be done later is done while the next ones run, so nothing
//! can be moved out of this clock.
//!
//! Cages and bwrap take turns, a batch each, so that both see the same load.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::peer::Peer;
use crate::command::bench::stats::Times;
use crate::error::CliError;

/// Long enough that what the last one leaves behind does not count.
const BATCH: u32 = 50;

/// At least one batch each. What each took on average, and how many times as long cages took.
pub(super) fn measure(
    bwrap: &mut Peer,
    mut in_cage: impl FnMut() -> Result<(), CliError>,
    time: Duration,
) -> Result<Value, CliError> {
    let [mut cages, mut peers] = [(); 2].map(|()| Times::default());
    let began = Instant::now();
    loop {
        batch(|| bwrap.launch())?.into_iter().for_each(|took| peers.push(took));
        batch(|| in_cage().map(Some))?.into_iter().for_each(|took| cages.push(took));
        if began.elapsed() >= time {
            break;
        }
    }
    let over = (peers.len() > 0).then(|| cages.over(&mut peers));
    Ok(json!({ "batch": BATCH, "cage": cages.spread_ms(), "bwrap": peers.spread_ms(), "cage_over_bwrap": over }))
}

/// The average over a batch; none where there is nothing to launch.
fn batch(mut launch: impl FnMut() -> Result<Option<()>, CliError>) -> Result<Option<Duration>, CliError> {
    let started = Instant::now();
    for _ in 0..BATCH {
        if launch()?.is_none() {
            return Ok(None);
        }
    }
    Ok(Some(started.elapsed() / BATCH))
}
