//! Obstacles to a command in French: one table, so that a new obstacle without its French does not compile.

use placet_domain::refusal::Obstacle;

/// What stands in the way, and what to do next. Completes "impossible :".
pub(crate) const fn in_french(obstacle: Obstacle) -> &'static str {
    match obstacle {
        Obstacle::IdentityRevoked => "cette identité est révoquée ; enregistrez-en une nouvelle",
        Obstacle::WithoutPasskeys => {
            "cette personne n'a pas de clé d'accès ; un lien la laisse entrer (`placet link --to NOM`)"
        }
        Obstacle::NotAway => "cette personne n'est pas absente",
        Obstacle::AbsenceKnown => "cette absence est déjà connue, ou terminée",
        Obstacle::DeclaredOften => {
            "trop de déclarations pendant cette heure ; la dernière compte, et la suivante sera demandée après une heure"
        }
        Obstacle::WordsKept => "les mots sont déjà gardés",
        Obstacle::WordsNotKept => "les mots ne sont déjà pas gardés",
        Obstacle::NotStopped => "rien n'est arrêté",
        Obstacle::StoppedAlready => "tout est déjà arrêté",
        Obstacle::InSafeMode => "tout est déjà en mode sûr",
        Obstacle::NotInSafeMode => "rien n'est en mode sûr",
        Obstacle::PasskeysDemanded => "les clés d'accès sont déjà exigées",
        Obstacle::PasskeysNotDemanded => "les clés d'accès ne sont pas exigées ; qui en a une signe de toute façon",
        Obstacle::PreservedOtherwise => "ce qui est préservé a changé entre-temps ; regardez à nouveau",
        Obstacle::PreservedAlready => "c'est déjà préservé, et rien n'en est retiré",
        Obstacle::NotPreserved => "ce n'est pas préservé ; les réglages valent pour son contenu",
        Obstacle::OrderRevoked => "la consigne qui l'avait approuvée a été révoquée ; à proposer à nouveau",
        Obstacle::BeforeRollback => "elle date d'avant le retour en arrière de l'exécution ; à proposer à nouveau",
        Obstacle::JudgedByCurrentPolicy => "les règles en vigueur l'ont déjà jugée",
        Obstacle::JudgedByOldPolicy => {
            "d'anciennes règles l'ont jugée ; elle sera jugée à nouveau, regardez alors une nouvelle fois"
        }
        Obstacle::InterruptedUnderOldPolicy => {
            "d'anciennes règles l'ont jugée ; abandonnez-la et faites-la proposer à nouveau"
        }
        Obstacle::PermitVoid => "son permis n'est plus valable : qui l'avait approuvée ou proposée a été révoqué",
        Obstacle::RunWithoutResults => "ce qui a été répété se décide quand l'exécution a ses résultats",
        Obstacle::Unassigned => "elle n'est confiée à personne",
        Obstacle::AssignedAlready => "elle lui est déjà confiée ; changez la note, ou nommez un autre relecteur",
        Obstacle::NotSnoozed => "vous ne l'avez pas remise à plus tard",
        Obstacle::NotHosted => "elle n'est pas encore hébergée ; son hôte doit d'abord la prendre",
        Obstacle::SavingAlready => "son hôte est en train de prendre un instantané ; regardez à nouveau",
        Obstacle::NotSaved => "son hôte prend encore l'instantané ; regardez à nouveau",
        Obstacle::NotRestored => "son hôte est en train de restaurer l'instantané",
        Obstacle::NotCollected => "son hôte collecte les sorties ; regardez à nouveau",
        Obstacle::NothingDue => "rien n'est échu",
        Obstacle::Performing => {
            "elle exécute encore ce qu'elle avait répété ; attendez que ce soit fait, ou décidez-en"
        }
        Obstacle::PastCheckpoint => "elle a passé ce point de contrôle ; regardez où elle en est",
        Obstacle::OrderRevokedAlready => "elle est déjà révoquée",
        Obstacle::WishDecided => "c'est déjà décidé ; l'hôte sera redemandé là où il est encore voulu",
        Obstacle::WishNotGranted => "il n'est pas ouvert",
        Obstacle::ParentOver => "l'exécution parente est terminée ; faites-la sans parente",
        Obstacle::ParentUnapproved => "un relecteur doit d'abord approuver le plan de l'exécution parente",
        Obstacle::TooManyPlans => "vous faites déjà trop de plans à la fois ; attendez que l'un d'eux soit fait",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_every_obstacle_has_its_own_french() {
        let told: std::collections::BTreeSet<_> = Obstacle::ALL.iter().map(|obstacle| in_french(*obstacle)).collect();
        assert_eq!(told.len(), Obstacle::ALL.len());
    }
}
