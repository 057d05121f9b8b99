//! Plans as text, compared with the reviewed ones in `plans/`, and what holds for every plan.
//!
//! To accept a change, run the tests with `PLACET_ACCEPT_PLANS=1` and review the difference.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use placet_sandbox::{
    Access, Controller, Detach, Entry, EntryKind, GroupDirectory, GroupVersion, HostFacts, HostUser, Identity, Layers,
    MountFlag, Namespace, Ownership, Profile, Request, Role, Rules, SandboxError, Step, plan,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::harness::tests;

tests![
    a_root_caller_with_a_workspace,
    an_ordinary_caller_without_one,
    a_layered_workspace_and_a_layer_at_its_host_path,
    rules_in_a_layered_workspace,
    rules_in_a_direct_workspace,
    a_research_cage_on_a_host_without_merged_usr,
    every_plan_ends_with_the_walls_up_and_the_program,
    a_host_without_seccomp_gets_no_plan,
    limits_of_the_tree_can_be_insisted_on,
    a_profile_that_demands_every_layer_gets_no_plan_where_one_is_missing,
    places_the_host_lives_by_are_never_mounted,
];

const ROOT: HostUser = HostUser { uid: 0, gid: 0 };
const CAGE: HostUser = HostUser { uid: 210_000, gid: 210_000 };
const ORDINARY: HostUser = HostUser { uid: 1_234, gid: 1_234 };

fn entry(kind: EntryKind, owner: HostUser) -> Entry {
    Entry { kind, identity: Identity { device: 1, inode: 1 }, owner }
}

fn facts(caller: HostUser, merged_usr: bool) -> HostFacts {
    let mut entries = BTreeMap::new();
    let mut add = |path: &str, kind| entries.insert(PathBuf::from(path), entry(kind, ROOT));
    add("/usr", EntryKind::Directory);
    for name in ["bin", "sbin", "lib", "lib64"] {
        let kind =
            if merged_usr { EntryKind::Link { target: format!("usr/{name}").into() } } else { EntryKind::Directory };
        add(&format!("/{name}"), kind);
    }
    for name in ["null", "zero", "full", "random", "urandom"] {
        add(&format!("/dev/{name}"), EntryKind::Device);
    }
    add("/etc/ld.so.cache", EntryKind::File);
    add("/etc/localtime", EntryKind::Link { target: "/usr/share/zoneinfo/Etc/UTC".into() });
    entries.insert("/srv/run".into(), entry(EntryKind::Directory, caller));
    entries.insert("/srv/tool".into(), entry(EntryKind::File, caller));
    for path in ["/srv/repo/.git", "/srv/private/upper", "/srv/private/work", "/srv/git/upper", "/srv/git/work"] {
        entries.insert(path.into(), entry(EntryKind::Directory, caller));
    }
    HostFacts {
        caller,
        cage: CAGE,
        landlock_abi: 6,
        seccomp: true,
        groups: groups(caller),
        entries,
        found: BTreeMap::new(),
        protected: BTreeMap::new(),
        mount_points: ["/".into()].into(),
    }
}

/// Root has groups of its own, an ordinary caller has none: as on most hosts.
fn groups(caller: HostUser) -> Vec<GroupDirectory> {
    let group = |hierarchy: &str, version, controller| GroupDirectory {
        path: format!("/sys/fs/cgroup/{hierarchy}/placet-cage-1-2-3-4").into(),
        version,
        controllers: vec![controller],
    };
    let all = [
        group("unified", GroupVersion::V2, Controller::CpuTime),
        group("memory", GroupVersion::V1, Controller::Memory),
        group("pids", GroupVersion::V1, Controller::Processes),
    ];
    if caller == ROOT { all.to_vec() } else { Vec::new() }
}

fn profile(name: &str) -> Profile {
    Profile::builtin(name).expect("a builtin profile")
}

#[track_caller]
fn compare(name: &str, steps: &[Step]) {
    let text: String = steps.iter().map(|step| format!("{step}\n")).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/plans").join(name);
    if std::env::var_os("PLACET_ACCEPT_PLANS").is_some() {
        std::fs::write(&path, &text).expect("the plan is written");
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == reviewed, "the plan differs from {}:\n{text}", path.display());
}

fn a_root_caller_with_a_workspace() {
    let request = Request::new(["make", "all"])
        .workspace("/srv/run")
        .read_only("/srv/tool", "/opt/bin/tool")
        .env("CI", "1")
        .door(3_128)
        .door(4_000);
    compare("root.txt", &plan(&profile("default"), &request, &facts(ROOT, true)).expect("a plan"));
}

fn an_ordinary_caller_without_one() {
    compare("user.txt", &plan(&profile("default"), &Request::new(["true"]), &facts(ORDINARY, true)).expect("a plan"));
}

fn a_research_cage_on_a_host_without_merged_usr() {
    let request = Request::new(["cat", "paper.txt"]).workspace("/srv/run");
    compare("research.txt", &plan(&profile("research_only"), &request, &facts(ORDINARY, false)).expect("a plan"));
}

fn layers(lower: &str, private: &str) -> Layers {
    Layers::new(lower, format!("{private}/upper"), format!("{private}/work"))
}

fn a_layered_workspace_and_a_layer_at_its_host_path() {
    let request = Request::new(["git", "commit"])
        .workspace(layers("/srv/run", "/srv/private"))
        .layer(layers("/srv/repo/.git", "/srv/git"), "/srv/repo/.git");
    compare("layered.txt", &plan(&profile("default"), &request, &facts(ROOT, true)).expect("a plan"));
    let mut mixed = facts(ROOT, true);
    mixed.entries.insert("/srv/git/work".into(), entry(EntryKind::Directory, ORDINARY));
    let refused = plan(&profile("default"), &request, &mixed);
    assert!(matches!(refused, Err(SandboxError::Source { .. })), "{refused:?}");
}

fn facts_of_a_repository() -> HostFacts {
    let mut facts = facts(ROOT, true);
    for (path, kind) in [
        (".git", EntryKind::Directory),
        (".git/hooks", EntryKind::Directory),
        ("src", EntryKind::Directory),
        ("src/.env.local", EntryKind::File),
    ] {
        facts.entries.insert(Path::new("/srv/run").join(path), entry(kind, ROOT));
    }
    facts
}

fn rules_in_a_layered_workspace() {
    let rules = Rules::writable()
        .path(".git/hooks", Access::ReadOnly)
        .path(".git/config.worktree", Access::ReadOnly)
        .path("ci/fixed", Access::ReadOnly)
        .hide_env_files();
    let request = Request::new(["make"]).workspace(layers("/srv/run", "/srv/private")).rules(rules);
    let facts = HostFacts { found: [("src/.env.local".into(), Access::Hidden)].into(), ..facts_of_a_repository() };
    compare("rules.txt", &plan(&profile("default"), &request, &facts).expect("a plan"));
}

fn rules_in_a_direct_workspace() {
    let rules = Rules::read_only().path("src", Access::Writable).path(".git", Access::Hidden);
    let request = Request::new(["make"]).workspace("/srv/run").rules(rules);
    compare("rules_direct.txt", &plan(&profile("default"), &request, &facts_of_a_repository()).expect("a plan"));
}

fn requests() -> impl Strategy<Value = (Request, HostFacts, Profile)> {
    let argv = prop::collection::vec("[a-z ]{1,8}", 1..4);
    let choices = (argv, any::<[bool; 7]>(), prop::sample::select(Profile::NAMES.to_vec()));
    choices.prop_map(|(argv, [root, merged, workspace, tool, door, layered, layer], name)| {
        let (mut request, profile) = (Request::new(argv), profile(name));
        if workspace {
            request = request.workspace("/srv/run");
        }
        if layered {
            request = request.workspace(layers("/srv/run", "/srv/private"));
        }
        if layer {
            request = request.layer(layers("/srv/repo/.git", "/srv/git"), "/srv/repo/.git");
        }
        if tool {
            request = request.read_only("/srv/tool", "/home/agent/bin/tool");
        }
        if door {
            request = request.door(profile.doors().and_then(|allowed| allowed.first()).copied().unwrap_or(3_128));
        }
        (request, facts(if root { ROOT } else { ORDINARY }, merged), profile)
    })
}

fn every_plan_ends_with_the_walls_up_and_the_program() {
    let checked = TestRunner::new(Config { failure_persistence: None, ..Config::default() }).run(
        &requests(),
        |(request, facts, profile)| {
            let steps = plan(&profile, &request, &facts).expect("a plan");
            let at = |wanted: &dyn Fn(&Step) -> bool| steps.iter().position(wanted).expect("the step is there");
            let init = at(&|step| *step == Step::Fork { into: Role::Init });
            let command = at(&|step| *step == Step::Fork { into: Role::Command });
            let pivot = at(&|step| *step == Step::PivotRoot);
            let enters =
                |step: &Step, which| matches!(step, Step::Unshare { namespaces } if namespaces.contains(&which));
            let unshare = at(&|step| enters(step, Namespace::User));
            let mounts = at(&|step| enters(step, Namespace::Mount));
            prop_assert!(at(&|step| enters(step, Namespace::Network)) <= unshare && unshare <= mounts && mounts < init);
            prop_assert!(at(&|step| enters(step, Namespace::Pid)) < init);
            prop_assert!(unshare < init && init < pivot && pivot < at(&|step| *step == Step::DropCapabilities));
            prop_assert!(at(&|step| *step == Step::DropCapabilities) < command);
            prop_assert!(at(&|step| *step == Step::NoNewPrivileges) < command);
            let tail: Vec<_> = steps.iter().rev().take(3).collect();
            let fenced = matches!(tail[..], [Step::Exec { .. }, Step::Seccomp { .. }, Step::Landlock { .. }]);
            prop_assert!(fenced);
            check_doors(&steps, at(&|step| *step == Step::Loopback), init)?;
            check_groups(&steps, init, command)?;
            check_mounts(&steps, pivot)?;
            check_user(&steps, &facts, unshare)
        },
    );
    checked.unwrap_or_else(|failure| panic!("{failure}"));
}

/// Doors are opened in the new network, and handed over before there is a cage: nobody in it ever holds one.
fn check_doors(steps: &[Step], loopback: usize, init: usize) -> Result<(), TestCaseError> {
    let doors = steps.iter().enumerate().filter(|(_, step)| matches!(step, Step::Door { .. }));
    for (index, _) in doors {
        prop_assert!(loopback < index && index < init);
    }
    Ok(())
}

/// Groups are opened outside, joined by process 1 before it hides the way it came, and by nobody else.
fn check_groups(steps: &[Step], init: usize, command: usize) -> Result<(), TestCaseError> {
    let opened = steps.iter().position(|step| matches!(step, Step::OpenGroups { .. }));
    let joined = steps.iter().position(|step| *step == Step::JoinGroups);
    let hides = |step: &Step| *step == Step::Unshare { namespaces: vec![Namespace::Cgroup] };
    let hidden = steps.iter().position(hides).expect("the step is there");
    prop_assert_eq!(opened.is_some(), joined.is_some());
    prop_assert!(opened.is_none_or(|opened| opened < init));
    prop_assert!(joined.is_none_or(|joined| init < joined && joined < hidden));
    prop_assert!(init < hidden && hidden < command);
    Ok(())
}

/// Checks that every attached tree was detached before, that everything of the host but a direct workspace is read-only,
/// that writable layers have an upper and a lower, and that all mounts come before the old root is removed.
fn check_mounts(steps: &[Step], pivot: usize) -> Result<(), TestCaseError> {
    let (mut detached, mut uppers) = (Vec::new(), Vec::new());
    for (index, step) in steps.iter().enumerate() {
        if let Step::Detach(detach) = step {
            let read_only = detach.flags.contains(&MountFlag::ReadOnly);
            let direct = steps.contains(&Step::Attach { at: "/work".into() }) && detach.at == Path::new("/work");
            prop_assert!(read_only != direct && index < pivot);
            detached.push(&detach.at);
        }
        if let Step::MakeScratch { at, flags, .. } = step {
            prop_assert!(flags.contains(&MountFlag::NoSuid) && flags.contains(&MountFlag::NoDevices));
            detached.push(at);
        }
        if let Step::DetachUpper(detach) = step {
            uppers.push(&detach.at);
        }
        if let Step::Attach { at } = step {
            prop_assert!(detached.contains(&at) && !uppers.contains(&at) && index < pivot);
        }
        if let Step::MountLayers { at, flags, .. } = step {
            let shown_only = flags.contains(&MountFlag::ReadOnly);
            prop_assert!(detached.contains(&at) && (shown_only || uppers.contains(&at)) && index < pivot);
        }
    }
    Ok(())
}

/// Root gives itself up before it enters anything, and is mapped nowhere.
fn check_user(steps: &[Step], facts: &HostFacts, unshare: usize) -> Result<(), TestCaseError> {
    let dropped = steps.iter().position(|step| matches!(step, Step::DropUser { .. }));
    prop_assert_eq!(dropped.is_some(), facts.caller == ROOT);
    prop_assert!(dropped.is_none_or(|dropped| dropped < unshare));
    for step in steps {
        if let Step::MapUser { outside: user, .. } | Step::DropUser { user } | Step::OwnStdio { user } = step {
            prop_assert!(user.uid != 0 && user.gid != 0);
        }
        if let Step::Detach(Detach { ownership: Ownership::Mapped { cage, .. } | Ownership::Given { cage }, .. }) = step
        {
            prop_assert!(cage.uid != 0 && cage.gid != 0);
        }
    }
    Ok(())
}

fn a_host_without_seccomp_gets_no_plan() {
    let poor = HostFacts { seccomp: false, ..facts(ORDINARY, true) };
    let refused = plan(&profile("default"), &Request::new(["true"]), &poor);
    assert!(matches!(refused, Err(SandboxError::HostLacks { .. })));
    let without = HostFacts { landlock_abi: 0, ..facts(ORDINARY, true) };
    let demanding = profile("default").with_landlock(placet_sandbox::Demand::Required);
    assert!(matches!(plan(&demanding, &Request::new(["true"]), &without), Err(SandboxError::HostLacks { .. })));
    assert!(plan(&profile("default"), &Request::new(["true"]), &without).is_ok());
}

fn limits_of_the_tree_can_be_insisted_on() {
    let demanding = profile("default").with_groups(placet_sandbox::Demand::Required);
    let refused = plan(&demanding, &Request::new(["true"]), &facts(ORDINARY, true));
    assert!(matches!(refused, Err(SandboxError::HostLacks { .. })), "{refused:?}");
    assert!(plan(&demanding, &Request::new(["true"]), &facts(ROOT, true)).is_ok());
}

fn a_profile_that_demands_every_layer_gets_no_plan_where_one_is_missing() {
    let text = "about = \"x\"\nextends = \"default\"\ndemands = \"full\"";
    let profiles = placet_sandbox::Profiles::with([("full", text)]).expect("a profile");
    let planned = |facts: &HostFacts| plan(profiles.get("full").expect("it is there"), &Request::new(["true"]), facts);
    let full = facts(ROOT, true);
    assert!(planned(&full).is_ok());
    let lacking = [
        ("Landlock", HostFacts { landlock_abi: 5, ..full.clone() }),
        ("Landlock", HostFacts { landlock_abi: 0, ..full.clone() }),
        ("process tree", HostFacts { groups: Vec::new(), ..full.clone() }),
        ("seccomp", HostFacts { seccomp: false, ..full }),
    ];
    for (what, facts) in lacking {
        let refused = planned(&facts).expect_err(what).to_string();
        assert!(refused.contains("cannot enforce") && refused.contains(what), "{refused}");
    }
}

fn places_the_host_lives_by_are_never_mounted() {
    for place in ["/", "/root", "/home", "/etc", "/usr", "/tmp", "/var", "/proc/1", "/sys/fs/cgroup", "/dev/shm"] {
        let mut facts = facts(ROOT, true);
        facts.entries.insert(place.into(), entry(EntryKind::Directory, ROOT));
        for request in [Request::new(["true"]).workspace(place), Request::new(["true"]).read_only(place, "/opt/x")] {
            let refused = plan(&profile("default"), &request, &facts);
            assert!(matches!(refused, Err(SandboxError::Source { .. })), "{place}: {refused:?}");
        }
    }
}
