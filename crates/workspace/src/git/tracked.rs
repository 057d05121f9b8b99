//! Tells if a path is part of a repository, also of one that is otherwise not worked with: a linked worktree, a
//! submodule, settings with includes, or a newer format.

use std::ffi::OsString;
use std::path::Path;

use super::{Call, Git, GitError, Paths};

/// True if the index or the last commit contains the path or something below it, in any case of its last name.
/// `path` is relative to `directory`. False where git sees no repository with files.
pub fn tracks(directory: &Path, path: &Path) -> Result<bool, GitError> {
    let git = Git::inside(directory).paths(Paths::Marked);
    match git.run(["rev-parse", "--is-inside-work-tree"]) {
        Ok(answer) if answer.trim_ascii() == b"true" => {}
        Ok(_) | Err(GitError::Failed { .. }) => return Ok(false),
        Err(error) => return Err(error),
    }
    let mut any_case = OsString::from(":(icase,literal)");
    any_case.push(path);
    let listing = ["ls-files", "-z", "--"].map(OsString::from).into_iter().chain([any_case]);
    if !git.call(Call::new(listing))?.is_empty() {
        return Ok(true);
    }
    // There is nothing to list before the first commit.
    if !git.ask(["rev-parse", "--verify", "--quiet", "HEAD"])? {
        return Ok(false);
    }
    let mut listing = ["ls-tree", "-z", "--name-only", "HEAD"].map(OsString::from).to_vec();
    if let Some(above) = path.parent().filter(|above| !above.as_os_str().is_empty()) {
        let mut entries = above.as_os_str().to_owned();
        entries.push("/");
        listing.extend([OsString::from("--"), entries]);
    }
    let names = git.call(Call::new(listing))?;
    let wanted = path.file_name().unwrap_or_default().as_encoded_bytes();
    let last =
        |name: &[u8]| name.rsplit(|byte| *byte == b'/').next().is_some_and(|last| last.eq_ignore_ascii_case(wanted));
    Ok(names.split(|byte| *byte == 0).any(last))
}
