//! Checkpoints on the command line: what there is to decide, and the decision about exactly that.

use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{ActionView, CheckpointView, Decision, Modification, Rejection, RunView};
use serde::Serialize;

use crate::card;
use crate::context::run_id;
use crate::error::CliError;
use crate::out::{BOLD, Out, styled, table};

async fn look(client: &Client, run: &str) -> Result<CheckpointView, CliError> {
    let id = run_id(client, run).await?;
    Ok(client.get(&format!("/api/v1/runs/{id}/checkpoint")).await?)
}

pub(super) async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let checkpoint = look(client, run).await?;
    out.answer(&checkpoint, text);
    if let Some(action) = checkpoint.action {
        out.next(&format!("placet approve {action}"));
    }
    Ok(())
}

pub(super) async fn approve(client: &Client, run: &str, out: &Out) -> Result<RunView, CliError> {
    decide(client, run, "approve", &Decision::default(), out).await
}

pub(super) async fn modify(client: &Client, run: &str, change: &Modification, out: &Out) -> Result<RunView, CliError> {
    decide(client, run, "modify", change, out).await
}

pub(super) async fn reject(client: &Client, run: &str, reason: String, out: &Out) -> Result<RunView, CliError> {
    decide(client, run, "reject", &Rejection { reason }, out).await
}

async fn decide(client: &Client, run: &str, verb: &str, body: &impl Serialize, out: &Out) -> Result<RunView, CliError> {
    let seen = look(client, run).await?;
    out.note(&text(&seen));
    let path = format!("/api/v1/runs/{}/checkpoints/{}/{verb}", seen.run, seen.number);
    Ok(client.post_if(&path, &seen.review.to_string(), body).await?)
}

fn actions(seen: &CheckpointView) -> String {
    let lists = [
        ("done", "actions_done", &seen.actions_done),
        ("waiting", "actions_next", &seen.actions_next),
        ("interrupted; decide with `placet action resolve`", "actions_interrupted", &seen.actions_interrupted),
    ];
    let list = |(title, name, actions): (&str, &str, &Vec<ActionView>)| {
        let rows: Vec<Vec<String>> = actions.iter().map(card::row).collect();
        let more = if seen.longer.iter().any(|longer| longer == name) { "\n… and older ones" } else { "" };
        format!("\n{title}\n{}{more}", table(&rows))
    };
    lists.into_iter().filter(|(_, _, actions)| !actions.is_empty()).map(list).collect()
}

fn text(seen: &CheckpointView) -> String {
    let CheckpointView { number, kind, step, of_steps, percent, summary, .. } = seen;
    let mut text = format!("{} {}\n", styled(BOLD, format!("checkpoint {number} ({kind})")), spelled_out(summary));
    text.push_str(&format!("step {step} of {of_steps} ({percent} %), at work for {} s\n", seen.worked_ms / 1_000));
    text.push_str(&format!("spent: {} actions, {} pages\n", seen.spent.actions, seen.spent.pages));
    text.push_str(&actions(seen));
    if !seen.steps_next.is_empty() {
        text.push_str(&format!(
            "\nnext: {}\n",
            seen.steps_next.iter().map(|step| spelled_out(step)).collect::<Vec<_>>().join("; ")
        ));
    }
    if let Some(passes_at) = &seen.passes_at {
        text.push_str(&format!("passes by itself at {passes_at} if nobody decides\n"));
    }
    text.push_str(&format!("you can: {}", seen.options.join(", ")));
    text
}
