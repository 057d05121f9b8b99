//! Everything here once more as an ordinary user: with a home and repositories of its own, and no right that root has.
//!
//! Started as root, the scenarios run in root's own repositories. Most people are not root: a copy of these tests, which
//! became somebody else, runs the same scenarios again. Started by an ordinary user, nothing is left to repeat.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{BINARY, clean};

/// An id no account of a usual host has.
const ORDINARY_USER: u32 = 31_415;

/// The binary and its tests where everybody can reach them, and a home that is the user's alone.
struct Place {
    dir: tempfile::TempDir,
}

impl Place {
    fn make() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap() };
        place.publish("placet", Path::new(env!("CARGO_BIN_EXE_placet")));
        place.publish("it", &std::env::current_exe().unwrap());
        fs::set_permissions(place.dir.path(), fs::Permissions::from_mode(0o755)).unwrap();
        for own in ["home", "tmp"] {
            fs::create_dir(place.at(own)).unwrap();
            fs::set_permissions(place.at(own), fs::Permissions::from_mode(0o700)).unwrap();
            std::os::unix::fs::chown(place.at(own), Some(ORDINARY_USER), Some(ORDINARY_USER)).unwrap();
        }
        place
    }

    fn at(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn publish(&self, name: &str, file: &Path) {
        let copy = self.at(name);
        // The build directory may be closed to others; a second name of the same file costs nothing.
        fs::hard_link(file, &copy).or_else(|_| fs::copy(file, &copy).map(drop)).unwrap();
        fs::set_permissions(copy, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The scenarios of these modules, as the user.
    fn run(&self, modules: &[&str]) -> String {
        let mut tests = clean(Command::new(self.at("it")));
        tests.uid(ORDINARY_USER).gid(ORDINARY_USER).current_dir(self.at("home"));
        tests.env("HOME", self.at("home")).env("TMPDIR", self.at("tmp")).env(BINARY, self.at("placet"));
        tests.args(modules.iter().map(|module| format!("worktree::{module}::")));
        let ended = tests.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "as an ordinary user:\n{told}\n{}", String::from_utf8_lossy(&ended.stderr));
        told
    }
}

/// Runs the scenarios of these modules as an ordinary user; at least so many there are.
fn again(modules: &[&str], least: usize) {
    if rustix::process::geteuid().is_root() {
        let told = Place::make().run(modules);
        let passed = told.lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count();
        assert!(passed >= least, "only {passed} scenarios:\n{told}");
    }
}

#[test]
fn a1_starting_and_giving_up_works_for_an_ordinary_user() {
    again(&["start", "odd_places", "room"], 20);
}

#[test]
fn a1_whatever_is_interrupted_comes_in_line_for_an_ordinary_user() {
    again(&["interrupted"], 4);
}

#[test]
fn a5_every_kind_of_change_is_judged_for_an_ordinary_user() {
    again(&["kinds", "hostile"], 10);
}

#[test]
fn a7_the_cage_holds_for_an_ordinary_user() {
    again(&["cage", "ready", "terminal"], 12);
}

#[test]
fn a12_closing_merging_and_pushing_work_for_an_ordinary_user() {
    again(&["close", "merge", "people", "pushing"], 10);
}
