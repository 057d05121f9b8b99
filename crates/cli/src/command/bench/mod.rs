//! `placet bench`: measures on this machine, prints JSON, asserts nothing. Every acknowledged write is on disk.
//!
//! The control plane under test is a process of its own; the load comes from this one over real HTTP.

mod appends;
mod cage;
mod decisions;
mod gateway;
mod governed_loop;
mod leased;
mod line;
mod rollback;
mod stats;
mod verification;
mod worktree;

use serde_json::json;

use super::demo::World;
use crate::error::CliError;
use crate::out::Out;

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Build it with optimisation first: cargo run --profile fast -- bench\n\nExamples:\n  placet bench --only cage --only leased --seconds 20"
)]
pub(crate) struct Args {
    /// Seconds for each throughput measurement
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Only these; may be given several times
    #[arg(long = "only", value_name = "WHAT", value_enum)]
    only: Vec<What>,
    /// How many files the repository of `worktree` has
    #[arg(long, value_name = "COUNT", default_value_t = 100_000, value_parser = at_least_one())]
    files: u64,
    /// How many rounds `worktree` and `rollback` run, the former unless time is up before
    #[arg(long, value_name = "COUNT", default_value_t = 5, value_parser = at_least_one())]
    rounds: u64,
}

fn at_least_one() -> clap::builder::RangedU64ValueParser<u64> {
    clap::value_parser!(u64).range(1..=1_000_000)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum What {
    /// Policy decisions
    Decisions,
    /// Durable ledger appends
    Appends,
    /// Verification of an export
    Verify,
    /// The governed loop over HTTP, without a cage
    Loop,
    /// A cage beside a bare process and bwrap
    Cage,
    /// A leased action from permit to recorded evidence
    Leased,
    /// What the gateway adds to a call of a language model
    Gateway,
    /// Worktrees of a large repository beside git itself; takes minutes and about five gigabytes
    Worktree,
    /// Rollback of a workspace of 50,000 files beside git and cp; takes minutes and several gigabytes
    Rollback,
}

pub(crate) async fn run(args: Args, out: &Out) -> Result<(), CliError> {
    let wanted = |what: What| args.only.is_empty() || args.only.contains(&what);
    let mut report = serde_json::Map::new();
    report.insert("optimised".into(), json!(!cfg!(debug_assertions)));
    report.insert("processors".into(), json!(std::thread::available_parallelism().map_or(1, usize::from)));
    if wanted(What::Decisions) {
        report.insert("decisions".into(), decisions::measure()?);
    }
    if wanted(What::Appends) {
        report.insert("appends".into(), appends::measure(args.seconds).await?);
    }
    if wanted(What::Verify) {
        report.insert("verify".into(), verification::measure()?);
    }
    if wanted(What::Loop) {
        report.insert("loop".into(), measure_loop(args.seconds, out).await?);
    }
    if wanted(What::Cage) {
        report.insert("cage".into(), cage::measure(args.seconds)?);
    }
    if wanted(What::Leased) {
        report.insert("leased".into(), measure_leased(args.seconds, out).await?);
    }
    if wanted(What::Gateway) {
        report.insert("gateway".into(), gateway::measure(args.seconds, out).await?);
    }
    // Only if they are named: each takes longer than all the others together.
    let mut ground = None;
    if args.only.contains(&What::Worktree) {
        let (measured, left) = worktree::measure(args.size()).await?;
        report.insert("worktree".into(), measured);
        ground = Some(left);
    }
    if args.only.contains(&What::Rollback) {
        report.insert("rollback".into(), rollback::measure(args.rounds)?);
    }
    let pretty = serde_json::to_string_pretty(&report).unwrap_or_default();
    out.line(&pretty);
    // More than a million files are removed only now.
    drop(ground);
    Ok(())
}

impl Args {
    fn size(&self) -> worktree::Size {
        let count = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
        worktree::Size { files: count(self.files), rounds: count(self.rounds) }
    }
}

async fn measure_leased(seconds: u64, out: &Out) -> Result<serde_json::Value, CliError> {
    let world = World::start_control_only(out).await?;
    let measured = leased::measure(&world, seconds).await;
    world.stop().await;
    measured
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
