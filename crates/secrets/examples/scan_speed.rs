//! Measures how fast one core scans and redacts; prints one line of JSON.
//!
//! `cargo run --profile fast -p placet-secrets --example scan_speed -- 200`
//!
//! The first number is megabytes per text. Realistic text is the source of this very crate, repeated; hostile text is made
//! of beginnings that never end.

use std::error::Error;
use std::hint::black_box;
use std::io::Write;
use std::time::Instant;

use placet_secrets::{Redactor, Scanner, redact_personal};
use serde_json::{Value, json};

const SOURCES: &[&str] = &[
    include_str!("../src/scanner.rs"),
    include_str!("../src/shape.rs"),
    include_str!("../src/context/assign.rs"),
    include_str!("../src/redact.rs"),
    include_str!("../../domain/src/decide.rs"),
    include_str!("../../store/src/store.rs"),
    include_str!("../../control/src/http/mod.rs"),
    include_str!("../../../ARCHITECTURE.md"),
    include_str!("../../../Cargo.lock"),
];

/// Beginnings that never end, each for another part of the scanner.
const HOSTILE: &[&str] =
    &["key=\"", "-----BEGIN PRIVATE KEY-----\nAAAA", "a://b:c", "-eyJhbGciOiJ.", "QUJD", "password ", ":5432:"];

fn main() -> Result<(), Box<dyn Error>> {
    let megabytes: usize = std::env::args().nth(1).map_or(Ok(100), |text| text.parse())?;
    let scanner = Scanner::shipped();
    let realistic = repeated(&SOURCES.concat(), megabytes);
    let hostile: Vec<(String, Value)> = HOSTILE
        .iter()
        .map(|piece| {
            ((*piece).to_owned(), megabytes_per_s(&repeated(piece, megabytes.min(20)), |text| scanner.scan(text).len()))
        })
        .collect();
    let result = json!({
        "megabytes": megabytes,
        "rules": scanner.rules().len(),
        "scan_mb_per_s": megabytes_per_s(&realistic, |text| scanner.scan(text).len()),
        "redact_mb_per_s": megabytes_per_s(&realistic, |text| scanner.redact(text).len()),
        "stream_mb_per_s": megabytes_per_s(&realistic, |text| stream(scanner, text)),
        "personal_mb_per_s": megabytes_per_s(&realistic, |text| redact_personal(text).len()),
        "hostile_scan_mb_per_s": hostile.into_iter().collect::<serde_json::Map<_, _>>(),
    });
    writeln!(std::io::stdout(), "{result}")?;
    Ok(())
}

fn repeated(text: &str, megabytes: usize) -> Vec<u8> {
    text.as_bytes().iter().copied().cycle().take(megabytes * 1_000_000).collect()
}

fn stream(scanner: &Scanner, text: &[u8]) -> usize {
    let mut redactor = Redactor::new(scanner);
    let passed: usize = text.chunks(64 * 1024).map(|chunk| redactor.push(chunk).len()).sum();
    passed + redactor.finish().len()
}

fn megabytes_per_s(text: &[u8], work: impl Fn(&[u8]) -> usize) -> Value {
    let started = Instant::now();
    black_box(work(text));
    json!((text.len() as f64 / 1e6 / started.elapsed().as_secs_f64()).round())
}
