//! Agents that leave: their upstreams work on and bill, so they pay what was counted; and a gateway that stops loses no call.

use std::time::Duration;

use http_body_util::BodyExt;
use placet_llm::wire::Wire;
use tokio::task::JoinHandle;

use super::world::{OTHERS, Plan, Question, Talker, VIRTUAL_KEY, World, eventually, question};

/// It thinks before it speaks, says little, and bills much.
const THINKS: &str = "[[turn]]\nwhen = 'hello'\ntext = 'a few words that come one by one'\ndelay_ms = 150\npiece_delay_ms = 20\n\
    used = { input = 10, output = 777, reasoning = 700 }\n";
const NEVER: &str = "[[turn]]\nwhen = 'hello'\ntext = 'a few words'\ndelay_ms = 600_000\n";

fn limits(text: &str) -> Plan {
    Plan { more: format!("[limits]\n{text}\n"), ..Plan::default() }
}

/// Asks, and leaves as soon as the money is held and the request is on its way.
async fn leaves_before_the_answer(world: &World, asked: Question) {
    let calls_before = world.wallet.records().len();
    let call = asking(world, asked);
    eventually("it is held", || world.allotment.held().usd_micros > 0).await;
    // Long enough to be sent, far too short for an answer.
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(world.wallet.records().len(), calls_before);
    call.abort();
}

fn asking(world: &World, asked: Question) -> JoinHandle<u16> {
    let agent = world.agent.clone();
    tokio::spawn(async move { agent.ask(&asked).await.status })
}

async fn leaves_in_the_middle(world: &World, asked: Question) {
    let response = world.agent.begin(&asked.path, &[("x-api-key", VIRTUAL_KEY)], asked.body).await;
    let mut body = response.into_body();
    body.frame().await.unwrap().unwrap();
}

#[tokio::test]
async fn c12_an_agent_that_hangs_up_pays_what_the_upstream_counted() {
    for wire in Wire::ALL {
        for (streams, in_the_middle) in [(true, true), (true, false), (false, false)] {
            let world = World::of(&[THINKS]).await;
            let asked = question(wire, streams);
            if in_the_middle {
                leaves_in_the_middle(&world, asked).await;
            } else {
                leaves_before_the_answer(&world, asked).await;
            }
            let record = world.record().await;
            let told = format!("{wire} {streams} {in_the_middle}: {record:?}");
            assert_eq!((record.tokens.output, record.estimated, record.status), (777, false, 200), "{told}");
            assert_eq!(record.usd_micros, 10 + 2 * 777, "{told}");
            assert_eq!(world.allotment.spent(), record.spent(), "{told}");
            assert_eq!(world.allotment.held().usd_micros, 0, "{told}");
        }
    }
}

#[tokio::test]
async fn c12_who_left_is_not_waited_for_without_end_and_pays_for_the_longest_answer() {
    for (wire, streams) in Wire::ALL.into_iter().flat_map(|wire| [(wire, true), (wire, false)]) {
        let world = World::planned(&[NEVER], limits("hang_up_ms = 120")).await;
        let asked = question(wire, streams);
        let bytes = asked.body.len() as u64;
        leaves_before_the_answer(&world, asked).await;
        let record = world.record().await;
        assert!(record.estimated && record.status == 499 && record.latency_ms >= 120, "{wire}: {record:?}");
        // A byte may be a token, and an upstream may add some.
        assert_eq!((record.tokens.input, record.tokens.output), (bytes + 1_000, 1_000), "{wire} {streams}");
        assert_eq!(world.allotment.spent(), record.spent());
        assert_eq!(world.allotment.held().usd_micros, 0);
    }
}

#[tokio::test]
async fn c12_who_leaves_before_an_answer_owes_the_upstream_that_was_asked_and_not_the_first() {
    let unwell = "[[turn]]\nwhen = 'hello'\nerror = { status = 503 }\n";
    for stops in [false, true] {
        let world = World::planned(&[unwell, NEVER], limits("hang_ups = 0")).await;
        let call = asking(&world, question(Wire::Chat, true));
        eventually("the second is asked", || world.upstreams[1].heard().len() == 1).await;
        if stops {
            world.gateway.stop(Duration::ZERO).await;
        }
        call.abort();
        let record = world.record().await;
        assert_eq!((record.upstream.as_str(), record.estimated), ("up1", true), "{stops}");
        assert_eq!((record.tokens.output, record.spent()), (1_000, world.allotment.spent()), "the longest: {stops}");
    }
}

#[tokio::test]
async fn c12_who_left_pays_for_everything_that_may_have_gone_in() {
    let dear = "[[price]]\nmodel = 'm'\ninput = 1_000_000\noutput = 2_000_000\ncache_write = 1_250_000\ncontext_tokens = 100_000";
    let with = |wire, more: &str| {
        let asked = question(wire, true);
        Question { body: asked.body.replace(r#""model":"m","#, &format!(r#""model":"m",{more},"#)), ..asked }
    };
    let kept = with(Wire::Responses, r#""previous_response_id":"resp_1""#);
    let cached = with(Wire::Messages, r#""system":[{"type":"text","text":"hi","cache_control":{"type":"ephemeral"}}]"#);
    let bytes = cached.body.len() as u64;
    // What an upstream kept is as much as its model takes in, and both may be written to a cache.
    for (asked, input) in [(kept, 100_000), (cached, bytes + 1_000)] {
        let world = World::planned(&[NEVER], limits(&format!("hang_ups = 0\n{dear}"))).await;
        leaves_before_the_answer(&world, asked).await;
        let record = world.record().await;
        assert_eq!((record.estimated, record.tokens.input, record.tokens.output), (true, input, 1_000));
        assert_eq!(record.usd_micros, (input * 5).div_ceil(4) + 2_000, "{record:?}");
        assert_eq!(world.allotment.spent(), record.spent());
    }
}

#[tokio::test]
async fn c12_an_answer_without_end_is_not_read_to_its_end_for_nobody() {
    let upstream = Talker::start(usize::MAX).await;
    let world = World::before(std::slice::from_ref(&upstream.url), Plan::default()).await;
    leaves_in_the_middle(&world, question(Wire::Messages, true)).await;
    let record = world.record().await;
    assert!(record.estimated && record.tokens.output == 1_000, "{record:?}");
    eventually("the upstream is hung up on", || upstream.left() == 1).await;
}

#[tokio::test]
async fn c12_who_hangs_up_on_many_calls_at_once_pays_for_the_longest_answers() {
    // Four for everybody are one for each run.
    let world = World::planned(&[THINKS], limits("hang_ups = 4")).await;
    let calls: Vec<_> = (0..3).map(|_| asking(&world, question(Wire::Chat, true))).collect();
    eventually("all of them are held", || world.upstreams[0].heard().len() == 3).await;
    calls.iter().for_each(JoinHandle::abort);
    let records = world.records(3).await;
    let mut outputs: Vec<_> = records.iter().map(|record| (record.estimated, record.tokens.output)).collect();
    outputs.sort_unstable();
    assert_eq!(outputs, [(false, 777), (true, 1_000), (true, 1_000)]);
    assert_eq!(world.allotment.held().usd_micros, 0);
    // And who stays is not concerned.
    assert_eq!(world.agent.ask(&question(Wire::Chat, true)).await.status, 200);
}

#[tokio::test]
async fn c12_runs_that_hang_up_on_everything_leave_another_its_place_and_one_of_them_pays_for_it() {
    let script = format!("[[turn]]\nwhen = 'never'\ntext = 'a few words'\ndelay_ms = 600_000\n{THINKS}");
    // Eight for everybody are two for each run.
    let world = World::planned(&[&script], limits("hang_ups = 8")).await;
    let mut calls = Vec::new();
    for other in OTHERS[..4].iter().flat_map(|other| [other; 3]) {
        let (agent, asked) = (world.agent.clone(), question(Wire::Chat, true));
        let body = asked.body.replace("hello", "never");
        calls
            .push(tokio::spawn(async move { agent.send(&asked.path, &[("x-api-key", other.key)], body).await.status }));
    }
    eventually("all of them are asked", || world.upstreams[0].heard().len() == 12).await;
    calls.iter().for_each(JoinHandle::abort);
    let refused = world.records(4).await;
    assert!(
        refused.iter().all(|record| record.estimated),
        "they have taken every place, and one more each is too many"
    );
    leaves_before_the_answer(&world, question(Wire::Chat, true)).await;
    let records = world.records(6).await;
    let counted: Vec<_> =
        records.iter().filter(|record| !record.estimated).map(|record| record.tokens.output).collect();
    assert_eq!(counted, [777], "an honest run that loses its connection pays what was counted");
    let made_room = &records[4];
    assert_eq!((made_room.estimated, made_room.status, made_room.tokens.output), (true, 499, 1_000), "{made_room:?}");
    assert_eq!(world.allotment.spent().usd_micros, 10 + 2 * 777);
}

#[tokio::test]
async fn c12_an_upstream_that_breaks_after_its_agent_left_is_estimated_by_what_came() {
    let breaks =
        "[[turn]]\nwhen = 'hello'\ntext = 'a text of several pieces'\nbreak_after_bytes = 300\npiece_delay_ms = 10\n";
    for wire in Wire::ALL {
        let world = World::of(&[breaks]).await;
        leaves_in_the_middle(&world, question(wire, true)).await;
        let record = world.record().await;
        assert_eq!((record.estimated, record.tokens.output), (true, 75), "{wire}");
    }
}

#[tokio::test]
async fn c12_a_gateway_that_stops_has_settled_every_call_when_it_is_over() {
    let slow = "[[turn]]\nwhen = 'hello'\ntext = 'a text of several pieces'\npiece_delay_ms = 300_000\n";
    let world = World::planned(&[slow], Plan::default()).await;
    let waiting = World::before(&[super::world::silent().await], Plan::default()).await;
    let asked = question(Wire::Messages, true);
    let open = world.agent.begin(&asked.path, &[("x-api-key", VIRTUAL_KEY)], asked.body.clone()).await;
    leaves_in_the_middle(&world, asked.clone()).await;
    let waits = asking(&waiting, question(Wire::Messages, false));
    eventually("it waits", || waiting.allotment.held().usd_micros > 0).await;
    world.gateway.stop(Duration::from_millis(50)).await;
    waiting.gateway.stop(Duration::from_millis(50)).await;
    let records = [world.wallet.records(), waiting.wallet.records()].concat();
    assert_eq!(records.len(), 3, "one that is read, one that was left, one that waits: {records:?}");
    assert!(records.iter().all(|record| record.estimated && record.usd_micros > 0), "{records:?}");
    assert_eq!(world.allotment.held().usd_micros + waiting.allotment.held().usd_micros, 0);
    assert!(open.into_body().collect().await.is_err(), "the agent sees that it broke");
    assert_eq!(waits.await.unwrap(), 503);
}

#[tokio::test]
async fn c12_a_gateway_that_has_stopped_sends_nothing_and_a_late_call_costs_nothing() {
    let world = World::planned(&[NEVER], Plan::default()).await;
    world.gateway.stop(Duration::ZERO).await;
    let call = asking(&world, question(Wire::Messages, true));
    let status = tokio::time::timeout(Duration::from_secs(20), call).await.expect("nobody waits for it").unwrap();
    assert_eq!((status, world.upstreams[0].heard().len()), (503, 0));
    assert_eq!((world.record().await.usd_micros, world.allotment.spent().usd_micros), (0, 0));
}

#[tokio::test]
async fn a_gateway_that_stops_lets_calls_finish_that_are_almost_done() {
    let world = World::of(&[THINKS]).await;
    let call = asking(&world, question(Wire::Responses, true));
    eventually("it is held", || world.allotment.held().usd_micros > 0).await;
    world.gateway.stop(Duration::from_secs(20)).await;
    let records = world.wallet.records();
    assert_eq!((records.len(), records[0].estimated), (1, false), "{records:?}");
    assert_eq!(call.await.unwrap(), 200);
}
