//! REVIEW: a person at a terminal decides, in a real window against a real control plane; and the window is theirs again, however it ends.

use placet_domain::id::RunId;
use placet_wire::api::{Decision, InboxQuery, Summary};
use placet_wire::endpoint::{AttachAgent, ReachCheckpoint, ShowInbox};
use serde_json::Value;

use crate::support::{Window, World, eventually};

const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

/// A scan that waits for one person.
fn waiting(world: &World, run: &str, host: &str) -> String {
    let view =
        world.propose(run, &["nmap", "--target", host, "--because", "it is \u{1b}[2J needed", "--", "-sV", "-Pn"]);
    view["id"].as_str().unwrap().to_owned()
}

fn review(world: &World, name: &str, more: &[&str]) -> Window {
    Window::open(world.command(&["--as", name, "review"]).args(more), 100, 30)
}

/// Waits until it is seen, and a moment more: what is typed in the very moment in which a card is drawn is let go of.
fn read(window: &Window, text: &str) {
    window.shows(text);
    std::thread::sleep(std::time::Duration::from_millis(400));
}

fn shown(world: &World, id: &str) -> Value {
    world.json("ada", &["show", id])
}

#[test]
fn b4_a_person_approves_at_the_terminal_what_they_were_shown() {
    let (world, run) = World::start();
    let id = waiting(&world, &run, "10.0.0.5");
    let window = review(&world, "ada", &[]);
    window.shows("Why you are asked");
    read(&window, "nmap");
    let text = window.text();
    assert!(text.contains("Queue 1") && text.contains("tom") && text.contains("argv[1]  -sV"), "{text}");
    window.type_in("a");
    window.shows("a again to approve");
    let review_digest = shown(&world, &id)["review"].as_str().unwrap().to_owned();
    window.shows(&review_digest[..19]);
    assert_eq!(shown(&world, &id)["status"], "PENDING_APPROVAL", "one stroke decides nothing");
    window.type_in("a");
    window.shows("approved …");
    window.shows("nothing waits for you");
    assert_eq!(shown(&world, &id)["status"], "APPROVED");
    assert_eq!(world.times(&run, &id, "action.approved"), 1);
}

#[test]
fn b4_what_was_typed_before_a_card_is_seen_decides_nothing() {
    let (world, run) = World::start();
    let (first, second) = (waiting(&world, &run, "10.0.0.5"), waiting(&world, &run, "10.0.0.6"));
    let window = review(&world, "ada", &[]);
    window.type_in("aaaa");
    window.shows("Why you are asked");
    // On to the next, and blindly at it.
    window.type_in("jaa");
    window.shows("10.0.0.6");
    // Whoever types on without a pause is not heard: it may be meant for what was there before.
    std::thread::sleep(std::time::Duration::from_secs(1));
    window.type_in("r");
    window.shows("why?");
    window.type_in("seen\r");
    window.shows("rejected …");
    assert_eq!(shown(&world, &second)["status"], "REJECTED");
    assert_eq!(shown(&world, &first)["status"], "PENDING_APPROVAL");
    assert_eq!(world.times(&run, &first, "action.approved") + world.times(&run, &second, "action.approved"), 0);
}

#[test]
fn b4_a_decision_taken_elsewhere_is_told_and_nothing_is_decided_twice() {
    let (world, run) = World::start();
    world.cli(&["identity", "add", "eve", "--role", "reviewer"]).ok();
    let id = waiting(&world, &run, "10.0.0.5");
    let window = review(&world, "ada", &[]);
    read(&window, "Why you are asked");
    window.type_in("a");
    window.shows("a again to approve");
    world.by("eve", &["reject", &id, "--reason", "mine"]).ok();
    window.type_in("\u{1b}");
    window.shows("decided elsewhere: REJECTED: action_rejected by eve at ");
    window.type_in("aa");
    window.type_in("\r");
    window.shows("it waits no more");
    assert_eq!(shown(&world, &id)["because"], "mine");
    assert_eq!(world.times(&run, &id, "action.approved"), 0);
}

#[test]
fn b4_identical_ones_are_approved_together_and_recorded_each_by_itself() {
    let (world, run) = World::start();
    let ids: Vec<String> = (0..3).map(|_| waiting(&world, &run, "10.0.0.5")).collect();
    let window = review(&world, "ada", &[]);
    window.shows("Why you are asked");
    read(&window, "+2");
    window.type_in("x");
    window.shows("with 2 identical");
    window.type_in("a");
    window.shows("a again to approve 3 actions");
    window.type_in("a");
    window.shows("and 2 identical");
    for id in &ids {
        assert_eq!(world.times(&run, id, "action.approved"), 1);
    }
}

#[test]
fn b4_an_order_is_given_at_the_terminal_and_covers_what_comes_next() {
    let (world, run) = World::start();
    let propose = || world.propose(&run, &["sh", "echo again"]);
    let first = propose();
    let id = first["id"].as_str().unwrap();
    let window = review(&world, "ada", &[]);
    window.shows("Why you are asked");
    read(&window, "s similar");
    window.type_in("s");
    read(&window, "What you approve");
    window.type_in("n");
    window.shows("for how many more at most?");
    window.type_in("\u{15}1\r");
    read(&window, "1 more at most");
    window.type_in("t");
    window.shows("until when");
    window.type_in("\u{15}90m\r");
    read(&window, "for 90m");
    window.type_in("a");
    window.shows("a again: this and 1 more, exact, for 90m");
    assert_eq!(shown(&world, id)["status"], "PENDING_APPROVAL", "one stroke decides nothing");
    window.type_in("a");
    window.shows("order 1 stands until");
    assert_eq!(propose()["status"], "APPROVED");
    assert_eq!(propose()["status"], "PENDING_APPROVAL", "one is one");
    assert_eq!(world.json("ada", &["order", "list", "--run", &run])["orders"][0]["used"], 1);
}

#[test]
fn b4_order_that_is_not_possible_is_refused_with_the_reason() {
    let (world, run) = World::start();
    let view = world.propose(&run, &["rm", "--", "out/old.md"]);
    assert_eq!(view["verdict"]["tier"], "C", "{view}");
    let window = review(&world, "ada", &[view["id"].as_str().unwrap()]);
    read(&window, "Why you are asked");
    window.type_in("s");
    window.shows("no order on this:");
}

#[test]
fn b4_somebody_is_named_and_something_is_set_aside_at_the_terminal() {
    let (world, run) = World::start();
    world.cli(&["identity", "add", "eve", "--role", "reviewer"]).ok();
    let id = waiting(&world, &run, "10.0.0.5");
    let window = review(&world, "ada", &[]);
    read(&window, "Why you are asked");
    window.type_in("w");
    window.shows("who should look at it");
    window.type_in("eve: you know this host\r");
    window.shows("is for eve, who decides by their own rights");
    window.shows("for eve");
    window.shows("eve looks at it, asked by ada: you know this host");
    let hers = review(&world, "eve", &[]);
    read(&hers, "for you, by ada: you know this host");
    hers.type_in("l");
    hers.shows("set aside until when");
    hers.type_in("soon\r");
    hers.shows("is no time");
    hers.type_in("\u{15}2h\r");
    hers.shows("is set aside until");
    hers.shows("you set it aside until");
    hers.shows("Queue 0");
    assert_eq!(world.times(&run, &id, "action.assigned") + world.times(&run, &id, "action.deferred"), 2);
    // She may still decide, and so may he who was not named.
    std::thread::sleep(std::time::Duration::from_secs(1));
    window.type_in("a");
    window.shows("a again to approve");
    window.type_in("a");
    window.shows("approved …");
    assert_eq!(shown(&world, &id)["status"], "APPROVED");
}

#[test]
fn b4_action_is_assigned_and_deferred_by_command() {
    let (world, run) = World::start();
    world.cli(&["identity", "add", "eve", "--role", "reviewer"]).ok();
    let id = waiting(&world, &run, "10.0.0.5");
    world.by("ada", &["queue", "defer", &id, "--until", "90m"]).ok();
    let asked = tokio::runtime::Runtime::new().unwrap();
    let listed = |whose: &str, name: &str| {
        let query = InboxQuery { whose: Some(whose.to_owned()), ..InboxQuery::default() };
        let client = world.client(name);
        asked.block_on(client.get(ShowInbox { query })).unwrap().actions.len()
    };
    assert_eq!((listed("mine", "ada"), listed("aside", "ada"), listed("mine", "eve")), (0, 1, 1));
    world.by("ada", &["queue", "defer", &id, "--back"]).ok();
    assert_eq!((listed("mine", "ada"), listed("aside", "ada")), (1, 0));
    world.by("ada", &["queue", "assign", &id, "--to", "eve", "--note", "you know it"]).ok();
    assert_eq!((listed("mine", "ada"), listed("others", "ada"), listed("mine", "eve")), (0, 1, 1));
    world.by("ada", &["queue", "assign", &id, "--to", "tom"]).exits(2);
    world.by("tom", &["queue", "assign", &id, "--to", "eve"]).exits(3);
    world.by("ada", &["queue", "defer", &id, "--until", "48h"]).exits(2);
    world.by("ada", &["queue", "defer", &id]).exits(2);
    world.by("ada", &["queue", "assign", &id, "--nobody"]).ok();
    assert_eq!(listed("mine", "ada"), 1);
    world.by("ada", &["approve", &id, "--yes"]).ok();
}

#[test]
fn c10_a_run_that_stands_at_a_checkpoint_is_sent_on_with_a_note() {
    let (world, run) = World::start();
    let tom = world.client("tom");
    let id: RunId = run.parse().unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        tom.post(AttachAgent { run: id }, &Decision::default()).await.unwrap();
        tom.post(ReachCheckpoint { run: id }, &Summary { summary: "half done".to_owned() }).await.unwrap();
    });
    let window = review(&world, "ada", &[&run]);
    window.shows("half done");
    window.type_in("m");
    window.shows("with this note:");
    window.type_in("only the first half\r");
    window.shows("sent on with your note");
    assert_eq!(world.json("ada", &["run", "show", &run])["run"]["status"], "EXECUTING");
}

#[test]
fn b4_plans_wait_in_the_same_queue() {
    let (world, _) = World::start();
    let plan = ["run", "new", "a plan that waits", "--scope", "all", "--agent", "tom", "--step", "look around"];
    let id = world.json("admin", &plan)["id"].as_str().unwrap().to_owned();
    let window = review(&world, "ada", &[]);
    window.shows("plan of a plan that waits");
    window.shows("1. look around");
    window.type_in("a");
    window.shows("a again to approve");
    window.type_in("a");
    window.shows("approved …");
    assert_eq!(world.json("ada", &["run", "show", &id])["run"]["status"], "APPROVED");
}

#[test]
fn b4_an_editor_has_the_terminal_meanwhile_and_what_was_made_of_it_is_approved() {
    let (world, run) = World::start();
    let id = waiting(&world, &run, "10.0.0.5");
    world.plant("EDITOR", "sed -i s/-sV/-sn/");
    let window = review(&world, "ada", &[]);
    read(&window, "Why you are asked");
    window.type_in("e");
    window.shows("why?");
    window.type_in("without the versions\r");
    window.says("approve with these changes?");
    assert!(window.lines().contains("+ -sn"), "{}", window.lines());
    window.type_in("y\n");
    window.shows("in its place stands");
    let view = shown(&world, &id);
    assert_eq!((view["status"].as_str(), view["because"].as_str()), (Some("SUPERSEDED"), Some("without the versions")));
}

#[test]
fn b4_a_window_that_becomes_small_shows_one_pane_and_a_large_one_both() {
    let (world, run) = World::start();
    waiting(&world, &run, "10.0.0.5");
    let window = review(&world, "ada", &[]);
    window.shows("Why you are asked");
    window.type_in("\t");
    window.resize(50, 14);
    eventually("one pane is seen", PATIENCE, || {
        !window.text().contains("Queue") && window.text().contains("Exactly what will run")
    });
    assert!(window.text().lines().count() <= 14 && window.text().lines().all(|line| line.chars().count() <= 50));
    window.resize(120, 40);
    window.shows("Queue 1");
}

#[test]
fn b4_however_it_ends_the_terminal_is_as_it_was() {
    let (world, run) = World::start();
    waiting(&world, &run, "10.0.0.5");
    for (name, code) in [("q", 0), ("\u{3}", 0), ("TERM", 130), ("INT", 130), ("HUP", 0)] {
        let mut window = review(&world, "ada", &[]);
        read(&window, "Why you are asked");
        assert_ne!(window.settings(), window.before, "keys arrive as they are typed");
        if name.len() == 1 {
            window.type_in(name)
        } else {
            window.send(name)
        }
        assert_eq!(window.wait().code(), Some(code), "{name}");
        eventually("the screen is given back", PATIENCE, || window.is_given_back());
        assert_eq!(window.settings(), window.before, "{name}");
    }
}

#[test]
fn b4_it_stops_and_goes_on_with_the_terminal_given_back_meanwhile() {
    let (world, run) = World::start();
    waiting(&world, &run, "10.0.0.5");
    let window = review(&world, "ada", &[]);
    window.shows("Why you are asked");
    let taken = window.settings();
    window.type_in("\u{1a}");
    eventually("it stands still", PATIENCE, || window.state() == 'T');
    eventually("the screen is given back meanwhile", PATIENCE, || window.is_given_back());
    assert_eq!(window.settings(), window.before);
    window.send("CONT");
    eventually("it goes on", PATIENCE, || window.settings() == taken && !window.is_given_back());
    window.type_in("?");
    window.shows("any key goes back");
}

#[test]
fn b4_without_a_control_plane_nothing_is_decided_and_it_is_found_again() {
    let (mut world, run) = World::start();
    let id = waiting(&world, &run, "10.0.0.5");
    let window = review(&world, "ada", &[]);
    window.shows("Why you are asked");
    world.kill_control();
    window.shows("the control plane is not there");
    window.type_in("aa");
    world.serve();
    eventually("it is found again", PATIENCE, || !window.text().contains("is not there"));
    assert_eq!(shown(&world, &id)["status"], "PENDING_APPROVAL");
    // Whoever typed in vain is not heard until they have paused.
    std::thread::sleep(std::time::Duration::from_secs(1));
    window.type_in("a");
    window.shows("a again to approve");
    window.type_in("a");
    window.shows("approved …");
}

#[test]
fn b4_the_link_is_shown_and_the_id_is_copied() {
    let (world, run) = World::start();
    let id = waiting(&world, &run, "10.0.0.5");
    let window = review(&world, "ada", &[&id]);
    window.shows("Why you are asked");
    window.type_in("o");
    window.shows(&format!("{}/actions/{id}", world.url().replace("127.0.0.1", "localhost")));
    window.type_in("y");
    window.shows("copied act_");
    assert!(window.copied().unwrap().starts_with("YWN0X"), "act_ in base64");
}

#[test]
fn b4_what_was_typed_before_a_question_was_seen_answers_none() {
    let (world, run) = World::start();
    let id = waiting(&world, &run, "10.0.0.5");
    let plan =
        world.json("admin", &["run", "new", "look around", "--scope", "all", "--agent", "tom", "--step", "look"]);
    let plan = plan["id"].as_str().unwrap();
    for asking in [&["approve", &id][..], &["run", "approve", plan]] {
        let command = [&["--as", "ada"], asking].concat();
        let mut window = Window::open(&world.command(&command), 100, 30);
        window.type_in("y\ny\ny\n");
        window.says("[y/N]");
        assert_eq!(shown(&world, &id)["status"], "PENDING_APPROVAL");
        assert_eq!(world.json("ada", &["run", "show", plan])["run"]["status"], "PENDING_APPROVAL");
        window.type_in("n\n");
        assert!(!window.wait().success(), "{}", window.lines());
    }
    let mut window = Window::open(&world.command(&["--as", "ada", "approve", &id]), 100, 30);
    window.says("[y/N]");
    window.type_in("y\n");
    assert!(window.wait().success(), "{}", window.lines());
    assert_eq!(shown(&world, &id)["status"], "APPROVED");
}

#[test]
fn b4_without_a_terminal_it_names_the_commands_that_need_none() {
    let (world, _) = World::start();
    let said = world.by("ada", &["review"]).exits(2);
    assert!(said.stderr.contains("placet queue") && said.stderr.contains("placet approve"), "{}", said.stderr);
}

/// Actions whose worker was ended while they ran.
fn interrupted(world: &World, run: &str, count: usize) -> Vec<String> {
    let worker = world.worker(&["--jobs", "4"]);
    let begun: Vec<String> =
        (0..count).map(|number| world.cleared(run, &["sh", &format!("sleep 30{number}")])).collect();
    begun.iter().for_each(|id| world.reaches(id, &["EXECUTING"]));
    worker.kill();
    begun.iter().for_each(|id| world.reaches(id, &["INTERRUPTED"]));
    begun
}

#[test]
fn d9_interrupted_action_is_settled_on_the_screen_and_by_command() {
    let mut world = World::set_up();
    world.term("lease_ms", 1_500);
    world.serve();
    let run = world.undertake();
    let lost = interrupted(&world, &run, 2);
    let (first, second) = (&lost[0], &lost[1]);
    let window = review(&world, "ada", &[first]);
    read(&window, "nobody knows how far it got");
    window.shows("a run again  r give up");
    window.type_in("r");
    window.shows("why?");
    window.type_in("it may have slept long enough\r");
    window.shows("given up …");
    assert_eq!(world.status(first), "ABANDONED");
    world.by("ada", &["action", "resolve", second, "--retry", "--reason", "it only sleeps"]).ok();
    eventually("it waits or runs again", PATIENCE, || world.status(second) != "INTERRUPTED");
}

#[test]
fn b4_lists_tell_what_would_be_done_within_eighty_columns_and_in_rows_of_the_same_shape() {
    let (world, run) = World::start();
    let long = format!("echo {}; rm -rf \u{202e}docs", "x".repeat(200));
    for script in ["ls \u{1b}[2J", "echo 日本語日本語日本語日本語日本語日本語日本語日本語日本語", &long]
    {
        world.propose(&run, &["sh", script]);
    }
    let mut window = Window::open(&world.command(&["--as", "ada", "queue"]), 80, 24);
    assert!(window.wait().success());
    window.says("next:");
    let text = window.lines();
    let rows: Vec<&str> = text.lines().filter(|line| line.contains(" left")).collect();
    assert_eq!(rows.len(), 3, "one row each: {text}");
    assert!(
        rows.iter().all(|row| row.contains("sh -c ")),
        "a row tells what would be done, and not the tool alone: {text}"
    );
    assert_eq!(rows.iter().filter(|row| row.contains('…')).count(), 3, "{text}");
    assert!(text.contains("⟦U+001B⟧[2J"), "{text}");
    let piped = world.by("ada", &["queue"]).ok();
    assert!(
        piped.out().lines().any(|line| line.contains(&"x".repeat(60))),
        "in a pipe nothing is cut: {}",
        piped.out()
    );
}
