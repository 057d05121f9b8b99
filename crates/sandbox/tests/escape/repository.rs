//! Attempts on protected paths of a layered workspace: what git would run later, what is hidden, what is absent.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::symlink;

use placet_sandbox::{Access, Rules};

use crate::attempt::{Attempt, Barrier, Observed, attempt};
use crate::raw::{address, call, returned};
use crate::scene::Scene;

/// What the host has put there: a path of the workspace, and its text.
pub(crate) const FILES: &[(&str, &str)] = &[
    (".git/config", "[core]\n"),
    (".git/hooks/pre-commit", "#!/bin/sh\n"),
    (".git/objects/keep", ""),
    (".Git/hooks/pre-commit", "#!/bin/sh\n"),
    ("manifest.toml", "approved = true\n"),
    ("secret", "secret of the host\n"),
];

/// What holds for it.
pub(crate) fn rules() -> Rules {
    Rules::writable()
        .path(".git/config", Access::ReadOnly)
        .path(".git/hooks", Access::ReadOnly)
        .path(".git/info", Access::ReadOnly)
        .path(".git/objects/info/alternates", Access::ReadOnly)
        .path("manifest.toml", Access::ReadOnly)
        .path("secret", Access::Hidden)
}

fn open_to_write(path: &str) -> Observed {
    Observed::of(OpenOptions::new().write(true).open(path))
}

fn create(path: &str) -> Observed {
    Observed::of(OpenOptions::new().write(true).create_new(true).open(path))
}

fn replace_repository(_: &Scene) -> Observed {
    Observed::of(fs::create_dir("/work/other").and_then(|()| fs::rename("/work/other", "/work/.git")))
}

fn exchange_repository(_: &Scene) -> Observed {
    let here = i64::from(libc::AT_FDCWD);
    let tried = fs::create_dir("/work/other").and_then(|()| {
        let (one, other) = (address(c"/work/other"), address(c"/work/.git"));
        returned(libc::SYS_renameat2, &[here, one, here, other, libc::RENAME_EXCHANGE.into()])
    });
    Observed::of(tried)
}

fn replace_manifest(_: &Scene) -> Observed {
    let tried =
        fs::write("/work/own", "approved = false\n").and_then(|()| fs::rename("/work/own", "/work/manifest.toml"));
    Observed::of(tried)
}

fn write_through_a_link(_: &Scene) -> Observed {
    let tried = symlink(".git/hooks", "/work/alias").and_then(|()| File::create("/work/alias/post-checkout"));
    Observed::of(tried)
}

/// Hidden means that there is nothing to read, by whatever name.
fn read_secret(by: impl FnOnce() -> io::Result<Vec<u8>>) -> Observed {
    match by() {
        Ok(bytes) if bytes.is_empty() => Observed::Nothing("nothing"),
        other => Observed::of(other),
    }
}

fn secret_through_a_link(_: &Scene) -> Observed {
    read_secret(|| symlink("secret", "/work/alias").and_then(|()| fs::read("/work/alias")))
}

pub(crate) const ATTEMPTS: &[Attempt] = &[
    attempt("change_a_hook", "change what git runs", Barrier::ReadOnly, "EROFS", |_| {
        open_to_write("/work/.git/hooks/pre-commit")
    })
    .protected(),
    attempt("add_a_hook", "add what git runs", Barrier::ReadOnly, "EROFS", |_| {
        create("/work/.git/hooks/post-checkout")
    })
    .protected(),
    attempt("hook_through_a_link", "the same, by a link", Barrier::ReadOnly, "EROFS", write_through_a_link).protected(),
    attempt("hook_by_other_spelling", "change .Git", Barrier::ReadOnly, "EROFS", |_| {
        open_to_write("/work/.Git/hooks/pre-commit")
    })
    .protected(),
    attempt("change_git_config", "name programs git runs", Barrier::ReadOnly, "EROFS", |_| {
        open_to_write("/work/.git/config")
    })
    .protected(),
    attempt("absent_attributes", "name filters git runs", Barrier::ReadOnly, "EROFS", |_| {
        create("/work/.git/info/attributes")
    })
    .protected(),
    attempt("absent_alternates", "lend objects of other repositories", Barrier::ReadOnly, "EEXIST", |_| {
        create("/work/.git/objects/info/alternates")
    })
    .protected(),
    attempt("move_repository", "move .git aside", Barrier::MountFlag("pinned"), "EBUSY", |_| {
        Observed::of(fs::rename("/work/.git", "/work/aside"))
    })
    .protected(),
    attempt(
        "replace_repository",
        "put another in its place",
        Barrier::MountFlag("pinned"),
        "EBUSY",
        replace_repository,
    )
    .protected(),
    attempt("exchange_repository", "exchange it", Barrier::MountFlag("pinned"), "EBUSY", exchange_repository)
        .protected(),
    attempt("change_manifest", "change what was approved", Barrier::ReadOnly, "EROFS", |_| {
        open_to_write("/work/manifest.toml")
    })
    .protected(),
    attempt("replace_manifest", "rename over it", Barrier::MountFlag("pinned"), "EBUSY", replace_manifest).protected(),
    attempt("read_hidden", "read what is hidden", Barrier::Mask, "nothing", |_| {
        read_secret(|| fs::read("/work/secret"))
    })
    .protected(),
    attempt("read_hidden_by_link", "the same, by a link", Barrier::Mask, "nothing", secret_through_a_link).protected(),
    attempt("read_hidden_by_name", "the same, by another name", Barrier::OtherMount, "EXDEV", |_| {
        Observed::of(fs::hard_link("/work/secret", "/work/name"))
    })
    .protected(),
    attempt("move_hidden", "move it out of hiding", Barrier::MountFlag("pinned"), "EBUSY", |_| {
        Observed::of(fs::rename("/work/secret", "/work/name"))
    })
    .protected(),
    attempt("whiteout_in_a_layer", "delete by a device in an overlay", Barrier::Landlock, "EACCES", |_| {
        let mode = i64::from(libc::S_IFCHR | 0o600);
        call(libc::SYS_mknodat, &[libc::AT_FDCWD.into(), address(c"/work/node"), mode, 0])
    })
    .protected(),
];
