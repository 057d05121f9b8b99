//! The agent catalogue: what ships, what a team adds, and everything that is wrong with a file told at once (C4).

mod shipped;

use placet_domain::catalogue::{Catalogue, shipped};
use placet_domain::datafile::Problem;

/// An entry that ships, under an id of its own.
pub(crate) fn own(id: &str, like: &str) -> String {
    let (_, text) = shipped().iter().find(|(file, _)| *file == format!("{like}.toml")).expect("it ships");
    text.replace(&format!("id = \"{like}\""), &format!("id = \"{id}\""))
}

fn problems(file: &str, text: &str) -> Vec<Problem> {
    Catalogue::with([(file, text)]).expect_err("something is wrong with it").all().to_vec()
}

/// The line of a text that begins like this, counted from 1.
fn line(text: &str, beginning: &str) -> usize {
    1 + text.lines().position(|line| line.starts_with(beginning)).expect("there is such a line")
}

#[test]
fn c4_a_team_adds_an_agent_with_one_file() {
    let text = own("our_agent", "code_agent");
    let catalogue = Catalogue::with([("our_agent.toml", text.as_str())]).unwrap();
    let id = "our_agent".parse().unwrap();
    assert_eq!(catalogue.get(&id).unwrap().name.as_str(), "General code agent");
    assert_eq!(catalogue.file_of(&id), Some("our_agent.toml"));
    assert_eq!(catalogue.iter().count(), shipped().len() + 1);
}

#[test]
fn c4_an_unknown_key_is_a_problem_with_file_line_place_and_what_to_do() {
    let text = own("x", "code_agent").replace("wall_ms = 3600000", "wal_ms = 3600000");
    let found = problems("x.toml", &text);
    let typo = found.iter().find(|problem| problem.place == "limits.wal_ms").unwrap();
    assert_eq!((typo.file.as_str(), typo.line), ("x.toml", line(&text, "wal_ms")));
    assert_eq!(typo.message, "`wal_ms` is unknown");
    assert_eq!(typo.hint, "did you mean `wall_ms`?");
    assert!(found.iter().any(|problem| problem.message == "`wall_ms` is missing"), "{found:?}");
}

#[test]
fn c4_every_problem_of_every_file_is_told_at_once() {
    let broken = own("x", "code_agent")
        .replace("level = \"L2\"", "level = \"L5\"")
        .replace("\"write_code\", ", "\"fly\", ")
        .replace("checkpoint = { steps = 1 }", "checkpoint = { steps = 0 }")
        .replace("profile = \"code_development\"", "profile = \"../etc\"")
        .replace("network = \"none\"", "network = { allow = [\"exa mple.org\"] }")
        .replace("privacy = ", "privvacy = ")
        .replace("worst_case_percent = 250", "worst_case_percent = 99")
        .replace("block_payments = true", "block_payments = \"yes\"");
    let twice = own("code_agent", "code_agent");
    let all = Catalogue::with([("x.toml", broken.as_str()), ("y.toml", &twice)]).unwrap_err();
    let places: Vec<&str> = all.all().iter().map(|problem| problem.place.as_str()).collect();
    for place in [
        "level",
        "capabilities",
        "checkpoint",
        "cage.profile",
        "cage.network",
        "laws.privacy",
        "laws.privvacy",
        "averages.worst_case_percent",
        "switches",
        "id",
    ] {
        assert!(places.contains(&place), "{place}: {all}");
    }
    let jargon = |problem: &Problem| ["variant", "field", "struct"].iter().any(|word| problem.message.contains(word));
    assert!(!all.all().iter().any(jargon), "files have keys and values: {all}");
    assert!(all.all().iter().all(|problem| problem.line > 0 && !problem.hint.is_empty()), "{all}");
}

#[test]
fn c4_an_id_that_is_taken_is_refused_and_says_by_whom() {
    let text = own("goose", "code_agent");
    let found = problems("mine.toml", &text);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(found[0].line, line(&text, "id = "));
    assert_eq!(found[0].message, "`goose` is the id of one that ships");
}

#[test]
fn c4_a_law_cannot_be_left_out() {
    for law in ["safe", "non_autonomous", "representational", "privacy", "transparency"] {
        let text = own("x", "code_agent");
        let without: String =
            text.lines().filter(|line| !line.starts_with(&format!("{law} = "))).map(|l| format!("{l}\n")).collect();
        let found = problems("x.toml", &without);
        assert_eq!(found[0].message, format!("`{law}` is missing"), "{found:?}");
        assert_eq!(found[0].line, line(&without, "[laws]"));
    }
}

#[test]
fn a_launch_that_contradicts_itself_is_refused() {
    let external =
        own("x", "goose").replace("speaks = \"external\"", "speaks = \"external\"\nprogram = \"/usr/bin/goose\"");
    assert_eq!(problems("x.toml", &external)[0].place, "launch.program");
    let unsaid: String =
        own("x", "goose").lines().filter(|line| !line.starts_with("by_hand")).map(|l| format!("{l}\n")).collect();
    assert_eq!(problems("x.toml", &unsaid)[0].place, "launch.by_hand");
    let relative =
        own("x", "code_agent").replace("speaks = \"placet-api\"", "speaks = \"placet-api\"\nprogram = \"agent.py\"");
    assert_eq!(problems("x.toml", &relative)[0].place, "launch.program");
    let secret = own("x", "code_agent").replace("environment = [\"LANG\"]", "environment = [\"API_KEY=abc\"]");
    assert!(problems("x.toml", &secret)[0].message.contains("never a value"));
}

#[test]
fn what_is_no_toml_at_all_names_its_line() {
    let found = problems("x.toml", "id = \"x\"\nname = \n");
    assert_eq!((found[0].line, found[0].place.as_str()), (2, ""));
    let large = format!("#{}\n", "x".repeat(70_000));
    assert!(problems("x.toml", &large)[0].message.contains("64 KiB"));
    assert!(problems("x.toml", "").iter().any(|problem| problem.message == "`id` is missing"));
}

#[test]
fn c4_the_version_of_an_entry_is_its_content_and_not_its_comments() {
    let version =
        |text: &str| Catalogue::with([("x.toml", text)]).unwrap().get(&"x".parse().unwrap()).unwrap().version();
    let text = own("x", "code_agent");
    assert_eq!(version(&text), version(&format!("# another comment\n{text}")));
    assert_ne!(version(&text), version(&text.replace("actions = 200", "actions = 201")));
}

#[test]
fn c4_the_version_of_a_catalogue_is_that_of_its_entries() {
    let of = |id: &str| Catalogue::with([("x.toml", own(id, "code_agent").as_str())]).unwrap().version();
    assert_eq!(of("x"), of("x"));
    assert_ne!(of("x"), of("y"));
}

#[test]
fn of_two_files_with_one_id_the_second_is_refused_and_names_the_first() {
    let text = own("x", "code_agent");
    let all = Catalogue::with([("a.toml", text.as_str()), ("b.toml", &text)]).unwrap_err();
    assert_eq!(all.all()[0].message, "`x` is the id of a.toml already");
    assert_eq!(all.all()[0].file, "b.toml");
}

#[test]
fn there_are_never_more_agents_than_anybody_compares() {
    let texts: Vec<(String, String)> =
        (0..100).map(|at| (format!("a{at}.toml"), own(&format!("a{at}"), "code_agent"))).collect();
    let all = Catalogue::with(texts.iter().map(|(file, text)| (file.as_str(), text.as_str()))).unwrap_err();
    assert_eq!(all.all().len(), shipped().len());
    assert!(all.to_string().contains("more than 100"), "{all}");
}
