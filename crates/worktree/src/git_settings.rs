//! What an agent sees of the repository's settings: those that say how files are kept, and nothing that opens a door.
//!
//! A repository's `config` often holds credentials: in the addresses of remotes, in headers that a build machine leaves
//! behind, in settings of helpers. The copy for the cage lies in the upper of the repository's layers, where it covers
//! the real file; what else may hold such things is covered by nothing at all.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use placet_workspace::{CagePaths, LayerError, Repository, RepositoryError, remove_from_upper};
use rustix::fs::{CWD, FileType, Mode};

/// Settings that say how files and branches are kept, by section. Every other one stays outside, also those of the same
/// sections that name programs, proxies or files of the host.
const SEEN: &[(&str, &[&str])] = &[
    (
        "core",
        &[
            "abbrev",
            "autocrlf",
            "bare",
            "bigfilethreshold",
            "checkstat",
            "commentchar",
            "compression",
            "eol",
            "filemode",
            "fsync",
            "ignorecase",
            "logallrefupdates",
            "longpaths",
            "loosecompression",
            "precomposeunicode",
            "protecthfs",
            "protectntfs",
            "quotepath",
            "repositoryformatversion",
            "safecrlf",
            "sharedrepository",
            "sparsecheckout",
            "sparsecheckoutcone",
            "symlinks",
            "trustctime",
            "untrackedcache",
            "whitespace",
        ],
    ),
    (
        "extensions",
        &[
            "compatobjectformat",
            "noop",
            "objectformat",
            "partialclone",
            "preciousobjects",
            "refstorage",
            "relativeworktrees",
            "worktreeconfig",
        ],
    ),
    ("branch", &["merge", "rebase", "remote"]),
    ("i18n", &["commitencoding", "logoutputencoding"]),
];

/// Settings that name a remote. Git also takes an address there, with whatever credentials are in it.
const REMOTES: &[(&str, &str)] = &[("branch", "remote"), ("extensions", "partialclone")];

/// Also settings, or the settings of repositories inside this one.
const COVERED: &[&str] = &["config.worktree", "credentials", "modules"];

#[derive(Debug, thiserror::Error)]
pub enum GitSettingsError {
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    #[error("the repository's settings cannot be prepared for a cage")]
    Io(#[from] io::Error),
    #[error("what an earlier command left in the place of the repository's settings cannot be removed")]
    Left(#[from] LayerError),
}

/// Covers the repository's settings in the layers of a cage that is about to start.
pub(crate) fn cover(repository: &Repository, paths: &CagePaths) -> Result<(), GitSettingsError> {
    let text = seen(repository, &paths.git_lower.join("config"))?;
    let config = paths.git_upper.join("config");
    remove_from_upper(&paths.git_upper, "config")?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o644).open(&config)?;
    file.write_all(text.as_bytes())?;
    for name in COVERED.iter().filter(|name| paths.git_lower.join(name).symlink_metadata().is_ok()) {
        remove_from_upper(&paths.git_upper, name)?;
        // What the kernel takes for "nothing is here, whatever lies below".
        rustix::fs::mknodat(CWD, paths.git_upper.join(name), FileType::CharacterDevice, Mode::empty(), 0)
            .map_err(io::Error::from)?;
    }
    Ok(())
}

fn seen(repository: &Repository, config: &Path) -> Result<String, RepositoryError> {
    let list = ["config", "--no-includes", "--list", "-z", "--file"].map(Into::into);
    let printed = repository.git().run(list.into_iter().chain([config.as_os_str().to_owned()]))?;
    let printed = String::from_utf8_lossy(&printed);
    Ok(printed.split_terminator('\0').filter_map(|entry| entry.split_once('\n')).filter_map(written).collect())
}

/// One setting as git reads it, if it is one that is seen.
fn written((name, value): (&str, &str)) -> Option<String> {
    let (section, rest) = name.split_once('.')?;
    let (inner, key) = rest.rsplit_once('.').map_or((None, rest), |(inner, key)| (Some(inner), key));
    let (_, keys) = SEEN.iter().find(|(seen, _)| *seen == section)?;
    let is_address = REMOTES.contains(&(section, key)) && !value.chars().all(is_of_a_name);
    if !keys.contains(&key) || is_address {
        return None;
    }
    let header = match inner {
        Some(inner) => format!("[{section} {}]", quoted(inner)),
        None => format!("[{section}]"),
    };
    Some(format!("{header}\n\t{key} = {}\n", quoted(value)))
}

/// What names of remotes are made of, and addresses and paths are not made of alone.
fn is_of_a_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '.' | '-' | '_')
}

fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_how_files_are_kept_is_seen() {
        assert_eq!(written(("core.autocrlf", "input")).as_deref(), Some("[core]\n\tautocrlf = \"input\"\n"));
        let branch = written(("branch.a \"b\".merge", "refs/heads/main"));
        assert_eq!(branch.as_deref(), Some("[branch \"a \\\"b\\\"\"]\n\tmerge = \"refs/heads/main\"\n"));
        assert!(written(("branch.main.remote", "origin")).is_some());
        for secret in [
            "remote.origin.url",
            "http.https://x/.extraheader",
            "credential.helper",
            "url.x.insteadof",
            "core.sshcommand",
            "core.gitproxy",
            "core.askpass",
            "core.hookspath",
            "core.worktree",
            "core.attributesfile",
            "branch.main.pushremote",
            "branch.main.description",
            "branch.core.autocrlf",
        ] {
            assert_eq!(written((secret, "x")), None, "{secret}");
        }
    }

    #[test]
    fn an_address_in_the_place_of_a_remote_is_not_seen() {
        for address in ["https://bob:TOKEN@example.org/x", "git@example.org:x", "/srv/x", "../x", "C:\\x"] {
            for name in ["branch.main.remote", "extensions.partialclone"] {
                assert_eq!(written((name, address)), None, "{name} = {address}");
            }
        }
    }
}
