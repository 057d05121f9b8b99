//! What the repository's own settings may still say after [`Git`] took the rest: nothing that starts a program, opens a
//! file of somebody's choice or brings in other settings.
//!
//! Fixed names are overridden for every call (see `git/neutral.rs`). Names with a part of the author's choice, such as
//! `filter.<any>.clean`, are listed once and overridden one by one. Settings that include others are refused: what is
//! included can change at any time, and with it what would have to be overridden.

use std::ffi::OsString;
use std::path::Path;

use super::RepositoryError;
use crate::git::Git;

/// A repository with more programs in its settings than this was made to do harm.
const MOST_OVERRIDES: usize = 4_096;

/// First part, last part, value that takes its effect, reason. Between the two parts stands anything or nothing.
const NEUTRAL: &[(&str, &str, &str, &str)] = &[
    ("filter", "clean", "", "a filter is a program; without one, content is taken as it is"),
    ("filter", "smudge", "", "a filter is a program; large files stay the pointers they are"),
    ("filter", "process", "", "a filter is a program"),
    ("filter", "required", "false", "without a program, a filter cannot be required"),
    ("diff", "command", "", "it is a program"),
    ("diff", "textconv", "cat", "it is a program, and this one shows what is there"),
    ("diff", "cachetextconv", "false", "what no program made is not kept"),
    ("diff", "trustexitcode", "false", "no program is asked"),
    ("merge", "driver", "false", "it is a program"),
    ("credential", "helper", "", "helpers are programs"),
    ("gpg", "program", "false", "it is a program"),
    ("gpg", "defaultkeycommand", "false", "it is a program"),
    ("submodule", "update", "none", "it may be a program, and submodules stay empty"),
    ("submodule", "active", "false", "submodules have settings of their own"),
    ("remote", "vcs", "", "it is a program"),
    ("remote", "uploadpack", "git-upload-pack", "it is a program"),
    ("remote", "receivepack", "git-receive-pack", "it is a program"),
    ("remote", "promisor", "false", "nothing is fetched"),
    ("remote", "proxy", "", "nobody listens in"),
    ("http", "proxy", "", "nobody listens in"),
    ("http", "cookiefile", "", "it is a file of somebody's choice"),
    ("http", "sslverify", "true", "a remote is who it says it is"),
    ("uploadpack", "packobjectshook", "git", "it is a program"),
    ("pager", "", "false", "nobody reads along"),
    ("trailer", "command", "", "it is a program"),
    ("trailer", "cmd", "", "it is a program"),
    ("tar", "command", "false", "it is a program"),
    ("browser", "cmd", "false", "it is a program"),
    ("difftool", "cmd", "false", "it is a program"),
    ("mergetool", "cmd", "false", "it is a program"),
    ("guitool", "cmd", "false", "it is a program"),
    ("man", "cmd", "false", "it is a program"),
    ("sequence", "editor", "false", "nobody edits"),
    ("blame", "ignorerevsfile", "", "it is a file of somebody's choice"),
    ("commit", "template", "", "it is a file of somebody's choice"),
    ("mailmap", "file", "", "it is a file of somebody's choice"),
    ("trace2", "normaltarget", "0", "it writes to a file of somebody's choice"),
    ("trace2", "perftarget", "0", "it writes to a file of somebody's choice"),
    ("trace2", "eventtarget", "0", "it writes to a file of somebody's choice"),
];

/// The settings of one file, in its order.
#[derive(Clone, Debug, Default)]
pub(super) struct Settings {
    pairs: Vec<(String, String)>,
}

impl Settings {
    /// Lists what is in one file, without running anything that is listed. The file is named: a repository that git does
    /// not understand would otherwise have no settings.
    pub(super) fn read(git: &Git, file: &Path) -> Result<Self, RepositoryError> {
        let list = ["config", "--no-includes", "--list", "-z", "--file"].map(OsString::from);
        let printed = git.run(list.into_iter().chain([file.into()]))?;
        let text = String::from_utf8_lossy(&printed);
        let pairs = text.split_terminator('\0').map(|entry| {
            let (name, value) = entry.split_once('\n').unwrap_or((entry, "true"));
            (name.to_owned(), value.to_owned())
        });
        Ok(Self { pairs: pairs.collect() })
    }

    /// With those of another file, which win.
    pub(super) fn and(mut self, more: Self) -> Self {
        self.pairs.extend(more.pairs);
        self
    }

    /// The last value, as git takes it.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.pairs.iter().rev().find(|(each, _)| each == name).map(|(_, value)| value.as_str())
    }

    pub(super) fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| matches!(value.to_ascii_lowercase().as_str(), "true" | "yes" | "on" | "1"))
    }

    /// Those that begin so.
    pub(super) fn beginning<'a>(&'a self, with: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        let pairs = self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        pairs.filter(move |(name, _)| name.starts_with(with))
    }

    /// What takes the effect of everything that was listed.
    pub(super) fn overrides(&self) -> Result<Vec<(String, String)>, RepositoryError> {
        if let Some((name, _)) = self.pairs.iter().find(|(name, _)| is_include(name)) {
            return Err(RepositoryError::Includes(name.escape_debug().to_string()));
        }
        let mut names: Vec<&str> = self.pairs.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let neutral = |name: &&str| neutral(name).map(|value| ((*name).to_owned(), value.to_owned()));
        let overrides: Vec<_> = names.iter().filter_map(neutral).collect();
        if overrides.len() > MOST_OVERRIDES {
            return Err(RepositoryError::Settings { limit: MOST_OVERRIDES });
        }
        Ok(overrides)
    }
}

fn is_include(name: &str) -> bool {
    name == "include.path" || (name.starts_with("includeif.") && name.ends_with(".path"))
}

/// The value that takes the effect of a setting, if it has one that counts.
fn neutral(name: &str) -> Option<&'static str> {
    let (first, rest) = name.split_once('.')?;
    let last = rest.rsplit('.').next().unwrap_or(rest);
    let fits = |(section, key, _, _): &&(&str, &str, &str, &str)| *section == first && (key.is_empty() || *key == last);
    NEUTRAL.iter().find(fits).map(|(_, _, value, _)| *value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(names: &[&str]) -> Settings {
        Settings { pairs: names.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect() }
    }

    #[test]
    fn every_override_has_a_reason() {
        assert!(NEUTRAL.iter().all(|(section, _, _, reason)| !section.is_empty() && !reason.is_empty()));
    }

    #[test]
    fn programs_are_found_whatever_stands_between() {
        for name in ["filter.x.clean", "filter.a.b=c.clean", "diff.clean.textconv", "gpg.ssh.program", "gpg.program"] {
            assert!(neutral(name).is_some(), "{name}");
        }
        for name in ["filter.x.other", "core.filemode", "user.name", "remote.origin.url", "branch.filter.clean"] {
            assert!(neutral(name).is_none(), "{name}");
        }
    }

    #[test]
    fn each_name_is_overridden_once_and_includes_are_refused() {
        let twice = settings(&["filter.x.clean", "filter.x.clean", "core.bare"]).overrides().unwrap();
        assert_eq!(twice, [("filter.x.clean".to_owned(), String::new())]);
        for name in ["include.path", "includeif.gitdir:/x/.path"] {
            assert!(matches!(settings(&[name]).overrides(), Err(RepositoryError::Includes(_))), "{name}");
        }
    }
}
