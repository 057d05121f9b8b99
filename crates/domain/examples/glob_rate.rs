//! How fast path rules are compared: 100,000 paths with 20 globs, minding and ignoring case; and how fast a scope of the same
//! globs, half of them denied, encloses a tree of these paths. Printed as JSON.
//!
//! `cargo run --profile fast -p placet-domain --example glob_rate`

#![expect(clippy::print_stdout, reason = "printing the measurement is what this program is for")]

use std::error::Error;
use std::time::Instant;

use placet_domain::scope::{Case, Enclosure, Glob, Leaf, Scope, ScopeDraft, ScopePath, Tree};

const PATHS: usize = 100_000;
const ROUNDS: usize = 5;

/// What teams write: subtrees, names anywhere, endings anywhere, single files.
const GLOBS: [&str; 20] = [
    "src/**",
    "src/**/*.rs",
    "**/*.md",
    "docs/",
    "**/Cargo.toml",
    "Cargo.lock",
    ".github/**",
    "**/.env*",
    "**/secrets/**",
    "crates/*/src/**",
    "crates/*/tests/**/*.rs",
    "tests/**/fixtures/**",
    "**/*[Pp]assword*",
    "*.json",
    "agents/**",
    "**/node_modules/**",
    "vendor/",
    "scripts/*.sh",
    "**/*.{pem,key}",
    "crates/domain/src/scope/*.rs",
];

fn main() -> Result<(), Box<dyn Error>> {
    let globs = GLOBS.iter().map(|glob| glob.parse()).collect::<Result<Vec<Glob>, _>>()?;
    let paths = (0..PATHS).map(path).collect::<Result<Vec<_>, _>>()?;
    for (name, case) in [("exact", Case::Exact), ("ignore", Case::Ignore)] {
        let (best_ms, matched) = (0..ROUNDS).map(|_| measure(&globs, &paths, case)).fold((f64::MAX, 0), best);
        let compared = GLOBS.len() * PATHS;
        println!(r#"{{"case": "{name}", "compared": {compared}, "matched": {matched}, "best_ms": {best_ms:.1}}}"#);
    }
    enclose(&globs, &paths);
    Ok(())
}

fn enclose(globs: &[Glob], paths: &[ScopePath]) {
    let (allow, deny) = globs.split_at(globs.len() / 2);
    let scope = Scope::lock(ScopeDraft { allow: allow.to_vec(), deny: deny.to_vec(), ..ScopeDraft::default() });
    let start = Instant::now();
    let tree = Tree::new(paths.iter().map(|path| (path.as_bytes(), Leaf::File)));
    let tree_ms = start.elapsed().as_secs_f64() * 1e3;
    let start = Instant::now();
    let enclosure = Enclosure::of(&scope, &[], &tree);
    let enclose_ms = start.elapsed().as_secs_f64() * 1e3;
    let (rules, gaps) = (enclosure.rules().count(), enclosure.gaps().len());
    println!(r#"{{"rules": {rules}, "gaps": {gaps}, "tree_ms": {tree_ms:.1}, "enclose_ms": {enclose_ms:.1}}}"#);
}

/// Paths like those of a large repository: four to six components, 40 bytes on average.
fn path(n: usize) -> Result<ScopePath, Box<dyn Error>> {
    let top = ["crates", "src", "docs", "tests", "tools"][n % 5];
    let end = ["rs", "md", "toml", "txt", "json", "sh"][n % 6];
    let path = format!("{top}/part{}/src/area{}/module_{n}.{end}", n % 97, n % 31);
    Ok(ScopePath::new(path.as_bytes())?)
}

fn measure(globs: &[Glob], paths: &[ScopePath], case: Case) -> (f64, usize) {
    let start = Instant::now();
    let matched = paths.iter().map(|path| globs.iter().filter(|glob| glob.matches(path, case)).count()).sum();
    (start.elapsed().as_secs_f64() * 1e3, matched)
}

fn best(fastest: (f64, usize), round: (f64, usize)) -> (f64, usize) {
    (fastest.0.min(round.0), round.1)
}
