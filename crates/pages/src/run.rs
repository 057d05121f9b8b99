//! One run: where it stands and what to decide there, its plan, what it used, what happened when, what it made, what was saved.

use std::collections::BTreeMap;

use maud::{Markup, html};
use placet_domain::budget::Ceiling;
use placet_domain::run::{GateRules, RunStatus, StepState, StepView};
use placet_domain::scope::ScopeDraft;
use placet_domain::time::Timestamp;
use placet_wire::api::{AuditRow, BudgetView, CheckpointView, RunView, WishView};

use crate::card::Ask;
use crate::chart::{Curve, curve};
use crate::checkpoint;
use crate::columns::{Columns, Layout, columns};
use crate::files::{self, FileShown};
use crate::forms::{Form, confirmation, field, reason};
use crate::frame::frame;
use crate::lang::Lang;
use crate::layout::{Here, Live, Viewer, page};
use crate::log::{self, LogShown};
use crate::meaning;
use crate::order::{self, OrderRow};
use crate::parts::{digest, fact, iso, moment, parsed, section, short, size, status};
use crate::phrases;
use crate::run_actions::{RunAction, actions, waiting_actions};
use crate::steps;
use crate::text;
use crate::timeline::{Bar, timeline};

/// Everything there is to see of a run.
#[derive(Debug, Clone)]
pub struct RunPage {
    pub run: RunView,
    pub agent: String,
    pub project: String,
    pub since: Timestamp,
    pub worked_ms: u64,
    pub pipeline: Vec<StepView>,
    pub checkpoint: Option<CheckpointView>,
    pub wishes: Vec<WishView>,
    pub orders: Vec<OrderRow>,
    /// The newest entries, oldest first.
    pub audit: Vec<AuditRow>,
    /// Names of those who are behind them, by their ids.
    pub names: BTreeMap<String, String>,
    pub bars: Vec<Bar>,
    /// How many heartbeats were left out of them.
    pub heartbeats: u64,
    /// What calls of models took until then, from the first one to the last: when, tokens, millionths of a dollar.
    pub calls: Vec<(Timestamp, u64, u64)>,
    /// Its newest actions, the newest first, and how many there are.
    pub actions: Vec<RunAction>,
    pub action_count: u64,
    /// Actions about which people are asked now, the oldest last.
    pub asked: Vec<RunAction>,
    /// Actions of which somebody must say what becomes of them.
    pub interrupted: Vec<RunAction>,
    /// What was only rehearsed, and is decided on at the results.
    pub rehearsed: Vec<RunAction>,
    /// What its executions used, one after the other: when it ended, processor time, most memory.
    pub used: Vec<(Timestamp, u64, u64)>,
    /// Whether one person works alone in its project.
    pub alone: bool,
    /// Whether the viewer may decide what it waits for.
    pub ask: Ask,
    /// What its actions may change, reach and use.
    pub scope: ScopeDraft,
    /// Whether the viewer has decided so much lately that they are asked to look twice.
    pub fast: bool,
    /// The files of the agent that its plan starts, while that waits.
    pub given: Vec<FileShown>,
    /// Everything that a decision about its plan or its results is about, as it is kept.
    pub bound: String,
    pub moves: Moves,
    /// What its agent says, where a host keeps it.
    pub log: Option<LogShown>,
}

/// What the viewer may ask of it now, besides the decision that it waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a button")]
pub struct Moves {
    pub start: bool,
    pub pause: bool,
    pub resume: bool,
    pub snapshot: bool,
    pub cancel: bool,
    pub roll_back: bool,
    pub answer_wishes: bool,
    pub revoke: bool,
}

pub fn run(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    // What somebody is asked comes first; what was answered stands with what happened.
    let asks = shown.wishes.iter().any(|wish| wish.status == "WAITING");
    let content = html! {
        div.run data-still=(still(shown)) {
            (head(viewer, shown))
            (standstill(viewer, shown))
            (waiting_actions(viewer, shown))
            @if asks { (wishes(viewer, shown)) }
            (tiles(lang, shown))
            div.two {
                (section("plan", lang.plan(), &plan(lang, run)))
                @if let Some(budget) = &run.budget { (section("budget", lang.budget(), &meters(lang, budget))) }
            }
            @if run.status != RunStatus::PendingApproval { (frame(lang, run, &shown.scope)) }
            (section("pipeline", lang.pipeline(), &pipeline(lang, &shown.pipeline)))
            (section("actions", lang.actions(), &actions(viewer, shown)))
            @if let Some(said) = &shown.log { (log::section(lang, said)) }
            div data-live="charts" {
                (money(lang, shown))
                (machines(lang, &shown.used))
                @if !shown.bars.is_empty() { (section("timeline", lang.timeline(), &timeline(lang, &shown.bars))) }
            }
            @if !asks { (wishes(viewer, shown)) }
            div data-live="orders" {
                @if !shown.orders.is_empty() { (section("orders", lang.orders(), &order::list(viewer, &shown.orders))) }
            }
            div.two {
                (section("snapshots", lang.snapshots(), &snapshots(viewer, shown)))
                (section("outputs", lang.outputs(), &outputs(lang, run)))
            }
            (section("audit", lang.audit(), &audit(viewer, shown)))
        }
    };
    page(viewer, Here::Runs, &run.goal, &Live::of_run(run.id), &content)
}

/// What is decided on, so that an open page can tell when it is something else: what the run waits for, and its wishes.
fn still(shown: &RunPage) -> String {
    let asked = if shown.ask == Ask::Settled { String::new() } else { shown.run.review.to_string() };
    let wishes = shown.wishes.iter().map(|wish| format!(" {} {}", wish.number, wish.status));
    asked + &wishes.collect::<String>()
}

fn head(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    html! {
        header #head data-live="head" {
            p.path { a href="/runs" { (lang.nav_runs()) } " / " (short(&run.id.to_string())) }
            h1 { (text::line(lang, &run.goal)) " " (status(run.status.as_str())) }
            p.by {
                strong { (text::line(lang, &shown.agent)) } " · " (shown.project) " · " (lang.mode()) " " (run.mode) " · " (run.effect) " · "
                (moment(lang, shown.since, viewer.now))
            }
            p { (meaning::of_status(lang, run.status)) @if let Some(because) = because(run, false) { " " (said_of_it(lang, because)) } }
            @if let Some(because) = because(run, true) { pre.said tabindex="0" { (text::lines(lang, because)) } }
            @if shown.alone { p.ask { (lang.works_alone()) } }
            (controls(viewer, shown))
        }
    }
}

/// Why it stands where it stands, if that is said on several lines, as programs say why they failed; or on one.
fn because(run: &RunView, on_lines: bool) -> Option<&str> {
    run.because.as_deref().filter(|because| because.trim().contains('\n') == on_lines)
}

/// What the runtime said stands in the words of the page; what others said is quoted.
fn said_of_it(lang: Lang, because: &str) -> Markup {
    html! { @if phrases::is_of_run(because) { (phrases::of_run(lang, because)) } @else { q { (text::line(lang, because)) } } }
}

/// What can be asked of it besides the decision that it waits for.
fn controls(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, moves) = (viewer.lang, shown.moves);
    let to = |verb: &str| Form::to(format!("/runs/{}/{verb}", shown.run.id), viewer);
    html! {
        div.controls {
            @if moves.start { (to("start").named("start").button("main", lang.start())) }
            @if moves.pause { (to("pause").named("pause").plain_button(lang.pause())) }
            @if moves.resume { (to("resume").named("resume").button("main", lang.resume())) }
            @if moves.snapshot { (to("snapshot").named("snapshot").plain_button(lang.save_now())) }
            @if moves.cancel {
                details.menu {
                    summary { (lang.cancel()) }
                    (to("cancel").named("cancel").with(&html! { (reason("cancel-reason", lang.reason())) button.bad { (lang.cancel()) } }))
                }
            }
        }
    }
}

/// The decision that it waits for, if it does.
fn standstill(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (status, decides) = (shown.run.status, shown.ask == Ask::Yes);
    html! {
        @if decides && shown.fast { p.ask role="status" { (viewer.lang.decides_fast()) } }
        @if let (Some(at), RunStatus::CheckpointReached) = (&shown.checkpoint, status) { (checkpoint::panel(viewer, at, decides, &|id| slowed(id, viewer.lang, shown))) }
        @if decides && status == RunStatus::PendingApproval { (plan_decision(viewer, shown)) }
        @if decides && status == RunStatus::PendingExport { (results_decision(viewer, shown)) }
        @if status == RunStatus::PendingApproval { (started(viewer.lang, shown)) (frame(viewer.lang, &shown.run, &shown.scope)) }
        // Where an action is waited for, the way to it is said already.
        @let leads_on = shown.checkpoint.as_ref().is_some_and(|at| at.action.is_some());
        @if let (Ask::No(why), false) = (&shown.ask, leads_on) { p.note { (viewer.lang.you_cannot()) (viewer.lang.colon()) (crate::refusals::refusal(viewer.lang, why)) } }
        @if shown.ask != Ask::Settled {
            details.panel { summary { (viewer.lang.everything_bound()) } pre tabindex="0" { (text::lines(viewer.lang, &shown.bound)) } }
        }
    }
}

/// Whoever has decided a lot types whose run it is before it goes on.
fn slowed(id: &str, lang: Lang, shown: &RunPage) -> Markup {
    html! { @if shown.fast { (confirmation(id, lang.type_agent_to_slow(), &shown.agent)) } }
}

fn plan_decision(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    html! {
        section.panel.decide aria-labelledby="decide" {
            h2 #decide { (lang.plan_waits()) }
            p { (lang.sealed_as()) " " (digest(run.review)) }
            div.ways {
                (Form::to(format!("/runs/{}/approve", run.id), viewer).on(run.review).named("approve").with(&html! {
                    (slowed("confirm", lang, shown)) button.main { (lang.approve()) }
                }))
                (Form::to(format!("/runs/{}/reject", run.id), viewer).named("reject").with(&html! {
                    (reason("reason", lang.reason())) button.bad { (lang.send_back()) }
                }))
            }
        }
    }
}

/// What the plan would start, word by word, with its files: nobody says yes to a program that they were not shown.
fn started(lang: Lang, shown: &RunPage) -> Markup {
    html! {
        @if let Some(launch) = &shown.run.launch {
            (section("program", lang.exactly_what(), &html! {
                ol.argv start="0" {
                    @for word in std::iter::once(&launch.program).chain(&launch.arguments) { li { code { (text::line(lang, word)) } } }
                }
                dl.facts.wide {
                    (fact(lang.cage(), &html! { code { (launch.profile) } " " (digest(launch.profile_digest)) }))
                    @for input in &launch.inputs { (fact(lang.files(), &html! { code { (text::line(lang, &input.path.to_string())) } " " (input.class) })) }
                    @if shown.run.budget.is_none() { (fact(lang.budget(), &html! { strong.ask { (lang.no_limit()) } })) }
                }
            }))
        }
        @if !shown.given.is_empty() { (section("given", lang.given_with_plan(), &files::given(lang, &shown.given))) }
    }
}

/// Results are let out by choice: every output is named with its digest.
fn results_decision(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    html! {
        section.panel.decide aria-labelledby="decide" {
            h2 #decide { (lang.results_wait()) }
            @if let Some(said) = &run.said { blockquote { (text::line(lang, said)) } }
            @if !run.removed.is_empty() { p.ask { (lang.removed_inputs()) @for path in &run.removed { " " code { (text::line(lang, path)) } } } }
            div.ways {
                (Form::to(format!("/runs/{}/complete", run.id), viewer).on(run.review).named("complete").with(&html! {
                    @if !run.outputs.is_empty() {
                        fieldset {
                            legend { (lang.outputs()) }
                            @for output in &run.outputs {
                                label.choice {
                                    input type="checkbox" name="output" value=(output.id) checked;
                                    code { (text::line(lang, &output.path)) } " " small { (size(lang, output.size_bytes)) " · " (digest(output.digest)) }
                                }
                            }
                        }
                    }
                    (slowed("confirm", lang, shown))
                    button.main { (if run.outputs.is_empty() { lang.complete() } else { lang.let_out() }) }
                }))
                (Form::to(format!("/runs/{}/reject-results", run.id), viewer).on(run.review).named("reject").with(&html! {
                    (reason("reason", lang.reason_needed())) button.bad { (lang.send_back()) }
                }))
            }
        }
    }
}

fn tiles(lang: Lang, shown: &RunPage) -> Markup {
    // Where there is no budget, what calls of models took is known all the same.
    let taken = shown.calls.last().map_or((0, 0), |sum| (sum.1, sum.2));
    let (tokens, usd_micros) =
        shown.run.budget.as_ref().map_or(taken, |budget| (budget.spent.tokens, budget.spent.usd_micros));
    let most = shown.run.budget.as_ref().map(|budget| budget.limits).unwrap_or_default();
    let number = |amount: u64| lang.number(amount);
    let tile = |name: &str, value: String, most: Option<String>| html! { div.tile { dt { (name) } dd { (value) @if let Some(most) = most { " " small { (lang.of()) " " (most) } } } } };
    html! {
        dl.tiles #tiles data-live="tiles" {
            (tile(lang.time_at_work(), lang.span(shown.worked_ms), most.wall_ms.map(|ms| lang.span(ms))))
            (tile(lang.steps(), shown.run.steps_done.to_string(), Some(shown.run.plan.len().to_string())))
            (tile(lang.actions(), number(shown.action_count), most.actions.map(number)))
            (tile(lang.tokens(), number(tokens), most.tokens.map(number)))
            (tile(lang.cost(), lang.money(usd_micros), most.usd_micros.map(|micros| lang.money(micros))))
        }
    }
}

fn plan(lang: Lang, run: &RunView) -> Markup {
    let done = run.steps_done as usize;
    html! {
        ol.steps #steps data-live="steps" {
            @for (index, step) in run.plan.iter().enumerate() {
                @let state = if index < done { ("done", lang.step_done()) } else if index == done && !run.status.is_final() { ("now", lang.step_now()) } else { ("to_come", lang.step_to_come()) };
                @let stands = stands_after(&run.checkpoints, index as u32 + 1, run.plan.len() as u32);
                li data-state=(state.0) { (text::line(lang, step)) " " small { (state.1) } @if stands { " " small.ask { (lang.checkpoint_after()) } } }
            }
        }
    }
}

/// Whether the run stands still after a step although nobody asks it to. The last one is followed by the results.
fn stands_after(rules: &GateRules, step: u32, steps: u32) -> bool {
    let every = rules.every_steps.is_some_and(|every| step.is_multiple_of(every.max(1)));
    step < steps && (every || rules.after.contains(&step))
}

fn pipeline(lang: Lang, steps: &[StepView]) -> Markup {
    html! {
        ol.steps.across #pipeline-steps data-live="pipeline" {
            @for step in steps {
                li data-state=(state(step.state)) {
                    b { (meaning::of_step(lang, step.name)) } @if step.is_decision { " " small.ask { (lang.person_decides()) } }
                    br; small { (steps::product(lang, &step.product)) }
                }
            }
        }
    }
}

const fn state(state: StepState) -> &'static str {
    match state {
        StepState::Done => "done",
        StepState::Now => "now",
        StepState::ToCome => "to_come",
        StepState::Skipped => "skipped",
        StepState::Stopped => "stopped",
    }
}

fn meters(lang: Lang, budget: &BudgetView) -> Markup {
    let (limits, spent, held) = (&budget.limits, &budget.spent, &budget.held);
    let (plain, money) = (|amount: u64| lang.number(amount), |micros: u64| lang.money(micros));
    let rows = [
        (lang.cost(), limits.usd_micros, spent.usd_micros, held.usd_micros, &money as &dyn Fn(u64) -> String),
        (lang.tokens(), limits.tokens, spent.tokens, held.tokens, &plain),
        (lang.actions(), limits.actions, spent.actions, held.actions, &plain),
        (lang.pages(), limits.pages, spent.pages, held.pages, &plain),
        (lang.time_at_work(), limits.wall_ms, spent.wall_ms, held.wall_ms, &|ms| lang.span(ms)),
        (lang.disk(), limits.disk_bytes, spent.disk_bytes, held.disk_bytes, &|bytes| size(lang, bytes)),
    ];
    html! {
        dl.meters #meters data-live="meters" {
            @for (name, limit, spent, held, written) in rows {
                @if let Some(limit) = limit {
                    div {
                        dt { (name) }
                        dd {
                            meter min="0" max=(limit.max(1)) high=(limit / 100 * u64::from(budget.warn_at_percent)) value=(spent + held) aria-label=(name) {}
                            small { (written(spent)) " " (lang.used()) " + " (written(held)) " " (lang.held()) " " (lang.of()) " " (written(limit)) }
                        }
                    }
                }
            }
        }
    }
}

/// Cost and tokens over time, where a model was called.
fn money(lang: Lang, shown: &RunPage) -> Markup {
    let calls = &shown.calls;
    let most = |of: fn(&Ceiling) -> Option<u64>| shown.run.budget.as_ref().and_then(|budget| of(&budget.limits));
    let points = |of: fn(&(Timestamp, u64, u64)) -> u64| calls.iter().map(|sum| (sum.0, of(sum))).collect();
    html! {
        @if !calls.is_empty() {
            div.two {
                (section("cost-chart", lang.cost_over_time(), &curve(lang, &Curve { points: points(|call| call.2), most: most(|most| most.usd_micros), written: in_money(lang) })))
                (section("token-chart", lang.tokens_over_time(), &curve(lang, &Curve { points: points(|call| call.1), most: most(|most| most.tokens), written: |tokens| tokens.to_string() })))
            }
        }
    }
}

/// How a curve of money is written.
const fn in_money(lang: Lang) -> fn(u64) -> String {
    match lang {
        Lang::En => |micros| Lang::En.money(micros),
        Lang::Fr => |micros| Lang::Fr.money(micros),
    }
}

/// What executions took of the machine, where there were any.
fn machines(lang: Lang, used: &[(Timestamp, u64, u64)]) -> Markup {
    let rows = |of: fn(&(Timestamp, u64, u64)) -> u64| used.iter().map(|one| (iso(one.0), vec![of(one)])).collect();
    let (cpu, memory) = (rows(|one| one.1), rows(|one| one.2));
    let chart = |title: &'static str, rows, written: &dyn Fn(u64) -> String| {
        let (of, series, layout) = (lang.when(), vec![title], Layout::Grouped);
        columns(lang, &Columns { title, of, series, rows, written, layout })
    };
    html! {
        @if !used.is_empty() {
            div.two {
                (section("cpu-chart", lang.cpu_over_time(), &chart(lang.cpu_over_time(), cpu, &|ms| lang.span(ms))))
                (section("memory-chart", lang.memory_over_time(), &chart(lang.memory_over_time(), memory, &|bytes| size(lang, bytes))))
            }
        }
    }
}

fn wishes(viewer: &Viewer, shown: &RunPage) -> Markup {
    if shown.wishes.is_empty() {
        return html! {};
    }
    section("wishes", viewer.lang.wishes(), &wish_list(viewer, shown))
}

fn wish_list(viewer: &Viewer, shown: &RunPage) -> Markup {
    let lang = viewer.lang;
    html! {
        ul.plain.apart {
            @for wish in &shown.wishes {
                li {
                    code { (text::line(lang, &wish.opening)) } " " (status(&wish.status))
                    @if let Some(until) = &wish.until { " " (moment(lang, parsed(until), viewer.now)) }
                    @if let Some(because) = &wish.because { " " (text::line(lang, because)) }
                    (wish_ways(viewer, shown, wish))
                }
            }
        }
    }
}

fn wish_ways(viewer: &Viewer, shown: &RunPage, wish: &WishView) -> Markup {
    let (lang, number) = (viewer.lang, wish.number);
    let to = |verb: &str| Form::to(format!("/runs/{}/wishes/{number}/{verb}", shown.run.id), viewer);
    html! {
        @match wish.status.as_str() {
            "WAITING" if shown.moves.answer_wishes => div.ways {
                (to("grant").on(wish.review).with(&html! {
                    (field(&format!("minutes-{number}"), lang.allow_for(), &html! { input id={ "minutes-" (number) } name="minutes" value="60" inputmode="numeric" pattern="[0-9]+"; }))
                    (slowed(&format!("confirm-{number}"), lang, shown))
                    button.main { (lang.allow()) }
                }))
                (to("reject").with(&html! { (reason(&format!("wish-{number}"), lang.reason())) button.bad { (lang.reject()) } }))
            },
            "GRANTED" if shown.moves.revoke => (to("revoke").with(&html! { (reason(&format!("wish-{number}"), lang.reason())) button.bad { (lang.revoke()) } })),
            _ => {},
        }
    }
}

fn snapshots(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    html! {
        ol.plain.snapshots data-live="snapshots" {
            @if run.snapshots.is_empty() { li.note { (lang.no_snapshots()) } }
            @for snapshot in run.snapshots.iter().rev() {
                li {
                    strong { (snapshot.number) } " " (moment(lang, parsed(&snapshot.taken_at), viewer.now)) " · "
                    (lang.step_of(snapshot.steps_done, run.plan.len() as u32)) " · " (lang.number(snapshot.files)) " " (lang.n_files(snapshot.files)) " · " (size(lang, snapshot.size_bytes))
                    @if shown.moves.roll_back { " " a href={ "/runs/" (run.id) "/rollback/" (snapshot.number) } { (lang.roll_back()) } }
                }
            }
        }
    }
}

fn outputs(lang: Lang, run: &RunView) -> Markup {
    html! {
        ul.plain data-live="outputs" {
            @if run.outputs.is_empty() { li.note { (lang.nothing()) } }
            @for output in &run.outputs {
                li {
                    a href={ "/evidence/" (run.project) "/" (output.digest) } download { (text::line(lang, &output.path)) }
                    " " small { (size(lang, output.size_bytes)) " · " (digest(output.digest)) }
                }
            }
        }
    }
}

fn audit(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, rows) = (viewer.lang, &shown.audit);
    html! {
        @if shown.heartbeats > 0 { p.note data-live="heartbeats" { (lang.number(shown.heartbeats)) " " (lang.n_heartbeats_left_out(shown.heartbeats)) } }
        div.scroll tabindex="0" role="region" aria-label=(lang.audit()) #audit-list data-live="audit" {
            table.list {
                thead { tr { th { "#" } th { (lang.when()) } th { (lang.event()) } th { (lang.actor()) } th { (lang.state()) } th { (lang.tokens()) } th { (lang.cost()) } } }
                tbody {
                    @for row in rows.iter().rev() {
                        tr {
                            td.n { @if viewer.reads_ledger { a href={ "/ledger/" (row.seq) } { (row.seq) } } @else { (row.seq) } }
                            td.n { (moment(lang, parsed(&row.timestamp), viewer.now)) }
                            td.wide {
                                code { (row.event) }
                                @if let Some(action) = &row.action { " " a href={ "/actions/" (action) } { (short(action)) } }
                            }
                            td { (actor(lang, shown, &row.actor)) }
                            td { @if let Some(state) = &row.approval_status { (state) } }
                            td { @if row.tokens > 0 { (lang.number(row.tokens)) } }
                            td { @if row.cost_usd_micros > 0 { (lang.money(row.cost_usd_micros)) } }
                        }
                    }
                }
            }
        }
    }
}

/// By name where there is one; whoever points at it sees the id.
fn actor(lang: Lang, shown: &RunPage, id: &str) -> Markup {
    html! {
        @match shown.names.get(id) {
            Some(name) => span title=(id) { (text::line(lang, name)) },
            None => (short(id)),
        }
    }
}
