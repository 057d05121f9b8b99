//! The two examples of the design, and a change of code, planned from their templates.

use placet_domain::catalogue::{CageCapability, NetworkUse};
use placet_domain::planning::Intent;
use placet_domain::run::Mode;

use super::{intent, planned, the};

fn from_template(goal: &str, template: &str) -> Intent {
    Intent { template: Some(the(template)), mode: Mode::Checkpoint, ..intent(goal) }
}

#[test]
fn c7_a_research_report_stands_still_at_six_checkpoints() {
    let plan = planned(&from_template("What do heat pumps cost over ten years?", "research_report"));
    assert_eq!(plan.subtasks.len(), 6);
    assert!(plan.subtasks.iter().all(|subtask| subtask.gate_after));
    assert_eq!(plan.selection.chosen.as_str(), "our_browser_agent");
    assert_eq!(plan.estimate.worst.pages, 40);
    assert_eq!(plan.cage.network, NetworkUse::Filtered, "pages are visited; whose, the scope says");
}

#[test]
fn c7_a_price_scrape_visits_fifty_pages_and_ends_in_a_spreadsheet() {
    let mut intent = from_template("Prices of the shop", "price_scrape");
    intent.constraints.targets = vec![the("http://127.0.0.1:8080/")];
    let plan = planned(&intent);
    let titles: Vec<&str> = plan.subtasks.iter().map(|subtask| subtask.title.as_str()).collect();
    assert_eq!(titles[1], "Read prices from ten pages (1 of 5)");
    assert_eq!(plan.subtasks.iter().map(|subtask| subtask.pages).sum::<u64>(), 50);
    assert_eq!(plan.subtasks.last().unwrap().capability.as_str(), "spreadsheets");
    assert_eq!(plan.selection.chosen.as_str(), "our_browser_agent");
    assert_eq!(plan.cage.profile.as_str(), "browser_automation");
    assert_eq!(plan.cage.network, NetworkUse::Allow(intent.constraints.targets));
    assert!(plan.cage.capabilities.contains(&CageCapability::Screenshots));
}

#[test]
fn c7_a_code_change_goes_to_the_developer_agent_without_a_network() {
    let plan = planned(&from_template("Retry failed uploads", "code_change"));
    assert_eq!(plan.selection.chosen.as_str(), "our_developer_agent");
    assert_eq!(plan.cage.network, NetworkUse::None);
    assert_eq!(plan.cage.capabilities, [CageCapability::ExecuteCode].into());
}
