//! Measures the scanner on texts that somebody else labelled; prints one line of JSON, then the rules that were missed.
//!
//! `cargo run --profile fast -p placet-secrets --example scan_labelled -- FILE`
//!
//! A line of the file is `+` or `-` (whether there is a secret in it), a name and the text in base64, with tabs between. The
//! texts themselves are no part of this project: collections of secrets belong to others, and look like secrets to everybody.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::Write;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use placet_secrets::Scanner;
use serde_json::json;

#[derive(Default)]
struct Tally {
    texts: usize,
    found: usize,
}

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("name a file of labelled texts")?;
    let (mut with, mut without) = (BTreeMap::<String, Tally>::new(), Tally::default());
    for line in std::fs::read_to_string(file)?.lines() {
        let [label, name, text] = line.split('\t').collect::<Vec<_>>()[..] else { return Err(line.into()) };
        let found = !Scanner::shipped().scan(&STANDARD.decode(text)?).is_empty();
        let tally = if label == "+" { with.entry(name.to_owned()).or_default() } else { &mut without };
        tally.texts += 1;
        tally.found += usize::from(found);
    }
    let sum = |of: fn(&Tally) -> usize| with.values().map(of).sum::<usize>();
    let (texts, found) = (sum(|tally| tally.texts), sum(|tally| tally.found));
    let kinds_found = with.values().filter(|tally| tally.found > 0).count();
    let result = json!({
        "with_secret": texts, "found": found, "kinds": with.len(), "kinds_found": kinds_found,
        "without_secret": without.texts, "found_wrongly": without.found,
    });
    writeln!(std::io::stdout(), "{result}")?;
    for (name, tally) in with.iter().filter(|(_, tally)| tally.found < tally.texts) {
        writeln!(std::io::stdout(), "{name}: {} of {}", tally.found, tally.texts)?;
    }
    Ok(())
}
