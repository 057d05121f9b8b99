//! The entries and templates that ship hold to what they say.

use placet_domain::catalogue::{Catalogue, Entry, Level, Speaks, shipped};
use placet_domain::planning::{Templates, shipped_templates};
use placet_domain::policy::DEFAULT_TOOLS;
use placet_domain::proposal::Tools;

fn all() -> Catalogue {
    Catalogue::default()
}

#[test]
fn c4_every_file_that_ships_is_an_entry_named_like_it() {
    let catalogue = all();
    let files: Vec<String> = catalogue.iter().map(|entry| format!("{}.toml", entry.id)).collect();
    let listed: Vec<&str> = shipped().iter().map(|(file, _)| *file).collect();
    assert_eq!(files, listed);
    let on_disk = |folder: &str| {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        std::fs::read_dir(folder).unwrap().filter(|file| file.as_ref().unwrap().path().is_file()).count()
    };
    assert_eq!(on_disk("catalogue"), shipped().len(), "no file is forgotten");
    assert_eq!(on_disk("catalogue/templates"), shipped_templates().len(), "no file is forgotten");
}

#[test]
fn c4_the_three_general_agents_and_the_real_ones_are_there() {
    let catalogue = all();
    let entry = |id: &str| catalogue.get(&id.parse().unwrap()).unwrap_or_else(|| panic!("{id} ships"));
    for id in ["code_agent", "developer_agent", "browser_agent"] {
        assert_eq!(entry(id).launch.speaks, Speaks::PlacetApi, "{id}");
    }
    for id in
        ["claude", "codex", "goose", "gemini", "qwen", "opencode", "pi", "vibe", "mini_swe_agent", "aider", "openhands"]
    {
        assert_eq!(entry(id).launch.speaks, Speaks::External, "{id}");
        assert_eq!(entry(id).level, Level::L2, "{id}");
    }
}

#[test]
fn c4_what_ships_promises_no_program_that_does_not_ship() {
    assert!(all().iter().all(|entry| entry.is_startable().is_err()));
}

#[test]
fn what_ships_names_only_tools_that_ship_and_only_closed_switches_for_what_is_final() {
    let tools = Tools::parse(DEFAULT_TOOLS).unwrap();
    let named = |entry: &Entry| entry.tools.iter().all(|tool| tools.get(tool).is_some());
    let closed = |entry: &Entry| entry.switches.block_payments && entry.switches.block_login_forms;
    for entry in all().iter() {
        assert!(named(entry) && closed(entry), "{}", entry.id);
    }
}

#[test]
fn every_template_that_ships_is_read() {
    let templates = Templates::default();
    let names: Vec<String> = templates.ids().iter().map(ToString::to_string).collect();
    assert_eq!(names, ["code_change", "price_scrape", "research_report"]);
}
