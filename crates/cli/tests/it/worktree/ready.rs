//! READY: caches and generated files are there when an agent begins, and are no work of its.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, symlink};
use std::path::PathBuf;

use serde_json::json;

use super::repo::Repo;

/// Both ways a worktree can lie on disk.
const LAYOUTS: [&[&str]; 2] = [&[], &["--overlay"]];

/// A host's cache with a program, a nested file and links, one of them out of it.
fn cache() -> tempfile::TempDir {
    let cache = tempfile::tempdir().unwrap();
    fs::create_dir_all(cache.path().join("left-pad/lib")).unwrap();
    fs::write(cache.path().join("left-pad/index.js"), "module.exports = pad\n").unwrap();
    fs::write(cache.path().join("left-pad/lib/pad.js"), "pad\n").unwrap();
    symlink("left-pad/index.js", cache.path().join("entry")).unwrap();
    symlink("/etc/hostname", cache.path().join("outside")).unwrap();
    cache
}

fn with_setup(setup: serde_json::Value) -> Repo {
    let repo = Repo::new();
    repo.edit("agents/policy.json", |policy| policy["setup"] = setup);
    repo.write(".gitignore", "*.log\nbuild/\nnode_modules/\n");
    repo.commit("chore(agents): setup");
    repo
}

fn with_trusted_setup(setup: serde_json::Value) -> Repo {
    let repo = with_setup(setup);
    repo.trust();
    repo
}

fn with_cache(cache: &tempfile::TempDir, to: &str) -> Repo {
    let repo = with_setup(json!({ "caches": [{ "from": cache.path(), "to": to, "how": "hardlink" }] }));
    repo.allow_caches(&[cache.path()]);
    repo.trust();
    repo
}

/// Where the files of the worktree are on the host.
fn held(repo: &Repo, layout: &[&str], name: &str) -> PathBuf {
    match layout.is_empty() {
        true => repo.at(name),
        false => repo.root().join(".worktrees/.layers/PAY-1-backend/files/upper").join(name),
    }
}

#[test]
fn a_cache_of_the_host_is_there_and_is_not_held_against_the_agent() {
    for layout in LAYOUTS {
        let cache = cache();
        let repo = with_cache(&cache, "node_modules");
        repo.on("start", layout).ok();
        let said = repo.agent("cat node_modules/left-pad/lib/pad.js node_modules/entry; readlink node_modules/outside");
        assert_eq!(said.ok().out(), "pad\nmodule.exports = pad\n/etc/hostname\n", "{layout:?}");
        assert_eq!(repo.checked()["files"], json!([]), "{layout:?}");
        let here = fs::metadata(held(&repo, layout, "node_modules/left-pad/index.js")).unwrap();
        let there = fs::metadata(cache.path().join("left-pad/index.js")).unwrap();
        assert_eq!(here.ino() == there.ino(), layout.is_empty(), "an upper is written in place: it has copies");
        repo.agent("echo '// x' >> src/main.rs; git commit -qam 'feat(core): x'").ok();
        repo.on("close", &[]).ok();
        // The host updates its cache: what the agent was given stays as it was, and stays no work of its.
        fs::remove_file(cache.path().join("left-pad/index.js")).unwrap();
        fs::write(cache.path().join("left-pad/index.js"), "newer\n").unwrap();
        assert_eq!(repo.findings(), Vec::<String>::new(), "{layout:?}");
    }
}

#[test]
fn whatever_an_agent_does_to_its_cache_the_host_s_is_as_it_was() {
    for layout in LAYOUTS {
        let cache = cache();
        let repo = with_cache(&cache, "src/node_modules");
        repo.on("start", layout).ok();
        let before = fs::metadata(cache.path().join("left-pad/index.js")).unwrap();
        repo.agent(
            "cd src/node_modules; echo evil >> left-pad/index.js; chmod 777 left-pad/lib/pad.js; truncate -s 0 left-pad/lib/pad.js; \
             touch -d 2001-01-01 left-pad/index.js; rm entry; ln left-pad/index.js alias || true; echo evil > planted.js; rm alias",
        )
        .ok();
        let index = cache.path().join("left-pad/index.js");
        assert_eq!(fs::read_to_string(&index).unwrap(), "module.exports = pad\n", "{layout:?}");
        assert_eq!(fs::read_to_string(cache.path().join("left-pad/lib/pad.js")).unwrap(), "pad\n", "{layout:?}");
        let after = fs::metadata(&index).unwrap();
        assert_eq!((after.mode(), after.mtime(), after.size()), (before.mode(), before.mtime(), before.size()));
        assert!(cache.path().join("entry").exists() && !cache.path().join("planted.js").exists());
        let checked = repo.checked();
        let mut changed: Vec<_> =
            checked["files"].as_array().unwrap().iter().map(|file| file["path"].clone()).collect();
        changed.sort_by_key(ToString::to_string);
        let expected = ["left-pad/index.js", "left-pad/lib/pad.js", "planted.js"]
            .map(|name| json!(format!("src/node_modules/{name}")));
        assert_eq!(changed, expected, "{layout:?}: what is not as it was given is judged as usual");
    }
}

#[test]
fn a_change_in_a_cache_out_of_scope_is_found() {
    let cache = cache();
    let repo = with_cache(&cache, "node_modules");
    repo.on("start", &[]).ok();
    assert_ne!(repo.agent("echo x >> node_modules/left-pad/index.js").code, Some(0), "the kernel keeps it");
    fs::remove_file(repo.at("node_modules/left-pad/index.js")).unwrap();
    fs::write(repo.at("node_modules/left-pad/index.js"), "module.exports = pad\n").unwrap();
    fs::write(repo.at("node_modules/new.js"), "x\n").unwrap();
    let mut findings = repo.findings();
    findings.sort();
    assert_eq!(findings, ["node_modules/left-pad/index.js: outside", "node_modules/new.js: outside"]);
}

#[test]
fn a_cache_never_takes_the_place_of_what_is_committed_and_never_leads_out() {
    for (to, part) in
        [("src", "`src` is there already"), ("way/out", "`way` is there already"), (".agent/x", "no place")]
    {
        let cache = cache();
        let repo = with_cache(&cache, to);
        symlink("/tmp", repo.root().join("way")).unwrap();
        repo.commit("chore(repo): a link");
        for layout in LAYOUTS {
            let said = repo.on("start", layout).exits(1);
            assert!(said.stderr.contains(part), "{to} {layout:?}: {}", said.stderr);
            assert!(!repo.root().join(".worktrees/PAY-1").exists(), "nothing is left behind");
        }
    }
}

#[test]
fn what_the_team_s_commands_make_is_there_and_is_not_held_against_the_agent() {
    let commands = json!([
        { "name": "schema", "command": ["sh", "-ec", "mkdir -p gen build; echo \"$PORT\" > gen/schema.rs; echo x > build/out"] },
        { "name": "second", "command": ["sh", "-ec", "cat gen/schema.rs > gen/copy.rs; echo x >> Makefile && exit 1 || true"] },
    ]);
    for layout in LAYOUTS {
        let repo = with_trusted_setup(json!({ "generate": commands }));
        repo.edit("agents/policy.json", |policy| policy["ports"] = json!({ "names": ["PORT"] }));
        repo.commit("chore(agents): ports");
        repo.on("start", layout).ok();
        assert_eq!(repo.agent("cat gen/schema.rs gen/copy.rs build/out").ok().out(), "20000\n20000\nx\n", "{layout:?}");
        assert_eq!(repo.checked()["files"], json!([]), "{layout:?}");
        repo.agent("echo '// x' >> src/main.rs; git commit -qam 'feat(core): x'").ok();
        fs::write(held(&repo, layout, "gen/schema.rs"), "tampered\n").unwrap();
        assert_eq!(repo.findings(), ["gen/schema.rs: outside"], "{layout:?}");
        fs::write(held(&repo, layout, "gen/schema.rs"), "20000\n").unwrap();
        repo.on("close", &[]).ok();
        if !layout.is_empty() {
            continue;
        }
        let gc = repo.placet(&["--json", "gc"]).ok().json();
        assert_eq!(gc["worktrees"][0]["removable"], true, "what was given is no work that could be lost: {gc}");
        repo.placet(&["gc", "--remove"]).ok();
        assert!(!repo.at("").exists());
    }
}

#[test]
fn a_command_that_fails_fails_the_start_and_shows_its_last_lines() {
    let cases = [
        (json!(["sh", "-c", "touch src/left; echo no compiler here; exit 4"]), "ended with 4.\nno compiler here"),
        (json!(["sh", "-c", "echo x >> src/main.rs"]), "changed `src/main.rs`, which the repository holds"),
        (json!(["sh", "-c", "echo KEY=1 > .env.local"]), "environment"),
    ];
    for (command, part) in cases {
        for layout in LAYOUTS {
            let repo = with_trusted_setup(json!({ "generate": [{ "name": "schema", "command": command }] }));
            let said = repo.on("start", layout).exits(1);
            assert!(said.stderr.contains(part), "{layout:?}: {}", said.stderr);
            assert!(!repo.root().join(".worktrees/PAY-1").exists());
            assert!(!repo.root().join(".worktrees/.layers/PAY-1-backend").exists());
            assert_eq!(repo.git(&["branch", "--list", "feat/*"]), "");
            assert_eq!(repo.recorded(), ["worktree.opening", "worktree.aborted"]);
        }
    }
}
