//! Which branch a repository's work starts from, for the first policy file. A guess that the team corrects in the file; no
//! git is run for it, so that nothing of the repository's configuration has a say.

use placet_domain::worktree::BranchName;

use super::files::Root;

/// What the remote calls its default, else `main` or `master` if there is one, else the branch that is checked out.
pub(crate) fn guess(root: &Root) -> BranchName {
    let of_remote = symbolic(root, ".git/refs/remotes/origin/HEAD", "refs/remotes/origin/");
    let usual = || ["main", "master"].into_iter().find(|name| exists(root, name)).and_then(|name| name.parse().ok());
    let checked_out = || symbolic(root, ".git/HEAD", "refs/heads/");
    of_remote.or_else(usual).or_else(checked_out).unwrap_or_else(|| "main".parse().expect("`main` is a branch name"))
}

fn text(root: &Root, path: &str) -> Option<String> {
    root.read(path).ok().flatten().and_then(|bytes| String::from_utf8(bytes).ok())
}

/// The branch a symbolic reference points to.
fn symbolic(root: &Root, path: &str, prefix: &str) -> Option<BranchName> {
    text(root, path)?.trim().strip_prefix("ref: ")?.strip_prefix(prefix)?.parse().ok()
}

fn exists(root: &Root, name: &str) -> bool {
    let is_loose = text(root, &format!(".git/refs/heads/{name}")).is_some();
    let full = format!(" refs/heads/{name}");
    is_loose || text(root, ".git/packed-refs").is_some_and(|packed| packed.lines().any(|line| line.ends_with(&full)))
}
