//! The policy: the rules and tools in force, and what they would say of an action that nobody proposes.

use maud::{Markup, html};
use placet_domain::text::spelled_out;
use placet_lang::Lang;
use placet_wire::api::{PolicyView, RuleView, ToolView, VerdictView};

use crate::markup::forms::{Form, checked_field, flaw_id};
use crate::markup::layout::{Here, Live, Viewer, page};
use crate::markup::parts::{digest, section, tier};
use crate::markup::problem::Problem;
use crate::markup::{reasons, refusals, text};

#[derive(Debug, Clone)]
pub(crate) struct PolicyPage {
    pub(crate) policy: PolicyView,
    /// In whose frame something can be tried: runs that are under way, and scopes where none has to be.
    pub(crate) grounds: Vec<TrialGround>,
    pub(crate) trial: Option<Trial>,
}

/// A run, or a scope of a project.
#[derive(Debug, Clone)]
pub(crate) struct TrialGround {
    /// What a form says for it.
    pub(crate) id: String,
    pub(crate) name: String,
}

/// What was tried, as it was written, and what came out.
#[derive(Debug, Clone)]
pub(crate) struct Trial {
    pub(crate) wish: Wish,
    pub(crate) outcome: Result<VerdictView, Flaw>,
}

/// Why nothing was judged, and the field of the form that it is about, by its name, where it is about one.
#[derive(Debug, Clone)]
pub(crate) struct Flaw {
    pub(crate) field: Option<&'static str>,
    pub(crate) why: Problem,
}

/// An action that nobody proposes; what there may be several of stands one on a line.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    pub(crate) ground: String,
    pub(crate) tool: String,
    pub(crate) arguments: String,
    pub(crate) target: String,
    /// A path, or a path, its digest and its size.
    pub(crate) files: String,
    pub(crate) outputs: String,
    pub(crate) network: String,
    pub(crate) credentials: String,
}

pub(crate) fn policy(viewer: &Viewer, shown: &PolicyPage) -> Markup {
    let lang = viewer.lang;
    let content = html! {
        h1 { (lang.nav_policy()) " " small { (lang.version()) " " (digest(shown.policy.version)) } }
        // What was asked for comes first, where it is seen and read out.
        @if let Some(trial) = &shown.trial { (outcome(lang, trial)) }
        (section("what-if", lang.what_if(), &try_it(viewer, shown)))
        (section("rules", lang.rules_in_force(), &rules(lang, &shown.policy.rules)))
        (section("tools", lang.tools(), &tools(lang, &shown.policy.tools)))
    };
    page(viewer, Here::Policy, lang.nav_policy(), &Live::around(), &content)
}

fn try_it(viewer: &Viewer, shown: &PolicyPage) -> Markup {
    let lang = viewer.lang;
    html! {
        p { (lang.what_if_hint()) }
        @if shown.grounds.is_empty() { p.note { (lang.no_grounds()) } }
        @else { (Form::to("/policy", viewer).named("try").with(&fields(lang, shown))) }
    }
}

/// Every field with what was written in it, and what is wrong with it where something is.
fn fields(lang: Lang, shown: &PolicyPage) -> Markup {
    let tried = Tried::of(lang, shown);
    let wish = &tried.wish;
    html! {
        (tried.choice(("run", "run"), lang.in_frame(), &grounds(shown, &wish.ground)))
        (tried.choice(("tool", "tool"), lang.tool(), &known_tools(shown, &wish.tool)))
        (tried.several("arguments", lang.arguments_lines(), &wish.arguments))
        (tried.line("target", lang.target_of_it(), &wish.target))
        (tried.several("files", lang.files_lines(), &wish.files))
        (tried.several("outputs", lang.outputs_lines(), &wish.outputs))
        (tried.several("network", lang.network_lines(), &wish.network))
        (tried.several("credentials", lang.credentials_lines(), &wish.credentials))
        button.main { (lang.judge()) }
    }
}

fn grounds(shown: &PolicyPage, chosen: &str) -> Markup {
    let is_known = shown.grounds.iter().any(|ground| ground.id == chosen);
    html! {
        @if !is_known && !chosen.is_empty() { option value=(chosen) selected { (spelled_out(chosen)) } }
        @for ground in &shown.grounds { option value=(ground.id) selected[ground.id == chosen] { (spelled_out(&ground.name)) } }
    }
}

/// A name that no tool has comes back too, beside those that there are.
fn known_tools(shown: &PolicyPage, chosen: &str) -> Markup {
    let is_known = shown.policy.tools.iter().any(|tool| tool.name == chosen);
    html! {
        @if !is_known && !chosen.is_empty() { option value=(chosen) selected { (spelled_out(chosen)) } }
        @for tool in &shown.policy.tools { option value=(tool.name) selected[tool.name == chosen] { (tool.name) " (" (tool.kind) ")" } }
    }
}

/// What was written, and what is wrong with which field.
struct Tried {
    wish: Wish,
    flaw: Option<(&'static str, Markup)>,
}

impl Tried {
    fn of(lang: Lang, shown: &PolicyPage) -> Self {
        let Some(trial) = &shown.trial else { return Self { wish: Wish::default(), flaw: None } };
        let flaw = trial.outcome.as_ref().err();
        let flaw = flaw.and_then(|flaw| Some((flaw.field?, told(lang, flaw, shown))));
        Self { wish: trial.wish.clone(), flaw }
    }

    fn flaw_of(&self, name: &str) -> Option<&Markup> {
        self.flaw.as_ref().filter(|(field, _)| *field == name).map(|(_, flaw)| flaw)
    }

    fn choice(&self, (id, name): (&str, &str), label: &str, options: &Markup) -> Markup {
        let flaw = self.flaw_of(name);
        let control = html! {
            select id=(id) name=(name) aria-invalid=[flaw.map(|_| "true")] aria-describedby=[flaw.map(|_| flaw_id(id))] { (options) }
        };
        checked_field(id, label, &control, flaw)
    }

    fn line(&self, name: &str, label: &str, written: &str) -> Markup {
        let flaw = self.flaw_of(name);
        let control = html! {
            input id=(name) name=(name) value=(written) autocomplete="off" spellcheck="false"
                aria-invalid=[flaw.map(|_| "true")] aria-describedby=[flaw.map(|_| flaw_id(name))];
        };
        checked_field(name, label, &control, flaw)
    }

    /// A field for what there may be several of, one on a line.
    fn several(&self, name: &str, label: &str, written: &str) -> Markup {
        let (flaw, id) = (self.flaw_of(name), control_of(name));
        let control = html! {
            textarea id=(id) name=(name) rows="2" spellcheck="false" aria-invalid=[flaw.map(|_| "true")] aria-describedby=[flaw.map(|_| flaw_id(&id))] {
                "\n" (written)
            }
        };
        checked_field(&id, label, &control, flaw)
    }
}

/// The id of the control that a field is filled in with.
fn control_of(name: &str) -> String {
    match name {
        "run" | "tool" | "target" => name.to_owned(),
        several => format!("try-{several}"),
    }
}

/// What is wrong; where it is the tool, which there are.
fn told(lang: Lang, flaw: &Flaw, shown: &PolicyPage) -> Markup {
    html! {
        (refusals::of_problem(lang, &flaw.why))
        @if flaw.field == Some("tool") {
            " " (lang.tools_there_are())
            @for tool in &shown.policy.tools { " " code { (tool.name) } }
        }
    }
}

/// Focused as the page comes, so that nobody looks for it and whoever listens hears it.
fn outcome(lang: Lang, trial: &Trial) -> Markup {
    let (heading, content) = match &trial.outcome {
        Err(flaw) => (lang.not_judged(), not_judged(lang, flaw)),
        Ok(verdict) => (lang.verdict(), judged(lang, &trial.wish, verdict)),
    };
    html! {
        section.panel.outcome #verdict aria-labelledby="verdict-title" tabindex="-1" autofocus {
            h2 #verdict-title { (heading) }
            (content)
        }
    }
}

fn not_judged(lang: Lang, flaw: &Flaw) -> Markup {
    html! {
        p.bad { (refusals::of_problem(lang, &flaw.why)) }
        p { (lang.what_you_wrote_stands()) @if let Some(field) = flaw.field { " " a href={ "#" (control_of(field)) } { (lang.to_the_field()) } } }
    }
}

fn judged(lang: Lang, wish: &Wish, verdict: &VerdictView) -> Markup {
    html! {
        p { (tier(lang, &verdict.tier)) " " code { (text::line(lang, &wish.tool)) } " · " (lang.risk()) " " strong { (lang.decimal(verdict.risk)) } }
        ul.reasons {
            @for reason in &verdict.reasons {
                li { b.weight { "+" (lang.decimal(reason.weight)) } div { (reasons::of_rule(lang, &reason.rule, &reason.reason)) small { (lang.rule()) " " code { (reason.rule) } " · " (reason.demands) } } }
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
                        tr { td.n { code { (rule.id) } } td { (rule.demands) } td { (weight(lang, &rule.weight)) } td.wide { (reasons::of_rule(lang, &rule.id, &rule.reason)) } td.n { small { (rule.file) ":" (rule.line) } } }
                    }
                }
            }
        }
    }
}

/// A weight as the language writes it; what is no number stays what it is.
fn weight(lang: Lang, weight: &str) -> String {
    weight.parse().map_or_else(|_| weight.to_owned(), |weight| lang.decimal(weight))
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
