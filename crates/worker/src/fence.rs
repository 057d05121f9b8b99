//! What a cage keeps of the scope of a hosted run: mounts before an action, and an exact look after it.
//!
//! Mounts say less than globs (decision 27). What exists outside of the scope is read-only; a new name that only a
//! pattern with wildcards excludes can be made, and is found and undone after the action (decision 69).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use placet_domain::scope::{Access as Enclosed, Enclosure, Leaf, PathRuling, Scope, ScopePath, Tree};
use placet_sandbox::{Access, Rules};
use placet_workspace::TreePath;

/// Whether the scope does not allow a change of this path. What leads into a git directory is the run's own business:
/// it is never an output.
pub(crate) fn is_outside(scope: &Scope, path: &TreePath) -> bool {
    let path = ScopePath::new(path.as_bytes());
    path.is_ok_and(|path| !matches!(scope.judge_path(&path), PathRuling::Allowed { .. }))
}

/// Those that the scope does not allow.
pub(crate) fn outside(scope: &Scope, paths: Vec<TreePath>) -> impl Iterator<Item = TreePath> {
    paths.into_iter().filter(|path| is_outside(scope, path))
}

/// The rules of a cage above `base`. What the run made itself is within its scope, and is its own to change.
pub(crate) fn rules(scope: &Scope, base: &Path) -> io::Result<Rules> {
    let mut names = Vec::new();
    names_below(base, Path::new(""), &mut names)?;
    let tree = Tree::new(names.iter().map(|(path, leaf)| (path.as_slice(), *leaf)));
    let enclosure = Enclosure::of(scope, &[], &tree);
    let ground = match enclosure.ground() {
        Enclosed::Writable => Rules::writable(),
        Enclosed::ReadOnly => Rules::read_only(),
    };
    Ok(enclosure.rules().fold(ground, |rules, (path, access)| {
        let access = match access {
            Enclosed::Writable => Access::Writable,
            Enclosed::ReadOnly => Access::ReadOnly,
        };
        rules.path(PathBuf::from(OsString::from_vec(path.to_vec())), access)
    }))
}

/// The base is laid down by this worker: plain files in directories, in which no run writes.
fn names_below(base: &Path, directory: &Path, names: &mut Vec<(Vec<u8>, Leaf)>) -> io::Result<()> {
    for entry in fs::read_dir(base.join(directory))? {
        let entry = entry?;
        let (path, kind) = (directory.join(entry.file_name()), entry.file_type()?);
        if kind.is_dir() {
            names_below(base, &path, names)?;
        } else {
            let leaf = if kind.is_symlink() { Leaf::Link } else { Leaf::File };
            names.push((path.as_os_str().as_bytes().to_vec(), leaf));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use placet_domain::scope::ScopeDraft;

    use super::*;

    fn scope(allow: &str) -> Scope {
        Scope::lock(ScopeDraft { allow: vec![allow.parse().unwrap()], ..ScopeDraft::default() })
    }

    #[test]
    fn paths_beyond_the_scope_are_outside() {
        let (scope, path) = (scope("src/**"), |text: &str| TreePath::new(text).unwrap());
        let paths = ["src/a.rs", "Makefile", "SRC/a.rs", "src/.git/config"].map(path).to_vec();
        let outside: Vec<String> = outside(&scope, paths).map(|path| path.to_string()).collect();
        assert_eq!(outside, ["Makefile", "SRC/a.rs"]);
    }

    #[test]
    fn files_of_the_base_outside_the_scope_are_read_only() {
        let base = tempfile::tempdir().unwrap();
        fs::create_dir(base.path().join("src")).unwrap();
        fs::write(base.path().join("Makefile"), "all:").unwrap();
        fs::write(base.path().join("src/a.rs"), "").unwrap();
        let whole_directory = Rules::read_only().path("src", Access::Writable);
        assert_eq!(rules(&scope("src/**"), base.path()).unwrap(), whole_directory);
        let by_pattern = Rules::writable().path("Makefile", Access::ReadOnly).path("src", Access::ReadOnly);
        assert_eq!(rules(&scope("*.md"), base.path()).unwrap(), by_pattern);
        assert_eq!(rules(&scope("**"), base.path()).unwrap(), Rules::writable());
    }
}
