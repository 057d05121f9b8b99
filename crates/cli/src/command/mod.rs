//! The command tree. One file per command; this page only names and dispatches them.

mod action;
mod amend;
mod approve;
mod attention;
mod away;
mod bench;
mod catalog;
mod completions;
mod content;
mod decisions;
mod demo;
mod doctor;
mod editor;
mod evidence;
#[cfg(test)]
mod examples;
mod exit_codes;
mod identity;
mod init;
mod kill;
mod ledger;
mod link;
mod man;
mod model;
mod notify;
mod order;
mod policy;
mod project;
mod queue;
mod reject;
mod retention;
mod review;
mod run;
mod safe_mode;
mod sandbox;
mod scope;
pub(crate) mod serve;
mod show;
mod until;
mod watch;
mod word;
mod work;
mod worktree;

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
    /// Set up a home and, in a git repository, the team's files
    Init(init::Args),
    /// Give an agent a ticket, a branch and a worktree
    Start(worktree::start::Args),
    /// What an agent is told when it begins to work at a ticket
    Prompt(worktree::prompt::Args),
    /// Run a command in the cage of a worktree, and take over what it did
    Exec(worktree::exec::Args),
    /// Work in the cage of a worktree by hand
    Shell(worktree::shell::Args),
    /// Trust a repository with what its setup requests of this machine
    Trust(worktree::trust::Args),
    /// All worktrees, as recorded and as they are on disk
    Status(worktree::status::Args),
    /// Judge everything a worktree changed; the exit code tells
    ScopeCheck(worktree::check::Args),
    /// Run the definition of done, write the report, and close a worktree
    Close(worktree::close::Args),
    /// Let the next agent of a ticket start from the previous one's branch
    Handoff(worktree::handoff::Args),
    /// A pull request, ready to paste; pushes the branch only if asked to
    Pr(worktree::pr::Args),
    /// Take the work of a closed worktree over into its base branch
    Merge(worktree::merge::Args),
    /// Give a worktree up
    Abort(worktree::abort::Args),
    /// Bring disk and record in line after a crash
    Adopt(worktree::adopt::Args),
    /// Remove worktrees that are done, and checkouts nobody uses
    Gc(worktree::gc::Args),
    /// Leave to change protected paths
    #[command(subcommand)]
    Exempt(worktree::exempt::Command),
    /// Who is accountable, responsible, consulted and informed
    #[command(subcommand)]
    Duties(worktree::duties::Command),
    /// What you are to be told of, by your duties
    Notices(worktree::duties::NoticeArgs),
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
    /// A link that lets a person in once, by a browser
    Link(link::Args),
    /// Somebody else is told what you would be told, for a while
    Away(away::Args),
    /// How people are told that something waits for them
    #[command(subcommand)]
    Notify(notify::Command),
    /// Stop everything at once
    Kill(kill::Args),
    /// Let everything only look, or see whether that is so
    SafeMode(safe_mode::Args),
    /// What waits for a person, riskiest first
    Queue(queue::Args),
    /// Decide in a whole window: the queue, the cards, one key each
    Review(review::Args),
    /// Everything that happens, live
    Watch(watch::Args),
    /// How long questions to people wait and how they end
    Decisions(decisions::Args),
    /// One action: why you are asked and exactly what will run
    Show(show::Args),
    /// Approve exactly what was shown, or what you change it to
    Approve(approve::Args),
    /// Standing orders: approve an action and its like in a run until then
    #[command(subcommand)]
    Order(order::Command),
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
    /// Agents and templates of plans: list, show, check
    #[command(subcommand)]
    Catalog(catalog::Command),
    /// Language models: check the settings, play one from a script
    #[command(subcommand)]
    Model(model::Command),
    /// Run a command in a cage by hand, explain cages, list profiles
    #[command(subcommand)]
    Sandbox(sandbox::Command),
    /// What this machine can really enforce
    Doctor(doctor::Args),
    /// Measure the ledger, the governed loop, policy, cages and gateway; JSON
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
        Command::Start(args) => worktree::start::run(args, who, out).await,
        Command::Prompt(args) => worktree::prompt::run(args, who, out).await,
        Command::Exec(args) => return worktree::exec::run(args, who, out).await,
        Command::Shell(args) => return worktree::shell::run(args, who, out).await,
        Command::Trust(args) => worktree::trust::run(args, who, out).await,
        Command::Status(args) => worktree::status::run(args, who, out).await,
        Command::ScopeCheck(args) => worktree::check::run(args, who, out).await,
        Command::Close(args) => worktree::close::run(args, who, out).await,
        Command::Handoff(args) => worktree::handoff::run(args, who, out).await,
        Command::Pr(args) => worktree::pr::run(args, who, out).await,
        Command::Merge(args) => worktree::merge::run(args, who, out).await,
        Command::Abort(args) => worktree::abort::run(args, who, out).await,
        Command::Adopt(args) => worktree::adopt::run(args, who, out).await,
        Command::Gc(args) => worktree::gc::run(args, who, out).await,
        Command::Exempt(command) => worktree::exempt::run(command, who, out).await,
        Command::Duties(command) => worktree::duties::run(command, who, out).await,
        Command::Notices(args) => worktree::duties::notices(args, who, out).await,
        Command::Serve(args) => serve::run(args, who, out).await,
        Command::Work(args) => work::run(args, who, out).await,
        Command::Project(command) => project::run(command, who, out).await,
        Command::Scope(command) => scope::run(command, who, out).await,
        Command::Identity(command) => identity::run(command, who, out).await,
        Command::Run(command) => run::run(command, who, out).await,
        Command::Action(command) => action::run(command, who, out).await,
        Command::Link(args) => link::run(args, who, out).await,
        Command::Away(args) => away::run(args, who, out).await,
        Command::Notify(command) => notify::run(command, who, out).await,
        Command::Kill(args) => kill::run(args, who, out).await,
        Command::SafeMode(args) => safe_mode::run(args, who, out).await,
        Command::Queue(args) => queue::run(args, who, out).await,
        Command::Review(args) => review::run(args, who, out).await,
        Command::Watch(args) => watch::run(args, who, out).await,
        Command::Decisions(args) => decisions::run(args, who, out).await,
        Command::Show(args) => show::run(args, who, out).await,
        Command::Approve(args) => approve::run(args, who, out).await,
        Command::Order(command) => order::run(command, who, out).await,
        Command::Reject(args) => reject::run(args, who, out).await,
        Command::Evidence(command) => evidence::run(command, who, out).await,
        Command::Ledger(command) => ledger::run(command, who, out).await,
        Command::Policy(command) => policy::run(command, who, out),
        Command::Catalog(command) => catalog::run(command, who, out),
        Command::Model(command) => model::run(command, who, out).await,
        // Commands that may end with a code that is not ours.
        Command::Sandbox(command) => return sandbox::run(command, who, out).await,
        Command::Doctor(args) => doctor::run(args, who, out),
        Command::Bench(args) => bench::run(args, out).await,
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args, out),
        Command::ExitCodes => exit_codes::run(out),
    };
    done.map(|()| ExitCode::SUCCESS)
}
