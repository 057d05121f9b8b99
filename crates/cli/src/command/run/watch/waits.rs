//! What a run waits for and the command that decides it.

use placet_domain::run::RunStatus;
use placet_domain::text::spelled_out;
use placet_wire::api::{ActionView, CheckpointView, RunView};

use crate::context::short;
use crate::out::{ASK, styled};

/// Something that waits for a person, and the command that decides it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Waits {
    pub(super) what: String,
    pub(super) command: String,
}

impl Waits {
    /// An action that somebody must decide on.
    pub(super) fn on(action: &ActionView) -> Self {
        let (what, id) = (format!("the action {} ({})", short(action.id), action.tool), short(action.id));
        Self { what, command: format!("placet approve {id}") }
    }
}

impl std::fmt::Display for Waits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}\n  {}", styled(ASK, "waits:"), self.what, self.command)
    }
}

pub(super) fn waits(run: &RunView, checkpoint: Option<&CheckpointView>) -> Option<Waits> {
    let (id, because) = (short(run.id), run.because.as_deref().map(spelled_out).unwrap_or_default());
    let says = |what: String, command: String| Some(Waits { what, command });
    if let Some(at) = checkpoint {
        let what = format!("checkpoint {} ({}) {}", at.number, at.kind, spelled_out(&at.summary));
        let command = match at.action {
            Some(action) => format!("placet approve {}", short(action)),
            None => format!("placet run approve {id}"),
        };
        return says(what, command);
    }
    match run.status {
        RunStatus::PendingApproval => says("the plan".to_owned(), format!("placet run approve {id}")),
        RunStatus::PendingExport => says(format!("the results: {because}"), format!("placet run complete {id}")),
        RunStatus::Approved => says("to be started".to_owned(), format!("placet run start {id}")),
        RunStatus::Paused | RunStatus::RolledBack => says(because, format!("placet run resume {id}")),
        RunStatus::Draft => says("a plan".to_owned(), format!("placet run submit {id} --step …")),
        RunStatus::SpawningSandbox
        | RunStatus::Executing
        | RunStatus::CheckpointReached
        | RunStatus::Completed
        | RunStatus::Failed
        | RunStatus::Cancelled => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(status: &str) -> RunView {
        let digest = format!("sha256:{}", "0".repeat(64));
        let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(32));
        serde_json::from_value(serde_json::json!({
            "id": id("run"), "project": id("prj"), "goal": "tidy \u{1b}[2Jup", "plan": ["look", "write", "tell"],
            "status": status, "meaning": "It works.", "agent": id("idn"), "scope": digest, "review": digest,
            "mode": "CHECKPOINT", "effect": "execute", "steps_done": 0, "destroyed": false,
            "budget": { "limits": { "actions": 9 }, "warn_at_percent": 80, "spent": { "actions": 2 }, "held": {} },
        }))
        .unwrap()
    }

    #[test]
    fn what_waits_for_a_person_comes_with_what_they_would_type() {
        for (status, command) in [
            ("PENDING_APPROVAL", "placet run approve …00000000"),
            ("PENDING_EXPORT", "placet run complete …00000000"),
            ("APPROVED", "placet run start …00000000"),
            ("PAUSED", "placet run resume …00000000"),
        ] {
            let said = waits(&run(status), None).unwrap();
            assert_eq!(said.command, command);
        }
        assert!(waits(&run("EXECUTING"), None).is_none());
    }
}
