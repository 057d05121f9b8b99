//! One filter for all rules: a search tree over the numbers of system calls, with what is refused at its leaves.
//!
//! A tree and not a list, because the kernel runs the filter for every number there is when it is installed, and a
//! list of all rules made that the longest step on the way into a cage.

use libc::sock_filter;

use super::{ARCHITECTURE, Comparison, Condition, NEWEST_KNOWN, SyscallRule};

/// Instructions for the kernel.
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
    let mut rules: Vec<&SyscallRule> = rules.into_iter().collect();
    // Those of one call stay in their order.
    rules.sort_by_key(|rule| number(rule));
    let calls: Vec<&[&SyscallRule]> = rules.chunk_by(|one, next| one.number == next.number).collect();
    let mut program = Backwards(Vec::with_capacity(rules.len() * USUAL_LENGTH));
    program.search(&calls);
    program.border();
    program.into_filter()
}

/// Numbers of system calls are small and not negative.
fn number(rule: &SyscallRule) -> u32 {
    rule.number.unsigned_abs() as u32
}

/// Most rules take a comparison and an answer, and some conditions; this is enough for all that there are.
const USUAL_LENGTH: usize = 8;

/// A program that is written from its end: a jump skips what is written already, so nothing has to be moved or measured
/// before. What a piece of it does not answer, it leaves to what was written before.
struct Backwards(Filter);

impl Backwards {
    fn into_filter(mut self) -> Filter {
        self.0.reverse();
        self.0
    }

    /// Another architecture dies: its numbers mean other calls. Numbers above the newest known do not exist here; that
    /// covers x32, whose numbers start at 2^30, and whatever a later kernel invents.
    fn border(&mut self) {
        let forwards = [
            step(LOAD, ARCH),
            jump(IF_EQUAL, ARCHITECTURE, 1, 0),
            step(RETURN, libc::SECCOMP_RET_KILL_PROCESS),
            step(LOAD, NUMBER),
            jump(IF_GREATER, NEWEST_KNOWN, 0, 1),
            step(RETURN, refusal(libc::ENOSYS)),
        ];
        self.0.extend(forwards.into_iter().rev());
    }

    /// Finds the call by its number, which is loaded.
    fn search(&mut self, calls: &[&[&SyscallRule]]) {
        match calls {
            [] => self.0.push(step(RETURN, libc::SECCOMP_RET_ALLOW)),
            [rules] => {
                self.search(&[]);
                let no = self.0.len();
                self.answer(rules);
                self.branch(IF_EQUAL, number(rules[0]), no);
            }
            _ => {
                let (low, high) = calls.split_at(calls.len() / 2);
                self.search(low);
                let no = self.0.len();
                self.search(high);
                self.branch(IF_NOT_LESS, number(high[0][0]), no);
            }
        }
    }

    /// Leads to what was written last if the comparison holds, else to what was written before the program was so long.
    fn branch(&mut self, comparison: u16, value: u32, no: usize) {
        let yes = self.0.len() - no;
        match u8::try_from(yes) {
            Ok(past) => self.0.push(jump(comparison, value, 0, past)),
            Err(_) => self.0.extend([step(JUMP, yes as u32), jump(comparison, value, 1, 0)]),
        }
    }

    /// The first rule that applies answers; where none does, the call is allowed.
    fn answer(&mut self, rules: &[&SyscallRule]) {
        let always = rules.iter().position(|rule| rule.when.is_empty());
        self.0.push(step(RETURN, always.map_or(libc::SECCOMP_RET_ALLOW, |index| refusal(rules[index].errno))));
        for rule in rules[..always.unwrap_or(rules.len())].iter().rev() {
            rule.when.iter().rev().for_each(|conditions| self.unless_all_hold_pass(conditions, rule.errno));
        }
    }

    /// Refuses if all conditions hold, else leads to what was written before.
    fn unless_all_hold_pass(&mut self, conditions: &[Condition], errno: i32) {
        let pass = self.0.len();
        self.0.push(step(RETURN, refusal(errno)));
        for condition in conditions.iter().rev() {
            let past = self.0.len() - pass;
            debug_assert!(past <= FAR, "a rule has a handful of conditions");
            self.holds(*condition, past as u8);
        }
    }

    /// Goes on if the condition holds, else skips so many instructions.
    fn holds(&mut self, condition: Condition, past: u8) {
        // The low half of an argument comes first on the machines there are rules for.
        let load = step(LOAD, ARGUMENTS + 8 * u32::from(condition.argument));
        match condition.is {
            Comparison::Equal(value) => self.0.extend([jump(IF_EQUAL, value, 0, past), load]),
            Comparison::Other(value) => self.0.extend([jump(IF_EQUAL, value, past, 0), load]),
            Comparison::HasBit(bit) => self.0.extend([jump(IF_EQUAL, bit, 0, past), step(AND, bit), load]),
            Comparison::LacksBit(bit) => self.0.extend([jump(IF_EQUAL, 0, 0, past), step(AND, bit), load]),
        }
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
