//! Enforces the scope of a hosted run: mounts before an action, and an exact check after it.
//!
//! Mounts cannot express every glob (decision 27). Existing files outside of the scope are read-only. A new name that only a pattern with
//! wildcards excludes can be created; the check after the action finds and undoes it (decision 69).

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use placet_domain::scope::{Access as Enclosed, Enclosure, Leaf, PathRuling, Scope, ScopePath, Tree};
use placet_sandbox::{Access, Rules};
use placet_workspace::TreePath;

/// True if the scope does not allow a change of this path. Paths into a git directory are never outputs, so they are left alone.
pub(crate) fn is_outside(scope: &Scope, path: &TreePath) -> bool {
    let path = ScopePath::new(path.as_bytes());
    path.is_ok_and(|path| !matches!(scope.judge_path(&path), PathRuling::Allowed { .. }))
}

/// Selects the paths that the scope does not allow.
pub(crate) fn outside(scope: &Scope, paths: Vec<TreePath>) -> impl Iterator<Item = TreePath> {
    paths.into_iter().filter(|path| is_outside(scope, path))
}

/// Computes the mount rules of a cage above `base`. The run's own files are within its scope and stay writable.
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

/// Collects the names in the base, which this worker created: plain files in directories that no run writes to.
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
