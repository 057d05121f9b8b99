//! Calls of models that cost nothing: they are counted where they are too many for an entry each, and none is left out.

use axum::http::Method;
use placet_wire::api;
use serde_json::{Value, json};

use super::models::{World, asks, asks_for, money};
use crate::person::Answer;

/// The counts in the ledger: outcome, reason, calls.
async fn counted(world: &World) -> Vec<(String, String, u64)> {
    let entries = world.app.entries_from(0).await.into_iter().filter(|entry| entry.kind == "run.calls_counted");
    let bodies = entries.map(|entry| serde_json::from_slice::<Value>(&entry.bytes).unwrap());
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    bodies
        .map(|entry| {
            let count = &entry["body"]["count"];
            (text(&count["outcome"]), text(&count["reason"]), count["calls"].as_u64().unwrap())
        })
        .collect()
}

fn calls(counts: &[(String, String, u64)], reason: &str) -> u64 {
    counts.iter().filter(|(_, of, _)| of == reason).map(|(_, _, calls)| calls).sum()
}

#[tokio::test]
async fn b10_calls_that_are_refused_are_events_of_the_run_and_their_number_is_bounded() {
    let mut world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    let searching = json!({
        "model": "large-1", "max_tokens": 300, "messages": [{ "role": "user", "content": "a secret question" }],
        "tools": [{ "type": "web_search_20250305", "name": "web_search" }],
    });
    for _ in 0..40 {
        asks_for(&world.agent, &searching).await.is(403);
        asks(&world.agent, "nobody-1").await.is(404);
    }
    world.app.until(0, "run.calls_counted").await;
    let trail: api::AuditTrail = world.reviewer.get(&format!("/api/v1/runs/{}/audit", run.id)).await.is(200).json();
    let row = trail.rows.iter().find(|row| row.event == "run.calls_counted").unwrap();
    assert!(row.approval_status.as_deref().is_some_and(|told| told.contains("calls refused: ")), "{row:?}");
    world.app.stop().await;
    let counts = counted(&world).await;
    assert_eq!((calls(&counts, "forbidden"), calls(&counts, "unknown")), (40, 40), "none is left out: {counts:?}");
    assert!(counts.len() <= 4, "the first, and the rest: {counts:?}");
    let bodies = world.app.bodies_from(0).await;
    assert!(
        bodies.contains("the upstream would run itself") && !bodies.contains("a secret question"),
        "what it was told"
    );
}

#[tokio::test]
async fn c12_calls_that_cost_nothing_do_not_fill_the_ledger_and_each_is_counted() {
    let mut world = World::start().await;
    world.run(money(1_000_000)).await;
    for _ in 0..150 {
        let request = world.agent.request(Method::POST, "/v1/messages/count_tokens");
        let question = json!({ "model": "large-1", "messages": [] });
        Answer::to(request.header("anthropic-version", "2023-06-01").json(&question)).await.is(200);
    }
    asks(&world.agent, "large-1").await.is(200);
    world.app.stop().await;
    let kinds = world.app.kinds_from(0).await;
    let own = kinds.iter().filter(|kind| *kind == "run.model_called").count();
    let counts = counted(&world).await;
    assert_eq!((own, calls(&counts, "free")), (60 + 1, 90), "what is paid for has its own entry: {counts:?}");
    assert!(counts.iter().all(|(outcome, ..)| outcome == "answered"), "{counts:?}");
    world.app.assert_sound().await;
}
