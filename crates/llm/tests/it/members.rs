//! Members and headers that a format does not have, and numbers that mean something else to some servers.

use placet_llm::wire::Wire;

use super::world::{Plan, Question, VIRTUAL_KEY, World, question};

const SCRIPT: &str = "[[turn]]\nwhen = ''\ntext = 'hi'\n";

/// The usual question with one more member.
fn with(wire: Wire, member: &str) -> Question {
    let mut asked = question(wire, false);
    asked.body = asked.body.replacen('{', &format!("{{{member},"), 1);
    asked
}

#[tokio::test]
async fn c12_a_member_that_the_format_does_not_have_is_refused_by_its_name() {
    let world = World::of(&[SCRIPT]).await;
    for (wire, name, value) in [
        // lift the limit of the answer
        (Wire::Chat, "n_predict", "100000"),
        (Wire::Chat, "max_new_tokens", "100000"),
        (Wire::Chat, "options", r#"{"num_predict":-1}"#),
        (Wire::Chat, "best_of", "64"),
        (Wire::Messages, "max_completion_tokens", "100000"),
        (Wire::Responses, "max_tokens", "100000"),
        (Wire::Gemini, "maxOutputTokens", "100000"),
        // choose other models
        (Wire::Chat, "models", r#"["dear"]"#),
        (Wire::Chat, "route", r#""fallback""#),
        (Wire::Chat, "provider", r#"{"order":["dear"]}"#),
        (Wire::Messages, "fallbacks", r#"[{"model":"dear"}]"#),
        (Wire::Responses, "models", r#"["dear"]"#),
        // reach the network, other accounts, other addresses
        (Wire::Chat, "plugins", r#"[{"id":"web"}]"#),
        (Wire::Responses, "plugins", r#"[{"id":"web"}]"#),
        (Wire::Chat, "api_base", r#""x""#),
        (Wire::Chat, "chat_template", r#""x""#),
        (Wire::Messages, "thread", r#"{"id":"of_somebody"}"#),
        (Wire::Gemini, "webSearch", "true"),
        // other spellings, some of which some servers take for the same
        (Wire::Gemini, "Contents", "[]"),
        (Wire::Chat, "meſſages", "[]"),
        (Wire::Responses, "", "null"),
    ] {
        let reply = world.agent.ask(&with(wire, &format!("\"{name}\":{value}"))).await;
        let shown: String = name.chars().flat_map(char::escape_default).collect();
        let message = reply.message();
        assert_eq!(reply.status, 400, "{wire} {name}: {message}");
        assert!(
            message.starts_with(&format!("`{shown}` ")) && message.contains("`allow_members`"),
            "{name}: {message}"
        );
    }
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn c12_a_team_may_let_a_member_pass_at_the_upstream_that_has_it() {
    let plan = Plan { upstream: "allow_members = ['cache_prompt']".to_owned(), ..Plan::default() };
    let world = World::planned(&[SCRIPT], plan).await;
    for wire in Wire::ALL {
        let asked = with(wire, r#""cache_prompt":true"#);
        assert_eq!(world.agent.ask(&asked).await.status, 200, "{wire}");
        let beside = with(wire, r#""cache_prompt":true,"n_predict":9"#);
        assert!(world.agent.ask(&beside).await.message().starts_with("`n_predict` "), "{wire}");
    }
    let heard = world.upstreams[0].heard();
    assert_eq!(heard.len(), 4);
    assert!(heard.iter().all(|heard| String::from_utf8_lossy(&heard.body).starts_with(r#"{"cache_prompt":true,"#)));
}

#[tokio::test]
async fn c12_an_upstream_that_allows_less_is_passed_over() {
    let one = |name: &str, url: String, more: &str| {
        format!("[[upstream]]\nname = '{name}'\nwire = ['chat']\nbase_url = '{url}'\nmodels = ['m']\n{more}\n")
    };
    let upstreams = World::of(&[SCRIPT, SCRIPT]).await.upstreams;
    let text = one("narrow", upstreams[0].url(), "")
        + &one("wide", upstreams[1].url(), "allow_members = ['cache_prompt']")
        + "[[price]]\nmodel = 'm'\ninput = 1\noutput = 1\n";
    let world = World::reading(&text, Plan::default()).await;
    assert_eq!(world.agent.ask(&with(Wire::Chat, r#""cache_prompt":true"#)).await.status, 200);
    assert_eq!(world.agent.ask(&question(Wire::Chat, false)).await.status, 200);
    assert_eq!((upstreams[0].heard().len(), upstreams[1].heard().len()), (1, 1));
}

/// What the agents that were seen send, with every member that their formats document and we do not refuse for its price.
#[tokio::test]
async fn c12_what_the_formats_document_and_agents_send_passes() {
    let world = World::of(&[SCRIPT]).await;
    for (path, body) in [
        (
            "/v1/messages?beta=true",
            r#"{"model":"m","max_tokens":128000,"messages":[{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral","ttl":"1h"}}]}],"system":[{"type":"text","text":"x"}],"tools":[{"name":"Bash","input_schema":{"type":"object"}},{"type":"bash_20250124","name":"bash"}],"tool_choice":{"type":"auto"},"metadata":{"user_id":"{}"},"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]},"diagnostics":{},"cache_control":null,"stop_sequences":[],"temperature":1,"top_k":1,"top_p":1,"service_tier":"auto","stream":true}"#,
        ),
        (
            "/v1/responses",
            r#"{"model":"m","instructions":"x","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"x"}]}],"tools":[{"type":"function","name":"exec_command","strict":false,"parameters":{"type":"object"}},{"type":"custom","name":"apply_patch","format":{"type":"grammar","syntax":"lark","definition":"start: x"}}],"tool_choice":"auto","parallel_tool_calls":true,"reasoning":{"effort":"medium","summary":"auto"},"store":false,"stream":true,"include":["reasoning.encrypted_content"],"prompt_cache_key":"k","prompt_cache_retention":"24h","text":{"verbosity":"low"},"client_metadata":{"x-codex-installation-id":"i"},"truncation":"auto","max_tool_calls":1,"top_logprobs":0,"top_p":1,"temperature":1,"safety_identifier":"s","user":"u","metadata":{},"service_tier":"auto","stream_options":{"include_obfuscation":false}}"#,
        ),
        (
            "/v1/chat/completions",
            r#"{"model":"m","messages":[{"role":"system","content":"x"},{"role":"assistant","content":null,"reasoning_content":"x","tool_calls":[{"id":"c","type":"function","function":{"name":"shell","arguments":"{\"url\":\"https://x\"}"}}]},{"role":"tool","tool_call_id":"c","content":"x"}],"tools":[{"type":"function","function":{"name":"shell","parameters":{}}}],"tool_choice":"auto","parallel_tool_calls":false,"stream":true,"stream_options":{"include_usage":true},"temperature":0,"top_p":1,"top_k":1,"min_p":0,"n":1,"stop":["x"],"seed":1,"reasoning_effort":"low","reasoning":{"effort":"low"},"enable_thinking":false,"max_completion_tokens":16384,"modalities":["text"],"store":false,"prompt_cache_key":"k","verbosity":"low","response_format":{"type":"text"},"logprobs":false,"user":"u","metadata":{"sessionId":"s"}}"#,
        ),
        (
            "/v1beta/models/m:streamGenerateContent?alt=sse",
            r#"{"contents":[{"role":"user","parts":[{"text":"x"}]}],"systemInstruction":{"role":"user","parts":[{"text":"x"}]},"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":{"type":"object"}}]}],"toolConfig":{"functionCallingConfig":{"mode":"AUTO"}},"generationConfig":{"temperature":1,"topP":0.95,"topK":64,"thinkingConfig":{"includeThoughts":true}},"safetySettings":[{"category":"x","threshold":"OFF"}]}"#,
        ),
        (
            "/v1/messages/count_tokens?beta=true",
            r#"{"model":"m","messages":[{"role":"user","content":"x"}],"tools":[]}"#,
        ),
        (
            "/v1beta/models/m:countTokens",
            r#"{"generateContentRequest":{"model":"models/m","contents":[{"parts":[{"text":"x"}]}]}}"#,
        ),
    ] {
        let asked = Question { path: path.to_owned(), body: body.to_owned() };
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 200, "{path}: {:?}", reply.body);
    }
}

#[tokio::test]
async fn c12_a_limit_of_nothing_is_no_limit_to_some_servers_and_is_refused() {
    let world = World::of(&[SCRIPT]).await;
    let limits = [
        ("/v1/messages", "max_tokens", r#"{"model":"m","messages":[],"max_tokens":N}"#),
        ("/v1/chat/completions", "max_tokens", r#"{"model":"m","messages":[],"max_tokens":N}"#),
        (
            "/v1/chat/completions",
            "max_completion_tokens",
            r#"{"model":"m","messages":[],"max_tokens":9,"max_completion_tokens":N}"#,
        ),
        ("/v1/chat/completions", "n", r#"{"model":"m","messages":[],"n":N}"#),
        ("/v1/responses", "max_output_tokens", r#"{"model":"m","input":[],"max_output_tokens":N}"#),
        (
            "/v1beta/models/m:generateContent",
            "maxOutputTokens",
            r#"{"contents":[],"generationConfig":{"maxOutputTokens":N}}"#,
        ),
        (
            "/v1beta/models/m:generateContent",
            "maxOutputTokens",
            r#"{"contents":[],"generation_config":{"max_output_tokens":N}}"#,
        ),
        (
            "/v1beta/models/m:generateContent",
            "candidateCount",
            r#"{"contents":[],"generationConfig":{"candidateCount":N}}"#,
        ),
    ];
    for ((path, name, body), number) in limits.into_iter().flat_map(|limit| {
        ["0", "-0", "-1", "0.5", "1.0", "1e3", "\"9\"", "[9]", "true", "18446744073709551616"]
            .map(|number| (limit, number))
    }) {
        let asked = Question { path: path.to_owned(), body: body.replace('N', number) };
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 400, "{}", asked.body);
        assert!(reply.message().starts_with(&format!("`{name}` ")), "{}: {}", asked.body, reply.message());
    }
    assert!(world.upstreams[0].heard().is_empty());
    let sent = Question { path: limits[0].0.to_owned(), body: limits[0].2.replace('N', "null") };
    assert_eq!(world.agent.ask(&sent).await.status, 200, "nothing said is no limit of nothing");
    let heard = String::from_utf8(world.upstreams[0].heard()[0].body.clone()).unwrap();
    assert!(heard.contains(r#""max_tokens":32000"#), "{heard}");
}

#[tokio::test]
async fn c12_only_text_is_answered_at_the_price_of_text() {
    let world = World::of(&[SCRIPT]).await;
    for value in [r#"["text","audio"]"#, r#"["image"]"#] {
        let reply = world.agent.ask(&with(Wire::Chat, &format!("\"modalities\":{value}"))).await;
        assert_eq!(reply.status, 400, "{value}");
    }
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn r24_no_header_of_an_agent_sends_the_real_key_elsewhere() {
    let evil = [
        ("x-api-key", VIRTUAL_KEY),
        ("x-portkey-custom-host", "https://evil.example"),
        ("x-portkey-provider", "openai"),
        ("helicone-target-url", "https://evil.example"),
        ("x-litellm-api-base", "https://evil.example"),
        ("cf-aig-custom-host", "https://evil.example"),
        ("x-http-method-override", "DELETE"),
        ("content-encoding", "gzip"),
        ("openai-organization", "org-of-somebody"),
        ("idempotency-key", "of-another-run"),
        ("user-agent", "agent/1"),
    ];
    for wire in Wire::ALL {
        let world = World::of(&[SCRIPT]).await;
        let asked = question(wire, false);
        assert_eq!(world.agent.send(&asked.path, &evil, asked.body).await.status, 200, "{wire}");
        let heard = &world.upstreams[0].heard()[0];
        let mut names: Vec<&str> = heard.headers.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        let key = match wire {
            Wire::Messages => "x-api-key",
            Wire::Chat | Wire::Responses => "authorization",
            Wire::Gemini => "x-goog-api-key",
        };
        let mut expected = ["accept-encoding", "content-length", "content-type", "host", "user-agent", key];
        expected.sort_unstable();
        assert_eq!(names, expected, "{wire}");
    }
    let plan = Plan { upstream: "allow_headers = ['x-title']".to_owned(), ..Plan::default() };
    let world = World::planned(&[SCRIPT], plan).await;
    let asked = question(Wire::Chat, false);
    let headers = [("x-api-key", VIRTUAL_KEY), ("x-title", "agent"), ("x-other", "1")];
    assert_eq!(world.agent.send(&asked.path, &headers, asked.body).await.status, 200);
    let heard = &world.upstreams[0].heard()[0].headers;
    assert!(heard.iter().any(|(name, value)| name == "x-title" && value == "agent"));
    assert!(!heard.iter().any(|(name, _)| name == "x-other"));
}
