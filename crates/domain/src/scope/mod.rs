//! Scope: what a run may change, whom it may reach and with which tools. Locked when a run is made, never edited.
//!
//! Deny wins over allow; what no rule allows is outside. Deny rules ignore letter case and allow rules do not, because a
//! file system that ignores case must not turn `Docs/Secret` into a way around `docs/secret/**`.
//! Reading outside the scope is fine; this module says nothing about reading, and it resolves no names and no links:
//! the cage and the gateway enforce what is decided here.

mod enclosure;
mod glob;
mod path;
mod target;
mod wildmatch;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

pub use enclosure::{Access, Enclosure, Gap, GapKind, Leaf, MOST_MOUNTS, Tree};
pub use glob::{BadGlob, Glob};
pub use path::{BadPath, ScopePath};
pub use target::{Authority, BadTarget, Host, Network, Place, Target, TargetRule, Url, UrlPath};
pub use wildmatch::{Case, Malformed, Pattern, Slash, wildmatch};

use crate::canonical;
use crate::digest::Digest;
use crate::proposal::ToolName;

/// What a team writes down; [`Scope::lock`] turns it into a scope.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScopeDraft {
    /// Paths that may change.
    #[serde(default)]
    pub allow: Vec<Glob>,
    /// Paths that may not, whatever `allow` says.
    #[serde(default)]
    pub deny: Vec<Glob>,
    /// Hosts, networks and addresses (URLs) that may be reached.
    #[serde(default)]
    pub targets: Vec<TargetRule>,
    /// Tools that may be proposed.
    #[serde(default)]
    pub tools: BTreeSet<ToolName>,
}

/// A locked scope. Its version is the digest of its content: another content is another scope.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ScopeDraft", into = "ScopeDraft")]
pub struct Scope {
    rules: ScopeDraft,
    version: Digest,
}

impl From<ScopeDraft> for Scope {
    fn from(rules: ScopeDraft) -> Self {
        Self::lock(rules)
    }
}

impl From<Scope> for ScopeDraft {
    fn from(scope: Scope) -> Self {
        scope.rules
    }
}

/// Where a path stands, with the rule that decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathRuling<'scope> {
    Allowed { by: &'scope Glob },
    Denied { by: &'scope Glob },
    Outside,
}

impl Scope {
    pub fn lock(rules: ScopeDraft) -> Self {
        let version = Digest::of(&canonical::to_bytes(&rules));
        Self { rules, version }
    }

    pub const fn version(&self) -> Digest {
        self.version
    }

    pub const fn rules(&self) -> &ScopeDraft {
        &self.rules
    }

    pub fn permits_tool(&self, tool: &ToolName) -> bool {
        self.rules.tools.contains(tool)
    }

    pub fn judge_path(&self, path: &ScopePath) -> PathRuling<'_> {
        let matching = |rules: &'_ [Glob], case| rules.iter().position(|glob| glob.matches(path, case));
        if let Some(index) = matching(&self.rules.deny, Case::Ignore) {
            return PathRuling::Denied { by: &self.rules.deny[index] };
        }
        match matching(&self.rules.allow, Case::Exact) {
            Some(index) => PathRuling::Allowed { by: &self.rules.allow[index] },
            None => PathRuling::Outside,
        }
    }

    /// The first rule that covers the target, if any does.
    pub fn covering(&self, target: &Target) -> Option<&TargetRule> {
        self.rules.targets.iter().find(|rule| rule.covers(target))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scope(allow: &[&str], deny: &[&str]) -> Scope {
        let globs = |list: &[&str]| list.iter().map(|text| text.parse().expect("a valid glob")).collect();
        Scope::lock(ScopeDraft { allow: globs(allow), deny: globs(deny), ..ScopeDraft::default() })
    }

    fn path(text: &str) -> ScopePath {
        ScopePath::new(text.as_bytes()).expect("a valid path")
    }

    #[test]
    fn deny_wins_and_the_rule_that_decided_is_named() {
        let scope = scope(&["src/**"], &["src/secret/**"]);
        assert!(matches!(scope.judge_path(&path("src/a/b.rs")), PathRuling::Allowed { by } if by.as_str() == "src/**"));
        assert!(
            matches!(scope.judge_path(&path("src/secret/k")), PathRuling::Denied { by } if by.as_str() == "src/secret/**")
        );
        assert_eq!(scope.judge_path(&path("docs/a.md")), PathRuling::Outside);
    }

    #[test]
    fn letter_case_is_no_way_around_a_deny_and_no_way_into_an_allow() {
        let scope = scope(&["**"], &["docs/secret/**"]);
        assert!(matches!(scope.judge_path(&path("Docs/SECRET/x")), PathRuling::Denied { .. }));
        let narrow = self::scope(&["src/**"], &[]);
        assert_eq!(narrow.judge_path(&path("SRC/x")), PathRuling::Outside);
    }

    #[test]
    fn the_version_is_the_content() {
        assert_eq!(scope(&["a"], &[]).version(), scope(&["a"], &[]).version());
        assert_ne!(scope(&["a"], &[]).version(), scope(&[], &["a"]).version());
    }

    #[test]
    fn an_empty_scope_permits_nothing() {
        let nothing = Scope::lock(ScopeDraft::default());
        assert_eq!(nothing.judge_path(&path("a")), PathRuling::Outside);
        assert!(nothing.covering(&"example.org".parse().unwrap()).is_none());
        assert!(!nothing.permits_tool(&"sh".parse().unwrap()));
    }

    proptest! {
        #[test]
        fn no_allow_rule_ever_overrules_a_deny(name in "[a-z]{1,6}(/[a-zA-Z]{1,6}){0,3}", allow in "[a-z*?/]{1,8}") {
            let Ok(allow) = allow.parse::<Glob>() else { return Ok(()) };
            let draft = ScopeDraft { allow: vec![allow], deny: vec!["**".parse().unwrap()], ..ScopeDraft::default() };
            let scope = Scope::lock(draft);
            let denied = matches!(scope.judge_path(&path(&name)), PathRuling::Denied { .. });
            prop_assert!(denied);
        }
    }
}
