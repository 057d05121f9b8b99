//! Why something was refused, in the language of the page: one table, in which every refusal of the domain has its place. A new one that
//! is not told in every language does not compile.
//!
//! Machines say the code, which is never translated. What a refusal quotes, somebody's reason or the exact flaw of an input, keeps its
//! own language and says so.

use maud::{Markup, html};
use placet_domain::policy::{Rationale, Reason};
use placet_domain::refusal::{CurrentState, PasskeyFlaw, PermitFlaw, Refusal};
use placet_lang::{Lang, meaning};

use crate::markup::problem::Problem;
use crate::markup::{obstacles, reasons, text};

/// A refusal in words, and what it quotes.
struct Told {
    words: String,
    quoted: Option<String>,
}

impl Told {
    fn plain(words: impl Into<String>) -> Self {
        Self { words: words.into(), quoted: None }
    }

    fn quoting(words: impl Into<String>, quoted: impl Into<String>) -> Self {
        Self { words: words.into(), quoted: Some(quoted.into()) }
    }
}

/// Why not, for whoever reads the page.
pub(crate) fn refusal(lang: Lang, refusal: &Refusal) -> Markup {
    let Told { words, quoted } = match (by_state(lang, refusal), lang) {
        (Some(told), _) => Told::plain(told),
        (None, Lang::En) => Told::plain(refusal.to_string()),
        (None, Lang::Fr) => in_french(refusal),
    };
    html! {
        (text::line(lang, &words))
        @if let Some(quoted) = quoted { " " (in_english(lang, &quoted)) }
        @if let (Lang::Fr, Refusal::Denied { reasons }) = (lang, refusal) { (denying(lang, reasons)) }
    }
}

/// Reasons of the verdict that refuses something.
fn denying(lang: Lang, denying: &[Reason]) -> Markup {
    html! {
        @if denying.is_empty() { " " (reasons::of_rule(lang, "", &Rationale::NoRulePermits)) }
        @for (index, reason) in denying.iter().enumerate() {
            @if index > 0 { " ;" } " " (reasons::of_rule(lang, &reason.rule, &reason.because))
        }
    }
}

/// What a status does not allow, with what that status means. What the domain says beside it is advice for agents and for programs, what to
/// propose or to wait for; a reader of a page wants to know what became of it.
fn by_state(lang: Lang, refusal: &Refusal) -> Option<String> {
    Some(match (lang, refusal) {
        (Lang::En, Refusal::NotNow { what, state }) => {
            format!("it cannot be {what}: it is {} now. {}", state.as_str(), meant(lang, *state)?)
        }
        (Lang::Fr, Refusal::NotNow { what: _, state }) => {
            format!("impossible dans l'état « {} ». {}", state.as_str(), meant(lang, *state)?)
        }
        (Lang::En, Refusal::RunNotActive { status }) => {
            format!("the run is {status} now. {}", meaning::of_status(lang, *status))
        }
        (Lang::Fr, Refusal::RunNotActive { status }) => {
            format!("l'exécution est dans l'état « {status} ». {}", meaning::of_status(lang, *status))
        }
        _ => return None,
    })
}

/// What the status of an action or a run means.
const fn meant(lang: Lang, state: CurrentState) -> Option<&'static str> {
    match state {
        CurrentState::Action(status) => Some(meaning::of_action(lang, status)),
        CurrentState::Run(status) => Some(meaning::of_status(lang, status)),
        CurrentState::Worktree(_) | CurrentState::Obstacle(_) => None,
    }
}

/// Why something was not taken.
pub(crate) fn of_problem(lang: Lang, Problem { code, detail, refusal: refused, .. }: &Problem) -> Markup {
    match refused {
        Some(refused) => refusal(lang, refused),
        None => of_code(lang, code, detail),
    }
}

/// Words that stand in English wherever they are shown.
pub(crate) fn in_english(lang: Lang, words: &str) -> Markup {
    html! { @if lang == Lang::En { (text::line(lang, words)) } @else { span lang="en" { (text::line(lang, words)) } } }
}

fn in_french(refusal: &Refusal) -> Told {
    match refusal {
        Refusal::Unknown { what } => Told::plain(format!("introuvable : {}", thing(what))),
        Refusal::UnknownName { what, given, .. } => Told::plain(format!("introuvable : {} `{given}`", thing(what))),
        Refusal::Exists { what } => Told::plain(format!("existe déjà : {}", thing(what))),
        Refusal::Invalid { why } => Told::quoting("cela n'est pas valable :", why),
        Refusal::Role { needed } => Told::plain(format!("il faut le rôle `{needed}`")),
        Refusal::Reach => Told::plain(
            "cela concerne tous les projets, et vous n'en atteignez que certains ; demandez à un administrateur de tous",
        ),
        Refusal::Duty { operation, accountable } => {
            Told::plain(format!("c'est à qui a la charge `{operation}` de le faire : {accountable}"))
        }
        Refusal::Undone { items } => Told::quoting(
            "tout n'est pas encore fait ; occupez-vous-en, ou répondez-en avec une raison (`--force`) :",
            items,
        ),
        Refusal::NotNow { what: _, state: CurrentState::Obstacle(obstacle) } => {
            Told::plain(format!("impossible : {}", obstacles::in_french(*obstacle)))
        }
        Refusal::NotNow { what: _, state } => {
            Told::quoting(format!("impossible dans l'état « {} » :", state.as_str()), state.hint())
        }
        Refusal::RunNotActive { status } => Told::plain(format!("l'exécution est dans l'état « {status} »")),
        Refusal::Revoked => Told::plain("cet accès n'est plus valable ; demandez-en un autre à un administrateur"),
        Refusal::OtherAgent => Told::plain("cette exécution est à un autre agent"),
        Refusal::OtherHost => Told::plain("cette exécution est hébergée par un autre exécutant"),
        Refusal::Budget(why) => Told::plain(format!("le budget ne le permet pas : {}", reasons::budget_in_french(why))),
        Refusal::Halted { reason } => Told::quoting(
            "tout a été arrêté ; un administrateur peut laisser reprendre (`placet kill --release`). Raison :",
            reason,
        ),
        Refusal::SafeMode { reason } => Told::quoting(
            "tout est en mode sûr, et seule la lecture continue ; un administrateur peut y mettre fin (`placet safe-mode off`). Raison :",
            reason,
        ),
        Refusal::TooManyQuestions { undecided, lately } => Told::plain(format!(
            "on demande trop aux personnes : {undecided} questions attendent et {lately} ont été posées récemment ; attendez que certaines soient décidées, ou qu'une personne laisse l'exécution continuer"
        )),
        Refusal::TooManyActions { waiting } => Told::plain(format!(
            "{waiting} actions de cet agent attendent des personnes ou des exécutants, et il ne peut pas en avoir plus ; attendez que certaines soient terminées, ou retirez-en"
        )),
        Refusal::Kin => Told::plain(
            "qui propose ou modifie, ou se tient derrière, ne peut pas décider ; demandez à un autre relecteur",
        ),
        Refusal::SamePerson => {
            Told::plain("vous avez déjà décidé ; l'autre approbation doit venir d'une autre personne")
        }
        Refusal::Denied { .. } => Told::plain(
            "les règles refusent ce que vous en avez fait ; ce qui était proposé attend toujours tel quel. Raison :",
        ),
        Refusal::Stale { seen, current } => Told::plain(format!(
            "ce que vous avez vu ({seen}) n'est pas ce qui est là maintenant ({current}) ; regardez à nouveau avant de décider"
        )),
        Refusal::Expired => {
            Told::plain("le délai est passé ; à proposer à nouveau, une ancienne approbation ne resert jamais")
        }
        Refusal::Permit(flaw) => Told::plain(format!("le permis est refusé : {}", permit(*flaw))),
        Refusal::PasskeyNeeded => Told::plain(
            "deux personnes sont requises, et vous signez avec une clé d'accès : ouvrez la page dans un navigateur et approuvez là (une clé d'accès s'ajoute dans les réglages)",
        ),
        Refusal::DoorUnsigned => Told::plain(
            "qui a des clés d'accès les garde : en ajouter ou en retirer une, un lien, un nouveau jeton ou mot de passe pour cette personne, et un lien ou un jeton qu'elle fait pour un autre administrateur, se signe avec une clé d'accès de qui le fait, dans les réglages ; si toutes sont perdues, un autre administrateur signe là, ou on y met fin sur l'hôte (`placet identity end-passkeys`)",
        ),
        Refusal::StaleVisit => Told::plain(
            "un mot de passe et une première clé d'accès se fixent juste après l'entrée par un lien ou un mot de passe ; déconnectez-vous et revenez",
        ),
        Refusal::Passkey(flaw) => Told::plain(format!("la clé d'accès est refusée : {}", passkey(*flaw))),
        Refusal::LostLease { given, current } => Told::plain(format!(
            "l'essai {given} est terminé (on en est à {current}) ; arrêtez et jetez, ce qui a été fait est gardé comme preuve en quarantaine"
        )),
    }
}

/// What is looked for, where it has a word; machines' words otherwise.
fn thing(what: &'static str) -> &'static str {
    match what {
        "agent" => "l'agent",
        "call" => "l'appel",
        "checkpoint" => "le point de contrôle",
        "decision" => "la décision",
        "entry" => "l'entrée du registre",
        "evidence" => "la preuve",
        "exemption" => "l'exemption",
        "host" => "l'hôte",
        "identity" => "l'identité",
        "order" => "la consigne",
        "parent run" => "l'exécution parente",
        "passkey" => "la clé d'accès",
        "project" => "le projet",
        "run" => "l'exécution",
        "scope" => "le périmètre",
        "snapshot" => "l'instantané",
        "visit" => "la visite",
        "wish" => "la demande",
        "worktree" => "l'arbre de travail",
        other => other,
    }
}

const fn permit(flaw: PermitFlaw) -> &'static str {
    match flaw {
        PermitFlaw::Malformed => "ce n'est pas un permis",
        PermitFlaw::Forged => "la signature n'est pas la nôtre",
        PermitFlaw::OtherWorker => "il est pour un autre exécutant",
        PermitFlaw::OtherAction => "il est pour une autre action",
        PermitFlaw::OtherBytes => "il est pour d'autres octets",
        PermitFlaw::Replayed => "il a déjà servi",
        PermitFlaw::Expired => "il est périmé",
        PermitFlaw::OtherAttempt => "il est pour un essai terminé",
    }
}

const fn passkey(flaw: PasskeyFlaw) -> &'static str {
    match flaw {
        PasskeyFlaw::Malformed => {
            "ce qui est venu n'est pas ce qu'envoient navigateurs et authentificateurs ; rechargez la page et réessayez"
        }
        PasskeyFlaw::OtherKey => "sa clé est d'un genre qui n'est pas accepté (ES256, EdDSA et RS256 le sont)",
        PasskeyFlaw::Attested => "elle vient avec une déclaration de son fabricant, qui n'est ni demandée ni acceptée",
        PasskeyFlaw::OtherPurpose => "elle a signé quelque chose d'un autre genre",
        PasskeyFlaw::OtherSite => "elle est d'un autre site ; ouvrez la page à l'adresse où elle a été faite",
        PasskeyFlaw::OtherChallenge => "elle a signé autre chose ; rechargez la page et regardez à nouveau",
        PasskeyFlaw::NoPerson => "sa personne n'était pas là, ou n'a pas prouvé qui elle est (code, doigt ou visage)",
        PasskeyFlaw::Unknown => "ce n'est pas une clé d'accès de cette personne",
        PasskeyFlaw::Forged => "la signature n'est pas de cette clé d'accès",
        PasskeyFlaw::Copied => {
            "elle a signé moins souvent qu'avant, comme le ferait une copie ; retirez-la et ajoutez-en une autre"
        }
        PasskeyFlaw::Late => "cela a pris trop de temps ; rechargez la page et réessayez",
        PasskeyFlaw::Replayed => "elle a déjà servi ; rechargez la page et réessayez",
    }
}

/// What pages themselves refuse, by its code; the rest says in English what is wrong, as the API does.
pub(crate) fn of_code(lang: Lang, code: &str, detail: &str) -> Markup {
    let french = match code {
        "bad_form" => "le formulaire n'est pas comme attendu ; rechargez la page et choisissez à nouveau",
        "bad_id" | "bad_query" => "cette adresse n'est pas valable",
        "unknown" | "unknown_route" => "il n'y a rien à cette adresse",
        "csrf" => "ce formulaire ne vient pas d'une page de cette visite",
        "stale" => "il s'est passé quelque chose depuis que cette page a été faite ; regardez ce qu'il en est",
        "too_many" => "trop de demandes en cours, ou trop d'essais ; attendez une minute et recommencez",
        "too_slow" => "cela a pris trop de temps ; regardez ce qu'il en est avant de recommencer",
        "wrong_method" => "cette adresse ne prend pas cette demande ; revenez à la page d'où elle venait",
        "bad_host" => {
            "les pages ne répondent qu'à leurs propres noms : 127.0.0.1, [::1], localhost et la `public_url` des réglages ; d'ailleurs, venez par un tunnel"
        }
        "too_fast" => "c'était trop rapide après la dernière décision ; regardez et recommencez",
        "busy" => "trop de monde à la fois ; réessayez dans un instant",
        "too_long" => {
            "ce formulaire est trop long ; raccourcissez-le, ou faites-le dans un terminal (`placet approve ID --edit`)"
        }
        "wrong_password" => "le mot de passe actuel n'est pas juste",
        "bad_password" => "ce mot de passe ne convient pas : douze caractères ou plus",
        "fault" => {
            "une panne : le registre ne peut être ni écrit ni lu en ce moment, ou une erreur interne ; regardez ce qu'il en est avant de recommencer"
        }
        "tampered" => {
            "ce qui est stocké n'est plus ce qui l'avait été ; ne vous y fiez pas, et dites-le à l'exploitant"
        }
        _ => return in_english(lang, detail),
    };
    match (lang, code) {
        // Routes are for programs; people have addresses.
        (Lang::En, "unknown_route") => text::line(lang, "there is no page at this address"),
        (Lang::En, _) => text::line(lang, detail),
        (Lang::Fr, _) => text::line(lang, french),
    }
}

#[cfg(test)]
mod tests {
    use placet_domain::action::ActionStatus;
    use placet_domain::refusal::Obstacle;
    use placet_domain::run::RunStatus;

    use super::*;

    #[test]
    fn c16_a_refusal_is_told_in_the_language_of_the_page_and_what_it_quotes_keeps_its_own() {
        let shown = |lang, why: &Refusal| refusal(lang, why).into_string();
        assert_eq!(shown(Lang::En, &Refusal::SamePerson), Refusal::SamePerson.to_string());
        assert!(shown(Lang::Fr, &Refusal::SamePerson).starts_with("vous avez déjà décidé"));
        let quoted = shown(Lang::Fr, &Refusal::Invalid { why: "a name is <b>short</b>".to_owned() });
        assert!(quoted.ends_with("<span lang=\"en\">a name is &lt;b&gt;short&lt;/b&gt;</span>"), "{quoted}");
        let other = Refusal::not_now("set", Obstacle::WordsKept);
        assert_eq!(shown(Lang::En, &other), other.to_string());
        assert_eq!(shown(Lang::Fr, &other), "impossible : les mots sont déjà gardés");
        let page = of_code(Lang::Fr, "too_fast", "that was too fast").into_string();
        assert!(!page.contains("fast"), "{page}");
    }
    #[test]
    fn c16_people_are_told_what_became_of_it_and_not_what_an_agent_should_do_next() {
        for status in ActionStatus::ALL {
            let refused = Refusal::not_now("approved", *status);
            for lang in Lang::ALL {
                let told = refusal(*lang, &refused).into_string();
                assert!(told.contains(status.as_str()) && !told.contains(status.hint()), "{told}");
            }
        }
        let faster = Refusal::not_now("rejected", ActionStatus::Rejected);
        let told = refusal(Lang::En, &faster).into_string();
        assert_eq!(told, "it cannot be rejected: it is REJECTED now. Refused by a person.");
        let waits = Refusal::RunNotActive { status: RunStatus::PendingApproval };
        assert!(refusal(Lang::Fr, &waits).into_string().ends_with("Le plan attend une personne."));
    }
}
