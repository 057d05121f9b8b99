//! Templates are data files like entries: read strictly, all problems at once.

use placet_domain::planning::{Intent, Templates, decompose, encode};

use super::{intent, the};

const HAIKU: &str = r#"
id = "haiku"
name = "A haiku"
about = "three lines"

[[step]]
title = "Write a line"
capability = "write_text"
checkpoint = true
repeat = 3
"#;

#[test]
fn a_team_adds_a_template_and_its_repetitions_are_written_out() {
    let templates = Templates::with([("haiku.toml", HAIKU)]).unwrap();
    let task = encode(&Intent { template: Some(the("haiku")), ..intent("x") }).unwrap();
    let subtasks = decompose(&task, &templates).unwrap();
    let titles: Vec<String> = subtasks.iter().map(|subtask| subtask.title.to_string()).collect();
    assert_eq!(titles, ["Write a line (1 of 3)", "Write a line (2 of 3)", "Write a line (3 of 3)"]);
    assert_eq!(templates.file_of(&the("haiku")), Some("haiku.toml"));
}

#[test]
fn everything_that_is_wrong_with_a_template_has_its_place() {
    let broken = HAIKU
        .replace("write_text", "sing")
        .replace("repeat = 3", "repeat = 201\npags = 4")
        .replace("id = \"haiku\"", "id = \"Haiku\"");
    let problems = Templates::with([("haiku.toml", broken.as_str())]).unwrap_err();
    let places: Vec<&str> = problems.all().iter().map(|problem| problem.place.as_str()).collect();
    assert_eq!(places, ["id", "step[0].capability", "step[0].repeat", "step[0].pags"], "{problems}");
}

#[test]
fn a_template_without_steps_with_too_many_or_with_a_known_name_is_refused() {
    let said = |text: &str| Templates::with([("x.toml", text)]).unwrap_err().to_string();
    let none: String =
        HAIKU.lines().take_while(|line| !line.starts_with("[[")).map(|line| format!("{line}\n")).collect();
    assert!(said(&none).contains("`step` is missing"));
    let step = HAIKU.find("[[step]]").unwrap();
    let many = format!("{HAIKU}{}", HAIKU[step..].replace("repeat = 3", "repeat = 199"));
    assert!(said(&many).contains("1 to 200 steps"));
    assert!(said(&HAIKU.replace("\"haiku\"", "\"code_change\"")).contains("is the id of one that ships"));
    assert!(said(&format!("{none}step = 3\n")).contains("no list of tables"));
}
