//! The policy as a team uses it: load files, judge actions, read the verdict.

mod bounds;
mod judging;
mod loading;
mod network;
mod properties;
mod shipped;

use std::sync::LazyLock;

use placet_domain::catalogue::Bounds;
use placet_domain::id::{IdentityId, RunId};
use placet_domain::policy::{DEFAULT_TOOLS, Frame, Policy, PolicyProblems, Verdict, default_policy};
use placet_domain::proposal::{Action, ActionKind, Proposal, Tools};
use placet_domain::run::Posture;
use placet_domain::scope::{Scope, ScopeDraft};
use serde_json::{Value, json};
use uuid::Uuid;

/// A project: its tools, its policy and the scope of one run.
pub(crate) struct Project {
    tools: Tools,
    policy: Policy,
    scope: Scope,
}

impl Project {
    /// Loads the shipped policy once for all: its examples are tried each time it is loaded.
    pub(crate) fn shipped() -> &'static Self {
        static SHIPPED: LazyLock<Project> =
            LazyLock::new(|| Project::new(load(&shipped_files()).expect("the shipped policy loads")));
        &SHIPPED
    }

    /// A project with one policy file.
    pub(crate) fn with(text: &str) -> Self {
        Self::new(load(&[file("team.cedar", text)]).unwrap_or_else(|problems| panic!("{problems}")))
    }

    fn new(policy: Policy) -> Self {
        let tools = tools();
        let scope = scope(&tools);
        Self { tools, policy, scope }
    }

    pub(crate) fn seal(&self, proposal: Value) -> Action {
        let proposal: Proposal = serde_json::from_value(proposal).expect("a proposal");
        let (run, agent) = (RunId::from_uuid(Uuid::from_u128(1)), IdentityId::from_uuid(Uuid::from_u128(2)));
        Action::seal(&proposal, &self.tools, &self.scope, run, agent).expect("a sealable proposal")
    }

    pub(crate) fn judge(&self, proposal: Value) -> Verdict {
        self.judge_in(&Posture::default(), proposal)
    }

    /// Judges it in a run that is carried out in this way.
    pub(crate) fn judge_in(&self, posture: &Posture, proposal: Value) -> Verdict {
        let frame = Frame { scope: &self.scope, posture, bounds: None };
        self.policy.judge(&self.seal(proposal), &frame)
    }

    /// Judges it in a run whose agent is held to these bounds.
    pub(crate) fn judge_within(&self, bounds: &Bounds, proposal: Value) -> Verdict {
        let frame = Frame { bounds: Some(bounds), ..frame(&self.scope) };
        self.policy.judge(&self.seal(proposal), &frame)
    }

    /// Judges a shell script, the act that policies say most about.
    pub(crate) fn judge_script(&self, script: &str) -> Verdict {
        self.judge(json!({"tool": "sh", "arguments": [script]}))
    }
}

/// The shipped tools, for every kind a tool of that name, and one that may take very long.
pub(crate) fn tools() -> Tools {
    let stand_in = |kind: &ActionKind| format!("[{kind}]\nprogram = \"/usr/bin/{kind}\"\nkind = \"{kind}\"\n");
    let stand_ins: String = ActionKind::ALL.iter().map(stand_in).collect();
    let slow = "[slow]\nprogram = \"/usr/bin/slow\"\nkind = \"execute_code\"\nlimits.timeout_ms = 120001\n";
    Tools::parse(&format!("{DEFAULT_TOOLS}\n{stand_ins}{slow}")).expect("well-formed tools")
}

/// Some paths and targets, and every tool but `wc`.
fn scope(tools: &Tools) -> Scope {
    let draft = json!({
        "allow": ["src/**", ".github/**"],
        "deny": ["src/secret/**"],
        "targets": ["10.0.0.0/24", "*.example.org"],
        "tools": tools.iter().map(|(name, _)| name.as_str()).filter(|name| *name != "wc").collect::<Vec<_>>(),
    });
    Scope::lock(serde_json::from_value::<ScopeDraft>(draft).expect("a scope"))
}

/// A run as it usually is, by somebody who is not of the catalogue.
pub(crate) fn frame(scope: &Scope) -> Frame<'_> {
    static USUAL: LazyLock<Posture> = LazyLock::new(Posture::default);
    Frame { scope, posture: &USUAL, bounds: None }
}

pub(crate) fn file(name: &str, text: &str) -> (String, String) {
    (name.to_owned(), text.to_owned())
}

pub(crate) fn shipped_files() -> Vec<(String, String)> {
    default_policy().iter().map(|(name, text)| file(name, text)).collect()
}

pub(crate) fn load(files: &[(String, String)]) -> Result<Policy, PolicyProblems> {
    Policy::load(files, &tools())
}

/// A rule about shell scripts, with examples that hold for every condition that mentions `yes`.
pub(crate) fn script_rule(id: &str, risk: &str, statement: &str) -> String {
    format!(
        "@id(\"{id}\") @risk(\"{risk}\") @reason(\"{id} speaks\") @matches(\"sh yes\") @misses(\"cat no\")\n{statement}\n"
    )
}

/// Permits every script, so that the other rules of a test decide.
pub(crate) fn permit_scripts() -> String {
    script_rule("allowed", "0.00", "permit (principal, action == Action::\"execute_code\", resource);")
}

/// `rule demands weight` of every reason, as one line each.
pub(crate) fn listed(verdict: &Verdict) -> Vec<String> {
    verdict.reasons().iter().map(|reason| format!("{} {} {}", reason.rule, reason.demands, reason.weight)).collect()
}
