//! `placet run calls` and `placet run call`: which language models a run called, and what was said where its project keeps that.

use placet_domain::budget::dollars;
use placet_domain::id::RunId;
use placet_domain::text::spelled_out;
use placet_wire::Client;
use placet_wire::api::{CallList, CallQuery, CallView};
use placet_wire::endpoint::{ListCalls, ShowCallWords};
use serde_json::Value;

use crate::context::run_id;
use crate::error::{CliError, Code};
use crate::out::{BOLD, DIM, Out, styled, table};

const COLUMNS: [&str; 8] = ["entry", "at", "model", "status", "tokens in, out", "cost", "took", "words"];

pub(super) async fn list(client: &Client, run: &str, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    let list = CallList { calls: all(client, id).await?, last: None };
    out.answer(&list, |list| {
        let head = COLUMNS.map(|name| styled(BOLD, name)).to_vec();
        table(&std::iter::once(head).chain(list.calls.iter().map(cells)).collect::<Vec<_>>())
    });
    Ok(())
}

/// All of them, page by page.
async fn all(client: &Client, run: RunId) -> Result<Vec<CallView>, CliError> {
    let mut page = client.get(ListCalls { run, query: CallQuery::default() }).await?;
    let mut calls = Vec::new();
    loop {
        calls.append(&mut page.calls);
        if page.last.is_none() {
            return Ok(calls);
        }
        page = client.get(ListCalls { run, query: CallQuery { after: page.last } }).await?;
    }
}

fn cells(call: &CallView) -> Vec<String> {
    let about = if call.estimated { "about " } else { "" };
    vec![
        call.entry.to_string(),
        call.at.clone(),
        model(call),
        if call.failed { format!("{}, failed", call.status) } else { call.status.to_string() },
        format!("{about}{}, {}", call.tokens_in, call.tokens_out),
        dollars(call.usd_micros),
        format!("{} ms", call.latency_ms),
        call.words.clone(),
    ]
}

/// Another model than was asked for is told with both names.
fn model(call: &CallView) -> String {
    let answered = spelled_out(&call.model);
    if call.other_model { format!("{answered} for {}", spelled_out(&call.model_asked)) } else { answered }
}

/// One call; with `shows_words` also what was said.
pub(super) async fn one(client: &Client, run: &str, entry: u64, shows_words: bool, out: &Out) -> Result<(), CliError> {
    let id = run_id(client, run).await?;
    if shows_words {
        let bytes = client.get_bytes(ShowCallWords { run: id, number: entry }).await?;
        let words: Value = serde_json::from_slice(&bytes).map_err(|error| CliError::failed(error.to_string()))?;
        out.answer(&words, |words| {
            format!("{}\n{}", side("asked", &words["request"]), side("answered", &words["response"]))
        });
        return Ok(());
    }
    let call = all(client, id).await?.into_iter().find(|call| call.entry == entry);
    let none = || CliError::new(Code::NotFound, format!("entry {entry} is no call of this run"));
    let call = call.ok_or_else(|| none().hint(format!("placet run calls {run}")))?;
    out.answer(&call, |call| {
        let upstream = call.upstream_request.as_deref().map_or_else(|| "-".to_owned(), spelled_out);
        let lines = [
            ("asked", &spelled_out(&call.model_asked)),
            ("prices", &call.prices),
            ("request", &call.request),
            ("response", &call.response),
            ("call", &call.id),
            ("upstream", &format!("{} {upstream}", call.upstream)),
        ];
        let lines = lines.map(|(name, value)| format!("{name:<9} {value}")).join("\n");
        format!("{}\n{lines}", table(&[cells(call)]))
    });
    Ok(())
}

/// What an agent or a model wrote is shown like everything of theirs: nothing in it moves the cursor.
fn side(name: &str, side: &Value) -> String {
    let left_out = side["left_out"].as_str().map(|why| format!("left out: {why}"));
    let lines = |text: &str| text.lines().map(|line| format!("  {}", spelled_out(line))).collect::<Vec<_>>().join("\n");
    let text = left_out.unwrap_or_else(|| lines(side["text"].as_str().unwrap_or_default()));
    let cut = if side["cut"] == true { ", cut" } else { "" };
    let size = styled(DIM, format!("({} bytes{cut})", side["size_bytes"]));
    format!("{} {size}\n{text}\n", styled(BOLD, name))
}
