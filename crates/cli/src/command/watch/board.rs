//! What somebody who watches sees: what waits, the runs, the workers and what happened last, on one screen. Pure.

use std::collections::VecDeque;

use placet_domain::text::marked;
use placet_wire::StreamEvent;
use placet_wire::api::{InboxView, RunView, WaitingView, WorkerView};

use super::known::Known;
use crate::card::{self, tier_word};
use crate::command::run::budget_line;
use crate::context::short;
use crate::span::{ms, span};
use crate::terminal::rich::{Letters, cut, padded, seen};
use crate::terminal::screen::{Look, Screen, Size};

/// More than any window shows.
const MOST_KEPT: usize = 200;
/// That a worker is still at it is no news.
const HEARTBEAT: &str = "job_renewed";
/// The clock of a moment, without its day and parts of a second.
const CLOCK: std::ops::Range<usize> = 11..19;

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
    last: VecDeque<Happened>,
    pub(super) known: Known,
    letters: Letters,
    /// Why nothing comes, if so.
    pub(crate) lost: Option<String>,
}

/// What is told of an entry.
#[derive(Debug, Clone)]
pub(super) struct Happened {
    seq: u64,
    at: String,
    event: String,
    run: Option<String>,
    pub(super) action: Option<String>,
    tool: String,
}

impl Happened {
    pub(super) fn of(event: &StreamEvent) -> Self {
        let entry: serde_json::Value = serde_json::from_str(&event.data).unwrap_or_default();
        let text = |value: &serde_json::Value| value.as_str().map(marked);
        let (at, tool) = (text(&entry["at"]).unwrap_or_default(), text(&entry["body"]["tool"]).unwrap_or_default());
        let (run, action) = (text(&entry["run"]), text(&entry["action"]));
        Self { seq: event.seq, at, event: marked(&event.event), run, action, tool }
    }

    /// Number, time, what happened, in which run, to which action, and what that does.
    pub(super) fn line(&self, title: Option<&String>) -> String {
        let Self { seq, at, event, run, action, tool } = self;
        let [run, action] = [run, action].map(|id| id.as_ref().map(short).unwrap_or_default());
        format!("{seq:>6}  {at}  {event:<24} {run} {action} {}", title.unwrap_or(tool)).trim_end().to_owned()
    }
}

impl Board {
    pub(crate) fn new(letters: Letters) -> Self {
        let standing = Standing { inbox: InboxView::default(), runs: Vec::new(), workers: Vec::new() };
        Self { standing, last: VecDeque::new(), known: Known::default(), letters, lost: None }
    }

    pub(crate) fn happened(&mut self, event: &StreamEvent) {
        if event.event == HEARTBEAT {
            return;
        }
        let happened = Happened::of(event);
        // Whatever is not known by its name yet is asked for.
        happened.action.iter().for_each(|action| drop(self.known.title(action)));
        self.last.push_front(happened);
        self.last.truncate(MOST_KEPT);
    }

    pub(crate) fn stands(&mut self, standing: Standing) {
        self.known.learn_from(&standing.inbox);
        self.standing = standing;
    }

    pub(crate) fn draw(&self, size: Size, now_ms: i64) -> Screen {
        let mut screen = Screen::new(size);
        // What waits matters most, then what works; what happened takes the rest.
        let quarter = (size.rows / 4).max(3);
        let mut lines: Vec<(String, Look)> = vec![self.head()];
        let waits = self.waits(now_ms, size.columns);
        let parts = [(waits, quarter), (self.runs(), quarter), (self.workers(now_ms), (size.rows / 6).max(2))];
        for (part, most) in parts {
            lines.push((String::new(), Look::PLAIN));
            lines.extend(some_of(part, most));
        }
        lines.push((String::new(), Look::PLAIN));
        lines.push(("what happened last (UTC)".to_owned(), Look::BOLD));
        lines.extend(self.last.iter().map(|happened| (self.told(happened), Look::PLAIN)));
        for (row, (text, look)) in lines.iter().take(size.rows.saturating_sub(1)).enumerate() {
            screen.put((row, 0), size.columns, &cut(&seen(text, self.letters), size.columns, self.letters), *look);
        }
        let keys = "q quit  │  placet review decides";
        screen.put((size.rows.saturating_sub(1), 0), size.columns, &seen(keys, self.letters), Look::DIM);
        screen
    }

    /// When, what, to which, and what that is: the rest of a row is for it.
    fn told(&self, happened: &Happened) -> String {
        let Happened { at, event, run, action, tool, .. } = happened;
        let clock = at.get(CLOCK).unwrap_or(at);
        let id = action.as_ref().or(run.as_ref()).map(short).unwrap_or_default();
        let goal = |run: &String| self.standing.runs.iter().find(|known| known.id.to_string() == *run);
        let what = match (action, run) {
            (Some(action), _) => self.known.get(action).unwrap_or(tool).clone(),
            (None, Some(run)) => goal(run).map(|run| marked(&run.goal)).unwrap_or_default(),
            (None, None) => String::new(),
        };
        format!("{clock} {event:<22} {id:<9} {what}").trim_end().to_owned()
    }

    /// What would be done, and of how many more that ask the same it is the first: the title is cut before that is.
    fn with_twins(&self, waiting: &WaitingView, room: usize) -> String {
        let title = seen(&card::title(&waiting.action), self.letters);
        let twins = match waiting.twins.len() as u64 + waiting.more_twins {
            0 => String::new(),
            some => format!(" +{some} identical"),
        };
        let title = cut(&title, room.saturating_sub(twins.len()), self.letters);
        padded(&format!("{title}{twins}"), room, self.letters)
    }

    /// What waits for a person, the riskiest first: what would be done, whose it is, and how long it may wait.
    fn waits(&self, now_ms: i64, columns: usize) -> Vec<(String, Look)> {
        let head = std::iter::once(("waits for a person".to_owned(), Look::BOLD));
        let inbox = &self.standing.inbox;
        if inbox.actions.is_empty() && inbox.interrupted.is_empty() {
            return head.chain([("  nothing; what needs a person appears here".to_owned(), Look::DIM)]).collect();
        }
        let row = |(waiting, is_lost): (&WaitingView, bool)| {
            let action = &waiting.action;
            let left = if is_lost {
                "interrupted".to_owned()
            } else {
                format!("{} left", span(ms(&action.deadline) - now_ms))
            };
            let agent = padded(&seen(&marked(&waiting.agent), self.letters), 12, self.letters);
            let letter = &action.verdict.tier;
            let title = self.with_twins(waiting, columns.saturating_sub(37));
            (format!("  {letter} {:<7} {title} {agent} {left}", tier_word(letter)), Look::PLAIN)
        };
        let lost = inbox.interrupted.iter().map(|waiting| (waiting, true));
        head.chain(lost.chain(inbox.actions.iter().map(|waiting| (waiting, false))).map(row)).collect()
    }

    fn head(&self) -> (String, Look) {
        let Standing { inbox, runs, workers } = &self.standing;
        if let Some(why) = &self.lost {
            return (format!("the control plane is not there ({why}); trying again"), Look::BAD);
        }
        let at_work = runs.iter().filter(|run| run.status.as_str() == "EXECUTING").count() as u64;
        let well = workers.iter().filter(|worker| worker.is_well).count();
        let (actions, standing) = (inbox.waiting, inbox.runs.len() as u64);
        let look = if actions > 0 || standing > 0 || !inbox.interrupted.is_empty() { Look::ASK } else { Look::BOLD };
        let some = |count: u64, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
        let waits = format!("{} and {} wait", some(actions, "action"), some(standing, "run"));
        let lost = match inbox.interrupted.len() {
            0 => String::new(),
            lost => format!(" · {lost} interrupted"),
        };
        let at_work = format!("{} at work", some(at_work, "run"));
        (format!("{waits}{lost} · {at_work} · {well} of {} workers well", workers.len()), look)
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

/// As many rows as there is room for; that there are more is told in the last of them.
fn some_of(mut part: Vec<(String, Look)>, most: usize) -> Vec<(String, Look)> {
    if part.len() > most {
        let more = part.len() - most + 1;
        part.truncate(most.saturating_sub(1));
        part.push((format!("  … and {more} more"), Look::DIM));
    }
    part
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
        let verdict = json!({ "tier": "C", "risk": 0.7, "policy": digest, "reasons": [] });
        let waiting = json!({
            "action": {
                "id": id("act", 2), "run": id("run", 1), "project": id("prj", 1), "status": "PENDING_APPROVAL", "meaning": "", "tool": "sh",
                "title": "sh -c rm \u{202e}x", "kind": "execute_code", "digest": digest, "review": digest, "approvals": [],
                "approvals_missing": 2, "proposer": id("idn", 1), "deadline": "1970-01-01T00:58:00.000Z", "attempt": 0, "verdict": verdict,
            },
            "since": "1970-01-01T00:00:00.000Z", "agent": "tom", "goal": "tidy",
        });
        let inbox =
            InboxView { waiting: 3, actions: vec![serde_json::from_value(waiting).unwrap()], ..InboxView::default() };
        let standing = Standing { inbox, ..std::mem::take(&mut board.standing) };
        board.stands(standing);
        for seq in 1..4 {
            let data = json!({ "at": "2026-01-31T09:30:00.000Z", "run": id("run", 1), "action": id("act", 2), "body": { "tool": "sh\u{202e}" } });
            board.happened(&StreamEvent { seq, event: "action_proposed".to_owned(), data: data.to_string() });
        }
        board.happened(&StreamEvent { seq: 9, event: HEARTBEAT.to_owned(), data: "{}".to_owned() });
        board
    }

    #[test]
    fn c16_what_happened_is_told_by_what_would_be_done_and_what_is_not_known_is_asked_for_once() {
        let mut board = board();
        assert_eq!(board.known.take_unknown(), [""; 0], "what waits is told with its name");
        let other = format!("act_{:032x}", 5);
        let data = json!({ "at": "2026-01-31T09:31:00.000Z", "action": other, "body": { "tool": "curl" } }).to_string();
        board.happened(&StreamEvent { seq: 10, event: "action_judged".to_owned(), data });
        let text = board.draw(Size { columns: 80, rows: 24 }, 0).text();
        assert!(text.contains("09:31:00 action_judged          …00000005 curl"), "{text}");
        assert_eq!(board.known.take_unknown(), [other.as_str()]);
        board.known.learn(other, "curl -X DELETE https://example.org/everything/there/is/and/more".to_owned());
        let text = board.draw(Size { columns: 80, rows: 24 }, 0).text();
        assert!(text.contains("…00000005 curl -X DELETE https://example.org/ev…"), "{text}");
        assert_eq!(board.known.take_unknown(), [""; 0]);
    }

    #[test]
    fn c16_a_board_shows_what_waits_runs_workers_and_what_happened_last() {
        insta::assert_snapshot!(board().draw(Size { columns: 100, rows: 18 }, 0).text());
    }

    #[test]
    fn c16_a_board_says_of_how_many_that_ask_the_same_a_row_is_the_first_however_long_its_title_is() {
        let mut board = board();
        let mut row = board.standing.inbox.actions.remove(0);
        row.action.title = Some("sh -c ".to_owned() + &"make it ".repeat(20));
        row.more_twins = 212;
        board.standing.inbox.actions.push(row);
        let text = board.draw(Size { columns: 80, rows: 24 }, 0).text();
        let line = text.lines().find(|line| line.contains("make it")).unwrap();
        assert!(line.contains("… +212 identical tom "), "{line}");
        assert!(line.trim_end().ends_with("58m left"), "{line}");
    }

    #[test]
    fn c16_a_board_says_that_nothing_comes() {
        let mut board = board();
        board.lost = Some("connection refused".to_owned());
        let text = board.draw(Size { columns: 80, rows: 24 }, 0).text();
        assert!(text.starts_with("the control plane is not there (connection refused); trying again"), "{text}");
    }
}
