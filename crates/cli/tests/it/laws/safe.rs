//! SAFE: always a cage; files and network are apart; limits hold; there are no credentials inside.

use super::{agent, told};
use crate::hosted::{PATIENCE, Scene};
use crate::support::eventually;

#[test]
fn c1_safe_neither_agent_nor_action_sees_a_file_of_the_host() {
    let scene = Scene::new();
    scene.world.write("canary.txt", "of the host");
    let canary = scene.world.path("canary.txt");
    let home = scene.world.home();
    let body = format!(
        "for path in ['{}', '{}', '/root/.ssh', '/etc/shadow', '/proc/1/root/etc/shadow']:\n  try:\n    open(path).read()\n    \
         said.append('read ' + path)\n  except OSError:\n    said.append('no')\n\
         said.append(run.act('cat', '{}'))",
        canary.display(),
        home.join("keys/permit.seed").display(),
        canary.display()
    );
    assert_eq!(told(&scene, &agent(&body), &[]), ["no", "no", "no", "no", "no", "FAILED"]);
}

#[test]
fn c1_safe_no_credential_is_in_the_cage_of_an_action() {
    let scene = Scene::new();
    let body = "status = run.act('sh', 'env; ls -a; cat .placet/token env.json 2>/dev/null; find / -name \"*.token\" 2>/dev/null')\n\
                said.append(status)";
    let run = scene.start_script(&agent(body), &[]);
    scene.approve_action(&run);
    scene.reaches(&run, "PENDING_EXPORT");
    let shown = scene.world.json("ada", &["run", "show", &run]);
    let action = shown["actions"][0]["id"].as_str().unwrap().to_owned();
    let printed = String::from_utf8(scene.world.evidence(&action, "stdout")).unwrap();
    for secret in ["token", "SYSTEM_SERVICE_URL", "PLACET", "Bearer"] {
        assert!(!printed.contains(secret), "{secret}: {printed}");
    }
}

#[test]
fn c1_safe_an_agent_that_takes_too_much_is_ended_and_the_run_says_why() {
    let mut scene = Scene::new();
    let profile =
        "about = \"small\"\nextends = \"agent\"\n[limits]\nmemory = { is = \"64MiB\", reason = \"to be reached\" }\n";
    std::fs::create_dir_all(scene.world.home().join("profiles")).unwrap();
    std::fs::write(scene.world.home().join("profiles/small.toml"), profile).unwrap();
    scene.restart();
    let run = scene.start_script(&agent("hoard = b'x' * (512 << 20)"), &["--agent-cage", "small"]);
    eventually("it fails", PATIENCE, || scene.seen(&run)["status"] == "FAILED");
    let because = scene.seen(&run)["because"].as_str().unwrap().to_owned();
    assert!(because.contains("Memory") || because.contains("MemoryError"), "{because}");
}

#[test]
fn c1_safe_an_agent_reaches_the_control_plane_and_nobody_else() {
    let scene = Scene::new();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let other = listener.local_addr().unwrap().port();
    let body = format!(
        "import socket\nfor at in [('127.0.0.1', {other}), ('192.0.2.1', 80), ('198.51.100.1', 53)]:\n\
         \x20 s = socket.socket()\n  s.settimeout(3)\n  try:\n    s.connect(at)\n    said.append('reached')\n\
         \x20 except OSError:\n    said.append('no')"
    );
    assert_eq!(told(&scene, &agent(&body), &[]), ["no", "no", "no"]);
}

#[test]
fn c1_safe_another_cage_than_was_approved_is_not_built() {
    let mut scene = Scene::new();
    let profile = |memory: &str| {
        format!("about = \"ours\"\nextends = \"agent\"\n[limits]\nmemory = {{ is = \"{memory}\", reason = \"r\" }}\n")
    };
    std::fs::create_dir_all(scene.world.home().join("profiles")).unwrap();
    std::fs::write(scene.world.home().join("profiles/ours.toml"), profile("64MiB")).unwrap();
    scene.restart();
    let run = scene.founded("report.py", &["one", "two"], &["--agent-cage", "ours"]);
    scene.world.by("ada", &["run", "approve", &run]).ok();
    // After the approval somebody makes the cage wider, and the worker reads that.
    std::fs::write(scene.world.home().join("profiles/ours.toml"), profile("1GiB")).unwrap();
    scene.restart();
    scene.world.by("admin", &["run", "start", &run]).ok();
    eventually("it fails", PATIENCE, || scene.seen(&run)["status"] == "FAILED");
    let because = scene.seen(&run)["because"].as_str().unwrap().to_owned();
    assert!(because.contains("not the one that was approved"), "{because}");
}
