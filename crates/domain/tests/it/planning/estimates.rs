//! What is estimated, worked out by hand.

use placet_domain::budget::Amounts;
use placet_domain::planning::Intent;
use placet_domain::run::Mode;

use super::{intent, planned, the};

#[test]
fn c7_an_estimate_adds_up_by_hand_and_says_what_it_rests_on() {
    let steps = serde_json::from_str(r#"[{"title":"Run it","turns":10},{"title":"Write it up","turns":3}]"#).unwrap();
    let plan = planned(&Intent { steps, agent: Some(the("our_code_agent")), ..intent("x") });
    // 13 turns of 8,000 tokens in and 800 out, at 0.003 and 0.015 dollars for a thousand.
    let likely = Amounts {
        tokens: 114_400,
        usd_micros: 468_000,
        wall_ms: 260_000,
        actions: 13,
        pages: 0,
        disk_bytes: 3_407_872,
    };
    assert_eq!(plan.estimate.likely, likely);
    let worst = Amounts {
        tokens: 286_000,
        usd_micros: 1_170_000,
        wall_ms: 650_000,
        actions: 33,
        pages: 0,
        disk_bytes: 8_519_680,
    };
    assert_eq!(plan.estimate.worst, worst, "two and a half times as much, rounded up");
    let basis = &plan.estimate.basis;
    for part in ["13 turns and 0 pages", "`our_code_agent`", &plan.selection.version.to_string(), "250 %", "assumed"] {
        assert!(basis.contains(part), "{part}: {basis}");
    }
}

#[test]
fn c12_the_cage_gets_the_less_of_the_agents_limits_and_what_was_granted() {
    let mut wanted = Intent { mode: Mode::Checkpoint, ..intent("Implement a parser") };
    wanted.ceiling.tokens = Some(1_000_000);
    wanted.ceiling.wall_ms = Some(u64::from(u32::MAX));
    let plan = planned(&wanted);
    assert_eq!(plan.selection.chosen.as_str(), "our_developer_agent");
    assert_eq!(plan.cage.limits.tokens, 1_000_000, "granted less");
    assert_eq!(plan.cage.limits.wall_ms, 14_400_000, "granted more than the agent may");
    assert_eq!(plan.cage.limits.usd_micros, 50_000_000, "nothing was said");
}
