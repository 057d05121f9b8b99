//! Turns the table of refused system calls into filters the kernel applies.
//!
//! Three kinds of filter are stacked, and the strictest answer wins: a prefix filter of our own (wrong architecture,
//! x32 numbers, numbers newer than the table), then one filter per error code of the table. What the table lists is
//! in [`table`]; this file decides nothing about single calls.

mod table;

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};

use crate::profile::Programs;
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// Which argument, from 0.
    pub argument: u8,
    /// What is compared.
    pub is: Comparison,
}

/// What a [`Condition`] compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// A rule that makes no filter. Only a mistake in the table leads here, and a test keeps it away.
#[derive(Debug, thiserror::Error)]
#[error("the refused system calls make no filter: {0}")]
pub(crate) struct FilterError(#[from] seccompiler::BackendError);

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
    rules(Programs::Refused).find(|rule| rule.name == name)
}

/// The filters for these rules, in the order they are to be applied.
pub(crate) fn filters<'a>(rules: impl IntoIterator<Item = &'a SyscallRule>) -> Result<Vec<BpfProgram>, FilterError> {
    let mut by_errno: BTreeMap<i32, BTreeMap<i64, Vec<SeccompRule>>> = BTreeMap::new();
    for rule in rules {
        let alternatives = by_errno.entry(rule.errno).or_default().entry(rule.number).or_default();
        for conditions in rule.when {
            alternatives.push(compiled(conditions)?);
        }
    }
    let tables = by_errno.into_iter().map(|(errno, rules)| Ok(answering(errno, rules)?));
    std::iter::once(Ok(prefix())).chain(tables).collect()
}

/// The same filters as other launchers take them: instruction by instruction, in the byte order of the machine.
pub(crate) fn bytes<'a>(rules: impl IntoIterator<Item = &'a SyscallRule>) -> Result<Vec<Vec<u8>>, FilterError> {
    let instruction = |each: &sock_filter| {
        let [code_one, code_two] = each.code.to_ne_bytes();
        let [one, two, three, four] = each.k.to_ne_bytes();
        [code_one, code_two, each.jt, each.jf, one, two, three, four]
    };
    Ok(filters(rules)?.iter().map(|program| program.iter().flat_map(instruction).collect()).collect())
}

fn answering(errno: i32, rules: BTreeMap<i64, Vec<SeccompRule>>) -> Result<BpfProgram, seccompiler::BackendError> {
    let refuse = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, target()).and_then(TryInto::try_into)
}

fn compiled(conditions: &[Condition]) -> Result<SeccompRule, FilterError> {
    let compile = |condition: &Condition| {
        let (operator, value) = match condition.is {
            Comparison::Equal(value) => (SeccompCmpOp::Eq, value),
            Comparison::Other(value) => (SeccompCmpOp::Ne, value),
            Comparison::HasBit(bit) => (SeccompCmpOp::MaskedEq(bit.into()), bit),
            Comparison::LacksBit(bit) => (SeccompCmpOp::MaskedEq(bit.into()), 0),
        };
        SeccompCondition::new(condition.argument, SeccompCmpArgLen::Dword, operator, value.into())
    };
    let conditions: Result<Vec<_>, _> = conditions.iter().map(compile).collect();
    Ok(SeccompRule::new(conditions?)?)
}

#[cfg(target_arch = "x86_64")]
fn target() -> TargetArch {
    TargetArch::x86_64
}

#[cfg(target_arch = "aarch64")]
fn target() -> TargetArch {
    TargetArch::aarch64
}

/// The kernel's name for the architecture (`AUDIT_ARCH_*`).
#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: u32 = 0xC000_003E;
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: u32 = 0xC000_00B7;

/// The newest system call the table was checked against (`file_setattr`, Linux 6.17).
const NEWEST_KNOWN: u32 = 469;

/// Another architecture dies: its numbers mean other calls. Numbers above the newest known do not exist here; that
/// covers x32, whose numbers start at 2^30, and whatever a later kernel invents.
fn prefix() -> BpfProgram {
    const LOAD: u16 = 0x20;
    const JUMP_EQUAL: u16 = 0x15;
    const JUMP_GREATER: u16 = 0x25;
    const RETURN: u16 = 0x06;
    const NUMBER: u32 = 0;
    const ARCH: u32 = 4;
    let step = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    vec![
        step(LOAD, 0, 0, ARCH),
        step(JUMP_EQUAL, 1, 0, ARCHITECTURE),
        step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, 0, 0, NUMBER),
        step(JUMP_GREATER, 0, 1, NEWEST_KNOWN),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs()),
        step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

#[cfg(test)]
mod tests;
