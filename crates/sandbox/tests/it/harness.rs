//! A small test runner: lists, selects and runs, and repeats scenarios as an ordinary user.
#![expect(clippy::print_stdout, reason = "a test runner reports on standard output")]

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::panic;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Instant;

use tempfile::TempDir;

/// Tells a copy of this binary to run one scenario, as whoever it was started by.
pub(crate) const AS_USER_FLAG: &str = "--as-user";

/// An id no account of a usual host has.
const ORDINARY_USER: u32 = 31_415;

/// A named scenario. The body is told the name, so that one body can serve a whole table of cases.
#[derive(Clone, Copy)]
pub(crate) struct Test {
    pub(crate) name: &'static str,
    pub(crate) body: fn(&str),
}

/// The scenarios of a module, named after their functions.
macro_rules! tests {
    ($($name:ident),* $(,)?) => {
        pub(crate) const TESTS: &[crate::harness::Test] = &[
            $(crate::harness::Test { name: concat!(module_path!(), "::", stringify!($name)), body: |_| $name() }),*
        ];
    };
}
pub(crate) use tests;

impl Test {
    fn name(&self) -> &'static str {
        self.name.trim_start_matches("it::").trim_start_matches("escape::")
    }
}

#[derive(Clone, Copy)]
enum As {
    Caller,
    OrdinaryUser,
}

struct Listed {
    name: String,
    test: Test,
    run_as: As,
}

/// Runs what the arguments select.
pub(crate) fn run(arguments: &[String], plain: &[Test], only_root: &[Test], scenarios: &[Test]) -> ExitCode {
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let listed = selected(arguments, listed(plain, only_root, scenarios));
    if has("--ignored") || !has("--list") {
        return if has("--list") || has("--ignored") { ExitCode::SUCCESS } else { run_all(&listed) };
    }
    for each in &listed {
        println!("{}: test", each.name);
    }
    ExitCode::SUCCESS
}

fn listed(plain: &[Test], only_root: &[Test], scenarios: &[Test]) -> Vec<Listed> {
    let root = rustix::process::geteuid().is_root();
    let entry = |prefix: &str, run_as| {
        let prefix = prefix.to_owned();
        move |test: &Test| Listed { name: format!("{prefix}{}", test.name()), test: *test, run_as }
    };
    let as_root = if root { [only_root, scenarios].concat() } else { Vec::new() };
    let user = if root { As::OrdinaryUser } else { As::Caller };
    let plain = plain.iter().map(entry("", As::Caller));
    plain
        .chain(as_root.iter().map(entry("root::", As::Caller)))
        .chain(scenarios.iter().map(entry("user::", user)))
        .collect()
}

fn selected(arguments: &[String], all: Vec<Listed>) -> Vec<Listed> {
    let exact = arguments.iter().any(|argument| argument == "--exact");
    let mut filters = Vec::new();
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        match word.as_str() {
            // These take a value of their own.
            "--format" | "--test-threads" | "--color" | "--skip" | "-Z" => drop(words.next()),
            flag if flag.starts_with('-') => {}
            filter => filters.push(filter),
        }
    }
    let matches = |name: &str| filters.iter().any(|filter| if exact { name == *filter } else { name.contains(filter) });
    all.into_iter().filter(|each| filters.is_empty() || matches(&each.name)).collect()
}

fn run_all(listed: &[Listed]) -> ExitCode {
    let started = Instant::now();
    println!("\nrunning {} tests", listed.len());
    let mut failed = Vec::new();
    let copy = WorldReadableCopy::default();
    for each in listed {
        let passed = match each.run_as {
            As::Caller => passes(&each.test),
            As::OrdinaryUser => passes_as_user(&each.test, &copy),
        };
        println!("test {} ... {}", each.name, if passed { "ok" } else { "FAILED" });
        if !passed {
            failed.push(&each.name);
        }
    }
    let verdict = if failed.is_empty() { "ok" } else { "FAILED" };
    println!(
        "\ntest result: {verdict}. {} passed; {} failed; 0 ignored; 0 measured; 0 filtered out; finished in {:.2}s\n",
        listed.len() - failed.len(),
        failed.len(),
        started.elapsed().as_secs_f64()
    );
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn passes(test: &Test) -> bool {
    panic::catch_unwind(|| (test.body)(test.name())).is_ok()
}

/// In the copy: one scenario, by the name it has in its module.
pub(crate) fn run_one(name: &str, scenarios: &[Test]) -> ExitCode {
    match scenarios.iter().find(|test| test.name() == name) {
        Some(test) if passes(test) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

fn passes_as_user(test: &Test, copy: &WorldReadableCopy) -> bool {
    // A layer leaves folders that its user may not open; root removes what the user leaves here.
    let temporary = TempDir::new().expect("a temporary directory");
    chown(temporary.path(), Some(ORDINARY_USER), Some(ORDINARY_USER)).expect("a directory of the user's own");
    let status = Command::new(copy.path())
        .args([AS_USER_FLAG, test.name()])
        .env("TMPDIR", temporary.path())
        .uid(ORDINARY_USER)
        .gid(ORDINARY_USER)
        .current_dir("/")
        .status();
    status.is_ok_and(|status| status.success())
}

/// This binary where an ordinary user can read it; the build directory may be closed to others.
#[derive(Default)]
struct WorldReadableCopy(std::cell::OnceCell<(TempDir, PathBuf)>);

impl WorldReadableCopy {
    fn path(&self) -> &PathBuf {
        let make = || {
            let directory = TempDir::new().expect("a temporary directory");
            let file = directory.path().join("it");
            fs::copy(std::env::current_exe().expect("the path of this binary"), &file).expect("a copy of this binary");
            for path in [directory.path(), file.as_path()] {
                fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("open to everyone");
            }
            (directory, file)
        };
        &self.0.get_or_init(make).1
    }
}
