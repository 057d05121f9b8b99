//! Attempts from inside a cage to approve an action, to change the policy, and to read a token.
//!
//! What the API refuses to a role, a relative or a forged permit is tested on the API itself, in the crate `control`.

use placet_wire::Endpoint as _;
use placet_wire::endpoint::ShowPolicy;
use serde_json::Value;

use super::attacks;
use super::scene::{Scene, block_on, done_if, ended};
use crate::support::AnyGet;

attacks! { "governance";
    self_approve, "approve its own action", Role, "exit 3: this needs one of the roles: reviewer", honestly a_reviewer_approves;
    policy_from_a_cage, "change the rules of the home", View, "nothing to write", honestly a_changed_policy_file_counts_after_a_restart;
    home_planted_in_a_workspace, "a home with rules of its own", View, "the same rules", honestly a_changed_policy_file_counts_after_a_restart;
    token_from_a_cage, "read the reviewer's token", View, "nothing to read", honestly what_is_handed_over_is_read;
}

fn self_approve(scene: &Scene) -> String {
    let id = scene.waiting();
    ended(&scene.agent(&["approve", &id, "--yes"]))
}

fn a_reviewer_approves(scene: &Scene) -> String {
    let id = scene.newest();
    let told = scene.approved(&id);
    done_if(told == super::DONE && scene.world.status(&id) == "APPROVED", || told)
}

fn policy_version(scene: &Scene) -> String {
    let policy: Value = block_on(scene.world.client("ada").get(AnyGet(ShowPolicy {}.path()))).unwrap();
    policy["version"].as_str().unwrap().to_owned()
}

/// A script, approved and run by the worker, and what it printed.
fn performed(scene: &Scene, script: &str) -> String {
    let _worker = scene.worker();
    let done = scene.world.perform(&scene.run, &["sh", script]);
    String::from_utf8(scene.world.evidence(&done.id, "stdout")).unwrap()
}

fn policy_from_a_cage(scene: &Scene) -> String {
    let home = scene.world.home();
    let script = format!(
        "for place in {0} /work/../{0} /proc/1/root{0} /proc/self/cwd/../../../../..{0}; do \
         echo 'permit(principal, action, resource);' 2>/dev/null >> $place/policy/code.cedar && echo WROTE $place; \
         sed -i s/B/A/ $place/tools.toml 2>/dev/null && echo WROTE tools; done; echo nothing to write",
        home.display()
    );
    performed(scene, &script)
}

fn home_planted_in_a_workspace(scene: &Scene) -> String {
    let before = policy_version(scene);
    let script = "mkdir -p .placet/policy out; echo 'permit(principal, action, resource);' > .placet/policy/a.cedar; \
                  echo 'address = \"127.0.0.1:1\"' > .placet/placet.toml; cp -r .placet out/";
    let _worker = scene.worker();
    let done = scene.world.perform(&scene.run, &["sh", script, "--output", "out/.placet/policy/a.cedar"]);
    let view = scene.world.propose(&scene.run, &["sh", "true"]);
    let judged = done.status == "SUCCEEDED" && view["verdict"]["tier"] == "B" && policy_version(scene) == before;
    if judged { "the same rules".to_owned() } else { view.to_string() }
}

/// On a home of its own: whoever has the files may change them, and everybody sees which version counts.
fn a_changed_policy_file_counts_after_a_restart(_: &Scene) -> String {
    let mut world = crate::support::World::set_up();
    world.serve();
    let version = |world: &crate::support::World| {
        let policy: Value = block_on(world.client("admin").get(AnyGet(ShowPolicy {}.path()))).unwrap();
        policy["version"].as_str().unwrap().to_owned()
    };
    let before = version(&world);
    world.stop_control();
    world.edit("policy/code.cedar", |text| text.replace("0.30", "0.35"));
    world.serve();
    done_if(version(&world) != before, || before)
}

fn token_from_a_cage(scene: &Scene) -> String {
    let home = scene.world.home();
    let script = format!(
        "cat {0}/tokens/*.token /proc/*/environ /proc/1/root{0}/tokens/ada.token 2>/dev/null | tr '\\0' '\\n' | grep -i \
         -e placet -e token; env | grep -i -e placet -e token; ls -d {0} / 2>/dev/null | grep -v '^/$'; echo nothing to read",
        home.display()
    );
    performed(scene, &script)
}

fn what_is_handed_over_is_read(scene: &Scene) -> String {
    let _worker = scene.worker();
    scene.world.write("given.txt", &scene.canary);
    let done = scene.world.perform(&scene.run, &["sh", "cat given.txt", "--file", "given.txt"]);
    let read = scene.world.evidence(&done.id, "stdout");
    done_if(read == scene.canary.as_bytes(), || format!("{read:?}"))
}
