//! What a hostile or careless client sends. Everything is answered with a problem that has a code and says what is wrong,
//! and nothing of it reaches the ledger.

mod addresses;
mod administrators;
mod bodies;
mod headers;
mod others;
mod sockets;

use std::collections::BTreeMap;

use placet_control::route_table;
use placet_domain::digest::Digest;
use placet_domain::worktree::Duties;
use placet_wire::api;
use serde_json::{Value, json};

use crate::moves::{closing, commit, opening, worktree_of};
use crate::person::Person;
use crate::scenario::{Scenario, Team};

/// A route with a caller who may use it and a body that is in order as far as anybody can tell without looking anything up.
struct Way<'a> {
    method: String,
    pattern: String,
    caller: &'a Person,
    body: Value,
}

/// All routes that take a token, each with somebody of the team who is let in.
fn ways<'a>(app: &'a Scenario, team: &'a Team, admin: &'a Person) -> Vec<Way<'a>> {
    let caller = |access: &str| match access.split(' ').next().unwrap_or_default() {
        "agent" | "anyone" | "public" => &team.agent,
        "worker" => &team.worker,
        "reviewer" => &team.reviewer,
        "operator" => &team.operator,
        "admin" => admin,
        "auditor" => &app.auditor,
        other => panic!("nobody here is a {other}"),
    };
    let way = |(method, pattern, access): (String, String, String)| {
        let body = body(&pattern, team);
        Way { method, caller: caller(&access), pattern, body }
    };
    route_table().into_iter().filter(|(_, _, access)| access != "signed").map(way).collect()
}

fn body(pattern: &str, team: &Team) -> Value {
    match pattern.rsplit('/').next().unwrap_or_default() {
        "submit" => json!({ "plan": ["p"] }),
        "reject" | "reject-results" => json!({ "reason": "no" }),
        "words" => json!({ "kept": true, "reason": "look" }),
        "amend" => json!({ "changes": { "timeout_ms": 1 }, "reason": "less" }),
        "actions" => json!({ "tool": "cat" }),
        "resolve" => json!({ "resolution": "abandon", "reason": "gone" }),
        "redeem" => json!({ "permit": "x.y" }),
        "heartbeat" | "network" => json!({ "attempt": 1 }),
        "revoke" if pattern.contains("/wishes/") || pattern.contains("/orders/") => json!({ "reason": "no" }),
        "complete" if pattern.contains("/jobs/") => json!({ "manifest": {
            "v": 1, "action": "act_00000000000000000000000000000000", "executed": Digest::of(b""), "attempt": 1,
            "worker": team.worker.id, "started_at": 1, "finished_at": 2, "exit": { "code": 0 },
            "usage": {}, "items": [],
        } }),
        "scopes" => crate::scenario::scope(),
        "duties" => json!({ "duties": Duties::default() }),
        "worktrees" => json!({ "opening": opening("backend", "PAY-1") }),
        "work" => json!({ "work": { "is": "pushed", "remote": "origin", "tip": commit(2) } }),
        "exemptions" => json!({ "paths": ["Makefile"], "reason": "a target" }),
        "away" => json!({ "to": team.second.id, "until": "2026-02-07T00:00:00Z" }),
        "refuse" | "abort" | "fail" | "halt" | "release" | "safe-mode" | "end" | "demand" | "preserve"
        | "end-preservation" => {
            json!({ "reason": "no" })
        }
        "snapshot-failed" => json!({ "fault": { "kind": "snapshot_failed", "error": "no" } }),
        "budget" => json!({ "limits": { "actions": 10 } }),
        "steps" => json!({ "step": 1 }),
        "snapshots" => {
            json!({ "number": 0, "workspace": Digest::of(b""), "memory": Digest::of(b""), "files": 0, "size_bytes": 0 })
        }
        "log" => json!({ "start": 1, "at": 0, "said": [] }),
        "previews" => json!({ "number": 0, "failed": "no room" }),
        "restored" => json!({ "number": 0, "workspace": Digest::of(b""), "memory": Digest::of(b"") }),
        "outputs" => json!({ "outputs": [] }),
        "rollback" if pattern.contains("checkpoints") => json!({ "reason": "no" }),
        "rollback" => json!({ "to": 0, "reason": "no" }),
        "close" => closing(&[]),
        "merge" => json!({ "into": "main", "commit": commit(3) }),
        _ => json!({}),
    }
}

/// What the placeholders of a path stand for.
fn names(team: &Team, action: &api::ActionView) -> BTreeMap<&'static str, String> {
    BTreeMap::from([
        ("project", team.project.to_string()),
        ("run", team.run.to_string()),
        ("action", action.id.to_string()),
        ("identity", team.agent.id.to_string()),
        ("digest", Digest::of(b"{}").to_string()),
        ("worktree", worktree_of(team, "backend", "PAY-1").to_string()),
        ("number", "0".to_owned()),
    ])
}

fn filled(pattern: &str, names: &BTreeMap<&'static str, String>) -> String {
    names.iter().fold(pattern.to_owned(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value))
}
