//! One run: where it stands and what to decide there, its plan, what it used, what happened when, what it made, what was saved.

use std::collections::BTreeMap;

use maud::{Markup, html};
use placet_control::read::files::FileShown;
use placet_domain::budget::Resource;
use placet_domain::reason::StatusReason;
use placet_domain::run::{GateRules, RunStatus, StepState, StepView};
use placet_domain::scope::ScopeDraft;
use placet_domain::time::Timestamp;
use placet_lang::{Lang, meaning};
use placet_wire::api::{AuditRow, CheckpointView, RunView, WishView};

use crate::markup::card::Ask;
use crate::markup::checkpoint::{self, DoneAction};

use crate::markup::forms::{Form, confirmation, reason};
use crate::markup::frame::frame;
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::log::{self, LogShown};
use crate::markup::order::{self, OrderRow};
use crate::markup::parts::{digest, fact, moment, section, short, size, status};
use crate::markup::run_actions::{RunAction, actions, waiting_actions};
use crate::markup::run_record::{audit, outputs, snapshots};
use crate::markup::run_used::{machines, meters, money, tiles};
use crate::markup::run_wishes::wishes;
use crate::markup::timeline::{Bar, timeline};
use crate::markup::{files, reasons, run_budget, steps, text};

/// Everything there is to see of a run.
#[derive(Debug, Clone)]
pub(crate) struct RunPage {
    pub(crate) run: RunView,
    pub(crate) agent: String,
    pub(crate) project: String,
    pub(crate) since: Timestamp,
    pub(crate) worked_ms: u64,
    pub(crate) pipeline: Vec<StepView>,
    pub(crate) checkpoint: Option<CheckpointView>,
    /// Details of the actions that the checkpoint lists.
    pub(crate) done: Vec<DoneAction>,
    /// Resource that is used up, if the run waits for more of it.
    pub(crate) lacks: Option<Resource>,
    pub(crate) wishes: Vec<WishView>,
    pub(crate) orders: Vec<OrderRow>,
    /// The newest entries, oldest first.
    pub(crate) audit: Vec<AuditRow>,
    /// Names of those who are behind them, by their ids.
    pub(crate) names: BTreeMap<String, String>,
    pub(crate) bars: Vec<Bar>,
    /// How many heartbeats were left out of them.
    pub(crate) heartbeats: u64,
    /// What calls of models took until then, from the first one to the last: when, tokens, millionths of a dollar.
    pub(crate) calls: Vec<(Timestamp, u64, u64)>,
    /// Its newest actions, the newest first, and how many there are.
    pub(crate) actions: Vec<RunAction>,
    pub(crate) action_count: u64,
    /// Actions about which people are asked now, the oldest first.
    pub(crate) asked: Vec<RunAction>,
    /// Whether there are more of them.
    pub(crate) asks_more: bool,
    /// Actions of which somebody must say what becomes of them.
    pub(crate) interrupted: Vec<RunAction>,
    /// What was only rehearsed, and is decided on at the results.
    pub(crate) rehearsed: Vec<RunAction>,
    /// What its executions used, one after the other: when it ended, processor time, most memory.
    pub(crate) used: Vec<(Timestamp, u64, u64)>,
    /// Whether one person works alone in its project.
    pub(crate) alone: bool,
    /// Whether the viewer may decide what it waits for.
    pub(crate) ask: Ask,
    /// What its actions may change, reach and use.
    pub(crate) scope: ScopeDraft,
    /// Whether the viewer has decided so much lately that they are asked to look twice.
    pub(crate) fast: bool,
    /// The files of the agent that its plan starts, while that waits.
    pub(crate) given: Vec<FileShown>,
    /// Everything that a decision about its plan or its results is about, as it is kept.
    pub(crate) bound: String,
    pub(crate) moves: Moves,
    /// What its agent says, where a host keeps it.
    pub(crate) log: Option<LogShown>,
}

/// What the viewer may ask of it now, besides the decision that it waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a button")]
pub(crate) struct Moves {
    pub(crate) start: bool,
    pub(crate) pause: bool,
    pub(crate) resume: bool,
    pub(crate) snapshot: bool,
    pub(crate) cancel: bool,
    pub(crate) roll_back: bool,
    pub(crate) answer_wishes: bool,
    pub(crate) revoke: bool,
    pub(crate) set_budget: bool,
}

pub(crate) fn run(viewer: &Viewer, shown: &RunPage) -> Markup {
    let (lang, run) = (viewer.lang, &shown.run);
    // What somebody is asked comes first; what was answered stands with what happened.
    let asks = shown.wishes.iter().any(|wish| wish.status == "WAITING");
    let content = html! {
        div.run data-still=(still(shown)) {
            (head(viewer, shown))
            (standstill(viewer, shown))
            (run_budget::used_up(viewer, shown))
            (waiting_actions(viewer, shown))
            @if asks { (wishes(viewer, shown)) }
            (tiles(lang, shown))
            @if run.status != RunStatus::PendingApproval { (planned(viewer, shown)) (frame(lang, run, &shown.scope)) }
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
            p { (meaning::of_status(lang, run.status)) @if let Some(reason) = status_reason(run, false) { " " q { (reasons::of_status(lang, reason)) } } }
            @if let Some(reason) = status_reason(run, true) { pre.said tabindex="0" { (reasons::of_status_on_lines(lang, reason)) } }
            @if shown.alone { p.ask { (lang.works_alone()) } }
            (controls(viewer, shown))
        }
    }
}

/// Reason for the current status, if its text has several lines, as the last words of programs do; or one.
fn status_reason(run: &RunView, on_lines: bool) -> Option<&StatusReason> {
    // The panel of a checkpoint and of the results shows the reason itself.
    let is_told = matches!(run.status, RunStatus::CheckpointReached | RunStatus::PendingExport);
    run.reason.as_ref().filter(|reason| !is_told && reason.to_string().trim().contains('\n') == on_lines)
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
        @if let (Some(at), RunStatus::CheckpointReached) = (&shown.checkpoint, status) { (checkpoint::panel(viewer, at, &shown.done, decides, &|id| slowed(id, viewer.lang, shown))) }
        @if decides && status == RunStatus::PendingApproval { (plan_decision(viewer, shown)) }
        @if decides && status == RunStatus::PendingExport { (results_decision(viewer, shown)) }
        @if status == RunStatus::PendingApproval { (planned(viewer, shown)) (started(viewer.lang, shown)) (frame(viewer.lang, &shown.run, &shown.scope)) }
        // Where an action is waited for, the way to it is said already.
        @let leads_on = shown.checkpoint.as_ref().is_some_and(|at| at.action.is_some());
        @if let (Ask::No(why), false) = (&shown.ask, leads_on) { p.note { (viewer.lang.you_cannot()) (viewer.lang.colon()) (crate::markup::refusals::refusal(viewer.lang, why)) } }
        @if shown.ask != Ask::Settled {
            details.panel { summary { (viewer.lang.everything_bound()) } pre tabindex="0" { (text::lines(viewer.lang, &shown.bound)) } }
        }
    }
}

/// Whoever has decided a lot types whose run it is before it goes on.
pub(crate) fn slowed(id: &str, lang: Lang, shown: &RunPage) -> Markup {
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
            @if (run.steps_done as usize) < run.plan.len() { p.ask { strong { (lang.number(run.steps_done.into())) " " (lang.of()) " " (lang.number(run.plan.len() as u64)) " " (lang.steps_reported()) } } }
            @if let Some(said) = &run.said {
                h3 { (lang.agent_says()) " " small { (lang.agent_says_untrusted()) } }
                blockquote { (text::line(lang, said)) }
            }
            @if run.outputs.is_empty() { p { (lang.made_no_files()) } }
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

/// What is to be done, and what may be used up for it.
fn planned(viewer: &Viewer, shown: &RunPage) -> Markup {
    let lang = viewer.lang;
    html! {
        div.two {
            (section("plan", lang.plan(), &plan(lang, &shown.run)))
            @if let Some(budget) = &shown.run.budget { (section("budget", lang.budget(), &html! { (meters(lang, budget)) (run_budget::change(viewer, shown)) })) }
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
