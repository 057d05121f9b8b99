//! What messages say, in English and French. Whatever is put in was made harmless before; nothing here is written by an agent.

use placet_domain::policy::Tier;
use placet_domain::time::Timestamp;
use placet_lang::Lang;

use super::NoticeKind;

/// What one message is called, before anything is read of it.
pub(super) fn subject(lang: Lang, waiting: usize, news: usize) -> String {
    match (lang, waiting, news) {
        (Lang::En, 0, news) => format!("Placet: {news} {}", if news == 1 { "thing to know" } else { "things to know" }),
        (Lang::En, 1, _) => "Placet: 1 decision waits".to_owned(),
        (Lang::En, waiting, _) => format!("Placet: {waiting} decisions wait"),
        (Lang::Fr, 0, news) => format!("Placet : {news} {}", if news == 1 { "information" } else { "informations" }),
        (Lang::Fr, 1, _) => "Placet : 1 décision attendue".to_owned(),
        (Lang::Fr, waiting, _) => format!("Placet : {waiting} décisions attendues"),
    }
}

/// What happened, with the names it happened to.
pub(super) fn headline(lang: Lang, what: NoticeKind, thing: &str, agent: &str, project: &str) -> String {
    let said = match (lang, what) {
        (Lang::En, NoticeKind::Action) => format!("{thing} waits for a decision"),
        (Lang::En, NoticeKind::Assigned) => format!("{thing} waits, and a colleague asks for a look"),
        (Lang::En, NoticeKind::Interrupted) => {
            format!("{thing} was interrupted: its worker was lost, nobody knows how far it got")
        }
        (Lang::En, NoticeKind::Plan) => "a plan waits for a decision".to_owned(),
        (Lang::En, NoticeKind::Checkpoint) => "a run stands still at a checkpoint".to_owned(),
        (Lang::En, NoticeKind::Results) => "results wait for a decision".to_owned(),
        (Lang::En, NoticeKind::Wish) => "a run wants to reach a further host".to_owned(),
        (Lang::En, NoticeKind::Failed) => "a run failed".to_owned(),
        (Lang::En, NoticeKind::Exhausted) => "a run used up its budget and stands still".to_owned(),
        (Lang::En, NoticeKind::Worker) => format!("a worker was lost before it began {thing}"),
        (Lang::En, NoticeKind::Informed) => format!("{thing}: you are to be informed"),
        (Lang::Fr, NoticeKind::Action) => format!("{thing} attend une décision"),
        (Lang::Fr, NoticeKind::Assigned) => format!("{thing} attend, et un collègue demande d'y regarder"),
        (Lang::Fr, NoticeKind::Interrupted) => {
            format!("{thing} a été interrompue : son exécutant est perdu, nul ne sait où elle en était")
        }
        (Lang::Fr, NoticeKind::Plan) => "un plan attend une décision".to_owned(),
        (Lang::Fr, NoticeKind::Checkpoint) => "une exécution est arrêtée à un point de contrôle".to_owned(),
        (Lang::Fr, NoticeKind::Results) => "des résultats attendent une décision".to_owned(),
        (Lang::Fr, NoticeKind::Wish) => "une exécution veut atteindre un autre hôte".to_owned(),
        (Lang::Fr, NoticeKind::Failed) => "une exécution a échoué".to_owned(),
        (Lang::Fr, NoticeKind::Exhausted) => "une exécution a épuisé son budget et est arrêtée".to_owned(),
        (Lang::Fr, NoticeKind::Worker) => format!("un exécutant a été perdu avant de commencer {thing}"),
        (Lang::Fr, NoticeKind::Informed) => format!("{thing} : pour information"),
    };
    match lang {
        Lang::En => format!("{said} (agent {agent}, project {project})"),
        Lang::Fr => format!("{said} (agent {agent}, projet {project})"),
    }
}

/// Many of the same at once.
pub(super) fn folded(lang: Lang, what: NoticeKind, count: usize, agent: &str, project: &str) -> String {
    match (lang, what.waits()) {
        (Lang::En, true) => format!("agent {agent} asks {count} times ({what}, project {project})"),
        (Lang::En, false) => format!("{count} times {what} (agent {agent}, project {project})"),
        (Lang::Fr, true) => format!("l'agent {agent} demande {count} fois ({what}, projet {project})"),
        (Lang::Fr, false) => format!("{count} fois {what} (agent {agent}, projet {project})"),
    }
}

pub(super) fn tier(lang: Lang, tier: Tier) -> String {
    let meaning = match (lang, tier) {
        (Lang::En, tier) => tier.meaning(),
        (Lang::Fr, Tier::A) => "automatique",
        (Lang::Fr, Tier::B) => "un relecteur",
        (Lang::Fr, Tier::C) => "deux relecteurs",
        (Lang::Fr, Tier::D) => "refusé",
    };
    match lang {
        Lang::En => format!("tier {tier}, {meaning}"),
        Lang::Fr => format!("niveau {tier}, {meaning}"),
    }
}

pub(super) fn until(lang: Lang, deadline: Timestamp) -> String {
    match lang {
        Lang::En => format!("until {}", moment(deadline)),
        Lang::Fr => format!("jusqu'au {}", moment(deadline)),
    }
}

/// Whose words follow.
pub(super) fn goal(lang: Lang, goal: &str) -> String {
    match lang {
        Lang::En => format!("goal, in the words of whoever wrote it: “{goal}”"),
        Lang::Fr => format!("but, dans les mots de son auteur : « {goal} »"),
    }
}

pub(super) fn more(lang: Lang, count: u64) -> String {
    match lang {
        Lang::En => format!("and {} more", lang.number(count)),
        Lang::Fr => format!("et {} de plus", lang.number(count)),
    }
}

pub(super) fn standing_in(lang: Lang, who: &str, until: Timestamp) -> String {
    match lang {
        Lang::En => format!("for {who}, who is away until {}", moment(until)),
        Lang::Fr => format!("pour {who}, absent jusqu'au {}", moment(until)),
    }
}

/// The last line of every message.
pub(super) const fn farewell(lang: Lang) -> &'static str {
    match lang {
        Lang::En => {
            "Decide on the page, where you sign in: it shows what stands then. Nothing is decided by answering here."
        }
        Lang::Fr => {
            "Décidez sur la page, une fois identifié : elle montre ce qui vaut alors. Répondre ici ne décide rien."
        }
    }
}

pub(super) const fn test(lang: Lang) -> &'static str {
    match lang {
        Lang::En => "This is a test message of Placet. Nothing waits because of it.",
        Lang::Fr => "Ceci est un message d'essai de Placet. Rien n'attend à cause de lui.",
    }
}

pub(super) fn moment(at: Timestamp) -> String {
    let instant = jiff::Timestamp::from_millisecond(at.unix_ms()).unwrap_or_default();
    instant.strftime("%Y-%m-%d %H:%M UTC").to_string()
}

/// A moment as programs read it.
pub(super) fn instant(unix_ms: i64) -> String {
    jiff::Timestamp::from_millisecond(unix_ms).unwrap_or_default().to_string()
}
