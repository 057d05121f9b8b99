//! How fast the policy judges: percentiles in microseconds and decisions per second, printed as JSON.
//!
//! `cargo run --profile fast -p placet-domain --example judge_rate`

#![expect(clippy::print_stdout, reason = "printing the measurement is what this program is for")]

use std::error::Error;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use placet_domain::id::{IdentityId, RunId};
use placet_domain::policy::{DEFAULT_TOOLS, Frame, Policy, default_policy};
use placet_domain::proposal::{Action, ActionKind, Proposal, Tools};
use placet_domain::run::Posture;
use placet_domain::scope::{Scope, ScopeDraft};
use uuid::Uuid;

const ROUNDS: usize = 20_000;
const GENERATED_RULES: usize = 50;

/// One of each tier, so that the mean is not that of the cheapest answer.
const PROPOSALS: [&str; 5] = [
    r#"{"tool": "cat", "arguments": ["README.md"]}"#,
    r#"{"tool": "nmap", "arguments": ["-sV", "-Pn", "-p", "1-1000"], "target": "10.0.0.5"}"#,
    r#"{"tool": "sh", "arguments": ["cargo test --workspace"], "outputs": ["target/report.txt"]}"#,
    r#"{"tool": "rm", "arguments": ["-r", "docs/old"]}"#,
    r#"{"tool": "sh", "arguments": ["sudo rm -rf /"], "environment": {"LANG": "C"}}"#,
];

fn main() -> Result<(), Box<dyn Error>> {
    let tools = Tools::parse(DEFAULT_TOOLS)?;
    let scope = Scope::lock(ScopeDraft {
        allow: vec!["**".parse()?],
        targets: vec!["10.0.0.0/24".parse()?],
        tools: tools.iter().map(|(name, _)| name.clone()).collect(),
        ..ScopeDraft::default()
    });
    let actions = actions(&tools, &scope)?;
    let shipped: Vec<_> =
        default_policy().iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
    let generated = |breadth| vec![("generated.cedar".to_owned(), generated_policy(breadth))];
    let report = serde_json::json!({
        "default_policy": measure(&Policy::load(&shipped, &tools)?, &actions, &scope),
        "generated_policy": measure(&Policy::load(&generated(Breadth::Usual), &tools)?, &actions, &scope),
        "generated_worst_case": measure(&Policy::load(&generated(Breadth::EveryKind), &tools)?, &actions, &scope),
    });
    println!("{report:#}");
    Ok(())
}

fn actions(tools: &Tools, scope: &Scope) -> Result<Vec<Action>, Box<dyn Error>> {
    let (run, agent) = (RunId::from_uuid(Uuid::from_u128(1)), IdentityId::from_uuid(Uuid::from_u128(2)));
    let seal = |text: &str| -> Result<Action, Box<dyn Error>> {
        let proposal: Proposal = serde_json::from_str(text)?;
        Ok(Action::seal(&proposal, tools, scope, run, agent)?)
    };
    PROPOSALS.iter().map(|text| seal(text)).collect()
}

/// How many kinds of act a generated rule concerns.
#[derive(Clone, Copy)]
enum Breadth {
    /// A team's policy: one rule in five concerns every kind, the others two kinds each.
    Usual,
    /// All rules concern every kind, so that the index by kind cannot help: the worst case.
    EveryKind,
}

impl Breadth {
    fn action(self, n: usize) -> String {
        let kind = |n: usize| ActionKind::ALL[n % ActionKind::ALL.len()];
        match self {
            Self::EveryKind => "action".to_owned(),
            Self::Usual if n.is_multiple_of(5) => "action".to_owned(),
            Self::Usual => format!("action in [Action::\"{}\", Action::\"{}\"]", kind(n), kind(n + 1)),
        }
    }
}

fn generated_policy(breadth: Breadth) -> String {
    let notes = |id: &str| format!("@id(\"{id}\") @risk(\"0.01\") @reason(\"generated\")");
    let mut text = format!(
        "{} @matches(\"cat a\") @misses(\"kind:make_payment\")\n\
         permit (principal, action, resource) unless {{ action == Action::\"make_payment\" }};\n",
        notes("everything")
    );
    for n in 1..GENERATED_RULES {
        let (action, demanded) = (breadth.action(n), n % 2 + 1);
        let kind = ActionKind::ALL[n % ActionKind::ALL.len()];
        let _ = write!(
            text,
            "{} @matches(\"kind:{kind} x{n}y\") @misses(\"sh y\")\n\
             forbid (principal, {action}, resource)\n\
             when {{ context.command like \"*x{n}y*\" || context.arguments.contains(\"--flag-{n}\") }}\n\
             unless {{ context.approvals >= {demanded} }};\n",
            notes(&format!("rule.n{n}"))
        );
    }
    text
}

fn measure(policy: &Policy, actions: &[Action], scope: &Scope) -> serde_json::Value {
    let mut taken: Vec<Duration> = Vec::with_capacity(ROUNDS);
    let frame = Frame { scope, posture: &Posture::default(), bounds: None };
    let started = Instant::now();
    for action in actions.iter().cycle().take(ROUNDS) {
        let before = Instant::now();
        std::hint::black_box(policy.judge(std::hint::black_box(action), &frame));
        taken.push(before.elapsed());
    }
    let elapsed = started.elapsed();
    taken.sort();
    let percentile_us = |percent: usize| taken[(taken.len() - 1) * percent / 100].as_secs_f64() * 1e6;
    serde_json::json!({
        "rules": policy.rules().count(),
        "p50_us": percentile_us(50),
        "p99_us": percentile_us(99),
        "decisions_per_second": (taken.len() as f64 / elapsed.as_secs_f64()).round(),
    })
}
