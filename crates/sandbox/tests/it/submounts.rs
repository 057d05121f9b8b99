//! What is mounted below a host directory is as restricted as the directory. Only root can set that scene.

use std::path::Path;
use std::process::{Command, ExitCode};

use crate::harness::tests;
use crate::world::{Workspace, run, sh};

tests![a_mount_below_a_read_only_directory_is_read_only_too];

/// Tells this binary, in a mount namespace with the scene set, to look at it from a cage.
pub(crate) const FLAG: &str = "--look-below";

fn a_mount_below_a_read_only_directory_is_read_only_too() {
    let workspace = Workspace::new();
    std::fs::create_dir(workspace.file("below")).expect("a directory");
    let own = std::env::current_exe().expect("the path of this binary");
    let script =
        "mount -t tmpfs -o mode=777 scene \"$1/below\" && echo there > \"$1/below/file\" && exec \"$2\" \"$3\" \"$1\"";
    let scene = Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script, "sh"])
        .args([workspace.path().as_os_str(), own.as_os_str(), FLAG.as_ref()])
        .status();
    assert!(scene.expect("unshare runs").success());
    assert!(!workspace.file("below/file").exists(), "the scene was private");
}

pub(crate) fn look_below(directory: &str) -> ExitCode {
    assert_eq!(std::fs::read_to_string(Path::new(directory).join("below/file")).expect("the scene is set"), "there\n");
    std::fs::set_permissions(directory, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("open to others");
    let seen = run(sh("cat /opt/x/below/file; touch /opt/x/below/canary").read_only(directory, "/opt/x"));
    let written = Path::new(directory).join("below/canary").exists();
    let as_expected = seen.stdout == "there\n" && seen.stderr.contains("Read-only file system") && !written;
    if as_expected { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
