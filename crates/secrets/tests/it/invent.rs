//! Invents secrets and text, the same in every run.

use placet_secrets::{Finding, Scanner};

/// Numbers that look random and are the same on every machine.
#[derive(Clone)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % end
    }

    pub(crate) fn one_of<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len())]
    }

    /// `len` characters of an alphabet.
    pub(crate) fn text(&mut self, alphabet: &str, len: usize) -> String {
        let alphabet = alphabet.as_bytes();
        (0..len).map(|_| char::from(alphabet[self.below(alphabet.len())])).collect()
    }
}

pub(crate) const BASE62: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
pub(crate) const BASE64: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
pub(crate) const HEX: &str = "0123456789abcdef";

pub(crate) fn scan(text: &str) -> Vec<Finding> {
    Scanner::shipped().scan(text.as_bytes())
}

/// The rules that found something, in order.
pub(crate) fn found(text: &str) -> Vec<String> {
    scan(text).into_iter().map(|finding| finding.rule).collect()
}

/// An invented secret of a shipped rule.
pub(crate) fn sample(rule: &str, seed: u64) -> String {
    let rules = Scanner::shipped().rules();
    rules.iter().find(|known| known.id() == rule).unwrap().samples(seed).swap_remove(0)
}

/// A private key in a frame, as wide as the tools write it.
pub(crate) fn private_key(label: &str, len: usize, seed: u64) -> String {
    let body = Dice::new(seed).text(BASE64, len);
    let lines: Vec<&str> = body.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    let dashes = "-".repeat(5);
    format!("{dashes}BEGIN {label}{dashes}\n{}\n{dashes}END {label}{dashes}\n", lines.join("\n"))
}
