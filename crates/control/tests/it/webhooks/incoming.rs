//! Signed requests: they can do what the agent behind them can, once, now, and nothing else; and whoever cannot sign
//! learns nothing.

use axum::http::Method;
use placet_control::{App, Hooks, serve};
use placet_wire::Endpoint as _;
use placet_wire::api;
use placet_wire::endpoint::RevokeIdentity;
use serde_json::{Value, json};

use super::{Message, hook_of};
use crate::moves::{scan, scan_of_strangers};
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, shipped_rules};

/// A control plane with a hook `ci` that stands for the agent.
async fn hooked() -> (Scenario, Person) {
    let (mut app, agent, _, _) = Scenario::start().await;
    app.restart_with(Hooks::new(vec![], vec![hook_of("ci", &agent)]).unwrap()).await;
    (app, agent)
}

fn wish(app: &Scenario, proposal: Value) -> Value {
    json!({ "run": app.team.run, "proposal": proposal })
}

#[tokio::test]
async fn b12_a_signed_message_does_what_the_agents_own_request_does() {
    let (app, agent) = hooked().await;
    let own_from = app.size();
    let own = agent.proposes(app.team.run, &scan()).await;
    let hook_from = app.size();
    let answer = Message::of("msg_1", &wish(&app, scan())).send(&app, "ci").await.is(201);
    let hooked: api::ActionView = answer.json();
    assert_eq!((hooked.digest, hooked.status, hooked.proposer), (own.digest, own.status, own.proposer));
    assert_eq!(hooked.verdict.tier, own.verdict.tier);
    let own_kinds: Vec<_> =
        app.entries_from(own_from).await.into_iter().filter(|entry| entry.seq < hook_from).collect();
    let own_kinds: Vec<_> = own_kinds.into_iter().map(|entry| entry.kind).collect();
    assert_eq!(app.kinds_from(hook_from).await, own_kinds);
    app.assert_sound().await;
}

#[tokio::test]
async fn b12_a_signed_message_is_refused_what_the_agent_is_refused() {
    let (app, agent) = hooked().await;
    let denied = Message::of("msg_d", &wish(&app, scan_of_strangers())).send(&app, "ci").await.is(201);
    assert_eq!(denied.json::<Value>()["status"], "DENIED");
    let foreign = app.neighbours("beta").await;
    for (number, run) in [foreign.run.to_string(), "run_1".to_owned(), String::new()].into_iter().enumerate() {
        let own = agent.post(&format!("/api/v1/runs/{run}/actions"), &scan()).await;
        let body = json!({ "run": run, "proposal": scan() });
        let hooked = Message::of(&format!("msg_{number}"), &body).send(&app, "ci").await;
        if !run.is_empty() {
            assert_eq!(hooked.any_problem().detail, own.any_problem().detail);
        }
        assert!((400..500).contains(&hooked.status), "{}", hooked.status);
    }
    app.team.operator.cancels(app.team.run).await.is(200);
    Message::of("msg_late", &wish(&app, scan())).send(&app, "ci").await.problem(409, "run_not_active");
}

#[tokio::test]
async fn b12_the_same_message_again_has_no_second_effect() {
    let (app, agent) = hooked().await;
    let message = Message::of("msg_1", &wish(&app, scan()));
    let first: api::ActionView = message.send(&app, "ci").await.is(201).json();
    let size = app.size();
    let again: api::ActionView = message.send(&app, "ci").await.is(201).json();
    // What a sender that got no answer does: the same message, signed later.
    app.pass_ms(240_000);
    let later: api::ActionView = message.send(&app, "ci").await.is(201).json();
    assert_eq!([again.id, later.id], [first.id; 2]);
    assert_eq!(app.size(), size, "a repetition leaves no trace");
    let other = Message::of("msg_1", &wish(&app, scan_of_strangers()));
    other.send(&app, "ci").await.problem(409, "key_reused");
    let path = format!("/api/v1/runs/{}/actions", app.team.run);
    for key in ["msg_1", "webhook/ci/msg_1"] {
        let own: api::ActionView = agent.post_once(&path, key, &scan()).await.is(201).json();
        assert_ne!(own.id, first.id, "the agent's own keys are others");
    }
}

#[tokio::test]
async fn r38_a_message_counts_for_five_minutes_both_ways() {
    let (app, _) = hooked().await;
    for (number, ahead_s) in [0, 299, -299, 300, -300].into_iter().enumerate() {
        let message = Message::of(&format!("msg_{number}"), &wish(&app, scan())).ahead_s(ahead_s);
        message.send(&app, "ci").await.is(201);
    }
    let size = app.size();
    for ahead_s in [301, -301, 86_400, -86_400, i64::from(u32::MAX)] {
        let message = Message::of("msg_x", &wish(&app, scan())).ahead_s(ahead_s);
        message.send(&app, "ci").await.problem(401, "unauthorized");
    }
    let message = Message::of("msg_y", &wish(&app, scan()));
    let overheard: Vec<_> = message.headers(&app);
    app.pass_ms(301_000);
    let replayed = overheard.into_iter().fold(message, |message, (name, value)| message.with(name, value));
    replayed.send(&app, "ci").await.problem(401, "unauthorized");
    assert_eq!(app.size(), size);
}

#[tokio::test]
async fn r38_whatever_is_wrong_gets_the_same_answer_and_leaves_no_trace() {
    let (app, agent) = hooked().await;
    let (good, size) = (Message::of("msg_1", &wish(&app, scan())), app.size());
    let now_s = app.store().now().unix_ms() / 1_000;
    let mut changed = good.clone();
    let signed = good.headers(&app).pop().unwrap().1;
    changed.body.push(b' ');
    let wrong = [
        Message { key: vec![6; 32], ..good.clone() },
        changed.with("webhook-signature", signed.clone()),
        good.clone().with("webhook-id", "msg_2"),
        good.clone().with("webhook-timestamp", (now_s + 1).to_string()),
        good.clone().with("webhook-timestamp", format!("+{now_s}")),
        good.clone().with("webhook-timestamp", format!("0{now_s}")),
        good.clone().with("webhook-timestamp", "now"),
        good.clone().with("webhook-timestamp", ""),
        good.clone().with("webhook-id", ""),
        good.clone().with("webhook-signature", ""),
        good.clone().with("webhook-signature", "v1,"),
        good.clone().with("webhook-signature", signed.replace("v1,", "v1a,")),
        good.clone().with("webhook-signature", signed.clone()).with("webhook-signature", signed.clone()),
        Message::of("", &json!({})),
        Message::of("an id", &json!({})),
        Message::of("msg{", &json!({})),
        Message::of(&"x".repeat(201), &json!({})),
        good.clone().with("webhook-signature", "").with("authorization", format!("Bearer {}", agent.token)),
    ];
    let expected = good.send(&app, "nobody").await.problem(401, "unauthorized");
    for message in wrong {
        let answer = message.send(&app, "ci").await;
        assert_eq!(answer.problem(401, "unauthorized"), expected, "{message:?}");
        assert_eq!(answer.header("www-authenticate"), "Webhook-Signature");
    }
    for name in ["CI", "ci%20", "ci%2Fci", "%ff"] {
        assert_eq!(good.send(&app, name).await.problem(401, "unauthorized"), expected, "{name}");
    }
    assert_eq!(app.size(), size);
    good.clone().with("webhook-signature", format!("v1,AAAA {signed}")).send(&app, "ci").await.is(201);
}

#[tokio::test]
async fn r38_the_hook_of_a_revoked_agent_is_as_good_as_none() {
    let (mut app, agent) = hooked().await;
    let message = |id| Message::of(id, &wish(&app, scan()));
    let (before, after) = (message("msg_1"), message("msg_2"));
    before.send(&app, "ci").await.is(201);
    app.admin.post(&RevokeIdentity { identity: agent.id }.path(), &json!({})).await.is(200);
    let size = app.size();
    let expected = after.send(&app, "nobody").await.problem(401, "unauthorized");
    assert_eq!(after.send(&app, "ci").await.problem(401, "unauthorized"), expected);
    assert_eq!(
        before.send(&app, "ci").await.problem(401, "unauthorized"),
        expected,
        "not even a repetition is answered"
    );
    assert_eq!(app.size(), size);
    app.restart().await;
    after.send(&app, "ci").await.problem(401, "unauthorized");
}

#[tokio::test]
async fn b12_only_who_signed_is_told_what_is_wrong_with_a_message() {
    let (app, _) = hooked().await;
    let size = app.size();
    let raw = |body: &str| Message { body: body.as_bytes().to_vec(), ..Message::of("msg_1", &json!({})) };
    for body in ["", "{", "[]", "{}", r#"{"run":"run_1"}"#, r#"{"run":"a","run":"b","proposal":{}}"#] {
        raw(body).send(&app, "ci").await.problem(400, "bad_json");
    }
    let more = json!({ "run": app.team.run, "proposal": scan(), "as": "root" });
    Message::of("msg_2", &more).send(&app, "ci").await.problem(400, "bad_json");
    let text = Message::of("msg_3", &wish(&app, scan())).with("content-type", "text/plain");
    text.send(&app, "ci").await.problem(415, "not_json");
    raw(&" ".repeat(300 << 10)).send(&app, "ci").await.problem(413, "too_long");
    assert_eq!(app.size(), size);
}

#[tokio::test]
async fn r15_no_route_shows_or_changes_webhooks() {
    let (app, agent) = hooked().await;
    let size = app.size();
    let new = json!({ "name": "evil", "url": "http://127.0.0.1:9/", "events": ["*"] });
    for path in
        ["/api/v1/hooks", "/api/v1/webhooks", "/api/v1/settings", "/api/v1/settings/hooks", "/api/v1/hooks/ci/url"]
    {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE] {
            Answer::to(app.admin.request(method, path).json(&new)).await.problem(404, "unknown_route");
        }
    }
    for method in [Method::GET, Method::PUT, Method::PATCH, Method::DELETE] {
        Answer::to(app.admin.request(method, "/api/v1/hooks/ci").json(&new)).await.problem(405, "wrong_method");
    }
    Answer::to(agent.request(Method::POST, "/api/v1/hooks/ci").json(&new)).await.problem(401, "unauthorized");
    assert_eq!(app.size(), size);
}

#[tokio::test]
async fn b12_a_hook_that_stands_for_no_agent_does_not_start() {
    let (app, _, reviewer, _) = Scenario::start().await;
    let mut stranger = reviewer.clone();
    stranger.id = "idn_00000000000070008000000000000000".parse().unwrap();
    let size = app.size();
    for person in [&reviewer, &stranger] {
        let hooks = Hooks::new(vec![], vec![hook_of("ci", person)]).unwrap();
        let settings = placet_control::Settings { hooks, ..Default::default() };
        let plane = App::new(app.store().clone(), shipped_rules(), app.stolen_signer(), settings);
        let error = serve(plane, "127.0.0.1:0".parse().unwrap()).await.unwrap_err().to_string();
        assert!(error.contains("`ci`") && error.contains(&person.id.to_string()), "{error}");
        assert!(error.contains("placet identity list"), "{error}");
    }
    assert_eq!(app.size(), size);
}
