//! The first files of a team: in an empty repository and in one that has a history, once and again.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use placet_worktree::team::{self, InitError, Outcome, SCHEMAS, Written};

use crate::world::{World, git};

fn outcomes(written: &[Written]) -> BTreeMap<&str, Outcome> {
    written.iter().map(|file| (file.path.as_str(), file.outcome)).collect()
}

/// Every file below a directory with its content.
fn content(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(content(&path));
        } else {
            found.insert(path.display().to_string(), fs::read(&path).unwrap_or_default());
        }
    }
    found
}

#[test]
fn a3_init_makes_an_empty_repository_ready_and_says_what_it_wrote() {
    let world = World::empty();
    let written = team::init(world.root()).unwrap();
    assert!(written.iter().all(|file| file.outcome == Outcome::Written), "{written:?}");
    for file in &written {
        assert!(world.path(&file.path).is_file(), "{}", file.path);
    }
    assert!(world.load().is_ok());
    assert_eq!(world.read(".worktrees/.gitignore"), "*\n");
    for (name, text) in SCHEMAS {
        assert_eq!(world.read(&format!("agents/schemas/{name}")), *text);
    }
    let status = git(world.root()).args(["status", "--porcelain", "--untracked-files=all"]).output().unwrap().stdout;
    let status = String::from_utf8(status).unwrap();
    assert!(status.lines().all(|line| line.starts_with("?? agents/")), "nothing else is seen by git: {status}");
}

#[test]
fn a3_init_run_again_changes_nothing() {
    let world = World::with_team();
    world.edit("agents/policy.json", "\"checks\": []", "\"checks\": [], \"quotas\": {}");
    let before = content(world.root());
    let again = team::init(world.root()).unwrap();
    assert!(again.iter().all(|file| file.outcome == Outcome::Kept), "{again:?}");
    assert_eq!(content(world.root()), before);
}

#[test]
fn a3_init_writes_only_what_is_missing_and_invents_no_agents_for_a_team_that_has_some() {
    let world = World::empty();
    world.write("agents/agents_registry.json", "{\"version\": 1, \"agents\": []}");
    world.write("agents/schemas/raci.schema.json", "{}");
    let written = team::init(world.root()).unwrap();
    let outcomes = outcomes(&written);
    assert_eq!(outcomes["agents/agents_registry.json"], Outcome::Kept);
    assert_eq!(outcomes["agents/schemas/raci.schema.json"], Outcome::KeptOther, "an older schema is kept and told");
    assert_eq!(outcomes["agents/policy.json"], Outcome::Written);
    assert!(!world.path("agents/profiles").exists());
    assert_eq!(world.load().unwrap().agents().count(), 0);
}

#[test]
fn a3_init_that_was_cut_off_is_completed_by_the_next() {
    let world = World::with_team();
    let files: Vec<String> = team::init(world.root()).unwrap().into_iter().map(|file| file.path).collect();
    assert_eq!(files.last().unwrap(), "agents/agents_registry.json", "the registry comes last");
    for cut in 0..files.len() {
        for file in &files[cut..] {
            fs::remove_file(world.path(file)).unwrap();
        }
        team::init(world.root()).unwrap();
        assert!(world.load().is_ok(), "after {cut} files");
    }
}

#[test]
fn a3_init_follows_no_link_and_writes_nothing_if_one_is_in_its_way() {
    let outside = tempfile::tempdir().unwrap();
    for (link, target) in
        [("agents", ""), (".worktrees", ""), ("agents/schemas", ""), ("agents/policy.json", "policy.json")]
    {
        let world = World::empty();
        fs::create_dir_all(world.path(link).parent().unwrap()).unwrap();
        symlink(outside.path().join(target), world.path(link)).unwrap();
        let before = content(world.root());
        let refused = team::init(world.root()).unwrap_err();
        assert!(matches!(&refused, InitError::File { path, .. } if path.starts_with(link)), "{link}: {refused}");
        assert!(refused.to_string().contains("symbolic link"), "{refused}");
        assert_eq!(content(world.root()), before, "{link}");
    }
    assert_eq!(fs::read_dir(outside.path()).unwrap().count(), 0);
}

#[test]
fn a3_init_refuses_a_worktree_and_what_is_no_repository() {
    let dir = tempfile::tempdir().unwrap();
    assert!(team::init(dir.path()).unwrap_err().to_string().contains("git init"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a3_init_leaves_no_drafts_and_files_that_others_can_read() {
    let world = World::with_team();
    let all = content(&world.path("agents"));
    assert!(all.keys().all(|path| !path.ends_with(".new")), "{:?}", all.keys());
    let mode = fs::metadata(world.path("agents/policy.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o600, 0o600);
    assert_eq!(mode & 0o111, 0);
}

#[test]
fn a3_init_finds_the_base_branch_of_a_repository_with_a_history() {
    let cases: &[(&[&[&str]], &str)] = &[
        (&[&["checkout", "--quiet", "-b", "master"]], "master"),
        (&[&["checkout", "--quiet", "-b", "trunk"]], "trunk"),
        (&[&["checkout", "--quiet", "-b", "main2"], &["branch", "master"], &["pack-refs", "--all"]], "master"),
        (&[&["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/develop"]], "develop"),
    ];
    for (steps, expected) in cases {
        let world = World::empty();
        let run = |arguments: &[&str]| {
            assert!(git(world.root()).args(arguments).status().unwrap().success(), "{arguments:?}")
        };
        run(&["commit", "--quiet", "--allow-empty", "--message=x"]);
        steps.iter().for_each(|step| run(step));
        if *expected != "develop" {
            run(&["branch", "--quiet", "-D", "main"]);
        }
        team::init(world.root()).unwrap();
        assert_eq!(world.load().unwrap().policy().base_branch.as_str(), *expected);
    }
}

#[test]
fn a3_sixteen_inits_at_once_leave_one_whole_team() {
    let world = World::empty();
    let written: Vec<Vec<Written>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| team::init(world.root()).unwrap())).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    for path in written[0].iter().map(|file| &file.path) {
        let all = written.iter().flatten();
        let writers = all.filter(|file| file.path == *path && file.outcome == Outcome::Written).count();
        assert_eq!(writers, 1, "{path}");
    }
    assert!(world.load().is_ok());
}

#[test]
fn a3_starter_files_say_the_defaults() {
    let world = World::with_team();
    let team = world.load().unwrap();
    assert_eq!(team.policy(), &team::Policy::default());
    fs::remove_file(world.path("agents/protected_paths.json")).unwrap();
    fs::remove_file(world.path("agents/raci.json")).unwrap();
    assert_eq!(world.load().unwrap().version(), team.version());
}

#[test]
fn a9_the_first_allowlist_of_secrets_is_one_that_its_reader_takes() {
    let team = World::with_team().load().unwrap();
    let text = std::str::from_utf8(team.secrets_allowlist().unwrap()).unwrap().to_owned();
    assert!(placet_secrets::Allowlist::parse(&text).is_ok());
}
