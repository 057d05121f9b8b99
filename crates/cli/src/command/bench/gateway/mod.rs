//! What the gateway to language models adds to a call, beside calls of the same scripted model without it: alone in this process,
//! and in a control plane with its ledger.
//!
//! The model is a process of its own where the gateway is one. Nothing is called that is not on this machine.

mod caller;
mod load;
mod local_gateway;
mod measure;

use std::io;
use std::process::Stdio;
use std::time::Duration;

use placet_domain::budget::{Ceiling, USUAL_WARNING_PERCENT};
use placet_wire::api::BudgetRequest;
use placet_wire::endpoint::SetRunBudget;
use serde_json::{Value, json};
use tokio::process::{Child, Command};

use crate::command::demo::{World, serving};
use crate::error::CliError;
use crate::out::Out;

use local_gateway::SCRIPT;
use measure::{Plan, Report, Target, Times, compare, measure_here};

pub(super) async fn measure(seconds: u64, out: &Out) -> Result<Value, CliError> {
    let during = Duration::from_secs(seconds);
    let plan = Plan { paced_for: during, flood_for: during, ..Plan::default() };
    let mut report = told(&plan, &measure_here(&plan).await.map_err(failed)?);
    let model = Model::start().await?;
    report["control_plane"] = through_control(&plan, &model, out).await?;
    Ok(report)
}

fn told(plan: &Plan, seen: &Report) -> Value {
    let times = |times: &Times| json!({ "p50_us": times.p50_us, "p99_us": times.p99_us, "max_us": times.max_us, "calls": times.calls });
    json!({
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
    })
}

/// A scripted model in a process of its own; it ends with this.
struct Model {
    _process: Child,
    _script: tempfile::TempDir,
    target: Target,
}

impl Model {
    async fn start() -> Result<Self, CliError> {
        let script = tempfile::tempdir()?;
        let file = script.path().join("script.toml");
        std::fs::write(&file, SCRIPT)?;
        let mut command = Command::new(std::env::current_exe()?);
        command.args(["--json", "model", "script"]).arg(&file).stdin(Stdio::null()).kill_on_drop(true);
        let (process, url) = serving(&mut command).await?;
        Ok(Self { _process: process, _script: script, target: Target { url, key: "nobody asks".to_owned() } })
    }
}

/// Keys are tokens, budgets are in the ledger, and every call becomes an entry.
async fn through_control(plan: &Plan, model: &Model, out: &Out) -> Result<Value, CliError> {
    let gateway = format!(
        "[[upstream]]\nname = 'script'\nwire = ['chat']\nbase_url = '{}'\nmodels = ['m']\n\
         [[price]]\nmodel = 'm'\ninput = 1\noutput = 1\n",
        model.target.url
    );
    let world = World::start_with_models(&gateway, out).await?;
    let seen = in_control(plan, model, &world).await;
    world.stop().await;
    seen
}

async fn in_control(plan: &Plan, model: &Model, world: &World) -> Result<Value, CliError> {
    let run = world.started_run().await?;
    let limits = Ceiling { usd_micros: Some(1_000_000_000_000), ..Ceiling::default() };
    let budget = BudgetRequest { limits, warn_at_percent: USUAL_WARNING_PERCENT };
    world.reviewer.post(SetRunBudget { run }, &budget).await?;
    let through = Target { url: world.agent.server().to_owned(), key: world.agent.token().reveal().to_owned() };
    let (idle, before_ms) = (world.control_rss().map_err(failed)?, world.control_cpu_ms());
    let seen = compare(plan, &model.target, &through, &|| world.control_rss()).await.map_err(failed)?;
    let mut report = told(plan, &seen);
    report["idle_rss_bytes"] = json!(idle);
    report["rss_bytes"] = json!(world.control_rss_bytes());
    report["control_cpu_ms"] = json!(world.control_cpu_ms().zip(before_ms).map(|(after, before)| after - before));
    Ok(report)
}

fn failed(error: io::Error) -> CliError {
    CliError::failed(format!("the gateway: {error}"))
}
