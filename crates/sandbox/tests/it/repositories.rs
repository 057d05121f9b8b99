//! Repositories of version control in a direct workspace: their settings and hooks run programs on the host, so a command
//! can read but not change them.

use std::fs;
use std::path::PathBuf;

use placet_sandbox::{Exit, SandboxError, repositories};

use crate::harness::tests;
use crate::world::{Workspace, refused, run, sh};

tests![
    repositories_in_a_direct_workspace_are_read_only,
    a_link_named_like_a_repository_stays,
    a_workspace_inside_a_repository_is_refused,
    repositories_are_writable_where_that_is_asked,
    repositories_made_by_a_command_are_found,
];

/// Makes a workspace with every kind of repository that has settings.
fn with_repositories() -> Workspace {
    let workspace = Workspace::new();
    for directory in [".git/hooks", "vendor/lib/.git", "mirror/objects", "mirror/refs", ".hg", "a/.GIT", "sub", "src"] {
        fs::create_dir_all(workspace.file(directory)).expect("a directory");
    }
    for file in [".git/config", "vendor/lib/.git/config", "mirror/HEAD", "mirror/config", ".hg/hgrc", "a/.GIT/config"] {
        fs::write(workspace.file(file), "before\n").expect("a file");
    }
    workspace.with("sub/.git", "gitdir: ../.git/modules/sub\n").with("src/main.rs", "")
}

fn repositories_in_a_direct_workspace_are_read_only() {
    let workspace = with_repositories();
    let attacks = [
        "echo planted >> .git/config",
        "echo planted > .git/hooks/pre-commit",
        "mv .git aside",
        "rm -rf .git/config",
        "chmod 777 .git/config",
        "echo planted >> vendor/lib/.git/config",
        "mv vendor/lib vendor/aside",
        "mv vendor aside",
        "echo planted >> mirror/config",
        "mv mirror aside",
        "echo planted >> .hg/hgrc",
        "echo planted >> a/.GIT/config",
        "echo 'gitdir: /work/src' > sub/.git",
        "rm sub/.git",
        "mv src/main.rs .git/main.rs",
        "ln -f src/main.rs .git/config",
    ];
    for attack in attacks {
        let tried = run(sh(attack).workspace(workspace.path()));
        assert_ne!(tried.exit, Exit::Code(0), "`{attack}` succeeded: {tried:?}");
    }
    let usual =
        "cat .git/config && echo changed > src/main.rs && mkdir new && mv new newer && echo x > vendor/lib/file";
    assert_eq!(run(sh(usual).workspace(workspace.path())).succeeded(), "before\n");
    assert_eq!(fs::read_to_string(workspace.file("src/main.rs")).expect("a file"), "changed\n");
    assert_eq!(fs::read_to_string(workspace.file(".git/config")).expect("a file"), "before\n");
}

fn a_link_named_like_a_repository_stays() {
    let workspace = Workspace::new();
    fs::create_dir(workspace.file("else")).expect("a directory");
    std::os::unix::fs::symlink("else", workspace.file(".git")).expect("a link");
    for attack in ["rm .git", "mv .git aside", "ln -sfn src .git"] {
        assert_ne!(run(sh(attack).workspace(workspace.path())).exit, Exit::Code(0), "`{attack}` succeeded");
    }
}

fn a_workspace_inside_a_repository_is_refused() {
    let workspace = with_repositories();
    for inside in [".git", ".git/hooks", "mirror", "mirror/refs", ".hg"] {
        let error = refused(sh("true").workspace(workspace.file(inside)));
        assert!(matches!(error, SandboxError::Unprotected { .. }), "{inside}: {error:?}");
    }
}

fn repositories_are_writable_where_that_is_asked() {
    let workspace = with_repositories();
    run(sh("echo more >> .git/config; echo more >> mirror/config").workspace(workspace.path()).writable_repositories())
        .succeeded();
    assert_eq!(fs::read_to_string(workspace.file(".git/config")).expect("a file"), "before\nmore\n");
}

fn repositories_made_by_a_command_are_found() {
    let workspace = with_repositories();
    let before = repositories(&workspace.path()).expect("a look");
    let script = "mkdir -p src/.git && mkdir -p bare/objects bare/refs && echo 'ref: x' > bare/HEAD";
    run(sh(script).workspace(workspace.path())).succeeded();
    let after = repositories(&workspace.path()).expect("a look");
    let made: Vec<PathBuf> = after.difference(&before).cloned().collect();
    assert_eq!(made, ["bare", "src/.git"].map(PathBuf::from));
}
