//! Attempts to execute what one has no permit for, twice, or to have the last word on a result.

use placet_domain::evidence::Exit;
use placet_wire::api::Job;
use serde_json::json;

use super::attacks;
use super::scene::{Hand, Scene, done_if};

attacks! { "governance";
    replayed_permit, "start an action a second time", Permit, "403 permit: the permit is refused: it has been used", honestly a_fresh_permit_counts;
    stolen_permit, "start with another worker's permit", Permit, "403 permit: the permit is refused: it is for another worker", honestly a_fresh_permit_counts;
    permit_of_another_action, "start one action with the permit of another", Permit, "403 permit: the permit is refused: it is for another action", honestly a_fresh_permit_counts;
    forged_permit, "write a permit", Permit, "403 permit: the permit is refused: its signature is not ours", honestly a_fresh_permit_counts;
    lease_by_an_agent, "lease its own action", Role, "403 role", honestly a_fresh_permit_counts;
    lease_of_what_waits, "lease what nobody approved", Permit, "nothing to lease", honestly a_fresh_permit_counts;
    permit_in_a_run_that_stands_still, "start what somebody held up", RunState, "409 run_not_active", honestly a_run_that_goes_on;
    double_completion, "replace a result by another", Fencing, "quarantined", honestly the_first_result_stands;
    result_of_a_stranger, "report for another worker", Permit, "403 permit", honestly the_worker_reports;
    result_before_the_start, "report what was never started", Fencing, "quarantined", honestly a_fresh_permit_counts;
    result_of_another_action, "report one action's result as another's", Permit, "422 invalid: the evidence names another", honestly the_worker_reports;
    result_of_other_bytes, "report having run something else", Permit, "403 permit: the permit is refused: it is for other bytes", honestly the_worker_reports;
    heartbeat_of_a_stranger, "keep another's job alive", Fencing, "409 lost_lease", honestly the_workers_heart_beats;
}

fn leased(scene: &Scene) -> (Hand, Job) {
    let id = scene.waiting();
    assert_eq!(scene.approved(&id), super::DONE);
    let hand = Hand::of(scene, "w1");
    let job = hand.lease();
    assert_eq!(job.action.to_string(), id);
    (hand, job)
}

/// Another worker, who has leased nothing.
fn stranger(scene: &Scene) -> Hand {
    scene.joins("w2", "worker", None);
    Hand::of(scene, "w2")
}

fn replayed_permit(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    assert_eq!(hand.redeem(&job), super::DONE);
    hand.redeem(&job)
}

fn a_fresh_permit_counts(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    let told = hand.redeem(&job);
    done_if(told == super::DONE && scene.world.status(&job.action.to_string()) == "EXECUTING", || told)
}

fn stolen_permit(scene: &Scene) -> String {
    let (_, job) = leased(scene);
    stranger(scene).redeem(&job)
}

fn permit_of_another_action(scene: &Scene) -> String {
    let (_, other) = leased(scene);
    let (hand, job) = leased(scene);
    hand.redeem_with(&job, &other.permit)
}

fn forged_permit(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    let (content, signature) = job.permit.split_once('.').unwrap();
    let other = if signature.starts_with('A') { "B" } else { "A" };
    hand.redeem_with(&job, &format!("{content}.{other}{}", &signature[1..]))
}

fn lease_by_an_agent(scene: &Scene) -> String {
    let id = scene.waiting();
    scene.approved(&id);
    let told = scene.post("tom", "/api/v1/leases", &json!({ "wait_ms": 0 }));
    // Taken by whoever may, so that the honest twin finds its own action first.
    Hand::of(scene, "w1").lease();
    told
}

fn lease_of_what_waits(scene: &Scene) -> String {
    scene.waiting();
    let told = scene.raw("w1", "POST", "/api/v1/leases", r#"{"wait_ms":200}"#);
    let status = scene.world.status(&scene.newest());
    if told == super::DONE && status == "PENDING_APPROVAL" {
        "nothing to lease".to_owned()
    } else {
        format!("{told}: {status}")
    }
}

fn permit_in_a_run_that_stands_still(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    scene.world.cli(&["run", "pause", &scene.run, "--reason", "wait"]).ok();
    hand.redeem(&job)
}

fn a_run_that_goes_on(scene: &Scene) -> String {
    scene.world.cli(&["run", "resume", &scene.run]).ok();
    a_fresh_permit_counts(scene)
}

fn double_completion(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    hand.redeem(&job);
    hand.keep(&job, b"first");
    hand.keep(&job, scene.canary.as_bytes());
    let mut first = hand.manifest(&job, "stdout", b"first");
    first.exit = Exit::Code(7);
    assert_eq!(hand.complete(&first), super::DONE);
    hand.complete(&hand.manifest(&job, "stdout", scene.canary.as_bytes()))
}

fn the_first_result_stands(scene: &Scene) -> String {
    let id = scene.newest();
    let manifest = scene.world.json("ada", &["evidence", "list", &id]);
    done_if(manifest["exit"]["code"] == 7 && scene.world.evidence(&id, "stdout") == b"first", || manifest.to_string())
}

fn result_of_a_stranger(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    hand.redeem(&job);
    hand.keep(&job, scene.canary.as_bytes());
    let thief = stranger(scene);
    thief.complete(&thief.manifest(&job, "stdout", scene.canary.as_bytes()))
}

fn result_before_the_start(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    hand.keep(&job, scene.canary.as_bytes());
    let told = hand.complete(&hand.manifest(&job, "stdout", scene.canary.as_bytes()));
    assert_eq!(scene.world.status(&job.action.to_string()), "LEASED", "nothing counts that was not started");
    told
}

fn result_of_another_action(scene: &Scene) -> String {
    let (hand, other) = leased(scene);
    hand.redeem(&other);
    let (_, job) = leased(scene);
    hand.redeem(&job);
    hand.keep(&job, scene.canary.as_bytes());
    let manifest = hand.manifest(&other, "stdout", scene.canary.as_bytes());
    hand.complete_as(&job.action.to_string(), &json!({ "manifest": manifest }))
}

fn result_of_other_bytes(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    hand.redeem(&job);
    hand.keep(&job, scene.canary.as_bytes());
    let mut manifest = hand.manifest(&job, "stdout", scene.canary.as_bytes());
    manifest.executed = placet_domain::digest::Digest::of(b"something else");
    hand.complete(&manifest)
}

/// An action of its own: whoever may report, may.
fn the_worker_reports(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    hand.redeem(&job);
    hand.keep(&job, b"honest");
    let told = hand.complete(&hand.manifest(&job, "stdout", b"honest"));
    done_if(told == super::DONE && scene.world.status(&job.action.to_string()) == "SUCCEEDED", || told)
}

fn heartbeat_of_a_stranger(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    hand.redeem(&job);
    stranger(scene).beat(&job)
}

fn the_workers_heart_beats(scene: &Scene) -> String {
    let (hand, job) = leased(scene);
    hand.redeem(&job);
    hand.beat(&job)
}
