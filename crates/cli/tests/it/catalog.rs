//! The agent catalogue as people use it: what ships is listed and shown, a team's own file counts, and a wrong one is named
//! with its place.

use std::path::PathBuf;

use serde_json::Value;

use crate::support::{Said, World, placet_in};

/// A home with a file in its catalogue.
fn home_with(name: &str, text: &str) -> World {
    let world = World::set_up();
    std::fs::write(path(&world, name), text).unwrap();
    world
}

fn path(world: &World, name: &str) -> PathBuf {
    world.home().join("catalog").join(name)
}

/// The file of one that ships, as a team begins its own with.
fn source(world: &World, id: &str) -> String {
    world.cli(&["catalog", "show", id, "--source"]).ok().out().to_owned()
}

/// A home with an agent that was made from one that ships.
fn home_with_own(change: impl FnOnce(String) -> String) -> (World, String) {
    let world = World::set_up();
    let text = change(source(&world, "code_agent").replace("id = \"code_agent\"", "id = \"ours\""));
    std::fs::write(path(&world, "ours.toml"), &text).unwrap();
    (world, text)
}

fn agent<'l>(list: &'l Value, id: &str) -> &'l Value {
    list["agents"].as_array().unwrap().iter().find(|agent| agent["id"] == id).unwrap()
}

/// The number of the first line that begins like this.
fn line(text: &str, beginning: &str) -> usize {
    1 + text.lines().position(|line| line.starts_with(beginning)).unwrap()
}

#[track_caller]
fn refused(said: Said, parts: &[&str]) {
    let said = said.exits(2);
    assert!(said.stderr.starts_with("error: the catalogue is refused"), "{}", said.stderr);
    assert_eq!(said.out(), "", "a mistake has no answer");
    for part in parts {
        assert!(said.stderr.contains(part), "`{part}` is not said: {}", said.stderr);
    }
}

#[test]
fn c4_what_ships_is_listed_also_without_a_home() {
    let nowhere = tempfile::tempdir().unwrap();
    let words = placet_in(nowhere.path(), &["catalog", "list"]).ok();
    for id in ["code_agent", "developer_agent", "browser_agent", "claude", "goose", "research_report", "price_scrape"] {
        assert!(words.out().contains(id), "{id}: {}", words.out());
    }
    let list = placet_in(nowhere.path(), &["--json", "catalog", "list"]).ok().json();
    assert_eq!(agent(&list, "developer_agent")["level"], "L3");
    assert_eq!(agent(&list, "goose")["because"], "external: a person starts it");
    assert!(list["version"].as_str().unwrap().starts_with("sha256:"));
    let scrape =
        list["templates"].as_array().unwrap().iter().find(|template| template["id"] == "price_scrape").unwrap();
    assert_eq!(scrape["pages"], 50);
}

#[test]
fn c4_an_agent_is_shown_with_its_limits_its_laws_and_how_it_is_started() {
    let nowhere = tempfile::tempdir().unwrap();
    let shown = placet_in(nowhere.path(), &["catalog", "show", "goose"]).ok();
    for part in ["NON_AUTONOMOUS", "TRANSPARENCY", "wall_ms 1800000", "by hand", "goose run", "built in", "sha256:"] {
        assert!(shown.out().contains(part), "{part}: {}", shown.out());
    }
    let json = placet_in(nowhere.path(), &["--json", "catalog", "show", "browser_agent"]).ok().json();
    assert_eq!(
        (&json["cage"]["profile"], &json["switches"]["block_payments"]),
        (&"browser_automation".into(), &true.into())
    );
    let template = placet_in(nowhere.path(), &["catalog", "template", "price_scrape"]).ok();
    assert!(template.out().contains("Read prices from ten pages"), "{}", template.out());
}

#[test]
fn an_agent_or_template_nobody_knows_is_not_found() {
    let nowhere = tempfile::tempdir().unwrap();
    for args in [["catalog", "show", "haiku"], ["catalog", "template", "haiku"]] {
        let said = placet_in(nowhere.path(), &args).exits(10);
        assert!(said.stderr.contains("`haiku`") && said.stderr.contains("placet catalog list"), "{}", said.stderr);
    }
    let bad = placet_in(nowhere.path(), &["catalog", "show", "../etc/passwd"]).exits(2);
    assert!(bad.stderr.contains("is no agent of the catalogue"), "{}", bad.stderr);
    placet_in(nowhere.path(), &["catalog", "check"]).exits(10);
    placet_in(nowhere.path(), &["--home", "nowhere", "catalog", "list"]).exits(10);
}

#[test]
fn c4_a_team_begins_with_what_ships_and_its_own_file_counts() {
    let program = "speaks = \"placet-api\"\nprogram = \"/usr/bin/env\"";
    let (world, _) = home_with_own(|text| text.replace("speaks = \"placet-api\"", program));
    let checked = world.cli(&["--json", "catalog", "check"]).ok().json();
    assert_eq!(checked["programs_missing"], serde_json::json!([]));
    let list = world.cli(&["--json", "catalog", "list"]).ok().json();
    let ours = agent(&list, "ours");
    assert_eq!(ours["startable"], true);
    assert!(ours["file"].as_str().unwrap().ends_with("catalog/ours.toml"), "{ours}");
    assert!(world.cli(&["catalog", "show", "ours"]).ok().out().contains("/usr/bin/env"));
}

/// Returns the first code block in a section of the documentation, unchanged.
fn documented(section: &str) -> String {
    let docs = include_str!("../../../../docs/catalog.md");
    let (_, section) = docs.split_once(section).unwrap();
    let (_, block) = section.split_once("```\n").unwrap();
    block.split_once("```").unwrap().0.to_owned()
}

/// Runs lines in a shell whose path contains `placet`.
fn types(world: &World, lines: &str) -> Said {
    let placet = world.command(&[]).get_program().to_owned();
    let bin = world.path("bin");
    let _ = std::fs::create_dir(&bin);
    let _ = std::os::unix::fs::symlink(placet, bin.join("placet"));
    let mut shell = crate::support::clean(std::process::Command::new("/bin/sh"));
    let path = format!("{}:/usr/bin:/bin", bin.display());
    Said::by(shell.current_dir(world.dir()).env("PATH", path).args(["-e", "-c", lines]))
}

fn shared_world() -> World {
    let mut world = World::set_up();
    world.serve();
    world.cli(&["project", "new", "alpha"]).ok();
    world.write("scope.toml", "allow = [\"docs/**\"]\ntools = [\"cat\"]");
    world.cli(&["scope", "lock", "lab", "scope.toml"]).ok();
    for (name, role) in [("tom", "agent"), ("olga", "operator")] {
        world.cli(&["identity", "add", name, "--role", role]).ok();
    }
    world
}

#[test]
fn documented_copy_of_entry_works_in_fresh_home() {
    let mut world = shared_world();
    types(&world, &documented("## An agent of your own")).ok();
    world.stop_control();
    world.serve();
    let goal = "Implement a parser and test it";
    let plan = world.json("olga", &["run", "plan", goal, "--entry", "ours", "--scope", "lab"]);
    assert_eq!(plan["run"]["launch"]["program"], "/usr/bin/python3", "{plan}");
    let again = world.cli(&["catalog", "copy", "code_agent", "ours"]).exits(9);
    assert!(again.stderr.contains("`ours`"), "{}", again.stderr);
    let outside = world.cli(&["catalog", "copy", "goose", "mine", "--program", "/usr/bin/env"]).exits(2);
    assert!(outside.stderr.contains("`goose` is external"), "{}", outside.stderr);
    world.cli(&["catalog", "check"]).ok();
}

#[test]
fn documented_plan_works_in_fresh_home() {
    let world = shared_world();
    types(&world, &documented("## Started from its entry")).ok();
    let goal = ["run", "plan", "Implement a parser and test it", "--scope", "lab"];
    let plan = world.json("olga", &[&goal[..], &["--launch", "/usr/bin/python3"]].concat());
    assert_eq!(plan["run"]["products"]["selection"]["chosen"], "code_agent", "{plan}");
    let nobody = world.by("olga", &goal).exits(2);
    for part in ["only a program is missing", "--agent NAME", "placet catalog copy code_agent ours --program"] {
        assert!(nobody.stderr.contains(part), "{part}: {}", nobody.stderr);
    }
}

#[test]
fn show_source_into_catalogue_file_works() {
    let world = World::set_up();
    for (what, id, file) in [("show", "code_agent", "ours.toml"), ("template", "code_change", "templates/ours.toml")] {
        types(&world, &format!("placet catalog {what} {id} --source > .placet/catalog/{file}")).ok();
        let written = std::fs::read_to_string(path(&world, file)).unwrap();
        assert!(written.contains(&format!("id = \"{id}\"")), "{written}");
        std::fs::write(path(&world, file), "").unwrap();
        refused(world.cli(&["catalog", "check"]), &[file]);
        std::fs::remove_file(path(&world, file)).unwrap();
    }
}

#[test]
fn a_program_that_is_not_on_this_machine_is_said_and_refuses_nothing() {
    let program = "speaks = \"placet-api\"\nprogram = \"/opt/nowhere/agent\"";
    let (world, _) = home_with_own(|text| text.replace("speaks = \"placet-api\"", program));
    let said = world.cli(&["catalog", "check"]).ok();
    assert!(said.out().contains("good:") && said.stderr.contains("`/opt/nowhere/agent` of `ours`"), "{}", said.stderr);
}

#[test]
fn c4_everything_wrong_with_a_file_is_told_with_its_line_and_what_to_do() {
    let (world, text) = home_with_own(|text| {
        text.replace("level = \"L2\"", "level = \"L9\"\nlevle = 3").replace("actions = 200\n", "")
    });
    let place = |beginning: &str, rest: &str| format!("catalog/ours.toml:{}: {rest}", line(&text, beginning));
    let (level, limits) = (place("level", "level: "), place("[limits]", "limits.actions: `actions` is missing"));
    let unknown = place("levle", "levle: `levle` is unknown");
    for args in [["catalog", "check"], ["catalog", "list"]] {
        refused(world.cli(&args), &[&level, &limits, &unknown, "did you mean `level`?", "\"L2\" or \"L3\""]);
    }
}

#[test]
fn c5_an_agent_that_names_a_profile_or_a_tool_that_is_not_there_is_refused() {
    let (world, text) = home_with_own(|text| {
        text.replace("\"python3\"]", "\"python3\", \"wand\"]")
            .replace("profile = \"code_development\"", "profile = \"tent\"")
    });
    let profile = format!("ours.toml:{}: cage.profile: there is no profile `tent`", line(&text, "profile = "));
    refused(world.cli(&["catalog", "check"]), &[&profile, "there is no tool `wand`", "research_only"]);
    refused(world.cli(&["catalog", "plan", "Run the tests"]), &[&profile]);
    let (reading, _) =
        home_with_own(|text| text.replace("profile = \"code_development\"", "profile = \"research_only\""));
    refused(
        reading.cli(&["catalog", "check"]),
        &["cage.capabilities: the profile `research_only` is not meant for execute_code"],
    );
}

#[test]
fn templates_of_a_team_are_read_and_refused_like_agents() {
    let template = "id = \"haiku\"\nname = \"A haiku\"\nabout = \"three lines\"\n\n[[step]]\ntitle = \"Write a line\"\ncapability = \"write_text\"\ncheckpoint = true\nrepeat = 3\n";
    let world = home_with("templates/haiku.toml", template);
    assert!(world.cli(&["catalog", "template", "haiku"]).ok().out().contains("Write a line"));
    assert_eq!(world.cli(&["--json", "catalog", "check"]).ok().json()["templates"], 4);
    let broken = home_with("templates/haiku.toml", &template.replace("write_text", "sing"));
    refused(broken.cli(&["catalog", "check"]), &["haiku.toml:7: step[0].capability"]);
}

#[test]
fn a_folder_can_be_checked_without_a_home() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.toml"), "id = 3\n").unwrap();
    let here = dir.path().display().to_string();
    refused(
        placet_in(dir.path(), &["catalog", "check", "--catalog", &here]),
        &["a.toml:1: id:", "`launch` is missing"],
    );
    std::fs::remove_file(dir.path().join("a.toml")).unwrap();
    placet_in(dir.path(), &["catalog", "check", "--catalog", &here]).ok();
    placet_in(dir.path(), &["catalog", "check", "--catalog", "nowhere"]).exits(10);
}

#[test]
fn escape_codes_in_a_file_never_reach_a_terminal() {
    let (world, _) = home_with_own(|text| text.replace("name = \"General", "name = \"\\u001b[2JGeneral"));
    let said = world.cli(&["catalog", "check"]).exits(2);
    assert!(said.stderr.contains("control character U+001B") && !said.stderr.contains('\u{1b}'), "{}", said.stderr);
}

/// A home with an agent that Placet could start.
fn home_with_agent() -> World {
    let program = "speaks = \"placet-api\"\nprogram = \"/usr/bin/env\"";
    home_with_own(|text| text.replace("speaks = \"placet-api\"", program)).0
}

#[test]
fn c7_a_goal_is_planned_with_steps_agent_table_cage_and_estimate() {
    let world = home_with_agent();
    let plan = world.cli(&["--json", "catalog", "plan", "Implement a parser and test it"]).ok().json();
    assert_eq!(plan["selection"]["chosen"], "ours");
    assert_eq!(plan["subtasks"].as_array().unwrap().len(), 2);
    assert_eq!((&plan["cage"]["profile"], &plan["cage"]["network"]), (&"code_development".into(), &"none".into()));
    assert!(plan["estimate"]["worst"]["usd_micros"].as_u64() > plan["estimate"]["likely"]["usd_micros"].as_u64());
    let words = world.cli(&["catalog", "plan", "Implement a parser and test it"]).ok();
    for part in ["chosen: ours", "after it", "reserved", "external: a person starts it", "assumed, not measured"] {
        assert!(words.out().contains(part), "{part}: {}", words.out());
    }
    let same = world.cli(&["--json", "catalog", "plan", "Implement a parser and test it"]).ok().json();
    assert_eq!(plan, same, "the same goal is the same plan");
}

#[test]
fn c7_where_nobody_fits_it_is_refused_and_everybody_listed() {
    let world = home_with_agent();
    let level = world.cli(&["catalog", "plan", "Run the tests", "--mode", "checkpoint"]).exits(3);
    assert!(level.stderr.contains("ours lacks level (needs L3 for CHECKPOINT; has L2)"), "{}", level.stderr);
    let reach = world.cli(&["catalog", "plan", "Run the tests", "--target", "example.org"]).exits(3);
    assert!(reach.stderr.contains("ours lacks network (needs example.org; has none)"), "{}", reach.stderr);
    let wish = world.cli(&["catalog", "plan", "Run the tests", "--agent", "goose"]).exits(3);
    assert!(wish.stderr.contains("goose lacks launch"), "{}", wish.stderr);
    world.cli(&["catalog", "plan", "Ponder"]).exits(2);
    world.cli(&["catalog", "plan", "x", "--template", "haiku"]).exits(10);
    world.cli(&["catalog", "plan", "x", "--mode", "AUTONOMOUS"]).exits(2);
}

#[test]
fn c3_an_intent_in_a_file_is_read_strictly_and_keeps_what_is_confidential_out() {
    let world = home_with_agent();
    let file = world.path("intent.toml");
    let plan = |text: &str| {
        std::fs::write(&file, text).unwrap();
        world.cli(&["--json", "catalog", "plan", "--intent", file.to_str().unwrap()])
    };
    let good =
        "goal = \"Summarise the minutes\"\n[[inputs]]\npath = \"minutes.md\"\nclass = \"INTERNAL\"\nshared = true\n";
    assert_eq!(plan(good).ok().json()["task"]["inputs"][0]["path"], "minutes.md");
    let unshared = plan(&good.replace("shared = true", "")).exits(2);
    assert!(unshared.stderr.contains("share it explicitly"), "{}", unshared.stderr);
    let secret = plan(&good.replace("INTERNAL", "CONFIDENTIAL")).exits(2);
    assert!(secret.stderr.contains("never enters a cage"), "{}", secret.stderr);
    let typo = plan(&good.replace("goal", "gaol")).exits(2);
    assert!(typo.stderr.contains("gaol"), "{}", typo.stderr);
}
