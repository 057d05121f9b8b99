//! Who is chosen, and why none of the others.

use placet_domain::catalogue::Catalogue;
use placet_domain::planning::{Criterion, Intent, PlanRefusal, Row, plan};
use placet_domain::run::Mode;

use super::{catalogue, intent, planned, refused, started, templates, the};
use crate::catalogue::own;

fn misfits(table: &[Row], agent: &str) -> Vec<Criterion> {
    table.iter().filter(|row| row.agent.as_str() == agent && !row.fits).map(|row| row.criterion).collect()
}

#[test]
fn c7_the_agent_with_the_least_power_beyond_the_need_is_chosen() {
    let plan = planned(&intent("Implement a parser and test it"));
    assert_eq!(plan.selection.chosen.as_str(), "our_code_agent");
    let ranking: Vec<&str> = plan.selection.ranking.iter().map(|ranked| ranked.agent.as_str()).collect();
    assert_eq!(ranking, ["our_code_agent", "our_developer_agent"]);
    assert_eq!(plan.selection.version, catalogue().get(&plan.selection.chosen).unwrap().version());
}

#[test]
fn c7_the_table_says_for_everybody_what_is_needed_and_what_is_there() {
    let plan = planned(&Intent { mode: Mode::Checkpoint, ..intent("Implement a parser and test it") });
    let table = &plan.selection.table;
    assert_eq!(plan.selection.chosen.as_str(), "our_developer_agent", "a code agent of level 2 asks for everything");
    assert_eq!(misfits(table, "our_code_agent"), [Criterion::Level]);
    assert_eq!(misfits(table, "our_browser_agent"), [Criterion::Capabilities]);
    assert_eq!(misfits(table, "claude"), [Criterion::Launch]);
    let level = table.iter().find(|row| row.agent.as_str() == "our_code_agent" && row.criterion == Criterion::Level);
    assert_eq!(level.map(|row| (row.needs.as_str(), row.has.as_str())), Some(("L3 for CHECKPOINT", "L2")));
}

#[test]
fn c7_a_wish_is_kept_or_refused_but_never_replaced() {
    let wish = |agent: &str| Intent { agent: Some(the(agent)), ..intent("Implement a parser") };
    assert_eq!(planned(&wish("our_developer_agent")).selection.chosen.as_str(), "our_developer_agent");
    let refusal = refused(&wish("claude"));
    assert!(refusal.to_string().contains("claude lacks launch"), "{refusal}");
    assert!(refusal.to_string().contains("a person starts it"), "{refusal}");
}

#[test]
fn c7_where_nobody_fits_everybody_is_listed_with_what_they_lack() {
    let refusal = refused(&intent("Send the invoices"));
    let PlanRefusal::NobodyFits { table, .. } = &refusal else { panic!("{refusal}") };
    for entry in catalogue().iter() {
        assert!(!misfits(table, entry.id.as_str()).is_empty());
        assert!(refusal.to_string().contains(&format!("\n  {} lacks", entry.id)), "{refusal}");
    }
    assert!(refusal.to_string().contains("add an entry that does"));
}

#[test]
fn c7_tools_network_limits_and_ceiling_each_decide() {
    let base = || intent("Implement a parser and test it");
    let mut tools = base();
    tools.constraints.tools = [the("nmap")].into();
    let mut network = base();
    network.constraints.targets = vec![the("example.org")];
    let mut limits = base();
    limits.steps = vec![serde_json::from_str(r#"{"title":"Run it","turns":10000}"#).unwrap()];
    let mut ceiling = base();
    ceiling.ceiling.usd_micros = Some(1);
    for (intent, criterion) in [
        (tools, Criterion::Tools),
        (network, Criterion::Network),
        (limits, Criterion::Limits),
        (ceiling, Criterion::Ceiling),
    ] {
        let refusal = refused(&intent);
        let PlanRefusal::NobodyFits { table, .. } = &refusal else { panic!("{refusal}") };
        assert_eq!(misfits(table, "our_developer_agent"), [criterion], "{refusal}");
    }
}

#[test]
fn c5_who_visits_pages_needs_an_agent_with_a_network() {
    let text = started(&own("reader", "browser_agent")).replace("network = \"filtered\"", "network = \"none\"");
    let catalogue = Catalogue::with([("reader.toml", text.as_str())]).unwrap();
    let scrape = Intent { template: Some(the("price_scrape")), ..intent("Prices") };
    let PlanRefusal::NobodyFits { table, .. } = plan(&scrape, &catalogue, templates()).unwrap_err() else {
        panic!("nobody fits")
    };
    assert_eq!(misfits(&table, "reader"), [Criterion::Network]);
}

#[test]
fn c4_a_switch_that_closes_an_act_keeps_an_agent_from_work_that_needs_it() {
    let closed = started(&own("writer", "code_agent")).replace("\"write_text\"]", "\"write_text\", \"send_messages\"]");
    let open = closed.replace("block_messages = true", "block_messages = false");
    let chosen =
        |text: &str| plan(&intent("Notify the team"), &Catalogue::with([("w.toml", text)]).unwrap(), templates());
    let PlanRefusal::NobodyFits { table, .. } = chosen(&closed).unwrap_err() else { panic!("nobody fits") };
    assert_eq!(misfits(&table, "writer"), [Criterion::Switches]);
    assert_eq!(chosen(&open).unwrap().selection.chosen.as_str(), "writer");
}

#[test]
fn c5_a_profile_that_is_not_good_for_an_act_keeps_its_agent_from_it() {
    let text = started(&own("runner", "code_agent")).replace("capabilities = [\"execute_code\"]", "capabilities = []");
    let refusal = plan(&intent("Run the tests"), &Catalogue::with([("r.toml", text.as_str())]).unwrap(), templates());
    let PlanRefusal::NobodyFits { table, .. } = refusal.unwrap_err() else { panic!("nobody fits") };
    assert_eq!(misfits(&table, "runner"), [Criterion::Profile]);
}

#[test]
fn equals_are_ranked_by_id_whatever_the_order_of_files() {
    let texts: Vec<(String, String)> =
        ["zed", "abe"].map(|id| (format!("{id}.toml"), started(&own(id, "code_agent")))).to_vec();
    let order = |texts: &[(String, String)]| {
        let catalogue = Catalogue::with(texts.iter().map(|(file, text)| (file.as_str(), text.as_str()))).unwrap();
        plan(&intent("Run it"), &catalogue, templates()).unwrap().selection
    };
    let reversed: Vec<_> = texts.iter().rev().cloned().collect();
    assert_eq!(order(&texts).chosen.as_str(), "abe");
    assert_eq!(order(&texts), order(&reversed));
}

#[test]
fn a_table_that_no_entry_of_the_ledger_can_hold_is_refused_and_a_wish_helps() {
    let texts: Vec<(String, String)> =
        (0..80).map(|at| (format!("a{at}.toml"), started(&own(&format!("a{at}"), "code_agent")))).collect();
    let catalogue = Catalogue::with(texts.iter().map(|(file, text)| (file.as_str(), text.as_str()))).unwrap();
    let refusal = plan(&intent("Run it"), &catalogue, templates()).unwrap_err();
    assert!(matches!(refusal, PlanRefusal::TooLarge { what: "selection", .. }), "{refusal}");
    let wish = Intent { agent: Some(the("a7")), ..intent("Run it") };
    assert_eq!(plan(&wish, &catalogue, templates()).unwrap().selection.chosen.as_str(), "a7");
}
