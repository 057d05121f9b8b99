//! Metrics: how many requests and commands, how they ended, how long they took; and those of runs and of people who decide. No ids, no names, no
//! contents.

mod decisions;
mod runs;

use std::sync::atomic::AtomicI64;
use std::time::Duration;

use axum::http::{Method, StatusCode};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};

use self::decisions::DecisionMetrics;
use self::runs::RunMetrics;
use crate::notify::Told;
use crate::webhook::{Delivered, HookName};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CommandLabels {
    command: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct DeliveryLabels {
    /// Names of hooks come from the settings, so there are few.
    hook: String,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NotifyLabels {
    /// Names of routes come from the settings, so there are few.
    route: String,
    outcome: &'static str,
}

/// All metrics of the control plane.
#[derive(Debug)]
pub(crate) struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter>,
    request_seconds: Histogram,
    commands: Family<CommandLabels, Counter>,
    deliveries: Family<DeliveryLabels, Counter>,
    notified: Family<NotifyLabels, Counter>,
    ledger_size: Gauge<i64, AtomicI64>,
    pub(crate) runs: RunMetrics,
    pub(crate) decisions: DecisionMetrics,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::with_prefix("placet");
        let requests = Family::default();
        let request_seconds = Histogram::new(exponential_buckets(0.000_25, 2.0, 16));
        let (commands, deliveries, ledger_size) = (Family::default(), Family::default(), Gauge::default());
        let notified = Family::default();
        registry.register("requests", "requests by route and answer", requests.clone());
        registry.register_with_unit("request", "time to answer", Unit::Seconds, request_seconds.clone());
        registry.register("commands", "commands by how they ended", commands.clone());
        registry.register("webhook_deliveries", "attempts to tell receivers of webhooks", deliveries.clone());
        registry.register("notify_messages", "messages to people by route and how they ended", notified.clone());
        registry.register("ledger_entries", "entries in the ledger", ledger_size.clone());
        let runs = RunMetrics::registered(&mut registry);
        let decisions = DecisionMetrics::registered(&mut registry);
        Self { registry, requests, request_seconds, commands, deliveries, notified, ledger_size, runs, decisions }
    }
}

impl Metrics {
    /// `route` is the pattern, never the path: ids would make one series per thing.
    pub(crate) fn request(&self, method: &Method, route: &str, status: StatusCode, took: Duration) {
        let method = if STANDARD.contains(method) { method.as_str() } else { "other" };
        let labels = RequestLabels { method: method.to_owned(), route: route.to_owned(), status: status.as_u16() };
        self.requests.get_or_create(&labels).inc();
        self.request_seconds.observe(took.as_secs_f64());
    }

    pub(crate) fn command(&self, command: &'static str, outcome: &'static str) {
        self.commands.get_or_create(&CommandLabels { command, outcome }).inc();
    }

    pub(crate) fn delivery(&self, hook: &HookName, outcome: &Delivered) {
        let outcome = match outcome {
            Delivered::Yes => "delivered",
            Delivered::NotYet(_) | Delivered::Gone => "failed",
        };
        self.deliveries.get_or_create(&DeliveryLabels { hook: hook.to_string(), outcome }).inc();
    }

    pub(crate) fn notified(&self, route: &HookName, outcome: &Told) {
        let outcome = match outcome {
            Told::Yes => "delivered",
            Told::NotYet(_) => "retried",
            Told::Unsure(_) => "unanswered",
            Told::Refused(_) => "given_up",
        };
        self.notified.get_or_create(&NotifyLabels { route: route.to_string(), outcome }).inc();
    }

    pub(crate) fn ledger_size(&self, size: u64) {
        self.ledger_size.set(i64::try_from(size).unwrap_or(i64::MAX));
    }

    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Methods are chosen by the caller; a label must not be.
const STANDARD: &[Method] =
    &[Method::GET, Method::POST, Method::PUT, Method::DELETE, Method::HEAD, Method::OPTIONS, Method::PATCH];
