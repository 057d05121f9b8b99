//! Agents call language models through the control plane: with their tokens as keys, and with the money of their runs.

use axum::http::Method;
use placet_control::Settings;
use placet_domain::budget::Amounts;
use placet_domain::catalogue::{Catalogue, shipped};
use placet_domain::digest::Digest;
use placet_llm::config::Settings as GatewaySettings;
use placet_llm::model_script::{self, Script};
use placet_wire::api;
use serde_json::{Value, json};

use crate::metrics::{metrics, value};
use crate::moves::working;
use crate::person::{Answer, Person};
use crate::scenario::{Scenario, Setup, rules_planning_with};

/// A model that says this whenever it is asked, for 10 tokens in and 5 out: 100 millionths of a dollar.
pub(super) const SCRIPT: &str = "[[turn]]\nwhen = \"slowly\"\ntext = \"forty-two\"\ndelay_ms = 400\nused = { input = 10, output = 5 }\n\
    [[turn]]\nwhen = \"a tale\"\ntext = \"once upon a time there was a tale that nobody heard to its end\"\npiece_delay_ms = 600_000\n\
    [[turn]]\nwhen = \"for ever\"\ntext = \"never\"\ndelay_ms = 600_000\n\
    [[turn]]\nwhen = \"a parser\"\ntext = '''Here you are: {\"steps\": [{\"title\": \"Implement the parser\", \"capability\": \"write_code\", \"checkpoint\": true}, {\"title\": \"Test it\", \"capability\": \"run_code\"}]}'''\nused = { input = 10, output = 5 }\n\
    [[turn]]\nwhen = \"too much\"\ntext = '''{\"steps\": [{\"title\": \"Take over\", \"capability\": \"everything\"}]}'''\nused = { input = 10, output = 5 }\n\
    [[turn]]\nwhen = \"\"\ntext = \"forty-two\"\nused = { input = 10, output = 5 }\n";
const EXECUTIONS: &str = "/api/v1/autonomous/executions";
/// Four millionths of a dollar a token in, twelve a token out.
const PRICES: &str = "[[price]]\nmodel = \"*\"\ninput = 4_000_000\noutput = 12_000_000\n";

pub(super) struct World {
    pub(super) app: Scenario,
    pub(super) agent: Person,
    pub(super) reviewer: Person,
    pub(super) model: model_script::Running,
}

impl World {
    pub(super) async fn start() -> Self {
        Self::of(SCRIPT).await
    }

    async fn of(script: &str) -> Self {
        Self::with(script, |_| ()).await
    }

    /// With settings that no file could hold.
    pub(super) async fn with(script: &str, change: impl FnOnce(&mut GatewaySettings)) -> Self {
        let model = model_script::start(Script::read(script).unwrap()).await.unwrap();
        let upstream = format!(
            "[[upstream]]\nname = \"lab\"\nwire = [\"messages\", \"chat\"]\nbase_url = \"{}\"\nmodels = [\"large-1\", \"small-1\"]\n{PRICES}",
            model.url()
        );
        let mut models = GatewaySettings::read(&upstream).unwrap();
        change(&mut models);
        let settings = Settings { models: Some(models), ..Settings::default() };
        let (app, agent, reviewer, _) = Scenario::start_with(Setup { settings, ..Setup::default() }).await;
        // The run that everybody begins with has no budget, and an agent works in one run at a time.
        app.team.operator.cancels(app.team.run).await.is(200);
        Self { app, agent, reviewer, model }
    }

    pub(super) async fn run(&self, more: Value) -> api::RunView {
        working(&self.app, more).await
    }

    pub(super) async fn sees(&self, run: &api::RunView) -> api::RunView {
        self.reviewer.get(&format!("/api/v1/runs/{}", run.id)).await.is(200).json()
    }

    /// Waits until everything was recorded and what is left has gone back.
    pub(super) async fn settled(&self, run: &api::RunView) -> api::BudgetView {
        for _ in 0..200 {
            let budget = self.sees(run).await.budget.unwrap();
            if budget.held.usd_micros == 0 && budget.spent.usd_micros > 0 {
                return budget;
            }
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
        }
        panic!("something stays held");
    }
}

fn question(model: &str) -> Value {
    json!({ "model": model, "max_tokens": 300, "messages": [{ "role": "user", "content": "What is it?" }] })
}

pub(super) async fn asks(agent: &Person, model: &str) -> Answer {
    asks_for(agent, &question(model)).await
}

pub(super) async fn asks_for(agent: &Person, question: &Value) -> Answer {
    let request = agent.request(Method::POST, "/v1/messages").header("anthropic-version", "2023-06-01");
    Answer::to(request.json(question)).await
}

/// One that the model thinks about for a while.
pub(super) fn slow_question() -> Value {
    json!({ "model": "large-1", "max_tokens": 300, "messages": [{ "role": "user", "content": "Think slowly." }] })
}

pub(super) fn money(usd_micros: u64) -> Value {
    json!({ "budget": { "limits": { "usd_micros": usd_micros }, "warn_at_percent": 100 } })
}

#[tokio::test]
async fn c12_a_call_is_answered_charged_and_recorded_without_a_word_of_it() {
    let world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    let answer = asks(&world.agent, "large-1").await.is(200);
    assert_eq!(answer.json::<Value>()["content"][0]["text"], "forty-two");
    let budget = world.settled(&run).await;
    assert_eq!(budget.spent, Amounts { tokens: 15, usd_micros: 100, ..budget.spent });
    let kinds = world.app.kinds_from(0).await;
    assert_eq!(kinds.iter().filter(|kind| *kind == "run.model_called").count(), 1);
    let bodies = world.app.bodies_from(0).await;
    assert!(!bodies.contains("forty-two") && !bodies.contains("What is it?"), "never a word of what was said");
    let trail: api::AuditTrail = world.reviewer.get(&format!("/api/v1/runs/{}/audit", run.id)).await.is(200).json();
    let row = trail.rows.iter().find(|row| row.event == "run.model_called").unwrap();
    assert_eq!((row.tokens, row.cost_usd_micros), (15, 100));
    assert!(row.input_digest.is_some() && row.output_digest.is_some());
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c12_no_more_calls_are_carried_at_once_than_the_settings_say_and_further_ones_wait() {
    let one = |settings: &mut GatewaySettings| settings.limits.connections = std::num::NonZeroUsize::MIN;
    let world = World::with(SCRIPT, one).await;
    world.run(money(1_000_000)).await;
    let (began, slow) = (std::time::Instant::now(), slow_question());
    let (first, second) = tokio::join!(asks_for(&world.agent, &slow), asks_for(&world.agent, &slow));
    first.is(200);
    second.is(200);
    assert!(began.elapsed().as_millis() >= 800, "one after the other, 400 ms each: {:?}", began.elapsed());
    asks(&world.agent, "large-1").await.is(200);
}

#[tokio::test]
async fn c16_the_curves_of_a_run_end_at_what_was_spent_however_few_points_are_drawn() {
    let world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    for _ in 0..5 {
        asks(&world.agent, "large-1").await.is(200);
    }
    let spent = world.settled(&run).await.spent;
    for most in [1, 2, 3, 300] {
        let sums = world.app.store().calls(run.id, most).await.unwrap();
        let last = sums.last().unwrap();
        assert_eq!((last.tokens, last.usd_micros), (spent.tokens, spent.usd_micros), "{most} points");
        assert!(sums.len() as u32 <= most && sums.is_sorted_by_key(|sum| sum.usd_micros), "{sums:?}");
    }
}

#[tokio::test]
async fn c10_a_checkpoint_shows_what_models_took_so_far() {
    let world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    asks(&world.agent, "large-1").await.is(200);
    world.settled(&run).await;
    let base = format!("/api/v1/runs/{}", run.id);
    world.agent.post(&format!("{base}/checkpoints"), &json!({ "summary": "look" })).await.is(200);
    let seen: api::CheckpointView = world.reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    assert_eq!((seen.spent.tokens, seen.spent.usd_micros), (15, 100));
}

#[tokio::test]
async fn c17_what_calls_take_is_counted_once_also_when_what_was_held_for_them_goes_back() {
    let world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    for _ in 0..3 {
        asks(&world.agent, "large-1").await.is(200);
    }
    let budget = world.settled(&run).await;
    assert_eq!((budget.spent.tokens, budget.spent.usd_micros), (45, 300));
    let told = metrics(&world.app).await;
    assert_eq!(value(&told, "runs_tokens_total"), 45.0);
    assert_eq!(value(&told, "runs_cost_usd_micros_total"), 300.0);
}

#[tokio::test]
async fn c1_the_token_of_an_agent_is_no_key_anywhere_else_and_nobody_elses_token_is_one_here() {
    let world = World::start().await;
    world.run(money(1_000_000)).await;
    asks(&world.agent, "large-1").await.is(200);
    let heard = world.model.heard();
    let token = world.agent.request(Method::GET, "/").build().unwrap();
    let token = token.headers()["authorization"].to_str().unwrap().trim_start_matches("Bearer ").to_owned();
    assert!(!format!("{heard:?}").contains(&token), "the upstream never sees it");
    for other in [&world.reviewer, &world.app.team.operator, &world.app.team.worker] {
        asks(other, "large-1").await.is(401);
    }
    asks(&world.agent.holding("plc_of_somebody_else"), "large-1").await.is(401);
}

#[tokio::test]
async fn c12_a_run_without_money_or_that_stands_still_calls_nobody() {
    let world = World::start().await;
    asks(&world.agent, "large-1").await.is(403);
    let run = world.run(json!({})).await;
    let refused = asks(&world.agent, "large-1").await.is(403);
    assert!(refused.text().contains("no budget for models"), "{}", refused.text());
    world.app.team.operator.cancels(run.id).await.is(200);
    let run = world.run(money(1_000_000)).await;
    asks(&world.agent, "large-1").await.is(200);
    world.reviewer.post(&format!("/api/v1/runs/{}/pause", run.id), &json!({})).await.is(200);
    asks(&world.agent, "large-1").await.is(403);
    world.reviewer.post(&format!("/api/v1/runs/{}/resume", run.id), &json!({})).await.is(200);
    asks(&world.agent, "large-1").await.is(200);
    world.app.admin.post("/api/v1/halt", &json!({ "reason": "fire" })).await.is(200);
    asks(&world.agent, "large-1").await.is(403);
    assert_eq!(world.model.heard().len(), 2);
}

#[tokio::test]
async fn c12_only_the_models_that_were_approved_with_the_plan_are_called() {
    let world = World::start().await;
    let mut wishes = money(1_000_000);
    wishes["models"] = json!(["small-*"]);
    let run = world.run(wishes).await;
    assert!(run.models.contains("small-*"));
    asks(&world.agent, "large-1").await.is(403);
    asks(&world.agent, "small-1").await.is(200);
    let bad = json!({ "project": world.app.team.project, "goal": "g", "scope": "lab", "agent": world.agent.id,
                      "models": ["a b"] });
    world.app.team.operator.post("/api/v1/runs", &bad).await.problem(422, "invalid");
}

#[tokio::test]
async fn c12_who_wants_more_than_is_left_is_told_so_and_the_run_pauses_until_it_has_more() {
    let world = World::start().await;
    // The worst case of this call is thousands of times what it takes.
    let run = world.run(money(200)).await;
    let refused = asks(&world.agent, "large-1").await.is(402);
    assert!(refused.text().contains("budget"), "{}", refused.text());
    for _ in 0..100 {
        if world.sees(&run).await.status.as_str() == "PAUSED" {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let stands = world.sees(&run).await;
    assert_eq!(
        (stands.status.as_str(), stands.because.as_deref()),
        ("PAUSED", Some("the budget for usd_micros is used up"))
    );
    let base = format!("/api/v1/runs/{}", run.id);
    world.reviewer.post(&format!("{base}/budget"), &money(1_000_000)["budget"]).await.is(200);
    world.reviewer.post(&format!("{base}/resume"), &json!({})).await.is(200);
    asks(&world.agent, "large-1").await.is(200);
    assert!(world.model.heard().len() == 1, "what was not covered was not sent");
}

#[tokio::test]
async fn r30_a_thousand_calls_at_once_never_spend_more_than_there_is() {
    let world = World::start().await;
    // Enough for the worst case of ten calls at a time; each takes far less.
    let limit = 10 * 12_000;
    let run = world.run(money(limit)).await;
    let calls: Vec<_> = (0..1_000)
        .map(|_| {
            let agent = world.agent.clone();
            tokio::spawn(async move { asks(&agent, "large-1").await.status })
        })
        .collect();
    let mut answered = 0;
    for call in calls {
        answered += u64::from(call.await.unwrap() == 200);
    }
    assert!(answered > 0);
    let budget = world.settled(&run).await;
    assert_eq!(budget.spent.usd_micros, answered * 100, "each of them, exactly");
    assert!(budget.spent.usd_micros <= limit);
    assert_eq!(world.model.heard().len() as u64, answered);
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c12_what_calls_left_over_suffices_for_the_next_also_if_it_comes_at_once() {
    let world = World::of("[[turn]]\nwhen = \"\"\ntext = \"42\"\nused = { input = 1_000, output = 250 }\n").await;
    // So little that it is not cut further where little is left.
    let mut question = question("large-1");
    question["max_tokens"] = json!(256);
    // For each byte of it and a thousand tokens beside them, and for the longest answer.
    let worst = (question.to_string().len() as u64 + 1_000) * 4 + 256 * 12;
    let taken = 1_000 * 4 + 250 * 12;
    // Four are held for at once. What the four leave over and what was not held are each too little for the fifth.
    let run = world.run(money(5 * worst - 1)).await;
    assert!(4 * (worst - taken) < worst);
    for _ in 0..5 {
        asks_for(&world.agent, &question).await.is(200);
    }
    assert_eq!(world.settled(&run).await.spent.usd_micros, 5 * taken);
    assert_eq!(world.sees(&run).await.status.as_str(), "EXECUTING");
}

#[tokio::test]
async fn c12_a_call_that_was_begun_before_a_pause_is_not_made_after_it() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    asks(&world.agent, "large-1").await.is(200);
    let (body, request) = (question("large-1").to_string(), world.agent.request(Method::GET, "/").build().unwrap());
    let token = request.headers()["authorization"].to_str().unwrap();
    let head = format!(
        "POST /v1/messages HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: {token}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let mut socket = tokio::net::TcpStream::connect(world.app.address()).await.unwrap();
    socket.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
    world.reviewer.post(&format!("/api/v1/runs/{}/pause", run.id), &json!({})).await.is(200);
    socket.write_all(body.as_bytes()).await.unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 403"), "{answer}");
    assert_eq!(world.model.heard().len(), 1);
}

fn plan(world: &World, goal: &str, planner: &str) -> Value {
    json!({ "project": world.app.team.project, "intent": goal, "scope": "lab", "agent": world.agent.id, "planner": planner })
}

async fn plans(world: &World, goal: &str, planner: &str) -> Answer {
    world.app.team.operator.post(EXECUTIONS, &plan(world, goal, planner)).await
}

async fn plans_once(world: &World, key: &str, goal: &str) -> Answer {
    world.app.team.operator.post_once(EXECUTIONS, key, &plan(world, goal, "large-1")).await
}

#[tokio::test]
async fn c7_a_plan_that_is_asked_for_again_is_not_paid_again() {
    let mut world = World::start().await;
    let first = plans_once(&world, "k1", "Implement a parser").await.is(201);
    let before = world.app.size();
    assert_eq!(plans_once(&world, "k1", "Implement a parser").await.is(201).body, first.body);
    world.app.restart().await;
    let again = plans_once(&world, "k1", "Implement a parser").await.is(201);
    assert_eq!(again.json::<api::ExecutionView>().run.id, first.json::<api::ExecutionView>().run.id);
    assert_eq!(world.model.heard().len(), 1, "the model was asked once");
    assert_eq!(world.app.kinds_from(before).await.iter().filter(|kind| kind.starts_with("run.")).count(), 0);
    let (one, other) =
        tokio::join!(plans_once(&world, "k2", "Implement a parser"), plans_once(&world, "k2", "Implement a parser"));
    assert_eq!(one.is(201).body, other.is(201).body, "also if both come at once");
    assert_eq!(world.model.heard().len(), 2);
    plans_once(&world, "k2", "Write a parser").await.problem(409, "key_reused");
    assert_eq!(world.model.heard().len(), 2, "and a name stands for one request");
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c7_a_plan_that_was_paid_for_and_refused_is_refused_again_without_being_paid() {
    let mut world = World::start().await;
    let refused = plans_once(&world, "k1", "Write too much").await.problem(422, "invalid");
    world.app.restart().await;
    let again = plans_once(&world, "k1", "Write too much").await.problem(422, "invalid");
    assert_eq!((again.detail, world.model.heard().len()), (refused.detail, 1));
    plans_once(&world, "k2", "Write too much").await.problem(422, "invalid");
    assert_eq!(world.model.heard().len(), 2, "who wants to try again says so with another name");
}

#[tokio::test]
async fn c7_what_is_given_is_looked_at_before_a_model_is_paid() {
    let world = World::start().await;
    let absent = json!([{ "path": "agent.py", "digest": Digest::of(b"never uploaded"), "size_bytes": 14 }]);
    let mut asked = plan(&world, "Implement a parser", "large-1");
    asked.as_object_mut().unwrap().remove("agent");
    asked["launch"] =
        json!({ "program": "/usr/bin/python3", "arguments": ["agent.py"], "profile": "default", "files": absent });
    world.app.team.operator.post_once(EXECUTIONS, "k1", &asked).await.problem(422, "missing_evidence");
    assert_eq!(world.model.heard().len(), 0);
}

/// What ships, and an agent with a program and a cage.
fn agents_to_start() -> Catalogue {
    let (_, text) = shipped().iter().find(|(file, _)| *file == "developer_agent.toml").unwrap();
    let text = text.replace("id = \"developer_agent\"", "id = \"ours\"");
    let starts = "speaks = \"placet-api\"\nprogram = \"/opt/agents/main\"\nprofile = \"default\"";
    Catalogue::with([("ours.toml", text.replace("speaks = \"placet-api\"", starts).as_str())]).unwrap()
}

#[tokio::test]
async fn c7_a_plan_that_was_paid_for_and_lacks_something_is_recorded_and_not_paid_again() {
    let mut world = World::start().await;
    world.app.restart_under(rules_planning_with(agents_to_start())).await;
    let before = world.app.size();
    // The entry of the chosen agent starts it, with an input that nobody has uploaded.
    let mut asked = plan(&world, "", "large-1");
    asked.as_object_mut().unwrap().remove("agent");
    let absent = json!({ "path": "data.csv", "class": "PUBLIC", "digest": Digest::of(b"never uploaded") });
    asked["intent"] = json!({ "goal": "Implement a parser", "inputs": [absent] });
    for _ in 0..2 {
        let refused = world.app.team.operator.post_once(EXECUTIONS, "k1", &asked).await.problem(422, "invalid");
        assert!(refused.detail.contains("`data.csv` was not uploaded"), "{refused:?}");
    }
    assert!(world.app.bodies_from(before).await.contains("100 millionths of a dollar"));
    assert_eq!(world.model.heard().len(), 1);
}

#[tokio::test]
async fn c7_a_plan_that_is_a_novel_founds_nothing_and_what_it_cost_is_recorded() {
    let novel = format!("[[turn]]\nwhen = \"a novel\"\ntext = \"{}\"\n", "many words ".repeat(400_000));
    let world = World::of(&novel).await;
    let before = world.app.size();
    let refused = plans(&world, "Write a novel", "large-1").await.problem(422, "invalid");
    assert!(refused.detail.contains("millionths of a dollar"), "{refused:?}");
    assert!(world.app.bodies_from(before).await.contains("millionths of a dollar"));
}

#[tokio::test]
async fn c7_a_plan_that_nobody_waits_for_is_made_and_paid_all_the_same() {
    let world = World::start().await;
    let request = world.app.team.operator.request(Method::POST, EXECUTIONS).header("idempotency-key", "k1");
    let request = request.json(&plan(&world, "Think slowly of a parser", "large-1"));
    let before = world.app.size();
    let asking = tokio::spawn(Answer::to(request));
    tokio::time::sleep(std::time::Duration::from_millis(150)).await;
    asking.abort();
    world.app.until(before, "refused").await;
    assert!(world.app.bodies_from(before).await.contains("100 millionths of a dollar"));
    plans_once(&world, "k1", "Think slowly of a parser").await.problem(422, "invalid");
    assert_eq!(world.model.heard().len(), 1);
}

#[tokio::test]
async fn c7_that_a_model_will_be_asked_is_recorded_before_it_is_and_what_it_took_before_anything_is_made_of_it() {
    let world = World::start().await;
    let before = world.app.size();
    let made: api::ExecutionView = plans(&world, "Implement a parser", "large-1").await.is(201).json();
    let entries = world.app.entries_from(before).await;
    let of = |kind: &str| {
        let entry = entries.iter().find(|entry| entry.kind == kind).unwrap();
        (entry.seq, serde_json::from_slice::<Value>(&entry.bytes).unwrap()["body"].clone())
    };
    let ((asked_at, asked), (answered_at, answered)) = (of("planner.asked"), of("planner.answered"));
    assert!(asked_at < answered_at && answered_at < of("run.created").0);
    assert_eq!((&asked["run"], &asked["model"]), (&json!(made.run.id), &json!("large-1")));
    assert_eq!((&answered["run"], &answered["call"]["usd_micros"]), (&json!(made.run.id), &json!(100)));
    assert!(asked["most"]["usd_micros"].as_u64() >= Some(100));
}

#[tokio::test]
async fn c7_a_plan_that_is_being_made_when_everything_stops_is_in_the_ledger_with_what_it_may_have_cost() {
    let mut world = World::start().await;
    let request = world.app.team.operator.request(Method::POST, EXECUTIONS).header("idempotency-key", "k1");
    let request = request.json(&plan(&world, "Think for ever of it", "large-1"));
    let before = world.app.size();
    let asking = tokio::spawn(Answer::to(request));
    for _ in 0..200 {
        if world.model.heard().len() == 1 {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(world.model.heard().len(), 1, "the model works on it");
    // Also if nobody waits for it any more.
    asking.abort();
    world.app.restart().await;
    let bodies = world.app.bodies_from(before).await;
    let answered = bodies.lines().find(|line| line.contains("planner.answered")).expect("it is known what it took");
    let call = serde_json::from_str::<Value>(answered).unwrap()["body"]["call"].clone();
    assert_eq!(call["estimated"], true, "{call}");
    assert!(call["usd_micros"].as_u64() > Some(4_000 * 12), "as long as an answer could have been: {call}");
    plans_once(&world, "k1", "Think for ever of it").await.problem(422, "invalid");
    assert_eq!(world.model.heard().len(), 1, "and it is not paid again");
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c12_one_person_has_so_many_plans_made_at_a_time_also_if_they_hang_up() {
    let world = World::start().await;
    for number in 1..=4 {
        let request = world.app.team.operator.request(Method::POST, EXECUTIONS);
        let request = request.json(&plan(&world, "Think for ever of it", "large-1"));
        let asking = tokio::spawn(Answer::to(request));
        for _ in 0..500 {
            if world.model.heard().len() == number {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
        assert_eq!(world.model.heard().len(), number);
        asking.abort();
    }
    plans(&world, "Think for ever of it", "large-1").await.problem(409, "not_now");
    assert_eq!(world.model.heard().len(), 4, "nobody is paid for a fifth");
}

#[tokio::test]
async fn c7_no_model_is_asked_for_a_plan_while_everything_is_stopped() {
    let world = World::start().await;
    world.app.admin.post("/api/v1/halt", &json!({ "reason": "fire" })).await.is(200);
    plans(&world, "Implement a parser", "large-1").await.problem(409, "halted");
    assert_eq!(world.model.heard().len(), 0);
}

#[tokio::test]
async fn c7_a_model_splits_what_is_wanted_into_steps_that_wait_for_a_reviewer_like_any_plan() {
    let world = World::start().await;
    let made: api::ExecutionView = plans(&world, "Implement a parser and test it", "large-1").await.is(201).json();
    assert_eq!(made.run.plan, ["Implement the parser", "Test it"]);
    assert_eq!((made.run.status.as_str(), made.task_plan[0].checkpoint), ("PENDING_APPROVAL", true));
    let intent = made.run.products.as_ref().unwrap().intent.clone().unwrap();
    assert_eq!(intent.planner.unwrap().as_str(), "large-1", "whoever approves it sees who wrote it");
    assert_eq!(made.run.budget.unwrap().spent.usd_micros, 100, "the first thing it spent");
    let heard = format!("{:?}", world.model.heard());
    assert!(heard.contains("Implement a parser"));
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c7_a_plan_of_a_model_that_is_none_founds_nothing_and_what_it_cost_is_recorded() {
    let world = World::start().await;
    let before = world.app.size();
    for (goal, why) in [("Write too much", "cannot be used"), ("Write something", "no plan")] {
        let refused = plans(&world, goal, "large-1").await.problem(422, "invalid");
        assert!(refused.detail.contains(why), "{refused:?}");
    }
    plans(&world, "Write something", "unknown-1").await.problem(422, "invalid");
    let bodies = world.app.bodies_from(before).await;
    assert!(bodies.contains("100 millionths of a dollar"), "{bodies}");
    assert!(!world.app.kinds_from(before).await.iter().any(|kind| kind == "run.created"));
    let both = json!({ "project": world.app.team.project, "scope": "lab", "agent": world.agent.id, "planner": "large-1",
                       "intent": { "goal": "g", "steps": [{ "title": "Write it" }] } });
    world.app.team.operator.post(EXECUTIONS, &both).await.problem(422, "invalid");
}

#[tokio::test]
async fn c12_a_control_plane_that_stops_has_recorded_every_call_and_holds_nothing() {
    let mut world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    for _ in 0..5 {
        asks(&world.agent, "large-1").await.is(200);
    }
    world.app.restart().await;
    let budget = world.sees(&run).await.budget.unwrap();
    assert_eq!((budget.spent.usd_micros, budget.held.usd_micros), (500, 0));
    world.app.assert_sound().await;
}

#[tokio::test]
async fn c12_a_control_plane_that_stops_while_a_stream_is_open_has_recorded_it() {
    let mut world = World::start().await;
    let run = world.run(money(1_000_000)).await;
    let request = world.agent.request(Method::POST, "/v1/messages").header("anthropic-version", "2023-06-01");
    let tale = json!({ "model": "large-1", "max_tokens": 300, "stream": true,
                       "messages": [{ "role": "user", "content": "Tell a tale." }] });
    let mut open = request.json(&tale).send().await.unwrap();
    assert!(open.chunk().await.unwrap().is_some(), "it has begun");
    let left = world.agent.request(Method::POST, "/v1/messages").json(&tale).send().await.unwrap();
    drop(left);
    world.app.restart().await;
    let budget = world.sees(&run).await.budget.unwrap();
    assert_eq!(budget.held.usd_micros, 0);
    let trail: api::AuditTrail = world.reviewer.get(&format!("/api/v1/runs/{}/audit", run.id)).await.is(200).json();
    let called: Vec<u64> =
        trail.rows.iter().filter(|row| row.event == "run.model_called").map(|row| row.cost_usd_micros).collect();
    assert_eq!((called.len(), called.iter().sum::<u64>()), (2, budget.spent.usd_micros), "both, and nothing else");
    assert!(called.iter().all(|cost| *cost > 0));
    let bodies = world.app.bodies_from(0).await;
    assert_eq!(bodies.matches("\"estimated\":true").count(), 2);
    while let Ok(Some(_)) = open.chunk().await {}
    world.app.assert_sound().await;
}
