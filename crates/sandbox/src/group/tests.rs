//! Discovery against tables that real hosts showed, the tables of settings and names, and the life of a group on this
//! host where the tests may make one.

use std::fs;
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::process::Command;

use proptest::prelude::*;

use super::discover::{Place, discover};
use super::leftovers::{Life, Name, Owner, collect_below};
use super::parents::Parent;
use super::read::{cpu_ms_v1, cpu_ms_v2, field};
use super::settings::settings;
use super::{Controller, GroupVersion, Parents, parents, remove};
use crate::profile::{Limits, Profile};
use crate::request::Freezing;

const V1_MOUNTS: &str = "\
22 27 0:21 / /proc rw,relatime - proc proc rw
31 23 0:28 / /sys/fs/cgroup ro,nosuid shared:8 - tmpfs tmpfs ro,mode=755
33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid shared:9 - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,nosuid shared:10 - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,nosuid shared:11 - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,nosuid shared:12 - cgroup cgroup rw,xattr,name=systemd
";

const HYBRID_MOUNTS: &str = "\
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
37 31 0:34 / /sys/fs/cgroup/freezer rw,relatime - cgroup cgroup rw,freezer
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";

const V2_MOUNTS: &str = "\
25 30 0:23 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
34 25 0:29 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
";

fn offering(names: &'static str) -> impl Fn(&Path) -> String {
    move |_| names.to_owned()
}

/// `directory: controllers`, version 2 marked.
fn shown(places: &[Place]) -> Vec<String> {
    let one = |place: &Place| {
        let version = if place.version == GroupVersion::V2 { "v2 " } else { "" };
        format!("{version}{} {:?}", place.directory.display(), place.controllers)
    };
    places.iter().map(one).collect()
}

#[test]
fn version_1_has_one_place_per_controller() {
    let own = "4:pids:/system.slice/x.service\n3:memory:/system.slice/x.service\n\
               2:cpu,cpuacct:/system.slice/x.service\n1:name=systemd:/system.slice/x.service\n";
    let places = discover(V1_MOUNTS, own, offering(""));
    assert_eq!(
        shown(&places),
        [
            "/sys/fs/cgroup/pids/system.slice/x.service [Processes]",
            "/sys/fs/cgroup/memory/system.slice/x.service [Memory]",
            "/sys/fs/cgroup/cpu,cpuacct/system.slice/x.service [CpuShare, CpuTime]",
        ]
    );
}

#[test]
fn on_a_mixed_host_version_1_is_enough_for_all_but_freezing() {
    let own = "8:pids:/\n6:freezer:/\n4:memory:/some/job\n2:cpuacct:/\n1:cpu:/\n0::/\n";
    let places = discover(HYBRID_MOUNTS, own, offering("hugetlb"));
    assert_eq!(
        shown(&places),
        [
            "/sys/fs/cgroup/pids [Processes]",
            "/sys/fs/cgroup/memory/some/job [Memory]",
            "/sys/fs/cgroup/cpuacct [CpuTime]",
            "/sys/fs/cgroup/cpu [CpuShare]",
            "v2 /sys/fs/cgroup/unified [Freezer]",
        ]
    );
    let moved = "8:pids:/\n4:memory:/\n0::/\n";
    let places = discover(HYBRID_MOUNTS, moved, offering("cpu"));
    assert_eq!(shown(&places)[2..], ["v2 /sys/fs/cgroup/unified [CpuTime, Freezer, CpuShare]"]);
}

#[test]
fn a_delegated_subtree_of_version_2_is_the_place_of_everything() {
    let own = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n";
    let places = discover(V2_MOUNTS, own, offering("cpu memory pids"));
    let directory = "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope";
    assert_eq!(shown(&places), [format!("v2 {directory} [CpuTime, Freezer, CpuShare, Memory, Processes]")]);
    assert!(!places[0].is_top);
}

#[test]
fn the_root_of_version_2_is_the_top() {
    let places = discover(V2_MOUNTS, "0::/\n", offering("cpuset cpu io memory hugetlb pids"));
    assert_eq!(shown(&places), ["v2 /sys/fs/cgroup [CpuTime, Freezer, CpuShare, Memory, Processes]"]);
    assert!(places[0].is_top);
}

#[test]
fn a_container_sees_its_own_part() {
    // With a namespace of its own, the part looks like the whole.
    let own_view = "650 640 0:29 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup rw\n";
    assert_eq!(
        shown(&discover(own_view, "0::/\n", offering("pids"))),
        ["v2 /sys/fs/cgroup [CpuTime, Freezer, Processes]"]
    );
    // Without, only the part is mounted, and the names are those of the host.
    let hosts_view = "650 640 0:29 /docker/abc /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n";
    let inner = discover(hosts_view, "7:pids:/docker/abc/inner\n", offering(""));
    assert_eq!(shown(&inner), ["/sys/fs/cgroup/pids/inner [Processes]"]);
    assert_eq!(discover(hosts_view, "7:pids:/elsewhere\n", offering("")), []);
}

#[test]
fn what_cannot_be_written_or_seen_is_no_place() {
    let read_only = "650 640 0:29 / /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw\n";
    assert_eq!(discover(read_only, "0::/\n", offering("pids")), []);
    assert_eq!(discover(V2_MOUNTS, "0::/../../other\n", offering("pids")), []);
    assert_eq!(discover("", "0::/\n", offering("pids")), []);
    let spaced = "34 25 0:29 / /mnt/control\\040groups rw - cgroup2 cgroup2 rw\n";
    assert_eq!(shown(&discover(spaced, "0::/\n", offering(""))), ["v2 /mnt/control groups [CpuTime, Freezer]"]);
}

proptest! {
    #[test]
    fn any_text_is_survived_and_no_controller_is_found_twice(mounts in "[ -~\\n]{0,300}", own in "[ -~\\n]{0,200}") {
        let places = discover(&format!("{HYBRID_MOUNTS}{mounts}"), &format!("8:pids:/\n0::/\n{own}"), offering("pids"));
        let mut found: Vec<_> = places.iter().flat_map(|place| place.controllers.clone()).collect();
        let before = found.len();
        found.sort();
        found.dedup();
        prop_assert_eq!(found.len(), before);
    }

    #[test]
    fn a_name_reads_as_it_was_written(namespace: u64, pid: u64, started: u64, number: u64) {
        let name = Name { owner: Owner { namespace, pid, started }, number };
        prop_assert_eq!(name.to_string().parse(), Ok(name));
    }
}

fn limits() -> Limits {
    let profile = Profile::builtin("default").expect("a builtin profile");
    Limits { memory_bytes: 1 << 20, pids: 10, cpu_percent: NonZeroU32::new(150), ..profile.limits() }
}

fn written(version: GroupVersion, limits: &Limits) -> Vec<String> {
    let all = Controller::ALL.into_iter().flat_map(|controller| settings(version, controller, limits));
    all.map(|setting| format!("{}={}", setting.file, setting.text)).collect()
}

#[test]
fn each_limit_has_its_file() {
    assert_eq!(
        written(GroupVersion::V2, &limits()),
        ["memory.max=1048576", "memory.swap.max=0", "memory.oom.group=1", "pids.max=11", "cpu.max=150000 100000"]
    );
    assert_eq!(
        written(GroupVersion::V1, &limits()),
        [
            "memory.limit_in_bytes=1048576",
            "memory.memsw.limit_in_bytes=1048576",
            "pids.max=11",
            "cpu.cfs_period_us=100000",
            "cpu.cfs_quota_us=150000"
        ]
    );
    let boundless = Limits { memory_bytes: u64::MAX, pids: u64::MAX, cpu_percent: None, ..limits() };
    assert_eq!(
        written(GroupVersion::V2, &boundless),
        ["memory.max=9223372036854775807", "memory.swap.max=0", "memory.oom.group=1", "pids.max=2147483647"]
    );
}

#[test]
fn counters_are_read_in_milliseconds() {
    assert_eq!(cpu_ms_v2("usage_usec 1234567\nuser_usec 1\n"), Some(1_234));
    assert_eq!(cpu_ms_v1("1234567890\n"), Some(1_234));
    assert_eq!(field("low 0\noom 2\noom_kill 3\n", "oom"), Some(2));
    assert_eq!(field("low 0\n", "oom"), None);
}

#[test]
fn a_process_is_told_from_the_next_one_with_its_number() {
    let stat = |state: char, started| {
        format!("7 (a ) S 1 (b) {state} 1 7 7 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 {started} 1 1")
    };
    let life = |state, started| Life::parse(&stat(state, started)).expect("a line of the kernel");
    assert!(!life('S', 500).is_not(500));
    assert!(life('S', 501).is_not(500));
    assert!(life('Z', 500).is_not(500), "dead, though not reaped");
    assert_eq!(Life::parse("nonsense"), None);
}

/// The places where this test may make groups; none for an ordinary user.
fn places() -> Vec<PathBuf> {
    parents().directories().map(Path::to_owned).collect()
}

#[test]
fn only_groups_of_the_dead_are_collected() {
    for place in places() {
        let own = Name::next().expect("a name");
        let make = |name: Name| {
            let path = place.join(name.to_string());
            fs::create_dir(&path).expect("a group");
            path
        };
        let gone = make(Name { owner: Owner { started: own.owner.started + 1, ..own.owner }, ..own });
        let elsewhere = make(Name { owner: Owner { namespace: 1, ..own.owner }, ..own });
        let living = make(own);
        assert!(collect_below(&place) >= 1);
        assert_eq!([&gone, &elsewhere, &living].map(|path| path.exists()), [false, true, true]);
        for path in [elsewhere, living] {
            fs::remove_dir(path).expect("removed");
        }
    }
}

#[test]
fn a_group_is_removed_with_everybody_in_it() {
    for place in places() {
        let group = place.join(Name::next().expect("a name").to_string());
        fs::create_dir(&group).expect("a group");
        let mut child = Command::new("sleep").arg("60").spawn().expect("a process");
        fs::write(group.join("cgroup.procs"), child.id().to_string()).expect("moved");
        // The child is a zombie until somebody waits for it, and a zombie is in nobody's way.
        remove::remove(&group).expect("removed");
        assert!(!child.wait().expect("it ended").success());
        assert!(!group.exists());
        remove::remove(&group).expect("removing it twice is no failure");
    }
}

#[test]
fn a_place_without_rights_is_refused_with_its_reason() {
    let nowhere = Place {
        directory: "/sys/fs/cgroup/no/such/place".into(),
        version: GroupVersion::V1,
        controllers: vec![Controller::Memory],
        is_top: false,
    };
    let parents = Parents::of(vec![nowhere]);
    assert_eq!(parents.place_of(Controller::Memory), None);
    assert!(parents.refused()[0].contains("/sys/fs/cgroup/no/such/place"), "{:?}", parents.refused());
    assert!(!Parents::of(Vec::new()).refused().is_empty());
}

#[test]
fn shares_and_freezing_are_no_reason_for_a_group_unless_they_are_asked_for() {
    let without = Limits { cpu_percent: None, ..limits() };
    let only = |controller| move |parent: &Parent| parent.controllers == [controller];
    assert!(!parents().wanted(&without, Freezing::Possible).any(only(Controller::CpuShare)));
    assert_eq!(parents().wanted(&limits(), Freezing::Possible).count(), parents().directories().count());
    assert!(!parents().wanted(&limits(), Freezing::No).any(only(Controller::Freezer)));
}

/// A directory with the files of a group of version 2 that holds these processes.
fn group_holding(members: &str) -> (tempfile::TempDir, Place) {
    let directory = tempfile::tempdir().expect("a directory");
    for (file, text) in [("cgroup.type", "domain"), ("cgroup.procs", members), ("cgroup.subtree_control", "")] {
        fs::write(directory.path().join(file), text).expect("a file");
    }
    // Processes can be passed on by a group that holds some, which spoils it; memory cannot.
    let controllers = vec![Controller::Processes, Controller::Memory];
    let place = Place { directory: directory.path().into(), version: GroupVersion::V2, controllers, is_top: true };
    (directory, place)
}

#[test]
fn a_caller_steps_aside_before_anything_is_passed_on() {
    let own = std::process::id().to_string();
    let (directory, place) = group_holding(&own);
    // These are plain files, so nobody leaves the group by being written into another.
    let parents = Parents::of(vec![place]);
    assert_eq!(parents.refused(), Vec::<String>::new());
    let aside = directory.path().join("placet-caller/cgroup.procs");
    assert_eq!(fs::read_to_string(aside).expect("where the caller went"), own);
    assert_eq!(parents.place_of(Controller::Processes), Some(directory.path()));
}

#[test]
fn a_group_that_others_share_passes_nothing_on() {
    let (directory, place) = group_holding(&format!("{}\n1\n", std::process::id()));
    let parents = Parents::of(vec![place]);
    assert_eq!((parents.place_of(Controller::Processes), parents.refused().len()), (None, 2));
    assert!(parents.refused()[0].contains("other processes are in it"), "{:?}", parents.refused());
    assert_eq!(fs::read_to_string(directory.path().join("cgroup.subtree_control")).expect("a file"), "");
}
