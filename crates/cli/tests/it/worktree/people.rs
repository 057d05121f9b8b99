//! Who may do what: duties, exemptions, notices.

use super::repo::{PAIR, Repo};

/// A repository with a reviewer besides the admin.
pub(super) fn with_ada(repo: Repo) -> Repo {
    repo.placet(&["identity", "add", "ada", "--role", "reviewer"]).ok();
    repo
}

#[test]
fn a13_only_the_accountable_decide_and_the_informed_are_told() {
    let repo = with_ada(Repo::new());
    repo.edit("agents/raci.json", |raci| {
        raci["close"]["accountable"] = serde_json::json!(["ada"]);
        raci["close"]["informed"] = serde_json::json!(["admin"]);
        raci["start"]["informed"] = serde_json::json!(["ada"]);
    });
    repo.commit("chore(agents): duties");
    let shown = repo.placet(&["duties", "show"]).ok();
    assert!(shown.stderr.contains("placet duties apply"), "a file is a wish until it is applied: {}", shown.stderr);
    repo.placet(&["duties", "apply"]).ok();
    repo.on("start", &[]).ok();
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    let refused = repo.on("close", &[]).exits(3);
    assert!(refused.stderr.contains("`close`: ada"), "{}", refused.stderr);
    // Closing runs the scope-check itself, so the accountable person needs no other duty.
    repo.placet(&[&["--as", "ada", "close"], &PAIR[..]].concat()).ok();
    let told = |who: &str| repo.placet(&["--as", who, "notices"]).ok().out().to_owned();
    assert!(told("ada").contains("worktree.opening") && !told("ada").contains("worktree.closed"));
    assert!(told("admin").contains("worktree.closed"));
}

#[test]
fn a6_an_exemption_is_asked_for_granted_by_somebody_else_and_then_the_kernel_lets_it_through() {
    let repo = with_ada(Repo::new());
    repo.edit("agents/profiles/backend_agent.json", |profile| {
        profile["scope"]["allow"] = serde_json::json!(["src/**", "Makefile"]);
    });
    repo.commit("chore(agents): wider");
    repo.on("start", &[]).ok();
    assert_ne!(repo.agent("echo x >> Makefile").code, Some(0), "protected, although in scope");
    repo.placet(&[&["exempt", "ask"], &PAIR[..], &["--path", "Makefile", "--reason", "a target"]].concat()).ok();
    assert_ne!(repo.agent("echo x >> Makefile").code, Some(0), "asking is not having");
    repo.placet(&[&["exempt", "grant"], &PAIR[..], &["0"]].concat()).exits(3);
    repo.placet(&[&["--as", "ada", "exempt", "grant"], &PAIR[..], &["0"]].concat()).ok();
    repo.agent("echo '# x' >> Makefile; git commit -qam 'chore(make): target'").ok();
    assert_eq!(repo.findings(), Vec::<String>::new());
    assert!(repo.recorded().contains(&"worktree.exemption_granted".to_owned()));
}

#[test]
fn consulted_people_answer_and_the_decision_shows_it() {
    let repo = with_ada(Repo::new());
    repo.edit("agents/raci.json", |raci| {
        raci["close"]["consulted"] = serde_json::json!(["ada"]);
        raci["merge"]["consulted"] = serde_json::json!(["admin"]);
    });
    repo.commit("chore(agents): duties");
    repo.placet(&["duties", "apply"]).ok();
    repo.on("start", &[]).ok();
    let notices = repo.placet(&["--as", "ada", "notices"]).ok();
    assert!(notices.out().contains("consulted on close"), "{}", notices.out());
    let advise = |who: &str, on: &str| {
        let said = ["--on", on, "--say", "wait for PAY-2"];
        repo.placet(&[&["--as", who, "duties", "advise"], &PAIR[..], &said].concat())
    };
    advise("admin", "close").exits(3);
    advise("ada", "close").ok();
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    let closed = repo.on("close", &[]).ok();
    assert!(closed.stderr.contains("consulted ada: ada says: wait for PAY-2"), "{}", closed.stderr);
    let merged = repo.placet(&[&["--as", "ada", "merge"], &PAIR[..]].concat()).ok();
    assert!(merged.stderr.contains("consulted admin: has not answered"), "{}", merged.stderr);
}

#[test]
fn granted_exemption_appears_in_the_prompt() {
    let repo = with_ada(Repo::started(&[]));
    let prompt = || repo.on("prompt", &[]).ok().out().to_owned();
    let said = "A person has lifted the protection of these";
    repo.placet(&[&["exempt", "ask"], &PAIR[..], &["--path", "Makefile", "--reason", "a target"]].concat()).ok();
    assert!(!prompt().contains(said), "asking is not having");
    repo.placet(&[&["--as", "ada", "exempt", "grant"], &PAIR[..], &["0"]].concat()).ok();
    let shown = prompt();
    let lifted = shown.split_once(said).map(|(_, rest)| rest.lines().take(4).any(|line| line == "- `Makefile`"));
    assert_eq!(lifted, Some(true), "{shown}");
}

#[test]
fn own_hooks_named_by_included_settings_run() {
    let repo = Repo::started(&[]);
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).display().to_string();
    std::fs::create_dir(at("hooks")).unwrap();
    std::fs::write(at("hooks/pre-commit"), format!("#!/bin/sh\ntouch {}\n", at("ran"))).unwrap();
    std::fs::set_permissions(at("hooks/pre-commit"), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(at("included"), format!("[core]\n\thooksPath = {}\n", at("hooks"))).unwrap();
    std::fs::write(at("main"), format!("[include]\n\tpath = {}\n", at("included"))).unwrap();
    for (global, system) in [(at("main"), "/dev/null".to_owned()), ("/dev/null".to_owned(), at("main"))] {
        let mut git = crate::support::clean(std::process::Command::new("git"));
        git.current_dir(repo.at("")).env("GIT_CONFIG_GLOBAL", global).env("GIT_CONFIG_SYSTEM", system);
        git.args(["commit", "-q", "--allow-empty", "-m", "feat(core): none"]);
        crate::support::Said::by(&mut git).ok();
        std::fs::remove_file(at("ran")).expect("the person's own hook ran");
    }
}

#[test]
fn commit_message_of_a_person_in_a_plain_worktree_is_checked() {
    let repo = Repo::started(&[]);
    let commit = |message: &str| {
        let mut git = crate::support::clean(std::process::Command::new("git"));
        git.current_dir(repo.at("")).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        crate::support::Said::by(git.args(["commit", "-qam", message]))
    };
    // Hooks in the agent's tree are not run; hooks of the repository are.
    repo.write(".git/hooks/pre-commit", "#!/bin/sh\ntouch \"$(git rev-parse --git-common-dir)/ran\"\n");
    let hook = repo.root().join(".git/hooks/pre-commit");
    std::fs::set_permissions(hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::write(repo.at("src/main.rs"), "fn main() { one() }\n").unwrap();
    let refused = commit("no form at all");
    assert!(refused.code != Some(0) && refused.stderr.contains("commit message refused"), "{}", refused.stderr);
    commit("feat(core): one").ok();
    assert!(repo.root().join(".git/ran").exists(), "the person's own hooks run as before");
    assert_eq!(repo.findings(), Vec::<String>::new());
    // The agent cannot change that hook, and deleting it in the cage does no harm.
    repo.agent("d=$(git rev-parse --git-dir); rm -rf $d/hooks $d/config.worktree; echo 2 >> src/main.rs; git commit -qam 'feat(core): two'").ok();
    std::fs::write(repo.at("src/main.rs"), "fn main() { three() }\n").unwrap();
    assert_ne!(commit("no form at all").code, Some(0));
    // The main checkout is unchanged.
    repo.write("docs/guide.md", "# Other\n");
    repo.git(&["commit", "-qam", "no form at all"]);
}

#[test]
fn a16_an_agent_that_edits_ci_is_stopped_three_times() {
    let repo = Repo::started(&[]);
    let said = repo.agent("echo evil >> .github/workflows/ci.yml");
    assert!(said.stderr.contains("Read-only file system"), "the kernel: {}", said.stderr);
    // Nobody can write it in the cage, but objects can be made without files.
    let plumbing = "T=$(git ls-tree HEAD | sed 's/[0-9a-f]\\{40\\}\\tMakefile/'$(echo evil | git hash-object -w --stdin)'\\tMakefile/' | git mktree); \
                    C=$(git commit-tree -p HEAD -m 'feat(ci): evil' $T); git update-ref HEAD $C";
    let said = repo.agent(plumbing);
    assert!(said.exits(3).stderr.contains("Makefile"), "the harvest");
    assert_eq!(repo.git(&["rev-parse", "feat/PAY-1-backend"]), repo.git(&["rev-parse", "main"]));
    std::fs::write(repo.at("Makefile"), "evil").unwrap();
    assert_eq!(repo.findings(), ["Makefile: protected"], "the check");
    repo.on("close", &[]).exits(3);
}
