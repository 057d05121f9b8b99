//! Words that say what an agent must be able to do. A short list, looked up and never guessed at: what is not on it says
//! nothing, and whoever wants something unusual names the capability.

use crate::catalogue::Capability;

/// Each word in lowercase with what it takes. Sorted, for the reader and for the search.
const VERBS: &[(&str, Capability)] = &[
    ("analyse", Capability::Research),
    ("analyze", Capability::Research),
    ("benchmark", Capability::RunCode),
    ("browse", Capability::Browse),
    ("build", Capability::RunCode),
    ("collect", Capability::ExtractData),
    ("compare", Capability::Research),
    ("compile", Capability::RunCode),
    ("crawl", Capability::Browse),
    ("csv", Capability::Spreadsheets),
    ("debug", Capability::WriteCode),
    ("describe", Capability::WriteText),
    ("document", Capability::WriteText),
    ("draft", Capability::WriteText),
    ("email", Capability::SendMessages),
    ("execute", Capability::RunCode),
    ("extract", Capability::ExtractData),
    ("fix", Capability::WriteCode),
    ("implement", Capability::WriteCode),
    ("investigate", Capability::Research),
    ("navigate", Capability::Browse),
    ("notify", Capability::SendMessages),
    ("parse", Capability::ExtractData),
    ("patch", Capability::WriteCode),
    ("program", Capability::WriteCode),
    ("refactor", Capability::WriteCode),
    ("report", Capability::WriteText),
    ("research", Capability::Research),
    ("run", Capability::RunCode),
    ("scan", Capability::ScanNetworks),
    ("scrape", Capability::Browse),
    ("search", Capability::Research),
    ("send", Capability::SendMessages),
    ("spreadsheet", Capability::Spreadsheets),
    ("summarise", Capability::WriteText),
    ("summarize", Capability::WriteText),
    ("table", Capability::Spreadsheets),
    ("test", Capability::RunCode),
    ("translate", Capability::WriteText),
    ("visit", Capability::Browse),
    ("write", Capability::WriteText),
];

/// The known words of a text in their order, each with what it takes.
pub(super) fn verbs_in(text: &str) -> impl Iterator<Item = (&'static str, Capability)> {
    let words = text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    words.filter_map(|word| VERBS.binary_search_by(|(verb, _)| verb.cmp(&word.as_str())).ok()).map(|at| VERBS[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_sorted_so_that_a_word_is_found() {
        assert!(VERBS.is_sorted_by(|(one, _), (other, _)| one < other));
    }

    #[test]
    fn whole_words_count_in_any_letter_case_and_parts_of_words_do_not() {
        let found = |text| verbs_in(text).map(|(verb, _)| verb).collect::<Vec<_>>();
        assert_eq!(found("Fix the login, then RUN its tests"), ["fix", "run"]);
        assert!(found("prefix running fixture").is_empty());
        assert_eq!(found("Run what you fix"), ["run", "fix"], "in the order of the text");
    }
}
