//! Runs that are planned from an intent, their fifteen steps, and watching one live (C7, C13).

use std::process::Command;
use std::time::Duration;

use crate::support::{Process, Said, Window, World, clean, eventually, placet};

const SOON: Duration = Duration::from_secs(60);

/// A control plane with an agent of the team's own in its catalogue, people, and a scope.
fn scene() -> World {
    let mut world = World::set_up();
    let shipped = world.cli(&["catalog", "show", "developer_agent", "--source"]).ok();
    let ours = shipped.out().replace("id = \"developer_agent\"", "id = \"ours\"");
    let ours = ours.replace("speaks = \"placet-api\"", "speaks = \"placet-api\"\nprogram = \"/opt/agents/main\"");
    std::fs::write(world.home().join("catalog").join("ours.toml"), ours).unwrap();
    world.serve();
    world.cli(&["project", "new", "alpha"]).ok();
    world.write("scope.toml", "allow = [\"docs/**\"]\ntools = [\"cat\"]");
    world.cli(&["scope", "lock", "lab", "scope.toml"]).ok();
    for (name, role) in [("ada", "reviewer"), ("tom", "agent")] {
        world.cli(&["identity", "add", name, "--role", role]).ok();
    }
    world
}

fn plans(world: &World, more: &[&str]) -> Said {
    let usual = ["run", "plan", "Implement a parser, run it and report", "--scope", "lab", "--agent", "tom"];
    world.cli(&[&usual[..], more].concat())
}

/// The id of a run that was planned, to be given by its end.
fn planned(world: &World) -> String {
    let made = plans(world, &["--mode", "checkpoint", "--json"]).ok().json();
    made["execution_id"].as_str().unwrap().to_owned()
}

fn at_work(world: &World) -> String {
    let run = planned(world);
    world.by("ada", &["run", "approve", &run]).ok();
    world.cli(&["run", "start", &run]).ok();
    world.by("tom", &["action", "propose", &run, "cat", "README.md"]).ok();
    run
}

fn watches(world: &World, run: &str) -> Process {
    Process::start(&mut world.command(&["run", "watch", run, "--wait", "10min"]))
}

/// Before the checkpoints that were agreed, so that a person is asked about that first.
fn finishes(world: &World, run: &str) {
    world.by("tom", &["run", "finish", run, "--summary", "parsed"]).ok();
    world.by("ada", &["run", "approve", run]).ok();
    world.by("ada", &["run", "complete", run]).ok();
}

#[test]
fn c7_a_run_is_planned_from_an_intent_and_shown_as_a_person_approves_it() {
    let world = scene();
    let shown = plans(&world, &[]).ok();
    for part in
        ["chosen: ours", "PENDING_APPROVAL", "checkpoint", "claude", "external: a person starts it", "usd_micros"]
    {
        assert!(shown.out().contains(part), "{part}: {}", shown.out());
    }
    assert!(shown.out().contains("stands still every 3 steps, after step 1, 2"), "{}", shown.out());
    assert!(shown.stderr.contains("placet run approve"), "{}", shown.stderr);
    let run = planned(&world);
    let approved = world.by("ada", &["run", "approve", &run]).ok();
    assert!(approved.stderr.contains("chosen: ours"), "what is approved is shown first: {}", approved.stderr);
}

#[test]
fn unknown_names_are_refused_with_known_ones() {
    let world = scene();
    for (args, given, known) in [
        (["run", "plan", "Run it", "--scope", "lav", "--agent", "tom"].as_slice(), "`lav`", "`lab`"),
        (&["run", "plan", "Run it", "--scope", "lab", "--agent", "tim"], "`tim`", "`tom`"),
        (&["run", "plan", "Run it", "--scope", "lab", "--agent", "tom", "--project", "beta"], "`beta`", "`alpha`"),
        (&["scope", "list", "--project", "beta"], "`beta`", "`alpha`"),
    ] {
        let said = world.cli(args).exits(10);
        assert!(said.stderr.contains(given) && said.stderr.contains(known), "{args:?}: {}", said.stderr);
    }
}

#[test]
fn operator_names_an_agent_of_a_run() {
    let world = scene();
    world.cli(&["identity", "add", "olga", "--role", "operator"]).ok();
    for command in ["plan", "new"] {
        world.by("olga", &["run", command, "Implement a parser and run it", "--scope", "lab", "--agent", "tom"]).ok();
    }
}

#[test]
fn empty_scope_and_odd_name_are_refused() {
    let world = scene();
    world.write("empty.toml", "");
    let scope = world.cli(&["scope", "lock", "none", "empty.toml"]).exits(2);
    assert!(scope.stderr.contains("`none` names no tools") && scope.stderr.contains("tools = ["), "{}", scope.stderr);
    let name = world.cli(&["identity", "add", "bob b!", "--role", "agent"]).exits(2);
    assert!(name.stderr.contains("`bob b!`") && name.stderr.contains("letters"), "{}", name.stderr);
    assert!(!world.home().join("tokens/bob b!.token").exists());
}

#[test]
fn c7_the_fifteen_steps_of_a_run_are_shown() {
    let world = scene();
    let run = planned(&world);
    let shown = world.by("ada", &["run", "pipeline", &run]).ok();
    for part in
        ["✓  1   intent", "agent selection", "ours: ", "▶  9   plan (a person)", "·  15  export, audit, destruction"]
    {
        assert!(shown.out().contains(part), "{part}: {}", shown.out());
    }
    let json = world.json("ada", &["run", "pipeline", &run]);
    assert_eq!(json["steps"].as_array().unwrap().len(), 15);
}

#[test]
fn c13_watching_a_run_tells_every_event_once_and_ends_with_it() {
    let world = scene();
    let run = at_work(&world);
    let mut watcher = watches(&world, &run);
    watcher.line(SOON, |line| line.contains(" attached"));
    finishes(&world, &run);
    assert_eq!(watcher.wait(SOON).code(), Some(0));
    let rest = watcher.rest();
    assert_eq!(rest.matches(" completed").count(), 1, "{rest}");
    let again = world.cli(&["run", "watch", &run]).ok();
    for event in [" intent_stated", " estimated", " plan_approved", "action_proposed", "cat", " completed"] {
        assert!(again.out().contains(event), "{event}: {}", again.out());
    }
}

#[test]
fn c13_whoever_watches_goes_on_where_the_connection_broke() {
    let mut world = scene();
    let run = at_work(&world);
    let mut watcher = watches(&world, &run);
    watcher.line(SOON, |line| line.contains(" attached"));
    world.kill_control();
    eventually("the watcher notices", SOON, || watcher.stderr().contains("trying again"));
    world.serve();
    finishes(&world, &run);
    assert_eq!(watcher.wait(SOON).code(), Some(0));
    let rest = watcher.rest();
    assert!(!rest.contains(" attached") && !rest.contains(" created"), "nothing is told twice: {rest}");
    assert_eq!((rest.matches(" finished").count(), rest.matches(" completed").count()), (1, 1), "{rest}");
}

#[test]
fn c13_the_exit_code_of_watching_tells_how_a_run_ended() {
    let world = scene();
    let cancelled = at_work(&world);
    let mut watcher = watches(&world, &cancelled);
    watcher.line(SOON, |line| line.contains(" attached"));
    world.cli(&["run", "cancel", &cancelled, "--reason", "enough of it"]).ok();
    assert_eq!(watcher.wait(SOON).code(), Some(1));
    assert!(watcher.stderr().contains("the run was cancelled: enough of it"), "{}", watcher.stderr());
    world.by("ada", &["run", "watch", "nosuchrun"]).exits(10);
}

#[test]
fn c10_terminal_shows_what_waits_and_the_command() {
    let world = scene();
    let run = at_work(&world);
    world.by("tom", &["run", "step", &run, "1", "--summary", "half a parser"]).ok();
    let mut terminal = clean(Command::new("script"));
    terminal.current_dir(world.path("")).env("PLACET", placet().get_program()).env("TERM", "xterm-256color");
    let line = format!("stty rows 40 cols 160; \"$PLACET\" run watch {run}; echo \"ended $?\"");
    terminal.env("SHELL", "/bin/sh").args(["-qfec", &line, "screen.log"]);
    let mut watcher = Process::start(&mut terminal);
    let shows = |what: &str| {
        let screen = || std::fs::read(world.path("screen.log")).unwrap_or_default();
        eventually(what, SOON, || String::from_utf8_lossy(&screen()).contains(what));
    };
    shows("checkpoint 1 (STEP) half a parser");
    shows("placet run approve");
    world.by("ada", &["run", "approve", &run]).ok();
    shows("checkpoint_passed");
    finishes(&world, &run);
    shows(" completed");
    shows("ended 0");
    assert!(watcher.wait(SOON).success());
}

#[test]
fn c10_without_a_terminal_a_run_that_waits_for_a_person_is_told_of_and_never_passed_over() {
    let world = scene();
    let run = planned(&world);
    let plan = world.cli(&["run", "watch", &run]).exits(5);
    assert!(plan.stderr.contains("a person is waited for: the plan"), "{}", plan.stderr);
    assert!(plan.stderr.contains("placet run approve"), "{}", plan.stderr);
    world.by("ada", &["run", "approve", &run]).ok();
    world.cli(&["run", "start", &run]).ok();
    world.by("tom", &["action", "propose", &run, "cat", "README.md"]).ok();
    world.by("tom", &["run", "step", &run, "1", "--summary", "half a parser"]).ok();
    let begun = std::time::Instant::now();
    let gate = world.cli(&["run", "watch", &run, "--wait", "2s"]).exits(5);
    assert!(begun.elapsed() >= Duration::from_secs(2), "it waited as long as it was told");
    assert!(gate.out().contains("checkpoint_reached") && gate.stderr.contains("half a parser"), "{}", gate.stderr);
    let json = world.cli(&["--json", "run", "watch", &run]).exits(5);
    assert!(json.stderr.contains("\"exit\":5") && json.stderr.contains("placet run approve"), "{}", json.stderr);
    // Somebody decides in time, and it goes on to the next thing that waits: the results.
    let mut watcher = watches(&world, &run);
    watcher.line(SOON, |line| line.contains(" checkpoint_reached"));
    world.by("ada", &["run", "approve", &run]).ok();
    finishes(&world, &run);
    assert_eq!(watcher.wait(SOON).code(), Some(0));
    let wrong = world.cli(&["run", "watch", &run, "--wait", "soon"]).exits(2);
    assert!(wrong.stderr.contains("30min"), "{}", wrong.stderr);
}

#[test]
fn c10_at_a_terminal_a_plan_is_approved_only_by_an_explicit_yes() {
    let world = scene();
    let run = planned(&world);
    let typed = |answer: &str| {
        let mut asked = Window::open(&world.command(&["--as", "ada", "run", "approve", &run]), 100, 30);
        asked.says("[y/N]");
        asked.type_in(&format!("{answer}\n"));
        asked.wait().code()
    };
    assert_eq!(typed("no"), Some(5));
    assert_eq!(world.json("ada", &["run", "show", &run])["run"]["status"], "PENDING_APPROVAL");
    assert_eq!(typed("y"), Some(0));
    assert_eq!(world.json("ada", &["run", "show", &run])["run"]["status"], "APPROVED");
}
