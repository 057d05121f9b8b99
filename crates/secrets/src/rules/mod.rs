//! The rules that ship, by what the secrets open.
//!
//! Written from what the vendors say of their formats. Where a vendor says nothing, lengths are those that are seen in
//! the wild, with some room. No rule knows whether a secret is still valid: nobody is asked.

mod chat;
mod cloud;
mod code_hosts;
mod data;
mod identity;
mod infrastructure;
mod mail;
mod models;
mod money;
mod observability;
mod packages;
mod products;

use crate::rule::{Rule, Shipped};

const TABLES: &[&[Shipped]] = &[
    chat::RULES,
    cloud::RULES,
    code_hosts::RULES,
    data::RULES,
    identity::RULES,
    infrastructure::RULES,
    mail::RULES,
    models::RULES,
    money::RULES,
    observability::RULES,
    packages::RULES,
    products::RULES,
];

/// All rules with a shape. Every one of them is tried by a test, hence none can fail here.
pub(crate) fn shipped() -> Vec<Rule> {
    let load = |rule: &Shipped| rule.load().expect("a test reads every shipped shape");
    TABLES.iter().copied().flatten().map(load).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_shape_can_be_read() {
        for rule in TABLES.iter().copied().flatten() {
            assert!(rule.load().is_ok(), "{}: {:?}", rule.id, rule.load().err());
        }
    }

    #[test]
    fn every_token_has_a_literal_to_look_for() {
        for rule in shipped().iter().filter(|rule| rule.names.is_empty()) {
            for shape in &rule.shapes {
                assert!(shape.anchor().is_some_and(|anchor| anchor.len() >= 2), "{}", rule.id);
            }
        }
    }
}
