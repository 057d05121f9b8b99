//! A checkpoint: everything a person decides on where a run stands still, and every way to decide.

use maud::{Markup, html};
use placet_control::read::files::FileShown;
use placet_domain::id::ActionId;
use placet_domain::reason::StatusReason;
use placet_domain::text::spelled_out;
use placet_lang::{Lang, meaning};
use placet_wire::Endpoint as _;
use placet_wire::api::{ActionView, CheckpointView, PieceView};
use placet_wire::endpoint::FetchEvidence;

use crate::markup::forms::{Form, field, reason};
use crate::markup::layout::Viewer;
use crate::markup::output::{self, Output};
use crate::markup::parts::{digest, exactly, fact, parsed, short, size, status};
use crate::markup::{files, reasons, text};

/// Details of an executed action, as far as the viewer may see them.
#[derive(Debug, Clone)]
pub(crate) struct DoneAction {
    pub(crate) action: ActionId,
    /// The sealed arguments that ran.
    pub(crate) argv: Vec<String>,
    /// Output streams of the program.
    pub(crate) outputs: Vec<Output>,
    /// Files that the action left, compared with their earlier versions.
    pub(crate) files: Vec<FileShown>,
}

impl DoneAction {
    /// True if the details are short enough to read at a glance.
    fn is_short(&self) -> bool {
        const MOST_CHARS: usize = 2_000;
        let words: usize = self.argv.iter().map(String::len).sum();
        let said = self.outputs.iter().filter_map(|output| output.excerpt.as_ref());
        let said: usize = said.map(|excerpt| excerpt.head.len() + excerpt.tail.len()).sum();
        words + said <= MOST_CHARS && self.files.len() <= 1
    }
}

/// A field of a form by its id, where the viewer is asked to look twice.
type Slowed<'a> = &'a dyn Fn(&str) -> Markup;

/// What is shown where the run stands, with the forms for whoever may decide.
pub(crate) fn panel(
    viewer: &Viewer,
    at: &CheckpointView,
    done: &[DoneAction],
    decides: bool,
    slowed: Slowed<'_>,
) -> Markup {
    let lang = viewer.lang;
    html! {
        section.panel.decide aria-labelledby="decide" #checkpoint {
            h2 #decide { (lang.checkpoint_waits()) " " (at.number) " · " (at.kind) " · " (lang.step_of(at.step, at.of_steps)) }
            p.note { (meaning::of_gate(lang, at.kind)) }
            p {
                progress max="100" value=(at.percent) aria-label=(lang.steps()) {} " " (lang.percent(u64::from(at.percent))) " · " strong { (lang.stands_still()) }
                @if let Some(passes) = &at.passes_at { " · " (lang.passes_at()) " " (exactly(parsed(passes))) }
            }
            @if !at.summary.is_empty() { (summary(lang, at)) }
            (so_far(lang, at))
            (actions(lang, lang.done_since(), &at.actions_done, done))
            (actions(lang, lang.interrupted_waits(), &at.actions_interrupted, done))
            (next(lang, at))
            (pieces(lang, &at.outputs))
            (pictures(lang, &at.screenshots))
            @if !at.longer.is_empty() { p.note.bad { (lang.longer()) " " (longer(lang, &at.longer)) } }
            @if let Some(resource) = at.resource { p { strong { (lang.nearly_used()) } " " (lang.resource(resource)) } }
            @if let Some(action) = at.action {
                p { (lang.decide_on_action()) " " a.button href={ "/actions/" (action) } { (short(&action.to_string())) } }
            }
            @if decides { (ways(viewer, at, slowed)) }
        }
    }
}

/// Shows why the run stands still. Words of its agent are marked as the agent's.
fn summary(lang: Lang, at: &CheckpointView) -> Markup {
    html! {
        @match &at.reason {
            StatusReason::Said { .. } | StatusReason::FinishesEarly { .. } => {
                h3 { (lang.agent_says()) " " small { (lang.agent_says_untrusted()) } }
                blockquote { pre { (reasons::of_status_on_lines(lang, &at.reason)) } }
            }
            reason => {
                h3 { (lang.summary()) }
                blockquote { p { (reasons::of_status(lang, reason)) } }
            }
        }
    }
}

/// Of what there is more than the panel shows, by the headings that it stands under.
fn longer(lang: Lang, lists: &[String]) -> String {
    let heading = |list: &String| match list.as_str() {
        "actions_done" => lang.done_since(),
        "actions_next" => lang.comes_next(),
        "actions_interrupted" => lang.filter_interrupted(),
        "outputs" => lang.outputs(),
        "screenshots" => lang.screenshots(),
        _ => lang.actions(),
    };
    lists.iter().map(heading).collect::<Vec<_>>().join(", ")
}

fn so_far(lang: Lang, at: &CheckpointView) -> Markup {
    html! {
        h3 { (lang.so_far()) }
        dl.facts {
            (fact(lang.tokens(), &html! { (lang.number(at.spent.tokens)) }))
            (fact(lang.cost(), &html! { (lang.money(at.spent.usd_micros)) }))
            (fact(lang.time_at_work(), &html! { (lang.span(at.worked_ms)) }))
            (fact(lang.actions_executed(), &html! { (lang.number(at.spent.actions)) }))
        }
    }
}

fn actions(lang: Lang, heading: &str, actions: &[ActionView], done: &[DoneAction]) -> Markup {
    html! {
        @if !actions.is_empty() {
            h3 { (heading) }
            ul.plain {
                @for action in actions {
                    li {
                        a href={ "/actions/" (action.id) } { (text::line(lang, action.title.as_deref().unwrap_or(&action.tool))) } " " small { (short(&action.id.to_string())) } " " (status(action.status.as_str()))
                        @if let Some(done) = done.iter().find(|done| done.action == action.id) { (what_it_did(lang, done)) }
                    }
                }
            }
        }
    }
}

/// Shows the arguments, the program's output and the changed files: titles alone are not enough to pass a checkpoint.
fn what_it_did(lang: Lang, done: &DoneAction) -> Markup {
    html! {
        details.did open[done.is_short()] {
            summary { (lang.what_it_did()) }
            ol.argv start="0" { @for word in &done.argv { li { code { (text::word(lang, word)) } } } }
            @if done.outputs.is_empty() && done.files.is_empty() { p.note { (lang.made_no_evidence()) } }
            (output::said(lang, &done.outputs))
            @if !done.files.is_empty() { (files::given(lang, &done.files)) }
        }
    }
}

/// What would be done if it went on: actions that were proposed, and the steps that are left.
fn next(lang: Lang, at: &CheckpointView) -> Markup {
    html! {
        (actions(lang, lang.comes_next(), &at.actions_next, &[]))
        @if !at.steps_next.is_empty() {
            @if at.actions_next.is_empty() { h3 { (lang.comes_next()) } }
            ol.steps start=(at.step + 1) { @for step in &at.steps_next { li data-state="to_come" { (text::line(lang, step)) } } }
        }
    }
}

fn pieces(lang: Lang, pieces: &[PieceView]) -> Markup {
    html! {
        @if !pieces.is_empty() {
            h3 { (lang.outputs()) }
            ul.plain {
                @for piece in pieces {
                    li { a href=(here(piece)) download { (text::line(lang, &piece.path)) } " " small { (size(lang, piece.size_bytes)) " · " (digest(piece.digest)) } }
                }
            }
        }
    }
}

fn pictures(lang: Lang, pieces: &[PieceView]) -> Markup {
    html! {
        @if !pieces.is_empty() {
            h3 { (lang.screenshots()) }
            div.pictures {
                @for piece in pieces {
                    figure { a href=(here(piece)) { img src=(here(piece)) alt=(spelled_out(&piece.path)) loading="lazy"; } figcaption { (text::line(lang, &piece.path)) } }
                }
            }
        }
    }
}

/// Where a browser finds the bytes: the same as the API names, below the pages' own door.
fn here(piece: &PieceView) -> String {
    let (before, _) = FetchEvidence::PATH.split_once('{').unwrap_or_default();
    let rest = piece.link.strip_prefix(before).unwrap_or(&piece.link);
    format!("/evidence/{}", rest.replace("/evidence/", "/"))
}

fn ways(viewer: &Viewer, at: &CheckpointView, slowed: Slowed<'_>) -> Markup {
    let lang = viewer.lang;
    let offers = |way: &str| at.options.iter().any(|option| option == way);
    let to = |verb: &str| Form::to(format!("/runs/{}/checkpoints/{}/{verb}", at.run, at.number), viewer);
    html! {
        div.ways {
            @if offers("approve") {
                (to("approve").on(at.review).named("approve").with(&html! { (slowed("confirm")) button.main { (lang.let_it_go_on()) } }))
            }
            @if offers("reject") {
                (to("reject").on(at.review).named("reject").with(&html! { (reason("reason", lang.reason_needed())) button.bad { (lang.reject()) } }))
            }
        }
        @if offers("modify") {
            details.amend {
                summary { (lang.modify()) }
                (to("modify").on(at.review).named("modify").with(&html! {
                    (field("note", lang.note_for_agent(), &html! { input #note name="note" maxlength="2000" autocomplete="off"; }))
                    (field("steps-instead", lang.other_steps(), &html! { textarea #steps-instead name="plan" rows="4" {} }))
                    (slowed("modify-confirm"))
                    button { (lang.modify()) }
                }))
            }
        }
        @if let (true, Some(snapshot)) = (offers("rollback"), at.snapshot) {
            p { a.button href={ "/runs/" (at.run) "/rollback/" (snapshot) } { (lang.roll_back()) } }
        }
    }
}
