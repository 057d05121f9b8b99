//! Somebody with a second connection changes what happened. It is refused, or found.

use placet_domain::command::Command;
use placet_domain::digest::Digest;
use placet_domain::evidence::SecretsSeen;
use placet_domain::identity::Actor;
use placet_domain::project::{ProjectCommand, Separation};
use placet_ledger::{Fault, leaf_hash};
use placet_store::{IntegrityFault, Store, StoreError};
use rusqlite::{Connection, params};

use crate::world::{Folder, Ground, World, asking, make_project, new_project, submit};

const TABLES: [&str; 5] = ["ledger", "tile", "head", "sealed", "evidence"];

/// Enough entries that one tile is full and the next is not.
async fn a_store_with_history() -> (Folder, World) {
    let ground = Folder::fresh();
    let world = World::on(&ground).await;
    for number in 0..150_u64 {
        let action = world.propose("B").await;
        if number % 50 == 0 {
            let digest = Digest::of(&number.to_be_bytes());
            let keep =
                Command::KeepBlob { project: world.project, digest, size_bytes: 8, secrets: SecretsSeen::default() };
            submit(&world.store, asking(Actor::Runtime, keep)).await.unwrap();
            submit(&world.store, world.approval(&action, &world.reviewers[0])).await.unwrap();
        }
    }
    (ground, world)
}

/// What somebody does first who means it.
fn without_triggers(ground: &Folder) -> Connection {
    let conn = ground.raw();
    for trigger in ["not_changed", "not_removed", "not_replaced"] {
        for table in TABLES {
            conn.execute_batch(&format!("DROP TRIGGER IF EXISTS {table}_is_{trigger}")).unwrap();
        }
    }
    conn.pragma_update(None, "foreign_keys", "off").unwrap();
    conn
}

fn faults(error: StoreError) -> Vec<Fault> {
    let StoreError::Integrity(IntegrityFault::Ledger(faults)) = error else {
        panic!("not a damaged ledger: {error:?}");
    };
    faults
}

async fn refused_head(store: &Store) -> Vec<Fault> {
    faults(store.sign_head().await.unwrap_err())
}

#[tokio::test]
async fn what_happened_cannot_be_changed_removed_or_replaced() {
    let (ground, world) = a_store_with_history().await;
    world.store.sign_head().await.unwrap();
    let conn = ground.raw();
    for table in TABLES {
        let statement = conn.prepare(&format!("SELECT * FROM {table}")).unwrap();
        let columns: Vec<&str> = statement.column_names().collect();
        let (column, columns) = (columns[0], columns.join(", "));
        for attack in [
            format!("UPDATE {table} SET {column} = {column}"),
            format!("DELETE FROM {table}"),
            format!("INSERT OR REPLACE INTO {table} ({columns}) SELECT {columns} FROM {table} LIMIT 1"),
        ] {
            let error = conn.execute(&attack, []).unwrap_err().to_string();
            assert!(error.contains("never") || error.contains("without gaps"), "`{attack}` gave `{error}`");
        }
    }
    assert!(world.store.scrub().await.unwrap().is_sound());
}

#[tokio::test]
async fn r36_a_changed_entry_is_never_signed_and_is_named() {
    let (ground, world) = a_store_with_history().await;
    without_triggers(&ground)
        .execute(
            "UPDATE ledger SET bytes = CAST(replace(CAST(bytes AS TEXT), 'alpha', 'omega') AS BLOB) WHERE seq = 0",
            [],
        )
        .unwrap();
    let found = refused_head(&world.store).await;
    assert!(matches!(found[..], [Fault::EntryChanged { entry: 0, .. }]), "{found:?}");
    assert_eq!(world.store.head().await.unwrap(), None);
    let scrub = world.store.scrub().await.unwrap();
    assert_eq!(scrub.faults, found);
}

#[tokio::test]
async fn r36_an_entry_that_was_changed_with_its_hash_is_named_too() {
    let (ground, world) = a_store_with_history().await;
    let last = world.store.size() - 1;
    let conn = without_triggers(&ground);
    for seq in [7, last] {
        let entry = world.store.entry(seq).await.unwrap().unwrap();
        // Well-formed and in order, so that only the hashes can tell.
        let forged = String::from_utf8(entry.bytes.clone()).unwrap().replace("\"actor\":\"", "\"actor\":\"not ");
        let change = "UPDATE ledger SET bytes = ?1, leaf = ?2 WHERE seq = ?3";
        conn.execute(change, params![forged.as_bytes(), leaf_hash(forged.as_bytes()).as_bytes(), seq as i64]).unwrap();
        let found = refused_head(&world.store).await;
        assert!(matches!(found[..], [Fault::EntryChanged { entry, .. }] if entry == seq), "{found:?}");
        conn.execute(change, params![entry.bytes, entry.leaf.as_bytes(), seq as i64]).unwrap();
    }
    world.store.sign_head().await.unwrap();
}

#[tokio::test]
async fn r36_every_flipped_bit_is_found_and_located() {
    let (ground, world) = a_store_with_history().await;
    let conn = without_triggers(&ground);
    let change = "UPDATE ledger SET bytes = ?1 WHERE seq = ?2";
    let size = world.store.size();
    for round in 0..200_u64 {
        let seq = round * 7_919 % size;
        let intact = world.store.entry(seq).await.unwrap().unwrap().bytes;
        let mut flipped = intact.clone();
        let place = (round * 104_729) as usize % flipped.len();
        flipped[place] ^= 1 << (round % 8);
        conn.execute(change, params![flipped, seq as i64]).unwrap();
        let found = refused_head(&world.store).await;
        assert!(matches!(found[..], [Fault::EntryChanged { entry, .. }] if entry == seq), "{seq}: {found:?}");
        conn.execute(change, params![intact, seq as i64]).unwrap();
    }
    assert_eq!(world.store.sign_head().await.unwrap().size(), size);
}

#[tokio::test]
async fn a_store_whose_history_is_not_the_signed_one_does_not_start_and_says_where() {
    let attacks: [(&str, u64); 3] = [
        ("UPDATE ledger SET leaf = zeroblob(32) WHERE seq = 290", 290),
        ("UPDATE tile SET root = zeroblob(32)", 0),
        ("DELETE FROM ledger WHERE seq = 280", 280),
    ];
    for (attack, place) in attacks {
        let (ground, world) = a_store_with_history().await;
        world.store.sign_head().await.unwrap();
        drop(world);
        without_triggers(&ground).execute_batch(attack).unwrap();
        let found = faults(Store::open(ground.config()).await.unwrap_err());
        let covers = |fault: &Fault| {
            let tile = matches!(fault, Fault::TileChanged { first, last, .. } if (*first..=*last).contains(&place));
            tile || fault.entry() == Some(place)
        };
        assert!(found.iter().any(covers), "`{attack}` was not located: {found:?}");
    }
}

#[tokio::test]
async fn a_ledger_that_was_rolled_back_behind_its_head_does_not_start() {
    let (ground, world) = a_store_with_history().await;
    let head = world.store.sign_head().await.unwrap().size();
    drop(world);
    without_triggers(&ground).execute("DELETE FROM ledger WHERE seq >= 270", []).unwrap();
    let refused = Store::open(ground.config()).await.unwrap_err();
    let rolled_back = IntegrityFault::RolledBack { head, size: 270 };
    assert!(matches!(&refused, StoreError::Integrity(fault) if *fault == rolled_back), "{refused:?}");
}

#[tokio::test]
async fn a_changed_tile_is_found_by_scrubbing() {
    let (ground, world) = a_store_with_history().await;
    let change =
        "UPDATE tile SET hashes = CAST(zeroblob(32) || substr(hashes, 33) AS BLOB) WHERE level = 0 AND number = 0";
    without_triggers(&ground).execute(change, []).unwrap();
    let found = world.store.scrub().await.unwrap().faults;
    assert!(matches!(found[0], Fault::TileChanged { position: 0, first: 0, last: 0, .. }), "{found:?}");
}

#[tokio::test]
async fn a_changed_projection_is_found_by_folding_the_ledger() {
    let (ground, world) = a_store_with_history().await;
    let action = world.propose("B").await;
    let conn = ground.raw();
    conn.execute("UPDATE action SET status = 'APPROVED' WHERE id = ?1", [action.id.as_bytes()]).unwrap();
    conn.execute("DELETE FROM scope", []).unwrap();
    conn.execute("UPDATE identity SET revoked = 1 WHERE id = ?1", [world.agent.id.as_bytes()]).unwrap();
    let found = world.store.check_projections().await.unwrap();
    let named: Vec<_> = found.iter().map(|difference| (difference.what, difference.id.clone())).collect();
    assert_eq!(named, [("identity", world.agent.id.to_string()), ("action", action.id.to_string())]);
    assert!(found[1].to_string().contains("APPROVED"), "{}", found[1]);
}

#[tokio::test]
async fn changed_content_is_not_handed_out() {
    let (ground, world) = a_store_with_history().await;
    let action = world.propose("B").await;
    let change = "UPDATE sealed SET bytes = CAST(bytes || x'20' AS BLOB) WHERE digest = ?1";
    without_triggers(&ground).execute(change, [action.digest.as_bytes()]).unwrap();
    let refused = world.store.sealed(action.id, action.digest).await.unwrap_err();
    assert!(refused.to_string().contains(&action.digest.to_string()), "{refused}");
    assert!(matches!(refused, StoreError::Integrity(IntegrityFault::Changed { what: "sealed document", .. })));
}

#[tokio::test]
async fn an_entry_slipped_in_from_outside_stops_the_writer_instead_of_being_built_upon() {
    let ground = Folder::fresh();
    let store = ground.open().await;
    make_project(&store, "alpha").await;
    let slip_in = "INSERT INTO ledger (seq, at_ms, kind, leaf, bytes) VALUES (1, 0, 'x', zeroblob(32), x'7b7d')";
    ground.raw().execute(slip_in, []).unwrap();
    let command = ProjectCommand::Create { name: "beta".to_owned(), separation: Separation::FourEyes };
    let id = new_project();
    let submission = asking(Actor::Runtime, Command::Project { id, command });
    submit(&store, submission).await.unwrap_err();
    assert_eq!(store.project(id).await.unwrap(), None);
    assert_eq!(store.size(), 1);
}
