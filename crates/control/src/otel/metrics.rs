//! OTLP/HTTP in JSON: how metrics are written for a collector. Everything is counted from the start of this process on (cumulative), and
//! whole numbers are in quotes, as the format demands.

use std::collections::BTreeMap;

use placet_domain::time::Timestamp;
use serde_json::{Value, json};

use super::exposition::{Family, Sample, read};
use super::otlp::{attribute, nanos, resource, scope};

/// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
const CUMULATIVE: u8 = 2;

/// From when to when was counted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Counted {
    from: Timestamp,
    to: Timestamp,
}

impl Counted {
    /// A clock that went back meanwhile ends where it began.
    pub(crate) fn new(from: Timestamp, to: Timestamp) -> Self {
        Self { from, to: to.max(from) }
    }

    fn point(self, labels: &BTreeMap<String, String>) -> Value {
        let attributes = labels.iter().filter(|(key, _)| *key != "le");
        let attributes: Vec<Value> = attributes.map(|(key, value)| attribute(key, &value.as_str().into())).collect();
        json!({
            "startTimeUnixNano": nanos(self.from.unix_ms()),
            "timeUnixNano": nanos(self.to.unix_ms()),
            "attributes": attributes,
        })
    }
}

/// The body of one request to `/v1/metrics`: what the text of `/metrics` says.
pub(crate) fn metrics_request(instance: &str, text: &str, counted: Counted) -> Value {
    let metrics: Vec<Value> = read(text).iter().filter_map(|family| metric(family, counted)).collect();
    json!({ "resourceMetrics": [{
        "resource": resource(instance),
        "scopeMetrics": [{ "scope": scope(), "metrics": metrics }],
    }] })
}

fn metric(family: &Family, counted: Counted) -> Option<Value> {
    let mut metric = json!({ "name": family.name, "description": family.help, "unit": unit(&family.unit) });
    let (kind, data) = match family.kind.as_str() {
        "counter" => {
            let points = numbers(family, "_total", counted);
            ("sum", json!({ "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points }))
        }
        "gauge" => ("gauge", json!({ "dataPoints": numbers(family, "", counted) })),
        "histogram" => {
            let points = histograms(family, counted);
            ("histogram", json!({ "aggregationTemporality": CUMULATIVE, "dataPoints": points }))
        }
        _ => return None,
    };
    metric[kind] = data;
    Some(metric)
}

/// As UCUM spells them, which is what OpenTelemetry uses.
fn unit(prometheus: &str) -> &'static str {
    match prometheus {
        "seconds" => "s",
        "bytes" => "By",
        _ => "1",
    }
}

fn numbers(family: &Family, suffix: &str, counted: Counted) -> Vec<Value> {
    let samples = family.samples.iter().filter(|sample| sample.suffix == suffix);
    let point = |sample: &Sample| {
        let mut point = counted.point(&sample.labels);
        match sample.value.parse::<i64>() {
            Ok(whole) => point["asInt"] = json!(whole.to_string()),
            Err(_) => point["asDouble"] = json!(sample.value.parse::<f64>().ok()?),
        }
        Some(point)
    };
    samples.filter_map(point).collect()
}

/// One point for each set of labels, put together from its lines.
fn histograms(family: &Family, counted: Counted) -> Vec<Value> {
    let mut series: BTreeMap<BTreeMap<String, String>, Vec<&Sample>> = BTreeMap::new();
    for sample in &family.samples {
        let mut labels = sample.labels.clone();
        labels.remove("le");
        series.entry(labels).or_default().push(sample);
    }
    series.iter().filter_map(|(labels, samples)| histogram(labels, samples, counted)).collect()
}

fn histogram(labels: &BTreeMap<String, String>, samples: &[&Sample], counted: Counted) -> Option<Value> {
    let value = |suffix: &str| samples.iter().find(|sample| sample.suffix == suffix).map(|sample| &sample.value);
    let buckets = samples.iter().filter(|sample| sample.suffix == "_bucket");
    let buckets: Vec<(f64, u64)> = buckets.filter_map(|sample| bucket(sample)).collect();
    let mut point = counted.point(labels);
    point["count"] = json!(value("_count")?);
    point["sum"] = json!(value("_sum")?.parse::<f64>().ok()?);
    let bounds = buckets.iter().map(|(bound, _)| *bound).filter(|bound| bound.is_finite());
    point["explicitBounds"] = json!(bounds.collect::<Vec<_>>());
    point["bucketCounts"] = json!(apart(&buckets));
    Some(point)
}

/// The upper bound of a bucket, and how many are in it or in one before it.
fn bucket(sample: &Sample) -> Option<(f64, u64)> {
    let bound = match sample.labels.get("le")?.as_str() {
        "+Inf" => f64::INFINITY,
        bound => bound.parse().ok()?,
    };
    Some((bound, sample.value.parse().ok()?))
}

/// Prometheus counts each in all buckets that it fits into, OpenTelemetry in the first of them.
fn apart(buckets: &[(f64, u64)]) -> Vec<String> {
    let before = std::iter::once(0).chain(buckets.iter().map(|(_, count)| *count));
    buckets.iter().zip(before).map(|((_, count), before)| count.saturating_sub(before).to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# HELP p_acts how often.\n# TYPE p_acts counter\np_acts_total{status=\"DONE\"} 7\n\
        # HELP p_size entries.\n# TYPE p_size gauge\np_size 12\n\
        # HELP p_wait_seconds waits.\n# TYPE p_wait_seconds histogram\n# UNIT p_wait_seconds seconds\n\
        p_wait_seconds_sum{about=\"plan\"} 61.5\np_wait_seconds_count{about=\"plan\"} 3\n\
        p_wait_seconds_bucket{le=\"1.0\",about=\"plan\"} 1\np_wait_seconds_bucket{le=\"4.0\",about=\"plan\"} 1\n\
        p_wait_seconds_bucket{le=\"+Inf\",about=\"plan\"} 3\n# EOF\n";

    #[test]
    fn c17_metrics_have_the_names_and_shapes_of_otlp() {
        let counted = Counted::new(Timestamp::from_unix_ms(1_000), Timestamp::from_unix_ms(2_000));
        let body = metrics_request("example.com/ledger", TEXT, counted);
        let metrics = &body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"];
        let times = json!({ "startTimeUnixNano": "1000000000", "timeUnixNano": "2000000000" });
        let about = |key: &str, value: &str| json!([{ "key": key, "value": { "stringValue": value } }]);
        let with = |more: Value| {
            let mut point = times.clone();
            point.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            point
        };
        let acts = with(json!({ "attributes": about("status", "DONE"), "asInt": "7" }));
        let sum = json!({ "aggregationTemporality": 2, "isMonotonic": true, "dataPoints": [acts] });
        assert_eq!(metrics[0], json!({ "name": "p_acts", "description": "how often.", "unit": "1", "sum": sum }));
        assert_eq!(metrics[1]["gauge"], json!({ "dataPoints": [with(json!({ "attributes": [], "asInt": "12" }))] }));
        let wait = with(json!({
            "attributes": about("about", "plan"), "count": "3", "sum": 61.5,
            "explicitBounds": [1.0, 4.0], "bucketCounts": ["1", "0", "2"],
        }));
        assert_eq!(metrics[2]["unit"], "s");
        assert_eq!(metrics[2]["histogram"], json!({ "aggregationTemporality": 2, "dataPoints": [wait] }));
        let resource = body["resourceMetrics"][0]["resource"]["attributes"].as_array().unwrap();
        let named = |key: &str| resource.iter().find(|attribute| attribute["key"] == key).unwrap()["value"].clone();
        assert_eq!(named("service.name"), json!({ "stringValue": "placet" }));
        assert_eq!(named("service.instance.id"), json!({ "stringValue": "example.com/ledger" }));
    }

    #[test]
    fn a_clock_that_went_back_ends_where_it_began() {
        let counted = Counted::new(Timestamp::from_unix_ms(5_000), Timestamp::from_unix_ms(1));
        assert_eq!(counted.point(&BTreeMap::new())["timeUnixNano"], "5000000000");
    }
}
