//! The policy: the rules and tools in force, and what they would say of an action that nobody proposes.

use maud::{Markup, html};
use placet_domain::text::spelled_out;
use placet_wire::api::{PolicyView, RuleView, ToolView, VerdictView};

use crate::forms::{Form, field};
use crate::lang::Lang;
use crate::layout::{Here, Live, Viewer, page};
use crate::parts::{digest, section, short, tier};
use crate::text;

#[derive(Debug, Clone)]
pub struct PolicyPage {
    pub policy: PolicyView,
    /// Runs in whose frame something can be tried: id and goal.
    pub runs: Vec<(String, String)>,
    pub trial: Option<Trial>,
}

/// What was tried, and what came out.
#[derive(Debug, Clone)]
pub struct Trial {
    pub run: String,
    pub tool: String,
    pub arguments: String,
    pub target: String,
    pub outcome: Result<VerdictView, String>,
}

pub fn policy(viewer: &Viewer, shown: &PolicyPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_policy()) " " small { (lang.version()) " " (digest(shown.policy.version)) } }
        (section("try", lang.what_if(), &try_it(viewer, shown)))
        (section("rules", lang.rules_in_force(), &rules(lang, &shown.policy.rules)))
        (section("tools", lang.tools(), &tools(lang, &shown.policy.tools)))
    };
    page(viewer, Here::Policy, lang.nav_policy(), &Live::around(), &content)
}

fn try_it(viewer: &Viewer, shown: &PolicyPage) -> Markup {
    let lang = viewer.lang;
    let (run, tool, arguments, target) = match &shown.trial {
        Some(trial) => (trial.run.as_str(), trial.tool.as_str(), trial.arguments.as_str(), trial.target.as_str()),
        None => ("", "", "", ""),
    };
    html! {
        p { (lang.what_if_hint()) }
        @if shown.runs.is_empty() { p.note { (lang.no_runs()) } }
        @else {
            (Form::to("/policy", viewer).named("try").with(&html! {
                (field("run", lang.in_run(), &html! {
                    select #run name="run" { @for (id, goal) in &shown.runs { option value=(id) selected[id == run] { (spelled_out(goal)) " (" (short(id)) ")" } } }
                }))
                (field("tool", lang.tool(), &html! {
                    select #tool name="tool" { @for known in &shown.policy.tools { option value=(known.name) selected[known.name == tool] { (known.name) " (" (known.kind) ")" } } }
                }))
                (field("try-arguments", lang.arguments_lines(), &html! { textarea #try-arguments name="arguments" rows="3" spellcheck="false" { (arguments) } }))
                (field("target", lang.target(), &html! { input #target name="target" value=(target) autocomplete="off"; }))
                button.main { (lang.judge()) }
            }))
        }
        @if let Some(trial) = &shown.trial { (outcome(lang, trial)) }
    }
}

fn outcome(lang: Lang, trial: &Trial) -> Markup {
    html! {
        div.outcome role="status" {
            h3 { (lang.verdict()) }
            @match &trial.outcome {
                Err(why) => p.note.bad { (text::line(lang, why)) },
                Ok(verdict) => {
                    p { (tier(lang, &verdict.tier)) " " (lang.risk()) " " strong { (lang.decimal(verdict.risk)) } }
                    ul.reasons {
                        @for reason in &verdict.reasons {
                            li { b.weight { "+" (lang.decimal(reason.weight)) } div { (text::line(lang, &reason.because)) small { (lang.rule()) " " code { (reason.rule) } " · " (reason.demands) } } }
                        }
                    }
                },
            }
        }
    }
}

fn rules(lang: Lang, rules: &[RuleView]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.rules_in_force()) {
            table.list {
                thead { tr { th { (lang.rule()) } th { (lang.demands()) } th { (lang.weight()) } th { (lang.because()) } th { (lang.files()) } } }
                tbody {
                    @for rule in rules {
                        tr { td { code { (rule.id) } } td { (rule.demands) } td { (rule.weight) } td.wide { (text::line(lang, &rule.because)) } td { small { (rule.file) ":" (rule.line) } } }
                    }
                }
            }
        }
    }
}

fn tools(lang: Lang, tools: &[ToolView]) -> Markup {
    html! {
        div.scroll tabindex="0" role="region" aria-label=(lang.tools()) {
            table.list {
                thead { tr { th { (lang.tool()) } th { (lang.kind()) } th { (lang.program()) } th { (lang.version()) } } }
                tbody { @for tool in tools { tr { td { code { (tool.name) } } td { (tool.kind) } td { code { (tool.program) } } td { (digest(tool.version)) } } } }
            }
        }
    }
}
