//! Attempts to change what is judged by: policy, tools, scopes, profiles, duties, from outside and from inside a cage.

use crate::support::AnyGet;
use placet_wire::Endpoint as _;
use placet_wire::endpoint::{CreateRun, ShowPolicy};
use serde_json::{Value, json};

use super::attacks;
use super::scene::{Scene, block_on, done_if, ended};

attacks! { "governance";
    policy_by_request, "write rules over the API", NoRoute, "405 wrong_method", honestly a_changed_policy_file_counts_after_a_restart;
    policy_from_a_cage, "change the rules of the home", View, "nothing to write", honestly a_changed_policy_file_counts_after_a_restart;
    home_planted_in_a_workspace, "a home with rules of its own", View, "the same rules", honestly a_changed_policy_file_counts_after_a_restart;
    token_from_a_cage, "read the reviewer's token", View, "nothing to read", honestly what_is_handed_over_is_read;
    scope_by_its_agent, "lock a wider scope", Role, "403 role", honestly an_operator_locks_a_scope;
    run_by_its_agent, "start a run of its own", Role, "403 role", honestly an_operator_makes_a_run;
    output_out_of_scope, "leave a file elsewhere", Scope, "exit 3: refused by policy", honestly an_output_in_scope_waits_for_a_person;
    target_out_of_scope, "scan another network", Scope, "exit 3: refused by policy", honestly a_target_in_scope_waits_for_a_person;
    tool_that_is_not_declared, "use a tool of its own", ToolDefinition, "422 unsealable", honestly a_declared_tool_waits_for_a_person;
    argument_that_is_not_listed, "a switch that runs scripts", ToolDefinition, "422 unsealable", honestly a_listed_argument_waits_for_a_person;
    more_time_than_the_tool_has, "ask for ten days", ToolDefinition, "422 unsealable", honestly less_time_than_the_tool_has;
    profile_of_its_own, "name a looser cage", Seal, "400 bad_json: unknown field `profile`", honestly a_declared_tool_waits_for_a_person;
    limits_of_its_own, "ask for all memory", Seal, "400 bad_json: unknown field `limits`", honestly a_declared_tool_waits_for_a_person;
    variable_that_loads_code, "run other code than is shown", Seal, "422 unsealable", honestly a_plain_variable_is_taken;
    run_of_another_agent, "act in a rival's name", OwnRun, "404 unknown: no such run", honestly the_agent_acts_in_its_own_run;
}

fn policy_version(scene: &Scene) -> String {
    let policy: Value = block_on(scene.world.client("ada").get(AnyGet(ShowPolicy {}.path()))).unwrap();
    policy["version"].as_str().unwrap().to_owned()
}

fn policy_by_request(scene: &Scene) -> String {
    let before = policy_version(scene);
    let body = r#"{"files":{"code.cedar":"permit(principal, action, resource);"}}"#;
    let told: Vec<String> = ["PUT", "POST", "PATCH", "DELETE"]
        .iter()
        .flat_map(|method| ["tom", "admin"].map(|name| scene.raw(name, method, &ShowPolicy {}.path(), body)))
        .collect();
    let same = policy_version(scene) == before;
    if same && told.iter().all(|told| told.starts_with("405")) { told[0].clone() } else { format!("{told:?}") }
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

fn scopes(scene: &Scene) -> String {
    let project = scene.world.json("ada", &["run", "show", &scene.run])["run"]["project"].clone();
    format!("/api/v1/projects/{}/scopes", project.as_str().unwrap())
}

fn wider() -> Value {
    json!({ "name": "wider", "rules": { "allow": ["**"], "targets": ["0.0.0.0/0"], "tools": ["sh"] } })
}

fn scope_by_its_agent(scene: &Scene) -> String {
    scene.post("tom", &scopes(scene), &wider())
}

fn an_operator_locks_a_scope(scene: &Scene) -> String {
    scene.post("admin", &scopes(scene), &wider())
}

fn new_run(scene: &Scene) -> Value {
    let run = scene.world.json("ada", &["run", "show", &scene.run])["run"].clone();
    json!({ "project": run["project"], "goal": scene.canary, "scope": "all", "agent": run["agent"], "plan": ["try"] })
}

fn run_by_its_agent(scene: &Scene) -> String {
    scene.post("tom", &CreateRun {}.path(), &new_run(scene))
}

fn an_operator_makes_a_run(scene: &Scene) -> String {
    scene.post("admin", &CreateRun {}.path(), &new_run(scene))
}

fn output_out_of_scope(scene: &Scene) -> String {
    ended(&scene.agent(&["action", "propose", &scene.run, "sh", "true", "--output", "src/main.rs"]))
}

fn an_output_in_scope_waits_for_a_person(scene: &Scene) -> String {
    ended(&scene.agent(&["action", "propose", &scene.run, "sh", "true", "--output", "out/main.rs"]))
}

fn target_out_of_scope(scene: &Scene) -> String {
    ended(&scene.agent(&["action", "propose", &scene.run, "nmap", "--target", "10.9.9.9", "--", "-sV"]))
}

fn a_target_in_scope_waits_for_a_person(scene: &Scene) -> String {
    ended(&scene.agent(&["action", "propose", &scene.run, "nmap", "--target", "10.0.0.9", "--", "-sV"]))
}

/// The agent attaches to its run with a first proposal; then it sends this wish as it is.
fn wishes(scene: &Scene, wish: &Value) -> String {
    scene.waiting();
    scene.post("tom", &format!("/api/v1/runs/{}/actions", scene.run), wish)
}

fn tool_that_is_not_declared(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "bash", "arguments": [scene.canary] }))
}

fn a_declared_tool_waits_for_a_person(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "sh", "arguments": ["true"] }))
}

fn argument_that_is_not_listed(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "nmap", "arguments": ["--script", scene.canary], "target": "10.0.0.9" }))
}

fn a_listed_argument_waits_for_a_person(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "nmap", "arguments": ["-sV"], "target": "10.0.0.9" }))
}

fn more_time_than_the_tool_has(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "sh", "arguments": ["true"], "timeout_ms": 864_000_000 }))
}

fn less_time_than_the_tool_has(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "sh", "arguments": ["true"], "timeout_ms": 1_000 }))
}

fn profile_of_its_own(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "sh", "arguments": ["true"], "profile": "code_development" }))
}

fn limits_of_its_own(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "sh", "arguments": ["true"], "limits": { "memory_bytes": 1_u64 << 40 } }))
}

fn variable_that_loads_code(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "sh", "arguments": ["true"], "environment": { "LD_PRELOAD": scene.canary } }))
}

fn a_plain_variable_is_taken(scene: &Scene) -> String {
    wishes(scene, &json!({ "tool": "sh", "arguments": ["true"], "environment": { "GREETING": scene.canary } }))
}

fn run_of_another_agent(scene: &Scene) -> String {
    scene.waiting();
    scene.joins("rival", "agent", None);
    scene.post("rival", &format!("/api/v1/runs/{}/actions", scene.run), &json!({ "tool": "sh", "arguments": ["true"] }))
}

fn the_agent_acts_in_its_own_run(scene: &Scene) -> String {
    scene.post("tom", &format!("/api/v1/runs/{}/actions", scene.run), &json!({ "tool": "sh", "arguments": ["true"] }))
}
