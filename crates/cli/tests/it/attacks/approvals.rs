//! Attempts to say yes without being the one who may.

use serde_json::json;

use super::attacks;
use super::scene::{Scene, done_if, ended};

attacks! { "governance";
    self_approve, "approve its own action", Role, "exit 3: this needs one of the roles: reviewer", honestly a_reviewer_approves;
    self_amend, "make another action of it", Role, "403 role", honestly a_reviewer_amends;
    self_reject_of_others, "refuse what a rival proposed", Role, "403 role", honestly a_reviewer_rejects;
    plan_approved_by_its_agent, "approve its own plan", Role, "exit 3: this needs one of the roles: reviewer", honestly a_reviewer_approves_the_plan;
    results_accepted_by_their_agent, "accept its own results", Role, "exit 3: this needs one of the roles: reviewer", honestly a_reviewer_accepts_the_results;
    child_with_more_rights, "through a reviewer it stands behind", Kinship, "exit 2: a child of an agent has the rights of an agent", honestly a_child_that_proposes;
    parent_approves, "through the reviewer behind it", Kinship, "403 kin", honestly a_reviewer_approves;
    sibling_approves, "through another child of the same parent", Kinship, "403 kin", honestly a_reviewer_approves;
    grandparent_approves, "through the reviewer behind who is behind it", Kinship, "403 kin", honestly a_reviewer_approves;
    one_person_twice, "give both approvals of tier C", TwoPeople, "403 same_person", honestly two_people_approve;
    approval_of_something_else, "a yes to what was shown before", Seen, "412 stale", honestly a_reviewer_approves;
    approval_without_looking, "a yes to whatever stands", Seen, "428 unseen", honestly a_reviewer_approves;
    both_roles_at_once, "be agent and reviewer in one", Role, "exit 2", honestly one_role_each;
    agent_makes_a_reviewer, "register somebody who says yes", Role, "403 role", honestly an_admin_makes_a_reviewer;
    agent_takes_a_token, "take over the reviewer", Role, "403 role", honestly an_admin_replaces_a_token;
    worker_approves, "approve what it will run", Role, "403 role", honestly a_reviewer_approves;
    revoked_reviewer_approves, "with a token that was ended", Token, "401 unauthorized", honestly another_reviewer_approves;
}

fn yes(scene: &Scene, name: &str, id: &str) -> String {
    scene.post_if(name, &format!("/api/v1/actions/{id}/approve"), &scene.review(id), &json!({}))
}

fn self_approve(scene: &Scene) -> String {
    let id = scene.waiting();
    ended(&scene.agent(&["approve", &id, "--yes"]))
}

fn a_reviewer_approves(scene: &Scene) -> String {
    let id = scene.newest();
    let told = scene.approved(&id);
    done_if(told == super::DONE && scene.world.status(&id) == "APPROVED", || told)
}

fn self_amend(scene: &Scene) -> String {
    let id = scene.waiting();
    let body = json!({ "changes": { "arguments": [scene.canary] }, "reason": "better" });
    scene.post_if("tom", &format!("/api/v1/actions/{id}/amend"), &scene.review(&id), &body)
}

fn a_reviewer_amends(scene: &Scene) -> String {
    let id = scene.newest();
    scene.world.write("changes.json", r#"{"arguments": ["true"]}"#);
    ended(&scene.world.by("ada", &["approve", &id, "--with", "changes.json", "--yes", "--reason", "less"]))
}

fn self_reject_of_others(scene: &Scene) -> String {
    scene.joins("rival", "agent", None);
    let id = scene.waiting();
    scene.post_if("rival", &format!("/api/v1/actions/{id}/reject"), &scene.review(&id), &json!({ "reason": "no" }))
}

fn a_reviewer_rejects(scene: &Scene) -> String {
    ended(&scene.world.by("ada", &["reject", &scene.newest(), "--reason", "no"]))
}

fn planned(scene: &Scene) -> String {
    let args = ["run", "new", "more", "--scope", "all", "--agent", "tom", "--step", "try"];
    scene.world.json("admin", &args)["id"].as_str().unwrap().to_owned()
}

fn plan_approved_by_its_agent(scene: &Scene) -> String {
    ended(&scene.agent(&["run", "approve", &planned(scene)]))
}

fn a_reviewer_approves_the_plan(scene: &Scene) -> String {
    ended(&scene.world.by("ada", &["run", "approve", &planned(scene)]))
}

fn results_accepted_by_their_agent(scene: &Scene) -> String {
    scene.waiting();
    scene.agent(&["run", "finish", &scene.run, "--summary", "all is well"]).ok();
    ended(&scene.agent(&["run", "complete", &scene.run]))
}

fn a_reviewer_accepts_the_results(scene: &Scene) -> String {
    ended(&scene.world.by("ada", &["run", "complete", &scene.run]))
}

fn child_with_more_rights(scene: &Scene) -> String {
    ended(&scene.world.cli(&["identity", "add", "child", "--role", "reviewer", "--parent", "tom"]))
}

fn a_child_that_proposes(scene: &Scene) -> String {
    ended(&scene.world.cli(&["identity", "add", "child", "--role", "agent", "--parent", "tom"]))
}

/// What another agent, with this parent, proposes in a run of its own.
fn proposed_by_child_of(scene: &Scene, parent: &str) -> String {
    scene.joins("bot", "agent", Some(parent));
    let run = scene.world.run_of("bot");
    let said = scene.world.json("bot", &["action", "propose", &run, "sh", &format!("echo {}", scene.canary)]);
    said["id"].as_str().unwrap().to_owned()
}

fn parent_approves(scene: &Scene) -> String {
    scene.waiting();
    scene.joins("mother", "reviewer", None);
    yes(scene, "mother", &proposed_by_child_of(scene, "mother"))
}

fn grandparent_approves(scene: &Scene) -> String {
    scene.waiting();
    scene.joins("grandmother", "reviewer", None);
    scene.joins("mother", "operator", Some("grandmother"));
    yes(scene, "grandmother", &proposed_by_child_of(scene, "mother"))
}

/// Whoever stands behind both would decide on their own undertaking with another's hand.
fn sibling_approves(scene: &Scene) -> String {
    scene.waiting();
    scene.joins("mother", "operator", None);
    scene.joins("sister", "reviewer", Some("mother"));
    yes(scene, "sister", &proposed_by_child_of(scene, "mother"))
}

/// Deleting takes two people.
fn one_person_twice(scene: &Scene) -> String {
    let id = scene.proposes(&["rm", "out/a"]);
    assert_eq!(yes(scene, "ada", &id), super::DONE, "the first of two");
    yes(scene, "ada", &id)
}

fn two_people_approve(scene: &Scene) -> String {
    scene.joins("bea", "reviewer", None);
    let id = scene.newest();
    let told = yes(scene, "bea", &id);
    done_if(told == super::DONE && scene.world.status(&id) == "APPROVED", || told)
}

fn approval_of_something_else(scene: &Scene) -> String {
    let shown = scene.proposes(&["sh", "true"]);
    let id = scene.waiting();
    scene.post_if("ada", &format!("/api/v1/actions/{id}/approve"), &scene.review(&shown), &json!({}))
}

fn approval_without_looking(scene: &Scene) -> String {
    let id = scene.waiting();
    scene.post("ada", &format!("/api/v1/actions/{id}/approve"), &json!({}))
}

fn both_roles_at_once(scene: &Scene) -> String {
    ended(&scene.world.cli(&["identity", "add", "janus", "--role", "agent", "--role", "reviewer"]))
}

fn one_role_each(scene: &Scene) -> String {
    scene.joins("janus", "agent", None);
    ended(&scene.world.cli(&["identity", "add", "sanja", "--role", "reviewer", "--role", "operator"]))
}

fn agent_makes_a_reviewer(scene: &Scene) -> String {
    scene.post("tom", "/api/v1/identities", &json!({ "name": scene.canary, "roles": ["reviewer"] }))
}

fn an_admin_makes_a_reviewer(scene: &Scene) -> String {
    scene.post("admin", "/api/v1/identities", &json!({ "name": scene.canary, "roles": ["reviewer"] }))
}

fn token_of_ada(scene: &Scene) -> String {
    let ada = scene.world.json("admin", &["identity", "list"]);
    let ada = ada["identities"].as_array().unwrap().iter().find(|one| one["name"] == "ada").unwrap();
    format!("/api/v1/identities/{}/token", ada["id"].as_str().unwrap())
}

fn agent_takes_a_token(scene: &Scene) -> String {
    scene.post("tom", &token_of_ada(scene), &json!({}))
}

fn an_admin_replaces_a_token(scene: &Scene) -> String {
    scene.post("admin", &token_of_ada(scene), &json!({}))
}

fn worker_approves(scene: &Scene) -> String {
    let id = scene.waiting();
    yes(scene, "w1", &id)
}

fn revoked_reviewer_approves(scene: &Scene) -> String {
    let id = scene.waiting();
    let review = scene.review(&id);
    scene.joins("eve", "reviewer", None);
    scene.world.cli(&["identity", "revoke", "eve"]).ok();
    scene.post_if("eve", &format!("/api/v1/actions/{id}/approve"), &review, &json!({}))
}

fn another_reviewer_approves(scene: &Scene) -> String {
    scene.joins("fay", "reviewer", None);
    yes(scene, "fay", &scene.newest())
}
