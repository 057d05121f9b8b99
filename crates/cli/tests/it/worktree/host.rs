//! HOST: what a repository can request of the person's machine, and how the person allows it.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use placet_testkit::is_long;
use serde_json::{Value, json};

use super::repo::{PAIR, Repo};
use crate::support::{Process, Said, clean, eventually, placet};

const CANARY: &str = "canary-6c1f";

/// Creates a repository with this setup request, which is not trusted yet.
fn asking(setup: &Value) -> Repo {
    let repo = Repo::new();
    ask(&repo, setup);
    repo
}

fn ask(repo: &Repo, setup: &Value) {
    repo.edit("agents/policy.json", |policy| policy["setup"] = setup.clone());
    repo.commit("chore(agents): setup");
}

fn cache(from: &Path, how: &str) -> Value {
    let to = if how == "readOnly" { "/opt/s" } else { "stolen" };
    json!({ "caches": [{ "from": from, "to": to, "how": how }] })
}

/// Runs as a person whose home is below the repository's person directory.
fn at_home(repo: &Repo, args: &[&str]) -> Said {
    Said::by(repo.command(args).env("HOME", repo.person("home")))
}

fn start_at_home(repo: &Repo) -> Said {
    at_home(repo, &[&["start"], &PAIR[..]].concat())
}

/// Creates a home with a secret in each of these places.
fn home_with_secrets(repo: &Repo, places: &[&str]) {
    for place in places {
        let at = repo.person("home").join(place);
        fs::create_dir_all(&at).unwrap();
        fs::write(at.join("secret"), CANARY).unwrap();
    }
}

#[test]
fn cache_that_leads_to_a_secret_is_refused() {
    let repo = Repo::new();
    let places = [".ssh", ".claude", ".codex", ".gemini", ".mozilla", ".aws", ".config/op", "snap"];
    home_with_secrets(&repo, &places);
    let home = repo.person("home");
    symlink(home.join(".ssh"), home.join("packages")).unwrap();
    fs::create_dir_all(home.join("cache")).unwrap();
    symlink("../.ssh", home.join("cache/inner")).unwrap();
    // The person's settings allow far too much; a secret is refused all the same.
    repo.allow_caches(&[repo.person("").as_path(), repo.root()]);
    let inside = places.iter().map(|place| home.join(place));
    let more = [home.clone(), home.join("packages"), home.join("cache/inner"), repo.person("")];
    let of_placet = [".placet", ".placet/keys", ".placet/tokens", ".git"].map(|place| repo.root().join(place));
    for (number, from) in inside.chain(more).chain(of_placet).enumerate() {
        let both = ["readOnly", "hardlink"];
        for how in if is_long() { &both[..] } else { &both[number % 2..][..1] } {
            ask(&repo, &cache(&from, how));
            let said = start_at_home(&repo).exits(3);
            assert!(said.stderr.contains("agents/policy.json"), "{}: {}", from.display(), said.stderr);
            let trusted = at_home(&repo, &["trust", "--digest", &format!("sha256:{}", "0".repeat(64))]).exits(3);
            assert!(trusted.stderr.contains("agents/policy.json"), "{}: {}", from.display(), trusted.stderr);
            assert_eq!(repo.recorded(), Vec::<String>::new(), "nothing is begun");
        }
    }
}

#[test]
fn cache_outside_the_cache_roots_is_refused() {
    let shown = tempfile::tempdir().unwrap();
    fs::write(shown.path().join("dep.txt"), "shown\n").unwrap();
    let repo = asking(&cache(shown.path(), "readOnly"));
    let said = repo.on("start", &[]).exits(3);
    assert!(said.stderr.contains("cache_roots") && said.stderr.contains("settings.toml"), "{}", said.stderr);
    repo.allow_caches(&[shown.path()]);
    repo.trust();
    repo.on("start", &[]).ok();
    assert_eq!(repo.agent("cat /opt/s/dep.txt").ok().out(), "shown\n");
    // The cache is replaced by a link that leads elsewhere.
    let moved = shown.path().with_extension("moved");
    fs::rename(shown.path(), &moved).unwrap();
    symlink("/etc", shown.path()).unwrap();
    let said = repo.agent("ls /opt/s").exits(3);
    fs::remove_file(shown.path()).unwrap();
    fs::rename(&moved, shown.path()).unwrap();
    assert!(said.stderr.contains("leads to `/etc`"), "{}", said.stderr);
}

#[test]
fn cache_that_others_can_replace_is_refused() {
    let shown = tempfile::tempdir().unwrap();
    fs::create_dir_all(shown.path().join("open/cache")).unwrap();
    fs::set_permissions(shown.path().join("open"), fs::Permissions::from_mode(0o777)).unwrap();
    let repo = asking(&cache(&shown.path().join("open/cache"), "readOnly"));
    repo.allow_caches(&[shown.path()]);
    let said = repo.on("start", &[]).exits(3);
    assert!(said.stderr.contains("others can change"), "{}", said.stderr);
}

#[test]
fn cache_in_another_repository_is_refused() {
    let (work, repo) = (tempfile::tempdir().unwrap(), Repo::new());
    fs::create_dir_all(work.path().join("other/.git")).unwrap();
    fs::create_dir_all(work.path().join("other/node_modules")).unwrap();
    ask(&repo, &cache(&work.path().join("other/node_modules"), "hardlink"));
    repo.allow_caches(&[work.path()]);
    let said = repo.on("start", &[]).exits(3);
    assert!(said.stderr.contains("belongs to the repository"), "{}", said.stderr);
    repo.allow_caches(&[&work.path().join("other/node_modules")]);
    repo.trust();
    repo.on("start", &[]).ok();
}

fn generating(word: &str) -> Value {
    json!({ "generate": [{ "name": "made", "command": ["sh", "-c", format!("echo {word} > made.log")] }] })
}

#[test]
fn untrusted_setup_is_refused_until_it_is_trusted() {
    let repo = asking(&generating("one"));
    let said = repo.on("start", &[]).exits(3);
    assert!(said.stderr.contains("echo one > made.log"), "it is shown: {}", said.stderr);
    assert!(said.stderr.contains("placet trust --digest sha256:"), "{}", said.stderr);
    assert_eq!(repo.recorded(), Vec::<String>::new());
    repo.placet(&["trust"]).exits(3);
    repo.placet(&["trust", "--digest", &format!("sha256:{}", "0".repeat(64))]).exits(9);
    repo.on("start", &[]).exits(3);
    repo.trust();
    repo.on("start", &[]).ok();
    assert_eq!(repo.placet(&["--json", "trust", "--show"]).ok().json()["trusted"], true);
}

#[test]
fn changed_setup_is_no_longer_trusted() {
    let repo = asking(&generating("one"));
    repo.trust();
    repo.on("start", &[]).ok();
    repo.agent("echo 1 >> src/main.rs; git commit -qam 'feat(core): one'").ok();
    ask(&repo, &generating("two"));
    for verb in ["close", "adopt"] {
        let said = repo.on(verb, &[]).exits(3);
        assert!(said.stderr.contains("echo two > made.log"), "{verb}: {}", said.stderr);
    }
    let said = repo.agent("true").exits(3);
    assert!(said.stderr.contains("placet trust"), "{}", said.stderr);
    repo.on("shell", &[]).exits(3);
    ask(&repo, &generating("one"));
    repo.on("close", &[]).ok();
    assert_eq!(repo.placet(&["--json", "trust", "--revoke"]).ok().json()["trusted"], false);
    repo.placet(&["start", "--agent", "docs", "--ticket", "PAY-1"]).exits(3);
    repo.placet(&[&["handoff"], &PAIR[..], &["--to", "docs"]].concat()).exits(3);
}

#[test]
fn trust_of_one_repository_is_not_another_s() {
    let (one, other) = (asking(&generating("one")), asking(&generating("one")));
    one.trust();
    let start = [&["start"], &PAIR[..]].concat();
    let mut command = other.command(&start);
    Said::by(command.envs(one.person_variables())).exits(3);
    // Trust that other users could have written is ignored.
    let trusted = one.person("state/placet/trusted");
    fs::set_permissions(&trusted, fs::Permissions::from_mode(0o777)).unwrap();
    one.on("start", &[]).exits(3);
    fs::set_permissions(&trusted, fs::Permissions::from_mode(0o700)).unwrap();
    one.on("start", &[]).ok();
}

#[test]
fn trust_and_settings_in_the_repository_count_for_nothing() {
    let repo = asking(&generating("one"));
    repo.trust();
    let shipped = repo.root().join("shipped");
    let copied = Command::new("cp").arg("-a").arg(repo.person("")).arg(&shipped).status().unwrap();
    assert!(copied.success());
    let start = [&["start"], &PAIR[..]].concat();
    let mut command = repo.command(&start);
    let said = Said::by(command.env("XDG_STATE_HOME", shipped.join("state"))).exits(3);
    assert!(said.stderr.contains("lies in the repository"), "{}", said.stderr);
}

#[test]
fn agent_in_a_cage_cannot_trust_a_setup() {
    // The test copies the program into the cage, because a cage does not show it by default.
    let program = tempfile::tempdir().unwrap();
    fs::copy(placet().get_program(), program.path().join("placet")).unwrap();
    let repo = asking(&cache(program.path(), "readOnly"));
    repo.allow_caches(&[program.path()]);
    repo.trust();
    repo.on("start", &[]).ok();
    let mut more = cache(program.path(), "readOnly");
    more["generate"] = generating("two")["generate"].clone();
    ask(&repo, &more);
    let digest = repo.placet(&["--json", "trust", "--show"]).ok().json()["digest"].clone();
    ask(&repo, &cache(program.path(), "readOnly"));
    let state = repo.person("state").display().to_string();
    let script = format!(
        "export XDG_STATE_HOME={state}; /opt/s/placet trust --digest {} || /opt/s/placet --version",
        digest.as_str().unwrap()
    );
    assert!(repo.agent(&script).out().contains("placet"), "the program runs there");
    ask(&repo, &more);
    repo.agent("true").exits(3);
}

#[test]
fn variable_is_passed_only_by_the_persons_list() {
    let repo = Repo::new();
    let show = |repo: &Repo, name: &str| {
        let script = format!("echo ${name}");
        let exec = [&["exec"], &PAIR[..], &["--", "sh", "-c", &script]].concat();
        Said::by(repo.command(&exec).env(name, CANARY))
    };
    repo.on("start", &[]).ok();
    for name in ["DATABASE_URL", "GITHUB_PAT", "MYSQL_PWD", "JWT"] {
        ask(&repo, &json!({ "environment": { "pass": [name] } }));
        let said = show(&repo, name).exits(3);
        assert!(said.stderr.contains("pass_variables") && !said.out().contains(CANARY), "{name}: {}", said.stderr);
    }
    repo.settings("pass_variables = [\"JWT\"]\n");
    repo.trust();
    assert_eq!(show(&repo, "JWT").ok().out().trim(), CANARY);
    ask(&repo, &json!({ "environment": { "pass": ["LANG"] } }));
    repo.trust();
    assert_eq!(show(&repo, "LANG").ok().out().trim(), CANARY, "a harmless one needs no setting");
}

#[test]
fn settings_with_a_mistake_are_refused() {
    let repo = asking(&generating("one"));
    for (text, part) in [("cache_rotos = []\n", "cache_rotos"), ("cache_roots = [\"caches\"]\n", "absolute")] {
        repo.settings(text);
        let said = repo.on("start", &[]).exits(2);
        assert!(said.stderr.contains(part) && said.stderr.contains("settings.toml"), "{}", said.stderr);
    }
    repo.settings("");
    fs::set_permissions(repo.person("config/placet/settings.toml"), fs::Permissions::from_mode(0o666)).unwrap();
    repo.on("start", &[]).exits(2);
}

/// Runs `start` at a terminal, answers the question if asked, and returns the terminal's output.
fn started_at_a_terminal(repo: &Repo, answer: Option<&str>) -> String {
    let patience = Duration::from_secs(60);
    let (log, script) = (repo.person("screen.log"), format!("\"$PLACET\" start {}; echo \"ended $?\"", PAIR.join(" ")));
    let mut command = clean(Command::new("script"));
    command.current_dir(repo.root()).env("PLACET", placet().get_program()).env("TERM", "xterm-256color");
    command.envs(repo.person_variables()).env("SHELL", "/bin/sh").args(["-qfec", &script]).arg(&log);
    // Removes the output of an earlier process, so that its question is not found.
    let _ = fs::remove_file(&log);
    let mut process = Process::start(&mut command);
    let screen = || String::from_utf8_lossy(&fs::read(&log).unwrap_or_default()).into_owned();
    if let Some(answer) = answer {
        // Waits for the question, because earlier input is discarded.
        eventually("it asks", patience, || screen().contains("[y/N]"));
        process.type_in(answer);
    }
    process.wait(patience);
    screen()
}

#[test]
fn person_at_a_terminal_is_asked_once() {
    let repo = asking(&generating("one"));
    let refused = started_at_a_terminal(&repo, Some("n\n"));
    assert!(refused.contains("echo one > made.log") && refused.contains("ended 5"), "{refused}");
    assert_eq!(repo.recorded(), Vec::<String>::new());
    let agreed = started_at_a_terminal(&repo, Some("yes\n"));
    assert!(agreed.contains("ended 0"), "{agreed}");
    repo.on("abort", &["--reason", "again"]).ok();
    let again = started_at_a_terminal(&repo, None);
    assert!(again.contains("ended 0") && !again.contains("[y/N]"), "{again}");
}

#[test]
fn home_that_a_repository_ships_is_not_used() {
    let repo = Repo::new();
    repo.git(&["add", "-f", ".placet/placet.toml"]);
    repo.git(&["commit", "-q", "-m", "chore(repo): a home"]);
    for args in [&["status"][..], &["init"], &["notices"]] {
        let said = repo.placet(args).exits(3);
        assert!(said.stderr.contains("is part of the repository"), "{args:?}: {}", said.stderr);
    }
    let inside = repo.root().join("src");
    Said::by(repo.command(&["notices"]).current_dir(inside)).exits(3);
    let home = repo.root().join(".placet").display().to_string();
    repo.placet(&["--home", &home, "status"]).ok();
}

#[test]
fn home_in_a_linked_worktree_is_used_unless_tracked() {
    let repo = Repo::new();
    let (dir, address) = (tempfile::tempdir().unwrap(), "127.0.0.1:1");
    let linked = dir.path().join("w");
    repo.git(&["worktree", "add", "-q", linked.to_str().unwrap(), "-b", "linked"]);
    let here = |args: &[&str]| Said::by(repo.command(args).current_dir(&linked));
    here(&["init", "--address", address]).ok();
    here(&["sandbox", "profiles"]).ok();
    here(&["sandbox", "run", "--", "true"]).ok();
    // In the index alone, then in the last commit alone.
    repo.git_in(&linked, &["add", "-f", ".placet/placet.toml"]);
    let said = here(&["sandbox", "profiles"]).exits(3);
    assert!(said.stderr.contains("is part of the repository"), "{}", said.stderr);
    let killed = here(&["kill", "--all"]);
    assert!(killed.stderr.contains("is part of the repository"), "without a control plane: {}", killed.stderr);
    repo.git_in(&linked, &["commit", "-q", "-m", "chore(repo): a home"]);
    repo.git_in(&linked, &["rm", "-q", "--cached", ".placet/placet.toml"]);
    let said = here(&["sandbox", "profiles"]).exits(3);
    assert!(said.stderr.contains("is part of the repository"), "{}", said.stderr);
}

#[test]
fn home_in_a_repository_with_includes_is_used() {
    let dir = tempfile::tempdir().unwrap();
    let git = |args: &[&str]| Said::by(clean(Command::new("git")).current_dir(dir.path()).args(args)).ok();
    git(&["init", "-q"]);
    git(&["config", "include.path", "elsewhere"]);
    let here = |args: &[&str]| Said::by(placet().current_dir(dir.path()).args(args));
    here(&["init", "--address", "127.0.0.1:1"]).ok();
    here(&["sandbox", "profiles"]).ok();
    git(&["add", "-f", ".placet/placet.toml"]);
    assert!(here(&["sandbox", "profiles"]).exits(3).stderr.contains("is part of the repository"));
}

#[test]
fn home_of_somebody_else_is_not_used() {
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    Said::by(placet().current_dir(dir.path()).args(["init", "--address", "127.0.0.1:1"])).ok();
    std::os::unix::fs::chown(dir.path().join(".placet"), Some(31_416), Some(31_416)).unwrap();
    let said = Said::by(placet().current_dir(dir.path()).args(["notices"])).exits(3);
    assert!(said.stderr.contains("belongs to somebody else"), "{}", said.stderr);
}

#[test]
fn links_that_a_repository_ships_in_worktrees_are_not_followed() {
    let repo = Repo::new();
    let (file, directory) = (repo.person("notes.txt"), repo.person("directory"));
    fs::write(&file, CANARY).unwrap();
    fs::create_dir(&directory).unwrap();
    symlink(&file, repo.root().join(".worktrees/.ports.json")).unwrap();
    symlink(&directory, repo.root().join(".worktrees/.seen")).unwrap();
    repo.git(&["add", "-f", ".worktrees"]);
    repo.git(&["commit", "-q", "-m", "chore(repo): links"]);
    let said = repo.on("start", &[]);
    assert_ne!(said.code, Some(0), "{}", said.out());
    assert_eq!(fs::read_to_string(&file).unwrap(), CANARY);
    assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
}
