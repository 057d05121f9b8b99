//! Standing orders with the command line and a real worker: what passes is executed, what does not waits, and whoever takes an order
//! back is obeyed.

use serde_json::Value;

use crate::support::World;

fn orders(world: &World, who: &str) -> Vec<Value> {
    world.json(who, &["order", "list"])["orders"].as_array().unwrap().clone()
}

#[test]
fn b4_an_order_is_given_listed_used_and_revoked_on_the_command_line() {
    let (world, run) = World::start();
    let _worker = world.worker(&[]);
    let propose = || world.propose(&run, &["sh", "echo again"]);
    let first = propose();
    let id = first["id"].as_str().unwrap();
    assert_eq!(first["status"], "PENDING_APPROVAL", "{first}");
    world.by("tom", &["order", "give", id, "--yes"]).exits(3);
    world.by("ada", &["order", "give", id, "--yes", "--until", "9h"]).exits(2);
    world.by("ada", &["order", "give", id, "--yes", "--until", "soon"]).exits(2);
    let asked = world.by("ada", &["order", "give", id]).exits(2);
    assert!(asked.stderr.contains("nobody is there to ask"), "{}", asked.stderr);
    let given = world.json("ada", &["order", "give", id, "--yes", "--until", "2h", "--times", "2"]);
    assert_eq!((given["number"].as_u64(), given["status"].as_str()), (Some(1), Some("STANDS")), "{given}");
    let passed = propose();
    let passed = passed["id"].as_str().unwrap();
    for id in [id, passed] {
        assert_eq!(world.done(id).status, "SUCCEEDED");
        assert_eq!(String::from_utf8_lossy(&world.evidence(id, "stdout")), "again\n");
    }
    let shown = world.by("ada", &["show", passed]).ok();
    assert!(shown.out().contains("nobody looked at this one: approved by order 1"), "{}", shown.out());
    assert_eq!(orders(&world, "ada")[0]["used"], 1);
    assert_eq!(world.propose(&run, &["sh", "echo something else"])["status"], "PENDING_APPROVAL");
    world.by("ada", &["order", "revoke", &run, "1", "--reason", "enough"]).ok();
    assert!(orders(&world, "ada").is_empty());
    assert_eq!(propose()["status"], "PENDING_APPROVAL");
    let all = world.by("ada", &["order", "list", "--run", &run]).ok();
    assert!(all.out().contains("REVOKED") && all.out().contains("1 of 2 used"), "{}", all.out());
}

#[test]
fn b4_an_order_outlives_a_crash_of_the_control_plane_with_what_was_used_of_it() {
    let (mut world, run) = World::start();
    let propose = |world: &World| world.propose(&run, &["sh", "echo again"])["status"].as_str().unwrap().to_owned();
    let first = world.propose(&run, &["sh", "echo again"]);
    world.by("ada", &["order", "give", first["id"].as_str().unwrap(), "--yes", "--times", "2"]).ok();
    assert_eq!(propose(&world), "APPROVED");
    world.kill_control();
    world.serve();
    assert_eq!(propose(&world), "APPROVED");
    assert_eq!(propose(&world), "PENDING_APPROVAL", "two is two");
}
