//! How people decide, and agents that ask too much, as a user sees them who types commands.

use placet_domain::proposal::Proposal;
use placet_wire::endpoint::ProposeAction;
use serde_json::json;

use crate::support::World;

#[test]
fn c17_the_command_tells_waits_and_outcomes_and_oneself_what_one_did() {
    let (world, run) = World::start();
    let yes = world.propose(&run, &["sh", "true"]);
    let no = world.propose(&run, &["sh", "false"]);
    world.propose(&run, &["sh", "sleep 1"]);
    world.by("ada", &["approve", yes["id"].as_str().unwrap(), "--yes"]).ok();
    world.by("ada", &["reject", no["id"].as_str().unwrap(), "--reason", "no"]).ok();
    let told = world.json("ada", &["decisions"]);
    assert_eq!((&told["counts"]["approved"], &told["counts"]["rejected"]), (&json!(1), &json!(1)), "{told}");
    assert_eq!((&told["waiting"]["count"], &told["waited"]["count"]), (&json!(1), &json!(2)), "{told}");
    let words = world.by("ada", &["decisions"]).ok().out().to_owned();
    assert!(words.contains("half within") && words.contains("wait now"), "{words}");
    assert_eq!(world.json("admin", &["decisions", "--mine"])["counts"]["approved"], json!(0));
}

#[test]
fn b4_an_agent_that_asks_too_much_is_told_so_by_an_exit_code_and_what_to_wait_for() {
    let mut world = World::set_up();
    world.term("most_undecided", 2);
    world.serve();
    let run = world.undertake();
    (0..2).for_each(|_| drop(world.propose(&run, &["sh", "true"])));
    let said = world.by("tom", &["action", "propose", &run, "sh", "true"]).exits(5);
    assert!(said.stderr.contains("2 questions wait") && said.stderr.contains("action_approved"), "{}", said.stderr);
    world.propose(&run, &["cat", "--", "/etc/hostname"]);
}

#[test]
fn b4_the_whole_queue_is_listed_however_many_are_fetched_at_once() {
    let (world, run) = World::start();
    // By the command line first: its agent reports in with it.
    world.propose(&run, &["sh", "true"]);
    let tom = world.client("tom");
    let asks: Proposal = serde_json::from_value(json!({ "tool": "sh", "arguments": ["true"] })).unwrap();
    let run = run.parse().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        for _ in 0..104 {
            tom.post(ProposeAction { run }, &asks).await.unwrap();
        }
    });
    let listed = |more: &[&str]| {
        let list = world.json("ada", &[&["queue"], more].concat());
        (list["actions"].as_array().unwrap().len(), list["next"].is_string())
    };
    assert_eq!(listed(&[]), (100, true), "a hundred, if nothing is said");
    assert_eq!(listed(&["--limit", "103"]), (103, true));
    assert_eq!(listed(&["--all"]), (105, false));
    let ids = world.json("ada", &["queue", "--all"])["actions"].as_array().unwrap().clone();
    let ids: std::collections::BTreeSet<_> = ids.iter().map(|action| action["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), 105, "each once");
    let words = world.by("ada", &["queue", "--limit", "2"]).ok();
    assert!(words.stderr.contains("more wait: --limit N, or --all"), "{}", words.stderr);
}
