//! The policy, and what it would say of an action that nobody proposes.

use axum::extract::State;
use axum::response::Response;
use placet_domain::digest::Digest;
use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::policy::Frame;
use placet_domain::proposal::{Action, Proposal};
use placet_domain::refusal::Refusal;
use placet_domain::run::{Posture, RunStatus};
use placet_domain::scope::Scope;
use placet_pages::{PolicyPage, Trial, TrialGround, Wish};
use placet_store::RunFilter;
use placet_wire::api;
use serde_json::{Value, json};

use super::super::problem::Failure;
use super::super::{projects, view};
use super::form::{Fields, Sent};
use super::guard::{Visiting, html};
use super::viewer;
use crate::app::App;
use crate::flow::{self, Caller, No};

/// As many runs as a list to choose from has room for, and as many scopes.
const MOST_RUNS: u32 = 50;
const MOST_SCOPES: usize = 50;

pub(super) async fn show(State(app): State<App>, visiting: Visiting) -> Result<Response, Failure> {
    page(app, visiting, None).await
}

async fn page(app: App, visiting: Visiting, trial: Option<Trial>) -> Result<Response, Failure> {
    let viewer = viewer::viewer(&app, &visiting).await?;
    let mut grounds = runs(&app, &visiting).await?;
    grounds.extend(scopes(&app, &visiting).await?);
    let policy = projects::policy(State(app)).await.0;
    Ok(html(placet_pages::policy(&viewer, &PolicyPage { policy, grounds, trial })))
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

/// Seals and judges as for a proposal of the run's agent, and forgets it.
pub(super) async fn judge(
    State(app): State<App>,
    Sent { visiting, caller, fields }: Sent,
) -> Result<Response, Failure> {
    let wish = written(&fields)?;
    let outcome = tried(&app, &caller, &fields).await?;
    page(app, visiting, Some(Trial { wish, outcome })).await
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

async fn tried(app: &App, caller: &Caller, fields: &Fields) -> Result<Result<api::VerdictView, String>, Failure> {
    let chosen = fields.text("run")?;
    let wished = match wished(fields)? {
        Ok(wished) => wished,
        Err(why) => return Ok(Err(why)),
    };
    let proposal: Proposal = match serde_json::from_value(wished) {
        Ok(proposal) => proposal,
        Err(error) => return Ok(Err(super::super::body::in_plain_words(&error.to_string()))),
    };
    if let Some((project, name)) = chosen.split_once('/') {
        let scope = scope(app, caller, project.parse().map_err(Failure::bad_id)?, name).await?;
        let (posture, nobody) = (Posture::default(), uuid::Uuid::nil());
        let frame = Frame { scope: &scope, posture: &posture, bounds: None };
        return Ok(judged(app, &proposal, &frame, RunId::from_uuid(nobody), IdentityId::from_uuid(nobody)));
    }
    let run = flow::find_ground(app, caller, chosen.parse().map_err(Failure::bad_id)?).await?;
    Ok(judged(app, &proposal, &run.frame(), run.id, run.agent))
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
) -> Result<api::VerdictView, String> {
    match Action::seal(proposal, app.tools(), frame.scope, run, agent) {
        Ok(action) => Ok(view::verdict(&app.policy().judge(&action, frame))),
        Err(unsealable) => Err(No::from(unsealable).to_string()),
    }
}

/// What an agent would send, or what is wrong with a line of it.
fn wished(fields: &Fields) -> Result<Result<Value, String>, Failure> {
    let several = |name: &str| -> Result<Vec<String>, Failure> {
        Ok(fields.lines(name)?.into_iter().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect())
    };
    let target = Some(fields.text("target")?).filter(|target| !target.trim().is_empty());
    let files: Result<Vec<Value>, String> = several("files")?.iter().map(|line| file(line)).collect();
    let (outputs, network, credentials) = (several("outputs")?, several("network")?, several("credentials")?);
    let arguments = fields.lines("arguments")?;
    Ok(files.map(|files| {
        json!({
            "tool": fields.text("tool").unwrap_or_default(), "arguments": arguments, "target": target,
            "files": files, "outputs": outputs, "network": network, "credentials": credentials,
        })
    }))
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
