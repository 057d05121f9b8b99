//! Hooks for a person who commits in a plain worktree on the host. They check the form of commits as in the cage and then run the person's
//! own hooks. Hooks in the checked-out tree are not run, because an agent may have written them.

use crate::commit_form::CommitForm;

/// Runs the person's own hook of the same name.
const PASS_ON: &str = include_str!("person_hooks/pass_on.sh");
/// File name of the form check, in the directory of the hook that calls it.
const FORM: &str = "placet-commit-msg";
/// Further hooks that git may call for a commit, a checkout or a push.
const OTHERS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "post-rewrite",
    "post-index-change",
    "reference-transaction",
    "pre-auto-gc",
    "sendemail-validate",
];

/// Returns the name and script of each hook.
pub fn person_hooks(form: &CommitForm) -> Vec<(&'static str, String)> {
    let check = format!("#!/bin/sh\n\"${{0%/*}}/{FORM}\" \"$1\" || exit 1\n");
    let commit_msg = format!("{check}{}", PASS_ON.trim_start_matches("#!/bin/sh\n"));
    let others = OTHERS.iter().map(|name| (*name, PASS_ON.to_owned()));
    [("commit-msg", commit_msg), (FORM, form.hook())].into_iter().chain(others).collect()
}
