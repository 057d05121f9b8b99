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
    let mut program = Backwards { written: Vec::with_capacity(rules.len() * USUAL_LENGTH), answers: Vec::new() };
    program.search(&calls);
    program.border();
    program.into_filter()
}

/// Numbers of system calls are small and not negative.
fn number(rule: &SyscallRule) -> u32 {
    rule.number.unsigned_abs() as u32
}

/// Most rules take two comparisons, and some conditions; this is enough for all that there are.
const USUAL_LENGTH: usize = 6;

/// A program that is written from its end, so that whatever a jump leads to is there already. The kernel translates and
/// tries every instruction for every cage, so an answer is written once for all that lead to it.
struct Backwards {
    written: Filter,
    /// Where each answer was written last.
    answers: Vec<(u32, Place)>,
}

/// A written instruction, counted from the end of the program.
#[derive(Clone, Copy)]
struct Place(usize);

impl Backwards {
    fn into_filter(mut self) -> Filter {
        self.written.reverse();
        self.written
    }

    fn write(&mut self, instruction: sock_filter) -> Place {
        self.written.push(instruction);
        Place(self.written.len() - 1)
    }

    /// How many instructions the next one would skip to get there.
    fn skipped(&self, to: Place) -> usize {
        self.written.len() - 1 - to.0
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
        self.written.extend(forwards.into_iter().rev());
    }

    /// Finds the call by its number, which is loaded.
    fn search(&mut self, calls: &[&[&SyscallRule]]) -> Place {
        match calls {
            [] => self.write(step(RETURN, libc::SECCOMP_RET_ALLOW)),
            [rules] => {
                let (no, yes) = (self.answer(libc::SECCOMP_RET_ALLOW), self.rules(rules));
                self.branch(IF_EQUAL, number(rules[0]), yes, no)
            }
            _ => {
                let (low, high) = calls.split_at(calls.len() / 2);
                let (no, yes) = (self.search(low), self.search(high));
                self.branch(IF_NOT_LESS, number(high[0][0]), yes, no)
            }
        }
    }

    /// The first rule that applies answers; where none does, the call is allowed.
    fn rules(&mut self, rules: &[&SyscallRule]) -> Place {
        let always = rules.iter().position(|rule| rule.when.is_empty());
        let last = always.map_or(libc::SECCOMP_RET_ALLOW, |index| refusal(rules[index].errno));
        let last = self.answer(last);
        let conditional = rules[..always.unwrap_or(rules.len())].iter().rev();
        let alternatives = conditional.flat_map(|rule| rule.when.iter().rev().map(|when| (*when, rule.errno)));
        alternatives.fold(last, |pass, (conditions, errno)| self.refuse_if_all_hold(conditions, errno, pass))
    }

    fn refuse_if_all_hold(&mut self, conditions: &[Condition], errno: i32, pass: Place) -> Place {
        let refused = self.answer(refusal(errno));
        conditions.iter().rev().fold(refused, |held, condition| self.condition(*condition, held, pass))
    }

    fn condition(&mut self, condition: Condition, held: Place, pass: Place) -> Place {
        match condition.is {
            Comparison::Equal(value) => self.branch(IF_EQUAL, value, held, pass),
            Comparison::Other(value) => self.branch(IF_EQUAL, value, pass, held),
            Comparison::HasBit(bit) => {
                self.branch(IF_EQUAL, bit, held, pass);
                self.write(step(AND, bit))
            }
            Comparison::LacksBit(bit) => {
                self.branch(IF_EQUAL, 0, held, pass);
                self.write(step(AND, bit))
            }
        };
        // The low half of an argument comes first on the machines there are rules for.
        self.write(step(LOAD, ARGUMENTS + 8 * u32::from(condition.argument)))
    }

    /// The answer where it was written last, unless that is too far for those who will lead to it.
    fn answer(&mut self, answer: u32) -> Place {
        let known = self.answers.iter().find(|(known, _)| *known == answer).map(|(_, place)| *place);
        match known.filter(|place| self.skipped(*place) <= FAR / 2) {
            Some(place) => place,
            None => {
                let place = self.write(step(RETURN, answer));
                self.answers.retain(|(known, _)| *known != answer);
                self.answers.push((answer, place));
                place
            }
        }
    }

    fn branch(&mut self, comparison: u16, value: u32, yes: Place, no: Place) -> Place {
        let (no, yes) = (self.within_reach(no), self.within_reach(yes));
        self.write(jump(comparison, value, self.skipped(yes) as u8, self.skipped(no) as u8))
    }

    /// The same place, or one that leads there. One more may be written before it is led to.
    fn within_reach(&mut self, to: Place) -> Place {
        match self.skipped(to) {
            near if near < FAR => to,
            far => self.write(step(JUMP, far as u32)),
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
