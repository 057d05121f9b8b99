//! Traces of histories that are told here entry by entry: what begins, what ends, and that nothing changes afterwards.

use placet_domain::digest::Digest;
use placet_domain::event_meta::SpanMeta;
use placet_domain::time::Timestamp;
use serde_json::{Value, json};

use super::trace::{Fact, Span, Told, spans};

const RUN: &str = "run_00000000000000000000000000000001";
const ACT: &str = "act_00000000000000000000000000000002";
const PERSON: &str = "idn_00000000000000000000000000000003";

/// A history: kind, action or none, body. A second passes from entry to entry.
fn history(told: &[(&str, Option<&str>, Value)]) -> Vec<Told> {
    let entry = |(seq, (kind, action, body)): (u64, &(&str, Option<&str>, Value))| Told {
        seq,
        at: Timestamp::from_unix_ms(1_000 * i64::try_from(seq).unwrap_or(0)),
        kind: (*kind).to_owned(),
        run: RUN.to_owned(),
        action: action.map(str::to_owned),
        project: None,
        body: body.clone(),
        spans: SpanMeta::default(),
    };
    (0..).zip(told).map(entry).map(Told::with_spans).collect()
}

/// A run that fails at a checkpoint, is rolled back, and completes.
fn eventful() -> Vec<Told> {
    let call = json!({
        "upstream": "local", "model_asked": "small", "tokens": { "input": 5, "output": 7 }, "usd_micros": 12,
        "status": 200, "latency_ms": 2_000, "request": "sha256:SECRET",
    });
    let none = Digest::of(b"");
    let said = || json!({ "code": "said", "text": "SECRET" });
    history(&[
        ("run.created", None, json!({ "agent": "idn_1", "goal": "SECRET" })),
        ("run.agent_selected", None, json!({ "product": { "selection": { "chosen": "writer" } } })),
        ("run.submitted", None, json!({ "is": "submitted", "plan": ["SECRET"], "by": null })),
        ("run.plan_approved", None, json!({ "is": "plan_approved", "seen": none, "single_operator": false })),
        ("run.started", None, json!({ "is": "started" })),
        ("run.attached", None, json!({ "is": "attached" })),
        ("action.proposed", Some(ACT), json!({ "tool": "tee", "kind": "create_file", "arguments": ["SECRET"] })),
        ("action.judged", Some(ACT), judged("C")),
        ("action.approved", Some(ACT), approved(Value::Null, false)),
        ("action.approved", Some(ACT), approved(Value::Null, true)),
        ("job.leased", Some(ACT), leased(1)),
        ("job.lease_lapsed", Some(ACT), json!({ "is": "lease_lapsed", "attempt": 1, "started": true })),
        (
            "action.resolved",
            Some(ACT),
            json!({ "is": "resolved", "resolution": "retry", "reason": "SECRET", "deadline": 1 }),
        ),
        ("job.leased", Some(ACT), leased(2)),
        (
            "job.completed",
            Some(ACT),
            json!({ "is": "completed", "attempt": 2, "executed": none, "evidence": none, "exit": { "code": 1 }, "usage": {} }),
        ),
        ("run.model_called", None, json!({ "call": call })),
        ("run.checkpoint_reached", None, json!({ "is": "gate_reached", "kind": "STEP", "reason": said() })),
        ("run.failed", None, json!({ "is": "failed", "reason": said() })),
        ("run.rolled_back", None, json!({ "is": "rolled_back", "to": 0, "reason": "SECRET" })),
        ("run.restored", None, json!({ "is": "snapshot", "event": "restored", "number": 0 })),
        ("run.finished", None, json!({ "is": "finished", "summary": "SECRET" })),
        ("run.completed", None, json!({ "is": "results_approved", "seen": none, "single_operator": false })),
        ("run.destroyed", None, json!({ "is": "hosting", "event": "destroyed" })),
    ])
}

fn judged(tier: &str) -> Value {
    let none = Digest::of(b"");
    let verdict = json!({ "action": none, "policy": none, "tier": tier, "risk": 0.5, "reasons": [] });
    json!({ "is": "judged", "verdict": verdict, "review": none, "deadline": 1 })
}

fn approved(order: Value, complete: bool) -> Value {
    let mut approval = json!({
        "reviewer": PERSON, "review": Digest::of(b""), "expires_at": 1, "single_operator": false,
    });
    if !order.is_null() {
        approval["order"] = order;
    }
    json!({ "is": "approved", "approval": approval, "complete": complete })
}

fn leased(attempt: u32) -> Value {
    json!({ "is": "leased", "worker": PERSON, "attempt": attempt, "expires_at": 1 })
}

fn line(span: &Span) -> String {
    let seconds = (span.to.unix_ms() - span.from.unix_ms()) / 1_000;
    let failed = if span.failed { " failed" } else { "" };
    format!("{} {seconds}s by {}{failed}", span.name, span.ended_by)
}

#[test]
fn c17_every_phase_of_a_run_and_its_actions_is_a_span_that_ends_when_it_ends() {
    let told: Vec<String> = spans(&eventful()).iter().map(line).collect();
    assert_eq!(
        told,
        [
            "plan 1s by 3",
            "spawn 1s by 5",
            "approval 2s by 9",
            "job 1s by 11 failed",
            "job 1s by 14",
            "execute_tool tee 8s by 14 failed",
            "chat small 2s by 15",
            "checkpoint 1s by 17 failed",
            "invoke_agent writer 17s by 17 failed",
            "rollback 1s by 19",
            "collection 1s by 21",
            "results 1s by 21",
            "destruction 1s by 22",
        ]
    );
}

#[test]
fn c17_what_was_told_once_is_told_the_same_however_far_the_ledger_goes() {
    let all = eventful();
    let whole = spans(&all);
    for length in 0..all.len() {
        let begun = spans(&all[..length]);
        assert_eq!(begun, whole[..begun.len()], "after {length} entries");
    }
}

#[test]
fn c17_a_call_of_a_model_says_what_it_took() {
    let all = spans(&eventful());
    let call = all.iter().find(|span| span.name == "chat small").expect("it was called");
    for fact in [("gen_ai.usage.input_tokens", 5), ("gen_ai.usage.output_tokens", 7), ("placet.cost.usd_micros", 12)] {
        assert!(call.attributes.contains(&(fact.0, Fact::Count(fact.1))), "{call:?}");
    }
}

#[test]
fn c17_what_an_order_approved_waited_for_nobody() {
    let waited_for = |order: Value| {
        let told = history(&[
            ("run.created", None, json!({ "agent": "idn_1" })),
            ("action.proposed", Some(ACT), json!({ "tool": "tee", "kind": "create_file" })),
            ("action.judged", Some(ACT), judged("B")),
            ("action.approved", Some(ACT), approved(order, true)),
        ]);
        spans(&told).pop().expect("an approval").attributes
    };
    let says = |whom: &str| ("placet.waits_for", Fact::Text(whom.to_owned()));
    assert!(waited_for(json!(1)).contains(&says("placet")));
    assert!(waited_for(json!(null)).contains(&says("person")));
}

#[test]
fn c17_no_words_of_anybody_are_in_a_span() {
    assert!(!format!("{:?}", spans(&eventful())).contains("SECRET"));
}
