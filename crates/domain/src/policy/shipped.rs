//! The policy and the tools a new project starts with. They are files of the repository, read in review like any other.

macro_rules! shipped {
    ($($file:literal)*) => { &[$(($file, include_str!(concat!("../../policy/", $file)))),*] };
}

/// The shipped policy files, by name.
pub const fn default_policy() -> &'static [(&'static str, &'static str)] {
    shipped!["code.cedar" "files.cedar" "network.cedar" "outward.cedar" "reading.cedar"]
}

/// The shipped `tools.toml`.
pub const DEFAULT_TOOLS: &str = include_str!("../../policy/tools.toml");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::proposal::Tools;

    #[test]
    fn the_shipped_policy_holds_for_the_shipped_tools() {
        let tools = Tools::parse(DEFAULT_TOOLS).expect("the shipped tools are well-formed");
        let files: Vec<_> =
            default_policy().iter().map(|(file, text)| ((*file).to_owned(), (*text).to_owned())).collect();
        let policy = Policy::load(&files, &tools).unwrap_or_else(|problems| panic!("{problems}"));
        assert!(policy.rules().count() >= 25);
        assert!(policy.examples_checked() >= 100, "{}", policy.examples_checked());
    }
}
