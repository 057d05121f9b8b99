//! `placet run log`: what the agent of a run says while it works, as far as the control plane keeps it. With `--follow` it goes on until the
//! run is over. What is said there is an agent's: nothing in it moves the cursor.

use placet_domain::id::RunId;
use placet_domain::text::{lines, marked_line};
use placet_wire::Client;
use placet_wire::api::{LogKind, LogPiece, LogQuery, LogView};
use placet_wire::endpoint::{ReadRunLog, ShowRun};

use crate::context::run_id;
use crate::error::CliError;
use crate::out::{ASK, BAD, Out, styled};

/// As long as one question waits for more.
const WAIT_MS: u64 = 20_000;

pub(super) async fn show(client: &Client, run: &str, follow: bool, out: &Out) -> Result<(), CliError> {
    let run = run_id(client, run).await?;
    let view = client.get(ReadRunLog { run, query: LogQuery::default() }).await?;
    told(&view, out);
    if follow {
        return go_on(client, run, view.next, out).await;
    }
    if view.pieces.is_empty() {
        out.note("nothing is kept of what its agent said; what happened is in `placet run audit`");
    }
    Ok(())
}

async fn go_on(client: &Client, run: RunId, mut after: u64, out: &Out) -> Result<(), CliError> {
    loop {
        let seen = client.get(ShowRun { run }).await?;
        let view = client.get(ReadRunLog { run, query: LogQuery { after, wait_ms: WAIT_MS } }).await?;
        told(&view, out);
        after = view.next;
        // Asked before the last words: whatever was said until then is told.
        if seen.status.is_final() && view.pieces.is_empty() {
            return Ok(());
        }
    }
}

/// For machines a piece is a line of JSON.
fn told(view: &LogView, out: &Out) {
    if view.forgotten_bytes > 0 && !out.is_json() {
        out.line(&gap(view.forgotten_bytes, "came before and are not kept"));
    }
    for piece in &view.pieces {
        if out.is_json() {
            out.data(&serde_json::to_string(piece).unwrap_or_default());
        } else {
            out.line(&words(piece));
        }
    }
}

fn words(piece: &LogPiece) -> String {
    let text = || piece.text.strip_suffix('\n').unwrap_or(&piece.text);
    let shown =
        |mark: &str| lines(text()).map(|line| format!("{mark}{}", marked_line(line))).collect::<Vec<_>>().join("\n");
    match piece.is {
        LogKind::Stdout => shown("  "),
        LogKind::Stderr => shown(&format!("{} ", styled(BAD, "!"))),
        LogKind::NoText => gap(piece.bytes, "are no text"),
        LogKind::Skipped => gap(piece.bytes, "were skipped"),
        LogKind::Began => styled(ASK, "- started again -"),
    }
}

fn gap(bytes: u64, what: &str) -> String {
    styled(ASK, format!("... {bytes} bytes {what}"))
}
