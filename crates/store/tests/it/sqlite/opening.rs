//! Which stores are opened, and which are not.

use std::os::unix::fs::PermissionsExt as _;

use placet_domain::identity::Reach;
use placet_ledger::SigningKey;
use placet_store::{Config, DecisionFilter, IntegrityFault, Store, StoreError, serving_at};

use crate::world::{Folder, Ground, ORIGIN, World, make_project, submit};

#[tokio::test]
async fn other_schema_is_refused_and_left_alone() {
    let ground = Folder::fresh();
    drop(ground.open().await);
    for found in ["1", "999"] {
        ground.raw().execute("UPDATE meta SET value = ?1 WHERE key = 'schema'", [found]).unwrap();
        let refused = Store::open(ground.config()).await.unwrap_err();
        assert!(matches!(refused, StoreError::OtherSchema { needed: 21, .. }), "{refused:?}");
        assert!(refused.to_string().contains("start the version that wrote it"), "{refused}");
    }
    let kept: String =
        ground.raw().query_row("SELECT value FROM meta WHERE key = 'schema'", [], |row| row.get(0)).unwrap();
    assert_eq!(kept, "999");
    ground.raw().execute("UPDATE meta SET value = 'x' WHERE key = 'schema'", []).unwrap();
    assert!(matches!(Store::open(ground.config()).await, Err(StoreError::BadSchema { .. })));
}

#[tokio::test]
async fn r35_projections_of_an_older_reading_are_recomputed() {
    let ground = Folder::fresh();
    let world = World::on(&ground).await;
    let (run, action) = (world.run.id, world.propose("B").await.id);
    let decided = world.propose("B").await;
    submit(&world.store, world.approval(&decided, &world.reviewers[0])).await.unwrap();
    let (known, head) = (world.store.run(run).await.unwrap(), world.store.sign_head().await.unwrap());
    drop(world);
    let raw = ground.raw();
    let older =
        "UPDATE run SET state = json_remove(state, '$.clock', '$.gates', '$.rollbacks', '$.steps_done', '$.hosting');
        UPDATE action SET state = json_remove(state, '$.rollbacks');
        DELETE FROM decision; DELETE FROM meta WHERE key = 'reading';";
    raw.execute_batch(older).unwrap();
    drop(raw);
    let store = ground.open().await;
    assert_eq!(store.check_projections().await.unwrap(), []);
    let since = placet_domain::time::Timestamp::from_unix_ms(0);
    let all = DecisionFilter { reach: Reach::Everywhere, project: None, reviewer: None, since, until: None, limit: 9 };
    assert_eq!(store.decisions(all).await.unwrap().len(), 1, "what was decided before it was measured is measured");
    assert_eq!(store.run(run).await.unwrap(), known);
    assert!(known.unwrap().clock.since.is_some(), "its time at work goes on to be counted");
    assert_eq!(store.action(action).await.unwrap().unwrap().rollbacks, 0);
    assert_eq!(store.sign_head().await.unwrap(), head, "the ledger is as it was");
}

#[tokio::test]
async fn c17_decisions_computed_anew_are_exactly_those_of_the_ledger_however_often() {
    let ground = Folder::fresh();
    let world = World::on(&ground).await;
    for _ in 0..2 {
        let decided = world.propose("B").await;
        submit(&world.store, world.approval(&decided, &world.reviewers[0])).await.unwrap();
    }
    let since = placet_domain::time::Timestamp::from_unix_ms(0);
    let all =
        || DecisionFilter { reach: Reach::Everywhere, project: None, reviewer: None, since, until: None, limit: 9 };
    let known = world.store.decisions(all()).await.unwrap();
    assert_eq!(known.len(), 2);
    drop(world);
    for _ in 0..2 {
        let raw = ground.raw();
        // As another reading might have had it: one that is none, one that was otherwise, one that is missing.
        let otherwise =
            "INSERT INTO decision SELECT seq - 1, at_ms, asked_ms, project, action, reviewer, tier, kind, 'rejected', 0
                FROM decision WHERE seq = (SELECT max(seq) FROM decision);
            UPDATE decision SET outcome = 'amended' WHERE seq = (SELECT min(seq) FROM decision);
            DELETE FROM decision WHERE seq = (SELECT max(seq) FROM decision);
            DELETE FROM meta WHERE key = 'reading';";
        raw.execute_batch(otherwise).unwrap();
        drop(raw);
        let store = ground.open().await;
        assert_eq!(store.check_projections().await.unwrap(), []);
        assert_eq!(store.decisions(all()).await.unwrap(), known, "and how they were looked at is still known");
    }
}

#[tokio::test]
async fn r35_a_second_control_plane_is_refused_while_the_first_is_there() {
    let ground = Folder::fresh();
    let first = ground.open().await;
    let clone = first.clone();
    drop(first);
    let refused = Store::open(ground.config()).await.unwrap_err();
    let StoreError::InUse { holder, .. } = &refused else { panic!("{refused:?}") };
    assert_eq!((holder.process, holder.at), (Some(std::process::id()), None));
    assert!(refused.to_string().contains(&format!("(process {})", std::process::id())), "{refused}");
    drop(clone);
    ground.open().await;
}

#[tokio::test]
async fn a13_whoever_comes_second_is_told_where_the_first_one_answers_and_not_where_another_one_did() {
    let ground = Folder::fresh();
    let place = "127.0.0.1:7070".parse().unwrap();
    let store = ground.open().await;
    let told = async || match Store::open(ground.config()).await {
        Err(StoreError::InUse { holder, .. }) => holder.at,
        other => panic!("{other:?}"),
    };
    assert_eq!(serving_at(&ground.config().dir), None, "nowhere yet");
    store.note_address(Some(place)).unwrap();
    assert_eq!((told().await, serving_at(&ground.config().dir)), (Some(place), Some(place)));
    store.note_address(None).unwrap();
    assert_eq!(told().await, None, "it answers no more");
    store.note_address(Some(place)).unwrap();
    assert_eq!(told().await, Some(place));
    drop(store);
    let _next = ground.open().await;
    assert_eq!(told().await, None, "another one answers nowhere yet");
}

#[tokio::test]
async fn the_folder_is_for_its_owner_only() {
    let ground = Folder::fresh();
    let store = ground.open().await;
    let digest = store.blobs().put(b"secret".to_vec()).await.unwrap().to_hex();
    let mode = |path: &str| std::fs::metadata(ground.dir.path().join(path)).unwrap().permissions().mode() & 0o777;
    assert_eq!([mode("store"), mode("store/evidence"), mode("store/lock")], [0o700, 0o700, 0o600]);
    assert_eq!(mode(&format!("store/evidence/{}/{}", &digest[..2], &digest[2..])), 0o400);
}

#[tokio::test]
async fn a_ledger_signed_with_another_key_is_refused() {
    let ground = Folder::fresh();
    let store = ground.open().await;
    make_project(&store, "alpha").await;
    store.sign_head().await.unwrap();
    drop(store);
    let other = SigningKey::from_seed(ORIGIN.parse().unwrap(), &[8; 32]);
    let refused = Store::open(Config { ledger_key: other, ..ground.config() }).await.unwrap_err();
    assert!(matches!(refused, StoreError::Integrity(IntegrityFault::Ledger(_))), "{refused:?}");
}

#[tokio::test]
async fn waiting_requests_are_answered_before_the_store_closes() {
    let ground = Folder::fresh();
    let world = World::on(&ground).await;
    let proposed = world.propose("B").await;
    let store = world.store.clone();
    let approval = world.approval(&proposed, &world.reviewers[0]);
    let asked = tokio::spawn(async move { submit(&store, approval).await });
    drop(world);
    asked.await.unwrap().unwrap();
}
