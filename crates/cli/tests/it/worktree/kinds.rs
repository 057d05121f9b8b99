//! SCOPE-CHECK: every kind of change, wherever it is kept, with the rule that decided.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};

use super::repo::Repo;

/// One way to change something out of scope, and what is said of it.
type Case = (&'static str, fn(&Repo), &'static [&'static str]);

fn git(repo: &Repo, args: &[&str]) {
    repo.git_in(&repo.at(""), args);
}

const CASES: &[Case] = &[
    ("unstaged", |repo| fs::write(repo.at("docs/guide.md"), "x").unwrap(), &["docs/guide.md: outside"]),
    (
        "staged",
        |repo| {
            fs::write(repo.at("docs/guide.md"), "x").unwrap();
            git(repo, &["add", "-A"])
        },
        &["docs/guide.md: outside"],
    ),
    (
        "staged and put back",
        |repo| {
            fs::write(repo.at("docs/guide.md"), "x").unwrap();
            git(repo, &["add", "-A"]);
            fs::write(repo.at("docs/guide.md"), "# Guide\n").unwrap();
        },
        &["docs/guide.md: outside", "docs/guide.md: outside"],
    ),
    ("untracked", |repo| fs::write(repo.at("new.txt"), "x").unwrap(), &["new.txt: outside"]),
    ("ignored", |repo| fs::write(repo.at("docs/x.log"), "x").unwrap(), &["docs/x.log: outside"]),
    (
        "ignored directory",
        |repo| {
            fs::create_dir(repo.at("build")).unwrap();
            fs::write(repo.at("build/a"), "x").unwrap()
        },
        &["build/a: outside"],
    ),
    ("deleted", |repo| fs::remove_file(repo.at("docs/guide.md")).unwrap(), &["docs/guide.md: outside"]),
    (
        "committed",
        |repo| {
            fs::write(repo.at("docs/guide.md"), "x").unwrap();
            git(repo, &["commit", "-qam", "docs(x): y"])
        },
        &["docs/guide.md: outside"],
    ),
    (
        "committed and reverted",
        |repo| {
            fs::write(repo.at("docs/guide.md"), "x").unwrap();
            git(repo, &["commit", "-qam", "docs(x): y"]);
            fs::write(repo.at("docs/guide.md"), "# Guide\n").unwrap();
            git(repo, &["commit", "-qam", "docs(x): z"]);
        },
        &["docs/guide.md: outside", "docs/guide.md: outside"],
    ),
    ("renamed out", |repo| git(repo, &["mv", "src/util.rs", "docs/util.rs"]), &["docs/util.rs: outside"]),
    ("renamed in", |repo| git(repo, &["mv", "docs/guide.md", "src/guide.md"]), &["docs/guide.md: outside"]),
    (
        "mode",
        |repo| fs::set_permissions(repo.at("docs/guide.md"), fs::Permissions::from_mode(0o755)).unwrap(),
        &["docs/guide.md: outside"],
    ),
    ("protected", |repo| fs::write(repo.at("Makefile"), "x").unwrap(), &["Makefile: protected"]),
    ("protected in another case", |repo| fs::write(repo.at("makefile"), "x").unwrap(), &["makefile: protected"]),
    (
        "ci",
        |repo| fs::write(repo.at(".github/workflows/new.yml"), "x").unwrap(),
        &[".github/workflows/new.yml: protected"],
    ),
    ("link out", |repo| symlink("/etc/passwd", repo.at("src/p")).unwrap(), &["src/p: leads_out"]),
    ("link up", |repo| symlink("../../../../x", repo.at("src/p")).unwrap(), &["src/p: leads_out"]),
    ("link inside", |repo| symlink("main.rs", repo.at("src/p")).unwrap(), &[]),
    (
        "pipe",
        |repo| {
            let path = std::ffi::CString::new(repo.at("src/pipe").as_os_str().as_bytes()).unwrap();
            rustix::fs::mknodat(
                rustix::fs::CWD,
                path,
                rustix::fs::FileType::Fifo,
                rustix::fs::Mode::from_raw_mode(0o600),
                0,
            )
            .unwrap();
        },
        &["src/pipe: special"],
    ),
    ("hard link", |repo| fs::hard_link(repo.root().join("Makefile"), repo.at("src/m")).unwrap(), &["src/m: hard_link"]),
    (
        "repository inside",
        |repo| {
            fs::create_dir(repo.at("src/inner")).unwrap();
            repo.git_in(&repo.at("src/inner"), &["init", "-q"]);
        },
        &["src/inner: repository"],
    ),
    (
        "submodule",
        |repo| {
            git(
                repo,
                &["update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,src/sub"],
            )
        },
        &["src/sub: repository"],
    ),
    (
        "hidden from git",
        |repo| {
            git(repo, &["update-index", "--assume-unchanged", "docs/guide.md"]);
            fs::write(repo.at("docs/guide.md"), "hidden").unwrap();
        },
        &["docs/guide.md: outside"],
    ),
    (
        "skipped by git",
        |repo| {
            git(repo, &["update-index", "--skip-worktree", "docs/guide.md"]);
            fs::write(repo.at("docs/guide.md"), "hidden").unwrap();
        },
        &["docs/guide.md: outside"],
    ),
    ("name with a newline", |repo| fs::write(repo.at("a\nb"), "x").unwrap(), &["a%0Ab: outside"]),
    (
        "name that is no text",
        |repo| fs::write(repo.at("").join(std::ffi::OsStr::from_bytes(b"\xff\xfe")), "x").unwrap(),
        &["%FF%FE: outside"],
    ),
    ("the runtime's own", |repo| fs::write(repo.at(".agent/extra"), "x").unwrap(), &[".agent/extra: runtime"]),
    ("environment file", |repo| fs::write(repo.at("src/.env"), "A=1").unwrap(), &["src/.env: env_file"]),
    (
        "denied within allowed",
        |repo| fs::write(repo.at("src/.env.example"), "A=").unwrap(),
        &["src/.env.example: denied"],
    ),
    ("in scope", |repo| fs::write(repo.at("src/fine.rs"), "x").unwrap(), &[]),
];

#[test]
fn a5_every_kind_of_change_is_found_and_judged() {
    let repo = Repo::started(&[]);
    for (what, change, expected) in CASES {
        change(&repo);
        let mut found = repo.findings();
        found.dedup_by(|one, other| one == other && expected.len() < 2);
        assert_eq!(found, *expected, "{what}");
        undo(&repo);
    }
}

/// Returns the worktree to its base: files, history, and the index with its flags.
fn undo(repo: &Repo) {
    let at = repo.at("");
    let index = repo.git_in(&at, &["rev-parse", "--path-format=absolute", "--git-path", "index"]);
    fs::remove_file(index.trim()).unwrap();
    git(repo, &["reset", "-q", "--hard", "main"]);
    git(repo, &["clean", "-q", "-ffdx", "-e", ".agent"]);
    // Neither is seen by `git clean`.
    for left in [".agent/extra", "src/pipe"] {
        let _ = fs::remove_file(repo.at(left));
    }
}

#[test]
fn a5_the_answer_names_the_rule_and_the_exit_code_tells() {
    let repo = Repo::started(&[]);
    repo.on("scope-check", &[]).ok();
    repo.agent("echo 1 >> src/main.rs").ok();
    let checked = repo.checked();
    assert_eq!(checked["files"][0]["rule"], "src/**");
    assert_eq!(checked["files"][0]["origin"], "unstaged");
    fs::write(repo.at("docs/guide.md"), "x").unwrap();
    let said = repo.on("scope-check", &[]).exits(3);
    assert!(said.stderr.contains("1 finding"), "{}", said.stderr);
    assert!(said.out().contains("docs/guide.md"), "{}", said.out());
}

#[test]
fn a5_a_manifest_that_was_forged_on_disk_changes_nothing() {
    let repo = Repo::started(&[]);
    let forged = fs::read_to_string(repo.at(".agent/manifest.json")).unwrap().replace("src/**", "**");
    fs::write(repo.at(".agent/manifest.json"), forged).unwrap();
    fs::write(repo.at("docs/guide.md"), "x").unwrap();
    assert!(repo.findings().contains(&"docs/guide.md: outside".to_owned()));
}

#[test]
fn a8_a_commit_that_slipped_past_the_hook_is_found() {
    let repo = Repo::started(&[]);
    let refused = repo.agent("echo 1 >> src/main.rs; git commit -qam 'did things'");
    assert!(refused.stderr.contains("<type>(<area>): <description>"), "{}", refused.stderr);
    let slipped = repo.agent("git commit -qam 'did things' --no-verify").exits(3);
    assert!(slipped.stderr.contains("it does not begin with a type"), "{}", slipped.stderr);
    repo.agent("git commit -q --amend -m 'feat(core): things'").ok();
    // Outside of the cage a person can skip it, too.
    fs::write(repo.at("src/util.rs"), "pub fn two() {}\n").unwrap();
    repo.git_in(&repo.at(""), &["commit", "-qam", "did more things", "--no-verify"]);
    let checked = repo.checked();
    assert_eq!(checked["bad_commits"].as_array().unwrap().len(), 1, "{checked}");
    repo.on("close", &[]).exits(3);
}

#[test]
fn a9_a_secret_in_a_file_a_message_or_an_undone_commit_is_found_and_shown_redacted() {
    let secret = format!("ghp_{}", "wJ4k9QzT2mX7vB1nR5cY8dL3fH6sA0eU9pKq");
    let places = [
        format!("echo 'let t = \"{secret}\";' >> src/main.rs"),
        format!("echo 1 >> src/main.rs; git commit -qam 'feat(api): use {secret}'"),
        format!(
            "echo '{secret}' >> src/main.rs; git commit -qam 'feat(a): b'; git checkout -q HEAD~1 src; git commit -qam 'fix(a): c'"
        ),
    ];
    for place in places {
        let repo = Repo::started(&[]);
        repo.agent(&place).ok();
        let checked = repo.checked();
        let found = checked["secrets"].as_array().unwrap();
        assert!(!found.is_empty(), "{place}");
        assert!(found[0]["redacted"].as_str().unwrap().starts_with("ghp_****"), "{}", found[0]);
        assert!(!checked.to_string().contains(&secret), "never the secret itself");
        let closed = repo.on("close", &[]).exits(3);
        assert!(!closed.stderr.contains(&secret) && !closed.out().contains(&secret));
    }
}

#[test]
fn a9_an_allowlist_has_reasons_and_ends() {
    let repo = Repo::started(&[]);
    let secret = format!("ghp_{}", "wJ4k9QzT2mX7vB1nR5cY8dL3fH6sA0eU9pKq");
    repo.agent(&format!("echo '// {secret}' >> src/main.rs")).ok();
    let fingerprint = repo.checked()["secrets"][0]["fingerprint"].clone();
    let allow = |expires: &str| {
        let (fingerprint, reason) = (fingerprint.clone(), "a sample of the vendor's documentation");
        repo.edit("agents/secrets_allowlist.json", |list| {
            list["entries"] = serde_json::json!([{ "fingerprint": fingerprint, "reason": reason, "expires": expires }]);
        });
    };
    allow("2999-01-01");
    repo.on("scope-check", &[]).ok();
    allow("2020-01-01");
    repo.on("scope-check", &[]).exits(3);
}
