//! Refused system calls: what a rule is, and the rules of a cage. What they are is in [`table`], how they become
//! instructions for the kernel in [`filter`]; this file decides nothing about single calls.

mod filter;
mod refusable;
mod table;

use libc::sock_filter;
use serde::Serialize;

use crate::profile::Programs;
pub(crate) use filter::Filter;
use refusable::REFUSABLE;
use table::{NO_PROGRAMS, TABLE};

/// One refused system call, or one refused use of it.
#[derive(Debug, PartialEq, Eq)]
pub struct SyscallRule {
    /// Unique in the table: the call, and after a colon the use that is meant.
    pub name: &'static str,
    /// Its number on this architecture.
    pub number: i64,
    /// The uses that are refused: any alternative, each with all of its conditions. Empty: every use.
    pub when: &'static [&'static [Condition]],
    /// The error code the caller sees.
    pub errno: i32,
    /// Why it is refused, and why with that code where it is not the usual one.
    pub reason: &'static str,
}

/// A condition on one argument. Only the low 32 bits count: the kernel ignores the rest of an `int` argument, so a
/// comparison of all 64 bits could be evaded by setting a high one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Condition {
    /// Which argument, from 0.
    pub argument: u8,
    /// What is compared.
    pub is: Comparison,
}

/// What a [`Condition`] compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// The argument is this value.
    Equal(u32),
    /// The argument is any other value.
    Other(u32),
    /// The argument has this bit.
    HasBit(u32),
    /// The argument does not have this bit.
    LacksBit(u32),
}

/// The rules of a cage, by whether programs that were written in it may be started.
pub(crate) fn rules(programs: Programs) -> impl Iterator<Item = &'static SyscallRule> {
    let more = match programs {
        Programs::Allowed => &[],
        Programs::Refused => NO_PROGRAMS,
    };
    TABLE.iter().chain(more)
}

/// The rule of that name.
pub(crate) fn rule(name: &str) -> Option<&'static SyscallRule> {
    rules(Programs::Refused).chain(REFUSABLE).find(|rule| rule.name == name)
}

/// The rule for a call that a profile may refuse besides.
pub(crate) fn refusable(name: &str) -> Option<&'static SyscallRule> {
    REFUSABLE.iter().find(|rule| rule.name == name)
}

/// The names of those, for a sentence.
pub(crate) fn refusable_names() -> String {
    REFUSABLE.iter().map(|rule| rule.name).collect::<Vec<_>>().join(", ")
}

/// The filter for these rules.
pub(crate) fn filter<'a>(rules: impl IntoIterator<Item = &'a SyscallRule>) -> Filter {
    filter::filter(rules)
}

/// The same filter as other launchers take it: instruction by instruction, in the byte order of the machine.
pub(crate) fn bytes<'a>(rules: impl IntoIterator<Item = &'a SyscallRule>) -> Vec<u8> {
    let instruction = |each: sock_filter| {
        let [code_one, code_two] = each.code.to_ne_bytes();
        let [one, two, three, four] = each.k.to_ne_bytes();
        [code_one, code_two, each.jt, each.jf, one, two, three, four]
    };
    filter(rules).into_iter().flat_map(instruction).collect()
}

/// The kernel's name for the architecture (`AUDIT_ARCH_*`).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// The newest system call the table was checked against (`file_setattr`, Linux 6.17).
const NEWEST_KNOWN: u32 = 469;

#[cfg(test)]
pub(crate) mod tests;
