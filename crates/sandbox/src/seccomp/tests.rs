//! The filter, run on an interpreter of the few instructions it uses.

use proptest::prelude::*;

use super::*;

/// What the kernel would do on this machine, by these rules.
#[cfg(feature = "container")]
pub(crate) fn verdict_of(
    rules: impl IntoIterator<Item = &'static SyscallRule>,
    number: i64,
    arguments: [u64; 6],
) -> u32 {
    run(&filter(rules), ARCHITECTURE, number as u32, &arguments)
}

/// What the kernel would do.
fn verdict(arch: u32, number: u32, arguments: [u64; 6]) -> u32 {
    run(&filter(TABLE), arch, number, &arguments)
}

/// What the rules say, read one by one.
fn told(rules: &[&SyscallRule], number: u32, arguments: &[u64; 6]) -> u32 {
    let holds = |condition: &Condition| {
        let low = arguments[usize::from(condition.argument)] as u32;
        match condition.is {
            Comparison::Equal(value) => low == value,
            Comparison::Other(value) => low != value,
            Comparison::HasBit(bit) => low & bit == bit,
            Comparison::LacksBit(bit) => low & bit == 0,
        }
    };
    let applies = |rule: &&SyscallRule| {
        rule.number == i64::from(number)
            && (rule.when.is_empty() || rule.when.iter().any(|conditions| conditions.iter().all(holds)))
    };
    let first = rules.iter().copied().find(applies);
    first.map_or(libc::SECCOMP_RET_ALLOW, |rule| refused(rule.errno))
}

/// Arguments near the values that rules look for.
fn arguments() -> impl Strategy<Value = [u64; 6]> {
    let values: Vec<u32> = rules(Programs::Refused)
        .flat_map(|rule| rule.when.iter().copied().flatten())
        .map(|condition| match condition.is {
            Comparison::Equal(value) | Comparison::Other(value) => value,
            Comparison::HasBit(bit) | Comparison::LacksBit(bit) => bit,
        })
        .collect();
    let known =
        (prop::sample::select(values), any::<u32>()).prop_map(|(low, high)| u64::from(high) << 32 | u64::from(low));
    prop::array::uniform6(prop_oneof![known, any::<u64>(), Just(0)])
}

fn run(program: &Filter, arch: u32, number: u32, arguments: &[u64; 6]) -> u32 {
    steps(program, arch, number, arguments).0
}

/// The answer, and how many instructions it took.
fn steps(program: &Filter, arch: u32, number: u32, arguments: &[u64; 6]) -> (u32, usize) {
    let load = |offset: u32| match offset {
        0 => number,
        4 => arch,
        _ => {
            let argument = arguments[(offset as usize - 16) / 8];
            if offset.is_multiple_of(8) { argument as u32 } else { (argument >> 32) as u32 }
        }
    };
    let (mut at, mut accumulator, mut taken) = (0, 0_u32, 0);
    loop {
        let step = &program[at];
        at += 1;
        taken += 1;
        let jump = |taken: bool| usize::from(if taken { step.jt } else { step.jf });
        match step.code {
            0x20 => accumulator = load(step.k),
            0x54 => accumulator &= step.k,
            0x05 => at += step.k as usize,
            0x15 => at += jump(accumulator == step.k),
            0x25 => at += jump(accumulator > step.k),
            0x35 => at += jump(accumulator >= step.k),
            0x06 => return (step.k, taken),
            code => panic!("instruction {code:#x} is unknown to this interpreter"),
        }
    }
}

fn refused(errno: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | errno.unsigned_abs()
}

fn on_this_machine(number: i64, arguments: [u64; 6]) -> u32 {
    verdict(ARCHITECTURE, number as u32, arguments)
}

#[test]
fn every_rule_of_the_table_is_named_once_and_has_a_reason() {
    let all: Vec<_> = rules(Programs::Refused).chain(REFUSABLE).collect();
    for (index, rule) in all.iter().enumerate() {
        assert!(!rule.reason.is_empty(), "{}", rule.name);
        assert!(all[..index].iter().all(|earlier| earlier.name != rule.name), "{} appears twice", rule.name);
        assert!(rule.number <= NEWEST_KNOWN.into(), "{} is newer than the table", rule.name);
    }
}

#[test]
fn a_call_that_is_always_refused_answers_with_its_code() {
    for rule in TABLE.iter().filter(|rule| rule.when.is_empty()) {
        assert_eq!(on_this_machine(rule.number, [0; 6]), refused(rule.errno), "{}", rule.name);
    }
}

#[test]
fn ordinary_calls_are_allowed() {
    for number in [libc::SYS_read, libc::SYS_openat, libc::SYS_execveat, libc::SYS_wait4, libc::SYS_futex] {
        assert_eq!(on_this_machine(number, [0; 6]), libc::SECCOMP_RET_ALLOW);
    }
}

#[test]
fn another_architecture_dies() {
    const I386: u32 = 0x4000_0003;
    assert_eq!(verdict(I386, 20, [0; 6]), libc::SECCOMP_RET_KILL_PROCESS);
}

#[test]
fn threads_may_be_made_but_no_namespaces() {
    let thread = (libc::CLONE_VM | libc::CLONE_THREAD | libc::CLONE_SIGHAND) as u64;
    assert_eq!(on_this_machine(libc::SYS_clone, [thread, 0, 0, 0, 0, 0]), libc::SECCOMP_RET_ALLOW);
    let user = (libc::CLONE_NEWUSER | libc::SIGCHLD) as u64;
    assert_eq!(on_this_machine(libc::SYS_clone, [user, 0, 0, 0, 0, 0]), refused(libc::EPERM));
}

#[test]
fn only_common_sockets_exist() {
    let socket =
        |family: i32, protocol: i32| on_this_machine(libc::SYS_socket, [family as u64, 1, protocol as u64, 0, 0, 0]);
    assert_eq!(socket(libc::AF_UNIX, 0), libc::SECCOMP_RET_ALLOW);
    assert_eq!(socket(libc::AF_INET6, libc::IPPROTO_TCP), libc::SECCOMP_RET_ALLOW);
    assert_eq!(socket(libc::AF_INET, libc::IPPROTO_SCTP), refused(libc::EPROTONOSUPPORT));
    for family in [libc::AF_NETLINK, libc::AF_PACKET, libc::AF_VSOCK, libc::AF_ALG] {
        assert_eq!(socket(family, 0), refused(libc::EAFNOSUPPORT));
    }
}

#[test]
fn files_that_lend_privileges_cannot_be_made() {
    let open = |flags: i32, mode: u64| on_this_machine(libc::SYS_openat, [0, 0, flags as u64, mode, 0, 0]);
    assert_eq!(open(libc::O_CREAT | libc::O_WRONLY, 0o644), libc::SECCOMP_RET_ALLOW);
    assert_eq!(open(libc::O_DIRECTORY, 0o4755), libc::SECCOMP_RET_ALLOW, "without creation the mode means nothing");
    assert_eq!(open(libc::O_CREAT, 0o4755), refused(libc::EPERM));
    assert_eq!(open(libc::O_TMPFILE | libc::O_RDWR, 0o2755), refused(libc::EPERM));
    let change = |mode| on_this_machine(libc::SYS_fchmodat, [0, 0, mode, 0, 0, 0]);
    assert_eq!((change(0o1777), change(0o4755)), (libc::SECCOMP_RET_ALLOW, refused(libc::EPERM)));
}

#[test]
fn a_filter_as_bytes_is_the_instructions_of_the_kernel() {
    let (program, bytes) = (filter(rules(Programs::Refused)), bytes(rules(Programs::Refused)));
    assert_eq!(bytes.len(), program.len() * 8);
    assert_eq!(bytes[4..8], program[0].k.to_ne_bytes());
}

#[test]
fn the_kernel_takes_the_filter_and_no_call_takes_many_steps() {
    let program = filter(rules(Programs::Refused));
    assert!(program.len() <= 4_096, "the kernel takes no longer ones: {}", program.len());
    let steps = |number| steps(&program, ARCHITECTURE, number, &[0; 6]).1;
    assert!((0..=NEWEST_KNOWN).all(|number| steps(number) <= 64));
    assert!(steps(libc::SYS_read as u32) <= 20, "the search is a tree");
}

#[test]
fn process_1_keeps_its_limits_and_everybody_else_may_change_theirs() {
    let limit = |process| on_this_machine(libc::SYS_prlimit64, [process, 0, 0, 0, 0, 0]);
    assert_eq!((limit(0), limit(2)), (libc::SECCOMP_RET_ALLOW, libc::SECCOMP_RET_ALLOW));
    assert_eq!((limit(1), limit(1 | 1 << 32)), (refused(libc::EPERM), refused(libc::EPERM)));
}

#[test]
fn memory_that_can_be_executed_is_refused_where_programs_are() {
    let memory = |programs, flags: u32| {
        let number = libc::SYS_memfd_create as u32;
        run(&filter(rules(programs)), ARCHITECTURE, number, &[0, flags.into(), 0, 0, 0, 0])
    };
    let sealed = libc::MFD_NOEXEC_SEAL | libc::MFD_CLOEXEC;
    assert_eq!(memory(Programs::Allowed, libc::MFD_CLOEXEC), libc::SECCOMP_RET_ALLOW);
    assert_eq!(memory(Programs::Refused, sealed), libc::SECCOMP_RET_ALLOW);
    assert_eq!(memory(Programs::Refused, libc::MFD_CLOEXEC), refused(libc::EACCES));
}

/// Rules with conditions for more calls than there are, so that answers lie further apart than a comparison leads.
fn many_rules() -> Vec<SyscallRule> {
    const WHEN: &[&[Condition]] = &[
        &[Condition { argument: 0, is: Comparison::HasBit(1) }, Condition { argument: 1, is: Comparison::Other(0) }],
        &[Condition { argument: 2, is: Comparison::LacksBit(2) }],
    ];
    let rule = |number: u32| SyscallRule {
        name: "one of many",
        number: number.into(),
        when: if number.is_multiple_of(3) { &[] } else { WHEN },
        errno: 1 + (number % 7) as i32,
        reason: "a test",
    };
    (0..=NEWEST_KNOWN).filter(|number| number % 5 != 0).map(rule).collect()
}

proptest! {
    #[test]
    fn the_filter_says_what_the_rules_say(arguments in arguments()) {
        let many = many_rules();
        let sets: [Vec<&SyscallRule>; 5] = [
            rules(Programs::Allowed).collect(),
            rules(Programs::Refused).collect(),
            rules(Programs::Refused).chain(REFUSABLE).collect(),
            many.iter().collect(),
            Vec::new(),
        ];
        for set in sets {
            let program = filter(set.iter().copied());
            for number in 0..=NEWEST_KNOWN {
                let said = run(&program, ARCHITECTURE, number, &arguments);
                prop_assert_eq!(said, told(&set, number, &arguments), "call {}", number);
            }
        }
    }

    #[test]
    fn no_number_beyond_the_table_exists(number in NEWEST_KNOWN + 1..) {
        prop_assert_eq!(verdict(ARCHITECTURE, number, [0; 6]), refused(libc::ENOSYS));
    }

    #[test]
    fn high_bits_do_not_hide_a_terminal_request(high in any::<u32>()) {
        for request in [libc::TIOCSTI, libc::TIOCLINUX, libc::TIOCSETD] {
            let request = (u64::from(high) << 32) | request;
            prop_assert_eq!(on_this_machine(libc::SYS_ioctl, [0, request, 0, 0, 0, 0]), refused(libc::EPERM));
        }
    }

    #[test]
    fn any_namespace_flag_is_seen_among_others(others in any::<u32>(), high in any::<u32>()) {
        let flags = (u64::from(high) << 32) | u64::from(others) | libc::CLONE_NEWNET as u64;
        prop_assert_eq!(on_this_machine(libc::SYS_clone, [flags, 0, 0, 0, 0, 0]), refused(libc::EPERM));
    }

    #[test]
    fn no_other_socket_family_passes(family in any::<u64>()) {
        let known = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6].contains(&(family as i32));
        let expected = if known { libc::SECCOMP_RET_ALLOW } else { refused(libc::EAFNOSUPPORT) };
        prop_assert_eq!(on_this_machine(libc::SYS_socket, [family, 0, 0, 0, 0, 0]), expected);
    }
}
