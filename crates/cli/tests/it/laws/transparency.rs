//! TRANSPARENCY: everything that happened is on the record, and the record cannot be changed unnoticed.

use super::agent;
use crate::hosted::Scene;

#[test]
fn c1_transparency_every_step_of_a_run_is_on_the_record_with_who_did_it() {
    let scene = Scene::new();
    let run = scene.start_script(&agent("said.append(run.act('ls'))"), &["--budget-actions", "10"]);
    scene.reaches(&run, "PENDING_EXPORT");
    let trail = scene.world.json("admin", &["run", "audit", &run]);
    let rows = trail["rows"].as_array().unwrap();
    let events: Vec<&str> = rows.iter().map(|row| row["event"].as_str().unwrap()).collect();
    let order = [
        "run.created",
        "run.plan_approved",
        "run.started",
        "run.hosted",
        "run.snapshot_kept",
        "run.equipped",
        "run.attached",
        "action.proposed",
        "action.judged",
        "job.leased",
        "permit.redeemed",
        "job.completed",
        "run.finished",
    ];
    let places: Vec<Option<usize>> = order.iter().map(|event| events.iter().position(|seen| seen == event)).collect();
    assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{events:?}");
}

#[test]
fn c14_the_database_itself_refuses_to_change_or_forget_what_happened() {
    let mut scene = Scene::new();
    let run = scene.start_script(&agent("said.append('x')"), &[]);
    scene.reaches(&run, "PENDING_EXPORT");
    scene.stop_worker();
    scene.world.stop_control();
    let database = rusqlite::Connection::open(scene.world.home().join("data/placet.db")).unwrap();
    for attempt in ["DELETE FROM ledger WHERE seq = 3", "UPDATE ledger SET bytes = x'00' WHERE seq = 3"] {
        let refused = database.execute(attempt, []).unwrap_err().to_string();
        assert!(!refused.contains("no such"), "{attempt}: {refused}");
    }
    drop(database);
    let exported = scene.world.json("admin", &["ledger", "export", "copy", "--offline"]);
    scene.world.cli(&["ledger", "verify", "copy", "--key", exported["key"].as_str().unwrap()]).ok();
}

#[test]
fn c1_transparency_what_was_tried_in_vain_is_on_the_record_too() {
    let mut scene = Scene::new();
    let body = "try:\n  run.post(run.path + '/approve', {})\nexcept Refused:\n  said.append('no')";
    let run = scene.start_script(&agent(body), &[]);
    scene.reaches(&run, "PENDING_EXPORT");
    let agent = scene.seen(&run)["agent"].as_str().unwrap().to_owned();
    scene.stop_worker();
    scene.world.stop_control();
    let database = rusqlite::Connection::open(scene.world.home().join("data/placet.db")).unwrap();
    let sql = "SELECT CAST(bytes AS TEXT) FROM ledger";
    let mut rows = database.prepare(sql).unwrap();
    let entries: Vec<String> = rows.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let tried = |entry: &&String| entry.contains("\"refused\"") && entry.contains(&agent);
    assert!(entries.iter().any(|entry| tried(&entry)), "who, and what");
}
