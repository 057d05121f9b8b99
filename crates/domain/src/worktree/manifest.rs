//! What one agent may change at one ticket: its scope, the team's protected paths, and what was exempted from them.

use serde::{Deserialize, Serialize};

use crate::scope::{Case, Glob, PathRuling, Scope, ScopePath};

/// A path that no agent may change, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Protected {
    pub path: Glob,
    pub reason: String,
}

/// What belongs to the runtime itself: no team can give it away, and nobody is exempted. The directories are listed with
/// their insides, or somebody could put a link in the place of one that does not exist yet.
pub const RUNTIME_OWN: &[&str] = &[".agent", ".agent/**", ".placet", ".placet/**", ".worktrees", ".worktrees/**"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub scope: Scope,
    pub protected: Vec<Protected>,
}

/// Where a path stands, with the rule that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ruling<'manifest> {
    Allowed {
        by: &'manifest Glob,
    },
    Denied {
        by: &'manifest Glob,
    },
    Protected {
        by: &'manifest Protected,
    },
    /// It belongs to the runtime.
    Own,
    Outside,
}

impl Ruling<'_> {
    pub const fn is_allowed(&self) -> bool {
        matches!(self, Self::Allowed { .. })
    }
}

impl Manifest {
    /// Protected paths first, unless they are exempted; then the scope, where deny wins. Letter case is no way around.
    pub fn judge(&self, exempted: &[Glob], path: &ScopePath) -> Ruling<'_> {
        let is_own = |glob: &&str| glob.parse::<Glob>().is_ok_and(|glob| glob.matches(path, Case::Ignore));
        if RUNTIME_OWN.iter().any(is_own) {
            return Ruling::Own;
        }
        let protecting = self.protected.iter().find(|protected| protected.path.matches(path, Case::Ignore));
        if let Some(by) = protecting
            && !exempted.iter().any(|glob| glob.matches(path, Case::Exact))
        {
            return Ruling::Protected { by };
        }
        match self.scope.judge_path(path) {
            PathRuling::Allowed { by } => Ruling::Allowed { by },
            PathRuling::Denied { by } => Ruling::Denied { by },
            PathRuling::Outside => Ruling::Outside,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scope::ScopeDraft;

    fn globs(list: &[&str]) -> Vec<Glob> {
        list.iter().map(|text| text.parse().expect("a glob")).collect()
    }

    fn manifest() -> Manifest {
        let draft = ScopeDraft { allow: globs(&["**"]), deny: globs(&["db/**"]), ..ScopeDraft::default() };
        let protected = Protected { path: "Makefile".parse().expect("a glob"), reason: "it runs commands".into() };
        Manifest { scope: Scope::lock(draft), protected: vec![protected] }
    }

    fn judged(path: &str, exempted: &[&str]) -> String {
        let path = ScopePath::new(path.as_bytes()).expect("a path");
        match manifest().judge(&globs(exempted), &path) {
            Ruling::Allowed { by } => format!("allowed by {}", by.as_str()),
            Ruling::Denied { by } => format!("denied by {}", by.as_str()),
            Ruling::Protected { by } => format!("protected: {}", by.reason),
            Ruling::Own => "the runtime's".into(),
            Ruling::Outside => "outside".into(),
        }
    }

    #[test]
    fn a6_a_protected_path_is_refused_whatever_the_scope_allows() {
        assert_eq!(judged("src/a.rs", &[]), "allowed by **");
        assert_eq!(judged("Makefile", &[]), "protected: it runs commands");
        assert_eq!(judged("MAKEFILE", &[]), "protected: it runs commands");
    }

    #[test]
    fn a6_an_exemption_lifts_the_protection_and_nothing_else() {
        assert_eq!(judged("Makefile", &["Makefile"]), "allowed by **");
        assert_eq!(judged("db/x.sql", &["db/**"]), "denied by db/**", "a deny rule is not lifted");
        assert_eq!(judged(".agent/manifest.json", &["**"]), "the runtime's");
        assert_eq!(judged(".Placet/keys/ledger.seed", &["**"]), "the runtime's");
        assert_eq!(judged(".placet", &["**"]), "the runtime's", "not even a link in its place");
    }
}
