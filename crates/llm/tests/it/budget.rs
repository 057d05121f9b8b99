//! Money and tokens: held before, settled after, never more than there is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use http_body_util::Full;
use hyper::{Request, StatusCode};
use placet_domain::budget::{Amounts, Resource};
use placet_llm::Gateway;
use placet_llm::config::Settings;
use placet_llm::key::{CallScope, KeyRefusal, Keys, VirtualKey};
use placet_llm::memory::Wallet;
use placet_llm::model_script::{Script, start};
use placet_llm::models::Models;
use placet_llm::purse::Allotment;
use placet_llm::wire::Wire;

use super::world::{Plan, Question, VIRTUAL_KEY, World, ceiling, question, run};

const SCRIPT: &str = "[[turn]]\nwhen = 'hello'\ntext = 'hi'\nused = { input = 10, output = 20 }\n";

fn plan(tokens: u64, usd_micros: u64) -> Plan {
    Plan { ceiling: ceiling(tokens, usd_micros), ..Plan::default() }
}

#[tokio::test]
async fn c12_a_call_that_is_not_covered_is_refused_before_it_is_sent() {
    for (wire, status) in [(Wire::Messages, 402), (Wire::Chat, 402), (Wire::Responses, 400), (Wire::Gemini, 402)] {
        let world = World::planned(&[SCRIPT], plan(1_000_000, 1_200)).await;
        let reply = world.agent.ask(&question(wire, true)).await;
        assert_eq!(reply.status, status, "{wire}");
        assert!(
            reply.message().contains("ask for a larger budget") && reply.message().contains("$0.0012"),
            "{}",
            reply.message()
        );
        assert!(world.upstreams[0].heard().is_empty(), "nothing was sent");
        assert_eq!(world.allotment.spent(), Amounts::NONE);
        assert_eq!(world.wallet.ran_dry_of(), [Resource::UsdMicros], "whoever keeps the budget is told");
    }
}

#[tokio::test]
async fn c12_the_longest_answer_that_is_covered_is_asked_for() {
    // About 1,100 tokens go in at most; what is left of 2,000 dollars' millionths pays for about 430 tokens of output.
    for (wire, limit) in [
        (Wire::Messages, "\"max_tokens\":"),
        (Wire::Chat, "\"max_tokens\":"),
        (Wire::Responses, "\"max_output_tokens\":"),
        (Wire::Gemini, "\"maxOutputTokens\":"),
    ] {
        let world = World::planned(&[SCRIPT], plan(1_000_000, 2_000)).await;
        let asked = question(wire, false);
        assert_eq!(world.agent.ask(&asked).await.status, 200, "{wire}");
        let heard = String::from_utf8(world.upstreams[0].heard()[0].body.clone()).unwrap();
        let (_, after) = heard.split_once(limit).unwrap();
        let capped: u64 = after[..after.find(|c: char| !c.is_ascii_digit()).unwrap()].parse().unwrap();
        assert!((300..500).contains(&capped), "{wire}: {capped}");
        assert_eq!(heard, asked.body.replacen(&format!("{limit}1000"), &format!("{limit}{capped}"), 1), "{wire}");
        assert_eq!(world.record().await.usd_micros, 50, "what was not used went back");
        assert_eq!(world.allotment.left().usd_micros, 1_950);
    }
}

#[tokio::test]
async fn c12_an_answer_without_a_limit_gets_one() {
    let more = "[limits]\noutput_tokens = 777\n".to_owned();
    for (wire, added) in [
        (Wire::Messages, "{\"max_tokens\":777,"),
        (Wire::Chat, "{\"max_completion_tokens\":777,"),
        (Wire::Responses, "{\"max_output_tokens\":777,"),
        (Wire::Gemini, "{\"generationConfig\":{\"maxOutputTokens\":777},"),
    ] {
        let world = World::planned(&[SCRIPT], Plan { more: more.clone(), ..Plan::default() }).await;
        let mut asked = question(wire, false);
        for limit in [
            r#" "max_tokens":1000,"#,
            r#" "max_output_tokens":1000,"#,
            r#", "generationConfig":{"maxOutputTokens":1000}"#,
        ] {
            asked.body = asked.body.replace(limit, "");
        }
        world.agent.ask(&asked).await;
        let heard = String::from_utf8(world.upstreams[0].heard()[0].body.clone()).unwrap();
        assert_eq!(heard, asked.body.replacen('{', added, 1), "{wire}");
    }
}

#[tokio::test]
async fn c12_an_upstream_that_knows_the_old_name_of_the_limit_gets_it_too() {
    let world =
        World::planned(&[SCRIPT], Plan { upstream: "limit_name = \"max_tokens\"".to_owned(), ..Plan::default() }).await;
    let body = r#"{"model":"m","max_completion_tokens":300,"messages":[{"role":"user","content":"hi"}]}"#;
    world.agent.send("/v1/chat/completions", &[("x-api-key", VIRTUAL_KEY)], body).await;
    let heard: serde_json::Value = serde_json::from_slice(&world.upstreams[0].heard()[0].body).unwrap();
    assert_eq!((&heard["max_tokens"], &heard["max_completion_tokens"]), (&300.into(), &300.into()));
}

#[tokio::test]
async fn r30_a_thousand_calls_at_once_against_a_budget_for_ten() {
    // Whatever they do at once, what they spend stays below the limit; each takes 50, so ten of them take all.
    let world = World::planned(&[SCRIPT], plan(1_000_000, 3_250)).await;
    let asked = question(Wire::Messages, true);
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..1_000 {
        let (agent, asked) = (world.agent.clone(), asked.clone());
        calls.spawn(async move { agent.ask(&asked).await.status });
    }
    let statuses = calls.join_all().await;
    let carried = statuses.iter().filter(|status| **status == 200).count();
    assert!(statuses.iter().all(|status| matches!(status, 200 | 402 | 503)), "{statuses:?}");
    world.records(carried).await;
    let spent = world.allotment.spent();
    assert_eq!(spent.usd_micros, carried as u64 * 50);
    assert!(carried >= 1 && spent.usd_micros <= 3_250, "{carried} calls");
    assert_eq!(world.allotment.held(), Amounts::NONE);
}

#[tokio::test]
async fn a_model_that_the_run_may_not_use_is_refused() {
    let models = Models::new(["m-small".parse().unwrap()]);
    let world = World::planned(&[SCRIPT], Plan { models, ..Plan::default() }).await;
    for wire in Wire::ALL {
        let reply = world.agent.ask(&question(wire, false)).await;
        assert_eq!(reply.status, 403, "{wire}");
        assert_eq!(reply.message(), "this run may not use the model `m`; it may use `m-small`");
    }
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn r30_a_model_without_a_price_is_not_called() {
    let world =
        World::planned(&[SCRIPT], Plan { upstream: "rename = { m = 'unpriced' }".to_owned(), ..Plan::default() }).await;
    let reply = world.agent.ask(&question(Wire::Chat, false)).await;
    assert_eq!(reply.status, 403);
    assert!(reply.message().contains("`unpriced` has no price"), "{}", reply.message());
}

#[tokio::test]
async fn a_model_that_nobody_serves_is_told() {
    let world = World::of(&[SCRIPT]).await;
    let body = r#"{"model":"gone","messages":[]}"#.to_owned();
    let reply = world.agent.ask(&Question { path: "/v1/chat/completions".to_owned(), body }).await;
    assert_eq!((reply.status, reply.message().contains("no upstream serves `gone`")), (404, true));
}

#[tokio::test]
async fn what_has_no_bytes_to_count_holds_the_whole_context() {
    let world = World::planned(&[SCRIPT], plan(50_000, 1_000_000)).await;
    let picture = r#"{"model":"m","max_tokens":10,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","data":"AAAA"}}]}]}"#;
    let reply = world.agent.send("/v1/messages", &[("x-api-key", VIRTUAL_KEY)], picture).await;
    assert_eq!(reply.status, 402);
    assert!(reply.message().contains("100010 tokens"), "{}", reply.message());
    assert_eq!(world.wallet.ran_dry_of(), [Resource::Tokens]);
    // What the upstream kept of earlier answers, by its id alone.
    for items in [r#"{"type":"item_reference","id":"msg_1"}"#, r#"{"role":"user","content":"hello"},{"id":"msg_1"}"#] {
        let body = format!(r#"{{"model":"m","max_output_tokens":10,"input":[{items}]}}"#);
        let reply = world.agent.send("/v1/responses", &[("x-api-key", VIRTUAL_KEY)], body).await;
        assert!(reply.message().contains("100010 tokens"), "{items}: {}", reply.message());
    }
    let plain = r#"{"model":"m","max_output_tokens":10,"input":[{"role":"user","content":"hello"}]}"#;
    assert_eq!(world.agent.send("/v1/responses", &[("x-api-key", VIRTUAL_KEY)], plain).await.status, 200);
}

#[tokio::test]
async fn c12_tools_that_the_upstream_explains_in_its_own_words_are_held_for() {
    for (wire, status, own, explained) in [
        (
            Wire::Messages,
            402,
            r#"{"name":"a"},{"type":"custom","name":"b"}"#,
            r#"{"type":"bash_20250124","name":"bash"},{"type":"computer_20251124","name":"computer"}"#,
        ),
        (
            Wire::Responses,
            400,
            r#"{"type":"function","name":"a"},{"type":"custom","name":"b"}"#,
            r#"{"type":"apply_patch"},{"type":"namespace","tools":[]}"#,
        ),
        (
            Wire::Gemini,
            402,
            r#"{"functionDeclarations":[]},{"function_declarations":[]}"#,
            r#"{"computerUse":{}},{"computer_use":{}}"#,
        ),
    ] {
        let ask = |tools: &str| {
            let Question { path, body } = question(wire, false);
            Question { path, body: body.replacen('{', &format!("{{\"tools\":[{tools}],"), 1) }
        };
        // 1,000 for the answer, 1,000 that is added to any request, some hundred for its bytes; and 4,000 for two such tools.
        let world = World::planned(&[SCRIPT], plan(4_000, 1_000_000)).await;
        assert_eq!(world.agent.ask(&ask(own)).await.status, 200, "{wire}");
        assert_eq!(world.agent.ask(&ask(explained)).await.status, status, "{wire}");
        assert_eq!(world.upstreams[0].heard().len(), 1, "{wire}");
    }
}

#[tokio::test]
async fn a_thinking_budget_is_never_cut_into() {
    let world =
        World::planned(&[SCRIPT], Plan { more: "[limits]\noutput_tokens = 500\n".to_owned(), ..Plan::default() }).await;
    let thinking =
        r#"{"model":"m","max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2000},"messages":[]}"#;
    world.agent.send("/v1/messages", &[("x-api-key", VIRTUAL_KEY)], thinking).await;
    let heard = String::from_utf8(world.upstreams[0].heard()[0].body.clone()).unwrap();
    assert_eq!(heard, thinking.replace("9000", "2001"));
}

/// A key whose run is stopped after it was looked at so often.
struct Stopped {
    looked: AtomicUsize,
    after: usize,
}

impl Keys for Stopped {
    async fn scope(&self, _: &VirtualKey) -> Result<CallScope, KeyRefusal> {
        let is_open = self.looked.fetch_add(1, Ordering::Relaxed) < self.after;
        let stopped = || KeyRefusal::Closed("the run stands still".to_owned());
        is_open.then(|| CallScope::new(run(), Models::all())).ok_or_else(stopped)
    }
}

#[tokio::test]
async fn c12_a_run_that_is_stopped_while_money_is_held_for_its_call_sends_nothing_and_spends_nothing() {
    let model = start(Script::read(SCRIPT).unwrap()).await.unwrap();
    let text = format!(
        "[[upstream]]\nname = 'up'\nwire = ['chat']\nbase_url = '{}'\nmodels = ['m']\n[[price]]\nmodel = 'm'\ninput = 1\noutput = 1\n",
        model.url()
    );
    // When it comes, when its body is here, and when its money is.
    for (after, status, sent) in [(1, 403, 0), (2, 403, 0), (3, 200, 1)] {
        let allotment = Allotment::new(run(), ceiling(1_000_000, 1_000_000));
        let purse = Arc::new(Wallet::default().with(run(), Arc::clone(&allotment)));
        let keys = Stopped { looked: AtomicUsize::new(0), after };
        let gateway = Gateway::open(Settings::read(&text).unwrap(), keys, purse).await.unwrap();
        let Question { path, body } = question(Wire::Chat, false);
        let request = Request::post(path).header("authorization", "Bearer vk").body(Full::new(Bytes::from(body)));
        let answered = gateway.handle(request.unwrap()).await;
        assert_eq!(answered.status(), StatusCode::from_u16(status).unwrap(), "{after}");
        assert_eq!((model.heard().len(), allotment.held()), (sent, Amounts::NONE), "{after}");
        assert_eq!(allotment.spent() == Amounts::NONE, sent == 0, "{after}");
    }
}
