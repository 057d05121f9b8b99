//! Reasons of the runtime in the language of the page, each from its code: a new one that is not told in every language does not compile.
//!
//! English is the domain's own rendering. Words of agents, people and policies keep their language, and what deceives in them is marked
//! as everywhere.

use maud::{Markup, html};
use placet_domain::audit_status::AuditStatus;
use placet_domain::budget::{BudgetPart, BudgetRefusal, NotHeld, PayerKind};
use placet_domain::evidence::Exit;
use placet_domain::policy::Rationale;
use placet_domain::reason::{AgentEnd, HostFault, RevokedPart, StatusReason};
use placet_domain::run::CallOutcome;
use placet_lang::Lang;

use crate::markup::{shipped, text};

/// Shows a text of somebody else.
type Shown = fn(Lang, &str) -> Markup;

/// Why something is in its status, on one line.
pub(crate) fn of_status(lang: Lang, reason: &StatusReason) -> Markup {
    status(lang, reason, text::line)
}

/// The same where words in it may have several lines.
pub(crate) fn of_status_on_lines(lang: Lang, reason: &StatusReason) -> Markup {
    status(lang, reason, text::lines)
}

fn status(lang: Lang, reason: &StatusReason, shown: Shown) -> Markup {
    match lang {
        Lang::En => shown(lang, &reason.to_string()),
        Lang::Fr => status_in_french(reason, shown),
    }
}

fn status_in_french(reason: &StatusReason, shown: Shown) -> Markup {
    let words = |text: &str| shown(Lang::Fr, text);
    match reason {
        StatusReason::Said { text } => words(text),
        StatusReason::FinishesEarly { done, steps, summary } => {
            html! { "elle veut finir avec " (done) " étapes faites sur " (steps) " : " (words(summary)) }
        }
        StatusReason::BudgetLow { resource } => {
            html! { "le budget « " (Lang::Fr.resource(*resource)) " » est presque épuisé" }
        }
        StatusReason::BudgetUsedUp { resource } => {
            html! { "le budget « " (Lang::Fr.resource(*resource)) " » est épuisé" }
        }
        StatusReason::WorkedFor { minutes } => html! { "elle travaille depuis " (minutes) " minutes" },
        StatusReason::WithdrawnUndecided { actions } => {
            html! { (actions) " actions de suite ont été retirées avant toute décision" }
        }
        StatusReason::Undecided { kind: Some(kind) } => {
            html! { "personne n'a décidé à temps d'une action du genre " (kind) }
        }
        StatusReason::Undecided { kind: None } => html! { "personne n'a décidé à temps d'une action" },
        StatusReason::ActionWaits { kind } => html! { "une action du genre " (kind) " attend une décision" },
        StatusReason::AskedTooOften { times, minutes } => {
            html! { "son agent a demandé " (times) " fois en " (minutes) " minutes" }
        }
        StatusReason::HostFault { fault } => fault_in_french(fault, shown),
        StatusReason::IdentityRevoked { name, part } => {
            let (before, after) = revoked_in_french(*part);
            html! { (before) "`" (text::line(Lang::Fr, name)) "`" (after) }
        }
        StatusReason::SameToolRejected => html! { "une action avec le même outil a été rejetée" },
        StatusReason::OrderOutdated => {
            html! { "les règles ont changé, ce qui met fin à la consigne qui l'avait approuvée ; à proposer à nouveau" }
        }
        StatusReason::OrderRevoked => {
            html! { "la consigne qui l'avait approuvée a été révoquée ; à proposer à nouveau" }
        }
        StatusReason::ParentOver => html! { "l'exécution dont elle dépend est terminée" },
        StatusReason::Exited { exit } => exit_in_french(exit),
    }
}

/// What stands before and after the name of whoever was revoked.
const fn revoked_in_french(part: RevokedPart) -> (&'static str, &'static str) {
    match part {
        RevokedPart::Agent => ("son agent ", " a été révoqué"),
        RevokedPart::Proposer => ("son agent ", " a été révoqué avant qu'elle ne commence"),
        RevokedPart::Amender => {
            ("", ", qui l'avait modifiée, a été révoqué avant qu'elle ne commence ; à proposer à nouveau")
        }
        RevokedPart::OrderApprover => {
            ("", ", dont la consigne l'avait approuvée, a été révoqué ; à proposer à nouveau")
        }
        RevokedPart::Approver => ("", ", qui l'avait approuvée, a été révoqué ; à décider à nouveau"),
        RevokedPart::PlanApprover => ("", ", qui avait approuvé le plan, a été révoqué ; à décider à nouveau"),
        RevokedPart::OrderGiver => ("", ", qui l'avait donnée, a été révoqué"),
        RevokedPart::HostOpener => ("", ", qui l'avait ouvert, a été révoqué"),
        RevokedPart::ExemptionGranter => ("", ", qui l'avait accordée, a été révoqué ; à décider à nouveau"),
    }
}

fn fault_in_french(fault: &HostFault, shown: Shown) -> Markup {
    match fault {
        HostFault::AgentEnded { end, last_words } => html! {
            "son agent s'est arrêté (" (agent_end_in_french(end)) ") avant d'avoir fini"
            @if !last_words.is_empty() { " ; il a dit : " (shown(Lang::Fr, last_words)) }
        },
        HostFault::HostFailed { error } => html! { "son hôte ne peut pas continuer : " (shown(Lang::Fr, error)) },
        HostFault::SnapshotFailed { error } => {
            html! { "elle ne peut pas être enregistrée : " (shown(Lang::Fr, error)) }
        }
    }
}

fn agent_end_in_french(end: &AgentEnd) -> Markup {
    match end {
        AgentEnd::Code { code } => html! { "code de sortie " (code) },
        AgentEnd::Signal { signal } => html! { "signal " (signal) },
        AgentEnd::Stopped => html! { "arrêté par son hôte" },
        AgentEnd::Limit { which, limit, seen } => {
            html! { "limite " (text::line(Lang::Fr, which)) " dépassée : " (seen) " sur " (limit) }
        }
        AgentEnd::Lost { error } => html! {
            "perdu" @if !error.is_empty() { " : " (text::line(Lang::Fr, error)) }
        },
    }
}

/// How an execution ended.
pub(crate) fn of_exit(lang: Lang, exit: &Exit) -> Markup {
    match lang {
        Lang::En => text::line(lang, &exit.to_string()),
        Lang::Fr => exit_in_french(exit),
    }
}

fn exit_in_french(exit: &Exit) -> Markup {
    let words = |text: &str| text::line(Lang::Fr, text);
    match exit {
        Exit::Code(code) => html! { "code de sortie " (code) },
        Exit::Signal(signal) => html! { "signal " (signal) },
        Exit::Limit { which, limit, seen } => {
            html! { "limite " (words(which)) " dépassée : " (seen) " sur " (limit) }
        }
        Exit::Cancelled => html! { "annulée" },
        Exit::NotStarted { why } => html! { "pas démarrée : " (words(why)) },
        Exit::Refused { why } => html! { "ses résultats ont été refusés : " (words(why)) },
    }
}

/// Why a rule or a law demands what it demands. A team's own rule keeps its words.
pub(crate) fn of_rule(lang: Lang, rule: &str, rationale: &Rationale) -> Markup {
    match lang {
        Lang::En => text::line(lang, &rationale.to_string()),
        Lang::Fr => rule_in_french(rule, rationale),
    }
}

fn rule_in_french(rule: &str, rationale: &Rationale) -> Markup {
    let words = |text: &str| text::line(Lang::Fr, text);
    match rationale {
        Rationale::Rule { text } => words(text),
        Rationale::ShippedRule { text } => {
            shipped::in_french(rule).map_or_else(|| words(text), |french| html! { (french) })
        }
        Rationale::RuleFailed { error } => {
            html! { "cette règle n'a pas pu être évaluée, et l'action est donc refusée : " (words(error)) }
        }
        Rationale::NoRulePermits => html! { "aucune règle ne le permet" },
        Rationale::NoTierPermits => html! { "aucun nombre d'approbations ne satisfait toutes les règles à la fois" },
        Rationale::RunObserves { kind } => {
            html! { "cette exécution ne fait qu'observer, et `" (kind) "` peut changer quelque chose" }
        }
        Rationale::RunSupervised => html! { "chaque action de cette exécution est soumise à une personne" },
        Rationale::AlwaysAsks { kind } => {
            html! { "avant `" (kind) "`, une personne décide toujours, quoi que disent les règles" }
        }
        Rationale::AsksBeforeNetwork => html! {
            "cette exécution demande avant de s'adresser à d'autres, et la cage de cette action a un réseau"
        },
        Rationale::CageUnsuitable { needed } => {
            html! { "la cage prévue pour cet agent ne convient pas à `" (needed) "`" }
        }
        Rationale::SwitchOn { switch, kind } => {
            html! { "`" (words(switch)) "` est activé pour cet agent, et ceci est `" (kind) "`" }
        }
        Rationale::ToolNotInEntry { tool } => html! { "l'outil `" (tool) "` n'est pas prévu pour cet agent" },
        Rationale::CageChanged { profile, tool } => html! {
            "le genre de cage `" (words(profile)) "`, où tourne `" (tool) "`, a changé depuis l'approbation du plan"
        },
        Rationale::CageNotPlanned { tool, profile, planned } => html! {
            "`" (tool) "` tourne dans une cage du genre `" (words(profile)) "` ; avec le plan ont été approuvés : " (words(&planned.join(", ")))
        },
        Rationale::CapabilityMissing { kind, any_of } => {
            let listed = any_of.iter().map(|capability| capability.as_str()).collect::<Vec<_>>().join(" ou ");
            html! { "`" (kind) "` demande " (listed) ", ce qui n'est pas prévu pour cet agent" }
        }
        Rationale::TargetBeyondPlan { target, network } => html! {
            "la cible `" (words(target)) "` est hors du réseau prévu pour cette exécution : " (words(network))
        },
        Rationale::OpeningBeyondPlan { opening, network } => html! {
            "`" (words(opening)) "` est hors du réseau prévu pour cette exécution : " (words(network))
        },
        Rationale::ToolNotInScope { tool } => {
            html! { "l'outil `" (tool) "` n'est pas dans le périmètre de cette exécution" }
        }
        Rationale::TargetNotInScope { target } => {
            html! { "la cible `" (words(target)) "` n'est pas dans le périmètre de cette exécution" }
        }
        Rationale::OpeningNotInScope { opening } => {
            html! { "`" (words(opening)) "` n'est pas dans le périmètre de cette exécution" }
        }
        Rationale::ScopeChanged => html! {
            "l'action a été scellée sous un autre périmètre que celui de l'exécution ; à proposer à nouveau"
        },
        Rationale::ToolChanged { tool } => html! { "l'outil `" (tool) "` a changé depuis ; à proposer à nouveau" },
        Rationale::PathDenied { path, by } => {
            html! { "le chemin `" (words(path)) "` est interdit par `" (words(by)) "`" }
        }
        Rationale::PathOutside { path } => {
            html! { "le chemin `" (words(path)) "` est hors de ce que le périmètre permet" }
        }
        Rationale::PathInvalid { error } => html! { span lang="en" { (words(error)) } },
    }
}

/// What an entry did to a decision.
pub(crate) fn of_audit(lang: Lang, status: &AuditStatus) -> Markup {
    match lang {
        Lang::En => text::line(lang, &status.to_string()),
        Lang::Fr => text::line(lang, &audit_in_french(status)),
    }
}

fn audit_in_french(status: &AuditStatus) -> String {
    let plain = match status {
        AuditStatus::PlanApproved => "plan approuvé",
        AuditStatus::PlanApprovalVoid => "approbation du plan nulle : son relecteur a été révoqué",
        AuditStatus::PlanRejected => "plan rejeté",
        AuditStatus::CheckpointApproved => "point de contrôle approuvé",
        AuditStatus::CheckpointLapsed => "point de contrôle passé sans regard, comme convenu",
        AuditStatus::CheckpointRejected => "point de contrôle rejeté",
        AuditStatus::ResultsApproved => "résultats approuvés",
        AuditStatus::ResultsRejected => "résultats rejetés",
        AuditStatus::OrderGiven => "consigne donnée",
        AuditStatus::OrderRevoked => "consigne révoquée",
        AuditStatus::HostOpened => "hôte ouvert",
        AuditStatus::HostNotOpened => "hôte non ouvert",
        AuditStatus::HostClosed => "hôte refermé",
        AuditStatus::Rehearsed => "répétée",
        AuditStatus::ToBePerformed => "à exécuter",
        AuditStatus::Approved => "approuvée",
        AuditStatus::ApprovedInPart => "approuvée en partie",
        AuditStatus::ApprovalVoid => "approbation nulle : son relecteur a été révoqué",
        AuditStatus::Rejected => "rejetée",
        AuditStatus::Amended => "modifiée",
        AuditStatus::Expired => "périmée",
        AuditStatus::Unassigned => "confiée à personne",
        AuditStatus::Snoozed => "remise à plus tard",
        AuditStatus::Unsnoozed => "reprise",
        AuditStatus::Judged { tier } => return format!("niveau {tier}"),
        AuditStatus::ApprovedByOrder { order } => return format!("approuvée par la consigne {order}"),
        AuditStatus::Assigned { to } => return format!("confiée à {to}"),
        AuditStatus::CallsCounted { calls, outcome, reason } => {
            let outcome = match outcome {
                CallOutcome::Refused => "refusés",
                CallOutcome::Answered => "sans suite",
            };
            return format!("{calls} appels {outcome} : {reason}");
        }
    };
    plain.to_owned()
}

/// Why a budget does not allow something, in French.
pub(crate) fn budget_in_french(why: &BudgetRefusal) -> String {
    let named = |resource: &placet_domain::budget::Resource| Lang::Fr.resource(*resource);
    match why {
        BudgetRefusal::NotHeld(why) => not_held_in_french(why),
        BudgetRefusal::UsedUp { resource } => {
            format!("le budget « {} » est épuisé ; un relecteur peut l'augmenter", named(resource))
        }
        BudgetRefusal::BelowCommitted(short) => {
            format!("plus que cela est déjà dépensé ou retenu : {}", not_held_in_french(&NotHeld::Short(*short)))
        }
        BudgetRefusal::Unlimited { resource } => {
            format!("« {} » est limité au-dessus ; donnez-lui une limite aussi", named(resource))
        }
        BudgetRefusal::PartWithoutBudget { part } => {
            format!("{} est en cours et n'a pas de budget ; donnez-lui-en un d'abord", part_in_french(part))
        }
        BudgetRefusal::PartUnlimited { part, resource } => {
            format!("{} n'a pas de limite « {} » ; donnez-lui-en une d'abord", part_in_french(part), named(resource))
        }
        BudgetRefusal::PartTooLarge { part, why } => {
            format!("{} a plus que cela : {}", part_in_french(part), not_held_in_french(why))
        }
        BudgetRefusal::ChildUnbound { child } => {
            format!("cela ne lierait pas `{child}`, qui en dépend ; mettez-y fin d'abord")
        }
        BudgetRefusal::RunWithoutBudget { payer } => {
            format!("le budget de {} est limité ; donnez-en un à l'exécution aussi", payer_in_french(*payer))
        }
        BudgetRefusal::ProjectWithoutBudget => {
            "le budget de l'organisation est limité ; un administrateur doit d'abord en donner un au projet".to_owned()
        }
        BudgetRefusal::PlanUnpaid { payer, why } => format!(
            "le budget de {} ne peut pas payer le plan ({}) ; prévoyez moins, ou donnez un plus petit budget à l'exécution",
            payer_in_french(*payer),
            budget_in_french(why)
        ),
    }
}

fn not_held_in_french(why: &NotHeld) -> String {
    match why {
        NotHeld::Short(short) => format!(
            "« {} » : il en reste {} sur {}, et il en faudrait {}",
            Lang::Fr.resource(short.resource),
            short.left,
            short.limit,
            short.asked
        ),
        NotHeld::Twice(purpose) => format!("un montant est déjà retenu pour `{purpose}` ; soldez-le d'abord"),
        NotHeld::TooMany => "trop de montants sont retenus à la fois ; soldez-en d'abord".to_owned(),
    }
}

fn part_in_french(part: &BudgetPart) -> String {
    match part {
        BudgetPart::Project { name } => format!("le projet `{name}`"),
        BudgetPart::Run { id } => format!("l'exécution `{id}`"),
    }
}

const fn payer_in_french(payer: PayerKind) -> &'static str {
    match payer {
        PayerKind::Parent => "l'exécution parente",
        PayerKind::Project => "son projet",
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::budget::Resource;
    use placet_domain::proposal::ActionKind;

    use super::*;

    fn french(reason: &StatusReason) -> String {
        of_status(Lang::Fr, reason).into_string()
    }

    #[test]
    fn c16_status_reasons_are_rendered_in_the_language_of_the_page() {
        let used_up = StatusReason::BudgetUsedUp { resource: Resource::Tokens };
        assert_eq!(french(&used_up), "le budget « Jetons » est épuisé");
        assert_eq!(of_status(Lang::En, &used_up).into_string(), "the budget for tokens is used up");
        let summary = "a <b>table</b>: done".to_owned();
        let early = french(&StatusReason::FinishesEarly { done: 1, steps: 3, summary });
        assert_eq!(early, "elle veut finir avec 1 étapes faites sur 3 : a &lt;b&gt;table&lt;/b&gt;: done");
        let fault = HostFault::AgentEnded { end: AgentEnd::Code { code: 3 }, last_words: "no\u{202e}".to_owned() };
        assert!(french(&fault.into()).contains("⟦U+202E⟧"));
        assert_eq!(french(&StatusReason::Exited { exit: Exit::Code(3) }), "code de sortie 3");
        for part in RevokedPart::ALL {
            let told = french(&StatusReason::revoked("<ada>", *part));
            assert!(told.contains("`&lt;ada&gt;`") && told.contains("révoqué"), "{told}");
        }
    }

    #[test]
    fn c16_words_of_agents_keep_their_language_even_if_they_imitate_the_runtime() {
        let imitation = StatusReason::said(StatusReason::SameToolRejected.to_string());
        assert_eq!(french(&imitation), "an action with the same tool was rejected");
    }

    #[test]
    fn c16_laws_and_shipped_rules_are_french_and_rules_of_a_team_are_not() {
        let told = |rule: &str, rationale: &Rationale| of_rule(Lang::Fr, rule, rationale).into_string();
        let text = || "spends money".to_owned();
        assert_eq!(told("outward.payment", &Rationale::ShippedRule { text: text() }), "dépense de l'argent");
        assert_eq!(told("outward.payment", &Rationale::Rule { text: text() }), "spends money");
        assert_eq!(told("no.such.rule", &Rationale::ShippedRule { text: text() }), "spends money");
        let observes = Rationale::RunObserves { kind: ActionKind::SendEmail };
        assert!(told("mode.observe", &observes).contains("ne fait qu'observer"));
        assert!(of_rule(Lang::En, "mode.observe", &observes).into_string().contains("only observes"));
    }

    #[test]
    fn c16_audit_statuses_are_rendered_in_the_language_of_the_page() {
        let by_order = AuditStatus::ApprovedByOrder { order: 3 };
        assert_eq!(of_audit(Lang::Fr, &by_order).into_string(), "approuvée par la consigne 3");
        assert_eq!(of_audit(Lang::En, &by_order).into_string(), "approved by order 3");
    }
}
