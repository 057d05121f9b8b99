//! Checkpoints on the command line: what there is to decide, and the decision about exactly that.

use placet_domain::budget::dollars;
use placet_domain::digest::Digest;
use placet_domain::id::RunId;
use placet_domain::text::spelled_out;
use placet_wire::api::{ActionView, CheckpointView, Decision, Modification, PieceView, Rejection, RunView};
use placet_wire::endpoint::{ApproveCheckpoint, ModifyCheckpoint, RejectCheckpoint, ShowCheckpoint};
use placet_wire::{Client, Endpoint};
use serde::Serialize;

use super::asking::{Asks, agreed};
use crate::card;
use crate::context::{run_id, short};
use crate::error::CliError;
use crate::out::{BOLD, DIM, Out, styled, table};

async fn look(client: &Client, run: &str) -> Result<CheckpointView, CliError> {
    let id = run_id(client, run).await?;
    Ok(client.get(ShowCheckpoint { run: id }).await?)
}

pub(super) async fn show(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let checkpoint = look(client, run).await?;
    out.answer(&checkpoint, text);
    if let Some(action) = checkpoint.action {
        out.next(&format!("placet approve {action}"));
    }
    Ok(())
}

pub(super) async fn approve(client: &Client, run: &str, asks: Asks, out: &Out) -> Result<RunView, CliError> {
    let seen = look(client, run).await?;
    out.note(&text(&seen));
    agreed("approve exactly this?", asks, out).await?;
    send(client, &seen, |run, number| ApproveCheckpoint { run, number }, &Decision::default()).await
}

pub(super) async fn modify(client: &Client, run: &str, change: &Modification, out: &Out) -> Result<RunView, CliError> {
    let seen = look(client, run).await?;
    out.note(&text(&seen));
    send(client, &seen, |run, number| ModifyCheckpoint { run, number }, change).await
}

pub(super) async fn reject(client: &Client, run: &str, reason: String, out: &Out) -> Result<RunView, CliError> {
    let seen = look(client, run).await?;
    out.note(&text(&seen));
    send(client, &seen, |run, number| RejectCheckpoint { run, number }, &Rejection { reason }).await
}

/// Sends a decision on the checkpoint as it was shown.
async fn send<E>(
    client: &Client,
    seen: &CheckpointView,
    endpoint: impl FnOnce(RunId, u32) -> E,
    body: &E::Body,
) -> Result<RunView, CliError>
where
    E: Endpoint<Seen = Digest, Body: Serialize, Answer = RunView>,
{
    Ok(client.post_if(endpoint(seen.run, seen.number), seen.review, body).await?)
}

fn actions(seen: &CheckpointView) -> String {
    let lists = [
        ("done", "actions_done", &seen.actions_done),
        ("waiting", "actions_next", &seen.actions_next),
        ("interrupted; decide with `placet action resolve`", "actions_interrupted", &seen.actions_interrupted),
    ];
    let list = |(title, name, actions): (&str, &str, &Vec<ActionView>)| {
        let more = if seen.longer.iter().any(|longer| longer == name) { "\n… and older ones" } else { "" };
        format!("\n{title}\n{}{more}", card::rows(actions))
    };
    lists.into_iter().filter(|(_, _, actions)| !actions.is_empty()).map(list).collect()
}

/// What the actions left, and where to look at it. What else the run changed is known to its host alone.
fn left(seen: &CheckpointView) -> String {
    let list = |title: &str, name: &str, pieces: &[PieceView]| {
        let row = |piece: &PieceView| {
            let (path, size) = (spelled_out(&piece.path), format!("{} bytes", piece.size_bytes));
            vec![short(piece.action), path, size, piece.digest.to_string()]
        };
        let rows: Vec<Vec<String>> = pieces.iter().map(row).collect();
        let more = if seen.longer.iter().any(|longer| longer == name) { "\n… and older ones" } else { "" };
        if rows.is_empty() { format!("\n{title}: none") } else { format!("\n{title}\n{}{more}", table(&rows)) }
    };
    let outputs = list("outputs of these actions", "outputs", &seen.outputs);
    let screenshots = list("screenshots", "screenshots", &seen.screenshots);
    let fetch = if seen.outputs.is_empty() && seen.screenshots.is_empty() {
        String::new()
    } else {
        format!("\n{}", styled(DIM, "placet evidence get ACTION out/PATH --to FILE fetches one of them, checked"))
    };
    format!("{outputs}{screenshots}{fetch}{}", saved(seen))
}

fn saved(seen: &CheckpointView) -> String {
    let Some(saved) = &seen.saved else { return String::new() };
    let look = format!("placet run rollback {} --to 0 --preview lists them", short(seen.run));
    let (number, files, size) = (saved.number, saved.files, saved.size_bytes);
    format!("\nsaved as snapshot {number}: {files} files that it made or changed, {size} bytes\n{}", styled(DIM, look))
}

fn used(seen: &CheckpointView) -> String {
    let spent = &seen.spent;
    let (tokens, cost) = (spent.tokens, dollars(spent.usd_micros));
    let time = format!("at work for {} s", seen.worked_ms / 1_000);
    format!("used so far: {tokens} tokens, {cost}, {} actions, {} pages, {time}\n", spent.actions, spent.pages)
}

/// Each option with what one would type.
fn options(seen: &CheckpointView) -> String {
    let run = short(seen.run);
    let command = |option: &String| match (option.as_str(), seen.snapshot) {
        ("modify", _) => format!("placet run modify {run} --note TEXT"),
        ("reject", _) => format!("placet run reject {run} --reason TEXT"),
        ("rollback", number) => format!("placet run rollback {run} --to {} --reason TEXT", number.unwrap_or(0)),
        (verb, _) => format!("placet run {verb} {run}"),
    };
    let row = |option: &String| vec![format!("  {option}"), command(option)];
    format!("you can\n{}", table(&seen.options.iter().map(row).collect::<Vec<_>>()))
}

/// The whole card: everything there is to decide on.
pub(in crate::command) fn text(seen: &CheckpointView) -> String {
    let CheckpointView { run, number, kind, step, of_steps, percent, summary, .. } = seen;
    let mut text = format!("{} {}\n", styled(BOLD, format!("checkpoint {number} ({kind})")), spelled_out(summary));
    text.push_str(&format!("{}\n", styled(DIM, format!("{run}, since {}", seen.reached_at))));
    text.push_str(&format!("step {step} of {of_steps} ({percent} %)\n{}", used(seen)));
    if let Some(resource) = seen.resource {
        text.push_str(&format!("nearly used up: {resource}\n"));
    }
    text.push_str(&actions(seen));
    text.push_str(&left(seen));
    if !seen.steps_next.is_empty() {
        let steps: Vec<String> = seen.steps_next.iter().map(|step| spelled_out(step)).collect();
        text.push_str(&format!("\nnext: {}", steps.join("; ")));
    }
    if let Some(passes_at) = &seen.passes_at {
        text.push_str(&format!("\npasses by itself at {passes_at} if nobody decides"));
    }
    text.push_str(&format!("\n{}", options(seen)));
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(prefix: &str) -> String {
        format!("{prefix}_{}", "0".repeat(32))
    }

    fn piece(path: &str, size_bytes: u64) -> serde_json::Value {
        let digest = format!("sha256:{}", "ab".repeat(32));
        serde_json::json!({ "action": id("act"), "path": path, "digest": digest, "size_bytes": size_bytes, "link": "/x" })
    }

    fn checkpoint() -> CheckpointView {
        let digest = format!("sha256:{}", "0".repeat(64));
        let saved = serde_json::json!({
            "number": 4, "taken_at": "2026-01-31T09:30:00.000Z", "workspace": digest, "memory": digest, "files": 12,
            "size_bytes": 3456, "steps_done": 1, "spent": {},
        });
        serde_json::from_value(serde_json::json!({
            "run": id("run"), "number": 3, "kind": "STEP", "reached_at": "2026-01-31T09:30:00.000Z", "step": 1,
            "of_steps": 3, "percent": 33, "summary": "half \u{1b}[2Jdone", "reason": { "code": "said", "text": "half" }, "actions_done": [], "actions_next": [],
            "steps_next": ["write", "tell"], "worked_ms": 65_000, "snapshot": 4, "saved": saved,
            "spent": { "tokens": 1234, "usd_micros": 2_500_000, "actions": 7, "pages": 2 },
            "outputs": [piece("docs/report.md", 77)], "screenshots": [piece("shots/page.png", 99)], "longer": ["outputs"],
            "options": ["pause", "cancel", "rollback", "approve", "modify", "reject"], "review": digest,
        }))
        .unwrap()
    }

    #[test]
    fn c10_a_card_shows_ids_progress_use_outputs_pictures_and_what_to_type() {
        let text = text(&checkpoint());
        let plain = anstream::adapter::strip_str(&text).to_string();
        for part in [
            "checkpoint 3 (STEP) half ⟦U+001B⟧[2Jdone",
            "run_00000000",
            "step 1 of 3 (33 %)",
            "1234 tokens, $2.50, 7 actions, 2 pages, at work for 65 s",
            "docs/report.md",
            "77 bytes",
            "… and older ones",
            "shots/page.png",
            "sha256:abab",
            "snapshot 4: 12 files that it made or changed, 3456 bytes",
            "--to 0 --preview",
            "next: write; tell",
            "placet run approve …00000000",
            "placet run modify …00000000 --note TEXT",
            "placet run pause …00000000",
            "placet run rollback …00000000 --to 4 --reason TEXT",
            "placet run cancel …00000000",
        ] {
            assert!(plain.contains(part), "{part}: {plain}");
        }
    }

    #[test]
    fn c10_a_card_says_where_there_is_nothing_to_see() {
        let mut seen = checkpoint();
        (seen.outputs, seen.screenshots, seen.saved) = (Vec::new(), Vec::new(), None);
        let text = text(&seen);
        assert!(text.contains("outputs of these actions: none") && text.contains("screenshots: none"), "{text}");
        assert!(!text.contains("placet evidence"), "{text}");
    }
}
