//! Files of a team with something wrong in them, made by the hundred: none makes the reader panic, none slips through the
//! published schema into a type that does not take it, and every problem has its line.

use placet_worktree::team::ProblemKind;
use proptest::prelude::*;
use proptest::sample::Index;
use serde_json::{Value, json};

use crate::world::World;

const FILES: [&str; 5] = [
    "agents/agents_registry.json",
    "agents/profiles/backend_agent.json",
    "agents/policy.json",
    "agents/protected_paths.json",
    "agents/raci.json",
];

/// A policy that leaves nothing out, so that there is something to spoil.
const POLICY: &str = r#"{
    "version": 1, "baseBranch": "develop", "protectedBranches": ["develop", "prod-*"], "tickets": {"prefixes": ["PAY"]},
    "commitTypes": ["feat", "perf"],
    "checks": [{"name": "unit", "command": ["make", "test"], "when": ["src/**"], "timeoutSeconds": 60, "cage": true}],
    "setup": {"caches": [{"from": "/var/cache/npm", "to": "node_modules", "how": "hardlink"}],
              "generate": [{"name": "proto", "command": ["make", "proto"]}],
              "environment": {"pass": ["LANG"], "set": {"CI": "1"}}},
    "ports": {"first": 30000, "perWorktree": 2, "names": ["PORT", "DB_PORT"]},
    "quotas": {"diskBytesPerWorktree": 2097152, "diskBytesTotal": 4194304, "worktrees": 2, "maxAgeDays": 7},
    "sequences": {"default": ["backend", "docs"]}
}"#;

/// Values that are wrong somewhere, and right elsewhere.
fn odd() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!(true),
        json!(0),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(70_000),
        json!(1e15),
        json!(""),
        json!("a"),
        json!("A"),
        json!("a\n"),
        json!("é"),
        json!("\u{202e}"),
        json!("\0"),
        json!("x".repeat(33)),
        json!("x".repeat(65)),
        json!("é".repeat(81)),
        json!("x".repeat(5000)),
        json!("**"),
        json!("["),
        json!("../x"),
        json!("~/.ssh"),
        json!("@agent"),
        json!("@reviewer"),
        json!("profiles/a_agent.json"),
        json!("hardlink"),
        json!("PORT"),
        json!("GH_TOKEN"),
        json!([]),
        json!(["a"]),
        json!(["a", "a"]),
        json!([1, 1.0]),
        json!({}),
        json!({"a": 1}),
    ])
}

/// Where to go at each level, and what to do in the end.
#[derive(Debug, Clone)]
struct Mutation {
    way: Vec<Index>,
    act: usize,
    value: Value,
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let way = prop::collection::vec(any::<Index>(), 1..5);
    (way, 0..4_usize, odd()).prop_map(|(way, act, value)| Mutation { way, act, value })
}

fn spoil(document: &mut Value, way: &[Index], mutation: &Mutation) {
    let (Some(step), false) = (way.first(), is_leaf(document)) else {
        *document = mutation.value.clone();
        return;
    };
    match document {
        Value::Object(members) => {
            let key = members.keys().nth(step.index(members.len())).unwrap().clone();
            match (way.len(), mutation.act) {
                (1, 0) => drop(members.remove(&key)),
                (1, 1) => drop(members.insert(format!("{key}x"), mutation.value.clone())),
                _ => spoil(&mut members[&key], &way[1..], mutation),
            }
        }
        Value::Array(items) => match (way.len(), mutation.act) {
            (1, 0) => items.clear(),
            (1, 1) => items.push(mutation.value.clone()),
            (1, 2) => items.push(items[0].clone()),
            _ => {
                let at = step.index(items.len());
                spoil(&mut items[at], &way[1..], mutation);
            }
        },
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => *document = mutation.value.clone(),
    }
}

fn is_leaf(value: &Value) -> bool {
    match value {
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a3_whatever_is_wrong_in_a_file_is_a_problem_with_a_line_and_never_a_surprise(
        file in prop::sample::select(FILES.to_vec()),
        mutations in prop::collection::vec(mutation(), 1..3),
    ) {
        thread_local! { static WORLD: World = World::with_team(); }
        WORLD.with(|world| {
            world.write("agents/policy.json", POLICY);
            let original = world.read(file);
            let mut document: Value = serde_json::from_str(&original).unwrap();
            mutations.iter().for_each(|mutation| spoil(&mut document, &mutation.way, mutation));
            world.write(file, &serde_json::to_string_pretty(&document).unwrap());
            let loaded = world.load();
            world.write(file, &original);
            for problem in loaded.err().iter().flat_map(|problems| problems.all()) {
                prop_assert!(!problem.message().contains("too wide"), "{problem}\n{document}");
                prop_assert!(problem.line().is_some() || problem.kind() == ProblemKind::File, "{problem}");
                prop_assert!(!problem.to_string().contains(char::is_control), "{problem:?}");
            }
            Ok(())
        })?;
    }
}
