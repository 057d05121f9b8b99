//! TRANSPARENCY: everything that happened is on the record, with who did it.

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
