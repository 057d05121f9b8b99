//! Policy decisions: the shipped rules and a generated policy of 50.

use std::fmt::Write as _;
use std::time::Instant;

use placet_domain::id::{IdentityId, RunId};
use placet_domain::policy::{DEFAULT_TOOLS, Frame, Policy, default_policy};
use placet_domain::proposal::{Action, ActionKind, Proposal, Tools};
use placet_domain::run::Posture;
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
    let frame = Frame { scope: &scope, posture: &Posture::default(), bounds: None };
    let mut times = Times::default();
    let started = Instant::now();
    for _ in 0..DECISIONS {
        let before = Instant::now();
        std::hint::black_box(policy.judge(std::hint::black_box(&action), &frame));
        times.push(before.elapsed());
    }
    let rate = per_second(DECISIONS, started.elapsed());
    let mut report = times.in_us();
    report["per_second"] = json!(rate);
    report["rules"] = json!(policy.rules().count());
    Ok(report)
}

/// Fifty rules as a team has them: one permit; of the others one in five speaks of every kind of act, the rest of two.
fn fifty_rules() -> String {
    let kinds = ActionKind::ALL;
    let mut text = "@id(\"bench.permit\")\n@risk(\"0.00\")\n@reason(\"everything but what is forbidden\")\n\
        @matches(\"kind:read_file x\")\n@misses(\"kind:read_file --never\")\n\
        permit (principal, action, resource) unless { context.arguments.contains(\"--never\") };\n\n"
        .to_owned();
    for number in 1..50 {
        let (first, second) = (kinds[number % kinds.len()], kinds[(number + 1) % kinds.len()]);
        let about = if number % 5 == 0 {
            "action".to_owned()
        } else {
            format!("action in [Action::\"{first}\", Action::\"{second}\"]")
        };
        let id: String = number.to_string().bytes().map(|digit| char::from(digit - b'0' + b'a')).collect();
        let _ = writeln!(
            text,
            "@id(\"bench.{id}\")\n@risk(\"0.01\")\n@reason(\"rule {number} of the benchmark\")\n\
             @matches(\"kind:{first} --flag-{number}\")\n@misses(\"kind:{first} --other\")\n\
             forbid (principal, {about}, resource) when {{ context.arguments.contains(\"--flag-{number}\") }} \
             unless {{ context.approvals >= 1 }};\n"
        );
    }
    text
}

fn failed(error: impl std::fmt::Display) -> CliError {
    CliError::failed(error.to_string())
}
