//! Money, shares, sizes and how many there are of something, each as its language writes it. Money is exact, and never rounded.

use placet_domain::budget::{Resource, dollars};

use crate::words::Lang;

/// Between a number and its unit, where the two must not be parted: narrow, as French typesetters want it.
const NARROW: char = '\u{202F}';

impl Lang {
    pub fn money(self, usd_micros: u64) -> String {
        let english = dollars(usd_micros);
        match self {
            Self::En => english,
            Self::Fr => {
                let part = english.split_once('.').map_or("00", |(_, part)| part);
                format!("{},{part}{NARROW}$", self.number(usd_micros / 1_000_000))
            }
        }
    }

    pub fn percent(self, hundredths: u64) -> String {
        match self {
            Self::En => format!("{hundredths}%"),
            Self::Fr => format!("{hundredths}{NARROW}%"),
        }
    }

    pub fn in_bytes(self, bytes: u64) -> String {
        let units = match self {
            Self::En => ["KiB", "MiB", "GiB"],
            Self::Fr => ["Kio", "Mio", "Gio"],
        };
        let large = |power: u32, unit: &str| format!("{} {unit}", self.number(bytes >> power));
        match bytes {
            0..1_024 => format!("{bytes} {}", self.n_bytes(bytes)),
            1_024..1_048_576 => large(10, units[0]),
            1_048_576..1_073_741_824 => large(20, units[1]),
            _ => large(30, units[2]),
        }
    }

    /// So much of something that can be used up, in the unit that people know it by.
    pub fn amount(self, resource: Resource, amount: u64) -> String {
        let counted = |word: &str| format!("{} {word}", self.number(amount));
        match resource {
            Resource::Tokens => counted(self.n_tokens(amount)),
            Resource::UsdMicros => self.money(amount),
            Resource::WallMs => self.span(amount),
            Resource::Actions => counted(self.n_actions(amount)),
            Resource::Pages => counted(self.n_pages(amount)),
            Resource::DiskBytes => self.in_bytes(amount),
        }
    }

    /// What can be used up, by name.
    pub const fn resource(self, resource: Resource) -> &'static str {
        match resource {
            Resource::Tokens => self.tokens(),
            Resource::UsdMicros => self.cost(),
            Resource::WallMs => self.time_at_work(),
            Resource::Actions => self.actions(),
            Resource::Pages => self.pages(),
            Resource::DiskBytes => self.disk(),
        }
    }

    /// Whether so many are spoken of as of one: in French none is, too.
    const fn is_one(self, count: u64) -> bool {
        match self {
            Self::En => count == 1,
            Self::Fr => count < 2,
        }
    }
}

macro_rules! counts {
    ($($name:ident: $en:literal, $en_many:literal, $fr:literal, $fr_many:literal;)*) => {
        impl Lang {
            $(pub const fn $name(self, count: u64) -> &'static str {
                match (self, self.is_one(count)) {
                    (Self::En, true) => $en,
                    (Self::En, false) => $en_many,
                    (Self::Fr, true) => $fr,
                    (Self::Fr, false) => $fr_many,
                }
            })*
        }

        #[cfg(test)]
        const COUNTS: &[(&str, [&str; 4])] = &[$((stringify!($name), [$en, $en_many, $fr, $fr_many])),*];
    };
}

counts! {
    n_bytes: "byte", "bytes", "octet", "octets";
    n_tokens: "token", "tokens", "jeton", "jetons";
    n_actions: "action", "actions", "action", "actions";
    n_pages: "page", "pages", "page", "pages";
    n_files: "file", "files", "fichier", "fichiers";
    n_steps: "step", "steps", "étape", "étapes";
    n_inputs: "input", "inputs", "entrée", "entrées";
    n_outputs: "output", "outputs", "sortie", "sorties";
    n_subtasks: "sub-task", "sub-tasks", "sous-tâche", "sous-tâches";
    n_identical: "identical", "identical", "identique", "identiques";
    n_approved: "approved", "approved", "approuvée", "approuvées";
    n_rejected: "rejected", "rejected", "rejetée", "rejetées";
    n_succeeded: "succeeded", "succeeded", "réussie", "réussies";
    n_failed: "failed", "failed", "échouée", "échouées";
    n_more_of_its_like: "more of its like", "more of its like", "autre semblable", "autres semblables";
    n_approvals_given: "approval given", "approvals given", "approbation donnée", "approbations données";
    n_more_runs: "older run", "older runs", "exécution plus ancienne", "exécutions plus anciennes";
    n_actions_wait: "action waits for a decision", "actions wait for a decision", "action attend une décision", "actions attendent une décision";
    n_created: "created", "created", "créé", "créés";
    n_changed: "changed", "changed", "modifié", "modifiés";
    n_removed: "removed", "removed", "supprimé", "supprimés";
    n_mode_changed: "mode changed", "modes changed", "mode modifié", "modes modifiés";
    n_more_reasons: "more reason", "more reasons", "autre raison", "autres raisons";
    n_more_arguments: "more argument", "more arguments", "autre argument", "autres arguments";
    n_more_files: "more file", "more files", "autre fichier", "autres fichiers";
    n_more_characters: "more character", "more characters", "caractère de plus", "caractères de plus";
    n_heartbeats_left_out: "heartbeat of a worker among them is left out", "heartbeats of workers among them are left out", "signe de vie d'exécutant, parmi elles, n'est pas montré", "signes de vie d'exécutants, parmi elles, ne sont pas montrés";
    n_older: "older one is found below, by what happened", "older ones are found below, by what happened", "plus ancienne se retrouve plus bas, par ce qui s'est passé", "plus anciennes se retrouvent plus bas, par ce qui s'est passé";
    n_newest_runs: "newest run", "newest runs", "exécution la plus récente", "exécutions les plus récentes";
    n_newest_actions: "action that waits or is newest", "actions that wait or are newest", "action en attente ou la plus récente", "actions en attente ou les plus récentes";
    n_profiles_differ: "profile is not as here: nothing that was approved for it is started there", "profiles are not as here: nothing that was approved for them is started there", "profil diffère d'ici : rien de ce qui a été approuvé pour lui n'y démarre", "profils diffèrent d'ici : rien de ce qui a été approuvé pour eux n'y démarre";
    n_bytes_left_out: "byte in between is not shown; fetch it below", "bytes in between are not shown; fetch it below", "octet entre les deux n'est pas montré ; récupérez-le plus bas", "octets entre les deux ne sont pas montrés ; récupérez-le plus bas";
    n_log_earlier: "byte came before", "bytes came before", "octet est venu avant", "octets sont venus avant";
    n_log_skipped: "byte was skipped", "bytes were skipped", "octet a été sauté", "octets ont été sautés";
    n_log_no_text: "byte is no text", "bytes are no text", "octet n'est pas du texte", "octets ne sont pas du texte";
    n_log_waits: "byte of a line that has not ended waits", "bytes of a line that has not ended wait", "octet d'une ligne inachevée attend", "octets d'une ligne inachevée attendent";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c16_money_shares_and_sizes_are_written_as_the_language_does_and_nothing_is_rounded_away() {
        for (micros, en, fr) in [
            (0, "$0.00", "0,00\u{202F}$"),
            (1, "$0.000001", "0,000001\u{202F}$"),
            (1_170_000, "$1.17", "1,17\u{202F}$"),
            (1_234_500_000, "$1234.50", "1\u{202F}234,50\u{202F}$"),
        ] {
            assert_eq!((Lang::En.money(micros), Lang::Fr.money(micros)), (en.to_owned(), fr.to_owned()));
        }
        assert_eq!((Lang::En.percent(40), Lang::Fr.percent(40)), ("40%".to_owned(), "40\u{202F}%".to_owned()));
        assert_eq!(
            (Lang::En.in_bytes(1_500_000), Lang::Fr.in_bytes(1_500_000)),
            ("1 MiB".to_owned(), "1 Mio".to_owned())
        );
        assert_eq!((Lang::En.in_bytes(1), Lang::Fr.in_bytes(2)), ("1 byte".to_owned(), "2 octets".to_owned()));
    }

    #[test]
    fn c16_one_and_several_differ_and_french_speaks_of_none_as_of_one() {
        assert_eq!([0, 1, 2].map(|count| Lang::En.n_files(count)), ["files", "file", "files"]);
        assert_eq!([0, 1, 2].map(|count| Lang::Fr.n_files(count)), ["fichier", "fichier", "fichiers"]);
        for (name, words) in COUNTS {
            assert!(words.iter().all(|word| !word.trim().is_empty()), "{name}");
        }
    }

    #[test]
    fn c16_whatever_can_be_used_up_has_a_name_and_a_unit_in_every_language() {
        for resource in Resource::ALL {
            for lang in Lang::ALL {
                assert!(
                    !lang.resource(*resource).is_empty()
                        && lang.amount(*resource, 3).contains('3') | (*resource == Resource::UsdMicros)
                );
            }
        }
    }
}
