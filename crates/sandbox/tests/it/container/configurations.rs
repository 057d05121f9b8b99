//! Configurations as text, compared with the reviewed ones in `reviewed/`, and what holds for every one of them.
//!
//! To accept a change, run the tests with `PLACET_ACCEPT_PLANS=1` and review the difference.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::path::Path;

use placet_sandbox::container::{ContainerConfig, EngineError, EngineFacts, EngineKind};
use placet_sandbox::{
    Access, Demand, HostUser, Layers, Limits, Profile, Request, RequestError, Rules, SandboxError, Workspace,
};
use serde_json::{Value, json};

use crate::harness::tests;

tests![
    a_workspace_in_docker,
    a_research_cage_in_podman,
    a_rootless_podman_shows_its_user_as_the_cages,
    c15_every_container_has_every_wall,
    c15_nobody_is_root,
    what_an_engine_cannot_do_is_refused,
    demands_of_a_profile_are_kept_or_refused,
    what_a_profile_of_ones_own_brings_is_there_too,
    places_the_host_lives_by_are_never_mounted,
    a_request_that_is_wrong_is_wrong_here_too,
];

const ROOT: HostUser = HostUser { uid: 0, gid: 0 };
const IMAGE: &str = "sha256:0123";

fn facts(kind: EngineKind) -> EngineFacts {
    let version = match kind {
        EngineKind::Docker => json!({"Version": "1"}),
        EngineKind::Podman => json!({"Version": "1", "Components": [{"Name": "Podman Engine"}]}),
    };
    let info = json!({"SecurityOptions": ["name=seccomp"], "MemoryLimit": true, "PidsLimit": true});
    EngineFacts::of(&version, &info, ROOT)
}

fn profile(name: &str) -> Profile {
    Profile::builtin(name).expect("a builtin profile")
}

fn configured(profile: &Profile, request: &Request, facts: &EngineFacts) -> Result<ContainerConfig, SandboxError> {
    ContainerConfig::new(profile, request, IMAGE, facts)
}

/// By name: whether objects keep the order they were made in depends on what else is built with this crate.
fn in_order(value: &Value) -> Value {
    match value {
        Value::Object(fields) => {
            let sorted: BTreeMap<_, _> = fields.iter().map(|(name, value)| (name.clone(), in_order(value))).collect();
            sorted.into_iter().collect()
        }
        Value::Array(items) => items.iter().map(in_order).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

#[track_caller]
fn compare(name: &str, config: &Value) {
    let text = serde_json::to_string_pretty(&in_order(config)).expect("text") + "\n";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/container/reviewed").join(name);
    if std::env::var_os("PLACET_ACCEPT_PLANS").is_some() {
        std::fs::write(&path, &text).expect("the configuration is written");
    }
    let reviewed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(text == reviewed, "the configuration differs from {}:\n{text}", path.display());
}

fn a_workspace_in_docker() {
    let limits = Limits { cpu_percent: NonZeroU32::new(150), ..profile("default").limits() };
    let request = Request::new(["make", "all"])
        .workspace("/srv/run")
        .read_only("/srv/tool", "/opt/bin/tool")
        .env("CI", "1")
        .limits(limits);
    let config = configured(&profile("default"), &request, &facts(EngineKind::Docker)).expect("a configuration");
    compare("docker.json", config.json());
}

fn a_research_cage_in_podman() {
    let request = Request::new(["grep", "-r", "x"]).workspace("/srv/run").rules(Rules::read_only());
    let config = configured(&profile("research_only"), &request, &facts(EngineKind::Podman)).expect("a configuration");
    compare("podman.json", config.json());
}

fn a_rootless_podman_shows_its_user_as_the_cages() {
    let facts = EngineFacts { rootless: true, ..facts(EngineKind::Podman) };
    let config = configured(&profile("default"), &Request::new(["true"]), &facts).expect("a configuration");
    assert_eq!(config.json()["HostConfig"]["UsernsMode"], "keep-id:uid=1000,gid=1000");
    assert_eq!(config.json()["User"], "1000:1000");
}

fn c15_every_container_has_every_wall() {
    for name in Profile::NAMES {
        for kind in [EngineKind::Docker, EngineKind::Podman] {
            let config = configured(&profile(name), &Request::new(["true"]), &facts(kind)).expect("a configuration");
            let host = &config.json()["HostConfig"];
            assert_eq!((&host["NetworkMode"], &config.json()["NetworkDisabled"]), (&json!("none"), &json!(true)));
            assert_eq!((&host["ReadonlyRootfs"], &host["Privileged"]), (&json!(true), &json!(false)));
            assert_eq!((&host["CapDrop"], &host["CapAdd"]), (&json!(["ALL"]), &Value::Null));
            assert_eq!((&host["Init"], &host["RestartPolicy"]["Name"]), (&json!(true), &json!("no")));
            assert_eq!(host["SecurityOpt"][0], "no-new-privileges");
            assert_eq!(host["Memory"], host["MemorySwap"], "no swap besides");
            assert!(host["PidsLimit"].as_u64().is_some_and(|most| most > 1));
            let scratch = host["Tmpfs"].as_object().expect("scratch places");
            assert!(scratch.values().all(|options| options.as_str().expect("options").contains("size=")), "{name}");
            assert!(host["Mounts"].as_array().is_none_or(Vec::is_empty), "nothing of the host by itself");
            assert!(host["Binds"].as_array().is_none_or(Vec::is_empty), "nothing of the host by itself");
            assert_eq!(config.seccomp()["defaultAction"], "SCMP_ACT_ERRNO");
        }
    }
}

fn c15_nobody_is_root() {
    let user = |caller: HostUser, request: Request| {
        let facts = EngineFacts { caller, ..facts(EngineKind::Docker) };
        configured(&profile("default"), &request, &facts).map(|config| config.json()["User"].clone())
    };
    let chosen = HostUser { uid: 1_234, gid: 56 };
    assert_eq!(user(ROOT, Request::new(["true"])).expect("a user"), "1000:1000");
    assert_eq!(user(ROOT, Request::new(["true"]).host_user(chosen)).expect("a user"), "1234:56");
    assert_eq!(user(chosen, Request::new(["true"])).expect("a user"), "1234:56");
    let refused = user(HostUser { uid: 7, gid: 0 }, Request::new(["true"]));
    assert!(matches!(refused, Err(SandboxError::Request(RequestError::RootUser))), "{refused:?}");
}

#[track_caller]
fn refused(profile: &Profile, request: &Request, facts: &EngineFacts) -> String {
    let error = configured(profile, request, facts).expect_err("it is refused");
    assert!(matches!(error, SandboxError::Engine(EngineError::Unsupported { .. })), "{error:?}");
    error.to_string()
}

fn what_an_engine_cannot_do_is_refused() {
    let (docker, default) = (facts(EngineKind::Docker), profile("default"));
    let request = || Request::new(["true"]);
    let layers = || Workspace::from(Layers::new("/srv/repo", "/srv/private/upper", "/srv/private/work"));
    let door = refused(&default, &request().door(3_128), &docker);
    assert!(door.contains("a door at port 3128") && door.contains("use the cage of namespaces"), "{door}");
    assert!(refused(&default, &request().workspace(layers()), &docker).contains("layers"));
    let rules = Rules::read_only().path("out", Access::Writable);
    assert!(refused(&default, &request().workspace("/srv/run").rules(rules), &docker).contains("rules for paths"));
    let research = refused(&profile("research_only"), &request().workspace("/srv/run"), &docker);
    assert!(research.contains("no program starts"), "{research}");
    for facts in [EngineFacts { rootless: true, ..docker.clone() }, EngineFacts { remapped: true, ..docker }] {
        assert!(refused(&default, &request().workspace("/srv/run"), &facts).contains("a workspace"));
        configured(&default, &request(), &facts).expect("without a workspace");
    }
}

fn demands_of_a_profile_are_kept_or_refused() {
    let all = facts(EngineKind::Docker);
    let tried = |profile: Profile, facts: &EngineFacts| configured(&profile, &Request::new(["true"]), facts);
    let lacks = |tried: Result<ContainerConfig, SandboxError>| matches!(tried, Err(SandboxError::HostLacks { .. }));
    let unlimited = EngineFacts { limits: false, ..all.clone() };
    assert!(lacks(tried(profile("default").with_landlock(Demand::Required), &all)));
    assert!(lacks(tried(profile("default"), &EngineFacts { seccomp: false, ..all.clone() })));
    assert!(lacks(tried(profile("default").with_groups(Demand::Required), &unlimited)));
    assert!(tried(profile("default").with_groups(Demand::Required), &all).is_ok());
    let config = tried(profile("default"), &unlimited).expect("each process is limited instead");
    assert!(config.json()["HostConfig"]["Ulimits"].to_string().contains(r#""Name":"data""#));
    assert!(lacks(tried(own("demands = \"full\""), &all)), "a container is never everything a cage is");
}

/// A profile of a team's own.
fn own(more: &str) -> Profile {
    let text = format!("about = \"mine\"\nextends = \"default\"\n{more}");
    let profiles = placet_sandbox::Profiles::with([("mine", text.as_str())]).expect("a profile");
    profiles.get("mine").expect("it is there").clone()
}

fn what_a_profile_of_ones_own_brings_is_there_too() {
    let profile = own("[read_only]\n\"/opt/x\" = { is = \"/srv/tool\", reason = \"r\" }\n\
                       [refused]\nsplice = { reason = \"r\" }\n[variables]\nA = { is = \"1\", reason = \"r\" }");
    for kind in [EngineKind::Docker, EngineKind::Podman] {
        let config = configured(&profile, &Request::new(["true"]), &facts(kind)).expect("a configuration");
        let text = format!("{}{}", config.json(), config.seccomp());
        for part in ["/srv/tool", "/opt/x", "A=1", "\"splice\""] {
            assert!(text.contains(part), "{kind:?}: {part} is not in {text}");
        }
        let twice = Request::new(["true"]).read_only("/srv/tool", "/opt/x/y");
        assert!(configured(&profile, &twice, &facts(kind)).is_err());
    }
}

fn places_the_host_lives_by_are_never_mounted() {
    for host in ["/", "/etc", "/proc/1", "/root", "/var", "/run"] {
        for kind in [EngineKind::Docker, EngineKind::Podman] {
            let request = Request::new(["true"]).workspace(host);
            let refused = configured(&profile("default"), &request, &facts(kind));
            assert!(matches!(refused, Err(SandboxError::Source { .. })), "{host}: {refused:?}");
        }
    }
    let colon = Request::new(["true"]).workspace("/srv/run:/etc");
    let refused = configured(&profile("default"), &colon, &facts(EngineKind::Podman));
    assert!(matches!(refused, Err(SandboxError::Source { .. })), "{refused:?}");
}

fn a_request_that_is_wrong_is_wrong_here_too() {
    let refused =
        configured(&profile("default"), &Request::new(["true"]).env("LD_PRELOAD", "x"), &facts(EngineKind::Docker));
    assert!(matches!(refused, Err(SandboxError::Request(_))), "{refused:?}");
}
