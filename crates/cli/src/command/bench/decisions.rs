//! Policy decisions: the shipped rules and a generated policy of 50.

use std::fmt::Write as _;
use std::time::Instant;

use placet_domain::id::{IdentityId, RunId};
use placet_domain::policy::{DEFAULT_TOOLS, Policy, default_policy};
use placet_domain::proposal::{Action, ActionKind, Proposal, Tools};
use placet_domain::scope::{Scope, ScopeDraft};
use serde_json::{Value, json};

use super::stats::{Times, per_second};
use crate::error::CliError;

const DECISIONS: usize = 50_000;

pub(super) fn measure() -> Result<Value, CliError> {
    let tools = Tools::parse(DEFAULT_TOOLS).map_err(failed)?;
    let shipped: Vec<(String, String)> =
        default_policy().iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let fifty = vec![("fifty.cedar".to_owned(), fifty_rules())];
    Ok(json!({
        "shipped_rules": judge(&Policy::load(&shipped, &tools).map_err(failed)?, &tools)?,
        "fifty_rules": judge(&Policy::load(&fifty, &tools).map_err(failed)?, &tools)?,
    }))
}

fn judge(policy: &Policy, tools: &Tools) -> Result<Value, CliError> {
    let draft = json!({ "targets": ["10.0.0.0/24"], "tools": ["nmap"] });
    let scope = Scope::lock(serde_json::from_value::<ScopeDraft>(draft).map_err(failed)?);
    let proposal = json!({ "tool": "nmap", "arguments": ["-sV", "-Pn", "-p", "1-1000"], "target": "10.0.0.5" });
    let proposal: Proposal = serde_json::from_value(proposal).map_err(failed)?;
    let (run, agent) = (RunId::from_uuid(uuid::Uuid::nil()), IdentityId::from_uuid(uuid::Uuid::nil()));
    let action = Action::seal(&proposal, tools, &scope, run, agent).map_err(failed)?;
    let mut times = Times::default();
    let started = Instant::now();
    for _ in 0..DECISIONS {
        let before = Instant::now();
        std::hint::black_box(policy.judge(std::hint::black_box(&action), &scope));
        times.push(before.elapsed());
    }
    let rate = per_second(DECISIONS, started.elapsed());
    let mut report = times.in_us();
    report["per_second"] = json!(rate);
    report["rules"] = json!(policy.rules().count());
    Ok(report)
}

/// Fifty rules as a team has them: one in five speaks of every kind of act, the others of one or two.
fn fifty_rules() -> String {
    let mut text = String::new();
    let kinds = ActionKind::ALL;
    for number in 0..50 {
        let about = match number % 5 {
            0 => "action".to_owned(),
            _ => format!(
                "action in [Action::\"{}\", Action::\"{}\"]",
                kinds[number % kinds.len()],
                kinds[(number * 7) % kinds.len()]
            ),
        };
        let (effect, condition) = if number == 0 {
            ("permit", String::new())
        } else {
            (
                "forbid",
                format!(
                    " when {{ context.arguments.contains(\"--flag-{number}\") }} unless {{ context.approvals >= 1 }}"
                ),
            )
        };
        let matching = if number == 0 {
            "kind:read_file x".to_owned()
        } else {
            format!("kind:{} --flag-{number}", kinds[number % kinds.len()])
        };
        let missing = if number == 0 { "" } else { "@misses(\"kind:read_file --other\")\n" };
        let _ = writeln!(
            text,
            "@id(\"rule.{number}\")\n@risk(\"0.01\")\n@reason(\"rule {number} of the benchmark\")\n@matches(\"{matching}\")\n{missing}{effect} (principal, {about}, resource){condition};\n"
        );
    }
    text
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::failed(error.to_string())
}
