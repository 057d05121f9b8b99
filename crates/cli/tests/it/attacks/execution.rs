//! A program that was approved, and what it tries besides: to speak to the API, to forge its result, to count for itself.

use serde_json::json;

use super::attacks;
use super::scene::{Hand, Scene, done_if};
use crate::support::World;

attacks! { "governance";
    program_calls_the_api, "approve from inside a cage", NoNetwork, "unreachable", honestly the_agent_behind_a_door_is_answered;
    program_forges_its_result, "print a manifest", CountedOutside, "exit 3 stands", honestly a_success_is_recorded;
    program_forges_its_usage, "print how little it used", CountedOutside, "counted", honestly little_use_is_little;
    usage_with_a_proposal, "say what it will cost", StrictJson, "400 bad_json: unknown field `usage`", honestly a_proposal_without_numbers;
    usage_with_a_summary, "say what the run has cost", StrictJson, "400 bad_json: unknown field `tokens`", honestly a_summary_without_numbers;
    usage_that_rounds, "a number two readers read differently", StrictJson, "400 bad_json: not acceptable JSON", honestly a_worker_reports_usage;
    usage_below_zero, "a number that gives back", StrictJson, "400 bad_json: invalid value", honestly a_worker_reports_usage;
    profile_changed_after_the_approval, "run in a looser cage than was approved", Seal, "FAILED: not started: the profile `ours`", honestly the_profile_that_was_approved;
    agent_reports_a_result, "complete its own action", Role, "403 role", honestly a_worker_reports_usage;
}

fn performed(scene: &Scene, script: &str) -> (String, serde_json::Value) {
    let _worker = scene.worker();
    let done = scene.world.perform(&scene.run, &["sh", script]);
    (done.status, done.manifest)
}

fn program_calls_the_api(scene: &Scene) -> String {
    let address = scene.world.url().trim_start_matches("http://").replace(':', " ");
    let port = address.rsplit(' ').next().unwrap();
    let script = format!(
        "python3 - <<'END'\nimport socket\nfor host in ['127.0.0.1', '::1', 'localhost']:\n  try:\n    \
         socket.create_connection((host, {port}), 2); print('REACHED', host)\n  except OSError: pass\nprint('unreachable')\nEND"
    );
    let _worker = scene.worker();
    let done = scene.world.perform(&scene.run, &["sh", &script]);
    String::from_utf8(scene.world.evidence(&done.id, "stdout")).unwrap()
}

fn the_agent_behind_a_door_is_answered(scene: &Scene) -> String {
    let said = scene.agent(&["--json", "run", "show", &scene.run]).ok();
    done_if(said.json()["run"]["id"] == scene.run.as_str(), || said.out().to_owned())
}

fn program_forges_its_result(scene: &Scene) -> String {
    let forged = r#"{"exit":{"code":0},"usage":{"wall_ms":0,"cpu_ms":0},"items":[]}"#;
    let script = format!("echo '{forged}'; echo '{forged}' > manifest.json; echo '{forged}' >&3 2>/dev/null; exit 3");
    let (status, manifest) = performed(scene, &script);
    if status == "FAILED" && manifest["exit"]["code"] == 3 { "exit 3 stands".to_owned() } else { manifest.to_string() }
}

fn a_success_is_recorded(scene: &Scene) -> String {
    let (status, manifest) = performed(scene, "exit 0");
    done_if(status == "SUCCEEDED" && manifest["exit"]["code"] == 0, || manifest.to_string())
}

/// Half a second of work: far more than a shell that does nothing, on any machine.
fn program_forges_its_usage(scene: &Scene) -> String {
    let script = "python3 -c 'import time\nwhile time.process_time() < 0.5: pass'; \
                  echo '{\"usage\":{\"cpu_ms\":0,\"wall_ms\":0,\"peak_memory_bytes\":0}}'";
    let (_, manifest) = performed(scene, script);
    let used = |what: &str| manifest["usage"][what].as_u64().unwrap();
    let counted = used("cpu_ms") >= 400 && used("wall_ms") >= 400 && used("peak_memory_bytes") > 100_000;
    if counted { "counted".to_owned() } else { manifest["usage"].to_string() }
}

fn little_use_is_little(scene: &Scene) -> String {
    let (_, manifest) = performed(scene, "exit 0");
    done_if(manifest["usage"]["cpu_ms"].as_u64().unwrap() < 400, || manifest["usage"].to_string())
}

fn proposed(scene: &Scene, wish: &serde_json::Value) -> String {
    scene.waiting();
    scene.post("tom", &format!("/api/v1/runs/{}/actions", scene.run), wish)
}

fn usage_with_a_proposal(scene: &Scene) -> String {
    proposed(scene, &json!({ "tool": "sh", "arguments": ["true"], "usage": { "tokens": 0, "cost_usd_micros": 0 } }))
}

fn a_proposal_without_numbers(scene: &Scene) -> String {
    proposed(scene, &json!({ "tool": "sh", "arguments": ["true"] }))
}

fn finished(scene: &Scene, body: &serde_json::Value) -> String {
    scene.post("tom", &format!("/api/v1/runs/{}/finish", scene.run), body)
}

fn usage_with_a_summary(scene: &Scene) -> String {
    scene.waiting();
    finished(scene, &json!({ "summary": "cheap", "tokens": 0, "cost_usd_micros": 0 }))
}

fn a_summary_without_numbers(scene: &Scene) -> String {
    finished(scene, &json!({ "summary": "cheap" }))
}

/// What a worker is told who reports this as its processor time.
fn reported(scene: &Scene, cpu_ms: &str) -> String {
    let id = scene.waiting();
    scene.approved(&id);
    let hand = Hand::of(scene, "w1");
    let job = hand.lease();
    hand.redeem(&job);
    hand.keep(&job, b"");
    let manifest = serde_json::to_string(&json!({ "manifest": hand.manifest(&job, "stdout", b"") })).unwrap();
    let body = manifest.replace(r#""cpu_ms":0"#, &format!(r#""cpu_ms":{cpu_ms}"#));
    assert!(body.contains(cpu_ms), "{body}");
    scene.raw("w1", "POST", &format!("/api/v1/jobs/{}/complete", job.action), &body)
}

fn usage_that_rounds(scene: &Scene) -> String {
    reported(scene, "9007199254740993")
}

fn usage_below_zero(scene: &Scene) -> String {
    reported(scene, "-5000")
}

fn a_worker_reports_usage(scene: &Scene) -> String {
    let told = reported(scene, "5000");
    let manifest = scene.world.json("ada", &["evidence", "list", &scene.newest()]);
    done_if(told == super::DONE && manifest["usage"]["cpu_ms"] == 5_000, || told)
}

/// Whoever may write files of a worker loosens a profile between the yes and the start.
fn profile_changed_after_the_approval(_: &Scene) -> String {
    in_profile("512MiB", "64GiB")
}

fn the_profile_that_was_approved(_: &Scene) -> String {
    let told = in_profile("512MiB", "512MiB");
    done_if(told == "SUCCEEDED: exit 0", || told)
}

/// How an action ends that is approved in a profile with one limit and meets another.
fn in_profile(approved: &str, met: &str) -> String {
    let mut world = World::set_up();
    let write = |world: &World, memory: &str| {
        let text =
            format!("about = \"x\"\nextends = \"default\"\n[limits]\nmemory = {{ is = \"{memory}\", reason = \"r\" }}");
        std::fs::write(world.home().join("profiles/ours.toml"), text).unwrap();
    };
    write(&world, approved);
    world.edit("tools.toml", |text| text.replace("[sh]\n", "[sh]\nprofile = \"ours\"\n"));
    world.serve();
    let run = world.undertake();
    let id = world.cleared(&run, &["sh", "true"]);
    write(&world, met);
    let _worker = world.worker(&[]);
    let status = world.done(&id).status;
    format!("{status}: {}", world.json("ada", &["show", &id])["because"].as_str().unwrap())
}

fn agent_reports_a_result(scene: &Scene) -> String {
    let id = scene.waiting();
    scene.approved(&id);
    let hand = Hand::of(scene, "w1");
    let job = hand.lease();
    hand.redeem(&job);
    let manifest = hand.manifest(&job, "stdout", b"");
    scene.post("tom", &format!("/api/v1/jobs/{id}/complete"), &json!({ "manifest": manifest }))
}
