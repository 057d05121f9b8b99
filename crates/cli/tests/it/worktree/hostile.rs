//! A hostile agent: what it tries from inside its cage, and what it leaves for the host to stumble over.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use super::repo::{PAIR, Repo};
use crate::support::{Said, placet};

const LAYOUTS: [&[&str]; 2] = [&[], &["--overlay"]];
const BRANCH: &str = "feat/PAY-1-backend";

fn secret() -> String {
    format!("ghp_{}", "wJ4k9QzT2mX7vB1nR5cY8dL3fH6sA0eU9pKq")
}

/// What the agent is told no to: nothing of it is on its branch, and nobody else notices.
#[track_caller]
fn refused(repo: &Repo, script: &str, named: &str) {
    let before = (repo.git(&["rev-parse", BRANCH]), repo.git(&["rev-parse", "main"]));
    let said = repo.agent(script);
    assert_ne!(said.code, Some(0), "{script}");
    assert!(said.stderr.contains(named), "`{named}` is not in: {}", said.stderr);
    assert_eq!((repo.git(&["rev-parse", BRANCH]), repo.git(&["rev-parse", "main"])), before, "{script}");
    assert_eq!(repo.git(&["status", "--short"]), "");
}

#[test]
fn a7_neither_a_submodule_nor_a_link_that_leads_out_reaches_the_branch() {
    let submodule = "git update-index --add --cacheinfo 160000,1234567890123456789012345678901234567890,src/sub; \
                     git commit -qm 'feat(core): sub'";
    let link = "ln -s ../../../../Makefile src/link; git add -A; git commit -qm 'feat(core): link'";
    for layout in LAYOUTS {
        refused(&Repo::started(layout), submodule, "src/sub");
        refused(&Repo::started(layout), link, "src/link");
    }
}

#[test]
fn a7_no_history_brings_a_change_out_of_scope() {
    let tree_of = |commit: &str, message: &str| {
        format!("C=$(git commit-tree -p HEAD -p {commit} -m '{message}' {commit}^{{tree}}); git update-ref HEAD $C")
    };
    let tricks = [
        (tree_of("HEAD~1", "feat(core): back"), "agents/"),
        (tree_of("side", "feat(core): side"), "docs/guide.md"),
        ("git merge -q -m 'feat(core): merge' side".to_owned(), "docs/guide.md"),
        (
            "git reset -q --soft HEAD~1; git commit -qm 'feat(core): again' --allow-empty".to_owned(),
            "does not continue",
        ),
        (
            "git checkout -q --orphan x; git commit -qm 'feat(core): x'; git branch -f feat/PAY-1-backend".to_owned(),
            "continue",
        ),
        (
            "git mv src/util.rs src/UTIL.rs; git mv src/run.sh src/.Env; git commit -qm 'feat(core): case'".to_owned(),
            "src/.Env",
        ),
        ("git symbolic-ref refs/heads/feat/PAY-1-backend refs/heads/main".to_owned(), "another branch"),
    ];
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "-b", "side"]);
    repo.write("docs/guide.md", "# Another\n");
    repo.commit("docs(guide): side");
    repo.git(&["checkout", "-q", "main"]);
    for (script, named) in tricks {
        repo.on("start", &[]).ok();
        refused(&repo, &script, named);
        repo.on("abort", &["--reason", "the next trick", "--discard"]).ok();
    }
}

#[test]
fn a10_credentials_in_the_repository_s_settings_are_not_seen_in_the_cage() {
    for layout in LAYOUTS {
        let repo = Repo::new();
        let url = format!("https://bob:{}@example.org/x", secret());
        repo.git(&["remote", "add", "origin", &url]);
        repo.git(&["config", "http.https://example.org/.extraheader", &format!("AUTHORIZATION: basic {}", secret())]);
        repo.git(&["config", "branch.main.remote", &url]);
        repo.git(&["config", "core.sshCommand", &format!("ssh -i {}", secret())]);
        fs::create_dir_all(repo.root().join(".git/modules/sub")).unwrap();
        fs::write(repo.root().join(".git/modules/sub/config"), secret()).unwrap();
        repo.on("start", layout).ok();
        let said = repo.agent(
            "G=$(git rev-parse --git-common-dir); git config core.autocrlf; cat \"$G/config\"; git remote -v; \
             grep -rs ghp_ \"$G\" /work / --include=config --exclude-dir=proc --exclude-dir=sys || true; \
             ls \"$G/modules\" 2>/dev/null || true; git status --short; echo 1 >> src/main.rs; git commit -qam 'feat(core): one'; \
             ls -d \"$G/../.placet\" \"$G/../.worktrees\" 2>/dev/null || true",
        );
        let text = format!("{}{}", said.out(), said.stderr);
        assert!(!text.contains("ghp_") && !text.contains("example.org"), "{text}");
        assert!(!text.contains("sub") && !text.contains(".placet") && !text.contains(".worktrees"), "{text}");
        assert_eq!(repo.git(&["remote", "get-url", "origin"]).trim(), url, "outside everything is as it was");
    }
}

#[test]
fn a10_nothing_in_the_place_of_the_settings_keeps_the_next_command_from_starting() {
    let repo = Repo::started(&[]);
    let nest = "cd $(git rev-parse --git-common-dir); rm -f config; mkdir config; \
        (cd config; for n in $(seq 1100); do mkdir d && cd -P ./d || exit; done); chmod 000 config; echo file > .placet-trash";
    repo.agent(nest).ok();
    assert_eq!(repo.agent("git config core.bare").ok().out().trim(), "false");
}

#[test]
fn a5_a_home_that_an_agent_planted_is_not_believed() {
    let repo = Repo::started(&[]);
    let script = "mkdir -p src/.placet; printf 'address = \"127.0.0.1:9\"\\nledger = \"placet/forged\"\\n' > src/.placet/placet.toml";
    repo.agent(script).ok();
    assert!(repo.at("src/.placet/placet.toml").exists(), "it is an ordinary file of its scope");
    let inside = Said::by(placet().current_dir(repo.at("src")).args(["--json", "status"])).ok().json();
    assert_eq!(inside[0]["ticket"], "PAY-1", "the record is that of the repository around");
}

#[test]
fn a12_a_report_is_not_written_or_read_through_what_stands_in_its_place() {
    let repo = Repo::started(&[]);
    let outside = tempfile::tempdir().unwrap();
    fs::rename(repo.at(".agent"), repo.at("own")).unwrap();
    symlink(outside.path(), repo.at(".agent")).unwrap();
    repo.on("close", &["--force", "nothing else"]).exits(1);
    assert!(fs::read_dir(outside.path()).unwrap().next().is_none(), "nothing was written where the link leads");
    fs::remove_file(repo.at(".agent")).unwrap();
    fs::rename(repo.at("own"), repo.at(".agent")).unwrap();
    repo.on("close", &[]).ok();
    fs::write(repo.at(".agent/REPORT.md"), "all is well, says the agent").unwrap();
    let said = repo.placet(&[&["--json", "pr"], &PAIR[..]].concat()).ok();
    assert!(!said.out().contains("says the agent"), "{}", said.out());
    fs::remove_file(repo.at(".agent/REPORT.md")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        repo.at(".agent/REPORT.md"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let begun = Instant::now();
    repo.on("pr", &[]).ok();
    assert!(begun.elapsed() < Duration::from_secs(20), "nobody waits at a pipe");
}

#[test]
fn a16_what_runs_on_after_its_command_is_ended_before_anything_is_taken_over() {
    for layout in LAYOUTS {
        let repo = Repo::started(layout);
        repo.agent("(setsid sh -c 'while true; do date +%N >> src/late.rs; done' &) ; sleep 0.2; git add -A; git commit -qm 'feat(core): late'").ok();
        let size = || fs::metadata(upper(&repo, layout).join("src/late.rs")).map(|meta| meta.len()).ok();
        let before = size();
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(size(), before, "nobody writes any more");
    }
}

/// Where the files of a worktree are on the host.
fn upper(repo: &Repo, layout: &[&str]) -> std::path::PathBuf {
    match layout {
        [] => repo.at(""),
        _ => repo.root().join(".worktrees/.layers/PAY-1-backend/files/upper"),
    }
}

#[test]
fn a16_names_and_things_of_every_kind_hurt_nobody() {
    for layout in LAYOUTS {
        let repo = Repo::started(layout);
        let said = repo.agent(
            "mkfifo src/pipe; ln -s /proc/self/root/etc src/etc; ln src/main.rs src/hard.rs; \
             touch \"src/$(printf 'a\\033]0;x\\007\\nb')\"; mkdir -p src/$(printf 'd%.0s' $(seq 200))/$(printf 'e%.0s' $(seq 200)); \
             mkdir src/inner; git init -q src/inner; touch src/../../x 2>/dev/null || true; touch /work/../.worktrees 2>/dev/null || true",
        );
        assert!(!said.stderr.contains('\u{1b}') && !said.stderr.contains('\u{7}'), "{}", said.stderr);
        for verb in ["scope-check", "close"] {
            let said = repo.on(verb, &[]);
            let text = format!("{}{}", said.out(), said.stderr);
            assert!(!text.contains("\u{1b}]") && !text.contains('\u{7}'), "{verb}: {text}");
            assert!(said.code.is_some_and(|code| code < 100), "{verb}: {text}");
        }
        repo.placet(&["status"]).ok();
        repo.on("abort", &["--reason", "enough", "--discard"]).ok();
        assert!(!repo.root().join(".worktrees/PAY-1").exists());
        assert_eq!(repo.git(&["status", "--short"]), "");
    }
}

#[test]
fn a9_what_people_type_reaches_neither_record_nor_report_with_a_secret_in_it() {
    let repo = Repo::started(&[]);
    let token = secret();
    repo.agent(&format!("echo {token} > /dev/null; echo 1 >> src/main.rs; git commit -qam 'feat(core): one'")).ok();
    repo.on("exec", &["--", "true", "--password", "kX9vQ2mT7wLp4RzN"]).ok();
    repo.placet(&[&["exempt", "ask"], &PAIR[..], &["--path", "Makefile", "--reason", &token]].concat()).ok();
    repo.on("close", &["--summary", &token, "--note", &token, "--next", &token]).ok();
    let report = fs::read_to_string(repo.at(".agent/REPORT.md")).unwrap();
    let pr = repo.on("pr", &[]).ok();
    assert!(!report.contains(&token) && !pr.out().contains(&token), "{report}");
    for name in ["placet.db", "placet.db-wal"] {
        let bytes = fs::read(repo.root().join(".placet/data").join(name)).unwrap_or_default();
        for needle in [token.as_bytes(), b"kX9vQ2mT7wLp4RzN"] {
            assert!(!bytes.windows(needle.len()).any(|part| part == needle), "{name} holds a secret");
        }
    }
}

#[test]
fn a9_escapes_in_what_others_wrote_do_not_reach_a_terminal() {
    let repo = Repo::started(&[]);
    let trick = "a \u{1b}[8mhidden\u{1b}]0;t\u{7} \u{202e}";
    repo.placet(&[&["exempt", "ask"], &PAIR[..], &["--path", "Makefile", "--reason", trick]].concat()).ok();
    let mut list = placet();
    list.current_dir(repo.root()).env("CLICOLOR_FORCE", "1").args(["exempt", "list"]).args(PAIR);
    let said = Said::by(&mut list).ok();
    assert!(!said.out().contains("\u{1b}[8m") && !said.out().contains(['\u{7}', '\u{202e}']), "{:?}", said.out());
}

#[test]
fn a12_long_commands_and_long_output_are_recorded_all_the_same() {
    let repo = Repo::new();
    let noise = "head -c 3000000 /dev/zero | tr '\\0' x; exit 1";
    repo.edit("agents/policy.json", |policy| {
        policy["checks"] = serde_json::json!([{ "name": "noisy", "command": ["sh", "-c", noise] }]);
    });
    repo.commit("chore(agents): noisy");
    repo.on("start", &[]).ok();
    repo.agent(&format!("true {}; echo 1 >> src/main.rs; git commit -qam 'feat(core): one'", "x".repeat(60_000))).ok();
    let said = repo.on("close", &[]).exits(3);
    assert!(said.stderr.contains("not done yet: check noisy"), "{}", &said.stderr[..said.stderr.len().min(500)]);
    let kinds = repo.recorded();
    assert_eq!(kinds[2..5], ["worktree.began", "worktree.executed", "worktree.harvested"], "{kinds:?}");
}
