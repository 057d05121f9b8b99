//! Explanations of the states of runs and actions and of the kinds of checkpoints, and names of steps. The states themselves are not translated.

use placet_domain::action::ActionStatus;
use placet_domain::run::{GateKind, RunStatus};

use crate::words::Lang;

/// Explains the state of a run.
pub const fn of_status(lang: Lang, status: RunStatus) -> &'static str {
    match lang {
        Lang::En => status.meaning(),
        Lang::Fr => in_french(status),
    }
}

const fn in_french(status: RunStatus) -> &'static str {
    match status {
        RunStatus::Draft => "En cours d'écriture.",
        RunStatus::PendingApproval => "Le plan attend une personne.",
        RunStatus::Approved => "Le plan est approuvé.",
        RunStatus::SpawningSandbox => "Démarrée ; l'agent n'est pas encore là.",
        RunStatus::Executing => "L'agent travaille.",
        RunStatus::CheckpointReached => "À l'arrêt jusqu'à la décision d'une personne.",
        RunStatus::Paused => "Arrêtée par une personne ; peut continuer.",
        RunStatus::PendingExport => "Terminée ; les résultats attendent une personne.",
        RunStatus::Completed => "Les résultats ont été acceptés.",
        RunStatus::Failed => "Elle n'a pas pu continuer.",
        RunStatus::Cancelled => "Arrêtée définitivement par une personne.",
        RunStatus::RolledBack => "Revenue à un instantané ; peut continuer.",
    }
}

/// Explains the state of an action.
pub const fn of_action(lang: Lang, status: ActionStatus) -> &'static str {
    match lang {
        Lang::En => status.meaning(),
        Lang::Fr => action_in_french(status),
    }
}

const fn action_in_french(status: ActionStatus) -> &'static str {
    match status {
        ActionStatus::PendingApproval => "Attend une personne.",
        ActionStatus::Approved => "Un exécutant peut la prendre.",
        ActionStatus::Denied => "Refusée par les règles.",
        ActionStatus::Rehearsed => {
            "Gardée pour être regardée ; faite seulement si un relecteur le dit quand l'exécution a ses résultats."
        }
        ActionStatus::Rejected => "Refusée par une personne.",
        ActionStatus::Expired => "Personne ne l'a décidée ou prise à temps.",
        ActionStatus::Superseded => "Remplacée par ce qu'un relecteur en a fait.",
        ActionStatus::Withdrawn => "Retirée par son agent ou par un opérateur.",
        ActionStatus::Leased => "Un exécutant tient un permis pour elle.",
        ActionStatus::Executing => "Le permis est utilisé ; elle s'exécute.",
        ActionStatus::Succeeded => "Faite, avec preuve.",
        ActionStatus::Failed => "Mal terminée, avec preuve.",
        ActionStatus::Interrupted => "Commencée, puis son exécutant s'est perdu : nul ne sait jusqu'où elle est allée.",
        ActionStatus::Abandoned => "Interrompue, et une personne a décidé de ne pas la relancer.",
    }
}

/// Why a run stands still at a checkpoint of this kind.
pub const fn of_gate(lang: Lang, kind: GateKind) -> &'static str {
    match (lang, kind) {
        (Lang::En, GateKind::Time) => "It has worked for so long that somebody should look.",
        (Lang::En, GateKind::Step) => "A step of the plan is done, or its agent asks for a look at what it has.",
        (Lang::En, GateKind::Action) => "An action of a kind that always asks waits for a decision.",
        (Lang::En, GateKind::Cost) => "So much of a limit is used that somebody should look.",
        (Lang::En, GateKind::Questions) => "Its agent has asked people too often.",
        (Lang::Fr, GateKind::Time) => "Elle travaille depuis assez longtemps pour qu'on y regarde.",
        (Lang::Fr, GateKind::Step) => "Une étape du plan est faite, ou son agent demande un regard sur ce qu'il a.",
        (Lang::Fr, GateKind::Action) => "Une action d'un genre toujours soumis à décision attend la sienne.",
        (Lang::Fr, GateKind::Cost) => "Une limite est assez entamée pour qu'on y regarde.",
        (Lang::Fr, GateKind::Questions) => "Son agent a trop souvent sollicité des personnes.",
    }
}

/// The fifteen steps from an intent to its end, by their English names.
const STEPS: &[(&str, &str)] = &[
    ("intent", "intention"),
    ("encoding", "codage"),
    ("decomposition", "décomposition"),
    ("agent selection", "choix de l'agent"),
    ("cage configuration", "configuration de la cage"),
    ("cost estimate", "estimation du coût"),
    ("scope lock", "verrouillage du périmètre"),
    ("budget check", "contrôle du budget"),
    ("plan", "plan"),
    ("spawn", "démarrage"),
    ("execution", "exécution"),
    ("checkpoints", "points de contrôle"),
    ("output collection", "collecte des sorties"),
    ("results", "résultats"),
    ("export, audit, destruction", "export, audit, destruction"),
];

pub fn of_step(lang: Lang, name: &str) -> &str {
    let french = || STEPS.iter().find(|(english, _)| *english == name).map_or(name, |(_, french)| *french);
    match lang {
        Lang::En => name,
        Lang::Fr => french(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_states_are_explained_in_every_language_and_no_explanation_is_that_of_another() {
        let mut told = std::collections::BTreeSet::new();
        for status in RunStatus::ALL {
            for lang in Lang::ALL {
                assert!(told.insert(of_status(*lang, *status)), "{status:?} in {lang:?}");
            }
        }
        for kind in GateKind::ALL {
            for lang in Lang::ALL {
                assert!(told.insert(of_gate(*lang, *kind)), "{kind:?} in {lang:?}");
            }
        }
        assert_eq!(of_step(Lang::Fr, "agent selection"), "choix de l'agent");
        assert_eq!(of_step(Lang::Fr, "something new"), "something new");
    }

    #[test]
    fn c16_states_of_actions_are_explained_in_every_language_and_no_explanation_is_that_of_another() {
        let mut told = std::collections::BTreeSet::new();
        for status in ActionStatus::ALL {
            for lang in Lang::ALL {
                assert!(told.insert(of_action(*lang, *status)), "{status} in {lang:?}");
            }
        }
    }
}
