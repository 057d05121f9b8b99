//! Commits that an agent made in its cage, on their way into the real repository.

use std::fs;
use std::os::unix::fs::MetadataExt;

use placet_workspace::difference::{Leads, Origin};
use placet_workspace::harvest::{Harvest, HarvestError, Harvested, Rewriting};
use placet_workspace::layer::{Baseline, Conflict, Layered};
use placet_workspace::worktree::Kind;
use placet_workspace::{Git, Limits, ObjectId};

use crate::harness::tests;
use crate::project::{Project, agent};
use crate::repository::{Repository, git};

tests![
    commits_arrive_with_their_files_and_the_worktree_is_clean,
    files_that_no_commit_has_are_not_cleaned_away,
    a_branch_that_was_not_moved_brings_nothing,
    commits_arrive_from_packs_and_packed_refs,
    commits_that_merge_another_branch_arrive,
    a_repository_with_longer_object_names_works_too,
    history_is_rewritten_only_if_that_was_asked_for,
    a_branch_that_somebody_else_moved_stays_where_it_is,
    an_index_that_somebody_else_filled_is_not_emptied,
    an_interrupted_harvest_is_finished_by_the_next,
    whoever_judges_sees_every_commit_and_may_refuse,
    commits_of_worktrees_arrive_and_their_files_follow,
];

pub(crate) mod of_root {
    use super::*;

    tests![what_root_takes_over_belongs_to_the_owner_of_the_repository];

    fn what_root_takes_over_belongs_to_the_owner_of_the_repository() {
        let repository = Repository::new();
        repository.agent(COMMIT);
        let mut waiting = vec![repository.path("")];
        while let Some(path) = waiting.pop() {
            std::os::unix::fs::lchown(&path, Some(23_456), Some(23_456)).expect("another owner");
            if fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir()) {
                waiting.extend(fs::read_dir(path).expect("a directory").flatten().map(|entry| entry.path()));
            }
        }
        moved(repository.harvest());
        for path in repository.objects() {
            assert_eq!(fs::metadata(&path).expect("an owner").uid(), 23_456, "{}", path.display());
        }
    }
}

pub(crate) const COMMIT: &str = "echo two >> file; echo new > new; git add .; git commit --quiet -m second";

#[track_caller]
pub(crate) fn moved(harvested: Result<Harvested, HarvestError>) -> ObjectId {
    match harvested {
        Ok(Harvested::Moved(tip)) => tip,
        other => panic!("nothing was taken over: {other:?}"),
    }
}

fn commits_arrive_with_their_files_and_the_worktree_is_clean() {
    let repository = Repository::new();
    let worktree = repository.path("worktree");
    let baseline = Baseline::record(&worktree, Limits::default()).expect("a baseline");
    let settings = repository.settings();
    let tip = repository.agent(&format!("{COMMIT}; git rev-parse HEAD"));
    assert_eq!(moved(repository.harvest()).as_str(), tip.trim());
    let files = repository.path("files");
    let layers = Layered::open(&worktree, &files.join("upper"), &files.join("work")).expect("the layers");
    layers.promote(&baseline, &layers.preview(&baseline).expect("a preview")).expect("a promotion");
    assert_eq!(git(&worktree, &["status", "--porcelain"]), "");
    assert_eq!(
        (repository.log(), repository.host(&["log", "--format=%s", "main"])),
        ("second first".into(), "first".into())
    );
    assert_eq!(repository.settings(), settings, "nothing but objects, the branch and the index changed");
    repository.host(&["fsck", "--strict", "--full"]);
    assert!(repository.objects().iter().all(|path| !path.to_string_lossy().contains("tmp_")));
}

fn files_that_no_commit_has_are_not_cleaned_away() {
    let repository = Repository::new();
    let worktree = repository.path("worktree");
    for (name, text) in [(".gitignore", ".env\n"), (".env", "KEY=1\n"), ("notes\n", "mine\n")] {
        fs::write(worktree.join(name), text).expect("a file");
    }
    git(&worktree, &["init", "--quiet", "inner"]);
    let real = Git::new(repository.path("repository/.git/worktrees/worktree")).work_tree(&worktree);
    let untracked = real.untracked().expect("a list");
    let shown: Vec<String> = untracked.iter().map(ToString::to_string).collect();
    assert_eq!(shown, [".env", ".gitignore", "inner", "notes%0A"]);
    let baseline = Baseline::record(&worktree, Limits::default()).expect("a baseline").protect(untracked);
    repository.agent("git clean -ffdxq; echo two >> file");
    let files = repository.path("files");
    let layers = Layered::open(&worktree, &files.join("upper"), &files.join("work")).expect("the layers");
    let changes = layers.preview(&baseline).expect("a preview");
    assert_eq!(changes.conflicts().len(), changes.len() - 1, "everything but `file`");
    let protected = changes.iter().filter(|change| change.conflict() == Some(Conflict::Protected));
    assert_eq!(protected.map(|change| change.path().to_string()).collect::<Vec<_>>(), shown);
    assert!(layers.promote(&baseline, &changes).is_err());
    assert_eq!(fs::read_to_string(worktree.join(".env")).expect("a file"), "KEY=1\n");
    assert!(worktree.join("notes\n").exists() && worktree.join("inner/.git/HEAD").exists());
}

fn a_branch_that_was_not_moved_brings_nothing() {
    let repository = Repository::new();
    let objects = repository.objects();
    repository.agent("echo two >> file; git add .; git stash --quiet; git branch other");
    assert_eq!(repository.harvest().expect("an answer"), Harvested::Nothing);
    assert_eq!(repository.objects(), objects);
    repository.host(&["pack-refs", "--all"]);
    assert_eq!(repository.harvest().expect("an answer"), Harvested::Nothing);
}

fn commits_arrive_from_packs_and_packed_refs() {
    let repository = Repository::new();
    repository.agent(&format!("{COMMIT}; git pack-refs --all; git gc --quiet --prune=now"));
    assert!(!repository.upper("refs/heads/run/7").is_file() && repository.upper("packed-refs").is_file());
    moved(repository.harvest());
    assert_eq!(repository.log(), "second first");
    repository.host(&["fsck", "--strict", "--full"]);
}

fn commits_that_merge_another_branch_arrive() {
    let repository = Repository::new();
    let script = "git checkout --quiet -b side; echo s > side; git add .; git commit --quiet -m side; \
                  git checkout --quiet run/7; echo m > mine; git add .; git commit --quiet -m mine; \
                  git merge --quiet -m merged side";
    repository.agent(script);
    moved(repository.harvest());
    assert_eq!(repository.host(&["rev-list", "--count", "run/7"]), "4");
    assert_eq!(repository.host(&["branch", "--format=%(refname:short)"]), "main\nrun/7", "only its own branch");
}

fn a_repository_with_longer_object_names_works_too() {
    let repository = Repository::with(&["init", "--quiet", "--object-format=sha256"]);
    repository.agent(COMMIT);
    assert_eq!(moved(repository.harvest()).as_str().len(), 64);
    assert_eq!(repository.log(), "second first");
}

fn history_is_rewritten_only_if_that_was_asked_for() {
    let repository = Repository::new();
    let objects = repository.objects();
    repository.agent("echo x > file; git add .; git commit --quiet --amend -m instead");
    let error = repository.harvest().expect_err("it does not continue the branch");
    assert!(matches!(&error, HarvestError::Rewritten { .. }), "{error}");
    assert_eq!((repository.log(), repository.objects()), ("first".to_owned(), objects));
    moved(repository.harvest_with(|harvest| harvest.rewriting(Rewriting::Allowed)));
    assert_eq!(repository.log(), "instead");
}

fn a_branch_that_somebody_else_moved_stays_where_it_is() {
    let repository = Repository::new();
    repository.agent(COMMIT);
    let worktree = repository.path("worktree");
    git(&worktree, &["commit", "--quiet", "--allow-empty", "-m", "of a person"]);
    let error = repository.harvest().expect_err("it was moved");
    assert!(matches!(&error, HarvestError::Moved { .. }), "{error}");
    assert_eq!(repository.log(), "of a person first");
}

fn an_index_that_somebody_else_filled_is_not_emptied() {
    let repository = Repository::new();
    repository.agent(COMMIT);
    fs::write(repository.path("worktree/staged"), "by a person\n").expect("a file");
    git(&repository.path("worktree"), &["add", "staged"]);
    let error = repository.harvest().expect_err("something is staged");
    assert!(matches!(&error, HarvestError::Worktree { .. }), "{error}");
    assert_eq!(repository.log(), "first");
    assert_eq!(git(&repository.path("worktree"), &["diff", "--cached", "--name-only"]), "staged");
}

fn an_interrupted_harvest_is_finished_by_the_next() {
    let repository = Repository::new();
    repository.agent(COMMIT);
    let layers = repository.layers();
    let without_index = Harvest::new(&layers, Repository::branch(), repository.base().clone());
    moved(without_index.take());
    drop(layers);
    let staged = || git(&repository.path("worktree"), &["diff", "--cached", "--name-only"]);
    assert_ne!(staged(), "", "the branch moved and the index did not");
    for _ in 0..2 {
        moved(repository.harvest());
        assert_eq!(staged(), "");
    }
}

fn whoever_judges_sees_every_commit_and_may_refuse() {
    let repository = Repository::new();
    let (settings, objects) = (repository.settings(), repository.objects());
    repository.agent(
        "echo key > secret; git add .; git commit --quiet -m 'with secret'; git rm --quiet secret; ln -s /etc out; \
         git add .; git commit --quiet -m 'without it'",
    );
    let layers = repository.layers();
    let harvest = Harvest::new(&layers, Repository::branch(), repository.base().clone())
        .worktree(repository.path("repository/.git/worktrees/worktree"));
    let mut seen = Vec::new();
    let error = harvest
        .take_if(|differences, commits| {
            seen.extend(differences.iter().map(|each| format!("{:?} {}", each.kind, each.path)));
            let link = differences.iter().find_map(|each| each.link.as_ref()).expect("a link");
            assert_eq!(link.leads, Leads::Outside);
            assert_eq!(
                commits.iter().map(|each| each.message.to_string()).collect::<Vec<_>>(),
                ["without it%0A", "with secret%0A"]
            );
            Err("a secret".to_owned())
        })
        .expect_err("it is refused");
    assert!(matches!(&error, HarvestError::Refused(why) if why == "a secret"), "{error}");
    seen.sort();
    assert_eq!(seen, ["Added out", "Added secret", "Deleted secret"]);
    assert_eq!((repository.settings(), repository.objects()), (settings, objects), "nothing moved");
    assert_eq!(repository.log(), "first");
    moved(harvest.take_if(|_, _| Ok(())));
    assert_eq!(repository.log(), "without it with secret first");
}

/// The way of every command in a worktree: cage, harvest, promotion, again.
fn commits_of_worktrees_arrive_and_their_files_follow() {
    let project = Project::new();
    for worktree in [project.plain("one"), project.layered("two")] {
        for round in ["first", "second"] {
            let files = worktree.files().expect("the layers are free");
            let baseline = Baseline::record(&worktree.cage().lower, Limits::default()).expect("a baseline");
            drop(files);
            agent(
                &worktree,
                &format!("echo {round} >> file; echo {round} > new-{round}; git add .; git commit --quiet -m {round}"),
            );
            let commits = worktree.commits().expect("the layers are free");
            moved(worktree.harvest(&commits).expect("a harvest").take_if(|_, _| Ok(())));
            commits.discard().expect("nothing is left to harvest");
            drop(commits);
            if worktree.kind() == Kind::Plain {
                let files = worktree.files().expect("the layers are free");
                files.promote(&baseline, &files.preview(&baseline).expect("a preview")).expect("a promotion");
                files.discard().expect("an empty upper");
                worktree.refresh().expect("an index that knows the files");
                assert_eq!(git(&worktree.path(), &["diff-files", "--name-only"]), "", "nothing has to be read again");
            }
            assert_eq!(agent(&worktree, "git status --porcelain; git log -1 --format=%s"), format!("{round}\n"));
            let differences = worktree.differences(worktree.base()).expect("differences");
            assert!(differences.iter().all(|each| each.origin == Origin::Committed), "{differences:?}");
        }
        assert_eq!(project.git(&["rev-list", "--count", &format!("main..{}", worktree.branch())]), "2");
    }
    project.git(&["fsck", "--strict"]);
}
