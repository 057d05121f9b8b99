//! Repositories that are found, and those that are refused with a reason.

use std::fs;
use std::os::unix::fs::symlink;

use placet_workspace::{Branch, Repository, RepositoryError};

use crate::harness::tests;
use crate::project::Project;
use crate::repository::git;

tests![
    a_repository_is_found_from_any_directory_in_it,
    what_is_no_repository_is_refused_with_a_reason,
    formats_that_are_not_read_are_refused,
    nothing_in_a_worktree_decides_which_repository_it_belongs_to,
    branches_and_commits_are_resolved,
    merged_and_unmerged_branches_are_told_apart,
    commits_of_a_range_are_read_as_they_were_written,
];

pub(crate) mod of_root {
    use super::*;

    tests![root_works_on_the_repository_of_somebody_as_that_somebody];

    fn root_works_on_the_repository_of_somebody_as_that_somebody() {
        use std::os::unix::fs::MetadataExt;
        let project = Project::new();
        let status = std::process::Command::new("chown").args(["-R", "23456:23456"]).arg(project.outer()).status();
        assert!(status.is_ok_and(|status| status.success()));
        let repository = project.open();
        let base = repository.resolve("main").expect("a commit");
        let plan = |name: &str| placet_workspace::Plan {
            name: name.parse().expect("a name"),
            path: project.path(&format!(".worktrees/T-1/{name}")),
            branch: format!("feat/{name}").parse().expect("a branch"),
            base: base.clone(),
        };
        repository.add(&plan("one")).expect("a worktree");
        repository.add_layered(&plan("two")).expect("a worktree");
        for path in project.listing() {
            assert_eq!(fs::symlink_metadata(&path).expect("an owner").uid(), 23_456, "{}", path.display());
        }
    }
}

fn a_repository_is_found_from_any_directory_in_it() {
    let project = Project::new();
    symlink(project.path("src"), project.outer().join("elsewhere")).expect("a link");
    for start in [project.root(), project.path("src"), project.outer().join("elsewhere")] {
        let repository = Repository::find(&start).expect("a repository");
        assert_eq!(repository.root(), fs::canonicalize(project.root()).expect("a path"));
        assert_eq!(repository.common_dir(), repository.root().join(".git"));
    }
}

fn what_is_no_repository_is_refused_with_a_reason() {
    let project = Project::new();
    let refused = |name: &str| Repository::find(&project.outer().join(name)).expect_err("it is refused").to_string();
    fs::create_dir(project.outer().join("plain")).expect("a directory");
    assert!(refused("plain").contains("git init"), "{}", refused("plain"));
    git(project.outer(), &["clone", "--quiet", "--bare", "project", "bare"]);
    assert!(refused("bare").contains("bare"), "{}", refused("bare"));
    project.git(&["worktree", "add", "--quiet", "../linked", "-b", "linked"]);
    assert!(refused("linked").contains("main checkout"), "{}", refused("linked"));
    fs::create_dir(project.outer().join("odd")).expect("a directory");
    symlink(project.path(".git"), project.outer().join("odd/.git")).expect("a link");
    assert!(refused("odd").contains("not what git makes"), "{}", refused("odd"));
    assert!(Repository::find(&project.outer().join("nowhere")).is_err());
}

fn formats_that_are_not_read_are_refused() {
    let settings = [
        ("extensions.refStorage", "reftable"),
        ("extensions.compatObjectFormat", "sha256"),
        ("core.worktree", "/tmp"),
        ("include.path", "../other"),
        ("includeIf.onbranch:main.path", "../other"),
    ];
    for (name, value) in settings {
        let project = Project::new();
        let config = fs::read_to_string(project.path(".git/config")).expect("settings");
        let (section, key) = name.rsplit_once('.').expect("a name");
        let section = section.replacen("includeIf.", "includeIf \"", 1);
        let close = if section.contains('"') { "\"" } else { "" };
        fs::write(project.path(".git/config"), format!("{config}[{section}{close}]\n\t{key} = {value}\n"))
            .expect("settings");
        let error = Repository::find(&project.root()).expect_err("it is refused");
        let told = error.to_string().to_lowercase();
        assert!(told.contains(key.to_lowercase().as_str()) || told.contains("include"), "{name}: {told}");
    }
}

fn nothing_in_a_worktree_decides_which_repository_it_belongs_to() {
    let project = Project::new();
    let worktree = project.plain("one");
    let inner = worktree.path().join("src");
    let root = fs::canonicalize(project.root()).expect("a path");
    assert_eq!(Repository::find(&inner).expect("a repository").root(), root);
    fs::remove_file(worktree.path().join(".git")).expect("no file");
    git(&worktree.path(), &["init", "--quiet"]);
    git(&inner, &["init", "--quiet"]);
    assert_eq!(Repository::find(&inner).expect("a repository").root(), root);
}

fn branches_and_commits_are_resolved() {
    let project = Project::new();
    let repository = project.open();
    project.git(&["tag", "-a", "-m", "t", "v1"]);
    for name in ["main", "HEAD", "v1", project.head().as_str(), "refs/heads/main"] {
        assert_eq!(repository.resolve(name).expect("a commit"), project.head(), "{name}");
    }
    assert_ne!(repository.resolve("main~1").expect("a commit"), project.head());
    for name in ["", "nothing", "--all", "-h", "main\n", "main^{tree}", "main:file", "a..b"] {
        let error = repository.resolve(name).expect_err("it names no commit");
        assert!(matches!(error, RepositoryError::Unknown(_)), "{name}: {error}");
    }
}

fn merged_and_unmerged_branches_are_told_apart() {
    let project = Project::new();
    project.git(&["checkout", "--quiet", "-b", "side"]);
    project.write("side", "x\n");
    project.commit("side");
    let repository = project.open();
    let branch = |name: &str| name.parse::<Branch>().expect("a branch");
    assert!(!repository.is_merged(&branch("side"), &branch("main")).expect("an answer"));
    assert!(repository.is_merged(&branch("main"), &branch("side")).expect("an answer"));
    assert!(matches!(repository.is_merged(&branch("gone"), &branch("main")), Err(RepositoryError::NoBranch(_))));
    let (side, main) = (repository.resolve("side").expect("a commit"), repository.resolve("main").expect("a commit"));
    assert_eq!(repository.ahead_behind(&side, &main).expect("counts"), (1, 0));
    assert_eq!(repository.merge_base(&side, &main).expect("a commit"), Some(main));
}

fn commits_of_a_range_are_read_as_they_were_written() {
    let project = Project::new();
    let base = project.head();
    for message in ["one\n\nbody\n", "two \u{1f} three"] {
        project.git(&["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-m", message]);
    }
    let commits = project.open().commits(&base, &project.head()).expect("commits");
    let messages: Vec<&[u8]> = commits.iter().map(|commit| commit.message.as_bytes()).collect();
    assert_eq!(messages, [&b"two \x1f three\n"[..], b"one\n\nbody\n"]);
    assert_eq!(
        (commits[0].author.name.to_string(), commits[0].parents[0].clone()),
        ("host".into(), commits[1].id.clone())
    );
    assert!(project.open().commits(&base, &base).expect("no commits").is_empty());
}
