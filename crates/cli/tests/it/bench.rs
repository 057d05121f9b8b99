//! Measurements that leave nothing behind, whatever ends them.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::support::{Said, eventually, names_in, placet};

fn small(temporary: &tempfile::TempDir, rounds: &str) -> Command {
    let mut command = placet();
    command.args(["bench", "--only", "worktree", "--files", "150", "--rounds", rounds]);
    command.current_dir(temporary.path()).env("TMPDIR", temporary.path());
    command
}

#[test]
fn worktrees_are_measured_beside_git_to_the_end() {
    let temporary = tempfile::tempdir().unwrap();
    let report = Said::by(&mut small(&temporary, "2")).ok().json();
    let report = &report["worktree"];
    assert_eq!((&report["files"], &report["changed"], &report["rounds"]), (&150.into(), &3.into(), &2.into()));
    for (pair, count) in [("start_beside_git_worktree_add", 2), ("scope_check_beside_git_status_and_diff", 4)] {
        assert_eq!(report[pair]["ratio"].as_array().unwrap().len(), count, "{pair}");
        assert!(report[pair]["p50_ratio"].as_f64().unwrap() > 0.0, "{pair}");
    }
    let bytes = |what: &str| report["disk_bytes"][what].as_u64().unwrap();
    assert!(bytes("overlay") < bytes("plain") && bytes("overlay") < bytes("overlay_with_changes"), "{report}");
    assert_eq!(names_in(temporary.path()), Vec::<String>::new());
}

#[test]
fn a_measurement_that_is_told_to_stop_leaves_nothing_behind() {
    for signal in ["-INT", "-TERM"] {
        let temporary = tempfile::tempdir().unwrap();
        let mut measuring = small(&temporary, "50").stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let started = || {
            let grounds = names_in(temporary.path());
            grounds.first().is_some_and(|name| temporary.path().join(name).join("by-git-0").exists())
        };
        eventually("a first round", Duration::from_secs(120), started);
        let sent = Command::new("kill").args([signal, &measuring.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert!(!measuring.wait().unwrap().success(), "{signal}");
        assert_eq!(names_in(temporary.path()), Vec::<String>::new(), "{signal}");
    }
}

#[test]
fn what_a_killed_measurement_left_is_removed_by_the_next() {
    let temporary = tempfile::tempdir().unwrap();
    let left = temporary.path().join("placet-bench-of-somebody");
    std::fs::create_dir_all(left.join("repository/deep")).unwrap();
    std::fs::write(left.join("lock"), "").unwrap();
    Said::by(&mut small(&temporary, "1")).ok();
    assert_eq!(names_in(temporary.path()), Vec::<String>::new());
}

#[test]
fn the_gateway_is_measured_beside_direct_calls() {
    let report = Said::by(placet().args(["bench", "--only", "gateway", "--seconds", "1"])).ok().json();
    let gateway = &report["gateway"];
    for report in [gateway, &gateway["control_plane"]] {
        for path in ["direct", "through"] {
            assert!(report[path]["calls"].as_u64().unwrap() > 0, "{gateway}");
            assert!(report[path]["p50_us"].as_u64().unwrap() > 0, "{gateway}");
            assert!(report["flood_per_s"][path].as_u64().unwrap() > 0, "{gateway}");
        }
        assert_eq!(report["streams"]["open"], 500);
    }
    assert!(gateway["control_plane"]["streams"]["through_bytes_each"].as_u64().unwrap() > 0, "{gateway}");
}
