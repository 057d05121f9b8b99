//! What is said in calls of models: nowhere, unless the project keeps it; then without secrets, encrypted, and for those who review.

use std::path::Path;

use axum::http::Method;
use placet_control::Settings;
use placet_domain::digest::Digest;
use placet_domain::retention::{Days, Retention};
use placet_llm::config::Settings as GatewaySettings;
use placet_llm::model_script::{self, Script};
use placet_wire::api;
use serde_json::{Value, json};

use crate::moves::working;
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, Setup};

/// They look like real ones, and are none.
const ASKED: &str = "ghp_Zq8TnV3xWc5RkL7mPb2YdJf9HsGa4Ue6NiKo";
const ANSWERED: &str = "ghp_Rk4WmZ7pXv2LcT9nQb6YsJd3HfGa8Ue5NiKo";
const SCRIPT: &str = "[[turn]]\nwhen = \"slowly\"\ntext = \"forty-two\"\ndelay_ms = 600\nused = { input = 10, output = 5 }\n\
    [[turn]]\nwhen = \"\"\ntext = \"forty-two, and ghp_Rk4WmZ7pXv2LcT9nQb6YsJd3HfGa8Ue5NiKo\"\nused = { input = 10, output = 5 }\n";

struct World {
    app: Scenario,
    agent: Person,
    reviewer: Person,
    run: api::RunView,
    _model: model_script::Running,
}

impl World {
    async fn start(evidence_key: Option<[u8; 32]>) -> Self {
        let model = model_script::start(Script::read(SCRIPT).unwrap()).await.unwrap();
        let upstream = format!(
            "[[upstream]]\nname = \"lab\"\nwire = [\"messages\"]\nbase_url = \"{}\"\nmodels = [\"large-1\"]\n\
             [[price]]\nmodel = \"*\"\ninput = 4_000_000\noutput = 12_000_000\n",
            model.url()
        );
        let retention = Retention { evidence_days: Some(Days::try_from(1).unwrap()), results_days: None };
        let models = Some(GatewaySettings::read(&upstream).unwrap());
        let settings = Settings { models, retention, ..Settings::default() };
        let (app, agent, reviewer, _) =
            Scenario::start_with(Setup { settings, evidence_key, ..Setup::default() }).await;
        app.team.operator.cancels(app.team.run).await.is(200);
        let money = json!({ "budget": { "limits": { "usd_micros": 1_000_000 }, "warn_at_percent": 100 } });
        let run = working(&app, money).await;
        Self { app, agent, reviewer, run, _model: model }
    }

    async fn sets(&self, who: &Person, kept: bool) -> Answer {
        let path = format!("/api/v1/projects/{}/words", self.app.team.project);
        who.post(&path, &json!({ "kept": kept, "reason": "we look into it" })).await
    }

    /// Asks, and waits until there are so many calls in the ledger; the last of them.
    async fn asks(&self, streams: bool, calls: usize) -> api::CallView {
        self.says(&format!("What is it? My token is {ASKED}."), streams, calls).await
    }

    async fn says(&self, content: &str, streams: bool, calls: usize) -> api::CallView {
        let question = json!({ "model": "large-1", "max_tokens": 300, "stream": streams,
            "messages": [{ "role": "user", "content": content }] });
        let request = self.agent.request(Method::POST, "/v1/messages").header("anthropic-version", "2023-06-01");
        let answer = Answer::to(request.json(&question)).await.is(200);
        assert!(answer.text().contains("forty-two") || streams, "the agent gets every byte: {}", answer.text());
        for _ in 0..200 {
            let list: api::CallList = self.reviewer.get(&self.path("")).await.is(200).json();
            if list.calls.len() == calls {
                return list.calls.last().unwrap().clone();
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
        panic!("the call is not recorded");
    }

    fn path(&self, more: &str) -> String {
        format!("/api/v1/runs/{}/calls{more}", self.run.id)
    }

    async fn words(&self, who: &Person, call: &api::CallView) -> Answer {
        who.get(&self.path(&format!("/{}/words", call.entry))).await
    }
}

/// All bytes below a folder.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        all.extend(if path.is_dir() { bytes_below(&path) } else { std::fs::read(&path).unwrap() });
    }
    all
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[tokio::test]
async fn b10_if_nothing_is_said_no_word_of_a_call_is_anywhere() {
    for key in [None, Some([5; 32])] {
        let world = World::start(key).await;
        for (count, streams) in [(1, false), (2, true)] {
            let call = world.asks(streams, count).await;
            assert_eq!((call.words.as_str(), call.tokens_in, call.tokens_out), ("none", 10, 5));
            let none = world.words(&world.reviewer, &call).await.problem(422, "invalid");
            assert!(none.detail.contains("were not kept"), "{none:?}");
        }
        assert!(!world.app.kinds_from(0).await.iter().any(|kind| kind == "evidence.kept"));
        let stored = bytes_below(&world.app.folder());
        for word in ["forty-two", "What is it", ASKED, ANSWERED] {
            assert!(!holds(&stored, word), "`{word}` is in the store");
        }
    }
}

#[tokio::test]
async fn b10_words_are_kept_encrypted_and_without_secrets_once_an_administrator_says_so() {
    let world = World::start(Some([5; 32])).await;
    for other in [&world.reviewer, &world.app.team.operator, &world.agent] {
        world.sets(other, true).await.is(403);
    }
    world.sets(&world.app.admin, true).await.is(200);
    let whole = world.asks(false, 1).await;
    let stream = world.asks(true, 2).await;
    for call in [&whole, &stream] {
        assert_eq!(call.words, "kept");
        let words = world.words(&world.reviewer, call).await.is(200);
        assert!(words.text().contains("What is it?") && words.text().contains("forty-two, and"), "{}", words.text());
        assert!(!words.text().contains(ASKED) && !words.text().contains(ANSWERED), "{}", words.text());
        assert_eq!(words.text().matches("[redacted ").count(), 2, "{}", words.text());
        let told: Value = words.json();
        assert_eq!((&told["call"], &told["request"]["cut"]), (&json!(call.id), &json!(false)));
        world.words(&world.app.auditor, call).await.is(200);
        for other in [&world.agent, &world.app.team.operator, &world.app.team.worker, &world.app.admin] {
            world.words(other, call).await.is(403);
        }
    }
    let stored = bytes_below(&world.app.folder());
    for word in ["forty-two", "What is it", ASKED, ANSWERED] {
        assert!(!holds(&stored, word), "`{word}` is in the store in the clear");
    }
    world.sets(&world.app.admin, false).await.is(200);
    assert_eq!(world.asks(false, 3).await.words, "none", "from there on none");
    world.words(&world.reviewer, &whole).await.is(200);
    world.app.assert_sound().await;
}

#[tokio::test]
async fn b10_what_is_said_in_a_call_is_not_kept_if_somebody_says_no_before_it_is_over() {
    let world = World::start(Some([5; 32])).await;
    world.sets(&world.app.admin, true).await.is(200);
    let says_no = async {
        tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        assert_eq!(world.app.kinds_from(0).await.iter().filter(|kind| *kind == "run.model_called").count(), 0);
        world.sets(&world.app.admin, false).await.is(200);
    };
    let (call, ()) = tokio::join!(world.says("Think slowly.", false, 1), says_no);
    assert_eq!(call.words, "none");
    assert!(!world.app.kinds_from(0).await.iter().any(|kind| kind == "evidence.kept"));
}

#[tokio::test]
async fn b10_whoever_knows_their_digest_gets_no_words_without_the_right_to_read_them() {
    let world = World::start(Some([5; 32])).await;
    world.sets(&world.app.admin, true).await.is(200);
    world.asks(false, 1).await;
    let bodies = world.app.bodies_from(0).await;
    let called = bodies.lines().find(|line| line.contains("run.model_called")).unwrap();
    let entry: Value = serde_json::from_str(called).unwrap();
    let digest: Digest = serde_json::from_value(entry["body"]["call"]["words"]["digest"].clone()).unwrap();
    let path = format!("/api/v1/projects/{}/evidence/{digest}", world.app.team.project);
    world.reviewer.get(&path).await.is(200);
    world.app.auditor.get(&path).await.is(200);
    for other in [&world.app.team.operator, &world.app.team.worker, &world.app.admin] {
        other.get(&path).await.is(403);
    }
    world.agent.get(&path).await.is(404);
}

#[tokio::test]
async fn b10_without_a_key_of_the_store_words_are_not_kept_and_cannot_be() {
    let world = World::start(None).await;
    let refused = world.sets(&world.app.admin, true).await.problem(422, "invalid");
    assert!(refused.detail.contains("evidence_key_file"), "{refused:?}");
    assert_eq!(world.asks(false, 1).await.words, "none");
}

#[tokio::test]
async fn c14_words_are_removed_after_their_time_like_all_evidence() {
    let world = World::start(Some([5; 32])).await;
    world.sets(&world.app.admin, true).await.is(200);
    let call = world.asks(false, 1).await;
    let expire = format!("/api/v1/projects/{}/retention/expire", world.app.team.project);
    world.app.pass_ms(3 * 24 * 60 * 60 * 1_000);
    world.app.admin.post(&expire, &json!({})).await.is(200);
    world.words(&world.reviewer, &call).await.is(200);
    world.app.team.operator.cancels(world.run.id).await.is(200);
    world.app.pass_ms(3 * 24 * 60 * 60 * 1_000);
    world.app.admin.post(&expire, &json!({})).await.is(200);
    let mut gone = String::new();
    for _ in 0..100 {
        let answer = world.words(&world.reviewer, &call).await;
        gone = answer.text();
        if gone.contains("removed after their time") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("still there: {gone}");
}
