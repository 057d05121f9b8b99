//! What a command may do where in its workspace.
//!
//! Rules speak of paths relative to the workspace, whether something is there or not: a protected path that is absent
//! cannot be made. The deepest rule wins; nothing below a hidden path is visible again. Turning rules into mounts is
//! done by [`crate::plan`], and why it is done that way is written in `docs/decisions/0020-paths-by-layers.md`.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::request::RequestError;

/// More would make a cage slow to enter; a rule for the directory above covers all of them.
pub const MAX_RULES: usize = 1_024;

/// Endings of files that only show what a secret file looks like.
const SAMPLES: &[&str] = &[".example", ".sample", ".template", ".dist"];

/// What a command may do with a path. Ordered: the later, the stricter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Access {
    /// Read and change, as far as the file's own mode allows.
    Writable,
    /// Read, but neither change nor replace, remove or rename; and not make, if it is absent.
    ReadOnly,
    /// Not even read: something empty is in its place.
    Hidden,
}

/// The rules of one workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rules {
    pub(crate) elsewhere: Access,
    pub(crate) paths: BTreeMap<PathBuf, Access>,
    pub(crate) names: Vec<NameRule>,
}

/// Names that are hidden wherever they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NameRule {
    pattern: String,
    spared: &'static [&'static str],
}

impl Default for Rules {
    /// Everything is writable.
    fn default() -> Self {
        Self::writable()
    }
}

impl Rules {
    /// Everything is writable, except what is said otherwise. Saying otherwise needs a layered workspace.
    #[must_use]
    pub fn writable() -> Self {
        Self { elsewhere: Access::Writable, paths: BTreeMap::new(), names: Vec::new() }
    }

    /// Nothing is writable, except what is said otherwise.
    #[must_use]
    pub fn read_only() -> Self {
        Self { elsewhere: Access::ReadOnly, ..Self::writable() }
    }

    /// What may be done with a path of the workspace and everything below it. Of two rules for one path the stricter
    /// one holds. A read-only or hidden path also covers what is there under another spelling of upper and lower case.
    #[must_use]
    pub fn path(mut self, path: impl Into<PathBuf>, access: Access) -> Self {
        let rule = self.paths.entry(path.into()).or_insert(access);
        *rule = access.max(*rule);
        self
    }

    /// Hides every file and directory of this name that is in the workspace when the cage is entered, at any depth and
    /// in any case. A `*` at the end stands for any ending.
    #[must_use]
    pub fn hide_names(mut self, pattern: impl Into<String>) -> Self {
        self.names.push(NameRule { pattern: pattern.into(), spared: &[] });
        self
    }

    /// Hides `.env*` at any depth, but not what only shows the form (`.env.example` and the like), which is tracked.
    #[must_use]
    pub fn hide_env_files(mut self) -> Self {
        self.names.push(NameRule { pattern: ".env*".into(), spared: SAMPLES });
        self.path(".env", Access::Hidden)
    }

    /// Whether anything is restricted at all.
    pub(crate) fn restrict(&self) -> bool {
        self.elsewhere != Access::Writable
            || !self.names.is_empty()
            || self.paths.values().any(|access| *access != Access::Writable)
    }

    pub(crate) fn check(&self) -> Result<(), RequestError> {
        if self.paths.len() > MAX_RULES {
            return Err(RequestError::TooManyRules { seen: self.paths.len() });
        }
        if let Some(path) = self.paths.keys().find(|path| !is_inner(path)) {
            return Err(RequestError::RulePath(path.clone()));
        }
        if let Some(name) = self.names.iter().find(|name| !name.is_usable()) {
            return Err(RequestError::RuleName(name.pattern.clone()));
        }
        self.paths.keys().try_for_each(|path| match self.hidden_above(path) {
            Some(hidden) => Err(RequestError::RuleBelowHidden { path: path.clone(), hidden: hidden.to_owned() }),
            None => Ok(()),
        })
    }

    fn hidden_above<'a>(&self, path: &'a Path) -> Option<&'a Path> {
        path.ancestors().skip(1).find(|above| self.paths.get(*above) == Some(&Access::Hidden))
    }

    /// Whether a name is hidden wherever it is.
    pub(crate) fn hides_name(&self, name: &str) -> bool {
        self.names.iter().any(|rule| rule.matches(name))
    }
}

impl NameRule {
    fn is_usable(&self) -> bool {
        let stem = self.pattern.strip_suffix('*').unwrap_or(&self.pattern);
        !stem.is_empty() && !stem.contains(['*', '/', '\0']) && stem != "." && stem != ".."
    }

    fn matches(&self, name: &str) -> bool {
        let (name, pattern) = (name.to_lowercase(), self.pattern.to_lowercase());
        let hit = match pattern.strip_suffix('*') {
            Some(stem) => name.starts_with(stem),
            None => name == pattern,
        };
        hit && !self.spared.iter().any(|ending| name.ends_with(ending))
    }
}

/// Relative, in text, and without steps upwards or in place.
fn is_inner(path: &Path) -> bool {
    let text = path.to_str().filter(|text| !text.is_empty() && !text.contains('\0'));
    let plain = path.components().all(|part| matches!(part, Component::Normal(_)));
    plain && text.is_some_and(|text| !text.contains("//") && !text.split('/').any(|part| part == "."))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_two_rules_for_one_path_the_stricter_one_holds() {
        let rules = Rules::writable().path("a", Access::Hidden).path("a", Access::Writable);
        assert_eq!(rules.paths.get(Path::new("a")), Some(&Access::Hidden));
    }

    #[test]
    fn rules_name_paths_inside_the_workspace() {
        for path in ["", "/a", "a/../b", "./a", "..", "a//b", "a/./b", "a\0b"] {
            let refused = Rules::writable().path(path, Access::ReadOnly).check();
            assert_eq!(refused, Err(RequestError::RulePath(path.into())), "{path:?}");
        }
        for path in ["a", "a/b", ".git/hooks", "...", "grüße"] {
            assert_eq!(Rules::writable().path(path, Access::ReadOnly).check(), Ok(()), "{path:?}");
        }
    }

    #[test]
    fn nothing_below_a_hidden_path_is_shown_again() {
        let rules = Rules::writable().path("a", Access::Hidden).path("a/b/c", Access::ReadOnly);
        assert!(matches!(rules.check(), Err(RequestError::RuleBelowHidden { .. })));
    }

    #[test]
    fn environment_files_are_hidden_by_name_in_any_case_but_not_their_samples() {
        let rules = Rules::writable().hide_env_files();
        for name in [".env", ".ENV", ".env.local", ".envrc", ".Env.Production"] {
            assert!(rules.hides_name(name), "{name}");
        }
        for name in ["env", "x.env", ".env.example", ".ENV.Sample", ".environment.template"] {
            assert!(!rules.hides_name(name), "{name}");
        }
    }

    #[test]
    fn a_name_is_one_name_with_at_most_one_star_at_its_end() {
        for name in ["", "*", "a*b", "a/b", "..", "**"] {
            assert_eq!(Rules::writable().hide_names(name).check(), Err(RequestError::RuleName(name.into())));
        }
        assert_eq!(Rules::writable().hide_names("id_rsa*").hide_names("secrets").check(), Ok(()));
    }
}
