//! Durable ledger appends a second: many submitters, one writer, one fsync per group.

use std::time::{Duration, Instant};

use placet_domain::approval::Terms;
use placet_domain::command::{Command, Submission};
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::id::ProjectId;
use placet_domain::identity::Actor;
use placet_domain::project::{ProjectCommand, Separation};
use placet_ledger::SigningKey;
use placet_store::{Config, Extras, Store};
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::stats::per_second;
use crate::error::CliError;

pub(super) async fn measure(seconds: u64) -> Result<Value, CliError> {
    let mut report = serde_json::Map::new();
    for submitters in [1, 32, 512] {
        let rate = rate(submitters, Duration::from_secs(seconds)).await?;
        report.insert(format!("per_second_with_{submitters}_submitters"), json!(rate));
    }
    Ok(report.into())
}

async fn rate(submitters: usize, time: Duration) -> Result<f64, CliError> {
    let dir = std::env::temp_dir().join(format!("placet-bench-{}", uuid::Uuid::now_v7().simple()));
    let name = "placet/bench".parse().map_err(|error| CliError::failed(format!("{error}")))?;
    let store = Store::open(Config::new(&dir, SigningKey::from_seed(name, &[7; 32]))).await.map_err(failed)?;
    let project = ProjectId::from_uuid(uuid::Uuid::now_v7());
    let create = ProjectCommand::Create { name: "bench".into(), separation: Separation::FourEyes };
    store
        .submit(submission(Command::Project { id: project, command: create }), Extras::default())
        .await
        .map_err(failed)?;
    let started = Instant::now();
    let mut tasks = JoinSet::new();
    for submitter in 0..submitters {
        tasks.spawn(append(store.clone(), project, submitter, started + time));
    }
    let mut appended = 0;
    while let Some(done) = tasks.join_next().await {
        appended += done.map_err(failed)??;
    }
    let rate = per_second(appended, started.elapsed());
    drop(store);
    let _ = std::fs::remove_dir_all(&dir);
    Ok(rate)
}

async fn append(store: Store, project: ProjectId, submitter: usize, until: Instant) -> Result<usize, CliError> {
    let mut appended = 0;
    while Instant::now() < until {
        let digest = Digest::of(format!("{submitter}/{appended}").as_bytes());
        let command = Command::KeepBlob { project, digest, size_bytes: 1, secrets: SecretsSeen::default() };
        store.submit(submission(command), Extras::default()).await.map_err(failed)?;
        appended += 1;
    }
    Ok(appended)
}

fn submission(command: Command) -> Submission {
    Submission { actor: Actor::Runtime, command, terms: Terms::default(), policy: Digest::of(b""), idempotency: None }
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::failed(error.to_string())
}
