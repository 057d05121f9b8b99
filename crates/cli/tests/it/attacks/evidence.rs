//! Attacks with evidence: names that lead elsewhere, things that are no files, results without proof.

use placet_domain::digest::Digest;
use placet_domain::evidence::Manifest;
use placet_wire::Endpoint as _;
use placet_wire::api::Job;
use placet_wire::endpoint::{DeleteEvidence, FetchEvidence};

use super::attacks;
use super::scene::{Hand, Scene, block_on, done_if, ended, outcome};

attacks! { "reviewer";
    evidence_name_that_climbs, "a piece of evidence above its folder", PlainPaths, "422 bad_evidence", honestly a_result_with_evidence_counts;
    evidence_name_that_is_absolute, "one at a place of the host", PlainPaths, "422 bad_evidence", honestly a_result_with_evidence_counts;
    evidence_name_twice, "one name for two contents", PlainPaths, "422 bad_evidence", honestly a_result_with_evidence_counts;
    evidence_that_was_never_sent, "a digest of nothing that is kept", Content, "422 missing_evidence", honestly a_result_with_evidence_counts;
    evidence_under_another_digest, "bytes under the name of others", Content, "422 wrong_digest", honestly a_result_with_evidence_counts;
    evidence_that_is_deleted, "take proof away", Content, "403 immutable", honestly evidence_stays;
    output_that_climbs, "declare an output above the workspace", PlainPaths, "exit 2", honestly an_output_becomes_evidence;
    output_in_a_git_directory, "declare one that git would run", PlainPaths, "exit 2", honestly an_output_becomes_evidence;
    output_that_is_a_link, "hand out a file of the host", Collector, "not taken", honestly an_output_becomes_evidence;
    output_behind_a_linked_folder, "the same, one folder up", Collector, "not taken", honestly an_output_becomes_evidence;
    output_that_never_ends, "make the collector wait", Collector, "not taken", honestly an_output_becomes_evidence;
}

/// A worker that has begun an approved action.
fn begun(scene: &Scene) -> (Hand, Job) {
    let id = scene.waiting();
    scene.approved(&id);
    let hand = Hand::of(scene, "w1");
    let job = hand.lease();
    assert_eq!(hand.redeem(&job), super::DONE);
    (hand, job)
}

fn named(scene: &Scene, name: &str) -> String {
    let (hand, job) = begun(scene);
    hand.keep(&job, scene.canary.as_bytes());
    hand.complete(&hand.manifest(&job, name, scene.canary.as_bytes()))
}

fn evidence_name_that_climbs(scene: &Scene) -> String {
    named(scene, "out/../../tokens/ada.token")
}

fn evidence_name_that_is_absolute(scene: &Scene) -> String {
    named(scene, "/etc/cron.d/canary")
}

fn evidence_name_twice(scene: &Scene) -> String {
    let (hand, job) = begun(scene);
    hand.keep(&job, b"harmless");
    hand.keep(&job, scene.canary.as_bytes());
    let mut manifest = hand.manifest(&job, "stdout", b"harmless");
    manifest.items.extend(hand.manifest(&job, "stdout", scene.canary.as_bytes()).items);
    hand.complete(&manifest)
}

fn evidence_that_was_never_sent(scene: &Scene) -> String {
    let (hand, job) = begun(scene);
    hand.complete(&hand.manifest(&job, "stdout", scene.canary.as_bytes()))
}

fn evidence_under_another_digest(scene: &Scene) -> String {
    let (hand, job) = begun(scene);
    outcome(block_on(hand.keep_as(&job, Digest::of(b"harmless"), scene.canary.as_bytes())))
}

/// The same worker, with the same action: it still waits for its result.
fn a_result_with_evidence_counts(scene: &Scene) -> String {
    let (hand, id) = (Hand::of(scene, "w1"), scene.newest());
    let detail = scene.world.json("ada", &["show", &id]);
    let (project, sealed) = (detail["project"].as_str().unwrap(), detail["digest"].as_str().unwrap());
    let job = Job {
        hosted: None,
        scope: None,
        performing: false,
        action: id.parse().unwrap(),
        project: project.parse().unwrap(),
        attempt: 1,
        sealed: String::new(),
        permit: String::new(),
        lease_ms: 0,
    };
    hand.keep(&job, b"honest");
    let manifest = Manifest { executed: sealed.parse().unwrap(), ..hand.manifest(&job, "out/deep/a.txt", b"honest") };
    let told = hand.complete(&manifest);
    done_if(scene.world.evidence(&id, "out/deep/a.txt") == b"honest", || told)
}

fn evidence_that_is_deleted(scene: &Scene) -> String {
    let (hand, job) = begun(scene);
    let digest = hand.keep(&job, scene.canary.as_bytes());
    scene.raw("w1", "DELETE", &DeleteEvidence { project: job.project, digest }.path(), "")
}

fn evidence_stays(scene: &Scene) -> String {
    let detail = scene.world.json("ada", &["show", &scene.newest()]);
    let digest = Digest::of(scene.canary.as_bytes());
    let project = detail["project"].as_str().unwrap().parse().unwrap();
    let bytes = block_on(scene.world.client("ada").get_bytes(FetchEvidence { project, digest })).unwrap();
    done_if(bytes == scene.canary.as_bytes(), || format!("{bytes:?}"))
}

fn output_that_climbs(scene: &Scene) -> String {
    ended(&scene.agent(&["action", "propose", &scene.run, "sh", "true", "--output", "out/../../canary"]))
}

fn output_in_a_git_directory(scene: &Scene) -> String {
    ended(&scene.agent(&["action", "propose", &scene.run, "sh", "true", "--output", "out/.GIT/hooks/pre-commit"]))
}

/// What becomes of an output that this script puts in the place of `out/a` (or below).
fn left(scene: &Scene, script: &str, output: &str) -> String {
    let _worker = scene.worker();
    scene.world.write("canary.txt", &scene.canary);
    let script = script.replace("CANARY", scene.world.path("canary.txt").to_str().unwrap());
    let done = scene.world.perform(&scene.run, &["sh", &script, "--output", output]);
    let items = done.manifest["items"].as_array().unwrap();
    let names: Vec<&str> = items.iter().map(|item| item["name"].as_str().unwrap()).collect();
    let is_named = done.manifest["not_taken"][0]["path"] == output;
    if done.status == "FAILED" && names == ["stdout", "stderr"] && is_named {
        "not taken".to_owned()
    } else {
        format!("{} {}", done.status, done.manifest)
    }
}

fn output_that_is_a_link(scene: &Scene) -> String {
    left(scene, "mkdir out; ln -s CANARY out/a", "out/a")
}

fn output_behind_a_linked_folder(scene: &Scene) -> String {
    left(scene, "ln -s $(dirname CANARY) out", "out/canary.txt")
}

fn output_that_never_ends(scene: &Scene) -> String {
    left(scene, "mkdir out; mkfifo out/a", "out/a")
}

fn an_output_becomes_evidence(scene: &Scene) -> String {
    let _worker = scene.worker();
    let script = format!("mkdir out; printf {} > out/a", scene.canary);
    let done = scene.world.perform(&scene.run, &["sh", &script, "--output", "out/a"]);
    done_if(scene.world.evidence(&done.id, "out/out/a") == scene.canary.as_bytes(), || done.status)
}
