//! The rules of the house that a machine can check: which crate may know which, how many packages there are, what source
//! files contain. `documents` checks the documents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::{CargoOpt, DependencyKind, Metadata, MetadataCommand};

/// Which of our crates each crate may use. What is not listed is forbidden: the arrows are the trust boundaries.
const ARROWS: &[(&str, &[&str])] = &[
    ("placet-domain", &[]),
    ("placet-ledger", &[]),
    ("placet-sandbox", &[]),
    ("placet-seal", &[]),
    ("placet-secrets", &[]),
    ("placet-workspace", &["placet-seal"]),
    ("placet-lang", &["placet-domain"]),
    ("placet-wire", &["placet-domain"]),
    ("placet-dial", &["placet-domain"]),
    ("placet-egress", &["placet-dial", "placet-domain"]),
    ("placet-llm", &["placet-dial", "placet-domain"]),
    ("placet-store", &["placet-domain", "placet-ledger", "placet-seal"]),
    (
        "placet-control",
        &[
            "placet-dial",
            "placet-domain",
            "placet-lang",
            "placet-ledger",
            "placet-llm",
            "placet-secrets",
            "placet-store",
            "placet-wire",
        ],
    ),
    ("placet-web", &["placet-control", "placet-domain", "placet-lang", "placet-ledger", "placet-store", "placet-wire"]),
    (
        "placet-worker",
        &["placet-domain", "placet-egress", "placet-sandbox", "placet-seal", "placet-wire", "placet-workspace"],
    ),
    ("placet-agent", &["placet-domain", "placet-wire"]),
    ("placet-worktree", &["placet-domain", "placet-sandbox", "placet-secrets", "placet-wire", "placet-workspace"]),
    (
        "placet",
        &[
            "placet-agent",
            "placet-control",
            "placet-dial",
            "placet-domain",
            "placet-egress",
            "placet-ledger",
            "placet-llm",
            "placet-sandbox",
            "placet-seal",
            "placet-secrets",
            "placet-store",
            "placet-web",
            "placet-wire",
            "placet-worker",
            "placet-workspace",
            "placet-worktree",
        ],
    ),
    ("placet-testkit", &[]),
];

/// Crates that make the pure core impure: IO, clocks, randomness, threads, network.
const IMPURE: &[&str] = &["tokio", "rusqlite", "reqwest", "axum", "getrandom", "jiff", "rustix", "tempfile", "tracing"];

/// Maximum number of packages that are compiled on Linux. A lean build is a promise to everybody who builds Placet.
const MOST_PACKAGES: usize = 400;

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// What the manifests of the workspace say. Without what others depend on, so that nothing has to be downloaded.
fn metadata() -> Metadata {
    let mut command = MetadataCommand::new();
    command.manifest_path(root().join("Cargo.toml")).no_deps().other_options(vec!["--offline".into()]).exec().unwrap()
}

/// What each of our crates links, directly, outside its tests.
fn dependencies(metadata: &Metadata) -> BTreeMap<String, BTreeSet<String>> {
    let normal = |package: &cargo_metadata::Package| {
        let kept = package.dependencies.iter().filter(|dependency| dependency.kind == DependencyKind::Normal);
        kept.map(|dependency| dependency.name.clone()).collect()
    };
    metadata.workspace_packages().iter().map(|package| (package.name.to_string(), normal(package))).collect()
}

#[test]
fn the_arrows_between_crates_are_the_ones_of_the_design() {
    let metadata = metadata();
    let found = dependencies(&metadata);
    let ours: BTreeSet<&str> = found.keys().map(String::as_str).collect();
    let listed: BTreeSet<&str> = ARROWS.iter().map(|(name, _)| *name).collect();
    assert_eq!(ours, listed, "every crate has its line in ARROWS");
    for (name, allowed) in ARROWS {
        let used: Vec<&String> = found[*name].iter().filter(|dependency| ours.contains(dependency.as_str())).collect();
        for dependency in used {
            assert!(allowed.contains(&dependency.as_str()), "{name} must not know {dependency}");
        }
    }
}

#[test]
fn the_pure_core_depends_on_nothing_impure() {
    let found = dependencies(&metadata());
    for pure in ["placet-domain", "placet-lang", "placet-ledger", "placet-secrets"] {
        for impure in IMPURE {
            assert!(!found[pure].contains(*impure), "{pure} must not depend on {impure}");
        }
    }
}

#[test]
fn control_plane_links_no_markup() {
    let found = dependencies(&metadata());
    for crate_name in ["placet-control", "placet-lang"] {
        assert!(!found[crate_name].contains("maud"), "{crate_name} makes no pages");
    }
}

/// Counts packages for Linux only: the lock file also lists those of systems that Placet is never built for.
#[test]
fn build_for_linux_stays_lean() {
    let mut command = MetadataCommand::new();
    let options = ["--offline", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"];
    command.manifest_path(root().join("Cargo.toml")).features(CargoOpt::AllFeatures);
    let metadata = command.other_options(options.map(String::from)).exec().unwrap();
    let packages = metadata.resolve.unwrap().nodes.len();
    assert!(packages <= MOST_PACKAGES, "{packages} packages");
    assert!(packages > 100, "the count covers dependencies: {packages}");
}

/// Every Rust file of the repository with its text.
fn sources(dir: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = fs::read_to_string(&path).unwrap();
            found.push((path, text));
        }
    }
}

pub(crate) fn all_sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for folder in ["crates", "dev"] {
        sources(&root().join(folder), &mut found);
    }
    found
}

#[test]
fn every_source_file_says_what_it_is() {
    for (path, text) in all_sources() {
        let in_src = path.components().any(|part| part.as_os_str() == "src");
        assert!(!in_src || text.starts_with("//!"), "{} has no header", path.display());
    }
}

#[test]
fn unsafe_code_lives_in_the_sandbox_alone() {
    for (path, text) in all_sources() {
        let in_sandbox = path.starts_with(root().join("crates/sandbox"));
        let uses = text.lines().any(|line| !line.trim_start().starts_with("//") && line.contains("unsafe {"));
        assert!(!uses || in_sandbox || path.ends_with("tests/it/house.rs"), "{} uses unsafe code", path.display());
    }
}

/// Places in product code that may spell a path of the API, each with how many lines do and why.
const SPELLED_PATHS: &[(&str, usize, &str)] = &[("crates/cli/src/command/ledger/mod.rs", 1, "help text")];

/// Lines of tests that spell a path of the API: attacks on raw HTTP need them. The number only goes down.
const MOST_PATHS_IN_TESTS: usize = 480;

/// Counts the lines outside comments that spell a path of the API.
fn spelled_paths(text: &str) -> usize {
    text.lines().filter(|line| line.contains("/api/v1") && !line.trim_start().starts_with("//")).count()
}

#[test]
fn paths_of_the_api_stand_in_wire_alone() {
    let (root, mut found, mut in_tests) = (root(), BTreeMap::new(), 0);
    for (path, text) in all_sources() {
        let lines = spelled_paths(&text);
        let place = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let is_product = place.starts_with("crates/") && place.split('/').nth(2) == Some("src");
        match is_product {
            false => in_tests += lines,
            true if lines > 0 && !place.starts_with("crates/wire/") => drop(found.insert(place, lines)),
            true => {}
        }
    }
    let reviewed = SPELLED_PATHS.iter().map(|(place, lines, _)| ((*place).to_owned(), *lines)).collect();
    assert_eq!(found, reviewed, "call an endpoint of `placet_wire::endpoint` instead");
    assert!(in_tests <= MOST_PATHS_IN_TESTS, "{in_tests} lines of tests spell a path of the API");
}
