//! Reasons of the rules that ship, in French, by the id of the rule.
//!
//! A rule counts as shipped only if its whole statement is the shipped one (`Rationale::ShippedRule`): a team's own rule of the same id
//! keeps its words. A test reads the shipped files, so a rule without French fails it.

/// The reason of a shipped rule in French.
pub(crate) fn in_french(rule: &str) -> Option<&'static str> {
    Some(match rule {
        // code.cedar
        "code.allowed" => "du code peut tourner dans la cage, une fois que quelqu'un l'a lu",
        "code.review" => "exécute du code dont l'effet ne se voit pas à ses arguments",
        "code.fetched" => "exécute du code venu directement du réseau, qu'aucun relecteur n'a vu",
        "code.privilege" => "demande plus de droits qu'un agent n'en a",
        "code.destroys" => "détruirait la machine sur laquelle il tourne",
        "code.exhausts" => "est une bombe de processus : se copie jusqu'à ce que plus rien d'autre ne puisse tourner",
        // files.cedar
        "files.write" => "écrit des fichiers dans le périmètre de l'exécution",
        "files.pipeline" => {
            "change ce qui tourne automatiquement pour tous : chaînes d'intégration, crochets ou scripts de construction"
        }
        "files.delete.allowed" => "supprimer est possible, avec l'accord de deux personnes",
        "files.delete" => "supprime des fichiers ; ce dont personne n'a gardé de copie est perdu",
        "files.delete.tree" => "supprime des dossiers entiers, et non les fichiers nommés",
        "files.delete.root" => "supprime tout ce qu'il y a",
        // network.cedar
        "network.allowed" => "le réseau peut servir vers des cibles dans le périmètre",
        "network.untargeted" => {
            "ne nomme pas de cible, et personne ne peut donc vérifier que cela reste dans le périmètre"
        }
        "scan.host" => "sonde un hôte ; son propriétaire le remarquera",
        "scan.version" => "parle aux services trouvés pour connaître leurs versions",
        "scan.blind" => "saute la découverte des hôtes : sonde même là où rien ne répond",
        "scan.network" => "sonde tout un réseau au lieu d'un seul hôte",
        "http.fetch" => "envoie une requête à un serveur dans le périmètre",
        "http.plain" => "parle sans chiffrement : d'autres peuvent le lire et le changer",
        "http.sends" => "envoie des données à un serveur ou y change quelque chose",
        "network.opened" => {
            "atteint des hôtes que l'action nomme, et ce qu'elle leur envoie n'est pas dans ses arguments"
        }
        "network.plain" => "peut les atteindre sans chiffrement : d'autres peuvent lire et changer ce qui est dit",
        "network.unseen" => {
            "a un tunnel dans lequel personne ne regarde : ce qui y sort, et vers le compte de qui, ne se voit pas"
        }
        "network.credential" => "agit avec un accès de l'équipe, qui ne quitte jamais l'exécutant",
        "visit.new" => "visite un site que personne n'a regardé pendant cette exécution",
        // outward.cedar
        "outward.allowed" => "les actes envers d'autres sont possibles, avec accord",
        "outward.email" => "écrit à des personnes au nom de l'équipe",
        "outward.form" => "envoie un formulaire au nom de quelqu'un",
        "outward.publish" => "rend quelque chose public ; des copies ne se rappellent pas",
        "outward.payment" => "dépense de l'argent",
        "outward.database" => "change une base de données dont d'autres dépendent",
        // reading.cedar
        "reading" => "lectures, recherches et captures d'écran sont observées et consignées",
        "secrets.files" => "cherche à atteindre des clés privées ou des accès enregistrés",
        "secrets.environment" => "donne un accès secret à un programme ; les clés restent dans la passerelle",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use placet_domain::policy::default_policy;

    use super::*;

    #[test]
    fn c16_every_shipped_rule_has_its_own_french_reason() {
        let lines = default_policy().iter().flat_map(|(_, text)| text.lines());
        let ids: Vec<&str> = lines.filter_map(|line| line.strip_prefix("@id(\"")?.strip_suffix("\")")).collect();
        assert!(ids.len() >= 25, "{ids:?}");
        let french: BTreeSet<&str> =
            ids.iter().map(|id| in_french(id).unwrap_or_else(|| panic!("`{id}` has no French"))).collect();
        assert_eq!(french.len(), ids.len(), "no two are the same");
        assert_eq!(in_french("team.own"), None);
    }
}
