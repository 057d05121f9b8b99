//! What an agent gets is what it would have got from the upstream, byte for byte.

use placet_domain::digest::Digest;
use placet_llm::model_script::{Script, start};
use placet_llm::record::ModelTokens;
use placet_llm::wire::Wire;

use super::world::{Agent, Plan, Question, REAL_KEY, Reply, VIRTUAL_KEY, World, question};

const SCRIPT: &str = "[[turn]]\ntext = 'A longer answer, with «signs» and \"usage\".'\n\
    used = { input = 70, output = 30, cache_read = 5, cache_write = 3, reasoning = 11 }\n";

async fn directly(script: &str, question: &Question) -> Reply {
    let upstream = start(Script::read(script).unwrap()).await.unwrap();
    Agent::at(upstream.address()).ask(question).await
}

#[tokio::test]
async fn every_wire_format_passes_byte_for_byte_streamed_and_whole() {
    for (wire, streams) in Wire::ALL.into_iter().flat_map(|wire| [(wire, true), (wire, false)]) {
        let world = World::of(&[SCRIPT]).await;
        let question = question(wire, streams);
        let reply = world.agent.ask(&question).await;
        let direct = directly(SCRIPT, &question).await;
        assert_eq!((reply.status, &reply.body), (200, &direct.body), "{wire} {streams}");
        assert_eq!(reply.headers["content-type"], direct.headers["content-type"]);
        let heard = &world.upstreams[0].heard()[0];
        assert_eq!(String::from_utf8_lossy(&heard.body), question.body, "{wire} {streams}");
    }
}

#[tokio::test]
async fn b10_every_call_leaves_digests_tokens_and_cost() {
    for (wire, streams) in Wire::ALL.into_iter().flat_map(|wire| [(wire, true), (wire, false)]) {
        let world = World::of(&[SCRIPT]).await;
        let question = question(wire, streams);
        let reply = world.agent.ask(&question).await;
        let record = world.record().await;
        assert_eq!(record.request, Digest::of(question.body.as_bytes()), "{wire} {streams}");
        assert_eq!(record.response, Digest::of(&reply.body), "{wire} {streams}");
        let (input, cache_write) = if wire == Wire::Gemini { (73, 0) } else { (70, 3) };
        let reasoning = if wire == Wire::Messages { 0 } else { 11 };
        let tokens = ModelTokens { input, output: 30, cache_read: 5, cache_write, reasoning, ..ModelTokens::default() };
        assert_eq!((record.tokens, record.usd_micros, record.estimated), (tokens, 78 + 60, false), "{wire} {streams}");
        assert_eq!(world.allotment.spent().tokens, 108);
        assert_eq!(world.allotment.held().usd_micros, 0);
        assert_eq!(
            (record.status, record.model_asked.as_str(), record.model_answered.as_deref()),
            (200, "m", Some("m"))
        );
        assert_eq!(reply.headers["x-placet-call"], record.id.as_str());
        assert!(record.prices.starts_with("own-") && record.upstream == "up0" && record.first_byte_ms.is_some());
        let kept = serde_json::to_string(&record).unwrap();
        assert!(!kept.contains("hello") && !kept.contains("signs"), "a record holds no text: {kept}");
    }
}

#[tokio::test]
async fn b10_words_are_collected_where_they_are_asked_for_and_the_answer_passes_all_the_same() {
    for (wire, streams) in Wire::ALL.into_iter().flat_map(|wire| [(wire, true), (wire, false)]) {
        let question = question(wire, streams);
        let direct = directly(SCRIPT, &question).await;
        for keeps_words in [true, false] {
            let world = World::planned(&[SCRIPT], Plan { keeps_words, ..Plan::default() }).await;
            let reply = world.agent.ask(&question).await;
            assert_eq!(reply.body, direct.body, "{wire} {streams}");
            let (record, words) = (world.record().await, world.wallet.words());
            assert_eq!(words.len(), usize::from(keeps_words), "{wire} {streams}");
            for (call, words) in words {
                assert_eq!(call, record.id);
                assert_eq!(words.request.bytes, question.body.as_bytes(), "{wire} {streams}");
                assert_eq!(words.response.bytes, reply.body, "{wire} {streams}");
            }
        }
    }
}

#[tokio::test]
async fn tool_calls_pass_in_every_format() {
    let script = "[[turn]]\n[[turn.call]]\ntool = 'Bash'\narguments = { command = 'ls -la /' }\n";
    let tools = [
        (Wire::Messages, r#""tools":[{"name":"Bash","input_schema":{}}]"#),
        (Wire::Chat, r#""tools":[{"type":"function","function":{"name":"Bash"}}]"#),
        (Wire::Responses, r#""tools":[{"type":"function","name":"Bash"}]"#),
        (Wire::Gemini, r#""tools":[{"functionDeclarations":[{"name":"Bash"}]}]"#),
    ];
    for ((wire, tools), streams) in tools.into_iter().flat_map(|tool| [(tool, true), (tool, false)]) {
        let world = World::of(&[script]).await;
        let mut question = question(wire, streams);
        question.body = question.body.replacen('{', &format!("{{{tools},"), 1);
        let reply = world.agent.ask(&question).await;
        assert_eq!(reply.body, directly(script, &question).await.body, "{wire} {streams}");
        assert!(String::from_utf8_lossy(&reply.body).contains("Bash"), "{wire} {streams}");
    }
}

#[tokio::test]
async fn tokens_that_a_stream_hides_are_asked_for_and_taken_out_again() {
    let world = World::of(&[SCRIPT]).await;
    for (number, options) in [
        "",
        r#","stream_options":null"#,
        r#","stream_options":{"x":1}"#,
        r#","stream_options":{"include_usage":false}"#,
    ]
    .into_iter()
    .enumerate()
    {
        let body = format!(r#"{{"model":"m","max_tokens":100,"stream":true,"messages":[]{options}}}"#);
        let asked = Question { path: "/v1/chat/completions".to_owned(), body };
        let world = World::of(&[SCRIPT]).await;
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.body, directly(SCRIPT, &asked).await.body, "{number}");
        assert!(!String::from_utf8_lossy(&reply.body).contains("prompt_tokens"), "{number}");
        let heard = &world.upstreams[0].heard()[0];
        assert!(String::from_utf8_lossy(&heard.body).contains(r#""include_usage":true"#), "{number}");
        assert_eq!(world.record().await.tokens.output, 30, "{number}");
    }
    // An agent that asked for them gets them.
    let reply = world.agent.ask(&question(Wire::Chat, true)).await;
    assert!(String::from_utf8_lossy(&reply.body).contains("prompt_tokens"));
}

#[tokio::test]
async fn gemini_streams_that_are_no_events_are_counted_too() {
    let world = World::of(&[SCRIPT]).await;
    let mut asked = question(Wire::Gemini, true);
    asked.path = asked.path.replace("?alt=sse", "");
    assert!(world.agent.ask(&asked).await.json().is_array());
    assert_eq!(world.record().await.tokens.output, 30);
}

#[tokio::test]
async fn counting_tokens_costs_nothing() {
    let world = World::of(&[SCRIPT]).await;
    for path in ["/v1/messages/count_tokens", "/v1beta/models/m:countTokens"] {
        let reply = world.agent.send(path, &[("x-api-key", VIRTUAL_KEY)], r#"{"model":"m"}"#).await;
        assert_eq!(reply.status, 200, "{path}");
    }
    for record in world.records(2).await {
        assert_eq!((record.usd_micros, record.tokens.total(), record.prices.as_str()), (0, 0, "free"));
    }
}

#[tokio::test]
async fn an_upstream_may_call_a_model_otherwise() {
    let plan = Plan { upstream: "rename = { m = 'm-2026' }".to_owned(), ..Plan::default() };
    let world = World::planned(&["[[turn]]\ntext = 'a'\nwhen = 'hello'"], plan).await;
    for wire in Wire::ALL {
        world.agent.ask(&question(wire, false)).await;
    }
    let records = world.records(4).await;
    assert!(
        records.iter().all(|record| record.model_asked == "m" && record.model_answered.as_deref() == Some("m-2026"))
    );
    let heard = world.upstreams[0].heard();
    let sent = String::from_utf8_lossy(&heard[0].body).into_owned();
    assert_eq!(sent, question(Wire::Messages, false).body.replace(r#""model":"m""#, r#""model":"m-2026""#));
    assert_eq!(heard[3].path, "/v1beta/models/m-2026:generateContent");
}

#[tokio::test]
async fn models_are_listed_as_far_as_the_run_may_use_them() {
    let models = placet_llm::models::Models::new(["m".parse().unwrap(), "other".parse().unwrap()]);
    let world = World::planned(&[SCRIPT], Plan { models, ..Plan::default() }).await;
    let list = |path: &'static str, header: (&'static str, &'static str)| {
        let address = world.agent.address;
        async move {
            let client = hyper_util::client::legacy::Client::builder(hyper_util::rt::TokioExecutor::new())
                .build_http::<http_body_util::Empty<bytes::Bytes>>();
            let request = hyper::Request::get(format!("http://{address}{path}")).header("x-api-key", VIRTUAL_KEY);
            let request = request.header(header.0, header.1).body(http_body_util::Empty::new()).unwrap();
            let body = client.request(request).await.unwrap().into_body();
            let body = http_body_util::BodyExt::collect(body).await.unwrap().to_bytes();
            serde_json::from_slice::<serde_json::Value>(&body).unwrap()
        }
    };
    assert_eq!(list("/v1/models", ("accept", "*/*")).await["data"][0]["id"], "m");
    assert_eq!(list("/v1/models", ("accept", "*/*")).await["data"].as_array().unwrap().len(), 1);
    assert_eq!(list("/v1/models", ("anthropic-version", "2023-06-01")).await["data"][0]["type"], "model");
    assert_eq!(list("/v1beta/models", ("accept", "*/*")).await["models"][0]["name"], "models/m");
}

#[tokio::test]
async fn r24_the_real_key_goes_to_the_upstream_and_nowhere_else() {
    for wire in Wire::ALL {
        let world = World::of(&[SCRIPT]).await;
        let headers =
            [("authorization", "Bearer vk-of-the-run"), ("cookie", "a=vk-of-the-run"), ("user-agent", "agent/1")];
        let question = question(wire, false);
        let reply =
            world.agent.send(&format!("{}?key={VIRTUAL_KEY}&beta=true", question.path), &headers, question.body).await;
        assert_eq!(reply.status, 200);
        let heard = &world.upstreams[0].heard()[0];
        let header =
            |name: &str| heard.headers.iter().find(|(found, _)| found == name).map(|(_, value)| value.as_str());
        let bearer = format!("Bearer {REAL_KEY}");
        let (name, value) = match wire {
            Wire::Messages => ("x-api-key", REAL_KEY),
            Wire::Chat | Wire::Responses => ("authorization", bearer.as_str()),
            Wire::Gemini => ("x-goog-api-key", REAL_KEY),
        };
        assert_eq!(header(name), Some(value), "{wire}");
        assert_eq!(header("user-agent"), Some("agent/1"));
        let all = format!("{:?}{}", heard.headers, heard.path);
        assert!(!all.contains(VIRTUAL_KEY) && header("cookie").is_none(), "{wire}: {all}");
        assert_eq!(all.matches(REAL_KEY).count(), 1, "{wire}: {all}");
        let seen = format!("{:?}{:?}{:?}{:?}", reply.headers, reply.body, world.gateway, world.record().await);
        assert!(!seen.contains(REAL_KEY) && !seen.contains(VIRTUAL_KEY), "{wire}");
    }
}
