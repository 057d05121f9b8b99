//! The ledger: ordered, provable, and the source of everything else.

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::identity::Actor;
use placet_ledger::{Entry, bundle, leaf_hash};
use placet_store::{Debts, EntryFilter, MOST_ROWS, Store};

use crate::world::{Ground, World, asking, make_project, new_action, submit};

/// Appends as many entries as asked for, from many submitters at once.
async fn append(world: &World, count: u64) {
    let submitters = (0..count).map(|number| {
        let (store, project) = (world.store.clone(), world.project);
        tokio::spawn(async move {
            let digest = Digest::of(&number.to_be_bytes());
            let command = Command::KeepBlob { project, digest, size_bytes: number, secrets: SecretsSeen::default() };
            submit(&store, asking(Actor::Runtime, command)).await.unwrap().seqs
        })
    });
    for submitter in submitters.collect::<Vec<_>>() {
        submitter.await.unwrap();
    }
}

async fn all_entries(store: &Store) -> Vec<Entry> {
    let mut found = Vec::new();
    let mut after = None;
    loop {
        let page = store.entries(EntryFilter { after, limit: MOST_ROWS, ..EntryFilter::default() }).await.unwrap();
        let Some(last) = page.last() else { return found };
        after = Some(last.seq);
        found.extend(page.iter().map(|entry| Entry::parse(&entry.bytes).unwrap()));
    }
}

pub(super) async fn entries_are_numbered_without_gaps_in_the_order_of_commit<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    append(&world, 1_500).await;
    let entries = all_entries(&world.store).await;
    assert_eq!(entries.len() as u64, world.store.size());
    assert!((0..).zip(&entries).all(|(seq, entry)| entry.seq == seq));
}

pub(super) async fn watchers_are_told_of_every_commit<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let mut watcher = world.store.subscribe();
    let before = *watcher.borrow_and_update();
    assert_eq!(before, world.store.size());
    let receipt = submit(&world.store, world.proposal(new_action(), "B", 0.2)).await.unwrap();
    watcher.changed().await.unwrap();
    assert_eq!(*watcher.borrow_and_update(), receipt.seqs.end);
    assert!(!watcher.has_changed().unwrap());
}

pub(super) async fn proofs_and_heads_convince_a_stranger<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    let old = world.store.sign_head().await.unwrap();
    append(&world, 700).await;
    let new = world.store.sign_head().await.unwrap();
    assert_eq!(world.store.head().await.unwrap(), Some(new.clone()));
    let consistency = world.store.prove_consistency(old.size(), new.size()).await.unwrap();
    consistency.verify(old.head(), new.head()).unwrap();
    for seq in [0, 1, 255, 256, 511, new.size() - 1] {
        let entry = world.store.entry(seq).await.unwrap().unwrap();
        let proof = world.store.prove_entry(seq, new.size()).await.unwrap();
        proof.verify(&leaf_hash(&entry.bytes), new.head()).unwrap();
        proof.verify(&leaf_hash(b"something else"), new.head()).unwrap_err();
    }
    let in_old = world.store.prove_entry(0, old.size()).await.unwrap();
    in_old.verify(&world.store.entry(0).await.unwrap().unwrap().leaf, old.head()).unwrap();
    world.store.prove_entry(new.size(), new.size()).await.unwrap_err();
}

pub(super) async fn an_export_convinces_a_stranger<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    world.carry_through().await;
    append(&world, 600).await;
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().join("export");
    let head = world.store.export(dir.clone()).await.unwrap();
    let report = bundle::verify(&dir, world.store.verifier(), Some(&head));
    assert!(report.is_sound(), "{:?}", report.faults);
    assert_eq!((report.entries, head.size()), (world.store.size(), world.store.size()));
    world.store.export(dir).await.unwrap_err();
}

pub(super) async fn a_restart_resumes_the_same_tree<G: Ground>() {
    let ground = G::fresh();
    let mut world = World::on(&ground).await;
    for count in [300, 1, 240, 0] {
        append(&world, count).await;
        let head = world.store.sign_head().await.unwrap();
        append(&world, 3).await;
        let size = world.store.size();
        drop(world.store);
        world.store = ground.open().await;
        assert_eq!(world.store.size(), size);
        let later = world.store.sign_head().await.unwrap();
        let proof = world.store.prove_consistency(head.size(), later.size()).await.unwrap();
        proof.verify(head.head(), later.head()).unwrap();
        assert!(world.store.scrub().await.unwrap().is_sound());
    }
}

pub(super) async fn r32_the_clock_of_the_ledger_never_goes_backwards<G: Ground>() {
    let ground = G::fresh();
    let store = ground.open().await;
    make_project(&store, "one").await;
    ground.clock().move_by_ms(-86_400_000);
    make_project(&store, "two").await;
    drop(store);
    let store = ground.open().await;
    make_project(&store, "three").await;
    ground.clock().move_by_ms(2 * 86_400_000);
    make_project(&store, "four").await;
    let times: Vec<_> = all_entries(&store).await.into_iter().map(|entry| entry.at).collect();
    let (first, later) = ("2026-01-31T09:30:00.000Z", "2026-02-01T09:30:00.000Z");
    assert_eq!(times, [first, first, first, later]);
}

pub(super) async fn the_projections_are_what_the_ledger_says<G: Ground>() {
    let ground = G::fresh();
    let world = World::on(&ground).await;
    for _ in 0..3 {
        world.carry_through().await;
        ground.clock().move_by_ms(7);
    }
    let denied = world.propose("D").await;
    submit(&world.store, world.approval(&denied, &world.agent)).await.unwrap_err();
    append(&world, 20).await;
    append(&world, 20).await;
    assert_eq!(world.store.check_projections().await.unwrap(), []);
    assert!(world.store.scrub().await.unwrap().is_sound());
}

pub(super) async fn a_head_is_signed_once_for_each_size<G: Ground>() {
    let ground = G::fresh();
    let store = ground.open().await;
    assert_eq!(store.head().await.unwrap(), None);
    assert_eq!(store.sign_head().await.unwrap().size(), 0);
    make_project(&store, "one").await;
    let (a, b) = tokio::join!(store.sign_head(), store.sign_head());
    let (a, b) = (a.unwrap(), b.unwrap());
    assert_eq!((a.size(), &a), (1, &b));
    assert_eq!(store.sign_head().await.unwrap(), a);
}

pub(super) async fn b12_what_is_owed_is_kept_with_the_cursor<G: Ground>() {
    let ground = G::fresh();
    let store = ground.open().await;
    let owes = |next_seq, states: &[(&str, &str)]| {
        let states = states.iter().map(|(who, state)| ((*who).to_owned(), (*state).to_owned())).collect();
        store.keep_debts(Debts { follower: "notify/mail".to_owned(), next_seq, states })
    };
    owes(3, &[("ada", "one"), ("bob", "two")]).await.unwrap();
    owes(2, &[("bob", "three")]).await.unwrap();
    assert_eq!(store.cursor("notify/mail").await.unwrap(), Some(3), "a cursor never goes back");
    drop(store);
    let store = ground.open().await;
    let kept: Vec<_> = [("ada", "one"), ("bob", "three")].map(|(who, state)| (who.to_owned(), state.to_owned())).into();
    assert_eq!(store.debts("notify/mail").await.unwrap(), kept);
    assert_eq!(store.debts("notify/chat").await.unwrap(), []);
    assert_eq!(store.size(), 0, "it is no entry");
}

pub(super) async fn b12_a_cursor_is_kept_and_never_goes_back<G: Ground>() {
    let ground = G::fresh();
    let store = ground.open().await;
    let changes = store.subscribe();
    assert_eq!(store.cursor("chat").await.unwrap(), None);
    for (seq, stands) in [(0, 0), (5, 5), (3, 5), (5, 5), (9, 9)] {
        store.set_cursor("chat", seq).await.unwrap();
        assert_eq!(store.cursor("chat").await.unwrap(), Some(stands));
    }
    store.set_cursor("mail", 2).await.unwrap();
    assert!(!changes.has_changed().unwrap(), "cursors are no entries, so nobody is told of them");
    drop((store, changes));
    let store = ground.open().await;
    assert_eq!(store.cursor("chat").await.unwrap(), Some(9));
    assert_eq!(store.cursor("mail").await.unwrap(), Some(2));
    assert_eq!(store.size(), 0);
}
