//! The policy and the tools a new project starts with. They are files of the repository, read in review like any other.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use super::source::Source;

macro_rules! shipped {
    ($($file:literal)*) => { &[$(($file, include_str!(concat!("../../policy/", $file)))),*] };
}

/// The shipped policy files, by name.
pub const fn default_policy() -> &'static [(&'static str, &'static str)] {
    shipped!["code.cedar" "files.cedar" "network.cedar" "outward.cedar" "reading.cedar"]
}

/// The shipped `tools.toml`.
pub const DEFAULT_TOOLS: &str = include_str!("../../policy/tools.toml");

static SHIPPED_STATEMENTS: LazyLock<BTreeSet<&str>> = LazyLock::new(|| {
    let sources = default_policy().iter().map(|(file, text)| Source::new(file, text));
    sources.flat_map(|source| source.statements().into_iter().map(move |span| source.slice(&span))).collect()
});

/// Whether this statement ships with Placet, letter by letter.
pub(super) fn is_shipped(statement: &str) -> bool {
    SHIPPED_STATEMENTS.contains(statement)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::{Policy, Rationale};
    use crate::proposal::Tools;

    #[test]
    fn the_shipped_policy_holds_for_the_shipped_tools() {
        let tools = Tools::parse(DEFAULT_TOOLS).expect("the shipped tools are well-formed");
        let files: Vec<_> =
            default_policy().iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        let policy = Policy::load(&files, &tools).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(policy.rules().count() >= 25);
        assert!(policy.examples_checked() >= 100, "{}", policy.examples_checked());
        assert!(policy.rules().all(|rule| matches!(rule.rationale, Rationale::ShippedRule { .. })));
    }

    #[test]
    fn changed_shipped_rule_is_a_rule_of_the_team() {
        let tools = Tools::parse(DEFAULT_TOOLS).expect("the shipped tools are well-formed");
        let edited =
            |(file, text): &(&str, &str)| ((*file).to_owned(), text.replace("spends money", "spends our money"));
        let files: Vec<_> = default_policy().iter().map(edited).collect();
        let policy = Policy::load(&files, &tools).unwrap_or_else(|problems| panic!("{problems}"));
        let own = policy.rules().filter(|rule| matches!(rule.rationale, Rationale::Rule { .. }));
        let own: Vec<String> = own.map(|rule| rule.rationale.to_string()).collect();
        assert_eq!(own, ["spends our money"]);
    }
}
