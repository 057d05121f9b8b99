//! What a run may do, in words: what its actions may change, reach and use, when people are asked, and how far it goes. All of it is
//! part of what is approved with the plan.

use maud::{Markup, html};
use placet_domain::proposal::ActionKind;
use placet_domain::run::{Effect, GateRules, Mode, Posture};
use placet_domain::scope::ScopeDraft;
use placet_lang::Lang;
use placet_wire::api::RunView;

use crate::markup::parts::{digest, fact, section};
use crate::markup::text;

pub(crate) fn frame(lang: Lang, run: &RunView, scope: &ScopeDraft) -> Markup {
    section(
        "frame",
        lang.frame(),
        &html! {
            dl.facts.wide {
                (fact(lang.may_change(), &each(lang, &scope.allow)))
                @if !scope.deny.is_empty() { (fact(lang.never_changes(), &each(lang, &scope.deny))) }
                (fact(lang.may_reach(), &each(lang, &scope.targets)))
                (fact(lang.may_use(), &each(lang, &scope.tools)))
                (fact(lang.asks_when(), &html! { (mode(lang, run.mode)) " " code { (run.mode) } }))
                (fact(lang.stands_still_when(), &stands(lang, &run.checkpoints)))
                (fact(lang.goes_how_far(), &html! { (effect(lang, run.effect)) " " code { (run.effect) } }))
                (fact(lang.may_call(), &models(lang, run)))
            }
            p.note { (lang.scope_version()) " " (digest(run.scope)) }
        },
    )
}

/// Each as it is written, or that there is none.
fn each<T: ToString>(lang: Lang, things: impl IntoIterator<Item = T>) -> Markup {
    let mut told = things.into_iter().map(|thing| thing.to_string()).peekable();
    html! {
        @if told.peek().is_none() { (lang.nothing()) }
        @for thing in told { code { (text::line(lang, &thing)) } " " }
    }
}

const fn mode(lang: Lang, mode: Mode) -> &'static str {
    match mode {
        Mode::Simulation => lang.mode_simulation(),
        Mode::Supervised => lang.mode_supervised(),
        Mode::Checkpoint => lang.mode_checkpoint(),
    }
}

const fn effect(lang: Lang, effect: Effect) -> &'static str {
    match effect {
        Effect::DryRun => lang.effect_dry_run(),
        Effect::Observe => lang.effect_observe(),
        Effect::Execute => lang.effect_execute(),
    }
}

fn stands(lang: Lang, rules: &GateRules) -> Markup {
    let GateRules { every_steps, after, every_ms, before: _, auto_pass_after_ms } = rules;
    // Some kinds always ask, whatever a plan says.
    let posture = Posture { gates: rules.clone(), ..Posture::default() };
    let before: Vec<ActionKind> = ActionKind::ALL.iter().copied().filter(|kind| posture.stops_before(*kind)).collect();
    let numbers = after.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let steps = every_steps.map(|every| lang.every_steps(every));
    let told: Vec<String> = steps
        .into_iter()
        .chain((!numbers.is_empty()).then(|| lang.after_steps(&numbers)))
        .chain(every_ms.map(|every| lang.every_span(every)))
        .collect();
    html! {
        (told.join(" · "))
        @if !before.is_empty() { @if !told.is_empty() { " · " } (lang.stands_before()) " " (each(lang, before)) }
        @if let Some(after) = auto_pass_after_ms { " · " strong.ask { (lang.stands_passes()) " " (lang.span(*after)) } }
    }
}

fn models(lang: Lang, run: &RunView) -> Markup {
    html! { @if run.models.is_empty() { (lang.any_served_model()) } @else { (each(lang, &run.models)) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_where_a_run_stands_still_is_said_in_words() {
        let rules = GateRules {
            every_steps: Some(2),
            after: [1, 5].into(),
            every_ms: Some(600_000),
            before: [ActionKind::SendEmail].into(),
            auto_pass_after_ms: Some(60_000),
        };
        let said = stands(Lang::En, &rules).into_string();
        let first = "after every 2 steps · after step 1, 5 · after every 10 min at work · before actions of kind ";
        assert!(said.starts_with(first) && said.contains("<code>send_email</code>"), "{said}");
        assert!(said.ends_with("<strong class=\"ask\">goes on by itself if nobody looks for 1 min</strong>"), "{said}");
        let always = stands(Lang::Fr, &GateRules::default()).into_string();
        assert!(
            always.starts_with("avant les actions de genre ") && always.contains("<code>delete_file</code>"),
            "{always}"
        );
    }

    #[test]
    fn r5_what_a_scope_says_is_spelled_out_like_everything_that_somebody_wrote() {
        let shown = each(Lang::En, ["src/**", "a\u{202e}b"]).into_string();
        assert!(shown.contains("<code>src/**</code>") && shown.contains("⟦U+202E⟧"), "{shown}");
        assert_eq!(each(Lang::En, Vec::<String>::new()).into_string(), "nothing");
    }
}
