//! Traps in files: what lies in a `.git`, in a worktree or in an upper, and would lead git, or us, astray.

use std::fs;
use std::os::unix::fs::symlink;

use super::{Planting, Trap, Works};
use crate::repository::git;

/// A repository whose settings would run something in whoever enters it.
fn hostile_repository(planting: &Planting<'_>, at: &std::path::Path, bare: bool) {
    fs::create_dir_all(at).expect("a directory");
    git(at, if bare { &["init", "--quiet", "--bare"] } else { &["init", "--quiet"] });
    let run = format!("{}; false", planting.command());
    for name in ["core.fsmonitor", "filter.x.clean", "core.pager", "diff.external"] {
        git(at, &["config", name, &run]);
    }
}

pub(super) const TRAPS: &[Trap] = &[
    Trap {
        name: "booby::a_replaced_git_file",
        plant: |planting| {
            for worktree in planting.worktrees() {
                fs::remove_file(worktree.join(".git")).expect("gone");
                hostile_repository(planting, &worktree, false);
            }
        },
        spring: Some("git -C .worktrees/T-1/plain status"),
        works: Works::Still,
    },
    Trap {
        name: "booby::a_git_file_that_leads_elsewhere",
        plant: |planting| {
            let evil = planting.root().join("evil");
            hostile_repository(planting, &evil, false);
            for worktree in planting.worktrees() {
                planting.write(&worktree.join(".git"), &format!("gitdir: {}/.git\n", evil.display()));
            }
        },
        spring: Some("git -C .worktrees/T-1/plain status"),
        works: Works::Still,
    },
    Trap {
        name: "booby::a_git_file_that_is_a_pipe",
        plant: |planting| planting.worktrees().iter().for_each(|worktree| planting.pipe(&worktree.join(".git"))),
        spring: None,
        works: Works::Still,
    },
    Trap {
        name: "booby::repositories_inside",
        plant: |planting| {
            for worktree in planting.worktrees() {
                hostile_repository(planting, &worktree.join("inner"), false);
                planting.write(&worktree.join("inner/file"), "x\n");
                hostile_repository(planting, &worktree.join("bare"), true);
                hostile_repository(planting, &worktree.join("build/hidden"), false);
            }
        },
        spring: Some("git -C .worktrees/T-1/plain/inner status"),
        works: Works::Still,
    },
    Trap {
        name: "booby::a_submodule_with_settings",
        plant: |planting| {
            let head = planting.project.head();
            let plain = &planting.worktrees()[0];
            hostile_repository(planting, &plain.join("module"), false);
            git(plain, &["update-index", "--add", "--cacheinfo", &format!("160000,{head},module")]);
            planting.write(&plain.join(".gitmodules"), "[submodule \"module\"]\n\tpath = module\n\turl = ./x\n");
            planting.config("submodule.module.update", &format!("!{}", planting.command()));
            planting.config("submodule.module.active", "true");
            planting.config("submodule.module.url", "./x");
            planting.config("submodule.recurse", "true");
        },
        spring: Some("git -C .worktrees/T-1/plain/module status"),
        works: Works::Still,
    },
    Trap {
        name: "booby::modules_that_are_programs",
        plant: |planting| {
            for worktree in planting.worktrees() {
                let modules = format!(
                    "[submodule \"x\"]\n\tpath = src\n\turl = --upload-pack={}\n\tupdate = !{0}\n",
                    planting.command()
                );
                planting.write(&worktree.join(".gitmodules"), &modules);
                planting.write(
                    &worktree.join(".lfsconfig"),
                    &format!("[lfs]\n\tcustomtransfer.x.path = {}\n", planting.command()),
                );
                planting
                    .write(&worktree.join(".gitconfig"), &format!("[core]\n\tfsmonitor = {}\n", planting.command()));
            }
        },
        spring: None,
        works: Works::Still,
    },
    Trap {
        name: "booby::another_common_directory",
        plant: |planting| {
            let evil = planting.root().join("evil");
            hostile_repository(planting, &evil, false);
            for (upper, text) in [("layered", "a"), ("plain", "b")] {
                let admin = planting.project.path(&format!(".worktrees/.layers/{upper}/git/upper/worktrees/{upper}"));
                planting.write(&admin.join("commondir"), &format!("{}/.git\n", evil.display()));
                planting.write(&admin.join("index"), text);
                planting.write(&admin.join("HEAD"), "ref: refs/heads/main\n");
            }
        },
        spring: None,
        works: Works::Still,
    },
    Trap {
        name: "booby::everything_in_the_upper_of_the_repository",
        plant: |planting| {
            for name in ["layered", "plain"] {
                let upper = planting.project.path(&format!(".worktrees/.layers/{name}/git/upper"));
                planting
                    .write(&upper.join("config"), &format!("[core]\n\tfsmonitor = {}; false\n", planting.command()));
                planting.program(&upper.join("hooks/reference-transaction"));
                planting.program(&upper.join("hooks/post-index-change"));
                planting.write(&upper.join("info/attributes"), "* filter=x\n");
                planting.pipe(&upper.join("packed-refs"));
                planting.pipe(&upper.join("HEAD"));
            }
        },
        spring: None,
        works: Works::Still,
    },
    Trap {
        name: "booby::objects_from_elsewhere",
        plant: |planting| {
            let evil = planting.root().join("evil");
            hostile_repository(planting, &evil, false);
            planting.write(
                &planting.git_dir().join("objects/info/alternates"),
                &format!("{}/.git/objects\n", evil.display()),
            );
            planting.config("core.alternateRefsCommand", &format!("{}; false", planting.command()));
        },
        spring: None,
        works: Works::Still,
    },
    Trap {
        name: "booby::replacements_and_grafts",
        plant: |planting| {
            let forged = planting.project.git(&["commit-tree", "-m", "forged", "HEAD~1^{tree}"]);
            planting.project.git(&["update-ref", &format!("refs/replace/{}", planting.project.head()), &forged]);
            planting.write(&planting.git_dir().join("info/grafts"), &format!("{}\n", planting.project.head()));
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::locks_that_were_left",
        plant: |planting| {
            for lock in
                ["index.lock", "config.lock", "HEAD.lock", "worktrees/layered/HEAD.lock", "objects/maintenance.lock"]
            {
                planting.write(&planting.git_dir().join(lock), "");
            }
        },
        spring: None,
        works: Works::Still,
    },
    Trap {
        name: "booby::an_index_that_is_none",
        plant: |planting| {
            planting.write(&planting.git_dir().join("worktrees/plain/index"), "DIRC\0\0\0\u{2}\u{7f}garbage")
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::an_index_that_is_a_pipe",
        plant: |planting| planting.pipe(&planting.git_dir().join("worktrees/plain/index")),
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::a_sparse_index",
        plant: |planting| {
            let plain = &planting.worktrees()[0];
            git(plain, &["sparse-checkout", "set", "--cone", "--sparse-index", "docs"]);
            planting.write(&plain.join("src/one.rs"), "hidden\n");
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::pipes_in_place_of_settings",
        plant: |planting| planting.pipe(&planting.git_dir().join("config")),
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::pipes_in_place_of_branches",
        plant: |planting| {
            for name in ["packed-refs", "info/exclude", "info/attributes", "objects/info/alternates", "shallow"] {
                planting.pipe(&planting.git_dir().join(name));
            }
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::branches_that_are_links",
        plant: |planting| {
            symlink("/etc", planting.git_dir().join("refs/heads/out")).expect("a link");
            symlink("/dev/zero", planting.git_dir().join("refs/heads/zero")).expect("a link");
            planting.write(&planting.git_dir().join("refs/heads/-x"), &format!("{}\n", planting.project.head()));
            planting.write(&planting.git_dir().join("refs/heads/a b\n"), "garbage\n");
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::pipes_in_place_of_rules",
        plant: |planting| {
            for worktree in planting.worktrees() {
                planting.pipe(&worktree.join("src/.gitignore"));
                planting.pipe(&worktree.join(".gitattributes"));
                planting.write(&worktree.join("src/one.rs"), "changed\n");
            }
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::pipes_in_place_of_files",
        plant: |planting| {
            for worktree in planting.worktrees() {
                for name in ["file", "src/one.rs", "new", ".lfsconfig"] {
                    planting.pipe(&worktree.join(name));
                }
            }
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::rules_that_are_links_to_devices",
        plant: |planting| {
            for worktree in planting.worktrees() {
                for name in [".gitattributes", "src/.gitignore", "docs/.gitmodules"] {
                    fs::create_dir_all(worktree.join(name).parent().expect("a directory")).expect("a directory");
                    let _ = fs::remove_file(worktree.join(name));
                    symlink("/dev/zero", worktree.join(name)).expect("a link");
                }
                planting.write(&worktree.join("src/one.rs"), "changed\n");
            }
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::files_larger_than_any_disk",
        plant: |planting| {
            for worktree in planting.worktrees() {
                let file = fs::File::create(worktree.join("huge")).expect("a file");
                file.set_len(1 << 42).expect("a size");
            }
        },
        spring: None,
        works: Works::Still,
    },
    Trap {
        name: "booby::directories_without_an_end",
        plant: |planting| {
            let deeper = "import os\nfor _ in range(10000):\n  os.mkdir('d'); os.chdir('d')";
            for worktree in planting.worktrees() {
                let made = std::process::Command::new("python3").args(["-c", deeper]).current_dir(worktree).status();
                assert!(made.is_ok_and(|status| status.success()));
            }
        },
        spring: None,
        works: Works::Partly,
    },
    Trap {
        name: "booby::a_worktrees_directory_that_is_a_link",
        plant: |planting| {
            let all = planting.root().join(".worktrees");
            fs::rename(&all, planting.project.outer().join("elsewhere")).expect("moved");
            symlink(planting.project.outer().join("elsewhere"), &all).expect("a link");
        },
        spring: None,
        works: Works::Partly,
    },
];
