//! The policy, and what it would say of an action that nobody proposes.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use placet_control::App;
use placet_control::flow::{self, Caller, No};
use placet_control::http::{Failure, in_plain_words};
use placet_control::read::{self};
use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::policy::Frame;
use placet_domain::proposal::{Action, Proposal, Unsealable};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Posture, RunStatus};
use placet_domain::scope::Scope;
use placet_store::RunFilter;
use placet_wire::api;
use serde_json::{Map, Value, json};

use super::form::{Fields, Sent};
use super::guard::{self, Visiting, html};
use super::viewer;
use crate::markup::{Flaw, PolicyPage, Trial, TrialGround, Wish};

/// As many runs as a list to choose from has room for, and as many scopes.
const MOST_RUNS: u32 = 50;
const MOST_SCOPES: usize = 50;

pub(super) async fn show(State(app): State<App>, visiting: Visiting) -> Result<Response, Failure> {
    page(app, visiting, None).await
}

/// With what was tried, if something was: one that could not be judged is answered as what is wrong with it.
async fn page(app: App, visiting: Visiting, trial: Option<Trial>) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let mut grounds = runs(&app, &visiting).await?;
    grounds.extend(scopes(&app, &visiting).await?);
    let policy = read::policy::view(&app);
    Ok(html(crate::markup::policy(&viewer, &PolicyPage { policy, grounds, trial })))
}

async fn runs(app: &App, visiting: &Visiting) -> Result<Vec<TrialGround>, Failure> {
    let filter = RunFilter { reach: visiting.identity.reach.clone(), limit: MOST_RUNS, ..RunFilter::default() };
    let runs = app.store().runs(filter).await?.into_iter();
    let open = runs.filter(|run| !run.status.is_final() && run.status != RunStatus::Draft);
    Ok(open.map(|run| TrialGround { id: run.id.to_string(), name: format!("{} ({})", run.goal, run.id) }).collect())
}

async fn scopes(app: &App, visiting: &Visiting) -> Result<Vec<TrialGround>, Failure> {
    let mut found = Vec::new();
    for project in
        app.store().projects().await?.into_iter().filter(|project| visiting.identity.reach.includes(project.id))
    {
        for locked in app.store().scopes(project.id).await? {
            found.push(TrialGround {
                id: format!("{}/{}", project.id, locked.name),
                name: format!("{} / {}", project.name, locked.name),
            });
        }
    }
    found.truncate(MOST_SCOPES);
    Ok(found)
}

/// Seals and judges as for a proposal of the run's agent, and forgets it. Whatever is not taken comes back as it was written.
pub(super) async fn judge(
    State(app): State<App>,
    Sent { visiting, caller, fields }: Sent,
) -> Result<Response, Failure> {
    let wish = written(&fields)?;
    let (outcome, status) = match tried(&app, &caller, &fields).await {
        Ok(verdict) => (Ok(verdict), StatusCode::OK),
        Err((_, failure)) if failure.status().is_server_error() => return Err(failure),
        Err((field, failure)) => {
            let why = guard::problem(&failure, "/policy".to_owned());
            (Err(Flaw { field, why }), failure.status())
        }
    };
    let mut page = page(app, visiting, Some(Trial { wish, outcome })).await?;
    *page.status_mut() = status;
    Ok(page)
}

/// The form as somebody filled it in, to be shown again.
fn written(fields: &Fields) -> Result<Wish, Failure> {
    Ok(Wish {
        ground: fields.text("run")?,
        tool: fields.text("tool")?,
        arguments: fields.text("arguments")?,
        target: fields.text("target")?,
        files: fields.text("files")?,
        outputs: fields.text("outputs")?,
        network: fields.text("network")?,
        credentials: fields.text("credentials")?,
    })
}

/// Why not, and the field that it is about, where it is about one.
type Flawed = (Option<&'static str>, Failure);

/// What is wrong with a line of a field.
fn flawed(field: &'static str, why: impl Into<String>) -> Flawed {
    (Some(field), Failure::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_trial", why))
}

const fn of_the_frame(failure: Failure) -> Flawed {
    (Some("run"), failure)
}

async fn tried(app: &App, caller: &Caller, fields: &Fields) -> Result<api::VerdictView, Flawed> {
    let chosen = fields.text("run").map_err(|failure| (None, failure))?;
    let proposal = proposal(fields)?;
    if let Some((project, name)) = chosen.split_once('/') {
        let project = project.parse().map_err(Failure::bad_id).map_err(of_the_frame)?;
        let scope = scope(app, caller, project, name).await.map_err(|no| of_the_frame(no.into()))?;
        let (posture, nobody) = (Posture::default(), uuid::Uuid::nil());
        let frame = Frame { scope: &scope, posture: &posture, bounds: None };
        return judged(app, &proposal, &frame, RunId::from_uuid(nobody), IdentityId::from_uuid(nobody));
    }
    let run = chosen.parse().map_err(Failure::bad_id).map_err(of_the_frame)?;
    let run = flow::find_ground(app, caller, run).await.map_err(|no| of_the_frame(no.into()))?;
    judged(app, &proposal, &run.frame(), run.id, run.agent)
}

/// A scope that somebody may know of.
async fn scope(app: &App, caller: &Caller, project: ProjectId, name: &str) -> Result<Scope, No> {
    caller.sees(project, "scope")?;
    let locked = app.store().scope(project, name).await.map_err(No::Fault)?;
    Ok(locked.ok_or(Refusal::Unknown { what: "scope" })?.scope)
}

fn judged(
    app: &App,
    proposal: &Proposal,
    frame: &Frame<'_>,
    run: RunId,
    agent: IdentityId,
) -> Result<api::VerdictView, Flawed> {
    match Action::seal(proposal, app.tools(), frame.scope, run, agent) {
        Ok(action) => Ok((&app.policy().judge(&action, frame)).into()),
        Err(unsealable) => Err((about(&unsealable), No::from(unsealable).into())),
    }
}

/// The field that has what cannot be sealed.
const fn about(unsealable: &Unsealable) -> Option<&'static str> {
    match unsealable {
        Unsealable::UnknownTool(_) | Unsealable::ChangedTool(_) => Some("tool"),
        Unsealable::Argument { .. } => Some("arguments"),
        Unsealable::Network { .. } | Unsealable::CageNetwork { .. } => Some("network"),
        Unsealable::Credential(_) => Some("credentials"),
        Unsealable::Path(_) | Unsealable::TwicePath(_) | Unsealable::FileInFile(..) | Unsealable::SameButCase(..) => {
            Some("files")
        }
        Unsealable::TooMany { .. }
        | Unsealable::Nul(_)
        | Unsealable::Variable(..)
        | Unsealable::Timeout { .. }
        | Unsealable::NoTime
        | Unsealable::NotSealed(_) => None,
    }
}

/// What an agent would send, or which field of it is wrong and how.
fn proposal(fields: &Fields) -> Result<Proposal, Flawed> {
    let wished = wished(fields)?;
    serde_json::from_value(Value::Object(wished.clone())).map_err(|error| {
        let why = in_plain_words(&error.to_string());
        FIELDS.iter().find_map(|name| alone(&wished, name)).unwrap_or_else(|| flawed("tool", why))
    })
}

const FIELDS: [&str; 7] = ["tool", "arguments", "target", "files", "outputs", "network", "credentials"];

/// What is wrong with one field, if that is wrong by itself.
fn alone(wished: &Map<String, Value>, name: &'static str) -> Option<Flawed> {
    let mut only = Map::from_iter([("tool".to_owned(), json!("any"))]);
    only.insert(name.to_owned(), wished.get(name)?.clone());
    let error = serde_json::from_value::<Proposal>(Value::Object(only)).err()?;
    Some(flawed(name, in_plain_words(&error.to_string())))
}

fn wished(fields: &Fields) -> Result<Map<String, Value>, Flawed> {
    let unread = |failure| (None, failure);
    let several = |name: &str| -> Result<Vec<String>, Flawed> {
        let lines = fields.lines(name).map_err(unread)?;
        Ok(lines.into_iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
    };
    let (tool, target) = (fields.text("tool").map_err(unread)?, fields.text("target").map_err(unread)?);
    let target = Some(target.trim()).filter(|target| !target.is_empty());
    let files: Result<Vec<Value>, String> = several("files")?.iter().map(|line| file(line)).collect();
    let files = files.map_err(|why| flawed("files", why))?;
    let arguments = fields.lines("arguments").map_err(unread)?;
    let wished = [
        ("tool", json!(tool.trim())),
        ("arguments", json!(arguments)),
        ("target", json!(target)),
        ("files", json!(files)),
        ("outputs", json!(several("outputs")?)),
        ("network", json!(several("network")?)),
        ("credentials", json!(several("credentials")?)),
    ];
    Ok(wished.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A path, or a path, its digest and its size. What is named alone is taken for empty: rules speak of paths and sizes.
fn file(line: &str) -> Result<Value, String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let told = match words.as_slice() {
        [.., digest, size] => {
            digest.parse::<Digest>().ok().zip(size.parse::<u64>().ok()).map(|known| (known, words.len() - 2))
        }
        [] | [_] => None,
    };
    match told {
        Some(((digest, size_bytes), path)) if path > 0 => {
            Ok(json!({ "path": words[..path].join(" "), "digest": digest, "size_bytes": size_bytes }))
        }
        None if line.contains("sha256:") => {
            Err(format!("`{line}` is no path, digest and size: write `docs/a.md sha256:… 120`"))
        }
        Some(_) | None => Ok(json!({ "path": line, "digest": Digest::of(b""), "size_bytes": 0 })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b3_a_file_of_a_trial_is_a_path_alone_or_with_digest_and_size() {
        let digest = Digest::of(b"x");
        assert_eq!(file("docs/a b.md").unwrap()["path"], "docs/a b.md");
        let whole = file(&format!("docs/a b.md {digest} 120")).unwrap();
        assert_eq!((whole["path"].as_str(), whole["size_bytes"].as_u64()), (Some("docs/a b.md"), Some(120)));
        assert!(file("docs/a.md sha256:12 120").is_err());
    }
}
