//! The table of refused system calls as a profile of a container engine: the same answers, in the engines' own format.
//!
//! Where the cage of namespaces allows what no rule refuses, the profile names what is allowed and answers `ENOSYS` to
//! the rest. That way calls newer than the table do not exist, just as in the cage, and a rule for a call that the
//! engine's library does not know yet fails closed. A test compares both, call by call.

mod cases;
mod names;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::seccomp::SyscallRule;
use cases::{Case, Cases};
use names::CALLS;

/// The answer to calls that nothing allows.
const ABSENT: i32 = libc::ENOSYS;

#[cfg(target_arch = "x86_64")]
const ARCHITECTURE: &str = "SCMP_ARCH_X86_64";
#[cfg(target_arch = "aarch64")]
const ARCHITECTURE: &str = "SCMP_ARCH_AARCH64";

/// The profile that refuses what these rules refuse. Other architectures are not named, which ends their processes.
pub(super) fn engine_profile(rules: &[&'static SyscallRule]) -> Value {
    let by_call = by_call(rules);
    let free: Vec<&str> = CALLS.split_whitespace().filter(|call| !by_call.contains_key(call)).collect();
    let allowed = json!({"names": free, "action": "SCMP_ACT_ALLOW"});
    let restricted = by_call.iter().flat_map(|(call, rules)| entries(call, rules));
    json!({
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": ABSENT,
        "architectures": [ARCHITECTURE],
        "syscalls": std::iter::once(allowed).chain(restricted).collect::<Vec<_>>(),
    })
}

/// Rules are named after their call, with the use that is meant after a colon.
fn by_call(rules: &[&'static SyscallRule]) -> BTreeMap<&'static str, Vec<&'static SyscallRule>> {
    let mut by_call: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for rule in rules {
        by_call.entry(rule.name.split(':').next().unwrap_or(rule.name)).or_default().push(*rule);
    }
    by_call
}

/// Refused uses first, even with the answer that others get anyway (older engines know only one such answer, and it is
/// another one); then those that every rule spares.
fn entries(call: &str, rules: &[&SyscallRule]) -> Vec<Value> {
    let refused = rules.iter().flat_map(|rule| {
        let cases = if rule.when.is_empty() { Cases::every() } else { Cases::meant_by(rule.when) };
        cases.0.into_iter().map(|case| entry(call, &case, Some(rule.errno)))
    });
    let spared = rules.iter().fold(Cases::every(), |both, rule| {
        both.and(&if rule.when.is_empty() { Cases::none() } else { Cases::spared_by(rule.when) })
    });
    refused.chain(spared.0.iter().map(|case| entry(call, case, None))).collect()
}

fn entry(call: &str, case: &Case, errno: Option<i32>) -> Value {
    let compare = |(argument, bits): (&u8, &cases::Bits)| json!({"index": argument, "value": bits.mask, "valueTwo": bits.value, "op": "SCMP_CMP_MASKED_EQ"});
    let mut entry = json!({"names": [call], "args": case.0.iter().map(compare).collect::<Vec<_>>()});
    match errno {
        Some(errno) => {
            entry["action"] = "SCMP_ACT_ERRNO".into();
            entry["errnoRet"] = errno.into();
        }
        None => entry["action"] = "SCMP_ACT_ALLOW".into(),
    }
    entry
}
