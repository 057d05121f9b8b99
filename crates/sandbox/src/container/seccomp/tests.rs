//! The profile, read the way engines read it, against the filters of the cage, run the way the kernel runs them.

use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::profile::Programs;
use crate::seccomp::{self, Comparison, tests::verdict_of};

static WITH_PROGRAMS: LazyLock<Value> = LazyLock::new(|| engine_profile(&rules(Programs::Allowed)));
static WITHOUT_PROGRAMS: LazyLock<Value> = LazyLock::new(|| engine_profile(&rules(Programs::Refused)));

fn profile(programs: Programs) -> &'static Value {
    match programs {
        Programs::Allowed => &WITH_PROGRAMS,
        Programs::Refused => &WITHOUT_PROGRAMS,
    }
}

fn rules(programs: Programs) -> Vec<&'static SyscallRule> {
    seccomp::rules(programs).collect()
}

/// What the engine's filter answers: 0 for allowed, else the error code.
fn engine_answer(profile: &Value, call: &str, arguments: [u64; 6]) -> u64 {
    let matches = |entry: &&Value| {
        let named = entry["names"].as_array().expect("names").iter().any(|name| name == call);
        named && entry["args"].as_array().is_none_or(|all| all.iter().all(|one| holds(one, arguments)))
    };
    let hits: Vec<_> = profile["syscalls"].as_array().expect("entries").iter().filter(matches).collect();
    let answers = hits.iter().map(|entry| match entry["action"].as_str() {
        Some("SCMP_ACT_ALLOW") => 0,
        _ => entry["errnoRet"].as_u64().expect("a code"),
    });
    let mut answers: Vec<_> = answers.collect();
    answers.dedup();
    assert!(answers.len() <= 1, "{call}{arguments:?} has several answers: {hits:?}");
    answers.first().copied().unwrap_or(profile["defaultErrnoRet"].as_u64().expect("a code"))
}

fn holds(comparison: &Value, arguments: [u64; 6]) -> bool {
    assert_eq!(comparison["op"], "SCMP_CMP_MASKED_EQ");
    let number = |field: &str| comparison[field].as_u64().expect("a number");
    arguments[number("index") as usize] & number("value") == number("valueTwo")
}

fn cage_answer(rules: &[&'static SyscallRule], number: i64, arguments: [u64; 6]) -> u64 {
    match verdict_of(rules.iter().copied(), number, arguments) {
        libc::SECCOMP_RET_ALLOW => 0,
        refused => (refused & 0xffff).into(),
    }
}

#[test]
fn no_entry_compares_an_argument_twice() {
    let profile = profile(Programs::Refused);
    for entry in profile["syscalls"].as_array().expect("entries") {
        let indices: Vec<_> = entry["args"].as_array().into_iter().flatten().map(|one| one["index"].as_u64()).collect();
        let mut once = indices.clone();
        once.dedup();
        assert_eq!(indices, once, "{entry}");
    }
}

#[test]
fn every_rule_names_a_call_that_is_known() {
    for rule in rules(Programs::Refused) {
        let call = rule.name.split(':').next().expect("a name");
        assert!(CALLS.split_whitespace().any(|known| known == call), "{call}");
    }
}

#[test]
fn a_call_nobody_has_heard_of_does_not_exist() {
    let profile = profile(Programs::Allowed);
    assert_eq!(engine_answer(profile, "call_of_the_future", [0; 6]), libc::ENOSYS as u64);
    assert_eq!(engine_answer(profile, "read", [0; 6]), 0);
    assert_eq!(engine_answer(profile, "memfd_create", [0; 6]), 0, "a rule of other profiles");
}

/// Values that rules compare with, their neighbours, and anything else.
fn interesting() -> impl Strategy<Value = u64> {
    let mut values: Vec<u64> = vec![0, 1, 2, u64::MAX];
    for condition in rules(Programs::Refused).iter().flat_map(|rule| rule.when).copied().flatten() {
        let (Comparison::Equal(value)
        | Comparison::Other(value)
        | Comparison::HasBit(value)
        | Comparison::LacksBit(value)) = condition.is;
        values.extend([value.into(), u64::from(value) + 1, u64::from(value) | 1 << 40]);
    }
    prop_oneof![4 => prop::sample::select(values), 1 => any::<u64>(), 1 => any::<u32>().prop_map(u64::from)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn engine_and_cage_answer_alike(
        index in any::<prop::sample::Index>(),
        arguments in prop::array::uniform6(interesting()),
        programs in prop::sample::select(vec![Programs::Allowed, Programs::Refused]),
    ) {
        let rules = rules(programs);
        let rule = index.get(&rules);
        let call = rule.name.split(':').next().expect("a name");
        let engine = engine_answer(profile(programs), call, arguments);
        prop_assert_eq!(engine, cage_answer(&rules, rule.number, arguments), "{} {:?}", call, arguments);
    }
}
