//! What answers say of their tokens, priced by the table that ships with the binary.

use placet_llm::record::NotText;

use super::world::{Plan, Question, World, stubborn};

/// A gateway in front of one answer, of a provider that the table knows.
async fn priced(provider: &str, wire: &str, answer: &str) -> World {
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{answer}",
        answer.len()
    );
    let text = format!(
        "[[upstream]]\nname = 'up'\nwire = ['{wire}']\nbase_url = '{}'\nmodels = ['g*']\nprovider = '{provider}'\n",
        stubborn(answer.leak()).await
    );
    World::reading(&text, Plan::default()).await
}

#[tokio::test]
async fn c12_gemini_is_charged_for_sound_as_sound() {
    let answer = r#"{"candidates":[{"finishReason":"STOP"}],"modelVersion":"gemini-2.5-flash","usageMetadata":{
        "promptTokenCount":101000,"cachedContentTokenCount":1000,"candidatesTokenCount":0,"totalTokenCount":101000,
        "promptTokensDetails":[{"modality":"TEXT","tokenCount":500},{"modality":"AUDIO","tokenCount":100500}],
        "cacheTokensDetails":[{"modality":"AUDIO","tokenCount":500},{"modality":"TEXT","tokenCount":500}]}}"#;
    let world = priced("google", "gemini", answer).await;
    let path = "/v1beta/models/gemini-2.5-flash:generateContent".to_owned();
    let asked = Question { path, body: r#"{"contents":[{"parts":[{"inlineData":{}}]}]}"#.to_owned() };
    assert_eq!(world.agent.ask(&asked).await.status, 200);
    let record = world.record().await;
    assert_eq!((record.tokens.input, record.tokens.input_not_text.audio), (100_000, 100_000), "{record:?}");
    assert_eq!(record.tokens.cache_read_not_text, NotText { audio: 500, ..NotText::default() });
    // 100,000 at $1.00, 500 at $0.10 and 500 at $0.03 for a million.
    assert_eq!((record.usd_micros, record.estimated), (100_000 + 50 + 15, false));
}

#[tokio::test]
async fn b10_another_model_than_was_asked_for_is_marked_and_charged_as_the_dearer() {
    let answered = async |model: &str| {
        let answer = format!(
            r#"{{"model":"{model}","choices":[{{}}],"usage":{{"prompt_tokens":1000,"completion_tokens":1000}}}}"#
        );
        let world = priced("openai", "chat", &answer).await;
        let path = "/v1/chat/completions".to_owned();
        let asked = Question { path, body: r#"{"model":"gpt-5-mini","messages":[],"max_tokens":1000}"#.to_owned() };
        assert_eq!(world.agent.ask(&asked).await.status, 200);
        world.record().await
    };
    // By the million: gpt-5-nano $0.05 and $0.40, gpt-5-mini $0.25 and $2, gpt-5 $1.25 and $10.
    for (model, other, usd_micros) in [
        ("gpt-5-mini", false, 2_250),
        ("gpt-5-mini-2025-08-07", false, 2_250),
        ("gpt-5-nano", true, 2_250),
        ("gpt-5", true, 11_250),
        ("nobody-knows-it", true, 2_250),
    ] {
        let record = answered(model).await;
        assert_eq!((record.other_model, record.usd_micros), (other, usd_micros), "{model}");
        assert_eq!((record.model_asked.as_str(), record.model_answered.as_deref()), ("gpt-5-mini", Some(model)));
    }
}

#[tokio::test]
async fn c12_openai_is_charged_for_sound_as_sound_both_ways() {
    let answer = r#"{"model":"gpt-audio","choices":[{}],"usage":{"prompt_tokens":1100,"completion_tokens":250,
        "prompt_tokens_details":{"cached_tokens":0,"audio_tokens":1000,"text_tokens":100},
        "completion_tokens_details":{"reasoning_tokens":0,"audio_tokens":200}}}"#;
    let world = priced("openai", "chat", answer).await;
    let path = "/v1/chat/completions".to_owned();
    let asked = Question { path, body: r#"{"model":"gpt-audio","messages":[],"max_tokens":1000}"#.to_owned() };
    assert_eq!(world.agent.ask(&asked).await.status, 200);
    let record = world.record().await;
    assert_eq!(record.usd_micros, 32_000 + 250 + 12_800 + 500, "{record:?}");
    let kept = serde_json::to_value(record.tokens).unwrap();
    assert_eq!(kept["input_not_text"]["audio"], 1000);
    assert!(kept.get("cache_read_not_text").is_none(), "what is only text is written as before: {kept}");
}
