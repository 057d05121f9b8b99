//! The command tree. One file per command; this page only names and dispatches them.

mod action;
mod amend;
mod approve;
mod bench;
mod completions;
mod content;
mod demo;
mod doctor;
mod editor;
mod evidence;
#[cfg(test)]
mod examples;
mod exit_codes;
mod identity;
mod init;
mod ledger;
mod man;
mod policy;
mod project;
mod queue;
mod reject;
mod run;
mod sandbox;
mod scope;
mod serve;
mod show;
mod work;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::context::Who;
use crate::error::CliError;
use crate::out::Out;

/// A governed runtime for autonomous agents: the agent proposes, the human disposes, and a stranger can check it.
#[derive(Debug, Parser)]
#[command(name = "placet", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Try `placet demo`: it needs no key, no network and no root, and leaves nothing behind.")]
pub(crate) struct Cli {
    /// Print JSON instead of words
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(flatten)]
    who: Who,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Watch one governed action from proposal to proof
    Demo(demo::Args),
    /// Set up a home: settings, rules, keys, the first identity
    Init(init::Args),
    /// Run the control plane
    Serve(serve::Args),
    /// Run a worker
    Work(work::Args),
    /// Make and list projects
    #[command(subcommand)]
    Project(project::Command),
    /// Lock and list scopes
    #[command(subcommand)]
    Scope(scope::Command),
    /// Make, list and revoke identities
    #[command(subcommand)]
    Identity(identity::Command),
    /// Make, start, watch and decide runs
    #[command(subcommand)]
    Run(run::Command),
    /// Propose an action as an agent, or resolve an interrupted one
    #[command(subcommand)]
    Action(action::Command),
    /// What waits for a person, riskiest first
    Queue(queue::Args),
    /// One action: why you are asked and exactly what will run
    Show(show::Args),
    /// Approve exactly what was shown, or what you change it to
    Approve(approve::Args),
    /// Refuse, with a reason the agent reads
    Reject(reject::Args),
    /// List and fetch what executions left
    #[command(subcommand)]
    Evidence(evidence::Command),
    /// Check, prove and export the record of everything
    #[command(subcommand)]
    Ledger(ledger::Command),
    /// Check, test and explain the rules
    #[command(subcommand)]
    Policy(policy::Command),
    /// Run a command in a cage by hand, explain cages, list profiles
    #[command(subcommand)]
    Sandbox(sandbox::Command),
    /// What this machine can really enforce
    Doctor(doctor::Args),
    /// Measure appends, the governed loop, decisions, verification and cages; prints JSON
    Bench(bench::Args),
    /// Completions for your shell
    Completions(completions::Args),
    /// Write manual pages
    Man(man::Args),
    /// What the exit codes mean
    ExitCodes,
}

pub(crate) async fn run(cli: Cli, out: &Out) -> Result<ExitCode, CliError> {
    let who = &cli.who;
    let done = match cli.command {
        Command::Demo(args) => demo::run(args, out).await,
        Command::Init(args) => init::run(args, who, out).await,
        Command::Serve(args) => serve::run(args, who, out).await,
        Command::Work(args) => work::run(args, who, out).await,
        Command::Project(command) => project::run(command, who, out).await,
        Command::Scope(command) => scope::run(command, who, out).await,
        Command::Identity(command) => identity::run(command, who, out).await,
        Command::Run(command) => run::run(command, who, out).await,
        Command::Action(command) => action::run(command, who, out).await,
        Command::Queue(args) => queue::run(args, who, out).await,
        Command::Show(args) => show::run(args, who, out).await,
        Command::Approve(args) => approve::run(args, who, out).await,
        Command::Reject(args) => reject::run(args, who, out).await,
        Command::Evidence(command) => evidence::run(command, who, out).await,
        Command::Ledger(command) => ledger::run(command, who, out).await,
        Command::Policy(command) => policy::run(command, who, out),
        // The one command that may end with a code that is not ours.
        Command::Sandbox(command) => return sandbox::run(command, who, out).await,
        Command::Doctor(args) => doctor::run(args, who, out),
        Command::Bench(args) => bench::run(args, out).await,
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args, out),
        Command::ExitCodes => exit_codes::run(out),
    };
    done.map(|()| ExitCode::SUCCESS)
}
