//! Profiles that a team writes: what they may say, what they may not, and that a cage is what they say.

use placet_sandbox::{
    Effect, Exit, LeastTier, LimitKind, LimitName, Profile, ProfileError, Profiles, Request, RequestError,
    SandboxError, launch,
};

use crate::harness::tests;

/// Pure: run once.
pub(crate) mod texts {
    use proptest::prelude::*;
    use proptest::test_runner::{Config, TestRunner};

    use super::*;

    tests![
        a_profile_says_what_it_changes_of_its_parent_and_why,
        whatever_a_profile_says_it_keeps_every_wall_of_its_parent,
        own_profiles_build_on_one_another_in_any_order,
        every_mistake_names_its_line_and_what_to_do,
        all_mistakes_of_all_files_are_told_at_once,
        what_extends_itself_or_nothing_known_is_named,
        a_profile_never_demands_less_than_its_parent,
        nothing_that_ships_can_be_replaced,
    ];

    fn a_profile_says_what_it_changes_of_its_parent_and_why() {
        let profile = one(RUST);
        assert_eq!((profile.name(), profile.about()), ("mine", "our builds"));
        assert_eq!(profile.lineage(), ["default", "code_development"]);
        assert_eq!(profile.demands(), LeastTier::Full);
        assert_eq!(LimitName::Wall.of(&profile.limits()), Some(7_200_000));
        assert_eq!(profile.limit_reason(LimitName::Wall), "the whole suite");
        assert_eq!(profile.limit_reason(LimitName::Cpu), "builds use several processors at once", "as the parent");
        let effect =
            |what: &str| profile.changes().iter().find(|change| change.what.contains(what)).map(|it| it.effect);
        assert_eq!(effect("limit wall: 2h instead of 30min"), Some(Effect::Loosens));
        assert_eq!(effect("limit memory: 4GiB instead of 8GiB"), Some(Effect::Tightens));
        assert_eq!(effect("scratch /tmp: 4GiB instead of 2GiB"), Some(Effect::Loosens));
        assert_eq!(effect("tier full"), Some(Effect::Tightens));
        assert_eq!(effect("variable CARGO_NET_OFFLINE=true"), Some(Effect::Adds));
        assert_eq!(effect("/opt/words, read-only"), Some(Effect::Adds));
        assert_eq!(effect("refused system call splice"), Some(Effect::Adds));
        assert_eq!(effect("doors"), Some(Effect::Tightens));
        assert!(profile.changes().iter().all(|change| !change.reason.is_empty() && change.profile == "mine"));
        let splice = profile.syscalls().iter().find(|rule| rule.name == "splice").expect("refused");
        assert_eq!(profile.syscall_reason(splice), "we do not need it");
    }

    /// Any text that is taken: more refused calls, never fewer; and every mount of the parent but for its sizes.
    fn whatever_a_profile_says_it_keeps_every_wall_of_its_parent() {
        let lines = prop::sample::subsequence(LINES.to_vec(), 0..=LINES.len());
        let parents = prop::sample::select(Profile::NAMES.to_vec());
        let mut runner = TestRunner::new(Config { cases: 200, ..Config::default() });
        let outcome = runner.run(&(parents, lines), |(parent, lines)| {
            let text = format!("about = \"any\"\nextends = \"{parent}\"\n{}", lines.join("\n"));
            let parent = Profile::builtin(parent).expect("it ships");
            let child = one(&text);
            let own = |name: &str| name == "memfd_create:programs";
            for rule in parent.syscalls().iter().filter(|rule| !own(rule.name)) {
                prop_assert!(child.syscalls().contains(rule), "{} is allowed", rule.name);
            }
            for mount in parent.mounts() {
                prop_assert!(child.mounts().iter().any(|other| other.at == mount.at), "{} is gone", mount.at);
            }
            let loosened = child.changes().iter().any(|change| change.effect == Effect::Loosens);
            let larger = LimitName::ALL.iter().any(|name| name.of(&child.limits()) > name.of(&parent.limits()));
            prop_assert!(!larger || loosened, "what is loosened is said");
            Ok(())
        });
        outcome.expect("every wall of the parent");
    }

    fn own_profiles_build_on_one_another_in_any_order() {
        let texts = [
            ("a", "about = \"a\"\nextends = \"b\"\n[limits]\nwall = { is = \"1s\", reason = \"short\" }"),
            (
                "b",
                "about = \"b\"\nextends = \"research_only\"\n[limits]\nmemory = { is = \"64MiB\", reason = \"small\" }",
            ),
        ];
        let profiles = Profiles::with(texts).expect("both are right");
        let a = profiles.get("a").expect("it is there");
        assert_eq!(a.lineage(), ["default", "research_only", "b"]);
        assert_eq!((a.limits().wall_ms, a.limits().memory_bytes), (1_000, 64 << 20));
        assert_eq!(a.changes().len(), 2, "those of its own parents are told too: {:?}", a.changes());
        assert_eq!(profiles.listed(), "a, agent, b, browser_automation, code_development, default, research_only");
    }

    fn every_mistake_names_its_line_and_what_to_do() {
        for (line, wrong, expected) in MISTAKES {
            let text = format!("about = \"x\"\nextends = \"default\"\n{wrong}");
            let error = wrong_one(&text);
            let said = format!("{error} {}", error.hint.clone().unwrap_or_default());
            assert_eq!(error.line, *line, "{wrong}: {said}");
            assert!(said.contains(expected), "{wrong}: `{expected}` is not said: {said}");
            for foreign in ["::", "Quantity", "Spanned", "LeastTier", "enum", "struct", "\n"] {
                assert!(!said.contains(foreign), "{wrong}: says `{foreign}`: {said}");
            }
        }
    }

    fn all_mistakes_of_all_files_are_told_at_once() {
        let texts = [("a", "about = 1"), ("b", "extends = \"default\""), ("c", "about = \"\"\nextends = \"default\"")];
        let errors = Profiles::with(texts).expect_err("three are wrong");
        let mut named: Vec<_> = errors.iter().map(|error| error.profile.as_str()).collect();
        named.sort_unstable();
        assert_eq!(named, ["a", "b", "c"]);
    }

    fn what_extends_itself_or_nothing_known_is_named() {
        let circle = [("a", "about = \"a\"\nextends = \"b\""), ("b", "about = \"b\"\n\nextends = \"a\"")];
        let errors = Profiles::with(circle).expect_err("a circle");
        assert_eq!(errors.iter().map(|error| error.line).collect::<Vec<_>>(), [2, 3]);
        assert!(errors[0].message.contains("in the end extends itself"), "{errors:?}");
        let unknown = wrong_one("about = \"x\"\nextends = \"defualt\"");
        assert!(unknown.message.contains("`defualt`") && unknown.hint.expect("a hint").contains("default"));
        let broken = [("a", "about = \"a\"\nextends = \"b\""), ("b", "about = \"b\"\nextends = 1")];
        let errors = Profiles::with(broken).expect_err("one is wrong");
        assert_eq!(errors.len(), 1, "the fault is the parent's: {errors:?}");
    }

    fn a_profile_never_demands_less_than_its_parent() {
        let texts = [
            ("a", "about = \"a\"\nextends = \"default\"\ndemands = \"full\""),
            ("b", "about = \"b\"\nextends = \"a\"\ndemands = \"degraded\""),
        ];
        let error = Profiles::with(texts).expect_err("less is refused").remove(0);
        assert_eq!((error.profile.as_str(), error.line), ("b", 3));
    }

    fn nothing_that_ships_can_be_replaced() {
        let error = Profiles::with([("default", "about = \"x\"\nextends = \"research_only\"")]).expect_err("refused");
        assert!(error[0].message.contains("cannot be replaced"), "{error:?}");
        for name in ["", "Mine", "../x", "a b", "a.toml", "1a"] {
            let error = Profiles::with([(name, "about = \"x\"\nextends = \"default\"")]).expect_err("refused");
            assert!(error[0].message.contains("is no name of a profile"), "{error:?}");
        }
    }
}

tests![
    c5_a_cage_is_what_its_profile_says,
    a_limit_of_the_profile_ends_a_command,
    a_door_the_profile_does_not_allow_is_refused,
    below_the_tier_that_is_demanded_nothing_is_launched,
    a_read_only_file_that_is_not_there_keeps_the_cage_from_starting,
    what_is_foreseen_is_what_is_done,
    a_piped_input_is_read_to_its_end,
];

const RUST: &str = r#"
about = "our builds"
extends = "code_development"
demands = "full"
doors = { is = [3128], reason = "the mirror of crates" }

[limits]
wall = { is = "2h", reason = "the whole suite" }
memory = { is = "4GiB", reason = "our machines are small" }

[scratch]
"/tmp" = { is = "4GiB", reason = "object files" }

[variables]
CARGO_NET_OFFLINE = { is = "true", reason = "there is no network" }

[read_only]
"/opt/words" = { is = "/usr/share/dict", reason = "a test needs them" }

[refused]
splice = { reason = "we do not need it" }
"#;

/// Lines that can stand together in any selection.
const LINES: &[&str] = &[
    "demands = \"full\"",
    "programs = { is = \"allowed\", reason = \"r\" }",
    "doors = { is = [], reason = \"r\" }",
    "capabilities = { is = [\"screenshots\"], reason = \"r\" }",
    "limits.wall = { is = \"99h\", reason = \"r\" }",
    "limits.memory = { is = \"1MiB\", reason = \"r\" }",
    "limits.processes = { is = 100000, reason = \"r\" }",
    "scratch.\"/dev/shm\" = { is = \"8GiB\", reason = \"r\" }",
    "variables.LANG = { is = \"C\", reason = \"r\" }",
    "read_only.\"/opt/x\" = { is = \"/usr/share\", reason = \"r\" }",
    "refused.socket = { reason = \"r\" }",
    "refused.memfd_create = { reason = \"r\" }",
    "refused.ptrace = { reason = \"r\" }",
];

/// The line a complaint names, what is wrong there, and what is said.
const MISTAKES: &[(usize, &str, &str)] = &[
    (3, "limts = {}", "unknown field `limts`"),
    (3, "demands = \"some\"", "`some`"),
    (3, "demands = \"unavailable\"", "`full`"),
    (3, "programs = { is = \"allowed\" }", "reason"),
    (3, "programs = { is = \"maybe\", reason = \"x\" }", "maybe"),
    (3, "doors = { is = [70000], reason = \"x\" }", "70000"),
    (3, "doors = { is = [0], reason = \"x\" }", "port 0"),
    (3, "capabilities = { is = [\"fly\"], reason = \"x\" }", "`fly`"),
    (4, "[limits]\nwall = \"10s\"", "expected `{ is = …, reason"),
    (4, "[limits]\nwall = { is = \"10s\" }", "missing field `reason`"),
    (4, "[limits]\nwall = { is = \"10s\", reason = \" \" }", "the reason is empty"),
    (4, "[limits]\nwall = { is = \"10\", reason = \"x\" }", "a time like"),
    (4, "[limits]\nwall = { is = 10, reason = \"x\" }", "a time like"),
    (4, "[limits]\nwall = { is = true, reason = \"x\" }", "a number, or text with a unit"),
    (4, "[limits]\nmemory = { is = \"unlimited\", reason = \"x\" }", "a size like"),
    (4, "[limits]\nprocesses = { is = -1, reason = \"x\" }", "a number from 1"),
    (4, "[limits]\nprocesses = { is = 0, reason = \"x\" }", "a number from 1"),
    (5, "[limits]\nwall = { is = \"1s\", reason = \"x\" }\nwal = { is = \"1s\", reason = \"x\" }", "no limit `wal`"),
    (4, "[limits]\nwall = { is = \"1s\", reason = \"x\", why = \"y\" }", "unknown field `why`"),
    (4, "[scratch]\n\"/var\" = { is = \"1GiB\", reason = \"x\" }", "they are /tmp, /home/agent, /dev/shm"),
    (4, "[variables]\nLD_PRELOAD = { is = \"x\", reason = \"x\" }", "must not be set"),
    (4, "[variables]\nPATH = { is = \"/work\", reason = \"x\" }", "must not be set"),
    (4, "[variables]\n\"A B\" = { is = \"x\", reason = \"x\" }", "not a name"),
    (4, "[read_only]\n\"/etc/x\" = { is = \"/usr\", reason = \"x\" }", "choose a path below"),
    (4, "[read_only]\n\"/opt/x\" = { is = \"usr\", reason = \"x\" }", "must be absolute"),
    (
        5,
        "[read_only]\n\"/opt/x\" = { is = \"/usr\", reason = \"x\" }\n\"/opt/x/y\" = { is = \"/usr\", reason = \"x\" }",
        "mounted twice",
    ),
    (4, "[refused]\nread = { reason = \"x\" }", "they are accept"),
    (4, "[refused]\nsplice = {}", "missing field `reason`"),
    (3, "extends = \"default\"", "duplicate"),
    (3, "= 1", "key"),
];

fn one(text: &str) -> Profile {
    Profiles::with([("mine", text)]).expect("a profile").get("mine").expect("it is there").clone()
}

fn wrong_one(text: &str) -> ProfileError {
    Profiles::with([("mine", text)]).expect_err("it is wrong").remove(0)
}

fn with(more: &str) -> Profile {
    one(&format!("about = \"mine\"\nextends = \"default\"\n{more}"))
}

fn c5_a_cage_is_what_its_profile_says() {
    let profile = with(
        "programs = { is = \"refused\", reason = \"r\" }\n\
         [variables]\nGREETING = { is = \"good day\", reason = \"r\" }\n\
         [read_only]\n\"/opt/licences\" = { is = \"/usr/share/common-licenses\", reason = \"r\" }\n\
         [refused]\nlink = { reason = \"r\" }\nlinkat = { reason = \"r\" }",
    );
    let script = "echo $GREETING; test -r /opt/licences/GPL-3 && echo read; touch /opt/licences/x || echo closed; \
                  cp /bin/true /tmp/t && /tmp/t || echo not started; ln /tmp/t /tmp/u || echo no link";
    let (outcome, output) =
        launch(&profile, Request::new(["sh", "-c", script])).and_then(|it| it.collect()).expect("ran");
    assert_eq!(outcome.exit, Exit::Code(0));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "good day\nread\nclosed\nnot started\nno link\n");
}

fn a_limit_of_the_profile_ends_a_command() {
    let profile = with("[limits]\nwall = { is = \"300ms\", reason = \"r\" }");
    let outcome =
        launch(&profile, Request::new(["sleep", "60"])).and_then(|running| running.wait()).expect("an outcome");
    let Exit::Limit { which, limit, seen } = outcome.exit else { panic!("{outcome:?}") };
    assert_eq!((which, limit), (LimitKind::WallClock, 300));
    assert!((300..10_000).contains(&seen), "{seen}");
}

fn a_door_the_profile_does_not_allow_is_refused() {
    let profile = with("doors = { is = [3128], reason = \"r\" }");
    assert!(launch(&profile, Request::new(["true"]).door(3_128)).and_then(|running| running.wait()).is_ok());
    match launch(&profile, Request::new(["true"]).door(3_129)) {
        Err(SandboxError::Request(RequestError::Door { port: 3_129, why })) => {
            assert!(why.contains("profile"), "{why}")
        }
        other => panic!("{other:?}"),
    }
}

/// On a host of the highest tier it runs; elsewhere it is refused and says what is missing.
fn below_the_tier_that_is_demanded_nothing_is_launched() {
    let workspace = tempfile::tempdir().expect("a directory");
    let request = Request::new(["touch", "/work/ran"]).workspace(workspace.path());
    let launched = launch(&with("demands = \"full\""), request).and_then(|running| running.wait());
    let ran = workspace.path().join("ran").exists();
    match (placet_sandbox::probe().tier, launched) {
        (placet_sandbox::Tier::Full, launched) => assert!(launched.is_ok() && ran, "{launched:?}"),
        (_, Err(SandboxError::HostLacks { todo, .. })) => assert!(!ran && !todo.is_empty()),
        (tier, launched) => panic!("{tier:?}: {launched:?}"),
    }
}

fn a_read_only_file_that_is_not_there_keeps_the_cage_from_starting() {
    for (host, why) in [("/opt/no/such/tool", "No such file"), ("/etc", "configures the host"), ("/proc/1", "process")]
    {
        let profile = with(&format!("[read_only]\n\"/opt/x\" = {{ is = \"{host}\", reason = \"r\" }}"));
        let refused = launch(&profile, Request::new(["true"])).expect_err("refused").to_string();
        assert!(refused.contains(host) && refused.contains(why), "{refused}");
    }
    let profile = with("[read_only]\n\"/opt/x\" = { is = \"/usr/share\", reason = \"r\" }");
    let twice = launch(&profile, Request::new(["true"]).read_only("/usr/share", "/opt/x/y")).expect_err("refused");
    assert!(matches!(twice, SandboxError::Request(RequestError::MountedTwice(_))), "{twice}");
}

/// The plan that is shown has the same steps as the cage that is entered; only names of groups and numbers of users
/// belong to a launch.
fn what_is_foreseen_is_what_is_done() {
    let profile = with("[read_only]\n\"/opt/x\" = { is = \"/usr/share\", reason = \"r\" }");
    let launcher = placet_sandbox::Launcher::default();
    let request = || Request::new(["cat", "/proc/self/mounts"]);
    let foreseen = launcher.foresee(&profile, request()).expect("a plan");
    let attached = foreseen
        .iter()
        .filter_map(|step| if let placet_sandbox::Step::Attach { at } = step { Some(at.clone()) } else { None });
    let (_, output) = launcher.launch(&profile, request()).and_then(|running| running.collect()).expect("ran");
    let mounts = String::from_utf8_lossy(&output.stdout).into_owned();
    for at in attached {
        assert!(mounts.lines().any(|line| line.split(' ').nth(1) == at.to_str()), "{at:?} is not in\n{mounts}");
    }
}

fn a_piped_input_is_read_to_its_end() {
    use std::io::Write as _;
    let profile = Profile::builtin("default").expect("it ships");
    let mut running =
        launch(&profile, Request::new(["sh", "-c", "cat; readlink /proc/self/fd/0 | cut -c1-4"]).stdin_piped())
            .expect("it starts");
    let mut input = running.take_stdin().expect("the pipe");
    assert!(running.take_stdin().is_none(), "it is taken once");
    let writer = std::thread::spawn(move || input.write_all(&b"line\n".repeat(100_000)));
    let (outcome, output) = running.collect().expect("an outcome");
    writer.join().expect("no panic").expect("all is read");
    assert_eq!((outcome.exit, output.stdout.len()), (Exit::Code(0), 500_005));
    let forgotten = launch(&profile, Request::new(["cat"]).stdin_piped()).and_then(|running| running.wait());
    assert_eq!(forgotten.expect("an outcome").exit, Exit::Code(0), "an input nobody writes to ends");
}
