//! The policy: the rules and tools in force, and what they would say of an action that nobody proposes.

use maud::{Markup, html};
use placet_domain::text::spelled_out;
use placet_wire::api::{PolicyView, RuleView, ToolView, VerdictView};

use crate::forms::{Form, field};
use crate::lang::Lang;
use crate::layout::{Here, Live, Viewer, page};
use crate::parts::{digest, section, tier};
use crate::text;

#[derive(Debug, Clone)]
pub struct PolicyPage {
    pub policy: PolicyView,
    /// In whose frame something can be tried: runs that are under way, and scopes where none has to be.
    pub grounds: Vec<TrialGround>,
    pub trial: Option<Trial>,
}

/// A run, or a scope of a project.
#[derive(Debug, Clone)]
pub struct TrialGround {
    /// What a form says for it.
    pub id: String,
    pub name: String,
}

/// What was tried, as it was written, and what came out.
#[derive(Debug, Clone)]
pub struct Trial {
    pub wish: Wish,
    pub outcome: Result<VerdictView, String>,
}

/// An action that nobody proposes; what there may be several of stands one on a line.
#[derive(Debug, Clone, Default)]
pub struct Wish {
    pub ground: String,
    pub tool: String,
    pub arguments: String,
    pub target: String,
    /// A path, or a path, its digest and its size.
    pub files: String,
    pub outputs: String,
    pub network: String,
    pub credentials: String,
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
    let wish = shown.trial.as_ref().map(|trial| trial.wish.clone()).unwrap_or_default();
    html! {
        p { (lang.what_if_hint()) }
        @if shown.grounds.is_empty() { p.note { (lang.no_grounds()) } }
        @else {
            (Form::to("/policy", viewer).named("try").with(&html! {
                (field("run", lang.in_frame(), &html! {
                    select #run name="run" { @for ground in &shown.grounds { option value=(ground.id) selected[ground.id == wish.ground] { (spelled_out(&ground.name)) } } }
                }))
                (field("tool", lang.tool(), &html! {
                    select #tool name="tool" { @for known in &shown.policy.tools { option value=(known.name) selected[known.name == wish.tool] { (known.name) " (" (known.kind) ")" } } }
                }))
                (several("try-arguments", "arguments", lang.arguments_lines(), &wish.arguments))
                (field("target", lang.target(), &html! { input #target name="target" value=(wish.target) autocomplete="off"; }))
                (several("try-files", "files", lang.files_lines(), &wish.files))
                (several("try-outputs", "outputs", lang.outputs_lines(), &wish.outputs))
                (several("try-network", "network", lang.network_lines(), &wish.network))
                (several("try-credentials", "credentials", lang.credentials_lines(), &wish.credentials))
                button.main { (lang.judge()) }
            }))
        }
        @if let Some(trial) = &shown.trial { (outcome(lang, trial)) }
    }
}

/// A field for what there may be several of, one on a line.
fn several(id: &str, name: &str, label: &str, written: &str) -> Markup {
    field(id, label, &html! { textarea id=(id) name=(name) rows="2" spellcheck="false" { (written) } })
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
