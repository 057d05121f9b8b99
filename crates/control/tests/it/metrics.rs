//! What `/metrics` tells of runs after people, an agent and a worker did something (C17).

use placet_wire::Endpoint as _;
use placet_wire::endpoint::CreateRun;
use std::collections::BTreeMap;
use std::time::Duration;

use placet_control::MetricsEvery;
use placet_wire::api;
use serde_json::{Value, json};

use crate::collector::Collector;
use crate::moves::{deletion, reading, scan};
use crate::scenario::{PATIENCE, Scenario, Setup};

const MINUTE_MS: u64 = 60_000;

/// All metrics, as an operator reads them.
pub(crate) async fn metrics(app: &Scenario) -> String {
    let answer = app.team.operator.get("/metrics").await.is(200);
    String::from_utf8(answer.body.to_vec()).unwrap()
}

/// The value of one series, given by how its line begins.
#[track_caller]
pub(crate) fn value(metrics: &str, series: &str) -> f64 {
    let found = metrics.lines().find_map(|line| line.strip_prefix(&format!("placet_{series} ")));
    found.unwrap_or_else(|| panic!("no `{series}` in\n{metrics}")).parse().unwrap()
}

/// A run at work that stands still after every step, whose plan waited a minute for a reviewer.
async fn working(app: &Scenario) -> api::RunView {
    let team = &app.team;
    let limits = json!({ "limits": { "actions": 9, "tokens": 1_000 } });
    let new = json!({
        "project": team.project, "goal": "g", "scope": "lab", "agent": team.agent.id, "plan": ["look", "tell"],
        "checkpoints": { "every_steps": 1 }, "budget": limits,
    });
    let run: api::RunView = team.operator.post(&CreateRun {}.path(), &new).await.is(201).json();
    let path = |verb: &str| format!("/api/v1/runs/{}/{verb}", run.id);
    app.pass_ms(MINUTE_MS);
    team.reviewer.post_if(&path("approve"), run.review, &json!({})).await.is(200);
    team.operator.post(&path("start"), &json!({})).await.is(200);
    team.agent.post(&path("attach"), &json!({})).await.is(200).json()
}

#[tokio::test]
async fn c17_metrics_tell_durations_waits_checkpoints_and_actions_of_runs() {
    let (app, agent, reviewer, worker) = Scenario::start().await;
    let run = working(&app).await;
    let base = format!("/api/v1/runs/{}", run.id);
    let read = agent.proposes(run.id, &reading()).await;
    let job = worker.leases().await.unwrap();
    assert_eq!(job.action, read.id);
    worker.redeems(&job).await.is(200);
    let mut manifest = worker.manifest(&job, Vec::new());
    (manifest.usage.cpu_ms, manifest.usage.peak_memory_bytes) = (1_250, 7 * 1_048_576);
    for _ in 0..2 {
        worker.reports(&job, &manifest).await.is(200);
    }
    let looked = agent.proposes(run.id, &scan()).await;
    app.pass_ms(2 * MINUTE_MS);
    reviewer.rejects(&looked).await.is(200);
    agent.post(&format!("{base}/steps"), &json!({ "step": 1, "summary": "looked" })).await.is(200);
    app.pass_ms(5 * MINUTE_MS);
    let seen: api::CheckpointView = reviewer.get(&format!("{base}/checkpoint")).await.is(200).json();
    reviewer.post_if(&format!("{base}/checkpoints/1/approve"), seen.review, &json!({})).await.is(200);
    let deletion = agent.proposes(run.id, &deletion()).await;
    reviewer.rejects(&deletion).await.is(200);
    agent.post(&format!("{base}/finish"), &json!({ "summary": "done" })).await.is(200);
    let done: api::RunView = reviewer.get(&base).await.is(200).json();
    reviewer.post_if(&format!("{base}/complete"), done.review, &json!({})).await.is(200);

    let told = metrics(&app).await;
    assert_eq!(value(&told, "runs_duration_seconds_count{status=\"COMPLETED\"}"), 1.0);
    assert_eq!(value(&told, "runs_duration_seconds_sum{status=\"COMPLETED\"}"), 8.0 * 60.0);
    assert_eq!(value(&told, "runs_worked_seconds_sum{status=\"COMPLETED\"}"), 0.0, "waiting is no work");
    for (kind, outcome) in [("STEP", "reached"), ("STEP", "approved"), ("ACTION", "reached"), ("ACTION", "rejected")] {
        let series = format!("checkpoints_total{{kind=\"{kind}\",outcome=\"{outcome}\"}}");
        assert_eq!(value(&told, &series), 1.0, "{series}");
    }
    assert_eq!(value(&told, "approval_wait_seconds_sum{about=\"STEP\"}"), 5.0 * 60.0);
    assert_eq!(value(&told, "approval_wait_seconds_count{about=\"results\"}"), 1.0);
    assert!(value(&told, "approval_wait_seconds_sum{about=\"plan\"}") >= 60.0);
    assert_eq!(value(&told, "approval_wait_seconds_sum{about=\"action\"}"), 2.0 * 60.0);
    assert_eq!(value(&told, "actions_total{status=\"SUCCEEDED\"}"), 1.0);
    assert_eq!(value(&told, "actions_total{status=\"REJECTED\"}"), 2.0);
    assert_eq!(value(&told, "actions_total{status=\"EXECUTING\"}"), 1.0);
    assert_eq!(value(&told, "sandbox_cpu_ms_total"), 1_250.0, "told twice, counted once");
    assert_eq!(value(&told, "sandbox_peak_memory_bytes_count"), 1.0);
    assert_eq!(value(&told, "sandbox_peak_memory_bytes_sum"), 7.0 * 1_048_576.0);
    assert_eq!(value(&told, "runs_rollbacks_total"), 0.0, "it never went back");
}

#[tokio::test]
async fn c17_metrics_name_nobody_and_nothing_is_counted_twice() {
    let (app, _, _, _) = Scenario::start().await;
    let run = app.team.draft(json!(["look"])).await;
    let path = format!("/api/v1/runs/{}/cancel", run.id);
    let before: Value = json!({ "reason": "enough" });
    app.team.operator.post_once(&path, "once", &before).await.is(200);
    app.team.operator.post_once(&path, "once", &before).await.is(200);
    let told = metrics(&app).await;
    assert_eq!(value(&told, "runs_duration_seconds_count{status=\"CANCELLED\"}"), 1.0);
    for private in [run.id.to_string(), app.team.project.to_string(), app.team.agent.id.to_string()] {
        assert!(!told.contains(&private), "{private}");
    }
}

/// A setup that tells this collector the metrics all the time.
fn telling(collector: &Collector) -> Setup {
    let mut setup = collector.setup();
    setup.settings.metrics_every = MetricsEvery::millis(20).unwrap();
    setup
}

/// The metrics of one request as Prometheus would write them: a line's beginning, and its value.
fn as_lines(body: &Value) -> BTreeMap<String, f64> {
    let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    metrics.iter().flat_map(lines_of).collect()
}

fn lines_of(metric: &Value) -> Vec<(String, f64)> {
    let name = metric["name"].as_str().unwrap();
    let points = |kind: &str| metric[kind]["dataPoints"].as_array().cloned().unwrap_or_default();
    let whole = |value: &Value| value.as_str().unwrap().parse::<f64>().unwrap();
    let mut lines = Vec::new();
    for point in points("sum") {
        lines.push((series(&format!("{name}_total"), &point, None), whole(&point["asInt"])));
    }
    for point in points("gauge") {
        lines.push((series(name, &point, None), whole(&point["asInt"])));
    }
    for point in points("histogram") {
        lines.push((series(&format!("{name}_count"), &point, None), whole(&point["count"])));
        lines.push((series(&format!("{name}_sum"), &point, None), point["sum"].as_f64().unwrap()));
        let bounds =
            point["explicitBounds"].as_array().unwrap().iter().map(|bound| format!("{:?}", bound.as_f64().unwrap()));
        let counts = point["bucketCounts"].as_array().unwrap();
        let mut all = 0.0;
        for (bound, count) in bounds.chain(["+Inf".to_owned()]).zip(counts) {
            all += whole(count);
            lines.push((series(&format!("{name}_bucket"), &point, Some(bound)), all));
        }
    }
    lines
}

/// Name and labels in one order.
fn series(name: &str, point: &Value, le: Option<String>) -> String {
    let attributes = point["attributes"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let mut labels: BTreeMap<_, _> =
        attributes.map(|label| (text(&label["key"]), text(&label["value"]["stringValue"]))).collect();
    labels.extend(le.map(|le| ("le".to_owned(), le)));
    format!("{name} {labels:?}")
}

/// The same of what Prometheus reads. Labels of ours have neither quotes nor commas in them.
fn prometheus_lines(text: &str) -> BTreeMap<String, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let read = |line: &str| {
        let (series, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = series.split_once('{').unwrap_or((series, ""));
        let labels = labels.trim_end_matches('}').split(',').filter_map(|label| label.split_once("=\""));
        let labels: BTreeMap<_, _> = labels.map(|(key, value)| (key, value.trim_end_matches('"'))).collect();
        (format!("{name} {labels:?}"), value.parse().unwrap())
    };
    lines.map(read).collect()
}

#[tokio::test]
async fn c17_a_collector_is_told_the_same_numbers_as_prometheus() {
    let collector = Collector::start().await;
    let (app, agent, reviewer, worker) = Scenario::start_with(telling(&collector)).await;
    let run = working(&app).await;
    agent.proposes(run.id, &reading()).await;
    worker.executes(&worker.leases().await.unwrap()).await;
    let looked = agent.proposes(run.id, &scan()).await;
    app.pass_ms(2 * MINUTE_MS);
    reviewer.rejects(&looked).await.is(200);
    app.team.operator.cancels(run.id).await.is(200);
    let asked = metrics(&app).await;
    let expected = prometheus_lines(&asked);
    // To ask is counted too, after the answer: what it counts differs by that, and nothing else may.
    let settled = |lines: &BTreeMap<String, f64>| {
        let ours = |line: &&String| !line.starts_with("placet_request") && !line.starts_with("placet_ledger");
        lines
            .iter()
            .filter(|(line, _)| ours(line))
            .map(|(line, value)| (line.clone(), *value))
            .collect::<BTreeMap<_, _>>()
    };
    let came = async {
        while collector.metrics().last().is_none_or(|body| settled(&as_lines(body)) != settled(&expected)) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(PATIENCE, came).await.unwrap_or_else(|_| {
        panic!("{:#?}\nis not\n{:#?}", collector.metrics().last().map(as_lines), expected);
    });
    let told = as_lines(collector.metrics().last().unwrap());
    let names: Vec<&String> = expected.keys().collect();
    assert_eq!(told.keys().filter(|name| expected.contains_key(*name)).collect::<Vec<_>>(), names, "every series");
    assert!(told["placet_actions_total {\"status\": \"SUCCEEDED\"}"] >= 1.0);
}

#[tokio::test]
async fn c17_the_last_metrics_are_told_before_it_stops_also_to_a_slow_collector() {
    let collector = Collector::start().await;
    collector.takes(Duration::from_millis(300));
    // The next interval is far away.
    let (mut app, ..) = Scenario::start_with(collector.setup()).await;
    let run = working(&app).await;
    app.team.operator.cancels(run.id).await.is(200);
    app.stop().await;
    let told = collector.metrics();
    let last = as_lines(told.last().expect("it was told once more"));
    let ended = last.iter().find(|(line, _)| line.ends_with("runs_duration_seconds_count {\"status\": \"CANCELLED\"}"));
    assert_eq!(ended.map(|(_, count)| *count), Some(1.0), "{last:#?}");
}

#[tokio::test]
async fn c17_metrics_for_a_collector_are_cumulative_since_the_start_and_survive_one_without_time() {
    let collector = Collector::start().await;
    let (mut app, ..) = Scenario::start_with(telling(&collector)).await;
    let some = async || {
        let before = collector.metrics().len();
        let came = async {
            while collector.metrics().len() < before + 2 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(PATIENCE, came).await.expect("it is told again and again");
        collector.metrics().last().unwrap().clone()
    };
    let point = |body: &Value, key: &str| {
        let metrics = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap().clone();
        let commands = metrics.into_iter().find(|metric| metric["name"] == "placet_commands").unwrap();
        assert_eq!(
            (&commands["sum"]["aggregationTemporality"], &commands["sum"]["isMonotonic"]),
            (&json!(2), &json!(true))
        );
        commands["sum"]["dataPoints"][0][key].as_str().unwrap().parse::<u64>().unwrap()
    };
    let first = some().await;
    collector.has_no_time_for(3);
    app.pass_ms(MINUTE_MS);
    let second = some().await;
    assert_eq!(point(&first, "startTimeUnixNano"), point(&second, "startTimeUnixNano"));
    assert_eq!(point(&second, "timeUnixNano") - point(&second, "startTimeUnixNano"), MINUTE_MS * 1_000_000);
    app.restart().await;
    let third = some().await;
    assert!(point(&third, "startTimeUnixNano") > point(&second, "startTimeUnixNano"), "counted anew, and it says so");
    let text = serde_json::to_string(&third).unwrap();
    for private in [app.team.run.to_string(), app.team.project.to_string(), "survey the lab".to_owned()] {
        assert!(!text.contains(&private), "{private}");
    }
}
