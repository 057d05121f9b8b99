//! What somebody who watches sees: what waits, the runs, the workers and what happened last, on one screen. Pure.

use std::collections::VecDeque;

use placet_domain::text::marked;
use placet_wire::StreamEvent;
use placet_wire::api::{InboxView, RunView, WorkerView};

use crate::command::run::budget_line;
use crate::context::short;
use crate::span::span;
use crate::terminal::rich::{Letters, cut, padded, seen};
use crate::terminal::screen::{Look, Screen, Size};

/// More than any window shows.
const MOST_KEPT: usize = 200;

/// How things stand.
#[derive(Debug, Clone, Default)]
pub(crate) struct Standing {
    pub(crate) inbox: InboxView,
    pub(crate) runs: Vec<RunView>,
    pub(crate) workers: Vec<WorkerView>,
}

#[derive(Debug, Clone)]
pub(crate) struct Board {
    pub(crate) standing: Standing,
    last: VecDeque<String>,
    letters: Letters,
    /// Why nothing comes, if so.
    pub(crate) lost: Option<String>,
}

impl Board {
    pub(crate) fn new(letters: Letters) -> Self {
        let standing = Standing { inbox: InboxView::default(), runs: Vec::new(), workers: Vec::new() };
        Self { standing, last: VecDeque::new(), letters, lost: None }
    }

    pub(crate) fn happened(&mut self, event: &StreamEvent) {
        self.last.push_front(line(event));
        self.last.truncate(MOST_KEPT);
    }

    pub(crate) fn draw(&self, size: Size, now_ms: i64) -> Screen {
        let mut screen = Screen::new(size);
        // What waits matters most, then what works; what happened takes the rest.
        let half = (size.rows / 2).max(4);
        let mut lines: Vec<(String, Look)> = vec![self.head()];
        lines.push((String::new(), Look::PLAIN));
        lines.extend(self.runs().into_iter().take(half));
        lines.push((String::new(), Look::PLAIN));
        lines.extend(self.workers(now_ms).into_iter().take((size.rows / 5).max(2)));
        lines.push((String::new(), Look::PLAIN));
        lines.push(("what happened last".to_owned(), Look::BOLD));
        lines.extend(self.last.iter().map(|line| (line.clone(), Look::PLAIN)));
        for (row, (text, look)) in lines.iter().take(size.rows.saturating_sub(1)).enumerate() {
            screen.put((row, 0), size.columns, &cut(&seen(text, self.letters), size.columns, self.letters), *look);
        }
        let keys = "q quit  │  placet review decides";
        screen.put((size.rows.saturating_sub(1), 0), size.columns, &seen(keys, self.letters), Look::DIM);
        screen
    }

    fn head(&self) -> (String, Look) {
        let Standing { inbox, runs, workers } = &self.standing;
        if let Some(why) = &self.lost {
            return (format!("the control plane is not there ({why}); trying again"), Look::BAD);
        }
        let at_work = runs.iter().filter(|run| run.status.as_str() == "EXECUTING").count();
        let well = workers.iter().filter(|worker| worker.is_well).count();
        let (actions, standing) = (inbox.waiting, inbox.runs.len());
        let look = if actions > 0 || standing > 0 { Look::ASK } else { Look::BOLD };
        let waits = format!("{actions} actions and {standing} runs wait for a person");
        (format!("{waits} · {at_work} runs at work · {well} of {} workers well", workers.len()), look)
    }

    fn runs(&self) -> Vec<(String, Look)> {
        let head = std::iter::once(("runs".to_owned(), Look::BOLD));
        if self.standing.runs.is_empty() {
            return head.chain([("  none; `placet run new` makes one".to_owned(), Look::DIM)]).collect();
        }
        head.chain(self.standing.runs.iter().map(|run| self.run(run))).collect()
    }

    fn run(&self, run: &RunView) -> (String, Look) {
        let budget = budget_line(run).map(|line| line.trim_end().to_owned()).unwrap_or_default();
        let steps = format!("{}/{}", run.steps_done, run.plan.len());
        let goal = padded(&seen(&marked(&run.goal), self.letters), 32, self.letters);
        let look = match run.status.as_str() {
            "EXECUTING" => Look::GOOD,
            "FAILED" | "CANCELLED" => Look::BAD,
            _ => Look::PLAIN,
        };
        (format!("  {} {:<18} {steps:>5} {goal} {budget}", short(run.id), run.status.as_str()), look)
    }

    fn workers(&self, now_ms: i64) -> Vec<(String, Look)> {
        let row = |worker: &WorkerView| {
            let seen_ago = worker.last_seen.as_deref().and_then(|at| at.parse::<jiff::Timestamp>().ok());
            let ago = seen_ago.map_or_else(
                || "not heard of".to_owned(),
                |at| format!("heard {} ago", span(now_ms - at.as_millisecond())),
            );
            let state = if worker.is_well { "well" } else { "silent" };
            let name = padded(&seen(&marked(&worker.name), self.letters), 20, self.letters);
            let text = format!("  {name} {state:<7} {}, {ago}", capacity(worker));
            (text, if worker.is_well { Look::PLAIN } else { Look::ASK })
        };
        let there = self.standing.workers.iter().filter(|worker| !worker.revoked);
        std::iter::once(("workers".to_owned(), Look::BOLD)).chain(there.map(row)).collect()
    }
}

/// Number, time, what happened, in which run, to which action with which tool.
pub(crate) fn line(event: &StreamEvent) -> String {
    let entry: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map(marked).unwrap_or_default();
    let id = |value: &serde_json::Value| value.as_str().map(|id| short(marked(id))).unwrap_or_default();
    let (at, run, action) = (text(&entry["at"]), id(&entry["run"]), id(&entry["action"]));
    let (event_name, tool) = (marked(&event.event), text(&entry["body"]["tool"]));
    format!("{:>6}  {at}  {event_name:<24} {run} {action} {tool}", event.seq).trim_end().to_owned()
}

/// What it does of how much it can, and its version where that is another one than here.
fn capacity(worker: &WorkerView) -> String {
    let (executes, hosts) = (worker.executes, worker.hosts);
    let Some(declared) = &worker.declaration else { return format!("executes {executes} hosts {hosts}") };
    let version = if worker.other_version { format!(", version {}", marked(&declared.version)) } else { String::new() };
    let (actions, runs) = (declared.actions_at_once, declared.runs_at_once);
    format!("executes {executes}/{actions} hosts {hosts}/{runs}{version}")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn board() -> Board {
        let id = |prefix: &str, number: u32| format!("{prefix}_{number:032x}");
        let digest = format!("sha256:{}", "0".repeat(64));
        let run = |number: u32, status: &str, goal: &str| {
            json!({
                "id": id("run", number), "project": id("prj", 1), "goal": goal, "plan": ["a", "b"], "status": status, "meaning": "",
                "agent": id("idn", 1), "scope": digest, "review": digest, "mode": "CHECKPOINT", "effect": "execute",
                "steps_done": 1, "destroyed": false,
                "budget": { "limits": { "actions": 9 }, "warn_at_percent": 80, "spent": { "actions": 2 }, "held": {} },
            })
        };
        let runs = [run(1, "EXECUTING", "tidy \u{1b}[2Jup 日本"), run(2, "FAILED", "p\u{0430}y")];
        let worker = |name: &str, is_well: bool| json!({ "id": id("idn", 7), "name": name, "executes": 1, "hosts": 0, "is_well": is_well, "revoked": false });
        let mut board = Board::new(Letters::All);
        board.standing.runs = runs.into_iter().map(|run| serde_json::from_value(run).unwrap()).collect();
        board.standing.workers =
            [worker("w1", true), worker("w2", false)].map(|worker| serde_json::from_value(worker).unwrap()).to_vec();
        board.standing.inbox.waiting = 3;
        for seq in 1..4 {
            let data = json!({ "at": "2026-01-31T09:30:00.000Z", "run": id("run", 1), "action": id("act", 2), "body": { "tool": "sh\u{202e}" } });
            board.happened(&StreamEvent { seq, event: "action_proposed".to_owned(), data: data.to_string() });
        }
        board
    }

    #[test]
    fn c16_a_board_shows_what_waits_runs_workers_and_what_happened_last() {
        insta::assert_snapshot!(board().draw(Size { columns: 100, rows: 18 }, 0).text());
    }

    #[test]
    fn c16_a_board_says_that_nothing_comes() {
        let mut board = board();
        board.lost = Some("connection refused".to_owned());
        let text = board.draw(Size { columns: 80, rows: 24 }, 0).text();
        assert!(text.starts_with("the control plane is not there (connection refused); trying again"), "{text}");
    }
}
