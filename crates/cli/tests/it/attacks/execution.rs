//! A program that was approved, and what it tries besides: to speak to the API, to forge its result, to count for itself.

use super::attacks;
use super::scene::{Scene, done_if};

attacks! { "governance";
    program_calls_the_api, "approve from inside a cage", NoNetwork, "unreachable", honestly the_agent_behind_a_door_is_answered;
    program_forges_its_result, "print a manifest", CountedOutside, "exit 3 stands", honestly a_success_is_recorded;
    program_forges_its_usage, "print how little it used", CountedOutside, "counted", honestly little_use_is_little;
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
