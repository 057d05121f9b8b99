//! When the disk is full, fails, or the process is killed: what was acknowledged is there, and nothing half-done is.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, Command as Process, Stdio};

use placet_domain::command::{Command, Submission};
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::id::ProjectId;
use placet_domain::identity::Actor;
use placet_ledger::SigningKey;
use placet_store::{Config, Store, StoreError, SubmitError};

use crate::world::{Folder, Ground, ORIGIN, World, asking, make_project, submit};

/// Tells a copy of this test binary that it is the one that gets hurt, and where.
const VICTIM: &str = "PLACET_STORE_TEST_VICTIM";

fn keep(project: ProjectId, number: u64) -> Submission {
    let digest = Digest::of(&number.to_be_bytes());
    asking(Actor::Runtime, Command::KeepBlob { project, digest, size_bytes: number, secrets: SecretsSeen::default() })
}

/// Submits until a fault, printing what was acknowledged; answers the fault.
async fn keep_until_fault(store: &Store, project: ProjectId) -> (u64, StoreError) {
    for number in 0.. {
        match submit(store, keep(project, number)).await {
            Ok(receipt) => say(&format!("acknowledged {}", receipt.seqs.end)),
            Err(SubmitError::Fault(fault)) => return (number, fault),
            Err(other) => panic!("{other}"),
        }
    }
    unreachable!("every disk is full some day")
}

/// Straight to the outside, past whoever collects a test's output.
fn say(line: &str) {
    std::io::stdout().write_all(format!("{line}\n").as_bytes()).unwrap();
}

async fn assert_sound(store: &Store) {
    assert!(store.scrub().await.unwrap().is_sound());
    assert_eq!(store.check_projections().await.unwrap(), []);
}

#[tokio::test]
async fn r34_a_full_disk_fails_the_batch_cleanly_and_loses_nothing_acknowledged() {
    let ground = Folder::fresh();
    let small = Config { most_database_bytes: Some(400 * 1024), ..ground.config() };
    let store = Store::open(small).await.unwrap();
    let project = make_project(&store, "alpha").await;
    let (kept, fault) = keep_until_fault(&store, project).await;
    assert!(matches!(fault, StoreError::Full(_)), "{fault:?}");
    assert!(kept > 100, "only {kept} fitted");
    assert_eq!(store.size(), kept + 1);
    assert_sound(&store).await;
    assert_eq!(store.read_only(), None, "a full disk may become less full");
    drop(store);
    let store = ground.open().await;
    assert_eq!(store.size(), kept + 1);
    submit(&store, keep(project, kept)).await.unwrap();
    assert_sound(&store).await;
}

#[tokio::test]
async fn a_fault_is_the_answer_to_everybody_in_the_batch_and_to_nobody_else() {
    let ground = Folder::fresh();
    let small = Config { most_database_bytes: Some(400 * 1024), ..ground.config() };
    let store = Store::open(small).await.unwrap();
    let project = make_project(&store, "alpha").await;
    let submitters: Vec<_> = (0..3_000)
        .map(|number| {
            let store = store.clone();
            tokio::spawn(async move { submit(&store, keep(project, number)).await })
        })
        .collect();
    let (mut kept, mut failed) = (0, 0);
    for submitter in submitters {
        match submitter.await.unwrap() {
            Ok(_) => kept += 1,
            Err(SubmitError::Fault(StoreError::Full(_))) => failed += 1,
            Err(other) => panic!("{other:?}"),
        }
    }
    assert!(failed > 0);
    assert_eq!(store.size(), kept + 1);
    assert_sound(&store).await;
}

/// Starts a copy of this test as the victim, with files that cannot grow beyond some size if a bound is given.
fn victim(test: &str, ground: &Folder, most_file_blocks: Option<u32>) -> Child {
    let bound = most_file_blocks.map(|blocks| format!("trap '' XFSZ; ulimit -f {blocks};")).unwrap_or_default();
    let mut process = Process::new("sh");
    process.arg("-c").arg(format!("{bound} exec \"$0\" --exact {test} --nocapture"));
    process.arg(std::env::current_exe().unwrap()).env(VICTIM, ground.dir.path().join("store"));
    // A group of its own: whatever happens to it does not happen to the test.
    process.process_group(0).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

/// The last number that a victim said was acknowledged, and whether it said so of `limit` numbers.
fn last_acknowledged(victim: &mut Child, limit: usize) -> u64 {
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines().map_while(Result::ok);
    let numbers = lines.filter_map(|line| Some(line.split_once("acknowledged ")?.1.parse().unwrap()));
    numbers.take(limit).last().expect("something was acknowledged")
}

async fn victims_store() -> Option<Store> {
    let dir = PathBuf::from(std::env::var_os(VICTIM)?);
    let key = SigningKey::from_seed(ORIGIN.parse().unwrap(), &[7; 32]);
    Some(Store::open(Config::new(dir, key)).await.unwrap())
}

#[tokio::test]
async fn r37_after_an_error_of_the_disk_no_more_changes_are_taken_and_nothing_acknowledged_is_lost() {
    if let Some(store) = victims_store().await {
        let project = make_project(&store, "alpha").await;
        let (_, fault) = keep_until_fault(&store, project).await;
        assert!(matches!(fault, StoreError::Database(_)), "{fault:?}");
        assert!(store.read_only().is_some());
        let refused = submit(&store, keep(project, 0)).await.unwrap_err();
        assert!(matches!(refused, SubmitError::Fault(StoreError::ReadOnly { .. })), "{refused:?}");
        assert!(store.project(project).await.unwrap().is_some(), "reading goes on");
        return;
    }
    let ground = Folder::fresh();
    let name =
        "sqlite::disk::r37_after_an_error_of_the_disk_no_more_changes_are_taken_and_nothing_acknowledged_is_lost";
    let mut victim = victim(name, &ground, Some(2_400));
    let acknowledged = last_acknowledged(&mut victim, usize::MAX);
    assert!(victim.wait().unwrap().success(), "the victim misbehaved");
    let store = ground.open().await;
    assert!(store.size() >= acknowledged, "{} of {acknowledged} are there", store.size());
    assert_sound(&store).await;
}

#[tokio::test]
async fn a_killed_process_loses_nothing_acknowledged() {
    if let Some(store) = victims_store().await {
        let project = make_project(&store, "alpha").await;
        keep_until_fault(&store, project).await;
        return;
    }
    for acknowledgements in [3, 40, 200] {
        let ground = Folder::fresh();
        let mut victim = victim("sqlite::disk::a_killed_process_loses_nothing_acknowledged", &ground, None);
        let acknowledged = last_acknowledged(&mut victim, acknowledgements);
        victim.kill().unwrap();
        victim.wait().unwrap();
        let store = ground.open().await;
        assert!(store.size() >= acknowledged, "{} of {acknowledged} are there", store.size());
        assert_sound(&store).await;
    }
}

#[tokio::test]
async fn a_submitter_who_stops_waiting_does_not_undo_what_was_asked() {
    let ground = Folder::fresh();
    let world = World::on(&ground).await;
    let before = world.store.size();
    let mut watcher = world.store.subscribe();
    let (store, project) = (world.store.clone(), world.project);
    let impatient = tokio::spawn(async move { submit(&store, keep(project, 1)).await });
    watcher.changed().await.unwrap();
    impatient.abort();
    assert_eq!(world.store.size(), before + 1);
    assert!(world.store.kept(world.project, Digest::of(&1_u64.to_be_bytes())).await.unwrap().is_some());
}
