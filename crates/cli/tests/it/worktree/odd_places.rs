//! People, and the places and times they choose: each is answered with what is wrong and what to do, or it just works.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::time::Duration;

use super::repo::{PAIR, Repo};
use crate::support::{Process, Said, eventually, free_port, placet};

#[test]
fn a13_who_has_no_duty_for_it_runs_nothing() {
    let repo = Repo::started(&[]);
    repo.placet(&["identity", "add", "ada", "--role", "reviewer"]).ok();
    let said = repo.placet(&[&["--as", "ada", "exec"], &PAIR[..], &["--", "sh", "-c", "echo x > src/new.rs"]].concat());
    assert!(said.exits(3).stderr.contains("`execute`"));
    assert!(!repo.at("src/new.rs").exists());
    assert!(!repo.recorded().contains(&"worktree.executed".to_owned()));
}

#[test]
fn a1_a_repository_without_commits_or_without_its_base_is_told_what_is_missing() {
    let repo = Repo::new();
    repo.edit("agents/policy.json", |policy| policy["baseBranch"] = "trunk".into());
    let said = repo.on("start", &[]);
    assert!(said.stderr.contains("`trunk`"), "{}", said.stderr);
    assert!(!repo.root().join(".worktrees/PAY-1").exists());
    let empty = tempfile::tempdir().unwrap();
    repo.git_in(empty.path(), &["init", "-q", "-b", "main"]);
    let address = format!("127.0.0.1:{}", free_port());
    Said::by(placet().current_dir(empty.path()).args(["init", "--address", &address])).ok();
    let said = Said::by(placet().current_dir(empty.path()).arg("start").args(PAIR));
    assert!(matches!(said.code, Some(1 | 2)), "{}", said.stderr);
    assert!(said.stderr.contains("`main`"), "{}", said.stderr);
    assert!(!empty.path().join(".worktrees/PAY-1").exists());
}

#[test]
fn a1_it_works_from_below_from_a_worktree_and_without_a_branch() {
    let repo = Repo::new();
    repo.git(&["checkout", "-q", "--detach"]);
    Said::by(placet().current_dir(repo.root().join("src")).arg("start").args(PAIR)).ok();
    let script = "echo 1 >> src/main.rs; git commit -qam 'feat(core): one'";
    Said::by(placet().current_dir(repo.at("src")).arg("exec").args(PAIR).args(["--", "sh", "-ec", script])).ok();
    Said::by(placet().current_dir(repo.at("")).arg("close").args(PAIR)).ok();
}

#[test]
fn a1_without_a_home_or_a_repository_it_is_said_how_to_get_one() {
    let nowhere = tempfile::tempdir().unwrap();
    for verb in ["start", "prompt", "scope-check", "close", "handoff", "pr", "adopt"] {
        let said = Said::by(placet().current_dir(nowhere.path()).arg(verb).args(PAIR)).exits(2);
        assert!(said.stderr.contains("repository"), "{verb}: {}", said.stderr);
    }
    let repo = Repo::new();
    fs::rename(repo.root().join(".placet"), nowhere.path().join("home")).unwrap();
    let said = repo.on("start", &[]).exits(10);
    assert!(said.stderr.contains("placet init"), "{}", said.stderr);
    assert!(!repo.root().join(".worktrees/PAY-1").exists());
}

#[test]
fn a1_wrong_names_are_answered_with_what_a_right_one_looks_like() {
    let repo = Repo::new();
    for (args, named) in [
        (["start", "--agent", "backend", "--ticket", "PAY"], "PAY-123"),
        (["start", "--agent", "../x", "--ticket", "PAY-1"], "../x"),
        (["exec", "--agent", "backend", "--ticket", "a/b"], "PAY-123"),
        (["close", "--agent", "Back End", "--ticket", "PAY-1"], "lowercase"),
    ] {
        let more: &[&str] = if args[0] == "exec" { &["--", "true"] } else { &[] };
        let said = repo.placet(&[&args[..], more].concat()).exits(2);
        assert!(said.stderr.contains(named), "{args:?}: {}", said.stderr);
    }
    for verb in ["scope-check", "close", "handoff", "pr", "adopt"] {
        let said = repo.on(verb, &[]).exits(10);
        assert!(said.stderr.contains("placet start --agent backend --ticket PAY-1"), "{verb}: {}", said.stderr);
    }
}

#[test]
fn a5_what_counts_is_what_was_recorded_when_it_was_opened() {
    let repo = Repo::started(&[]);
    repo.edit("agents/profiles/backend_agent.json", |profile| {
        profile["scope"]["allow"] = serde_json::json!(["docs/**"])
    });
    repo.commit("chore(agents): another scope");
    let said =
        repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'; echo x >> docs/guide.md || echo KEPT");
    assert_eq!(said.ok().out(), "KEPT\n");
    repo.on("close", &[]).ok();
}

#[test]
fn a3_an_agent_that_left_the_team_works_no_more_but_its_worktree_can_be_given_up() {
    let repo = Repo::started(&[]);
    repo.edit("agents/agents_registry.json", |registry| {
        let agents = registry["agents"].as_array_mut().unwrap();
        agents.retain(|agent| agent["name"] != "backend");
    });
    fs::remove_file(repo.root().join("agents/profiles/backend_agent.json")).unwrap();
    let said = repo.agent("true");
    assert!(said.stderr.contains("backend"), "{}", said.stderr);
    assert_ne!(said.code, Some(0));
    repo.placet(&["status"]).ok();
    repo.on("abort", &["--reason", "it left"]).ok();
}

#[test]
fn a1_everything_that_was_removed_by_hand_is_made_again_with_its_commits() {
    for layout in [&[][..], &["--overlay"]] {
        let repo = Repo::started(layout);
        repo.agent("echo '// one' >> src/main.rs; git commit -qam 'feat(core): one'").ok();
        fs::remove_dir_all(repo.root().join(".worktrees")).unwrap();
        fs::remove_dir_all(repo.root().join(".git/worktrees")).unwrap();
        repo.edit("agents/profiles/backend_agent.json", |profile| {
            profile["scope"]["allow"] = serde_json::json!(["docs/**"]);
        });
        repo.on("adopt", &[]).ok();
        assert_eq!(repo.agent("grep -c one src/main.rs; grep -c 'src/' .agent/manifest.json").ok().out(), "1\n1\n");
        assert_eq!(repo.findings(), Vec::<String>::new(), "{layout:?}");
        repo.on("abort", &["--reason", "enough"]).ok();
        assert_eq!(repo.git(&["rev-list", "--count", "main..feat/PAY-1-backend"]).trim(), "1", "commits stay");
    }
}

/// Where the control plane of a repository would listen.
fn address_of(repo: &Repo) -> String {
    let settings = fs::read_to_string(repo.root().join(".placet/placet.toml")).unwrap();
    settings.split('"').nth(1).unwrap().to_owned()
}

#[test]
fn a13_a_stranger_who_listens_where_no_control_plane_runs_is_told_nothing() {
    let repo = Repo::new();
    let stranger = TcpListener::bind(address_of(&repo)).unwrap();
    stranger.set_nonblocking(true).unwrap();
    repo.on("start", &[]).ok();
    // Some of them find the store in use, by the others.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| repo.on("scope-check", &[]).ok());
        }
    });
    repo.on("close", &[]).ok();
    assert!(stranger.accept().is_err(), "no token goes to whoever took the port");
}

#[test]
fn a1_it_works_beside_a_control_plane_and_after_it() {
    let repo = Repo::new();
    let address = address_of(&repo);
    let serving = Process::start(placet().current_dir(repo.root()).arg("serve"));
    eventually("it listens", Duration::from_secs(60), || TcpStream::connect(&address).is_ok());
    repo.on("start", &[]).ok();
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    serving.kill();
    repo.on("close", &[]).ok();
    assert!(repo.recorded().ends_with(&["worktree.closed".to_owned()]));
}

#[test]
fn a1_a_control_plane_at_another_address_than_the_settings_say_is_found() {
    let repo = Repo::new();
    let address = format!("127.0.0.1:{}", free_port());
    let _serving = Process::start(placet().current_dir(repo.root()).args(["serve", "--address", &address]));
    eventually("it listens", Duration::from_secs(60), || TcpStream::connect(&address).is_ok());
    repo.on("start", &[]).ok();
    repo.on("close", &[]).ok();
    assert!(repo.recorded().ends_with(&["worktree.closed".to_owned()]));
}

#[test]
fn a1_a_repository_with_spaces_and_letters_of_any_language_in_its_path_is_one_like_others() {
    let repo = Repo::named("a répo mit ß, 日本 & 'quotes'");
    for layout in [&[][..], &["--overlay"]] {
        repo.on("start", layout).ok();
        repo.agent("git status --short; echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
        repo.on("close", &[]).ok();
        repo.placet(&["gc", "--remove"]).ok();
        repo.git(&["branch", "-D", "feat/PAY-1-backend"]);
    }
}
