//! Bytes of evidence on the disk: what happens to them when somebody gives up half-way, and what is said of those that cannot be read.

use std::future::{Future, poll_fn};
use std::path::PathBuf;
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::id::ProjectId;
use placet_domain::identity::Actor;
use placet_domain::retention::{Days, Retention};
use placet_store::{Config, EvidenceKey, Store};

use crate::world::{Folder, Ground, asking, make_project, submit};

const MOMENT: Duration = Duration::from_millis(50);

async fn keep(store: &Store, project: ProjectId, bytes: &[u8]) -> Digest {
    let digest = store.blobs().put(bytes.to_vec()).await.unwrap();
    let (size_bytes, secrets) = (bytes.len() as u64, SecretsSeen::default());
    submit(store, asking(Actor::Runtime, Command::KeepBlob { project, digest, size_bytes, secrets })).await.unwrap();
    digest
}

/// A store whose ledger says that something was removed which is still on the disk; and where.
async fn removed_by_the_ledger(ground: &Folder) -> (Store, PathBuf) {
    let store = ground.open().await;
    let project = make_project(&store, "alpha").await;
    let hex = keep(&store, project, b"gone").await.to_hex();
    ground.clock().move_by_ms(2 * 24 * 60 * 60 * 1_000);
    let retention = Retention { evidence_days: Some(Days::try_from(1).unwrap()), results_days: None };
    let expiry = Box::new(store.expirable(project, retention).await.unwrap().expiry);
    submit(&store, asking(Actor::Runtime, Command::RemoveBlobs { project, expiry })).await.unwrap();
    (store, ground.dir.path().join("store/evidence").join(&hex[..2]).join(&hex[2..]))
}

/// Goes as far as it can now; whether that was its end.
async fn goes_on<T>(mut future: Pin<&mut impl Future<Output = T>>) -> bool {
    poll_fn(|context| Poll::Ready(future.as_mut().poll(context).is_ready())).await
}

/// Sweeps, and gives up after so many steps while everything that blocks is held up: whatever was begun is still to come.
async fn given_up_after(steps: usize) {
    let ground = Folder::fresh();
    let (store, path) = removed_by_the_ledger(&ground).await;
    let mut sweep = Box::pin(store.sweep());
    for _ in 1..steps {
        if goes_on(sweep.as_mut()).await {
            return;
        }
        tokio::time::sleep(MOMENT).await;
    }
    let (let_go, held) = std::sync::mpsc::channel::<()>();
    let holding = tokio::task::spawn_blocking(move || held.recv().is_err());
    tokio::time::sleep(MOMENT).await;
    goes_on(sweep.as_mut()).await;
    drop(sweep);
    let keeping = tokio::time::timeout(MOMENT, store.blobs().keeping()).await;
    let there = path.exists();
    drop(let_go);
    assert!(holding.await.unwrap());
    tokio::time::sleep(MOMENT).await;
    if keeping.is_ok() {
        assert_eq!(path.exists(), there, "removed under the hands of somebody who keeps it, after {steps} steps");
    }
}

#[test]
fn c14_whoever_gives_up_a_removal_half_way_lets_nobody_keep_what_is_just_being_removed() {
    // One thread for all that blocks, so that it can be held up.
    let mut one = tokio::runtime::Builder::new_multi_thread();
    let runtime = one.worker_threads(1).max_blocking_threads(1).enable_all().build().unwrap();
    runtime.block_on(async {
        for steps in 1..=8 {
            given_up_after(steps).await;
        }
    });
}

#[tokio::test]
async fn c14_every_content_that_cannot_be_read_is_named_and_not_only_the_first() {
    let ground = Folder::fresh();
    let sealed = Config { evidence_key: Some(EvidenceKey::new([1; 32])), ..ground.config() };
    let store = Store::open(sealed).await.unwrap();
    let project = make_project(&store, "alpha").await;
    let locked = [keep(&store, project, b"one").await, keep(&store, project, b"two").await];
    drop(store);
    let store = ground.open().await;
    keep(&store, project, b"in the clear").await;
    let check = store.check_evidence().await.unwrap();
    assert_eq!((check.intact, check.faults.len()), (1, 2), "{:?}", check.faults);
    for digest in locked {
        let named =
            |fault: &String| fault.contains(&digest.to_string()) && fault.contains("configure the evidence key");
        assert!(check.faults.iter().any(named), "{digest}: {:?}", check.faults);
    }
}
