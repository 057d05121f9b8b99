//! The kernel keeps the manifest: what an agent must not change, it cannot.

use super::repo::Repo;
use crate::support::names_in;

/// Both ways a worktree can lie on disk.
const LAYOUTS: [&[&str]; 2] = [&[], &["--overlay"]];

#[test]
fn a7_out_of_scope_and_protected_paths_are_read_only_in_the_cage() {
    for layout in LAYOUTS {
        let repo = Repo::started(layout);
        let said = repo.agent(
            "for f in Makefile docs/guide.md new.txt docs/new.md .github/workflows/ci.yml .gitignore agents/policy.json \
             .agent/manifest.json .agent/x .vscode/tasks.json .git; do \
             (echo x >> $f) 2>/dev/null && echo WROTE $f; done; \
             (mv docs d2) 2>/dev/null && echo MOVED; (rm Makefile) 2>/dev/null && echo REMOVED; echo x > src/new.rs",
        );
        assert_eq!(said.ok().out(), "", "{layout:?}");
        assert_eq!(repo.findings(), Vec::<String>::new(), "{layout:?}");
        assert_eq!(repo.git(&["status", "--short"]), "", "the main checkout is as it was");
    }
}

#[test]
fn a7_what_was_worked_out_for_one_command_holds_for_the_next_and_is_never_believed_in_part() {
    let repo = Repo::started(&[]);
    let kept = || names_in(&repo.layers()).into_iter().filter(|name| name.starts_with("kept-")).collect::<Vec<_>>();
    let script = "(echo x >> docs/guide.md) 2>/dev/null && echo WROTE; echo x > src/new.rs";
    assert_eq!(repo.agent(script).ok().out(), "");
    let [note] = &kept()[..] else { panic!("{:?}", kept()) };
    let whole = std::fs::read(repo.layers().join(note)).unwrap();
    assert_eq!(repo.agent(script).ok().out(), "");
    let last = whole.len() - 1;
    let before_the_last_rule = whole[..last].iter().rposition(|byte| *byte == 0).expect("several rules") + 1;
    for damage in [&b""[..], b"w", b"w\0docs\0", &whole[..last], &whole[..before_the_last_rule], &vec![0; last]] {
        std::fs::write(repo.layers().join(note), damage).unwrap();
        assert_eq!(repo.agent(script).ok().out(), "", "{damage:?}");
        assert_eq!(std::fs::read(repo.layers().join(note)).unwrap(), whole, "worked out again");
    }
}

#[test]
fn a7_git_works_in_the_cage_and_commits_come_out() {
    for layout in LAYOUTS {
        let repo = Repo::started(layout);
        repo.agent("git status --short | grep . && exit 1; echo '// x' >> src/main.rs; git add -A; git commit -qm 'feat(core): x'").ok();
        let log = repo.git(&["log", "--format=%s %ae", "main..feat/PAY-1-backend"]);
        assert_eq!(log.trim(), "feat(core): x backend@agents.invalid", "{layout:?}");
        repo.agent("echo '// y' >> src/main.rs; git commit -qam 'fix(core): y'").ok();
        assert_eq!(repo.git(&["rev-list", "--count", "main..feat/PAY-1-backend"]).trim(), "2", "{layout:?}");
        assert_eq!(repo.findings(), Vec::<String>::new());
    }
}

#[test]
fn a7_what_git_is_told_in_the_cage_never_reaches_the_repository() {
    let repo = Repo::started(&[]);
    let canary = repo.root().join("canary");
    let script = format!(
        "G=$(git rev-parse --git-common-dir); git config core.fsmonitor 'touch {0}'; git config core.hooksPath /work/src; \
         printf '#!/bin/sh\\ntouch {0}\\n' > $G/hooks/post-checkout; chmod +x $G/hooks/post-checkout; \
         git update-ref refs/heads/main HEAD~1 || true; rm -rf $G/packed-refs; echo 1 >> src/main.rs; git commit -qam 'feat(core): trap'",
        canary.display()
    );
    let main = repo.git(&["rev-parse", "main"]);
    repo.agent(&script).ok();
    assert_eq!(repo.git(&["rev-parse", "main"]), main);
    assert_eq!(repo.git(&["config", "--get", "--default", "none", "core.fsmonitor"]).trim(), "none");
    repo.on("scope-check", &[]).ok();
    repo.git(&["status", "--short"]);
    assert!(!canary.exists());
}

#[test]
fn a10_homes_keys_and_network_do_not_exist_inside() {
    let repo = Repo::started(&[]);
    let said = repo.agent(
        "ls -d ~/.ssh ~/.gnupg ~/.aws ~/.config/gcloud ~/.kube /root/.ssh .placet ../.placet 2>/dev/null || true; \
         env | grep -E 'TOKEN|SECRET|SSH_AUTH|PLACET' || true; grep -vE 'Inter|face|lo:' /proc/net/dev || true; id -u",
    );
    assert_eq!(said.ok().out(), "1000\n");
}

#[test]
fn a9_an_environment_file_is_hidden_and_a_new_one_is_refused() {
    let repo = Repo::started(&[]);
    std::fs::write(repo.at("src/.env.local"), "KEY=1\n").unwrap();
    let said = repo.agent("cat src/.env.local 2>/dev/null || true; cat src/.env.local | wc -c || true");
    assert!(!said.out().contains("KEY"), "{}", said.out());
    assert!(repo.findings().contains(&"src/.env.local: env_file".to_owned()), "{:?}", repo.findings());
}

#[test]
fn what_cannot_be_said_in_mounts_is_refused_when_it_is_taken_over() {
    let repo = Repo::new();
    repo.edit("agents/profiles/backend_agent.json", |profile| {
        profile["scope"]["allow"] = serde_json::json!(["src/*.rs"]);
    });
    repo.commit("chore(agents): only rust");
    repo.on("start", &[]).ok();
    let said = repo.agent("echo x > src/notes.txt; echo 1 >> src/main.rs");
    assert!(said.exits(3).stderr.contains("src/notes.txt"), "the kernel could not tell, the gate can");
    assert!(!repo.at("src/notes.txt").exists());
    repo.agent("rm src/notes.txt").ok();
    assert_eq!(repo.findings(), Vec::<String>::new(), "put right, the rest is taken over");
    assert!(std::fs::read_to_string(repo.at("src/main.rs")).unwrap().contains('1'));
}

#[test]
fn variables_and_ports_are_those_the_team_declared() {
    let repo = Repo::new();
    repo.edit("agents/policy.json", |policy| {
        policy["ports"] = serde_json::json!({ "first": 21000, "perWorktree": 10, "names": ["HTTP_PORT", "DB_PORT"] });
        policy["setup"] = serde_json::json!({ "environment": { "set": { "MODE": "test" } } });
    });
    repo.commit("chore(agents): ports");
    repo.on("start", &[]).ok();
    repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-1"]).ok();
    let one = repo.agent("echo $MODE $HTTP_PORT $DB_PORT").ok();
    let other =
        repo.placet(&["exec", "--agent", "docs", "--ticket", "PAY-1", "--", "sh", "-c", "echo $HTTP_PORT"]).ok();
    assert_eq!((one.out(), other.out()), ("test 21000 21001\n", "21010\n"));
    assert_eq!(repo.agent("echo $HTTP_PORT").ok().out(), "21000\n", "the numbers stay");
}
