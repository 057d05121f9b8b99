//! What every cage has, whatever its profile says: lists of files, devices and variables, each line with its reason. And
//! the texts of the profiles that ship.

use super::{Demand, LeastTier, Limits, Mount, MountKind, Profile, Programs, Variable, WorkspaceOwnership};
use crate::seccomp;

/// Name and text, each after the one it extends.
pub(super) const SHIPPED: &[(&str, &str)] = &[
    ("default", include_str!("../../profiles/default.toml")),
    ("agent", include_str!("../../profiles/agent.toml")),
    ("research_only", include_str!("../../profiles/research_only.toml")),
    ("code_development", include_str!("../../profiles/code_development.toml")),
    ("browser_automation", include_str!("../../profiles/browser_automation.toml")),
];

/// Never a place for programs: nothing needs to start them there.
pub(super) const SHARED_MEMORY: &str = "/dev/shm";

/// Parts of the host that programs need to run at all, or to be found.
const HOST: &[(&str, &str)] = &[
    ("/usr", "programs and libraries"),
    ("/bin", "programs, on hosts without a merged /usr; a link elsewhere"),
    ("/sbin", "programs, on hosts without a merged /usr; a link elsewhere"),
    ("/lib", "libraries, on hosts without a merged /usr; a link elsewhere"),
    ("/lib32", "libraries of 32-bit programs, where the host has them"),
    ("/lib64", "the dynamic loader is named by this path"),
    ("/etc/ld.so.cache", "the dynamic loader finds libraries outside the default directories by it"),
    ("/etc/alternatives", "on Debian, links in /usr/bin lead through it"),
    ("/etc/ssl/certs", "public certificates, to check the other side of a connection"),
    ("/etc/ssl/openssl.cnf", "OpenSSL does not start without it on some hosts"),
    ("/etc/pki/tls/certs", "public certificates on Fedora and its kin"),
    ("/etc/pki/ca-trust/extracted", "public certificates on Fedora and its kin lead there"),
    ("/etc/fonts", "text is drawn by it: pictures of pages, charts, documents"),
    ("/etc/localtime", "local time"),
    ("/etc/services", "names of network services"),
    ("/etc/protocols", "names of network protocols"),
];

/// Files that tell about the host, replaced by ones that tell nothing.
const FILES: &[(&str, &str, &str)] = &[
    (
        "/etc/passwd",
        "agent:x:1000:1000:agent:/home/agent:/bin/sh\nnobody:x:65534:65534:nobody:/:/usr/sbin/nologin\n",
        "programs ask for the name and home of their user; the host's users are nobody's business",
    ),
    ("/etc/group", "agent:x:1000:\nnogroup:x:65534:\n", "programs ask for the name of their group"),
    ("/etc/hosts", "127.0.0.1 localhost cage\n::1 localhost\n", "localhost without a name server"),
    ("/etc/hostname", "cage\n", "the same as the name of the namespace"),
    ("/etc/resolv.conf", "", "there is no network, hence no name server"),
    ("/etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n", "look names up in these files only"),
];

const DEVICES: &[(&str, &str)] = &[
    ("/dev/null", "discards"),
    ("/dev/zero", "zero bytes"),
    ("/dev/full", "a full device, for tests"),
    ("/dev/random", "random bytes"),
    ("/dev/urandom", "random bytes"),
];

const LINKS: &[(&str, &str, &str)] = &[
    ("/dev/fd", "/proc/self/fd", "shells pass pipes by this name"),
    ("/dev/stdin", "/proc/self/fd/0", "programs that take file names read standard input by it"),
    ("/dev/stdout", "/proc/self/fd/1", "programs that take file names write standard output by it"),
    ("/dev/stderr", "/proc/self/fd/2", "programs that take file names write standard error by it"),
    ("/var/tmp", "/tmp", "some programs insist on it"),
];

/// Readable, because runtimes look there; not writable even where file permissions would allow it.
const FROZEN: &[(&str, &str)] = &[
    ("/proc/sys", "kernel settings: writing some of them runs code as the host's root"),
    ("/proc/irq", "interrupt routing of the host"),
    ("/proc/bus", "devices of the host"),
    ("/proc/fs", "file systems of the host"),
];

/// Nothing in there is of use to a command, and much of it tells about the host.
const MASKED: &[(&str, &str)] = &[
    ("/proc/sysrq-trigger", "a write restarts the host"),
    ("/proc/kcore", "memory of the host"),
    ("/proc/kmsg", "messages of the kernel"),
    ("/proc/kallsyms", "addresses of the kernel"),
    ("/proc/keys", "keys of the user, wherever they are used"),
    ("/proc/key-users", "how many keys every user has"),
    ("/proc/cmdline", "how the host was booted; some hosts pass secrets that way"),
    ("/proc/config.gz", "how the kernel was built: which flaws to look for"),
    ("/proc/modules", "drivers of the host: which flaws to look for"),
    ("/proc/interrupts", "activity of the host's hardware, down to keystrokes"),
    ("/proc/partitions", "disks of the host"),
    ("/proc/diskstats", "activity of the host's disks"),
    ("/proc/sched_debug", "processes of the whole host, on kernels that have it"),
    ("/proc/timer_stats", "timers of the whole host, on kernels that have it"),
    ("/proc/timer_list", "timers of the whole host"),
    ("/proc/latency_stats", "activity of the whole host"),
    ("/proc/scsi", "disks of the host"),
    ("/proc/acpi", "hardware of the host"),
    ("/proc/asound", "sound hardware of the host"),
];

const VARIABLES: &[(&str, &str, &str)] = &[
    ("HOME", "/home/agent", "writable and private, unlike the caller's"),
    ("LANG", "C.UTF-8", "the one UTF-8 locale that needs no generated data"),
    ("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin", "programs of the host, nothing writable"),
    ("TERM", "dumb", "there is no terminal"),
    ("TMPDIR", "/tmp", "writable and private"),
    ("USER", "agent", "the name in /etc/passwd"),
];

/// No profile yet: everything that has a size is as small as can be, until `default` says otherwise.
pub(super) fn base() -> Profile {
    let path = VARIABLES.iter().filter(|entry| entry.0 == "PATH").flat_map(|entry| entry.1.split(':'));
    Profile {
        name: "base".into(),
        about: "what every cage has".into(),
        lineage: Vec::new(),
        demands: LeastTier::Degraded,
        capabilities: Default::default(),
        doors: None,
        network: None,
        limit_reasons: Default::default(),
        syscall_reasons: Default::default(),
        changes: Vec::new(),
        mounts: mounts(),
        env: VARIABLES.iter().map(|&(name, value, reason)| variable(name, value, reason)).collect(),
        program_path: path.map(Into::into).collect(),
        limits: LEAST,
        syscalls: seccomp::rules(Programs::Refused).collect(),
        landlock: Demand::WhereAvailable,
        groups: Demand::WhereAvailable,
        ownership: WorkspaceOwnership::Mapped,
        programs: Programs::Refused,
        hostname: "cage".into(),
    }
}

const LEAST: Limits = Limits {
    wall_ms: 1,
    cpu_seconds: 1,
    cpu_percent: None,
    memory_bytes: 1,
    pids: 1,
    open_files: 1,
    file_bytes: 1,
    disk_bytes: 1,
    output_bytes: 1,
};

fn mounts() -> Vec<Mount> {
    let host = HOST.iter().map(|&(at, reason)| mount(at, MountKind::Host, reason));
    let files = FILES.iter().map(|&(at, text, reason)| mount(at, MountKind::File(text.into()), reason));
    let devices = DEVICES.iter().map(|&(at, reason)| mount(at, MountKind::Device, reason));
    let links = LINKS.iter().map(|&(at, target, reason)| mount(at, MountKind::Link(target.into()), reason));
    let frozen = FROZEN.iter().map(|&(at, reason)| mount(at, MountKind::Frozen, reason));
    let masked = MASKED.iter().map(|&(at, reason)| mount(at, MountKind::Masked, reason));
    let room = || MountKind::Scratch { size_bytes: 1, programs: Programs::Refused };
    let places = [
        mount("/run", MountKind::Directory, "programs look for sockets there; there are none"),
        mount("/tmp", room(), "temporary files"),
        mount("/home/agent", room(), "caches and settings of programs"),
        mount(SHARED_MEMORY, room(), "shared memory by name"),
        mount("/proc", MountKind::Proc, "programs look at themselves"),
    ];
    host.chain(files).chain(devices).chain(links).chain(places).chain(frozen).chain(masked).collect()
}

fn mount(at: &'static str, what: MountKind, reason: &'static str) -> Mount {
    Mount { at: at.into(), what, reason: reason.into() }
}

fn variable(name: &'static str, value: &'static str, reason: &'static str) -> Variable {
    Variable { name: name.into(), value: value.into(), reason: reason.into() }
}

#[cfg(test)]
mod tests {
    use super::super::{LimitName, Profiles};
    use super::*;

    #[test]
    fn every_builtin_profile_is_known_by_its_name_and_gives_reasons() {
        assert!(SHIPPED.iter().map(|(name, _)| *name).eq(Profile::NAMES));
        for name in Profile::NAMES {
            let profile = Profile::builtin(name).expect("listed in NAMES");
            assert_eq!(profile.name(), name);
            assert!(profile.mounts().iter().all(|mount| !mount.reason.is_empty()));
            assert!(profile.variables().iter().all(|variable| !variable.reason.is_empty()));
            for limit in LimitName::ALL.into_iter().filter(|limit| *limit != LimitName::Share) {
                assert!(!profile.limit_reason(limit).is_empty(), "{name} does not say its {limit}");
                assert!(limit.of(&profile.limits()) > limit.of(&LEAST), "{name} has no {limit}");
            }
        }
        assert!(Profile::builtin("unheard of").is_none());
    }

    #[test]
    fn no_place_is_mounted_twice() {
        for profile in Profiles::default().iter() {
            let mut places: Vec<_> = profile.mounts().iter().map(|mount| &mount.at).collect();
            places.sort();
            let before = places.len();
            places.dedup();
            assert_eq!(places.len(), before);
        }
    }

    #[test]
    fn what_ships_is_built_on_default_and_refuses_at_least_as_many_calls() {
        let default = Profile::builtin("default").expect("it ships");
        assert_eq!(default.lineage().len(), 0);
        for profile in Profiles::default().iter().filter(|profile| profile.name() != "default") {
            assert_eq!(profile.lineage(), ["default"]);
            assert!(default.syscalls().iter().all(|rule| profile.syscalls().contains(rule)), "{}", profile.name());
        }
    }

    #[test]
    fn research_only_starts_no_program_from_any_place_it_can_write() {
        let profile = Profile::builtin("research_only").expect("it ships");
        assert_eq!(profile.programs(), Programs::Refused);
        for mount in profile.mounts() {
            assert!(!matches!(mount.what, MountKind::Scratch { programs: Programs::Allowed, .. }), "{}", mount.at);
        }
        assert!(profile.syscalls().iter().any(|rule| rule.name == "memfd_create:programs"));
    }
}
