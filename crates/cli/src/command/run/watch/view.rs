//! What a watcher sees: goal, status, how far it is, what waits for whom, what is used up, and what happened last.

use std::collections::{HashMap, VecDeque};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use placet_domain::run::RunStatus;
use placet_domain::text::spelled_out;
use placet_wire::StreamEvent;
use placet_wire::api::{ActionView, CheckpointView, RunView};

use super::super::budget;
use super::is_seen;
use crate::context::short;
use crate::out::{ASK, BAD, BOLD, DIM, GOOD, Out, harmless, styled};

/// So many of the last events are shown.
const SHOWN: usize = 6;
const BAR_WIDTH: usize = 30;

/// A place to draw on, if there is one, and what was told last.
pub(super) struct View {
    place: Option<ProgressBar>,
    last: VecDeque<String>,
    tools: HashMap<String, String>,
}

impl View {
    pub(super) fn start(out: &Out) -> Self {
        let place = is_seen(out).then(|| {
            let place = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
            place.set_style(ProgressStyle::with_template("{msg}").unwrap_or_else(|_| ProgressStyle::default_bar()));
            place
        });
        Self { place, last: VecDeque::new(), tools: HashMap::new() }
    }

    pub(super) const fn is_drawn(&self) -> bool {
        self.place.is_some()
    }

    /// Tells an event: as a line, or as one of the last of the view.
    pub(super) fn tell(&mut self, event: &StreamEvent, out: &Out) {
        let line = self.line(event);
        if self.place.is_none() {
            out.line(&harmless(&line));
            return;
        }
        self.last.push_back(line);
        if self.last.len() > SHOWN {
            self.last.pop_front();
        }
    }

    /// Number, time, what happened, and to which action with which tool.
    fn line(&mut self, event: &StreamEvent) -> String {
        let entry: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
        let (at, action) = (entry["at"].as_str().unwrap_or_default(), entry["action"].as_str());
        if let (Some(action), Some(tool)) = (action, entry["body"]["tool"].as_str()) {
            self.tools.insert(action.to_owned(), spelled_out(tool));
        }
        let tool = action.and_then(|action| self.tools.get(action)).cloned().unwrap_or_default();
        let action = action.map(|action| short(spelled_out(action))).unwrap_or_default();
        let line = format!("{:>6}  {}  {:<24} {action} {tool}", event.seq, spelled_out(at), spelled_out(&event.event));
        line.trim_end().to_owned()
    }

    pub(super) fn draw(&self, run: &RunView, checkpoint: Option<&CheckpointView>) {
        if let Some(place) = &self.place {
            place.set_message(harmless(&self.text(run, checkpoint)));
        }
    }

    fn text(&self, run: &RunView, checkpoint: Option<&CheckpointView>) -> String {
        let head = format!("{}\n{} {}", styled(BOLD, spelled_out(&run.goal)), status(run.status), run.meaning);
        let waits = waits(run, checkpoint).map(|waits| waits.to_string());
        let budget = budget::line(run).map(|line| line.trim_end().to_owned());
        let last: Vec<String> = self.last.iter().map(|line| styled(DIM, line)).collect();
        let parts = [Some(head), Some(bar(run)), waits, budget, (!last.is_empty()).then(|| last.join("\n"))];
        parts.into_iter().flatten().collect::<Vec<_>>().join("\n")
    }

    /// Says something that is no event, above what is drawn.
    pub(super) fn aside(&self, out: &Out, text: &str) {
        match &self.place {
            Some(place) => place.suspend(|| out.note(text)),
            None => out.note(text),
        }
    }

    /// Leaves what was drawn last where it is.
    pub(super) fn close(&self) {
        if let Some(place) = &self.place {
            place.abandon();
        }
    }
}

fn status(status: RunStatus) -> String {
    let style = match status {
        RunStatus::Completed | RunStatus::Executing => GOOD,
        RunStatus::Failed | RunStatus::Cancelled => BAD,
        RunStatus::Draft
        | RunStatus::PendingApproval
        | RunStatus::Approved
        | RunStatus::SpawningSandbox
        | RunStatus::CheckpointReached
        | RunStatus::Paused
        | RunStatus::PendingExport
        | RunStatus::RolledBack => ASK,
    };
    styled(style, status)
}

/// How much of the plan is done.
fn bar(run: &RunView) -> String {
    let (done, all) = (usize::try_from(run.steps_done).unwrap_or(usize::MAX), run.plan.len());
    let filled = done.min(all).saturating_mul(BAR_WIDTH).checked_div(all).unwrap_or(0);
    let next = run.plan.get(done).map(|step| format!(": {}", spelled_out(step))).unwrap_or_default();
    format!("[{}{}] step {done} of {all}{next}", "#".repeat(filled), "-".repeat(BAR_WIDTH - filled))
}

/// What waits for somebody, and what they would type.
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

    fn run(status: &str, steps_done: u32) -> RunView {
        let digest = format!("sha256:{}", "0".repeat(64));
        let id = |prefix: &str| format!("{prefix}_{}", "0".repeat(32));
        serde_json::from_value(serde_json::json!({
            "id": id("run"), "project": id("prj"), "goal": "tidy \u{1b}[2Jup", "plan": ["look", "write", "tell"],
            "status": status, "meaning": "It works.", "agent": id("idn"), "scope": digest, "review": digest,
            "mode": "CHECKPOINT", "effect": "execute", "steps_done": steps_done, "destroyed": false,
            "budget": { "limits": { "actions": 9 }, "warn_at_percent": 80, "spent": { "actions": 2 }, "held": {} },
        }))
        .unwrap()
    }

    fn event(kind: &str, tool: Option<&str>) -> StreamEvent {
        let entry =
            serde_json::json!({ "at": "2026-01-31T09:30:00.000Z", "action": "act_12345678", "body": { "tool": tool } });
        StreamEvent { seq: 7, event: kind.to_owned(), data: entry.to_string() }
    }

    #[test]
    fn a_view_shows_goal_status_step_budget_and_what_happened_last() {
        let mut view = View { place: None, last: VecDeque::new(), tools: HashMap::new() };
        let line = view.line(&event("action_proposed", Some("nmap")));
        view.last.push_back(line);
        let text = view.text(&run("EXECUTING", 1), None);
        let plain = anstream::adapter::strip_str(&text).to_string();
        assert!(plain.contains("tidy ⟦U+001B⟧[2Jup"), "what others wrote does nothing here: {plain}");
        assert!(plain.contains("[##########--------------------] step 1 of 3: write"), "{plain}");
        assert!(plain.contains("actions 2 of 9") && plain.contains("action_proposed"), "{plain}");
        assert!(plain.contains("nmap") && !plain.contains("waits:"), "{plain}");
    }

    #[test]
    fn what_waits_for_a_person_comes_with_what_they_would_type() {
        for (status, command) in [
            ("PENDING_APPROVAL", "placet run approve …00000000"),
            ("PENDING_EXPORT", "placet run complete …00000000"),
            ("APPROVED", "placet run start …00000000"),
            ("PAUSED", "placet run resume …00000000"),
        ] {
            let said = waits(&run(status, 0), None).unwrap();
            assert_eq!(said.command, command);
        }
        assert!(waits(&run("EXECUTING", 0), None).is_none());
    }

    #[test]
    fn a_plan_without_steps_has_an_empty_bar() {
        let mut run = run("DRAFT", 0);
        run.plan.clear();
        assert!(bar(&run).ends_with("] step 0 of 0"));
        run.steps_done = 7;
        assert_eq!(bar(&run).matches('#').count(), 0);
    }
}
