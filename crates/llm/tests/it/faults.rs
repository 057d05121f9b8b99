//! Upstreams that are away, unwell, slow or break off.

use http_body_util::BodyExt;
use placet_llm::wire::Wire;

use super::world::{Plan, REAL_KEY, VIRTUAL_KEY, World, nobody, question, stubborn};

const GOOD: &str = "[[turn]]\nwhen = 'hello'\ntext = 'hi'\nused = { input = 10, output = 20 }\n";

#[tokio::test]
async fn an_upstream_that_is_unwell_leaves_the_call_to_the_next() {
    for status in [500, 502, 503, 529] {
        let bad = format!("[[turn]]\nwhen = 'hello'\nerror = {{ status = {status} }}\n");
        let world = World::of(&[&bad, GOOD]).await;
        assert_eq!(world.agent.ask(&question(Wire::Messages, true)).await.status, 200, "{status}");
        assert_eq!((world.upstreams[0].heard().len(), world.upstreams[1].heard().len()), (1, 1));
        assert_eq!(world.record().await.upstream, "up1");
    }
}

#[tokio::test]
async fn an_upstream_that_is_away_leaves_the_call_to_the_next() {
    let good = World::of(&[GOOD]).await;
    let world = World::before(&[nobody().await, good.upstreams[0].url()], Plan::default()).await;
    assert_eq!(world.agent.ask(&question(Wire::Chat, true)).await.status, 200);
    let alone = World::before(&[nobody().await], Plan::default()).await;
    let reply = alone.agent.ask(&question(Wire::Chat, true)).await;
    assert_eq!(
        (reply.status, reply.message().as_str()),
        (502, "the upstream `up0` cannot be reached; try again later")
    );
    assert_eq!((alone.record().await.status, alone.allotment.spent().usd_micros), (502, 0));
}

#[tokio::test]
async fn the_last_upstream_speaks_for_itself() {
    for (wire, status) in Wire::ALL.into_iter().flat_map(|wire| [(wire, 529), (wire, 429), (wire, 400)]) {
        let bad = format!("[[turn]]\nwhen = 'hello'\nerror = {{ status = {status}, message = 'not today' }}\n");
        let world = World::of(&[&bad]).await;
        let reply = world.agent.ask(&question(wire, true)).await;
        assert_eq!((reply.status, reply.message().as_str()), (status, "not today"), "{wire}");
        let record = world.record().await;
        assert_eq!((record.usd_micros, record.estimated, record.status), (0, false, status), "{wire}");
    }
}

#[tokio::test]
async fn an_error_that_is_the_requests_own_fault_is_not_tried_elsewhere() {
    let world = World::of(&["[[turn]]\nwhen = 'hello'\nerror = { status = 400 }", GOOD]).await;
    assert_eq!(world.agent.ask(&question(Wire::Responses, false)).await.status, 400);
    assert!(world.upstreams[1].heard().is_empty());
}

#[tokio::test]
async fn an_upstream_that_says_nothing_is_not_waited_for() {
    let slow = "[[turn]]\nwhen = 'hello'\ntext = 'hi'\ndelay_ms = 60_000\n";
    for (wire, streams) in Wire::ALL.into_iter().flat_map(|wire| [(wire, true), (wire, false)]) {
        let plan = Plan { upstream: "timeouts = { first_byte_ms = 80 }".to_owned(), ..Plan::default() };
        let world = World::planned(&[slow, GOOD], plan).await;
        let reply = world.agent.ask(&question(wire, streams)).await;
        let told = "the upstream `up0` sent nothing within 80 ms";
        assert_eq!((reply.status, reply.message().as_str()), (504, told), "{wire} {streams}");
        assert!(world.upstreams[1].heard().is_empty(), "the first may be at work; two would be paid");
        let record = world.record().await;
        // Models think for long before they show a word: it may have been almost finished.
        let input = question(wire, streams).body.len() as u64 + 1_000;
        let took = (record.estimated, record.tokens.input, record.tokens.output);
        assert_eq!(took, (true, input, 1_000), "{wire} {streams}: {record:?}");
    }
}

#[tokio::test]
async fn c12_an_upstream_that_waited_for_its_model_no_longer_may_be_paid_so_nobody_else_is_asked() {
    for (status, streams) in [408, 504, 524].into_iter().flat_map(|status| [(status, true), (status, false)]) {
        let bad = format!("[[turn]]\nwhen = 'hello'\nerror = {{ status = {status}, message = 'too late' }}\n");
        let world = World::of(&[&bad, GOOD]).await;
        let reply = world.agent.ask(&question(Wire::Chat, streams)).await;
        assert_eq!((reply.status, reply.message().as_str()), (status, "too late"), "it speaks for itself");
        assert!(world.upstreams[1].heard().is_empty(), "{status}: two would be paid");
        let record = world.record().await;
        let input = question(Wire::Chat, streams).body.len() as u64 + 1_000;
        let took = (record.estimated, record.tokens.input, record.tokens.output, record.status);
        assert_eq!(took, (true, input, 1_000, status), "{record:?}");
        assert_eq!(record.spent(), world.allotment.spent());
    }
}

#[tokio::test]
async fn an_answer_that_falls_silent_is_ended_and_estimated() {
    let silent = "[[turn]]\nwhen = 'hello'\ntext = 'a text of several pieces, sent slowly'\npiece_delay_ms = 60_000\n";
    for wire in Wire::ALL {
        let plan = Plan { upstream: "timeouts = { idle_ms = 80 }".to_owned(), ..Plan::default() };
        let world = World::planned(&[silent], plan).await;
        let question = question(wire, true);
        let response = world.agent.begin(&question.path, &[("x-api-key", VIRTUAL_KEY)], question.body).await;
        assert_eq!(response.status().as_u16(), 200, "{wire}");
        assert!(response.into_body().collect().await.is_err(), "{wire}: the agent sees that it broke");
        let record = world.record().await;
        // It may have thought all the while, and bills that.
        assert_eq!((record.estimated, record.tokens.output), (true, 1_000), "{wire}: {record:?}");
    }
}

#[tokio::test]
async fn an_answer_in_one_piece_that_breaks_in_the_middle_breaks_for_the_agent_and_is_estimated() {
    for wire in Wire::ALL {
        let half = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"model\":\"m\",\"usage\":";
        let world = World::before(&[stubborn(half).await], Plan::default()).await;
        let question = question(wire, false);
        let response = world.agent.begin(&question.path, &[("x-api-key", VIRTUAL_KEY)], question.body).await;
        assert_eq!(response.status().as_u16(), 200, "{wire}");
        assert!(response.into_body().collect().await.is_err(), "{wire}");
        let record = world.record().await;
        // It was finished before its first byte came.
        assert_eq!((record.estimated, record.tokens.output), (true, 1_000), "{wire}: {record:?}");
        assert_eq!(record.spent(), world.allotment.spent(), "{wire}");
        assert_eq!(world.allotment.held().usd_micros, 0, "{wire}");
    }
}

#[tokio::test]
async fn a_stream_that_breaks_in_the_middle_breaks_for_the_agent_and_is_estimated() {
    for wire in Wire::ALL {
        let broken = "[[turn]]\nwhen = 'hello'\ntext = 'a text of several pieces'\nbreak_after_bytes = 300\npiece_delay_ms = 1\n";
        let world = World::of(&[broken, GOOD]).await;
        let question = question(wire, true);
        let response = world.agent.begin(&question.path, &[("x-api-key", VIRTUAL_KEY)], question.body.clone()).await;
        assert_eq!(response.status().as_u16(), 200, "{wire}");
        assert!(response.into_body().collect().await.is_err(), "{wire}");
        let record = world.record().await;
        assert!(record.estimated, "{wire}");
        // 300 bytes came, and a token is about four of them.
        assert_eq!(record.tokens.output, 75, "{wire}");
        assert!(record.tokens.input > 0 && record.usd_micros > 0, "{wire}");
        assert_eq!(world.allotment.held().usd_micros, 0, "{wire}");
        assert!(world.upstreams[1].heard().is_empty(), "{wire}: bytes were sent on, so nobody else is asked");
    }
}

#[tokio::test]
async fn r24_an_upstream_that_refuses_our_key_does_not_tell_the_agent_about_it() {
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-length: 60\r\n\r\n{{\"error\":{{\"message\":\"bad key {REAL_KEY}\"}}}}          "
        );
        let world = World::before(&[stubborn(answer.leak()).await], Plan::default()).await;
        let reply = world.agent.ask(&question(Wire::Responses, true)).await;
        assert_eq!(reply.status, 502, "{status}");
        assert!(reply.message().contains("refuses the key of the gateway"), "{}", reply.message());
        assert!(!String::from_utf8_lossy(&reply.body).contains("canary"));
    }
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = World::of(&[GOOD]).await;
    let answer = format!(
        "HTTP/1.1 307 Temporary Redirect\r\nlocation: {}/v1/messages\r\ncontent-length: 0\r\n\r\n",
        elsewhere.upstreams[0].url()
    );
    let world = World::before(&[stubborn(answer.leak()).await], Plan::default()).await;
    let reply = world.agent.ask(&question(Wire::Messages, false)).await;
    assert_eq!(reply.status, 502);
    assert!(reply.message().contains("points elsewhere (307), which is not followed"), "{}", reply.message());
    assert!(elsewhere.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_passes_and_is_estimated() {
    for answer in [
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: 8\r\n\r\nabcdefgh",
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 8\r\n\r\n{\"a\": 1}",
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 8\r\n\r\n: hi\n\n\n\n",
    ] {
        let world = World::before(&[stubborn(answer).await], Plan::default()).await;
        let reply = world.agent.ask(&question(Wire::Messages, true)).await;
        assert_eq!((reply.status, reply.body.len()), (200, 8));
        let record = world.record().await;
        assert!(record.estimated && record.tokens.output == 2 && record.tokens.input > 10, "{record:?}");
    }
}
