//! `placet bench`: measures on this machine, prints JSON, asserts nothing. Every acknowledged write is on disk.
//!
//! The control plane under test is a process of its own; the load comes from this one over real HTTP.

mod appends;
mod decisions;
mod governed_loop;
mod line;
mod stats;
mod verification;

use serde_json::json;

use super::demo::World;
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(after_help = "Build it with optimisation first: cargo run --profile fast -- bench")]
pub(crate) struct Args {
    /// Seconds for each throughput measurement
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Only these: appends, loop, decisions, verify
    #[arg(long = "only", value_name = "WHAT")]
    only: Vec<String>,
}

pub(crate) async fn run(args: Args, out: &Out) -> Result<(), CliError> {
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|only| only == name);
    let mut report = serde_json::Map::new();
    report.insert("optimised".into(), json!(!cfg!(debug_assertions)));
    report.insert("processors".into(), json!(std::thread::available_parallelism().map_or(1, usize::from)));
    if wanted("decisions") {
        report.insert("decisions".into(), decisions::measure()?);
    }
    if wanted("appends") {
        report.insert("appends".into(), appends::measure(args.seconds).await?);
    }
    if wanted("verify") {
        report.insert("verify".into(), verification::measure()?);
    }
    if wanted("loop") {
        report.insert("loop".into(), measure_loop(args.seconds, out).await?);
    }
    let pretty = serde_json::to_string_pretty(&report).unwrap_or_default();
    out.line(&pretty);
    Ok(())
}

async fn measure_loop(seconds: u64, out: &Out) -> Result<serde_json::Value, CliError> {
    let world = World::start_control_only(out).await?;
    let idle_rss_bytes = world.control_rss_bytes();
    let measured = governed_loop::measure(&world, seconds).await;
    let start = world.started_in();
    world.stop().await;
    let mut measured = measured?;
    measured["idle_rss_bytes"] = json!(idle_rss_bytes);
    measured["ready_after_ms"] = json!(start.as_secs_f64() * 1_000.0);
    Ok(measured)
}
