//! `placet run`: make, decide, move and watch runs.

mod archive;
mod asking;
mod audit;
mod budget;
mod calls;
mod checkpoint;
mod effects;
mod export;
mod launch;
mod learn;
mod log;
mod new;
mod onto;
mod pipeline;
mod plan;
mod rollback;
mod watch;
mod wishes;

use placet_domain::budget::{Resource, dollars};
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::run::{GateRules, RunStatus};
use placet_domain::scope::ScopeDraft;
use placet_domain::text::spelled_out;
use placet_wire::api::{
    Decision, Modification, OutputView, PlanSubmission, Reason, Rejection, RunList, RunView, SnapshotView, StepReport,
    Summary,
};
use placet_wire::endpoint::{
    AcceptResults, ApprovePlan, CancelRun, FinishRun, FinishStep, PauseRun, RejectPlan, RejectResults, ResumeRun,
    SetRunBudget, ShowRun, StartRun, SubmitPlan,
};
use placet_wire::{Client, Endpoint};
use serde::Serialize;

use self::asking::{Asks, agreed};
pub(in crate::command) use self::checkpoint::text as checkpoint_text;
pub(in crate::command) use self::rollback::text as rollback_text;
pub(in crate::command) use self::wishes::text as wishes_text;
use crate::card;
use crate::context::{Who, all_actions, all_runs, run_id, short};
use crate::error::CliError;
use crate::out::{BOLD, DIM, Out, styled, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make a run; with steps, its plan waits for a reviewer at once
    New(Box<new::Args>),
    /// Plan from an intent and make a run of it; the plan waits for a reviewer
    Plan(Box<plan::Args>),
    /// The fifteen steps from its intent to its end, and how far it is
    Pipeline { run: String },
    /// Runs, newest first
    List,
    /// One run with its actions
    Show { run: String },
    /// Submit a plan for a draft
    Submit {
        run: String,
        #[arg(long = "step", required = true, value_name = "TEXT")]
        plan: Vec<String>,
    },
    /// Approve the plan or the checkpoint where it stands; it is shown first
    Approve {
        run: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Send the plan back, or what was done since the last checkpoint
    Reject {
        run: String,
        #[arg(long)]
        reason: String,
    },
    /// Start an approved run; its agent may attach
    Start { run: String },
    /// Hold it where it is
    Pause {
        run: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Let it go on
    Resume { run: String },
    /// End it for good
    Cancel {
        run: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// What there is to decide at the checkpoint where it stands
    Checkpoint { run: String },
    /// Let it go on from its checkpoint otherwise: with a note, or with other steps
    Modify {
        run: String,
        /// What its agent should know
        #[arg(long, default_value = "")]
        note: String,
        /// What is to be done instead of the steps that are left
        #[arg(long = "step", value_name = "TEXT")]
        plan: Vec<String>,
    },
    /// What its actions were refused, and what people said to it
    Wishes { run: String },
    /// Open a host that its actions were refused, for a while; it is shown first
    Allow {
        run: String,
        /// The number of the wish; `placet run wishes` lists them
        wish: u32,
        /// For how long; an hour if nothing is said
        #[arg(long, value_name = "MINUTES")]
        minutes: Option<u64>,
    },
    /// Do not open a host that its actions were refused; they are not asked about again
    Deny {
        run: String,
        wish: u32,
        #[arg(long)]
        reason: String,
    },
    /// Close a host again that was opened; connections to it end at once
    Revoke {
        run: String,
        wish: u32,
        #[arg(long)]
        reason: String,
    },
    /// The narrowest network and paths that would have sufficed for it
    Learn(learn::Args),
    /// Have it saved as it is now, to be able to return here
    Snapshot {
        run: String,
        #[arg(long, default_value = "")]
        reason: String,
    },
    /// Go back to a snapshot; what was spent stays spent
    Rollback(rollback::Args),
    /// Say, as its agent, that the next step of the plan is done
    Step {
        run: String,
        step: u32,
        #[arg(long, default_value = "")]
        summary: String,
    },
    /// Set what it may use up
    Budget {
        run: String,
        #[command(flatten)]
        budget: budget::BudgetArgs,
    },
    /// Say, as its agent, that the work is done; a reviewer decides on the results
    Finish {
        run: String,
        #[arg(long, default_value = "")]
        summary: String,
    },
    /// Accept the results of a finished run; they are shown first
    Complete {
        run: String,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Accept the results, and fetch the outputs that you let out
    Export(export::Args),
    /// What it made, and what it only rehearsed and would do outside
    Effects { run: String },
    /// Have done what a finished run only rehearsed, exactly as it was shown
    Perform(effects::PerformArgs),
    /// Send a finished run back to work
    RejectResults {
        run: String,
        #[arg(long)]
        reason: String,
    },
    /// Follow what happens, live, until it is over; the exit code tells how it ended
    Watch(watch::Args),
    /// All that happened, from the ledger
    Audit { run: String },
    /// What its agent says while it works; no evidence, only the newest is kept
    #[command(after_help = "Example:\n  placet --as ada run log RUN --follow")]
    Log {
        run: String,
        /// Go on until the run is over
        #[arg(long)]
        follow: bool,
    },
    /// The calls of language models that it made: model, tokens, cost
    Calls { run: String },
    /// One call, by the number of its entry
    #[command(after_help = "Example:\n  placet --as ada run call RUN 17 --show")]
    Call {
        run: String,
        entry: u64,
        /// What was said, if the project keeps it; for reviewers and auditors
        #[arg(long)]
        show: bool,
    },
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::New(args) => answer(out, &new::make(*args, &client).await?),
        Command::Plan(args) => plan::run(*args, &client, out).await?,
        Command::Pipeline { run } => pipeline::show(&client, &run, out).await?,
        Command::List => list(&client, out).await?,
        Command::Show { run } => show(&client, &run, out).await?,
        Command::Submit { run, plan } => {
            change(&client, &run, |run| SubmitPlan { run }, &PlanSubmission { plan }, out).await?
        }
        Command::Approve { run, yes } => approve(&client, &run, Asks::unless(yes), out).await?,
        Command::Reject { run, reason } => reject(&client, &run, reason, out).await?,
        Command::Checkpoint { run } => checkpoint::show(&client, &run, out).await?,
        Command::Modify { run, note, plan } => {
            let plan = (!plan.is_empty()).then_some(plan);
            answer(out, &checkpoint::modify(&client, &run, &Modification { note, plan }, out).await?);
        }
        Command::Snapshot { run, reason } => rollback::snapshot(&client, &run, reason, out).await?,
        Command::Rollback(args) => rollback::run(args, &client, out).await?,
        Command::Step { run, step, summary } => {
            change(&client, &run, |run| FinishStep { run }, &StepReport { step, summary }, out).await?;
        }
        Command::Budget { run, budget } => {
            change(&client, &run, |run| SetRunBudget { run }, &budget.request()?, out).await?
        }
        Command::Wishes { run } => wishes::show(&client, &run, out).await?,
        Command::Allow { run, wish, minutes } => wishes::allow(&client, &run, wish, minutes, out).await?,
        Command::Deny { run, wish, reason } => {
            wishes::reject(&client, &run, wish, reason, out).await?;
        }
        Command::Revoke { run, wish, reason } => {
            wishes::revoke(&client, &run, wish, reason, out).await?;
        }
        Command::Learn(args) => learn::run(args, &client, out).await?,
        Command::Export(args) => export::run(args, &client, out).await?,
        Command::Effects { run } => effects::show(&client, &run, out).await?,
        Command::Perform(args) => effects::perform(args, &client, out).await?,
        Command::Start { run } => change(&client, &run, |run| StartRun { run }, &Decision::default(), out).await?,
        Command::Pause { run, reason } => {
            change(&client, &run, |run| PauseRun { run }, &Reason { reason }, out).await?
        }
        Command::Resume { run } => change(&client, &run, |run| ResumeRun { run }, &Decision::default(), out).await?,
        Command::Cancel { run, reason } => {
            change(&client, &run, |run| CancelRun { run }, &Reason { reason }, out).await?
        }
        Command::Finish { run, summary } => {
            change(&client, &run, |run| FinishRun { run }, &Summary { summary }, out).await?
        }
        Command::RejectResults { run, reason } => reject_results(&client, &run, reason, out).await?,
        Command::Complete { run, yes } => complete(&client, &run, Asks::unless(yes), out).await?,
        Command::Watch(args) => watch::run(args, &client, out).await?,
        Command::Audit { run } => audit::show(&client, &run, out).await?,
        Command::Log { run, follow } => log::show(&client, &run, follow, out).await?,
        Command::Calls { run } => calls::list(&client, &run, out).await?,
        Command::Call { run, entry, show } => calls::one(&client, &run, entry, show, out).await?,
    }
    Ok(())
}

/// Everything that is approved with a plan, for whoever decides on it.
pub(in crate::command) fn plan_text(run: &RunView) -> String {
    [Some(plan(run)), plan::words(run)].into_iter().flatten().collect::<Vec<_>>().join("\n\n")
}

/// The same with what came of it: whoever accepts results lets all of them out.
pub(in crate::command) fn results_text(run: &RunView) -> String {
    let outputs = outputs(run).unwrap_or_else(|| "\nit made no files\n".to_owned());
    format!("{}\n{outputs}\n{}", plan_text(run), said(run))
}

fn answer(out: &Out, run: &RunView) {
    out.answer(run, |run| {
        let because = run.because.as_deref().map(|why| format!(" ({})", spelled_out(why))).unwrap_or_default();
        format!("{} {}{because}\n{}", styled(BOLD, run.status), run.meaning, styled(DIM, run.id))
    });
}

async fn change<E>(
    client: &Client,
    run: &str,
    endpoint: impl FnOnce(RunId) -> E,
    body: &E::Body,
    out: &Out,
) -> Result<(), CliError>
where
    E: Endpoint<Seen = (), Body: Serialize, Answer = RunView>,
{
    let run = run_id(client, run).await?;
    answer(out, &client.post(endpoint(run), body).await?);
    Ok(())
}

async fn look(client: &Client, run: &str) -> Result<RunView, CliError> {
    let id = run_id(client, run).await?;
    Ok(client.get(ShowRun { run: id }).await?)
}

/// What is approved is what is shown: the plan or the checkpoint as it was just printed.
async fn approve(client: &Client, run: &str, asks: Asks, out: &Out) -> Result<(), CliError> {
    let seen = look(client, run).await?;
    if seen.checkpoint.is_some() {
        answer(out, &checkpoint::approve(client, run, asks, out).await?);
        return Ok(());
    }
    show_all(&seen, out);
    agreed("approve exactly this?", asks, out).await?;
    decide_on(client, &seen, ApprovePlan { run: seen.id }, &Decision::default(), out).await
}

async fn complete(client: &Client, run: &str, asks: Asks, out: &Out) -> Result<(), CliError> {
    let seen = look(client, run).await?;
    show_all(&seen, out);
    agreed("accept exactly these results?", asks, out).await?;
    decide_on(client, &seen, AcceptResults { run: seen.id }, &Decision::default(), out).await
}

async fn reject_results(client: &Client, run: &str, reason: String, out: &Out) -> Result<(), CliError> {
    let seen = look(client, run).await?;
    show_all(&seen, out);
    decide_on(client, &seen, RejectResults { run: seen.id }, &Rejection { reason }, out).await
}

/// What there is to decide on where a run waits for its plan or its results to be approved.
fn show_all(seen: &RunView, out: &Out) {
    out.note(&plan(seen));
    plan::note(seen, out);
    // To accept results lets all of them out.
    if seen.status == RunStatus::PendingExport {
        out.note(&format!("{}{}", said(seen), outputs(seen).unwrap_or_default()));
    }
}

async fn decide_on<E>(client: &Client, seen: &RunView, endpoint: E, body: &E::Body, out: &Out) -> Result<(), CliError>
where
    E: Endpoint<Seen = Digest, Body: Serialize, Answer = RunView>,
{
    answer(out, &client.post_if(endpoint, seen.review, body).await?);
    Ok(())
}

async fn reject(client: &Client, run: &str, reason: String, out: &Out) -> Result<(), CliError> {
    if look(client, run).await?.checkpoint.is_none() {
        return change(client, run, |run| RejectPlan { run }, &Rejection { reason }, out).await;
    }
    answer(out, &checkpoint::reject(client, run, reason, out).await?);
    Ok(())
}

fn plan(run: &RunView) -> String {
    let mark =
        |number: usize| if u32::try_from(number).is_ok_and(|number| number <= run.steps_done) { "✓" } else { " " };
    let steps =
        run.plan.iter().zip(1..).map(|(step, number)| format!("{} {number}. {}", mark(number), spelled_out(step)));
    let (steps, how) = (steps.collect::<Vec<_>>().join("\n"), format!("{}, {}", run.mode, run.effect));
    let parent = run.parent.map(|parent| format!("\n  made by {parent}, which pays for it")).unwrap_or_default();
    let models: Vec<String> = run.models.iter().map(|model| spelled_out(model)).collect();
    let models = if models.is_empty() { String::new() } else { format!("\n  calls  {}", models.join(", ")) };
    let agent = run.launch.as_ref().map(launch::shown).unwrap_or_default();
    let terms = format!(
        "{}  scope {}\n  {how}\n  {}{parent}{}{models}{agent}",
        run.rules.as_ref().map(may).unwrap_or_default(),
        run.scope,
        standstills(&run.checkpoints),
        limits(run)
    );
    format!("{}\n{steps}\n{terms}", styled(BOLD, spelled_out(&run.goal)))
}

/// What its actions may change, reach and use.
fn may(rules: &ScopeDraft) -> String {
    let ScopeDraft { allow, deny, targets, tools } = rules;
    let line = |what: &str, things: Vec<String>| {
        let told = if things.is_empty() { "nothing".to_owned() } else { spelled_out(&things.join("  ")) };
        format!("  {what:<11} {told}\n")
    };
    let never =
        if deny.is_empty() { String::new() } else { line("never", deny.iter().map(ToString::to_string).collect()) };
    let change = line("may change", allow.iter().map(ToString::to_string).collect());
    let reach = line("may reach", targets.iter().map(ToString::to_string).collect());
    change + &never + &reach + &line("may use", tools.iter().map(ToString::to_string).collect())
}

/// Where it will stand still by itself, and what silence will let pass: who approves the plan approves that too.
fn standstills(rules: &GateRules) -> String {
    let minutes = |ms: u64| if ms.is_multiple_of(60_000) { format!("{} min", ms / 60_000) } else { format!("{ms} ms") };
    let before: Vec<&str> = rules.before.iter().map(|kind| kind.as_str()).collect();
    let after: Vec<String> = rules.after.iter().map(ToString::to_string).collect();
    let stops = [
        rules.every_steps.map(|steps| format!("every {steps} steps")),
        (!after.is_empty()).then(|| format!("after step {}", after.join(", "))),
        rules.every_ms.map(|ms| format!("every {} at work", minutes(ms))),
        (!before.is_empty()).then(|| format!("before {}", before.join(", "))),
    ];
    let stops: Vec<String> = stops.into_iter().flatten().collect();
    let stops = if stops.is_empty() { "only where a person is always asked".to_owned() } else { stops.join(", ") };
    let passes = rules.auto_pass_after_ms.map(|ms| format!("; passes by itself after {}", minutes(ms)));
    format!("stands still {stops}{}", passes.unwrap_or_default())
}

fn limits(run: &RunView) -> String {
    let Some(budget) = &run.budget else { return "\n  no budget: nothing is limited".to_owned() };
    let limit = |resource: &Resource| budget.limits.of(*resource).map(|limit| format!("{limit} {resource}"));
    let limits = Resource::ALL.iter().filter_map(limit).collect::<Vec<_>>().join(", ");
    format!("\n  at most {limits}; a person is asked at {} %", budget.warn_at_percent)
}

fn snapshots(run: &RunView) -> Option<String> {
    let row = |snapshot: &SnapshotView| {
        let at = snapshot.checkpoint.map_or_else(|| asked_or_first(snapshot), |number| format!("checkpoint {number}"));
        let spent = format!("{} tokens, {}", snapshot.spent.tokens, dollars(snapshot.spent.usd_micros));
        vec![snapshot.number.to_string(), snapshot.taken_at.clone(), at, format!("{} files", snapshot.files), spent]
    };
    let rows: Vec<Vec<String>> = run.snapshots.iter().map(row).collect();
    (!rows.is_empty()).then(|| format!("\nsnapshots\n{}\n", table(&rows)))
}

fn asked_or_first(snapshot: &SnapshotView) -> String {
    if snapshot.number == 0 { "at the start".to_owned() } else { "on demand".to_owned() }
}

fn outputs(run: &RunView) -> Option<String> {
    let row = |output: &OutputView| {
        let out = if output.exported { "let out" } else { "" };
        vec![output.id.to_string(), spelled_out(&output.path), format!("{} bytes", output.size_bytes), out.to_owned()]
    };
    let rows: Vec<Vec<String>> = run.outputs.iter().map(row).collect();
    (!rows.is_empty()).then(|| format!("\noutputs\n{}\n", table(&rows)))
}

async fn list(client: &Client, out: &Out) -> Result<(), CliError> {
    let list = RunList { runs: all_runs(client).await?, next: None };
    let row = |run: &RunView| vec![short(run.id), run.status.to_string(), spelled_out(&run.goal)];
    out.answer(&list, |list| table(&list.runs.iter().map(row).collect::<Vec<_>>()));
    Ok(())
}

async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let view: RunView = client.get(ShowRun { run: id }).await?;
    let actions = all_actions(client, id).await?;
    let both = serde_json::json!({ "run": view, "actions": actions });
    out.answer(&both, |_| {
        let state = [budget::line(&view), snapshots(&view), outputs(&view)].into_iter().flatten().collect::<String>();
        format!("{}\n{} {}\n{}{state}\n{}", plan(&view), view.status, view.meaning, said(&view), card::rows(&actions))
    });
    Ok(())
}

/// What was said with the last change, an agent's summary for example. Marked on every line: nobody checked it.
fn said(run: &RunView) -> String {
    let words = run.because.iter().chain(run.said.iter().filter(|said| Some(*said) != run.because.as_ref()));
    words
        .flat_map(|words| words.lines())
        .map(|line| format!("  {} {}\n", styled(DIM, "│"), spelled_out(line)))
        .collect()
}
