//! Approving with changes from the command line: from a file, from a pipe, in an editor, and what everybody sees of it.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{Said, Window, World, clean};

const COUNT: &str = "wc -l < notes.txt > out/lines.txt";

fn id(view: &Value) -> String {
    view["id"].as_str().unwrap().to_owned()
}

/// A script that waits for `ada`, with a file that it reads.
fn waiting(world: &World, run: &str) -> String {
    world.write("notes.txt", "one\ntwo\n");
    id(&world.propose(run, &["sh", "mkdir -p out; cat notes.txt", "--file", "notes.txt"]))
}

/// A command at a terminal, with this editor.
fn at_a_terminal(world: &World, editor: &str, args: &[&str]) -> Window {
    let mut command = world.command(&[&["--as", "ada"], args].concat());
    command.env("EDITOR", editor).env_remove("VISUAL").env("TMPDIR", world.dir());
    Window::open(&command, 120, 50)
}

/// The same, and this answer when it asks. Gives how it ended.
fn answered(world: &World, editor: &str, answer: &str, args: &[&str]) -> (Window, Option<i32>) {
    let mut window = at_a_terminal(world, editor, args);
    window.says("[y/N]");
    window.type_in(answer);
    let ended = window.wait().code();
    (window, ended)
}

#[test]
fn b4_changes_from_a_file_run_in_the_place_of_what_was_proposed() {
    let (world, run) = World::start();
    let _worker = world.worker(&[]);
    let old = waiting(&world, &run);
    let changes = json!({
        "arguments": [format!("mkdir -p out; {COUNT}")],
        "files": [{ "path": "notes.txt", "text": "one\ntwo\nthree\n" }],
        "outputs": ["out/lines.txt"],
    });
    world.write("changes.json", changes.to_string());
    let args = ["approve", &old, "--with", "changes.json", "--yes", "--reason", "count, do not show"];
    let decided = world.json("ada", &args);
    let new = id(&decided[0]);
    assert_eq!((&decided[0]["status"], &decided[0]["amendment"]["of"]), (&json!("APPROVED"), &json!(old)));
    world.reaches(&new, &["SUCCEEDED"]);
    assert_eq!(world.evidence(&new, "out/out/lines.txt"), b"3\n", "with the file that the reviewer wrote");
    assert_eq!(world.status(&old), "SUPERSEDED");
}

#[test]
fn b4_show_tells_who_made_what_of_it_and_what_stands_in_its_place() {
    let (world, run) = World::start();
    let old = waiting(&world, &run);
    world.write("changes.json", json!({ "arguments": ["cat notes.txt"], "timeout_ms": 5_000 }).to_string());
    let args = ["--as", "ada", "approve", &old, "--with", "changes.json", "--yes", "--reason", "no folder"];
    let said = world.cli(&args).ok();
    assert!(said.stderr.contains("amended and approved"), "{}", said.stderr);
    let new = id(&world.json("ada", &["run", "show", &run])["actions"][1]);
    let card = world.by("ada", &["show", &new]).ok();
    let amends = format!("amends {old} by idn_");
    for part in [
        &amends[..],
        ": no folder",
        "argv[2]        - mkdir -p out; cat notes.txt",
        "argv[2]        + cat notes.txt",
        "+ 5000 ms",
    ] {
        assert!(card.out().contains(part), "{part}: {}", card.out());
    }
    let closed = world.by("ada", &["show", &old]).ok();
    assert!(closed.out().contains(&format!("in its place stands {new}")), "{}", closed.out());
    assert!(closed.out().contains("SUPERSEDED") && closed.out().contains("no folder"), "{}", closed.out());
}

#[test]
fn b4_changes_from_a_pipe_need_a_yes_and_a_reason_beforehand() {
    let (world, run) = World::start();
    let old = waiting(&world, &run);
    let pipe = |args: &[&str]| {
        let mut command = clean(Command::new("sh"));
        let line = r#"echo '{"arguments": ["true"]}' | "$0" --as ada approve "$@""#;
        command.current_dir(world.dir()).args(["-c", line, env!("CARGO_BIN_EXE_placet"), &old]);
        Said::by(command.args(args))
    };
    assert!(pipe(&["--with", "-", "--reason", "less"]).exits(2).stderr.contains("nobody is there to ask"));
    assert!(pipe(&["--with", "-", "--yes"]).exits(2).stderr.contains("--reason"));
    assert!(pipe(&["--edit", "--reason", "less"]).exits(2).stderr.contains("no terminal"));
    assert!(pipe(&["--yes", "--reason", "fine"]).exits(2).stderr.contains("--reason goes with"));
    assert_eq!(world.status(&old), "PENDING_APPROVAL");
    pipe(&["--with", "-", "--yes", "--reason", "less"]).ok();
    assert_eq!(world.status(&old), "SUPERSEDED");
}

#[test]
fn b4_changes_that_cannot_be_say_why_and_leave_it_waiting() {
    let (world, run) = World::start();
    let old = waiting(&world, &run);
    let with = |changes: &str| {
        world.write("changes.json", changes);
        world.by("ada", &["approve", &old, "--with", "changes.json", "--yes", "--reason", "why not"])
    };
    assert!(with("{").exits(2).stderr.contains("not a JSON object"));
    assert!(with(r#"{"argv": []}"#).exits(2).stderr.contains("unknown field `argv`"));
    assert!(with(r#"{"justification": "safe"}"#).exits(2).stderr.contains("the agent's own"));
    assert!(with(r#"{"files": [{"path": "a", "from": "nowhere.txt"}]}"#).exits(1).stderr.contains("nowhere.txt"));
    assert!(with(r#"{"timeout_ms": null}"#).exits(5).stderr.contains("nothing was changed"));
    let refused = with(r#"{"outputs": ["elsewhere.txt"]}"#).exits(3);
    assert!(refused.stderr.contains("the policy refuses what you made of it"), "{}", refused.stderr);
    let stale = ["approve", &old, "--with", "changes.json", "--yes", "--reason", "r", "--seen"];
    let other = format!("sha256:{}", "0".repeat(64));
    world.write("changes.json", r#"{"arguments": ["true"]}"#);
    let stale: Vec<&str> = stale.into_iter().chain([other.as_str()]).collect();
    world.by("ada", &stale).exits(9);
    assert_eq!(world.status(&old), "PENDING_APPROVAL");
}

#[test]
fn b4_an_editor_shows_what_can_be_changed_and_what_was_changed_before_it_asks() {
    let (world, run) = World::start();
    let old = waiting(&world, &run);
    let edit = ["approve", &old, "--edit", "--reason", "only the first"];
    let editor = "sed -i s/one/uno/";
    let (window, ended) = answered(&world, editor, "n\n", &edit);
    assert_eq!(ended, Some(5), "{}", window.lines());
    window.says("approve with these changes?");
    window.says("your text is kept");
    let kept: Vec<_> =
        crate::support::names_in(world.dir()).into_iter().filter(|name| name.starts_with("placet-")).collect();
    let [kept] = &kept[..] else { panic!("{kept:?}") };
    assert!(std::fs::read_to_string(world.path(kept)).unwrap().contains(r#""text": "uno\ntwo\n""#));
    std::fs::remove_file(world.path(kept)).unwrap();
    assert_eq!(world.status(&old), "PENDING_APPROVAL");
    let (window, ended) = answered(&world, editor, "y\n", &edit);
    assert_eq!(ended, Some(0), "{}", window.lines());
    for part in
        ["Your changes", "reads          - notes.txt", "notes.txt      - one", "notes.txt      + uno", "APPROVED"]
    {
        window.says(part);
    }
    assert_eq!(world.status(&old), "SUPERSEDED");
    assert!(
        !crate::support::names_in(world.dir()).iter().any(|name| name.starts_with("placet-")),
        "nothing is left behind"
    );
}

#[test]
fn b4_an_editor_that_changes_nothing_or_fails_decides_nothing() {
    let (world, run) = World::start();
    let old = waiting(&world, &run);
    let edit = ["approve", &old, "--edit", "--reason", "hm"];
    for (editor, code, said) in [
        ("true", 5, "nothing was changed"),
        ("false", 1, "the editor `false` ended"),
        ("echo x >", 2, "not a JSON object"),
    ] {
        let mut window = at_a_terminal(&world, editor, &edit);
        window.says(said);
        assert_eq!(window.wait().code(), Some(code), "{editor}");
    }
    assert_eq!(world.status(&old), "PENDING_APPROVAL");
}

#[test]
fn b4_an_agent_that_waits_is_led_to_what_stands_in_its_place() {
    let (world, run) = World::start();
    let _worker = world.worker(&[]);
    let mut command =
        world.command(&["--json", "--as", "tom", "action", "propose", &run, "sh", "sleep 1", "--wait", "60"]);
    let waiting = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut old = String::new();
    crate::support::eventually("it waits", std::time::Duration::from_secs(20), || {
        let queue = world.json("ada", &["queue"]);
        queue["actions"][0]["id"].as_str().map(|id| id.clone_into(&mut old)).is_some()
    });
    world.write("changes.json", r#"{"arguments": ["echo done"]}"#);
    let args = ["approve", &old, "--with", "changes.json", "--yes", "--reason", "quicker"];
    let new = id(&world.json("ada", &args)[0]);
    let told: Value = serde_json::from_slice(&waiting.wait_with_output().unwrap().stdout).unwrap();
    assert_eq!((&told["id"], &told["status"]), (&json!(new), &json!("SUCCEEDED")));
    assert_eq!(told["amendment"]["of"], json!(old));
}
