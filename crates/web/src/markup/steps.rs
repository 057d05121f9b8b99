//! What each of the fifteen steps of a run led to or waits for, in the language of the page: one table, in which every product of a step has
//! its place. One that is not told in every language does not compile.
//!
//! What people wrote keeps its own language.

use maud::{Markup, html};
use placet_domain::budget::{Amounts, Ceiling, Resource};
use placet_domain::catalogue::NetworkUse;
use placet_domain::planning::AgentFit;
use placet_domain::run::{Declared, GateCount, GateKind, StepProduct, Takes};
use placet_lang::Lang;

use crate::markup::parts::{digest, short};
use crate::markup::text;

pub(crate) fn product(lang: Lang, product: &StepProduct) -> Markup {
    match (lang, product) {
        (_, StepProduct::Selected { agent, fit }) => html! {
            code { (text::line(lang, agent)) } @if let Some(fit) = fit { (lang.colon()) (agent_fit(lang, fit)) }
        },
        (_, StepProduct::Scope(version)) => digest(*version),
        (_, StepProduct::Declared(Declared::Steps(steps))) => {
            html! { (lang.declared_by_person()) " " (counted(lang, *steps, Lang::n_steps)) }
        }
        (_, StepProduct::StepsDone { done, of }) => {
            html! { (done) " " (lang.of()) " " (counted(lang, *of, Lang::n_steps)) }
        }
        (_, StepProduct::Collected(outputs)) => html! { (counted(lang, *outputs, Lang::n_outputs)) },
        (_, StepProduct::Declared(Declared::Agent(agent))) => {
            html! { (lang.declared_by_person()) " " code { (short(&agent.to_string())) } }
        }
        (_, StepProduct::Held(ceiling)) => html! { (lang.held_for_it()) " " (limits(lang, ceiling)) },
        (_, StepProduct::Estimated { likely, worst }) => estimated(lang, likely, worst),
        (Lang::En, said) => text::line(lang, &said.to_string()),
        (Lang::Fr, said) => text::line(lang, &in_french(said)),
    }
}

/// Figures by which the planner chose the agent.
fn agent_fit(lang: Lang, fit: &AgentFit) -> String {
    match lang {
        Lang::En => fit.to_string(),
        Lang::Fr => format!(
            "{} capacités au-delà du besoin ; au pire {} et {} minutes",
            fit.surplus,
            lang.money(fit.worst_usd_micros),
            fit.worst_minutes()
        ),
    }
}

fn estimated(lang: Lang, likely: &Amounts, worst: &Amounts) -> Markup {
    html! { (lang.likely()) " " (amounts(lang, likely)) (lang.semicolon()) (lang.at_most()) " " (amounts(lang, worst)) }
}

/// The three that people reckon with.
fn amounts(lang: Lang, amounts: &Amounts) -> String {
    let told = [Resource::UsdMicros, Resource::Tokens, Resource::WallMs];
    told.map(|resource| lang.amount(resource, amounts.of(resource))).join(", ")
}

fn limits(lang: Lang, ceiling: &Ceiling) -> String {
    let limit = |resource: &Resource| Some(lang.amount(*resource, ceiling.of(*resource)?));
    Resource::ALL.iter().filter_map(limit).collect::<Vec<_>>().join(", ")
}

fn counted(lang: Lang, count: usize, word: fn(Lang, u64) -> &'static str) -> String {
    let count = count as u64;
    format!("{} {}", lang.number(count), word(lang, count))
}

fn in_french(product: &StepProduct) -> String {
    let lang = Lang::Fr;
    match product {
        StepProduct::Nothing => String::new(),
        StepProduct::Goal(goal) => goal.clone(),
        StepProduct::Declared(declared) => format!("{} {}", lang.declared_by_person(), said(declared)),
        StepProduct::Encoded { takes, inputs, outputs } => {
            format!(
                "{} ; {}, {}",
                needed(takes),
                counted(Lang::Fr, *inputs, Lang::n_inputs),
                counted(Lang::Fr, *outputs, Lang::n_outputs)
            )
        }
        StepProduct::Decomposed { subtasks, gates, since } => {
            let since = since
                .map(|steps| format!(" ; depuis, une personne a écrit {}", counted(Lang::Fr, steps, Lang::n_steps)));
            format!(
                "{}, dont {gates} avec point de contrôle{}",
                counted(Lang::Fr, *subtasks, Lang::n_subtasks),
                since.unwrap_or_default()
            )
        }
        StepProduct::NoPlan => "pas encore de plan".to_owned(),
        StepProduct::Caged { profile, agent, network } => caged(profile, agent.as_deref(), network),
        StepProduct::Unlimited => "aucune limite, ni pour qui la paie".to_owned(),
        StepProduct::PlanApproved => "approuvé".to_owned(),
        StepProduct::PlanWaits => "attend un relecteur".to_owned(),
        StepProduct::PlanSentBack(reason) => format!("renvoyé : {reason}"),
        StepProduct::AgentComes => "son agent vient de lui-même".to_owned(),
        StepProduct::WorkerStarts => "un exécutant démarre son agent dans une cage".to_owned(),
        StepProduct::Checkpoints { counts, waits } => checkpoints(*counts, *waits),
        StepProduct::HostCollects => "son hôte collecte".to_owned(),
        StepProduct::AgentKeeps => "son agent garde ses propres fichiers".to_owned(),
        StepProduct::ResultsAccepted => "acceptés".to_owned(),
        StepProduct::ResultsWait => "attendent un relecteur".to_owned(),
        StepProduct::ResultsNeverAccepted => "jamais acceptés".to_owned(),
        StepProduct::LetOut(outputs) => {
            let leaves = if *outputs < 2 { "est sortie" } else { "sont sorties" };
            format!("{} {leaves} ; rien ne reste sur son hôte", counted(Lang::Fr, *outputs, Lang::n_outputs))
        }
        StepProduct::HostRemoves => "son hôte supprime tout".to_owned(),
        StepProduct::InLedger => "le registre contient tout".to_owned(),
        // Told above, in the words of every language.
        StepProduct::Selected { .. }
        | StepProduct::Estimated { .. }
        | StepProduct::Scope(_)
        | StepProduct::Held(_)
        | StepProduct::StepsDone { .. }
        | StepProduct::Collected(_) => String::new(),
    }
}

fn said(declared: &Declared) -> String {
    match declared {
        Declared::Goal(goal) => goal.clone(),
        Declared::AsWritten => "le but est pris comme il a été écrit".to_owned(),
        // Told above, in the words of every language.
        Declared::Steps(_) | Declared::Agent(_) => String::new(),
        Declared::CagesOfTools => "chaque action dans la cage de son outil".to_owned(),
        Declared::NoEstimate => "rien n'a été estimé".to_owned(),
    }
}

fn needed(takes: &Takes) -> String {
    match takes {
        Takes::Template(template) => format!("demande le modèle {template}"),
        Takes::Capabilities(needs) => format!("demande {}", needs.join(", ")),
    }
}

fn caged(profile: &str, agent: Option<&str>, network: &NetworkUse) -> String {
    let agent = agent.map(|agent| format!(", son agent dans {agent}")).unwrap_or_default();
    let network = match network {
        NetworkUse::None => "aucun réseau".to_owned(),
        NetworkUse::Filtered => "réseau filtré".to_owned(),
        NetworkUse::Allow(_) => format!("réseau {network}"),
    };
    format!("actions dans {profile} ou plus étroit{agent}, {network}")
}

fn checkpoints(GateCount { reached, approved, rejected, .. }: GateCount, waits: Option<(u32, GateKind)>) -> String {
    let waits = waits.map(|(number, kind)| format!(" ; le numéro {number} ({kind}) attend")).unwrap_or_default();
    let [s1, s2, s3] = [reached, approved, rejected].map(|count| if count < 2 { "" } else { "s" });
    format!("{reached} atteint{s1}, {approved} passé{s2}, {rejected} renvoyé{s3}{waits}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(lang: Lang, said: &StepProduct) -> String {
        product(lang, said).into_string()
    }

    #[test]
    fn c16_what_a_step_led_to_is_told_in_the_language_of_the_page_and_what_people_wrote_keeps_its_own() {
        let done = StepProduct::StepsDone { done: 1, of: 8 };
        assert_eq!(
            (shown(Lang::En, &done), shown(Lang::Fr, &done)),
            ("1 of 8 steps".to_owned(), "1 sur 8 étapes".to_owned())
        );
        let back = StepProduct::PlanSentBack("too <b>many</b>".to_owned());
        assert_eq!(shown(Lang::Fr, &back), "renvoyé : too &lt;b&gt;many&lt;/b&gt;");
        let fit = AgentFit { surplus: 2, worst_usd_micros: 1_500_000, worst_wall_ms: 60_001 };
        let chosen = StepProduct::Selected { agent: "writer".to_owned(), fit: Some(fit) };
        assert!(shown(Lang::Fr, &chosen).contains("2 capacités au-delà du besoin"));
        assert!(
            shown(Lang::En, &chosen).ends_with("2 capabilities beyond the need; $1.50 and 2 minutes in the worst case")
        );
        let counts = GateCount { reached: 2, approved: 1, ..GateCount::default() };
        let steps = StepProduct::Declared(Declared::Steps(1));
        assert_eq!(shown(Lang::En, &steps), "declared by a person: 1 step");
        assert_eq!(shown(Lang::Fr, &steps), "déclaré par une personne : 1 étape");
        let collected = StepProduct::Collected(2);
        assert_eq!(shown(Lang::Fr, &collected), "2 sorties");
        let gates = StepProduct::Checkpoints { counts, waits: Some((2, GateKind::Cost)) };
        assert_eq!(shown(Lang::Fr, &gates), "2 atteints, 1 passé, 0 renvoyé ; le numéro 2 (COST) attend");
    }

    #[test]
    fn c16_what_is_held_and_reckoned_with_is_told_in_the_units_of_people() {
        let held =
            StepProduct::Held(Ceiling { usd_micros: Some(5_000_000), wall_ms: Some(60_000), ..Ceiling::default() });
        assert_eq!(shown(Lang::En, &held), "held for it: $5.00, 1 min");
        assert_eq!(shown(Lang::Fr, &held), "réservé pour elle : 5,00\u{202F}$, 1 min");
        let amounts = Amounts { tokens: 1, usd_micros: 10_000, wall_ms: 1_000, ..Amounts::NONE };
        let reckoned = StepProduct::Estimated { likely: amounts, worst: amounts };
        assert!(shown(Lang::Fr, &reckoned).starts_with("sans doute 0,01\u{202F}$, 1 jeton, 1 s"));
    }
}
