//! The demo's story, told as it happens.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use placet_agent::{Agent, AgentError};
use placet_domain::id::RunId;
use placet_domain::proposal::Proposal;
use placet_domain::text::spelled_out;
use placet_ledger::{VerifierKey, bundle};
use placet_wire::Client;
use placet_wire::api::{ActionDetail, ActionView, Decision, NewRun, RunView};
use placet_wire::endpoint::{AcceptResults, ApprovePlan, CreateRun, ShowAction, StartRun};

use super::world::World;
use crate::card;
use crate::command::approve::{approve, ask};
use crate::command::evidence::{fetch, find};
use crate::command::ledger::{export, words};
use crate::error::{CliError, Code};
use crate::out::{BOLD, DIM, GOOD, Out, styled};

const NOTES: &str = "buy bread\nwater the plants\ncall Ada\n";
const PATIENCE: Duration = Duration::from_secs(60);

/// Plays the script to its end and returns the run that it created.
pub(super) async fn play(world: &World, yes: bool, out: &Out) -> Result<RunId, CliError> {
    let run = undertake(world).await?;
    out.note(&format!(
        "{} control plane, worker and agent are three processes; the run's plan is approved, its scope locked.",
        styled(GOOD, "✓")
    ));
    let agent = Agent::attach(world.agent.clone(), run.id, PATIENCE).await.map_err(failed)?;
    let notes = agent.provide("notes.txt", NOTES).await.map_err(failed)?;

    step(out, "1", "The agent proposes to read a file. The policy lets that pass: tier A.");
    let reading =
        Proposal { files: vec![notes.clone()], ..proposal("sha256sum", &["notes.txt"], "I need its digest.")? };
    let action = carry_out(world, &agent, &reading, out).await?;
    show_evidence(&world.reviewer, &action, out).await?;

    step(out, "2", "It proposes to run a script. That needs you: tier B.");
    let counting = Proposal {
        files: vec![notes],
        outputs: vec!["report.txt".into()],
        ..proposal("sh", &["wc -l < notes.txt > report.txt"], "Counting lines is harmless, trust me.\u{202e}")?
    };
    let action = agent.propose(&counting).await.map_err(failed)?;
    decide(&world.reviewer, &action, yes, out).await?;
    let action = agent.wait(action.id, PATIENCE).await.map_err(failed)?;
    show_evidence(&world.reviewer, &action, out).await?;

    step(out, "3", "It proposes to scan a host outside the scope. Nobody can approve that: tier D.");
    let scanning =
        Proposal { target: Some("10.0.9.9".parse().map_err(usage)?), ..proposal("nmap", &["-sV"], "Please.")? };
    let action = agent.propose(&scanning).await.map_err(failed)?;
    out.note(&card::card(&detail(&world.reviewer, &action).await?, None));

    step(out, "4", "The agent is done; you accept the results.");
    let results = agent.finish("counted the lines of notes.txt").await.map_err(failed)?;
    let done: RunView =
        world.reviewer.post_if(AcceptResults { run: run.id }, results.review, &Decision::default()).await?;
    out.note(&format!("{} {}", styled(GOOD, done.status), done.meaning));

    step(out, "5", "A stranger checks the record, offline, with nothing but files and a public key.");
    check(&world.operator, world.dir(), out).await?;
    Ok(run.id)
}

fn step(out: &Out, number: &str, text: &str) {
    out.note(&format!("\n{} {}", styled(BOLD, format!("── {number} ──")), styled(BOLD, text)));
}

fn usage(error: impl std::fmt::Display) -> CliError {
    CliError::failed(error.to_string())
}

fn failed(error: AgentError) -> CliError {
    match error {
        AgentError::Control(error) => error.into(),
        AgentError::RunOver(_) | AgentError::TimedOut(_) => CliError::failed(error.to_string()),
    }
}

/// An operator makes the run, the reviewer approves its plan, the operator starts it.
async fn undertake(world: &World) -> Result<RunView, CliError> {
    let plan = vec!["read notes.txt".into(), "count its lines into report.txt".into()];
    let new = NewRun::usual(world.project.id, "report on notes.txt".into(), "demo".into(), world.agent_id, plan);
    let run: RunView = world.operator.post(CreateRun {}, &new).await?;
    world.reviewer.post_if(ApprovePlan { run: run.id }, run.review, &Decision::default()).await?;
    Ok(world.operator.post(StartRun { run: run.id }, &Decision::default()).await?)
}

impl World {
    /// A run whose plan is approved and whose agent has reported in.
    pub(crate) async fn started_run(&self) -> Result<RunId, CliError> {
        let run = undertake(self).await?.id;
        Agent::attach(self.agent.clone(), run, PATIENCE).await.map_err(failed)?;
        Ok(run)
    }
}

fn proposal(tool: &str, arguments: &[&str], justification: &str) -> Result<Proposal, CliError> {
    Ok(Proposal {
        tool: tool.parse().map_err(usage)?,
        arguments: arguments.iter().map(ToString::to_string).collect(),
        target: None,
        environment: BTreeMap::new(),
        files: Vec::new(),
        outputs: Vec::new(),
        network: Vec::new(),
        credentials: BTreeSet::new(),
        timeout_ms: None,
        justification: justification.to_owned(),
    })
}

async fn carry_out(world: &World, agent: &Agent, wanted: &Proposal, out: &Out) -> Result<ActionView, CliError> {
    let proposed = agent.propose(wanted).await.map_err(failed)?;
    out.note(&card::card(&detail(&world.reviewer, &proposed).await?, None));
    agent.wait(proposed.id, PATIENCE).await.map_err(failed)
}

async fn detail(client: &Client, action: &ActionView) -> Result<ActionDetail, CliError> {
    Ok(client.get(ShowAction { action: action.id }).await?)
}

async fn decide(reviewer: &Client, action: &ActionView, yes: bool, out: &Out) -> Result<(), CliError> {
    let detail = detail(reviewer, action).await?;
    if yes {
        out.note(&card::card(&detail, None));
        out.note(&styled(DIM, "approved without asking, because of --yes"));
    } else {
        ask(&detail, None).await?;
    }
    approve(reviewer, reviewer.server(), &detail, &detail.action.review.to_string()).await.map(drop)
}

async fn show_evidence(client: &Client, action: &ActionView, out: &Out) -> Result<(), CliError> {
    let (detail, manifest) = find(client, &action.id.to_string()).await?;
    out.note(&format!("{} {}, executed in a cage; evidence:", card::status(&detail.action), manifest.exit));
    for item in &manifest.items {
        let bytes = fetch(client, &detail, item).await?;
        let text = String::from_utf8_lossy(&bytes);
        let shown = text.lines().map(spelled_out).collect::<Vec<_>>().join(" / ");
        out.note(&format!("  {:<14} {}  {}", item.name, styled(DIM, &item.digest.to_string()[..19]), shown));
    }
    if manifest.exit.is_success() {
        return Ok(());
    }
    Err(CliError::failed("the demo's action did not succeed on this machine")
        .hint("`placet doctor` tells what is missing"))
}

/// Exports the ledger, verifies it, then changes one bit of the copy and verifies again.
async fn check(operator: &Client, dir: &Path, out: &Out) -> Result<(), CliError> {
    let copy = dir.join("export");
    let (head, key) = export(operator, &copy, out).await?;
    let report = bundle::verify(&copy, &key, Some(&head));
    if !report.is_sound() {
        return Err(CliError::new(Code::Integrity, words(&report)));
    }
    out.note(&format!("{}\n{}", words(&report), styled(DIM, format!("key {key}"))));
    flip_one_bit(&copy, &key, out)?;
    if out.is_json() {
        out.answer(&serde_json::json!({ "verified": true, "entries": report.entries, "key": key.to_string() }), |_| {
            String::new()
        });
    }
    Ok(())
}

fn flip_one_bit(copy: &Path, key: &VerifierKey, out: &Out) -> Result<(), CliError> {
    let path = bundle_file(&copy.join("tile/entries"))?;
    let mut bytes = std::fs::read(&path)?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(&path, bytes)?;
    let report = bundle::verify(copy, key, None);
    if report.is_sound() {
        return Err(CliError::new(Code::Integrity, "a changed bit was not noticed"));
    }
    out.note(&format!("One bit of the copy changed, on purpose:\n{}", words(&report)));
    Ok(())
}

/// The one file of entries there is after so short a story.
fn bundle_file(dir: &Path) -> Result<std::path::PathBuf, CliError> {
    let first = std::fs::read_dir(dir)?.next().transpose()?;
    match first.map(|entry| entry.path()) {
        Some(path) if path.is_dir() => bundle_file(&path),
        Some(path) => Ok(path),
        None => Err(CliError::failed("the export holds no entries")),
    }
}
