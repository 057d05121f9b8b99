//! Approving something else in the place of what was proposed, by a form: what differs from what was shown, and nothing else, is a change.
//!
//! A field that was not sent changes nothing. The text of a file that was edited is looked through for secrets and kept like anything
//! that a reviewer uploads, after everything that can be said against it: against the form here, against the decision in `flow`. What is not taken, for whatever reason, comes
//! back with all that was written: in the form, on the card as it stands now, or beside the reason where there is no such form any more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use bytes::Bytes;
use placet_control::App;
use placet_control::flow::{self, Caller, Content, No};
use placet_control::http::{Address, Failure, Path};
use placet_control::read::actions::detail;
use placet_control::read::files;
use placet_domain::action::ActionState;
use placet_domain::digest::Digest;
use placet_domain::id::{ActionId, ProjectId};
use placet_domain::proposal::{FileOperand, Proposal, ToolNetwork};
use placet_domain::refusal::Refusal;
use placet_wire::api;
use serde_json::{Map, Value, json};

use super::form::{Fields, LONG_BYTES, Sent, SentLong};
use super::guard::{self, made, with_written};
use super::{action, brake, viewer};
use crate::markup::{Amending, Ends, TIMEOUT, Tried, WITHOUT, file_field, from_seconds};

/// What of it can be changed beside what every action has.
pub(super) fn offered(app: &App, detail: &api::ActionDetail) -> Amending {
    let tool = app.tools().get(&detail.spec.tool);
    let has_credentials = app.tools().credentials().iter().any(|(_, rule)| rule.tools.contains(&detail.spec.tool));
    Amending {
        network: tool.is_some_and(|tool| tool.network == ToolNetwork::Named),
        credentials: has_credentials || !detail.spec.credentials.is_empty(),
        form_bytes: LONG_BYTES,
        tried: None,
    }
}

pub(super) async fn amend(
    State(app): State<App>,
    Path(id): Path<String>,
    address: Address,
    SentLong(sent): SentLong,
) -> Result<Response, Failure> {
    let id = action::parse(&id)?;
    match within_time(&app, 2, tried(&app, id, &sent)).await {
        Ok(amended) => Ok(Redirect::to(&format!("/actions/{}", amended.id)).into_response()),
        Err(failure) => Ok(not_taken(&app, &address, &sent, id, failure).await),
    }
}

async fn tried(app: &App, id: ActionId, sent: &Sent) -> Result<ActionState, Failure> {
    let state = flow::find_action(app, &sent.caller, id).await?;
    taken(app, &sent.caller, &state, &sent.fields).await
}

/// Half of the time that a request has, or a quarter: both end before everything that takes too long is ended, and what somebody wrote
/// would be gone with it.
async fn within_time<T>(app: &App, parts: u32, doing: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let longest = Duration::from_millis(app.settings().limits.request_ms);
    let late =
        |_| Failure::new(StatusCode::REQUEST_TIMEOUT, "too_slow", "this took too long; look at what became of it");
    tokio::time::timeout(longest * parts / 4, doing).await.map_err(late)?
}

/// The card as it stands now, with everything that was written and why it was not taken. Where the form is not there any more, or the card
/// cannot be read, the reason alone with what was written.
async fn not_taken(app: &App, address: &Address, sent: &Sent, id: ActionId, failure: Failure) -> Response {
    let card = card(app, address, sent, id, &failure);
    match within_time(app, 1, card).await {
        Ok(Some(page)) => page,
        Ok(None) | Err(_) => with_written(failure.into_response(), sent.fields.written()),
    }
}

/// Nothing where the card has no such form.
async fn card(
    app: &App,
    address: &Address,
    sent: &Sent,
    id: ActionId,
    failure: &Failure,
) -> Result<Option<Response>, Failure> {
    let mut page = action::page(app, &sent.caller, address, id).await?;
    if !crate::markup::is_amendment_offered(&page) {
        return Ok(None);
    }
    let viewer = viewer::viewer(app, &sent.visiting).await?;
    let why = guard::problem(failure, format!("/actions/{id}"));
    page.amending.tried = Some(Tried { fields: sent.fields.written(), why });
    let mut answer = made(move || crate::markup::action(&viewer, &page)).await?;
    *answer.status_mut() = failure.status();
    Ok(Some(answer))
}

async fn taken(app: &App, caller: &Caller, state: &ActionState, fields: &Fields) -> Result<ActionState, Failure> {
    let (seen, current) = (fields.seen()?, state.review());
    // Before anything of it is kept.
    if seen != current {
        return Err(No::Refused(Refusal::Stale { seen, current }).into());
    }
    brake::on_action(app, caller, state, fields).await?;
    let before = detail(app, state).await?;
    let Some(proposal) = &before.proposal else { return Err(bad("its tool was changed since; reject it")) };
    let mut changes = wished(proposal, before.spec.limits.timeout_ms, fields)?;
    let Files { operands, contents } = files(app, caller, state.project, proposal, fields).await?;
    if operands != proposal.files {
        changes.insert("files".to_owned(), json!(operands));
    }
    if changes.is_empty() {
        return Err(bad("nothing is changed; change something, or approve it as it is"));
    }
    proposal.with(&changes).map_err(No::Change)?;
    let request = api::AmendmentRequest { changes, reason: fields.text("reason")? };
    Ok(flow::amend_with(app, caller, state.id, seen, request, contents).await?)
}

fn bad(why: impl Into<String>) -> Failure {
    Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_change", why)
}

/// What is not as it was, of everything but files.
fn wished(before: &Proposal, timeout_ms: u64, fields: &Fields) -> Result<Map<String, Value>, Failure> {
    let mut changes = Map::new();
    let mut changed = |name: &str, was: Value, now: Option<Value>| {
        changes.extend(now.filter(|now| *now != was).map(|now| (name.to_owned(), now)));
    };
    let arguments = fields.sent("arguments").then(|| fields.lines("arguments")).transpose()?;
    changed("arguments", json!(before.arguments), arguments.map(|lines| json!(lines)));
    let environment = fields.sent("environment").then(|| variables(fields)).transpose()?;
    changed("environment", json!(before.environment), environment.map(|pairs| json!(pairs)));
    let target = fields.get("target")?.map(|target| target.trim().to_owned());
    changed("target", json!(before.target), target.map(|target| json!(Some(target).filter(|it| !it.is_empty()))));
    changed("outputs", json!(before.outputs), several(fields, "outputs")?);
    changed("network", json!(before.network), several(fields, "network")?);
    changed("credentials", json!(before.credentials), several(fields, "credentials")?);
    changed("timeout_ms", json!(timeout_ms), limit(fields)?.map(Value::from));
    Ok(changes)
}

/// In milliseconds, where the field is not empty.
fn limit(fields: &Fields) -> Result<Option<u64>, Failure> {
    match fields.text(TIMEOUT)?.trim() {
        "" => Ok(None),
        written => from_seconds(written).map(Some).ok_or_else(|| bad("the time limit is a number of seconds")),
    }
}

/// One on each line, without blanks around it; empty lines are none.
fn several(fields: &Fields, name: &str) -> Result<Option<Value>, Failure> {
    if !fields.sent(name) {
        return Ok(None);
    }
    let lines = fields.lines(name)?;
    let each: Vec<&str> = lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()).collect();
    Ok(Some(json!(each)))
}

/// `NAME=value` on each line; empty lines are none.
fn variables(fields: &Fields) -> Result<BTreeMap<String, String>, Failure> {
    let mut found = BTreeMap::new();
    for (number, line) in (1..).zip(fields.lines("environment")?) {
        if line.trim().is_empty() {
            continue;
        }
        let Some((name, value)) = line.split_once('=') else {
            return Err(bad(format!("line {number} of the environment has no `=`; write `NAME=value`")));
        };
        if found.insert(name.trim().to_owned(), value.to_owned()).is_some() {
            return Err(bad(format!("the environment names `{}` twice; leave one of them out", name.trim())));
        }
    }
    Ok(found)
}

/// The files of an action as a form leaves them, and what is new in them.
struct Files {
    operands: Vec<FileOperand>,
    contents: Vec<Content>,
}

async fn files(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    before: &Proposal,
    fields: &Fields,
) -> Result<Files, Failure> {
    let without = left_out(fields, before.files.len())?;
    let mut files = Files { operands: Vec::new(), contents: Vec::new() };
    for (index, operand) in before.files.iter().enumerate().filter(|(index, _)| !without.contains(index)) {
        let Some(sent) = fields.get(&file_field(index))? else {
            files.operands.push(operand.clone());
            continue;
        };
        let bytes = edited(app, caller, project, operand, &sent).await?;
        let digest = Digest::of(&bytes);
        files.operands.push(FileOperand { path: operand.path.clone(), digest, size_bytes: bytes.len() as u64 });
        if digest != operand.digest {
            holds_no_secret(&operand.path, bytes.clone()).await?;
            files.contents.push(Content { digest, bytes });
        }
    }
    Ok(files)
}

fn left_out(fields: &Fields, count: usize) -> Result<BTreeSet<usize>, Failure> {
    let known = |index: &str| index.parse().ok().filter(|index| *index < count);
    let all: Option<BTreeSet<usize>> = fields.all(WITHOUT).map(known).collect();
    all.ok_or_else(|| bad("a file that the action is not given cannot be left out; reload the page and choose again"))
}

/// What a field makes of a file, with the line ends that it had. Only what was fit for a field comes back from one.
async fn edited(
    app: &App,
    caller: &Caller,
    project: ProjectId,
    operand: &FileOperand,
    sent: &str,
) -> Result<Bytes, Failure> {
    let elsewhere = || {
        let path = &operand.path;
        bad(format!(
            "`{path}` cannot be changed by a form; change it with `placet approve ID --edit`, or leave it as it is"
        ))
    };
    let read = files::read(app, caller, project, operand).await?.map_err(|_| elsewhere())?;
    let text = String::from_utf8(read).map_err(|_| elsewhere())?;
    let ends = Ends::of(&text).map_err(|_| elsewhere())?;
    Ok(Bytes::from(ends.back(sent)))
}

/// A secret that somebody wrote into a file is not even kept: it would be evidence for ever.
async fn holds_no_secret(path: &str, bytes: Bytes) -> Result<(), Failure> {
    let seen = flow::inspect(bytes).await?;
    let Some(first) = seen.listed().first() else { return Ok(()) };
    let (line, rule) = (first.line, &first.rule);
    Err(Failure::new(
        StatusCode::UNPROCESSABLE_ENTITY,
        "secret_inside",
        format!(
            "line {line} of `{path}` looks like a secret ({rule}), and what an action is given is kept as evidence; take it out, and name a credential of the team instead"
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish() -> Proposal {
        let wish = json!({
            "tool": "sh", "arguments": ["true"], "environment": { "A": "1" }, "target": "10.0.0.5", "outputs": ["a", "b"],
        });
        serde_json::from_value(wish).unwrap()
    }

    fn changes(pairs: &[(&str, &str)]) -> Result<Map<String, Value>, Failure> {
        let pairs = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        wished(&wish(), 9, &Fields::of(pairs.collect()))
    }

    #[test]
    fn b4_only_what_differs_is_a_change_and_what_was_not_sent_changes_nothing() {
        let same = [
            ("arguments", "true\r\n"),
            ("environment", "A=1"),
            ("target", " 10.0.0.5 "),
            ("outputs", "a\r\n\r\nb\r\n"),
            ("network", ""),
            ("credentials", "\r\n"),
            ("timeout_seconds", "0.009"),
        ];
        assert_eq!(changes(&same).unwrap(), Map::new());
        assert_eq!(changes(&[]).unwrap(), Map::new());
        let other = [("environment", "A=2=3\r\nB="), ("target", ""), ("outputs", "")];
        let expected = json!({ "environment": { "A": "2=3", "B": "" }, "target": null, "outputs": [] });
        assert_eq!(Value::Object(changes(&other).unwrap()), expected);
    }

    #[test]
    fn b4_an_environment_that_means_nothing_or_two_things_is_refused_with_its_line() {
        let refused = |text: &str| changes(&[("environment", text)]).unwrap_err().detail().to_owned();
        assert!(refused("A=1\r\n\r\nB").starts_with("line 3 of the environment has no `=`"));
        assert!(refused("A=1\r\nA=2").contains("names `A` twice"));
    }
}
