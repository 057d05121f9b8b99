//! Traps in settings and hooks: whatever a repository can name that git would run.

use std::fs;

use super::{Planting, Trap, Works};

const HOOKS: &[&str] = &[
    "applypatch-msg",
    "commit-msg",
    "fsmonitor-watchman",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-index-change",
    "post-merge",
    "post-receive",
    "post-rewrite",
    "post-update",
    "pre-applypatch",
    "pre-auto-gc",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "pre-receive",
    "prepare-commit-msg",
    "proc-receive",
    "push-to-checkout",
    "reference-transaction",
    "sendemail-validate",
    "update",
];

const PROGRAMS: &[&str] = &[
    "core.sshCommand",
    "core.askPass",
    "core.editor",
    "core.pager",
    "core.gitProxy",
    "core.alternateRefsCommand",
    "credential.helper",
    "credential.https://host.helper",
    "diff.external",
    "gpg.program",
    "gpg.ssh.program",
    "gpg.ssh.defaultKeyCommand",
    "gpg.x509.program",
    "sequence.editor",
    "interactive.diffFilter",
    "pager.status",
    "pager.log",
    "pager.diff",
    "uploadpack.packObjectsHook",
    "difftool.x.cmd",
    "mergetool.x.cmd",
    "browser.x.cmd",
    "man.x.cmd",
    "trailer.x.command",
    "trailer.x.cmd",
    "tar.x.command",
];

/// Content that filters and drivers apply to, everywhere, changed so that git would have to ask them.
fn attributed(planting: &Planting<'_>, attributes: &str) {
    planting.write(&planting.git_dir().join("info/attributes"), attributes);
    for worktree in planting.worktrees() {
        planting.write(&worktree.join(".gitattributes"), attributes);
        planting.write(&worktree.join("file"), "changed\n");
        planting.write(&worktree.join("src/one.rs"), "changed\n");
    }
    planting.write(&planting.root().join("file"), "changed\n");
}

pub(super) const TRAPS: &[Trap] = &[
    Trap {
        name: "booby::hooks_of_every_kind",
        plant: |planting| HOOKS.iter().for_each(|hook| planting.program(&planting.git_dir().join("hooks").join(hook))),
        spring: Some("git -c user.name=x -c user.email=x commit --allow-empty -m x"),
        works: Works::Still,
    },
    Trap {
        name: "booby::hooks_elsewhere",
        plant: |planting| {
            let hooks = planting.root().join("hooks");
            HOOKS.iter().for_each(|hook| planting.program(&hooks.join(hook)));
            planting.config("core.hooksPath", &hooks.display().to_string());
        },
        spring: Some("git -c user.name=x -c user.email=x commit --allow-empty -m x"),
        works: Works::Still,
    },
    Trap {
        name: "booby::a_file_monitor",
        plant: |planting| planting.config("core.fsmonitor", &format!("{}; false", planting.command())),
        spring: Some("git status"),
        works: Works::Still,
    },
    Trap {
        name: "booby::filters_that_are_required",
        plant: |planting| {
            for name in ["clean", "smudge", "process"] {
                planting.config(&format!("filter.x.{name}"), &format!("{}; cat", planting.command()));
            }
            planting.config("filter.x.required", "true");
            attributed(planting, "* filter=x\n");
        },
        spring: Some("git add --renormalize ."),
        works: Works::Still,
    },
    Trap {
        name: "booby::filters_with_odd_names",
        plant: |planting| {
            for name in ["a=b", "a.b", "a b", "a\"b", "CLEAN.clean"] {
                planting.config(&format!("filter.{name}.clean"), &format!("{}; cat", planting.command()));
                planting.config(&format!("filter.{name}.smudge"), &format!("{}; cat", planting.command()));
            }
            attributed(planting, "* filter=a=b\n*.rs filter=a.b\n");
        },
        spring: Some("git add --renormalize ."),
        works: Works::Still,
    },
    Trap {
        name: "booby::drivers_for_differences",
        plant: |planting| {
            planting.config("diff.x.command", &planting.command());
            planting.config("diff.x.textconv", &format!("{}; cat", planting.command()));
            planting.config("diff.x.cachetextconv", "true");
            planting.config("merge.x.driver", &planting.command());
            planting.config("merge.default", "x");
            attributed(planting, "* diff=x merge=x\n");
        },
        spring: Some("git diff"),
        works: Works::Still,
    },
    Trap {
        name: "booby::programs_for_everything_else",
        plant: |planting| {
            for name in PROGRAMS {
                planting.config(name, &format!("{}; false", planting.command()));
            }
            for name in ["commit.gpgSign", "tag.gpgSign", "log.showSignature", "push.gpgSign"] {
                planting.config(name, "true");
            }
        },
        spring: Some("git -c user.name=x -c user.email=x commit --allow-empty -m x; git diff HEAD~1 HEAD"),
        works: Works::Still,
    },
    Trap {
        name: "booby::aliases",
        plant: |planting| {
            for name in ["status", "diff", "rev-parse", "ls-files", "placet"] {
                planting.config(&format!("alias.{name}"), &format!("!{}", planting.command()));
            }
        },
        spring: Some("git placet"),
        works: Works::Still,
    },
    Trap {
        name: "booby::settings_that_include_others",
        plant: |planting| {
            planting.write(
                &planting.root().join("evil"),
                &format!("[core]\n\tfsmonitor = \"{}; false\"\n", planting.command()),
            );
            planting.config("include.path", "../evil");
        },
        spring: Some("git status"),
        works: Works::Partly,
    },
    Trap {
        name: "booby::settings_that_include_others_on_some_branch",
        plant: |planting| {
            planting.write(
                &planting.root().join("evil"),
                &format!("[core]\n\tfsmonitor = \"{}; false\"\n", planting.command()),
            );
            planting.config("includeIf.onbranch:main.path", "../evil");
        },
        spring: Some("git status"),
        works: Works::Partly,
    },
    Trap {
        name: "booby::settings_of_one_worktree",
        plant: |planting| {
            planting.config("extensions.worktreeConfig", "true");
            let settings = format!(
                "[core]\n\tfsmonitor = \"{0}; false\"\n[filter \"x\"]\n\tclean = \"{0}; cat\"\n",
                planting.command()
            );
            for place in ["config.worktree", "worktrees/plain/config.worktree", "worktrees/layered/config.worktree"] {
                planting.write(&planting.git_dir().join(place), &settings);
            }
            attributed(planting, "* filter=x\n");
        },
        spring: Some("git status"),
        works: Works::Still,
    },
    Trap {
        name: "booby::a_checkout_elsewhere",
        plant: |planting| planting.config("core.worktree", "/tmp"),
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::remotes_that_are_programs",
        plant: |planting| {
            planting.config("remote.origin.receivepack", &format!("{}; git-receive-pack", planting.command()));
            planting.config("remote.origin.uploadpack", &format!("{}; git-upload-pack", planting.command()));
        },
        spring: Some("git push origin HEAD:refs/heads/y"),
        works: Works::Still,
    },
    Trap {
        name: "booby::a_remote_that_is_a_program",
        plant: |planting| {
            planting.config("protocol.ext.allow", "always");
            planting.config("remote.origin.url", &format!("ext::{}", planting.command()));
        },
        spring: Some("git fetch origin"),
        works: Works::Partly,
    },
    Trap {
        name: "booby::an_address_that_becomes_a_program",
        plant: |planting| {
            planting.config("protocol.ext.allow", "always");
            planting.config(&format!("url.ext::{} #.insteadOf", planting.command()), "/");
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::hooks_of_the_remote",
        plant: |planting| {
            let remote = planting.project.outer().join("remote.git");
            HOOKS.iter().for_each(|hook| planting.program(&remote.join("hooks").join(hook)));
        },
        spring: Some("git push origin HEAD:refs/heads/y"),
        works: Works::Still,
    },
    Trap {
        name: "booby::more_settings_than_anybody_writes",
        plant: |planting| {
            let path = planting.git_dir().join("config");
            let settings = fs::read_to_string(&path).expect("settings");
            let many: String =
                (0..6000).map(|number| format!("[filter \"{number}\"]\n\tclean = {}\n", planting.command())).collect();
            planting.write(&path, &format!("{settings}{many}"));
        },
        spring: None,
        works: Works::Partly,
    },
];
