//! T1: processes are killed at random moments under load; what was acknowledged stays, and nothing happens twice.

mod load;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use placet_domain::id::ActionId;
use placet_ledger::{Hash, SignedTreeHead, VerifierKey, verify_consistency};
use placet_store::{Config, EntryFilter, Store};
use placet_testkit::{Random, rounds};
use placet_wire::ClientError;
use placet_wire::api::{ActionView, ConsistencyQuery, HeadView, PageQuery, Redemption};
use placet_wire::endpoint::{CheckReadiness, ListActions, ProveConsistency, RedeemPermit, ShowHead};

use crate::support::books::{Books, redeemed_twice};
use crate::support::{World, eventually, ledger_key, processes_with};
use load::Load;

#[test]
fn t1_kills_under_load_lose_nothing() {
    let kills = rounds(10, 50);
    let mut random = Random::seeded();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let mut world = World::set_up();
    // Short, so that leases whose answer was lost with the process lapse and are taken up again.
    world.term("lease_ms", 3_000);
    world.serve();
    let books = Arc::new(Mutex::new(Books::default()));
    let load = Load::start(&mut world, &books, &mut random, &runtime);
    for kill in 1..=kills {
        std::thread::sleep(Duration::from_millis(random.between(50, 400)));
        world.kill_control();
        let known = books.lock().unwrap().clone();
        let started = Instant::now();
        world.serve();
        let restart = started.elapsed();
        runtime
            .block_on(check(&world, &load, &known, &books))
            .unwrap_or_else(|fault| panic!("after kill {kill}: {fault}"));
        assert!(restart < Duration::from_secs(30), "kill {kill}: ready only after {restart:?}");
    }
    load.stop(&runtime);
    let known = books.lock().unwrap().clone();
    runtime.block_on(check_all(&world, &load, &known)).unwrap_or_else(|fault| panic!("at the end: {fault}"));
    world.stop_control();
    runtime.block_on(check_offline(&world, &known));
    let completed = known.actions.values().filter(|acknowledged| acknowledged.completed.is_some()).count();
    eprintln!(
        "{kills} kills, {} actions, {completed} completed, {} permits, {} heads",
        known.actions.len(),
        known.spent.len(),
        known.heads.len()
    );
    assert!(completed > kills, "there was load: {completed} completions acknowledged");
}

type Checked = Result<(), String>;

fn fault(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// After each restart: ready, everything acknowledged is there, recent permits are spent, the ledger goes on.
async fn check(world: &World, load: &Load, known: &Books, books: &Mutex<Books>) -> Checked {
    let admin = world.client("admin");
    admin.get(CheckReadiness {}).await.map_err(|error| format!("it is not ready: {error}"))?;
    holds(load, known).await?;
    for (worker, job) in known.spent.iter().rev().take(4) {
        refused_again(load, *worker, job).await?;
    }
    let head: HeadView = admin.get(ShowHead {}).await.map_err(fault)?;
    if let Some(before) = known.heads.last() {
        extends(&admin, before, &head).await?;
    }
    books.lock().unwrap().heads.push(head);
    Ok(())
}

/// At the end: the same for every permit and every head there ever was.
async fn check_all(world: &World, load: &Load, known: &Books) -> Checked {
    let admin = world.client("admin");
    holds(load, known).await?;
    for (worker, job) in &known.spent {
        refused_again(load, *worker, job).await?;
    }
    let newest: HeadView = admin.get(ShowHead {}).await.map_err(fault)?;
    for head in &known.heads {
        extends(&admin, head, &newest).await?;
    }
    Ok(())
}

/// Nothing that was acknowledged is lost (I1).
async fn holds(load: &Load, known: &Books) -> Checked {
    let mut now: BTreeMap<ActionId, ActionView> = BTreeMap::new();
    for run in load.runs() {
        let (run, mut query) = (*run, PageQuery::default());
        loop {
            let list = load.reviewer().get(ListActions { run, query }).await.map_err(fault)?;
            now.extend(list.actions.into_iter().map(|view| (view.id, view)));
            let Some(next) = list.next else { break };
            query.after = Some(next);
        }
    }
    let contradictions = known.contradictions(&now);
    if contradictions.is_empty() { Ok(()) } else { Err(contradictions.join("\n")) }
}

/// No permit is accepted twice (I7), not even from the worker it was for.
async fn refused_again(load: &Load, worker: usize, job: &placet_wire::api::Job) -> Checked {
    let again =
        load.worker(worker).post(RedeemPermit { action: job.action }, &Redemption { permit: job.permit.clone() }).await;
    match again {
        Err(ClientError::Refused(_)) => Ok(()),
        Ok(_) => Err(format!("the permit of {} was accepted twice", job.action)),
        Err(error) => Err(fault(error)),
    }
}

/// The ledger never shrinks and never rewrites what it has signed (I4).
async fn extends(admin: &placet_wire::Client, before: &HeadView, now: &HeadView) -> Checked {
    if now.size < before.size {
        return Err(format!("the ledger shrank from {} to {}", before.size, now.size));
    }
    let key: VerifierKey = now.key.parse().map_err(fault)?;
    let [old, new] = [before, now].map(|head| SignedTreeHead::verify(head.note.as_bytes(), &key));
    let (old, new) = (old.map_err(fault)?, new.map_err(fault)?);
    let query = ConsistencyQuery { from: before.size, to: now.size };
    let proof = admin.get(ProveConsistency { query }).await.map_err(fault)?;
    let hashes: Vec<Hash> = proof.proof.iter().map(|hash| hash.parse().unwrap()).collect();
    verify_consistency(old.size(), &old.root(), new.size(), &new.root(), &hashes).map_err(fault)
}

/// With the process gone: the export verifies, the projections are what the ledger says, nothing ran twice.
async fn check_offline(world: &World, known: &Books) {
    world.write("last.head", &known.heads.last().unwrap().note);
    let exported = world.json("admin", &["ledger", "export", "copy", "--offline"]);
    world.cli(&["ledger", "verify", "copy", "--key", exported["key"].as_str().unwrap(), "--since", "last.head"]).ok();
    let store = Store::open(Config::new(world.home().join("data"), ledger_key(&world.home()))).await.unwrap();
    assert_eq!(store.check_projections().await.unwrap(), []);
    let scrub = store.scrub().await.unwrap();
    assert!(scrub.is_sound() && scrub.entries == store.size(), "{scrub:?}");
    assert_eq!(redeemed_twice(redemptions(&store).await), []);
}

/// Every redemption in the ledger, as action and attempt.
async fn redemptions(store: &Store) -> Vec<(String, u64)> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.entries(EntryFilter { after, limit: 1_000, ..EntryFilter::default() }).await.unwrap();
        let Some(last) = page.last() else { return found };
        after = Some(last.seq);
        let entries = page.iter().map(|stored| serde_json::from_slice::<serde_json::Value>(&stored.bytes).unwrap());
        let redeemed = entries.filter(|entry| entry["kind"] == "permit.redeemed");
        found.extend(
            redeemed.map(|entry| {
                (entry["action"].as_str().unwrap().to_owned(), entry["body"]["attempt"].as_u64().unwrap())
            }),
        );
    }
}

#[test]
fn a_killed_worker_leaves_no_process_and_what_it_ran_is_decided_by_a_person() {
    let mut world = World::set_up();
    world.term("lease_ms", 1_500);
    world.serve();
    let run = world.undertake();
    let worker = world.worker(&[]);
    let [retried, abandoned] = ["sleep 3.141591", "sleep 3.141592"]
        .map(|script| world.cleared(&run, &["sh", &format!("{script}; echo done")]));
    for id in [&retried, &abandoned] {
        world.reaches(id, &["EXECUTING"]);
    }
    eventually("both run", Duration::from_secs(10), || processes_with("sleep 3.14159").len() >= 2);
    worker.kill();
    eventually("nothing of the cages is left", Duration::from_secs(2), || processes_with("sleep 3.14159").is_empty());
    // Another worker is there at once: it must not take up what nobody knows the end of.
    let _second = world.worker(&["--jobs", "1"]);
    for id in [&retried, &abandoned] {
        world.reaches(id, &["INTERRUPTED"]);
    }
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(
        [&retried, &abandoned].map(|id| world.times(&run, id, "permit.redeemed")),
        [1, 1],
        "nothing ran again by itself"
    );

    let told = world.by("ada", &["show", &abandoned]).ok();
    for part in ["Interrupted: nobody knows how far it got", "worker   w1", "attempt  1", "given up 20", "in silence"] {
        assert!(told.out().contains(part), "`{part}`: {}", told.out());
    }
    let resolve = |more: &[&str]| {
        let args = ["action", "resolve", &abandoned, "--abandon", "--reason", "not wanted any more"];
        world.by("ada", &[&args[..], more].concat())
    };
    assert!(resolve(&["--attempt", "2"]).exits(9).stderr.contains("tried again"));
    resolve(&["--attempt", "1"]).ok();
    world.by("ada", &["action", "resolve", &retried, "--retry", "--reason", "it only sleeps"]).ok();
    assert_eq!(world.status(&abandoned), "ABANDONED");
    assert_eq!(world.done(&retried).status, "SUCCEEDED");
    assert_eq!(world.evidence(&retried, "stdout"), b"done\n");
    assert_eq!([&retried, &abandoned].map(|id| world.times(&run, id, "permit.redeemed")), [2, 1]);
}

#[test]
fn a_worker_reports_what_it_did_while_the_control_plane_was_gone() {
    let (mut world, run) = World::start();
    let _worker = world.worker(&[]);
    let id = world.cleared(&run, &["sh", "sleep 1; echo survived"]);
    world.reaches(&id, &["EXECUTING"]);
    world.kill_control();
    std::thread::sleep(Duration::from_millis(1_500));
    world.serve();
    assert_eq!(world.done(&id).status, "SUCCEEDED");
    assert_eq!(world.evidence(&id, "stdout"), b"survived\n");
    assert_eq!(world.times(&run, &id, "permit.redeemed"), 1);
    // And it goes on working.
    assert_eq!(world.perform(&run, &["sh", "echo next"]).status, "SUCCEEDED");
}

#[test]
fn a_worker_stops_what_it_runs_when_the_control_plane_hangs_for_longer_than_the_lease() {
    let mut world = World::set_up();
    world.term("lease_ms", 1_500);
    world.serve();
    let run = world.undertake();
    let _worker = world.worker(&[]);
    let id = world.cleared(&run, &["sh", "sleep 33.141593"]);
    eventually("it runs", Duration::from_secs(10), || !processes_with("sleep 33.141593").is_empty());
    world.control().send("STOP");
    eventually("it is stopped", Duration::from_secs(8), || processes_with("sleep 33.141593").is_empty());
    world.control().send("CONT");
    world.reaches(&id, &["INTERRUPTED", "FAILED"]);
}
