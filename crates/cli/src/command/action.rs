//! `placet action`: propose and take back as an agent; decide what becomes of an interrupted one as a reviewer.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use placet_agent::Agent;
use placet_domain::action::Resolution;
use placet_domain::proposal::{FileOperand, Proposal};
use placet_wire::Client;
use placet_wire::api::{ActionView, ResolutionRequest, Withdrawal};
use placet_wire::endpoint::{ResolveAction, WithdrawAction};

use super::approve::Looked;
use super::word::{Asks, agree, is_attended, rightly, takes_name};
use crate::card;
use crate::context::{Who, action_id, run_id, short};
use crate::error::{CliError, Code};
use crate::out::{DIM, Out, styled};
use crate::progress::WaitLine;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Propose an action in a run and say what the policy thinks of it
    Propose(Box<ProposeArgs>),
    /// Take a proposal back
    Withdraw {
        /// The action, by its id or the end of it
        action: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Decide what becomes of an action whose worker was lost while it ran
    #[command(
        after_help = "Nobody knows how far an interrupted action got. Look at what it does before you let it run again. Where two people are asked, the name of the tool is typed for that, or given as --confirm.\n\nExamples:\n  placet --as ada action resolve ACTION --retry --reason 'it only reads'\n  placet --as ada action resolve ACTION --abandon --reason 'it may have sent the mail'"
    )]
    Resolve {
        /// The action, by its id or the end of it
        action: String,
        #[command(flatten)]
        what: What,
        /// Why; it goes into the record
        #[arg(long)]
        reason: String,
        /// The attempt you saw; what was interrupted again since is another question
        #[arg(long, value_name = "NUMBER")]
        attempt: Option<u32>,
        /// The name of the tool: where two people are asked, nothing is run again without it
        #[arg(long, value_name = "TOOL", conflicts_with = "abandon")]
        confirm: Option<String>,
    },
}

/// One of the two, and always said: neither is a safe default.
#[derive(Debug, clap::Args)]
#[group(required = true, multiple = false)]
pub(crate) struct What {
    /// It is safe to run it again
    #[arg(long)]
    retry: bool,
    /// It is not, or no longer wanted
    #[arg(long)]
    abandon: bool,
}

#[derive(Debug, clap::Args)]
#[command(
    after_help = "Examples:\n  placet --as tom action propose RUN sh 'wc -l notes.txt > lines.txt' --file notes.txt --output lines.txt\n  placet --as tom action propose RUN nmap --target 10.0.0.5 -- -sV -Pn -p 1-1000"
)]
pub(crate) struct ProposeArgs {
    /// The run, by its id or the end of it
    run: String,
    /// A tool of tools.toml
    tool: String,
    /// What the tool is given; write `--` before arguments that begin with a hyphen
    arguments: Vec<String>,
    /// A host, network or URL within the scope
    #[arg(long)]
    target: Option<String>,
    /// A file handed to the program, under its own name
    #[arg(long = "file", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A file the program leaves that becomes evidence
    #[arg(long = "output", value_name = "PATH")]
    outputs: Vec<String>,
    /// NAME=VALUE
    #[arg(long = "env", value_name = "NAME=VALUE")]
    environment: Vec<String>,
    /// Whom it may reach beside its target, like http://10.0.0.5:8080/v1 or 'GET https://example.org/v1'
    #[arg(long = "network", value_name = "[METHODS ]TARGET")]
    network: Vec<String>,
    /// A credential of the team that is put into its requests, by its name in credentials.toml; the program never sees it
    #[arg(long = "credential", value_name = "NAME")]
    credentials: Vec<String>,
    /// The agent's own words; shown to reviewers as untrusted
    #[arg(long, default_value = "")]
    because: String,
    /// Wait this many seconds until it is done or decided
    #[arg(long, value_name = "SECONDS")]
    wait: Option<u64>,
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::Propose(args) => propose(*args, client, out).await,
        Command::Withdraw { action, reason } => withdraw(&client, &action, reason, out).await,
        Command::Resolve { action, what, reason, attempt, confirm } => {
            let looked = Looked::at(&client, &action).await?;
            let seen = &looked.detail.action;
            rightly(confirm.as_deref(), seen)?;
            if what.retry && takes_name(seen) && confirm.is_none() {
                again(&looked).await?;
            }
            let resolution = if what.retry { Resolution::Retry } else { Resolution::Abandon };
            let request = ResolutionRequest { resolution, reason, attempt: Some(attempt.unwrap_or(seen.attempt)) };
            answer(out, &client.post(ResolveAction { action: seen.id }, &request).await?);
            Ok(())
        }
    }
}

/// Where two people are asked, each types what it is before it is run again.
async fn again(looked: &Looked) -> Result<(), CliError> {
    let (action, asks) = (&looked.detail.action, Asks::about(&looked.detail.action));
    if !is_attended() {
        let why = format!("two people are asked about {}: its tool is named to run it again", short(action.id));
        let how = format!(
            "`placet show {}` shows it; then --confirm {} --attempt {}",
            action.id, action.tool, action.attempt
        );
        return Err(CliError::usage(why).hint(how));
    }
    agree(&asks, &card::card(&looked.detail, looked.before.as_ref()), "run exactly this again?").await
}

async fn withdraw(client: &Client, action: &str, reason: String, out: &Out) -> Result<(), CliError> {
    let action = action_id(client, action).await?;
    answer(out, &client.post(WithdrawAction { action }, &Withdrawal { reason }).await?);
    Ok(())
}

fn answer(out: &Out, view: &ActionView) {
    out.answer(view, |view| format!("{}\n{}", card::rows([view]), styled(DIM, view.id)));
}

async fn propose(args: ProposeArgs, client: Client, out: &Out) -> Result<(), CliError> {
    let run = run_id(&client, &args.run).await?;
    let agent = Agent::attach(client, run, Duration::from_secs(5)).await.map_err(failed)?;
    let proposal = proposal(&agent, &args).await?;
    let mut view = agent.propose(&proposal).await.map_err(failed)?;
    if let Some(seconds) = args.wait {
        let _wait = WaitLine::start(out, "waiting for a decision and a worker");
        view = agent.wait(view.id, Duration::from_secs(seconds)).await.map_err(failed)?;
    }
    answer(out, &view);
    verdict(&view)
}

/// A refusal by policy is an answer, with a code of its own for scripts.
fn verdict(view: &ActionView) -> Result<(), CliError> {
    if view.verdict.tier != "D" {
        return Ok(());
    }
    let reasons: Vec<&str> = view
        .verdict
        .reasons
        .iter()
        .filter(|reason| reason.demands == "D")
        .map(|reason| reason.because.as_str())
        .collect();
    Err(CliError::new(Code::Refused, format!("refused by policy: {}", reasons.join("; "))))
}

fn failed(error: placet_agent::AgentError) -> CliError {
    match error {
        placet_agent::AgentError::Control(error) => error.into(),
        placet_agent::AgentError::TimedOut(_) => CliError::new(Code::Waiting, error.to_string()).hint("placet queue"),
        placet_agent::AgentError::RunOver(_) => CliError::new(Code::Conflict, error.to_string()),
    }
}

async fn proposal(agent: &Agent, args: &ProposeArgs) -> Result<Proposal, CliError> {
    let usage = |error: &dyn std::fmt::Display| CliError::usage(error.to_string());
    Ok(Proposal {
        tool: args.tool.parse().map_err(|error| usage(&error))?,
        arguments: args.arguments.clone(),
        target: args.target.as_deref().map(str::parse).transpose().map_err(|error| usage(&error))?,
        environment: environment(&args.environment)?,
        files: files(agent, &args.files).await?,
        outputs: args.outputs.clone(),
        network: args
            .network
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()
            .map_err(|error: placet_domain::proposal::BadOpening| usage(&error))?,
        credentials: args
            .credentials
            .iter()
            .map(|text| text.parse())
            .collect::<Result<_, _>>()
            .map_err(|error: placet_domain::name::BadName| usage(&error))?,
        timeout_ms: None,
        justification: args.because.clone(),
    })
}

fn environment(pairs: &[String]) -> Result<BTreeMap<String, String>, CliError> {
    let pair = |text: &String| {
        let (name, value) =
            text.split_once('=').ok_or_else(|| CliError::usage(format!("`{text}` is not NAME=VALUE")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    pairs.iter().map(pair).collect()
}

async fn files(agent: &Agent, paths: &[PathBuf]) -> Result<Vec<FileOperand>, CliError> {
    let mut operands = Vec::new();
    for path in paths {
        let bytes = std::fs::read(path).map_err(|error| CliError::failed(format!("`{}`: {error}", path.display())))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        operands.push(agent.provide(&name, bytes).await.map_err(failed)?);
    }
    Ok(operands)
}
