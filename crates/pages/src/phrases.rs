//! Sentences that the runtime itself wrote into entries, in the language of the page. They are kept as text, in English and for ever: each is
//! known by what stands around its words, and told anew around the same words.
//!
//! Whatever is none of them was written by agents, people or policies, and keeps its language. The tests read the sources that
//! write them: a sentence there that is missing here fails.

use maud::{Markup, html};
use placet_domain::budget::Resource;

use crate::lang::Lang;
use crate::{shipped, text};

/// A sentence with `{}` for each of its words, and the same in French, its words in the same order.
type Phrase = (&'static str, &'static str);

/// Why a run stands where it stands, and why an order ended.
const OF_RUNS: &[Phrase] = &[
    ("it wants to finish with {} of {} steps done: {}", "elle veut finir avec {} étapes faites sur {} : {}"),
    ("most of the budget for {} is used", "le budget « {} » est presque épuisé"),
    ("the budget for {} is used up", "le budget « {} » est épuisé"),
    ("it has been at work for {} minutes", "elle travaille depuis {} minutes"),
    (
        "{} actions in a row were taken back before anybody had decided",
        "{} actions de suite ont été retirées avant toute décision",
    ),
    ("nobody decided in time on an action of kind {}", "personne n'a décidé à temps d'une action du genre {}"),
    ("nobody decided in time on an action", "personne n'a décidé à temps d'une action"),
    ("an action of kind {} waits for a decision", "une action du genre {} attend une décision"),
    ("its agent has asked {} times in {} minutes", "son agent a demandé {} fois en {} minutes"),
    ("an action with the same tool was rejected", "une action avec le même outil a été rejetée"),
    ("its agent {} before it was done; it said: {}", "son agent s'est arrêté ({}) avant d'avoir fini ; il a dit : {}"),
    ("its agent {} before it was done", "son agent s'est arrêté ({}) avant d'avoir fini"),
    ("its host cannot go on: {}", "son hôte ne peut pas continuer : {}"),
    ("it cannot be saved: {}", "elle ne peut pas être enregistrée : {}"),
];

/// How an execution ended.
const OF_ENDS: &[Phrase] = &[
    ("exit {}", "code de sortie {}"),
    ("signal {}", "signal {}"),
    ("over the {} limit: {} of {}", "limite {} dépassée : {} sur {}"),
    ("cancelled", "annulée"),
    ("not started: {}", "pas démarrée : {}"),
    ("its results were refused: {}", "ses résultats ont été refusés : {}"),
];

/// What no policy can repeal, and what is said where no rule permits.
const OF_LAWS: &[Phrase] = &[
    (
        "this run only observes, and `{}` may change something",
        "cette exécution ne fait qu'observer, et `{}` peut changer quelque chose",
    ),
    ("every action of this run asks a person", "chaque action de cette exécution est soumise à une personne"),
    (
        "before `{}` a person is always asked, whatever the policy says",
        "avant `{}`, une personne décide toujours, quoi que disent les règles",
    ),
    (
        "this run asks before it turns to others, and the cage of this action has a network",
        "cette exécution demande avant de s'adresser à d'autres, et la cage de cette action a un réseau",
    ),
    ("the cage of this agent's entry is not good for `{}`", "la cage prévue pour cet agent ne convient pas à `{}`"),
    ("`{}` is on for this agent, and this is `{}`", "`{}` est activé pour cet agent, et ceci est `{}`"),
    ("the tool `{}` is not in this agent's entry", "l'outil `{}` n'est pas prévu pour cet agent"),
    (
        "the kind of cage `{}`, which `{}` runs in, was changed since the plan was approved",
        "le genre de cage `{}`, où tourne `{}`, a changé depuis l'approbation du plan",
    ),
    (
        "`{}` runs in a cage of kind `{}`; with the plan these were approved: {}",
        "`{}` tourne dans une cage du genre `{}` ; avec le plan ont été approuvés : {}",
    ),
    ("`{}` takes {}, which this agent's entry does not have", "`{}` demande {}, ce qui n'est pas prévu pour cet agent"),
    (
        "the target `{}` is beyond the network that this run was planned with: {}",
        "la cible `{}` est hors du réseau prévu pour cette exécution : {}",
    ),
    (
        "`{}` is beyond the network that this run was planned with: {}",
        "`{}` est hors du réseau prévu pour cette exécution : {}",
    ),
    ("the tool `{}` is not in the scope of this run", "l'outil `{}` n'est pas dans le périmètre de cette exécution"),
    ("the target `{}` is not in the scope of this run", "la cible `{}` n'est pas dans le périmètre de cette exécution"),
    ("`{}` is not in the scope of this run", "`{}` n'est pas dans le périmètre de cette exécution"),
    (
        "the action was sealed under another scope than the run's; propose it again",
        "l'action a été scellée sous un autre périmètre que celui de l'exécution ; à proposer à nouveau",
    ),
    ("the tool `{}` was changed since; propose it again", "l'outil `{}` a changé depuis ; à proposer à nouveau"),
    ("the path `{}` is denied by `{}`", "le chemin `{}` est interdit par `{}`"),
    ("the path `{}` is outside of what the scope allows", "le chemin `{}` est hors de ce que le périmètre permet"),
    ("no rule permits this", "aucune règle ne le permet"),
    (
        "no number of approvals satisfies every rule at once",
        "aucun nombre d'approbations ne satisfait toutes les règles à la fois",
    ),
    (
        "this rule could not be evaluated, so the action is refused: {}",
        "cette règle n'a pas pu être évaluée, et l'action est donc refusée : {}",
    ),
];

/// What the runtime said of a run or of an order; whatever else stands there as it was written.
pub(crate) fn of_run(lang: Lang, said: &str) -> Markup {
    told(lang, OF_RUNS, said)
}

#[cfg(test)]
fn is_of_run(said: &str) -> bool {
    OF_RUNS.iter().any(|(english, _)| words(english, said).is_some())
}

/// How an execution ended, as its entry says it.
pub(crate) fn of_end(lang: Lang, said: &str) -> Markup {
    told(lang, OF_ENDS, said)
}

/// Why a rule demands what it demands: of a law, and of a rule that ships, in the words of the page; of a team's policy in its own.
pub(crate) fn of_rule(lang: Lang, because: &str) -> Markup {
    match (lang, shipped::in_french(because)) {
        (Lang::Fr, Some(french)) => html! { (french) },
        (Lang::En | Lang::Fr, _) => told(lang, OF_LAWS, because),
    }
}

fn told(lang: Lang, phrases: &[Phrase], said: &str) -> Markup {
    let french = || phrases.iter().find_map(|(english, french)| Some((french, words(english, said)?)));
    match lang {
        Lang::En => text::line(lang, said),
        Lang::Fr => french().map_or_else(|| text::line(lang, said), |(french, words)| around(lang, french, &words)),
    }
}

/// What stands at each `{}`, if it is this sentence.
fn words<'s>(english: &str, said: &'s str) -> Option<Vec<&'s str>> {
    let mut parts = english.split("{}");
    let mut rest = said.strip_prefix(parts.next()?)?;
    let mut found = Vec::new();
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let is_last = parts.peek().is_none();
        let at = if part.is_empty() && is_last { rest.len() } else { rest.find(part)? };
        found.push(&rest[..at]);
        rest = &rest[at + part.len()..];
    }
    rest.is_empty().then_some(found)
}

/// The words are somebody's: what deceives in them is marked as everywhere.
fn around(lang: Lang, french: &str, words: &[&str]) -> Markup {
    let mut words = words.iter();
    html! {
        @for (index, part) in french.split("{}").enumerate() {
            @if index > 0 { @if let Some(word) = words.next() { (known(lang, word)) } }
            (part)
        }
    }
}

/// What can be used up is named as the page names it.
fn known(lang: Lang, word: &str) -> Markup {
    let resource = Resource::ALL.iter().find(|resource| resource.as_str() == word);
    resource.map_or_else(|| text::line(lang, word), |resource| html! { (lang.resource(*resource)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHANGE: &str = include_str!("../../domain/src/run/change.rs");
    const FOLLOW: &str = include_str!("../../domain/src/run/follow.rs");
    const ASKING: &str = include_str!("../../domain/src/run/asking.rs");
    const ORDER: &str = include_str!("../../domain/src/run/orders.rs");
    const KEEPER: &str = include_str!("../../worker/src/host/keeper.rs");
    const EVIDENCE: &str = include_str!("../../domain/src/evidence.rs");
    const LAW: &str = include_str!("../../domain/src/policy/law.rs");
    const JUDGE: &str = include_str!("../../domain/src/policy/judge.rs");

    /// Every sentence that stands between quotes there behind one of these words, with `{}` for what is put into it.
    fn written(source: &str, behind: &[&str]) -> Vec<String> {
        let code: String =
            source.lines().take_while(|line| !line.contains("#[cfg(test)]")).collect::<Vec<_>>().join("\n");
        let found = behind.iter().flat_map(|word| code.split(word).skip(1));
        found
            .filter_map(|after| after.trim_start().strip_prefix('"')?.split_once('"'))
            .map(|(said, _)| holes(said))
            .collect()
    }

    fn holes(said: &str) -> String {
        let mut parts = said.split('{');
        let first = parts.next().unwrap_or_default().to_owned();
        first
            + &parts
                .map(|part| format!("{{}}{}", part.split_once('}').map_or("", |(_, rest)| rest)))
                .collect::<String>()
    }

    #[test]
    fn c16_what_the_runtime_writes_of_runs_has_its_place_here() {
        let said = [
            written(CHANGE, &["summary = format!(", "reason: format!(", "GateKind::Time, &format!("]),
            written(FOLLOW, &["summary = format!(", "summary: format!("]),
            written(ASKING, &["summary = format!("]),
            written(ORDER, &["reason = "]),
            written(KEEPER, &["self.fail(format!(", "\"snapshot-failed\", format!("]),
        ]
        .concat();
        assert!(said.len() >= 10, "the sources are read otherwise now: {said:?}");
        for sentence in said {
            // What is put behind a sentence may be nothing.
            let is_known = is_of_run(&sentence) || is_of_run(sentence.trim_end_matches("{}"));
            assert!(is_known, "`{sentence}` is said in English on French pages");
        }
    }

    #[test]
    fn c16_laws_and_ends_of_executions_have_their_place_here() {
        let laws = [
            written(LAW, &["format!(", "\"mode.supervised\",", "\"mode.new_domain\",", "\"scope.version\","]),
            written(JUDGE, &["because = format!(", "is_empty()) {", "Tier::D) {"]),
        ]
        .concat();
        assert!(laws.len() >= 20, "the sources are read otherwise now: {laws:?}");
        let (_, ends) = EVIDENCE.split_once("fn in_words").unwrap();
        let ends = written(ends.split_once("\n    }\n").unwrap().0, &["format!(", "Self::Cancelled =>"]);
        assert_eq!(ends.len(), OF_ENDS.len(), "{ends:?}");
        for (phrases, all) in [(OF_LAWS, laws), (OF_ENDS, ends)] {
            for sentence in all {
                assert!(phrases.iter().any(|(english, _)| *english == sentence), "`{sentence}` has no French");
            }
        }
    }

    #[test]
    fn c16_a_sentence_is_told_around_its_words_and_what_others_wrote_stays() {
        assert_eq!(
            of_run(Lang::Fr, "the budget for tokens is used up").into_string(),
            "le budget « Jetons » est épuisé"
        );
        assert_eq!(
            of_run(Lang::En, "the budget for tokens is used up").into_string(),
            "the budget for tokens is used up"
        );
        let ends = of_run(Lang::Fr, "it wants to finish with 1 of 3 steps done: a <b>table</b>: done").into_string();
        assert_eq!(ends, "elle veut finir avec 1 étapes faites sur 3 : a &lt;b&gt;table&lt;/b&gt;: done");
        assert_eq!(of_run(Lang::Fr, "too many pages").into_string(), "too many pages");
        let said = "its agent exited with 3 before it was done; it said: no\u{202e}";
        assert!(is_of_run(said) && of_run(Lang::Fr, said).into_string().contains("⟦U+202E⟧"));
        assert_eq!(of_end(Lang::Fr, "exit 3").into_string(), "code de sortie 3");
        assert_eq!(
            of_rule(Lang::Fr, "the tool `nmap` is not in the scope of this run").into_string(),
            "l'outil `nmap` n'est pas dans le périmètre de cette exécution"
        );
        assert_eq!(of_rule(Lang::Fr, "spends money").into_string(), "dépense de l'argent");
        assert_eq!(of_rule(Lang::En, "spends money").into_string(), "spends money");
        assert_eq!(of_rule(Lang::Fr, "spends our money").into_string(), "spends our money");
        for (english, french) in OF_RUNS.iter().chain(OF_ENDS).chain(OF_LAWS) {
            assert_eq!(english.matches("{}").count(), french.matches("{}").count(), "{english}");
        }
    }
}
