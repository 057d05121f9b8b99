//! What an agent plants in its repository beside its commits, and that none of it reaches the real one. Planted programs
//! would leave a file behind; nobody may find one.

use std::fs;
use std::path::PathBuf;

use placet_workspace::harvest::{HarvestError, HarvestLimits};

use crate::harness::tests;
use crate::harvest::{COMMIT, moved};
use crate::repository::{Repository, git};

tests![
    a_planted_program_that_is_let_in_is_noticed,
    hooks_are_not_run_and_stay_behind,
    settings_and_monitors_stay_behind,
    filters_and_attributes_are_not_run,
    submodules_and_their_settings_are_not_run,
    a_replaced_git_file_leads_nobody_astray,
    other_branches_tags_and_heads_stay_behind,
    deleted_packs_are_missed_by_nobody,
    replacements_grafts_and_shallow_files_change_no_history,
    alternates_are_refused,
    symbolic_and_deleted_branches_are_refused,
    branches_that_are_no_branches_are_refused,
    objects_that_are_not_what_their_name_says_are_refused,
    commits_with_missing_parts_are_refused,
    tips_that_are_no_commits_are_refused,
    links_and_pipes_in_place_of_objects_are_refused,
    an_index_that_lies_about_its_pack_is_not_read,
    objects_that_unpack_to_something_huge_are_refused,
    trees_that_would_harm_whoever_checks_them_out_are_refused,
];

/// A program that leaves a trace wherever it runs.
struct Canary(PathBuf);

impl Canary {
    fn new(repository: &Repository) -> Self {
        let canary = Self(repository.path("canary"));
        fs::create_dir(&canary.0).expect("a directory");
        fs::set_permissions(&canary.0, std::os::unix::fs::PermissionsExt::from_mode(0o777)).expect("open to everyone");
        canary
    }

    fn command(&self) -> String {
        format!("touch {}/ran 2>/dev/null", self.0.display())
    }

    fn script(&self) -> String {
        format!("#!/bin/sh\\n{}\\n", self.command())
    }

    #[track_caller]
    fn is_silent(&self) {
        assert_eq!(fs::read_dir(&self.0).expect("a directory").count(), 0, "a planted program was run");
    }
}

/// Takes over, finds the repository as it was, and then does what a person does next.
#[track_caller]
fn stays_behind(plant: impl FnOnce(&Canary) -> String) {
    let repository = Repository::new();
    let canary = Canary::new(&repository);
    let settings = repository.settings();
    repository.agent(&format!("{COMMIT}\n{}", plant(&canary)));
    moved(repository.harvest());
    assert_eq!(repository.settings(), settings, "nothing but objects, the branch and the index changed");
    what_a_person_does_next(&repository);
    canary.is_silent();
    assert_eq!(repository.log(), "second first");
}

fn what_a_person_does_next(repository: &Repository) {
    for arguments in [&["status", "--porcelain"][..], &["diff", "HEAD"], &["log", "-1", "-p"], &["fsck", "--strict"]] {
        git(&repository.path("worktree"), arguments);
    }
    repository.host(&["gc", "--quiet"]);
}

/// Refused with this error, and the real repository has not one file more.
#[track_caller]
fn is_refused(script: &str, expected: fn(&HarvestError) -> bool) {
    let repository = Repository::new();
    let (settings, objects) = (repository.settings(), repository.objects());
    repository.agent(script);
    let error = repository.harvest().expect_err("it is refused");
    assert!(expected(&error), "{error} ({error:?})");
    assert_eq!((repository.settings(), repository.objects()), (settings, objects));
    assert_eq!(repository.log(), "first");
}

fn rejected(error: &HarvestError) -> bool {
    matches!(error, HarvestError::Rejected(_))
}

fn not_plain(error: &HarvestError) -> bool {
    matches!(error, HarvestError::NotPlain(_))
}

fn hooks_are_not_run_and_stay_behind() {
    let hooks = "pre-commit post-commit reference-transaction post-index-change post-checkout pre-auto-gc post-update \
                 update fsmonitor-watchman post-rewrite";
    stays_behind(|canary| {
        format!(
            "for h in {hooks}; do printf '{}' > $G/hooks/$h; chmod 755 $G/hooks/$h; done; git config core.hooksPath $G/hooks",
            canary.script()
        )
    });
}

fn settings_and_monitors_stay_behind() {
    stays_behind(|canary| {
        let names = ["core.fsmonitor", "core.pager", "core.sshCommand", "diff.external", "gpg.program", "core.editor"];
        let settings = names.map(|name| format!("git config {name} '{}; false'", canary.command()));
        format!(
            "{}; git config extensions.worktreeConfig true; git config --worktree core.fsmonitor '{}; false'; \
             printf '/tmp' > $G/worktrees/worktree/commondir",
            settings.join("; "),
            canary.command()
        )
    });
}

/// What the other scenarios plant does leave a trace where it is let in.
fn a_planted_program_that_is_let_in_is_noticed() {
    let repository = Repository::new();
    let canary = Canary::new(&repository);
    repository.host(&["config", "core.fsmonitor", &format!("{}; false", canary.command())]);
    what_a_person_does_next(&repository);
    assert!(canary.0.join("ran").exists());
}

fn filters_and_attributes_are_not_run() {
    stays_behind(|canary| {
        let run = canary.command();
        format!(
            "git config filter.x.clean '{run}'; git config filter.x.smudge '{run}'; git config diff.x.textconv '{run}'; \
             git config merge.x.driver '{run}'; mkdir -p $G/info; echo '* filter=x diff=x merge=x' > $G/info/attributes; \
             echo '* filter=x diff=x merge=x' > .gitattributes"
        )
    });
}

fn submodules_and_their_settings_are_not_run() {
    stays_behind(|canary| {
        let run = canary.command();
        format!(
            "git init --quiet sub; git -C sub commit --quiet --allow-empty -m sub; \
             git -C sub config core.fsmonitor '{run}; false'; mkdir -p $G/modules; cp -r sub/.git $G/modules/sub; \
             git config submodule.sub.update '!{run}'; git config submodule.sub.active true"
        )
    });
}

fn a_replaced_git_file_leads_nobody_astray() {
    let repository = Repository::new();
    let canary = Canary::new(&repository);
    repository.agent(&format!(
        "{COMMIT}; rm .git; git init --quiet .; git config core.fsmonitor '{}; false'",
        canary.command()
    ));
    moved(repository.harvest());
    assert!(repository.path("worktree/.git").is_file(), "the worktree's own file is as it was");
    git(&repository.path("worktree"), &["status", "--porcelain"]);
    canary.is_silent();
}

fn other_branches_tags_and_heads_stay_behind() {
    let repository = Repository::new();
    let settings = repository.settings();
    repository.agent(&format!(
        "{COMMIT}; git update-ref refs/heads/main HEAD; git update-ref refs/tags/v1 HEAD; \
         git update-ref refs/remotes/origin/main HEAD; echo 'ref: refs/heads/run/7' > $G/HEAD; git branch extra; \
         echo x > $G/ORIG_HEAD"
    ));
    moved(repository.harvest());
    assert_eq!(repository.settings(), settings);
    assert_eq!(repository.host(&["log", "--format=%s", "main"]), "first");
    assert_eq!(repository.host(&["for-each-ref", "--format=%(refname)"]), "refs/heads/main\nrefs/heads/run/7");
}

fn deleted_packs_are_missed_by_nobody() {
    let repository = Repository::new();
    repository.host(&["gc", "--quiet"]);
    // The commit is made first: it needs the objects. Then everything below goes, in the run's own view.
    repository.agent(&format!("{COMMIT}; rm -rf $G/objects/pack/*; git update-ref -d refs/heads/main"));
    moved(repository.harvest());
    assert_eq!(repository.log(), "second first");
    repository.host(&["fsck", "--strict", "--full"]);
}

fn replacements_grafts_and_shallow_files_change_no_history() {
    let repository = Repository::new();
    repository.agent(&format!(
        "{COMMIT}; F=$(git commit-tree -m forged HEAD^{{tree}}); git update-ref refs/replace/$(git rev-parse HEAD) $F; \
         mkdir -p $G/info; git rev-parse HEAD > $G/info/grafts; git rev-parse HEAD > $G/shallow"
    ));
    moved(repository.harvest());
    assert_eq!(repository.log(), "second first", "the parent is still there");
    assert_eq!(repository.host(&["for-each-ref", "refs/replace"]), "");
    for name in ["shallow", "info/grafts"] {
        assert!(!repository.path("repository/.git").join(name).exists(), "{name}");
    }
}

fn alternates_are_refused() {
    for name in ["alternates", "http-alternates"] {
        let script = format!("{COMMIT}; mkdir -p $G/objects/info; echo /work/objects > $G/objects/info/{name}");
        is_refused(&script, |error| matches!(error, HarvestError::Alternates));
    }
}

fn symbolic_and_deleted_branches_are_refused() {
    is_refused("git symbolic-ref refs/heads/run/7 refs/heads/main", |error| matches!(error, HarvestError::Symbolic(_)));
    is_refused("git update-ref -d refs/heads/run/7", |error| matches!(error, HarvestError::BranchGone(_)));
    is_refused("rm -rf $G/refs", |error| matches!(error, HarvestError::BranchGone(_)));
}

fn branches_that_are_no_branches_are_refused() {
    let branch = "B=$G/refs/heads/run/7; rm -f $B;";
    for planted in
        ["ln -s main $B", "mkfifo $B", "echo 12345 > $B", "head -c 100000 /dev/zero > $B", "printf '%041d' 0 > $B"]
    {
        is_refused(&format!("{branch} {planted}"), not_plain);
    }
    is_refused("rm -rf $G/refs/heads/run; ln -s /etc $G/refs/heads/run", not_plain);
}

fn objects_that_are_not_what_their_name_says_are_refused() {
    let forge = "O=$(git rev-parse HEAD:new); T=$(echo forged | git hash-object -w --stdin); \
                 P=$G/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); Q=$G/objects/$(echo $T | cut -c1-2)/$(echo $T | cut -c3-); \
                 rm -f $P; cp $Q $P";
    is_refused(&format!("{COMMIT}; {forge}"), rejected);
    let garbage = "O=$(git rev-parse HEAD:new); P=$G/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); rm -f $P; echo garbage > $P";
    is_refused(&format!("{COMMIT}; {garbage}"), |error| {
        rejected(error) || matches!(error, HarvestError::ObjectTooLarge { .. })
    });
}

fn commits_with_missing_parts_are_refused() {
    let remove = "P=$G/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); rm -f $P";
    for part in ["HEAD:new", "HEAD^{tree}", "HEAD"] {
        is_refused(&format!("{COMMIT}; O=$(git rev-parse {part}); {remove}"), rejected);
    }
    is_refused(&format!("{COMMIT}; echo 1111111111111111111111111111111111111111 > $G/refs/heads/run/7"), rejected);
}

fn tips_that_are_no_commits_are_refused() {
    is_refused("T=$(git rev-parse HEAD^{tree}); echo $T > $G/refs/heads/run/7", rejected);
    is_refused("echo x | git hash-object -w --stdin > $G/refs/heads/run/7", rejected);
    is_refused(&format!("{COMMIT}; git tag -a -m t t; git rev-parse t > $G/refs/heads/run/7"), rejected);
}

fn links_and_pipes_in_place_of_objects_are_refused() {
    let object = "O=$(git rev-parse HEAD:new); P=$G/objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); rm -f $P";
    for planted in ["ln -s /etc/passwd $P", "mkfifo $P", "mkdir $P"] {
        is_refused(&format!("{COMMIT}; {object}; {planted}"), not_plain);
    }
    is_refused(&format!("{COMMIT}; rm -rf $G/objects/pack; ln -s /tmp $G/objects/pack"), not_plain);
}

fn an_index_that_lies_about_its_pack_is_not_read() {
    let repository = Repository::new();
    repository.agent(&format!(
        "{COMMIT}; git repack -adq; for p in $G/objects/pack/*.idx $G/objects/pack/*.rev; do chmod u+w $p; echo lies > $p; done; \
         mkdir -p $G/objects/info; echo lies > $G/objects/info/commit-graph; echo lies > $G/objects/pack/multi-pack-index"
    ));
    moved(repository.harvest());
    assert_eq!(repository.log(), "second first");
    repository.host(&["fsck", "--strict", "--full"]);
    let script =
        format!("{COMMIT}; git repack -adq; for p in $G/objects/pack/*.pack; do chmod u+w $p; echo lies > $p; done");
    is_refused(&script, rejected);
}

fn objects_that_unpack_to_something_huge_are_refused() {
    let small = HarvestLimits { object_bytes: 1 << 20, ..HarvestLimits::default() };
    let huge = "head -c 30000000 /dev/zero > huge; git add .; git commit --quiet -m huge";
    for packed in ["true", "git repack -adq"] {
        let repository = Repository::new();
        let objects = repository.objects();
        repository.agent(&format!("{huge}; {packed}"));
        let error = repository.harvest_with(|harvest| harvest.limits(small)).expect_err("it is huge");
        assert!(matches!(&error, HarvestError::ObjectTooLarge { size_bytes: 30_000_000, .. }), "{error}");
        assert_eq!(repository.objects(), objects);
        let few = HarvestLimits { total_bytes: 1000, ..HarvestLimits::default() };
        let error = repository.harvest_with(|harvest| harvest.limits(few)).expect_err("it is too much");
        assert!(matches!(&error, HarvestError::Layer(_) | HarvestError::Rejected(_)), "{error}");
    }
}

/// Trees that git itself would not write, but would read.
fn trees_that_would_harm_whoever_checks_them_out_are_refused() {
    let commit = "C=$(git commit-tree -p HEAD -m bad $T); git update-ref refs/heads/run/7 $C";
    let blob = "B=$(echo x | git hash-object -w --stdin)";
    for name in [".git", "..", ".GIT", ".git ", "git~1"] {
        let tree = format!("T=$(printf '100644 blob %s\\t{name}\\n' $B | git mktree)");
        is_refused(&format!("{blob}; {tree}; {commit}"), |error| error.to_string().contains("hasDot"));
    }
    let modules = "printf '[submodule \"x\"]\\n\\tpath = x\\n\\turl = --upload-pack=evil\\n' > .gitmodules; git add .; \
                   git commit --quiet -m modules";
    is_refused(modules, |error| error.to_string().contains("gitmodulesUrl"));
}
