//! Root reads and changes whatever is closed; most workers are not root. So everything here is done once more by an
//! ordinary user, in a copy of this very binary.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::process::Command;

use tempfile::TempDir;

/// Nobody's number on any host.
const ORDINARY_USER: u32 = 31_415;

#[test]
fn everything_holds_for_an_ordinary_user_as_it_does_for_root() {
    if !rustix::process::geteuid().is_root() {
        // This is the copy, or there is no other user to become.
        return;
    }
    let place = TempDir::new().unwrap();
    let (binary, own) = (place.path().join("tests"), place.path().join("own"));
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    fs::create_dir(&own).unwrap();
    chown(&own, Some(ORDINARY_USER), Some(ORDINARY_USER)).unwrap();
    for path in [place.path(), &binary, &own] {
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let mut again = Command::new(binary);
    again.args(["space::tests::", "room::tests::", "remove::tests::"]).env("TMPDIR", &own);
    let ended = again.uid(ORDINARY_USER).gid(ORDINARY_USER).current_dir("/").output().unwrap();
    let told = String::from_utf8_lossy(&ended.stdout);
    assert!(ended.status.success() && told.contains("test result: ok"), "{told}");
}
