//! Answers as the providers write them, by hand after their documentation: each passes byte for byte, and what it says about its tokens,
//! its failure and its end is in the record.

use placet_llm::record::{ModelCall, ModelTokens};
use placet_llm::wire::Wire;

use super::world::{Plan, Question, VIRTUAL_KEY, World, question, stubborn};

/// Who is asked for which model.
const fn asked_of(wire: Wire) -> (&'static str, &'static str) {
    match wire {
        Wire::Messages => ("anthropic", "claude-sonnet-4-5"),
        Wire::Chat | Wire::Responses => ("openai", "gpt-5"),
        Wire::Gemini => ("google", "gemini-2.5-flash"),
    }
}

fn asking(wire: Wire) -> Question {
    let (_, model) = asked_of(wire);
    let Question { path, body } = question(wire, true);
    let body = body.replace(r#""model":"m""#, &format!(r#""model":"{model}""#));
    Question { path: path.replace("/m:", &format!("/{model}:")), body }
}

/// A gateway in front of a provider that says this, whole or broken off at its end.
async fn before(wire: Wire, kind: &str, said: &str, is_whole: bool, more: &str) -> World {
    let (provider, model) = asked_of(wire);
    let length = said.len() + usize::from(!is_whole);
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\nrequest-id: req_1\r\nx-request-id: req_2\r\ncontent-length: {length}\r\n\
         connection: close\r\n\r\n{said}"
    );
    let text = format!(
        "{more}\n[[upstream]]\nname = 'up'\nwire = ['{wire}']\nbase_url = '{}'\nmodels = ['{model}']\nprovider = '{provider}'\n",
        stubborn(answer.leak()).await
    );
    World::reading(&text, Plan::default()).await
}

/// The record of an answer that came to its end, after it passed as it is.
async fn recorded(wire: Wire, kind: &str, said: &str) -> ModelCall {
    let world = before(wire, kind, said, true, "").await;
    let reply = world.agent.ask(&asking(wire)).await;
    assert_eq!((reply.status, String::from_utf8_lossy(&reply.body).as_ref()), (200, said));
    let record = world.record().await;
    assert_eq!(record.spent(), world.allotment.spent());
    assert!(!record.other_model, "{record:?}");
    record
}

const EVENTS: &str = "text/event-stream";

#[tokio::test]
async fn c12_anthropic_thinks_calls_a_tool_and_is_counted() {
    let record = recorded(Wire::Messages, EVENTS, include_str!("streams/messages_tools.sse")).await;
    let tokens = ModelTokens { input: 472, output: 189, cache_read: 200, cache_write: 100, ..ModelTokens::default() };
    assert_eq!((record.tokens, record.estimated, record.failed), (tokens, false, false));
    assert_eq!(record.usd_micros, 472 * 3 + 375 + 60 + 189 * 15);
    assert_eq!(record.model_answered.as_deref(), Some("claude-sonnet-4-5-20250929"));
    assert_eq!(record.upstream_request.as_deref(), Some("req_1"));
}

#[tokio::test]
async fn c12_anthropic_that_is_overloaded_inside_of_a_200_is_estimated_and_marked() {
    let said = include_str!("streams/messages_overloaded.sse");
    let record = recorded(Wire::Messages, EVENTS, said).await;
    assert_eq!((record.estimated, record.failed, record.status), (true, true, 200));
    assert_eq!(
        (record.tokens.input, record.tokens.output),
        (25, (said.len() as u64).div_ceil(4)),
        "what it said, what came"
    );
    let record = recorded(Wire::Messages, EVENTS, include_str!("streams/messages_overloaded_at_once.sse")).await;
    let likely = (asking(Wire::Messages).body.len() as u64).div_ceil(4);
    assert_eq!((record.estimated, record.failed, record.tokens.input), (true, true, likely));
}

#[tokio::test]
async fn c12_openai_calls_two_tools_and_is_counted() {
    let record = recorded(Wire::Chat, EVENTS, include_str!("streams/chat_tools.sse")).await;
    let tokens = ModelTokens { input: 82, output: 46, reasoning: 12, ..ModelTokens::default() };
    assert_eq!((record.tokens, record.estimated, record.failed), (tokens, false, false));
    assert_eq!((record.usd_micros, record.upstream_request.as_deref()), (563, Some("req_2")));
}

#[tokio::test]
async fn c12_openai_that_fails_in_the_middle_of_a_stream_is_estimated_and_marked() {
    let said = include_str!("streams/chat_error.sse");
    let record = recorded(Wire::Chat, EVENTS, said).await;
    assert_eq!((record.estimated, record.failed), (true, true));
    assert_eq!(record.tokens.output, (said.len() as u64).div_ceil(4));
}

#[tokio::test]
async fn c12_a_response_that_failed_has_no_tokens_and_one_that_is_incomplete_has() {
    for said in [include_str!("streams/responses_failed.sse"), include_str!("streams/responses_error.sse")] {
        let record = recorded(Wire::Responses, EVENTS, said).await;
        assert_eq!((record.estimated, record.failed), (true, true));
        assert_eq!(record.tokens.output, (said.len() as u64).div_ceil(4));
    }
    let record = recorded(Wire::Responses, EVENTS, include_str!("streams/responses_incomplete.sse")).await;
    let tokens = ModelTokens { input: 21, output: 1_000, cache_read: 16, reasoning: 960, ..ModelTokens::default() };
    assert_eq!((record.tokens, record.estimated, record.failed), (tokens, false, false));
}

#[tokio::test]
async fn c12_gemini_thinks_as_events_and_as_a_list() {
    for (kind, said) in [
        (EVENTS, include_str!("streams/gemini_thoughts.sse")),
        ("application/json; charset=UTF-8", include_str!("streams/gemini_thoughts.json")),
    ] {
        let record = recorded(Wire::Gemini, kind, said).await;
        let tokens = ModelTokens { input: 8, output: 64, reasoning: 44, ..ModelTokens::default() };
        assert_eq!((record.tokens, record.estimated, record.failed), (tokens, false, false), "{kind}");
        assert_eq!(record.usd_micros, (8 * 3_u64 + 64 * 25).div_ceil(10), "{kind}");
    }
}

#[tokio::test]
async fn c12_gemini_that_blocks_a_prompt_costs_its_input_and_one_that_fails_is_estimated() {
    let record = recorded(Wire::Gemini, EVENTS, include_str!("streams/gemini_blocked.sse")).await;
    assert_eq!((record.tokens.input, record.tokens.output), (9, 0));
    assert_eq!((record.estimated, record.failed), (false, false));
    let said = include_str!("streams/gemini_error.json");
    let record = recorded(Wire::Gemini, "application/json", said).await;
    assert_eq!((record.tokens.input, record.estimated, record.failed), (8, true, true), "{record:?}");
}

#[tokio::test]
async fn c12_sums_in_every_chunk_are_the_last_word_only_at_the_end() {
    let said = include_str!("streams/chat_sums_in_every_chunk.sse");
    let whole = recorded(Wire::Chat, EVENTS, said).await;
    assert_eq!((whole.tokens.input, whole.tokens.output, whole.estimated), (40, 5, false));
    let done = recorded(Wire::Chat, EVENTS, &format!("{said}data: [DONE]\n\n")).await;
    assert_eq!((done.tokens, done.estimated), (whole.tokens, false));
    // It breaks: what came counts, and what was said so far at least.
    let world = before(Wire::Chat, EVENTS, said, false, "").await;
    let asked = asking(Wire::Chat);
    let response = world.agent.begin(&asked.path, &[("x-api-key", VIRTUAL_KEY)], asked.body).await;
    assert!(http_body_util::BodyExt::collect(response.into_body()).await.is_err());
    let broken = world.record().await;
    assert_eq!((broken.estimated, broken.tokens.input), (true, 40), "{broken:?}");
    assert_eq!(broken.tokens.output, (said.len() as u64).div_ceil(4));
}

#[tokio::test]
async fn c12_a_stream_that_told_sums_so_far_and_falls_silent_counts_as_the_longest() {
    let said = include_str!("streams/chat_sums_in_every_chunk.sse");
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n";
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let _ = tokio::io::AsyncReadExt::read(&mut socket, &mut [0; 64 << 10]).await;
        tokio::io::AsyncWriteExt::write_all(&mut socket, format!("{head}{said}").as_bytes()).await.unwrap();
        std::future::pending::<()>().await;
    });
    let plan = Plan { upstream: "timeouts = { idle_ms = 80 }".to_owned(), ..Plan::default() };
    let world = World::before(&[url], plan).await;
    let asked = question(Wire::Chat, true);
    let response = world.agent.begin(&asked.path, &[("x-api-key", VIRTUAL_KEY)], asked.body).await;
    assert!(http_body_util::BodyExt::collect(response.into_body()).await.is_err());
    let record = world.record().await;
    assert_eq!((record.estimated, record.tokens.input, record.tokens.output), (true, 40, 1_000), "{record:?}");
}
