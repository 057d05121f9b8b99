//! Scenarios once more as an ordinary user: with a home and repositories of its own, and no right that root has.
//!
//! Started as root, the scenarios run in root's own repositories. Most people are not root: a copy of these tests, which
//! became somebody else, runs those scenarios again whose outcome depends on the user's rights, and all of them in
//! `./check long`. Started by an ordinary user, nothing is left to repeat.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use placet_testkit::is_long;

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

    /// Runs the scenarios whose names begin so as the user, and returns what the runner printed.
    fn run(&self, names: &[&str]) -> String {
        let mut tests = clean(Command::new(self.at("it")));
        tests.uid(ORDINARY_USER).gid(ORDINARY_USER).current_dir(self.at("home"));
        tests.env("HOME", self.at("home")).env("TMPDIR", self.at("tmp")).env(BINARY, self.at("placet"));
        tests.args(names.iter().map(|name| format!("worktree::{name}")));
        let ended = tests.stdin(Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&ended.stdout).into_owned();
        assert!(ended.status.success(), "as an ordinary user:\n{told}\n{}", String::from_utf8_lossy(&ended.stderr));
        told
    }
}

/// Runs these scenarios as an ordinary user; in `./check long` all of these modules, which are at least so many.
fn again(usual: &[&str], modules: &[&str], least: usize) {
    if rustix::process::geteuid().is_root() {
        let (names, least) = if is_long() { (modules, least) } else { (usual, usual.len()) };
        let told = Place::make().run(names);
        let passed = told.lines().filter(|line| line.starts_with("test ") && line.ends_with("... ok")).count();
        assert!(passed >= least, "only {passed} scenarios:\n{told}");
    }
}

#[test]
fn a1_starting_and_giving_up_works_for_an_ordinary_user() {
    let usual = [
        "start::a1_what_was_closed_can_be_taken_up_again_from_where_it_was_left",
        "start::an_interrupted_start_is_adopted_whatever_is_left_of_it",
        "room::what_a_command_changed_is_counted_as_if_every_file_was_looked_at_again",
    ];
    again(&usual, &["start::", "odd_places::", "room::"], 20);
}

#[test]
fn a1_whatever_is_interrupted_comes_in_line_for_an_ordinary_user() {
    again(&["interrupted::a12_an_interrupted_check_leaves_the_work_as_it_was"], &["interrupted::"], 4);
}

#[test]
fn a5_every_kind_of_change_is_judged_for_an_ordinary_user() {
    let usual = [
        "kinds::a5_every_kind_of_change_is_found_and_judged",
        "hostile::a10_nothing_in_the_place_of_the_settings_keeps_the_next_command_from_starting",
        "hostile::a16_names_and_things_of_every_kind_hurt_nobody",
    ];
    again(&usual, &["kinds::", "hostile::"], 10);
}

#[test]
fn a7_the_cage_holds_for_an_ordinary_user() {
    let usual = [
        "cage::a7_out_of_scope_and_protected_paths_are_read_only_in_the_cage",
        "cage::a7_git_works_in_the_cage_and_commits_come_out",
        "cage::a10_homes_keys_and_network_do_not_exist_inside",
        "ready::whatever_an_agent_does_to_its_cache_the_host_s_is_as_it_was",
        "terminal::a10_a_shell_in_the_cage_has_a_terminal_with_job_control_and_gives_it_back_as_it_was",
    ];
    again(&usual, &["cage::", "ready::", "terminal::"], 12);
}

#[test]
fn a12_closing_merging_and_pushing_work_for_an_ordinary_user() {
    let usual = [
        "close::a12_close_writes_a_report_with_real_results",
        "merge::a13_only_whoever_is_accountable_for_the_merge_takes_work_over",
        "people::a6_an_exemption_is_asked_for_granted_by_somebody_else_and_then_the_kernel_lets_it_through",
        "pushing::a11_a_branch_goes_out_over_https_with_the_credentials_of_the_person",
    ];
    again(&usual, &["close::", "merge::", "people::", "pushing::"], 10);
}
