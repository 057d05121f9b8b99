//! `placet demo`: what a newcomer types first. It must work at once, tell the whole story, and leave nothing behind.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use crate::support::{Process, Said, eventually, names_in, placet, placet_in, processes_with};

fn temp() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

/// The demo with all its temporary files below `tmp`.
fn demo(tmp: &Path, args: &[&str]) -> Command {
    let mut command = placet();
    command.current_dir(tmp).env("TMPDIR", tmp).arg("demo").args(args);
    command
}

fn left_nothing_in(tmp: &Path) {
    assert_eq!(names_in(tmp), Vec::<String>::new(), "no file is left");
    assert_eq!(processes_with(tmp.to_str().unwrap()), Vec::<String>::new(), "no process is left");
}

#[test]
fn it_tells_the_whole_story_and_leaves_nothing_behind() {
    let tmp = temp();
    let said = Said::by(&mut demo(tmp.path(), &["--yes"])).ok();
    let told = [
        "tier A",
        "SUCCEEDED exit 0, executed in a cage; evidence:",
        "sha256:", // it reads
        "tier B",
        "approved without asking",
        "out/report.txt", // it writes, once somebody agrees
        "tier D",
        "is not in the scope of this run",
        "nobody can approve it", // it is refused
        "COMPLETED",
        "verified",
        "One bit of the copy changed, on purpose:",
        "was changed: it hashes to", // it is proven
    ];
    let mut rest = said.stderr.as_str();
    for part in told {
        let found =
            rest.find(part).unwrap_or_else(|| panic!("`{part}` is not told, or not in its place:\n{}", said.stderr));
        rest = &rest[found + part.len()..];
    }
    assert!(said.stderr.contains("⟦U+202E⟧"), "what deceives the eye is spelled out");
    assert!(!said.stderr.contains('\u{1b}'), "no colour where nobody sees it");
    assert_eq!(said.out(), "", "a story is no data");
    left_nothing_in(tmp.path());
}

#[test]
fn as_json_it_is_one_object_and_silent_otherwise() {
    let tmp = temp();
    let said = Said::by(&mut demo(tmp.path(), &["--yes", "--json"])).ok();
    let answer = said.json();
    assert_eq!(answer["verified"], true);
    assert!(answer["entries"].as_u64().unwrap() > 20);
    assert!(answer["key"].as_str().unwrap().starts_with("placet/"));
    assert_eq!(said.stderr, "");
    left_nothing_in(tmp.path());
}

#[test]
fn what_is_kept_can_be_exported_and_verified_by_a_stranger() {
    let tmp = temp();
    Said::by(&mut demo(tmp.path(), &["--yes", "--keep", "kept"])).ok();
    let in_tmp = |args: &[&str]| placet_in(tmp.path(), args);
    let exported = in_tmp(&["--json", "--home", "kept/.placet", "ledger", "export", "copy", "--offline"]).ok().json();
    let key = exported["key"].as_str().unwrap();
    let report = in_tmp(&["--json", "ledger", "verify", "copy", "--key", key]).ok().json();
    assert_eq!(report["size"], exported["size"]);
    assert_eq!(report["faults"], serde_json::json!([]));
    assert_eq!(processes_with(tmp.path().to_str().unwrap()), Vec::<String>::new());
}

#[test]
fn kept_demo_prints_commands_that_work() {
    let tmp = temp();
    let said = Said::by(&mut demo(tmp.path(), &["--yes", "--keep", "kept"])).ok();
    let (_, further) = said.stderr.split_once("Look further:").unwrap();
    let typed = further.lines().filter_map(|line| line.strip_prefix("  placet "));
    let mut typed = typed.map(|line| line.split(' ').collect::<Vec<_>>());
    let mut serving = Process::start(placet().current_dir(tmp.path()).args(typed.next().unwrap()));
    serving.line(Duration::from_secs(60), |line| line.starts_with("serving "));
    let rest: Vec<_> = typed.collect();
    assert_eq!(rest.len(), 3, "{further}");
    for args in rest {
        placet_in(tmp.path(), &args).ok();
    }
    assert!(serving.interrupt("TERM", Duration::from_secs(30)).success());
}

#[test]
fn a_directory_that_exists_is_not_taken_to_keep_things_in() {
    let tmp = temp();
    std::fs::create_dir(tmp.path().join("mine")).unwrap();
    let said = Said::by(&mut demo(tmp.path(), &["--yes", "--keep", "mine"])).exits(1);
    assert!(said.stderr.contains("mine"), "{}", said.stderr);
    assert_eq!(names_in(&tmp.path().join("mine")), Vec::<String>::new());
}

#[test]
fn without_a_terminal_and_without_yes_nothing_is_approved() {
    let tmp = temp();
    let said = Said::by(&mut demo(tmp.path(), &[])).exits(2);
    assert!(said.stderr.contains("nobody is there to ask"), "{}", said.stderr);
    assert!(said.stderr.contains("`placet demo --yes`") && !said.stderr.contains("--seen"), "{}", said.stderr);
    left_nothing_in(tmp.path());
}

/// Runs the demo in a terminal of its own and answers its question, once it is asked: what is typed before is let go of.
fn answered(tmp: &Path, answer: &str) -> (i32, String) {
    let mut terminal = Command::new("sh");
    let line = format!("{} demo", env!("CARGO_BIN_EXE_placet"));
    // A question does not end its line, and of stderr parts of lines are seen.
    let script = "exec script --quiet --return --flush --command \"$LINE\" /dev/null >&2";
    terminal.current_dir(tmp).env("TMPDIR", tmp).env("LINE", line).args(["-c", script]);
    let mut terminal = Process::start(&mut terminal);
    eventually("it asks", Duration::from_secs(60), || terminal.stderr().contains("approve exactly this? [y/N]"));
    terminal.type_in(answer);
    let status = terminal.wait(Duration::from_secs(60));
    (status.code().unwrap(), terminal.stderr())
}

#[test]
fn on_a_terminal_it_asks_and_takes_yes_for_yes() {
    let tmp = temp();
    let (code, shown) = answered(tmp.path(), "y\n");
    assert_eq!(code, 0, "{shown}");
    assert!(shown.contains("The agent says") && shown.contains("COMPLETED"), "{shown}");
    assert!(shown.contains("\u{1b}["), "on a terminal it has colours");
    left_nothing_in(tmp.path());
}

#[test]
fn on_a_terminal_anything_but_yes_is_no() {
    let tmp = temp();
    let (code, shown) = answered(tmp.path(), "sure\n");
    assert_eq!(code, 5, "{shown}");
    assert!(shown.contains("it still waits") && !shown.contains("COMPLETED"), "{shown}");
    left_nothing_in(tmp.path());
}

#[test]
fn an_interrupted_demo_leaves_nothing_behind_either() {
    for signal in ["INT", "TERM"] {
        let tmp = temp();
        let mut running = Process::start(&mut demo(tmp.path(), &["--yes"]));
        eventually("it begins", Duration::from_secs(30), || running.stderr().contains("tier"));
        let status = running.interrupt(signal, Duration::from_secs(30));
        assert_eq!(status.code(), Some(130), "{signal}: {status}\n{}", running.stderr());
        left_nothing_in(tmp.path());
    }
}

#[test]
fn it_works_for_an_ordinary_user() {
    if !is_root() {
        return; // every other test here has shown it already
    }
    let tmp = temp();
    let binary = tmp.path().join("placet");
    std::fs::copy(env!("CARGO_BIN_EXE_placet"), &binary).unwrap();
    let (user, files) = (65_534, tmp.path().join("files"));
    std::fs::create_dir(&files).unwrap();
    std::os::unix::fs::chown(&files, Some(user), Some(user)).unwrap();
    open_to_all(tmp.path());
    let mut command = crate::support::clean(Command::new("setpriv"));
    command.args([format!("--reuid={user}"), format!("--regid={user}"), "--clear-groups".into()]);
    command.arg(&binary).args(["demo", "--yes"]).current_dir(&files).env("HOME", &files).env("TMPDIR", &files);
    let said = Said::by(&mut command).ok();
    assert!(said.stderr.contains("verified") && said.stderr.contains("executed in a cage"), "{}", said.stderr);
    assert!(!said.stderr.lines().any(|line| line.starts_with('{')), "no log in between: {}", said.stderr);
    left_nothing_in(&files);
}

fn open_to_all(dir: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).unwrap();
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;
    std::fs::metadata("/proc/self").unwrap().uid() == 0
}
