//! What an agent finds when it is started: `env.json` and its credential, in its own directory. Nothing else couples an agent to
//! Placet. The fields are described in `docs/agents.md`; a new meaning is a new `v`.

use placet_domain::id::{IdentityId, ProjectId, RunId};
use placet_domain::identity::Lineage;
use placet_sandbox::{Limits, WORKSPACE};
use placet_wire::api::{BudgetView, HostingView};
use serde::Serialize;

/// The port of the cage's own loopback at which the control plane answers.
pub(super) const DOOR: u16 = 8_700;
/// The variable that every agent may rely on.
pub(super) const SERVICE_VARIABLE: &str = "SYSTEM_SERVICE_URL";
pub(super) const ENVIRONMENT_FILE: &str = "env.json";
pub(super) const TOKEN_FILE: &str = ".placet/token";

pub(super) fn service_url() -> String {
    format!("http://127.0.0.1:{DOOR}")
}

/// What the libraries of language models look for: where to call, and what to show there. The token is the key; it is worth
/// something at this door and nowhere else.
pub(super) fn model_variables(token: &str) -> [(&'static str, String); 6] {
    let (url, token) = (service_url(), token.to_owned());
    [
        ("ANTHROPIC_BASE_URL", url.clone()),
        ("ANTHROPIC_API_KEY", token.clone()),
        ("OPENAI_BASE_URL", format!("{url}/v1")),
        ("OPENAI_API_KEY", token.clone()),
        ("GOOGLE_GEMINI_BASE_URL", url),
        ("GEMINI_API_KEY", token),
    ]
}

/// The content of `env.json`.
#[derive(Debug, Serialize)]
pub(super) struct Environment<'a> {
    v: u32,
    agent_id: IdentityId,
    run_id: RunId,
    project_id: ProjectId,
    goal: &'a str,
    plan: &'a [String],
    steps_done: u32,
    /// Its own directory: where it starts, and all it can write to.
    workspace: &'static str,
    service_url: String,
    /// Where its token is. It is a new one each time the agent is started.
    token_file: String,
    limits: Bounds,
    budget: Option<&'a BudgetView>,
    lineage: &'a Lineage,
}

#[derive(Debug, Serialize)]
struct Bounds {
    wall_ms: u64,
    cpu_seconds: u64,
    memory_bytes: u64,
    processes: u64,
    disk_bytes: u64,
}

impl<'a> Environment<'a> {
    pub(super) fn of(hosting: &'a HostingView, limits: Limits) -> Self {
        let run = &hosting.run;
        Self {
            v: 1,
            agent_id: run.agent,
            run_id: run.id,
            project_id: run.project,
            goal: &run.goal,
            plan: &run.plan,
            steps_done: run.steps_done,
            workspace: WORKSPACE,
            service_url: service_url(),
            token_file: format!("{WORKSPACE}/{TOKEN_FILE}"),
            limits: Bounds {
                wall_ms: limits.wall_ms,
                cpu_seconds: limits.cpu_seconds,
                memory_bytes: limits.memory_bytes,
                processes: limits.pids,
                disk_bytes: limits.disk_bytes,
            },
            budget: run.budget.as_ref(),
            lineage: &hosting.lineage,
        }
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec_pretty(self).expect("plain data is always JSON");
        bytes.push(b'\n');
        bytes
    }
}
