//! `placet run`: make, decide, move and watch runs.

use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{
    AuditRow, AuditTrail, Decision, NewRun, PlanSubmission, Reason, Rejection, RunList, RunView, Summary,
};

use super::{identity, project};
use crate::card;
use crate::context::{Who, all_actions, all_runs, run_id, short};
use crate::error::CliError;
use crate::out::{BOLD, DIM, Out, styled, table};

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Command {
    /// Make a run; with steps, its plan waits for a reviewer at once
    #[command(
        after_help = "Example:\n  placet run new 'scan the lab' --scope lab --agent tom --step 'scan' --step 'report'"
    )]
    New {
        goal: String,
        #[arg(long)]
        scope: String,
        /// The agent that will work in it, by name or id
        #[arg(long)]
        agent: String,
        #[arg(long = "step", value_name = "TEXT")]
        plan: Vec<String>,
        #[arg(long)]
        project: Option<String>,
    },
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
    /// Approve the plan as it stands (you are shown it first)
    Approve { run: String },
    /// Send the plan back
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
    /// Say, as its agent, that the work is done; a reviewer decides on the results
    Finish {
        run: String,
        #[arg(long, default_value = "")]
        summary: String,
    },
    /// Accept the results of a finished run
    Complete { run: String },
    /// Send a finished run back to work
    RejectResults {
        run: String,
        #[arg(long)]
        reason: String,
    },
    /// Follow what happens, live
    Watch { run: String },
    /// All that happened, from the ledger
    Audit { run: String },
}

pub(crate) async fn run(command: Command, who: &Who, out: &Out) -> Result<(), CliError> {
    let client = who.client()?;
    match command {
        Command::New { goal, scope, agent, plan, project } => {
            let project = project::find(&client, project.as_deref()).await?.id;
            let agent = identity::find(&client, &agent).await?;
            let made: RunView = client.post("/api/v1/runs", &NewRun { project, goal, scope, agent, plan }).await?;
            answer(out, &made);
        }
        Command::List => list(&client, out).await?,
        Command::Show { run } => show(&client, &run, out).await?,
        Command::Submit { run, plan } => change(&client, &run, "submit", &PlanSubmission { plan }, out).await?,
        Command::Approve { run } => approve(&client, &run, "approve", out).await?,
        Command::Reject { run, reason } => change(&client, &run, "reject", &Rejection { reason }, out).await?,
        Command::Start { run } => change(&client, &run, "start", &Decision::default(), out).await?,
        Command::Pause { run, reason } => change(&client, &run, "pause", &Reason { reason }, out).await?,
        Command::Resume { run } => change(&client, &run, "resume", &Decision::default(), out).await?,
        Command::Cancel { run, reason } => change(&client, &run, "cancel", &Reason { reason }, out).await?,
        Command::Finish { run, summary } => change(&client, &run, "finish", &Summary { summary }, out).await?,
        Command::RejectResults { run, reason } => {
            change(&client, &run, "reject-results", &Rejection { reason }, out).await?
        }
        Command::Complete { run } => approve(&client, &run, "complete", out).await?,
        Command::Watch { run } => watch(&client, &run, out).await?,
        Command::Audit { run } => audit(&client, &run, out).await?,
    }
    Ok(())
}

fn answer(out: &Out, run: &RunView) {
    out.answer(run, |run| {
        let because = run.because.as_deref().map(|why| format!(" ({})", spelled_out(why))).unwrap_or_default();
        format!("{} {}{because}\n{}", styled(BOLD, run.status), run.meaning, styled(DIM, run.id))
    });
}

async fn change(
    client: &Client,
    run: &str,
    verb: &str,
    body: &impl serde::Serialize,
    out: &Out,
) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let view: RunView = client.post(&format!("/api/v1/runs/{id}/{verb}"), body).await?;
    answer(out, &view);
    Ok(())
}

/// What is approved is what is shown: the plan or the results as they were just printed.
async fn approve(client: &Client, run: &str, verb: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let seen: RunView = client.get(&format!("/api/v1/runs/{id}")).await?;
    out.note(&plan(&seen));
    let path = format!("/api/v1/runs/{id}/{verb}");
    let view: RunView = client.post_if(&path, &seen.review.to_string(), &Decision::default()).await?;
    answer(out, &view);
    Ok(())
}

fn plan(run: &RunView) -> String {
    let steps = run.plan.iter().enumerate().map(|(index, step)| format!("  {}. {}", index + 1, spelled_out(step)));
    format!("{}\n{}\n  scope {}", styled(BOLD, spelled_out(&run.goal)), steps.collect::<Vec<_>>().join("\n"), run.scope)
}

async fn list(client: &Client, out: &Out) -> Result<(), CliError> {
    let list = RunList { runs: all_runs(client).await?, next: None };
    let row = |run: &RunView| vec![short(run.id), run.status.to_string(), spelled_out(&run.goal)];
    out.answer(&list, |list| table(&list.runs.iter().map(row).collect::<Vec<_>>()));
    Ok(())
}

async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let view: RunView = client.get(&format!("/api/v1/runs/{id}")).await?;
    let actions = all_actions(client, id).await?;
    let both = serde_json::json!({ "run": view, "actions": actions });
    out.answer(&both, |_| {
        let rows: Vec<Vec<String>> = actions.iter().map(card::row).collect();
        format!("{}\n{} {}\n{}\n{}", plan(&view), view.status, view.meaning, said(&view), table(&rows))
    });
    Ok(())
}

/// What was said with the last change, an agent's summary for example. Marked on every line: nobody checked it.
fn said(run: &RunView) -> String {
    let words = run.because.as_deref().unwrap_or_default();
    words.lines().map(|line| format!("  {} {}\n", styled(DIM, "│"), spelled_out(line))).collect()
}

async fn watch(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let mut events = client.follow(&format!("/api/v1/runs/{id}/stream"), None).await?;
    while let Some(event) = events.next().await {
        if out.is_json() {
            out.data(&event.data);
        } else {
            out.line(&format!("{:>6}  {}", event.seq, event.event));
        }
        if matches!(event.event.as_str(), "run.completed" | "run.cancelled" | "run.failed") {
            break;
        }
    }
    Ok(())
}

async fn audit(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let trail = whole_trail(client, &format!("/api/v1/runs/{id}/audit")).await?;
    let row = |row: &AuditRow| {
        let status = row.approval_status.clone().unwrap_or_default();
        let action = row.action.as_deref().map(short).unwrap_or_default();
        vec![row.seq.to_string(), row.timestamp.clone(), row.event.clone(), action, status]
    };
    out.answer(&trail, |trail| table(&trail.rows.iter().map(row).collect::<Vec<_>>()));
    Ok(())
}

/// All of it, page by page: an audit that leaves something out is none.
async fn whole_trail(client: &Client, path: &str) -> Result<AuditTrail, CliError> {
    let mut whole: AuditTrail = client.get(path).await?;
    while let Some(last) = whole.rows.last() {
        let page: AuditTrail = client.get(&format!("{path}?after={}", last.seq)).await?;
        if page.rows.is_empty() {
            break;
        }
        whole.rows.extend(page.rows);
    }
    Ok(whole)
}
