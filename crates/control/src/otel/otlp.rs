//! OTLP/HTTP in JSON: how spans are written for a collector. Ids are hexadecimal, times nanoseconds in quotes, as the format demands.

use serde_json::{Value, json};

use super::trace::{Fact, Span};

/// `SPAN_KIND_INTERNAL`: nobody outside is called in it.
const INTERNAL: u8 = 1;
const STATUS_OK: u8 = 1;
const STATUS_ERROR: u8 = 2;

/// The body of one request to `/v1/traces`. `instance` names the ledger, which is what tells two control planes apart.
pub(crate) fn request(instance: &str, spans: &[Span]) -> Value {
    json!({ "resourceSpans": [{
        "resource": resource(instance),
        "scopeSpans": [{
            "scope": scope(),
            "spans": spans.iter().map(span).collect::<Vec<_>>(),
        }],
    }] })
}

const NAME: &str = "placet";
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Who tells it.
pub(super) fn resource(instance: &str) -> Value {
    let attributes = [("service.name", NAME), ("service.version", VERSION), ("service.instance.id", instance)]
        .map(|(key, value)| attribute(key, &value.into()));
    json!({ "attributes": attributes })
}

pub(super) fn scope() -> Value {
    json!({ "name": NAME, "version": VERSION })
}

fn span(span: &Span) -> Value {
    let attributes: Vec<Value> = span.attributes.iter().map(|(key, value)| attribute(key, value)).collect();
    let mut written = json!({
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        "kind": INTERNAL,
        "startTimeUnixNano": nanos(span.from.unix_ms()),
        "endTimeUnixNano": nanos(span.to.unix_ms()),
        "attributes": attributes,
        "status": { "code": if span.failed { STATUS_ERROR } else { STATUS_OK } },
    });
    if let Some(parent) = &span.parent {
        written["parentSpanId"] = json!(parent);
    }
    written
}

pub(super) fn attribute(key: &str, fact: &Fact) -> Value {
    let value = match fact {
        Fact::Text(text) => json!({ "stringValue": text }),
        Fact::Count(count) => json!({ "intValue": count.to_string() }),
    };
    json!({ "key": key, "value": value })
}

/// As text: they do not fit into the numbers of JSON.
pub(super) fn nanos(unix_ms: i64) -> String {
    format!("{}000000", unix_ms.max(0))
}
