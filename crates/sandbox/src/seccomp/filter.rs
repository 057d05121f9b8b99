//! One filter for all rules: a search tree over the numbers of system calls, with what is refused at its leaves.
//!
//! A tree and not a list, because the kernel runs the filter for every number there is when it is installed, and a
//! list of all rules made that the longest step on the way into a cage.

use std::collections::BTreeMap;

use libc::sock_filter;

use super::{ARCHITECTURE, Comparison, Condition, NEWEST_KNOWN, SyscallRule};

/// Instructions for the kernel. What a piece of a program does not answer, it leaves to what follows it.
pub(crate) type Filter = Vec<sock_filter>;

const LOAD: u16 = 0x20;
const AND: u16 = 0x54;
const JUMP: u16 = 0x05;
const IF_EQUAL: u16 = 0x15;
const IF_GREATER: u16 = 0x25;
const IF_NOT_LESS: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Where the kernel keeps the number of the call, the architecture, and the arguments of eight bytes each.
const NUMBER: u32 = 0;
const ARCH: u32 = 4;
const ARGUMENTS: u32 = 16;

/// Conditional jumps lead this far.
const FAR: usize = u8::MAX as usize;

pub(super) fn filter<'a>(rules: impl IntoIterator<Item = &'a SyscallRule>) -> Filter {
    let mut by_number: BTreeMap<u32, Vec<&SyscallRule>> = BTreeMap::new();
    for rule in rules {
        // Numbers of system calls are small and not negative.
        by_number.entry(rule.number.unsigned_abs() as u32).or_default().push(rule);
    }
    let calls: Vec<(u32, Filter)> = by_number.into_iter().map(|(number, rules)| (number, answer(&rules))).collect();
    let mut program = border();
    program.extend(search(&calls));
    program
}

/// Another architecture dies: its numbers mean other calls. Numbers above the newest known do not exist here; that
/// covers x32, whose numbers start at 2^30, and whatever a later kernel invents.
fn border() -> Filter {
    vec![
        step(LOAD, ARCH),
        jump(IF_EQUAL, ARCHITECTURE, 1, 0),
        step(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
        step(LOAD, NUMBER),
        jump(IF_GREATER, NEWEST_KNOWN, 0, 1),
        step(RETURN, refusal(libc::ENOSYS)),
    ]
}

/// Finds the call by its number, which is loaded.
fn search(calls: &[(u32, Filter)]) -> Filter {
    match calls {
        [] => vec![step(RETURN, libc::SECCOMP_RET_ALLOW)],
        [(number, answer)] => branch(IF_EQUAL, *number, answer.clone(), search(&[])),
        _ => {
            let (low, high) = calls.split_at(calls.len() / 2);
            branch(IF_NOT_LESS, high[0].0, search(high), search(low))
        }
    }
}

/// `yes` if the comparison holds, else `no`. Both end with an answer.
fn branch(comparison: u16, value: u32, yes: Filter, no: Filter) -> Filter {
    let mut program = match u8::try_from(yes.len()) {
        Ok(past) => vec![jump(comparison, value, 0, past)],
        Err(_) => vec![jump(comparison, value, 1, 0), step(JUMP, yes.len() as u32)],
    };
    program.extend(yes);
    program.extend(no);
    program
}

/// The first rule that applies answers; where none does, the call is allowed.
fn answer(rules: &[&SyscallRule]) -> Filter {
    let mut program = Filter::new();
    for rule in rules {
        if rule.when.is_empty() {
            program.push(step(RETURN, refusal(rule.errno)));
            return program;
        }
        program.extend(rule.when.iter().flat_map(|conditions| unless_all_hold_pass(conditions, rule.errno)));
    }
    program.push(step(RETURN, libc::SECCOMP_RET_ALLOW));
    program
}

/// Refuses if all conditions hold, else leads to what follows.
fn unless_all_hold_pass(conditions: &[Condition], errno: i32) -> Filter {
    let mut program = vec![step(RETURN, refusal(errno))];
    for condition in conditions.iter().rev() {
        debug_assert!(program.len() <= FAR, "a rule has a handful of conditions");
        let mut test = holds(*condition, program.len() as u8);
        test.extend(program);
        program = test;
    }
    program
}

/// Goes on if the condition holds, else skips so many instructions.
fn holds(condition: Condition, past: u8) -> Filter {
    // The low half of an argument comes first on the machines there are rules for.
    let load = step(LOAD, ARGUMENTS + 8 * u32::from(condition.argument));
    match condition.is {
        Comparison::Equal(value) => vec![load, jump(IF_EQUAL, value, 0, past)],
        Comparison::Other(value) => vec![load, jump(IF_EQUAL, value, past, 0)],
        Comparison::HasBit(bit) => vec![load, step(AND, bit), jump(IF_EQUAL, bit, 0, past)],
        Comparison::LacksBit(bit) => vec![load, step(AND, bit), jump(IF_EQUAL, 0, 0, past)],
    }
}

const fn refusal(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.unsigned_abs()
}

const fn step(code: u16, k: u32) -> sock_filter {
    jump(code, k, 0, 0)
}

const fn jump(code: u16, k: u32, jt: u8, jf: u8) -> sock_filter {
    sock_filter { code, jt, jf, k }
}
