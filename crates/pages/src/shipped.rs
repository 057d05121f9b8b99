//! Why the rules that ship demand what they demand, in French: each known by its whole sentence.
//!
//! A team's own sentence is never replaced, not even where it differs from a shipped one by a letter: it keeps its language. The ledger and
//! the API have the sentence of the policy. A test reads the shipped files: a reason there without its French here fails, and so does a
//! sentence here that no file has any more.

/// A reason of a shipped rule, and the same in French.
type Reason = (&'static str, &'static str);

const REASONS: &[Reason] = &[
    // code.cedar
    (
        "code may run in the cage, once somebody has read it",
        "du code peut tourner dans la cage, une fois que quelqu'un l'a lu",
    ),
    (
        "runs code whose effect cannot be told from its arguments",
        "exécute du code dont l'effet ne se voit pas à ses arguments",
    ),
    (
        "runs code straight from the network, which no reviewer has seen",
        "exécute du code venu directement du réseau, qu'aucun relecteur n'a vu",
    ),
    ("asks for more rights than an agent has", "demande plus de droits qu'un agent n'en a"),
    ("would destroy the machine it runs on", "détruirait la machine sur laquelle il tourne"),
    (
        "is a fork bomb: copies itself until nothing else can run",
        "est une bombe de processus : se copie jusqu'à ce que plus rien d'autre ne puisse tourner",
    ),
    // files.cedar
    ("writes files inside the scope of the run", "écrit des fichiers dans le périmètre de l'exécution"),
    (
        "changes what runs automatically for everybody: pipelines, hooks or build scripts",
        "change ce qui tourne automatiquement pour tous : chaînes d'intégration, crochets ou scripts de construction",
    ),
    ("deleting is possible, with two people's consent", "supprimer est possible, avec l'accord de deux personnes"),
    (
        "deletes files; what nobody kept a copy of is gone",
        "supprime des fichiers ; ce dont personne n'a gardé de copie est perdu",
    ),
    (
        "deletes whole directories, not the files that are named",
        "supprime des dossiers entiers, et non les fichiers nommés",
    ),
    ("deletes everything there is", "supprime tout ce qu'il y a"),
    // network.cedar
    ("the network may be used for targets inside the scope", "le réseau peut servir vers des cibles dans le périmètre"),
    (
        "names no target, so nobody can check that it stays inside the scope",
        "ne nomme pas de cible, et personne ne peut donc vérifier que cela reste dans le périmètre",
    ),
    ("probes a host; its owner will notice", "sonde un hôte ; son propriétaire le remarquera"),
    (
        "talks to the services it finds to learn their versions",
        "parle aux services trouvés pour connaître leurs versions",
    ),
    (
        "skips host discovery: it probes even where nothing answers",
        "saute la découverte des hôtes : sonde même là où rien ne répond",
    ),
    ("probes a whole network instead of one host", "sonde tout un réseau au lieu d'un seul hôte"),
    ("sends a request to a server inside the scope", "envoie une requête à un serveur dans le périmètre"),
    (
        "talks without encryption: others can read and change it",
        "parle sans chiffrement : d'autres peuvent le lire et le changer",
    ),
    ("sends data to a server or changes something there", "envoie des données à un serveur ou y change quelque chose"),
    (
        "reaches hosts that it names, and what it sends them is not in its arguments",
        "atteint des hôtes que l'action nomme, et ce qu'elle leur envoie n'est pas dans ses arguments",
    ),
    (
        "may reach them without encryption: others can read and change what is said",
        "peut les atteindre sans chiffrement : d'autres peuvent lire et changer ce qui est dit",
    ),
    (
        "has a tunnel that nobody looks into: what goes out there, and to whose account, is not seen",
        "a un tunnel dans lequel personne ne regarde : ce qui y sort, et vers le compte de qui, ne se voit pas",
    ),
    (
        "acts with a credential of the team, which never leaves the worker",
        "agit avec un accès de l'équipe, qui ne quitte jamais l'exécutant",
    ),
    (
        "visits a site that nobody has looked at in this run",
        "visite un site que personne n'a regardé pendant cette exécution",
    ),
    // outward.cedar
    ("acts towards others are possible, with consent", "les actes envers d'autres sont possibles, avec accord"),
    ("writes to people in the team's name", "écrit à des personnes au nom de l'équipe"),
    ("submits a form on somebody's behalf", "envoie un formulaire au nom de quelqu'un"),
    (
        "makes something public; copies cannot be called back",
        "rend quelque chose public ; des copies ne se rappellent pas",
    ),
    ("spends money", "dépense de l'argent"),
    ("changes a database that others rely on", "change une base de données dont d'autres dépendent"),
    // reading.cedar
    (
        "reads, searches and screenshots are watched and recorded",
        "lectures, recherches et captures d'écran sont observées et consignées",
    ),
    ("reaches for private keys or stored credentials", "cherche à atteindre des clés privées ou des accès enregistrés"),
    (
        "hands a credential to a program; keys stay in the gateway",
        "donne un accès secret à un programme ; les clés restent dans la passerelle",
    ),
];

/// The same in French, if it is a reason of a rule that ships.
pub(crate) fn in_french(because: &str) -> Option<&'static str> {
    REASONS.iter().find(|(english, _)| *english == because).map(|(_, french)| *french)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use placet_domain::policy::default_policy;

    use super::*;

    /// The sentence of each rule, as its file has it.
    fn reasons() -> BTreeSet<&'static str> {
        let lines = default_policy().iter().flat_map(|(_, text)| text.lines());
        let written = lines.filter_map(|line| line.strip_prefix("@reason(\"")?.strip_suffix("\")"));
        written.collect()
    }

    #[test]
    fn c16_every_reason_of_a_rule_that_ships_is_told_in_french_and_nothing_else_is() {
        let written = reasons();
        let rules = default_policy().iter().map(|(_, text)| text.matches("\n@reason(").count()).sum::<usize>();
        assert_eq!(written.len(), rules, "each is on one line, and no two are the same");
        let here: BTreeSet<&str> = REASONS.iter().map(|(english, _)| *english).collect();
        assert_eq!(written, here);
        assert!(REASONS.iter().all(|(english, french)| english != french && !french.is_empty()));
    }

    #[test]
    fn c16_what_a_team_wrote_is_never_replaced() {
        assert_eq!(in_french("spends money"), Some("dépense de l'argent"));
        for own in ["Spends money", "spends money ", "spends our money", ""] {
            assert_eq!(in_french(own), None, "{own}");
        }
    }
}
