//! Tools people use, at work in a layered workspace. A tool that is missing on the host is a failure with a hint: a
//! scenario that did not run proves nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use placet_sandbox::{Access, Exit, Profile, Request, Rules, program_path};
use tempfile::TempDir;

use crate::harness::tests;
use crate::world::{Layered, Ran, run_in, sh};

tests![
    git_commits_in_a_plain_repository,
    git_commits_in_a_linked_worktree_whose_common_directory_is_layered,
    git_works_while_hooks_and_settings_are_protected,
    python_runs_scripts_and_makes_caches,
    node_runs_scripts,
    gcc_compiles_and_the_result_runs,
];

fn profile() -> Profile {
    Profile::builtin("code_development").expect("a profile")
}

fn tool(name: &str) {
    assert!(program_path(&profile(), name).is_some(), "install `{name}` on this host, below /usr: the cage shows that");
}

fn work(request: Request) -> Ran {
    let people = ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"];
    run_in(&profile(), people.into_iter().fold(request, |request, name| request.env(name, "agent@cage")))
}

/// Git on the host, without anybody's settings.
#[track_caller]
fn git(directory: &Path, arguments: &[&str]) -> String {
    let ran = Command::new("git")
        .args(["-c", "user.name=host", "-c", "user.email=host@host", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .expect("install `git` on this host");
    assert!(ran.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text").trim().to_owned()
}

fn commit_on_host(repository: &Path) {
    fs::write(repository.join("file"), "one\n").expect("a file");
    git(repository, &["init", "--quiet"]);
    git(repository, &["add", "."]);
    git(repository, &["commit", "--quiet", "-m", "first"]);
}

const COMMIT: &str = "git status --porcelain && echo two >> file && echo new > new && git add . && \
                      git commit --quiet -m second && git status --porcelain && git log --format=%s && git fsck --strict";

fn git_commits_in_a_plain_repository() {
    tool("git");
    let layered = Layered::new();
    commit_on_host(&layered.lower(""));
    let before = layered.untouched();
    assert_eq!(work(sh(COMMIT).workspace(layered.layers())).succeeded(), "second\nfirst\n");
    assert_eq!(layered.untouched(), before);
    assert_eq!(git(&layered.lower(""), &["log", "--format=%s"]), "first");
    let tip = fs::read_to_string(layered.upper(".git/refs/heads/main")).expect("the new tip is in the upper");
    assert_eq!(tip.trim().len(), 40, "{tip}");
}

struct Worktree {
    outer: TempDir,
    files: Layered,
    common: Layered,
}

impl Worktree {
    fn new() -> Self {
        let outer = TempDir::new().expect("a temporary directory");
        let repository = outer.path().join("repository");
        fs::create_dir(&repository).expect("a directory");
        commit_on_host(&repository);
        git(&repository, &["worktree", "add", "--quiet", "../worktree", "-b", "feature"]);
        Self { outer, files: Layered::new(), common: Layered::new() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.outer.path().join(name)
    }

    /// The `.git` file names the repository by its path on the host, so that is where it appears.
    fn request(&self, script: &str) -> Request {
        let common = self.path("repository/.git");
        let files = self.files.layers_above(self.path("worktree"));
        sh(script).workspace(files).layer(self.common.layers_above(&common), common)
    }
}

fn git_commits_in_a_linked_worktree_whose_common_directory_is_layered() {
    tool("git");
    let worktree = Worktree::new();
    assert_eq!(work(worktree.request(COMMIT)).succeeded(), "second\nfirst\n");
    let sabotage = "rm -rf $(git rev-parse --git-common-dir)/objects; git config core.fsmonitor /work/evil; \
                    echo x > $(git rev-parse --git-common-dir)/hooks/pre-commit; git update-ref -d refs/heads/main";
    let tip = fs::read_to_string(worktree.common.upper("refs/heads/feature")).expect("the new tip is in the upper");
    work(worktree.request(sabotage));
    let host = worktree.path("worktree");
    assert_eq!(git(&host, &["log", "--format=%s"]), "first", "the host's branch did not move");
    assert_ne!(git(&host, &["rev-parse", "HEAD"]), tip.trim());
    assert_eq!(git(&host, &["status", "--porcelain"]), "");
    git(&host, &["fsck", "--strict"]);
    assert!(!worktree.path("repository/.git/hooks/pre-commit").exists());
}

fn git_works_while_hooks_and_settings_are_protected() {
    tool("git");
    let layered = Layered::new();
    commit_on_host(&layered.lower(""));
    let protected = [".git/hooks", ".git/config", ".git/config.worktree", ".git/info", ".gitmodules", ".github"];
    let rules = protected.into_iter().fold(Rules::writable(), |rules, path| rules.path(path, Access::ReadOnly));
    let rules = rules.hide_env_files();
    let request = |script: &str| sh(script).workspace(layered.layers()).rules(rules.clone());
    assert_eq!(work(request(COMMIT)).succeeded(), "second\nfirst\n", "nothing of the rules shows in git status");
    for attack in
        ["git config core.fsmonitor x", "echo x > .git/hooks/pre-commit", "git submodule add ./ sub", "mv .git g"]
    {
        assert_ne!(work(request(attack)).exit, Exit::Code(0), "{attack}");
    }
    assert_eq!(
        work(request("git checkout --quiet -b other && git reset --quiet --hard HEAD~1 && git log --format=%s"))
            .succeeded(),
        "first\n"
    );
}

fn python_runs_scripts_and_makes_caches() {
    tool("python3");
    let layered = Layered::new().with("tool/__init__.py", "").with("tool/answer.py", "ANSWER = 42\n");
    let script = "python3 -c 'import json, sqlite3, tool.answer; \
                  db = sqlite3.connect(\"db\"); db.execute(\"create table t (x)\"); db.commit(); \
                  print(json.dumps(tool.answer.ANSWER))'";
    assert_eq!(work(sh(script).workspace(layered.layers())).succeeded(), "42\n");
    assert!(layered.upper("db").exists() && layered.upper("tool/__pycache__").exists());
}

fn node_runs_scripts() {
    tool("node");
    let layered = Layered::new().with("lib.js", "module.exports = () => 6 * 7;\n");
    let script = "node -e 'const fs = require(\"fs\"); fs.writeFileSync(\"out\", String(require(\"./lib.js\")())); \
                  fs.renameSync(\"out\", \"answer\"); console.log(fs.readFileSync(\"answer\", \"utf8\"))'";
    assert_eq!(work(sh(script).workspace(layered.layers())).succeeded(), "42\n");
    assert_eq!(fs::read_to_string(layered.upper("answer")).expect("in the upper"), "42");
}

fn gcc_compiles_and_the_result_runs() {
    tool("gcc");
    let program = "#include <stdio.h>\nint main(void) { puts(\"compiled\"); return 0; }\n";
    let layered = Layered::new().with("main.c", program);
    assert_eq!(work(sh("gcc -O1 -o main main.c && ./main").workspace(layered.layers())).succeeded(), "compiled\n");
    assert!(layered.upper("main").exists());
}

/// Toolchains live in the caller's home directory, which nobody else may enter: these run as the caller only.
pub(crate) mod of_the_caller {
    use super::*;

    tests![cargo_builds_and_tests_without_a_network];

    /// The toolchain this test was built with.
    fn toolchain() -> PathBuf {
        let own = Path::new(env!("CARGO")).parent().and_then(Path::parent);
        let own =
            own.filter(|directory| directory.join("bin/rustc").is_file() && directory.join("lib/rustlib").is_dir());
        own.expect("a Rust toolchain with `bin/rustc` beside `bin/cargo`: install one with rustup").to_owned()
    }

    fn cargo_builds_and_tests_without_a_network() {
        tool("cc");
        let manifest = "[package]\nname = \"tiny\"\nversion = \"0.1.0\"\nedition = \"2024\"\n";
        let source = "fn main() { println!(\"built\"); }\n#[test]\nfn it_holds() { assert_eq!(6 * 7, 42); }\n";
        let layered = Layered::new().with("Cargo.toml", manifest).with("src/main.rs", source);
        let script =
            "/opt/toolchain/bin/cargo run --offline --quiet && /opt/toolchain/bin/cargo test --offline --quiet";
        let request = sh(script).workspace(layered.layers()).read_only(toolchain(), "/opt/toolchain");
        let seen = work(request.env("RUSTC", "/opt/toolchain/bin/rustc").limits(profile().limits())).succeeded();
        assert!(seen.starts_with("built\n") && seen.contains("1 passed"), "{seen}");
        assert!(layered.upper("target/debug/tiny").exists() && !layered.lower("target").exists());
    }
}
