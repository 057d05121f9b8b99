//! Worktrees, plain and layered: made whole or not at all, many at a time.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use placet_workspace::worktree::{Damage, Kind, Losing};
use placet_workspace::{Plan, Repository, WorktreeError};

use crate::harness::tests;
use crate::project::{Project, agent};
use crate::repository::git;

tests![
    a_plain_worktree_is_what_git_makes,
    a_layered_worktree_is_clean_in_its_cage,
    layered_worktrees_share_one_checkout,
    what_fails_leaves_nothing_behind,
    a_checkout_that_fails_leaves_nothing_behind,
    twenty_at_a_time_get_in_nobodys_way,
    places_outside_are_refused,
    large_files_stay_pointers,
    a_base_goes_when_nobody_stands_on_it,
    housekeeping_of_git_leaves_worktrees_alone,
    an_interrupted_start_is_shown_and_cleared_away,
    lost_parts_are_shown_and_made_again,
    a_worktree_goes_only_without_unsaved_work,
    exactly_the_work_that_was_named_may_be_lost,
    what_a_cage_left_behind_counts_as_unsaved,
    the_state_of_a_worktree_is_told,
    disk_is_counted_without_what_is_shared,
    a_new_worktree_is_measured_by_its_index,
    notes_are_beside_the_layers_and_go_with_them,
];

fn a_plain_worktree_is_what_git_makes() {
    let project = Project::new();
    let worktree = project.plain("one");
    project.git(&["worktree", "add", "--quiet", "../other", "-b", "other"]);
    let names = |path: &std::path::Path| git(path, &["ls-files", "-s"]);
    assert_eq!(names(&worktree.path()), names(&project.outer().join("other")));
    assert_eq!(git(&worktree.path(), &["status", "--porcelain"]), "");
    assert_eq!(git(&worktree.path(), &["branch", "--show-current"]), "feat/T-1-one");
    assert_eq!(worktree.tip().expect("a commit"), project.head());
    assert!(fs::symlink_metadata(worktree.path().join("link")).expect("a link").is_symlink());
    assert_eq!(fs::metadata(worktree.path().join("tool")).expect("a file").permissions().mode() & 0o111, 0o111);
    assert_eq!(project.git(&["status", "--porcelain"]), "", "the main checkout does not see it");
    project.git(&["fsck", "--strict"]);
}

fn a_layered_worktree_is_clean_in_its_cage() {
    let project = Project::new();
    let worktree = project.layered("one");
    assert_eq!(
        agent(&worktree, "git status --porcelain=v2; cat file; git branch --show-current"),
        "second\nfeat/T-1-one\n"
    );
    // Files that git would have to read again to know them would be listed here.
    assert_eq!(agent(&worktree, "git -c core.fsmonitor=false diff-files --name-only"), "");
    agent(&worktree, "echo more >> file; echo new > src/new; rm docs/read.md; chmod 644 tool");
    let seen = agent(&worktree, "git status --porcelain");
    assert_eq!(seen, " D docs/read.md\n M file\n M tool\n?? src/new\n");
    agent(&worktree, "git add -A; git commit --quiet -m 'feat(x): y'");
    assert_eq!(agent(&worktree, "git status --porcelain; git log --format=%s -1"), "feat(x): y\n");
    assert_eq!(worktree.tip().expect("a commit"), project.head(), "nothing is harvested yet");
}

fn layered_worktrees_share_one_checkout() {
    let project = Project::new();
    let (one, two) = (project.layered("one"), project.layered("two"));
    assert_eq!((one.cage().lower, one.kind()), (two.cage().lower, Kind::Layered));
    let inode = |path: std::path::PathBuf| fs::metadata(path).expect("a file").ino();
    let before = inode(one.cage().lower.join("file"));
    agent(&one, "echo mine > file; rm -rf src");
    assert_eq!(agent(&two, "cat file; ls src"), "second\none.rs\ntwo.rs\n");
    assert_eq!(inode(two.cage().lower.join("file")), before);
    assert_eq!(fs::read_dir(project.path(".worktrees/.bases")).expect("bases").count(), 2, "one base and its lock");
}

/// Whatever is in the way, the repository is afterwards what it was before.
fn what_fails_leaves_nothing_behind() {
    let project = Project::new();
    project.plain("here");
    // Somebody's branch with somebody's commit. One that is where the worktree begins is taken up.
    let theirs = project.git(&["commit-tree", "HEAD^{tree}", "-m", "elsewhere"]);
    project.git(&["branch", "feat/taken", theirs.trim()]);
    let other = |change: fn(&mut Plan)| {
        let mut plan = project.plan("new");
        change(&mut plan);
        plan
    };
    let plans = [
        other(|plan| plan.name = "here".parse().expect("a name")),
        other(|plan| plan.branch = "feat/taken".parse().expect("a branch")),
        other(|plan| plan.branch = "feat/taken/below".parse().expect("a branch")),
        other(|plan| plan.base = "1".repeat(40).parse().expect("an object")),
        other(|plan| plan.path = plan.path.with_file_name("here")),
        other(|plan| plan.path = plan.path.join("../../../../outside")),
        other(|plan| plan.path = plan.path.with_file_name("here").join("inside/file")),
    ];
    let repository = project.open();
    fs::write(project.path(".worktrees/T-1/here/inside"), "a file in the way\n").expect("a file");
    repository.add_layered(&project.plan("base")).expect("a base exists");
    let (before, branches) = (project.listing(), project.git(&["for-each-ref"]));
    for plan in plans {
        let (plain, layered) = (repository.add(&plan), repository.add_layered(&plan));
        for error in [plain.expect_err("it is refused"), layered.expect_err("it is refused")] {
            assert!(!error.to_string().is_empty());
        }
        let left: Vec<_> = project.listing().into_iter().filter(|path| !before.contains(path)).collect();
        let left: Vec<_> = left.iter().filter(|path| path.extension().is_none_or(|name| name != "lock")).collect();
        assert!(left.is_empty(), "{plan:?} left {left:?}");
        assert_eq!(project.git(&["for-each-ref"]), branches);
    }
}

fn a_checkout_that_fails_leaves_nothing_behind() {
    let project = Project::new();
    let (before, branches) = (project.listing(), project.git(&["for-each-ref"]));
    let blob = project.git(&["rev-parse", "HEAD:docs/read.md"]);
    let object = project.path(&format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    fs::remove_file(object).expect("an object is lost");
    let repository = project.open();
    repository.add(&project.plan("one")).expect_err("a file cannot be written");
    repository.add_layered(&project.plan("two")).expect_err("a file cannot be written");
    let allowed = |path: &std::path::PathBuf| {
        let shown = path.display().to_string();
        shown.ends_with(".worktrees")
            || shown.ends_with(".gitignore")
            || shown.ends_with(".bases")
            || shown.ends_with(".lock")
    };
    let left: Vec<_> = project.listing().into_iter().filter(|path| !before.contains(path) && !allowed(path)).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(project.git(&["for-each-ref"]), branches);
}

fn twenty_at_a_time_get_in_nobodys_way() {
    let project = Project::new();
    let repository = project.open();
    let plans: Vec<(bool, Plan)> =
        (0..20).map(|number| (number % 2 == 0, project.plan(&format!("agent-{number}")))).collect();
    std::thread::scope(|scope| {
        let start = |(is_plain, plan): &(bool, Plan)| {
            if *is_plain { repository.add(plan) } else { repository.add_layered(plan) }.expect("a worktree");
        };
        let packing = scope.spawn(|| {
            for _ in 0..5 {
                project.git(&["pack-refs", "--all"]);
            }
        });
        let starting: Vec<_> = plans.iter().map(|each| scope.spawn(move || start(each))).collect();
        starting.into_iter().for_each(|each| each.join().expect("no error"));
        packing.join().expect("no error");
    });
    let listed = repository.list().expect("a list");
    assert_eq!(listed.len(), 20);
    assert!(listed.iter().all(|each| each.damage.is_empty()), "{listed:?}");
    project.git(&["fsck", "--strict"]);
    let twice = std::thread::scope(|scope| {
        let starting: Vec<_> = (0..8).map(|_| scope.spawn(|| repository.add(&project.plan("same")))).collect();
        starting.into_iter().map(|each| each.join().expect("no panic")).filter(Result::is_ok).count()
    });
    assert_eq!(twice, 1, "one of those who want the same gets it");
    assert_eq!(git(&project.path(".worktrees/T-1/same"), &["status", "--porcelain"]), "");
}

fn places_outside_are_refused() {
    let project = Project::new();
    let repository = project.open();
    fs::create_dir_all(project.path(".worktrees")).expect("a directory");
    std::os::unix::fs::symlink(project.outer(), project.path(".worktrees/out")).expect("a link");
    for place in ["src/x", ".worktrees", ".worktrees/.bases/x", ".worktrees/a/../../../x", "../x", "/tmp/x"] {
        let plan = Plan { path: project.path(place), ..project.plan("new") };
        let error = repository.add(&plan).expect_err("it is refused");
        assert!(matches!(error, WorktreeError::Place(_)), "{place}: {error}");
    }
    let plan = Plan { path: project.path(".worktrees/out/x"), ..project.plan("new") };
    repository.add(&plan).expect_err("no link is followed");
    assert!(!project.outer().join("x").exists());
}

/// The setting that Git LFS writes into a repository; here its programs would leave a trace.
fn large_files_stay_pointers() {
    let project = Project::new();
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12\n";
    project.write("large.bin", pointer);
    project.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
    project.commit("large");
    let trace = project.outer().join("trace");
    for name in ["filter.lfs.smudge", "filter.lfs.clean", "filter.lfs.process"] {
        project.git(&["config", name, &format!("touch {}; cat", trace.display())]);
    }
    project.git(&["config", "filter.lfs.required", "true"]);
    let plain = project.plain("one");
    assert_eq!(fs::read_to_string(plain.path().join("large.bin")).expect("a pointer"), pointer);
    let layered = project.layered("two");
    assert_eq!(fs::read_to_string(layered.cage().lower.join("large.bin")).expect("a pointer"), pointer);
    assert!(!trace.exists());
}

fn a_base_goes_when_nobody_stands_on_it() {
    let project = Project::new();
    let worktree = project.layered("one");
    let repository = project.open();
    assert!(repository.unused_bases().expect("a list").is_empty());
    let error = repository.remove_base(worktree.base()).expect_err("it is in use");
    assert!(matches!(error, WorktreeError::BaseInUse(_)), "{error}");
    project.write("later", "x\n");
    project.commit("later");
    let error =
        repository.add_layered(&Plan { branch: "feat/T-1-one".parse().expect("a branch"), ..project.plan("two") });
    assert!(matches!(error, Err(WorktreeError::BranchExists(_))));
    assert_eq!(repository.unused_bases().expect("a list"), [project.head()]);
    repository.remove_base(&project.head()).expect("nobody needs it");
    assert!(repository.unused_bases().expect("a list").is_empty());
    assert_eq!(agent(&worktree, "cat file"), "second\n");
}

fn housekeeping_of_git_leaves_worktrees_alone() {
    let project = Project::new();
    let (plain, layered) = (project.plain("one"), project.layered("two"));
    project.git(&["worktree", "prune", "--expire=now"]);
    project.git(&["gc", "--quiet", "--prune=now"]);
    assert_eq!(git(&plain.path(), &["status", "--porcelain"]), "");
    assert_eq!(agent(&layered, "git status --porcelain"), "");
}

/// Everything a crash can leave, from the first step to the last.
fn an_interrupted_start_is_shown_and_cleared_away() {
    for kind in [Kind::Plain, Kind::Layered] {
        let project = Project::new();
        let repository = project.open();
        let worktree = match kind {
            Kind::Plain => project.plain("one"),
            Kind::Layered => project.layered("one"),
        };
        fs::write(worktree.git_dir().join("placet-making"), "").expect("as if it had been interrupted");
        let error = repository.worktree(worktree.name()).expect_err("it is not whole");
        assert!(matches!(error, WorktreeError::Damaged { .. }), "{error}");
        assert_eq!(repository.list().expect("a list")[0].damage, [Damage::Unfinished]);
        assert!(repository.repair(worktree.name()).expect("cleared away").is_none());
        assert!(repository.list().expect("a list").is_empty());
        assert!(!worktree.path().exists() && !worktree.git_dir().exists());
        assert!(!repository.branch_exists(worktree.branch()).expect("an answer"));
        assert!(!project.path(".worktrees/T-1").exists(), "no empty directory is left");
        repository.add(&project.plan("one")).expect("the name is free again");
    }
}

fn lost_parts_are_shown_and_made_again() {
    let project = Project::new();
    let repository = project.open();
    let check = |name: &str, damage: Damage, lose: &dyn Fn()| {
        lose();
        let name = name.parse().expect("a name");
        let listed = repository.list().expect("a list");
        let listed = listed.iter().find(|each| each.name == name).expect("it is listed");
        assert_eq!(listed.damage, [damage], "{name}");
        repository.repair(&name).expect("repaired").expect("a worktree");
        repository.worktree(&name).expect("it is whole");
    };
    let (plain, layered) = (project.plain("plain"), project.layered("layered"));
    check("plain", Damage::NoDirectory, &|| fs::remove_dir_all(plain.path()).expect("gone"));
    check("plain", Damage::NoAdmin, &|| fs::remove_dir_all(plain.git_dir()).expect("gone"));
    check("plain", Damage::NoBranch, &|| drop(project.git(&["update-ref", "-d", "refs/heads/feat/T-1-plain"])));
    assert_eq!(git(&plain.path(), &["status", "--porcelain"]), "");
    check("layered", Damage::NoBase, &|| {
        fs::remove_dir_all(layered.cage().lower.parent().expect("a base")).expect("gone")
    });
    check("layered", Damage::NoAdmin, &|| fs::remove_dir_all(layered.git_dir()).expect("gone"));
    check("layered", Damage::NoDirectory, &|| {
        fs::remove_dir_all(layered.cage().upper.parent().and_then(|p| p.parent()).expect("layers")).expect("gone")
    });
    assert_eq!(agent(&layered, "git status --porcelain"), "");
    fs::write(plain.git_dir().join("placet.json"), "{}").expect("a broken record");
    let listed = repository.list().expect("a list");
    assert!(matches!(&listed[1].damage[..], [Damage::Record(_)]), "{listed:?}");
    assert!(Repository::find(&plain.path()).is_ok());
}

fn a_worktree_goes_only_without_unsaved_work() {
    let project = Project::new();
    let repository = project.open();
    for worktree in [project.plain("one"), project.layered("two")] {
        let (name, branch, path) = (worktree.name().clone(), worktree.branch().clone(), worktree.path());
        agent(&worktree, "true");
        worktree.remove(&Losing::Nothing).expect("nothing is in it");
        assert!(!path.exists() && !repository.branch_exists(&branch).expect("an answer"));
        assert!(matches!(repository.worktree(&name), Err(WorktreeError::Unknown(_))));
    }
    assert!(!project.path(".worktrees/T-1").exists() && !project.path(".worktrees/.layers").exists());
    assert_eq!(repository.unused_bases().expect("a list").len(), 1);
    let worktree = project.plain("kept");
    fs::write(worktree.path().join("new"), "x\n").expect("a file");
    git(&worktree.path(), &["add", "."]);
    git(&worktree.path(), &["commit", "--quiet", "-m", "work"]);
    fs::write(worktree.path().join("a.log"), "ignored files do not count\n").expect("a file");
    let branch = worktree.branch().clone();
    worktree.remove(&Losing::Nothing).expect("everything is committed");
    assert!(repository.branch_exists(&branch).expect("an answer"), "its commits stay");
}

fn exactly_the_work_that_was_named_may_be_lost() {
    let project = Project::new();
    let (plain, layered) = (project.plain("one"), project.layered("two"));
    fs::write(plain.path().join("file"), "other\n").expect("a file");
    agent(&layered, "echo other > file");
    for (worktree, root) in [(plain.clone(), plain.path()), (layered.clone(), layered.cage().upper)] {
        let error = worktree.clone().remove(&Losing::Nothing).expect_err("it would be lost");
        let WorktreeError::Unsaved { unsaved, .. } = error else { panic!("{error}") };
        assert_eq!(unsaved.files.len(), 1);
        fs::write(root.join("more"), "x\n").expect("a file");
        let error = worktree.clone().remove(&Losing::Exactly(unsaved)).expect_err("there is more now");
        let WorktreeError::Unsaved { unsaved, .. } = error else { panic!("{error}") };
        assert_eq!(unsaved.files.len(), 2);
        worktree.remove(&Losing::Exactly(unsaved)).expect("that was said");
    }
    assert!(project.open().list().expect("a list").is_empty());
}

fn what_a_cage_left_behind_counts_as_unsaved() {
    let project = Project::new();
    let worktree = project.plain("one");
    agent(&worktree, "echo x > new; git add .; git commit --quiet -m work");
    let unsaved = worktree.unsaved().expect("an answer");
    assert_eq!((unsaved.files.len(), unsaved.unpromoted.len()), (0, 1));
    assert!(unsaved.unharvested.is_some());
    assert!(worktree.remove(&Losing::Nothing).is_err());
}

fn the_state_of_a_worktree_is_told() {
    let project = Project::new();
    let main = "main".parse().expect("a branch");
    let (plain, layered) = (project.plain("one"), project.layered("two"));
    project.write("later", "x\n");
    project.commit("later");
    fs::write(plain.path().join("new"), "x\n").expect("a file");
    git(&plain.path(), &["add", "new"]);
    git(&plain.path(), &["commit", "--quiet", "-m", "work"]);
    fs::write(plain.path().join("a.log"), "x\n").expect("a file");
    let state = plain.state(&main).expect("a state");
    assert_eq!((state.ahead, state.behind, state.ignored, state.is_dirty()), (1, 1, 1, false));
    agent(&layered, "echo x > new; echo y >> file");
    let state = layered.state(&main).expect("a state");
    assert_eq!((state.ahead, state.behind, state.untracked, state.unstaged), (0, 1, 1, 1));
    assert!(state.changed_at_s >= i64::try_from(layered.made_at_ms() / 1000).expect("a time"));
}

fn disk_is_counted_without_what_is_shared() {
    let project = Project::new();
    project.write("large", &"x".repeat(1 << 20));
    project.commit("large");
    let (plain, layered) = (project.plain("one"), project.layered("two"));
    let (plain, layered) = (plain.disk_bytes().expect("bytes"), layered.disk_bytes().expect("bytes"));
    assert!(plain > 1 << 20 && layered < 1 << 18, "{plain} {layered}");
}

fn a_new_worktree_is_measured_by_its_index() {
    let project = Project::new();
    for number in 0..40 {
        project.write(&format!("deep/{}/file-{number}", number % 7), &"x".repeat(number * 700));
    }
    project.write("large", &"x".repeat(1 << 20));
    project.commit("many");
    for worktree in [project.plain("one"), project.layered("two")] {
        let (noted, counted) = (worktree.measured().expect("a note"), worktree.disk_bytes().expect("bytes"));
        // Links may be kept without a block, and the note itself takes one.
        assert!(noted.abs_diff(counted) <= 16 << 10, "{:?}: {noted} {counted}", worktree.kind());
        assert_eq!(worktree.measure().expect("bytes"), counted);
        assert_eq!(worktree.measured(), Some(counted));
    }
}

fn notes_are_beside_the_layers_and_go_with_them() {
    let project = Project::new();
    let worktree = project.layered("one");
    assert_eq!(worktree.noted("thing"), None);
    for content in [&b"one"[..], b"another"] {
        worktree.note("thing", content).expect("noted");
        assert_eq!(worktree.noted("thing").as_deref(), Some(content));
    }
    assert_eq!(agent(&worktree, "find / -name thing 2>/dev/null || true"), "", "no cage sees them");
    worktree.clone().remove(&Losing::Nothing).expect("nothing is lost");
    assert_eq!(worktree.noted("thing"), None);
}
