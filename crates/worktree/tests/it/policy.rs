//! The policy of a team: defaults, contradictions, and what is asked of it.

use placet_domain::scope::ScopePath;
use placet_worktree::team::{CacheMode, Policy, SCHEMAS, branch_of};
use serde_json::Value;

use crate::world::World;

const POLICY: &str = "agents/policy.json";

fn policy(text: &str) -> Policy {
    World::with_team().write(POLICY, text).load().unwrap().policy().clone()
}

fn refusals(text: &str) -> String {
    World::with_team().write(POLICY, text).problems().join("\n")
}

#[test]
fn a3_an_empty_policy_and_a_missing_one_mean_the_defaults() {
    let world = World::with_team();
    assert_eq!(world.write(POLICY, "{}").load().unwrap().policy(), &Policy::default());
    std::fs::remove_file(world.path(POLICY)).unwrap();
    assert_eq!(world.load().unwrap().policy(), &Policy::default());
}

/// The defaults a schema states, in the shape of a document that leaves nothing out.
fn stated_defaults(schema: &Value, root: &Value) -> Option<Value> {
    let schema = schema
        .get("$ref")
        .map_or(schema, |reference| root.pointer(reference.as_str().unwrap().strip_prefix('#').unwrap()).unwrap());
    if let Some(default) = schema.get("default") {
        return Some(default.clone());
    }
    let properties = schema.get("properties")?.as_object()?;
    let stated = properties.iter().filter_map(|(key, part)| Some((key.clone(), stated_defaults(part, root)?)));
    Some(Value::Object(stated.collect()))
}

#[test]
fn a3_the_published_schema_states_the_defaults_that_hold() {
    let (_, text) = SCHEMAS.iter().find(|(name, _)| *name == "policy.schema.json").unwrap();
    let schema: Value = serde_json::from_str(text).unwrap();
    let mut stated = stated_defaults(&schema, &schema).unwrap();
    stated.as_object_mut().unwrap().remove("version");
    assert_eq!(stated, serde_json::to_value(Policy::default()).unwrap());
    let check = policy(r#"{"checks":[{"name":"x","command":["true"]}]}"#).checks[0].clone();
    assert_eq!(schema["$defs"]["check"]["properties"]["timeoutSeconds"]["default"], check.timeout_seconds);
    assert_eq!(schema["$defs"]["check"]["properties"]["cage"]["default"], check.is_caged);
}

#[test]
fn a3_everything_a_policy_can_say_is_read() {
    let world = World::with_team();
    let text = r#"{
        "version": 1, "baseBranch": "develop", "protectedBranches": ["develop", "prod-*"],
        "tickets": { "prefixes": ["PAY", "OPS"] }, "commitTypes": ["feat", "perf"],
        "checks": [ { "name": "unit", "command": ["make", "test"], "when": ["src/**"], "timeoutSeconds": 6e1, "cage": true } ],
        "setup": { "caches": [ { "from": "~/.cargo/registry", "to": "/cache/cargo", "how": "readOnly" },
                               { "from": "/var/cache/npm", "to": "node_modules", "how": "hardlink" } ],
                   "generate": [ { "name": "proto", "command": ["make", "proto"] } ],
                   "environment": { "pass": ["LANG"], "set": { "CI": "1" } } },
        "ports": { "first": 30000, "perWorktree": 2, "names": ["PORT", "DB_PORT"] },
        "quotas": { "diskBytesPerWorktree": 2097152, "diskBytesTotal": 4194304, "worktrees": 2, "maxAgeDays": 7 },
        "sequences": { "default": ["backend", "docs"] } }"#;
    let policy = world.write(POLICY, text).load().unwrap().policy().clone();
    assert_eq!(policy.checks[0].timeout_seconds, 60);
    assert_eq!(policy.setup.caches[0].how, CacheMode::ReadOnly);
    assert_eq!(policy.commit_form.types().len(), 2);
    let sequence: Vec<&str> = policy.sequences.values().flatten().map(|agent| agent.as_str()).collect();
    assert_eq!(sequence, ["backend", "docs"]);
    let ports: Vec<u16> = policy.ports.of_slot(1).into_values().collect();
    assert_eq!(ports, [30003, 30002], "by name: DB_PORT, PORT");
    let again = serde_json::to_string(&policy).unwrap();
    assert_eq!(&policy, &self::policy(&again), "what is written is read back");
}

#[test]
fn a3_contradictions_within_a_policy_are_found_where_they_stand() {
    let cases = [
        (
            r#"{"checks":[{"name":"a","command":["x"]},{"name":"a","command":["x"]}]}"#,
            "/checks/1/name: there are two checks `a`",
        ),
        (r#"{"checks":[{"name":"a","command":[]}]}"#, "/checks/0/command: it has 0 entries and needs 1"),
        (r#"{"checks":[{"name":"a","command":[""]}]}"#, "/checks/0/command/0: the program is empty"),
        (r#"{"checks":[{"name":"a","command":"make test"}]}"#, "expected a list in [ ], found `make test`"),
        (r#"{"checks":[{"name":"a","command":["x"],"cage":false}]}"#, "/checks/0/cage: every check runs in a cage"),
        (r#"{"protectedBranches":["main","feat/**"]}"#, "/protectedBranches/1: `feat/**` protects the very branches"),
        (r#"{"protectedBranches":["**"]}"#, "protects the very branches"),
        (r#"{"protectedBranches":["refs/heads/main"]}"#, "leave `refs/heads/` out"),
        (r#"{"baseBranch":"-x"}"#, "/baseBranch: `-x` is no branch"),
        (r#"{"baseBranch":"a..b"}"#, "is no branch"),
        (r#"{"ports":{"perWorktree":1,"names":["A","B"]}}"#, "/ports/names: 2 names for 1 ports per worktree"),
        (r#"{"ports":{"first":65000,"perWorktree":100,"names":["A"]}}"#, "beyond 65535"),
        (r#"{"quotas":{"diskBytesPerWorktree":2097152,"diskBytesTotal":1048576}}"#, "may take more than all together"),
        (r#"{"quotas":{"worktrees":0}}"#, "/quotas/worktrees: 0 is less than 1"),
        (r#"{"quotas":{"worktrees":1.5}}"#, "expected a whole number, found `1.5`"),
        (
            r#"{"sequences":{"default":["backed"]}}"#,
            "/sequences/default/0: `backed` is no registered agent; did you mean `backend`?",
        ),
        (r#"{"setup":{"environment":{"pass":["GITHUB_TOKEN"]}}}"#, "`GITHUB_TOKEN` is the name of a secret"),
        (r#"{"setup":{"environment":{"set":{"AWS_SECRET_ACCESS_KEY":"x"}}}}"#, "is the name of a secret"),
        (r#"{"setup":{"caches":[{"from":"~/.ssh","to":"x","how":"readOnly"}]}}"#, "would show `~/.ssh` to agents"),
        (r#"{"setup":{"caches":[{"from":"~/.config","to":"x","how":"readOnly"}]}}"#, "would show `~/.config/g"),
        (r#"{"setup":{"caches":[{"from":"~/","to":"x","how":"readOnly"}]}}"#, "would show"),
        (
            r#"{"setup":{"caches":[{"from":"vendor","to":"x","how":"readOnly"}]}}"#,
            "must be absolute or begin with `~/`",
        ),
        (r#"{"setup":{"caches":[{"from":"/a","to":"../x","how":"readOnly"}]}}"#, "`.` or `..`"),
        (
            r#"{"setup":{"caches":[{"from":"/a","to":"b","how":"copy"}]}}"#,
            "expected `hardlink` or `readOnly`, found `copy`",
        ),
        (r#"{"commitTypes":[]}"#, "/commitTypes: it has 0 entries and needs 1"),
        (r#"{"commitTypes":["fix","fix"]}"#, "/commitTypes/1: `fix` is listed twice"),
        (r#"{"chekcs":[]}"#, "unknown key `chekcs`; did you mean `checks`?"),
    ];
    for (text, expected) in cases {
        let found = refusals(text);
        assert!(found.contains(expected) && found.starts_with("agents/policy.json:1: /"), "{text}: {found}");
    }
}

#[test]
fn a3_a_profile_names_only_checks_that_exist() {
    let world = World::with_team();
    world.write(
        POLICY,
        r#"{"checks":[{"name":"unit","command":["make","test"]},{"name":"lint","command":["make","lint"]}]}"#,
    );
    world.edit(
        "agents/profiles/docs_agent.json",
        "\"name\": \"docs\",",
        "\"name\": \"docs\",\n  \"checks\": [\"lnit\"],",
    );
    assert!(
        world
            .problem()
            .contains("docs_agent.json:4: /checks/0: `lnit` is no check in agents/policy.json; did you mean `lint`?")
    );
    world.edit("agents/profiles/docs_agent.json", "lnit", "lint");
    let team = world.load().unwrap();
    let names = |agent: &str| {
        let agent = team.agent(agent).unwrap();
        team.checks_of(agent).map(|check| check.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names("backend"), ["unit", "lint"]);
    assert_eq!(names("docs"), ["lint"]);
}

#[test]
fn a1_tickets_make_branches_that_no_other_pair_has() {
    let policy = policy(r#"{"tickets":{"prefixes":["PAY"]}}"#);
    let ticket = policy.ticket("PAY-12").unwrap();
    assert_eq!(branch_of(&ticket, &"backend".parse().unwrap()).as_str(), "feat/PAY-12-backend");
    assert!(
        policy.ticket("OPS-1").unwrap_err().to_string().contains("none of the prefixes in `agents/policy.json`: PAY")
    );
    let any = Policy::default();
    for good in ["A-1", "pay-0012", "X9-123456789"] {
        assert!(any.ticket(good).is_ok(), "{good}");
    }
    for bad in [
        "",
        "PAY",
        "PAY-",
        "-1",
        "9A-1",
        "PAY-1-2",
        "PAY-x",
        "PAY/1-1",
        "../A-1",
        "A-1\n",
        "A-1234567890",
        "Ä-1",
        "A -1",
        "A-1;id",
    ] {
        assert!(any.ticket(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn a11_the_base_and_the_listed_branches_are_protected_in_any_letter_case() {
    let policy = policy(r#"{"baseBranch":"trunk","protectedBranches":["release/**","prod-*"]}"#);
    for branch in ["trunk", "Trunk", "release/1/2", "RELEASE/1", "prod-eu"] {
        assert!(policy.is_protected_branch(branch), "{branch}");
    }
    for branch in ["main", "feat/PAY-1-backend", "prod-eu/x", "release"] {
        assert!(!policy.is_protected_branch(branch), "{branch}");
    }
}

#[test]
fn a12_a_check_counts_if_a_changed_path_matches_or_if_it_says_nothing() {
    let policy = policy(r#"{"checks":[{"name":"a","command":["x"],"when":["src/**"]},{"name":"b","command":["x"]}]}"#);
    let changed = |path: &str| vec![ScopePath::new(path.as_bytes()).unwrap()];
    assert!(policy.checks[0].applies_to(changed("src/a/b.rs").iter()));
    assert!(!policy.checks[0].applies_to(changed("docs/a.md").iter()));
    assert!(policy.checks[1].applies_to(changed("docs/a.md").iter()));
    assert!(!policy.checks[0].applies_to([].iter()));
}
